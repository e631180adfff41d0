package lazer

import (
	"cmp"
	"fmt"
	"slices"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// Options are the settings of a policy; the zero value is the policy as the
// package comment settles it.
type Options struct {
	// Placement is the rule for the GPUs of a start; where it finds none, as
	// the source counts GPUs only, any will do.
	Placement sim.Rule
	// Prune drops victims that turn out not to be needed, those taken last
	// first. Not in the source, whose scan may take a small job and then a
	// large one that would have sufficed.
	Prune bool
	// WakeDeferred starts deferred jobs as well when GPUs become free. Not in
	// the source: its completion handler serves the waiting queue only.
	WakeDeferred bool
	// NoFree and OwnGPUs keep to the letter of Algorithms 2 and 1: see the
	// package comment. With either of them jobs may never start.
	NoFree, OwnGPUs bool
	// Observed has deferrals learn from the load that was wasted, as the source says,
	// and not from how long it should have been put off: see Outcome.
	Observed bool
}

// Policy preempts running jobs for an arriving job with less time to go. A
// value serves one run.
type Policy struct {
	name     string
	options  Options
	deferral Deferral // nil never defers

	jobs     jobs
	waiting  waiting
	pauses   map[sched.JobID]*job // pausing jobs
	delays   []*delay             // deferrals under way
	forecast forecast

	held int // GPUs that pending jobs hold
	free int // GPUs that are neither used nor held
	view *sim.View
	out  sim.Decision
	// starting are the jobs to be started by this decision: one of them may
	// still become a victim.
	starting []*job
}

// delay is a deferral under way.
type delay struct {
	job     *job
	victims []*job
	until   sched.Time
}

// SRTF returns shortest remaining time first, which preempts at once.
func SRTF(o Options) *Policy { return newPolicy("srtf", o, nil) }

// Deferring returns the policy that defers as it is told. With New's predictor
// it is Lazer.
func Deferring(o Options, d Deferral) *Policy { return newPolicy("lazer", o, d) }

func newPolicy(name string, o Options, d Deferral) *Policy {
	return &Policy{name: name, options: o, deferral: d, jobs: jobs{all: map[sched.JobID]*job{}}, pauses: map[sched.JobID]*job{}, forecast: forecast{observed: o.Observed}}
}

// Name implements sim.Policy.
func (p *Policy) Name() string { return p.name }

// Class implements sim.Policy.
func (p *Policy) Class() sched.Class { return sched.Class{Kind: sched.P} }

// Decide implements sim.Policy. At equal times, completions come first, then
// the ends of pauses, arrivals and the ends of deferrals.
func (p *Policy) Decide(v *sim.View) (sim.Decision, error) {
	p.view, p.out, p.starting = v, sim.Decision{}, p.starting[:0]
	p.free = v.Cluster().Free() - p.held
	for _, id := range v.Paused() {
		p.free -= p.jobs.all[id].gang // comes back below
	}
	for _, step := range []func() error{p.completions, p.pausesEnd, p.arrivals, p.deferralsEnd} {
		if err := step(); err != nil {
			return sim.Decision{}, err
		}
	}
	for _, j := range p.starting {
		if err := p.start(j); err != nil {
			return sim.Decision{}, err
		}
	}
	for _, d := range p.delays {
		if p.out.Wake == 0 || d.until < p.out.Wake {
			p.out.Wake = d.until
		}
	}
	return p.out, nil
}

func (p *Policy) completions() error {
	for _, id := range p.view.Completed() {
		j := p.jobs.all[id]
		p.jobs.stop(j, queued)
		delete(p.jobs.all, id)
		if p.options.OwnGPUs {
			p.fill(j.gang)
		}
	}
	if len(p.view.Completed()) > 0 && !p.options.OwnGPUs {
		p.fill(p.free)
	}
	return nil
}

// pausesEnd gives the GPUs of preempted jobs to the jobs that they were taken
// for, as far as these need them.
func (p *Policy) pausesEnd() error {
	for _, id := range p.view.Paused() {
		j := p.jobs.all[id]
		delete(p.pauses, id)
		p.free += j.gang
		if heir := j.heir; heir != nil {
			j.heir = nil
			p.take(heir)
		}
		best, err := p.view.Consolidated(id)
		if err != nil {
			return err
		}
		if err := j.measure(p.view, &best); err != nil {
			return err
		}
		p.enqueue(j)
	}
	if len(p.view.Paused()) > 0 && !p.options.OwnGPUs {
		p.fill(p.free)
	}
	return nil
}

func (p *Policy) enqueue(j *job) {
	j.phase = queued
	p.waiting.push(j.gang, entry{j.left, j.id})
}

func (p *Policy) arrivals() error {
	now := p.view.Now()
	for _, id := range p.view.Arrived() {
		j, err := p.jobs.arrive(p.view, id)
		if err != nil {
			return err
		}
		p.forecast.arrival(now, j.left)
		victims, feasible := p.orchestrate(j)
		switch {
		case !feasible:
			p.enqueue(j)
		case len(victims) == 0:
			p.execute(j, nil)
		default:
			if err := p.preempt(j, victims); err != nil {
				return err
			}
		}
	}
	return nil
}

// preempt makes room for a job now, or after a deferral.
func (p *Policy) preempt(j *job, victims []*job) error {
	if p.deferral == nil {
		p.execute(j, victims)
		return nil
	}
	now := p.view.Now()
	if err := p.forecast.settle(now, p.deferral); err != nil {
		return err
	}
	c := p.forecast.context(now, j, victims)
	x, err := p.deferral.Defer(c)
	if err != nil {
		return err
	}
	j.choice = p.forecast.open(now, x, c)
	if x < Shortest {
		p.execute(j, victims)
		return nil
	}
	j.phase = deferred
	for _, r := range victims {
		r.flags++
	}
	p.delays = append(p.delays, &delay{j, victims, now + x})
	if p.options.WakeDeferred {
		p.waiting.push(j.gang, entry{j.left, j.id})
	}
	return nil
}

// deferralsEnd preempts for the jobs whose deferrals are over, if that is still
// possible.
func (p *Policy) deferralsEnd() error {
	now := p.view.Now()
	var over []*delay
	p.delays = slices.DeleteFunc(p.delays, func(d *delay) bool {
		if d.until <= now {
			over = append(over, d)
		}
		return d.until <= now
	})
	slices.SortFunc(over, func(a, b *delay) int { return cmp.Or(cmp.Compare(a.until, b.until), cmp.Compare(a.job.id, b.job.id)) })
	for _, d := range over {
		for _, r := range d.victims {
			r.flags--
		}
		if d.job.phase != deferred {
			continue // started on GPUs that became free
		}
		victims, feasible := p.orchestrate(d.job)
		if !feasible {
			d.job.dropped()
			if d.job.phase = queued; !p.options.WakeDeferred { // else it is in the queue already
				p.enqueue(d.job)
			}
			continue
		}
		p.execute(d.job, victims)
	}
	return nil
}

// orchestrate is Algorithm 2: it scans the running jobs that no deferral has
// chosen, the longest to go first, for those with more to go than the new job,
// until their GPUs and the free ones suffice. A pending victim yields its gang
// too: what it holds, and what is still to come to it.
func (p *Policy) orchestrate(n *job) (victims []*job, feasible bool) {
	available := p.free
	if p.options.NoFree {
		available = 0
	}
	if available >= n.gang {
		return nil, true
	}
	now := p.view.Now()
	own := n.remaining(now)
	var longer []*job
	for _, r := range p.jobs.running {
		if r.flags == 0 && r.remaining(now) > own {
			longer = append(longer, r)
		}
	}
	slices.SortFunc(longer, func(a, b *job) int {
		return cmp.Or(cmp.Compare(b.remaining(now), a.remaining(now)), cmp.Compare(a.id, b.id))
	})
	for _, r := range longer {
		if available >= n.gang {
			break
		}
		victims, available = append(victims, r), available+r.gang
	}
	if available < n.gang {
		return nil, false
	}
	for i := len(victims) - 1; i >= 0 && p.options.Prune; i-- {
		if g := victims[i].gang; available-g >= n.gang {
			victims, available = slices.Delete(victims, i, i+1), available-g
		}
	}
	return victims, true
}

// execute has a job take free GPUs and those of its victims, now or when their
// pauses end.
func (p *Policy) execute(n *job, victims []*job) {
	now := p.view.Now()
	p.jobs.run(n, pending)
	surplus := false
	for _, r := range victims {
		if i := slices.Index(p.starting, r); i >= 0 {
			p.starting = slices.Delete(p.starting, i, i+1)
			p.free += r.gang
			p.jobs.stop(r, queued)
			r.dropped()
			p.enqueue(r)
			surplus = true
			continue
		}
		if r.phase == pending {
			p.inherit(r, n)
			surplus = true
			continue
		}
		left := r.remaining(now)
		r.cutShort(now)
		p.jobs.stop(r, pausing)
		r.left, r.heir = left, n
		p.pauses[r.id] = r
		p.out.Preempt = append(p.out.Preempt, r.id)
	}
	p.take(n)
	if surplus {
		p.fill(p.free)
	}
}

// inherit gives a new job what a pending one holds and waits for.
func (p *Policy) inherit(from, to *job) {
	p.free, p.held = p.free+from.held, p.held-from.held
	from.held = 0
	p.jobs.stop(from, queued)
	from.dropped()
	for _, r := range p.pauses {
		if r.heir == from {
			r.heir = to
		}
	}
	p.enqueue(from)
}

// take has a pending job take the free GPUs that it lacks, and starts it once
// it has them all.
func (p *Policy) take(n *job) {
	if n.phase != pending {
		return
	}
	more := min(n.gang-n.held, p.free)
	n.held, p.held, p.free = n.held+more, p.held+more, p.free-more
	if n.held < n.gang {
		return
	}
	n.held, p.held = 0, p.held-n.gang
	p.begin(n)
}

// fill starts waiting jobs on so many of the free GPUs, the shortest that fits
// first.
func (p *Policy) fill(gpus int) {
	for gpus = min(gpus, p.free); ; {
		_, gang, ok := p.waiting.first(gpus)
		if !ok {
			return
		}
		e := p.waiting.pop(gang)
		j := p.jobs.all[e.id]
		if j == nil || j.phase != queued && j.phase != deferred || j.left != e.remaining {
			continue // of a deferred job that has started since
		}
		gpus, p.free = gpus-gang, p.free-gang
		p.begin(j)
	}
}

// begin has the decision start a job, whose GPUs are counted as used already.
func (p *Policy) begin(j *job) {
	p.jobs.run(j, active)
	j.trainFrom = p.view.Now() + j.load
	j.begun(p.view.Now())
	p.starting = append(p.starting, j)
}

// start starts a job on free GPUs.
func (p *Policy) start(j *job) error {
	place, ok, err := p.view.Place(j.id, p.options.Placement)
	if err == nil && !ok {
		place, ok, err = p.view.Place(j.id, sim.Pool)
	}
	if err != nil {
		return err
	}
	if !ok { // of slices that must share a server
		return fmt.Errorf("lazer: job %d cannot use any %d GPUs: jobs with tensor slices are not supported", j.id, j.gang)
	}
	if err := j.measure(p.view, &place); err != nil {
		return err
	}
	p.out.Start = append(p.out.Start, sim.Assignment{Job: j.id, Place: place})
	return nil
}
