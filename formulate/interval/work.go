package interval

import (
	"fmt"
	"math/big"

	"yardstick/sched"
	"yardstick/solvers/milp"
)

// works adds PTI:
//
//	x[j,k] ≥ 0: the share of job j's work done in slot k, and after the last
//	min Σ w_j (mid_jk − r_j − d_j/2 − e_j) x[j,k]
//	Σ_k x[j,k] = 1                                               each job j
//	x[j,k] ≤ |slot k ∩ [r_j, ∞)|/d_j                              each job and slot
//	Σ_j g_j d_j x[j,k] ≤ G' |slot k|                              each slot k
//
// mid_jk is the middle of slot k as far as it is after r_j; after the last slot
// it is the end of that. A job that runs without interruption from t on has
// its work at t + d_j/2 in the mean, and completes d_j/2 later. With the middles
// of slots in place of where the work is, that mean is off, upwards by at
// most e_j: by how much is piecewise linear in t, with bends where t or
// t + d_j is a grid point. If d_j is a multiple of the slot length and r_j a grid
// point, e_j is 0.
func (m *program) works() error {
	for i := range m.p.jobs {
		j := &m.p.jobs[i]
		from := len(m.model.Vars)
		first := m.p.grid.Slot(j.release)
		twice := m.p.middles(j) // 2·mid
		excess := m.p.excess(j, twice)
		for k := first; k <= m.p.grid.Slots(); k++ {
			late := big.NewRat(twice[k]-2*int64(j.release)-int64(j.length), 2)
			late.Mul(late.Sub(late, excess), j.weight)
			v := milp.Variable{Name: fmt.Sprintf("x%d_%d", j.id, k), Upper: 1, Cost: down(late)}
			if k < m.p.grid.Slots() {
				v.Upper = min(1, up(big.NewRat(int64(m.p.grid[k+1]-max(m.p.grid[k], j.release)), int64(j.length))))
				m.slots[k].add(len(m.model.Vars), j.gang*int64(j.length))
			}
			m.model.AddVar(v)
		}
		if len(m.model.Vars) > maxColumns {
			return tooLarge()
		}
		if err := m.ctx.Err(); err != nil {
			return err
		}
		m.one(j, from)
	}
	return nil
}

// middles returns 2·mid_jk.
func (p *problem) middles(j *job) []int64 {
	out := make([]int64, len(p.grid))
	for k := range out {
		out[k] = 2 * int64(max(p.grid[k], j.release))
		if k < p.grid.Slots() {
			out[k] = int64(max(p.grid[k], j.release) + p.grid[k+1])
		}
	}
	return out
}

// excess returns e_j ≥ 0.
func (p *problem) excess(j *job, twice []int64) *big.Rat {
	worst := new(big.Rat)
	sum, term := new(big.Int), new(big.Int)
	for _, t := range p.starts(j.release, j.length) {
		sum.SetInt64(0) // 2·Σ mid·time
		rest := j.length
		for _, o := range p.overlaps(t, t+j.length) {
			sum.Add(sum, term.Mul(term.SetInt64(twice[o.slot]), big.NewInt(o.time)))
			rest -= sched.Time(o.time)
		}
		sum.Add(sum, term.Mul(term.SetInt64(twice[p.grid.Slots()]), big.NewInt(int64(rest))))
		mean := new(big.Rat).SetFrac(sum, big.NewInt(2*int64(j.length)))
		if mean.Sub(mean, big.NewRat(int64(2*t+j.length), 2)); mean.Cmp(worst) > 0 {
			worst.Set(mean)
		}
	}
	return worst
}
