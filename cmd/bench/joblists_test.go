package main

import (
	"path/filepath"
	"strings"
	"testing"

	"yardstick/datasets/joblist"
)

// A list of jobs is the same list for every command that reads one: what a column may be
// called for one, it may be called for the others.
func TestColumnsOfJobLists(t *testing.T) {
	names := joblist.Defaults()
	header := map[string][]string{"id": names.ID, "submit": names.Submit, "gpus": names.GPUs, "duration": names.Duration}
	for column, list := range header {
		for _, name := range list {
			text := strings.Replace("id,submit,gpus,duration\nfirst,7,1,10\nsecond,8,1,20\n", column, name, 1)
			jobs, out := write(t, "jobs.csv", text), filepath.Join(t.TempDir(), "out.csv")
			mustRun(t, "simulate", jobs, "--gpus", "1", "--policy", "fifo", "-o", out)
			// 10 s, and 9 s of waiting and 20 s
			if scored := mustRun(t, "score", jobs, out, "--gpus", "1"); !strings.Contains(scored, " 39") {
				t.Errorf("%s for %s: %s", name, column, scored)
			}
		}
	}
}
