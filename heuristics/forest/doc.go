// Package forest predicts how many iterations a training job will take from
// who submitted it and which program it runs, as A-SRPT needs: by random forest
// regression, by the mean or the median of earlier jobs, or by the truth.
//
// [Regressor] is the regression itself: trees with splits that minimise the
// squared error, each grown to the end on a bootstrap sample of the jobs, whose
// predictions are averaged. [Predictor] wraps it and the simpler models with
// what a simulation needs: a history to start from, completions to learn from,
// and a schedule of retraining.
//
// Sources: section IV of the A-SRPT paper ("Random Forest Based Prediction":
// group id and user id as features, squared error, 100 trees, 0 iterations for
// unseen jobs); Breiman, "Random Forests", Machine Learning 45 (2001); and
// scikit-learn's RandomForestRegressor, whose defaults these are: min_samples_split
// 2, min_samples_leaf 1, max_features 1.0, bootstrap samples of full size.
//
// The names of groups and users are features as scikit-learn's LabelEncoder
// makes them: ordinals in the order of the sorted names. That order carries no
// meaning, so a split "group ≤ 17" isolates groups only by cutting from both
// sides; with fully grown trees that costs depth, not accuracy, and it is what
// the paper's set-up does.
package forest
