package sharing_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"testing"

	"yardstick/bounds"
	"yardstick/formulate"
	"yardstick/formulate/sharing"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/branch"
	"yardstick/solvers/exact"
	search "yardstick/solvers/exhaustive/sharing"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// tiny returns instances whose programs are solved in a moment.
func tiny(seed uint64) *sched.Instance {
	s := schedtest.Slots{Jobs: 2 + int(seed%2), Servers: []int{2}, Work: [2]int{1, 3}, Span: 2, Gang: 2, Xi: 1 + float64(seed%4)/2,
		Options: 1 + int(seed/2%2), Ragged: seed%3 == 0}
	in := schedtest.SlottedSharing(seed, s)
	for i := range in.Jobs {
		in.Jobs[i].Weight = float64(1 + (int(seed)+3*i)%5)
		if seed%4 == 3 {
			in.Interference = [][]float64{{1.5, 1, 2}, {1.25, 1.5, 1}, {2, 3, 1}}
		}
	}
	return in
}

// TestProgramAgainstEnumeration: the program's optimum, as our branch and bound
// proves it, is that of enumeration, and so is what its point decodes to; and no
// bound of the sharing model exceeds it.
func TestProgramAgainstEnumeration(t *testing.T) {
	objectives := []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT, sched.Makespan}
	const instances = 120
	compared := 0
	for seed := range uint64(instances) {
		in := tiny(seed)
		obj := objectives[seed/4%4]
		_, want := schedtest.SharingBruteForce(in, obj)
		r, err := sharing.SolveProgram(context.Background(), in, obj, branch.New(lpsolve.LP{}), milp.Limits{Nodes: 20_000})
		if err != nil {
			t.Fatal(err)
		}
		v := schedtest.Verify(t, in, r.Schedule)
		if r.Termination != milp.Optimal || r.Programs[0].Relation != formulate.Exact.String() || r.Cost.Cmp(want) != 0 || v.Cost(obj).Cmp(want) != 0 || r.Bound.Cmp(want) != 0 {
			t.Errorf("seed %d, %v: %v, between %v and %v, want %v, %v, %d nodes", seed, obj, r.Termination, r.Bound, r.Cost, want, r.Programs[0].Relation, r.Nodes)
		}
		for _, b := range everyBound(t, in, obj) {
			if err := b.Divides(v.Class(), obj); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
			if b.Value.Cmp(want) > 0 {
				t.Errorf("seed %d, %v: %s = %v exceeds the optimum %v", seed, obj, b.Name, b.Value, want)
			}
			compared++
		}
	}
	if compared < 5*instances { // nine on totals, five on weighted ones, two on the makespan
		t.Errorf("only %d bounds on %d instances", compared, instances)
	}
}

// solve finds the optimum by search.
func solve(t *testing.T, in *sched.Instance, obj sched.Objective) *exact.Result {
	t.Helper()
	r, err := search.Solve(context.Background(), in, obj, milp.Limits{})
	if err != nil || !r.Optimal() {
		t.Fatalf("%+v, %v", r, err)
	}
	return r
}

// solveProgram solves the program, checks what holds of every answer, and returns it
// with the optimum by search.
func solveProgram(t *testing.T, in *sched.Instance, obj sched.Objective, l milp.Limits) (*exact.Result, *big.Rat) {
	t.Helper()
	r, err := sharing.SolveProgram(context.Background(), in, obj, branch.New(lpsolve.LP{}), l)
	if err != nil {
		t.Fatal(err)
	}
	optimum := solve(t, in, obj).Cost
	v := schedtest.Verify(t, in, r.Schedule)
	if v.Cost(obj).Cmp(r.Cost) != 0 || v.Class() != (sched.Class{Kind: sched.S, Slotted: true}) || r.Bound.Cmp(optimum) > 0 || r.Cost.Cmp(optimum) < 0 {
		t.Errorf("%s, %v: the schedule costs %v, of class %v; the result says %v, at least %v, and the optimum is %v", in.Name, obj, v.Cost(obj), v.Class(), r.Cost, r.Bound, optimum)
	}
	if r.Termination == milp.Optimal && r.Programs[0].Relation == formulate.Exact.String() && r.Cost.Cmp(optimum) != 0 {
		t.Errorf("%s, %v: an exact program was solved, and its point costs %v, the optimum %v", in.Name, obj, r.Cost, optimum)
	}
	return r, optimum
}

