package branch_test

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/solvers/milp"
)

// brute enumerates every integer point of the box, in exact arithmetic, and
// returns the least objective, or nil if no point is feasible. All variables
// are integer.
func brute(t *testing.T, m *milp.Model) *big.Rat {
	t.Helper()
	var best *big.Rat
	x := make([]float64, len(m.Vars))
	var visit func(j int)
	visit = func(j int) {
		if j < len(m.Vars) {
			for v := math.Ceil(m.Vars[j].Lower); v <= m.Vars[j].Upper; v++ {
				x[j] = v
				visit(j + 1)
			}
			return
		}
		for _, r := range m.Rows {
			if c := residual(&r, x); c < 0 && r.Sense != milp.LE || c > 0 && r.Sense != milp.GE {
				return
			}
		}
		cost := rat(m.Constant)
		for j := range x {
			cost.Add(cost, new(big.Rat).Mul(rat(m.Vars[j].Cost), rat(x[j])))
		}
		if best == nil || cost.Cmp(best) < 0 {
			best = cost
		}
	}
	visit(0)
	return best
}

// residual returns the sign of a'x − b. Sums of small integers are exact in
// float64; all others are computed in rationals.
func residual(r *milp.Row, x []float64) int {
	sum, whole := -r.RHS, true
	for k, j := range r.Cols {
		sum += r.Vals[k] * x[j]
		whole = whole && r.Vals[k] == math.Trunc(r.Vals[k])
	}
	if whole && r.RHS == math.Trunc(r.RHS) {
		return cmp.Compare(sum, 0)
	}
	exact := rat(-r.RHS)
	for k, j := range r.Cols {
		exact.Add(exact, new(big.Rat).Mul(rat(r.Vals[k]), rat(x[j])))
	}
	return exact.Sign()
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }

// families are generators of tiny pure integer programs.
var families = map[string]func(*rand.Rand) *milp.Model{
	"integer":    randomInteger,
	"real data":  randomReal,
	"covering":   covering,
	"cut":        balancedCut,
	"assignment": generalAssignment,
	"equality":   randomEquality,
}

// randomInteger has coefficients |a| ≤ 9 and up to four values per variable.
func randomInteger(r *rand.Rand) *milp.Model {
	m := &milp.Model{Name: "integer", IntegralCost: true, Constant: float64(r.IntN(5))}
	for range 2 + r.IntN(4) {
		lower := float64(r.IntN(4) - 2)
		m.AddVar(milp.Variable{Lower: lower, Upper: lower + float64(r.IntN(4)), Cost: float64(r.IntN(19) - 9), Integer: true})
	}
	for range 1 + r.IntN(4) {
		row := milp.Row{Sense: milp.LE, RHS: float64(r.IntN(25) - 8)}
		if r.IntN(3) == 0 {
			row.Sense = milp.GE
		}
		for j := range m.Vars {
			if r.IntN(4) > 0 {
				row.Cols, row.Vals = append(row.Cols, j), append(row.Vals, float64(r.IntN(19)-9))
			}
		}
		m.AddRow(row)
	}
	return m
}

// randomReal has coefficients that are no short fractions.
func randomReal(r *rand.Rand) *milp.Model {
	m := randomInteger(r)
	m.IntegralCost = false
	for j := range m.Vars {
		m.Vars[j].Cost *= r.Float64()
	}
	for i := range m.Rows {
		for k := range m.Rows[i].Vals {
			m.Rows[i].Vals[k] *= r.Float64()
		}
	}
	return m
}

// randomEquality has one equation with integer data, so that many instances
// are infeasible for integers though their linear programs are not.
func randomEquality(r *rand.Rand) *milp.Model {
	m := randomInteger(r)
	m.Rows[0].Sense = milp.EQ
	for k := range m.Rows[0].Vals {
		m.Rows[0].Vals[k] = float64(2 + 2*r.IntN(4))
	}
	return m
}

// covering is a binary covering program with costs 6 and 10; one in ten asks
// for too much.
func covering(r *rand.Rand) *milp.Model {
	m := &milp.Model{Name: "covering", IntegralCost: true}
	n := 8 + r.IntN(3)
	for range n {
		m.AddVar(milp.Variable{Upper: 1, Cost: []float64{6, 10}[r.IntN(2)], Integer: true})
	}
	for range 3 + r.IntN(5) {
		row := milp.Row{Sense: milp.GE}
		sum := 0
		for j := range n {
			if r.IntN(2) == 0 {
				a := 1 + r.IntN(3)
				row.Cols, row.Vals = append(row.Cols, j), append(row.Vals, float64(a))
				sum += a
			}
		}
		row.RHS = float64(sum / 2)
		if r.IntN(50) == 0 {
			row.RHS = float64(sum + 1)
		}
		m.AddRow(row)
	}
	return m
}

