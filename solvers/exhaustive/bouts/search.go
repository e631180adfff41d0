package bouts

import (
	"context"
	"math"
	"time"

	"yardstick/solvers/exact"
	"yardstick/solvers/milp"
)

// key is a state of the cluster at a slot boundary. Once all jobs are released
// the slot does not matter, and is that of the last release.
type key struct {
	slot  int32
	state [maxJobs]uint16 // of each job, an index of job.states
}

// node is a state with the cheapest way known to reach it.
type node struct {
	key
	parent int32
	cost   int64 // of the slots before
}

// entry is a node in the queue, or a stale one if the node has become cheaper
// since.
type entry struct {
	bound int64 // cost + what is left at least
	cost  int64
	node  int32
}

// incumbent is the best schedule known: the states of the cluster at every slot
// boundary from 0 on.
type incumbent struct {
	cost int64
	path []key
}

// search is a search in progress.
type search struct {
	ctx   context.Context
	p     *problem
	o     Search
	l     exact.Limits
	begin time.Time
	relax *relaxation

	nodes []node
	known map[key]int32
	queue []entry // a binary heap, least bound first; of equal ones, most cost

	best     incumbent
	lower    int64 // proven; of the whole instance
	expanded int
	stopped  milp.Termination
}

func newSearch(ctx context.Context, p *problem, o Search, l exact.Limits) *search {
	if o.States <= 0 {
		o.States = States
	}
	return &search{ctx: ctx, p: p, o: o, l: l, begin: time.Now(), relax: newRelaxation(p), known: map[key]int32{}, best: incumbent{cost: math.MaxInt64}}
}

// diveEvery is how many expansions pass between two attempts to complete the
// state at hand greedily.
const diveEvery = 512

func (s *search) run() {
	root := key{}
	s.nodes = append(s.nodes, node{key: root, parent: -1})
	s.known[root] = 0
	s.lower = s.relax.bound(&root, 0, math.MaxInt64)
	s.push(entry{bound: s.lower})
	s.dive(0, s.busy)
	s.dive(0, s.any)
	for len(s.queue) > 0 {
		e := s.pop()
		if n := &s.nodes[e.node]; n.cost < e.cost {
			continue // reached more cheaply since
		}
		if e.bound >= s.best.cost {
			break
		}
		s.lower = max(s.lower, e.bound)
		if s.stopped = s.limit(); s.stopped != "" {
			return
		}
		if s.expanded++; s.expanded%diveEvery == 0 {
			s.dive(e.node, s.any)
		}
		s.expand(e.node)
	}
	s.lower = s.best.cost
}

// limit returns why the search has to stop, if it has to.
func (s *search) limit() milp.Termination {
	switch {
	case s.l.Nodes > 0 && s.expanded >= s.l.Nodes:
		return milp.NodeLimit
	case len(s.nodes) >= s.o.States:
		return milp.MemoryLimit
	case s.expanded%256 != 0:
	case s.ctx.Err() != nil:
		return milp.Interrupted
	case s.l.Time > 0 && time.Since(s.begin) >= s.l.Time:
		return milp.TimeLimit
	}
	return ""
}

// rate is what a slot costs: the weights of the jobs not done at its beginning.
func (p *problem) rate(k *key) int64 {
	sum := int64(0)
	for j := range p.jobs {
		if p.jobs[j].states[k.state[j]].phase != done {
			sum += p.jobs[j].weight
		}
	}
	if p.makespan && sum > 0 {
		return p.lattice
	}
	return sum
}

// expand puts the states that a node leads to into the queue.
func (s *search) expand(at int32) {
	from := s.nodes[at].key
	cost := s.nodes[at].cost + s.p.rate(&from)
	s.p.successors(&from, func(k *key) {
		i, seen := s.known[*k]
		if seen && s.nodes[i].cost <= cost || cost >= s.best.cost {
			return
		}
		bound := cost + s.relax.bound(k, k.slot, s.best.cost-cost)
		if bound >= s.best.cost {
			return
		}
		if !seen {
			i = int32(len(s.nodes))
			s.nodes = append(s.nodes, node{key: *k})
			s.known[*k] = i
		}
		s.nodes[i].parent, s.nodes[i].cost = at, cost
		if bound == cost { // nothing is left to do
			s.keep(s.path(i))
			return
		}
		s.push(entry{bound: bound, cost: cost, node: i})
	})
}

// dive completes a node's state, always going on with the successor of least
// bound among those allowed, and keeps the schedule if it is the best one.
func (s *search) dive(at int32, allowed func(from, to *key) bool) {
	cost, now := s.nodes[at].cost, s.nodes[at].key
	var path []key
	for rate := s.p.rate(&now); rate > 0; rate = s.p.rate(&now) {
		var least key
		bound := int64(math.MaxInt64)
		s.p.successors(&now, func(k *key) {
			if !allowed(&now, k) {
				return
			}
			if b := s.relax.bound(k, k.slot, math.MaxInt64); b < bound {
				least, bound = *k, b
			}
		})
		if cost += rate; bound >= s.best.cost-cost {
			return // no better, or a state in which nothing can be done
		}
		path, now = append(path, least), least
	}
	s.keep(append(s.path(at), path...))
}

// any allows every slot.
func (s *search) any(_, _ *key) bool { return true }

// busy allows slots in which no job stops and no job that fits is left waiting,
// which leads from any such state to the end.
func (s *search) busy(from, to *key) bool {
	for j := range s.p.jobs {
		before, after := &s.p.jobs[j].states[from.state[j]], &s.p.jobs[j].states[to.state[j]]
		if after.phase == passed || before.phase == training && after.phase != training && after.phase != done {
			return false
		}
	}
	return true
}

// keep makes the states of a whole schedule the incumbent if they cost less. The
// cost is taken from the states: on the way to a node others may have become
// cheaper since.
func (s *search) keep(path []key) {
	cost := int64(0)
	for i := range path {
		cost += s.p.rate(&path[i])
	}
	if cost < s.best.cost && s.p.rate(&path[len(path)-1]) == 0 {
		s.best = incumbent{cost, path}
	}
}

// path returns the states on the way to a node.
func (s *search) path(at int32) []key {
	var back []key
	for i := at; i >= 0; i = s.nodes[i].parent {
		back = append(back, s.nodes[i].key)
	}
	for i, k := 0, len(back)-1; i < k; i, k = i+1, k-1 {
		back[i], back[k] = back[k], back[i]
	}
	return back
}

func (e *entry) before(f *entry) bool {
	if e.bound != f.bound {
		return e.bound < f.bound
	}
	return e.cost > f.cost
}

func (s *search) push(e entry) {
	s.queue = append(s.queue, e)
	i := len(s.queue) - 1
	for i > 0 && e.before(&s.queue[(i-1)/2]) {
		s.queue[i] = s.queue[(i-1)/2]
		i = (i - 1) / 2
	}
	s.queue[i] = e
}

func (s *search) pop() entry {
	top, last := s.queue[0], s.queue[len(s.queue)-1]
	s.queue = s.queue[:len(s.queue)-1]
	n, i := len(s.queue), 0
	for 2*i+1 < n {
		child := 2*i + 1
		if child+1 < n && s.queue[child+1].before(&s.queue[child]) {
			child++
		}
		if !s.queue[child].before(&last) {
			break
		}
		s.queue[i] = s.queue[child]
		i = child
	}
	if n > 0 {
		s.queue[i] = last
	}
	return top
}
