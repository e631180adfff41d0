package lazer

import (
	"slices"

	"yardstick/sched"
)

// Context is what a deferral is chosen by.
//
// Source: Lazer, Eq. (5).
type Context struct {
	Interarrival sched.Time // mean time between arrivals over the last hour
	Remaining    sched.Time // T' of the new job
	Load         sched.Time // of the new job
	Pause        sched.Time // longest of the victims that have something to save
}

// Deferral chooses how long preemptions are deferred, and learns.
type Deferral interface {
	Defer(Context) (sched.Time, error)
	// Observe is told, some time after a choice, what became of it.
	Observe(Outcome) error
}

// Outcome is what became of a choice.
type Outcome struct {
	Context Context
	Chosen  sched.Time // X
	F       sched.Time // what the choice is measured by: of the two below
	// Counterfactual is for how long loading should have been put off, whatever was
	// chosen: see forecast.
	Counterfactual sched.Time
	// Observed is the part of the load of the new job, the first after the choice, that
	// a preemption wasted; 0 if the job came to train.
	Observed sched.Time
}

// Fixed defers every preemption by the same time.
type Fixed sched.Time

// Defer implements Deferral.
func (f Fixed) Defer(Context) (sched.Time, error) { return sched.Time(f), nil }

// Observe implements Deferral.
func (Fixed) Observe(Outcome) error { return nil }

// forecast watches arrivals, for the contexts of choices and for what should
// have been chosen.
//
// The counterfactual F does not depend on the choice: with a choice made at t0, p the longest
// pause of the victims and l the load time of the new job, it is A − t0 − p if
// a job with less to go than the new one had at t0 first arrives at A in
// (t0, t0 + p + l], and no less than 0; it is 0 if none does. It is known at
// t0 + max(X, p + l).
//
// The observed F is the source's "portion of L_k wasted due to a futile
// preemption": it is known when the job's load has ended or was cut short. A job that
// was queued after all has loaded nothing, and then there is nothing to observe.
type forecast struct {
	observed bool         // F is what was observed
	times    []sched.Time // of arrivals within the last hour
	opened   []*outcome
}

// outcome is a choice whose F is not known yet.
type outcome struct {
	Outcome
	at    sched.Time
	found bool // Counterfactual is not 0

	load  loading
	until sched.Time // end of the load under way
}

// loading is how far the load has come that follows a choice.
type loading uint8

const (
	ahead   loading = iota // waits for the deferral or the pauses
	under                  // has begun
	cut                    // was preempted: Observed says how much was wasted
	without                // did not come about
)

// begun, cutShort and dropped note the start, the end by preemption and the failure
// to come about of the load that follows the job's latest choice.
func (j *job) begun(now sched.Time) {
	if o := j.choice; o != nil && o.load == ahead {
		o.load, o.until = under, now+j.load
	}
}

func (j *job) cutShort(now sched.Time) {
	if o := j.choice; o != nil && o.load == under && now < o.until {
		o.load, o.Observed = cut, now-(o.until-j.load)
	}
	j.choice = nil
}

func (j *job) dropped() {
	if o := j.choice; o != nil {
		o.load = without
	}
	j.choice = nil
}

const window = 3600 * sched.Second

func (f *forecast) arrival(now, remaining sched.Time) {
	f.times = append(f.times, now)
	f.forget(now)
	for _, o := range f.opened {
		if c := &o.Context; !o.found && now > o.at && now <= o.at+c.Pause+c.Load && remaining < c.Remaining {
			o.found, o.Counterfactual = true, max(now-o.at-c.Pause, 0)
		}
	}
}

func (f *forecast) forget(now sched.Time) {
	old := 0
	for old < len(f.times) && f.times[old] < now-window {
		old++
	}
	f.times = slices.Delete(f.times, 0, old)
}

// context returns the context of a choice. Before a second arrival the mean
// time between arrivals is taken to be an hour.
func (f *forecast) context(now sched.Time, n *job, victims []*job) Context {
	f.forget(now)
	c := Context{Interarrival: window, Remaining: n.remaining(now), Load: n.load}
	if k := len(f.times); k > 1 {
		c.Interarrival = (f.times[k-1] - f.times[0]) / sched.Time(k-1)
	}
	for _, r := range victims {
		if r.phase == active && now > r.trainFrom {
			c.Pause = max(c.Pause, r.pause)
		}
	}
	return c
}

func (f *forecast) open(now, x sched.Time, c Context) *outcome {
	o := &outcome{Outcome: Outcome{Context: c, Chosen: x}, at: now}
	f.opened = append(f.opened, o)
	return o
}

// settle tells the deferral what has become known.
func (f *forecast) settle(now sched.Time, d Deferral) error {
	var err error
	f.opened = slices.DeleteFunc(f.opened, func(o *outcome) bool {
		known := now >= o.at+max(o.Chosen, o.Context.Pause+o.Context.Load)
		if f.observed {
			known = known && (o.load == cut || o.load == without || o.load == under && now >= o.until)
		}
		if !known || err != nil {
			return known
		}
		o.F = o.Counterfactual
		if f.observed {
			if o.load == without {
				return true
			}
			o.F = o.Observed
		}
		err = d.Observe(o.Outcome)
		return true
	})
	return err
}
