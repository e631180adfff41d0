// Package asrpt is the A-SRPT policy: gangs run without preemption in the order
// in which a virtual single machine completes them, and each is consolidated
// or fragmented according to what placement means to it.
//
// Every job arrives on a virtual machine at its release, with the size
//
//	q = g·ñ·alpha~/G,
//
// where g is its gang, G the number of GPUs of the cluster, ñ the predicted
// number of iterations and alpha~ the per-iteration time that Heavy-Edge
// reaches on the fewest servers of the empty cluster. The virtual machine runs
// SRPT. A job that it completes at C^v joins the end of a queue, and the queue
// is served strictly in order: the head starts as soon as G's free GPUs suffice
// for it, wherever they are.
//
// A job with alpha_max/alpha~ ≥ COMM is communication-heavy: it takes the GPUs of
// the servers with the most free ones, and if its alpha there exceeds COMM·alpha~
// it waits, and the queue with it, until other jobs' completions let it run
// strictly faster, but for at most tau·q. Other jobs take the GPUs of the
// servers with the fewest free ones, and never wait.
//
// Replicas of several tensor slices are whole on a server each. A job that has
// some starts when its replicas fit, and delays the queue until then; G's free
// GPUs alone need not suffice.
//
// All of this is exact: sizes, virtual completions and per-iteration times are
// rational numbers. Real events fall on whole microseconds, so that a job joins
// the queue at the first one not before C^v, and waits for at most tau·q rounded
// down, in a slotted run to whole slots. C^v depends on releases and predictions
// only, never on the cluster.
//
// Cost: O(log n) comparisons per arrival and virtual completion, and one
// placement per start and per completion seen by a job that waits.
//
// Source: the A-SRPT paper, Section IV, Algorithm 1 ("The A-SRPT Algorithm"), and
// Section VI for tensor slices and stage graphs.
// docs/asrpt.md says where the printed algorithm is ambiguous and what is done
// here.
package asrpt

import (
	"errors"
	"math/big"

	"yardstick/heuristics/sim"
	"yardstick/internal/number"
	"yardstick/sched"
	"yardstick/sched/heavyedge"
	"yardstick/solvers/partition"
)

// Policy is A-SRPT. A value serves one run.
type Policy struct {
	name    string
	options Options

	estimates *estimator
	machine   *machine
	queue     []completion // in order of virtual completion
	first     int          // queue[:first] have started
	wait      wait
	start     []sim.Assignment
}

// wait is a communication-heavy head of the queue that waits for a better
// placement.
type wait struct {
	on       bool
	kappa    *big.Rat   // its alpha when it began to wait, in seconds
	deadline sched.Time // the last time at which it may start
}

// New returns A-SRPT with the iterations that the run's predictor expects. It
// panics if the options are not valid.
func New(o Options) *Policy { return newPolicy("a-srpt", o) }

// Perfect returns A-SRPT-Perfect, which knows the numbers of iterations: the
// same policy for runs without a predictor. It panics if the options are not
// valid.
func Perfect(o Options) *Policy { return newPolicy("a-srpt-perfect", o) }

func newPolicy(name string, o Options) *Policy {
	if err := o.Validate(); err != nil {
		panic(err)
	}
	return &Policy{name: name, options: o.filled(), machine: newMachine(o.Ties)}
}

// Name returns the name without the options.
func (p *Policy) Name() string { return p.name }

// Options returns the policy's options, every parameter given.
func (p *Policy) Options() Options { return p.options }

// Class returns N: gangs run to completion on GPUs of their own.
func (p *Policy) Class() sched.Class { return sched.Class{Kind: sched.N} }

// Decide brings the virtual machine up to date and starts jobs from the head of
// the queue until one must wait.
//
// At equal times the order is: completions on the cluster, completions on the
// virtual machine, arrivals (jobs of size 0 join the queue at once), starts.
func (p *Policy) Decide(v *sim.View) (sim.Decision, error) {
	if p.estimates == nil {
		p.estimates = newEstimator(v.Hardware(), p.options)
	}
	for _, id := range v.Arrived() {
		if err := p.arrive(v, id); err != nil {
			return sim.Decision{}, err
		}
	}
	p.queue = p.machine.advance(micros(v.Now()), p.queue)
	p.start = p.start[:0]
	for {
		if p.options.IdleStart && p.first == len(p.queue) && !p.machine.empty() && v.Cluster().Free() == v.Cluster().GPUs() {
			p.queue = append(p.queue, completion{p.machine.pop(), p.machine.now})
		}
		if p.first == len(p.queue) {
			break
		}
		started, err := p.serve(v, &p.queue[p.first])
		if err != nil {
			return sim.Decision{}, err
		}
		if !started {
			break
		}
		p.queue[p.first] = completion{}
		p.first++
	}
	if 2*p.first >= len(p.queue) { // each entry moves once per halving
		p.queue = p.queue[:copy(p.queue, p.queue[p.first:])]
		p.first = 0
	}
	return sim.Decision{Start: p.start, Wake: p.wake()}, nil
}

// arrive puts a job on the virtual machine, at its release: in a slotted run
// that may be some time ago.
func (p *Policy) arrive(v *sim.View, id sched.JobID) error {
	j, err := v.Job(id)
	if err != nil {
		return err
	}
	iters, err := v.Predicted(id)
	if err != nil {
		return err
	}
	e, err := p.estimates.of(&j)
	if err != nil {
		return err
	}
	at := micros(j.Release)
	p.queue = p.machine.advance(at, p.queue)
	t := task{job: id, release: j.Release, size: new(big.Rat).Mul(e.unit, new(big.Rat).SetInt64(iters))}
	if iters > 0 {
		p.machine.arrive(t)
		return nil
	}
	// C^v is the release. Of those queued only completions at this very instant
	// can be behind it.
	p.queue = append(p.queue, completion{t, at})
	for i := len(p.queue) - 1; i > p.first && p.queue[i-1].at.Cmp(at) == 0 && p.options.Ties.before(&t, &p.queue[i-1].task); i-- {
		p.queue[i-1], p.queue[i] = p.queue[i], p.queue[i-1]
	}
	return nil
}

