package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"yardstick/bench/record"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
)

// listPy is first come first served or shortest job first in Python.
func listPy(t *testing.T) string {
	t.Helper()
	const interpreter = "/usr/bin/python3"
	if _, err := os.Stat(interpreter); err != nil || runtime.GOOS != "linux" {
		schedtest.Missing(t, "no Linux with %s: install python3", interpreter)
	}
	text, err := os.ReadFile("../../bench/catalogue/testdata/list.py")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	if err := os.WriteFile("list.py", text, 0o644); err != nil {
		t.Fatal(err)
	}
	return interpreter
}

// externalSuite has policies that are programs beside our own, and one that fails.
func externalSuite(interpreter, fails string) string {
	return fmt.Sprintf(`
name: strangers
instances: [{name: gangs, trace: "builtin:philly?jobs=1000", slice: {jobs: 6, at: busiest, repeat: 4}, round: 1h, tooLarge: drop}]
methods:
  - fifo
  - {name: sjf, params: {blocking: skip}}
  - {name: external, params: {command: "%[1]s list.py fifo strict %[3]s", files: list.py, repeat: 2}, as: mine}
  - {name: external, params: {command: "%[1]s list.py sjf skip", predictor: perfect}, as: mine.short}
%[2]s
references: [exhaustive, lb0]
`, interpreter, fails, marker())
}

// marker is an argument of this test's programs.
func marker() string { return fmt.Sprint("marked-", os.Getpid()) }

// marked reports whether such a program is running.
func marked(t *testing.T) bool {
	t.Helper()
	list, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(list, func(path string) bool {
		text, err := os.ReadFile(path)
		return err == nil && strings.HasSuffix(string(text), "\x00"+marker()+"\x00")
	})
}

