package main

import (
	"context"
	"encoding/json"
	"flag"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"yardstick/bench/hunt"
	"yardstick/bench/record"
	"yardstick/internal/output"
)

// readProof reads the proof beside an instance.
func readProof(t *testing.T, instance string) *hunt.Proof {
	t.Helper()
	f, err := os.Open(proofPath(instance))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := hunt.ReadProof(f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// runAgain runs the suite that bench hunt prints and returns the policy's row.
func runAgain(t *testing.T, suite, policy string) record.Ratio {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	mustRun(t, "run", write(t, "s.yaml", suite), "-o", dir, "-q")
	run, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range run.Ratios {
		if strings.HasPrefix(r.Method, policy) {
			return r
		}
	}
	t.Fatalf("no row of %s", policy)
	return record.Ratio{}
}

// proves reports whether a row of a result has the ratio of a proof: cost over
// optimum, or over the lower bound where the optimum is one of another class.
func proves(t *testing.T, r record.Ratio, p *hunt.Proof) bool {
	t.Helper()
	cost, ok := new(big.Rat).SetString(string(r.CostExact))
	lower, okLower := new(big.Rat).SetString(string(r.LowerBoundExact))
	want, okWant := new(big.Rat).SetString(p.Ratio)
	if !ok || !okLower || !okWant {
		t.Fatalf("cost %q, lower bound %q, ratio %q", r.CostExact, r.LowerBoundExact, p.Ratio)
	}
	return new(big.Rat).Quo(cost, lower).Cmp(want) == 0
}

// TestHunt hunts in every model from the command line, and reproduces what it
// finds with the suite that it prints: bench run has the same ratio.
func TestHunt(t *testing.T) {
	for name, args := range map[string][]string{
		"a-srpt-perfect": {"--jobs", "4", "--gpus", "4", "--evaluations", "400"},
		"sjf":            {"--model", "preemptive", "--jobs", "3", "--gpus", "2", "--evaluations", "200"},
		"srtf":           {"--model", "preemptive", "--jobs", "3", "--gpus", "2", "--evaluations", "200", "-p", "prune=true"},
		"sjf-bsbf":       {"--model", "sharing", "--jobs", "3", "--gpus", "2", "--evaluations", "200"},
		"sharing-fifo":   {"--model", "sharing", "--jobs", "3", "--gpus", "2", "--evaluations", "200"},
		"elastic-fifo":   {"--model", "elastic", "--jobs", "3", "--gpus", "2", "--evaluations", "40", "--objective", "weighted-completion"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "found.json")
			out := mustRun(t, append([]string{"hunt", "--policy", name, "--seed", "3", "-q", "-o", file}, args...)...)
			_, suite, ok := strings.Cut(out, "runs it again:\n\n")
			if !ok {
				t.Fatalf("no suite:\n%s", out)
			}
			p := readProof(t, file)
			if !strings.Contains(out, p.Ratio+" = ") {
				t.Errorf("the ratio %s is not printed:\n%s", p.Ratio, out)
			}
			if r := runAgain(t, suite, name); !proves(t, r, p) {
				t.Errorf("cost %s over %s, want the ratio %s", r.CostExact, r.LowerBoundExact, p.Ratio)
			}
			again := filepath.Join(t.TempDir(), "again.json")
			mustRun(t, append([]string{"hunt", "--policy", name, "--seed", "3", "-q", "-o", again, "-j", "1"}, args...)...)
			for _, path := range []func(string) string{func(s string) string { return s }, proofPath} {
				a, errA := os.ReadFile(path(file))
				b, errB := os.ReadFile(path(again))
				if errA != nil || errB != nil || string(a) != string(b) {
					t.Errorf("%s: another number of workers finds another instance", path(file))
				}
			}
		})
	}
}

