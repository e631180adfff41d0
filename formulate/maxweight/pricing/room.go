package pricing

import (
	"fmt"

	"yardstick/sched"
)

// Room is how much of each resource is left on each server in each slot.
type Room struct {
	in    *sched.Instance
	Slots int
	// Free has what is left, laid out as Prices.Of.
	Free []int64
}

// NewRoom returns the empty cluster for a number of slots. Later slots stay
// empty.
func NewRoom(in *sched.Instance, slots int) *Room {
	r := &Room{in: in, Slots: slots}
	for h := range in.Cluster.Servers {
		for _, capacity := range in.Cluster.Servers[h].Capacity {
			for range slots {
				r.Free = append(r.Free, capacity)
			}
		}
	}
	return r
}

// Clone returns a copy.
func (r *Room) Clone() *Room {
	c := *r
	c.Free = append([]int64(nil), r.Free...)
	return &c
}

// Fits reports whether there is room for a schedule. One that does not end by
// the last slot does not fit: what it takes afterwards could not be recorded.
func (r *Room) Fits(c *Choice) bool {
	if c.Start < 0 || c.End() > int64(r.Slots) {
		return false
	}
	ok := true
	c.Use(r.in, func(h, k int, amount int64) {
		for _, free := range r.row(h, k)[c.Start:c.End()] {
			ok = ok && free >= amount
		}
	})
	return ok
}

// Take takes what a schedule needs. It panics if that is not there.
func (r *Room) Take(c *Choice) {
	if !r.Fits(c) {
		panic(fmt.Sprintf("pricing: no room for %d workers from slot %d to %d", c.ElasticConfig.Workers, c.Start, c.End()))
	}
	r.add(c, -1)
}

// Give gives back what Take took.
func (r *Room) Give(c *Choice) { r.add(c, 1) }

func (r *Room) add(c *Choice, sign int64) {
	c.Use(r.in, func(h, k int, amount int64) {
		row := r.row(h, k)
		for t := c.Start; t < c.End(); t++ {
			row[t] += sign * amount
		}
	})
}

func (r *Room) row(h, k int) []int64 {
	return r.Free[(h*len(r.in.Elastic.Resources)+k)*r.Slots:][:r.Slots]
}
