package sharing

import (
	"cmp"
	"fmt"
	"slices"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// LAS are the settings of Tiresias.
type LAS struct {
	// Thresholds separate the queues: a job is in the first queue whose threshold
	// its attained service, in GPU-time, is below; in the last one, of K in all,
	// if there is none. They increase.
	Thresholds []sched.Time
	// Interval is how often running jobs are preempted for others, positive.
	Interval sched.Time
	// Placement chooses GPUs for starting jobs.
	Placement sim.Rule
}

// DefaultLAS returns two queues, parted at 18,000 GPU-seconds, and an interval
// of a minute. The SJF-BSBF paper gives no settings; these are those of a public
// reimplementation and of Pollux's simulator.
func DefaultLAS() LAS {
	return LAS{Thresholds: []sched.Time{18_000 * sched.Second}, Interval: 60 * sched.Second, Placement: sim.BestFit}
}

// Validate returns an error if the settings make no sense.
func (o *LAS) Validate() error {
	if o.Interval <= 0 {
		return fmt.Errorf("sharing: an interval of %v: it must be positive", o.Interval)
	}
	for i, t := range o.Thresholds {
		if t <= 0 || i > 0 && t <= o.Thresholds[i-1] {
			return fmt.Errorf("sharing: thresholds %v: they must be positive and increase", o.Thresholds)
		}
	}
	return nil
}

// Tiresias is discretised two-dimensional least attained service, which knows
// nothing of job lengths: jobs are in K queues by the product of gang and time
// trained; queues have priority in order, and in one queue the job released
// first.
//
// At multiples of the interval jobs are given GPUs in that order as long as
// there are any, skipping those that do not fit; the other running jobs are
// preempted. In between, free GPUs are given to waiting jobs in that order, but
// not if chosen ones still wait for GPUs of jobs that pause.
//
// It keeps GPUs exclusive, on an instance of the preemptive or of the sharing
// model; there a job trains with its fastest accumulation that fits a GPU.
//
// Source: J. Gu et al., Tiresias: A GPU Cluster Manager for Distributed Deep
// Learning (2019), Section 3.2. Not in the source: the interval, which the
// SJF-BSBF paper's baselines have, and no promotion of starved jobs.
type Tiresias struct {
	o       LAS
	ticked  sched.Time
	due     sched.Time // the next multiple of the interval that was asked for, or 0; a slotted run may be late
	jobs    map[sched.JobID]*served
	waiting []*served
	running []*served
	late    []*served // chosen at the last tick, but their GPUs are not free yet
	pausing int       // GPUs of jobs that save their states
}

// served is an unfinished job.
type served struct {
	id       sched.JobID
	release  sched.Time
	gang     int
	config   *sched.Config // the accumulation it trains with; nil outside the sharing model
	load     sched.Time
	attained sched.Time // GPU-time until it last started
	trains   sched.Time // since when, while it runs
	queue    int
}

// NewTiresias returns the policy, for one run. The settings must be valid.
func NewTiresias(o LAS) *Tiresias {
	return &Tiresias{o: o, ticked: -1, jobs: map[sched.JobID]*served{}}
}

// Name implements sim.Policy.
func (p *Tiresias) Name() string { return "tiresias-las" }

// Class returns P.
func (p *Tiresias) Class() sched.Class { return sched.Class{Kind: sched.P} }

// service returns the GPU-time that a running job has attained.
func (j *served) service(now sched.Time) sched.Time {
	return j.attained + sched.Time(j.gang)*max(0, now-j.trains)
}

// rank puts a job into its queue.
func (p *Tiresias) rank(j *served, service sched.Time) {
	j.queue = 0
	for j.queue < len(p.o.Thresholds) && service >= p.o.Thresholds[j.queue] {
		j.queue++
	}
}

func byPriority(a, b *served) int {
	return cmp.Or(cmp.Compare(a.queue, b.queue), cmp.Compare(a.release, b.release), cmp.Compare(a.id, b.id))
}

// Decide implements sim.Policy.
func (p *Tiresias) Decide(v *sim.View) (sim.Decision, error) {
	for _, id := range v.Completed() {
		j := p.jobs[id]
		delete(p.jobs, id)
		p.running = without(p.running, j)
	}
	for _, id := range v.Paused() {
		j := p.jobs[id]
		p.pausing -= j.gang
		p.waiting = append(p.waiting, j)
	}
	for _, id := range v.Arrived() {
		facts, err := v.Job(id)
		if err != nil {
			return sim.Decision{}, err
		}
		j := &served{id: id, release: facts.Release, gang: facts.Gang, load: facts.Load}
		if facts.Sharing != nil {
			solo, err := fastest(&facts, leastMemory(v.Hardware()))
			if err != nil {
				return sim.Decision{}, err
			}
			j.config = &sched.Config{Accumulation: solo.Steps}
		}
		p.jobs[id] = j
		p.waiting = append(p.waiting, j)
	}
	var d sim.Decision
	if late := p.due > 0 && v.Now() >= p.due; (late || v.Now()%p.o.Interval == 0) && v.Now() != p.ticked {
		p.ticked = v.Now()
		p.choose(v, &d)
	}
	if err := p.fill(v, &d, &p.late); err != nil {
		return sim.Decision{}, err
	}
	if len(p.late) == 0 {
		slices.SortFunc(p.waiting, byPriority)
		if err := p.fill(v, &d, &p.waiting); err != nil {
			return sim.Decision{}, err
		}
	}
	if len(p.waiting) > 0 || len(p.late) > 0 || p.pausing > 0 {
		d.Wake = (v.Now()/p.o.Interval + 1) * p.o.Interval
	}
	p.due = d.Wake
	return d, nil
}

func without(list []*served, j *served) []*served {
	return slices.DeleteFunc(list, func(k *served) bool { return k == j })
}

// choose preempts the running jobs that are not to run any more, and lists the
// waiting ones that are.
func (p *Tiresias) choose(v *sim.View, d *sim.Decision) {
	now := v.Now()
	runs := map[*served]bool{}
	for _, j := range p.running {
		runs[j] = true
		p.rank(j, j.service(now))
	}
	all := slices.Concat(p.running, p.waiting, p.late)
	slices.SortFunc(all, byPriority)
	p.running, p.waiting, p.late = nil, nil, nil
	budget := v.Cluster().GPUs() - p.pausing
	for _, j := range all {
		switch fits := j.gang <= budget; {
		case fits && runs[j]:
			p.running = append(p.running, j)
		case fits:
			p.late = append(p.late, j)
		case runs[j]:
			j.attained = j.service(now)
			p.pausing += j.gang
			d.Preempt = append(d.Preempt, j.id)
		default:
			p.waiting = append(p.waiting, j)
		}
		if j.gang <= budget {
			budget -= j.gang
		}
	}
}

// fill starts the jobs of a list, in order, that find free GPUs.
func (p *Tiresias) fill(v *sim.View, d *sim.Decision, list *[]*served) error {
	var rest []*served
	for _, j := range *list {
		place, ok, err := v.Place(j.id, p.o.Placement)
		if err != nil {
			return err
		}
		if !ok {
			rest = append(rest, j)
			continue
		}
		place.Config = j.config
		j.trains = v.Now() + j.load
		p.running = append(p.running, j)
		d.Start = append(d.Start, sim.Assignment{Job: j.id, Place: place})
	}
	*list = rest
	return nil
}
