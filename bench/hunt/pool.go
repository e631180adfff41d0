package hunt

import (
	"cmp"
	"math"
	"slices"

	"yardstick/internal/number"
	"yardstick/sched"
)

// pool finds optimal schedules of class N, in continuous time, of few jobs whose
// running times do not depend on where they run. It does in microseconds what
// package exhaustive does in fractions of a millisecond, and keeps its buffers.
//
// Such a job may take any free GPUs, so that only their number counts. Some
// optimal schedule is found by taking the jobs in order of their starts, each at
// the earliest time, from the start of the one before it on, at which its GPUs are
// free: doing so with the order of any schedule, no job starts later than there.
// So the search goes through orders. It leaves out
//
//   - jobs after their twins, which are alike and come first in number;
//   - jobs that would start only when some other job, taken before them, would
//     already be done: that one may as well be;
//   - orders whose cost, with a lower bound for the jobs left, reaches the best.
type pool struct {
	n, gpus  int
	makespan bool
	ranked   bool // weights are equal and count 1
	jobs     []pooled
	order    []int // in which jobs are tried

	start []int64
	ends  []int64 // of jobs started
	left  uint32  // not started
	best  []int64 // starts
	least int64
	early []int64 // scratch of bound
	areas []int64
	nodes int
}

type pooled struct {
	release, length, area, weight int64
	gang                          int
	twins                         uint32 // that must start before
}

// maxPoolNodes bounds a search; what exceeds it is left to package exhaustive.
const maxPoolNodes = 200_000

// load reads an instance that is about class N in continuous time, and reports
// whether the pool can solve it for the objective.
func (p *pool) load(in *sched.Instance, obj sched.Objective) bool {
	p.n, p.gpus = len(in.Jobs), in.Cluster.GPUs()
	if in.Class() != (sched.Class{Kind: sched.N}) || p.n > 16 || obj.Sum() != obj || !obj.IsTotal() && obj != sched.Makespan {
		return false
	}
	p.makespan, p.ranked = obj == sched.Makespan, obj != sched.Makespan
	p.jobs = p.jobs[:0]
	for i := range in.Jobs {
		j := &in.Jobs[i]
		if !j.ConstantIteration() || j.Sliced() || j.Load != 0 {
			return false
		}
		length, ok := poolLength(j)
		weight := int64(1)
		if obj.Weighted() {
			weight = int64(j.Weight)
			ok = ok && float64(weight) == j.Weight && weight < 1<<10
			p.ranked = p.ranked && weight == 1
		}
		if !ok || j.Release > 1<<40 || j.Gang() > p.gpus {
			return false
		}
		p.jobs = append(p.jobs, pooled{release: int64(j.Release), length: length, gang: j.Gang(), area: length * int64(j.Gang()), weight: weight})
	}
	p.prepare()
	return true
}

// poolLength returns ceil(n·compute) in microseconds.
func poolLength(j *sched.Job) (int64, bool) {
	compute := int64(j.Stages[0].Compute)
	if j.Iters > math.MaxInt64/4/compute {
		return 0, false
	}
	length := (j.Iters*compute + 999) / 1000
	return length, length < 1<<40
}

func (p *pool) prepare() {
	p.order = p.order[:0]
	for i := range p.jobs {
		p.order = append(p.order, i)
		p.jobs[i].twins = 0
		for k := range i {
			a, b := &p.jobs[i], &p.jobs[k]
			if a.release == b.release && a.length == b.length && a.gang == b.gang && a.weight == b.weight {
				p.jobs[i].twins |= 1 << k
			}
		}
	}
	slices.SortFunc(p.order, func(a, b int) int {
		return cmp.Or(cmp.Compare(p.jobs[a].area*p.jobs[b].weight, p.jobs[b].area*p.jobs[a].weight), cmp.Compare(a, b))
	})
	p.start, p.ends = resize(p.start, p.n), resize(p.ends, p.n)
	p.best, p.early, p.areas = resize(p.best, p.n), resize(p.early, p.n), resize(p.areas, p.n)
}

func resize(s []int64, n int) []int64 { return slices.Grow(s[:0], n)[:n] }

