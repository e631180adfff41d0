package bouts

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"yardstick/bounds"
	"yardstick/internal/number"
	"yardstick/sched"
	"yardstick/solvers/partition"
)

const (
	maxJobs   = 24
	maxStates = 60_000  // of one job
	maxSlots  = 100_000 // from time 0 to the end of all jobs, one after the other
)

// problem is an instance in slots.
type problem struct {
	in       *sched.Instance
	obj      sched.Objective
	class    sched.Class
	slot     sched.Time
	gpus     int
	makespan bool
	jobs     []job
	unit     *big.Rat // what one unit of cost is worth, in the objective's terms
	lattice  int64    // every cost is a multiple of it
	equal    bool     // all weights are one number
	exact    bool     // no weight is rounded
	last     int32    // the slot in which the last job is released
	dual     []dual
}

// job is what the search knows of a job.
type job struct {
	id     sched.JobID
	gang   int
	first  int32 // the first slot it may hold GPUs in
	weight int64
	states []state // states[0]: waiting with all its training to do
}

// newProblem reads the instance.
//
// Errors: sched.ErrNotApplicable; what Instance.Validate returns.
func newProblem(in *sched.Instance, obj sched.Objective, once bool) (*problem, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	p := &problem{in: in, obj: obj, slot: in.Slot, gpus: in.Cluster.GPUs(), makespan: obj == sched.Makespan,
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
	case len(in.Jobs) > maxJobs:
		return nil, fmt.Errorf("%w to %d jobs: at most %d", sched.ErrNotApplicable, len(in.Jobs), maxJobs)
	}
	if err := in.RequirePipelines(); err != nil {
		return nil, err
	}
	for i := range in.Jobs {
		j := &in.Jobs[i]
		if !j.ConstantIteration() && !oneServer(in) {
			return nil, fmt.Errorf("%w: the iteration time of job %d depends on the placement", sched.ErrNotApplicable, i)
		}
		train, err := partition.MinDuration(in, sched.JobID(i))
		if err != nil {
			return nil, err
		}
		if j.Release/p.slot > maxSlots {
			return nil, fmt.Errorf("%w: job %d is released after more than %d slots", sched.ErrNotApplicable, i, maxSlots)
		}
		out := job{id: sched.JobID(i), gang: j.Gang(), first: int32(number.CeilDiv(j.Release, p.slot))}
		if out.states, err = jobStates(p.slot, j.Load, j.Pause, train, once); err != nil {
			return nil, fmt.Errorf("job %d: %w", i, err)
		}
		p.jobs = append(p.jobs, out)
		p.last = max(p.last, out.first)
	}
	if p.horizon() > maxSlots {
		return nil, fmt.Errorf("%w: it takes more than %d slots", sched.ErrNotApplicable, maxSlots)
	}
	p.dual = dualFunctions(int(bounds.Reachable(in)), p.gpus, p.gangs())
	return p, p.weigh()
}

// oneServer reports whether all GPUs are on one server.
func oneServer(in *sched.Instance) bool {
	servers := 0
	for i := range in.Cluster.Servers {
		if in.Cluster.Servers[i].GPUs > 0 {
			servers++
		}
	}
	return servers == 1
}

func (p *problem) gangs() []int {
	var out []int
	for i := range p.jobs {
		out = append(out, p.jobs[i].gang)
	}
	return out
}

// horizon bounds the slots that a schedule without needless idleness takes: all
// jobs one after the other, after the last release.
func (p *problem) horizon() int64 {
	h := int64(p.last)
	for i := range p.jobs {
		h += int64(p.jobs[i].states[0].need)
	}
	return h
}

// weigh gives the jobs integer weights, those of the objective divided by one
// power of two, such that costs have at most costBits bits. Weights of which
// some bits are lost to that are rounded down. Bits to spare make the unit of
// bounds, which are rounded down too, small.
func (p *problem) weigh() error {
	const costBits, spare = 62, 12
	exponent, heaviest := 0, 1.0
	if p.obj.Weighted() {
		exponent, heaviest = math.MaxInt, 0
		for i := range p.jobs {
			w := p.in.Jobs[i].Weight
			exponent, heaviest = min(exponent, lowestBit(w)), max(heaviest, w)
		}
	}
	_, top := math.Frexp(heaviest) // every weight is less than 2^top
	room := costBits - top - big.NewInt(p.horizon()).BitLen() - big.NewInt(int64(len(p.jobs))).BitLen()
	scale := min(spare-exponent, room)
	p.exact = scale >= -exponent
	for i := range p.jobs {
		w := 1.0
		if p.obj.Weighted() {
			w = p.in.Jobs[i].Weight
		}
		p.jobs[i].weight = int64(math.Ldexp(w, scale)) // rounded down; far below 2^62
		if p.jobs[i].weight == 0 {
			return fmt.Errorf("%w: weights or times are too far apart", sched.ErrNotApplicable)
		}
		p.lattice = number.GCD(p.lattice, p.jobs[i].weight)
		p.equal = (i == 0 || p.equal) && p.jobs[i].weight == p.jobs[0].weight
	}
	p.unit = new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(scale, -scale))))
	if scale > 0 {
		p.unit.Inv(p.unit)
	}
	p.unit.Mul(p.unit, new(big.Rat).SetInt64(int64(p.slot)))
	return nil
}

// lowestBit returns the largest e for which w is a multiple of 2^e.
func lowestBit(w float64) int {
	f, e := math.Frexp(w)
	m, e := int64(math.Ldexp(f, 53)), e-53
	return e + bits.TrailingZeros64(uint64(m))
}

// cost turns a sum over slots, Σ w_j C_j or the makespan, into the objective. With
// rounded weights that is less than it costs.
func (p *problem) cost(sum int64) *big.Rat {
	out := new(big.Rat).SetInt64(sum)
	return p.obj.FromBase(p.in, out.Mul(out, p.unit))
}

// dual is a dual-feasible function on the jobs: if gangs fit the cluster
// together, their shares add up to at most whole.
type dual struct {
	whole int64
	share []int64 // per job
}

// dualFunctions lists the functions of package bounds' Packing as far as none
// gives every job a share that another one also gives it: gangs as parts of the
// most GPUs that gangs can hold together; u^(k); and U^ε.
func dualFunctions(reachable, gpus int, gangs []int) []dual {
	var all []dual
	add := func(whole int, share func(g int) int) {
		d := dual{whole: int64(whole)}
		for _, g := range gangs {
			d.share = append(d.share, int64(share(g)))
		}
		all = append(all, d)
	}
	add(reachable, func(g int) int { return g })
	for k := 1; k <= 8; k++ {
		add(k*(k+1), func(g int) int {
			if x := (k + 1) * g; x%gpus == 0 {
				return x / gpus * k
			} else {
				return x / gpus * (k + 1)
			}
		})
	}
	for _, least := range gangs {
		if 2*least <= gpus {
			add(gpus, func(g int) int {
				switch {
				case g > gpus-least:
					return gpus
				case g < least:
					return 0
				}
				return g
			})
		}
	}
	var out []dual
	for i := range all {
		if !slices.ContainsFunc(all[:i], all[i].within) && !slices.ContainsFunc(all[i+1:], func(d dual) bool { return all[i].within(d) && !d.within(all[i]) }) {
			out = append(out, all[i])
		}
	}
	return out
}

// within reports whether every share of d is at most that of e.
func (d dual) within(e dual) bool {
	for j := range d.share {
		if d.share[j]*e.whole > e.share[j]*d.whole {
			return false
		}
	}
	return true
}