// serve starts the head of the queue, or reports that it must wait.
func (p *Policy) serve(v *sim.View, head *completion) (started bool, err error) {
	j, err := v.Job(head.job)
	if err != nil {
		return false, err
	}
	if fits, err := v.Fits(head.job, sim.MostAvailable); err != nil || !fits {
		return false, err
	}
	e, err := p.estimates.of(&j)
	if err != nil {
		return false, err
	}
	if !e.heavy {
		place, err := p.place(v, &j, sim.LeastAvailable)
		if err != nil {
			return false, err
		}
		return true, p.commit(v, head.job, place)
	}
	// Nothing starts while a job waits, so only completions change what is free.
	late := p.wait.on && v.Now() >= p.wait.deadline
	if p.wait.on && !late && len(v.Completed()) == 0 {
		return false, nil
	}
	place, err := p.place(v, &j, sim.MostAvailable)
	if err != nil {
		return false, err
	}
	// On an idle cluster nothing better can come. Not in the source, where
	// alpha~ is what an idle cluster offers.
	if idle := v.Cluster().Free() == v.Cluster().GPUs(); late || idle {
		return true, p.commit(v, head.job, place)
	}
	alpha, err := p.estimates.probe.IterTime(0, &place)
	switch {
	case err != nil:
		return false, err
	case p.wait.on && alpha.Cmp(p.wait.kappa) >= 0:
		return false, nil
	case !p.wait.on && alpha.Cmp(e.limit) > 0:
		if patience := p.patience(v, head.size); patience > 0 {
			p.wait = wait{true, alpha, v.Now() + patience}
			return false, nil
		}
	}
	return true, p.commit(v, head.job, place)
}

// patience returns tau times the virtual size, rounded down.
func (p *Policy) patience(v *sim.View, size *big.Rat) sched.Time {
	budget := new(big.Rat).Mul(p.options.Tau, size)
	whole := number.FloorInt(budget)
	t := sched.MaxTime
	if whole.IsInt64() {
		t = min(t, sched.Time(whole.Int64()))
	}
	t = min(t, sched.MaxTime-v.Now())
	if slot := v.Slot(); slot > 0 {
		t -= t % slot
	}
	return t
}

// place puts the job on GPUs that the rule selects.
func (p *Policy) place(v *sim.View, j *sim.Job, rule sim.Rule) (sched.Placement, error) {
	shares, ok, err := v.Pick(j.ID, rule)
	if err != nil {
		return sched.Placement{}, err
	}
	if !ok {
		return sched.Placement{}, errors.New("asrpt: no GPUs for a job that fits")
	}
	p.estimates.ask(j)
	if len(j.Stages) == 1 && j.Widths == nil { // there is one way to do it
		return sched.Placement{Shares: shares}, nil
	}
	placers := []func(*sched.Instance, []int, []int) (sched.Placement, error){p.options.Place}
	if p.options.Layout == Optimal && j.Sharing == nil {
		placers = append(placers, bestAlpha)
	}
	servers, sizes := make([]int, len(shares)), make([]int, len(shares))
	for i, sh := range shares {
		servers[i], sizes[i] = sh.Server, sh.GPUs
	}
	for _, place := range placers {
		if place == nil {
			continue
		}
		if found, err := place(&p.estimates.probe, servers, sizes); !errors.Is(err, sched.ErrNotApplicable) {
			return found, err
		}
	}
	parts := make([]heavyedge.Part, len(shares))
	for i, sh := range shares {
		parts[i] = heavyedge.Part{Server: sh.Server, GPUs: sh.GPUs}
	}
	return heavyedge.Place(&p.estimates.probe.Jobs[0], parts, p.options.AllReduce)
}

func bestAlpha(in *sched.Instance, servers, parts []int) (sched.Placement, error) {
	best, err := partition.BestAlpha(in, 0, servers, parts, 0)
	if err != nil {
		return sched.Placement{}, err
	}
	return best.Placement, nil
}

// commit starts the head of the queue.
func (p *Policy) commit(v *sim.View, id sched.JobID, place sched.Placement) error {
	p.wait = wait{}
	p.start = append(p.start, sim.Assignment{Job: id, Place: place})
	return v.Hold(id, place)
}

// wake returns when the next virtual completion or the deadline of the head is,
// whichever comes first; 0 if there is neither.
func (p *Policy) wake() sched.Time {
	t := sched.Time(0)
	if !p.machine.empty() {
		t = roundUp(p.machine.headEnds())
	}
	if p.wait.on && (t == 0 || p.wait.deadline < t) {
		t = p.wait.deadline
	}
	return t
}

func micros(t sched.Time) *big.Rat { return new(big.Rat).SetInt64(int64(t)) }

// roundUp returns the first whole microsecond not before t, or one beyond
// sched.MaxTime, which the simulator refuses.
func roundUp(t *big.Rat) sched.Time {
	q := number.CeilInt(t)
	if !q.IsInt64() || q.Int64() > int64(sched.MaxTime) {
		return sched.MaxTime + 1
	}
	return sched.Time(q.Int64())
}
