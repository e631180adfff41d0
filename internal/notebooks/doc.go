// Package notebooks holds the tests of the notebooks and of the golden results that
// they show.
package notebooks