// TestProgramAgainstSearch: the program and the search agree, on servers of different
// size too, whatever limit ends the former.
func TestProgramAgainstSearch(t *testing.T) {
	closed, stopped := 0, 0
	for seed := range uint64(40) {
		in := schedtest.SmallSharing(seed)
		obj := []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT, sched.Makespan}[seed%4]
		for _, nodes := range []int{1, 4, 2_000} {
			r, optimum := solveProgram(t, in, obj, milp.Limits{Nodes: nodes})
			switch {
			case r.Termination == milp.NodeLimit:
				stopped++
			case r.Bound.Cmp(optimum) == 0:
				closed++
			}
		}
	}
	t.Logf("%d of 120 programs closed, %d stopped", closed, stopped)
	if closed < 60 || stopped < 10 {
		t.Error("the test has lost its subject")
	}
}

// TestProgramOfWeights: no weights, however far apart or odd, make the program lose an
// optimal schedule or prove more than is true.
func TestProgramOfWeights(t *testing.T) {
	closed := 0
	for seed := range uint64(60) {
		in := tiny(seed)
		r := schedtest.Rand(seed)
		for i := range in.Jobs {
			in.Jobs[i].Weight = math.Ldexp(1+r.Float64(), r.IntN(60)-20)
			if seed%3 == 0 {
				in.Jobs[i].Weight = []float64{1e14, 1e-3, 0.1}[(i+int(seed/3))%3]
			}
		}
		got, optimum := solveProgram(t, in, sched.WeightedCompletion, milp.Limits{Nodes: 20_000})
		gap := new(big.Rat).Sub(optimum, got.Bound)
		if f, _ := gap.Quo(gap, optimum).Float64(); f < 1e-9 {
			closed++
		}
	}
	if closed < 55 {
		t.Errorf("only %d of 60 programs have a bound within 1e-9 of the optimum", closed)
	}
}

