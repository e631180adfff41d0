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
	// Observe is told, some time after a choice x, for how long loading should
	// have been deferred: F.
	Observe(c Context, x, f sched.Time) error
}

// Fixed defers every preemption by the same time.
type Fixed sched.Time

// Defer implements Deferral.
func (f Fixed) Defer(Context) (sched.Time, error) { return sched.Time(f), nil }

// Observe implements Deferral.
func (Fixed) Observe(Context, sched.Time, sched.Time) error { return nil }

// forecast watches arrivals, for the contexts of choices and for what should
// have been chosen.
//
// F must not depend on the choice: with a choice made at t0, p the longest
// pause of the victims and l the load time of the new job, it is A − t0 − p if
// a job with less to go than the new one had at t0 first arrives at A in
// (t0, t0 + p + l], and no less than 0; it is 0 if none does. It is known at
// t0 + max(X, p + l).
type forecast struct {
	times  []sched.Time // of arrivals within the last hour
	opened []*outcome
}

// outcome is a choice whose F is not known yet.
type outcome struct {
	context Context
	chosen  sched.Time
	at      sched.Time
	f       sched.Time
	found   bool
}

const window = 3600 * sched.Second

func (f *forecast) arrival(now, remaining sched.Time) {
	f.times = append(f.times, now)
	f.forget(now)
	for _, o := range f.opened {
		if c := &o.context; !o.found && now > o.at && now <= o.at+c.Pause+c.Load && remaining < c.Remaining {
			o.found, o.f = true, max(now-o.at-c.Pause, 0)
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

func (f *forecast) open(now, x sched.Time, c Context) {
	f.opened = append(f.opened, &outcome{context: c, chosen: x, at: now})
}

// settle tells the deferral what has become known.
func (f *forecast) settle(now sched.Time, d Deferral) error {
	var err error
	f.opened = slices.DeleteFunc(f.opened, func(o *outcome) bool {
		known := now >= o.at+max(o.chosen, o.context.Pause+o.context.Load)
		if known && err == nil {
			err = d.Observe(o.context, o.chosen, o.f)
		}
		return known
	})
	return err
}
