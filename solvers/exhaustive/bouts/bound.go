package bouts

import (
	"math"
	"math/bits"

	"yardstick/internal/number"
)

// relaxation bounds what is left to pay from a state on, for any weights and
// for the makespan. Jobs keep what they need of slots and when they can have
// the first of them; they may be served in parts, by one machine.
//
// With a dual-feasible function (see dual) job j takes share_j·need_j of a machine
// that does whole units per slot, and every schedule from the state on is a
// preemptive one of that machine. Then, as in package bounds,
//
//   - the k-th completion is no earlier than under shortest remaining
//     processing time first, nor than the k-th smallest completion of the jobs
//     each alone; completions are whole slots (equal weights);
//   - Σ w_j C_j ≥ Σ w_j (M_j + need_j/2) for the least mean busy times M_j;
//   - the makespan is no earlier than the end of all work.
//
// Jobs with share 0 are left out of the machine and counted alone.
type relaxation struct {
	p     *problem
	jobs  []rest
	order []int32 // jobs on the machine, by avail
	ends  []int64 // completions of these jobs alone, in order
}

// rest is what is left of a job, in slots from now.
type rest struct {
	need, avail int64
	alone       int64 // avail + need, or 0 if it is done

	size, left int64  // on the machine
	twice      uint64 // 2·∫ t d(work), in the machine's time
}

func newRelaxation(p *problem) *relaxation { return &relaxation{p: p, jobs: make([]rest, len(p.jobs))} }

// bound returns a lower bound on what the slots from t on cost, in the given
// state at the beginning of slot t. It need not look for more than enough.
func (r *relaxation) bound(s *key, t int32, enough int64) int64 {
	p := r.p
	total, longest := int64(0), int64(0)
	for j := range p.jobs {
		st := &p.jobs[j].states[s.state[j]]
		x := &r.jobs[j]
		x.need, x.avail, x.alone = int64(st.need), int64(max(st.wait, p.jobs[j].first-t)), 0
		if st.phase != done {
			x.alone = x.avail + x.need
		}
		total += p.jobs[j].weight * x.alone
		longest = max(longest, x.alone)
	}
	best := total
	if p.makespan {
		best = longest * p.lattice
	}
	for i := range p.dual {
		d := &p.dual[i]
		if best >= enough || !r.collect(d) {
			continue
		}
		switch {
		case p.makespan:
			best = max(best, number.CeilDiv(r.serve(d, true, ignore), d.whole)*p.lattice)
			continue
		case p.equal:
			best = max(best, r.ranked(d)*p.jobs[0].weight)
		}
		if best < enough {
			best = max(best, r.meanBusy(d))
		}
	}
	return number.CeilDiv(best, p.lattice) * p.lattice
}

// collect puts the unfinished jobs that have a share on the machine. It returns
// false if there are fewer than two: then nobody waits.
func (r *relaxation) collect(d *dual) bool {
	r.order, r.ends = r.order[:0], r.ends[:0]
	for j := range r.jobs {
		x := &r.jobs[j]
		if x.alone == 0 || d.share[j] == 0 {
			continue
		}
		x.size, x.twice = d.share[j]*x.need, 0
		k := len(r.order)
		r.order = append(r.order, int32(j))
		for ; k > 0 && r.jobs[r.order[k-1]].avail > x.avail; k-- {
			r.order[k] = r.order[k-1]
		}
		r.order[k] = int32(j)
		k = len(r.ends)
		r.ends = append(r.ends, x.alone)
		for ; k > 0 && r.ends[k-1] > x.alone; k-- {
			r.ends[k] = r.ends[k-1]
		}
		r.ends[k] = x.alone
	}
	return len(r.order) > 1
}

func ignore(int32, int64, int64) {}

// serve runs the machine on the collected jobs, always on the available one
// with the least left or, unless shortest is set, with the most weight per
// size. It calls stretch for every stretch of service and returns the end. Its
// time is in units of a slot divided by whole.
func (r *relaxation) serve(d *dual, shortest bool, stretch func(j int32, from, length int64)) int64 {
	for _, j := range r.order {
		r.jobs[j].left = r.jobs[j].size
	}
	now, released := int64(0), 0
	for unfinished := len(r.order); unfinished > 0; {
		for released < len(r.order) && r.jobs[r.order[released]].avail*d.whole <= now {
			released++
		}
		next := int64(math.MaxInt64)
		if released < len(r.order) {
			next = r.jobs[r.order[released]].avail * d.whole
		}
		best := int32(-1)
		for _, j := range r.order[:released] {
			if r.jobs[j].left > 0 && (best < 0 || r.before(j, best, shortest)) {
				best = j
			}
		}
		if best < 0 {
			now = next
			continue
		}
		length := min(r.jobs[best].left, next-now)
		stretch(best, now, length)
		now += length
		if r.jobs[best].left -= length; r.jobs[best].left == 0 {
			unfinished--
		}
	}
	return now
}

func (r *relaxation) before(i, j int32, shortest bool) bool {
	a, b := &r.jobs[i], &r.jobs[j]
	if shortest {
		return a.left < b.left
	}
	ah, al := bits.Mul64(uint64(r.p.jobs[i].weight), uint64(b.size))
	bh, bl := bits.Mul64(uint64(r.p.jobs[j].weight), uint64(a.size))
	return ah > bh || ah == bh && al > bl
}

// ranked returns Σ_k max(k-th alone, ⌈k-th completion⌉) in slots, jobs without a
// share alone.
func (r *relaxation) ranked(d *dual) int64 {
	sum, k := int64(0), 0
	r.serve(d, true, func(j int32, from, length int64) {
		if r.jobs[j].left == length {
			sum += max(r.ends[k], number.CeilDiv(from+length, d.whole))
			k++
		}
	})
	for j := range r.jobs {
		if d.share[j] == 0 {
			sum += r.jobs[j].alone
		}
	}
	return sum
}

// meanBusy returns Σ w_j (M_j + need_j/2), each term rounded down, jobs without a
// share alone.
func (r *relaxation) meanBusy(d *dual) int64 {
	r.serve(d, false, func(j int32, from, length int64) {
		r.jobs[j].twice += uint64(length) * uint64(2*from+length)
	})
	sum := int64(0)
	for j := range r.jobs {
		x, weight := &r.jobs[j], r.p.jobs[j].weight
		switch {
		case x.alone == 0:
		case d.share[j] == 0:
			sum += weight * x.alone
		default: // M_j = twice/(2·size·whole)
			unit := 2 * uint64(x.size) * uint64(d.whole)
			hi, lo := bits.Mul64(uint64(weight), x.twice+uint64(x.need)*unit/2)
			term, _ := bits.Div64(hi, lo, unit) // below weight times the end: it fits
			sum += int64(term)
		}
	}
	return sum
}
