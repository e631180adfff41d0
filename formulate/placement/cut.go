package placement

import (
	"fmt"
	"math"
	"math/big"

	"yardstick/sched"
	"yardstick/solvers/milp"
)

// weights are those of the job's graph under ring AllReduce, rounded down to
// integers in some unit.
type weights struct {
	ring  []float64 // A_s, of an edge between replicas of stage s
	links []link
	total float64 // of all edges
	unit  *big.Rat
	exact bool // nothing was rounded
}

// link is the edges between replicas of two stages, with the weight w_st of
// each.
type link struct {
	from, to int
	weight   float64
}

func (r *request) weights() *weights {
	w := &weights{}
	sum := new(big.Rat)
	var values []*big.Rat
	var edges []int // of each value
	add := func(v *big.Rat, bytes sched.Bytes, n int) {
		v.Mul(v, new(big.Rat).SetInt64(int64(bytes)))
		values, edges = append(values, v), append(edges, n)
		sum.Add(sum, new(big.Rat).Mul(v, big.NewRat(int64(n), 1)))
	}
	for _, st := range r.job.Stages {
		k := int64(st.Replicas)
		add(big.NewRat(2*(k-1), k), st.Params, ringEdges(st.Replicas, st.Replicas))
	}
	for s, list := range r.links {
		for _, l := range list {
			if l.Stage > s {
				pairs := r.job.Stages[s].Replicas * r.job.Stages[l.Stage].Replicas
				add(big.NewRat(2, int64(pairs)), l.Bytes, pairs)
				w.links = append(w.links, link{from: s, to: l.Stage})
			}
		}
	}
	w.unit, w.exact = grid(values, sum)
	for i, v := range values {
		scaled := down(v, w.unit)
		w.total += scaled * float64(edges[i])
		if i < len(r.job.Stages) {
			w.ring = append(w.ring, scaled)
		} else {
			w.links[i-len(r.job.Stages)].weight = scaled
		}
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

// NaiveCut is the textbook program for the least cut, over vertices and edges:
//
//	minimise  Σ_e W_e y_e
//	subject to  Σ_m v[u][m] = 1                  for every vertex u    (1)
//	            Σ_u t_u v[u][m] = g_m            for every part m      (2)
//	            y_e ≥ v[u][m] − v[u'][m]         for e = {u, u'}, m    (3)
//	            v, y binary,
//
// t_u being the GPUs of replica u.
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
	w := r.weights()
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
		for s, st := range r.job.Stages {
			for i := range st.Replicas {
				row.Cols, row.Vals = append(row.Cols, v[first[s]+i][m]), append(row.Vals, float64(r.job.Slices(s)))
			}
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
			edge(first[s]+i, first[s]+(i+1)%st.Replicas, w.ring[s])
		}
	}
	for _, l := range w.links {
		for i := range r.job.Stages[l.from].Replicas {
			for k := range r.job.Stages[l.to].Replicas {
				edge(first[l.from]+i, first[l.to]+k, l.weight)
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
	return &Program{Model: model, Relation: relation(w.exact), Unit: w.unit, Decode: decode}, nil
}

// CountCut is the program for the least cut over numbers of replicas, with the
// variables and rows of one-hot counts: a part with j replicas of stage s has
// ρ_s(j) ring edges inside (see partition.CutWeight), and
//
//	maximise  Σ_{m,s,j} A_s ρ_s(j) u[m][s][j] + Σ_{m,st,i} w_st p[m][st][i]
//	subject to  p[m][st][i] ≤ x[m][t]                           (5)
//	            p[m][st][i] ≤ cap Σ_{j ≥ i} u[m][s][j]          (6)
//
// for stages s, t that exchange data, where cap is the most replicas of stage t
// that part m can hold. At the optimum p[m][st][i] = x[m][t] where x[m][s] ≥ i,
// and 0 elsewhere, so that Σ_i p[m][st][i] is the product x[m][s] x[m][t]. The
// model minimises the weight of all edges less that.
//
// Errors: as for NaiveCut.
func CountCut(in *sched.Instance, id sched.JobID, servers, parts []int) (*Program, error) {
	r, err := newRequest(in, id, servers, parts)
	if err != nil {
		return nil, err
	}
	w := r.weights()
	o := newOneHot(r, "count cut")
	o.model.Constant = w.total
	for m := range o.u {
		for s := range o.u[m] {
			for j, c := range o.u[m][s] {
				o.model.Vars[c].Cost = -w.ring[s] * float64(ringEdges(r.job.Stages[s].Replicas, j))
			}
		}
		for _, l := range w.links {
			if l.weight > 0 {
				o.addProduct(m, l)
			}
		}
	}
	return &Program{Model: o.model, Relation: relation(w.exact), Unit: w.unit, Decode: o.decode}, nil
}

// addProduct adds the variables p of one link on part m, and their rows.
func (o *onehot) addProduct(m int, l link) {
	top := float64(o.most(m, l.to))
	for i := 1; i < len(o.u[m][l.from]); i++ {
		p := o.model.AddVar(milp.Variable{Name: fmt.Sprintf("p_%d_%d_%d_%d", m, l.from, l.to, i), Upper: top, Cost: -l.weight, Integer: true})
		row := milp.Row{Name: fmt.Sprintf("both_%d_%d_%d_%d", m, l.from, l.to, i), Sense: milp.LE, Cols: []int{p}, Vals: []float64{1}} // (5)
		o.addCount(&row, m, l.to, -1)
		o.model.AddRow(row)
		row = milp.Row{Name: fmt.Sprintf("has_%d_%d_%d_%d", m, l.from, l.to, i), Sense: milp.LE, Cols: []int{p}, Vals: []float64{1}} // (6)
		for _, c := range o.u[m][l.from][i:] {
			row.Cols, row.Vals = append(row.Cols, c), append(row.Vals, -top)
		}
		o.model.AddRow(row)
	}
}
