package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"yardstick/internal/schedtest"
)

// spreadGangs are two long gangs of two GPUs on servers of three, and a short one that
// runs fast on one server and finds one GPU free on each: on the pool it runs fast at once.
const spreadGangs = `{"name": "spread", "model": "gang", "cluster": {"servers": [{"gpus": 3}, {"gpus": 3}], "inter": "1Gbps", "intra": "300GB/s"}, "jobs": [
{"name": "a", "release": "0s", "weight": 1, "iters": 100, "stages": [{"replicas": 2, "compute": "1s", "params": "500MB"}]},
{"name": "b", "release": "0s", "weight": 1, "iters": 100, "stages": [{"replicas": 2, "compute": "1s", "params": "500MB"}]},
{"name": "c", "release": "1s", "weight": 1, "iters": 10, "stages": [{"replicas": 2, "compute": "1s", "params": "500MB"}]}]}`

// Where the pool's optimum is below that on servers, the proof is one on servers, and
// strangers need Python alone.
func TestProveOnServers(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		schedtest.Missing(t, "python3 is missing: install it to run the checker of trees")
	}
	instance, dir := write(t, "in.json", spreadGangs), filepath.Join(t.TempDir(), "proof")
	for _, objective := range []string{"total-jct", "makespan", "weighted-completion"} {
		out := mustRun(t, "prove", instance, "-o", dir, "--quiet", "--objective", objective)
		if !strings.Contains(out, "the optimum of class N") {
			t.Errorf("%s: %s", objective, out)
		}
		readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		const command = "    python3 check_servers.py instance.txt optimum.cert\n"
		if !strings.Contains(string(readme), command) {
			t.Fatalf("%s: not on servers: %s\n%s", objective, out, readme)
		}
		c := exec.Command(python, append([]string{"-B"}, strings.Fields(command)[1:]...)...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "holds") {
			t.Errorf("%s: %v: %s", objective, err, out)
		}
		if out := mustRun(t, "verify", instance, dir); !strings.Contains(out, "follows from") || !strings.Contains(out, "it is the optimum") {
			t.Errorf("%s: %s", objective, out)
		}
		other := write(t, "other.json", strings.Replace(spreadGangs, `"1Gbps"`, `"2Gbps"`, 1))
		wantExit(t, exitInvalid, "not what follows from the instance", "verify", other, dir)
		mustRun(t, "verify", instance, filepath.Join(dir, "schedule.json"))
	}
	// Too few nodes leave the proof of a bound.
	code, out, errOut := benchCommand(t, "prove", instance, "-o", dir, "--quiet", "--nodes", "1")
	if code == exitOK && (!strings.Contains(errOut, "the proof is one of a bound") || strings.Contains(out, "the optimum of class")) || code != exitOK && code != exitIncomplete {
		t.Errorf("one node: code %d: %s%s", code, out, errOut)
	}
}
