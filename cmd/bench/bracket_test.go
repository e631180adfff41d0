package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"yardstick/bounds/certify"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
)

// Both sides of an instance of every model are written, pass the verifier and the checker
// of certificates, and hold the optimum where brute force knows it.
func TestBracket(t *testing.T) {
	for name, in := range models() {
		path, dir := instanceFile(t, in), filepath.Join(t.TempDir(), "bracket")
		out := mustRun(t, "bracket", path, "--effort", "1", "-o", dir, "-q")
		if !strings.Contains(out, "\nbound     ") || !strings.Contains(out, "\nschedule  ") || !strings.Contains(out, "\ngap       ") {
			t.Errorf("%s: %s", name, out)
		}
		mustRun(t, "verify", path, filepath.Join(dir, "schedule.json"))
		if certificate := filepath.Join(dir, "certificate.json"); strings.Contains(out, ", certified\n") {
			mustRun(t, "verify", path, certificate)
		}
	}
	for seed := range uint64(3) {
		in := schedtest.Gang(schedtest.Rand(seed), schedtest.Shape{Jobs: 5, Servers: 2, GPUs: 3, Stages: 2, Traffic: true, Weights: true})
		dir := t.TempDir()
		mustRun(t, "bracket", instanceFile(t, in), "--effort", "1", "--objective", "weighted-completion", "-o", dir, "-q")
		_, optimum := schedtest.BruteForce(in, sched.WeightedCompletion)
		f, err := os.Open(filepath.Join(dir, "schedule.json"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		s, _, err := sched.ReadSchedule(f)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "certificate.json"))
		if err != nil {
			t.Fatal(err)
		}
		stated, err := certify.New(in, in.Hash()).Check(text)
		if err != nil {
			t.Fatal(err)
		}
		if cost := schedtest.Verify(t, in, s).Cost(sched.WeightedCompletion); cost.Cmp(optimum) < 0 || stated.Value.Cmp(optimum) > 0 {
			t.Errorf("seed %d: optimum %v, but a bound of %v and a schedule of %v", seed, optimum, stated.Value, cost)
		}
	}
}

// The same effort and seed give the same bracket on one worker and on several, but for
// the time.
func TestBracketSame(t *testing.T) {
	tier.Slow(t)
	path := instanceFile(t, schedtest.Gang(schedtest.Rand(1), schedtest.Shape{Jobs: 25, Servers: 2, GPUs: 4, Stages: 1}))
	sides := func(args ...string) string {
		out := mustRun(t, append([]string{"bracket", path, "--effort", "2", "-q"}, args...)...)
		return out[strings.Index(out, "\nbound"):]
	}
	if one, many := sides("-j", "1"), sides("-j", "3"); one != many {
		t.Errorf("one worker: %s\nthree: %s", one, many)
	}
}

// A budget in time is marked, and not waited for where the sides meet; bad flags are named.
func TestBracketFlags(t *testing.T) {
	path := instanceFile(t, models()["gang"])
	alone := instanceFile(t, schedtest.Gang(schedtest.Rand(1), schedtest.Shape{Jobs: 1, Servers: 1, GPUs: 2, Stages: 1}))
	if out := mustRun(t, "bracket", alone, "--budget", "1h", "-q"); !strings.Contains(out, "another machine, or another day, may find other sides") {
		t.Error(out)
	}
	for want, args := range map[string][]string{
		"must be at most 5":         {path, "--effort", "6"},
		"drop one of the two":       {path, "--effort", "2", "--budget", "1s"},
		"must be at least 0s":       {path, "--budget", "-1s"},
		"is maximised":              {path, "--objective", "scheduled-weight"},
		"the instance has no slots": {path, "--class", "Ps"},
		"class \"X\" is unknown":    {path, "--class", "X"},
		"no such file":              {path + ".missing"},
		"to the sharing model":      {instanceFile(t, models()["sharing"]), "--pooled"},
	} {
		if code, _, errOut := benchCommand(t, append([]string{"bracket"}, args...)...); code != exitUsage || !strings.Contains(errOut, want) {
			t.Errorf("%v: exit code %d, %s", args, code, errOut)
		}
	}
}

