package sim

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"yardstick/sched"
)

// State is where a released job is in its life.
type State uint8

// The states. A job is hidden before its release.
const (
	hidden   State = iota
	Waiting        // not on the cluster: never started, or preempted and saved
	Loading        // holds its GPUs and loads
	Training       // holds its GPUs and trains
	Pausing        // holds its GPUs and saves its state after a preemption
	Done
)

var stateNames = []string{"not released", "waiting", "loading", "training", "pausing", "done"}

func (s State) String() string { return stateNames[s] }

// phases are the segments' names for the states on the cluster.
var phases = [...]sched.Phase{Loading: sched.Load, Training: sched.Train, Pausing: sched.Pause}

// record is what the engine knows about a job on the cluster.
type record struct {
	job     sched.JobID
	place   sched.Placement
	segment int        // of the phase that it is in
	started sched.Time // when it was put on place

	whole sched.Time // what all its iterations take on place when it shares no GPU
	alpha *big.Rat   // microseconds per iteration on place when it shares no GPU; nil if never needed
	xi    float64    // how many times longer an iteration takes now, as GPUs are shared
	done  *big.Rat   // iterations done until since; nil if none
	since sched.Time
}

// maxIdleWakes is how often in a row a policy may have itself woken without
// starting a job while nothing else is left to happen.
const maxIdleWakes = 10_000

// engine is the state of one run.
type engine struct {
	in        *sched.Instance
	policy    Policy
	predictor Predictor
	class     sched.Class
	shared    bool // class S
	malleable bool // class M

	now      sched.Time // of the event or decision that is being carried out
	arrivals []int32    // the jobs to come, by (release, index)
	agenda   agenda
	wake     sched.Time // 0 if none
	idle     int        // wake-ups in a row that came to nothing

	states  []State // per job
	slots   []int32 // per job on the cluster: the index of its record
	records []record
	spare   []int32                  // unused records
	saved   map[sched.JobID]*big.Rat // iterations done by preempted jobs that wait
	left    int                      // jobs that are not done

	cluster    *Cluster    // nil in the elastic model
	containers *containers // nil in the others
	view       View
	partners   []sched.JobID // scratch of repaceAround

	segments []sched.Segment // in order of start
	result   Result
	clock    clock
}

// Suits returns an error if the policy cannot be replayed on the instance: its
// class does not belong to the model, the run is slotted and there are no slots, or
// the policy is a [Requirer] that lacks something.
func Suits(in *sched.Instance, p Policy, slotted bool) error {
	class := p.Class()
	class.Slotted = class.Slotted || slotted
	elastic := class.Kind == sched.E || class.Kind == sched.EP
	switch {
	case elastic && !in.Model.Has(class.Kind):
		return fmt.Errorf("sim: %s schedules elastic jobs, and those of instance %q are of the %s model", p.Name(), in.Name, in.Model)
	case elastic && !class.Slotted:
		return fmt.Errorf("sim: %s makes schedules of class %v: elastic jobs are replayed in slots only", p.Name(), class)
	case elastic:
		return nil
	case class.Kind != sched.N && class.Kind != sched.P && class.Kind != sched.S && class.Kind != sched.M:
		return fmt.Errorf("sim: %s makes schedules of class %v: only N, P, S, M, Es and EPs can be replayed", p.Name(), class)
	case !in.Model.Gangs():
		return fmt.Errorf("sim: instance %q is %s: its jobs have no gang for %s to replay", in.Name, in.Model, p.Name())
	case !in.Model.Has(class.Kind):
		return fmt.Errorf("sim: %s makes schedules of class %v, which does not belong to the %s model of instance %q", p.Name(), class, in.Model, in.Name)
	case class.Slotted && in.Slot == 0:
		return fmt.Errorf("sim: a slotted run needs a slot length, but instance %q has none", in.Name)
	}
	if r, ok := p.(Requirer); ok {
		if err := r.Requires(in); err != nil {
			return fmt.Errorf("sim: %s cannot run on instance %q: %w", p.Name(), in.Name, err)
		}
	}
	return nil
}

func newEngine(in *sched.Instance, p Policy, o Options) (*engine, error) {
	if err := Suits(in, p, o.Slotted); err != nil {
		return nil, err
	}
	class := p.Class()
	class.Slotted = class.Slotted || o.Slotted
	n := len(in.Jobs)
	e := &engine{
		in: in, policy: p, predictor: o.Predictor, class: class, shared: class.Kind == sched.S, malleable: class.Kind == sched.M,
		arrivals: byRelease(in.Jobs), states: make([]State, n), slots: make([]int32, n), left: n,
		saved: map[sched.JobID]*big.Rat{}, segments: make([]sched.Segment, 0, n), clock: clock{read: o.Clock},
	}
	if !in.Model.Gangs() {
		e.containers, e.result.Clairvoyant = newContainers(in), true
	} else {
		e.cluster = newCluster(in.Cluster.Servers, e.shared)
	}
	e.view = newView(e)
	return e, nil
}

