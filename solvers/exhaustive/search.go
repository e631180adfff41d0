package exhaustive

import (
	"context"
	"math/big"
	"math/bits"
	"time"

	"yardstick/sched"
	"yardstick/solvers/milp"
)

// plan says when each job starts and ends and how many GPUs it takes on each
// server; a nil list means any free GPUs.
type plan struct {
	start, end []int64
	counts     [][]int
}

type incumbent struct {
	plan plan
	cost *big.Rat
}

// search is a depth-first branch and bound. Its fields are the node at hand
// and are restored on the way back.
type search struct {
	*problem
	ctx    context.Context
	limits milp.Limits
	began  time.Time

	plan
	now       int64
	waiting   uint64 // jobs not started, released or not
	running   uint64
	total     int   // free GPUs
	freeOn    []int // free GPUs per server; stale once pooled
	pooled    bool  // no job that waits cares which GPUs it gets
	cost      wide  // of the jobs started; for the makespan, the last end
	sumOfEnds uint64
	past      []moment

	best    incumbent
	ceiling wide // rescaled cost of best: nodes whose bound reaches it are left out
	root    wide // bound of the root node
	nodes   int
	stopped milp.Termination

	relax relaxation
	seen  memo
	key   patternKey
	idle  []int // scratch of missedHole
}

// moment is a decision point of the path from the root: what was free from
// then until the next one.
type moment struct {
	at     int64
	total  int
	freeOn []int
	pooled bool // before the decisions of this moment no waiting job cared for its GPUs
}

func newSearch(ctx context.Context, p *problem, l milp.Limits) *search {
	n := len(p.jobs)
	s := &search{problem: p, ctx: ctx, limits: l, plan: newPlan(n), total: p.gpus, freeOn: append([]int(nil), p.free...)}
	if l.Time > 0 {
		s.began = time.Now()
	}
	s.waiting = 1<<n - 1
	s.pooled = p.sensitive == 0
	s.relax = newRelaxation(p)
	s.seen = newMemo()
	return s
}

func newPlan(n int) plan {
	return plan{make([]int64, n), make([]int64, n), make([][]int, n)}
}

// run searches the whole tree from the first release on.
func (s *search) run() {
	first := int64(never)
	for i := range s.jobs {
		first = min(first, s.jobs[i].release)
	}
	s.node(first)
}

// improve takes a complete plan as the incumbent if it costs less.
func (s *search) improve(pl plan) {
	completion := make([]sched.Time, len(s.jobs))
	for i := range s.jobs {
		completion[s.jobs[i].id] = sched.Time(pl.end[i])
	}
	cost := s.obj.Cost(s.in, completion)
	if s.best.cost != nil && cost.Cmp(s.best.cost) >= 0 {
		return
	}
	copied := newPlan(len(s.jobs))
	copy(copied.start, pl.start)
	copy(copied.end, pl.end)
	for i, c := range pl.counts {
		copied.counts[i] = append([]int(nil), c...)
	}
	s.best = incumbent{copied, cost}
	s.ceiling = s.rescale(cost)
}

// node enters the decision point at time t: jobs that end at t leave, the node
// is bounded, and the sets of jobs to start at t are branched on.
func (s *search) node(t int64) {
	if s.stop() {
		return
	}
	s.nodes++
	before, ended, wasPooled := s.now, s.leave(t), s.pooled
	s.now, s.pooled = t, s.waiting&s.sensitive == 0

	if !s.missedHole() {
		bound, alone := s.relax.bound(s)
		if s.nodes == 1 {
			s.root = bound
		}
		if bound.less(s.ceiling) && !s.seen.dominated(s) {
			s.branch(0, bound, alone)
		}
	}

	s.now, s.pooled = before, wasPooled
	s.rejoin(ended)
}

// stop reports whether a limit ends the search.
func (s *search) stop() bool {
	switch {
	case s.stopped != "":
	case s.limits.Nodes > 0 && s.nodes >= s.limits.Nodes:
		s.stopped = milp.NodeLimit
	case s.nodes%256 == 0 && s.ctx.Err() != nil:
		s.stopped = milp.Interrupted
	case s.nodes%256 == 0 && s.limits.Time > 0 && time.Since(s.began) >= s.limits.Time:
		s.stopped = milp.TimeLimit
	}
	return s.stopped != ""
}

