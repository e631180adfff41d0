// Package guides holds the test that runs the guides of docs/guides.
package guides