// optimum returns the least cost, in microseconds (times weights), if it is below the
// ceiling. Completion times count in full, so that for total JCT the releases
// are yet to be subtracted. known is false if the search was too long.
func (p *pool) optimum(ceiling int64) (cost int64, found, known bool) {
	p.least, p.left, p.nodes = ceiling, 1<<p.n-1, 0
	p.search(0, 0)
	return p.least, p.least < ceiling, p.nodes <= maxPoolNodes
}

// search tries every job next, at its earliest from now on. cost is that of the
// jobs started.
func (p *pool) search(now, cost int64) {
	if p.left == 0 {
		if cost < p.least {
			p.least = cost
			copy(p.best, p.start)
		}
		return
	}
	p.nodes++
	if p.nodes > maxPoolNodes || p.bound(now, cost) >= p.least {
		return
	}
	var at [16]int64
	done := int64(math.MaxInt64) // the first end of a job that comes next
	for i := range p.jobs {
		if p.left>>i&1 == 1 {
			at[i] = p.earliest(i, now)
			done = min(done, at[i]+p.jobs[i].length)
		}
	}
	for _, i := range p.order {
		j := &p.jobs[i]
		if p.left>>i&1 == 0 || p.left&j.twins != 0 || at[i] >= done {
			continue
		}
		p.left &^= 1 << i
		p.start[i], p.ends[i] = at[i], at[i]+j.length
		p.search(at[i], p.add(cost, p.ends[i], j.weight))
		p.left |= 1 << i
	}
}

func (p *pool) add(cost, end, weight int64) int64 {
	if p.makespan {
		return max(cost, end)
	}
	return cost + weight*end
}

// earliest returns the first time from now on at which job i, once released, has
// its GPUs. Jobs started did so by now.
func (p *pool) earliest(i int, now int64) int64 {
	at := max(now, p.jobs[i].release)
	for {
		free, next := p.gpus, int64(math.MaxInt64)
		for k := range p.jobs {
			if p.left>>k&1 == 0 && p.ends[k] > at {
				free -= p.jobs[k].gang
				next = min(next, p.ends[k])
			}
		}
		if free >= p.jobs[i].gang {
			return at
		}
		at = next
	}
}

// bound returns a lower bound on the cost of what can still come: no job starts
// before now, and all of them together do not do more than G GPUs can.
func (p *pool) bound(now, cost int64) int64 {
	early, areas := p.early[:0], p.areas[:0]
	busy, total := int64(0), int64(0)
	for i := range p.jobs {
		j := &p.jobs[i]
		if p.left>>i&1 == 0 {
			busy += int64(j.gang) * max(0, p.ends[i]-now)
			continue
		}
		end := max(now, j.release) + j.length
		if !p.ranked {
			cost = p.add(cost, end, j.weight)
		}
		early, areas = append(early, end), append(areas, j.area)
		total += j.area
	}
	if p.makespan {
		return max(cost, now+number.CeilDiv(busy+total, int64(p.gpus)))
	}
	if !p.ranked {
		return cost
	}
	// The k-th completion is no earlier than the k-th of the earliest ends, nor
	// than the k smallest areas take.
	slices.Sort(early)
	slices.Sort(areas)
	sum := int64(0)
	for k := range early {
		sum += areas[k]
		cost += max(early[k], now+number.CeilDiv(sum, int64(p.gpus)))
	}
	return cost
}

// schedule returns the schedule of least cost that optimum found.
func (p *pool) schedule(in *sched.Instance) *sched.Schedule {
	s := &sched.Schedule{Class: sched.Class{Kind: sched.N}}
	order := make([]int, p.n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.best[a], p.best[b]) })
	for _, i := range order {
		start, end := sched.Time(p.best[i]), sched.Time(p.best[i]+p.jobs[i].length)
		free := make([]int, len(in.Cluster.Servers))
		for m := range free {
			free[m] = in.Cluster.Servers[m].GPUs
		}
		for k := range s.Segments {
			if other := &s.Segments[k]; other.End > start {
				for _, sh := range other.Place.Shares {
					free[sh.Server] -= sh.GPUs
				}
			}
		}
		seg := sched.Segment{Job: sched.JobID(i), Start: start, End: end}
		need := p.jobs[i].gang
		for m := range free {
			if take := min(free[m], need); take > 0 {
				seg.Place.Shares = append(seg.Place.Shares, sched.Share{Server: m, GPUs: take})
				need -= take
			}
		}
		s.Segments = append(s.Segments, seg)
	}
	s.Sort()
	return s
}
