package placement

import (
	"fmt"
	"math"
	"math/big"

	"yardstick/sched"
	"yardstick/solvers/milp"
)

// weights are those of the job's graph under ring AllReduce, in bytes: A_s of
// an edge between replicas of stage s and w_s of one to the next stage.
type weights struct{ ring, next []*big.Rat }

func (r *request) weights() weights {
	var w weights
	for s, st := range r.job.Stages {
		k := int64(st.Replicas)
		ring := big.NewRat(2*(k-1), k)
		w.ring = append(w.ring, ring.Mul(ring, new(big.Rat).SetInt64(int64(st.Params))))
		next := new(big.Rat)
		if s+1 < len(r.job.Stages) {
			next = big.NewRat(2, k*int64(r.job.Stages[s+1].Replicas))
			next.Mul(next, new(big.Rat).SetInt64(int64(st.Boundary)))
		}
		w.next = append(w.next, next)
	}
	return w
}

// ringEdges returns the edges of a ring of k replicas between c of them that
// form an arc; ringEdges(k, k) is all of them.
func ringEdges(k, c int) int {
	switch {
	case c == 0 || k == 1:
		return 0
	case c == k && k > 2:
		return k
	}
	return c - 1
}

// scaled rounds the weights down to integers, in units, and returns the sum
// over all edges besides.
func (r *request) scaled() (ring, next []float64, total float64, unit *big.Rat, exact bool) {
	w := r.weights()
	sum := new(big.Rat)
	edges := func(s int) (ring, next int64) {
		k := r.job.Stages[s].Replicas
		if s+1 < len(r.job.Stages) {
			next = int64(k) * int64(r.job.Stages[s+1].Replicas)
		}
		return int64(ringEdges(k, k)), next
	}
	for s := range w.ring {
		a, b := edges(s)
		sum.Add(sum, new(big.Rat).Mul(w.ring[s], new(big.Rat).SetInt64(a)))
		sum.Add(sum, new(big.Rat).Mul(w.next[s], new(big.Rat).SetInt64(b)))
	}
	unit, exact = grid(append(append([]*big.Rat(nil), w.ring...), w.next...), sum)
	for s := range w.ring {
		a, b := edges(s)
		ring, next = append(ring, down(w.ring[s], unit)), append(next, down(w.next[s], unit))
		total += ring[s]*float64(a) + next[s]*float64(b)
	}
	return ring, next, total, unit, exact
}

// NaiveCut is the textbook program for the least cut, over vertices and edges:
//
//	minimise  Σ_e W_e y_e
//	subject to  Σ_m v[u][m] = 1                  for every vertex u    (1)
//	            Σ_u v[u][m] = g_m                for every part m      (2)
//	            y_e ≥ v[u][m] − v[u'][m]         for e = {u, u'}, m    (3)
//	            v, y binary.
//
// It is here to compare with: its relaxation is zero wherever parts mix, and
// replicas of a stage as well as equal parts may be exchanged.
//
// Source: the cut problem of the A-SRPT paper, section IV.
//
// Errors: the parts do not make the gang or do not fit their servers.
func NaiveCut(in *sched.Instance, id sched.JobID, servers, parts []int) (*Program, error) {
	r, err := newRequest(in, id, servers, parts)
	if err != nil {
		return nil, err
	}
	ring, next, _, unit, exact := r.scaled()
	model := &milp.Model{Name: "naive cut", IntegralCost: true}
	var v [][]int // column of vertex and part
	var first []int
	for s, st := range r.job.Stages {
		first = append(first, len(v))
		for range st.Replicas {
			row := milp.Row{Name: fmt.Sprintf("vertex_%d", len(v)), Sense: milp.EQ, RHS: 1} // (1)
			cols := make([]int, len(r.gpus))
			for m := range cols {
				cols[m] = model.AddVar(milp.Variable{Name: fmt.Sprintf("v_%d_%d_%d", s, len(v), m), Upper: 1, Integer: true})
				row.Cols, row.Vals = append(row.Cols, cols[m]), append(row.Vals, 1)
			}
			v = append(v, cols)
			model.AddRow(row)
		}
	}
	for m, g := range r.gpus { // (2)
		row := milp.Row{Name: fmt.Sprintf("part_%d", m), Sense: milp.EQ, RHS: float64(g)}
		for u := range v {
			row.Cols, row.Vals = append(row.Cols, v[u][m]), append(row.Vals, 1)
		}
		model.AddRow(row)
	}
	edge := func(a, b int, weight float64) { // (3)
		if weight == 0 {
			return
		}
		y := model.AddVar(milp.Variable{Name: fmt.Sprintf("y_%d_%d", a, b), Upper: 1, Cost: weight, Integer: true})
		for m := range r.gpus {
			model.AddRow(milp.Row{Name: fmt.Sprintf("cut_%d_%d_%d", a, b, m), Sense: milp.GE,
				Cols: []int{y, v[a][m], v[b][m]}, Vals: []float64{1, -1, 1}})
		}
	}
	for s, st := range r.job.Stages {
		for i := range ringEdges(st.Replicas, st.Replicas) {
			edge(first[s]+i, first[s]+(i+1)%st.Replicas, ring[s])
		}
		if s+1 < len(r.job.Stages) {
			for i := range st.Replicas {
				for k := range r.job.Stages[s+1].Replicas {
					edge(first[s]+i, first[s+1]+k, next[s])
				}
			}
		}
	}
	decode := func(x []float64) (sched.Placement, error) {
		if len(x) != len(model.Vars) {
			return sched.Placement{}, fmt.Errorf("placement: a point of %d values for %d variables", len(x), len(model.Vars))
		}
		counts := make([][]int, len(r.gpus))
		for m := range counts {
			counts[m] = make([]int, len(r.job.Stages))
			for s, st := range r.job.Stages {
				for i := range st.Replicas {
					counts[m][s] += int(math.Round(x[v[first[s]+i][m]]))
				}
			}
		}
		return r.placement(counts)
	}
	return &Program{Model: model, Relation: relation(exact), Unit: unit, Decode: decode}, nil
}

