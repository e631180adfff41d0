// Package pollux schedules malleable jobs in the spirit of Pollux: from time to
// time it divides the GPUs anew among all unfinished jobs, so that a mean of
// their speedups is largest.
//
// Source: A. Qiao et al., Pollux: Co-adaptive Cluster Scheduling for
// Goodput-Optimized Deep Learning (OSDI 2021), Section 4.2. Kept from it are the
// fitness of Eq. (14), the power mean of the jobs' speedups over a fair share of
// the GPUs with p = −1; the factor of Section 4.2.1 by which a job that would
// have to restart counts for less, the more often it has; and the interval.
//
// Not in the source: the mini-batch of a job stays what its user asked for, so
// that goodput is throughput, speeds are those of the instance and known from
// the beginning; the number of GPUs alone decides the speed, not where they are;
// allotments are found greedily, not by a genetic algorithm; where there are
// more jobs than GPUs, those that wait go by release.
package pollux

import (
	"cmp"
	"fmt"
	"slices"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// Options are the settings.
type Options struct {
	Interval  sched.Time // between two allotments
	Placement sim.Rule   // chooses GPUs
}

// Default returns Pollux's interval of a minute.
func Default() Options { return Options{Interval: 60 * sched.Second, Placement: sim.BestFit} }

// Validate returns an error if the settings make no sense.
func (o *Options) Validate() error {
	if o.Interval <= 0 {
		return fmt.Errorf("pollux: an interval of %v: it must be positive", o.Interval)
	}
	return nil
}

// Policy is the policy, of class M. A value serves one run.
//
// At multiples of the interval it allots GPUs; jobs whose number changes are
// stopped, which costs them a pause and a load, and start again when their GPUs
// are free. In between, jobs only start that were allotted GPUs before.
//
// Cost: a decision at a multiple of the interval takes O(J log J + G·(J + Z)) for
// J unfinished jobs of up to Z sizes, any other O(jobs that wait for GPUs).
type Policy struct {
	o      Options
	ticked sched.Time
	due    sched.Time // the next multiple that was asked for, or 0; a slotted run may be late
	jobs   []*job     // unfinished, by release
	byID   map[sched.JobID]*job
	late   []*job // to start when their GPUs are free
}

// job is an unfinished job.
type job struct {
	id       sched.JobID
	release  sched.Time
	load     sched.Time
	overhead sched.Time // of a restart
	sizes    []sched.Size
	held     int  // index of the size it holds; −1 if it waits
	stopping bool // it holds it no longer than it takes to save its state
	since    sched.Time
	restarts int
	target   int // index of the size it is to have; −1 for none
}

// New returns the policy. The settings must be valid.
func New(o Options) *Policy {
	return &Policy{o: o, ticked: -1, byID: map[sched.JobID]*job{}}
}

// Name implements sim.Policy.
func (p *Policy) Name() string { return "pollux-like" }

// Class returns M.
func (p *Policy) Class() sched.Class { return sched.Class{Kind: sched.M} }

// Decide implements sim.Policy.
func (p *Policy) Decide(v *sim.View) (sim.Decision, error) {
	if err := p.note(v); err != nil {
		return sim.Decision{}, err
	}
	var d sim.Decision
	if late := p.due > 0 && v.Now() >= p.due; (late || v.Now()%p.o.Interval == 0) && v.Now() != p.ticked {
		p.ticked = v.Now()
		p.allot(v, &d)
	}
	if err := p.fill(v, &d); err != nil {
		return sim.Decision{}, err
	}
	if len(p.jobs) > 0 {
		d.Wake = (v.Now()/p.o.Interval + 1) * p.o.Interval
	}
	p.due = d.Wake
	return d, nil
}

// Requires implements sim.Requirer: every job has to list sizes.
func (p *Policy) Requires(in *sched.Instance) error {
	for i := range in.Jobs {
		if sh := in.Jobs[i].Sharing; sh == nil || len(sh.Sizes) == 0 {
			return fmt.Errorf("job %d is not malleable: it lists no sizes", i)
		}
	}
	return nil
}

// note takes in what has happened.
func (p *Policy) note(v *sim.View) error {
	for _, id := range v.Completed() {
		done := p.byID[id]
		delete(p.byID, id)
		p.jobs = slices.DeleteFunc(p.jobs, func(j *job) bool { return j == done })
	}
	for _, id := range v.Paused() {
		j := p.byID[id]
		j.held, j.stopping = -1, false
	}
	for _, id := range v.Arrived() {
		facts, err := v.Job(id)
		if err != nil {
			return err
		}
		j := &job{id: id, release: facts.Release, load: facts.Load, overhead: facts.Load + facts.Pause, held: -1, target: -1}
		for _, z := range facts.Sharing.Sizes {
			if fits(v.Hardware(), z) {
				j.sizes = append(j.sizes, z)
			}
		}
		if len(j.sizes) == 0 {
			return fmt.Errorf("pollux: job %d fits no GPUs of the cluster at any of its sizes", id)
		}
		p.byID[id] = j
		p.jobs = append(p.jobs, j)
	}
	return nil
}

// fits reports whether every GPU has the memory that the size needs.
func fits(c sched.Cluster, z sched.Size) bool {
	return !slices.ContainsFunc(c.Servers, func(s sched.Server) bool { return s.GPUs > 0 && s.GPUMemory < z.Memory })
}

// allot gives every job a target, and stops those that hold something else.
func (p *Policy) allot(v *sim.View, d *sim.Decision) {
	gpus := v.Cluster().GPUs()
	var movable []*job
	for _, j := range p.jobs {
		// A job that loads cannot be stopped sensibly, nor one that was started in
		// this instant.
		if j.held >= 0 && !j.stopping && j.since+j.load >= v.Now() {
			gpus -= j.sizes[j.held].GPUs
			continue
		}
		movable = append(movable, j)
	}
	slices.SortStableFunc(movable, func(a, b *job) int { return cmp.Compare(b.started(), a.started()) })
	a := newAllotment(movable, max(1, v.Cluster().GPUs()/max(1, len(p.jobs))), v.Now())
	a.divide(gpus)
	p.late = nil
	for i, j := range movable {
		j.target = a.size[i]
		if j.held >= 0 && !j.stopping && j.held != j.target {
			d.Preempt = append(d.Preempt, j.id)
			j.restarts++
			j.stopping = true
		}
		if j.target >= 0 && (j.held < 0 || j.stopping) {
			p.late = append(p.late, j)
		}
	}
}

// started is 1 for a job that holds GPUs and 0 for one that waits.
func (j *job) started() int {
	if j.held >= 0 {
		return 1
	}
	return 0
}

// fill starts the jobs that were allotted GPUs and find them free.
func (p *Policy) fill(v *sim.View, d *sim.Decision) error {
	var rest []*job
	for _, j := range p.late {
		if j.stopping {
			rest = append(rest, j)
			continue
		}
		shares, ok := v.Cluster().Pick(p.o.Placement, j.sizes[j.target].GPUs)
		if !ok {
			rest = append(rest, j)
			continue
		}
		place := sched.Placement{Shares: shares}
		if err := v.Hold(j.id, place); err != nil {
			return err
		}
		j.held, j.since = j.target, v.Now()
		d.Start = append(d.Start, sim.Assignment{Job: j.id, Place: place})
	}
	p.late = rest
	return nil
}
