package timeindexed

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"yardstick/sched"
)

// ErrIncumbent reports an incumbent that is not a feasible schedule of class N.
var ErrIncumbent = errors.New("the given incumbent is not a feasible schedule of class N")

// plan is a feasible schedule and its cost.
type plan struct {
	stays []stay
	cost  *big.Rat
}

func (p *problem) planOf(stays []stay) plan {
	return plan{stays, p.cost(p.completions(stays))}
}

func better(a, b plan) plan {
	if b.stays == nil || a.stays != nil && a.cost.Cmp(b.cost) <= 0 {
		return a
	}
	return b
}

// maxEffort ends the search for a first schedule, and each later improvement,
// after about a second.
const maxEffort = 50_000_000

// first returns the best of a few list schedules, improved by local search.
// It is deterministic.
func (p *problem) first() plan {
	keys := []func(j *job) float64{
		func(j *job) float64 { return float64(j.release) },
		func(j *job) float64 { return float64(j.release + j.least()) },
		func(j *job) float64 { return float64(j.least()) / j.weight },
		func(j *job) float64 { return float64(j.least()) * float64(j.gang) / j.weight },
		func(j *job) float64 { return -float64(j.least()) },
		func(j *job) float64 { return -float64(j.least()) * float64(j.gang) },
	}
	var best plan
	var order []int
	for _, key := range keys {
		if p.effort > maxEffort {
			break
		}
		o := make([]int, len(p.jobs))
		for i := range o {
			o[i] = i
		}
		slices.SortStableFunc(o, func(a, b int) int { return cmp.Compare(key(&p.jobs[a]), key(&p.jobs[b])) })
		if next := p.planOf(p.listSchedule(o)); best.stays == nil || next.cost.Cmp(best.cost) < 0 {
			best, order = next, o
		}
	}
	return p.improve(best, order)
}

// improve moves one job at a time within the list as long as that makes the
// list schedule cheaper, for a limited number of list schedules.
func (p *problem) improve(best plan, order []int) plan {
	n := len(order)
	left, enough := 20*n, p.effort+maxEffort
	for improved := true; improved; {
		improved = false
		for from := range n {
			for _, by := range []int{-1, 1, -2, 2, -4, 4, -8, 8} {
				to := from + by
				if to < 0 || to >= n {
					continue
				}
				if left--; left < 0 || p.effort > enough {
					return best
				}
				o := slices.Clone(order)
				j := o[from]
				o = slices.Insert(slices.Delete(o, from, from+1), to, j)
				if next := p.planOf(p.listSchedule(o)); next.cost.Cmp(best.cost) < 0 {
					best, order, improved = next, o, true
				}
			}
		}
	}
	return best
}

// inOrderOf returns the best of the given stays, shifted to the left, and of
// the list schedule in their order of start.
func (p *problem) inOrderOf(stays []stay) plan {
	shifted := p.shift(stays)
	return better(p.planOf(shifted), p.planOf(p.listSchedule(startOrder(shifted))))
}

// startOrder lists the jobs of stays by start.
func startOrder(stays []stay) []int {
	byStart := slices.Clone(stays)
	slices.SortStableFunc(byStart, func(a, b stay) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.job, b.job)) })
	order := make([]int, len(byStart))
	for k, s := range byStart {
		order[k] = s.job
	}
	return order
}

// incumbent reads a schedule that a caller claims to be feasible. Windows
// derived from a cost that cannot be reached would cut off the optimum, so
// that the claim is checked.
func (p *problem) incumbent(s *sched.Schedule) (plan, error) {
	if s.Class.Kind != sched.N {
		return plan{}, fmt.Errorf("class %v: %w", s.Class, ErrIncumbent)
	}
	trained := make([]sched.Time, len(p.jobs))
	place := make([]*sched.Placement, len(p.jobs))
	for k := range s.Segments {
		seg := &s.Segments[k]
		if seg.Job < 0 || int(seg.Job) >= len(p.jobs) || seg.Start < p.jobs[seg.Job].release || seg.End <= seg.Start || seg.Phase == sched.Pause {
			return plan{}, fmt.Errorf("segment %d: %w", k, ErrIncumbent)
		}
		if seg.Phase == sched.Train {
			trained[seg.Job] += seg.End - seg.Start
		}
		place[seg.Job] = &seg.Place
	}
	stays := p.stays(s)
	for i := range p.jobs {
		if place[i] == nil {
			return plan{}, fmt.Errorf("job %d is missing: %w", i, ErrIncumbent)
		}
		need, err := p.in.RunTime(sched.JobID(i), place[i])
		if err != nil {
			return plan{}, fmt.Errorf("%w: %w", err, ErrIncumbent)
		}
		if trained[i] < need || stays[i].end-stays[i].start < need+p.in.Jobs[i].Load {
			return plan{}, fmt.Errorf("job %d does not run long enough: %w", i, ErrIncumbent)
		}
	}
	if m := p.overfull(stays); m >= 0 {
		return plan{}, fmt.Errorf("server %d is overfull: %w", m, ErrIncumbent)
	}
	return p.planOf(stays), nil
}

// overfull returns a server with more jobs at some time than it has GPUs for, or −1.
func (p *problem) overfull(stays []stay) int {
	for _, s := range stays {
		for m, free := range p.free(stays, s.start, s.end) {
			if free < 0 {
				return m
			}
		}
	}
	return -1
}
