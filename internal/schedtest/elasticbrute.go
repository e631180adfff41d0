package schedtest

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"yardstick/sched"
)

// ElasticBruteForce returns an optimal schedule of class Es and its cost, from
// all of ElasticChoices. For ScheduledWeight, jobs that complete after the
// deadline, or run nowhere, are left out. It is meant for up to three or four
// jobs, and panics if a job runs nowhere and may not be left out.
//
// It goes through every order of the jobs and every choice of each, and starts
// each job in the earliest slot that its choice allows, but neither before its
// release nor before the job that precedes it in the order. BruteForce explains
// why this finds an optimum of every regular objective: only that a job needs
// several resources instead of GPUs is different here.
func ElasticBruteForce(in *sched.Instance, obj sched.Objective) (*sched.Schedule, *big.Rat) {
	return ElasticOptimum(in, obj, ElasticChoices)
}

// ElasticOptimum is ElasticBruteForce over the choices that it is given.
func ElasticOptimum(in *sched.Instance, obj sched.Objective, choices func(*sched.Instance, sched.JobID) []ElasticChoice) (*sched.Schedule, *big.Rat) {
	b := &elasticBrute{in: in, obj: obj, chosen: make([]elasticStart, len(in.Jobs)), completion: make([]sched.Time, len(in.Jobs))}
	for id := range in.Jobs {
		list := different(in, choices(in, sched.JobID(id)))
		slices.SortStableFunc(list, func(a, b ElasticChoice) int { return cmp.Compare(a.Slots, b.Slots) }) // good schedules first
		b.choices = append(b.choices, list)
		switch {
		case len(list) > 0:
			b.completion[id] = sched.Time(in.FirstSlot(sched.JobID(id))+list[0].Slots) * in.Slot
		case obj == sched.ScheduledWeight:
			b.completion[id], b.chosen[id].done = -1, true
		default:
			panic(fmt.Sprintf("schedtest: job %d of instance %q runs nowhere", id, in.Name))
		}
	}
	b.next(0)
	s := &sched.Schedule{Class: sched.Class{Kind: sched.E, Slotted: true}, Segments: []sched.Segment{}}
	for id := range b.best {
		x := &b.best[id]
		if len(b.choices[id]) == 0 || obj == sched.ScheduledWeight && x.at+x.Slots > in.DeadlineSlots() {
			continue
		}
		s.Segments = append(s.Segments, in.ElasticSegment(sched.JobID(id), x.at, x.Slots, x.Place))
	}
	s.Sort()
	return s, b.cost
}

// different keeps one of several choices that take the same of every server
// for as long.
func different(in *sched.Instance, list []ElasticChoice) []ElasticChoice {
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(c ElasticChoice) bool {
		key := fmt.Sprint(c.Slots)
		for i := range c.Place.Shares {
			key += fmt.Sprint(" on ", c.Place.Shares[i].Server)
			for r := range in.Elastic.Resources {
				key += fmt.Sprint(" ", in.ElasticDemand(&c.Place, i, r))
			}
		}
		known := seen[key]
		seen[key] = true
		return known
	})
}

// elasticStart is a job's choice and the slot in which it starts; done is false
// for jobs that the order has not reached.
type elasticStart struct {
	ElasticChoice
	at   int64
	done bool
}

type elasticBrute struct {
	in         *sched.Instance
	obj        sched.Objective
	choices    [][]ElasticChoice
	chosen     []elasticStart
	completion []sched.Time // of the jobs done; the earliest conceivable of the others
	best       []elasticStart
	cost       *big.Rat
}

// next tries every job that is left, with every choice, after the jobs chosen,
// the last of which starts in the given slot.
func (b *elasticBrute) next(after int64) {
	cost := b.obj.Cost(b.in, b.completion)
	if b.best != nil && (cost.Cmp(b.cost) == 0 || (cost.Cmp(b.cost) < 0) == b.obj.Maximised()) {
		return
	}
	left := false
	for id := range b.chosen {
		if b.chosen[id].done {
			continue
		}
		left = true
		before := b.completion[id]
		for _, c := range b.choices[id] {
			at := b.earliest(&c.Place, max(after, b.in.FirstSlot(sched.JobID(id))))
			b.chosen[id] = elasticStart{c, at, true}
			b.completion[id] = sched.Time(at+c.Slots) * b.in.Slot
			b.next(at)
			b.chosen[id].done, b.completion[id] = false, before
		}
	}
	if !left {
		b.best, b.cost = slices.Clone(b.chosen), cost
	}
}

// earliest returns the first slot, not before the given one, in which the
// placement fits beside the jobs chosen, all of which start by then.
func (b *elasticBrute) earliest(p *sched.Placement, at int64) int64 {
	for ; !b.fits(p, at); at++ {
	}
	return at
}

func (b *elasticBrute) fits(p *sched.Placement, at int64) bool {
	for i := range p.Shares {
		h := p.Shares[i].Server
		for r, free := range b.in.Cluster.Servers[h].Capacity {
			free -= b.in.ElasticDemand(p, i, r)
			for id := range b.chosen {
				c := &b.chosen[id]
				if !c.done || c.at+c.Slots <= at {
					continue
				}
				for k := range c.Place.Shares {
					if c.Place.Shares[k].Server == h {
						free -= b.in.ElasticDemand(&c.Place, k, r)
					}
				}
			}
			if free < 0 {
				return false
			}
		}
	}
	return true
}
