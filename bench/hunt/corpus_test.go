package hunt

import (
	"context"
	"flag"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"yardstick/bench/errata"
	"yardstick/bench/suite"
	"yardstick/bounds/certify"
	"yardstick/bounds/theorems"
	"yardstick/heuristics/asrpt"
	"yardstick/heuristics/primaldual"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/verify"
)

var update = flag.Bool("update", false, "write docs/worst-cases.md anew")

// entry is an instance of the corpus.
type entry struct {
	name  string
	in    *sched.Instance
	proof *Proof
}

func corpus(t *testing.T) []entry {
	t.Helper()
	files, err := filepath.Glob("testdata/worst/*.proof.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []entry
	for _, path := range files {
		e := entry{name: strings.TrimSuffix(filepath.Base(path), ".proof.json")}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		e.proof, err = ReadProof(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if f, err = os.Open(strings.TrimSuffix(path, ".proof.json") + ".json"); err != nil {
			t.Fatal(err)
		}
		e.in, err = sched.ReadInstance(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

// TestCorpus: both schedules of every entry are valid, their costs have the ratio
// that is claimed, the optimum is one, and so says its certificate. (That the policy
// makes the schedule is tested where policies have names.)
func TestCorpus(t *testing.T) {
	list := corpus(t)
	if len(list) < 12 {
		t.Fatalf("only %d instances", len(list))
	}
	certified := 0
	for _, e := range list {
		if err := e.proof.Check(e.in); err != nil {
			t.Errorf("%s: %v", e.name, err)
			continue
		}
		best, err := prove(t.Context(), e.in, e.proof.Objective, e.proof.Class)
		if err != nil {
			t.Errorf("%s: %v", e.name, err)
			continue
		}
		if best.cost.RatString() != e.proof.Optimum.Value || best.method != e.proof.Optimum.Method || best.class != e.proof.Optimum.Class {
			t.Errorf("%s: the optimum of class %v is %v by %s, not %s", e.name, best.class, best.cost, best.method, e.proof.Optimum.Value)
		}
		if e.proof.Optimum.Status != "certified" {
			continue
		}
		certified++
		text, err := os.ReadFile("testdata/worst/" + e.name + ".certificate.json")
		if err != nil {
			t.Fatal(err)
		}
		s, err := certify.Check(e.in, text)
		if err != nil || certify.SHA256(text) != e.proof.Optimum.Certificate || s.Value.Cmp(best.cost) != 0 || s.Class != best.class || s.Objective != e.proof.Objective {
			t.Errorf("%s: certificate of %+v, %v", e.name, s, err)
		}
	}
	t.Logf("%d of %d optima have a certificate", certified, len(list))
}

// TestKnownBad holds the corpus to what hunts are to find: A-SRPT at G = g_max = 8,
// and policies without a bound.
func TestKnownBad(t *testing.T) {
	at := map[string]entry{}
	for _, e := range corpus(t) {
		at[e.name] = e
	}
	for name, least := range map[string]*big.Rat{"a-srpt": big.NewRat(39, 10), "fifo": big.NewRat(3, 2), "sjf": big.NewRat(3, 2), "spjf": big.NewRat(3, 2),
		"srtf": big.NewRat(3, 2), "sjf-bsbf": big.NewRat(3, 2)} {
		e, ok := at[name]
		if !ok {
			t.Errorf("there is no %s", name)
			continue
		}
		ratio, ok := new(big.Rat).SetString(e.proof.Ratio)
		if !ok || ratio.Cmp(least) < 0 || len(e.in.Jobs) > 8 {
			t.Errorf("%s: ratio %s with %d jobs", name, e.proof.Ratio, len(e.in.Jobs))
		}
	}
}

// allowed returns what a theorem allows the ratio to be on an instance, if one is
// about the policy and the objective.
func allowed(t *testing.T, e *entry) string {
	t.Helper()
	value, _ := new(big.Rat).SetString(e.proof.Optimum.Value)
	switch {
	case strings.HasPrefix(e.proof.Policy, "a-srpt") && e.proof.Objective == sched.TotalCompletion:
		v, err := verify.Check(e.in, e.proof.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		list, err := errata.Theorems(v, asrpt.Options{}, nil, theorems.Interval{Lower: value, Upper: value})
		if err != nil {
			t.Fatal(err)
		}
		if h, ok := theorems.Headline(list); ok {
			return fmt.Sprintf("%s (Theorem 1, %s)", h.Bound.FloatString(2), h.Form)
		}
	case e.proof.Policy == "primal-dual" && len(e.proof.Params) == 0:
		p := primaldual.New(primaldual.Options{})
		if _, err := sim.Run(context.Background(), e.in, p, sim.Options{}); err != nil {
			t.Fatal(err)
		}
		if alpha, kept := p.Alpha(); kept {
			return fmt.Sprintf("%d (Lemma 1 for this run)", 4*alpha)
		}
	}
	return "–"
}

// TestDocument keeps the table of docs/worst-cases.md in step with the corpus.
func TestDocument(t *testing.T) {
	list := corpus(t)
	slices.SortStableFunc(list, func(a, b entry) int { return strings.Compare(modelOrder(&a), modelOrder(&b)) })
	var b strings.Builder
	b.WriteString("| name | policy | class | objective | jobs | GPUs | ratio | a theorem allows | optimum | the instance |\n|---|---|---|---|---:|---:|---|---|---|---|\n")
	for i := range list {
		e := &list[i]
		ratio, _ := new(big.Rat).SetString(e.proof.Ratio)
		gpus := fmt.Sprint(e.in.Cluster.GPUs())
		if n := len(e.in.Cluster.Servers); n > 1 {
			gpus = fmt.Sprintf("%s on %d servers", gpus, n)
		}
		policy := suite.MethodRef{Name: e.proof.Policy, Params: e.proof.Params}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %d | %s | %s = %s | %s | %s | %s |\n", e.name, policy, e.proof.Class, e.proof.Objective, len(e.in.Jobs), gpus,
			e.proof.Ratio, ratio.FloatString(3), allowed(t, e), e.proof.Optimum.Status, Words(e.in))
	}
	inStep(t, "instances", b.String())
}

// inStep keeps a table of docs/worst-cases.md as it is to be.
func inStep(t *testing.T, name, table string) {
	t.Helper()
	const path = "../../docs/worst-cases.md"
	begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->\n"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(data), begin)
	_, tail, okTail := strings.Cut(rest, end)
	if !ok || !okTail {
		t.Fatalf("%s has no place for the %s", path, name)
	}
	want := head + begin + table + end + tail
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(data) != want {
		t.Errorf("%s does not show the %s: go test ./bench/hunt -run 'Document|Families' -update", path, name)
	}
}

// modelOrder sorts by model, then by name.
func modelOrder(e *entry) string {
	order := map[sched.Model]string{sched.ModelGang: "1", sched.ModelPreemptive: "2", sched.ModelSharing: "3", sched.ModelElastic: "4"}
	return order[e.in.Model] + e.name
}
