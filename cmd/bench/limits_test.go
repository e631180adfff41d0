package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"yardstick/bench/suite"
	"yardstick/internal/input"
	"yardstick/sched"
)

// TestLimitsPage: docs/limits.md has every limit with its number, and no other.
func TestLimitsPage(t *testing.T) {
	data, err := os.ReadFile("../../docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	raised := map[string]string{} // what the page says, by variable
	fixed := map[string]string{}  // by what is limited
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case !regexp.MustCompile(`^\d+$`).MatchString(strings.Join(cells[min(1, len(cells)-1):min(2, len(cells))], "")):
		case len(cells) == 5:
			name := strings.Trim(cells[3], "`")
			said := cells[1] + ", " + strings.Join(regexp.MustCompile(`\d+`).FindAllString(cells[2], -1), "")
			if old, twice := raised[name]; twice && old != said {
				t.Errorf("%s: %s and %s", name, old, said)
			}
			raised[name] = said
		case len(cells) == 3:
			fixed[cells[0]] = cells[1]
		}
	}
	for _, l := range input.Limits() {
		share := ""
		if l.Share > 0 {
			share = fmt.Sprint(l.Share)
		}
		if want := fmt.Sprintf("%d, %s", l.Most, share); raised[l.Variable] != want {
			t.Errorf("%s: the page says %q, the program %q", l.Variable, raised[l.Variable], want)
		}
		delete(raised, l.Variable)
	}
	if len(raised) > 0 {
		t.Errorf("no limits of the program: %v", raised)
	}
	space, files := leastRoom(t)
	for what, want := range map[string]int{
		"GPUs of a cluster, and servers": sched.MaxGPUs, "windows of a source (`slice.repeat`)": suite.MaxRepeat, "bytes of a suite's name": suite.MaxSuiteName,
		"bytes of a source's name, or of a swept value": suite.MaxSourceName, "depth of values in YAML": suite.Deepest,
		"cells, searches or checks at a time (`-j`)": maxWorkers, "parts of a run (`--shards`)": maxShards, "random fragmentations of `bench place`": maxFragmentations,
		"jobs of the instances of `bench hunt`": maxHuntedJobs, "address space to start with (`ulimit -v`), at least, in MB": space, "files open at a time (`ulimit -n`), at least": files,
	} {
		if space == 0 && strings.Contains(what, "ulimit") {
			delete(fixed, what) // built without cgo
			continue
		}
		if fixed[what] != fmt.Sprint(want) {
			t.Errorf("%s: the page says %q, the program %d", what, fixed[what], want)
		}
		delete(fixed, what)
	}
	if len(fixed) > 0 {
		t.Errorf("no limits of the program: %v", fixed)
	}
}