// TestHuntResume: a hunt that is interrupted writes what it has, and one that goes
// on finds what an uninterrupted one finds.
func TestHuntResume(t *testing.T) {
	dir := t.TempDir()
	state := filepath.Join(dir, "state.json")
	hunting := func(file string, more ...string) []string {
		return append([]string{"hunt", "--policy", "fifo", "--jobs", "5", "--gpus", "4", "--evaluations", "3000", "-q", "-o", filepath.Join(dir, file)}, more...)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(150*time.Millisecond, cancel)
	var out, errOut strings.Builder
	if code := run(ctx, hunting("part.json", "--resume", state), &out, &errOut); code != exitInterrupted && code != exitOK {
		t.Fatalf("exit code %d: %s", code, errOut.String())
	}
	mustRun(t, hunting("resumed.json", "--resume", state)...)
	mustRun(t, hunting("whole.json")...)
	if a, b := readProof(t, filepath.Join(dir, "resumed.json")), readProof(t, filepath.Join(dir, "whole.json")); a.Ratio != b.Ratio || a.Instance != b.Instance || a.Evaluations != b.Evaluations {
		t.Errorf("ratio %s after %d, uninterrupted %s after %d", a.Ratio, a.Evaluations, b.Ratio, b.Evaluations)
	}
	if code, _, errOut := benchCommand(t, hunting("other.json", "--resume", state, "--seed", "2")...); code != exitUsage || !strings.Contains(errOut, "another hunt") {
		t.Errorf("the state of another seed: %d, %s", code, errOut)
	}
}

// TestConjecture: a false statement is refuted by an instance that verify checks, a true one is
// not, and what cannot be read or resolved is said where it stands.
func TestConjecture(t *testing.T) {
	file := filepath.Join(t.TempDir(), "false.json")
	small := []string{"--jobs", "3", "--gpus", "2", "--evaluations", "400", "-q"}
	hunting := func(statement string, more ...string) (int, string, string) {
		return benchCommand(t, slices.Concat([]string{"hunt", "--conjecture", statement}, small, more)...)
	}
	if code, out, errOut := hunting("cost(sjf) <= 2*opt", "-o", file); code != exitOK || !strings.Contains(out, "is false") {
		t.Fatalf("exit code %d: %s%s", code, out, errOut)
	}
	if out := mustRun(t, "verify", file); !strings.Contains(out, "is false on this instance") || strings.Contains(out, "without a certificate") || !strings.Contains(out, "not checked: that the policies") {
		t.Error(out)
	}
	text, err := os.ReadFile(proofPath(file))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(proofPath(file), []byte(strings.Replace(string(text), "2*opt", "9*opt", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	exits(t, exitInvalid, "verify", file)
	if code, out, _ := hunting("opt <= cost(sjf)"); code != exitIncomplete || !strings.Contains(out, "holds on all instances") {
		t.Errorf("what is true: exit code %d: %s", code, out)
	}
	for statement, want := range map[string]string{
		"opt <= cost(sjf) + +1": "stands in opt <= cost(sjf) + ‸+1",
		"cost(sjg) <= opt":      `the nearest is "sjf"`,
		"cost(srpt) <= opt":     "srpt is not an online policy",
		"bound(sjf) <= opt":     "sjf is not a lower bound",
		"cost(srtf) <= opt":     "does not belong",
	} {
		if code, _, errOut := hunting(statement); code != exitUsage || !strings.Contains(errOut, want) || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%s: exit code %d: %s", statement, code, errOut)
		}
	}
	if code, _, errOut := hunting("n <= 2", "--policy", "sjf"); code != exitUsage || !strings.Contains(errOut, "drop --policy") {
		t.Errorf("with a policy: exit code %d: %s", code, errOut)
	}
	if code, _, errOut := hunting("g_max <= n", "--model", "elastic"); code != exitUsage || !strings.Contains(errOut, "there is no g_max") {
		t.Errorf("elastic gangs: exit code %d: %s", code, errOut)
	}
}

// TestHuntTrace: the worst window of a trace is written with its proof, and the command that is
// printed makes it again; flags that say nothing about windows are refused.
func TestHuntTrace(t *testing.T) {
	trace, file := filepath.Join(t.TempDir(), "t.parquet"), filepath.Join(t.TempDir(), "worst.json")
	mustRun(t, "dataset", "generate", "--like", "philly", "--jobs", "60", "-o", trace)
	hunting := []string{"hunt", "--policy", "sjf", "--trace", trace, "--window", "5", "--stride", "3", "-s", "tooLarge=drop", "-s", "cluster.servers=1", "-s", "cluster.gpusPerServer=8", "-q"}
	out := mustRun(t, append(hunting, "-o", file)...)
	for _, want := range []string{"from job ", "proven", "no other is worse"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q:\n%s", want, out)
		}
	}
	mustRun(t, "verify", file)
	_, words, _ := strings.Cut(out, "made by      bench ")
	words, _, _ = strings.Cut(words, "\n")
	again := filepath.Join(t.TempDir(), "again.json")
	mustRun(t, append(strings.Fields(words), "-o", again)...)
	a, err := readInstance(file)
	if err != nil {
		t.Fatal(err)
	}
	b, err := readInstance(again)
	if err != nil || a.Hash() != b.Hash() {
		t.Errorf("%s makes another instance: %v", words, err)
	}
	for want, more := range map[string][]string{"--gpus is about": {"--gpus", "3"}, "the trace has": {"--window", "5000"}, "no such key": {"-s", "nothing=3"}, "key=value": {"-s", "x"}, "model": {"--model", "gangs"}} {
		if code, _, errOut := benchCommand(t, append(slices.Clone(hunting), more...)...); code != exitUsage || !strings.Contains(errOut, want) || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%v: exit code %d, %s", more, code, errOut)
		}
	}
	if code, _, errOut := benchCommand(t, "hunt", "--policy", "sjf", "--window", "3"); code != exitUsage || !strings.Contains(errOut, "go with --trace") {
		t.Errorf("no trace: exit code %d, %s", code, errOut)
	}
}

// TestHuntRefuses: what cannot be hunted is said so.
func TestHuntRefuses(t *testing.T) {
	for want, args := range map[string][]string{
		"--policy is missing":  {"--jobs", "2"},
		"is unknown":           {"--policy", "nobody"},
		"not an online policy": {"--policy", "exhaustive"},
		"--objective":          {"--policy", "fifo", "--objective", "scheduled-weight"},
		"--keep":               {"--policy", "fifo", "--keep", "2"},
		"between 1 and 12":     {"--policy", "fifo", "--jobs", "40"},
		"does not belong":      {"--policy", "srtf", "--evaluations", "16"},
		"model":                {"--policy", "fifo", "--model", "gangs"},
	} {
		code, _, errOut := benchCommand(t, append([]string{"hunt", "-q"}, args...)...)
		if code != exitUsage || !strings.Contains(errOut, want) {
			t.Errorf("%v: exit code %d, %s", args, code, errOut)
		}
	}
	code, _, errOut := benchCommand(t, "hunt", "-q", "--policy", "elastic-tiresias", "--model", "elastic", "--evaluations", "100", "--jobs", "2", "--gpus", "2")
	if code == exitOK || !strings.Contains(errOut, "no exact method") {
		t.Errorf("a class without an exact method: %d, %s", code, errOut)
	}
}

// worst lists the committed corpus of the worst instances, by name.
func worst(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("../../bench/hunt/testdata/worst/*.proof.json")
	if err != nil || len(list) < 12 {
		t.Fatalf("%d instances: %v", len(list), err)
	}
	for i := range list {
		list[i] = strings.TrimSuffix(list[i], ".proof.json")
	}
	return list
}

var update = flag.Bool("update", false, "write the proofs of the worst instances anew")

// writeWorst writes the proof of an instance, and the certificate if there is one.
func writeWorst(t *testing.T, path string, old *hunt.Proof, found *hunt.Found) {
	t.Helper()
	p := found.Proof(old.Policy, old.Params)
	p.Seed, p.Evaluations = old.Seed, old.Evaluations
	if err := output.Write(proofPath(path), p.Write); err != nil {
		t.Fatal(err)
	}
	if found.Certificate != nil {
		if err := os.WriteFile(certificatePath(path), found.Certificate, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWorst replays every instance of the corpus under its policy, by name: the
// ratio is exactly what the proof says.
func TestWorst(t *testing.T) {
	for _, path := range worst(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			p := readProof(t, path+".json")
			in, err := readInstance(path + ".json")
			if err != nil {
				t.Fatal(err)
			}
			f := huntFlags{policyFlags: policyFlags{policy: p.Policy, params: p.Params}, model: string(in.Model), objective: p.Objective.String(), keep: "1", evaluations: 1}
			f.space.Jobs, f.space.GPUs = 1, 1
			o, err := f.options(t.Context(), false)
			if err != nil {
				t.Fatal(err)
			}
			found, err := hunt.Prove(t.Context(), in, p.Objective, o.Policy)
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				writeWorst(t, path+".json", p, found)
				return
			}
			if found.Ratio().RatString() != p.Ratio || found.Cost.RatString() != p.Cost || found.Method != p.Optimum.Method {
				t.Errorf("ratio %s by %s, want %s by %s", found.Ratio().RatString(), found.Method, p.Ratio, p.Optimum.Method)
			}
			if certified := found.Certificate != nil; certified != (p.Optimum.Status == "certified") {
				t.Errorf("certified %t, but the proof says %s", certified, p.Optimum.Status)
			}
		})
	}
}

// TestWorstRuns: an instance of the corpus reproduces in a suite, as the documents
// say.
func TestWorstRuns(t *testing.T) {
	path := "../../bench/hunt/testdata/worst/a-srpt.json"
	p := readProof(t, path)
	suite := "name: worst\ninstances:\n  - {name: hunted, file: " + path + "}\nobjectives: [total-completion]\nmethods: [a-srpt-perfect]\nreferences: [exhaustive]\n"
	if r := runAgain(t, suite, "a-srpt-perfect"); !proves(t, r, p) || !r.RatioToOptimum.Valid {
		t.Errorf("cost %s over %s, want the ratio %s", r.CostExact, r.LowerBoundExact, p.Ratio)
	}
}

// TestHuntWatch: the line that shows how a hunt advances.
func TestHuntWatch(t *testing.T) {
	w := &huntWatch{budget: time.Minute}
	if got := w.line(20*time.Second, hunt.Progress{Evaluations: 4000, Best: big.NewRat(7, 2)}); got != "4000 evaluations (200/s), worst ratio 3.5000, ETA 40s" {
		t.Error(got)
	}
	w = &huntWatch{evaluations: 1000}
	if got := (&huntWatch{conjecture: true}).line(time.Second, hunt.Progress{Evaluations: 5, Best: big.NewRat(3, 2)}); !strings.Contains(got, "largest excess 0.5000") {
		t.Errorf("%q", got)
	}
	if got := w.line(10*time.Second, hunt.Progress{Evaluations: 500}); got != "500 evaluations (50/s), ETA 10s" {
		t.Error(got)
	}
}

// TestHuntState: the state file is one JSON value.
func TestHuntState(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state.json")
	mustRun(t, "hunt", "-q", "--policy", "fifo", "--jobs", "3", "--gpus", "2", "--evaluations", "64", "--resume", state)
	data, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	var s hunt.State
	if err := json.Unmarshal(data, &s); err != nil || s.Policy == "" || s.Space.Jobs != 3 {
		t.Errorf("%+v, %v", s, err)
	}
	if code, _, errOut := benchCommand(t, "hunt", "-q", "--policy", "fifo", "--resume", write(t, "bad.json", "{")); code != exitUsage {
		t.Errorf("%d, %s", code, errOut)
	}
}
