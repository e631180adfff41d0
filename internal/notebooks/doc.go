// Package notebooks holds the tests of the notebooks, of their Python module and
// of the golden results that they show.
package notebooks
