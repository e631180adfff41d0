package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"yardstick/bench/record"
	"yardstick/internal/tier"
)

// TestReadmeTable: the tables that the README shows are those of the embedded suite, but for
// rows and last columns that it leaves out; and docs/default-suite.md says what its families have.
func TestReadmeTable(t *testing.T) {
	tier.Slow(t) // the whole suite: half a minute
	tier.Unraced(t)
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "ends with tables like these")
	block, _, found := strings.Cut(block, "    report results/quick")
	if !found {
		t.Fatal("the README has no tables")
	}
	dir := filepath.Join(t.TempDir(), "quick")
	out := mustRun(t, "run", "-o", dir, "-q", "--time-limit", "10m") // a busy machine needs longer, and comes to the same
	holdPremises(t, dir)
	run, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	certifiedAll(t, run) // as the README says
	var printed []string
	for line := range strings.Lines(out) {
		printed = append(printed, strings.Join(strings.Fields(line), " ")+" ")
	}
	rows := 0
	for line := range strings.Lines(block) {
		row, indented := strings.CutPrefix(line, "    ")
		row = strings.Join(strings.Fields(row), " ")
		if !indented || row == "..." || strings.Contains(row, " cells, ") {
			continue
		}
		rows++
		there := false
		for _, p := range printed {
			there = there || strings.HasPrefix(p, row+" ")
		}
		if !there {
			t.Errorf("the embedded suite does not print %q", row)
		}
	}
	if rows < 20 {
		t.Errorf("%d rows", rows)
	}
}
