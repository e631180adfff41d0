package veripb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"yardstick/bounds/proof"
	"yardstick/bounds/proof/tree"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive"
)

// draw returns a problem of n jobs that compete.
func draw(r *rand.Rand, n int) *proof.Problem {
	p := &proof.Problem{Capacity: 2 + r.Int64N(7), Scale: big.NewRat(1, 1), Offset: new(big.Rat)}
	weighted, at := r.IntN(2) == 0, int64(0)
	for range n {
		j := proof.Job{Release: at, Duration: 1 + r.Int64N(6), Gang: 1 + r.Int64N(p.Capacity), Weight: 1}
		if weighted {
			j.Weight = 1 + r.Int64N(9)
		}
		p.Jobs = append(p.Jobs, j)
		at += r.Int64N(4)
	}
	return p
}

// brute returns an optimum: that of all lists, as jobs that take the first place where
// they fit, in the order of their starts in an optimum, start no later than there.
func brute(t testing.TB, p *proof.Problem) (*big.Int, []int64) {
	var best *big.Int
	var starts []int64
	order := make([]int, len(p.Jobs))
	for i := range order {
		order[i] = i
	}
	var permute func(k int)
	permute = func(k int) {
		if k == len(order) {
			s := p.List(order)
			cost, err := p.Evaluate(s)
			if err != nil {
				t.Fatal(err)
			}
			if best == nil || cost.Cmp(best) < 0 {
				best, starts = cost, s
			}
			return
		}
		for i := k; i < len(order); i++ {
			order[k], order[i] = order[i], order[k]
			permute(k + 1)
			order[k], order[i] = order[i], order[k]
		}
	}
	permute(0)
	return best, starts
}

