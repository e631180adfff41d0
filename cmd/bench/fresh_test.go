package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"yardstick/bench/suite"
)

const freshSuite = `
name: known
instances: [{name: gangs, trace: "builtin:philly?jobs=1000", slice: {jobs: 6, at: busiest, repeat: 6}, tooLarge: drop}]
methods:
  - {name: sjf, params: {blocking: skip}}
  - {name: external, params: {command: "%s mine.py"}, as: mine}
references: [exhaustive, lb0]
`

// byHeart plays first come first served where it knows the second release, and one job after
// the other where it does not. What it knows is written into it.
const byHeart = `
import json, sys
KNOWN = %s
waiting, running = [], 0
for line in sys.stdin:
    q = json.loads(line)
    if "hello" in q: free, known = {}, None; print('{"hello":{"name":"mine","class":"N"}}', flush=True)
    if "now" in q:
        for s, n in q["free"]: free[s] = n
        for j in q["arrived"]:
            waiting.append(j)
            if j["job"] == 1: known = j["release"] in KNOWN
        running -= len(q["completed"])
        left, start = sum(free.values()), []
        while waiting and waiting[0]["gpus"] <= left and (known or running == 0):
            left -= waiting[0]["gpus"]; running += 1
            start.append([waiting.pop(0)["job"]])
        print(json.dumps({"start": start}), flush=True)
`

// A policy that knows the instances by heart passes the gate on them, and not on fresh ones;
// one that does not know them passes both.
func TestGateFresh(t *testing.T) {
	interpreter := listPy(t)
	text := fmt.Sprintf(freshSuite, interpreter)
	s, err := suite.Parse("suite.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	built, err := s.Instances[0].Build(s.Seed, &suite.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, in := range built {
		known = append(known, fmt.Sprint(int64(in.Jobs[1].Release)))
	}
	write := func(name, content string) {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("suite.yaml", text)
	for policy, open := range map[string]bool{"[" + strings.Join(known, ", ") + "]": false, "range(10**18)": true} {
		write("mine.py", fmt.Sprintf(byHeart, policy))
		dir := fmt.Sprint("out-", open)
		mustRun(t, "run", "suite.yaml", "-q", "-o", dir)
		mustRun(t, "gate", dir)
		args := []string{"gate", dir, "--fresh", "--fresh-seed", "77", "--max-fresh-growth", "+25%", "-o", dir + "/fresh"}
		code, out, errOut := benchCommand(t, args...)
		if open && (code != exitOK || !strings.Contains(out, "gate passed")) || !open && (code != exitGate || !strings.Contains(out, "fresh: mine on gangs")) {
			t.Errorf("known %s: exit code %d: %s%s", policy, code, out, errOut)
		}
		if out := mustRun(t, "report", dir+"/fresh"); !strings.Contains(out, "fresh 6/6") || strings.Contains(out, "public") {
			t.Errorf("the table does not say that instances are fresh:\n%s", out)
		}
	}
	// Without a seed of its own it draws one that nobody knows.
	if code, out, errOut := benchCommand(t, "gate", "out-true", "--fresh", "--max-fresh-growth", "+1000%"); code != exitOK || !strings.Contains(out, "fresh instances by the seed ") || strings.Contains(out, "seed 1 ") {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
	write("mine.py", "import numpie")
	mustFail := func(want string, args ...string) {
		t.Helper()
		if code, out, errOut := benchCommand(t, args...); code == exitOK || !strings.Contains(out+errOut, want) {
			t.Errorf("%v: exit code %d: %s%s", args, code, out, errOut)
		}
	}
	mustFail("failure: mine on gangs/00", "gate", "out-true", "--fresh", "--fresh-seed", "78")
	mustFail("drop one of the two", "gate", "out-true", "--fresh", "--baseline", "out-false")
	mustFail("go with --fresh", "gate", "out-true", "--fresh-seed", "3")
	mustFail("a share of at least 0", "gate", "out-true", "--fresh", "--max-fresh-growth", "much")
	write("own.yaml", strings.Replace(text, "  - {name: external", "  #", 1))
	mustRun(t, "run", "own.yaml", "-q", "-o", "own")
	mustFail("has no method external", "gate", "own", "--fresh")
}

// Generated traces get another seed, and nothing else is changed.
func TestRedraw(t *testing.T) {
	for text, want := range map[string]string{
		`trace: "builtin:philly?jobs=1000"`:             `trace: "builtin:philly?jobs=1000&seed=5"`,
		`trace: "builtin:helios-earth?seed=1&jobs=10"}`: `trace: "builtin:helios-earth?jobs=10&seed=5"}`,
		`trace: "builtin:philly-like", seed: 1`:         `trace: "builtin:philly-like", seed: 1`,
	} {
		if got := redraw(text, 5); got != want {
			t.Errorf("%s becomes %s, want %s", text, got, want)
		}
	}
}
