package treecheck

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// cluster is what a problem on servers has besides: the GPUs of each server, and the
// patterns of each job. The instance that it goes with is the pool, with the least
// duration and gang of each job.
type cluster struct {
	size     []*big.Int
	patterns [][]pattern
}

type pattern struct {
	duration *big.Int
	parts    []part
}

// part is some GPUs of a server of a certain size.
type part struct{ size, gpus *big.Int }

// readCluster reads what follows the objective in a problem on servers.
func (in *instance) readCluster(r *reader) error {
	c := &cluster{size: r.integers(r.key("servers"))}
	in.capacity = new(big.Int)
	for _, s := range c.size {
		in.capacity.Add(in.capacity, s)
	}
	n := r.count(r.key("jobs"))
	for range n {
		row := r.integers(r.line())
		if r.err != nil {
			return r.err
		}
		if len(row) != 3 || row[2].Cmp(big.NewInt(int64(len(r.lines)))) > 0 {
			return refuse("a job does not have its release, weight and patterns")
		}
		var list []pattern
		var least, gang *big.Int
		for range int(row[2].Int64()) {
			q, held, err := readPattern(r)
			if err != nil {
				return err
			}
			list = append(list, q)
			least, gang = earlier(least, q.duration), earlier(gang, held)
		}
		switch {
		case len(list) == 0:
			return refuse("a job has no pattern")
		case in.makespan && row[1].Sign() != 0:
			return refuse("a makespan has no weights")
		}
		in.release, in.weight = append(in.release, row[0]), append(in.weight, row[1])
		in.duration, in.gang = append(in.duration, least), append(in.gang, gang)
		c.patterns = append(c.patterns, list)
	}
	in.cluster = c
	return nil
}

func readPattern(r *reader) (q pattern, held *big.Int, err error) {
	row := r.integers(r.line())
	if r.err != nil {
		return q, nil, r.err
	}
	if len(row)%2 == 0 || len(row) < 3 || row[0].Sign() == 0 {
		return q, nil, refuse("a pattern has no duration, or no parts")
	}
	q.duration, held = row[0], new(big.Int)
	for k := 1; k < len(row); k += 2 {
		if row[k+1].Sign() == 0 {
			return q, nil, refuse("a part of a pattern is empty")
		}
		q.parts = append(q.parts, part{row[k], row[k+1]})
		held.Add(held, row[k+1])
	}
	return q, held, nil
}

// byPart sorts parts.
func byPart(a, b part) int {
	if c := a.size.Cmp(b.size); c != 0 {
		return c
	}
	return a.gpus.Cmp(b.gpus)
}

// costOn returns the cost of a schedule on servers, which must be one: places has the
// GPUs of the first job on each server, then those of the second, and so on.
func (in *instance) costOn(starts, places []*big.Int) (*big.Int, error) {
	servers := in.cluster.size
	if len(starts) != len(in.gang) || len(places) != len(starts)*len(servers) {
		return nil, refuse("%d starts and %d places for %d jobs on %d servers", len(starts), len(places), len(in.gang), len(servers))
	}
	ends := make([]*big.Int, len(starts))
	for j, s := range starts {
		if s.Cmp(in.release[j]) < 0 {
			return nil, refuse("job %d starts before its release", j)
		}
		var parts []part
		for m, gpus := range places[j*len(servers) : (j+1)*len(servers)] {
			if gpus.Sign() > 0 {
				parts = append(parts, part{servers[m], gpus})
			}
		}
		slices.SortFunc(parts, byPart)
		for _, q := range in.cluster.patterns[j] {
			same := slices.EqualFunc(slices.SortedFunc(slices.Values(q.parts), byPart), parts, func(a, b part) bool { return byPart(a, b) == 0 })
			if same && ends[j] == nil {
				ends[j] = sum(s, q.duration)
			}
		}
		if ends[j] == nil {
			return nil, refuse("job %d holds GPUs as none of its patterns does", j)
		}
	}
	total := new(big.Int)
	for j, s := range starts {
		for m, size := range servers {
			held := new(big.Int)
			for k, t := range starts {
				if t.Cmp(s) <= 0 && s.Cmp(ends[k]) < 0 {
					held.Add(held, places[k*len(servers)+m])
				}
			}
			if held.Cmp(size) > 0 {
				return nil, refuse("%v GPUs of server %d are held at %v, of %v", held, m, s, size)
			}
		}
		if !in.makespan {
			total.Add(total, product(in.weight[j], ends[j]))
		} else if ends[j].Cmp(total) > 0 {
			total = ends[j]
		}
	}
	return total, nil
}

// scene is a node of the tree on servers.
type scene struct {
	now, cost    *big.Int
	before, free []*big.Int // GPUs of each server, just before and now
	running      []runner
	waiting      []int
	settled      int // so many of the waiting jobs do not start now
}

type runner struct {
	end  *big.Int
	held []*big.Int // on each server
	job  int
}

// choice is a way to start a job.
type choice struct {
	duration *big.Int
	held     []*big.Int
}

