//go:build linux

package attack

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"yardstick/internal/schedtest"
)

// under returns a process of the command that the shell prepares first.
func under(t testing.TB, dir, prepare string, args ...string) ending {
	t.Helper()
	c := start(t, dir, args...)
	c.Args = slices.Concat([]string{"sh", "-c", prepare + ` && exec "$0" "$@"`}, c.Args[3:])
	return wait(t, c)
}

// writers are commands that write where they are told, in DIR.
func writers(t testing.TB, dir string) map[string][]string {
	for name, text := range map[string]string{"s.yaml": suiteText, "in.csv": "submit,gpus,duration\n" + strings.Repeat("0,1,10\n", 20_000)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	must(t, dir, "instance", "build", "builtin:philly-like", "-s", "slice.jobs=4", "-s", "tooLarge=drop", "-o", "in.json")
	return map[string][]string{
		"run":      {"run", "s.yaml", "-q", "-o", "DIR/r"},
		"solve":    {"solve", "in.json", "--schedule", "DIR/out.json"},
		"bound":    {"bound", "in.json", "--nodes", "100", "-o", "DIR/out.txt"},
		"hunt":     {"hunt", "--policy", "fifo", "--model", "gang", "--jobs", "3", "--gpus", "2", "--evaluations", "50", "-o", "DIR/out.json", "-q"},
		"generate": {"dataset", "generate", "--like", "philly", "--jobs", "50000", "-o", "DIR/out.parquet"},
		"import": {"dataset", "import", "--format", "generic", "in.csv", "--map", "submit_s=submit", "--map", "gpus=gpus", "--map", "duration_s=duration",
			"-o", "DIR/out.parquet"},
		"export": {"export", "in.json", "--formulation", "npti", "-o", "DIR/out.mps"},
	}
}

// TestFullDisk gives every command that writes a disk of a few kB: it says so, with exit
// code 1, and nothing half written lies at the name of the output.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	mount := func(kB int) string {
		return fmt.Sprintf("mount -t tmpfs -o size=%dk none %s", kB, disk)
	}
	probe := exec.Command("sh", "-c", mount(4))
	alone := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	probe.SysProcAttr = alone
	if out, err := probe.CombinedOutput(); err != nil {
		schedtest.Forbidden(t, "mount a small disk: %v: %s", err, out)
	}
	dir := t.TempDir()
	tried := 0
	for name, args := range writers(t, dir) {
		for _, kB := range []int{4, 12, 40} {
			given := slices.Clone(args)
			for i := range given {
				given[i] = strings.ReplaceAll(given[i], "DIR", disk)
			}
			c := start(t, dir, given...)
			// What is at the name afterwards is listed before the disk is gone.
			c.Args = slices.Concat([]string{"sh", "-c", mount(kB) + ` && { "$0" "$@"; code=$?; ls -A ` + disk + `; exit $code; }`}, c.Args[3:])
			c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Cloneflags: syscall.CLONE_NEWNS}
			e := wait(t, c)
			tried++
			switch why := e.broken(); {
			case why != "":
				t.Errorf("%s on %d kB: %s: exit code %d: %.600s", name, kB, why, e.code, e.err)
			case e.code == 0: // it fitted
			case e.code != 1 && e.code != 3 || !strings.Contains(e.err, "no space left"):
				t.Errorf("%s on %d kB: exit code %d: %.600s", name, kB, e.code, e.err)
			case name != "run" && strings.TrimSpace(e.out[strings.LastIndexByte(strings.TrimSpace(e.out), '\n')+1:]) != "" && strings.HasSuffix(strings.TrimSpace(e.out), "out.parquet"):
				t.Errorf("%s on %d kB left %q", name, kB, e.out)
			}
		}
	}
	t.Logf("%d commands on full disks", tried)
}

// TestLowLimits starts commands with little memory and few open files.
func TestLowLimits(t *testing.T) {
	dir := t.TempDir()
	tried := 0
	for name, args := range writers(t, dir) {
		for _, limit := range []string{"-n 4", "-n 6", "-n 9", "-n 14", "-n 30", "-v 100000", "-v 400000", "-v 1200000", "-v 2000000"} {
			out := t.TempDir()
			given := slices.Clone(args)
			for i := range given {
				given[i] = strings.ReplaceAll(given[i], "DIR", out)
			}
			e := under(t, dir, "ulimit "+limit, given...)
			tried++
			if why := e.broken(); why != "" {
				t.Errorf("%s under ulimit %s: %s: exit code %d: %.400q", name, limit, why, e.code, e.err)
			} else if e.code == 2 {
				t.Errorf("%s under ulimit %s: exit code 2, which is for bad input: %.400q", name, limit, e.err)
			}
		}
	}
	t.Logf("%d commands under low limits", tried)
}
