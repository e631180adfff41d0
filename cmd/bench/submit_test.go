package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"yardstick/bench"
)

func minutes(list ...int) []time.Duration {
	times := make([]time.Duration, len(list))
	for i, m := range list {
		times[i] = time.Duration(m) * time.Minute
	}
	return times
}

func estimateOf(finished int, cells ...time.Duration) bench.Estimate {
	e := bench.Estimate{Cells: cells, Open: make([]bool, len(cells)), Finished: finished}
	for i := range cells {
		e.Open[i] = true
	}
	return e
}

func TestBundle(t *testing.T) {
	const goal = 30 * time.Minute
	untimed := func(n int) bench.Estimate { return estimateOf(0, make([]time.Duration, n)...) }
	for _, test := range []struct {
		name            string
		e               bench.Estimate
		shards, workers int
		want            int
	}{
		{"nothing known, few cells", untimed(5), 0, 1, 5},
		{"nothing known, many cells", untimed(5000), 0, 1, 32},
		{"given", untimed(5000), 7, 1, 7},
		{"more than cells", untimed(5), 7, 1, 5},
		{"short cells in one task", estimateOf(1, minutes(1, 2, 3, 4)...), 0, 1, 1},
		{"two halves", estimateOf(1, minutes(10, 10, 10, 10)...), 0, 1, 2},
		{"two workers", estimateOf(1, minutes(10, 10, 10, 10)...), 0, 2, 1},
		{"cells longer than the goal", estimateOf(1, minutes(50, 50, 50)...), 0, 1, 3},
		{"alike modulo two and four", estimateOf(1, minutes(20, 0, 20, 0, 20, 0, 20, 0)...), 0, 1, 5},
	} {
		if b := newBundle(test.e, test.shards, test.workers, goal); b.shards != test.want {
			t.Errorf("%s: %d shards, want %d", test.name, b.shards, test.want)
		}
	}
	if b := newBundle(bench.Estimate{}, 0, 1, goal); len(b.tasks) != 0 {
		t.Errorf("a plan without cells: %+v", b)
	}
}

// Every open cell is in one task, no task is empty, none takes longer than the
// goal where that can be, and no fewer shards would do.
func TestBundleProperties(t *testing.T) {
	const goal = 30 * time.Minute
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 8))
		e := bench.Estimate{Finished: 1}
		for range 1 + rng.IntN(60) {
			open := rng.IntN(3) > 0
			var d time.Duration
			if open {
				d = time.Duration(rng.IntN(1200)) * time.Second
			}
			e.Open, e.Cells = append(e.Open, open), append(e.Cells, d)
		}
		workers := 1 + rng.IntN(3)
		b := newBundle(e, 0, workers, goal)
		in := map[int]bool{}
		for _, task := range b.tasks {
			in[task] = true
		}
		has := map[int]bool{}
		for i, open := range e.Open {
			if open {
				has[i%b.shards] = true
			}
		}
		if fmt.Sprint(in) != fmt.Sprint(has) {
			t.Errorf("seed %d: tasks %v, open cells in %v", seed, in, has)
		}
		if b.longest > goal {
			t.Errorf("seed %d: a task takes %v though no cell takes 20 minutes and each may have a task of its own", seed, b.longest)
		}
		if n := b.shards - 1; n > 0 && slices.Max(shardTimes(e.Cells, n, workers)) <= goal {
			t.Errorf("seed %d: %d shards, and %d would do", seed, b.shards, n)
		}
	}
}

func TestTaskRanges(t *testing.T) {
	for want, tasks := range map[string][]int{"0": {0}, "0-2": {0, 1, 2}, "0-1,3,5-7": {0, 1, 3, 5, 6, 7}, "": nil} {
		if got := (bundle{tasks: tasks}).ranges(); got != want {
			t.Errorf("%v: %q, want %q", tasks, got, want)
		}
	}
}

