package solvertest

import (
	"math"
	"math/rand/v2"

	"yardstick/solvers/milp"
)

// Random returns a model small enough for Optimum: up to six variables with
// small integral bounds, of which about the given share are integers and at
// most three are not, and up to five rows that cut near a random point. If
// integer is 0, there are at most three variables.
//
// Costs are small integers, or have one or two decimals. Data of rows are
// integers, quarters or thirty-seconds, so that what holds with equality does
// so exactly: with decimals, solvers and exact arithmetic rightly disagree.
func Random(r *rand.Rand, integer float64) *milp.Model {
	unit := []float64{1, 1, 4, 32}[r.IntN(4)]
	value := func() float64 { return math.Round(9*unit*r.NormFloat64()) / unit }
	costUnit := []float64{1, 1, 10, 100}[r.IntN(4)]
	cost := func() float64 { return math.Round(9*costUnit*r.NormFloat64()) / costUnit }
	m := &milp.Model{Name: "random", Constant: cost(), IntegralCost: costUnit == 1 && integer == 1}
	most := 6
	if integer == 0 {
		most = 3
	}
	continuous := 0
	for range 1 + r.IntN(most) {
		lower := float64(r.IntN(7) - 4)
		v := milp.Variable{Lower: lower, Upper: lower + float64(r.IntN(4)), Cost: cost(), Integer: r.Float64() < integer || continuous == 3}
		if !v.Integer {
			continuous++
		}
		m.AddVar(v)
	}
	for range r.IntN(6) {
		m.AddRow(RandomRow(r, m, value))
	}
	return m
}

// RandomRow returns a row over about half of the variables whose boundary is
// near a random point within the bounds.
func RandomRow(r *rand.Rand, m *milp.Model, value func() float64) milp.Row {
	row := milp.Row{Sense: milp.Sense(r.IntN(3) - 1)}
	for j, v := range m.Vars {
		if r.IntN(2) == 0 {
			a := value()
			row.Cols, row.Vals = append(row.Cols, j), append(row.Vals, a)
			row.RHS += a * (v.Lower + math.Floor((v.Upper-v.Lower+1)*r.Float64()))
		}
	}
	if r.IntN(3) == 0 {
		row.RHS += value() / 4
	}
	return row
}

// Packing returns a linear program of packing rows, up to ten entries per column.
// lp_solve takes about a second for 1000 rows and 2000 columns.
func Packing(rows, cols int, seed uint64) *milp.Model {
	r := rand.New(rand.NewPCG(seed, 20))
	m := &milp.Model{Name: "packing"}
	for range cols {
		m.AddVar(milp.Variable{Upper: 10, Cost: -float64(10 + r.IntN(90))})
	}
	for range rows {
		m.AddRow(milp.Row{Sense: milp.LE, RHS: float64(100 + r.IntN(900))})
	}
	for j := range cols {
		for _, i := range r.Perm(rows)[:min(10, rows)] {
			m.Rows[i].Cols, m.Rows[i].Vals = append(m.Rows[i].Cols, j), append(m.Rows[i].Vals, float64(1+r.IntN(30)))
		}
	}
	return m
}

// Integral makes every variable of m an integer, and returns m.
func Integral(m *milp.Model) *milp.Model {
	for j := range m.Vars {
		m.Vars[j].Integer = true
	}
	return m
}

// MarketSplit returns a binary program of equations with random coefficients,
// which branch and bound takes very long for without finding a point. With 4
// rows and 30 columns it outlasts every limit of a test.
//
// Source: G. Cornuéjols and M. Dawande, "A class of hard small 0-1 programs",
// INFORMS J. Comput. 11 (1999).
func MarketSplit(rows, cols int, seed uint64) *milp.Model {
	r := rand.New(rand.NewPCG(seed, 21))
	m := &milp.Model{Name: "market split"}
	for range cols {
		m.AddVar(milp.Variable{Upper: 1, Integer: true})
	}
	for range rows {
		row := milp.Row{Sense: milp.EQ}
		total := 0.0
		for j := range cols {
			v := float64(r.IntN(100))
			row.Cols, row.Vals = append(row.Cols, j), append(row.Vals, v)
			total += v
		}
		row.RHS = math.Floor(total / 2)
		m.AddRow(row)
	}
	return m
}

