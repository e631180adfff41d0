package hunt

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"yardstick/bench/suite"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
)

// families are those that are committed, by name.
func families(t *testing.T) (names []string, list []*Family) {
	t.Helper()
	files, err := filepath.Glob("testdata/families/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := ReadFamily(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		var again bytes.Buffer
		if err := f.Write(&again); err != nil || again.String() != string(text) {
			t.Errorf("%s is written as %s, %v", path, again.String(), err)
		}
		names, list = append(names, strings.TrimSuffix(filepath.Base(path), ".json")), append(list, f)
	}
	return names, list
}

// policyOf is the policy of a family.
func policyOf(t *testing.T, f *Family) Policy {
	t.Helper()
	p, err := named(f.Policy, f.Objective)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// documented are the sizes in the document.
var documented = []int{10, 100, 250, 500, 1000}

// TestFamilies evaluates the families that are committed, holds them to what theory has,
// and keeps the document in step.
func TestFamilies(t *testing.T) {
	// What docs/worst-cases.md says of policies at a thousand jobs.
	least := map[string]float64{"fifo": 900, "sjf": 900, "a-srpt": 8.92, "srtf": 900, "sjf-bsbf": 900, "primal-dual": 25. / 9}
	names, list := families(t)
	var b strings.Builder
	b.WriteString("| name | policy | class | objective | G | the family | against |")
	for _, n := range documented {
		fmt.Fprintf(&b, " n = %d |", n)
	}
	b.WriteString(" trend |\n|---|---|---|---|---:|---|---|" + strings.Repeat("---:|", len(documented)) + "---|\n")
	for i, f := range list {
		fmt.Fprintf(&b, "| `%s` | `%s` |", names[i], f.Policy)
		var row strings.Builder
		ratios := map[int]float64{}
		var class sched.Class
		for _, n := range documented {
			found, err := f.Evaluate(t.Context(), n, 0, policyOf(t, f))
			if err != nil {
				t.Fatalf("%s at %d: %v", names[i], n, err)
			}
			if err := found.Proof(f.Policy.Name, f.Policy.Params).Check(found.Instance); err != nil {
				t.Errorf("%s at %d: %v", names[i], n, err)
			}
			ratios[n], _ = found.Ratio().Float64()
			class = found.Class
			fmt.Fprintf(&row, " %s |", found.Ratio().FloatString(3))
		}
		if want, ok := least[names[i]]; ok && ratios[1000] < want {
			t.Errorf("%s: %v at 1,000 jobs, and theory has %v", names[i], ratios[1000], want)
		}
		delete(least, names[i])
		fmt.Fprintf(&b, " %s | %v | %d | %s | %s |%s %v |\n", class, f.Objective, f.GPUs, strings.Join(f.Words(), "; "), f.Against(), row.String(), Fit(ratios[250], ratios[500], ratios[1000]))
	}
	if len(least) > 0 {
		t.Errorf("there is no family of %v", least)
	}
	inStep(t, "families", b.String())
}

// TestFamilySmall: on instances so small that the optimum is proven, the schedules that
// families make cost no less, so that what they state is no more than the ratio.
func TestFamilySmall(t *testing.T) {
	names, list := families(t)
	for i, f := range list {
		for n := 2; n <= 5; n++ {
			found, err := f.Evaluate(t.Context(), n, 0, policyOf(t, f))
			if err != nil {
				continue // a block may need more jobs
			}
			best, err := prove(t.Context(), found.Instance, f.Objective, found.Class)
			if err != nil {
				t.Logf("%s at %d: %v", names[i], n, err)
				continue
			}
			if found.Optimum.Cmp(best.cost) < 0 || found.Cost.Cmp(best.cost) < 0 {
				t.Errorf("%s at %d: %v and %v, and the optimum is %v", names[i], n, found.Cost, found.Optimum, best.cost)
			}
		}
	}
}

// TestInOrder compares schedules in an order with a naive one: each job starts as soon as
// it is released, its gang fits and the one before has started.
func TestInOrder(t *testing.T) {
	schedtest.EachSeed(t, 200, func(t *testing.T, r *rand.Rand) {
		s := Space{Model: sched.ModelGang, Jobs: 8, GPUs: 1 + r.IntN(6), Longest: 9}.filled()
		in := s.breed().build(s.breed().random(r))
		blocks := make([]int, len(in.Jobs))
		for j := range blocks {
			blocks[j] = r.IntN(3)
		}
		order := r.Perm(3)
		for i := range order {
			order[i]++
		}
		v, err := checked(t.Context(), in, inOrder(in, blocks, order))
		if err != nil {
			t.Fatal(err)
		}
		want, end := map[sched.JobID]sched.Time{}, map[sched.JobID]sched.Time{}
		before := sched.Time(0)
		for _, k := range order {
			for j := range in.Jobs {
				if blocks[j] != k-1 {
					continue
				}
				at := max(before, in.Jobs[j].Release)
				for busy(in, want, end, at)+in.Jobs[j].Gang() > s.GPUs {
					at += unit
				}
				want[sched.JobID(j)], before = at, at
				end[sched.JobID(j)] = at + sched.Time(in.Jobs[j].Stages[0].Compute/1000)
			}
		}
		for _, seg := range v.Schedule().Segments {
			if seg.Start != want[seg.Job] || seg.End != end[seg.Job] {
				t.Errorf("job %d runs from %v to %v, not from %v to %v", seg.Job, seg.Start, seg.End, want[seg.Job], end[seg.Job])
			}
		}
	})
}

// busy counts the GPUs that jobs hold.
func busy(in *sched.Instance, start, end map[sched.JobID]sched.Time, at sched.Time) (n int) {
	for j := range start {
		if start[j] <= at && at < end[j] {
			n += in.Jobs[j].Gang()
		}
	}
	return n
}

// blocker is the family by which every policy of class N that does not wait is bad.
func blocker(policy string) *Family {
	formula := func(text string) *Formula {
		f, err := ParseFormula(text)
		if err != nil {
			panic(err)
		}
		return f
	}
	return &Family{Policy: suite.MethodRef{Name: policy}, Objective: sched.TotalCompletion, Model: sched.ModelGang, GPUs: 4,
		Blocks: []Block{{count: formula("1"), "gang": formula("G"), "length": formula("n^2")}, {"release": formula("1")}}, Order: []int{2, 1}}
}

// TestFamilyByHand evaluates the blocker: L for itself, and n-1 jobs of a second behind it,
// against those n-1 jobs from second 1 on and then the blocker.
func TestFamilyByHand(t *testing.T) {
	f := blocker("fifo")
	for _, n := range []int64{9, 17, 101} {
		found, err := f.Evaluate(t.Context(), int(n), 0, policyOf(t, f))
		if err != nil {
			t.Fatal(err)
		}
		batches := (n - 1) / 4 // of four jobs
		small := 4 * batches * (batches + 1) / 2
		cost := n*n + (n-1)*n*n + small
		other := (n - 1) + small + (1 + batches + n*n)
		if want := big.NewRat(cost, other); found.Ratio().Cmp(want) != 0 {
			t.Errorf("n = %d: %v, not %v", n, found.Ratio(), want)
		}
		if !found.Compared || found.Proof("fifo", nil).Optimum.Status != StatusSchedule {
			t.Error("what is compared with says that it is an optimum")
		}
	}
	// On twice as many GPUs the gang is larger too.
	if found, err := f.Evaluate(t.Context(), 9, 8, policyOf(t, f)); err != nil || found.Instance.Jobs[0].Gang() != 8 {
		t.Error(err)
	}
}

// TestFamilyRefuses: a file that is no family, and formulas that make no instance.
func TestFamilyRefuses(t *testing.T) {
	for what, change := range map[string]func(*Family){
		"no policy":     func(f *Family) { f.Policy.Name = "" },
		"no model":      func(f *Family) { f.Model = "x" },
		"no blocks":     func(f *Family) { f.Blocks = nil },
		"no count":      func(f *Family) { delete(f.Blocks[0], count) },
		"two orders":    func(f *Family) { f.Offline = &suite.MethodRef{Name: "sjf"} },
		"block twice":   func(f *Family) { f.Order = []int{1, 1} },
		"too few":       func(f *Family) { f.Order = []int{1} },
		"unknown name":  func(f *Family) { f.Blocks[0]["x"] = whole(1) },
		"many GPUs":     func(f *Family) { f.GPUs = 100 },
		"no GPUs":       func(f *Family) { f.GPUs = 0 },
		"elastic order": func(f *Family) { f.Model, f.Blocks = sched.ModelElastic, []Block{{}, {count: whole(1)}} },
		"maximised":     func(f *Family) { f.Objective = sched.Objective(0) },
	} {
		f := blocker("fifo")
		if change(f); f.Validate() == nil {
			t.Errorf("%s is a family", what)
		}
	}
	for what, change := range map[string]func(*Family){
		"gang":    func(f *Family) { f.Blocks[0]["gang"] = whole(5) },
		"length":  func(f *Family) { f.Blocks[0]["length"] = whole(0) },
		"long":    func(f *Family) { f.Blocks[0]["length"] = whole(2_000_000_000) },
		"counts":  func(f *Family) { f.Blocks[0][count] = whole(1_000_000) },
		"release": func(f *Family) { f.Blocks[0]["release"] = join('-', whole(0), whole(1)) },
		"zero":    func(f *Family) { f.Blocks[0]["release"] = join('/', whole(0), whole(0)) },
		"none":    func(f *Family) { f.Blocks = []Block{{count: whole(0)}}; f.Order = []int{1} },
	} {
		f := blocker("fifo")
		change(f)
		if _, _, err := f.Instance(10, 0); err == nil || f.Validate() != nil {
			t.Errorf("%s makes an instance, or is no family", what)
		}
	}
}

// TestFindFamily: what is found depends on the seed, and not on the workers, and without a
// hint the search finds that FIFO is bad without end.
func TestFindFamily(t *testing.T) {
	var texts []string
	evaluations, least := int64(1600), big.NewRat(20, 1)
	if tier.Raced() {
		evaluations, least = 100, big.NewRat(1, 1) // for the race detector, which makes each ten times as long
	}
	for _, workers := range []int{1, 3} {
		o := FamilyOptions{Ref: suite.MethodRef{Name: "fifo"}, Space: Space{Model: sched.ModelGang, Jobs: 4, GPUs: 4}, Objective: sched.TotalCompletion, Seed: 1,
			Evaluations: evaluations, Workers: workers, N: 100, Keep: big.NewRat(9, 10)}
		o.Policy = policyOf(t, &Family{Policy: o.Ref, Objective: o.Objective})
		r, err := FindFamily(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if r.At.Ratio().Cmp(least) < 0 || r.Evaluations != o.Evaluations {
			t.Errorf("ratio %v after %d", r.At.Ratio(), r.Evaluations)
		}
		if kept := new(big.Rat).Mul(r.Before, o.Keep); r.At.Ratio().Cmp(kept) < 0 {
			t.Errorf("%v before shrinking, %v after", r.Before, r.At.Ratio())
		}
		if err := r.Family.Validate(); err != nil {
			t.Error(err)
		}
		var b bytes.Buffer
		if err := r.Family.Write(&b); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, b.String())
	}
	if texts[0] != texts[1] {
		t.Errorf("%s\nand with more workers %s", texts[0], texts[1])
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := FindFamily(ctx, FamilyOptions{Space: Space{Model: sched.ModelGang, Jobs: 2, GPUs: 2}, Objective: sched.TotalCompletion, Evaluations: 8}); err == nil {
		t.Error("something was found in no time")
	}
}

// TestGeneralise: a hunted instance becomes a family that makes it again.
func TestGeneralise(t *testing.T) {
	s := Space{Model: sched.ModelGang, Jobs: 6, GPUs: 4, Longest: 20}.filled()
	l := &familyIsland{FamilyOptions: &FamilyOptions{Ref: suite.MethodRef{Name: "fifo"}, Space: s, Objective: sched.TotalCompletion}}
	schedtest.EachSeed(t, 100, func(t *testing.T, r *rand.Rand) {
		g := s.breed().random(r)
		f := l.generalise(g)
		if err := f.Validate(); err != nil {
			t.Fatal(err)
		}
		in, _, err := f.Instance(len(g.Jobs), 0)
		if err != nil {
			t.Fatal(err)
		}
		want := s.breed().build(g)
		want.Name = in.Name
		if in.Hash() != want.Hash() {
			t.Errorf("%s, not %s", Words(in), Words(want))
		}
	})
}

// TestFit: ratios that grow are told from those with a limit.
func TestFit(t *testing.T) {
	at := func(of func(n float64) float64) Trend { return Fit(of(250), of(500), of(1000)) }
	for what, one := range map[string]struct {
		got  Trend
		want Trend
	}{
		"bounded":     {at(func(n float64) float64 { return 9 - 80/n }), Trend{Limit: 9}},
		"slow":        {at(func(n float64) float64 { return 9 - 20/math.Sqrt(n) }), Trend{Limit: 9}},
		"constant":    {at(func(float64) float64 { return 3 }), Trend{Limit: 3}},
		"falls":       {at(func(n float64) float64 { return 1 + 1/n }), Trend{Limit: 1.001}},
		"linear":      {at(func(n float64) float64 { return 2 * n }), Trend{Grows: true, Exponent: 1}},
		"root":        {at(math.Sqrt), Trend{Grows: true, Exponent: 0.5}},
		"logarithmic": {at(math.Log), Trend{Grows: true, Exponent: math.Log2(math.Log(1000) / math.Log(500))}},
	} {
		if one.got.Grows != one.want.Grows || math.Abs(one.got.Limit-one.want.Limit) > 1e-6 || math.Abs(one.got.Exponent-one.want.Exponent) > 1e-6 {
			t.Errorf("%s: %+v, not %+v", what, one.got, one.want)
		}
	}
}

// TestPermutations: all orders of three blocks, each once.
func TestPermutations(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range permutations(3) {
		seen[fmt.Sprint(p)] = true
		if s := slices.Sorted(slices.Values(p)); !slices.Equal(s, []int{1, 2, 3}) {
			t.Error(p)
		}
	}
	if len(seen) != 6 {
		t.Error(seen)
	}
}

// TestAgainst: what is hunted against another policy is the ratio of two verified
// schedules, which the proof says, and a policy is never worse than itself.
func TestAgainst(t *testing.T) {
	fifo, sjf := policyOf(t, blocker("fifo")), policyOf(t, blocker("sjf"))
	o := Options{Name: "fifo", Policy: fifo, Against: sjf, Rival: "sjf", Space: Space{Model: sched.ModelGang, Jobs: 4, GPUs: 2}, Objective: sched.TotalCompletion, Seed: 1, Evaluations: 800, Workers: 2}
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	p := r.Found.Proof("fifo", nil)
	if err := p.Check(r.Found.Instance); err != nil || p.Optimum.Status != StatusSchedule || p.Optimum.Method != "sjf" {
		t.Errorf("%+v, %v", p.Optimum, err)
	}
	if r.Found.Ratio().Cmp(big.NewRat(3, 2)) < 0 {
		t.Errorf("ratio %v", r.Found.Ratio())
	}
	for _, one := range []struct {
		policy Policy
		cost   *big.Rat
	}{{fifo, r.Found.Cost}, {sjf, r.Found.Optimum}} {
		if v, err := checked(t.Context(), r.Found.Instance, one.policy); err != nil || v.Cost(o.Objective).Cmp(one.cost) != 0 {
			t.Errorf("it costs %v, and is said to cost %v: %v", v.Cost(o.Objective), one.cost, err)
		}
	}
	o.Against, o.Rival = fifo, "fifo"
	if r, err = Run(t.Context(), o); err != nil || r.Found.Ratio().Cmp(big.NewRat(1, 1)) != 0 {
		t.Errorf("%v, %v", r, err)
	}
}