// A suite with programs has the same values whatever the number of workers, and after
// kills; its rows are those of the same policies in Go; compare and gate take them.
func TestExternalInSuites(t *testing.T) {
	interpreter := listPy(t)
	if err := os.WriteFile("suite.yaml", []byte(externalSuite(interpreter, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "run", "suite.yaml", "-q", "-j", "1", "-o", "one")
	want := digestOf(t, "one")
	for workers, out := range map[string]string{"2": "two", "4": "four"} {
		mustRun(t, "run", "suite.yaml", "-q", "-j", workers, "-o", out)
		if got := digestOf(t, out); got != want {
			t.Errorf("digest %s with %s workers, %s with one", got, workers, want)
		}
	}
	killed := 0
	for before := int64(0); ; killed++ {
		c, text := command("run", "suite.yaml", "-q", "-j", []string{"1", "2", "4"}[killed%3], "-o", "killed")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		var err error
		for done := false; !done; {
			select {
			case err = <-ended:
				done = true
			case <-time.After(5 * time.Millisecond):
				if size := journals(t, "killed"); size > before {
					before = size
					_ = c.Process.Kill() // an error is that it has ended
				}
			}
		}
		if err == nil {
			break
		}
		var exit *exec.ExitError
		if !errors.As(err, &exit) || !exit.Sys().(syscall.WaitStatus).Signaled() {
			t.Fatalf("%v: %s", err, text)
		}
	}
	if killed == 0 {
		t.Error("no run was killed")
	}
	for range 6000 { // those who are gone take their programs with them
		if !marked(t) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if marked(t) {
		t.Error("a program has outlived a run that was killed")
	}
	mustRun(t, "run", "suite.yaml", "-q", "-o", "killed")
	if got := digestOf(t, "killed"); got != want {
		t.Errorf("digest %s after kills, %s without", got, want)
	}
	run, err := record.Open("one")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(run.Manifest.Inputs, func(in record.Input) bool { return strings.HasSuffix(in.Name, "list.py") }) {
		t.Errorf("the manifest does not name the program's file: %v", run.Manifest.Inputs)
	}
	costs := map[string]map[string]string{}
	for _, r := range run.Ratios {
		if costs[r.Method] == nil {
			costs[r.Method] = map[string]string{}
		}
		costs[r.Method][r.Instance] = string(r.CostExact)
		if program := strings.HasPrefix(r.Method, "mine"); r.Fresh.Valid != program || r.Fresh.V {
			t.Errorf("%s: fresh is %v: programs have rows of public instances here", r.Method, r.Fresh)
		}
		if strings.HasPrefix(r.Method, "mine") && !strings.Contains(string(r.Message), "kept in by") {
			t.Errorf("the row of %s does not say what kept it in: %q", r.Method, r.Message)
		}
	}
	for python, own := range map[string]string{"mine": "fifo(blocking=strict,placement=pool)", "mine.short": "sjf(blocking=skip,placement=pool)"} {
		if fmt.Sprint(costs[python]) != fmt.Sprint(costs[own]) || len(costs[own]) != 4 {
			t.Errorf("%s costs %v, %s %v", python, costs[python], own, costs[own])
		}
	}
	if out := mustRun(t, "report", "one"); !regexp.MustCompile(`mine +public 4/4`).MatchString(out) || strings.Contains(out, "fresh") {
		t.Errorf("the table does not say that instances are public:\n%s", out)
	}
	if out := mustRun(t, "compare", "one", "four"); !strings.Contains(out, "digests are equal") {
		t.Error(out)
	}
	mustRun(t, "gate", "four", "--baseline", "one")
}

// A hunt for a program that does not start, or fails on every instance, ends at once, whatever its budget.
func TestHuntForBrokenPrograms(t *testing.T) {
	interpreter := listPy(t)
	for name, c := range map[string]struct{ source, want string }{
		"import":   {"import numpie", "bench: the program does not start: hello: it ended with exit status 1: "},
		"hello":    {"print('{}', flush=True)", "bench: the program does not start: hello: "},
		"question": {"input(); print('{\"hello\":{\"name\":\"mine\",\"class\":\"N\",\"again\":true}}', flush=True); input(); 1 / 0", "bench: none of 32 instances could be evaluated: "},
	} {
		if err := os.WriteFile("broken.py", []byte(c.source), 0o644); err != nil {
			t.Fatal(err)
		}
		code, _, errOut := benchCommand(t, "hunt", "--jobs", "4", "--gpus", "3", "-q", "--budget", "10h", "--policy-command", interpreter+" broken.py")
		if code != exitUsage || !strings.HasPrefix(errOut, c.want) || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%s: exit code %d: %s", name, code, errOut)
		}
	}
}

// A program whose decisions differ between two runs is named: in the rows of a suite that asks for two, by the
// gate, and by a hunt, also where it says that it can serve another instance and remembers the one before.
func TestInconstantPrograms(t *testing.T) {
	interpreter := listPy(t)
	const loop = `
import json, os, sys
waiting, idle, asked = [], 0, 0
for line in sys.stdin:
    q = json.loads(line)
    if "hello" in q:
        gpus, waiting = [0] * len(q["hello"]["servers"]), []
        a = {"hello": {"name": "mine", "class": "N", "again": AGAIN}}
    elif "end" in q:
        continue
    else:
        asked += 1
        for server, free in q["free"]: gpus[server] = free
        waiting += [(j["job"], j["gpus"]) for j in q["arrived"]]
        waiting.sort(reverse=ODD)
        start, left = [], sum(gpus)
        for job, n in list(waiting):
            if n <= left:
                start.append([job]); waiting.remove((job, n)); left -= n
        a = {"start": start}
    print(json.dumps(a), flush=True)
`
	for name, c := range map[string]struct{ odd, again string }{
		"coin":      {"os.urandom(1)[0] % 2", "False"},
		"remembers": {"asked % 7 < 3", "True"},
		"constant":  {"0", "True"},
		"clock":     {"hash(str(os.times()[4])) % 2", "False"},
	} {
		source := strings.NewReplacer("ODD", c.odd, "AGAIN", c.again).Replace(loop)
		if err := os.WriteFile(name+".py", []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		code, _, errOut := benchCommand(t, "hunt", "--jobs", "5", "--gpus", "4", "-q", "--evaluations", "64", "--policy-command", interpreter+" "+name+".py")
		if want := name == "constant"; (code == 0) != want || !want && (code != exitInvalid || !strings.Contains(errOut, "two runs of the policy on one instance differ: in one job ")) {
			t.Errorf("%s: exit code %d: %s", name, code, errOut)
		}
	}
	suite := fmt.Sprintf("name: differ\ninstances: [{name: gangs, trace: \"builtin:philly?jobs=1000\", slice: {jobs: 8, at: busiest, repeat: 6}, cluster: {servers: 1, gpusPerServer: 4, inter: 10Gbps, intra: 300GB/s}, round: 1h, tooLarge: drop}]\nmethods:\n  - {name: external, params: {command: \"%[1]s coin.py\", repeat: 2}, as: coin}\n  - {name: external, params: {command: \"%[1]s constant.py\", repeat: 2}, as: constant}\nreferences: [lb0]\n", interpreter)
	if err := os.WriteFile("suite.yaml", []byte(suite), 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, errOut := benchCommand(t, "run", "suite.yaml", "-q", "-o", "out")
	if code != exitIncomplete || !strings.Contains(errOut, "the first: coin on gangs/0") || !strings.Contains(errOut, ": two runs of the policy on one instance differ: in one job ") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	run, err := record.Open("out")
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for _, r := range run.Ratios {
		if !r.Cost.Valid && r.Method == "coin" {
			failed++
		} else if !r.Cost.Valid {
			t.Errorf("%s on %s: %s", r.Method, r.Instance, r.Message)
		}
	}
	if failed == 0 {
		t.Error("no row says that the coin differs")
	}
}

// However a program is named, each command that takes one starts it, and it does the same: replays, hunts,
// suites, and what is made of their rows.
func TestEveryNamingEveryCommand(t *testing.T) {
	interpreter := listPy(t)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	away := t.TempDir()
	text, err := os.ReadFile("list.py")
	if err != nil {
		t.Fatal(err)
	}
	split := "from rules import main\nmain()\n" // the same in two files
	rules := "def main():\n    import sys\n" + "    exec(compile(open(__file__.replace('rules.py', 'list.py')).read(), 'list', 'exec'), {'__name__': '__main__'})\n"
	for name, content := range map[string]string{"jobs.csv": "submit,gpus,duration\n0,1,5\n1,2,4\n2,1,3\n", "sub/list.py": string(text), "two words.py": string(text), away + "/greedy.py": string(text),
		away + "/split.py": split, away + "/rules.py": rules, away + "/list.py": string(text), "list": "#!" + interpreter + "\n" + string(text)} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(away+"/greedy.py", "link.py"); err != nil {
		t.Fatal(err)
	}
	env := filepath.Join(away, "env")
	if out, err := exec.Command(interpreter, "-m", "venv", "--without-pip", env).CombinedOutput(); err != nil {
		schedtest.Missing(t, "no virtual environments, install python3-venv: %v: %s", err, out)
	}
	relative, err := filepath.Rel(here, away)
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, "simulate", "jobs.csv", "--gpus", "2", "--policy", "fifo", "-o", "own.csv")
	own, err := os.ReadFile("own.csv")
	if err != nil {
		t.Fatal(err)
	}
	digests, ratio := "", ""
	forms := []struct{ command, files string }{
		{interpreter + " " + away + "/greedy.py", ""},
		{interpreter + " list.py", ""},
		{interpreter + " ./list.py", ""},
		{interpreter + " " + here + "/list.py", ""},
		{interpreter + " sub/list.py", ""},
		{interpreter + " " + relative + "/greedy.py", ""},
		{interpreter + " link.py", ""},
		{interpreter + " 'two words.py'", ""},
		{interpreter + " -m list", ""},
		{env + "/bin/python " + away + "/greedy.py", ""},
		{relative + "/env/bin/python list.py", ""},
		{"./list", ""},
		{here + "/list", ""},
		{interpreter + " " + away + "/split.py", away + "/rules.py," + away + "/list.py"},
		{interpreter + " split.py", away + "/split.py," + relative + "/rules.py," + away + "/list.py"},
	}
	for i, f := range tier.Share(forms, 4) {
		command := f.command + " fifo strict"
		flags := []string{"--policy-command", command}
		if f.files != "" {
			flags = append(flags, "--policy-files", f.files)
		}
		mustRun(t, append([]string{"simulate", "jobs.csv", "--gpus", "2", "-o", "program.csv"}, flags...)...)
		if program, err := os.ReadFile("program.csv"); err != nil || string(program) != string(own) {
			t.Errorf("%s: %v: %s, want %s", command, err, program, own)
		}
		_, found, _ := strings.Cut(mustRun(t, append([]string{"hunt", "--jobs", "4", "--gpus", "3", "--evaluations", "40", "-q"}, flags...)...), "\n")
		if found, _, _ = strings.Cut(found, "\n"); ratio == "" {
			ratio = found
		}
		if found != ratio || !strings.Contains(found, "proven") {
			t.Errorf("%s: the hunt finds %q, before %q", command, found, ratio)
		}
		files := ""
		if f.files != "" {
			files = fmt.Sprintf(", files: %q", f.files)
		}
		suite := fmt.Sprintf("name: named\ninstances: [{name: gangs, trace: \"builtin:philly?jobs=1000\", slice: {jobs: 5, at: busiest}, round: 1h, tooLarge: drop}]\nmethods:\n  - fifo\n  - {name: external, params: {command: %q%s}, as: mine}\nreferences: [exhaustive]\n", command, files)
		if err := os.WriteFile("sub/named.yaml", []byte(suite), 0o644); err != nil {
			t.Fatal(err)
		}
		out := fmt.Sprint("named", i)
		mustRun(t, "run", "sub/named.yaml", "-q", "-o", out)
		if mine := costsOf(t, out, "mine"); mine != costsOf(t, out, "fifo") {
			t.Errorf("%s: it costs %s in a suite, fifo %s", command, mine, costsOf(t, out, "fifo"))
		} else if digests == "" {
			digests = mine
		} else if digests != mine {
			t.Errorf("%s: it costs %s, before %s", command, mine, digests)
		}
		mustRun(t, "gate", out, "--baseline", "named0")
		mustRun(t, "gate", out, "--fresh", "-o", out+"fresh")
		mustRun(t, "compare", out, "named0")
	}
}

// costsOf is what a method costs on the instances of a run.
func costsOf(t *testing.T, dir, method string) (costs string) {
	t.Helper()
	run, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range run.Ratios {
		if strings.HasPrefix(r.Method, method) {
			costs += fmt.Sprintln(r.Instance, r.CostExact)
		}
	}
	if costs == "" {
		t.Errorf("%s has no rows in %s", method, dir)
	}
	return costs
}

// journals is the size of what a run has kept.
func journals(t *testing.T, dir string) (size int64) {
	t.Helper()
	names, err := filepath.Glob(dir + "/cells/*.journal")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if info, err := os.Stat(name); err == nil {
			size += info.Size()
		}
	}
	return size
}

// A program that fails costs its own cells, and the run goes on. A file that has changed makes
// other cells.
func TestExternalFails(t *testing.T) {
	interpreter := listPy(t)
	broken := fmt.Sprintf(`  - {name: external, params: {command: "%s broken.py"}, as: broken}`, interpreter)
	for name, text := range map[string]string{"suite.yaml": externalSuite(interpreter, broken), "broken.py": "import numpie"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	code, _, errOut := benchCommand(t, "run", "suite.yaml", "-q", "-o", "out")
	if code != exitIncomplete || !strings.Contains(errOut, "bench: 4 cells failed, the first: broken on gangs/00: hello: it ended with exit status 1: ") || !strings.Contains(errOut, "No module named 'numpie': name numpie with --policy-files (files in a suite)") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	rows := func() map[string]string {
		run, err := record.Open("out")
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string]string{}
		for _, r := range run.Ratios {
			if r.Cost.Valid != (r.Method != "broken") {
				t.Errorf("%s on %s: cost %v: %s", r.Method, r.Instance, r.Cost, r.Message)
			}
			ids[r.Method+" "+r.Instance] = r.CellID
		}
		return ids
	}
	before := rows()
	if err := os.WriteFile("broken.py", []byte("import scipie"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, errOut := benchCommand(t, "run", "suite.yaml", "-q", "-o", "out"); code != exitIncomplete || !strings.Contains(errOut, "No module named 'scipie': name scipie with --policy-files (files in a suite)") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	for row, id := range rows() {
		if (before[row] != id) != strings.HasPrefix(row, "broken") {
			t.Errorf("%s: cell %s, before %s", row, id, before[row])
		}
	}
	for text, want := range map[string]string{
		`  - {name: external, params: {command: "` + interpreter + ` list.py sjf strict"}, as: mine}`: "two methods are called mine",
		`  - {name: external, as: none}`: "the command is empty",
		`  - {name: external, params: {command: "` + interpreter + ` list.py"}, as: theta-lb0}`: "another method's name",
		`  - {name: fifo, as: first}`: "only",
		`  - {name: external, params: {command: "` + interpreter + ` list.py"}, as: "a b"}`: "letters, digits",
	} {
		if err := os.WriteFile("bad.yaml", []byte(externalSuite(interpreter, text)), 0o644); err != nil {
			t.Fatal(err)
		}
		if code, _, errOut := benchCommand(t, "run", "bad.yaml", "-q", "-o", "bad"); code != exitUsage || !strings.Contains(errOut, want) {
			t.Errorf("%s: exit code %d: %s", text, code, errOut)
		}
	}
}

// Whatever is wrong with a program is one line in its rows, and the other methods run: what is found
// before anything runs, such as a file that is not there, is said then too.
func TestBadPrograms(t *testing.T) {
	interpreter := listPy(t)
	saying := func(line string) string { return "print('" + line + "', flush=True)" }
	text := "name: bad\ninstances: [{name: few, trace: \"builtin:philly?jobs=1000\", slice: {jobs: 4, at: busiest}, round: 1h, tooLarge: drop}]\nreferences: [lb0]\nmethods:\n  - fifo\n"
	wants := map[string]string{}
	for name, c := range map[string]struct{ command, file, want string }{
		"no-interpreter": {"python99 no-interpreter.py", "", "there is no program python99"},
		"no-env":         {"env/bin/python no-env.py", "", "there is no program env/bin/python"},
		"no-file":        {interpreter + " no-such.py", "", "there is no file no-such.py"},
		"other-protocol": {"", saying(`{"hello":{"name":"mine","class":"N","protocol":"yardstick-policy/2"}}`), "hello: it speaks yardstick-policy/2, and this is yardstick-policy/1"},
		"wrong-class":    {"", saying(`{"hello":{"name":"mine","class":"Q"}}`), `hello: hello.class is "Q"`},
		"other-key":      {"", saying(`{"hello":{"name":"mine","class":"N","cost":0}}`), "unknown key hello.cost"},
		"import":         {"", "import numpie", "import numpie / ModuleNotFoundError: No module named 'numpie'"},
	} {
		if err := os.WriteFile(name+".py", []byte(c.file), 0o644); err != nil {
			t.Fatal(err)
		}
		if c.command == "" {
			c.command = interpreter + " " + name + ".py"
		}
		text += fmt.Sprintf("  - {name: external, params: {command: %q}, as: %s}\n", c.command, name)
		wants[name] = c.want
	}
	if err := os.WriteFile("suite.yaml", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	check := func(failed int) {
		t.Helper()
		code, _, errOut := benchCommand(t, "run", "suite.yaml", "-q", "-o", "out")
		if code != exitIncomplete || !strings.Contains(errOut, fmt.Sprintf("%d cells failed", failed)) || !strings.Contains(errOut, "no-env cannot run, and its cells fail: there is no program env/bin/python") {
			t.Errorf("exit code %d: %s", code, errOut)
		}
		run, err := record.Open("out")
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, r := range run.Ratios {
			want := wants[r.Method]
			if seen++; r.Cost.Valid != (want == "") || !strings.Contains(string(r.Message), want) || strings.Contains(string(r.Message), "\n") {
				t.Errorf("%s: cost %v, %q, want %q", r.Method, r.Cost, r.Message, want)
			}
		}
		if seen < len(wants)+1 {
			t.Errorf("%d rows", seen)
		}
	}
	check(len(wants))
	// A file that has come makes another cell of its method, which runs.
	list, err := os.ReadFile("list.py")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("no-such.py", list, 0o644); err != nil {
		t.Fatal(err)
	}
	wants["no-file"] = "list index out of range" // it wants arguments
	check(len(wants))
}

// The other direction: a program starts bench, which asks on its standard output.
func TestPolicyStdio(t *testing.T) {
	interpreter := listPy(t)
	if err := os.WriteFile("jobs.csv", []byte("submit,gpus,duration\n0,1,5\n1,2,4\n2,1,3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "simulate", "jobs.csv", "--gpus", "2", "--policy", "fifo", "-o", "own.csv")
	asks, text := command("simulate", "jobs.csv", "--gpus", "2", "--policy", "stdio", "-o", "asked.csv")
	answers := exec.Command(interpreter, "list.py", "fifo", "strict")
	questions, err := answers.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	asks.Stdout = tee{questions, &said}
	if asks.Stdin, err = answers.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := answers.Start(); err != nil {
		t.Fatal(err)
	}
	if err := asks.Run(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	questions.Close()
	if err := answers.Wait(); err != nil {
		t.Error(err)
	}
	own, err := os.ReadFile("own.csv")
	if err != nil {
		t.Fatal(err)
	}
	if asked, err := os.ReadFile("asked.csv"); err != nil || string(asked) != string(own) {
		t.Errorf("%v: %s, want %s", err, asked, own)
	}
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	var last struct {
		End struct {
			Class string
			Costs map[string]string
		}
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.End.Class != "N" || last.End.Costs["makespan"] != "12000000" {
		t.Errorf("the last line is %s (%v)", lines[len(lines)-1], err)
	}
	// Whoever makes a mistake is told.
	wrong, text := command("simulate", "jobs.csv", "--gpus", "2", "--policy", "stdio")
	wrong.Stdin = strings.NewReader("{}\n")
	var out strings.Builder
	wrong.Stdout = &out
	var exit *exec.ExitError
	if err := wrong.Run(); !errors.As(err, &exit) || exit.ExitCode() != exitIncomplete || !strings.Contains(out.String(), `{"error":"hello: its first answer is no hello`) {
		t.Errorf("%v: %s%s", err, out.String(), text)
	}
}

type tee struct {
	a, b interface{ Write([]byte) (int, error) }
}

func (t tee) Write(b []byte) (int, error) {
	if _, err := t.b.Write(b); err != nil {
		return 0, err
	}
	return t.a.Write(b)
}

// hunt and simulate take a program, or say in one line why not.
func TestPolicyCommand(t *testing.T) {
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	interpreter := listPy(t)
	if err := os.WriteFile("jobs.csv", []byte("submit,gpus,duration\n0,1,5\n1,2,4\n2,1,3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "simulate", "jobs.csv", "--gpus", "2", "--policy", "sjf", "-o", "own.csv")
	mustRun(t, "simulate", "jobs.csv", "--gpus", "2", "--policy-command", interpreter+" list.py sjf strict", "-p", "predictor=perfect", "-o", "program.csv")
	own, err := os.ReadFile("own.csv")
	if err != nil {
		t.Fatal(err)
	}
	if program, err := os.ReadFile("program.csv"); err != nil || string(program) != string(own) {
		t.Errorf("%v: %s, want %s", err, program, own)
	}
	ratio := func(args ...string) string {
		out := mustRun(t, append([]string{"hunt", "--jobs", "4", "--gpus", "3", "--evaluations", "300", "-q", "-o", "worst.json"}, args...)...)
		_, rest, _ := strings.Cut(out, "\n")
		line, _, _ := strings.Cut(rest, "\n")
		return line
	}
	program := ratio("--policy-command", interpreter+" list.py sjf skip", "-p", "predictor=perfect")
	source, err := filepath.Abs(filepath.Join(home, "../../python"))
	if err != nil {
		t.Fatal(err)
	}
	// A class of the Python package serves one instance after another.
	class := ratio("--policy-command", interpreter+" "+source+"/examples/fifo.py", "--policy-files", source+"/src/yardstick")
	if own := ratio("--policy", "fifo"); class != own || !strings.Contains(own, "proven") {
		t.Errorf("the hunt finds %q for the class, %q for fifo", class, own)
	}
	if own := ratio("--policy", "sjf", "-p", "blocking=skip"); program != own || !strings.Contains(own, "proven") {
		t.Errorf("the hunt finds %q for the program, %q for sjf", program, own)
	}
	for want, args := range map[string][]string{
		"drop one of the two":          {"--policy", "fifo", "--policy-command", "python3 list.py"},
		"goes with --policy-command":   {"--policy", "fifo", "--policy-files", "list.py"},
		"there is no file yours.py":    {"--policy-command", "python3 yours.py"},
		"there is no program python99": {"--policy-command", "python99 list.py"},
		"--policy-command":             {},
	} {
		for _, start := range [][]string{{"simulate", "jobs.csv", "--gpus", "2"}, {"hunt", "--evaluations", "10"}} {
			if code, _, errOut := benchCommand(t, append(start, args...)...); code != exitUsage || !strings.Contains(errOut, want) || strings.Count(errOut, "\n") != 1 {
				t.Errorf("%v %v: exit code %d: %s", start, args, code, errOut)
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "yardstick-*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}
