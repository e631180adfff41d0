//go:build cgo

package lpsolve

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"yardstick/internal/tier"
	"yardstick/solvers/milp"
	"yardstick/solvers/solvertest"
)

// lp_solve's default, a dual phase 1, cycles on this measure of the
// infeasibility of a time-indexed program; the primal one does not. Solve
// gives up the first and proves the infeasibility.
func TestCycling(t *testing.T) {
	m := solvertest.TimeIndexed(15, 120, 8, 49)
	c, err := normal(m.Relaxation())
	if err != nil {
		t.Fatal(err)
	}
	v, err := normal(violation(c))
	if err != nil {
		t.Fatal(err)
	}
	h, err := load(v)
	if err != nil {
		t.Fatal(err)
	}
	defer h.free()
	if o := h.solve(context.Background(), milp.Limits{}, 20_000); o.stopped != milp.IterationLimit {
		t.Errorf("lp_solve ends with %v after %d iterations: it used to cycle", o.status, o.iter)
	}

	p, err := openLinear(m)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	certify(t, 49, m, solveOpen(t, p))

	q, err := openLinear(v) // in the default method: the second attempt ends it
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	if res := solveOpen(t, q); res.Termination != milp.Optimal || !near(res.PrimalBound, 0.17763157894736842) {
		t.Errorf("%+v", res)
	}
}

// Programs are stopped within solves, at once or after a while, and go on
// with other bounds, as in branch and bound. lp_solve crashes on some of these
// sequences when it goes on from where it was stopped, and on others when a
// primal phase 1 starts from a basis.
func TestStopAndGoOn(t *testing.T) {
	for seed := range uint64(tier.Draws(8, 24)) {
		r := rand.New(rand.NewPCG(seed, 99))
		m := solvertest.TimeIndexed(8+int(seed%8), 60+int(seed%8)*8, 8, seed)
		p, err := openLinear(m)
		if err != nil {
			t.Fatal(err)
		}
		for range 12 {
			limit := []time.Duration{time.Nanosecond, 300 * time.Microsecond, 2 * time.Millisecond, 0, 0}[r.IntN(5)]
			res, err := p.Solve(context.Background(), milp.Limits{Time: limit})
			if err != nil {
				t.Fatal(err)
			}
			if err := res.Validate(); err != nil {
				t.Error(err)
			}
			if limit == 0 {
				certify(t, seed, p.m, res)
			}
			from, upper := r.IntN(len(m.Vars)), float64(r.IntN(2))
			for j := from; j < min(from+30, len(m.Vars)); j++ {
				p.SetBounds(j, 0, upper)
			}
		}
		p.Close()
	}
}
