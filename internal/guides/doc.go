// Package guides holds the tests that run the tutorial and the guides of docs.
package guides
