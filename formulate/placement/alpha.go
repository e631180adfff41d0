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
//	T ≥ Σ_{j ≥ 1} β(s; 0, j, 0) u[m][s][j] − c_{s−1} x[m][s−1] − d_s x[m][s+1]   for every m, s,
//
// where β(s; a, x, b) = β(s; 0, x, 0) − c_{s−1} a − d_s b is the time of stage
// s beside a and b replicas of its neighbours, on a server of part m's size
// ([sched.Instance.StageTime]). No big constant is needed: with u[m][s][0] = 1
// the right-hand side is not positive, as B_intra ≥ B_inter makes c and d so.
//
// Times are rounded down and c, d up, unless the unit divides them all.
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
		alone         []*big.Rat // by number of replicas, from 1
		before, after *big.Rat   // c_{s−1} and d_s
	}
	largest := new(big.Rat)
	var values []*big.Rat
	of := map[[2]int]*times{} // (size, stage)
	for m := range o.u {
		for s := range o.u[m] {
			t := of[[2]int{r.size(m), s}]
			if t == nil {
				t = &times{}
				of[[2]int{r.size(m), s}] = t
				one := in.StageTime(id, s, 0, 1, 0, r.size(m))
				near := func(a, b int) *big.Rat { return new(big.Rat).Sub(one, in.StageTime(id, s, a, 1, b, r.size(m))) }
				t.before, t.after = new(big.Rat), new(big.Rat)
				if s > 0 {
					t.before = near(1, 0)
				}
				if s+1 < len(r.job.Stages) {
					t.after = near(0, 1)
				}
				values = append(values, t.before, t.after)
			}
			for j := len(t.alone) + 1; j < len(o.u[m][s]); j++ {
				v := in.StageTime(id, s, 0, j, 0, r.size(m))
				t.alone, values = append(t.alone, v), append(values, v)
				if v.Cmp(largest) > 0 {
					largest = v
				}
			}
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
			if s > 0 {
				o.addCount(&row, m, s-1, up(t.before, unit))
			}
			if s+1 < len(o.u[m]) {
				o.addCount(&row, m, s+1, up(t.after, unit))
			}
			o.model.AddRow(row)
		}
	}
	return &Program{Model: o.model, Relation: relation(exact), Unit: unit, Decode: o.decode}, nil
}
