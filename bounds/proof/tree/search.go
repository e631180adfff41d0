package tree

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"yardstick/bounds/proof"
	"yardstick/internal/number"
	"yardstick/sched"
)

// search goes through the tree, depth first.
type search struct {
	p      *proof.Problem
	ctx    context.Context
	limits Limits
	claim  proof.Claim
	order  []int
	scale  int64 // K

	// Of the problem, by job; weights are times the scale.
	release, duration, gang []int64
	weight                  []uint64
	capacity                int64
	last                    int64 // no job of a schedule shifted to the left starts later

	value int64          // of the claim, if the cost is the makespan
	goal  number.Uint128 // what a node must cost more than to be closed, times the scale

	start   []int64   // on the path to the node
	held    [][]int64 // and, on servers, where
	answers []*prices // nil where both sides are gone through
	made    []*prices // all
	vectors []*prices // of these what is tried, the last successful one first
	early   []int64   // of the jobs waiting at the node, in their order
	quick   []int64   // on servers: how long they run at least if they start now; 0 if they may not
	may     []int     // positions in waiting of the jobs that may start now
	climb   climber
	packer  packer[uint64]
}

// node is a node of the tree: see the package comment.
type node struct {
	now, before, free int64          // before: GPUs that were free just before
	cost              number.Uint128 // of the jobs started, times the scale
	running           []job
	waiting           []int // in order
	asked             int   // how many of these have been asked for
}

type job struct {
	end int64
	job int
}

// errAgain means that a schedule was found with which the tree has to begin anew.
var errAgain = errors.New("again")

func newSearch(ctx context.Context, p *proof.Problem, claim proof.Claim, limits Limits) (*search, error) {
	s := &search{p: p, ctx: ctx, limits: limits, claim: claim, order: order(p), capacity: p.Capacity, start: make([]int64, len(p.Jobs)), held: make([][]int64, len(p.Jobs))}
	heaviest := int64(1)
	for _, j := range p.Jobs {
		heaviest = max(heaviest, j.Weight)
	}
	const precision = 1 << 11 // of prices
	s.scale = max(1, precision/heaviest)
	sum := new(big.Int)
	for _, j := range p.Jobs {
		longest := j.Duration
		if len(j.Patterns) > 0 {
			longest = j.Patterns[len(j.Patterns)-1].Duration
		}
		s.release, s.duration, s.gang = append(s.release, j.Release), append(s.duration, j.Duration), append(s.gang, j.Gang)
		s.weight = append(s.weight, uint64(j.Weight*s.scale))
		s.last = max(s.last, j.Release)
		sum.Add(sum, big.NewInt(longest))
	}
	if sum.Add(sum, big.NewInt(s.last)).BitLen() > 60 {
		return nil, fmt.Errorf("proof: %w: releases and durations together take %d bits, more than 60", sched.ErrNotApplicable, sum.BitLen())
	}
	s.last = sum.Int64()
	// The most that all jobs cost and pay: prices are never above highest.
	highest := new(big.Int).Mul(big.NewInt(heaviest*s.scale), big.NewInt(int64(len(p.Jobs))))
	most := new(big.Int).Mul(highest, sum)
	if most.Mul(most, big.NewInt(4*p.Capacity*int64(len(p.Jobs)))).BitLen() > 126 || highest.BitLen() > 62 {
		return nil, fmt.Errorf("proof: %w: weights times times take too many bits: round the weights to fewer digits in base two", sched.ErrNotApplicable)
	}
	s.packer = packer[uint64]{gang: s.gang, capacity: s.capacity}
	s.climb = newClimber(s, float64(min(highest.Int64(), 1<<62/p.Capacity/int64(len(p.Jobs)))))
	free := s.newPrices([]int64{0, 1}, [][]uint64{{0}}) // what jobs cost that have all GPUs to themselves
	s.made, s.vectors = []*prices{free}, []*prices{free}
	return s, s.aim()
}

// aim sets what has to be reached to close a node.
func (s *search) aim() error {
	if !s.claim.Value.IsInt64() && s.p.Makespan {
		return fmt.Errorf("proof: %w to a bound of %v", sched.ErrNotApplicable, s.claim.Value)
	}
	if s.p.Makespan {
		s.value, s.goal = s.claim.Value.Int64(), number.Uint128{}
		return nil
	}
	goal := new(big.Int).Sub(s.claim.Value, big.NewInt(1))
	if goal.Mul(goal, big.NewInt(s.scale)).BitLen() > 126 {
		return fmt.Errorf("proof: %w to a bound of %v", sched.ErrNotApplicable, s.claim.Value)
	}
	if goal.Sign() < 0 {
		return fmt.Errorf("proof: %w to a bound of %v: it says nothing", sched.ErrNotApplicable, s.claim.Value)
	}
	s.goal = number.NewUint128(goal)
	return nil
}

// latest returns the last start of a job that prices look at.
func (s *search) latest(j int) int64 {
	if s.p.Makespan {
		return s.value - 1 - s.duration[j]
	}
	return s.last
}

