package sharing

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"yardstick/sched"
)

// Costs are in slots here, times weights; releases are not taken off.

// Rounding is what sums of a few thousand slots in floating point may be off by,
// and more.
const Rounding = 1e-6

// Theta returns the largest of 1 and of the sums of what two jobs that may share
// a GPU progress there, each relative to itself alone, rounded up.
func (p *Problem) Theta() float64 {
	theta := 1.0
	for i := range p.Jobs {
		for k := range i {
			a, b := &p.Jobs[i], &p.Jobs[k]
			if p.Fits(&a.Options[len(a.Options)-1], &b.Options[len(b.Options)-1]) {
				theta = max(theta, (1/p.In.Interference[a.Task][b.Task]+1/p.In.Interference[b.Task][a.Task])*(1+1e-12))
			}
		}
	}
	return theta
}

// add adds the completion of job i to a cost.
func (s *search) add(total float64, i int, end float64) float64 {
	if s.Obj == sched.Makespan {
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
		j := &s.Jobs[i]
		if st.end[i] >= 0 {
			done = s.add(done, i, float64(st.end[i]))
			total = s.add(total, i, float64(st.end[i]))
			continue
		}
		left, start := j.Options[0].about, now
		if st.end[i] == runs {
			left = j.left(&j.Options[st.option[i]], st.counts[i][:len(j.Xi)])
		} else {
			if k < from {
				start++
			}
			start = max(start, float64(j.Release))
		}
		end := start + max(1, math.Ceil(left-Rounding))
		total = s.add(total, i, end)
		alone = append(alone, end)
		rest = append(rest, unfinished{float64(j.Gang) * max(0, left) / (s.theta * float64(s.GPUs)), max(0, left), s.weight[i]})
	}
	switch {
	case len(rest) == 0:
		return total
	case s.Obj == sched.Makespan:
		work := 0.0
		for _, u := range rest {
			work += u.size
		}
		return max(total, now+math.Ceil(work-Rounding))
	case s.equal:
		return done + rest[0].weight*ranked(now, rest, alone)
	}
	fluid := done + meanBusy(now, rest)*(1-s.slack)
	if s.slack == 0 {
		fluid = math.Ceil(fluid - Rounding)
	}
	return max(total, fluid)
}

// ranked returns Σ_k max(k-th earliest completion alone, when the k smallest are
// done at full speed).
func ranked(now float64, rest []unfinished, alone []float64) float64 {
	slices.SortFunc(rest, func(a, b unfinished) int { return cmp.Compare(a.size, b.size) })
	slices.Sort(alone)
	total, work := 0.0, 0.0
	for k := range rest {
		work += rest[k].size
		total += max(alone[k], now+math.Ceil(work-Rounding))
	}
	return total
}

// meanBusy returns Σ weight·(mean time of the work + left/2), where the job of the
// largest weight per size is done first.
func meanBusy(now float64, rest []unfinished) float64 {
	slices.SortFunc(rest, func(a, b unfinished) int { return cmp.Compare(b.weight*a.size, a.weight*b.size) })
	total, work := 0.0, 0.0
	for _, u := range rest {
		total += u.weight * (now + work + u.size/2 + u.left/2)
		work += u.size
	}
	return total
}

// exactly turns a lower bound in slots, which may be off by the search's slack,
// into one on the objective.
func (s *search) exactly(bound float64) *big.Rat {
	v := new(big.Rat).SetFloat64(bound * (1 - s.slack))
	return s.FromSlots(v.Mul(v, s.unit))
}

// FromSlots turns a cost in slots into the objective's.
func (p *Problem) FromSlots(cost *big.Rat) *big.Rat {
	return p.Obj.FromBase(p.In, new(big.Rat).Mul(cost, big.NewRat(int64(p.In.Slot), 1)))
}
