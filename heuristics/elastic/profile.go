package elastic

import "yardstick/sched"

// Profile is what jobs take of each resource of each server in the slots to
// come. Slots after the last one that anything was taken in are empty.
type Profile struct {
	in   *sched.Instance
	from int64     // the first slot that is of interest
	used [][]int64 // by server·R + resource, and slot − from; short rows end in zeros
}

// NewProfile returns the empty cluster from the given slot on.
func NewProfile(in *sched.Instance, from int64) *Profile {
	return &Profile{in: in, from: from, used: make([][]int64, len(in.Cluster.Servers)*len(in.Elastic.Resources))}
}

// Take takes what a placement demands in slots from start to end, as far as
// these are of interest.
func (p *Profile) Take(place *sched.Placement, start, end int64) { p.add(place, start, end, 1) }

// Give gives back what Take took.
func (p *Profile) Give(place *sched.Placement, start, end int64) { p.add(place, start, end, -1) }

func (p *Profile) add(place *sched.Placement, start, end, sign int64) {
	a, b := max(0, start-p.from), max(0, end-p.from)
	p.each(place, func(row *[]int64, _, amount int64) {
		if short := int(b) - len(*row); short > 0 {
			*row = append(*row, make([]int64, short)...)
		}
		for t := a; t < b; t++ {
			(*row)[t] += sign * amount
		}
	})
}

// each calls f with every row that a placement takes a positive amount of.
func (p *Profile) each(place *sched.Placement, f func(row *[]int64, capacity, amount int64)) {
	resources := len(p.in.Elastic.Resources)
	for i := range place.Shares {
		h := place.Shares[i].Server
		for r, capacity := range p.in.Cluster.Servers[h].Capacity {
			if amount := p.in.ElasticDemand(place, i, r); amount > 0 {
				f(&p.used[h*resources+r], capacity, amount)
			}
		}
	}
}

// Earliest returns the first slot from which on a placement that fits the
// empty cluster fits beside all that was taken for the given number of slots, not
// before the given one and none that is not of interest.
//
// Cost: O(P·d) per slot in which there is no room, with P rows of the placement
// and d slots.
func (p *Profile) Earliest(place *sched.Placement, notBefore, slots int64) int64 {
	t := max(0, notBefore-p.from)
	for {
		full := int64(-1) // the last slot without room
		p.each(place, func(row *[]int64, capacity, amount int64) {
			for s := min(t+slots, int64(len(*row))) - 1; s >= t && s > full; s-- {
				if (*row)[s] > capacity-amount {
					full = s
				}
			}
		})
		if full < 0 {
			return p.from + t
		}
		t = full + 1
	}
}
