package timeindexed

import (
	"slices"

	"yardstick/sched"
	"yardstick/solvers/milp"
)

// clash is a set of jobs for which no servers exist under some condition on
// their starts, with choices up to a limit each.
//
// At once: they cannot all run at the same time. In every slot at most room of
// them do.
//
// Otherwise: they cannot all start within their windows of slots, because then
// they overlap too much.
//
// A job of a clash has columns for all its durations, so that the choices
// within the limit can be told from the others.
//
// Both hold in every schedule, and so in every discretised one: discretised
// intervals that overlap do overlap, and which intervals overlap decides
// whether servers exist (see problem.assign).
type clash struct {
	atOnce  bool
	room    int
	members []member
}

// member is a job of a clash with the choices 0 to limit; first and last are
// its window.
type member struct {
	job, limit  int
	first, last int
}

// clashes explains why no servers exist for starts; it returns nothing if they
// do, or if the search for them was given up.
func (m *program) clashes(starts []start) []clash {
	slots := func(j *job, k int) sched.Time { return sched.Time(m.grid.occupied(j.choices[k].time)) }
	var requests []request
	for _, s := range starts {
		requests = append(requests, request{job: s.job, start: sched.Time(s.slot), limit: s.choice})
	}
	found := m.atOnce(starts)
	if len(found) > 0 {
		return found
	}
	for { // several clashes that share no job
		_, none, verdict := m.p.assign(requests, slots)
		if verdict != impossible {
			return found
		}
		c := clash{room: len(none) - 1}
		for _, r := range none {
			c.members = append(c.members, member{r.job, r.limit, int(r.start), int(r.start)})
		}
		m.widen(&c)
		found = append(found, c)
		requests = slices.DeleteFunc(requests, func(r request) bool { return slices.Contains(none, r) })
	}
}

// atOnce looks at every slot in which a job starts, for running jobs that
// cannot be packed into the servers.
func (m *program) atOnce(starts []start) []clash {
	var found []clash
	for _, now := range starts {
		var running []request
		for _, s := range starts {
			if n := m.grid.occupied(m.p.jobs[s.job].choices[s.choice].time); s.slot <= now.slot && now.slot < s.slot+n {
				running = append(running, request{job: s.job, limit: s.choice})
			}
		}
		_, none, verdict := m.p.assign(running, together)
		if verdict != impossible {
			continue
		}
		c := clash{atOnce: true, room: len(none) - 1}
		for _, r := range none {
			c.members = append(c.members, member{job: r.job, limit: r.limit})
		}
		if len(c.members) == 2 {
			m.p.extend(&c)
		}
		if !slices.ContainsFunc(found, func(f clash) bool { return slices.Equal(f.members, c.members) }) {
			found = append(found, c)
		}
	}
	return found
}

// together is the lengths of jobs that all overlap.
func together(*job, int) sched.Time { return 1 }

// extend adds jobs to a pair that cannot run at once, as long as every two
// cannot, each with as many choices as that allows.
func (p *problem) extend(c *clash) {
	for i := range p.jobs {
		if slices.ContainsFunc(c.members, func(m member) bool { return m.job == i }) {
			continue
		}
		for limit := len(p.jobs[i].choices) - 1; limit >= 0; limit-- {
			if !slices.ContainsFunc(c.members, func(m member) bool {
				_, _, verdict := p.assign([]request{{job: m.job, limit: m.limit}, {job: i, limit: limit}}, together)
				return verdict != impossible
			}) {
				c.members = append(c.members, member{job: i, limit: limit})
				break
			}
		}
	}
}

// widen enlarges the windows of a clash, slot by slot in turn, as long as all
// starts within them overlap wherever the present ones do.
func (m *program) widen(c *clash) {
	now := make([]int, len(c.members))
	for i := range c.members {
		now[i] = c.members[i].first
	}
	for changed := true; changed; {
		changed = false
		for i := range c.members {
			q := &c.members[i]
			first, last := m.window(q.job)
			if q.first--; q.first < first || !m.overlaps(c, now) {
				q.first++
			} else {
				changed = true
			}
			if q.last++; q.last > last || !m.overlaps(c, now) {
				q.last--
			} else {
				changed = true
			}
		}
	}
}

// window returns the first and last slot that a job may start in.
func (m *program) window(job int) (first, last int) {
	r := &m.runs[m.byJob[job][0]]
	return r.first, r.first + r.n - 1
}

// overlaps reports whether, for all choices within the limits, members whose
// intervals overlap when they start at now also do so for all starts within
// their windows.
func (m *program) overlaps(c *clash, now []int) bool {
	for i := range c.members {
		for j := range c.members {
			if i == j || now[i] > now[j] {
				continue
			}
			a, b := &c.members[i], &c.members[j] // a starts first
			shortest := m.grid.occupied(m.p.jobs[b.job].least())
			for k := 0; k <= a.limit; k++ {
				n := m.grid.occupied(m.p.jobs[a.job].choices[k].time)
				if now[j] < now[i]+n && (b.last >= a.first+n || a.last >= b.first+shortest) {
					return false
				}
			}
		}
	}
	return true
}

// forbid adds the rows of a clash:
//
//	Σ_{members} Σ_{k ≤ limit} Σ_{s ≤ τ < s + D_jk} u[j,k,s] ≤ room      each slot τ
//	Σ_{members} Σ_{k ≤ limit} Σ_{first ≤ s ≤ last} u[j,k,s] ≤ room
func (m *program) forbid(c clash) {
	if !c.atOnce {
		row := milp.Row{Name: "clash", Sense: milp.LE, RHS: float64(c.room)}
		for _, q := range c.members {
			m.each(q, func(r *run) {
				for s := max(q.first, r.first); s <= min(q.last, r.first+r.n-1); s++ {
					row.Cols, row.Vals = append(row.Cols, r.base+s-r.first), append(row.Vals, 1)
				}
			})
		}
		m.model.AddRow(row)
		return
	}
	rows := map[int]*milp.Row{}
	jobs := map[int]int{} // members with a column in the row
	for _, q := range c.members {
		seen := map[int]bool{}
		m.each(q, func(r *run) {
			for v := range r.n {
				for s := r.first + v; s < r.first+v+r.slots; s++ {
					row := rows[s]
					if row == nil {
						row = &milp.Row{Name: "clash", Sense: milp.LE, RHS: float64(c.room)}
						rows[s] = row
					}
					row.Cols, row.Vals = append(row.Cols, r.base+v), append(row.Vals, 1)
					if !seen[s] {
						seen[s] = true
						jobs[s]++
					}
				}
			}
		})
	}
	for s := range m.covered.slots {
		if jobs[s] > c.room {
			m.model.AddRow(*rows[s])
		}
	}
}

// each calls f for the runs of a member.
func (m *program) each(q member, f func(*run)) {
	for _, k := range m.byJob[q.job] {
		if r := &m.runs[k]; r.choice <= q.limit {
			f(r)
		}
	}
}