// run is the event loop: find the next instant at which the policy decides,
// apply all events up to it, let the policy decide.
func (e *engine) run(ctx context.Context) error {
	for e.left > 0 {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("sim: %s: %w", e.policy.Name(), err)
		}
		at, _, ok := e.next()
		if e.wake != 0 && (!ok || e.wake < at) {
			at, ok = e.wake, true
		}
		if !ok || e.idle > maxIdleWakes {
			return e.giveUp()
		}
		at = e.boundary(at)
		if at > sched.MaxTime {
			return fmt.Errorf("sim: %s: the schedule goes on after %v, beyond which there is no time; %d jobs are not done", e.policy.Name(), sched.MaxTime, e.left)
		}
		if err := e.advance(ctx, at); err != nil {
			return err
		}
		e.now = at
		if err := e.decide(); err != nil {
			return err
		}
	}
	return nil
}

// next returns when the next event is, and whether it is an arrival.
func (e *engine) next() (at sched.Time, arrives, ok bool) {
	key := uint64(0)
	if len(e.arrivals) > 0 {
		id := sched.JobID(e.arrivals[0])
		at, key, arrives, ok = e.in.Jobs[id].Release, eventKey(arrival, id), true, true
	}
	if queue := e.agenda.heap; len(queue) > 0 && (!ok || queue[0].before(at, key)) {
		at, arrives, ok = queue[0].at, false, true
	}
	return at, arrives, ok
}

// boundary returns the first time from t on at which decisions are made.
func (e *engine) boundary(t sched.Time) sched.Time {
	if !e.class.Slotted {
		return t
	}
	return (t + e.in.Slot - 1) / e.in.Slot * e.in.Slot
}

// advance applies all events up to and including the given time, in order of
// (time, kind, job).
func (e *engine) advance(ctx context.Context, until sched.Time) error {
	const checkEvery = 4096
	for {
		if (e.result.Events+e.result.Decisions)%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("sim: %s: %w", e.policy.Name(), err)
			}
		}
		at, arrives, ok := e.next()
		if !ok || at > until {
			return nil
		}
		e.now = at
		if arrives {
			e.arrive(sched.JobID(e.arrivals[0]))
			e.arrivals = e.arrivals[1:]
		} else {
			e.endPhase(e.agenda.heap[0].slot)
		}
		e.result.Events++
	}
}

// decide asks the policy and carries out what it wants, again while that frees
// GPUs in the same instant.
func (e *engine) decide() error {
	for {
		before := e.clock.start()
		d, err := e.policy.Decide(&e.view)
		e.clock.stop(before)
		e.result.Decisions++
		e.view.reset()
		if err != nil {
			return fmt.Errorf("sim: %s at %v: %w", e.policy.Name(), e.now, err)
		}
		if err := e.carryOut(&d); err != nil {
			return err
		}
		if len(e.view.paused) == 0 {
			return nil
		}
	}
}

func (e *engine) carryOut(d *Decision) error {
	if d.Wake != 0 && (d.Wake <= e.now || d.Wake > sched.MaxTime) {
		return fmt.Errorf("sim: %s at %v: %w: it asks to be woken at %v, which must be later than now and at most %v", e.policy.Name(), e.now, ErrDecision, d.Wake, sched.MaxTime)
	}
	e.wake = d.Wake
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
	if len(e.agenda.heap) == 0 && len(e.arrivals) == 0 {
		e.idle++
	} else {
		e.idle = 0
	}
	return nil
}

func (e *engine) refusal(verb string, id sched.JobID, err error) error {
	return fmt.Errorf("sim: %s at %v: %w: cannot %s job %d: %w", e.policy.Name(), e.now, ErrDecision, verb, id, err)
}

// giveUp ends a run in which nothing is left to happen: see ErrStalled.
func (e *engine) giveUp() error {
	undone := func(id sched.JobID) bool { return e.states[id] != Done }
	started := slices.ContainsFunc(e.segments, func(s sched.Segment) bool { return undone(s.Job) })
	if e.in.Deadline > 0 && !started {
		return nil
	}
	first := slices.IndexFunc(e.states, func(s State) bool { return s != Done })
	return fmt.Errorf("sim: %s at %v: %w: nothing is left to happen, but %d jobs are not done, job %d the first of them", e.policy.Name(), e.now, ErrStalled, e.left, first)
}

// finish puts the segments in order. They were opened in order of start, so
// only those of one instant need sorting.
func (e *engine) finish() *Result {
	all := slices.DeleteFunc(e.segments, func(s sched.Segment) bool { return s.Start == s.End })
	for i := 0; i < len(all); {
		k := i + 1
		for k < len(all) && all[k].Start == all[i].Start {
			k++
		}
		instant := sched.Schedule{Segments: all[i:k]}
		instant.Sort()
		i = k
	}
	r := e.result
	r.Schedule = &sched.Schedule{Class: e.class, Segments: all}
	r.DecisionP50, r.DecisionP99 = e.clock.times.quantile(0.50), e.clock.times.quantile(0.99)
	return &r
}
