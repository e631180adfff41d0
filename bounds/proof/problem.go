// Package proof writes proofs of optima and of lower bounds that strangers check: with
// programs that are not ours, or short enough to be read, and from files that need none
// of our code.
//
// A proof is about a [Problem]: gangs on a pool of GPUs in integers. The subpackages
// prove that no schedule of a problem costs less than some value.
package proof

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"yardstick/internal/number"
	"yardstick/sched"
	"yardstick/solvers/partition"
)

// Problem is what proofs are about, in integers: every job holds Gang of Capacity GPUs
// from some start that is not before Release, for Duration and without a break. Times
// are in units of Unit microseconds. The cost is the sum of Weight·end over all jobs or,
// if Makespan, the last end.
type Problem struct {
	Instance  string // the hash of the instance that it was made of
	Objective sched.Objective
	Class     sched.Class // N or Ns: what bounds on the cost hold for
	Unit      sched.Time
	// The objective's value is Scale·cost + Offset, in microseconds or microseconds
	// times weight.
	Scale, Offset *big.Rat
	Makespan      bool
	Capacity      int64
	Jobs          []Job
	// Placed says that the running time of some job depends on its placement. The
	// durations are the least ones, and the problem is a relaxation of the instance:
	// what no schedule of the problem undercuts, no schedule of the instance does.
	Placed bool
	// Servers has the GPUs of each server where the problem is about these and not about
	// one pool: see NewOnServers.
	Servers []int64
}

// Job is one job of a problem. Its weight is 0 where the cost is the makespan. On servers
// Duration is the least of its patterns, which are in order of duration.
type Job struct {
	Release, Duration, Gang, Weight int64
	Patterns                        []Pattern
}

// Limits of a problem: any product of a weight, a time and a number of jobs is then far
// below what proofs are scaled by.
const (
	maxJobs       = 10_000
	maxWeightBits = 60
)

// New states an instance in integers, for schedules of class N or Ns. Weights are
// floating-point numbers, which are integers times powers of two: they are scaled to
// integers by the least power that does it, and divided by what all have in common.
//
// Errors: sched.ErrNotApplicable, with the reason, if jobs are not gangs on GPUs of their
// own, for other classes, for objectives that are neither a total nor the makespan, and
// for weights whose integers exceed 60 bits.
func New(in *sched.Instance, obj sched.Objective, class sched.Class) (*Problem, error) {
	return newProblem(in, obj, class, false)
}

func newProblem(in *sched.Instance, obj sched.Objective, class sched.Class, onServers bool) (*Problem, error) {
	switch {
	case !in.Model.Exclusive():
		return nil, fmt.Errorf("proof: %w to the %s model: its jobs have no fixed work on GPUs of their own", sched.ErrNotApplicable, in.Model)
	case class.Kind != sched.N || !in.Model.Has(sched.N):
		return nil, fmt.Errorf("proof: %w to class %v: a job holds its GPUs from its start to its end", sched.ErrNotApplicable, class)
	case class.Slotted && in.Slot == 0:
		return nil, fmt.Errorf("proof: %w to class %v: the instance has no slots", sched.ErrNotApplicable, class)
	case !obj.IsTotal() && obj != sched.Makespan:
		return nil, fmt.Errorf("proof: %w to %v", sched.ErrNotApplicable, obj)
	case len(in.Jobs) > maxJobs:
		return nil, fmt.Errorf("proof: %w to %d jobs: at most %d", sched.ErrNotApplicable, len(in.Jobs), maxJobs)
	}
	least, err := partition.LeastRunTimes(in)
	if err != nil {
		return nil, fmt.Errorf("proof: %w", err)
	}
	p := &Problem{Instance: in.Hash(), Objective: obj, Class: class, Makespan: !obj.IsTotal(), Capacity: int64(in.Cluster.GPUs())}
	for id := range in.Jobs {
		j := &in.Jobs[id]
		d := j.Load + least[id].Duration
		if d > sched.MaxTime {
			return nil, fmt.Errorf("proof: %w: job %d would run for more than %v", sched.ErrNotApplicable, id, sched.MaxTime)
		}
		p.Jobs = append(p.Jobs, Job{Release: int64(j.Release), Duration: int64(d), Gang: int64(j.Gang())})
		p.Placed = p.Placed || !j.ConstantIteration() || j.Sliced()
	}
	if onServers {
		p.Placed = false
		if err := p.spread(in); err != nil {
			return nil, fmt.Errorf("proof: %w", err)
		}
	}
	p.measure(in, class)
	common, err := p.weigh(in)
	if err != nil {
		return nil, fmt.Errorf("proof: %w", err)
	}
	zero := obj.FromBase(in, new(big.Rat))
	common.Mul(common, new(big.Rat).SetInt64(int64(p.Unit)))
	p.Offset, p.Scale = zero, new(big.Rat).Sub(obj.FromBase(in, common), zero)
	return p, nil
}

