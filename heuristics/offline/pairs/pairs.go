// Package pairs searches for good schedules of the sharing model, class S, of whole
// instances: which jobs share GPUs, with how many accumulation steps, and who starts
// when. It proves nothing: what it returns is a claim until package verify has accepted
// it.
//
// # The method
//
// A plan is an order of the jobs and, for each, whether it takes free GPUs alone or joins
// running jobs, which one first, whether it blocks those behind it, whom it waits for, and
// its accumulation.
// It is decoded by events: at every release and completion the waiting jobs are asked in
// order. Threshold accepting changes the plan ([walk]): a job to another place in the
// order, or another choice of a job.
//
// Starts are orders by d·g^a in every mode, and known schedules: in order of their starts,
// everyone blocking, each with the partners that it had. An exclusive schedule then comes
// out no later, job by job, than it was.
package pairs

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"yardstick/heuristics/offline/walk"
	"yardstick/sched"
)

// maxEnd is what plans may take on the way, so that times stay far within 63 bits.
const maxEnd = 1 << 61

// problem is an instance as the search sees it.
type problem struct {
	in       *sched.Instance
	obj      sched.Objective
	total    bool
	jobs     []job
	arrivals []int32 // in order of releases
	weight   []float64
	memory   []sched.Bytes // by GPU
	device   []device      // by GPU
	xi       [][]float64
	least    float64 // what every schedule costs
}

// device says where a GPU is.
type device struct{ server, index int }

type job struct {
	release, load int64
	soonest       int64 // when it ends at the earliest
	gang          int32
	options       []option
}

// option is a number of accumulation steps.
type option struct {
	steps  int
	row    int // of the table of interference
	memory sched.Bytes
	whole  int64   // training time alone, in microseconds
	work   float64 // the same, rounded up by more than later errors
}

func newProblem(in *sched.Instance, obj sched.Objective) (*problem, error) {
	switch {
	case !in.Model.Has(sched.S):
		return nil, fmt.Errorf("pairs: %w to the %s model: its jobs do not share GPUs", sched.ErrNotApplicable, in.Model)
	case in.Slot > 0:
		return nil, fmt.Errorf("pairs: %w to slotted instances", sched.ErrNotApplicable)
	case !obj.IsTotal() && obj != sched.Makespan:
		return nil, fmt.Errorf("pairs: %w to %v", sched.ErrNotApplicable, obj)
	}
	p := &problem{in: in, obj: obj, total: obj.IsTotal(), weight: walk.Weights(in, obj), xi: in.Interference}
	for m := range in.Cluster.Servers {
		for k := range in.Cluster.Servers[m].GPUs {
			p.memory, p.device = append(p.memory, in.Cluster.Servers[m].GPUMemory), append(p.device, device{m, k})
		}
	}
	soonest := make([]int64, len(in.Jobs))
	sum := 0.0
	for id := range in.Jobs {
		src := &in.Jobs[id]
		j := job{release: int64(src.Release), load: int64(src.Load), gang: int32(src.Gang())}
		shortest := math.Inf(1)
		for k, a := range src.Sharing.Accumulation {
			holds := 0
			for _, m := range p.memory {
				if a.Memory <= m {
					holds++
				}
			}
			if holds < src.Gang() {
				continue
			}
			const margin = 1e-11 // of a microsecond at least, and relative: errors of additions are a hundredth of it
			work := float64(src.Iters) * float64(a.Iter) / 1000
			whole := new(big.Int).Mul(big.NewInt(src.Iters), big.NewInt(int64(a.Iter)))
			whole.Div(whole.Add(whole, big.NewInt(999)), big.NewInt(1000))
			if !whole.IsInt64() || whole.Int64() > int64(sched.MaxTime) {
				continue
			}
			j.options = append(j.options, option{a.Steps, src.Sharing.Row(k), a.Memory, whole.Int64(), work + max(work, 1)*margin})
			shortest = min(shortest, work)
		}
		if len(j.options) == 0 {
			return nil, fmt.Errorf("pairs: %w: no accumulation of job %d fits its gang", sched.ErrNotApplicable, id)
		}
		slices.SortStableFunc(j.options, func(a, b option) int { return cmp.Compare(a.work, b.work) })
		j.soonest = j.release + j.load + int64(math.Floor(shortest))
		soonest[id] = j.soonest
		sum += float64(j.load) + j.options[len(j.options)-1].work*2
		p.jobs = append(p.jobs, j)
		p.arrivals = append(p.arrivals, int32(id))
	}
	if sum > maxEnd {
		return nil, fmt.Errorf("pairs: %w: the jobs one after the other take more than %v", sched.ErrNotApplicable, sched.Time(maxEnd))
	}
	slices.SortStableFunc(p.arrivals, func(a, b int32) int { return cmp.Compare(p.jobs[a].release, p.jobs[b].release) })
	p.least = p.cost(soonest)
	return p, nil
}

