package main

import (
	"os"
	"path/filepath"
	"testing"

	"yardstick/bench"
)

// TestDocumentedSuites: every suite under docs/suites can be read, and its
// methods exist.
func TestDocumentedSuites(t *testing.T) {
	files, err := filepath.Glob("../../docs/suites/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d suites, %v", len(files), err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := bench.ParseSuite(name, data)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, src := range s.Instances {
			for _, ref := range append(src.Methods, src.References...) {
				if _, err := resolve(ref); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}
