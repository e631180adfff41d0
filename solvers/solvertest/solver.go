package solvertest

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	"yardstick/internal/tier"
	"yardstick/solvers/milp"
)

// solverCases are the cases of Solver, by name.
var solverCases = []testCase[milp.Solver]{
	{name: "no variables", run: noVariables},
	{name: "no rows", run: noRows},
	{name: "empty rows", run: emptyRows},
	{name: "infeasible", run: infeasible},
	{name: "large bounds", run: largeBounds},
	{name: "known optima", run: knownOptima},
	{name: "invalid models", run: invalidModels},
	{name: "random integer", run: func(t *testing.T, s milp.Solver) { randomModels(t, s, 1, tier.Draws(12, 200)) }},
	{name: "random mixed", run: func(t *testing.T, s milp.Solver) { randomModels(t, s, 0.6, tier.Draws(8, 120)) }},
	{name: "random linear", run: func(t *testing.T, s milp.Solver) { randomModels(t, s, 0, tier.Draws(8, 120)) }},
	{name: "fractional costs", run: fractionalCosts},
	{name: "makespan", run: makespan},
	{name: "relations", run: relations},
	{name: "model unchanged", run: modelUnchanged},
	{name: "repeatable", run: repeatable},
	{name: "concurrent", run: concurrent},
	{name: "cancelled before", run: cancelledBefore},
	{name: "cancelled within", run: cancelledWithin},
	{name: "time limit", run: timeLimit},
	{name: "node limit", run: nodeLimit},
}

func noVariables(t *testing.T, s milp.Solver) {
	m := &milp.Model{Name: "empty", Constant: 2.5}
	if res := solve(t, s, m); res.Termination != milp.Optimal || res.PrimalBound != 2.5 || res.X == nil {
		t.Errorf("%+v", res)
	}
	m.AddRow(milp.Row{Sense: milp.GE, RHS: 1})
	compare(t, m, solve(t, s, m), nil)
}

func noRows(t *testing.T, s milp.Solver) {
	for _, integer := range []bool{true, false} {
		m := &milp.Model{Name: "no rows", Constant: 1, Vars: []milp.Variable{{Lower: -3, Upper: 4, Cost: 2, Integer: integer},
			{Lower: -3, Upper: 4, Cost: -2, Integer: integer}, {Lower: 7, Upper: 7, Cost: 1, Integer: integer}, {Lower: -1, Upper: 1}}}
		compare(t, m, solve(t, s, m), big.NewRat(1-6-8+7, 1))
	}
}

func emptyRows(t *testing.T, s milp.Solver) {
	for _, sense := range []milp.Sense{milp.LE, milp.EQ, milp.GE} {
		for _, rhs := range []float64{-1, 0, 1} {
			m := &milp.Model{Name: fmt.Sprintf("0 %d %v", sense, rhs), Vars: []milp.Variable{{Upper: 3, Cost: -1, Integer: true}},
				Rows: []milp.Row{{Cols: []int{0}, Vals: []float64{2}, Sense: milp.LE, RHS: 5}, {Sense: sense, RHS: rhs}}}
			compare(t, m, solve(t, s, m), Optimum(m))
		}
	}
}

func infeasible(t *testing.T, s milp.Solver) {
	box := func(n int, integer bool) []milp.Variable {
		v := make([]milp.Variable, n)
		for j := range v {
			v[j] = milp.Variable{Upper: 1, Cost: 1, Integer: integer}
		}
		return v
	}
	both := []int{0, 1}
	for name, m := range map[string]*milp.Model{
		"a row against the bounds": {Vars: box(2, false), Rows: []milp.Row{{Cols: both, Vals: []float64{1, 1}, Sense: milp.GE, RHS: 3}}},
		"rows against each other": {Vars: box(2, false), Rows: []milp.Row{{Cols: both, Vals: []float64{1, 1}, Sense: milp.LE, RHS: 0.5},
			{Cols: both, Vals: []float64{1, 1}, Sense: milp.GE, RHS: 0.75}}},
		"equations":           {Vars: box(2, true), Rows: []milp.Row{{Cols: both, Vals: []float64{1, 1}, RHS: 1}, {Cols: both, Vals: []float64{1, -1}, RHS: 2}}},
		"parity":              {Vars: box(2, true), Rows: []milp.Row{{Cols: both, Vals: []float64{2, 2}, RHS: 1}}},
		"integrality":         {Vars: box(2, true), Rows: []milp.Row{{Cols: both, Vals: []float64{2, 2}, Sense: milp.GE, RHS: 1}, {Cols: both, Vals: []float64{2, 2}, Sense: milp.LE, RHS: 1.5}}},
		"no integer in range": {Vars: []milp.Variable{{Lower: 0.25, Upper: 0.75, Integer: true}}},
	} {
		m.Name = name
		compare(t, m, solve(t, s, m), nil)
	}
}

