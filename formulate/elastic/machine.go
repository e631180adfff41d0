package elastic

import (
	"container/heap"
	"math/big"
	"slices"

	"yardstick/bounds"
	"yardstick/internal/number"
	"yardstick/sched"
)

// Alone is Σ w_j (r_j + d_j^min), the cost of every job without the others. The
// class is Es; or F(min), for jobs of class EP or M; or F(min)s, for slotted ones.
//
// Errors: sched.ErrNotApplicable; a job that runs nowhere.
func Alone(in *sched.Instance, obj sched.Objective, class sched.Class) (bounds.Bound, error) {
	w, err := workFor(in, obj, class)
	if err != nil {
		return bounds.Bound{}, err
	}
	sum := new(big.Rat)
	for id, weight := range w.p.weight {
		sum.Add(sum, weighted(weight, new(big.Rat).SetInt64(w.complete(w.release[id]+w.shortest[id]))))
	}
	b := w.bound("elastic-alone", sum)
	b.Proof = &bounds.Proof{Kind: "elastic-alone"}
	return b, nil
}

func workFor(in *sched.Instance, obj sched.Objective, class sched.Class) (*work, error) {
	p, err := newProblem(in, obj)
	if err != nil {
		return nil, err
	}
	return p.workOf(class)
}

func weighted(w float64, v *big.Rat) *big.Rat { return v.Mul(v, new(big.Rat).SetFloat64(w)) }

// MeanBusyTime is the largest, over ways λ to count resources together, of
//
//	Σ w_j (M_j + d_j^min/2),
//
// where M_j is the mean time at which one machine works on job j if it always
// serves the released job of largest w_j/p_j, and p_j the least size
// Σ_r λ_r V^r/C^r over its configurations; jobs of size 0 count w_j (r_j + d_j^min).
//
// In a schedule, let ρ_j(t) be the share of its work that job j does at t. It takes
// at least p_j ρ_j of the machine (a smaller size only asks for less), all jobs
// together at most 1, and the mean of t under ρ_j is at most C_j − d_j^min/2, since
// ρ_j ≤ 1/d_j^min. Over all such ρ, Σ w_j M_j is least for static priorities w_j/p_j.
// Classes are those of Alone. Cost: O(n log n) for each λ.
//
// Sources: as for [bounds.MeanBusyTime].
func MeanBusyTime(in *sched.Instance, obj sched.Objective, class sched.Class) (bounds.Bound, error) {
	w, err := workFor(in, obj, class)
	if err != nil {
		return bounds.Bound{}, err
	}
	var best *big.Rat
	var proof *bounds.Proof
	for _, mix := range w.mixes() {
		if v := w.meanBusyTime(mix); best == nil || v.Cmp(best) > 0 {
			best, proof = v, w.proof(mix)
		}
	}
	b := w.bound("elastic-mean-busy-time", best)
	b.Proof = proof
	return b, nil
}

func (w *work) meanBusyTime(mix []*big.Rat) *big.Rat {
	sizes, releases, unit := w.machine(mix)
	m := &machine{release: releases, size: sizes, rank: ranks(w.p.weight, sizes)}
	twice := m.run() // 2∫t for each job
	sum := new(big.Rat)
	for id, weight := range w.p.weight {
		at := new(big.Rat)
		if sizes[id] > 0 {
			at.SetFrac(twice[id], new(big.Int).Mul(big.NewInt(2*sizes[id]), unit))
			at.Add(at, big.NewRat(w.shortest[id], 2))
		} else {
			at.SetInt64(w.complete(w.release[id] + w.shortest[id]))
		}
		sum.Add(sum, weighted(weight, at))
	}
	return sum
}

// machine returns sizes and releases in integers, in ticks over unit. Sizes are
// rounded down, and unit is as large as int64 allows, up to 2^20.
func (w *work) machine(mix []*big.Rat) (sizes, releases []int64, unit *big.Int) {
	total := new(big.Rat)
	exact := make([]*big.Rat, len(w.release))
	for id := range exact {
		exact[id] = w.size(sched.JobID(id), mix)
		total.Add(total, exact[id])
	}
	total.Add(total, new(big.Rat).SetInt64(slices.Max(w.release)))
	shift := uint(20)
	for ; shift > 0 && total.Cmp(new(big.Rat).SetInt64(1<<61>>shift)) > 0; shift-- {
	}
	unit = big.NewInt(1 << shift)
	for id, v := range exact {
		sizes = append(sizes, number.FloorInt(v.Mul(v, new(big.Rat).SetInt(unit))).Int64())
		releases = append(releases, w.release[id]<<shift)
	}
	return sizes, releases, unit
}

// ranks returns the place of each job in the order of decreasing w_j/p_j.
func ranks(weight []float64, size []int64) []int {
	order := make([]int, len(weight))
	ratio := make([]*big.Rat, len(weight))
	for id := range order {
		order[id] = id
		if size[id] > 0 {
			ratio[id] = new(big.Rat).SetFloat64(weight[id])
			ratio[id].Quo(ratio[id], new(big.Rat).SetInt64(size[id]))
		} else {
			ratio[id] = new(big.Rat) // never served
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return ratio[b].Cmp(ratio[a]) })
	out := make([]int, len(weight))
	for k, id := range order {
		out[id] = k
	}
	return out
}

// machine serves the released job of least rank, preemptively.
type machine struct {
	release, size []int64
	rank          []int
	left          []int64
	waiting       []int // a heap by rank
}

// run serves all jobs and returns twice the integral of t over the service of
// each.
func (m *machine) run() []*big.Int {
	order := make([]int, 0, len(m.size))
	for id, p := range m.size {
		if p > 0 {
			order = append(order, id)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(min(1, max(-1, m.release[a]-m.release[b]))) })
	m.left = slices.Clone(m.size)
	out := make([]*big.Int, len(m.size))
	for id := range out {
		out[id] = new(big.Int)
	}
	now := int64(0)
	for len(order) > 0 || len(m.waiting) > 0 {
		if len(m.waiting) == 0 {
			now = max(now, m.release[order[0]])
		}
		for len(order) > 0 && m.release[order[0]] <= now {
			heap.Push(m, order[0])
			order = order[1:]
		}
		id := m.waiting[0]
		end := now + m.left[id]
		if len(order) > 0 {
			end = min(end, m.release[order[0]])
		}
		length := big.NewInt(end - now) // 2∫ = length·(now + end)
		out[id].Add(out[id], length.Mul(length, new(big.Int).Add(big.NewInt(now), big.NewInt(end))))
		if m.left[id] -= end - now; m.left[id] == 0 {
			heap.Pop(m)
		}
		now = end
	}
	return out
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (m *machine) Len() int           { return len(m.waiting) }
func (m *machine) Less(i, j int) bool { return m.rank[m.waiting[i]] < m.rank[m.waiting[j]] }
func (m *machine) Swap(i, j int)      { m.waiting[i], m.waiting[j] = m.waiting[j], m.waiting[i] }
func (m *machine) Push(x any)         { m.waiting = append(m.waiting, x.(int)) }
func (m *machine) Pop() any {
	last := m.waiting[len(m.waiting)-1]
	m.waiting = m.waiting[:len(m.waiting)-1]
	return last
}
