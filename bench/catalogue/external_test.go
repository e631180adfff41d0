package catalogue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"yardstick/bench"
	"yardstick/bench/sandbox"
	"yardstick/bench/suite"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// ownNames are the methods that need no program: this file has the one that does.
func ownNames() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return name == ExternalName })
}

// interpreter is the system's: no other may be in sight of another user.
const interpreter = "/usr/bin/python3"

func needsPython(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(interpreter); err != nil || runtime.GOOS != "linux" {
		schedtest.Missing(t, "no Linux with %s: install python3", interpreter)
	}
}

// programmed is the reference of a program.
func programmed(command string, params ...string) suite.MethodRef {
	ref := suite.MethodRef{Name: ExternalName, Params: map[string]string{"command": command}}
	for i := 0; i < len(params); i += 2 {
		ref.Params[params[i]] = params[i+1]
	}
	return ref
}

// runOn runs a method on an instance as a suite does.
func runOn(t *testing.T, ref suite.MethodRef, in *sched.Instance, limits suite.Limits) bench.CellResult {
	t.Helper()
	m, err := Resolve(ref)
	if err != nil {
		return bench.CellResult{Err: err}
	}
	built := &suite.Instance{Instance: in, SHA256: in.Hash(), Family: "test", Seed: 1}
	return bench.RunCell(context.Background(), bench.Cell{Instance: built, Method: m, Objectives: []sched.Objective{sched.TotalJCT}}, limits, true)
}

