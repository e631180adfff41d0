package elastic

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// patience is how many slots a guaranteed job waits before it is content with
// what is left over.
const patience = 10

// antman is the policy AntMan.
type antman struct {
	seed    uint64
	packer  *Packer
	chosen  map[sched.JobID]Choice
	since   map[sched.JobID]sched.Time // when it was first seen
	assured []sched.JobID              // guaranteed jobs that wait, by arrival
	eager   []sched.JobID              // opportunistic jobs that wait, by arrival
	guests  []sched.JobID              // opportunistic jobs that run, by start
	pausing []sched.JobID              // preempted jobs whose containers are not free yet
}

// AntMan returns the policy of two kinds of jobs. A job is guaranteed or
// opportunistic with even odds, by seed and number. Guaranteed jobs start in order
// of arrival with their ideal configuration; if it does not fit, opportunistic
// jobs are preempted, the latest started first, as far as that helps. A guaranteed
// job that has waited for more than ten slots becomes opportunistic. Opportunistic
// jobs, in order of arrival, start with as many workers of their ideal types as
// fit, up to the ideal number, and pass each other.
//
// Schedules are of class EPs: a preempted job keeps what it has trained, and pays
// Job.Pause and Job.Load.
//
// Source: Section 7 of the primal-dual paper, algorithm (iii). Not in the source:
// the odds, the ten slots and the order of preemptions.
func AntMan(seed uint64) sim.Policy {
	return &antman{seed: seed, chosen: map[sched.JobID]Choice{}, since: map[sched.JobID]sched.Time{}}
}

func (a *antman) Name() string       { return "elastic-antman" }
func (a *antman) Class() sched.Class { return sched.Class{Kind: sched.EP, Slotted: true} }

func (a *antman) Decide(v *sim.View) (d sim.Decision, err error) {
	in := v.Known()
	if a.packer == nil {
		a.packer = NewPacker(in)
	}
	if err := a.admit(v); err != nil {
		return d, err
	}
	free := copyOf(v.Free())
	for len(a.assured) > 0 {
		id := a.assured[0]
		place, ok := a.place(in, free, id, a.chosen[id].Workers)
		if !ok && len(a.pausing) == 0 {
			evicted, err := a.evict(v, free, id)
			if err != nil {
				return d, err
			}
			d.Preempt = append(d.Preempt, evicted...)
			place, ok = a.place(in, free, id, a.chosen[id].Workers)
		}
		if !ok {
			break
		}
		a.assured = a.assured[1:]
		d.Start = append(d.Start, sim.Assignment{Job: id, Place: place})
	}
	if len(a.assured) == 0 || len(a.pausing) == 0 { // otherwise what is freed is waited for
		a.fill(in, free, &d)
	}
	if len(a.assured) > 0 {
		d.Wake = a.since[a.assured[0]] + (patience+1)*v.Slot()
	}
	return d, nil
}

// admit queues what arrived or was preempted, and moves those who lost their
// patience.
func (a *antman) admit(v *sim.View) error {
	done := func(id sched.JobID) bool { return slices.Contains(v.Completed(), id) }
	a.guests = slices.DeleteFunc(a.guests, done)
	for _, id := range v.Paused() {
		if i := slices.Index(a.pausing, id); i >= 0 { // the others had no pause, and were queued at once
			a.pausing = slices.Delete(a.pausing, i, i+1)
			a.queue(id)
		}
	}
	for _, id := range v.Arrived() {
		c, ok := a.packer.Ideal(id)
		if !ok {
			return fmt.Errorf("job %d fits nowhere", id)
		}
		a.chosen[id], a.since[id] = c, v.Now()
		if rand.New(rand.NewPCG(a.seed, uint64(id))).IntN(2) == 0 {
			a.assured = append(a.assured, id)
		} else {
			a.queue(id)
		}
	}
	for len(a.assured) > 0 && v.Now()-a.since[a.assured[0]] > patience*v.Slot() {
		a.queue(a.assured[0])
		a.assured = a.assured[1:]
	}
	return nil
}

// queue adds a job to the opportunistic ones, in order of arrival.
func (a *antman) queue(id sched.JobID) {
	i := slices.IndexFunc(a.eager, func(other sched.JobID) bool { return a.since[other] > a.since[id] })
	if i < 0 {
		i = len(a.eager)
	}
	a.eager = slices.Insert(a.eager, i, id)
}

// place places a job on what is free, and takes that.
func (a *antman) place(in *sched.Instance, free [][]int64, id sched.JobID, workers int) (sched.Placement, bool) {
	c := a.chosen[id]
	p, ok := a.packer.Place(free, in.Jobs[id].Elastic.Ring, c.WorkerType, c.ServerType, workers)
	if ok {
		take(in, free, &p, 1)
	}
	return p, ok
}

// evict preempts opportunistic jobs until the job fits, the latest started
// first, or none if it would not fit then. What is free at once is added to
// free.
func (a *antman) evict(v *sim.View, free [][]int64, id sched.JobID) (evicted []sched.JobID, err error) {
	in, c := v.Known(), a.chosen[id]
	planned := copyOf(free)
	fits := false
	for i := len(a.guests) - 1; i >= 0 && !fits; i-- {
		p, ok, err := v.Placement(a.guests[i])
		if err != nil {
			return nil, err
		}
		if since, _, _ := v.Started(a.guests[i]); !ok || since == v.Now() {
			continue
		}
		take(in, planned, p, -1)
		evicted = append(evicted, a.guests[i])
		_, fits = a.packer.Place(planned, in.Jobs[id].Elastic.Ring, c.WorkerType, c.ServerType, c.Workers)
	}
	if !fits {
		return nil, nil
	}
	for _, guest := range evicted {
		a.guests = slices.DeleteFunc(a.guests, func(g sched.JobID) bool { return g == guest })
		if in.Jobs[guest].Pause > 0 {
			a.pausing = append(a.pausing, guest)
			continue
		}
		p, _, _ := v.Placement(guest) // found above
		take(in, free, p, -1)
		a.queue(guest)
	}
	return evicted, nil
}

// fill starts opportunistic jobs on what is left over.
func (a *antman) fill(in *sched.Instance, free [][]int64, d *sim.Decision) {
	a.eager = slices.DeleteFunc(a.eager, func(id sched.JobID) bool {
		for n := a.chosen[id].Workers; n > 0; n-- {
			if p, ok := a.place(in, free, id, n); ok {
				d.Start = append(d.Start, sim.Assignment{Job: id, Place: p})
				a.guests = append(a.guests, id)
				return true
			}
		}
		return false
	})
}
