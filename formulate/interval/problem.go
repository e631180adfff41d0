package interval

import (
	"fmt"
	"math/big"
	"slices"

	"yardstick/bounds"
	"yardstick/internal/number"
	"yardstick/sched"
	"yardstick/solvers/partition"
)

// Limits on programs, and what the default slot aims at.
const (
	maxPatterns  = 1000 // of one job
	maxServer    = 24   // GPUs: 1,575 configurations
	maxColumns   = 200_000
	maxNonzeros  = 5_000_000
	goodColumns  = 4_000
	goodNonzeros = 80_000
)

// job is what the programs know of a job.
type job struct {
	id      sched.JobID
	release sched.Time
	length  sched.Time // d_j, load and least running time
	gang    int64
	weight  *big.Rat
}

// problem is an instance on a grid, with the objective Σ w_j (C_j − r_j − d_j):
// what jobs cost beyond being alone.
type problem struct {
	in   *sched.Instance
	obj  sched.Objective
	grid bounds.Grid
	jobs []job
	gpus int64 // the most that jobs can hold at one instant

	claims []bounds.Claim
}

func newProblem(in *sched.Instance, obj sched.Objective, opt Options) (*problem, error) {
	switch {
	case !in.Model.Exclusive():
		return nil, fmt.Errorf("%w to the %s model", sched.ErrNotApplicable, in.Model)
	case !obj.IsTotal():
		return nil, fmt.Errorf("%w to %v", sched.ErrNotApplicable, obj)
	case opt.Slot < 0 || opt.Horizon < 0:
		return nil, fmt.Errorf("slot %v, horizon %v: neither may be negative", opt.Slot, opt.Horizon)
	}
	if err := in.RequirePipelines(); err != nil {
		return nil, err
	}
	least, err := partition.LeastRunTimes(in)
	if err != nil {
		return nil, err
	}
	p := &problem{in: in, obj: obj, gpus: bounds.Reachable(in)}
	trains := make([]sched.Time, len(least))
	for i := range least {
		trains[i] = least[i].Duration
	}
	p.claims = bounds.Claims(in, trains)
	for i := range in.Jobs {
		j := &in.Jobs[i]
		out := job{id: sched.JobID(i), release: j.Release, length: j.Load + least[i].Duration, gang: int64(j.Gang()), weight: big.NewRat(1, 1)}
		if obj.Weighted() {
			out.weight.SetFloat64(j.Weight)
		}
		if out.length > sched.MaxTime {
			return nil, fmt.Errorf("%w: job %d would run for more than %v", sched.ErrNotApplicable, i, sched.MaxTime)
		}
		p.jobs = append(p.jobs, out)
	}
	horizon := opt.Horizon
	if horizon == 0 {
		horizon = p.horizon()
	}
	slot := opt.Slot
	if slot == 0 {
		slot = p.defaultSlot(horizon)
	}
	if horizon/slot > maxColumns {
		return nil, fmt.Errorf("%w: %d slots of %v: too large for a linear program over slots", sched.ErrNotApplicable, horizon/slot, slot)
	}
	p.grid = bounds.UniformGrid(slot, horizon)
	return p, p.grid.Validate()
}

// horizon returns the default horizon.
func (p *problem) horizon() sched.Time {
	var work, last, longest sched.Time
	for _, j := range p.jobs {
		work = min(work+sched.Time(j.gang)*j.length/sched.Time(p.gpus)+1, sched.MaxTime)
		last, longest = max(last, j.release), max(longest, j.length)
	}
	return min(last+work+longest, 3*sched.MaxTime)
}

// defaultSlot returns the greatest common divisor of the data, or a longer slot
// that keeps NPTI small. With so many jobs that none does, all time is one slot.
func (p *problem) defaultSlot(horizon sched.Time) sched.Time {
	var slot sched.Time
	for _, j := range p.jobs {
		slot = number.GCD(number.GCD(slot, j.release), j.length)
	}
	for slot < horizon && !p.small(slot, horizon) {
		slot += slot/4 + 1
	}
	return slot
}

// small estimates whether NPTI is of good size.
func (p *problem) small(slot, horizon sched.Time) bool {
	var columns, nonzeros sched.Time
	for _, j := range p.jobs {
		starts := 2 * (1 + max(0, horizon-j.release)/slot)
		columns += starts
		nonzeros += starts * (2 + j.length/slot)
		if columns > goodColumns || nonzeros > goodNonzeros {
			return false
		}
	}
	return true
}

// alone returns Σ w_j (r_j + d_j), what jobs cost if none waits.
func (p *problem) alone() *big.Rat {
	sum := new(big.Rat)
	for _, j := range p.jobs {
		sum.Add(sum, new(big.Rat).Mul(j.weight, big.NewRat(int64(j.release+j.length), 1)))
	}
	return sum
}

// starts returns the times from the release on at which a job of the given
// length has to be let start: its release and those for which start or end is a
// grid point. What it costs under any prices of slots is linear in between.
func (p *problem) starts(release, length sched.Time) []sched.Time {
	out := []sched.Time{release}
	for _, t := range p.grid {
		if t > release {
			out = append(out, t)
		}
		if t-length > release && release < p.grid.End() {
			out = append(out, t-length)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// overlap is the time that an interval has in common with a slot.
type overlap struct {
	slot int
	time int64
}

// overlaps returns those of [from, to).
func (p *problem) overlaps(from, to sched.Time) []overlap {
	var out []overlap
	for k := p.grid.Slot(from); k < p.grid.Slots() && p.grid[k] < to; k++ {
		out = append(out, overlap{k, int64(min(to, p.grid[k+1]) - max(from, p.grid[k]))})
	}
	return out
}