// scheduleOf is what a result did, to the last byte.
func scheduleOf(t *testing.T, ref suite.MethodRef, in *sched.Instance) string {
	t.Helper()
	r := runOn(t, ref, in, suite.Limits{})
	if r.Err != nil {
		t.Fatalf("%s on %s: %v", ref, in.Name, r.Err)
	}
	text, err := json.Marshal(r.Outcomes[0].Schedule)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The same policy in Go and in Python makes the same schedules: on the gang instances of
// the default suite, and on one of twenty thousand jobs.
func TestSameInPython(t *testing.T) {
	needsPython(t)
	const path = "../../cmd/bench/suites/quick.yaml"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := suite.Parse(path, text)
	if err != nil {
		t.Fatal(err)
	}
	var all []*sched.Instance
	for i := range s.Instances {
		if s.Instances[i].Model != sched.ModelGang {
			continue
		}
		built, err := s.Instances[i].Build(s.Seed, &suite.Budget{})
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range built[:tier.Draws(min(2, len(built)), len(built))] {
			all = append(all, in.Instance)
		}
	}
	if len(all) < 2 {
		t.Fatalf("the default suite has %d gang instances", len(all))
	}
	all = append(all, workload(tier.Draws(2_000, 20_000), 250))
	for _, in := range all {
		for _, name := range []string{"fifo", "sjf"} {
			for _, blocking := range []string{"strict", "skip"} {
				python := scheduleOf(t, programmed(interpreter+" testdata/list.py "+name+" "+blocking, "predictor", "perfect"), in)
				own := scheduleOf(t, suite.MethodRef{Name: name, Params: map[string]string{"blocking": blocking}}, in)
				if python != own {
					t.Errorf("%s %s on %s differs in Python", name, blocking, in.Name)
				}
			}
		}
	}
}

// workload is a loaded cluster of servers of eight GPUs.
func workload(jobs, servers int) *sched.Instance {
	in := &sched.Instance{Name: fmt.Sprintf("%d jobs", jobs), Model: sched.ModelGang, Cluster: sched.Uniform(servers, 8, 1e9, 1e10)}
	r := rand.New(rand.NewPCG(1, uint64(jobs)))
	at := sched.Time(0)
	for range jobs {
		gang := []int{1, 1, 1, 1, 2, 2, 4, 8, 16, 32}[r.IntN(10)]
		in.Jobs = append(in.Jobs, sched.Job{Release: at, Weight: 1, Iters: int64(1 + r.IntN(600)), Stages: []sched.Stage{{Replicas: gang, Compute: 1e9}}})
		at += sched.Time(r.IntN(2*300*7_000_000/(8*servers) + 1))
	}
	return in
}

// small is an instance on which policies can go wrong.
func small() *sched.Instance {
	in := workload(6, 1)
	in.Name = "small"
	for i := range in.Jobs {
		in.Jobs[i].Stages[0].Replicas = min(in.Jobs[i].Stages[0].Replicas, 8)
	}
	return in
}

// policyFile writes a policy into a folder of its own, and goes there.
func policyFile(t *testing.T, body string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("mine.py", []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
}

// answering is a policy in Python that makes an answer of a question q by an expression.
func answering(expression string) string {
	return `
import json, os, sys, time
def learn(q):
    for s, n in q["free"]: free[s] = n
    waiting.extend(q["arrived"])
    return q["now"]
def first_come(q):
    learn(q)
    left, start = sum(free.values()), []
    while waiting and waiting[0]["gpus"] <= left:
        left -= waiting[0]["gpus"]
        start.append([waiting.pop(0)["job"]])
    return {"start": start}
free, waiting = {}, []
for line in sys.stdin:
    q = json.loads(line)
    if "hello" in q: print(json.dumps({"hello": {"name": "mine", "class": "N"}}), flush=True)
    if "now" in q: print(json.dumps(` + expression + `), flush=True)
`
}

// What can be wrong with a program is said in one line, and fails its cell.
func TestProgramFaults(t *testing.T) {
	needsPython(t)
	for name, c := range map[string]struct{ body, command, want string }{
		"no command":     {"", "", "the command is empty"},
		"no interpreter": {"", "python9 mine.py", "there is no program python9"},
		"no file":        {"", "python3 yours.py", "there is no file yours.py"},
		"a folder":       {"", "./", "there is no file ./"},
		"other version":  {`input(); print('{"hello":{"name":"mine","class":"N","protocol":"yardstick-policy/2"}}')`, interpreter + " mine.py", "hello: it speaks yardstick-policy/2, and this is yardstick-policy/1"},
		"wrong hello":    {`input(); print('{"hello":{"name":"mine"}}')`, interpreter + " mine.py", `hello: hello.class is ""`},
		"no hello":       {`input(); print('{}')`, interpreter + " mine.py", "hello: its first answer is no hello"},
		"not JSON":       {`input(); print('hello')`, interpreter + " mine.py", "hello: its answer is no JSON object: hello"},
		"traceback":      {"import numpie", interpreter + " mine.py", "line 1, in <module> / import numpie / ModuleNotFoundError: No module named 'numpie'"},
		"import":         {"import numpie", interpreter + " mine.py", "hello: it ended with exit status 1"},
		"syntax":         {"def", interpreter + " mine.py", "SyntaxError: invalid syntax"},
		"says nothing":   {"", interpreter + " mine.py", "hello: it ended with exit status 0"},
		"dies":           {answering(`first_come(q) if q["now"] == 0 else os._exit(9)`), interpreter + " mine.py", "it ended with exit status 9"},
		"raises":         {answering(`{"start": future}`), interpreter + " mine.py", "NameError: name 'future' is not defined"},
		"is silent":      {answering(`time.sleep(1000)`), interpreter + " mine.py", "it was silent when its time was over"},
		"talks on":       {answering(`first_come(q)`) + "print('{}')\n", interpreter + " mine.py", "mine, after the end: it wrote a second line"},
	} {
		t.Run(name, func(t *testing.T) {
			policyFile(t, c.body)
			limits := suite.Limits{}
			if name == "is silent" {
				limits.Cell = 1e9
			}
			r := runOn(t, programmed(c.command), small(), limits)
			if r.Err == nil || !strings.Contains(r.Err.Error(), c.want) || strings.Contains(r.Err.Error(), "\n") {
				t.Errorf("the error is %v, want one line with %q", r.Err, c.want)
			}
		})
	}
}

// A program is not asked about factors that the protocol cannot tell it.
func TestProgramNotToldOfRows(t *testing.T) {
	needsPython(t)
	policyFile(t, answering(`first_come(q)`))
	m, err := Resolve(programmed(interpreter + " mine.py"))
	if err != nil {
		t.Fatal(err)
	}
	in := schedtest.Sharing(schedtest.Rand(1), schedtest.Shape{Jobs: 3, Servers: 2, GPUs: 2, Stages: 1})
	if err := bench.Suits(m, in); err != nil {
		t.Error(err)
	}
	if err := bench.Suits(m, schedtest.Rowed(schedtest.Rand(1), in, 3, 2)); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("interference by accumulation: %v", err)
	}
}

// Two runs that differ fail the cell that asked for two.
func TestRepeat(t *testing.T) {
	needsPython(t)
	policyFile(t, answering(`first_come(q)`))
	if r := runOn(t, programmed(interpreter+" mine.py", "repeat", "2"), small(), suite.Limits{}); r.Err != nil {
		t.Error(r.Err)
	}
	policyFile(t, answering(`first_come(q) if q["wake"] else {"wake": learn(q) + 1 + int.from_bytes(os.urandom(3), "big")}`))
	r := runOn(t, programmed(interpreter+" mine.py", "repeat", "2"), small(), suite.Limits{})
	if r.Err == nil || !strings.Contains(r.Err.Error(), "two runs of the policy on one instance differ") {
		t.Errorf("two runs that differ: %v", r.Err)
	}
	if r := runOn(t, programmed(interpreter+" mine.py"), small(), suite.Limits{}); r.Err != nil {
		t.Error(r.Err)
	}
}

// A program that can serve another instance is kept while it is wanted, and no longer.
func TestKept(t *testing.T) {
	needsPython(t)
	policyFile(t, strings.Replace(answering(`first_come(q)`), `"class": "N"`, `"class": "N", "again": True`, 1))
	m, l, err := newExternal(programmed(interpreter + " mine.py"))
	if err != nil {
		t.Fatal(err)
	}
	l.keep = true
	cell := bench.Cell{Instance: &suite.Instance{Instance: small(), SHA256: small().Hash(), Family: "test", Seed: 1}, Method: m, Objectives: []sched.Objective{sched.TotalJCT}}
	run := func() {
		t.Helper()
		if r := bench.RunCell(t.Context(), cell, suite.Limits{}, true); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	run()
	if len(l.idle) != 1 {
		t.Fatalf("%d programs are kept", len(l.idle))
	}
	kept := l.idle[0]
	l.release()
	if n, err := kept.Out.Read(make([]byte, 1)); err == nil {
		t.Errorf("a program that is no longer wanted goes on: %d bytes", n)
	}
	run() // one of its own, that is not kept
	if len(l.idle) != 0 {
		t.Errorf("%d programs are kept that nobody wants", len(l.idle))
	}
}

// A program is told the truth only if its reference says so, and the row says it too.
func TestClairvoyance(t *testing.T) {
	needsPython(t)
	policyFile(t, answering(`first_come(q)`))
	for predictor, clairvoyant := range map[string]bool{"none": false, "perfect": true, "mean": false} {
		r := runOn(t, programmed(interpreter+" mine.py", "predictor", predictor), small(), suite.Limits{})
		if r.Err != nil || r.Outcomes[0].Replay.Clairvoyant != clairvoyant {
			t.Errorf("predictor %s: %v", predictor, r.Err)
		}
		if message := r.Outcomes[0].Message; !strings.Contains(message, "limits") {
			t.Errorf("the row says %q of its protections", message)
		}
	}
}

// A method's version is that of its program: the command, the files and the interpreter.
func TestProgramVersion(t *testing.T) {
	needsPython(t)
	policyFile(t, "1")
	version := func(ref suite.MethodRef) string {
		m, err := Resolve(ref)
		if err != nil {
			t.Fatal(err)
		}
		return m.Version()
	}
	ref := programmed(interpreter + " mine.py")
	before := version(ref)
	if again := version(ref); again != before || !strings.Contains(before, interpreter+" 3.") {
		t.Errorf("version %q, then %q", before, again)
	}
	if version(programmed(interpreter+" mine.py x")) == before {
		t.Error("another command has the same version")
	}
	if err := os.WriteFile("mine.py", []byte("2"), 0o644); err != nil {
		t.Fatal(err)
	}
	if version(ref) == before {
		t.Error("a changed file has the same version")
	}
	if err := os.Mkdir("lib", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("lib", "a.py"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if version(programmed(interpreter+" mine.py", "files", "lib")) == version(ref) {
		t.Error("a file more has the same version")
	}
	for _, as := range []string{"fifo", "lb0"} {
		if _, err := Resolve(suite.MethodRef{Name: ExternalName, Params: ref.Params, As: as}); err == nil {
			t.Errorf("a program may call itself %s", as)
		}
	}
	if _, err := Resolve(suite.MethodRef{Name: "fifo", As: "mine"}); err == nil {
		t.Error("fifo may call itself mine")
	}
}