// CountCut is the program for the least cut over numbers of replicas, with the
// variables and rows of one-hot counts: a part with j replicas of stage s has
// ρ_s(j) ring edges inside (see cuts.CutWeight), and
//
//	maximise  Σ_{m,s,j} A_s ρ_s(j) u[m][s][j] + Σ_{m,s,i} w_s p[m][s][i]
//	subject to  p[m][s][i] ≤ x[m][s+1]                          (5)
//	            p[m][s][i] ≤ cap Σ_{j ≥ i} u[m][s][j]           (6)
//
// where cap is the most replicas of stage s+1 that part m can hold. At the
// optimum p[m][s][i] = x[m][s+1] where x[m][s] ≥ i, and 0 elsewhere, so that
// Σ_i p[m][s][i] is the product x[m][s] x[m][s+1]. The model minimises the
// weight of all edges less that.
//
// Errors: as for NaiveCut.
func CountCut(in *sched.Instance, id sched.JobID, servers, parts []int) (*Program, error) {
	r, err := newRequest(in, id, servers, parts)
	if err != nil {
		return nil, err
	}
	ring, next, total, unit, exact := r.scaled()
	o := newOneHot(r, "count cut")
	o.model.Constant = total
	for m := range o.u {
		for s := range o.u[m] {
			for j, c := range o.u[m][s] {
				o.model.Vars[c].Cost = -ring[s] * float64(ringEdges(r.job.Stages[s].Replicas, j))
			}
			if next[s] == 0 {
				continue
			}
			top := float64(r.most(m, s+1))
			for i := 1; i < len(o.u[m][s]); i++ {
				p := o.model.AddVar(milp.Variable{Name: fmt.Sprintf("p_%d_%d_%d", m, s, i), Upper: top, Cost: -next[s], Integer: true})
				row := milp.Row{Name: fmt.Sprintf("both_%d_%d_%d", m, s, i), Sense: milp.LE, Cols: []int{p}, Vals: []float64{1}} // (5)
				o.addCount(&row, m, s+1, -1)
				o.model.AddRow(row)
				row = milp.Row{Name: fmt.Sprintf("has_%d_%d_%d", m, s, i), Sense: milp.LE, Cols: []int{p}, Vals: []float64{1}} // (6)
				for _, c := range o.u[m][s][i:] {
					row.Cols, row.Vals = append(row.Cols, c), append(row.Vals, -top)
				}
				o.model.AddRow(row)
			}
		}
	}
	return &Program{Model: o.model, Relation: relation(exact), Unit: unit, Decode: o.decode}, nil
}