// balancedCut bisects a graph of four vertices whose edges weigh 0.00 to 0.30:
// x_v is the side of v, y_e whether e is cut.
func balancedCut(r *rand.Rand) *milp.Model {
	m := &milp.Model{Name: "cut"}
	const n = 4
	side := milp.Row{Sense: milp.EQ, RHS: n / 2}
	for range n {
		side.Cols, side.Vals = append(side.Cols, m.AddVar(milp.Variable{Upper: 1, Integer: true})), append(side.Vals, 1)
	}
	m.AddRow(side)
	for u := range n {
		for v := range u {
			if r.IntN(5) == 0 {
				continue
			}
			y := m.AddVar(milp.Variable{Upper: 1, Cost: float64(r.IntN(31)) / 100, Integer: true})
			m.AddRow(milp.Row{Cols: []int{y, u, v}, Vals: []float64{1, -1, 1}, Sense: milp.GE})
			m.AddRow(milp.Row{Cols: []int{y, u, v}, Vals: []float64{1, 1, -1}, Sense: milp.GE})
		}
	}
	return m
}

// generalAssignment has one assignment row per job and one capacity row per
// machine; with tight capacities it is often infeasible.
func generalAssignment(r *rand.Rand) *milp.Model {
	m := &milp.Model{Name: "assignment", IntegralCost: true}
	jobs, machines := 2+r.IntN(3), 2+r.IntN(2)
	load := make([]milp.Row, machines)
	for k := range load {
		load[k] = milp.Row{Sense: milp.LE, RHS: float64(4 + r.IntN(8))}
	}
	for range jobs {
		one := milp.Row{Sense: milp.EQ, RHS: 1}
		for k := range load {
			j := m.AddVar(milp.Variable{Upper: 1, Cost: float64(3 * r.IntN(12)), Integer: true})
			one.Cols, one.Vals = append(one.Cols, j), append(one.Vals, 1)
			load[k].Cols, load[k].Vals = append(load[k].Cols, j), append(load[k].Vals, float64(1+r.IntN(7)))
		}
		m.AddRow(one)
	}
	for _, row := range load {
		m.AddRow(row)
	}
	return m
}

// minMax distributes jobs over machines; scale·T is at least every load. It
// also returns the optimal T, by enumeration.
func minMax(r *rand.Rand, scale float64) (*milp.Model, *big.Rat) {
	m := &milp.Model{Name: "min-max"}
	jobs, machines := 3+r.IntN(4), 2+r.IntN(2)
	makespan := m.AddVar(milp.Variable{Upper: 1000, Cost: 1})
	load := make([]milp.Row, machines)
	for k := range load {
		load[k] = milp.Row{Cols: []int{makespan}, Vals: []float64{scale}, Sense: milp.GE}
	}
	p := make([]int64, jobs)
	for i := range jobs {
		p[i] = int64(1 + r.IntN(20))
		one := milp.Row{Sense: milp.EQ, RHS: 1}
		for k := range load {
			j := m.AddVar(milp.Variable{Upper: 1, Integer: true})
			one.Cols, one.Vals = append(one.Cols, j), append(one.Vals, 1)
			load[k].Cols, load[k].Vals = append(load[k].Cols, j), append(load[k].Vals, -float64(p[i]))
		}
		m.AddRow(one)
	}
	for _, row := range load {
		m.AddRow(row)
	}
	best := int64(math.MaxInt64)
	sums := make([]int64, machines)
	var visit func(i int)
	visit = func(i int) {
		if i == jobs {
			most := int64(0)
			for _, s := range sums {
				most = max(most, s)
			}
			best = min(best, most)
			return
		}
		for k := range sums {
			sums[k] += p[i]
			visit(i + 1)
			sums[k] -= p[i]
		}
	}
	visit(0)
	return m, new(big.Rat).Quo(new(big.Rat).SetInt64(best), new(big.Rat).SetFloat64(scale))
}
