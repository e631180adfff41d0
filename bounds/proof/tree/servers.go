package tree

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"yardstick/bounds/proof"
	"yardstick/internal/number"
)

// spreadNode is a node of the tree over servers: see the package comment. What starts now
// holds GPUs of certain servers, and a job is asked for with all ways to place it.
type spreadNode struct {
	now          int64
	before, free []int64 // GPUs of each server, just before and now
	cost         number.Uint128
	running      []spreadJob
	waiting      []int
	asked        int
}

type spreadJob struct {
	job  int
	end  int64
	held []int64
}

// option is a way to start a job now.
type option struct {
	duration int64
	held     []int64
}

func (s *search) rootOn() *spreadNode {
	return &spreadNode{now: slices.Min(s.release), before: s.p.Servers, free: s.p.Servers, waiting: s.order}
}

// spread goes through a node and everything below it.
func (s *search) spread(n *spreadNode) error {
	next, options, alive := s.forward(n)
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
	s.laterOn(n, next, options)
	v := s.close(s.pooled(n))
	s.answers = append(s.answers, v)
	if v != nil {
		return nil
	}
	at := slices.IndexFunc(options, func(list []option) bool { return len(list) > 0 })
	j := n.waiting[at]
	for _, o := range options[at] {
		end := n.now + o.duration
		if s.p.Makespan && end >= s.value {
			continue
		}
		s.start[j], s.held[j] = n.now, o.held
		started := &spreadNode{now: n.now, before: n.before, free: slices.Clone(n.free), cost: n.cost.Plus(number.Product(s.weight[j], uint64(end))),
			running: append(slices.Clip(n.running), spreadJob{j, end, o.held}), waiting: slices.Delete(slices.Clone(n.waiting), at, at+1), asked: at}
		for m, gpus := range o.held {
			started.free[m] -= gpus
		}
		if err := s.spread(started); err != nil {
			return err
		}
	}
	n.asked = at + 1
	return s.spread(n)
}

// forward goes on in time until some job may start. It returns the next release or end,
// what may start now, and whether there is anything to go on to.
func (s *search) forward(n *spreadNode) (next int64, options [][]option, alive bool) {
	for len(n.waiting) > 0 {
		next, alive = 0, false
		event := func(t int64) {
			if !alive || t < next {
				next, alive = t, true
			}
		}
		for _, r := range n.running {
			event(r.end)
		}
		some := false
		options = make([][]option, len(n.waiting))
		kind := s.kinds(n)
		for i, j := range n.waiting {
			if s.release[j] > n.now {
				event(s.release[j])
			} else if i >= n.asked {
				options[i] = s.options(n, kind, j)
				some = some || len(options[i]) > 0
			}
		}
		if some {
			return next, options, true
		}
		if !alive {
			return 0, nil, false
		}
		n.before, n.free, n.now, n.asked = n.free, slices.Clone(n.free), next, 0
		var left []spreadJob
		for _, r := range n.running {
			if r.end > next {
				left = append(left, r)
				continue
			}
			for m, gpus := range r.held {
				n.free[m] += gpus
			}
		}
		n.running = left
	}
	return 0, nil, false
}

// options returns the ways to start a job now: for each pattern all places that differ,
// as servers are alike on which the same jobs run and as much was free before.
func (s *search) options(n *spreadNode, kind []int, j int) (list []option) {
	for _, q := range s.p.Jobs[j].Patterns {
		ways, seen := [][]int{nil}, [][]place{} // servers of the first parts
		for k, part := range q.Parts {
			var longer [][]int
			seen = seen[:0]
			for _, way := range ways {
				for m, size := range s.p.Servers {
					if size != part.Size || n.free[m] < part.GPUs || slices.Contains(way, m) {
						continue
					}
					next := append(slices.Clone(way), m)
					name := signature(kind, next, q.Parts[:k+1])
					if !slices.ContainsFunc(seen, func(other []place) bool { return slices.Equal(other, name) }) {
						seen = append(seen, name)
						longer = append(longer, next)
					}
				}
			}
			ways = longer
		}
		for _, way := range ways {
			held, blocked := make([]int64, len(s.p.Servers)), false
			for k, m := range way {
				held[m] = q.Parts[k].GPUs
				blocked = blocked || n.before[m] < held[m]
			}
			if s.release[j] == n.now || blocked {
				list = append(list, option{q.Duration, held})
			}
		}
	}
	return list
}

// kinds returns for each server the first one that is like it.
func (s *search) kinds(n *spreadNode) []int {
	type part struct{ end, gpus int64 }
	kind, on := make([]int, len(s.p.Servers)), make([][]part, len(s.p.Servers))
	for m, size := range s.p.Servers {
		for _, r := range n.running {
			if r.held[m] > 0 {
				on[m] = append(on[m], part{r.end, r.held[m]})
			}
		}
		slices.SortFunc(on[m], func(a, b part) int { return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(a.gpus, b.gpus)) })
		for kind[m] = 0; kind[m] < m; kind[m]++ {
			if k := kind[m]; s.p.Servers[k] == size && n.before[k] == n.before[m] && n.free[k] == n.free[m] && slices.Equal(on[k], on[m]) {
				break
			}
		}
	}
	return kind
}

// place is some GPUs of a server of some kind.
type place struct {
	kind int
	gpus int64
}

// signature names the parts of a job with the kinds of their servers.
func signature(kind, way []int, parts []proof.Part) []place {
	list := make([]place, len(way))
	for k, m := range way {
		list[k] = place{kind[m], parts[k].GPUs}
	}
	slices.SortFunc(list, func(a, b place) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.gpus, b.gpus)) })
	return list
}

// laterOn sets what the node leaves to the waiting jobs: the first start after now, and
// how long they run at least if they start now.
func (s *search) laterOn(n *spreadNode, next int64, options [][]option) {
	if next == 0 { // nothing is going on
		next = s.last
	}
	s.early, s.quick = s.early[:0], s.quick[:0]
	for i := range n.waiting {
		quick := int64(0)
		for _, o := range options[i] {
			next = min(next, n.now+o.duration)
			if (quick == 0 || o.duration < quick) && (!s.p.Makespan || n.now+o.duration < s.value) {
				quick = o.duration
			}
		}
		s.quick = append(s.quick, quick)
	}
	for _, j := range n.waiting {
		s.early = append(s.early, max(next, s.release[j]))
	}
}

// pooled returns the node as one pool has it, for prices.
func (s *search) pooled(n *spreadNode) *node {
	pool := &node{now: n.now, cost: n.cost, waiting: n.waiting}
	for _, r := range n.running {
		pool.running = append(pool.running, job{r.end, r.job})
	}
	return pool
}
