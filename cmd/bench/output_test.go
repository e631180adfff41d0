package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"yardstick/bench/record"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// fullDisk takes so many bytes and no more.
type fullDisk struct{ left int }

func (d *fullDisk) Write(b []byte) (int, error) {
	n := min(d.left, len(b))
	d.left -= n
	if n < len(b) {
		return n, &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
	}
	return n, nil
}

// commandLines has a command line that prints something for every command that runs.
func commandLines(t *testing.T) map[string][]string {
	dir := t.TempDir()
	result := filepath.Join(dir, "result")
	suite := write(t, "s.yaml", `
name: s
instances: [{slice: {jobs: 3}, tooLarge: drop}]
objectives: [total-jct]
methods: [sjf]
references: [exhaustive]
`)
	mustRun(t, "run", suite, "-o", result, "-q")
	instance := write(t, "instance.json", tinyInstance)
	list := filepath.Join(dir, "list.json") // jobs with one duration
	mustRun(t, "instance", "build", "builtin:philly-like", "-s", "slice.jobs=3", "-o", list)
	run, err := record.Open(result)
	if err != nil {
		t.Fatal(err)
	}
	extracted := run.Ratios[0].Instance
	schedule := filepath.Join(dir, "schedule.json")
	mustRun(t, "solve", instance, "--schedule", schedule)
	graph := write(t, "graph.txt", "node1 -- Conv2d(3, 64) -- forward_compute_time=1.000, backward_compute_time=2.000, activation_size=4000000.0, parameter_size=1000000.000\n")
	gavel := write(t, "t.json", `{"v100": {"('a', 1)": {"null": 2.0, "('a', 1)": [1.0, 1.0]}}}`)
	table := write(t, "jobs.csv", "submit,gpus,duration\n0,1,10\n5,2,20\n")
	lib := "--library=" + ownLibrary(t)
	return map[string][]string{
		"library": {"library"}, "library list": {"library", "list", lib}, "library show": {"library", "show", libraryEntry, lib}, "library table": {"library", "table", lib},
		"library check": {"library", "check", libraryEntry, lib}, "library run": {"library", "run", "--policy", "sjf", lib}, "library improve": {"library", "improve", libraryEntry, lib},
		"library fetch": {"library", "fetch", libraryEntry, "-o", filepath.Join(dir, "fetched"), lib},
		"library add":   nil, "library submit": nil, "library freeze": nil, "library select": nil, // what they do they do once
		"bench": {}, "version": {}, "config show": {"config", "show"}, "config schema": {"config", "schema"}, "config": {"config"},
		"init":    {"init", "-o", filepath.Join(dir, "new.yaml")},
		"doctor":  {"doctor"},
		"dataset": {"dataset"}, "instance": {"instance"}, "submit": {"submit"},
		"run": {"run", suite, "-o", filepath.Join(dir, "again")}, "plan": {"plan", suite}, "merge": {"merge", filepath.Join(dir, "merged"), result},
		"submit slurm": {"submit", "slurm", suite, "-o", filepath.Join(dir, "slurm"), "--shards", "2", "--dry-run"},
		"reproduce":    {"reproduce"}, "report": {"report", result}, "verify": {"verify", result}, "compare": {"compare", result, result},
		"gate": {"gate", result}, "prove": {"prove", instance, "-o", filepath.Join(dir, "proof")}, "solve": {"solve", instance}, "simulate": {"simulate", instance, "--policy", "sjf"}, "bound": {"bound", instance}, "bracket": {"bracket", instance, "--effort", "1"}, "score": {"score", table, write(t, "done.csv", "job,end\n1,10\n2,40\n"), "--gpus", "2"},
		"explain": {"explain", result, "--method", run.Ratios[0].Method},
		"export":  {"export", instance, "--formulation", "time-indexed"}, "validate": {"validate", instance},
		"place":         {"place", "--profile", "builtin:v100/vgg19", "--gpus", "2", "--cluster", "2x2", "--methods", "heavy-edge"},
		"hunt family":   {"hunt", "family", "--policy", "fifo", "--gpus", "2", "--n", "20", "--evaluations", "64", "--hunted", "64", "-q"},
		"hunt evaluate": {"hunt", "evaluate", "../../bench/hunt/testdata/families/fifo.json", "--n", "10,20,40"},
		"hunt":          {"hunt", "--policy", "fifo", "--model", "gang", "--jobs", "2", "--gpus", "1", "--evaluations", "20"},
		"dataset list":  {"dataset", "list"}, "dataset fetch": nil, // it needs the network
		"dataset import":       {"dataset", "import", "--format", "generic", table, "--map", "submit_s=submit", "--map", "gpus=gpus", "--map", "duration_s=duration", "-o", filepath.Join(dir, "imported.parquet")},
		"dataset generate":     {"dataset", "generate", "--like", "philly", "--jobs", "5", "-o", filepath.Join(dir, "generated.parquet")},
		"dataset slice":        {"dataset", "slice", "builtin:philly-like", "-w", "gpus=2", "-o", filepath.Join(dir, "slice.parquet")},
		"dataset describe":     {"dataset", "describe", "builtin:philly-like"},
		"dataset profile":      {"dataset", "profile", graph, "--format", "pipedream", "--model", "toy", "--gpu", "v100", "--batch", "8"},
		"dataset interference": {"dataset", "interference", gavel, "-o", filepath.Join(dir, "xi.parquet")},
		"instance build":       {"instance", "build", "builtin:philly-like", "-s", "slice.jobs=3", "-o", filepath.Join(dir, "in.json")},
		"instance describe":    {"instance", "describe", instance},
		"instance convert":     {"instance", "convert", list, "-o", filepath.Join(dir, "in.csv")},
		"instance extract":     {"instance", "extract", result, extracted},
		"man":                  {"man", filepath.Join(dir, "man")},
		"completion":           {"completion"}, "completion bash": {"completion", "bash"}, "completion zsh": {"completion", "zsh"},
		"completion fish": {"completion", "fish"}, "completion powershell": {"completion", "powershell"}, "help": {"help"},
	}
}

