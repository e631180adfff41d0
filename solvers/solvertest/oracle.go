package solvertest

import (
	"math"
	"math/big"

	"yardstick/solvers/milp"
)

// Optimum returns the exact optimum of a small model, or nil if it is
// infeasible: by enumeration of the integers and, for each choice, of the
// vertices of the polytope that is left. It shares no code with milp.
//
// Valid when: m.Validate() is nil. Cost: the product of the integers' ranges,
// times (rows + 2n choose n) systems of n equations for n continuous
// variables.
func Optimum(m *milp.Model) *big.Rat {
	o := oracle{m: m, x: make([]float64, len(m.Vars))}
	for j := range m.Vars {
		if !m.Vars[j].Integer {
			o.free = append(o.free, j)
		}
	}
	o.enumerate(0)
	return o.best
}

type oracle struct {
	m    *milp.Model
	x    []float64 // values of the integers; those of free variables are zero
	free []int     // the continuous variables
	best *big.Rat
}

func (o *oracle) enumerate(j int) {
	switch {
	case j == len(o.x) && len(o.free) == 0:
		o.point()
	case j == len(o.x):
		o.vertices()
	case !o.m.Vars[j].Integer:
		o.enumerate(j + 1)
	default:
		for v := math.Ceil(o.m.Vars[j].Lower); v <= o.m.Vars[j].Upper; v++ {
			o.x[j] = v
			o.enumerate(j + 1)
		}
		o.x[j] = 0
	}
}

// point judges x, all of it integral. What float64 cannot decide with a wide
// margin is decided in rationals.
func (o *oracle) point() {
	for i := range o.m.Rows {
		r := &o.m.Rows[i]
		residual, size := -r.RHS, math.Abs(r.RHS)
		for k, j := range r.Cols {
			residual += r.Vals[k] * o.x[j]
			size += math.Abs(r.Vals[k] * o.x[j])
		}
		if math.Abs(residual) <= 1e-9*size {
			f, _ := o.residual(r).Float64()
			residual = f
		}
		if !holds(r.Sense, residual) {
			return
		}
	}
	o.offer(nil)
}

func holds(s milp.Sense, residual float64) bool {
	return (s == milp.GE || residual <= 0) && (s == milp.LE || residual >= 0)
}

func (o *oracle) residual(r *milp.Row) *big.Rat {
	sum := rational(-r.RHS)
	for k, j := range r.Cols {
		sum.Add(sum, product(r.Vals[k], o.x[j]))
	}
	return sum
}

// offer compares the objective at x, with the free variables at values.
func (o *oracle) offer(values []*big.Rat) {
	sum := rational(o.m.Constant)
	for j := range o.m.Vars {
		sum.Add(sum, product(o.m.Vars[j].Cost, o.x[j]))
	}
	for k, v := range values {
		sum.Add(sum, new(big.Rat).Mul(rational(o.m.Vars[o.free[k]].Cost), v))
	}
	if o.best == nil || sum.Cmp(o.best) < 0 {
		o.best = sum
	}
}

// inequality is a'v ≤, ≥ or = b over the free variables.
type inequality struct {
	a     []*big.Rat
	sense milp.Sense
	b     *big.Rat
}

// vertices offers every vertex of the polytope of the free variables: each
// is the intersection of as many boundaries as there are variables.
func (o *oracle) vertices() {
	n := len(o.free)
	at := make(map[int]int, n)
	for k, j := range o.free {
		at[j] = k
	}
	unit := func(k int) []*big.Rat {
		a := zeros(n)
		a[k] = big.NewRat(1, 1)
		return a
	}
	var all []inequality
	for i := range o.m.Rows {
		r := &o.m.Rows[i]
		q := inequality{zeros(n), r.Sense, o.residual(r)}
		q.b.Neg(q.b)
		for e, j := range r.Cols {
			if k, ok := at[j]; ok {
				q.a[k] = rational(r.Vals[e])
			}
		}
		all = append(all, q)
	}
	for k, j := range o.free {
		all = append(all, inequality{unit(k), milp.GE, rational(o.m.Vars[j].Lower)}, inequality{unit(k), milp.LE, rational(o.m.Vars[j].Upper)})
	}
	choose(len(all), n, func(set []int) {
		if v := intersect(all, set); v != nil && inside(all, v) {
			o.offer(v)
		}
	})
}

// choose calls f with every subset of {0, …, n-1} of size k.
func choose(n, k int, f func([]int)) {
	set := make([]int, 0, k)
	var rec func(from int)
	rec = func(from int) {
		if len(set) == k {
			f(set)
			return
		}
		for i := from; i < n; i++ {
			set = append(set, i)
			rec(i + 1)
			set = set[:len(set)-1]
		}
	}
	rec(0)
}

// intersect solves the chosen inequalities as equations by Gauss-Jordan
// elimination, or returns nil if they are dependent.
func intersect(all []inequality, set []int) []*big.Rat {
	n := len(set)
	rows := make([][]*big.Rat, n)
	for i, s := range set {
		for _, v := range append(all[s].a[:n:n], all[s].b) {
			rows[i] = append(rows[i], new(big.Rat).Set(v))
		}
	}
	for c := range n {
		p := c
		for p < n && rows[p][c].Sign() == 0 {
			p++
		}
		if p == n {
			return nil
		}
		rows[c], rows[p] = rows[p], rows[c]
		inverse := new(big.Rat).Inv(rows[c][c])
		for k := range rows[c] {
			rows[c][k].Mul(rows[c][k], inverse)
		}
		for i := range n {
			if factor := new(big.Rat).Set(rows[i][c]); i != c && factor.Sign() != 0 {
				for k := range rows[i] {
					rows[i][k].Sub(rows[i][k], new(big.Rat).Mul(factor, rows[c][k]))
				}
			}
		}
	}
	v := make([]*big.Rat, n)
	for i := range v {
		v[i] = rows[i][n]
	}
	return v
}

func inside(all []inequality, v []*big.Rat) bool {
	for _, q := range all {
		residual := new(big.Rat).Neg(q.b)
		for k := range v {
			residual.Add(residual, new(big.Rat).Mul(q.a[k], v[k]))
		}
		if !holds(q.sense, float64(residual.Sign())) {
			return false
		}
	}
	return true
}

func zeros(n int) []*big.Rat {
	z := make([]*big.Rat, n)
	for k := range z {
		z[k] = new(big.Rat)
	}
	return z
}

func rational(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }

func product(a, b float64) *big.Rat { return new(big.Rat).Mul(rational(a), rational(b)) }
