package sharing

import (
	"math"
	"math/big"
	"slices"

	"yardstick/sched"
)

// Costs are in slots here, times weights; releases are not taken off.

// rounding is what sums of a few thousand slots in floating point may be off by,
// and more.
const rounding = 1e-6

// theta returns the largest of 1 and of the sums of what two jobs that may share
// a GPU progress there, each relative to itself alone, rounded up.
func (p *problem) theta() float64 {
	theta := 1.0
	for i := range p.jobs {
		for k := range i {
			a, b := &p.jobs[i], &p.jobs[k]
			if p.fits(&a.options[len(a.options)-1], &b.options[len(b.options)-1]) {
				theta = max(theta, (1/p.in.Interference[a.task][b.task]+1/p.in.Interference[b.task][a.task])*(1+1e-12))
			}
		}
	}
	return theta
}

// add adds the completion of job i to a cost.
func (s *search) add(total float64, i int, end float64) float64 {
	if s.obj == sched.Makespan {
		return max(total, end)
	}
	return total + s.weight[i]*end
}

// reaches reports whether a lower bound on the cost leaves nothing to gain.
func (s *search) reaches(bound float64) bool { return bound >= s.ceiling*(1+s.slack) }

// unfinished is a job of which something is left.
type unfinished struct {
	size   float64 // slots that all GPUs need for it at the rate Theta
	left   float64 // slots that it needs alone
	weight float64
}

// bound returns a lower bound on the cost of all schedules that go on from a
// state, in which jobs before from in order do not start in this slot.
func (s *search) bound(st *state, from int) float64 {
	total, done := 0.0, 0.0
	var buffer [maxJobs]unfinished
	rest := buffer[:0]
	var room [maxJobs]float64
	alone := room[:0] // earliest completions
	now := float64(st.slot)
	for k, i := range s.order {
		j := &s.jobs[i]
		if st.end[i] >= 0 {
			done = s.add(done, i, float64(st.end[i]))
			total = s.add(total, i, float64(st.end[i]))
			continue
		}
		left, start := j.options[0].about, now
		if st.end[i] == runs {
			left = j.left(&j.options[st.option[i]], st.counts[i][:len(j.xi)])
		} else {
			if k < from {
				start++
			}
			start = max(start, float64(j.release))
		}
		end := start + max(1, math.Ceil(left-rounding))
		total = s.add(total, i, end)
		alone = append(alone, end)
		rest = append(rest, unfinished{float64(j.gang) * max(0, left) / (s.theta * float64(s.gpus)), max(0, left), s.weight[i]})
	}
	switch {
	case len(rest) == 0:
		return total
	case s.obj == sched.Makespan:
		work := 0.0
		for _, u := range rest {
			work += u.size
		}
		return max(total, now+math.Ceil(work-rounding))
	case s.equal:
		return done + rest[0].weight*ranked(now, rest, alone)
	}
	fluid := done + meanBusy(now, rest)*(1-s.slack)
	if s.slack == 0 {
		fluid = math.Ceil(fluid - rounding)
	}
	return max(total, fluid)
}

// ranked returns Σ_k max(k-th earliest completion alone, when the k smallest are
// done at full speed).
func ranked(now float64, rest []unfinished, alone []float64) float64 {
	slices.SortFunc(rest, func(a, b unfinished) int { return compare(a.size, b.size) })
	slices.Sort(alone)
	total, work := 0.0, 0.0
	for k := range rest {
		work += rest[k].size
		total += max(alone[k], now+math.Ceil(work-rounding))
	}
	return total
}

// meanBusy returns Σ weight·(mean time of the work + left/2), where the job of the
// largest weight per size is done first.
func meanBusy(now float64, rest []unfinished) float64 {
	slices.SortFunc(rest, func(a, b unfinished) int { return compare(b.weight*a.size, a.weight*b.size) })
	total, work := 0.0, 0.0
	for _, u := range rest {
		total += u.weight * (now + work + u.size/2 + u.left/2)
		work += u.size
	}
	return total
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// exactly turns a lower bound in slots, which may be off by the search's slack,
// into one on the objective.
func (s *search) exactly(bound float64) *big.Rat {
	v := new(big.Rat).SetFloat64(bound * (1 - s.slack))
	return s.objective(v.Mul(v, s.unit))
}

// objective turns a cost in slots into the objective's.
func (p *problem) objective(cost *big.Rat) *big.Rat {
	return p.obj.FromBase(p.in, new(big.Rat).Mul(cost, big.NewRat(int64(p.in.Slot), 1)))
}
