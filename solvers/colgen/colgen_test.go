package colgen_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/solvers/colgen"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// packing is a problem whose columns are all written down, but shown to the
// solver only when a pricer finds them: choose at most one offer of each bidder
// so that capacities hold, for the greatest value.
type packing struct {
	capacity []float64
	offers   [][]offer // per bidder
}

type offer struct {
	value float64
	use   []float64 // per row
}

// fate says what a node has decided about an offer.
type fate map[[2]int]bool

func randomPacking(rng *rand.Rand, bidders, offers, rows int) *packing {
	p := &packing{}
	for range rows {
		p.capacity = append(p.capacity, float64(2+rng.IntN(6)))
	}
	for range bidders {
		var list []offer
		for range 1 + rng.IntN(offers) {
			o := offer{value: float64(1 + rng.IntN(9))}
			for range rows {
				o.use = append(o.use, float64(rng.IntN(4)))
			}
			list = append(list, o)
		}
		p.offers = append(p.offers, list)
	}
	return p
}

func (p *packing) Rows(f fate) ([]milp.Row, float64) {
	var rows []milp.Row
	for i, c := range p.capacity {
		rows = append(rows, milp.Row{Name: fmt.Sprint("capacity", i), Sense: milp.LE, RHS: c})
	}
	for b := range p.offers {
		rows = append(rows, milp.Row{Name: fmt.Sprint("bidder", b), Sense: milp.LE, RHS: 1})
	}
	for offer, take := range f {
		if take {
			rows[len(p.capacity)+offer[0]].Sense = milp.EQ
		}
	}
	return rows, 0
}

func (p *packing) column(b, k int) colgen.Column {
	c := colgen.Column{Var: milp.Variable{Upper: 2, Cost: -p.offers[b][k].value}, Tag: [2]int{b, k}}
	for i, u := range p.offers[b][k].use {
		if u != 0 {
			c.Rows, c.Vals = append(c.Rows, i), append(c.Vals, u)
		}
	}
	c.Rows, c.Vals = append(c.Rows, len(p.capacity)+b), append(c.Vals, 1)
	return c
}

// model is the problem with all its columns.
func (p *packing) model(f fate) *milp.Model {
	m := &milp.Model{}
	rows, _ := p.Rows(f)
	for _, r := range rows {
		m.AddRow(r)
	}
	for b := range p.offers {
		for k := range p.offers[b] {
			if !f.allows(p, b, k) {
				continue
			}
			c := p.column(b, k)
			j := m.AddVar(c.Var)
			for n, i := range c.Rows {
				m.Rows[i].Cols, m.Rows[i].Vals = append(m.Rows[i].Cols, j), append(m.Rows[i].Vals, c.Vals[n])
			}
		}
	}
	return m
}

// allows reports whether an offer may be chosen: it is not forbidden, nor is
// another of the bidder forced.
func (f fate) allows(p *packing, b, k int) bool {
	for n := range p.offers[b] {
		if take, decided := f[[2]int{b, n}]; decided && take != (n == k) {
			return false
		}
	}
	return true
}

func (p *packing) Root() fate { return fate{} }

// Start is a column per bidder that counts as an offer, but a bad one.
func (p *packing) Start(fate) []colgen.Column {
	var list []colgen.Column
	for b := range p.offers {
		list = append(list, colgen.Column{Var: milp.Variable{Upper: 2, Cost: 1000}, Rows: []int{len(p.capacity) + b}, Vals: []float64{1}})
	}
	return list
}

func (p *packing) Allowed(f fate, c *colgen.Column) bool {
	t := c.Tag.([2]int)
	return f.allows(p, t[0], t[1])
}

func (p *packing) Pricer(f fate) colgen.Pricer { return pricer{p, f, p.model(f)} }

// pricer evaluates every offer in rationals. Its bound is L(y) of the model
// with all columns, by package milp.
type pricer struct {
	*packing
	fate
	model *milp.Model
}

func (p pricer) Price(_ context.Context, y []float64) (colgen.Pricing, error) {
	found := colgen.Pricing{Bound: milp.NewBoundEvaluator(p.model).Bound(y)}
	for b := range p.offers {
		least, best := new(big.Rat), -1
		for k := range p.offers[b] {
			if !p.allows(p.packing, b, k) {
				continue
			}
			c := p.column(b, k)
			r := new(big.Rat).SetFloat64(c.Var.Cost)
			for n, i := range c.Rows {
				r.Sub(r, new(big.Rat).Mul(new(big.Rat).SetFloat64(c.Vals[n]), new(big.Rat).SetFloat64(y[i])))
			}
			if r.Cmp(least) < 0 {
				least, best = r, k
			}
		}
		if best >= 0 {
			found.Columns = append(found.Columns, p.column(b, best))
		}
	}
	return found, nil
}

