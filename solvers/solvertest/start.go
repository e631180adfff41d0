package solvertest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"yardstick/internal/tier"
	"yardstick/solvers/milp"
)

// startCases are the cases of Solver about milp.Start, by name.
var startCases = []testCase[milp.Solver]{
	{name: "misleading start", run: misleadingStart},
	{name: "start", run: startIsUsed, without: pointIsIgnored},
	{name: "round", run: roundIsUsed, without: roundIsIgnored},
}

// startNodes is a node limit within which no search finds a point of hidden.
const startNodes = 20

// hidden returns a program with a point that branch and bound takes very long to
// find by itself: a market split whose right-hand sides are those of the point.
func hidden() (*milp.Model, []float64) {
	r := rand.New(rand.NewPCG(1, 78))
	m := MarketSplit(4, 40, 2)
	x := make([]float64, len(m.Vars))
	for j := range x {
		x[j] = float64(r.IntN(2))
		m.Vars[j].Cost = float64(1 + r.IntN(9))
	}
	for i := range m.Rows {
		row := &m.Rows[i]
		row.RHS = 0
		for k, j := range row.Cols {
			row.RHS += row.Vals[k] * x[j]
		}
	}
	return m, x
}

func solveFrom(t *testing.T, s milp.Solver, m *milp.Model, start milp.Start, l milp.Limits) *milp.Result {
	t.Helper()
	res, err := s.Solve(context.Background(), m, start, l)
	if err != nil {
		t.Fatalf("%s: %v", m.Name, err)
	}
	sound(t, m, res)
	return res
}

// reaches fails unless the result has a proven point no worse than x, which the solver does not
// find without help.
func reaches(t *testing.T, s milp.Solver, m *milp.Model, x []float64, start milp.Start) {
	t.Helper()
	l := milp.Limits{Nodes: startNodes}
	value := m.Objective(x)
	if blind := solveFrom(t, s, m, milp.Start{}, l); blind.PrimalBound <= value {
		t.Fatalf("%s finds %v in %d nodes by itself: the test has lost its subject", s.Name(), blind.PrimalBound, blind.Stats.Nodes)
	}
	if res := solveFrom(t, s, m, start, l); res.Primal != milp.Proven || res.PrimalBound > value {
		t.Errorf("%s ends with %q %v in spite of a point of %v: it, or what wraps it, drops a part of the start", s.Name(), res.Primal, res.PrimalBound, value)
	}
}

func startIsUsed(t *testing.T, s milp.Solver) {
	m, x := hidden()
	given := slices.Clone(x)
	reaches(t, s, m, x, milp.Start{X: given})
	if !slices.Equal(given, x) {
		t.Errorf("the solve changed the point to %v", given)
	}
}

func roundIsUsed(t *testing.T, s milp.Solver) {
	m, x := hidden()
	reaches(t, s, m, x, milp.Start{Round: func(near []float64) []float64 {
		if len(near) != len(x) {
			t.Errorf("%d values to round, for %d variables", len(near), len(x))
		}
		return slices.Clone(x)
	}})
}

// A start of any kind changes no answer.
func misleadingStart(t *testing.T, s milp.Solver) {
	for seed := range uint64(tier.Draws(5, 40)) {
		r := rand.New(rand.NewPCG(seed, 79))
		m := Random(r, 0.8)
		m.Name = fmt.Sprintf("misled, seed %d", seed)
		bad := func([]float64) []float64 {
			x := make([]float64, max(len(m.Vars)-r.IntN(2), 0)+r.IntN(2))
			for j := range x {
				x[j] = []float64{0, 1, -2.5, 1e300, math.NaN(), math.Inf(1)}[r.IntN(6)]
			}
			return x
		}
		compare(t, m, solveFrom(t, s, m, milp.Start{X: bad(nil), Round: bad}, milp.Limits{}), Optimum(m))
	}
}

// ignored fails if the part of a start that part makes of an optimal point has any effect.
func ignored(t *testing.T, s milp.Solver, part func(x []float64) milp.Start) {
	t.Helper()
	for seed := range uint64(tier.Draws(4, 10)) {
		m := Random(rand.New(rand.NewPCG(seed, 80)), 0.6)
		plain := solve(t, s, m)
		if plain.X == nil {
			continue
		}
		again := solveFrom(t, s, m, part(plain.X), milp.Limits{})
		if a, b := reproducible(plain), reproducible(again); !reflect.DeepEqual(a, b) {
			t.Errorf("seed %d: %+v, with a start that it is said to ignore %+v", seed, a, b)
		}
	}
}

func pointIsIgnored(t *testing.T, s milp.Solver) {
	ignored(t, s, func(x []float64) milp.Start { return milp.Start{X: x} })
}

func roundIsIgnored(t *testing.T, s milp.Solver) {
	ignored(t, s, func(x []float64) milp.Start {
		return milp.Start{Round: func([]float64) []float64 {
			t.Errorf("%s asks to round, which it is said not to", s.Name())
			return x
		}}
	})
}
