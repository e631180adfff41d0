package pricing

import (
	"iter"
	"slices"

	"yardstick/sched"
)

// All returns every schedule of a job that ends by slot latest in the empty
// cluster: what Cheapest chooses from. Their Cost is 0. There are many: about
// the number of starts, times that of ways to put N workers on servers, times
// that of servers, for each configuration. Schedules share their Workers.
func (m *Model) All(id sched.JobID, latest int64) iter.Seq[Choice] {
	return func(yield func(Choice) bool) {
		in := m.In
		none := &Market{model: m, prices: &Prices{}}
		for h := range in.Cluster.Servers {
			none.groups = append(none.groups, []int{h})
		}
		none.prepare()
		first := in.FirstSlot(id)
		for i := range m.Configs[id] {
			c := &m.Configs[id][i]
			if first+c.Slots > latest {
				continue
			}
			e := enumeration{model: m, candidate: none.open(c, in.Jobs[id].Elastic.Ring, 0, nil), y: make([]int, len(in.Cluster.Servers))}
			e.yield = func(p Choice) bool {
				p.ElasticConfig, p.Config = *c, i
				for p.Start = first; p.End() <= latest; p.Start++ {
					if !yield(p) {
						return false
					}
				}
				return true
			}
			if !e.run() {
				return
			}
		}
	}
}

// enumeration lists the placements of a configuration in the empty cluster. Its
// methods return false once yield has.
type enumeration struct {
	model     *Model
	candidate *candidate
	y         []int
	yield     func(Choice) bool
}

func (e *enumeration) run() bool {
	w := e.candidate
	if !w.c.OneServer {
		return e.spread(0, w.c.Workers)
	}
	for h := range e.y {
		if w.holds(h, w.c.Workers) < w.c.Workers {
			continue
		}
		e.y[h] = w.c.Workers
		if !e.hosts(func(k int) bool { return k == h }) {
			return false
		}
		e.y[h] = 0
	}
	return true
}

// spread puts the workers that are left on servers h, h+1, ….
func (e *enumeration) spread(h, left int) bool {
	if h == len(e.y) {
		return left > 0 || e.hosts(func(int) bool { return true })
	}
	for g := range e.candidate.holds(h, left) + 1 {
		e.y[h] = g
		if !e.spread(h+1, left-g) {
			return false
		}
	}
	e.y[h] = 0
	return true
}

// hosts adds the placements of the workers with each allowed server as host.
func (e *enumeration) hosts(allowed func(h int) bool) bool {
	w := e.candidate
	y := slices.Clone(e.y)
	if w.ring {
		return e.yield(Choice{Workers: y, Host: -1})
	}
	for h, g := range y {
		s := e.model.In.ParameterServers(w.c.WorkerType, w.c.ServerType, w.c.Workers-g)
		if allowed(h) && w.holdsServers(h, g, int64(s)) && !e.yield(Choice{Workers: y, Host: h, Servers: s}) {
			return false
		}
	}
	return true
}

// Allow reports whether a schedule keeps the limits.
func (l *Limits) Allow(c *Choice) bool {
	if l.Configs != nil && !l.Configs[c.Config] || c.Start < l.First || c.Start > l.Last {
		return false
	}
	if l.Ends != nil && (c.End() < l.Ends.First || c.End() > l.Ends.Last) {
		return false
	}
	for h, y := range c.Workers {
		if l.Least != nil && y < l.Least[h] || l.Most != nil && y > l.Most[h] {
			return false
		}
	}
	return l.Hosts == nil || c.Host < 0 || l.Hosts[c.Host]
}
