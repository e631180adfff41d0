package branch_test

import (
	"context"
	"math"
	"math/big"
	"testing"
	"time"

	"yardstick/internal/tier"
	"yardstick/solvers/branch"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

func solve(t *testing.T, s milp.Solver, m *milp.Model, l milp.Limits) *milp.Result {
	t.Helper()
	return solveFrom(t, s, m, milp.Start{}, l)
}

func solveFrom(t *testing.T, s milp.Solver, m *milp.Model, start milp.Start, l milp.Limits) *milp.Result {
	t.Helper()
	r, err := s.Solve(context.Background(), m, start, l)
	if err != nil {
		t.Fatalf("%s: %v", m.Name, err)
	}
	if err := r.Validate(); err != nil {
		t.Fatalf("%s: %v", m.Name, err)
	}
	if r.X != nil && r.Primal == milp.Proven {
		if err := milp.Check(m, r.X); err != nil {
			t.Fatalf("%s: proven point is not feasible: %v", m.Name, err)
		}
		if exact := m.ExactObjective(r.X); exact.Cmp(rat(r.PrimalBound)) > 0 {
			t.Fatalf("%s: the point costs %v, more than the primal bound %v", m.Name, exact, r.PrimalBound)
		}
	}
	return r
}

func rat(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }

// nearest is v as the closest float64.
func nearest(v *big.Rat) float64 {
	f, _ := v.Float64()
	return f
}

// Every answer on thousands of tiny programs is the optimum found by
// enumeration, and the bound at every node limit on the way is below it.
func TestBruteForce(t *testing.T) {
	each := tier.Draws(150, 450)
	for name, generate := range families {
		t.Run(name, func(t *testing.T) {
			r := newRand(1)
			infeasible, nodes := 0, 0
			for k := range each {
				m := generate(r)
				want := brute(t, m)
				got := solve(t, branch.New(lpsolve.LP{}), m, milp.Limits{})
				nodes += got.Stats.Nodes
				switch {
				case want == nil:
					infeasible++
					if got.Termination != milp.Infeasible || got.Dual != milp.Proven {
						t.Fatalf("instance %d is infeasible; got %+v", k, got)
					}
				case got.Termination != milp.Optimal || got.Primal != milp.Proven || got.Dual != milp.Proven:
					t.Fatalf("instance %d: got %+v, want optimum %v", k, got, want)
				case m.ExactObjective(got.X).Cmp(want) != 0:
					t.Fatalf("instance %d: got %v, want %v", k, got.PrimalBound, want)
				case rat(got.DualBound).Cmp(want) > 0 || got.DualBound < math.Nextafter(nearest(want), math.Inf(-1)):
					t.Fatalf("instance %d: dual bound %v of optimum %v", k, got.DualBound, want)
				}
				if k < each/8 {
					checkLimits(t, m, want, got.Stats.Nodes)
				}
			}
			t.Logf("%d instances, %d infeasible, %d nodes", each, infeasible, nodes)
		})
	}
}

// checkLimits solves m with every node limit below all.
func checkLimits(t *testing.T, m *milp.Model, want *big.Rat, all int) {
	t.Helper()
	last := math.Inf(-1)
	for limit := 1; limit < all; limit++ {
		got := solve(t, branch.New(lpsolve.LP{}), m, milp.Limits{Nodes: limit})
		if got.Termination != milp.NodeLimit || got.Stats.Nodes != limit {
			t.Fatalf("node limit %d of %d: %+v", limit, all, got)
		}
		if got.DualBound < last {
			t.Fatalf("node limit %d: bound %v after %v", limit, got.DualBound, last)
		}
		last = got.DualBound
		if want != nil && got.Dual == milp.Proven && rat(got.DualBound).Cmp(want) > 0 {
			t.Fatalf("node limit %d: bound %v, optimum %v", limit, got.DualBound, want)
		}
		if want == nil && got.X != nil {
			t.Fatalf("node limit %d: a point of an infeasible model", limit)
		}
	}
}

// Min-max programs have a continuous variable, and multipliers such as 1/3
// prove them: the interval is closed to the rounding of these, around the
// optimum. Where the variable may be declared integer, the optimum is proven.
func TestMinMax(t *testing.T) {
	for _, scale := range []float64{1, 4, 0.125, 3, 7.5, 0.3} {
		r := newRand(2)
		for k := range tier.Draws(50, 150) {
			m, want := minMax(r, scale)
			got := solve(t, branch.New(lpsolve.LP{}), m, milp.Limits{})
			if got.Primal != milp.Proven || got.Dual != milp.Proven || got.Termination != milp.Optimal {
				t.Fatalf("scale %v, instance %d: optimum %v, got %+v", scale, k, want, got)
			}
			if rat(got.DualBound).Cmp(want) > 0 || rat(got.PrimalBound).Cmp(want) < 0 || got.PrimalBound-got.DualBound > 1e-9*got.PrimalBound {
				t.Fatalf("scale %v, instance %d: optimum %v, interval [%v, %v]", scale, k, want, got.DualBound, got.PrimalBound)
			}
			if scale != 1 {
				continue
			}
			m.Vars[0].Integer = true
			got = solve(t, branch.New(lpsolve.LP{}), m, milp.Limits{})
			if got.Termination != milp.Optimal || rat(got.DualBound).Cmp(want) != 0 || rat(got.PrimalBound).Cmp(want) != 0 {
				t.Fatalf("integer, instance %d: optimum %v, got %+v", k, want, got)
			}
		}
	}
}

func TestTimeLimitKeepsBound(t *testing.T) {
	m := hard()
	limit := 50 * time.Millisecond
	got := solve(t, branch.New(lpsolve.LP{}), m, milp.Limits{Time: limit})
	for ; got.Termination == milp.TimeLimit && got.Dual == milp.None && limit < time.Minute; limit *= 2 { // a busy machine has none so soon
		got = solve(t, branch.New(lpsolve.LP{}), m, milp.Limits{Time: 2 * limit})
	}
	if got.Termination != milp.TimeLimit || got.Dual != milp.Proven {
		t.Fatalf("got %+v", got)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := branch.New(lpsolve.LP{}).Solve(ctx, m, milp.Start{}, milp.Limits{})
	if err != nil || r.Termination != milp.Interrupted {
		t.Fatalf("cancelled: %+v, %v", r, err)
	}
}

// hard is a market-split program: two equations whose integer solutions are
// needles.
func hard() *milp.Model {
	r := newRand(5)
	m := &milp.Model{Name: "market split"}
	for range 40 {
		m.AddVar(milp.Variable{Upper: 1, Integer: true, Cost: float64(r.IntN(100))})
	}
	for range 4 {
		row := milp.Row{Sense: milp.EQ}
		sum := 0
		for j := range m.Vars {
			a := r.IntN(100)
			sum += a
			row.Cols, row.Vals = append(row.Cols, j), append(row.Vals, float64(a))
		}
		row.RHS = float64(sum / 2)
		m.AddRow(row)
	}
	return m
}

// Integers too large for float64 to tell apart are left undecided, not looped
// over.
func TestHugeIntegers(t *testing.T) {
	m := &milp.Model{Name: "huge", Vars: []milp.Variable{{Upper: 1e18, Cost: 1, Integer: true}, {Upper: 1e18, Cost: 1, Integer: true}},
		Rows: []milp.Row{{Cols: []int{0, 1}, Vals: []float64{2, -2}, Sense: milp.EQ, RHS: 1}}}
	got := solve(t, branch.New(lpsolve.LP{}), m, milp.Limits{Nodes: 3000})
	if got.X != nil || got.Termination == milp.Optimal {
		t.Errorf("got %+v", got)
	}
}
