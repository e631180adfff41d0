package elastic

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// running is a job that holds containers.
type running struct {
	job     sched.JobID
	place   sched.Placement
	config  sched.ElasticConfig
	start   int64      // slot
	end     int64      // slot at whose beginning the containers are freed
	load    sched.Time // before it trains
	pausing bool       // it was preempted, and saves its state
}

// maxIdleWakes is how often in a row a policy may have itself woken without
// starting a job while nothing else is left to happen.
const maxIdleWakes = 10_000

// engine is the state of one run.
type engine struct {
	in     *sched.Instance
	policy Policy

	now      int64         // slot
	arrivals []sched.JobID // the jobs to come, by (first slot, release, index)
	wake     int64         // slot; 0 if none
	idle     int           // wake-ups in a row that came to nothing

	states  []sim.State // per job; 0 before its release
	remains []*big.Rat  // mini-batches left of a job that was preempted; nil for all
	on      []running   // in order of start
	left    int         // jobs that are not done

	free     [][]int64 // by server and resource
	view     View
	segments []sched.Segment
	result   sim.Result

	clock func() time.Duration
	times []time.Duration // of the decisions
}

func newEngine(in *sched.Instance, p Policy, o Options) (*engine, error) {
	class := p.Class()
	switch {
	case in.Model != sched.ModelElastic:
		return nil, fmt.Errorf("elastic: instance %q is of the %s model: only the elastic model can be replayed here", in.Name, in.Model)
	case class.Kind != sched.E && class.Kind != sched.EP || !class.Slotted:
		return nil, fmt.Errorf("elastic: %s makes schedules of class %v: only Es and EPs can be replayed", p.Name(), class)
	}
	n := len(in.Jobs)
	e := &engine{in: in, policy: p, states: make([]sim.State, n), remains: make([]*big.Rat, n), left: n, clock: o.Clock,
		result: sim.Result{Clairvoyant: true, Schedule: &sched.Schedule{Class: class}}}
	for id := range in.Jobs {
		e.arrivals = append(e.arrivals, sched.JobID(id))
	}
	slices.SortStableFunc(e.arrivals, func(a, b sched.JobID) int {
		return cmp.Or(cmp.Compare(in.FirstSlot(a), in.FirstSlot(b)), cmp.Compare(in.Jobs[a].Release, in.Jobs[b].Release))
	})
	for h := range in.Cluster.Servers {
		e.free = append(e.free, slices.Clone(in.Cluster.Servers[h].Capacity))
	}
	e.view = newView(e)
	return e, nil
}

// run finds the next boundary at which something happens, lets it happen, and
// asks the policy.
func (e *engine) run(ctx context.Context) error {
	for e.left > 0 {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("elastic: %s: %w", e.policy.Name(), err)
		}
		at, ok := e.next()
		if !ok || e.idle > maxIdleWakes {
			return e.giveUp()
		}
		e.now = at
		e.advance()
		if e.left == 0 {
			return nil
		}
		if err := e.decide(); err != nil {
			return err
		}
	}
	return nil
}

func (e *engine) next() (at int64, ok bool) {
	consider := func(t int64) {
		if !ok || t < at {
			at, ok = t, true
		}
	}
	if len(e.arrivals) > 0 {
		consider(e.in.FirstSlot(e.arrivals[0]))
	}
	for i := range e.on {
		consider(e.on[i].end)
	}
	if e.wake != 0 {
		consider(e.wake)
	}
	return at, ok
}

// advance applies what happens at the beginning of the present slot.
func (e *engine) advance() {
	v := &e.view
	v.arrived, v.completed, v.paused = v.arrived[:0], v.completed[:0], v.paused[:0]
	e.on = slices.DeleteFunc(e.on, func(r running) bool {
		if r.end > e.now {
			return false
		}
		e.result.Events++
		e.release(&r.place)
		if r.pausing {
			e.states[r.job] = sim.Waiting
			v.paused = append(v.paused, r.job)
			return true
		}
		e.addRun(&r, e.time(r.end))
		e.states[r.job] = sim.Done
		e.left--
		v.completed = append(v.completed, r.job)
		return true
	})
	for len(e.arrivals) > 0 && e.in.FirstSlot(e.arrivals[0]) <= e.now {
		id := e.arrivals[0]
		e.arrivals = e.arrivals[1:]
		e.states[id] = sim.Waiting
		v.reveal(id)
		v.arrived = append(v.arrived, id)
		e.result.Events++
	}
	if e.wake <= e.now {
		e.wake = 0
	}
}