// measure restates times in the largest unit in which all are whole: that of the slots,
// to which they are rounded up, or what all times have in common.
func (p *Problem) measure(in *sched.Instance, class sched.Class) {
	unit := int64(in.Slot)
	if !class.Slotted {
		unit = 0
		for _, j := range p.Jobs {
			unit = number.GCD(number.GCD(unit, j.Release), j.Duration)
			for _, q := range j.Patterns {
				unit = number.GCD(unit, q.Duration)
			}
		}
	}
	for i := range p.Jobs {
		j := &p.Jobs[i]
		j.Release, j.Duration = number.CeilDiv(j.Release, unit), number.CeilDiv(j.Duration, unit)
		for k := range j.Patterns {
			j.Patterns[k].Duration = number.CeilDiv(j.Patterns[k].Duration, unit)
		}
	}
	p.Unit = sched.Time(unit)
}

// weigh sets the weights, and returns what they are to be multiplied by.
func (p *Problem) weigh(in *sched.Instance) (*big.Rat, error) {
	if !p.Objective.Weighted() {
		for i := range p.Jobs {
			if !p.Makespan {
				p.Jobs[i].Weight = 1
			}
		}
		return big.NewRat(1, 1), nil
	}
	denominator, common := big.NewInt(1), new(big.Int)
	for i := range in.Jobs { // denominators are powers of two: the greatest is common to all
		if d := new(big.Rat).SetFloat64(in.Jobs[i].Weight).Denom(); d.Cmp(denominator) > 0 {
			denominator.Set(d)
		}
	}
	whole := make([]*big.Int, len(in.Jobs))
	for i := range in.Jobs {
		w := new(big.Rat).SetFloat64(in.Jobs[i].Weight)
		whole[i] = w.Mul(w, new(big.Rat).SetInt(denominator)).Num()
		common.GCD(nil, nil, common, whole[i])
	}
	for i, w := range whole {
		if w.Quo(w, common); w.BitLen() > maxWeightBits {
			return nil, fmt.Errorf("%w: the weight %v of job %d beside the others takes an integer of %d bits, more than %d: round the weights to fewer digits in base two, such as to multiples of 1/1024",
				sched.ErrNotApplicable, in.Jobs[i].Weight, i, w.BitLen(), maxWeightBits)
		}
		p.Jobs[i].Weight = w.Int64()
	}
	return new(big.Rat).SetFrac(common, denominator), nil
}

// Value returns the objective's value of a cost.
func (p *Problem) Value(cost *big.Int) *big.Rat {
	v := new(big.Rat).SetInt(cost)
	return v.Add(v.Mul(v, p.Scale), p.Offset)
}

// Cost returns the least cost whose value is not below v.
func (p *Problem) Cost(v *big.Rat) *big.Int {
	cost := new(big.Rat).Sub(v, p.Offset)
	return number.CeilInt(cost.Quo(cost, p.Scale))
}

// Claim is what a proof says of a problem: that no schedule costs less than Value and,
// unless Starts is nil, that the one with these starts, one per job and in units, costs
// as much: Value is the optimum.
type Claim struct {
	Value  *big.Int
	Starts []int64
	Held   [][]int64 // on servers: the GPUs that each job holds on each of them
}

// Evaluate returns the cost of the schedule with the given starts, one per job.
//
// Errors: a job starts before its release, or jobs hold more GPUs at some time than
// there are.
func (p *Problem) Evaluate(starts []int64) (*big.Int, error) {
	if len(starts) != len(p.Jobs) {
		return nil, fmt.Errorf("proof: %d starts for %d jobs", len(starts), len(p.Jobs))
	}
	cost := new(big.Int)
	for i, s := range starts {
		j := &p.Jobs[i]
		if s < j.Release || s > math.MaxInt64-j.Duration {
			return nil, fmt.Errorf("proof: job %d starts at %d, its release is %d", i, s, j.Release)
		}
		held := int64(0)
		for k, t := range starts {
			if t <= s && s < t+p.Jobs[k].Duration {
				held += p.Jobs[k].Gang
			}
		}
		if held > p.Capacity {
			return nil, fmt.Errorf("proof: %d GPUs are held at %d, of %d", held, s, p.Capacity)
		}
		end := big.NewInt(s + j.Duration)
		if !p.Makespan {
			cost.Add(cost, end.Mul(end, big.NewInt(j.Weight)))
		} else if end.Cmp(cost) > 0 {
			cost = end
		}
	}
	return cost, nil
}

