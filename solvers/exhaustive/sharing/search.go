package sharing

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/milp"
)

// Solve finds an optimal schedule of class Ss by depth-first branch and bound over
// time: in every slot any of the waiting jobs may start, with any option and any
// GPUs, of which only those count that differ in who holds them.
//
// A job that starts after its release needs to start only when one of its GPUs
// was held in the slot before. Otherwise it may start a slot earlier on the same
// GPUs: it is alone there in that slot, all other starts stay, and by induction
// over slots every job has at least as much done as before, so that fewer
// others are on its GPUs and none is slower.
//
// A node is left out if a lower bound reaches the best cost known: jobs go on at
// full speed, or, where all weights are equal, the k-th completion is no earlier
// than that of the k least of what is left, done by all GPUs at the rate Theta
// that sharing can reach at most. Jobs that differ in nothing start in order of
// index.
//
// The result is a function of the instance, the objective and l.Nodes unless
// l.Time or the context ends the search; then the bound is what holds before anything
// is decided.
//
// Errors: sched.ErrNotApplicable.
func Solve(ctx context.Context, in *sched.Instance, obj sched.Objective, l exact.Limits) (*exact.Result, error) {
	p, err := NewProblem(in, obj)
	if err != nil {
		return nil, err
	}
	limited := ctx
	if l.Time > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, l.Time)
		defer cancel()
	}
	s := newSearch(limited, p, l.Nodes)
	root := s.root()
	lower := p.Lower()
	s.branch(&root, 0)
	r := &exact.Result{Class: sched.Class{Kind: sched.S, Slotted: true}, Termination: milp.Optimal, Schedule: p.Schedule(s.best), Cost: s.cost, Bound: s.cost, Nodes: s.nodes}
	if err := r.Schedule.CheckEnd(); err != nil {
		return nil, fmt.Errorf("sharing: %w: the best schedule found is too long: %w", sched.ErrNotApplicable, err)
	}
	if !s.stopped || lower.Cmp(s.cost) >= 0 {
		return r, nil
	}
	r.Bound = lower
	switch {
	case ctx.Err() != nil:
		r.Termination = milp.Interrupted
	case limited.Err() != nil:
		r.Termination = milp.TimeLimit
	default:
		r.Termination = milp.NodeLimit
	}
	return r, nil
}

// Quick returns the best plans that a search of so many nodes finds.
func (p *Problem) Quick(nodes int) []Plan {
	s := newSearch(context.Background(), p, nodes)
	root := s.root()
	s.branch(&root, 0)
	return s.best
}

// Lower returns a lower bound on the objective that holds before anything is decided.
func (p *Problem) Lower() *big.Rat {
	s := newSearch(context.Background(), p, 0)
	root := s.root()
	return s.exactly(s.bound(&root, 0))
}

// Values of state.end and of state.gpus.
const (
	waits = -1
	runs  = -2
	none  = -1
)

// state is a moment of a schedule.
type state struct {
	slot   int
	gpus   [maxGPUs][2]int8 // who holds each, in order of index; or none
	busy   uint64           // the GPUs that were held in the slot before
	start  [maxJobs]int32
	end    [maxJobs]int32 // or waits or runs
	option [maxJobs]int8
	counts [maxJobs][maxJobs]int32 // slots at each level of interference
}

type search struct {
	*Problem
	ctx     context.Context
	most    int // nodes; 0: any number
	nodes   int
	stopped bool

	order []int // of jobs in which starts are tried
	// weight are the jobs' divided by unit, so that costs are of an ordinary size.
	weight []float64
	unit   *big.Rat

	theta float64 // how much sharing can make of a GPU, at least that
	equal bool    // all weights are equal: ranked completions bound the cost
	slack float64 // relative error of costs in floating point; 0 if they are integers

	held    [maxJobs][]int // GPUs of the jobs that have started
	best    []Plan
	cost    *big.Rat
	ceiling float64 // cost in slots
}

func newSearch(ctx context.Context, p *Problem, nodes int) *search {
	s := &search{Problem: p, ctx: ctx, most: nodes, equal: true, theta: p.Theta()}
	heaviest := 0.0
	for i := range p.Jobs {
		w := p.Jobs[i].Weight
		s.order = append(s.order, i)
		s.equal = s.equal && w == p.Jobs[0].Weight
		if heaviest = max(heaviest, w); w != math.Trunc(w) || w > wholeWeight {
			s.slack = 1e-9
		}
	}
	exponent := 0 // of the unit, a power of two
	if s.slack > 0 {
		_, exponent = math.Frexp(heaviest)
	}
	s.unit = new(big.Rat).SetFrac(new(big.Int).Lsh(big.NewInt(1), uint(max(0, exponent))), new(big.Int).Lsh(big.NewInt(1), uint(max(0, -exponent))))
	for i := range p.Jobs {
		s.weight = append(s.weight, math.Ldexp(p.Jobs[i].Weight, -exponent))
	}
	s.keep(s.sequence())
	return s
}

// wholeWeight is the largest weight with which costs are summed up as integers:
// those of maxJobs jobs by MaxSlots slots are then off by less than Rounding.
const wholeWeight = 1 << 8

func (s *search) root() state {
	var st state
	for g := range st.gpus {
		st.gpus[g] = [2]int8{none, none}
	}
	for i := range s.Jobs {
		st.end[i] = waits
	}
	return st
}

