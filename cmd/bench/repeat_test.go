package main

import (
	"path/filepath"
	"strings"
	"testing"

	"yardstick/bench/record"
)

// TestTimes: times are of cells, however many objectives they have, and medians of sums.
func TestTimes(t *testing.T) {
	row := func(cell, method string, cpu, wall float64) record.Ratio {
		return record.Ratio{CellID: cell, Family: "f", Method: method, CPU: record.Opt[float64]{V: cpu, Valid: true}, Wall: record.Opt[float64]{V: wall, Valid: true}}
	}
	run := func(a, b, c float64) *record.Run {
		return &record.Run{Ratios: []record.Ratio{row("1", "m", a, 2*a), row("1", "m", a, 2*a), row("2", "m", b, 2*b), row("3", "n", c, c)}}
	}
	for _, c := range []struct {
		runs []*record.Run
		want string
	}{
		{[]*record.Run{run(1, 2, 7), run(5, 6, 7), run(3, 1, 8)}, "f m 2 4.000 (3.000 to 11.000) 8.000 (6.000 to 22.000)|f n 1 7.000 (7.000 to 8.000) 7.000 (7.000 to 8.000)|s"},
		{[]*record.Run{run(1, 2, 7), run(5, 6, 9)}, "f m 2 7.000 (3.000 to 11.000) 14.000 (6.000 to 22.000)|f n 1 8.000 (7.000 to 9.000) 8.000 (7.000 to 9.000)|s"},
		{[]*record.Run{run(.001, .002, .1), run(.001, .002, .1)}, "f m 2 3.000 (3.000 to 3.000) 6.000 (6.000 to 6.000)|f n 1 100.000 (100.000 to 100.000) 100.000 (100.000 to 100.000)|ms"},
	} {
		l := times(c.runs)
		var lines []string
		for _, r := range l.rows {
			lines = append(lines, strings.Join(r, " "))
		}
		unit := strings.TrimPrefix(l.columns[3], "processor_")
		if got := strings.Join(append(lines, unit), "|"); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// TestRepeat: every run is a result directory with the values of the others and times of
// its own, and the same command again has nothing to do.
func TestRepeat(t *testing.T) {
	file, dir := write(t, "two.yaml", twoFamilies), filepath.Join(t.TempDir(), "r")
	out := mustRun(t, "run", file, "-o", dir, "-q", "--repeat", "3")
	if strings.Count(out, "report ") != 1 || !strings.Contains(out, "times of 3 runs") || strings.Count(out, "(") < 8 {
		t.Errorf("printed:\n%s", out)
	}
	var runs []*record.Run
	for _, d := range []string{dir, dir + "/repeats/2", dir + "/repeats/3"} {
		mustRun(t, "verify", d)
		run, err := record.Open(d)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
		if run.Manifest.ResultDigest != runs[0].Manifest.ResultDigest || run.Manifest.Execution.Reused > 0 {
			t.Errorf("%s: digest %s, want %s; %d cells of %d were taken from elsewhere", d, run.Manifest.ResultDigest, runs[0].Manifest.ResultDigest, run.Manifest.Execution.Reused, run.Manifest.Execution.Cells)
		}
	}
	again := mustRun(t, "run", file, "-o", dir, "-q", "--repeat", "3")
	table := func(text string) string { return text[strings.Index(text, "family "):] }
	if table(again) != table(out) {
		t.Errorf("again:\n%s\nbefore:\n%s", table(again), table(out))
	}
	if code, _, errOut := benchCommand(t, "run", file, "-o", dir, "--repeat", "2", "--shard", "1/2"); code != exitUsage || !strings.Contains(errOut, "does not go with --shard") {
		t.Errorf("with --shard: exit code %d: %s", code, errOut)
	}
}
