package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"yardstick/internal/latex/latextest"
)

// TestFigures: the figures of a report are the same in every format, and those for papers
// are typeset with their captions as they are written.
func TestFigures(t *testing.T) {
	dir := t.TempDir()
	result := filepath.Join(dir, "r")
	mustRun(t, "run", write(t, "s.yaml", strings.NewReplacer("few", "few_100%", "methods: [fifo, sjf]", "methods: [fifo, {name: sjf, params: {blocking: skip}}]").Replace(twoFamilies)), "-o", result, "-q")
	var names [][]string
	for _, format := range []string{"svg", "pdf", "pgf"} {
		out := filepath.Join(dir, format)
		printed := mustRun(t, "report", result, "--format", format, "-o", out)
		entries, err := os.ReadDir(out)
		if err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{}
		var list []string
		for _, e := range entries {
			if files[e.Name()], err = os.ReadFile(filepath.Join(out, e.Name())); err != nil {
				t.Fatal(err)
			}
			if name, ok := strings.CutSuffix(e.Name(), "."+format); ok {
				list = append(list, name)
			}
			if !strings.Contains(printed, e.Name()) {
				t.Errorf("%s is not in what was printed:\n%s", e.Name(), printed)
			}
		}
		if names = append(names, list); len(list) < 4 || !slices.Equal(list, names[0]) {
			t.Errorf("figures as %s: %v, as svg: %v", format, list, names[0])
		}
		if format == "svg" {
			continue
		}
		for _, complaint := range latextest.Complaints(t, string(files["figures.tex"]), 345, files) {
			t.Errorf("%s: TeX: %s", format, complaint)
		}
		if code, _, errOut := benchCommand(t, "report", result, "--format", format); code != exitUsage || !strings.Contains(errOut, "needs a directory") {
			t.Errorf("without a directory: exit code %d: %s", code, errOut)
		}
	}
}
