package placement

import (
	"fmt"
	"math"

	"yardstick/sched"
	"yardstick/solvers/milp"
)

// onehot is a model under construction whose variables u[m][s][j] say that part
// m holds j replicas of stage s:
//
//	Σ_j u[m][s][j] = 1           for every part and stage   (1)
//	Σ_s t_s x[m][s] = g_m        for every part             (2)
//	Σ_m x[m][s] = k_s            for every stage            (3)
//	x[m][0] ≥ x[m+1][0]          for parts that are alike   (4)
//
// where x[m][s] = Σ_j j u[m][s][j], and t_s is the GPUs of a replica. Parts are alike if both they and their
// servers have the same size; (4) removes part of their symmetry.
type onehot struct {
	*request
	model *milp.Model
	u     [][][]int // column
}

func newOneHot(r *request, name string) *onehot {
	o := &onehot{request: r, model: &milp.Model{Name: name, IntegralCost: true}}
	for m := range r.gpus {
		row := make([][]int, len(r.job.Stages))
		for s := range row {
			for j := 0; j <= r.most(m, s); j++ {
				row[s] = append(row[s], o.model.AddVar(milp.Variable{Name: fmt.Sprintf("u_%d_%d_%d", m, s, j), Upper: 1, Integer: true}))
			}
		}
		o.u = append(o.u, row)
	}
	for m := range o.u { // (1)
		for s, cols := range o.u[m] {
			row := milp.Row{Name: fmt.Sprintf("one_%d_%d", m, s), Sense: milp.EQ, RHS: 1}
			for _, c := range cols {
				row.Cols, row.Vals = append(row.Cols, c), append(row.Vals, 1)
			}
			o.model.AddRow(row)
		}
	}
	for m := range o.u { // (2)
		row := milp.Row{Name: fmt.Sprintf("part_%d", m), Sense: milp.EQ, RHS: float64(r.gpus[m])}
		for s := range o.u[m] {
			o.addCount(&row, m, s, float64(r.job.Slices(s)))
		}
		o.model.AddRow(row)
	}
	for s, st := range r.job.Stages { // (3)
		row := milp.Row{Name: fmt.Sprintf("stage_%d", s), Sense: milp.EQ, RHS: float64(st.Replicas)}
		for m := range o.u {
			o.addCount(&row, m, s, 1)
		}
		o.model.AddRow(row)
	}
	last := map[[2]int]int{}
	for m := range o.u { // (4)
		key := [2]int{r.gpus[m], r.size(m)}
		if before, ok := last[key]; ok {
			row := milp.Row{Name: fmt.Sprintf("alike_%d", m), Sense: milp.GE}
			o.addCount(&row, before, 0, 1)
			o.addCount(&row, m, 0, -1)
			o.model.AddRow(row)
		}
		last[key] = m
	}
	return o
}

// addCount adds factor·x[m][s] to the row.
func (o *onehot) addCount(row *milp.Row, m, s int, factor float64) {
	for j, c := range o.u[m][s] {
		if j > 0 {
			row.Cols, row.Vals = append(row.Cols, c), append(row.Vals, factor*float64(j))
		}
	}
}

// decode reads the counts of a point.
func (o *onehot) decode(x []float64) (sched.Placement, error) {
	if len(x) != len(o.model.Vars) {
		return sched.Placement{}, fmt.Errorf("placement: a point of %d values for %d variables", len(x), len(o.model.Vars))
	}
	counts := make([][]int, len(o.u))
	for m := range o.u {
		counts[m] = make([]int, len(o.u[m]))
		for s, cols := range o.u[m] {
			for j, c := range cols {
				counts[m][s] += j * int(math.Round(x[c]))
			}
		}
	}
	return o.placement(counts)
}
