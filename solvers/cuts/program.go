package cuts

import (
	"math/bits"
	"slices"

	"yardstick/sched"
)

// program is the dynamic program over servers for one packing, restricted to
// fillings below a known bottleneck. The vector of replicas still to place is
// kept twice: as a mixed-radix number, to index layers, and as bit fields with
// a spare bit above each, so that one subtraction tells whether a filling fits:
// a field that would turn negative borrows its spare bit.
type program struct {
	*packing
	radix  []int
	shift  []int // of each stage's field
	guards uint64
	states int
	steps  int
}

// vector is what one part may hold.
type vector struct {
	counts []int
	delta  int
	fields uint64
	rank   int32
}

// remaining is a state that was reached.
type remaining struct {
	index  int
	fields uint64
}

// newProgram returns nil if there are more than maxStates states, in all
// layers together.
func newProgram(p *packing) *program {
	d := &program{packing: p, states: 1}
	at := 0
	for _, st := range p.job.Stages {
		d.radix, d.shift = append(d.radix, d.states), append(d.shift, at)
		if d.states *= st.Replicas + 1; d.states*(len(p.shares)+1) > maxStates {
			return nil
		}
		// A stage takes at most two bits per doubling of the states, as a stage
		// of one replica does: 40 bits in all.
		at += bits.Len(uint(st.Replicas)) + 1
		d.guards |= 1 << (at - 1)
	}
	return d
}

// vectors lists the fillings of a slot with a bottleneck below high.
func (d *program) vectors(sl slot, high int32) []vector {
	var list []vector
	counts := make([]int, len(d.job.Stages))
	after := make([]int, len(counts)+1)
	for s := len(counts) - 1; s >= 0; s-- {
		after[s] = after[s+1] + d.job.Stages[s].Replicas
	}
	below := func(s, b int) bool {
		if s < 0 || counts[s] == 0 {
			return true
		}
		a := 0
		if s > 0 {
			a = counts[s-1]
		}
		return d.rank(sl.size, s, a, counts[s], b) < high
	}
	var fill func(s, left int)
	fill = func(s, left int) {
		d.steps++
		if s == len(counts) {
			v := vector{counts: slices.Clone(counts), rank: d.worst(sl.size, counts)}
			if v.rank >= high {
				return
			}
			for i, x := range counts {
				v.delta += x * d.radix[i]
				v.fields += uint64(x) << d.shift[i]
			}
			list = append(list, v)
			return
		}
		for x := max(0, left-after[s+1]); x <= min(left, d.job.Stages[s].Replicas); x++ {
			counts[s] = x
			if below(s-1, x) && below(s, min(left-x, replicas(d.job, s+1))) {
				fill(s+1, left-x)
			}
		}
		counts[s] = 0
	}
	fill(0, sl.part)
	return list
}

// solve returns the best placement with a bottleneck below high, or refuted if
// there is none. It is undecided if that takes more than limit steps.
func (d *program) solve(high int32, limit int) (sched.Placement, verdict) {
	var order []int // the slot of each part, slot by slot
	choices := make([][]vector, len(d.slots))
	for k, sl := range d.slots {
		choices[k] = d.vectors(sl, high)
		for range sl.count {
			order = append(order, k)
		}
	}
	layers := make([][]int32, len(order)+1)
	for i := range layers {
		layers[i] = make([]int32, d.states)
		for r := range layers[i] {
			layers[i][r] = unset
		}
	}
	full := remaining{index: d.states - 1}
	for s, st := range d.job.Stages {
		full.fields += uint64(st.Replicas) << d.shift[s]
	}
	layers[0][full.index] = 0
	reached := []remaining{full}
	for i, k := range order {
		if d.steps += len(reached) * len(choices[k]); d.steps > limit {
			return sched.Placement{}, undecided
		}
		var next []remaining
		from, to := layers[i], layers[i+1]
		for _, r := range reached {
			guarded, value := r.fields|d.guards, from[r.index]
			for j := range choices[k] {
				v := &choices[k][j]
				rest := guarded - v.fields
				if rest&d.guards != d.guards {
					continue
				}
				at := r.index - v.delta
				if to[at] == unset {
					next = append(next, remaining{at, rest &^ d.guards})
				}
				to[at] = min(to[at], max(value, v.rank))
			}
		}
		reached = next
	}
	if layers[len(order)][0] == unset {
		return sched.Placement{}, refuted
	}
	contents := make([][][]int, len(d.slots))
	at := remaining{}
	for i := len(order) - 1; i >= 0; i-- {
		want := layers[i+1][at.index]
		for j := range choices[order[i]] {
			v := &choices[order[i]][j]
			// A sum beyond some stage's replicas is no state.
			fields := at.fields + v.fields
			if fields&d.guards != 0 || ((full.fields|d.guards)-fields)&d.guards != d.guards {
				continue
			}
			if from := layers[i][at.index+v.delta]; from != unset && max(from, v.rank) == want {
				contents[order[i]] = append(contents[order[i]], v.counts)
				at = remaining{at.index + v.delta, fields}
				break
			}
		}
	}
	return d.assemble(contents), attained
}
