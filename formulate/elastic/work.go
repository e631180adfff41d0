package elastic

import (
	"fmt"
	"math/big"

	"yardstick/bounds"
	"yardstick/formulate/maxweight/pricing"
	"yardstick/internal/number"
	"yardstick/sched"
)

// work is what jobs need, in ticks: slots, or microseconds.
type work struct {
	p        *problem
	class    sched.Class
	tick     sched.Time
	release  []int64
	shortest []int64    // duration of the fastest configuration
	demands  [][]demand // of each job, none of which needs more of everything than another
	capacity []*big.Int // of all servers together, per resource
}

// demand is what a job needs in one configuration: at least one parameter server,
// wherever they are.
type demand struct {
	duration int64
	volume   []*big.Int // per resource, in units times ticks
}

// workOf returns the work for bounds of a class: Es, F(min) or F(min)s.
//
// Errors: sched.ErrNotApplicable.
func (p *problem) workOf(class sched.Class) (*work, error) {
	switch {
	case class == sched.Class{Kind: sched.E, Slotted: true}:
		return p.slotted(), nil
	case class.Kind == sched.FluidMin:
		return p.fluid(class), nil
	}
	return nil, fmt.Errorf("elastic: %w to class %v", sched.ErrNotApplicable, class)
}

func (p *problem) newWork(class sched.Class, tick sched.Time) *work {
	w := &work{p: p, class: class, tick: tick}
	for r := range p.in.Elastic.Resources {
		sum := new(big.Int)
		for h := range p.in.Cluster.Servers {
			sum.Add(sum, big.NewInt(p.in.Cluster.Servers[h].Capacity[r]))
		}
		w.capacity = append(w.capacity, sum)
	}
	return w
}

// slotted returns what jobs need that keep their configuration: V = d (N e + z).
func (p *problem) slotted() *work {
	w := p.newWork(sched.Class{Kind: sched.E, Slotted: true}, p.in.Slot)
	for id := range p.in.Jobs {
		w.release = append(w.release, p.in.FirstSlot(sched.JobID(id)))
		w.shortest = append(w.shortest, p.shortest(sched.JobID(id)))
		var list []demand
		for _, c := range p.model.Configs[id] {
			x := demand{duration: c.Slots}
			for _, n := range p.containers(sched.JobID(id), &c) {
				x.volume = append(x.volume, n.Mul(n, big.NewInt(c.Slots)))
			}
			list = add(list, x)
		}
		w.demands = append(w.demands, list)
	}
	return w
}

// containers returns N e + z.
func (p *problem) containers(id sched.JobID, c *sched.ElasticConfig) []*big.Int {
	var out []*big.Int
	for r, e := range p.in.Elastic.Workers[c.WorkerType].Demand {
		v := new(big.Int).Mul(big.NewInt(int64(c.Workers)), big.NewInt(e))
		if !p.in.Jobs[id].Elastic.Ring {
			v.Add(v, big.NewInt(p.in.Elastic.Servers[c.ServerType].Demand[r]))
		}
		out = append(out, v)
	}
	return out
}

// fluid returns what jobs need at least that change their configuration at will:
// a part f of the work in a configuration takes f of its volume
// (N e + z) W θ/N and of its duration W θ/N, which is not rounded to slots.
// Microseconds are rounded down. If slotted, nothing starts within a slot.
func (p *problem) fluid(class sched.Class) *work {
	w := p.newWork(class, 1)
	fitter := p.model.Fitter()
	for i := range p.in.Jobs {
		id := sched.JobID(i)
		release := int64(p.in.Jobs[i].Release)
		if class.Slotted {
			release = p.in.FirstSlot(id) * int64(p.in.Slot)
		}
		w.release = append(w.release, release)
		var list []demand
		shortest := int64(sched.MaxTime)
		p.feasible(fitter, id, func(c *sched.ElasticConfig) {
			time := p.in.BatchTime(id, c.WorkerType, c.ServerType, c.Workers, c.OneServer)
			time.Mul(time, big.NewRat(p.in.Jobs[i].Elastic.Batches, int64(c.Workers)))
			time.Mul(time, big.NewRat(1_000_000, 1))
			x := demand{duration: number.FloorInt(time).Int64()}
			for _, n := range p.containers(id, c) {
				x.volume = append(x.volume, number.FloorInt(new(big.Rat).Mul(time, new(big.Rat).SetInt(n))))
			}
			shortest = min(shortest, x.duration)
			list = add(list, x)
		})
		for k := range list { // a mixture may be faster than any part of it
			list[k].duration = shortest
		}
		w.shortest = append(w.shortest, shortest)
		w.demands = append(w.demands, list)
	}
	return w
}

