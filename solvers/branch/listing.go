package branch

import (
	"cmp"
	"slices"

	"yardstick/solvers/milp"
)

// listing makes points of models that are nothing but assignment rows, which
// share no column, and rows Σ a_j x_j ≤ b with a_j ≥ 0: time-indexed programs,
// above all. It goes through the assignment rows in the order of their mean
// positions in the point of a linear program and takes for each the cheapest
// column for which there is room: in a time-indexed program, it starts jobs in
// the order of their mean starts, each as early as it fits.
type listing struct {
	groups []group
	room   []float64 // right-hand sides
	uses   [][]use   // by column
}

// use is an entry of a column.
type use struct {
	row   int
	value float64
}

// newListing returns nil if m is not such a model.
func newListing(m *milp.Model, groups []group) *listing {
	l := &listing{groups: groups, room: make([]float64, len(m.Rows)), uses: make([][]use, len(m.Vars))}
	in := make([]int, len(m.Vars)) // groups of each column
	assigns := make([]bool, len(m.Rows))
	for _, g := range groups {
		assigns[g.row] = true
		for _, j := range g.cols {
			in[j]++
		}
	}
	for i := range m.Rows {
		r := &m.Rows[i]
		if assigns[i] {
			continue
		}
		if r.Sense != milp.LE || slices.ContainsFunc(r.Vals, func(v float64) bool { return v < 0 }) {
			return nil
		}
		l.room[i] = r.RHS
		for k, j := range r.Cols {
			l.uses[j] = append(l.uses[j], use{i, r.Vals[k]})
		}
	}
	for j := range m.Vars {
		if v := &m.Vars[j]; in[j] != 1 || v.Lower > 0 {
			return nil
		}
	}
	return l
}

// point makes a point near x, or returns nil. It is checked like any other
// candidate.
func (l *listing) point(x []float64, vars []milp.Variable) []float64 {
	mean := make([]float64, len(l.groups))
	order := make([]int, len(l.groups))
	for k, g := range l.groups {
		order[k] = k
		for p, j := range g.cols {
			mean[k] += x[j] * float64(p)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(mean[a], mean[b]) })
	room := slices.Clone(l.room)
	out := make([]float64, len(x))
	for _, k := range order {
		chosen := slices.IndexFunc(l.groups[k].cols, func(j int) bool {
			return vars[j].Upper > 0 && !slices.ContainsFunc(l.uses[j], func(u use) bool { return u.value > room[u.row] })
		})
		if chosen < 0 {
			return nil
		}
		j := l.groups[k].cols[chosen]
		out[j] = 1
		for _, u := range l.uses[j] {
			room[u.row] -= u.value
		}
	}
	return out
}
