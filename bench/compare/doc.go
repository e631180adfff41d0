// Package compare lays two results beside each other, row by row: what was
// proven and reached exactly, in rationals, and times statistically. It reads
// records alone.
//
// Rows are paired by instance, objective, method and swept parameters. A pair
// whose instances differ in content is not compared. Costs, optima and bounds
// come from the *_exact columns; a change of any size is a change.
//
// Times are compared per family and method over the paired cells, by the
// Wilcoxon signed-rank test, as instances differ far more than runs do. Where a
// side has several runs, every cell is also compared by the Mann-Whitney
// U-test, as benchstat does.
package compare
