package exhaustive

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"yardstick/internal/number"
	"yardstick/sched"
	"yardstick/solvers/partition"
)

const (
	maxJobs     = 250 // whose excesses an int64 holds: see bounds.Excess
	maxTreeJobs = 64  // as many as a word has bits
	maxPatterns = 20_000
	weightBits  = 62 // of a scaled weight
)

// problem is an instance as the search sees it. Jobs are numbered in the order
// in which the search considers them for a start: sensitive ones first.
type problem struct {
	in   *sched.Instance
	obj  sched.Objective
	jobs []job
	gpus int
	free []int // GPUs of each server
	kind []int // size class of each server: equal numbers mean equal sizes

	sizes     []int // of gangs, the largest first, and 1
	packer    *packer
	sensitive uint64 // the jobs whose running time depends on the placement
	makespan  bool   // the cost is the last completion, not a sum
	weighted  bool   // the sum is weighted

	// Costs are Σ weight·completion in units of scale. If not exact, weights
	// are rounded down and costs are lower bounds on true ones.
	scale *big.Rat
	exact bool
}

type job struct {
	id      sched.JobID
	release int64
	gang    int
	weight  uint64
	worth   float64 // the weight before scaling
	// Running times include loading: the least and the greatest.
	short, long int64
	work        int64 // gang·short
	// duration by pattern (see patternKey); nil if not sensitive.
	duration map[string]int64
	choices  []choice // by increasing duration; one of class anyGPUs if not sensitive
	// twins are the jobs that may be assumed to start no later: see twins.
	twins uint64
}

// choice is a running time that a job may have, and the class of the patterns
// that run no longer.
type choice struct {
	duration int64
	class    int
}

const never = math.MaxInt64

// newProblem prepares an instance, or says why it is out of range.
func newProblem(in *sched.Instance, obj sched.Objective) (*problem, error) {
	switch {
	case in.Model != sched.ModelGang:
		return nil, fmt.Errorf("%w to the %s model", sched.ErrNotApplicable, in.Model)
	case in.Slot != 0:
		return nil, fmt.Errorf("%w to slotted instances", sched.ErrNotApplicable)
	case !obj.IsTotal() && obj != sched.Makespan:
		return nil, fmt.Errorf("%w to %v", sched.ErrNotApplicable, obj)
	case len(in.Jobs) > maxJobs:
		return nil, fmt.Errorf("%w to %d jobs: at most %d", sched.ErrNotApplicable, len(in.Jobs), maxJobs)
	}
	p := &problem{in: in, obj: obj, gpus: in.Cluster.GPUs(), makespan: obj == sched.Makespan, weighted: obj.Weighted()}
	kinds := map[int]int{}
	for _, s := range in.Cluster.Servers {
		if _, ok := kinds[s.GPUs]; !ok {
			kinds[s.GPUs] = len(kinds)
		}
		p.free = append(p.free, s.GPUs)
		p.kind = append(p.kind, kinds[s.GPUs])
	}
	p.packer = newPacker(p.free, p.kind)
	for id := range in.Jobs {
		j, err := p.newJob(sched.JobID(id), kinds)
		if err != nil {
			return nil, err
		}
		p.jobs = append(p.jobs, j)
	}
	p.sizes = []int{1}
	for i := range p.jobs {
		p.sizes = append(p.sizes, p.jobs[i].gang)
	}
	slices.Sort(p.sizes)
	p.sizes = slices.Compact(p.sizes)
	slices.Reverse(p.sizes)
	p.weigh()
	p.order()
	return p, p.checkRange()
}

// newJob collects a job's running times.
func (p *problem) newJob(id sched.JobID, kinds map[int]int) (job, error) {
	src := &p.in.Jobs[id]
	if src.Sliced() {
		return job{}, fmt.Errorf("%w to tensor slices, which not any free GPUs can hold: job %d", sched.ErrNotApplicable, id)
	}
	j := job{id: id, release: int64(src.Release), gang: src.Gang()}
	if src.ConstantIteration() {
		d, err := partition.MinDuration(p.in, id)
		j.short = int64(src.Load + d)
		j.long = j.short
		j.choices = []choice{{j.short, anyGPUs}}
		j.work = int64(j.gang) * j.short
		return j, err
	}
	patterns, err := partition.Patterns(p.in, id, maxPatterns)
	if err != nil {
		return j, err
	}
	slices.SortStableFunc(patterns, func(a, b partition.Pattern) int { return cmp.Compare(a.Duration, b.Duration) })
	j.duration = make(map[string]int64, len(patterns))
	var key patternKey
	var more []pattern // of the current duration
	class := 0
	for k, pt := range patterns {
		key.reset()
		var q pattern
		for i, part := range pt.Parts {
			key.add(kinds[pt.Sizes[i]], part)
			q = append(q, need{part, kinds[pt.Sizes[i]]})
		}
		d := int64(src.Load + pt.Duration)
		j.duration[string(key.bytes())] = d
		more = append(more, q)
		if last := k+1 == len(patterns); last {
			j.choices = append(j.choices, choice{d, anyGPUs})
		} else if patterns[k+1].Duration > pt.Duration {
			class = p.packer.extend(class, more)
			j.choices = append(j.choices, choice{d, class})
			more = more[:0]
		}
	}
	j.short, j.long = j.choices[0].duration, j.choices[len(j.choices)-1].duration
	if j.short == j.long { // a placement that matters to the model but not here
		j.duration = nil
	}
	j.work = int64(j.gang) * j.short
	return j, nil
}