func TestSlurmTime(t *testing.T) {
	for want, d := range map[string]time.Duration{"0-00:30:00": 30 * time.Minute, "1-01:00:01": 25*time.Hour + 300*time.Millisecond, "0-00:02:05": 125 * time.Second} {
		if got := slurmTime(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

// A word that was quoted is what the shell reads.
func TestShellWord(t *testing.T) {
	for _, word := range []string{"plain-1.0_/a", "", "a b", "it's", `"$HOME" \ #`, "[1]*?{2}", "ä;&"} {
		out, err := exec.Command("bash", "-c", "printf %s "+shellWord(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q: the shell reads %q, %v", word, out, err)
		}
	}
	if got := pattern("/a%b/c/%A.log"); got != "/a%%b/c/%A.log" {
		t.Errorf("pattern %s", got)
	}
}

// The scripts are written and shown, nothing is submitted, and what was changed
// by hand is kept.
func TestSubmitDryRun(t *testing.T) {
	suite, out := write(t, "suite.yaml", shardSuite), filepath.Join(t.TempDir(), "a b")
	t.Setenv("PATH", "/nonexistent")
	args := []string{"submit", "slurm", suite, "-o", out, "--dry-run", "--shards", "4", "--concurrent", "2", "--time", "90m", "--cpus", "3", "--mem", "5G", "--partition", "short", "--sbatch", "--account=lab"}
	text := mustRun(t, args...)
	array, err := os.ReadFile(filepath.Join(out, "array.sh"))
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"#SBATCH --array=0-3%2", "--time=0-01:30:00", "--cpus-per-task=3", "--mem=5G", "--partition=short", "--account=lab", "--requeue",
		"--open-mode=append", "--signal=B:TERM@60", "--chdir=" + folder, "--output=" + out + "/logs/%A_%a.log",
		"exec " + program + " run '" + out + `' --shard "$((SLURM_ARRAY_TASK_ID + 1))/4" -o '` + out + "'"} {
		if !strings.Contains(string(array), want) {
			t.Errorf("array.sh lacks %q:\n%s", want, array)
		}
	}
	merge, err := os.ReadFile(filepath.Join(out, "merge.sh"))
	if err != nil || !strings.Contains(string(merge), "exec "+program+" merge '"+out+"'\n") || strings.Contains(string(merge), "--array") {
		t.Errorf("merge.sh: %v\n%s", err, merge)
	}
	for _, want := range []string{string(array), string(merge), "--dependency=afterany:${id%%;*}"} {
		if !strings.Contains(text, want) {
			t.Errorf("the output lacks %q:\n%s", want, text)
		}
	}
	if _, err := bench.ReadPlanFile(out); err != nil {
		t.Error(err)
	}
	edited := strings.Replace(string(array), "#SBATCH --mem=5G", "#SBATCH --mem=6G", 1)
	if err := os.WriteFile(filepath.Join(out, "array.sh"), []byte(edited), 0o755); err != nil {
		t.Fatal(err)
	}
	mustRun(t, args...)
	if kept, err := os.ReadFile(filepath.Join(out, "array.sh~")); err != nil || string(kept) != edited {
		t.Errorf("the edited script was not kept: %v", err)
	}
}

// fakeSbatch puts a program named sbatch on PATH that notes its arguments, names
// a job of its own each time, and fails where fail says so.
func fakeSbatch(t *testing.T, fail string) (log string) {
	t.Helper()
	dir := t.TempDir()
	log = filepath.Join(dir, "log")
	script := "#!/bin/sh\necho \"$@\" >>" + log + "\n" + fail + "\necho \"$(wc -l <" + log + ");cluster\"\n"
	if err := os.WriteFile(filepath.Join(dir, "sbatch"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return log
}

func TestSubmitCallsSbatch(t *testing.T) {
	suite, out := write(t, "suite.yaml", shardSuite), filepath.Join(t.TempDir(), "out")
	log := fakeSbatch(t, "")
	text := mustRun(t, "submit", "slurm", suite, "-o", out)
	called, err := os.ReadFile(log)
	if want := fmt.Sprintf("--parsable %[1]s/array.sh\n--parsable --dependency=afterany:1 %[1]s/merge.sh\n", out); err != nil || string(called) != want {
		t.Errorf("sbatch was called with\n%swant\n%s%v", called, want, err)
	}
	for _, want := range []string{"array   job 1: 32 tasks", "merge   job 2", "squeue --jobs=1,2", "scancel 1 2", "go on   bench submit slurm " + out} {
		if !strings.Contains(text, want) {
			t.Errorf("the output lacks %q:\n%s", want, text)
		}
	}
	fakeSbatch(t, `case "$*" in *afterany*) echo "sbatch: error: no such partition" >&2; exit 1;; esac`)
	if _, _, errOut := benchCommand(t, "submit", "slurm", suite, "-o", out); !strings.Contains(errOut, "job 1") || !strings.Contains(errOut, "no such partition") {
		t.Errorf("a merge that is refused: %s", errOut)
	}
	fakeSbatch(t, "exit 1")
	if code, _, errOut := benchCommand(t, "submit", "slurm", suite, "-o", out); code != exitUsage || !strings.Contains(errOut, "sbatch refused") {
		t.Errorf("an array that is refused: exit code %d: %s", code, errOut)
	}
	t.Setenv("PATH", "/nonexistent")
	if code, _, errOut := benchCommand(t, "submit", "slurm", suite, "-o", out); code != exitUsage || !strings.Contains(errOut, "--dry-run") {
		t.Errorf("without sbatch: exit code %d: %s", code, errOut)
	}
}

// A result directory in place of a suite stands for what is missing of its plan.
func TestSubmitAndRunWhatIsMissing(t *testing.T) {
	suite, dir := write(t, "suite.yaml", shardSuite), t.TempDir()
	out := dir + "/out"
	mustRun(t, "run", suite, "-q", "-o", dir+"/whole")
	mustRun(t, "run", suite, "-q", "-o", out, "--shard", "2/4")
	log := fakeSbatch(t, "")
	code, _, errOut := benchCommand(t, "submit", "slurm", out, "--shards", "4")
	script, err := os.ReadFile(out + "/array.sh")
	if err != nil || code != exitOK || !strings.Contains(string(script), "--array=0,2-3\n") || !strings.Contains(errOut, "1 of 4 shards have nothing left") {
		t.Errorf("exit code %d: %s, %v:\n%s", code, errOut, err, script)
	}
	if code, _, errOut := benchCommand(t, "submit", "slurm", out); code != exitOK || !strings.Contains(errOut, "by the times of 8 finished cells") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	limit := regexp.MustCompile(`--time-limit (\w+)`).FindStringSubmatch(string(script))[1] // of the plan
	for _, i := range []int{1, 3, 4} {
		mustRun(t, "run", out, "-q", "--time-limit", limit, "--shard", fmt.Sprintf("%d/4", i))
	}
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	if text := mustRun(t, "submit", "slurm", out); !strings.Contains(text, "bench merge "+out) {
		t.Errorf("everything is finished: %s", text)
	}
	if _, err := os.Stat(log); err == nil {
		t.Error("sbatch was called for nothing")
	}
	code, _, errOut = benchCommand(t, "run", out, "-q")
	if code != exitOK || !strings.Contains(errOut, "32 of 32 cells were finished before") || digestOf(t, out) != digestOf(t, dir+"/whole") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
}

func TestSubmitRefuses(t *testing.T) {
	suite, dir := write(t, "suite.yaml", shardSuite), t.TempDir()
	mustRun(t, "submit", "slurm", suite, "-o", dir+"/taken", "--dry-run")
	for want, args := range map[string][]string{
		"--shards 1001":      {suite, "--shards", "1001"},
		"--shards \"-1\"":    {suite, "--shards", "-1"},
		"--concurrent":       {suite, "--concurrent", "-1"},
		"--cpus":             {suite, "--cpus", "0"},
		"at least 5m":        {suite, "--time", "1m"},
		"one line":           {suite, "--sbatch", "--x\n--y"},
		"holds a plan":       {dir + "/taken", "--set", "seed=3"},
		"holds no plan.json": {dir},
		"choose another -o":  {suite, "-o", dir + "/taken", "--set", "seed=3"},
	} {
		if code, _, errOut := benchCommand(t, append([]string{"submit", "slurm", "--dry-run"}, args...)...); code != exitUsage || !strings.Contains(errOut, want) {
			t.Errorf("%v: exit code %d: %s", args, code, errOut)
		}
	}
	for _, flag := range []string{"--set=seed=3", "--time-limit=3s"} {
		if code, _, errOut := benchCommand(t, "run", dir+"/taken", flag); code != exitUsage || !strings.Contains(errOut, "holds a plan") {
			t.Errorf("bench run DIR %s: exit code %d: %s", flag, code, errOut)
		}
	}
}