// check writes both files and has VeriPB check them.
func check(t testing.TB, model, text []byte) (*Verdict, error) {
	t.Helper()
	if _, err := Find(); err != nil {
		schedtest.Missing(t, "%v", err)
	}
	dir := t.TempDir()
	m, p := filepath.Join(dir, "model.opb"), filepath.Join(dir, "proof.pbp")
	for path, b := range map[string][]byte{m: model, p: text} {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	v, err := Check(context.Background(), m, p)
	var refused *RefusedError
	if err != nil && !errors.As(err, &refused) {
		t.Fatal(err)
	}
	return v, err
}

// prove proves a claim in windows of either kind.
func prove(t *testing.T, p *proof.Problem, c proof.Claim, shifted bool) *Proof {
	t.Helper()
	s, err := newSearch(t.Context(), p, c, Options{}, shifted)
	if err != nil {
		t.Fatal(err)
	}
	root, err := s.refute()
	if err != nil {
		t.Fatalf("%s%v: %v", p.Text(), c.Value, err)
	}
	return s.finish(root, c.Starts)
}

func plus(v *big.Int, d int64) *big.Int { return new(big.Int).Add(v, big.NewInt(d)) }

// Every optimum is proven; one more or less is neither claimed nor accepted; and what is
// said of one problem is not accepted of another unless it is true there.
func TestOptima(t *testing.T) {
	split := 0
	for seed := range tier.Draws(40, 1500) {
		r := rand.New(rand.NewPCG(uint64(seed), 22))
		p := draw(r, 2+r.IntN(4))
		best, starts := brute(t, p)
		got := prove(t, p, proof.Claim{Value: best, Starts: starts}, seed%2 == 1)
		if got.Nodes > 1 {
			split++
		}
		v, err := check(t, got.Model, got.Proof)
		if err != nil || v.Lower.Cmp(best) != 0 || v.Upper.Cmp(best) != 0 {
			t.Fatalf("seed %d: optimum %v: verdict %v, %v", seed, best, v, err)
		}
		var cheaper *proof.CheaperError
		if _, err := Prove(t.Context(), p, proof.Claim{Value: plus(best, 1), Starts: starts}, Options{}); !errors.As(err, &cheaper) || cheaper.Cost.Cmp(best) > 0 {
			t.Fatalf("seed %d: one above the optimum %v: %v", seed, best, err)
		}
		for _, d := range []int64{-1, 1} {
			claim := fmt.Appendf(nil, "conclusion BOUNDS %v ", best)
			forged := bytes.Replace(got.Proof, claim, fmt.Appendf(nil, "conclusion BOUNDS %v ", plus(best, d)), 1)
			end := fmt.Appendf(nil, " %v;\nend pseudo", best)
			forged = bytes.Replace(forged, end, fmt.Appendf(nil, " %v;\nend pseudo", plus(best, d)), 1)
			if v, err := check(t, got.Model, forged); err == nil {
				t.Fatalf("seed %d: optimum %v: accepted %v", seed, best, v)
			}
		}
		if most, err := checkModel(p.Text(), got.Model); err != nil || most != best.Int64() {
			t.Fatalf("seed %d: up to %d: %v", seed, most, err)
		}
		mutate(t, r, seed, p, best, got)
	}
	if split == 0 {
		t.Error("no proof had more than a root")
	}
}

// mutate changes the problem and keeps the proof.
func mutate(t *testing.T, r *rand.Rand, seed int, p *proof.Problem, best *big.Int, got *Proof) {
	other := *p
	other.Jobs = append([]proof.Job(nil), p.Jobs...)
	j := &other.Jobs[r.IntN(len(other.Jobs))]
	switch what := r.IntN(6); what {
	case 0:
		other.Capacity++
	case 1:
		j.Duration++
	case 2:
		j.Release++
	case 3:
		j.Weight++
	case 4:
		j.Gang = 1 + j.Gang%other.Capacity
	case 5:
		other.Jobs = other.Jobs[1:]
	}
	if _, err := checkModel(other.Text(), got.Model); err == nil {
		t.Fatalf("seed %d: the program is that of another problem", seed)
	}
	m, err := newModel(&other, best.Int64(), false)
	if err != nil {
		t.Fatal(err)
	}
	v, err := check(t, m.OPB(), got.Proof)
	if err != nil {
		return
	}
	if truth, _ := brute(t, &other); truth.Cmp(best) != 0 {
		t.Fatalf("seed %d: the optimum %v of another problem, whose optimum is %v: accepted as %v", seed, best, truth, v)
	}
}

// A bound without a schedule: prices alone, and a tree where they do not reach. What
// exceeds the optimum is not claimed.
func TestBounds(t *testing.T) {
	trees := 0
	for seed := range tier.Draws(20, 300) {
		r := rand.New(rand.NewPCG(uint64(seed), 23))
		p := draw(r, 2+r.IntN(4))
		best, starts := brute(t, p)
		value, got, err := Best(t.Context(), p, starts)
		if err != nil || value.Cmp(best) > 0 {
			t.Fatalf("seed %d: bound %v, optimum %v: %v", seed, value, best, err)
		}
		if v, err := check(t, got.Model, got.Proof); err != nil || v.Lower.Cmp(value) != 0 || v.Upper != nil {
			t.Fatalf("seed %d: bound %v: verdict %v, %v", seed, value, v, err)
		}
		got = prove(t, p, proof.Claim{Value: best}, seed%2 == 1)
		if got.Nodes > 1 {
			trees++
		}
		if v, err := check(t, got.Model, got.Proof); err != nil || v.Lower.Cmp(best) != 0 || v.Upper != nil {
			t.Fatalf("seed %d: bound %v: verdict %v, %v", seed, best, v, err)
		}
		forged := bytes.Replace(got.Proof, fmt.Appendf(nil, "conclusion BOUNDS %v ", best), fmt.Appendf(nil, "conclusion BOUNDS %v ", plus(best, 1)), 1)
		if v, err := check(t, got.Model, forged); err == nil {
			t.Fatalf("seed %d: optimum %v: accepted %v", seed, best, v)
		}
	}
	if trees == 0 {
		t.Error("prices reached every optimum")
	}
}

// Both programs that make a model anew accept it, and none of another problem.
func TestCheckModel(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		schedtest.Missing(t, "%v", err)
	}
	for seed := range tier.Draws(5, 30) {
		r := rand.New(rand.NewPCG(uint64(seed), 24))
		p := draw(r, 2+r.IntN(4))
		best, starts := brute(t, p)
		got := prove(t, p, proof.Claim{Value: best, Starts: starts}, seed%2 == 1)
		other := *p
		other.Capacity++
		dir := t.TempDir()
		for name, text := range map[string][]byte{"check.py": checker, "instance.txt": p.Text(), "other.txt": other.Text(),
			"model.opb": got.Model, "changed.opb": bytes.Replace(got.Model, []byte(" = 1 ;"), []byte(" = 0 ;"), 1)} {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			problem, model string
			holds          bool
		}{{"instance.txt", "model.opb", true}, {"other.txt", "model.opb", false}, {"instance.txt", "changed.opb", false}, {"model.opb", "instance.txt", false}} {
			cmd := exec.Command(python, "check.py", c.problem, c.model)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if (err == nil) != c.holds || c.holds && !bytes.HasPrefix(out, []byte("holds")) {
				t.Fatalf("seed %d: %s of %s: %v: %s", seed, c.model, c.problem, err, out)
			}
			problem, _ := os.ReadFile(filepath.Join(dir, c.problem))
			model, _ := os.ReadFile(filepath.Join(dir, c.model))
			if _, err := checkModel(problem, model); (err == nil) != c.holds {
				t.Fatalf("seed %d: %s of %s: %v", seed, c.model, c.problem, err)
			}
		}
	}
}