// Candidate takes the columns in order of their values, as long as they fit.
func (p *packing) Candidate(_ context.Context, _ fate, columns []colgen.Column, x []float64) ([][2]int, float64, bool) {
	order := make([]int, 0, len(columns))
	for j, c := range columns {
		if c.Tag != nil && x[j] > 1e-6 {
			order = append(order, j)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return -1 * compare(x[a], x[b]) })
	free := slices.Clone(p.capacity)
	taken := map[int]bool{}
	var chosen [][2]int
	value := 0.0
	for _, j := range order {
		t := columns[j].Tag.([2]int)
		o := p.offers[t[0]][t[1]]
		fits := !taken[t[0]]
		for i := range free {
			fits = fits && o.use[i] <= free[i]
		}
		if fits {
			taken[t[0]] = true
			for i := range free {
				free[i] -= o.use[i]
			}
			chosen, value = append(chosen, t), value+o.value
		}
	}
	return chosen, -value, true
}

func compare(a, b float64) int {
	if a < b {
		return -1
	}
	if a > b {
		return 1
	}
	return 0
}

// Branch decides the most fractional offer.
func (p *packing) Branch(f fate, columns []colgen.Column, x []float64) ([]fate, error) {
	split, most := -1, 1e-6
	for j := range columns {
		if d := math.Min(x[j], 1-x[j]); columns[j].Tag != nil && d > most {
			split, most = j, d
		}
	}
	if split < 0 {
		return nil, nil
	}
	child := func(take bool) fate {
		c := fate{columns[split].Tag.([2]int): take}
		for k, v := range f {
			c[k] = v
		}
		return c
	}
	return []fate{child(false), child(true)}, nil
}

// brute returns the least cost over all choices.
func (p *packing) brute(b int, free []float64) float64 {
	if b == len(p.offers) {
		return 0
	}
	best := p.brute(b+1, free)
offers:
	for _, o := range p.offers[b] {
		left := slices.Clone(free)
		for i := range left {
			if left[i] -= o.use[i]; left[i] < 0 {
				continue offers
			}
		}
		best = math.Min(best, p.brute(b+1, left)-o.value)
	}
	return best
}

// TestGenerate compares with the linear program over all columns.
func TestGenerate(t *testing.T) {
	fewer := 0
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 1))
		p := randomPacking(rng, 1+rng.IntN(6), 8, 1+rng.IntN(4))
		rows, constant := p.Rows(nil)
		r, err := colgen.Generate(context.Background(), lpsolve.LP{}, rows, constant, p.Start(nil), p.Pricer(nil), milp.Limits{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		full := p.model(nil).Relaxation()
		lp, err := lpsolve.LP{}.Open(full)
		if err != nil {
			t.Fatal(err)
		}
		want, err := lp.Solve(context.Background(), milp.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Termination != milp.Optimal || math.Abs(r.Objective-want.PrimalBound) > 1e-9*(1+math.Abs(want.PrimalBound)) {
			t.Errorf("seed %d: %s with %v, want %v", seed, r.Termination, r.Objective, want.PrimalBound)
		}
		if exact := milp.ExactBound(full, r.Duals); exact.Cmp(new(big.Rat).SetFloat64(r.DualBound)) < 0 {
			t.Errorf("seed %d: the certificate proves %s, less than the bound %v", seed, exact.FloatString(12), r.DualBound)
		}
		if r.DualBound > want.PrimalBound+1e-9 || r.DualBound < want.PrimalBound-1e-9*(1+math.Abs(want.PrimalBound)) {
			t.Errorf("seed %d: bound %v of %v", seed, r.DualBound, want.PrimalBound)
		}
		if len(r.X) != len(r.Columns) {
			t.Errorf("seed %d: %d values of %d columns", seed, len(r.X), len(r.Columns))
		}
		if len(r.Columns) < len(full.Vars) {
			fewer++
		}
	}
	if fewer < 75 {
		t.Errorf("only %d of 150 programs were solved with fewer columns than there are", fewer)
	}
}

// TestSolve compares with brute force.
func TestSolve(t *testing.T) {
	split := 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 2))
		p := randomPacking(rng, 1+rng.IntN(6), 5, 1+rng.IntN(4))
		r, err := colgen.Solve(context.Background(), lpsolve.LP{}, p, colgen.TreeOptions{IntegralCost: seed%2 == 0})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		want := p.brute(0, p.capacity)
		if r.Termination != milp.Optimal || r.Objective != want || r.DualBound > want || r.DualBound < want-1e-9*math.Abs(want) {
			t.Errorf("seed %d: %s [%v, %v], want %v", seed, r.Termination, r.DualBound, r.Objective, want)
		}
		value := 0.0
		for _, c := range r.Solution {
			value -= p.offers[c[0]][c[1]].value
		}
		if value != r.Objective {
			t.Errorf("seed %d: the solution is worth %v, not %v", seed, value, r.Objective)
		}
		if r.Nodes > 1 {
			split++
		}
	}
	if split < 20 {
		t.Errorf("only %d of 300 trees have more than a node", split)
	}
}

