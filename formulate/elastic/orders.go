package elastic

import (
	"cmp"
	"slices"

	"yardstick/sched"
)

// orders lists the orders of list schedules: by release, by weight over duration,
// by weight over volume, and the latter among jobs of one release.
func (p *problem) orders() [][]sched.JobID {
	short, small := make([]float64, len(p.weight)), make([]float64, len(p.weight))
	w := p.slotted()
	for id, weight := range p.weight {
		short[id] = weight / float64(p.shortest(sched.JobID(id)))
		volume, _ := w.size(sched.JobID(id), w.even()).Float64()
		small[id] = weight / max(volume, 1e-9)
	}
	release := func(a, b sched.JobID) int { return cmp.Compare(p.in.FirstSlot(a), p.in.FirstSlot(b)) }
	by := func(key []float64) func(a, b sched.JobID) int {
		return func(a, b sched.JobID) int { return cmp.Compare(key[b], key[a]) }
	}
	var out [][]sched.JobID
	for _, less := range []func(a, b sched.JobID) int{by(short), by(small), func(a, b sched.JobID) int { return cmp.Or(release(a, b), by(small)(a, b)) }} {
		order := make([]sched.JobID, len(p.weight))
		for id := range order {
			order[id] = sched.JobID(id)
		}
		slices.SortStableFunc(order, less)
		out = append(out, order)
	}
	return out
}
