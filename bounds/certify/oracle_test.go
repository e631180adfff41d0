package certify_test

import (
	"fmt"
	"math/big"
	"slices"

	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// The optimum by enumeration in integers and rationals of any size, for instances
// whose numbers leave 64 bits.

// way is a way to run a job: for how long, and what it takes meanwhile.
type way struct {
	length *big.Int
	take   []*big.Int
}

// task is a job as the enumeration sees it.
type task struct {
	release *big.Int // from which on it may run
	ways    []way
}

// oracle enumerates the schedules in which jobs run one way, without a stop.
type oracle struct {
	in       *sched.Instance
	obj      sched.Objective
	tasks    []task
	capacity []*big.Int

	start, end []*big.Int // nil: not chosen yet, or left out
	take       [][]*big.Int
	best       *big.Rat
}

// uninterrupted returns the least cost, or the most weight, of the schedules in which
// jobs have GPUs, or elastic containers, to themselves and run without a stop. That
// is the optimum of classes N and E, slotted or not, and not better than that of
// the classes that contain them. It is nil if a job runs nowhere and counts.
//
// Every order of the jobs is tried with every way to run each, started as early as
// that allows but no earlier than the one before, as schedtest.BruteForce does,
// which says why that suffices.
func uninterrupted(in *sched.Instance, obj sched.Objective, slotted bool) *big.Rat {
	o := &oracle{in: in, obj: obj}
	slot := big.NewInt(1)
	if slotted {
		slot.SetInt64(int64(in.Slot))
	}
	for id := range in.Jobs {
		t := task{release: multiple(big.NewInt(int64(in.Jobs[id].Release)), slot)}
		if in.Model == sched.ModelElastic {
			t.ways = elasticWays(in, sched.JobID(id))
		} else {
			t.ways = gangWays(in, sched.JobID(id), slot)
		}
		o.tasks = append(o.tasks, t)
	}
	for _, s := range in.Cluster.Servers {
		if in.Model != sched.ModelElastic {
			o.capacity = append(o.capacity, big.NewInt(int64(s.GPUs)))
			continue
		}
		for _, v := range s.Capacity {
			o.capacity = append(o.capacity, big.NewInt(v))
		}
	}
	n := len(o.tasks)
	o.start, o.end, o.take = make([]*big.Int, n), make([]*big.Int, n), make([][]*big.Int, n)
	o.next(new(big.Int), make([]bool, n))
	return o.best
}

// multiple returns the least multiple of a unit that is not less than v.
func multiple(v, unit *big.Int) *big.Int {
	out := new(big.Int).Add(v, unit)
	out.Sub(out, big.NewInt(1)).Div(out, unit)
	return out.Mul(out, unit)
}

func ceiling(v *big.Rat) *big.Int {
	q := new(big.Int).Add(v.Num(), v.Denom())
	return q.Div(q.Sub(q, big.NewInt(1)), v.Denom())
}

func gangWays(in *sched.Instance, id sched.JobID, slot *big.Int) (out []way) {
	known := map[string]bool{}
	for _, p := range schedtest.Placements(in, id) {
		alpha, err := in.IterTime(id, &p)
		if err != nil {
			panic(err)
		}
		micros := alpha.Mul(alpha, big.NewRat(1_000_000, 1))
		length := ceiling(micros.Mul(micros, big.NewRat(in.Jobs[id].Iters, 1)))
		w := way{length: multiple(length.Add(length, big.NewInt(int64(in.Jobs[id].Load))), slot)}
		for m := range in.Cluster.Servers {
			used := int64(0)
			for _, sh := range p.Shares {
				if sh.Server == m {
					used += int64(sh.GPUs)
				}
			}
			w.take = append(w.take, big.NewInt(used))
		}
		if key := fmt.Sprint(w); !known[key] {
			known[key] = true
			out = append(out, w)
		}
	}
	return out
}

func elasticWays(in *sched.Instance, id sched.JobID) (out []way) {
	slot, resources := big.NewInt(int64(in.Slot)), len(in.Elastic.Resources)
	for _, c := range schedtest.UndominatedChoices(in, id) {
		w := way{length: new(big.Int).Mul(big.NewInt(c.Slots), slot)}
		for range resources * len(in.Cluster.Servers) {
			w.take = append(w.take, new(big.Int))
		}
		for _, sh := range c.Place.Shares {
			for r := range resources {
				at := w.take[sh.Server*resources+r]
				at.Add(at, new(big.Int).Mul(big.NewInt(in.Elastic.Workers[c.Place.Config.WorkerType].Demand[r]), big.NewInt(int64(sh.Stages[0]))))
				if sh.Stages[1] > 0 {
					at.Add(at, new(big.Int).Mul(big.NewInt(in.Elastic.Servers[c.Place.Config.ServerType].Demand[r]), big.NewInt(int64(sh.Stages[1]))))
				}
			}
		}
		out = append(out, w)
	}
	return out
}

// next tries what comes after the jobs that are settled, the last of which starts at
// the given time.
func (o *oracle) next(after *big.Int, settled []bool) {
	left := false
	for i := range o.tasks {
		if settled[i] {
			continue
		}
		left = true
		settled[i] = true
		for _, w := range o.tasks[i].ways {
			at := o.earliest(&w, later(after, o.tasks[i].release))
			o.start[i], o.end[i], o.take[i] = at, new(big.Int).Add(at, w.length), w.take
			o.next(at, settled)
			o.start[i], o.end[i], o.take[i] = nil, nil, nil
		}
		if o.obj.Maximised() { // it is left out
			o.next(after, settled)
		}
		settled[i] = false
	}
	if !left {
		o.keep(value(o.in, o.obj, o.end))
	}
}

func (o *oracle) keep(v *big.Rat) {
	if v != nil && (o.best == nil || v.Cmp(o.best) == map[bool]int{false: -1, true: 1}[o.obj.Maximised()]) {
		o.best = v
	}
}

func later(a, b *big.Int) *big.Int {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

// earliest returns the first time, not before the given one, from which on there is
// room: all jobs chosen have started by then.
func (o *oracle) earliest(w *way, at *big.Int) *big.Int {
	moments := []*big.Int{at}
	for _, e := range o.end {
		if e != nil && e.Cmp(at) > 0 {
			moments = append(moments, e)
		}
	}
	slices.SortFunc(moments, (*big.Int).Cmp)
	for _, m := range moments {
		if o.room(w, m) {
			return m
		}
	}
	panic("it fits the empty cluster")
}

func (o *oracle) room(w *way, at *big.Int) bool {
	for k, capacity := range o.capacity {
		used := new(big.Int).Set(w.take[k])
		for i, e := range o.end {
			if e != nil && e.Cmp(at) > 0 {
				used.Add(used, o.take[i][k])
			}
		}
		if used.Cmp(capacity) > 0 {
			return false
		}
	}
	return true
}

// value returns the objective's for some completion times; nil is a job left out.
func value(in *sched.Instance, obj sched.Objective, end []*big.Int) *big.Rat {
	sum := new(big.Rat)
	for i, e := range end {
		j := &in.Jobs[i]
		weight := new(big.Rat).SetFloat64(j.Weight)
		switch {
		case obj == sched.ScheduledWeight:
			if e != nil && e.Cmp(big.NewInt(int64(in.Deadline))) <= 0 {
				sum.Add(sum, weight)
			}
		case e == nil:
			return nil
		case obj == sched.Makespan:
			if v := new(big.Rat).SetInt(e); v.Cmp(sum) > 0 {
				sum = v
			}
		case obj == sched.WeightedCompletion:
			sum.Add(sum, weight.Mul(weight, new(big.Rat).SetInt(e)))
		case obj == sched.TotalCompletion:
			sum.Add(sum, new(big.Rat).SetInt(e))
		default:
			sum.Add(sum, new(big.Rat).SetInt(new(big.Int).Sub(e, big.NewInt(int64(j.Release)))))
		}
	}
	if obj == sched.MeanJCT {
		sum.Quo(sum, big.NewRat(int64(len(in.Jobs)), 1))
	}
	return sum
}

// bout is a job in a schedule with stops, at the beginning of a slot.
type bout struct {
	holds       bool
	load, train *big.Int // left, if it holds GPUs
	pause       int64    // slots left
	end         *big.Int
}

// interrupted returns the optimum of class Ps on GPUs that are all alike, for a few
// jobs of a few slots, slot by slot. atMost is the cost of some schedule.
func interrupted(in *sched.Instance, obj sched.Objective, atMost *big.Rat) *big.Rat {
	slot := big.NewInt(int64(in.Slot))
	slots := func(v *big.Int) *big.Int { return new(big.Int).Div(multiple(v, slot), slot) }
	best := atMost
	var first []bout
	for id := range in.Jobs {
		alpha, err := in.IterTime(sched.JobID(id), &schedtest.Placements(in, sched.JobID(id))[0])
		if err != nil {
			panic(err)
		}
		micros := alpha.Mul(alpha, big.NewRat(1_000_000, 1))
		first = append(first, bout{load: new(big.Int), train: ceiling(micros.Mul(micros, big.NewRat(in.Jobs[id].Iters, 1)))})
	}
	var at func(now *big.Int, jobs []bout)
	at = func(now *big.Int, jobs []bout) {
		ends := make([]*big.Int, len(jobs))
		next, open := new(big.Int).Add(now, slot), false
		for i, b := range jobs {
			if ends[i] = b.end; b.end != nil {
				continue
			}
			open = true
			need := new(big.Int).Add(b.train, b.load)
			if !b.holds {
				need.Add(b.train, big.NewInt(int64(in.Jobs[i].Load)))
			}
			from := later(now, multiple(big.NewInt(int64(in.Jobs[i].Release)), slot))
			ends[i] = new(big.Int).Add(from, need.Mul(slots(need), slot))
		}
		cost := value(in, obj, ends)
		if !open && cost.Cmp(best) < 0 {
			best = cost
		}
		if !open || cost.Cmp(best) >= 0 {
			return
		}
		var choose func(i, free int, after []bout)
		choose = func(i, free int, after []bout) {
			if free < 0 {
				return
			}
			if i == len(jobs) {
				at(next, after)
				return
			}
			j, b := &in.Jobs[i], jobs[i]
			with := func(x bout) []bout { return append(slices.Clone(after), x) }
			trains := func(load, train *big.Int) bout {
				rest := new(big.Int).Sub(slot, load)
				if rest.Sign() <= 0 {
					return bout{holds: true, load: rest.Neg(rest), train: train}
				}
				x := bout{holds: true, load: new(big.Int), train: new(big.Int).Sub(train, rest)}
				if x.train.Sign() <= 0 {
					return bout{end: next}
				}
				return x
			}
			switch {
			case b.end != nil:
				choose(i+1, free, with(b))
			case b.pause > 0:
				b.pause--
				choose(i+1, free-j.Gang(), with(b))
			case b.holds:
				choose(i+1, free-j.Gang(), with(trains(b.load, b.train)))
				stopped := bout{load: new(big.Int), train: b.train, pause: slots(big.NewInt(int64(j.Pause))).Int64()}
				if stopped.pause > 0 {
					stopped.pause--
					choose(i+1, free-j.Gang(), with(stopped))
				} else {
					choose(i+1, free, with(stopped))
				}
			default:
				if big.NewInt(int64(j.Release)).Cmp(now) <= 0 {
					choose(i+1, free-j.Gang(), with(trains(big.NewInt(int64(j.Load)), b.train)))
				}
				choose(i+1, free, with(b))
			}
		}
		choose(0, in.Cluster.GPUs(), nil)
	}
	at(new(big.Int), first)
	return best
}
