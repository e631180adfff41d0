package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const twoFamilies = `name: two
instances:
  - {name: few, slice: {jobs: 2}, tooLarge: drop}
  - {name: more, slice: {jobs: 3}, tooLarge: drop}
methods: [fifo, sjf]
references: [lb0]
`

// cellsOf are the cells that bench plan lists: hash, instance, jobs and method.
func cellsOf(t *testing.T, args ...string) (cells []string) {
	t.Helper()
	for line := range strings.Lines(mustRun(t, append([]string{"plan"}, args...)...)) {
		if fields := strings.Fields(line); len(fields) == 7 && fields[3] == "jobs" {
			cells = append(cells, strings.Join([]string{fields[0], fields[1], fields[2], fields[6]}, " "))
		}
	}
	return cells
}

// TestPartsOfASuite: what --only and --methods leave are the very cells of the whole, and
// a key of one family changes those of no other.
func TestPartsOfASuite(t *testing.T) {
	file := write(t, "two.yaml", twoFamilies)
	all := cellsOf(t, file)
	if len(all) != 6 {
		t.Fatalf("%d cells: %q", len(all), all)
	}
	for _, c := range []struct {
		flags string
		left  []int
	}{
		{"--only more", []int{3, 4, 5}},
		{"--only more,few", []int{0, 1, 2, 3, 4, 5}},
		{"--methods sjf", []int{0, 2, 3, 5}},
		{"--only few --methods fifo", []int{0, 1}},
		{"--set only=few", []int{0, 1, 2}},
	} {
		var want []string
		for _, i := range c.left {
			want = append(want, all[i])
		}
		if got := cellsOf(t, append([]string{file}, strings.Fields(c.flags)...)...); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", c.flags, got, want)
		}
	}
	changed := cellsOf(t, file, "--set", "more.slice.jobs=4")
	if len(changed) != 6 || !slices.Equal(changed[:3], all[:3]) || slices.Equal(changed[3:], all[3:]) || !strings.Contains(changed[3], " 4 ") {
		t.Errorf("a key of one family: %q, before %q", changed, all)
	}

	// The whole goes on where its part was; a part of what is there is refused.
	dir := filepath.Join(t.TempDir(), "r")
	mustRun(t, "run", file, "--only", "few", "-o", dir, "-q")
	if _, _, errOut := benchCommand(t, "run", file, "-o", dir, "-q"); !strings.Contains(errOut, "3 of 6 cells were finished before") {
		t.Errorf("the whole after a part: %s", errOut)
	}
	if code, _, errOut := benchCommand(t, "run", file, "--only", "few", "-o", dir, "-q"); code != exitUsage || !strings.Contains(errOut, "choose another -o") {
		t.Errorf("a part after the whole: exit code %d: %s", code, errOut)
	}
	for flags, want := range map[string]string{"--only fw": `"few"`, "--methods sfj": `"sjf"`, "--set mroe.slice.jobs=3": `"more"`} {
		if code, _, errOut := benchCommand(t, append([]string{"run", file, "-o", dir}, strings.Fields(flags)...)...); code != exitUsage || !strings.Contains(errOut, want) || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%s: exit code %d: %s", flags, code, errOut)
		}
	}
	if code, _, errOut := benchCommand(t, "run", dir, "--only", "few"); code != exitUsage || !strings.Contains(errOut, "--only goes with a suite's file") {
		t.Errorf("a directory: exit code %d: %s", code, errOut)
	}
	for words, want := range map[string]string{"run " + file + " --only ": "few more", "run " + file + " --methods fifo,": "fifo,fifo fifo,sjf", "plan --only ": "pipelines month"} {
		list, _ := offered(t, strings.Split(words, " ")...)
		for _, word := range strings.Fields(want) {
			if !slices.Contains(list, word) {
				t.Errorf("%q: no %s among %v", words, word, list)
			}
		}
	}
}

// TestOtherBuild: a run that another build of the program finished says what it does
// again and why, and how to take what there is.
func TestOtherBuild(t *testing.T) {
	file, dir := write(t, "two.yaml", twoFamilies), filepath.Join(t.TempDir(), "r")
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "bench")
	if err := os.WriteFile(other, append(program, 0), 0o700); err != nil {
		t.Fatal(err)
	}
	c, out := command("run", file, "-o", dir, "-q")
	c.Path = other
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const again = "6 of 6 cells run again: another build of the program finished them"
	if _, _, errOut := benchCommand(t, "run", file, "-o", dir, "-q", "--any-build"); strings.Contains(errOut, "run again:") || !strings.Contains(errOut, "6 of 6 cells were finished before") {
		t.Errorf("--any-build: %s", errOut)
	}
	if _, _, errOut := benchCommand(t, "run", file, "-o", dir, "-q"); !strings.Contains(errOut, again) || !strings.Contains(errOut, "--any-build takes") {
		t.Errorf("without: %s", errOut)
	}
	if _, _, errOut := benchCommand(t, "run", file, "-o", dir, "-q"); strings.Contains(errOut, "run again:") {
		t.Errorf("once more: %s", errOut)
	}
}
