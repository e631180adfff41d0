package partition

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"yardstick/sched"
)

// packing is the question how to fill prescribed parts with the replicas of a
// job's stages.
type packing struct {
	question
	shares []sched.Share // by server, without stages
	lotOf  []int         // of each share
}

// newPacking returns the packing of shares.
//
// Errors: sched.ErrNotApplicable.
func newPacking(in *sched.Instance, id sched.JobID, shares []sched.Share, limit int) (*packing, error) {
	p := &packing{shares: shares}
	var sizes []sizeClass
	var most []int
	for _, c := range sizeClasses(&in.Cluster) { // those in use
		n := 0
		for _, sh := range shares {
			if in.Cluster.Servers[sh.Server].GPUs == c.gpus {
				n = max(n, sh.GPUs)
			}
		}
		if n > 0 {
			sizes, most = append(sizes, c), append(most, n)
		}
	}
	t, err := newTableOf(in, id, sizes, most)
	if err != nil {
		return nil, err
	}
	p.question = question{table: t, whole: true, limit: limit}
	for _, sh := range shares {
		l := p.lotFor(in, sh)
		if k := p.find(l); k >= 0 {
			p.lots[k].count++
		} else {
			p.lots = append(p.lots, l)
		}
	}
	slices.SortFunc(p.lots, func(a, b lot) int { return cmp.Or(b.room-a.room, a.class-b.class) })
	for _, sh := range shares {
		p.lotOf = append(p.lotOf, p.find(p.lotFor(in, sh)))
	}
	return p, nil
}

// lotFor returns a lot of one server for the share.
func (p *packing) lotFor(in *sched.Instance, sh sched.Share) lot {
	gpus := in.Cluster.Servers[sh.Server].GPUs
	return lot{slices.IndexFunc(p.sizes, func(c sizeClass) bool { return c.gpus == gpus }), sh.GPUs, 1}
}

// find returns the index of the lot of servers like l, or −1.
func (p *packing) find(l lot) int {
	return slices.IndexFunc(p.lots, func(m lot) bool { return m.class == l.class && m.room == l.room })
}

// assemble returns the placement with the given contents.
func (p *packing) assemble(c contents) sched.Placement {
	next := make([]int, len(p.lots))
	out := sched.Placement{Shares: slices.Clone(p.shares)}
	for i := range out.Shares {
		k := p.lotOf[i]
		out.Shares[i].Stages = slices.Clone(c[k][next[k]])
		next[k]++
	}
	return out
}

// bottleneck returns the rank of a placement's alpha.
func (p *packing) bottleneck(place sched.Placement) int32 {
	worst := int32(0)
	for i, sh := range place.Shares { // in the order of p.shares, by server
		worst = max(worst, p.worst(p.lots[p.lotOf[i]].class, sh.Stages))
	}
	return worst
}

// maxIntervalStates bounds the dynamic program of intervals.
const maxIntervalStates = 500_000

// intervals returns the contents of [Intervals].
//
// Errors: ErrNoPlacement, sched.ErrNotApplicable.
func (p *packing) intervals() (contents, error) {
	states := 1
	radix := make([]int, len(p.lots))
	for k, l := range p.lots {
		radix[k] = states
		if states *= l.count + 1; states > maxIntervalStates {
			return nil, fmt.Errorf("more than %d ways to use up the parts: %w", maxIntervalStates, sched.ErrNotApplicable)
		}
	}
	const none = math.MaxInt32
	value, choice := make([]int32, states), make([]int16, states)
	used := make([]int, len(p.lots))
	counts := make([]int, len(p.replicas))
	known := map[[2]int]int32{} // (lot, begin of the interval)
	end := 0                    // of the last interval, in GPUs
	for state := range states {
		if state > 0 { // count on, as an odometer does
			k := 0
			for used[k] == p.lots[k].count {
				end -= used[k] * p.lots[k].room
				used[k] = 0
				k++
			}
			used[k]++
			end += p.lots[k].room
			value[state] = none
		}
		for k, l := range p.lots {
			if used[k] == 0 || value[state-radix[k]] >= value[state] {
				continue
			}
			key := [2]int{k, end - l.room}
			w, ok := known[key]
			if !ok {
				w = none
				if p.interval(counts, end-l.room, end) {
					w = p.worst(l.class, counts)
				}
				known[key] = w
			}
			if v := max(value[state-radix[k]], w); v < value[state] {
				value[state], choice[state] = v, int16(k)
			}
		}
	}
	if value[states-1] == none {
		return nil, ErrNoPlacement
	}
	out := make(contents, len(p.lots))
	for state := states - 1; state > 0; {
		k := int(choice[state])
		p.interval(counts, end-p.lots[k].room, end)
		out[k] = append(out[k], slices.Clone(counts))
		end -= p.lots[k].room
		state -= radix[k]
	}
	return out, nil
}

// interval sets counts to the replicas on GPUs begin to end − 1 if all GPUs are
// given out in the order of the stages. It returns false if a replica is there
// in part.
func (p *packing) interval(counts []int, begin, end int) bool {
	first := 0
	for s, k := range p.replicas {
		last := first + k*p.slices[s]
		n := max(0, min(end, last)-max(begin, first))
		if n%p.slices[s] != 0 || n > 0 && begin > first && (begin-first)%p.slices[s] != 0 {
			return false
		}
		counts[s] = n / p.slices[s]
		first = last
	}
	return true
}
