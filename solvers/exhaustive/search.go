package exhaustive

import (
	"context"
	"math/big"
	"math/bits"
	"time"

	"yardstick/bounds"
	"yardstick/internal/number"
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

// search is a depth-first branch and bound on the relaxation in which GPUs are
// pooled: see the package comment. Its fields are the node at hand and are restored on the
// way back.
type search struct {
	*problem
	ctx    context.Context
	limits milp.Limits
	began  time.Time

	start, end []int64
	choice     []int // of the jobs started
	now        int64
	waiting    uint64 // jobs not started, released or not
	running    uint64
	total      int            // free GPUs
	cost       number.Uint128 // of the jobs started; for the makespan, the last end
	sumOfEnds  uint64
	past       []moment

	best    incumbent
	ceiling number.Uint128 // nodes whose bound reaches it are left out
	lower   number.Uint128 // no schedule costs less: proven by the rounds before
	open    number.Uint128 // least bound of the nodes that a limit left open
	sweep   int            // such nodes that may still be bounded one by one
	nodes   int
	look    int // after so many the clock is asked again
	stopped milp.Termination

	root        *big.Rat          // no schedule costs less: the bounds at the root
	prices      *bounds.JobPrices // that fix starts, or nil
	first, last []int64           // by job: the starts that can cost less than the round's ceiling

	least  number.Uint128 // what the prices prove of every schedule
	excess []excess       // by job, or nil without prices
	force  force          // what the prices in force prove
	tried  []tried        // by depth
	climbs int

	worthClimbing, fewestClimbed int

	clashes []clash
	clashed uint64  // the members of clashes
	found   []clash // in this round

	relax   relaxation
	seen    memo
	classes []int // scratch of fits
}

// moment is a decision point of the path from the root: what was free and
// what ran from then until the next one.
type moment struct {
	at      int64
	total   int
	running uint64
}

// maxSweep is how many open nodes are bounded one by one after a limit.
const maxSweep = 20_000

func newSearch(ctx context.Context, p *problem, l milp.Limits) *search {
	n := len(p.jobs)
	s := &search{problem: p, ctx: ctx, limits: l, start: make([]int64, n), end: make([]int64, n), choice: make([]int, n), first: make([]int64, n), last: make([]int64, n), total: p.gpus,
		ceiling: unreachable, root: new(big.Rat), worthClimbing: worthClimbing, fewestClimbed: fewestClimbed}
	if l.Time > 0 {
		s.began = time.Now()
	}
	if p.sensitive != 0 {
		s.worthClimbing = unworthy
	}
	s.waiting = 1<<n - 1
	s.relax = newRelaxation(p)
	s.tried = make([]tried, len(s.relax.frames)+1)
	return s
}

func newPlan(n int) plan {
	return plan{make([]int64, n), make([]int64, n), make([][]int, n)}
}

// steps is the number of rounds in which the lower bound of a sum is raised
// from the root's to the incumbent's cost. Makespans rise in one: most nodes
// below any target are below the first.
const steps = 4

// pricedSteps are those where prices at the root leave less to raise.
const pricedSteps = 2

// run searches round by round until the incumbent is proven optimal or a limit
// is reached. No schedule costs less than root. Each round looks only for what
// costs less than a target, the next of some steps from root to the incumbent:
// there are far fewer nodes below low targets, and a round that ends has proven
// its target.
func (s *search) run(root number.Uint128) error {
	step := s.rescale(s.best.cost).Minus(root)
	switch {
	case s.makespan:
	case s.prices != nil:
		step = step.Over(pricedSteps)
	default:
		step = step.Over(steps)
	}
	for target := root; s.stopped == "" && s.lower.Less(s.rescale(s.best.cost)); {
		if target = target.Max(s.lower); len(s.found) == 0 {
			target = target.Plus(step).Plus(number.Uint128{Lo: 1})
		}
		if err := s.round(target); err != nil {
			return err
		}
		s.learn()
	}
	return nil
}

// round searches the whole tree, from the first release on, for a plan of the
// relaxation that costs less than the incumbent and less than the target. It
// proves a lower bound.
func (s *search) round(target number.Uint128) error {
	s.seen, s.found = newMemo(), nil
	s.ceiling, s.open, s.sweep = s.rescale(s.best.cost), unreachable, maxSweep
	if target.Less(s.ceiling) {
		s.ceiling = target
	}
	any, err := s.narrow()
	if err != nil {
		return err
	}
	if any {
		s.atRoot()
		first := int64(never)
		for i := range s.jobs {
			first = min(first, s.jobs[i].release)
		}
		s.node(first, number.Uint128{})
	}
	lower := s.ceiling
	if s.open.Less(lower) {
		lower = s.open
	}
	s.lower = s.lower.Max(lower)
	return nil
}

// improve takes a complete plan as the incumbent if it costs less.
func (s *search) improve(pl plan) {
	completion := make([]sched.Time, len(s.jobs))
	for i := range s.jobs {
		completion[s.jobs[i].id] = sched.Time(pl.end[i])
	}
	cost := s.obj.Cost(s.in, completion)
	if s.best.cost == nil || cost.Cmp(s.best.cost) < 0 {
		s.best = incumbent{pl, cost}
		if c := s.rescale(cost); c.Less(s.ceiling) {
			s.ceiling = c
		}
	}
}

// node enters the decision point at time t: jobs that end at t leave, the node
// is bounded, and the sets of jobs to start at t are branched on. No schedule
// of the node costs less than atLeast.
func (s *search) node(t int64, atLeast number.Uint128) {
	if s.stop() {
		if s.sweep == 0 {
			s.leaveOpen(atLeast)
			return
		}
		s.sweep--
	} else {
		s.nodes++
	}
	before, ended := s.now, s.leave(t)
	s.now = t
	depth := len(s.past)
	s.tried[depth] = tried{began: s.nodes}

	atLeast = atLeast.Max(s.priced())
	if atLeast.Less(s.ceiling) && !s.tooLate() && !s.missedHole() {
		bound, alone := s.relax.bound(s)
		bound = bound.Max(atLeast)
		switch {
		case !bound.Less(s.ceiling):
		case s.stopped != "":
			s.leaveOpen(bound)
		case !s.seen.dominated(s):
			forced := s.force
			if s.worthy(depth) && s.reprice() {
				bound = bound.Max(s.force.least).Max(s.priced())
			}
			s.branch(0, bound, alone)
			s.force = forced
		}
	}
	if depth > 0 {
		s.tried[depth-1].children++
	}

	s.now = before
	s.rejoin(ended)
}

// leaveOpen notes that a limit has left a node open.
func (s *search) leaveOpen(bound number.Uint128) {
	if bound.Less(s.open) {
		s.open = bound
	}
}

// stop reports whether a limit ends the search.
func (s *search) stop() bool {
	switch {
	case s.stopped != "":
	case s.limits.Nodes > 0 && s.nodes >= s.limits.Nodes:
		s.stopped = milp.NodeLimit
	case s.nodes < s.look:
	case s.ctx.Err() != nil:
		s.stopped = milp.Interrupted
	case s.limits.Time > 0 && time.Since(s.began) >= s.limits.Time:
		s.stopped = milp.TimeLimit
	default:
		s.look = s.nodes + 256
	}
	return s.stopped != ""
}

// leave frees the GPUs of the jobs that end at or before t and returns them.
func (s *search) leave(t int64) (ended uint64) {
	for set := s.running; set != 0; set &= set - 1 {
		if i := bits.TrailingZeros64(set); s.end[i] <= t {
			ended |= 1 << i
			s.total += s.jobs[i].gang
		}
	}
	s.running &^= ended
	return ended
}

func (s *search) rejoin(ended uint64) {
	s.running |= ended
	for set := ended; set != 0; set &= set - 1 {
		s.total -= s.jobs[bits.TrailingZeros64(set)].gang
	}
}

// fits reports whether job i can run beside the given ones with a pattern of
// the class, if there are enough GPUs.
func (s *search) fits(running uint64, class int) bool {
	if class == anyGPUs {
		return true
	}
	s.classes = append(s.classes[:0], class)
	for set := running & s.sensitive; set != 0; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		if c := s.jobs[i].choices[s.choice[i]].class; c != anyGPUs {
			s.classes = append(s.classes, c)
		}
	}
	return s.packer.fits(s.classes)
}