// branch tries all that may happen from a state on, where jobs before from in
// order do not start in this slot any more.
func (s *search) branch(st *state, from int) {
	s.nodes++
	s.stopped = s.stopped || s.most > 0 && s.nodes >= s.most || s.nodes&1023 == 0 && s.ctx.Err() != nil
	if s.stopped || s.reaches(s.bound(st, from)) {
		return
	}
	for k := from; k < len(s.order); k++ {
		i := s.order[k]
		j := &s.Jobs[i]
		if st.end[i] != waits || j.Release > st.slot || j.twin >= 0 && st.end[j.twin] == waits {
			continue
		}
		for o := range j.Options {
			s.place(st, i, o, func(next *state) { s.branch(next, k+1) })
		}
	}
	next := *st
	if !s.advance(&next) {
		return // idle although jobs wait: they could have started earlier
	}
	if next.slot < 0 {
		s.leaf(&next)
		return
	}
	s.branch(&next, 0)
}

// place calls f with every state in which job i has just started with an option:
// one for each number of GPUs taken of each kind.
func (s *search) place(st *state, i, o int, f func(*state)) {
	j := &s.Jobs[i]
	type kind struct {
		on   [2]int8
		busy bool
		gpus []int
	}
	var kinds []kind
	for g := range s.GPUs {
		on := st.gpus[g]
		if on[1] != none || on[0] != none && !s.Fits(&j.Options[o], &s.Jobs[on[0]].Options[st.option[on[0]]]) {
			continue
		}
		busy := st.busy>>g&1 == 1
		k := slices.IndexFunc(kinds, func(k kind) bool { return k.on == on && k.busy == busy })
		if k < 0 {
			k = len(kinds)
			kinds = append(kinds, kind{on: on, busy: busy})
		}
		kinds[k].gpus = append(kinds[k].gpus, g)
	}
	taken := make([]int, 0, j.Gang)
	var choose func(k int)
	choose = func(k int) {
		if len(taken) == j.Gang {
			if st.slot > j.Release && !slices.ContainsFunc(taken, func(g int) bool { return st.busy>>g&1 == 1 }) {
				return
			}
			next := *st
			next.end[i], next.start[i], next.option[i] = runs, int32(st.slot), int8(o)
			for _, g := range taken {
				if next.gpus[g][0] == none {
					next.gpus[g][0] = int8(i)
				} else {
					next.gpus[g][1] = int8(i)
				}
			}
			before := s.held[i]
			s.held[i] = slices.Clone(taken)
			f(&next)
			s.held[i] = before
			return
		}
		if k == len(kinds) {
			return
		}
		for n := min(len(kinds[k].gpus), j.Gang-len(taken)); n >= 0; n-- {
			taken = append(taken, kinds[k].gpus[:n]...)
			choose(k + 1)
			taken = taken[:len(taken)-n]
		}
	}
	choose(0)
}

// advance plays the slot, and moves on to the next release if nobody runs. It
// returns false if jobs wait then that are all released, and sets the slot to −1
// if no job is left.
func (s *search) advance(st *state) bool {
	var level [maxJobs]int
	running := false
	st.busy = 0
	for g := range s.GPUs {
		on := st.gpus[g]
		if on[0] != none {
			st.busy |= 1 << g
		}
		if on[1] != none {
			level[on[0]] = max(level[on[0]], s.Jobs[on[0]].level[s.Jobs[on[1]].Task])
			level[on[1]] = max(level[on[1]], s.Jobs[on[1]].level[s.Jobs[on[0]].Task])
		}
	}
	st.slot++
	left, next := 0, math.MaxInt
	for i := range s.Jobs {
		j := &s.Jobs[i]
		switch {
		case st.end[i] == runs:
			st.counts[i][level[i]]++
			if j.Done(&j.Options[st.option[i]], st.counts[i][:len(j.Xi)]) {
				s.finish(st, i)
				continue
			}
			running = true
			left++
		case st.end[i] == waits:
			left++
			if j.Release >= st.slot {
				next = min(next, j.Release)
			}
		}
	}
	switch {
	case left == 0:
		st.slot = -1
	case running || st.busy != 0:
	case next == math.MaxInt:
		return false
	default:
		st.slot = next
	}
	return true
}

func (s *search) finish(st *state, i int) {
	st.end[i] = int32(st.slot)
	for _, g := range s.held[i] {
		if st.gpus[g][0] == int8(i) {
			st.gpus[g][0] = st.gpus[g][1]
		}
		st.gpus[g][1] = none
	}
}

// leaf considers a complete schedule.
func (s *search) leaf(st *state) {
	plans := make([]Plan, len(s.Jobs))
	for i := range s.Jobs {
		gpus := slices.Clone(s.held[i])
		slices.Sort(gpus)
		plans[i] = Plan{Option: int(st.option[i]), GPUs: gpus, Start: int(st.start[i]), End: int(st.end[i])}
	}
	s.keep(plans)
}

// keep keeps plans that cost less than the best.
func (s *search) keep(plans []Plan) {
	cost := s.Cost(plans)
	if s.cost != nil && cost.Cmp(s.cost) >= 0 {
		return
	}
	s.best, s.cost, s.ceiling = plans, cost, 0
	for i := range plans {
		s.ceiling = s.add(s.ceiling, i, float64(plans[i].End))
	}
}

// sequence runs the jobs one after the other in order of release.
func (s *search) sequence() []Plan {
	plans := make([]Plan, len(s.Jobs))
	order := slices.Clone(s.order)
	slices.SortStableFunc(order, func(a, b int) int { return s.Jobs[a].Release - s.Jobs[b].Release })
	now := 0
	for _, i := range order {
		now = max(now, s.Jobs[i].Release)
		plans[i] = Plan{Start: now, End: now + s.Jobs[i].Options[0].Alone}
		for g := range s.Jobs[i].Gang {
			plans[i].GPUs = append(plans[i].GPUs, g)
		}
		now = plans[i].End
	}
	return plans
}