// leave frees the GPUs of the jobs that end at or before t and returns them.
func (s *search) leave(t int64) (ended uint64) {
	for set := s.running; set != 0; set &= set - 1 {
		if i := bits.TrailingZeros64(set); s.end[i] <= t {
			ended |= 1 << i
			s.take(i, -1)
		}
	}
	s.running &^= ended
	return ended
}

func (s *search) rejoin(ended uint64) {
	s.running |= ended
	for set := ended; set != 0; set &= set - 1 {
		s.take(bits.TrailingZeros64(set), 1)
	}
}

// take removes job i's GPUs from the free ones, sign times.
func (s *search) take(i, sign int) {
	s.total -= sign * s.jobs[i].gang
	for m, n := range s.counts[i] {
		s.freeOn[m] -= sign * n
	}
}

// branch decides on jobs i, i+1, … at the current time, those before being
// settled. The node's bound serves to stop once the incumbent meets it; floor
// is the cost if every waiting job ended when the node's relaxation says it can
// at the earliest, and is raised with every start that ends later.
func (s *search) branch(i int, bound, floor wide) {
	for ; i < len(s.jobs); i++ {
		j := &s.jobs[i]
		if s.waiting>>i&1 == 0 || j.release > s.now || j.gang > s.total || j.twins&s.waiting != 0 {
			continue
		}
		if s.waiting&s.sensitive == 0 {
			if !s.couldStartEarlier(i, nil) {
				s.try(i, nil, j.short, bound, floor)
			}
		} else {
			for _, o := range s.options(i) {
				if s.stopped != "" || !bound.less(s.ceiling) {
					return
				}
				s.try(i, o.counts, o.duration, bound, floor)
			}
		}
		if s.stopped != "" || !bound.less(s.ceiling) {
			return
		}
	}
	s.advance()
}

// try starts job i now on the given GPUs and goes on with the jobs after it.
func (s *search) try(i int, counts []int, duration int64, bound, floor wide) {
	end := s.now + duration
	floor = s.raised(floor, i, end)
	if !floor.less(s.ceiling) {
		return
	}
	cost := s.cost
	s.start[i], s.end[i], s.counts[i] = s.now, end, counts
	s.waiting &^= 1 << i
	s.running |= 1 << i
	s.take(i, 1)
	s.cost = s.costWith(i, end)
	s.sumOfEnds += uint64(end)

	s.branch(i+1, bound, floor)

	s.sumOfEnds -= uint64(end)
	s.cost = cost
	s.take(i, -1)
	s.running &^= 1 << i
	s.waiting |= 1 << i
	s.counts[i] = nil
}

// raised returns the floor given that job i ends at end.
func (s *search) raised(floor wide, i int, end int64) wide {
	if s.makespan {
		return floor.max(wide{0, uint64(end)})
	}
	return floor.plus(product(s.jobs[i].weight, uint64(end-s.relax.frames[len(s.past)][i])))
}

// costWith returns the cost of the jobs started and job i ending at end.
func (s *search) costWith(i int, end int64) wide {
	if s.makespan {
		return s.cost.max(wide{0, uint64(end)})
	}
	return s.cost.plus(product(s.jobs[i].weight, uint64(end)))
}

// advance goes on to the next release or end. A node with nothing left to
// happen and jobs left to start leads nowhere.
func (s *search) advance() {
	if s.waiting == 0 {
		if s.cost.less(s.ceiling) {
			s.improve(s.plan)
		}
		return
	}
	next := int64(never)
	for set := s.running; set != 0; set &= set - 1 {
		next = min(next, s.end[bits.TrailingZeros64(set)])
	}
	for set := s.waiting; set != 0; set &= set - 1 {
		if r := s.jobs[bits.TrailingZeros64(set)].release; r > s.now {
			next = min(next, r)
		}
	}
	if next == never {
		return
	}
	m := moment{at: s.now, total: s.total, pooled: s.pooled}
	if !s.pooled {
		m.freeOn = append([]int(nil), s.freeOn...)
	}
	s.past = append(s.past, m)
	s.node(next)
	s.past = s.past[:len(s.past)-1]
}