// A program whose windows are for a lower value lacks schedules, and may lack the best:
// VeriPB accepts what is true of it, which need not be true of the problem.
func TestNarrowWindows(t *testing.T) {
	if _, err := Find(); err != nil {
		schedtest.Missing(t, "%v", err)
	}
	forged := 0
	for seed := range tier.Draws(40, 300) {
		r := rand.New(rand.NewPCG(uint64(seed), 27))
		p := draw(r, 3+r.IntN(2))
		best, _ := brute(t, p)
		below := best.Int64() - 1 - r.Int64N(4)
		s, err := newSearch(t.Context(), p, proof.Claim{Value: big.NewInt(below)}, Options{}, false)
		if err != nil {
			t.Fatal(err)
		}
		// What the program without the best schedules says, if anything.
		s.value = best.Int64() + 1
		root, err := s.refute()
		var cheaper *proof.CheaperError
		if errors.As(err, &cheaper) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got := s.finish(root, nil)
		if _, err := check(t, got.Model, got.Proof); err != nil {
			continue // an objective that no schedule of the program has
		}
		forged++
		dir := t.TempDir()
		m, text := filepath.Join(dir, ModelName), filepath.Join(dir, ProofName)
		for path, b := range map[string][]byte{m: got.Model, text: got.Proof} {
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var refused *RefusedError
		if v, err := Verify(t.Context(), p.Text(), got.Model, m, text); !errors.As(err, &refused) {
			t.Fatalf("seed %d: the optimum is %v, and accepted is %v, %v", seed, best, v, err)
		}
	}
	if forged == 0 {
		t.Error("VeriPB accepts nothing that is false of the problem: this tests nothing")
	}
}

// gangs returns an instance of gangs for whole hours.
func gangs(r *rand.Rand, n int) *sched.Instance {
	in := &sched.Instance{Name: "gangs", Model: sched.ModelGang, Cluster: sched.Cluster{Servers: []sched.Server{{GPUs: 12}}, Inter: 1e9, Intra: 1e10}}
	at := sched.Time(0)
	for range n {
		in.Jobs = append(in.Jobs, sched.Job{Release: at * 3600 * sched.Second, Weight: float64(1+r.IntN(4)) / 2, Iters: 1 + r.Int64N(9),
			Stages: []sched.Stage{{Replicas: 1 + r.IntN(7), Compute: 3600e9}}})
		at += sched.Time(r.IntN(3))
	}
	return in
}

// The optimum of larger instances is that of package exhaustive, and that of the trees
// that Python checks.
func TestAgrees(t *testing.T) {
	for seed := range tier.Draws(4, 20) {
		r := rand.New(rand.NewPCG(uint64(seed), 25))
		in := gangs(r, 7+r.IntN(4))
		obj := []sched.Objective{sched.TotalJCT, sched.WeightedCompletion}[seed%2]
		p, err := proof.New(in, obj, in.Class())
		if err != nil {
			t.Fatal(err)
		}
		res, err := exhaustive.Solve(t.Context(), in, obj, exact.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		starts, err := p.Starts(res.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		value := p.Cost(res.Cost)
		if p.Value(value).Cmp(res.Cost) != 0 {
			t.Fatalf("seed %d: no cost is %v", seed, res.Cost)
		}
		first := p.List(r.Perm(len(p.Jobs)))
		cost, err := p.Evaluate(first)
		if err != nil {
			t.Fatal(err)
		}
		c, err := tree.Prove(t.Context(), p, proof.Claim{Value: cost, Starts: first}, tree.Limits{})
		if err != nil || c.Claim.Value.Cmp(value) != 0 {
			t.Fatalf("seed %d: the search found %v, the tree %v: %v", seed, value, c, err)
		}
		got, err := Prove(t.Context(), p, proof.Claim{Value: value, Starts: starts}, Options{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if v, err := check(t, got.Model, got.Proof); err != nil || v.Lower.Cmp(value) != 0 || v.Upper.Cmp(value) != 0 {
			t.Fatalf("seed %d: optimum %v: verdict %v, %v", seed, value, v, err)
		}
	}
}

// What cannot be stated is refused with its reason.
func TestRefused(t *testing.T) {
	p := draw(rand.New(rand.NewPCG(1, 26)), 3)
	for name, c := range map[string]struct {
		change func(p *proof.Problem)
		value  int64
	}{
		"makespan":   {func(p *proof.Problem) { p.Makespan = true }, 100},
		"large cost": {func(*proof.Problem) {}, maxCost + 1},
		"late":       {func(p *proof.Problem) { p.Jobs[0].Release = 1 << 34 }, maxCost},
		"wide":       {func(p *proof.Problem) { p.Jobs[0].Duration = 1 << 34 }, maxCost},
	} {
		other := *p
		other.Jobs = append([]proof.Job(nil), p.Jobs...)
		c.change(&other)
		if _, err := Prove(t.Context(), &other, proof.Claim{Value: big.NewInt(c.value)}, Options{}); !errors.Is(err, sched.ErrNotApplicable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Prove(t.Context(), p, proof.Claim{Value: big.NewInt(1000)}, Options{Nodes: 1}); !errors.Is(err, proof.ErrLimit) {
		t.Errorf("one node: %v", err)
	}
}