// What place costs lies between two brackets, and the files of the one without place are
// those of the instance beside them.
func TestBracketPooled(t *testing.T) {
	in := schedtest.Gang(schedtest.Rand(4), schedtest.Shape{Jobs: 5, Servers: 2, GPUs: 3, Stages: 2, Traffic: true})
	path, dir := instanceFile(t, in), t.TempDir()
	mustRun(t, "bracket", path, "--pooled", "--effort", "1", "-o", dir, "-q")
	pooled := filepath.Join(dir, "instance.json")
	mustRun(t, "verify", pooled, filepath.Join(dir, "schedule.json"))
	mustRun(t, "verify", pooled, filepath.Join(dir, "certificate.json"))
	if code, _, _ := benchCommand(t, "verify", path, filepath.Join(dir, "schedule.json")); code == 0 {
		t.Error("a schedule without place passes for one with it")
	}
}

// An interrupt keeps both sides as they are.
func TestBracketInterrupted(t *testing.T) {
	tier.Slow(t)
	dir := t.TempDir()
	c := interruptCommand(t, func(text string, _ float64) bool { return regexp.MustCompile(`round [1-9]`).MatchString(text) }, "bracket", hardInstance(t), "--effort", "5", "-o", dir)
	c.check(t, "both sides as they were are above", "begins anew")
	mustRun(t, "verify", hardInstance(t), filepath.Join(dir, "schedule.json"))
}

// A suite with a bracket as its reference has ranges: the true ratio of a policy is
// between two columns, and the one who knows the best schedule is named.
func TestBracketAsReference(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	suite := write(t, "suite.yaml", `apiVersion: yardstick/v1
name: ranges
instances:
  - name: some
    slice: {jobs: 30, at: busiest, repeat: 2}
    cluster: {servers: 2, gpusPerServer: 4, inter: 10Gbps, intra: 300GB/s}
    tooLarge: drop
objectives: [total-jct]
methods: [{name: fifo, params: {blocking: strict, placement: pool}}]
references: [bracket, {name: lns, params: {moves: "2000"}}]
`)
	mustRun(t, "run", suite, "-o", dir, "-q")
	var report struct {
		Groups []struct {
			Details []struct {
				Method      string  `json:"method"`
				Ratio       float64 `json:"ratio"`
				AtLeast     float64 `json:"ratio_at_least"`
				BestKnownBy string  `json:"best_known_by"`
			} `json:"details"`
		} `json:"groups"`
	}
	if err := json.Unmarshal([]byte(mustRun(t, "report", dir, "--format", "json")), &report); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, d := range report.Groups[0].Details {
		if d.Method == "fifo(blocking=strict,placement=pool)" {
			seen++
			if d.AtLeast <= 1 || d.AtLeast > d.Ratio || d.BestKnownBy != "bracket" && !strings.HasPrefix(d.BestKnownBy, "lns") {
				t.Errorf("%+v", d)
			}
		}
	}
	if seen != 2 {
		t.Errorf("%d rows of the policy", seen)
	}
	if table := mustRun(t, "report", dir); !strings.Contains(table, "–") {
		t.Errorf("no range in %s", table)
	}
	mustRun(t, "verify", dir)
	mustRun(t, "gate", dir, "--max-gap", "1000%")
	if code, _, errOut := benchCommand(t, "gate", dir, "--max-gap", "0%"); code != exitGate {
		t.Errorf("exit code %d: %s", code, errOut)
	}
}

// A search that takes more memory than it may ends as one that is interrupted does, with
// what is proven by then, and says so.
func TestBracketEndsAtMemory(t *testing.T) {
	ctx, full := whileMemory(t.Context(), 1)
	<-ctx.Done()
	if used := full(); used <= 1 {
		t.Errorf("it ended at %d bytes", used)
	}
	ctx, full = whileMemory(t.Context(), 1<<60)
	if used := full(); used != 0 || ctx.Err() == nil {
		t.Errorf("the watch ended at %d bytes", used)
	}
	var out strings.Builder
	a := &app{out: &out, err: &out}
	in := schedtest.Gang(schedtest.Rand(1), schedtest.Shape{Jobs: 5, Servers: 2, GPUs: 3, Stages: 1})
	err := a.bracket(t.Context(), &bracketFlags{objective: "total-jct", effort: 5, memory: 1, quiet: true}, instanceFile(t, in))
	if !strings.Contains(out.String(), "the search ended at ") && !strings.Contains(out.String(), "optimal, proven") {
		t.Errorf("%v\n%s", err, out.String())
	}
}
