package errata_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"yardstick/bench/errata"
)

// TestDocument: docs/errata.md lists every erratum, under its paper, and no other.
func TestDocument(t *testing.T) {
	data, err := os.ReadFile("../../docs/errata.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{} // paper by name
	paper := ""
	row := regexp.MustCompile("^\\| `([a-z0-9-]+)` \\|")
	for _, line := range strings.Split(string(data), "\n") {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			paper = strings.ToLower(title)
		}
		if m := row.FindStringSubmatch(line); m != nil {
			listed[m[1]] = paper
		}
	}
	for _, e := range errata.All() {
		if got, ok := listed[e.Name]; !ok || got != strings.ToLower(e.Paper) {
			t.Errorf("%s of %s is listed under %q", e.Name, e.Paper, got)
		}
		delete(listed, e.Name)
	}
	for name := range listed {
		t.Errorf("%s is listed, but not in the code", name)
	}
}

// TestEveryPaper: each paper has its corrections.
func TestEveryPaper(t *testing.T) {
	count := map[string]int{}
	for _, e := range errata.All() {
		count[e.Paper]++
	}
	for paper, least := range map[string]int{"A-SRPT": 13, "primal-dual": 10, "Lazer": 3, "SJF-BSBF": 4} {
		if count[paper] < least {
			t.Errorf("%s has %d errata", paper, count[paper])
		}
	}
}
