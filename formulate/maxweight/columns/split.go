package columns

import (
	"math"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
	"yardstick/solvers/colgen"
)

// part is a column with a positive value.
type part struct {
	*pricing.Choice
	value float64
}

// Branch implements colgen.Problem. It splits the job whose best split is the
// most even. Every split is of the set of schedules, and separates two that have
// positive values, so that there is an end to it.
func (m *master) Branch(n *node, columns []colgen.Column, x []float64) ([]*node, error) {
	parts := make([][]part, len(m.p.Terms))
	for i := range columns {
		if columns[i].Tag == nil || x[i] <= 1e-6 {
			continue
		}
		tag := columns[i].Tag.(column)
		parts[tag.job] = append(parts[tag.job], part{tag.Choice, x[i]})
	}
	var best []*node
	most := 0.0
	for id, list := range parts {
		children, even := m.split(n, sched.JobID(id), list)
		if even > most {
			best, most = children, even
		}
	}
	return best, nil
}

// split returns the children by one job, and how even the split is: the lesser
// value on either side. It is 0 if there is nothing to split.
func (m *master) split(n *node, id sched.JobID, list []part) ([]*node, float64) {
	total := 0.0
	for _, p := range list {
		total += p.value
	}
	if s := n.jobs[id]; m.p.Terms[id].Optional && !s.in && total < 1-1e-6 && total > 1e-6 {
		return []*node{n.with(id, func(s *state) { s.out = true }), n.with(id, func(s *state) { s.in = true })}, min(total, 1-total)
	}
	if len(list) < 2 {
		return nil, 0
	}
	if k, even := evenest(list, m.p.Slots, func(p part, k int) bool { return p.End() <= int64(k) }); even > 0 {
		return n.halves(id, func(l *pricing.Limits, first bool) {
			ends := pricing.Span{Last: pricing.NoLimit}
			if l.Ends != nil {
				ends = *l.Ends
			}
			if first {
				ends.Last = min(ends.Last, int64(k))
			} else {
				ends.First = max(ends.First, int64(k)+1)
			}
			l.Ends = &ends
		}), even
	}
	if k, even := evenest(list, m.p.Slots, func(p part, k int) bool { return p.Start <= int64(k) }); even > 0 {
		return n.halves(id, func(l *pricing.Limits, first bool) {
			if first {
				l.Last = min(l.Last, int64(k))
			} else {
				l.First = max(l.First, int64(k)+1)
			}
		}), even
	}
	configs := m.p.Model.Configs[id]
	if k, even := evenest(list, len(configs), func(p part, k int) bool { return p.Config == k }); even > 0 {
		return n.halves(id, func(l *pricing.Limits, first bool) {
			allowed := make([]bool, len(configs))
			for i := range allowed {
				allowed[i] = (i == k) == first && (l.Configs == nil || l.Configs[i])
			}
			l.Configs = allowed
		}), even
	}
	return m.splitPlace(n, id, list)
}

// splitPlace splits a job whose schedules differ in the placement only.
func (m *master) splitPlace(n *node, id sched.JobID, list []part) ([]*node, float64) {
	servers := len(m.p.Model.In.Cluster.Servers)
	server, count, most := 0, 0, 0.0
	for h := range servers {
		if k, even := evenest(list, list[0].ElasticConfig.Workers, func(p part, k int) bool { return p.Workers[h] <= k }); even > most {
			server, count, most = h, k, even
		}
	}
	if most > 0 {
		return n.halves(id, func(l *pricing.Limits, first bool) {
			least, most := make([]int, servers), make([]int, servers)
			for h := range servers {
				most[h] = math.MaxInt
			}
			copy(least, l.Least)
			copy(most, l.Most)
			if first {
				most[server] = min(most[server], count)
			} else {
				least[server] = max(least[server], count+1)
			}
			l.Least, l.Most = least, most
		}), most
	}
	k, even := evenest(list, servers, func(p part, k int) bool { return p.Host == k })
	if even == 0 {
		return nil, 0
	}
	return n.halves(id, func(l *pricing.Limits, first bool) {
		allowed := make([]bool, servers)
		for h := range allowed {
			allowed[h] = (h == k) == first && (l.Hosts == nil || l.Hosts[h])
		}
		l.Hosts = allowed
	}), even
}

// halves returns two children with the two limits of a job.
func (n *node) halves(id sched.JobID, limit func(l *pricing.Limits, first bool)) []*node {
	return []*node{n.limited(id, func(l *pricing.Limits) { limit(l, false) }), n.limited(id, func(l *pricing.Limits) { limit(l, true) })}
}

// evenest returns the k < n for which the values of the parts inside and outside
// are the most even, and the lesser of them; 0 if no k separates any two parts.
func evenest(list []part, n int, inside func(p part, k int) bool) (at int, even float64) {
	for k := range n {
		in, out := 0.0, 0.0
		for _, p := range list {
			if inside(p, k) {
				in += p.value
			} else {
				out += p.value
			}
		}
		if v := min(in, out); v > even {
			at, even = k, v
		}
	}
	return at, even
}
