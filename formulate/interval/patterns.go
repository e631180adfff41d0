package interval

import (
	"fmt"
	"slices"

	"yardstick/sched"
	"yardstick/solvers/milp"
	"yardstick/solvers/partition"
)

// patterns adds CONF and returns its packing rows:
//
//	u[j,p,t] ≥ 0: how much of job j starts at t with pattern p, whose duration is d_jp
//	λ[z,c,k] ≥ 0: how many servers of size z are, in the mean over slot k, cut into configuration c
//	f[z,k] ≥ 0:   GPUs of servers of size z that jobs use for which any GPUs will do
//	min Σ w_j (t + d_jp − r_j − d_j) u[j,p,t]
//	Σ_{p,t} u[j,p,t] = 1                                                    each job j
//	Σ g_j |[t, t+d_jp) ∩ slot k| u[j,p,t] ≤ G' |slot k|                        each slot k
//	Σ n_p(z,s) |[t, t+d_jp) ∩ slot k| u[j,p,t] + [s=1] f[z,k]|slot k|
//	      ≤ Σ_c n_c(s) |slot k| λ[z,c,k]                                       each part s, size z, slot k
//	Σ_c λ[z,c,k] ≤ number of servers of size z                               each size z, slot k
//	Σ g_j |[t, t+d_j) ∩ slot k| u[j,t] ≤ Σ_z |slot k| f[z,k]                   each slot k; jobs for which any GPUs will do
//
// n_p(z,s) is how often pattern p has a part of s GPUs on a server of size z, n_c(s)
// how often configuration c has a part s. A job with the same running time
// everywhere takes any free GPUs, that is g_j parts of 1.
func (m *program) patterns() ([]row, error) {
	var usage []use
	anywhere := make([]row, m.p.grid.Slots())
	for i := range m.p.jobs {
		j := &m.p.jobs[i]
		from := len(m.model.Vars)
		choices, err := m.p.choices(j)
		if err != nil {
			return nil, err
		}
		for _, c := range choices {
			for _, t := range m.p.starts(j.release, c.length) {
				col := m.start(j, t, c.length)
				for _, o := range m.p.overlaps(t, t+c.length) {
					m.slots[o.slot].add(col, j.gang*o.time)
					if c.parts == nil {
						anywhere[o.slot].add(col, j.gang*o.time)
					} else {
						usage = append(usage, use{col, c.parts, o})
					}
				}
			}
			if len(m.model.Vars) > maxColumns || len(usage) > maxNonzeros {
				return nil, tooLarge()
			}
			if err := m.ctx.Err(); err != nil {
				return nil, err
			}
		}
		m.one(j, from)
	}
	return m.configurations(usage, anywhere)
}

// use is what a column holds of a slot.
type use struct {
	col   int
	parts map[part]int64
	overlap
}

// part is a number of GPUs on a server of the given size.
type part struct{ size, gpus int }

// choice is a pattern, or any GPUs if there are no parts.
type choice struct {
	length sched.Time
	parts  map[part]int64 // and how often
}

func (p *problem) choices(j *job) ([]choice, error) {
	if p.in.Jobs[j.id].ConstantIteration() {
		return []choice{{length: j.length}}, nil
	}
	list, err := partition.Patterns(p.in, j.id, maxPatterns)
	var out []choice
	for i := range list {
		c := choice{length: p.in.Jobs[j.id].Load + list[i].Duration, parts: map[part]int64{}}
		for k, gpus := range list[i].Parts {
			c.parts[part{list[i].Sizes[k], gpus}]++
		}
		out = append(out, c)
	}
	return out, err
}

// configurations adds λ and f and returns the rows of packing.
func (m *program) configurations(usage []use, anywhere []row) ([]row, error) {
	servers := map[int]int{}
	for _, s := range m.p.in.Cluster.Servers {
		servers[s.GPUs]++
	}
	var sizes []int
	for z := range servers {
		if z > 0 {
			sizes = append(sizes, z)
		}
	}
	slices.Sort(sizes)
	if len(usage) > 0 && sizes[len(sizes)-1] > maxServer {
		return nil, fmt.Errorf("%w: servers of more than %d GPUs can be cut in too many ways: too large for a linear program over slots", sched.ErrNotApplicable, maxServer)
	}

	rows := make([]map[part]*row, m.p.grid.Slots())
	for k := range rows {
		rows[k] = map[part]*row{}
	}
	for _, u := range usage {
		for pt, n := range u.parts {
			r := rows[u.slot][pt]
			if r == nil {
				r = &row{name: fmt.Sprintf("parts%d_%d_%d", u.slot, pt.size, pt.gpus), slot: u.slot, part: pt}
				rows[u.slot][pt] = r
			}
			r.add(u.col, n*u.time)
		}
	}
	var out []row
	for k := range rows {
		if len(rows[k]) == 0 {
			continue // jobs for which any GPUs will do need no configuration
		}
		length := int64(m.p.grid[k+1] - m.p.grid[k])
		for _, z := range sizes {
			if len(anywhere[k].cols) > 0 {
				f := m.model.AddVar(milp.Variable{Name: fmt.Sprintf("f%d_%d", k, z), Upper: float64(z * servers[z])})
				anywhere[k].add(f, -length)
				single := part{z, 1}
				if rows[k][single] == nil {
					rows[k][single] = &row{name: fmt.Sprintf("parts%d_%d_1", k, z), slot: k, part: single}
				}
				rows[k][single].add(f, length)
			}
			count := row{name: fmt.Sprintf("servers%d_%d", k, z), rhs: int64(servers[z]), slot: k, part: part{z, 0}}
			for i, c := range fillings(z) {
				v := m.model.AddVar(milp.Variable{Name: fmt.Sprintf("c%d_%d_%d", k, z, i), Upper: float64(servers[z])})
				count.add(v, 1)
				for s, n := range c {
					if r := rows[k][part{z, s}]; r != nil {
						r.add(v, -n*length)
					}
				}
			}
			out = append(out, count)
			for s := 1; s <= z; s++ {
				if r := rows[k][part{z, s}]; r != nil {
					out = append(out, *r)
				}
			}
		}
		if len(anywhere[k].cols) > 0 {
			anywhere[k].name, anywhere[k].slot = fmt.Sprintf("anywhere%d", k), k
			out = append(out, anywhere[k])
		}
	}
	return out, nil
}

// fillings returns all ways to cut a server of z GPUs into parts: how often
// each part occurs. What leaves GPUs unused is no better.
func fillings(z int) []map[int]int64 {
	var out []map[int]int64
	var extend func(left, largest int, c map[int]int64)
	extend = func(left, largest int, c map[int]int64) {
		if left == 0 {
			whole := map[int]int64{}
			for s, n := range c {
				if n > 0 {
					whole[s] = n
				}
			}
			out = append(out, whole)
			return
		}
		for s := min(left, largest); s >= 1; s-- {
			c[s]++
			extend(left-s, s, c)
			c[s]--
		}
	}
	extend(z, z, map[int]int64{})
	return out
}
