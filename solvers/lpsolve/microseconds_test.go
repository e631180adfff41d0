//go:build cgo

package lpsolve

import (
	"context"
	"math"
	"testing"

	"github.com/draffensperger/golp"

	"yardstick/formulate/timeindexed"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/branch"
	"yardstick/solvers/milp"
)

// queue returns jobs of some minutes that arrive half as fast again as four
// servers of eight GPUs can serve them.
func queue(seed uint64, jobs int) *sched.Instance {
	r := schedtest.Rand(seed)
	in := &sched.Instance{Name: "queue", Model: sched.ModelGang, Cluster: schedtest.Servers(8, 8, 8, 8)}
	at := 0.0
	for range jobs {
		gang := []int{1, 1, 2, 2, 3, 4, 4, 8, 8, 16}[r.IntN(10)]
		runs := sched.Time((2e6 + r.Float64()*4e6) * (1 + math.Floor(100*math.Exp(0.8*r.NormFloat64()))))
		in.Jobs = append(in.Jobs, schedtest.Job(sched.Time(at*1e6), gang, runs))
		at += r.ExpFloat64() * 40
	}
	return in
}

// Time-indexed programs whose costs are microseconds all have points. lp_solve
// calls some of them infeasible, unless the costs are scaled.
func TestCostsInMicroseconds(t *testing.T) {
	raw, programs := 0, 0
	for seed := range uint64(tier.Draws(20, 60)) {
		in := queue(seed, 8+2*int(seed%2))
		slot, err := timeindexed.DefaultSlot(in, sched.TotalCompletion)
		if err != nil {
			t.Fatal(err)
		}
		p, err := timeindexed.Build(in, sched.TotalCompletion, 4*slot, false)
		if err != nil {
			t.Fatal(err)
		}
		want, err := branch.New(LP{}).Solve(context.Background(), p.Model, milp.Start{}, milp.Limits{Nodes: 300})
		if err != nil {
			t.Fatal(err)
		}
		if want.Termination != milp.Optimal || want.Stats.Nodes < 2 {
			continue
		}
		programs++
		c, err := normal(p.Model)
		if err != nil {
			t.Fatal(err)
		}
		h, err := load(c)
		if err != nil {
			t.Fatal(err)
		}
		h.noDepthLimit()
		if h.solve(context.Background(), milp.Limits{}, 0).status == golp.INFEASIBLE {
			raw++
		}
		h.free()
		if got := mustSolve(t, p.Model); got.Termination != milp.Optimal || got.PrimalBound != want.PrimalBound {
			t.Errorf("seed %d: %s %v, proven optimum %v", seed, got.Termination, got.PrimalBound, want.PrimalBound)
		}
	}
	t.Logf("of %d programs with points, lp_solve calls %d infeasible without scaled costs", programs, raw)
	if programs < 5 || raw < 2 {
		t.Errorf("%d of %d programs go wrong without scaled costs: the test no longer shows what it should", raw, programs)
	}
}

// Scaling changes no bit of the costs but their exponents.
func TestScaled(t *testing.T) {
	m := &milp.Model{Vars: []milp.Variable{{Cost: 12345678901}, {Cost: -0.1}, {}, {Cost: math.Pi}}}
	c := scaled(m)
	for j, v := range m.Vars {
		if c.Vars[j].Cost != math.Ldexp(v.Cost, 10-34) {
			t.Errorf("cost %v becomes %v", v.Cost, c.Vars[j].Cost)
		}
	}
	if m.Vars[0].Cost != 12345678901 {
		t.Error("the model was changed")
	}
	if c := scaled(&milp.Model{Vars: []milp.Variable{{Upper: 1}}}); c.Vars[0].Cost != 0 {
		t.Errorf("no cost becomes %v", c.Vars[0].Cost)
	}
}