// everyCommand returns the commands that can be run.
func everyCommand() map[string]*cobra.Command {
	root := (&app{}).command()
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	all := map[string]*cobra.Command{}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if name := nameOf(c); name == "" {
			all["bench"] = c
		} else {
			all[name] = c
		}
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	walk(root)
	return all
}

// TestFullStandardOutput: whatever a command prints is written, or the command says
// that it was not and fails; also where the disk fills up on the way.
func TestFullStandardOutput(t *testing.T) {
	lines := commandLines(t)
	for name := range everyCommand() {
		args, ok := lines[name]
		if !ok {
			t.Errorf("bench %s is not tried here", name)
		}
		if args == nil || name == "instance convert" { // which prints nothing
			continue
		}
		var whole bytes.Buffer
		var errOut bytes.Buffer
		if code := run(t.Context(), args, &whole, &errOut); code != exitOK || whole.Len() == 0 {
			t.Errorf("bench %s: exit code %d, %d bytes printed: %s", name, code, whole.Len(), &errOut)
			continue
		}
		for _, room := range []int{0, whole.Len() / 2} {
			errOut.Reset()
			code := run(t.Context(), args, &fullDisk{left: room}, &errOut)
			if want := "bench: cannot write standard output: no space left on device\n"; code != exitInternal || !strings.HasSuffix(errOut.String(), want) {
				t.Errorf("bench %s with room for %d bytes: exit code %d: %s", name, room, code, &errOut)
			}
		}
	}
}

// The program itself, started without standard output or with a full one.
func TestStandardOutputOfTheProcess(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for redirect, want := range map[string]string{">/dev/full": "no space left on device", ">&-": "it is closed"} {
		c := exec.CommandContext(t.Context(), "sh", "-c", `exec "$0" version `+redirect, self)
		c.Env = append(os.Environ(), asCommand+"=1")
		out, err := c.CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != exitInternal || !strings.HasSuffix(string(out), want+"\n") {
			t.Errorf("%s: %v: %s", redirect, err, out)
		}
	}
}

// withFlag returns a command line with another value for a flag.
func withFlag(args []string, flag, value string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		if a == "-o" && flag == "out" && i+1 < len(out) {
			out[i+1] = value
			return out
		}
	}
	return append(out, "--"+flag, value)
}