// feasible calls f for every configuration that fits the empty cluster, dominated
// or not. Slots is not set.
func (p *problem) feasible(fitter *pricing.Fitter, id sched.JobID, f func(*sched.ElasticConfig)) {
	e := p.in.Jobs[id].Elastic
	for m := range e.Train {
		for s := range e.Update {
			for _, one := range []bool{true, false} {
				c := sched.ElasticConfig{WorkerType: m, ServerType: s, OneServer: one}
				for c.Workers = 1; c.Workers <= e.MaxWorkers && fitter.Fits(id, c); c.Workers++ {
					f(&c)
				}
			}
		}
	}
}

// add adds a demand unless another needs no more of anything, and drops those
// that need no less.
func add(list []demand, x demand) []demand {
	kept := list[:0]
	for _, y := range list {
		if y.within(&x) {
			return list
		}
	}
	for _, y := range list {
		if !x.within(&y) {
			kept = append(kept, y)
		}
	}
	return append(kept, x)
}

// within reports whether x needs no more than y of anything.
func (x *demand) within(y *demand) bool {
	for r := range x.volume {
		if x.volume[r].Cmp(y.volume[r]) > 0 {
			return false
		}
	}
	return x.duration <= y.duration
}

// even returns the mix of all resources that counts each as much.
func (w *work) even() []*big.Rat {
	var out []*big.Rat
	n := int64(0)
	for _, c := range w.capacity {
		if c.Sign() > 0 {
			n++
		}
	}
	for _, c := range w.capacity {
		share := new(big.Rat)
		if c.Sign() > 0 {
			share.SetFrac(big.NewInt(1), new(big.Int).Mul(c, big.NewInt(n)))
		}
		out = append(out, share)
	}
	return out
}

// mixes returns ways to count resources together, Σ_r λ_r f^r/C^r ≤ 1 with
// Σ λ_r = 1: each alone, all alike, and every two alike. Entries are λ_r/C^r.
func (w *work) mixes() [][]*big.Rat {
	var used []int
	for r, c := range w.capacity {
		if c.Sign() > 0 {
			used = append(used, r)
		}
	}
	var out [][]*big.Rat
	mix := func(resources ...int) {
		list := make([]*big.Rat, len(w.capacity))
		for r := range list {
			list[r] = new(big.Rat)
		}
		for _, r := range resources {
			list[r].SetFrac(big.NewInt(1), new(big.Int).Mul(w.capacity[r], big.NewInt(int64(len(resources)))))
		}
		out = append(out, list)
	}
	for i, r := range used {
		mix(r)
		for _, q := range used[:i] {
			mix(q, r)
		}
	}
	if len(used) > 2 {
		mix(used...)
	}
	return out
}

// size returns the least size of a job as work for one machine that is as fast
// as the whole cluster: min_c Σ_r λ_r V_c^r/C^r ticks.
func (w *work) size(id sched.JobID, mix []*big.Rat) *big.Rat {
	var least *big.Rat
	for _, d := range w.demands[id] {
		sum := new(big.Rat)
		for r, v := range d.volume {
			sum.Add(sum, new(big.Rat).Mul(mix[r], new(big.Rat).SetInt(v)))
		}
		if least == nil || sum.Cmp(least) < 0 {
			least = sum
		}
	}
	return least
}

// slot returns the length of a slot in ticks.
func (w *work) slot() int64 { return int64(w.p.in.Slot / w.tick) }

// complete returns the first time, not before the given one, that a job may
// complete at.
func (w *work) complete(at int64) int64 {
	if slot := w.slot(); w.class.Slotted && at%slot > 0 {
		return at - at%slot + slot
	}
	return at
}

// bound states a lower bound on Σ w_j C_j in ticks.
func (w *work) bound(name string, ticks *big.Rat) bounds.Bound {
	slots := new(big.Rat).Quo(ticks, new(big.Rat).SetInt64(w.slot()))
	if w.class.Slotted && w.p.integral() {
		slots = number.Ceil(slots)
	}
	return bounds.Bound{Name: name, Class: w.class, Objective: w.p.obj, Value: w.p.objective(slots)}
}