// branch decides on jobs i, i+1, … at the current time, those before being
// settled. The node's bound serves to stop once the incumbent meets it; floor
// is the cost if every waiting job ended when the node's relaxation says it can
// at the earliest, and is raised with every start that ends later.
func (s *search) branch(i int, bound, floor number.Uint128) {
	for ; i < len(s.jobs); i++ {
		if s.stopped != "" && s.sweep == 0 {
			s.leaveOpen(bound.Max(floor))
			return
		}
		if !bound.Less(s.ceiling) {
			return
		}
		j := &s.jobs[i]
		if s.waiting>>i&1 == 0 || s.first[i] > s.now || j.gang > s.total || j.twins&s.waiting&^s.clashed != 0 && s.clashed>>i&1 == 0 {
			continue
		}
		for k := range j.choices {
			c := &j.choices[k]
			if !s.fits(s.running, c.class) {
				continue
			}
			raised := s.raised(floor, i, s.now+c.duration)
			if !raised.Less(s.ceiling) {
				break // longer ones raise it more
			}
			if !s.couldStartEarlier(i, c.class) {
				s.try(i, k, bound, raised)
			}
		}
	}
	s.advance(bound.Max(floor))
}

// try starts job i now with its k-th choice and goes on with the jobs after it.
func (s *search) try(i, k int, bound, floor number.Uint128) {
	end := s.now + s.jobs[i].choices[k].duration
	cost := s.cost
	s.start[i], s.end[i], s.choice[i] = s.now, end, k
	s.waiting &^= 1 << i
	s.running |= 1 << i
	s.total -= s.jobs[i].gang
	s.cost = s.costWith(i, end)
	s.sumOfEnds += uint64(end)
	exceeds := s.force.exceeds
	if s.force.excess != nil {
		more, _, _ := s.force.excess[i].of(s.now) // within its window
		s.force.exceeds += more
	}

	if !s.clashesWith(i) {
		s.branch(i+1, bound, floor)
	}

	s.force.exceeds = exceeds
	s.sumOfEnds -= uint64(end)
	s.cost = cost
	s.total += s.jobs[i].gang
	s.running &^= 1 << i
	s.waiting |= 1 << i
}

