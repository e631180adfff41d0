package branch

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"yardstick/internal/number"
	"yardstick/solvers/milp"
)

// group is an assignment row, Σ x_j = 1 over binary columns.
type group struct {
	row  int
	cols []int // by (cost, index)
}

// findGroups returns the assignment rows of m. Their columns need not be
// disjoint.
func findGroups(m *milp.Model) []group {
	var groups []group
	for i := range m.Rows {
		r := &m.Rows[i]
		if r.Sense != milp.EQ || r.RHS != 1 || len(r.Cols) < 2 {
			continue
		}
		binary := true
		for k, j := range r.Cols {
			v := &m.Vars[j]
			binary = binary && r.Vals[k] == 1 && v.Integer && v.Lower >= 0 && v.Upper <= 1
		}
		if !binary {
			continue
		}
		cols := slices.Clone(r.Cols)
		slices.SortFunc(cols, func(a, b int) int {
			return cmp.Or(cmp.Compare(m.Vars[a].Cost, m.Vars[b].Cost), cmp.Compare(a, b))
		})
		groups = append(groups, group{row: i, cols: cols})
	}
	return groups
}

// disjoint marks which groups share no column with an earlier marked one, so
// that each column is counted in one marked group at most.
func disjoint(m *milp.Model, groups []group) []bool {
	taken := make([]bool, len(m.Vars))
	marked := make([]bool, len(groups))
	for k, g := range groups {
		if slices.ContainsFunc(g.cols, func(j int) bool { return taken[j] }) {
			continue
		}
		marked[k] = true
		for _, j := range g.cols {
			taken[j] = true
		}
	}
	return marked
}

// lattice describes the values that the objective takes at feasible points:
// offset + step·k with k integral if known, and otherwise whatever the model
// declares.
//
// With base_g the least cost of group g, exactly one column of which is 1,
//
//	c'x = Σ_g base_g + Σ_j (c_j − base_g(j)) x_j,
//
// so that step is the greatest common divisor of the differences, all costs
// being integers on integer variables. In a time-indexed model that is the
// slot length.
type lattice struct {
	m            *milp.Model
	known        bool
	offset, step int64 // step 0: the objective is constant
}

const maxExact = 1 << 52 // sums and products below it are exact in float64 and int64

func newLattice(m *milp.Model, groups []group) lattice {
	none := lattice{m: m}
	if !isInteger(m.Constant) {
		return none
	}
	l := lattice{m: m, known: true, offset: int64(m.Constant)}
	residual := make([]float64, len(m.Vars))
	for j, v := range m.Vars {
		if v.Cost != 0 && (!v.Integer || !isInteger(v.Cost)) {
			return none
		}
		residual[j] = v.Cost
	}
	for k, ok := range disjoint(m, groups) {
		if !ok {
			continue
		}
		base := m.Vars[groups[k].cols[0]].Cost
		l.offset += int64(base)
		if max(l.offset, -l.offset) >= maxExact {
			return none
		}
		for _, j := range groups[k].cols {
			residual[j] -= base
		}
	}
	for _, r := range residual {
		if math.Abs(r) >= maxExact {
			return none
		}
		l.step = number.GCD(l.step, int64(math.Abs(r)))
	}
	return l
}

func isInteger(v float64) bool { return v == math.Trunc(v) && math.Abs(v) < maxExact }

// roundUp returns the least value that the objective can take at or above the
// proven bound.
func (l *lattice) roundUp(bound float64) float64 {
	if !l.known || math.Abs(bound) >= maxExact/2 {
		return l.m.RoundBound(bound)
	}
	if l.step == 0 {
		return max(bound, float64(l.offset))
	}
	above := int64(math.Ceil(bound)) - l.offset
	k := above / l.step // truncated: for above ≤ 0 that is the ceiling
	if above > 0 && above%l.step != 0 {
		k++
	}
	if value := float64(l.offset + k*l.step); math.Abs(value) < maxExact {
		return value
	}
	return math.Ceil(bound)
}

// costRange returns numbers that no point of the root box has an objective
// below or above, counting one column for each of a set of disjoint groups.
func costRange(m *milp.Model, groups []group) (low, high float64) {
	lo := new(big.Rat).SetFloat64(m.Constant)
	hi := new(big.Rat).Set(lo)
	inGroup := make([]bool, len(m.Vars))
	var t big.Rat
	for k, ok := range disjoint(m, groups) {
		if !ok {
			continue
		}
		cols := groups[k].cols
		for _, j := range cols {
			inGroup[j] = true
		}
		lo.Add(lo, t.SetFloat64(m.Vars[cols[0]].Cost))
		hi.Add(hi, t.SetFloat64(m.Vars[cols[len(cols)-1]].Cost))
	}
	for j, v := range m.Vars {
		if v.Cost == 0 || inGroup[j] {
			continue
		}
		at := []float64{v.Lower, v.Upper}
		if v.Cost < 0 {
			at[0], at[1] = at[1], at[0]
		}
		cost := new(big.Rat).SetFloat64(v.Cost)
		lo.Add(lo, t.Mul(cost, new(big.Rat).SetFloat64(at[0])))
		hi.Add(hi, t.Mul(cost, new(big.Rat).SetFloat64(at[1])))
	}
	return floorOf(lo), -floorOf(hi.Neg(hi))
}