// Starts returns starts, one per job and in units, of a schedule that costs no more than
// the given one of the instance: jobs take the first place where they fit, in the order
// in which they start there. None starts later than there, as those before it end no
// later and hold no more GPUs from then on.
//
// Errors: a job has no start.
func (p *Problem) Starts(s *sched.Schedule) ([]int64, error) {
	order, err := p.inOrder(s)
	if err != nil {
		return nil, err
	}
	return p.List(order), nil
}

// inOrder returns the jobs in the order in which they start in a schedule.
//
// Errors: a job has no start.
func (p *Problem) inOrder(s *sched.Schedule) ([]int, error) {
	first := make([]sched.Time, len(p.Jobs))
	for i := range first {
		first[i] = -1
	}
	for i := range s.Segments {
		seg := &s.Segments[i]
		if seg.Job < 0 || int(seg.Job) >= len(first) {
			return nil, fmt.Errorf("proof: the schedule has a job %d, of %d", seg.Job, len(first))
		}
		if first[seg.Job] < 0 || seg.Start < first[seg.Job] {
			first[seg.Job] = seg.Start
		}
	}
	order := make([]int, len(first))
	for i, t := range first {
		if t < 0 {
			return nil, fmt.Errorf("proof: job %d has no start in the schedule", i)
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(first[a], first[b]) })
	return order, nil
}

// List returns the starts of jobs that take, in the given order, the first place where
// they fit: their release, or the end of a job before them.
func (p *Problem) List(order []int) []int64 {
	starts := make([]int64, len(p.Jobs))
	for k, i := range order {
		before := order[:k]
		best := int64(math.MaxInt64)
		if p.fits(starts, before, i, p.Jobs[i].Release) {
			best = p.Jobs[i].Release
		}
		for _, at := range before {
			t := starts[at] + p.Jobs[at].Duration
			if t > p.Jobs[i].Release && t < best && p.fits(starts, before, i, t) {
				best = t
			}
		}
		starts[i] = best
	}
	return starts
}

// fits reports whether job i has GPUs from t on beside the jobs placed.
func (p *Problem) fits(starts []int64, placed []int, i int, t int64) bool {
	held := func(at int64) (gpus int64) {
		for _, k := range placed {
			if starts[k] <= at && at < starts[k]+p.Jobs[k].Duration {
				gpus += p.Jobs[k].Gang
			}
		}
		return gpus
	}
	room := p.Capacity - p.Jobs[i].Gang
	if held(t) > room {
		return false
	}
	return !slices.ContainsFunc(placed, func(k int) bool { // what is held grows only where a job starts
		return t < starts[k] && starts[k] < t+p.Jobs[i].Duration && held(starts[k]) > room
	})
}

// Header is the first line of the text of a problem on one pool, and ServersHeader that of
// one on servers.
const (
	Header        = "yardstick-problem 1"
	ServersHeader = "yardstick-servers 1"
)

// Text returns the problem as a file for people and checkers: a line per key and then
// a line per job, with its release, duration, gang and weight.
func (p *Problem) Text() []byte {
	minimise := "sum"
	if p.Makespan {
		minimise = "makespan"
	}
	header := Header
	if p.Servers != nil {
		header = ServersHeader
	}
	b := fmt.Appendf(nil, "%s\ninstance %s\nobjective %s\nclass %s\nunit %d\nscale %s\noffset %s\nminimise %s\n",
		header, p.Instance, p.Objective, p.Class, int64(p.Unit), p.Scale.RatString(), p.Offset.RatString(), minimise)
	if p.Servers != nil {
		return p.servers(b)
	}
	b = fmt.Appendf(b, "capacity %d\njobs %d\n", p.Capacity, len(p.Jobs))
	for _, j := range p.Jobs {
		b = fmt.Appendf(b, "%d %d %d %d\n", j.Release, j.Duration, j.Gang, j.Weight)
	}
	return b
}

// Hash returns the sha256 of the text, in hex.
func (p *Problem) Hash() string {
	sum := sha256.Sum256(p.Text())
	return hex.EncodeToString(sum[:])
}

// ErrLimit means that a proof was not finished within the limits.
var ErrLimit = errors.New("no proof within the limits")

// CheaperError means that what was to be proven is false: the schedule with these starts
// costs less.
type CheaperError struct {
	Cost   *big.Int
	Starts []int64
}

func (e *CheaperError) Error() string {
	return fmt.Sprintf("a schedule costs %v, which is less than what was to be proven", e.Cost)
}
