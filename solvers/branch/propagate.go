package branch

import (
	"math"

	"yardstick/solvers/milp"
)

// capacity is a row Σ a_j x_j ≤ b over non-negative integer variables with
// integer coefficients a_j > 0, by assignment group: the columns of a group in
// the row, and those of no group. At most one column of a group is 1, and
// exactly one if the box leaves it no other.
type capacity struct {
	parts []part
	rhs   int64
}

// part is the columns that a row shares with one group, or one column of none.
type part struct {
	group int // index in tree.groups, or -1
	cols  []int
	vals  []int64
}

// findCapacities returns the rows that propagation understands. Columns must
// belong to at most one of the groups it uses.
func findCapacities(m *milp.Model, groups []group) []capacity {
	of := make([]int, len(m.Vars))
	for j := range of {
		of[j] = -1
	}
	for k, ok := range disjoint(m, groups) {
		if ok {
			for _, j := range groups[k].cols {
				of[j] = k
			}
		}
	}
	var out []capacity
	for i := range m.Rows {
		if c, ok := newCapacity(m, &m.Rows[i], of); ok {
			out = append(out, c)
		}
	}
	return out
}

func newCapacity(m *milp.Model, r *milp.Row, of []int) (capacity, bool) {
	if r.Sense != milp.LE || !isInteger(r.RHS) || len(r.Cols) < 2 {
		return capacity{}, false
	}
	c := capacity{rhs: int64(r.RHS)}
	index := map[int]int{} // group: index in c.parts
	most := 0.0
	for k, j := range r.Cols {
		v, a := &m.Vars[j], r.Vals[k]
		most += a * v.Upper
		if a <= 0 || !isInteger(a) || !v.Integer || v.Lower < 0 || most >= maxExact {
			return capacity{}, false
		}
		p, ok := index[of[j]]
		if !ok || of[j] < 0 {
			p = len(c.parts)
			c.parts = append(c.parts, part{group: of[j]})
			index[of[j]] = p
		}
		c.parts[p].cols = append(c.parts[p].cols, j)
		c.parts[p].vals = append(c.parts[p].vals, int64(a))
	}
	return c, true
}

// propagate fixes columns of the current box to zero that no point of it can
// use: with the least that all other parts of a row must take, they exceed its
// right-hand side. It returns false if the box is proven empty.
//
// In a time-indexed model that is the reasoning on compulsory parts: a job
// whose window is shorter than its duration holds its GPUs at some time
// wherever it starts, and jobs that need more than what is left keep away. The
// linear program only knows that they do so in part.
//
// All numbers are integers; nothing is rounded.
func (t *tree) propagate() bool {
	for changed := true; changed; {
		changed = false
		for k := range t.groups {
			t.freeCols[k] = t.freeColumns(&t.groups[k])
			if t.freeCols[k] == 0 {
				return false
			}
		}
		for i := range t.capacities {
			c := &t.capacities[i]
			least := int64(0)
			t.least = t.least[:0]
			for p := range c.parts {
				l := t.leastUse(&c.parts[p])
				t.least = append(t.least, l)
				least += l
			}
			if least > c.rhs {
				return false
			}
			for p := range c.parts {
				q := &c.parts[p]
				room := c.rhs - least + t.least[p]
				for k, j := range q.cols {
					v := &t.box.Vars[j]
					if v.Upper <= v.Lower || q.vals[k]*int64(v.Upper) <= room {
						continue
					}
					v.Upper = float64(room / q.vals[k]) // not below its lower bound, as least ≤ rhs
					changed = true
				}
			}
		}
	}
	return true
}

// leastUse is what the columns of a part take of its row at least.
func (t *tree) leastUse(p *part) int64 {
	if p.group < 0 {
		return p.vals[0] * int64(t.box.Vars[p.cols[0]].Lower)
	}
	free, least := 0, int64(math.MaxInt64)
	for k, j := range p.cols {
		v := &t.box.Vars[j]
		if v.Lower > 0 {
			return p.vals[k]
		}
		if v.Upper > 0 {
			free++
			least = min(least, p.vals[k])
		}
	}
	if free == 0 || free < t.freeCols[p.group] { // the group may use another column
		return 0
	}
	return least
}
