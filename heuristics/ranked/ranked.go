// Package ranked is preemptive list scheduling: at every event the unfinished jobs are
// passed in the order of a rank that may change with time, and each that fits into what
// those before it leave is to run. Running jobs that are not to run are preempted; the
// others start as soon as they find GPUs. [SRSF] ranks by what is left of a job, [New] by
// any [Order], and [DLAS] by what a job has had: discretised least attained service.
//
// It is the event loop of public simulators, which count GPUs. Where jobs take time to
// save their state, they hold their GPUs meanwhile: they keep their place in the order,
// and a job that is to run on those GPUs waits for them, which nobody else gets.
//
// Cost: O(log n) per arrival, start and preemption with n jobs unfinished and, at an event
// at which jobs wait, O(R + gang sizes · jobs chosen) with R jobs running.
package ranked

import (
	"cmp"
	"errors"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// phase is where a job is in the policy's eyes.
type phase uint8

const (
	waiting phase = iota
	active        // loads or trains
	pausing       // saves its state after a preemption
	done
)

// job is an unfinished job.
type job struct {
	id      sched.JobID
	release sched.Time
	gang    int
	load    sched.Time
	phase   phase
	rank    rank // as of the last decision, where it changes with time

	started   sched.Time // when it was last put on GPUs
	trainFrom sched.Time // when it begins to train there
	stopped   sched.Time // when it last began to wait

	left sched.Time // of Order: what is left at trainFrom, or now where the job does not train
	here sched.Time // likewise, at the speed that it has where it was put last
	las  served     // of DLAS
}

// trained returns how long a job has trained since it was last put on GPUs.
func (j *job) trained(now sched.Time) sched.Time {
	if j.phase != active {
		return 0
	}
	return max(0, now-j.trainFrom)
}

// rank is what jobs are ordered by, smallest first; ties go to the earlier release, then
// to the lower index.
type rank struct{ first, second int64 }

func (r rank) compare(s rank) int {
	return cmp.Or(cmp.Compare(r.first, s.first), cmp.Compare(r.second, s.second))
}

func compare(a, b *job) int {
	return cmp.Or(a.rank.compare(b.rank), cmp.Compare(a.release, b.release), cmp.Compare(a.id, b.id))
}

// discipline gives jobs their ranks. That of a waiting or pausing job changes only by
// promote.
type discipline interface {
	name() string
	requires(*sched.Instance) error
	// waits ranks a job that has arrived or whose pause has ended.
	waits(*sim.View, *job) error
	// starts notes that a job is put on a placement.
	starts(*sim.View, *job, *sched.Placement) error
	// runs ranks a job that loads or trains, at this moment.
	runs(now sched.Time, j *job)
	// stops notes that an active job is preempted, and ranks it.
	stops(now sched.Time, j *job)
	// promote ranks jobs anew that are due, before jobs are chosen. It returns those
	// that wait and have another rank now.
	promote(now sched.Time) []*job
	// chosen is told at the end of a decision which jobs are on GPUs, in any order, and
	// which of them have been preempted in it, in order of rank.
	chosen(held, preempted []*job)
	// wake returns when a rank changes by itself next, or 0.
	wake(now sched.Time) sched.Time
}

// Policy is a preemptive list. A value serves one run.
type Policy struct {
	d         discipline
	placement sim.Rule

	jobs    map[sched.JobID]*job
	waiting queues
	held    []*job // those on GPUs, about in order of rank
	victims []*job // scratch
	picked  []*job // scratch
}

func newPolicy(d discipline, placement sim.Rule) *Policy {
	return &Policy{d: d, placement: placement, jobs: map[sched.JobID]*job{}}
}

// Name implements sim.Policy.
func (p *Policy) Name() string { return p.d.name() }

// Class returns P.
func (p *Policy) Class() sched.Class { return sched.Class{Kind: sched.P} }

// Requires implements sim.Requirer: gangs that have their GPUs to themselves, with one
// speed on each placement.
func (p *Policy) Requires(in *sched.Instance) error {
	if !in.Model.Exclusive() {
		return errors.New("it knows no accumulation steps, and jobs of the " + string(in.Model) + " model run with a number of them: use the preemptive model")
	}
	return p.d.requires(in)
}

// Decide implements sim.Policy.
func (p *Policy) Decide(v *sim.View) (sim.Decision, error) {
	if err := p.update(v); err != nil {
		return sim.Decision{}, err
	}
	var d sim.Decision
	p.choose(v)
	for _, j := range p.victims {
		p.d.stops(v.Now(), j)
		j.phase = pausing
		d.Preempt = append(d.Preempt, j.id)
	}
	for _, j := range p.picked {
		place, ok, err := v.Place(j.id, p.placement)
		if err != nil {
			return sim.Decision{}, err
		}
		if !ok {
			p.waiting.push(j)
			continue
		}
		j.phase, j.started, j.trainFrom = active, v.Now(), v.Now()+j.load
		if err := p.d.starts(v, j, &place); err != nil {
			return sim.Decision{}, err
		}
		d.Start = append(d.Start, sim.Assignment{Job: j.id, Place: place})
		p.held = append(p.held, j)
	}
	p.d.chosen(p.held, p.victims)
	d.Wake = p.d.wake(v.Now())
	return d, nil
}

// update notes what has happened since the last decision.
func (p *Policy) update(v *sim.View) error {
	for _, id := range v.Completed() {
		j := p.jobs[id]
		p.drop(j)
		j.phase = done
		delete(p.jobs, id)
	}
	for _, id := range v.Paused() {
		j := p.jobs[id]
		p.drop(j)
		j.phase, j.stopped = waiting, v.Now()
		if err := p.d.waits(v, j); err != nil {
			return err
		}
		p.waiting.push(j)
	}
	for _, id := range v.Arrived() {
		facts, err := v.Job(id)
		if err != nil {
			return err
		}
		j := &job{id: id, release: facts.Release, gang: facts.Gang, load: facts.Load, stopped: v.Now()}
		p.jobs[id] = j
		if err := p.d.waits(v, j); err != nil {
			return err
		}
		p.waiting.push(j)
	}
	for _, j := range p.d.promote(v.Now()) {
		p.waiting.push(j) // where it was before does not count any more
	}
	return nil
}

// drop takes a job off those on GPUs.
func (p *Policy) drop(j *job) {
	for i, k := range p.held {
		if k == j {
			p.held = append(p.held[:i], p.held[i+1:]...)
			return
		}
	}
}

// choose passes the unfinished jobs in order of rank, and leaves in p.picked those that
// wait and are to run, no longer in the queues, and in p.victims those that run and are
// not to. What was started in this instant stays.
func (p *Policy) choose(v *sim.View) {
	p.picked, p.victims = p.picked[:0], p.victims[:0]
	if p.waiting.empty() {
		return
	}
	budget := v.Cluster().GPUs()
	for _, j := range p.held {
		switch {
		case j.phase != active:
		case j.started == v.Now():
			budget -= j.gang
		default:
			p.d.runs(v.Now(), j)
		}
	}
	sortNearly(p.held)
	i := 0
	for budget > 0 {
		for i < len(p.held) && p.held[i].phase == active && p.held[i].started == v.Now() {
			i++
		}
		q := p.waiting.first(budget)
		switch {
		case q != nil && (i == len(p.held) || compare(q.head(), p.held[i]) < 0):
			j := q.pop()
			budget -= j.gang
			p.picked = append(p.picked, j)
			continue
		case i == len(p.held):
			return
		}
		switch j := p.held[i]; {
		case j.gang <= budget:
			budget -= j.gang
		case j.phase == active:
			p.victims = append(p.victims, j)
		}
		i++
	}
	for _, j := range p.held[i:] {
		if j.phase == active && j.started < v.Now() {
			p.victims = append(p.victims, j)
		}
	}
}

// sortNearly sorts jobs of which few are out of order: ranks drift slowly.
func sortNearly(list []*job) {
	for i := 1; i < len(list); i++ {
		j := list[i]
		k := i
		for ; k > 0 && compare(j, list[k-1]) < 0; k-- {
			list[k] = list[k-1]
		}
		list[k] = j
	}
}