// Finite bounds, however large, make every objective finite.
func largeBounds(t *testing.T, s milp.Solver) {
	for _, u := range []float64{1e6, 1e9} {
		m := &milp.Model{Name: fmt.Sprint("bounds of ", u), Vars: []milp.Variable{{Lower: -u, Upper: u, Cost: 1}, {Lower: -u, Upper: u, Cost: -1, Integer: true}}}
		compare(t, m, solve(t, s, m), rational(-2*u))
		m.AddRow(milp.Row{Cols: []int{0, 1}, Vals: []float64{1, -1}, Sense: milp.GE, RHS: -5})
		compare(t, m, solve(t, s, m), big.NewRat(-5, 1))
	}
}

func knownOptima(t *testing.T, s milp.Solver) {
	// 0-1 knapsack of 8 items.
	knapsack := &milp.Model{Name: "knapsack"}
	row := milp.Row{Sense: milp.LE, RHS: 104}
	for j, c := range [][2]float64{{350, 25}, {400, 35}, {450, 45}, {20, 5}, {70, 25}, {8, 3}, {5, 2}, {5, 2}} {
		knapsack.AddVar(milp.Variable{Upper: 1, Cost: -c[0], Integer: true})
		row.Cols, row.Vals = append(row.Cols, j), append(row.Vals, c[1])
	}
	knapsack.AddRow(row)
	compare(t, knapsack, solve(t, s, knapsack), big.NewRat(-900, 1))

	// Assignment of 4 workers; its relaxation is integral.
	assignment := &milp.Model{Name: "assignment"}
	for _, c := range []float64{9, 2, 7, 8, 6, 4, 3, 7, 5, 8, 1, 8, 7, 6, 9, 4} {
		assignment.AddVar(milp.Variable{Upper: 1, Cost: c, Integer: true})
	}
	ones := []float64{1, 1, 1, 1}
	for k := range 4 {
		assignment.AddRow(milp.Row{Cols: []int{4 * k, 4*k + 1, 4*k + 2, 4*k + 3}, Vals: ones, RHS: 1})
		assignment.AddRow(milp.Row{Cols: []int{k, k + 4, k + 8, k + 12}, Vals: ones, RHS: 1})
	}
	compare(t, assignment, solve(t, s, assignment), big.NewRat(13, 1))

	// Σ x_j over pairs {j, j+1} of a 7-cycle that must be covered: 4, where the
	// relaxation gives 3.5.
	cover := &milp.Model{Name: "odd cycle", IntegralCost: true}
	for j := range 7 {
		cover.AddVar(milp.Variable{Upper: 1, Cost: 1, Integer: true})
		cover.AddRow(milp.Row{Cols: []int{j, (j + 1) % 7}, Vals: []float64{1, 1}, Sense: milp.GE, RHS: 1})
	}
	compare(t, cover, solve(t, s, cover), big.NewRat(4, 1))
}

func invalidModels(t *testing.T, s milp.Solver) {
	one := []milp.Variable{{Upper: 1, Cost: 1}}
	for name, m := range map[string]*milp.Model{
		"NaN cost":        {Vars: []milp.Variable{{Upper: 1, Cost: math.NaN()}}},
		"infinite bound":  {Vars: []milp.Variable{{Upper: math.Inf(1)}}},
		"infinite rhs":    {Vars: one, Rows: []milp.Row{{Cols: []int{0}, Vals: []float64{1}, Sense: milp.LE, RHS: math.Inf(1)}}},
		"repeated column": {Vars: one, Rows: []milp.Row{{Cols: []int{0, 0}, Vals: []float64{1, 1}, RHS: 1}}},
		"column range":    {Vars: one, Rows: []milp.Row{{Cols: []int{3}, Vals: []float64{1}, RHS: 1}}},
	} {
		if res, err := s.Solve(context.Background(), m, milp.Start{}, milp.Limits{}); err == nil {
			t.Errorf("%s: %+v, want an error", name, res)
		}
	}
}

func randomModels(t *testing.T, s milp.Solver, integer float64, n int) {
	feasible := 0
	for seed := range uint64(n) {
		m := Random(rand.New(rand.NewPCG(seed, 70)), integer)
		m.Name = fmt.Sprintf("random %v, seed %d", integer, seed)
		optimum := Optimum(m)
		if optimum != nil {
			feasible++
		}
		compare(t, m, solve(t, s, m), optimum)
	}
	if feasible < n/4 || feasible > n*9/10 {
		t.Errorf("%d of %d models are feasible", feasible, n)
	}
}