// allOn asks the certificate about every node on servers until none is left.
func (w *walk) allOn() error {
	in := w.in
	stack := []scene{{now: slices.MinFunc(in.release, (*big.Int).Cmp), cost: new(big.Int), before: in.cluster.size, free: in.cluster.size, waiting: w.c.order}}
	for len(stack) > 0 {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		choices, next := w.forwardOn(&s)
		asked := slices.IndexFunc(choices, func(list []choice) bool { return len(list) > 0 })
		switch {
		case len(s.waiting) == 0 && in.makespan:
			return refuse("a schedule ends before %v", w.c.value)
		case len(s.waiting) == 0 && s.cost.Cmp(w.c.value) < 0:
			return refuse("a schedule costs %v, less than %v", s.cost, w.c.value)
		case len(s.waiting) == 0 || asked < 0:
			continue
		case w.next == len(w.c.answers):
			return refuse("there are too few answers")
		}
		answer := w.c.answers[w.next]
		w.next++
		if answer > 0 {
			if !w.dearOn(&s, choices, next, w.c.prices[answer-1]) {
				return refuse("prices %d do not close node %d", answer, w.next)
			}
			continue
		}
		waits := s
		waits.settled = asked + 1
		stack = append(stack, waits)
		for _, o := range slices.Backward(choices[asked]) {
			if end := sum(s.now, o.duration); !in.makespan || end.Cmp(w.c.value) < 0 {
				stack = append(stack, w.startOn(&s, asked, o, end))
			}
		}
	}
	if w.next < len(w.c.answers) {
		return refuse("answers are left over")
	}
	return nil
}

func (w *walk) startOn(s *scene, at int, o choice, end *big.Int) scene {
	started := scene{now: s.now, before: s.before, settled: at, cost: sum(s.cost, product(w.in.weight[s.waiting[at]], end)),
		running: append(slices.Clone(s.running), runner{end, o.held, s.waiting[at]}), waiting: slices.Delete(slices.Clone(s.waiting), at, at+1)}
	for m, f := range s.free {
		started.free = append(started.free, minus(f, o.held[m]))
	}
	return started
}

// forwardOn goes on in time until some job may start, and returns the ways in which each
// of the waiting jobs may, and the next event; nil is none.
func (w *walk) forwardOn(s *scene) (choices [][]choice, next *big.Int) {
	for len(s.waiting) > 0 {
		next, choices = nil, make([][]choice, len(s.waiting))
		some := false
		for _, r := range s.running {
			next = earlier(next, r.end)
		}
		for i, j := range s.waiting {
			if w.in.release[j].Cmp(s.now) > 0 {
				next = earlier(next, w.in.release[j])
			} else if i >= s.settled {
				choices[i] = w.choices(s, j)
				some = some || len(choices[i]) > 0
			}
		}
		if some || next == nil {
			return choices, next
		}
		s.before, s.free, s.now, s.settled = s.free, slices.Clone(s.free), next, 0
		var running []runner
		for _, r := range s.running {
			if r.end.Cmp(next) > 0 {
				running = append(running, r)
				continue
			}
			for m, g := range r.held {
				s.free[m] = sum(s.free[m], g)
			}
		}
		s.running = running
	}
	return nil, nil
}

// choices returns the ways to start a job now. Of those that put the same parts on servers
// that look alike, it takes the first.
func (w *walk) choices(s *scene, j int) (list []choice) {
	servers := w.in.cluster.size
	looks := make([]string, len(servers))
	for m, size := range servers {
		var on []string
		for _, r := range s.running {
			if r.held[m].Sign() > 0 {
				on = append(on, fmt.Sprintf("%v %v", r.end, r.held[m]))
			}
		}
		slices.Sort(on)
		looks[m] = fmt.Sprintf("%v, %v, %v: %s", size, s.before[m], s.free[m], strings.Join(on, ", "))
	}
	for _, q := range w.in.cluster.patterns[j] {
		ways := [][]int{{}}
		for k, p := range q.parts {
			known := map[string]bool{}
			var longer [][]int
			for _, way := range ways {
				for m := range servers {
					if servers[m].Cmp(p.size) != 0 || s.free[m].Cmp(p.gpus) < 0 || slices.Contains(way, m) {
						continue
					}
					longerWay := append(slices.Clone(way), m)
					name := look(looks, longerWay, q.parts[:k+1])
					if !known[name] {
						known[name] = true
						longer = append(longer, longerWay)
					}
				}
			}
			ways = longer
		}
		for _, way := range ways {
			o := choice{duration: q.duration}
			for range servers {
				o.held = append(o.held, new(big.Int))
			}
			full := false // just before now
			for k, m := range way {
				o.held[m] = q.parts[k].gpus
				full = full || s.before[m].Cmp(o.held[m]) < 0
			}
			if full || w.in.release[j].Cmp(s.now) == 0 {
				list = append(list, o)
			}
		}
	}
	return list
}

// look names what parts are put on what looks how.
func look(looks []string, way []int, parts []part) string {
	var list []string
	for k, m := range way {
		list = append(list, fmt.Sprintf("%v on %s", parts[k].gpus, looks[m]))
	}
	slices.Sort(list)
	return strings.Join(list, "; ")
}

// dearOn is dear on servers: on the pool of all of them, with the least durations, jobs
// that start now apart.
func (w *walk) dearOn(s *scene, choices [][]choice, next *big.Int, v *prices) bool {
	for _, list := range choices {
		for _, o := range list {
			next = earlier(next, sum(s.now, o.duration))
		}
	}
	total := product(w.c.scale, s.cost)
	for _, r := range s.running {
		total.Add(total, v.between(&v.jobs[r.job], s.now, r.end))
	}
	for i, j := range s.waiting {
		begin := next
		if w.in.release[j].Cmp(next) > 0 {
			begin = w.in.release[j]
		}
		least := w.least(v, j, begin)
		for _, o := range choices[i] {
			end := sum(s.now, o.duration)
			if w.in.makespan && end.Cmp(w.c.value) >= 0 {
				continue
			}
			now := product(product(w.c.scale, w.in.weight[j]), end)
			now.Add(now, v.between(&v.jobs[j], s.now, end))
			least = earlier(least, now)
		}
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