// weigh scales the weights to integers: by a power of two that makes all of
// them whole if they then fit weightBits, and otherwise by one that fills
// weightBits, rounding down.
func (p *problem) weigh() {
	p.scale, p.exact = big.NewRat(1, 1), true
	if !p.weighted {
		for i := range p.jobs {
			p.jobs[i].weight, p.jobs[i].worth = 1, 1
		}
		return
	}
	high, low := math.MinInt, math.MaxInt // the powers of two that the weights' bits stand for
	for _, j := range p.in.Jobs {
		m, e := math.Frexp(j.Weight) // Weight = m·2^e, ½ ≤ m < 1
		high = max(high, e)
		low = min(low, e-53+bits.TrailingZeros64(uint64(m*(1<<53))))
	}
	if high-low > weightBits {
		low, p.exact = high-weightBits, false
	}
	for i, j := range p.in.Jobs {
		p.jobs[i].weight, p.jobs[i].worth = uint64(math.Ldexp(j.Weight, -low)), j.Weight
	}
	power := new(big.Int).Lsh(big.NewInt(1), uint(max(low, -low)))
	p.scale.SetInt(power)
	if low < 0 {
		p.scale.Inv(p.scale)
	}
}

// order numbers the jobs, sensitive ones first, then by Smith's ratio of weight
// to work (longest first for the makespan), and finds twins.
func (p *problem) order() {
	slices.SortStableFunc(p.jobs, func(a, b job) int {
		if (a.duration != nil) != (b.duration != nil) {
			if a.duration != nil {
				return -1
			}
			return 1
		}
		first := cmp.Compare(b.worth/float64(b.work), a.worth/float64(a.work))
		if p.makespan {
			first = cmp.Compare(b.short, a.short)
		}
		return cmp.Or(first, cmp.Compare(b.worth, a.worth), cmp.Compare(a.release, b.release))
	})
	for k := range p.jobs {
		if p.jobs[k].duration != nil {
			p.sensitive |= 1 << k
		}
		for i := range k {
			if p.twins(&p.jobs[i], &p.jobs[k]) {
				p.jobs[k].twins |= 1 << i
			}
		}
	}
}

// twins reports whether job a, first in number, may be assumed to start no
// later than b: they run equally long on every placement, a is released no
// later and weighs no less. For if b started first, the two could change
// places, and a's place would be the earlier start. If it is also the earlier
// end, the change costs nothing. Where running times depend on the placement it
// need not be, so that weights must be equal.
func (p *problem) twins(a, b *job) bool {
	x, y := &p.in.Jobs[a.id], &p.in.Jobs[b.id]
	return a.release <= b.release && (a.worth == b.worth || a.worth > b.worth && a.duration == nil) &&
		x.Load == y.Load && x.Iters == y.Iters && slices.Equal(x.Stages, y.Stages)
}

// checkRange makes sure that times, work and sums of both fit the integers
// that the search uses.
func (p *problem) checkRange() error {
	horizon := new(big.Int)
	for i := range p.jobs {
		horizon.Add(horizon, big.NewInt(p.jobs[i].release+p.jobs[i].long))
	}
	horizon.Mul(horizon, big.NewInt(int64(p.gpus)))
	if horizon.BitLen() > 61 {
		return fmt.Errorf("%w: releases and running times of all jobs times %d GPUs exceed 61 bits", sched.ErrNotApplicable, p.gpus)
	}
	return nil
}

// unscale turns a lower bound in the search's units into one on the objective.
func (p *problem) unscale(v number.Uint128) *big.Rat {
	cost := new(big.Rat).SetInt(v.Big())
	return p.obj.FromBase(p.in, cost.Mul(cost, p.scale))
}

// rescale turns an objective value into the search's units, rounded up.
func (p *problem) rescale(cost *big.Rat) number.Uint128 {
	v := p.obj.ToBase(p.in, cost)
	v.Quo(v, p.scale)
	return number.NewUint128(number.CeilInt(v))
}