// Minimum balanced cuts with weights of one or two decimals.
func fractionalCosts(t *testing.T, s milp.Solver) {
	weights := func(n int, f func() float64) []float64 {
		w := make([]float64, n*(n-1)/2)
		for k := range w {
			w[k] = f()
		}
		return w
	}
	fixed := []float64{0.1, 0.2, 0.1, 0.1, 0, 0}
	m := Bisection(4, fixed)
	compare(t, m, solve(t, s, m), BisectionOptimum(4, fixed))
	for seed := range uint64(tier.Draws(3, 40)) {
		r := rand.New(rand.NewPCG(seed, 71))
		n := 4 + 2*r.IntN(2)
		w := weights(n, func() float64 { return float64(r.IntN(101)) / 100 })
		m := Bisection(n, w)
		m.Name = fmt.Sprintf("bisection, seed %d", seed)
		compare(t, m, solve(t, s, m), BisectionOptimum(n, w))
	}
}

// BisectionOptimum returns the optimum of Bisection, by enumeration.
func BisectionOptimum(n int, weight []float64) *big.Rat {
	var best *big.Rat
	for side := range 1 << n {
		size, k := 0, 0
		cut := new(big.Rat)
		for u := range n {
			size += side >> u & 1
			for v := u + 1; v < n; v, k = v+1, k+1 {
				if side>>u&1 != side>>v&1 {
					cut.Add(cut, rational(weight[k]))
				}
			}
		}
		if 2*size == n && (best == nil || cut.Cmp(best) < 0) {
			best = cut
		}
	}
	return best
}

func makespan(t *testing.T, s milp.Solver) {
	for seed := range uint64(tier.Draws(3, 40)) {
		r := rand.New(rand.NewPCG(seed, 72))
		jobs := make([]float64, 4+r.IntN(4))
		for j := range jobs {
			jobs[j] = float64(1 + r.IntN(30))
		}
		m := Makespan(jobs, []float64{1, 2, 10, 0.5}[r.IntN(4)])
		m.Name = fmt.Sprintf("makespan, seed %d", seed)
		compare(t, m, solve(t, s, m), Optimum(m))
	}
}

// Relations between optima: the order of variables and rows does not matter,
// nor does a row twice; costs times four give four times the optimum; a row
// more cannot lower it, a wider bound cannot raise it.
func relations(t *testing.T, s milp.Solver) {
	for seed := range uint64(tier.Draws(3, 40)) {
		r := rand.New(rand.NewPCG(seed, 73))
		m := Random(r, 0.7)
		value := func(name string, m *milp.Model) float64 {
			m.Name = fmt.Sprintf("%s, seed %d", name, seed)
			res := solve(t, s, m)
			if !optimal(m, res) && res.Termination != milp.Infeasible {
				t.Errorf("%s: %s", m.Name, res.Termination)
			}
			return res.PrimalBound
		}
		same := func(a, b float64) bool { return a == b || close(a, b) }
		base := value("base", m)
		if v := value("permuted", permuted(r, m)); !same(v, base) {
			t.Errorf("%s: %v after permuting, %v before", m.Name, v, base)
		}
		scaled := *m
		scaled.Vars = append([]milp.Variable(nil), m.Vars...)
		scaled.Constant *= 4
		for j := range scaled.Vars {
			scaled.Vars[j].Cost *= 4
		}
		if v := value("scaled", &scaled); !same(v/4, base) {
			t.Errorf("%s: %v with costs times four, %v before", m.Name, v, base)
		}
		more := *m
		more.Rows = append(append([]milp.Row(nil), m.Rows...), m.Rows...)
		if v := value("doubled", &more); !same(v, base) {
			t.Errorf("%s: %v with every row twice, %v before", m.Name, v, base)
		}
		more.Rows = append(append([]milp.Row(nil), m.Rows...), RandomRow(r, m, func() float64 { return float64(r.IntN(19) - 9) }))
		if v := value("restricted", &more); v < base && !same(v, base) {
			t.Errorf("%s: %v with a row more, %v before", m.Name, v, base)
		}
		wider := *m
		wider.Vars = append([]milp.Variable(nil), m.Vars...)
		wider.Vars[r.IntN(len(m.Vars))].Upper += 2
		if v := value("widened", &wider); v > base && !same(v, base) {
			t.Errorf("%s: %v with a wider bound, %v before", m.Name, v, base)
		}
	}
}