func (e *engine) time(slot int64) sched.Time { return sched.Time(slot) * e.in.Slot }

// addRun writes down that a job loads and then trains until the given time.
func (e *engine) addRun(r *running, end sched.Time) {
	at := e.time(r.start)
	if r.load > 0 {
		loaded := min(at+r.load, end)
		e.segments = append(e.segments, sched.Segment{Job: r.job, Start: at, End: loaded, Phase: sched.Load, Place: r.place})
		at = loaded
	}
	if at < end {
		e.segments = append(e.segments, sched.Segment{Job: r.job, Start: at, End: end, Phase: sched.Train, Place: r.place})
	}
}

func (e *engine) release(p *sched.Placement) { e.take(p, -1) }

// take subtracts what a placement demands, times sign, from what is free.
func (e *engine) take(p *sched.Placement, sign int64) {
	for i := range p.Shares {
		for r := range e.in.Elastic.Resources {
			e.free[p.Shares[i].Server][r] -= sign * e.in.ElasticDemand(p, i, r)
		}
	}
}

// decide asks the policy and carries out what it wants, again while that frees
// containers that should have paused.
func (e *engine) decide() error {
	for {
		if err := e.ask(); err != nil {
			return err
		}
		if len(e.view.paused) == 0 {
			break
		}
	}
	if len(e.on) == 0 && len(e.arrivals) == 0 {
		e.idle++
	} else {
		e.idle = 0
	}
	return nil
}

func (e *engine) ask() error {
	var before time.Duration
	if e.clock != nil {
		before = e.clock()
	}
	d, err := e.policy.Decide(&e.view)
	if e.clock != nil {
		e.times = append(e.times, e.clock()-before)
	}
	e.result.Decisions++
	if err != nil {
		return fmt.Errorf("elastic: %s in slot %d: %w", e.policy.Name(), e.now, err)
	}
	if d.Wake != 0 {
		if d.Wake <= e.now || e.time(d.Wake) > sched.MaxTime || e.time(d.Wake)/e.in.Slot != sched.Time(d.Wake) {
			return fmt.Errorf("elastic: %s in slot %d: %w: it asks to be woken in slot %d, which must be later than now and before %v", e.policy.Name(), e.now, sim.ErrDecision, d.Wake, sched.MaxTime)
		}
		e.wake = d.Wake
	} else {
		e.wake = 0
	}
	e.view.arrived, e.view.completed, e.view.paused = e.view.arrived[:0], e.view.completed[:0], e.view.paused[:0]
	for _, id := range d.Preempt {
		if err := e.preempt(id); err != nil {
			return e.refusal("preempt", id, err)
		}
	}
	for i := range d.Start {
		if err := e.start(d.Start[i].Job, d.Start[i].Place); err != nil {
			return e.refusal("start", d.Start[i].Job, err)
		}
	}
	return nil
}

func (e *engine) refusal(verb string, id sched.JobID, err error) error {
	return fmt.Errorf("elastic: %s in slot %d: %w: cannot %s job %d: %w", e.policy.Name(), e.now, sim.ErrDecision, verb, id, err)
}

// state returns where the job is in its life, or ErrHidden before its release.
func (e *engine) state(id sched.JobID) (sim.State, error) {
	if id < 0 || int(id) >= len(e.states) || e.states[id] == 0 {
		return 0, sim.ErrHidden
	}
	return e.states[id], nil
}

// giveUp ends a run in which nothing is left to happen.
func (e *engine) giveUp() error {
	undone := func(id sched.JobID) bool { return e.states[id] != sim.Done }
	started := slices.ContainsFunc(e.segments, func(s sched.Segment) bool { return undone(s.Job) })
	if e.in.Deadline > 0 && !started && len(e.on) == 0 {
		return nil
	}
	first := slices.IndexFunc(e.states, func(s sim.State) bool { return s != sim.Done })
	return fmt.Errorf("elastic: %s in slot %d: %w: nothing is left to happen, but %d jobs are not done, job %d the first of them", e.policy.Name(), e.now, sim.ErrStalled, e.left, first)
}

func (e *engine) finish() *sim.Result {
	r := e.result
	r.Schedule.Segments = e.segments
	r.Schedule.Sort()
	slices.Sort(e.times)
	if n := len(e.times); n > 0 {
		r.DecisionP50, r.DecisionP99 = e.times[(n-1)/2], e.times[(n*99+99)/100-1]
	}
	return &r
}
