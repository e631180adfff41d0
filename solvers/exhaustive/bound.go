package exhaustive

import (
	"math"
	"math/bits"
	"yardstick/internal/number"
)

// relaxation bounds nodes from below. From the node's time on, the GPUs that
// the running jobs leave free are a capacity that rises in steps; the waiting
// jobs share it as in the fluid relaxation of package bounds, each from the
// earliest time at which it can start at all.
type relaxation struct {
	frames [][]int64 // by depth: the earliest end of each waiting job
	smith  []int     // place of each job in the order of falling weight/work

	steps []step
	list  []int            // waiting jobs by earliest start
	start []int64          // earliest start of each waiting job
	left  []int64          // work left in a simulation
	twice []number.Uint128 // 2·∫ time d(work), relative to now
	ends  []int64          // completion times of a simulation, in order
	early []int64          // earliest ends, in order
	units []int64          // gangs of list, in units of some size
}

// step is a capacity that holds from a time on.
type step struct {
	at      int64
	total   int // free GPUs
	running uint64
}

// unreachable is the bound of a node without completions worth having.
var unreachable = number.Uint128{Hi: math.MaxUint64 >> 1}

func newRelaxation(p *problem) relaxation {
	n := len(p.jobs)
	r := relaxation{smith: make([]int, n), start: make([]int64, n), left: make([]int64, n), twice: make([]number.Uint128, n)}
	for range n*2 + 2 { // no path has more decision points than releases and ends
		r.frames = append(r.frames, make([]int64, n))
	}
	for i := range p.jobs {
		for k := range p.jobs {
			// weight_k/work_k > weight_i/work_i, by cross multiplication
			a := number.Product(p.jobs[k].weight, uint64(p.jobs[i].work))
			b := number.Product(p.jobs[i].weight, uint64(p.jobs[k].work))
			if b.Less(a) || a == b && k < i {
				r.smith[i]++
			}
		}
	}
	return r
}

// bound returns a lower bound on the cost of every optimal schedule that
// continues the node, and the cost if each waiting job ended as early as it can
// for itself.
//
// For totals without weights the bound is the largest of that cost, of the
// ranked SRPT bound and of the mean-busy-time bound, the latter mixed with the
// former job by job; with weights SRPT is left out; for the makespan it is the
// latest earliest end, the time at which the capacity has done all work, or what [relaxation.energy] says.
func (r *relaxation) bound(s *search) (bound, alone number.Uint128) {
	r.capacity(s)
	early := r.frames[len(s.past)]
	alone = s.cost
	r.list = r.list[:0]
	for set := s.waiting; set != 0; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		start, end := r.earliest(s, i)
		if end == never {
			return unreachable, unreachable
		}
		r.start[i], early[i] = start, end
		if s.makespan {
			alone = alone.Max(number.Uint128{Lo: uint64(end)})
		} else {
			alone = alone.Plus(number.Product(s.jobs[i].weight, uint64(end)))
		}
		r.list = append(r.list, i)
	}
	if len(r.list) == 0 || !alone.Less(s.ceiling) {
		return alone, alone
	}
	insertionSort(r.list, func(a, b int) bool { return r.start[a] < r.start[b] })
	if s.makespan {
		r.simulate(s, s.waiting, false)
		bound = alone.Max(number.Uint128{Lo: uint64(s.now + r.ends[len(r.ends)-1])})
		if bound.Less(s.ceiling) {
			bound = bound.Max(number.Uint128{Lo: uint64(r.energy(s))})
		}
		return bound, alone
	}
	bound = alone
	if !s.weighted {
		r.simulate(s, s.waiting, true)
		if bound = bound.Max(r.ranked(s, early)); !bound.Less(s.ceiling) {
			return bound, alone
		}
	}
	return bound.Max(r.meanBusy(s, early)), alone
}