// reset forgets a tree, but not the prices.
func (s *search) reset() {
	s.answers = nil
	for _, v := range s.made {
		clear(v.table) // of a makespan they depend on the value
	}
}

func (s *search) root() *node {
	return &node{now: slices.Min(s.release), before: s.capacity, free: s.capacity, waiting: s.order}
}

// node goes through a node and everything below it.
func (s *search) node(n *node) error {
	next, alive := s.advance(n)
	switch {
	case len(n.waiting) == 0:
		return s.complete()
	case !alive:
		return nil
	case s.limits.Nodes > 0 && len(s.answers) >= s.limits.Nodes:
		return fmt.Errorf("%w: %d nodes", proof.ErrLimit, s.limits.Nodes)
	case len(s.answers)%256 == 0 && s.ctx.Err() != nil:
		return context.Cause(s.ctx)
	}
	s.earliest(n, next)
	v := s.close(n)
	s.answers = append(s.answers, v)
	if v != nil {
		return nil
	}
	at := s.may[0]
	j := n.waiting[at]
	if end := n.now + s.duration[j]; !s.p.Makespan || end < s.value {
		s.start[j] = n.now
		started := &node{now: n.now, before: n.before, free: n.free - s.gang[j], cost: n.cost.Plus(number.Product(s.weight[j], uint64(end))),
			running: append(slices.Clip(n.running), job{end, j}), waiting: slices.Delete(slices.Clone(n.waiting), at, at+1), asked: at}
		if err := s.node(started); err != nil {
			return err
		}
	}
	n.asked = at + 1
	return s.node(n)
}

// advance goes on in time until some job may start. It returns the next release or end,
// and whether there is anything to go on to.
func (s *search) advance(n *node) (next int64, alive bool) {
	for len(n.waiting) > 0 {
		s.may = s.may[:0]
		next, alive = 0, false
		event := func(t int64) {
			if !alive || t < next {
				next, alive = t, true
			}
		}
		for _, r := range n.running {
			event(r.end)
		}
		for i, j := range n.waiting {
			switch {
			case s.release[j] > n.now:
				event(s.release[j])
			case i >= n.asked && s.gang[j] <= n.free && (s.release[j] == n.now || s.gang[j] > n.before):
				s.may = append(s.may, i)
			}
		}
		if len(s.may) > 0 {
			return next, true
		}
		if !alive {
			return 0, false
		}
		n.before, n.now, n.asked = n.free, next, 0
		var left []job
		for _, r := range n.running {
			if r.end > next {
				left = append(left, r)
			} else {
				n.free += s.gang[r.job]
			}
		}
		n.running = left
	}
	return 0, false
}

// earliest sets the earliest starts that the node leaves to the waiting jobs. Those that
// may not start now have to wait for the next release of a job, or the end of one that
// runs or starts now.
func (s *search) earliest(n *node, next int64) {
	if next == 0 { // nothing is going on
		next = s.last
	}
	for _, i := range s.may {
		next = min(next, n.now+s.duration[n.waiting[i]])
	}
	s.early = s.early[:0]
	for _, j := range n.waiting {
		s.early = append(s.early, max(next, s.release[j]))
	}
	for _, i := range s.may {
		s.early[i] = n.now
	}
}

// complete ends a path at a schedule.
func (s *search) complete() error {
	cost, err := evaluate(s.p, proof.Claim{Starts: s.start, Held: s.held})
	if err != nil {
		return fmt.Errorf("the tree has come to no schedule: %w", err)
	}
	switch {
	case cost.Cmp(s.claim.Value) >= 0:
		return nil
	case s.claim.Starts == nil:
		return &proof.CheaperError{Cost: cost, Starts: slices.Clone(s.start)}
	}
	s.claim = proof.Claim{Value: cost, Starts: slices.Clone(s.start)}
	if s.p.Servers != nil {
		s.claim.Held = slices.Clone(s.held)
	}
	if err := s.aim(); err != nil {
		return err
	}
	// What costs no less than the old value costs no less than the new one. Only of a
	// makespan are there nodes that are no longer asked for.
	if s.p.Makespan {
		return errAgain
	}
	return nil
}

// kept is how many vectors of prices are tried at each node.
const kept = 40

// close returns prices that close the node, or nil.
func (s *search) close(n *node) *prices {
	best, from := 0.0, (*prices)(nil)
	for i, v := range s.vectors {
		short := s.short(v, n)
		if short < 0 {
			s.first(i)
			return v
		}
		if from == nil || short < best {
			best, from = short, v
		}
	}
	v := s.climb.run(s, n, from)
	if v == nil {
		return nil
	}
	s.vectors = slices.Insert(s.vectors, 0, v)
	s.made = append(s.made, v)
	s.vectors = s.vectors[:min(len(s.vectors), kept)]
	if s.short(v, n) < 0 {
		return v
	}
	return nil
}

// first moves the i-th vector of prices to the front.
func (s *search) first(i int) {
	v := s.vectors[i]
	copy(s.vectors[1:i+1], s.vectors[:i])
	s.vectors[0] = v
}
