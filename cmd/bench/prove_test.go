package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// proven writes an instance and a proof of its optimum.
func proven(t *testing.T, args ...string) (instance, dir string) {
	t.Helper()
	instance, dir = write(t, "in.json", tinyInstance), filepath.Join(t.TempDir(), "proof")
	mustRun(t, append([]string{"prove", instance, "-o", dir, "--quiet"}, args...)...)
	return instance, dir
}

// A stranger needs the folder, Python, and the commands that its README names.
func TestProveForStrangers(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		schedtest.Missing(t, "python3 is missing: install it to run the checker of trees")
	}
	for _, args := range [][]string{nil, {"--objective", "weighted-completion"}, {"--objective", "makespan"}, {"--objective", "mean-jct"}, {"--bound", "1"}} {
		instance, dir := proven(t, args...)
		readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		const command = "    python3 check_tree.py instance.txt optimum.cert\n"
		if !strings.Contains(string(readme), command) {
			t.Fatalf("the README does not say how to check:\n%s", readme)
		}
		c := exec.Command(python, append([]string{"-B"}, strings.Fields(command)[1:]...)...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "holds") {
			t.Errorf("%v: %v: %s", args, err, out)
		}
		if out := mustRun(t, "verify", dir); !strings.Contains(out, "holds") {
			t.Errorf("%v: %s", args, out)
		}
		if out := mustRun(t, "verify", instance, dir); !strings.Contains(out, "follows from") {
			t.Errorf("%v: %s", args, out)
		}
		if schedule := filepath.Join(dir, "schedule.json"); len(args) == 0 || args[0] != "--bound" {
			mustRun(t, "verify", instance, schedule)
		}
	}
}

// What is changed afterwards does not hold.
func TestVerifyChangedProof(t *testing.T) {
	instance, dir := proven(t)
	other := write(t, "other.json", strings.Replace(tinyInstance, `"iters": 4`, `"iters": 5`, 1))
	wantExit(t, exitInvalid, "not what follows from the instance", "verify", other, dir)
	for name, change := range map[string][2]string{"instance.txt": {"capacity 2", "capacity 3"}, "optimum.cert": {"claim optimum", "claim bound"}} {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(text), change[0], change[1], 1)
		if changed == string(text) {
			t.Fatalf("%s has no %q:\n%s", name, change[0], text)
		}
		if err := os.WriteFile(path, []byte(changed), 0o666); err != nil {
			t.Fatal(err)
		}
		wantExit(t, exitInvalid, "does not hold", "verify", dir)
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, "verify", instance, dir)
}

func TestProveRefusals(t *testing.T) {
	instance, _ := proven(t)
	fresh := filepath.Join(t.TempDir(), "new")
	for want, args := range map[string][]string{
		"give a lower value": {instance, "-o", fresh, "--bound", "1000"},
		"no number":          {instance, "-o", fresh, "--bound", "1e9"},
		"every schedule":     {instance, "-o", fresh, "--objective", "total-completion", "--bound", "0"},
		"has files already":  {instance, "-o", filepath.Dir(instance)},
		"-o is missing":      {instance},
		"unknown":            {instance, "-o", fresh, "--format", "tre"},
		"does not apply":     {instance, "-o", fresh, "--objective", "scheduled-weight"},
		"writes more than":   {instance, "-o", "-"},
		"no such file":       {instance, "-o", fresh, "--schedule", "none.json"},
	} {
		wantExit(t, exitUsage, want, append([]string{"prove", "--quiet"}, args...)...)
	}
	paused := write(t, "paused.json", strings.Replace(tinyInstance, `"gang"`, `"preemptive"`, 1))
	wantExit(t, exitUsage, "does not apply to class P", "prove", paused, "-o", fresh)
	if _, err := os.Stat(fresh); err == nil {
		t.Error("a refused proof leaves a folder")
	}
}

// The names of an instance are those of somebody else.
func TestProofOfHostileNames(t *testing.T) {
	in := schedtest.Plain(schedtest.Servers(2), schedtest.Job(0, 2, 10), schedtest.Job(0, 1, 5))
	in.Name, in.Jobs[0].Name = "a\n# b", "x | y\n\x1b[31m"
	var text strings.Builder
	if err := in.Write(&text); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "proof")
	mustRun(t, "prove", write(t, "in.json", text.String()), "-o", dir, "--quiet", "--objective", sched.TotalJCT.String())
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(readme), "\n# b") || strings.Contains(string(readme), "\x1b") || strings.Contains(string(readme), "x | y") {
		t.Errorf("a name breaks out:\n%s", readme)
	}
}

// wantExit runs a command that must end with the exit code and one line that says so.
func wantExit(t *testing.T, want int, says string, args ...string) {
	t.Helper()
	code, _, errOut := benchCommand(t, args...)
	if code != want || !strings.Contains(errOut, says) || strings.Count(strings.TrimSpace(errOut), "\n") > 0 {
		t.Errorf("bench %s: exit code %d, message %q; want %d and %q", strings.Join(args, " "), code, errOut, want, says)
	}
}

// The script of docs/proofs.md makes instances that are proven, the same at every time.
func TestProveDraws(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		schedtest.Missing(t, "python3 is missing: install it to run the script that draws instances")
	}
	for _, args := range [][]string{{"8", "1"}, {"8", "1", "--hours"}} {
		draw := func() string {
			out, err := exec.Command(python, append([]string{"-B", "../../docs/examples/proofs/draw.py"}, args...)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			return string(out)
		}
		text := draw()
		if text != draw() {
			t.Fatalf("%v: another instance the second time", args)
		}
		instance, dir := write(t, "draw.json", text), filepath.Join(t.TempDir(), "proof")
		mustRun(t, "prove", instance, "-q", "-o", dir)
		problem, err := os.ReadFile(filepath.Join(dir, "instance.txt"))
		if err != nil {
			t.Fatal(err)
		}
		if hours := strings.Contains(string(problem), "\nunit 3600000000\n"); hours != (len(args) > 2) || !strings.Contains(string(problem), "\ncapacity 32\njobs 8\n") {
			t.Errorf("%v:\n%s", args, problem)
		}
		mustRun(t, "verify", instance, dir)
	}
}
