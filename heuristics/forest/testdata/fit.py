"""Fits scikit-learn's random forest to each case on standard input and prints
its predictions, both JSON. Run by sklearn_test.go."""

import json
import sys
import time

import numpy
import sklearn
from sklearn.ensemble import RandomForestRegressor

answers = []
for case in json.load(sys.stdin):
    forest = RandomForestRegressor(
        n_estimators=case["trees"],
        criterion="squared_error",
        max_depth=case["depth"] or None,
        bootstrap=not case["whole"],
        random_state=case["seed"],
        n_jobs=case["jobs"],
    )
    start = time.perf_counter()
    forest.fit(numpy.array(case["x"]), numpy.array(case["y"]))
    seconds = time.perf_counter() - start
    predictions = forest.predict(numpy.array(case["query"]))
    answers.append({"seconds": seconds, "predictions": predictions.tolist()})
json.dump({"version": sklearn.__version__, "answers": answers}, sys.stdout)