// Bisection returns the minimum balanced cut of the complete graph on n
// vertices with the weights, in the order 01, 02, 03, …, 12, …: x_v is the side
// of vertex v, and z_e ≥ |x_u - x_v| whether edge e is cut. Solvers that derive
// the least improvement of the objective from the costs get it wrong.
func Bisection(n int, weight []float64) *milp.Model {
	m := &milp.Model{Name: "bisection"}
	half := milp.Row{Name: "balance", Sense: milp.EQ, RHS: float64(n / 2)}
	for v := range n {
		half.Cols, half.Vals = append(half.Cols, v), append(half.Vals, 1)
		m.AddVar(milp.Variable{Upper: 1, Integer: true})
	}
	m.AddRow(half)
	for u := range n {
		for v := u + 1; v < n; v++ {
			z := m.AddVar(milp.Variable{Upper: 1, Cost: weight[0]})
			weight = weight[1:]
			m.AddRow(milp.Row{Cols: []int{u, v, z}, Vals: []float64{1, -1, -1}, Sense: milp.LE})
			m.AddRow(milp.Row{Cols: []int{u, v, z}, Vals: []float64{-1, 1, -1}, Sense: milp.LE})
		}
	}
	return m
}

// Makespan returns the distribution of jobs over two machines that minimises
// T, where scale·T is at least the load of each. The first variables are 1
// for the jobs of the first machine, the last is T.
func Makespan(jobs []float64, scale float64) *milp.Model {
	m := &milp.Model{Name: "makespan"}
	first, second := milp.Row{Sense: milp.LE}, milp.Row{Sense: milp.LE}
	total := 0.0
	for j, p := range jobs {
		m.AddVar(milp.Variable{Upper: 1, Integer: true})
		first.Cols, first.Vals = append(first.Cols, j), append(first.Vals, p)
		second.Cols, second.Vals = append(second.Cols, j), append(second.Vals, -p)
		total += p
	}
	top := m.AddVar(milp.Variable{Name: "T", Upper: total / scale, Cost: 1})
	first.Cols, first.Vals = append(first.Cols, top), append(first.Vals, -scale)
	second.Cols, second.Vals, second.RHS = append(second.Cols, top), append(second.Vals, -scale), -total
	m.AddRow(first)
	m.AddRow(second)
	return m
}

// TimeIndexed returns a time-indexed model of scheduling: each job of a random
// size and duration, released within the first third of the slots, starts in
// one slot; the sizes of the jobs of a slot sum to at most the capacity; the
// weighted sum of completion times is minimised. It may be infeasible.
//
// Source: J. P. Sousa and L. A. Wolsey, "A time indexed formulation of
// non-preemptive single machine scheduling problems", Math. Program. 54 (1992),
// with capacities.
func TimeIndexed(jobs, slots, capacity int, seed uint64) *milp.Model {
	r := rand.New(rand.NewPCG(seed, 50))
	m := &milp.Model{Name: "time indexed", IntegralCost: true}
	load := make([]milp.Row, slots)
	for t := range load {
		load[t] = milp.Row{Sense: milp.LE, RHS: float64(capacity)}
	}
	for range jobs {
		size, duration, release, weight := 1<<r.IntN(4), 1+r.IntN(slots/6), r.IntN(slots/3), 1+r.IntN(9)
		once := milp.Row{Sense: milp.EQ, RHS: 1}
		for t := release; t+duration <= slots; t++ {
			j := m.AddVar(milp.Variable{Upper: 1, Cost: float64(weight * (t + duration)), Integer: true})
			once.Cols, once.Vals = append(once.Cols, j), append(once.Vals, 1)
			for s := t; s < t+duration; s++ {
				load[s].Cols, load[s].Vals = append(load[s].Cols, j), append(load[s].Vals, float64(size))
			}
		}
		m.AddRow(once)
	}
	m.Rows = append(m.Rows, load...)
	return m
}
