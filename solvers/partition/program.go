package partition

import (
	"math/bits"
	"slices"
)

// program is dynamic programming over servers that are all to be filled,
// restricted to fillings below a known bottleneck: with f_i(r) the least
// bottleneck rank with which i servers can have taken all replicas but r,
//
//	f_0(K) = 0,  f_i(r) = min over fillings c of server i of max(f_{i−1}(r + c), worst(c)).
//
// The vector of replicas still to place is kept twice: as a mixed-radix number,
// to index layers, and as bit fields with a spare bit above each, so that one
// subtraction tells whether a filling fits: a field that would turn negative
// borrows its spare bit.
type program struct {
	*question
	radix  []int
	shift  []int // of each stage's field
	guards uint64
	states int
	steps  int
}

// vector is what one server may hold.
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
func newProgram(q *question) *program {
	layers := 1
	for _, l := range q.lots {
		layers += l.count
	}
	d := &program{question: q, states: 1}
	at := 0
	for _, k := range q.replicas {
		d.radix, d.shift = append(d.radix, d.states), append(d.shift, at)
		if d.states *= k + 1; d.states*layers > maxStates {
			return nil
		}
		// A stage takes at most two bits per doubling of the states, as a stage
		// of one replica does: 40 bits in all.
		at += bits.Len(uint(k)) + 1
		d.guards |= 1 << (at - 1)
	}
	return d
}

// vectors lists the fillings of a lot with a bottleneck below high.
func (d *program) vectors(l lot, high int32) []vector {
	var list []vector
	counts := make([]int, len(d.replicas))
	behind := d.behind(d.replicas)
	below := func(i, room int) bool { // stages up to i are decided, and room GPUs are left
		for _, s := range d.touched[i] {
			if counts[s] > 0 && d.atBest(l.class, s, counts, i, d.replicas, room) >= high {
				return false
			}
		}
		return true
	}
	var fill func(s, left int)
	fill = func(s, left int) {
		d.steps++
		if s == len(counts) {
			v := vector{counts: slices.Clone(counts), rank: d.worst(l.class, counts)}
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
		for x := d.width(s, left); x >= 0 && left-x*d.slices[s] <= behind[s+1]; x-- {
			counts[s] = x
			if below(s, left-x*d.slices[s]) {
				fill(s+1, left-x*d.slices[s])
			}
		}
		counts[s] = 0
	}
	fill(0, l.room)
	return list
}

// solve returns the best placement with a bottleneck below high, or refuted if
// there is none. It is undecided if that takes more than limit steps.
func (d *program) solve(high int32, limit int) (contents, verdict) {
	var order []int // the lot of each server
	choices := make([][]vector, len(d.lots))
	for k, l := range d.lots {
		choices[k] = d.vectors(l, high)
		order = append(order, slices.Repeat([]int{k}, l.count)...)
	}
	layers := make([][]int32, len(order)+1)
	for i := range layers {
		layers[i] = slices.Repeat([]int32{unset}, d.states)
	}
	full := remaining{index: d.states - 1}
	for s, k := range d.replicas {
		full.fields += uint64(k) << d.shift[s]
	}
	layers[0][full.index] = 0
	reached := []remaining{full}
	for i, k := range order {
		if d.steps += len(reached) * len(choices[k]); d.steps > limit {
			return nil, undecided
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
		return nil, refuted
	}
	out := make(contents, len(d.lots))
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
				out[order[i]] = append(out[order[i]], v.counts)
				at = remaining{at.index + v.delta, fields}
				break
			}
		}
	}
	return out, attained
}