func (p *problem) cost(end []int64) float64 { return walk.Cost(p.obj, p.weight, end) }

// Search returns the best schedule found.
//
// Errors: sched.ErrNotApplicable for other models, slotted instances, and objectives that
// are neither totals nor the makespan.
func Search(ctx context.Context, in *sched.Instance, obj sched.Objective, o walk.Options) (*sched.Schedule, error) {
	p, err := newProblem(in, obj)
	if err != nil {
		return nil, err
	}
	s := &state{p: p, decoder: newDecoder(p), cost: math.Inf(1)}
	type start struct {
		plan
		cost float64
	}
	var list []start
	for _, x := range p.starts(o.Schedules) {
		list = append(list, start{x, s.decode(&x, math.Inf(1))})
	}
	slices.SortStableFunc(list, func(a, b start) int { return cmp.Compare(a.cost, b.cost) })
	if math.IsInf(list[0].cost, 1) {
		return nil, fmt.Errorf("pairs: %w: no order of the jobs ends", sched.ErrNotApplicable)
	}
	const tried = 4 // starts, before two rounds go on from the best of what they led to
	best := start{cost: math.Inf(1)}
	for k := 0; k < tried+2 && best.cost > p.least; k++ { // at the least cost there is nothing to look for
		from, share := best, float64(k)
		if k < tried {
			from, share = list[min(k, len(list)-1)], 1
		}
		s.plan, s.cost = plan{slices.Clone(from.order), slices.Clone(from.genes)}, from.cost
		walk.Run(ctx, s, o.Seed*(tried+2)+uint64(k), o.Count(len(p.jobs)), walk.Heat(s.cost, p.least, len(p.jobs))/share)
		if s.cost < best.cost {
			best = start{plan{slices.Clone(s.order), slices.Clone(s.genes)}, s.cost}
		}
	}
	s.plan, s.cost = best.plan, best.cost
	s.decode(&s.plan, math.Inf(1))
	return s.schedule(), nil
}

// starts returns plans to begin from.
func (p *problem) starts(known []*sched.Schedule) (out []plan) {
	for _, m := range []mode{alone, free, mixed, joined} {
		for _, a := range []float64{0, 0.5, 1} {
			x := plan{order: slices.Clone(p.arrivals), genes: make([]gene, len(p.jobs))}
			key := make([]float64, len(p.jobs))
			for i := range p.jobs {
				j := &p.jobs[i]
				key[i] = float64(j.soonest-j.release) * math.Pow(float64(j.gang), a) / p.weight[i]
				x.genes[i] = gene{mode: m, with: -1, after: -1}
			}
			slices.SortStableFunc(x.order, func(i, k int32) int { return cmp.Compare(key[i], key[k]) })
			out = append(out, x)
		}
	}
	for _, s := range known {
		if s.Class.Kind == sched.N || s.Class.Kind == sched.S {
			out = append(out, p.planOf(s))
		}
	}
	return out
}

// planOf is the plan of a schedule: everyone in order of starts, blocking, with the job
// that is on its GPUs when it comes.
func (p *problem) planOf(s *sched.Schedule) plan {
	n := len(p.jobs)
	x := plan{order: slices.Clone(p.arrivals), genes: make([]gene, n)}
	first := make([]*sched.Segment, n)
	end := make([]sched.Time, n)
	for k := range s.Segments {
		seg := &s.Segments[k]
		if first[seg.Job] == nil || seg.Start < first[seg.Job].Start {
			first[seg.Job] = seg
		}
		end[seg.Job] = max(end[seg.Job], seg.End)
	}
	slices.SortStableFunc(x.order, func(i, k int32) int { return cmp.Compare(first[i].Start, first[k].Start) })
	for i := range first {
		g := gene{strict: true, with: -1, after: -1}
		if c := first[i].Place.Config; c != nil {
			g.option = max(0, slices.IndexFunc(p.jobs[i].options, func(o option) bool { return o.steps == c.Accumulation }))
		}
		for k := range first {
			if k != i && first[k].Start <= first[i].Start && end[k] > first[i].Start && meet(&first[k].Place, &first[i].Place) {
				g.mode, g.with = joined, int32(k)
			}
		}
		x.genes[i] = g
	}
	return x
}

