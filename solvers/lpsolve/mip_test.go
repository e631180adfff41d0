//go:build cgo

package lpsolve

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/draffensperger/golp"

	"yardstick/internal/tier"
	"yardstick/solvers/milp"
	"yardstick/solvers/solvertest"
)

// Random programs against enumeration, more than the conformance suite has:
// what is proven holds, bounds of MIPs are claims, and integral models come
// with exact points.
func TestRandomProgramsAgainstEnumeration(t *testing.T) {
	seen := map[milp.Termination]int{}
	for seed := range uint64(tier.Draws(800, 2500)) {
		r := rand.New(rand.NewPCG(seed, 41))
		m := solvertest.Random(r, []float64{1, 1, 1, 1, 0.8}[r.IntN(5)])
		res := mustSolve(t, m)
		seen[res.Termination]++
		optimum := solvertest.Optimum(m)
		if optimum == nil {
			if res.Termination != milp.Infeasible {
				t.Errorf("seed %d: %s with objective %v, want INFEASIBLE", seed, res.Termination, res.PrimalBound)
			}
			continue
		}
		want, _ := optimum.Float64()
		switch {
		case res.Termination != milp.Optimal || !near(res.PrimalBound, want):
			t.Errorf("seed %d: %s %v, optimum %v", seed, res.Termination, res.PrimalBound, want)
		case m.Integers() == len(m.Vars) && (res.Primal != milp.Proven || m.ExactObjective(res.X).Cmp(optimum) != 0):
			t.Errorf("seed %d: %s %v, optimum %v", seed, res.Primal, res.PrimalBound, want)
		case (m.Integers() == 0) != (res.Dual == milp.Proven):
			t.Errorf("seed %d: bound is %s with %d integers", seed, res.Dual, m.Integers())
		}
	}
	if seen[milp.Optimal] < tier.Draws(300, 1000) || seen[milp.Infeasible] < tier.Draws(100, 300) {
		t.Errorf("%v", seen)
	}
}

// Without integers the bound is proven.
func TestLinearProgramThroughMIP(t *testing.T) {
	m := solvertest.Packing(20, 40, 1)
	res := mustSolve(t, m)
	if res.Termination != milp.Optimal || res.Dual != milp.Proven || res.RowDuals == nil {
		t.Errorf("%+v", res)
	}
	certify(t, 1, m, res)
}

// Fractional bounds of integers are rounded inwards; values come back exact.
func TestFractionalBoundsOfIntegers(t *testing.T) {
	m := &milp.Model{Vars: []milp.Variable{{Lower: -2.5, Upper: 2.5, Cost: -1, Integer: true}, {Lower: 0.1, Upper: 0.9, Cost: -1}}}
	if res := mustSolve(t, m); res.PrimalBound != -2.9 || res.X[0] != 2 || res.X[1] != 0.9 || res.Primal != milp.Proven {
		t.Errorf("%+v", res)
	}
}

// Whatever lp_solve ends with that is neither a point nor a proof, values are
// not looked at.
func TestOtherStatuses(t *testing.T) {
	m := solvertest.Packing(5, 10, 1)
	p, err := openLinear(m)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	const presolved, accuracyError = 9, 25 // unnamed in golp
	for status, want := range map[golp.SolutionType]milp.Termination{
		golp.NOMEMORY: milp.MemoryLimit, golp.UNBOUNDED: milp.Numerical, golp.DEGENERATE: milp.Numerical, golp.NUMFAILURE: milp.Numerical,
		golp.PROCFAIL: milp.Numerical, golp.PROCBREAK: milp.Numerical, golp.FEASFOUND: milp.Numerical, golp.NOFEASFOUND: milp.Numerical,
		presolved: milp.Numerical, accuracyError: milp.Numerical,
	} {
		linear, _ := p.judge(context.Background(), outcome{status: status}, milp.Limits{})
		for _, res := range []*milp.Result{linear, judgeMIP(p.m, p.h, outcome{status: status})} {
			if res.Termination != want || res.X != nil || res.RowDuals != nil || res.Validate() != nil {
				t.Errorf("status %v: %+v", status, res)
			}
		}
	}
}
