package treecheck

import (
	"math/big"
	"slices"
)

// walk goes through all schedules that are shifted to the left.
type walk struct {
	in   *instance
	c    *certificate
	next int // answer
}

// situation is a node of the tree.
type situation struct {
	now, before, free, cost *big.Int // before: the GPUs that were free just before now
	running, waiting        []int
	end                     map[int]*big.Int // of the jobs running
	settled                 int              // so many of the waiting jobs do not start now
}

// all asks the certificate about every node until none is left.
func (w *walk) all() error {
	in := w.in
	zero := new(big.Int)
	stack := []situation{{slices.MinFunc(in.release, (*big.Int).Cmp), in.capacity, in.capacity, zero, nil, w.c.order, map[int]*big.Int{}, 0}}
	for len(stack) > 0 {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		able := w.forward(&s)
		switch {
		case len(s.waiting) == 0 && in.makespan:
			return refuse("a schedule ends before %v", w.c.value)
		case len(s.waiting) == 0 && s.cost.Cmp(w.c.value) < 0:
			return refuse("a schedule costs %v, less than %v", s.cost, w.c.value)
		case len(s.waiting) == 0 || len(able) == 0:
			continue
		case w.next == len(w.c.answers):
			return refuse("there are too few answers")
		}
		answer := w.c.answers[w.next]
		w.next++
		if answer > 0 {
			if !w.dear(&s, able, w.c.prices[answer-1]) {
				return refuse("prices %d do not close node %d", answer, w.next)
			}
			continue
		}
		later, now := s, s
		later.settled = slices.Index(s.waiting, able[0]) + 1
		stack = append(stack, later)
		if w.start(&now, able[0]) {
			stack = append(stack, now)
		}
	}
	if w.next < len(w.c.answers) {
		return refuse("answers are left over")
	}
	return nil
}

// forward goes on in time until some jobs may start, which it returns, or until nothing
// happens any more.
func (w *walk) forward(s *situation) (able []int) {
	for len(s.waiting) > 0 {
		for _, j := range s.waiting[s.settled:] {
			released := w.in.release[j].Cmp(s.now)
			if released <= 0 && w.in.gang[j].Cmp(s.free) <= 0 && (released == 0 || w.in.gang[j].Cmp(s.before) > 0) {
				able = append(able, j)
			}
		}
		at := w.event(s)
		if len(able) > 0 || at == nil {
			return able
		}
		s.before, s.now, s.settled = s.free, at, 0
		var running []int
		for _, j := range s.running {
			if s.end[j].Cmp(at) > 0 {
				running = append(running, j)
			} else {
				s.free = sum(s.free, w.in.gang[j])
			}
		}
		s.running = running
	}
	return nil
}

// event returns the next end of a running job or release of a waiting one, or nil.
func (w *walk) event(s *situation) (at *big.Int) {
	for _, j := range s.running {
		at = earlier(at, s.end[j])
	}
	for _, j := range s.waiting {
		if w.in.release[j].Cmp(s.now) > 0 {
			at = earlier(at, w.in.release[j])
		}
	}
	return at
}

// earlier returns the less of two numbers, of which the first may be missing.
func earlier(a, b *big.Int) *big.Int {
	if a == nil || b.Cmp(a) < 0 {
		return b
	}
	return a
}

// start starts a job now, and reports whether a makespan below the value is still left.
func (w *walk) start(s *situation, j int) bool {
	end := sum(s.now, w.in.duration[j])
	ends := map[int]*big.Int{j: end}
	for _, k := range s.running {
		ends[k] = s.end[k]
	}
	at := slices.Index(s.waiting, j)
	s.end, s.settled = ends, at
	s.running = append(slices.Clone(s.running), j)
	s.waiting = slices.Delete(slices.Clone(s.waiting), at, at+1)
	s.free, s.cost = minus(s.free, w.in.gang[j]), sum(s.cost, product(w.in.weight[j], end))
	return !w.in.makespan || end.Cmp(w.c.value) < 0
}

// dear reports whether the prices show that all schedules of a node cost at least the
// value. All jobs that hold GPUs from now on pay no more than all GPUs from now on.
func (w *walk) dear(s *situation, able []int, v *prices) bool {
	next := w.event(s)
	for _, j := range able {
		next = earlier(next, sum(s.now, w.in.duration[j]))
	}
	total := product(w.c.scale, s.cost)
	for _, j := range s.running {
		total.Add(total, v.between(&v.jobs[j], s.now, s.end[j]))
	}
	for _, j := range s.waiting {
		begin := next
		if slices.Contains(able, j) {
			begin = s.now
		} else if w.in.release[j].Cmp(next) > 0 {
			begin = w.in.release[j]
		}
		least := w.least(v, j, begin)
		if least == nil {
			return true
		}
		total.Add(total, least)
	}
	total.Sub(total, v.rest(s.now))
	if w.in.makespan {
		return total.Sign() > 0
	}
	return total.Cmp(product(w.c.scale, minus(w.c.value, big.NewInt(1)))) > 0
}

// corner is a start at which a job begins or ends where prices change, and the least that
// it costs and pays at this corner or a later one.
type corner struct{ at, least *big.Int }

// least returns the least that a job costs and pays if it starts at begin or later and, of
// a makespan, ends before the value; nil if it cannot. What it costs and pays is linear
// between corners, and does not fall after the last.
func (w *walk) least(v *prices, j int, begin *big.Int) *big.Int {
	last := minus(minus(w.c.value, big.NewInt(1)), w.in.duration[j])
	if w.in.makespan && begin.Cmp(last) > 0 {
		return nil
	}
	if v.corners[j] == nil {
		v.corners[j] = w.cornersOf(v, j, last)
	}
	best := w.price(v, j, begin)
	if i := slices.IndexFunc(v.corners[j], func(c corner) bool { return c.at.Cmp(begin) > 0 }); i >= 0 {
		best = earlier(best, v.corners[j][i].least)
	}
	return best
}

// price returns what a job costs and pays if it starts at t.
func (w *walk) price(v *prices, j int, t *big.Int) *big.Int {
	end := sum(t, w.in.duration[j])
	cost := product(product(w.c.scale, w.in.weight[j]), end)
	return cost.Add(cost, v.between(&v.jobs[j], t, end))
}

func (w *walk) cornersOf(v *prices, j int, last *big.Int) []corner {
	var list []corner
	for _, t := range v.at {
		list = append(list, corner{at: t}, corner{at: minus(t, w.in.duration[j])})
	}
	if w.in.makespan {
		list = append(slices.DeleteFunc(list, func(c corner) bool { return c.at.Cmp(last) > 0 }), corner{at: last})
	}
	slices.SortFunc(list, func(a, b corner) int { return b.at.Cmp(a.at) })
	for i := range list { // the latest first
		list[i].least = w.price(v, j, list[i].at)
		if i > 0 {
			list[i].least = earlier(list[i].least, list[i-1].least)
		}
	}
	slices.Reverse(list)
	return list
}
