// Package listsched is static-priority list scheduling of rigid gangs without
// preemption: FIFO, SJF and the other policies that differ in the key by which
// waiting jobs are ordered.
//
// Under one name, public simulators mean different policies. Two choices make
// most of the difference, and both are explicit here: what happens behind a job
// that does not fit ([Blocking]), and which GPUs a job takes ([sim.Rule]) for
// which of its stages ([Layout]).
//
// A job is looked at when it arrives and whenever GPUs may have become free.
// Cost: O(log n) per arrival and start with n jobs waiting, and O(1) fit tests
// per decision under Strict, one per distinct gang size under Skip: no decision
// scans the queue. For jobs with tensor slices a fit test costs O(servers), and
// under Skip there is one per distinct number and width of replicas.
package listsched

import (
	"fmt"
	"slices"

	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/heavyedge"
)

// Blocking says what happens to the jobs behind one that does not fit.
type Blocking uint8

// The blocking rules.
const (
	// Strict keeps the order: nothing starts before the head of the line.
	Strict Blocking = iota
	// Skip passes over jobs that do not fit now and starts all that do, in
	// order. It reserves nothing, so large gangs may wait long.
	Skip
)

var blockingNames = []string{"strict", "skip"}

func (b Blocking) String() string { return blockingNames[b] }

// MarshalText implements encoding.TextMarshaler.
func (b Blocking) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *Blocking) UnmarshalText(text []byte) error {
	i := slices.Index(blockingNames, string(text))
	if i < 0 {
		return fmt.Errorf("blocking rule %q is unknown: %v", text, blockingNames)
	}
	*b = Blocking(i)
	return nil
}

// Options are the rules of a policy besides its key. The zero value is strict
// blocking on one pool of GPUs, stages laid out in chain order.
type Options struct {
	Blocking  Blocking
	Placement sim.Rule
	Layout    Layout
	// AllReduce is the shape of the graph that the layout HeavyEdge cuts, and
	// that the predicted durations of the A-SRPT paper's baselines rest on.
	AllReduce heavyedge.AllReduce
}

// String returns the options as they are written in results.
func (o Options) String() string {
	s := fmt.Sprintf("blocking=%v placement=%v layout=%v", o.Blocking, o.Placement, o.Layout)
	if o.AllReduce == heavyedge.Tree {
		s += " allreduce=tree"
	}
	return s
}

// Key is what waiting jobs are ordered by, smallest first; ties go to the
// earlier release, then to the lower index. It is computed once, when the job
// arrives.
type Key func(*sim.View, sched.JobID) (int64, error)

// ByRelease orders jobs by release.
func ByRelease(v *sim.View, id sched.JobID) (int64, error) {
	j, err := v.Job(id)
	return int64(j.Release), err
}

// ByDuration orders jobs by predicted duration: the predicted number of
// iterations times the iteration time on the placement of
// [sim.View.Consolidated], rounded up to a microsecond. Loads are not part of
// it.
func ByDuration(v *sim.View, id sched.JobID) (int64, error) {
	t, err := v.PredictedTime(id)
	return int64(t), err
}

// Policy is a list scheduling policy. A value serves one run.
type Policy struct {
	name    string
	key     Key
	order   Order // of Ordered
	options Options

	queues   []*queue          // under Strict one, under Skip one per gang size seen
	byGang   []*queue          // by gang size; nil until one arrives
	byWidths map[string]*queue // for replicas of several slices: by their widths
	start    []sim.Assignment
}

// New returns the list scheduling policy of a name and key.
func New(name string, key Key, o Options) *Policy {
	p := &Policy{name: name, key: key, options: o}
	if o.Blocking == Strict {
		p.queues = []*queue{{}}
	}
	return p
}

// FIFO serves jobs in order of release.
func FIFO(o Options) *Policy { return New("fifo", ByRelease, o) }

// SJF serves the job of the shortest predicted duration first.
func SJF(o Options) *Policy { return New("sjf", ByDuration, o) }

// Name returns the name without the options.
func (p *Policy) Name() string { return p.name }

// Options returns the policy's options.
func (p *Policy) Options() Options { return p.options }

// Class returns N: gangs run to completion on GPUs of their own.
func (p *Policy) Class() sched.Class { return sched.Class{Kind: sched.N} }

// Requires implements sim.Requirer: the column that jobs are ordered by.
func (p *Policy) Requires(in *sched.Instance) error { return p.order.Requires(in) }

// Decide starts waiting jobs in order until none may start.
func (p *Policy) Decide(v *sim.View) (sim.Decision, error) {
	for _, id := range v.Arrived() {
		if err := p.enqueue(v, id); err != nil {
			return sim.Decision{}, err
		}
	}
	p.start = p.start[:0]
	for {
		q, err := p.next(v)
		if err != nil {
			return sim.Decision{}, err
		}
		if q == nil {
			return sim.Decision{Start: p.start}, nil
		}
		id := q.pop().job
		place, err := p.options.place(v, id)
		if err != nil {
			return sim.Decision{}, err
		}
		p.start = append(p.start, sim.Assignment{Job: id, Place: place})
	}
}

func (p *Policy) enqueue(v *sim.View, id sched.JobID) error {
	j, err := v.Job(id)
	if err != nil {
		return err
	}
	key, err := p.key(v, id)
	if err != nil {
		return err
	}
	p.queueOf(&j).push(waiting{key: key, release: j.Release, job: id, gang: int32(j.Gang), sliced: j.Widths != nil})
	return nil
}

// queueOf returns the queue of a job. Under Skip, jobs whose replicas have the
// same widths fit or do not fit together, so only the first of each counts.
func (p *Policy) queueOf(j *sim.Job) *queue {
	switch {
	case p.options.Blocking == Strict:
		return p.queues[0]
	case j.Widths != nil:
		return p.queueOfWidths(j.Widths)
	}
	for len(p.byGang) <= j.Gang {
		p.byGang = append(p.byGang, nil)
	}
	if p.byGang[j.Gang] == nil {
		p.byGang[j.Gang] = &queue{}
		p.queues = append(p.queues, p.byGang[j.Gang])
	}
	return p.byGang[j.Gang]
}

func (p *Policy) queueOfWidths(widths []sched.Width) *queue {
	key := fmt.Sprint(widths)
	if p.byWidths[key] == nil {
		if p.byWidths == nil {
			p.byWidths = map[string]*queue{}
		}
		p.byWidths[key] = &queue{}
		p.queues = append(p.queues, p.byWidths[key])
	}
	return p.byWidths[key]
}

// next returns the queue whose head starts next, or nil if no head fits.
func (p *Policy) next(v *sim.View) (*queue, error) {
	var first *queue
	for _, q := range p.queues {
		if len(*q) == 0 || first != nil && !(*q)[0].before(&(*first)[0]) {
			continue
		}
		fits, err := p.fits(v, &(*q)[0])
		if err != nil {
			return nil, err
		}
		if fits {
			first = q
		}
	}
	return first, nil
}

func (p *Policy) fits(v *sim.View, w *waiting) (bool, error) {
	if w.sliced {
		return v.Fits(w.job, p.options.Placement)
	}
	return v.Cluster().Fits(p.options.Placement, int(w.gang)), nil
}