// TestUnsupported: what has no program is refused.
func TestUnsupported(t *testing.T) {
	in := tiny(1)
	continuous := *in
	continuous.Slot = 0
	for name, c := range map[string]struct {
		in  *sched.Instance
		obj sched.Objective
	}{"continuous": {&continuous, sched.TotalJCT}, "gang": {schedtest.Plain(schedtest.Servers(1), schedtest.Job(0, 1, 1)), sched.TotalJCT},
		"weight": {in, sched.ScheduledWeight}, "mean": {in, sched.MeanJCT}} {
		if _, err := sharing.Build(c.in, c.obj); !errors.Is(err, sched.ErrNotApplicable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestProgramTooLarge: a program of too many slots, or of costs that no float64 holds
// exactly, is refused before it is built.
func TestProgramTooLarge(t *testing.T) {
	long := schedtest.SlottedSharing(1, schedtest.Slots{Jobs: 3, Servers: []int{8}, Work: [2]int{900, 1000}, Gang: 4, Xi: 1.5, Options: 1})
	heavy := tiny(1)
	heavy.Jobs[0].Weight = 1e17
	for name, c := range map[string]struct {
		in  *sched.Instance
		obj sched.Objective
	}{"slots": {long, sched.TotalJCT}, "weights": {heavy, sched.WeightedCompletion}} {
		if _, err := sharing.SolveProgram(context.Background(), c.in, c.obj, branch.New(lpsolve.LP{}), milp.Limits{}); !errors.Is(err, sched.ErrNotApplicable) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := sharing.Build(c.in, c.obj); !errors.Is(err, sched.ErrNotApplicable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// everyBound returns all bounds on schedules that share, in slots or not.
func everyBound(t *testing.T, in *sched.Instance, obj sched.Objective) []bounds.Bound {
	t.Helper()
	var out []bounds.Bound
	keep := func(b bounds.Bound, err error) {
		if err == nil {
			out = append(out, b)
		} else if !errors.Is(err, sched.ErrNotApplicable) {
			t.Fatal(err)
		}
	}
	for _, f := range []func(*sched.Instance, sched.Objective) (bounds.Bound, error){
		bounds.ThetaLB0, bounds.ThetaSRPT, bounds.ThetaRanked, bounds.ThetaEEI, bounds.ThetaArea} {
		keep(f(in, obj))
	}
	keep(bounds.ThetaHybrid(context.Background(), in, obj, bounds.HybridOptions{}))
	for _, o := range []bounds.PairOptions{{Slotted: true}, {Slot: in.Slot}, {Slot: in.Slot / 4}} {
		r, err := bounds.PairLP(context.Background(), in, obj, lpsolve.LP{}, milp.Limits{}, o)
		if err != nil {
			keep(bounds.Bound{}, err)
			continue
		}
		keep(r.Bound, nil)
	}
	return out
}

// TestBuild: the exported program has the instance's costs, and its optimal
// points decode to schedules that cost no more.
func TestBuild(t *testing.T) {
	for seed := range uint64(8) {
		in := tiny(seed)
		for _, obj := range []sched.Objective{sched.TotalJCT, sched.Makespan} {
			p, err := sharing.Build(in, obj)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Model.Validate(); err != nil {
				t.Fatal(err)
			}
			_, want := schedtest.SharingBruteForce(in, obj)
			r, err := branch.New(lpsolve.LP{}).Solve(context.Background(), p.Model, milp.Start{}, milp.Limits{Nodes: 20_000})
			if err != nil {
				t.Fatal(err)
			}
			if f, _ := want.Float64(); r.Termination != milp.Optimal || math.Abs(r.DualBound-f) > 1e-6*f {
				t.Fatalf("seed %d, %v: %v with bound %v, want %v", seed, obj, r.Termination, r.DualBound, f)
			}
			s, err := p.Decode(r.X)
			if err != nil {
				t.Fatal(err)
			}
			if v := schedtest.Verify(t, in, s); v.Cost(obj).Cmp(want) != 0 {
				t.Errorf("seed %d, %v: decodes to %v, want %v", seed, obj, v.Cost(obj), want)
			}
			if _, err := p.Decode(make([]float64, len(r.X))); err == nil {
				t.Error("a point without starts decodes")
			}
		}
	}
}

// TestRounding: a job whose work is a hair more than what some number of slots
// does makes the program a relaxation, and Decode refuses what it gains by that.
func TestRounding(t *testing.T) {
	in := schedtest.SlottedSharing(1, schedtest.Slots{Jobs: 2, Servers: []int{1}, Work: [2]int{2, 2}, Gang: 1, Xi: 1, Options: 1})
	in.Interference = [][]float64{{1.5, 1.5, 1.5}, {1.5, 1.5, 1.5}, {1.5, 1.5, 1.5}}
	in.Slot = 1_000_000_000_000
	for i := range in.Jobs {
		in.Jobs[i].Release, in.Jobs[i].Iters = 0, 1
		in.Jobs[i].Sharing.Accumulation[0].Iter = 2*1_000_000_000_000_000 + 1
	}
	p, err := sharing.Build(in, sched.TotalCompletion)
	if err != nil {
		t.Fatal(err)
	}
	_, want := schedtest.SharingBruteForce(in, sched.TotalCompletion)
	r := solve(t, in, sched.TotalCompletion)
	if r.Cost.Cmp(want) != 0 || p.Relation != formulate.Relaxation {
		t.Fatalf("%v, want %v; the program is called %v", r.Cost, want, p.Relation)
	}
	b, err := branch.New(lpsolve.LP{}).Solve(context.Background(), p.Model, milp.Start{}, milp.Limits{Nodes: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	if b.DualBound >= mustFloat(want) {
		t.Errorf("the relaxation costs %v, the optimum %v", b.DualBound, mustFloat(want))
	}
	if _, err := p.Decode(b.X); !errors.Is(err, sharing.ErrRounded) {
		t.Errorf("the point decodes: %v", err)
	}
}

func mustFloat(r *big.Rat) float64 { f, _ := r.Float64(); return f }
