package ranked

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// LAS are the settings of DLAS.
type LAS struct {
	// Thresholds end the queues but for the last, of K in all, in GPU-time. They are
	// positive and increase.
	Thresholds []sched.Time
	// TimeOnly attains service by time, whatever the gang: the thresholds are times.
	TimeOnly bool
	// Promote is the knob of Tiresias: a job outside the first queue that has waited for
	// Promote times the time that it has trained, both since its last promotion, comes
	// back to it. Nil promotes nobody.
	Promote   *big.Rat
	Placement sim.Rule
}

// DefaultLAS returns the three queues, ended at 3,250 and 7,200 GPU-seconds, of Tiresias's
// simulator, without promotion, as there.
func DefaultLAS() LAS {
	return LAS{Thresholds: []sched.Time{3250 * sched.Second, 7200 * sched.Second}}
}

// Validate returns an error if the settings make no sense.
func (o *LAS) Validate() error {
	for i, t := range o.Thresholds {
		if t <= 0 || t > sched.MaxTime || i > 0 && t <= o.Thresholds[i-1] {
			return fmt.Errorf("thresholds %v: they must be positive, at most %v, and increase", o.Thresholds, sched.MaxTime)
		}
	}
	if len(o.Thresholds) == 0 {
		return errors.New("thresholds: there must be one at least, such as 1h")
	}
	if o.Promote != nil && o.Promote.Sign() <= 0 {
		return fmt.Errorf("promote is %s: it must be positive, or never", o.Promote.RatString())
	}
	return nil
}

// DLAS returns discretised two-dimensional least attained service at every event: jobs
// begin in the first of K queues and pass into the next when the service that they have
// attained, their gang times the time trained, reaches the threshold of theirs. Queues
// have priority in order. In one queue come first the jobs that run, in the order in which
// they began to, and then those that wait, in the order in which they joined, preempted
// ones at the front; a job joins at the end. So within a queue nobody is preempted for a
// job that waits.
//
// The settings must be valid.
//
// Source: J. Gu et al., Tiresias: A GPU Cluster Manager for Distributed Deep Learning
// (2019), Section 3.2: queues, and promotion of starving jobs by PROMOTEKNOB. What joins
// where is as in the authors' simulator, schedule "dlas-gpu". Not in the source: times are
// exact, where the simulator looks for a job that has reached its threshold at events and
// at estimates of when that will be; a job whose promotion was due while it was in the
// first queue is promoted a microsecond after it waits in another one.
func DLAS(o LAS) *Policy { return newPolicy(&dlas{o: o}, o.Placement) }

// served is what DLAS keeps of a job.
type served struct {
	queue    int
	executed sched.Time // time trained since the last promotion, until it was last put on GPUs
	waited   sched.Time // likewise waited, once it has trained
	due      sched.Time // when it passes into the next queue or is promoted; 0 if neither
}

type dlas struct {
	o      LAS
	number int64 // of joins so far
	front  int64 // of preemptions so far, negative
	agenda agenda
}

func (d *dlas) name() string { return "dlas" }

func (d *dlas) requires(*sched.Instance) error { return nil }

// join puts a job at the end of its queue.
func (d *dlas) join(j *job) {
	d.number++
	j.rank = rank{int64(2*j.las.queue + 1), d.number}
}

func (d *dlas) waits(_ *sim.View, j *job) error {
	s := &j.las
	if j.rank == (rank{}) { // it has arrived
		d.join(j)
		return nil
	}
	if d.o.Promote == nil || s.queue == 0 || s.executed == 0 {
		return nil
	}
	limit := scale(s.executed, d.o.Promote)
	if limit > sched.MaxTime {
		return nil
	}
	d.set(j, max(j.stopped+limit-s.waited, j.stopped+1))
	return nil
}

// scale returns t·by, rounded up, or a time that is too long.
func scale(t sched.Time, by *big.Rat) sched.Time {
	n := new(big.Int).Mul(big.NewInt(int64(t)), by.Num())
	n.Add(n, by.Denom()).Sub(n, big.NewInt(1)).Quo(n, by.Denom())
	if !n.IsInt64() || n.Int64() > int64(sched.MaxTime) {
		return sched.MaxTime + 1
	}
	return sched.Time(n.Int64())
}

func (d *dlas) starts(v *sim.View, j *job, _ *sched.Placement) error {
	if j.las.executed > 0 {
		j.las.waited += v.Now() - j.stopped
	}
	d.expect(j)
	return nil
}

// expect notes when a job on GPUs passes into the next queue.
func (d *dlas) expect(j *job) {
	s := &j.las
	s.due = 0
	if s.queue < len(d.o.Thresholds) {
		d.set(j, j.trainFrom+d.limit(j)-s.executed)
	}
}

// limit returns how long a job trains until it leaves its queue.
func (d *dlas) limit(j *job) sched.Time {
	t := d.o.Thresholds[j.las.queue]
	if d.o.TimeOnly {
		return t
	}
	return (t + sched.Time(j.gang) - 1) / sched.Time(j.gang)
}

func (d *dlas) set(j *job, at sched.Time) {
	j.las.due = at
	heap.Push(&d.agenda, change{at, j})
}

func (d *dlas) runs(sched.Time, *job) {}

func (d *dlas) stops(now sched.Time, j *job) {
	j.las.executed += j.trained(now)
	j.las.due = 0
}

// promote has jobs whose time has come join another queue, those released first before
// others.
func (d *dlas) promote(now sched.Time) (list []*job) {
	var due []*job
	for c, ok := d.next(); ok && c.at <= now; c, ok = d.next() {
		heap.Pop(&d.agenda)
		c.job.las.due = 0
		due = append(due, c.job)
	}
	slices.SortFunc(due, func(a, b *job) int { return cmp.Or(cmp.Compare(a.release, b.release), cmp.Compare(a.id, b.id)) })
	for _, j := range due {
		s := &j.las
		if j.phase == waiting {
			*s = served{}
			d.join(j)
			list = append(list, j)
			continue
		}
		for s.queue < len(d.o.Thresholds) && s.executed+j.trained(now) >= d.limit(j) {
			s.queue++
		}
		d.join(j)
		d.expect(j)
	}
	return list
}

// chosen puts the jobs that run before those that wait in each queue, and the preempted
// ones to the front of these.
func (d *dlas) chosen(held, preempted []*job) {
	sortNearly(held)
	for _, j := range held {
		if j.phase == active && j.rank.first%2 == 1 {
			d.number++
			j.rank = rank{j.rank.first - 1, d.number}
		}
	}
	for _, j := range slices.Backward(preempted) {
		if j.rank.first%2 == 0 {
			d.front--
			j.rank = rank{j.rank.first + 1, d.front}
		}
	}
}

func (d *dlas) wake(now sched.Time) sched.Time {
	c, ok := d.next()
	if !ok {
		return 0
	}
	return max(c.at, now+1)
}

// next returns the first change that still stands.
func (d *dlas) next() (change, bool) {
	for len(d.agenda) > 0 {
		c := d.agenda[0]
		if c.at == c.job.las.due && c.job.phase != done {
			return c, true
		}
		heap.Pop(&d.agenda)
	}
	return change{}, false
}

// change is a time at which a job passes into another queue.
type change struct {
	at  sched.Time
	job *job
}

// agenda is a heap of changes.
type agenda []change

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].at < a[j].at }
func (a agenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)        { *a = append(*a, x.(change)) }
func (a *agenda) Pop() any {
	c := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return c
}