// permuted returns m with variables, rows and entries in another order.
func permuted(r *rand.Rand, m *milp.Model) *milp.Model {
	p := *m
	to := r.Perm(len(m.Vars))
	p.Vars = make([]milp.Variable, len(m.Vars))
	for j, v := range m.Vars {
		p.Vars[to[j]] = v
	}
	p.Rows = nil
	for _, i := range r.Perm(len(m.Rows)) {
		row := m.Rows[i]
		row.Cols, row.Vals = nil, nil
		for _, k := range r.Perm(len(m.Rows[i].Cols)) {
			row.Cols, row.Vals = append(row.Cols, to[m.Rows[i].Cols[k]]), append(row.Vals, m.Rows[i].Vals[k])
		}
		p.AddRow(row)
	}
	return &p
}

func modelUnchanged(t *testing.T, s milp.Solver) {
	m, same := Random(rand.New(rand.NewPCG(3, 74)), 0.5), Random(rand.New(rand.NewPCG(3, 74)), 0.5)
	solve(t, s, m)
	if !reflect.DeepEqual(m, same) {
		t.Errorf("the solve changed the model to %+v", m)
	}
}

// reproducible is what two solves of one model must agree on.
func reproducible(r *milp.Result) milp.Result {
	c := *r
	c.Stats = milp.Stats{Nodes: r.Stats.Nodes, Iterations: r.Stats.Iterations}
	return c
}

func repeatable(t *testing.T, s milp.Solver) {
	for seed := range uint64(tier.Draws(2, 10)) {
		m := Random(rand.New(rand.NewPCG(seed, 75)), 0.6)
		if a, b := reproducible(solve(t, s, m)), reproducible(solve(t, s, m)); !reflect.DeepEqual(a, b) {
			t.Errorf("seed %d: %+v, then %+v", seed, a, b)
		}
	}
}

func concurrent(t *testing.T, s milp.Solver) {
	models := tier.Draws(4, 16)
	model := func(k int) *milp.Model { return Random(rand.New(rand.NewPCG(uint64(k), 76)), 0.6) }
	want := make([]milp.Result, models)
	for k := range want {
		want[k] = reproducible(solve(t, s, model(k)))
	}
	var group sync.WaitGroup
	for g := range tier.Draws(4, 8) {
		group.Go(func() {
			for k := range models {
				k = (k + 2*g) % models
				res, err := s.Solve(context.Background(), model(k), milp.Start{}, milp.Limits{})
				if err != nil {
					t.Error(err)
				} else if got := reproducible(res); !reflect.DeepEqual(got, want[k]) {
					t.Errorf("model %d: %+v, alone %+v", k, got, want[k])
				}
			}
		})
	}
	group.Wait()
}

func cancelledBefore(t *testing.T, s milp.Solver) {
	m := MarketSplit(4, 30, 1)
	res, err := s.Solve(cancelled(), m, milp.Start{}, milp.Limits{})
	stopped(t, m, res, err, milp.Interrupted)
}

func cancelledWithin(t *testing.T, s milp.Solver) {
	for _, m := range []*milp.Model{MarketSplit(4, 30, 1), Integral(Packing(30, 200, 3))} {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		elapses(t, 100*time.Millisecond, func() {
			res, err := s.Solve(ctx, m, milp.Start{}, milp.Limits{})
			stopped(t, m, res, err, milp.Interrupted)
		})
		cancel()
	}
}

func timeLimit(t *testing.T, s milp.Solver) {
	for _, m := range []*milp.Model{MarketSplit(4, 30, 1), Integral(Packing(30, 200, 3))} {
		l := milp.Limits{Time: 100 * time.Millisecond}
		elapses(t, l.Time, func() {
			res, err := s.Solve(context.Background(), m, milp.Start{}, l)
			stopped(t, m, res, err, milp.TimeLimit)
		})
	}
	m := Random(rand.New(rand.NewPCG(1, 77)), 1) // an ample limit changes nothing
	res, err := s.Solve(context.Background(), m, milp.Start{}, milp.Limits{Time: time.Hour, Nodes: 1 << 30})
	stopped(t, m, res, err, milp.Optimal, milp.Infeasible)
	compare(t, m, res, Optimum(m))
}

func nodeLimit(t *testing.T, s milp.Solver) {
	m := MarketSplit(4, 30, 1)
	res, err := s.Solve(context.Background(), m, milp.Start{}, milp.Limits{Nodes: 100})
	stopped(t, m, res, err, milp.NodeLimit)
	if n := res.Stats.Nodes; n < 90 || n > 120 {
		t.Errorf("%d nodes with a limit of 100", n)
	}
	again, err := s.Solve(context.Background(), m, milp.Start{}, milp.Limits{Nodes: 100})
	stopped(t, m, again, err, milp.NodeLimit)
	if a, b := reproducible(res), reproducible(again); !reflect.DeepEqual(a, b) {
		t.Errorf("a node limit does not reproduce: %+v, then %+v", a, b)
	}
}