// raised returns the floor given that job i, which fits now, ends at end.
func (s *search) raised(floor number.Uint128, i int, end int64) number.Uint128 {
	if s.makespan {
		return floor.Max(number.Uint128{Lo: uint64(end)})
	}
	return floor.Plus(number.Product(s.jobs[i].weight, uint64(end-s.relax.frames[len(s.past)][i])))
}

// costWith returns the cost of the jobs started and job i ending at end.
func (s *search) costWith(i int, end int64) number.Uint128 {
	if s.makespan {
		return s.cost.Max(number.Uint128{Lo: uint64(end)})
	}
	return s.cost.Plus(number.Product(s.jobs[i].weight, uint64(end)))
}

// advance goes on to the next release or end. A node with nothing left to
// happen and jobs left to start leads nowhere.
func (s *search) advance(atLeast number.Uint128) {
	if s.waiting == 0 {
		s.complete()
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
	s.past = append(s.past, moment{at: s.now, total: s.total, running: s.running})
	s.node(next, atLeast)
	s.past = s.past[:len(s.past)-1]
}

// complete looks for servers for a plan of the relaxation. If there are none,
// its cost is all that the round can prove.
func (s *search) complete() {
	if !s.cost.Less(s.ceiling) {
		return
	}
	if s.stopped != "" {
		s.leaveOpen(s.cost)
		return
	}
	cost := s.cost
	order := s.inOrder()
	pl, stuck, ok := s.assign(order)
	switch {
	case ok:
		s.improve(pl)
		return
	case s.stopped == "":
		s.found = append(s.found, s.explain(stuck))
	}
	s.leaveOpen(cost)
	b := &builder{problem: s.problem}
	s.improve(b.build(order))
	if cost.Less(s.ceiling) {
		s.ceiling = cost
	}
}