// TestOutputsStayWhatTheyAre: every flag that names a file writes through a link, into
// a pipe, and to standard output, the bytes that it writes to a file.
func TestOutputsStayWhatTheyAre(t *testing.T) {
	lines := commandLines(t)
	tried := 0
	for name, c := range everyCommand() {
		if slices.Contains(folderCommands, name) || lines[name] == nil {
			continue
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !slices.Contains(fileFlags, f.Name) || name == "version" {
				return
			}
			tried++
			t.Run(name+"/"+f.Name, func(t *testing.T) { outputsOf(t, lines[name], f.Name) })
		})
	}
	if tried < 15 {
		t.Errorf("only %d flags were tried", tried)
	}
}

func outputsOf(t *testing.T, args []string, flag string) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	ending := ".json"
	if strings.Contains(strings.Join(args, " "), "convert") {
		ending = ".csv"
	}
	mustRun(t, withFlag(args, flag, path("plain"+ending))...)
	want, err := os.ReadFile(path("plain" + ending))
	if err != nil || len(want) == 0 {
		t.Fatalf("%d bytes, %v", len(want), err)
	}
	same := func(what string, got []byte) {
		t.Helper()
		if !bytes.Equal(timeless(got), timeless(want)) {
			t.Errorf("%s: other bytes: %.300q, want %.300q", what, got, want)
		}
	}

	if err := errors.Join(os.WriteFile(path("target"), nil, 0o600), os.Symlink("target", path("link"+ending))); err != nil {
		t.Fatal(err)
	}
	mustRun(t, withFlag(args, flag, path("link"+ending))...)
	if to, err := os.Readlink(path("link" + ending)); err != nil || to != "target" {
		t.Errorf("the link became %q, %v", to, err)
	}
	got, err := os.ReadFile(path("target"))
	if err != nil {
		t.Fatal(err)
	}
	same("link", got)

	if err := syscall.Mkfifo(path("pipe"+ending), 0o600); err != nil {
		t.Fatal(err)
	}
	through := make(chan []byte, 1)
	go func() {
		data, err := os.ReadFile(path("pipe" + ending))
		if err != nil {
			t.Error(err)
		}
		through <- data
	}()
	mustRun(t, withFlag(args, flag, path("pipe"+ending))...)
	same("pipe", <-through)
	if info, err := os.Lstat(path("pipe" + ending)); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe became %v, %v", info, err)
	}

	c := exec.CommandContext(t.Context(), os.Args[0], withFlag(args, flag, "-")...)
	c.Env = append(os.Environ(), asCommand+"=1")
	out, err := c.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && ending == ".csv" && exit.ExitCode() == exitUsage {
		return // the ending of the name says the format
	}
	if err != nil {
		t.Fatal(err)
	}
	same("standard output", out)

	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 4 {
		t.Errorf("%d files are left, want 4: %v, %v", len(entries), entries, err)
	}
}

// timeless leaves out what differs between two runs of a command: times, and the order
// in which the rows of bench bound are ready.
func timeless(data []byte) []byte {
	lines := strings.Fields(regexp.MustCompile(`[0-9.]+ ?(µs|ms|s)\b`).ReplaceAllString(string(data), ""))
	slices.Sort(lines)
	return []byte(strings.Join(lines, "\n"))
}

// Standard output holds one file, and no folder.
func TestOneStandardOutput(t *testing.T) {
	instance := instanceFile(t, models()["gang"])
	for _, args := range [][]string{
		{"simulate", instance, "--policy", "sjf", "-o", "-", "--schedule", "-"},
		{"run", "-o", "-"},
		{"hunt", "--policy", "fifo", "--model", "gang", "--jobs", "2", "--gpus", "1", "-o", "-"},
	} {
		if code, out, errOut := benchCommand(t, args...); code != exitUsage || out != "" || strings.Count(errOut, "\n") != 1 {
			t.Errorf("bench %s: exit code %d, %q, %s", strings.Join(args, " "), code, out, errOut)
		}
	}
}

// Errors of the machine are no bad input.
func TestFullDiskIsNoBadInput(t *testing.T) {
	instance := instanceFile(t, models()["gang"])
	for _, flag := range []string{"-o", "--schedule", "--gantt"} {
		if code, _, errOut := benchCommand(t, "simulate", instance, "--policy", "sjf", flag, "/dev/full"); code != exitInternal || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%s: exit code %d: %s", flag, code, errOut)
		}
	}
}
