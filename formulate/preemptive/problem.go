package preemptive

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"yardstick/formulate"
	"yardstick/internal/number"
	"yardstick/sched"
	"yardstick/solvers/partition"
)

// Limits on programs.
const (
	maxSlots   = 20_000    // in which a job may hold GPUs
	maxHorizon = 1_000_000 // slots until all jobs are done, one after the other
	maxColumns = 400_000
	maxEntries = 8_000_000
)

// job is what the formulation knows of a job. Slots are counted from 0.
type job struct {
	id       sched.JobID
	gang     int
	weight   float64
	first    int // the first slot it may hold GPUs in
	pause    int // q, slots that a pause blocks
	load     sched.Time
	train    sched.Time // T
	shortest int        // slots of a bout that trains at all
}

// slots returns the length of a bout that trains for at least the given time.
func (p *problem) slots(j *job, train sched.Time) int {
	return int(number.CeilDiv(j.load+train, p.slot))
}

// trains returns how long a bout of m slots trains.
func (p *problem) trains(j *job, m int) sched.Time { return sched.Time(m)*p.slot - j.load }

// all returns the slots that the job needs if it is never stopped.
func (p *problem) all(j *job) int { return p.slots(j, j.train) }

// problem is an instance with the objective Σ w_j C_j or max C_j; the others have
// the same optimal schedules.
type problem struct {
	in       *sched.Instance
	obj      sched.Objective
	class    sched.Class
	slot     sched.Time
	gpus     int
	makespan bool
	fixed    bool // any GPUs will do for every job
	jobs     []job
}

// newProblem reads the instance.
//
// Errors: sched.ErrNotApplicable; what Instance.Validate returns.
func newProblem(in *sched.Instance, obj sched.Objective, once bool) (*problem, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	p := &problem{in: in, obj: obj, slot: in.Slot, gpus: in.Cluster.GPUs(), makespan: obj == sched.Makespan, fixed: true,
		class: sched.Class{Kind: sched.P, Slotted: true}}
	if once {
		p.class.Kind = sched.N
	}
	switch {
	case !in.Model.Exclusive() || !in.Model.Has(p.class.Kind):
		return nil, fmt.Errorf("%w to class %v of the %s model", sched.ErrNotApplicable, p.class, in.Model)
	case in.Slot == 0:
		return nil, fmt.Errorf("%w: the instance has no slots", sched.ErrNotApplicable)
	case !obj.IsTotal() && obj != sched.Makespan:
		return nil, fmt.Errorf("%w to %v", sched.ErrNotApplicable, obj)
	}
	if err := in.RequirePipelines(); err != nil {
		return nil, err
	}
	least, err := partition.LeastRunTimes(in)
	if err != nil {
		return nil, err
	}
	last, work := 0, 0
	for i := range in.Jobs {
		x := &in.Jobs[i]
		j := job{id: sched.JobID(i), gang: x.Gang(), weight: 1, load: x.Load, train: least[i].Duration,
			first: int(number.CeilDiv(x.Release, p.slot)), pause: int(number.CeilDiv(x.Pause, p.slot))}
		if obj.Weighted() {
			j.weight = x.Weight
		}
		j.shortest = p.slots(&j, 1)
		p.fixed = p.fixed && (x.ConstantIteration() || len(in.Cluster.Servers) == 1)
		if p.all(&j) > maxSlots || j.pause > maxSlots {
			return nil, fmt.Errorf("%w: job %d takes %d slots: too large for a program over bouts", sched.ErrNotApplicable, i, p.all(&j))
		}
		p.jobs = append(p.jobs, j)
		last, work = max(last, j.first), work+p.all(&j)
	}
	if last+work > maxHorizon {
		return nil, fmt.Errorf("%w: the jobs end in slot %d, one after the other, after more than %d: too large for a program over bouts", sched.ErrNotApplicable, last+work, maxHorizon)
	}
	return p, nil
}

func (p *problem) relation() formulate.Relation {
	if p.fixed {
		return formulate.Exact
	}
	return formulate.Relaxation
}

// bout is a stretch of slots [from, stop) in which a job holds its GPUs to load
// and train; unless it is the last one, a pause follows.
type bout struct {
	job        int
	from, stop int
	last       bool
}

// free returns the first slot in which the GPUs are free again.
func (p *problem) free(b bout) int {
	if b.last {
		return b.stop
	}
	return b.stop + p.jobs[b.job].pause
}

// completion returns the time at which each job completes.
func (p *problem) completion(bouts []bout) []sched.Time {
	out := make([]sched.Time, len(p.jobs))
	for _, b := range bouts {
		if b.last {
			out[b.job] = sched.Time(b.stop) * p.slot
		}
	}
	return out
}

// cost returns Σ w_j C_j, or the makespan, exactly.
func (p *problem) cost(bouts []bout) *big.Rat { return p.value(p.completion(bouts)) }

func (p *problem) value(completion []sched.Time) *big.Rat {
	if p.makespan {
		return new(big.Rat).SetInt64(int64(slices.Max(completion)))
	}
	sum := new(big.Rat)
	for i, c := range completion {
		w := new(big.Rat).SetFloat64(p.jobs[i].weight)
		sum.Add(sum, w.Mul(w, new(big.Rat).SetInt64(int64(c))))
	}
	return sum
}

func (p *problem) better(a, b []bout) []bout {
	if p.cost(b).Cmp(p.cost(a)) < 0 {
		return b
	}
	return a
}

// objective turns a value of cost, or a bound on it, into the instance's
// objective.
func (p *problem) objective(v *big.Rat) *big.Rat { return p.obj.FromBase(p.in, v) }

// alone returns when each job would complete if it had the cluster to itself.
func (p *problem) alone() []sched.Time {
	out := make([]sched.Time, len(p.jobs))
	for i := range p.jobs {
		out[i] = sched.Time(p.jobs[i].first+p.all(&p.jobs[i])) * p.slot
	}
	return out
}

// trivial returns the lower bound on cost that needs no program.
func (p *problem) trivial() *big.Rat { return p.value(p.alone()) }

// deadlines returns for each job a slot boundary by which it completes in every
// schedule that costs no more than the given one, all other jobs costing at
// least what they do alone.
func (p *problem) deadlines(known []bout) []int {
	cost, alone := p.cost(known), p.alone()
	total := p.value(alone)
	out := make([]int, len(p.jobs))
	for i := range p.jobs {
		until := new(big.Rat).Set(cost)
		if !p.makespan {
			w := new(big.Rat).SetFloat64(p.jobs[i].weight)
			until.Sub(until, total).Quo(until, w)
			until.Add(until, new(big.Rat).SetInt64(int64(alone[i])))
		}
		slots := new(big.Int).Mul(until.Denom(), big.NewInt(int64(p.slot)))
		out[i] = math.MaxInt32
		if slots.Quo(until.Num(), slots); slots.IsInt64() {
			out[i] = int(min(slots.Int64(), math.MaxInt32))
		}
	}
	return out
}

// product returns w·t rounded down to a float64, and whether that is exact.
func product(w float64, t sched.Time) (float64, bool) {
	v := float64(t) // exact: t ≤ MaxTime < 2^53
	cost := w * v
	if rest := math.FMA(w, v, -cost); rest < 0 {
		return math.Nextafter(cost, math.Inf(-1)), false
	} else if rest > 0 {
		return cost, false
	}
	return cost, true
}
