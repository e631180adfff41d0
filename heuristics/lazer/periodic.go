package lazer

import (
	"slices"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// Periodic repacks the cluster at multiples of an interval and does nothing in
// between: jobs in order of remaining time are given GPUs as long as there are
// any, skipping those that do not fit; the others are preempted. A job starts
// if its GPUs are free at the tick, and otherwise at a later one; those of a job
// that completes are idle until the next tick.
//
// Source: the periodic schedulers that Lazer, section 5, compares with under
// the names Pollux (60 s), Muri (360 s) and Optimus (600 s).
type Periodic struct {
	interval  sched.Time
	placement sim.Rule
	jobs      jobs
	waiting   waiting
	pausing   int // GPUs of jobs that save their states
	ticked    sched.Time
	late      []*job // chosen at the last tick; their GPUs were not free yet
}

// NewPeriodic returns the policy, for one run. The interval must be positive.
func NewPeriodic(interval sched.Time, placement sim.Rule) *Periodic {
	return &Periodic{interval: interval, placement: placement, jobs: jobs{all: map[sched.JobID]*job{}}, ticked: -1}
}

// Name implements sim.Policy.
func (p *Periodic) Name() string { return "periodic" }

// Class implements sim.Policy.
func (p *Periodic) Class() sched.Class { return sched.Class{Kind: sched.P} }

// Decide implements sim.Policy.
func (p *Periodic) Decide(v *sim.View) (sim.Decision, error) {
	for _, id := range v.Completed() {
		p.jobs.stop(p.jobs.all[id], queued)
		delete(p.jobs.all, id)
	}
	for _, id := range v.Paused() {
		j := p.jobs.all[id]
		best, err := v.Consolidated(id)
		if err != nil {
			return sim.Decision{}, err
		}
		if err := j.measure(v, &best); err != nil {
			return sim.Decision{}, err
		}
		p.pausing -= j.gang
		j.phase = queued
		p.waiting.push(j.gang, entry{j.left, id})
	}
	for _, id := range v.Arrived() {
		j, err := p.jobs.arrive(v, id)
		if err != nil {
			return sim.Decision{}, err
		}
		p.waiting.push(j.gang, entry{j.left, id})
	}
	var d sim.Decision
	chosen := p.late
	p.late = nil
	switch {
	case v.Now() == p.ticked: // interrupted loads have left their GPUs
	case v.Now()%p.interval < max(v.Slot(), 1): // in slots, the first boundary from a multiple on
		p.ticked = v.Now()
		p.queue(chosen)
		chosen = p.choose(v, &d)
	default:
		p.queue(chosen)
		chosen = nil
	}
	if err := p.start(v, chosen, &d); err != nil {
		return sim.Decision{}, err
	}
	if len(p.late) > 0 || p.waiting.count > 0 || p.pausing > 0 {
		d.Wake = (v.Now()/p.interval + 1) * p.interval
	}
	return d, nil
}

func (p *Periodic) queue(jobs []*job) {
	for _, j := range jobs {
		p.waiting.push(j.gang, entry{j.left, j.id})
	}
}

// choose preempts the running jobs that are not to run any more, and returns
// the waiting ones that are to run.
func (p *Periodic) choose(v *sim.View, d *sim.Decision) (chosen []*job) {
	now := v.Now()
	running := slices.Clone(p.jobs.running)
	slices.SortFunc(running, func(a, b *job) int {
		return entry{a.remaining(now), a.id}.compare(entry{b.remaining(now), b.id})
	})
	budget := v.Cluster().GPUs() - p.pausing
	for next := 0; ; {
		first, gang, ok := p.waiting.first(budget)
		if next < len(running) && (!ok || entry{running[next].remaining(now), running[next].id}.compare(first) < 0) {
			r := running[next]
			if next++; r.gang <= budget {
				budget -= r.gang
				continue
			}
			r.left = r.remaining(now)
			p.jobs.stop(r, pausing)
			p.pausing += r.gang
			d.Preempt = append(d.Preempt, r.id)
			continue
		}
		if !ok {
			return chosen
		}
		budget -= gang
		chosen = append(chosen, p.jobs.all[p.waiting.pop(gang).id])
	}
}

// start starts the chosen jobs that find their GPUs free. Those of the others
// are held by jobs that save their states.
func (p *Periodic) start(v *sim.View, chosen []*job, d *sim.Decision) error {
	for _, j := range chosen {
		place, fits, err := v.Place(j.id, p.placement)
		if err == nil && !fits {
			place, fits, err = v.Place(j.id, sim.Pool)
		}
		if err != nil {
			return err
		}
		if !fits {
			p.late = append(p.late, j)
			continue
		}
		if err := j.measure(v, &place); err != nil {
			return err
		}
		p.jobs.run(j, active)
		j.trainFrom = v.Now() + j.load
		d.Start = append(d.Start, sim.Assignment{Job: j.id, Place: place})
	}
	return nil
}