// hard is a packing whose root does not settle it.
func hard(t *testing.T) *packing {
	for seed := range uint64(200) {
		p := randomPacking(rand.New(rand.NewPCG(seed, 3)), 7, 6, 4)
		r, err := colgen.Solve(context.Background(), lpsolve.LP{}, p, colgen.TreeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Nodes > 9 {
			return p
		}
	}
	t.Fatal("200 trees have at most nine nodes")
	return nil
}

// TestLimits: what a limit leaves is an interval that holds the optimum.
func TestLimits(t *testing.T) {
	p := hard(t)
	want := p.brute(0, p.capacity)
	last := math.Inf(-1)
	for nodes := 1; nodes < 8; nodes++ {
		shown := math.Inf(-1)
		r, err := colgen.Solve(context.Background(), lpsolve.LP{}, p, colgen.TreeOptions{Limits: milp.Limits{Nodes: nodes},
			Progress: func(bound, incumbent float64, _ int) {
				if bound < shown || incumbent < want {
					t.Errorf("bound %v after %v, incumbent %v", bound, shown, incumbent)
				}
				shown = bound
			}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Termination != milp.NodeLimit || r.Nodes != nodes || r.DualBound > want || r.Objective < want || r.DualBound < last {
			t.Errorf("%d nodes: %s after %d, [%v, %v] around %v, after %v", nodes, r.Termination, r.Nodes, r.DualBound, r.Objective, want, last)
		}
		last = r.DualBound
	}
	rows, constant := p.Rows(nil)
	for rounds := 1; rounds < 4; rounds++ {
		r, err := colgen.Generate(context.Background(), lpsolve.LP{}, rows, constant, p.Start(nil), p.Pricer(nil), milp.Limits{Nodes: rounds})
		if err != nil {
			t.Fatal(err)
		}
		if r.Termination != milp.IterationLimit || r.Rounds != rounds || r.DualBound > want || len(r.X) != len(r.Columns) {
			t.Errorf("%d rounds: %s after %d, bound %v, %d of %d values", rounds, r.Termination, r.Rounds, r.DualBound, len(r.X), len(r.Columns))
		}
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := colgen.Solve(stopped, lpsolve.LP{}, p, colgen.TreeOptions{})
	if err != nil || r.Termination != milp.Interrupted || r.DualBound > want || r.Found && r.Objective < want {
		t.Errorf("stopped: %+v, %v", r, err)
	}
}

// TestRefused: programs that cannot be stated are errors.
func TestRefused(t *testing.T) {
	cover := []milp.Row{{Name: "cover", Sense: milp.GE, RHS: 1}}
	one := func(rows ...int) []colgen.Column {
		return []colgen.Column{{Var: milp.Variable{Upper: 1, Cost: 1}, Rows: rows, Vals: []float64{1}}}
	}
	for name, c := range map[string]struct {
		rows    []milp.Row
		columns []colgen.Column
		is      error
	}{
		"infeasible":   {cover, nil, colgen.ErrInfeasible},
		"no such row":  {cover, one(1), nil},
		"own entries":  {[]milp.Row{{Cols: []int{0}, Vals: []float64{1}}}, one(0), nil},
		"not a number": {cover, []colgen.Column{{Var: milp.Variable{Upper: math.NaN()}, Rows: []int{0}, Vals: []float64{1}}}, nil},
	} {
		_, err := colgen.Generate(context.Background(), lpsolve.LP{}, c.rows, 0, c.columns, pricer{}, milp.Limits{})
		if err == nil || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// stubborn fails at every n-th program it is asked to solve.
type stubborn struct {
	milp.LPSolver
	n     int
	asked *int
}

func (s stubborn) Open(m *milp.Model) (milp.LP, error) {
	lp, err := s.LPSolver.Open(m)
	return stubbornLP{lp, s}, err
}

type stubbornLP struct {
	milp.LP
	solver stubborn
}

func (l stubbornLP) Solve(ctx context.Context, limits milp.Limits) (*milp.Result, error) {
	if *l.solver.asked++; *l.solver.asked%l.solver.n == 0 {
		return &milp.Result{Termination: milp.Numerical, PrimalBound: math.Inf(1), DualBound: math.Inf(-1)}, nil
	}
	return l.LP.Solve(ctx, limits)
}

// TestNumerical: programs that the solver fails at cost at most part of the
// bound.
func TestNumerical(t *testing.T) {
	ends := map[milp.Termination]int{}
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 4))
		p := randomPacking(rng, 1+rng.IntN(6), 5, 1+rng.IntN(4))
		r, err := colgen.Solve(context.Background(), stubborn{lpsolve.LP{}, 1 + rng.IntN(5), new(int)}, p, colgen.TreeOptions{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		want := p.brute(0, p.capacity)
		if r.DualBound > want || r.Found && r.Objective < want || r.Termination == milp.Optimal && r.Objective != want {
			t.Errorf("seed %d: %s [%v, %v] around %v", seed, r.Termination, r.DualBound, r.Objective, want)
		}
		ends[r.Termination]++
	}
	if ends[milp.Optimal] < 20 || ends[milp.Numerical] < 20 {
		t.Errorf("ends: %v", ends)
	}
}
