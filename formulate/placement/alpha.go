package placement

import (
	"fmt"
	"math/big"

	"yardstick/sched"
	"yardstick/solvers/milp"
)

// OneHotAlpha is the program for the least time per iteration, with the
// variables and rows of one-hot counts and a variable T that is minimised:
//
//	T ≥ Σ_{j ≥ 1} β_s(j) u[m][s][j] − Σ_t d_st x[m][t]   for every m, s,
//
// where β_s(j) is the time of j replicas of stage s without neighbours, on a
// server of part m's size, and every replica of a stage t next to s takes d_st
// off it ([sched.Instance.ServerTime]). No big constant is needed: with
// u[m][s][0] = 1 the right-hand side is not positive, as B_intra ≥ B_inter makes
// d so.
//
// Times are rounded down and d up, unless the unit divides them all.
//
// Errors: as for NaiveCut.
func OneHotAlpha(in *sched.Instance, id sched.JobID, servers, parts []int) (*Program, error) {
	r, err := newRequest(in, id, servers, parts)
	if err != nil {
		return nil, err
	}
	o := newOneHot(r, "one-hot alpha")
	// The times on each size of server.
	type times struct {
		alone []*big.Rat // by number of replicas, from 1
		drop  []*big.Rat // d_st, in the order of links
	}
	largest := new(big.Rat)
	var values []*big.Rat
	of := map[[2]int]*times{} // (size, stage)
	counts := make([]int, len(r.job.Stages))
	for m := range o.u {
		for s := range o.u[m] {
			counts[s] = 1
			t := of[[2]int{r.size(m), s}]
			if t == nil {
				t = &times{}
				of[[2]int{r.size(m), s}] = t
				one := in.ServerTime(id, s, counts, r.size(m))
				for _, l := range r.links[s] {
					counts[l.Stage] = 1
					t.drop = append(t.drop, new(big.Rat).Sub(one, in.ServerTime(id, s, counts, r.size(m))))
					counts[l.Stage] = 0
				}
				values = append(values, t.drop...)
			}
			for j := len(t.alone) + 1; j < len(o.u[m][s]); j++ {
				counts[s] = j
				v := in.ServerTime(id, s, counts, r.size(m))
				t.alone, values = append(t.alone, v), append(values, v)
				if v.Cmp(largest) > 0 {
					largest = v
				}
			}
			counts[s] = 0
		}
	}
	unit, exact := grid(values, largest)
	top := up(largest, unit)
	alpha := o.model.AddVar(milp.Variable{Name: "T", Upper: top, Cost: 1, Integer: true})
	for m := range o.u {
		for s := range o.u[m] {
			t := of[[2]int{r.size(m), s}]
			row := milp.Row{Name: fmt.Sprintf("time_%d_%d", m, s), Sense: milp.GE, Cols: []int{alpha}, Vals: []float64{1}}
			for j := 1; j < len(o.u[m][s]); j++ {
				row.Cols, row.Vals = append(row.Cols, o.u[m][s][j]), append(row.Vals, -down(t.alone[j-1], unit))
			}
			for i, l := range r.links[s] {
				o.addCount(&row, m, l.Stage, up(t.drop[i], unit))
			}
			o.model.AddRow(row)
		}
	}
	return &Program{Model: o.model, Relation: relation(exact), Unit: unit, Decode: o.decode}, nil
}