// meet reports whether two placements that name devices have one in common.
func meet(a, b *sched.Placement) bool {
	for _, x := range a.Shares {
		for _, y := range b.Shares {
			if x.Server == y.Server && slices.ContainsFunc(x.Devices, func(d int) bool { return slices.Contains(y.Devices, d) }) {
				return true
			}
		}
	}
	return false
}

// state is a plan under change.
type state struct {
	plan
	*decoder
	p       *problem
	cost    float64
	before  float64 // the last change
	undo    func()
	best    plan
	bestFor float64
}

func (s *state) Cost() float64 { return s.cost }
func (s *state) Undo()         { s.undo(); s.cost = s.before }

func (s *state) Keep() {
	s.best = plan{append(s.best.order[:0], s.order...), append(s.best.genes[:0], s.genes...)}
	s.bestFor = s.cost
}

func (s *state) Back() {
	copy(s.order, s.best.order)
	copy(s.genes, s.best.genes)
	s.cost = s.bestFor
}

// Try moves a job in the order, or changes what one does.
func (s *state) Try(r *rand.Rand, limit float64) float64 {
	s.before = s.cost
	n := len(s.order)
	if kind := r.IntN(10); kind < 5 && n > 1 {
		from := r.IntN(n)
		to := r.IntN(n)
		if kind > 1 { // nearby
			const near = 8
			to = min(n-1, max(0, from+r.IntN(2*near+1)-near))
		}
		shift(s.order, from, to)
		s.undo = func() { shift(s.order, to, from) }
	} else {
		i := int32(r.IntN(n))
		g := &s.genes[i]
		old := *g
		switch {
		case kind < 7:
			g.mode = mode(r.IntN(int(modes)))
		case kind == 7:
			g.strict = !g.strict
		case kind == 8 && r.IntN(2) == 0:
			if g.after = int32(r.IntN(2*n) - n); g.after < 0 || g.after == i {
				g.after = -1
			}
		case kind == 8:
			g.option = r.IntN(len(s.p.jobs[i].options))
		default:
			if g.with = int32(r.IntN(n)); g.with == i {
				g.with = -1
			}
		}
		s.undo = func() { *g = old }
	}
	s.cost = s.decode(&s.plan, limit)
	return s.cost
}

// shift moves what is at one place to another.
func shift(list []int32, from, to int) {
	x := list[from]
	if from < to {
		copy(list[from:to], list[from+1:to+1])
	} else {
		copy(list[to+1:from+1], list[to:from])
	}
	list[to] = x
}

// schedule returns what was decoded last.
func (s *state) schedule() *sched.Schedule {
	out := &sched.Schedule{Class: sched.Class{Kind: sched.S}}
	for i := range s.p.jobs {
		j := &s.p.jobs[i]
		gpus := slices.Clone(s.gpus[i])
		slices.Sort(gpus)
		place := sched.Placement{Config: &sched.Config{Accumulation: j.options[s.genes[i].option].steps}}
		for _, g := range gpus {
			d := s.p.device[g]
			if n := len(place.Shares); n == 0 || place.Shares[n-1].Server != d.server {
				place.Shares = append(place.Shares, sched.Share{Server: d.server})
			}
			sh := &place.Shares[len(place.Shares)-1]
			sh.GPUs++
			sh.Devices = append(sh.Devices, d.index)
		}
		s.p.stages(i, &place)
		from := s.start[i]
		if j.load > 0 {
			out.Segments = append(out.Segments, sched.Segment{Job: sched.JobID(i), Start: sched.Time(from), End: sched.Time(from + j.load), Phase: sched.Load, Place: place})
		}
		out.Segments = append(out.Segments, sched.Segment{Job: sched.JobID(i), Start: sched.Time(from + j.load), End: sched.Time(s.end[i]), Place: place})
	}
	out.Sort()
	return out
}

// stages gives the GPUs to the stages of a job, in order.
func (p *problem) stages(i int, place *sched.Placement) {
	stages := p.in.Jobs[i].Stages
	if len(stages) == 1 {
		return
	}
	stage, left := 0, stages[0].Replicas
	for k := range place.Shares {
		sh := &place.Shares[k]
		sh.Stages = make([]int, len(stages))
		for rest := sh.GPUs; rest > 0; {
			for left == 0 {
				stage++
				left = stages[stage].Replicas
			}
			n := min(rest, left)
			sh.Stages[stage] += n
			rest -= n
			left -= n
		}
	}
}
