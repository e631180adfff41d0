package preemptive

import (
	"fmt"
	"math"
	"slices"

	"yardstick/internal/number"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// program is the integer program of the package comment; its equation numbers
// are those there.
type program struct {
	p      *problem
	model  *milp.Model
	cols   []bout // of the first variables
	column map[bout]int
	latest int // variable: the last completion, in slots; -1 unless the objective is the makespan
}

// build makes the program in which job j completes by the boundary until[j].
//
// Errors: sched.ErrNotApplicable.
func (p *problem) build(until []int) (*program, error) {
	m := &program{p: p, model: &milp.Model{Name: "bouts", IntegralCost: true}, column: map[bout]int{}, latest: -1}
	slots := slices.Max(until)
	if slots > 4*maxSlots {
		return nil, fmt.Errorf("%w: %d slots: too large for a program over bouts", sched.ErrNotApplicable, slots)
	}
	if err := m.addBouts(until); err != nil {
		return nil, err
	}
	if p.makespan {
		m.latest = m.model.AddVar(milp.Variable{Name: "latest", Upper: float64(slots), Integer: true, Cost: float64(p.slot)})
	}
	for i := range p.jobs {
		m.jobRows(i)
	}
	m.capacityRows(slots)
	m.orderRows()
	if m.model.Nonzeros() > maxEntries {
		return nil, fmt.Errorf("%w: %d entries: too large for a program over bouts", sched.ErrNotApplicable, m.model.Nonzeros())
	}
	return m, nil
}

// addBouts adds the variables of all bouts that lead from a job's release to
// its deadline: what is left of its training fits before a final bout of fewer
// slots than the whole, or after one that is not final, with the pause and a
// slot in which it waits in between.
func (m *program) addBouts(until []int) error {
	p, worst := m.p, 0.0
	for i := range p.jobs {
		j, most := &p.jobs[i], 0.0
		for length := j.shortest; length <= p.all(j); length++ {
			rest := j.train - p.trains(j, length)
			before := 0 // slots that the bouts before a final one take
			if rest > 0 {
				before = p.slots(j, rest) + j.pause + 1
			}
			for from := j.first + before; from+length <= until[i]; from++ {
				if before > 0 && p.class.Kind == sched.N {
					break
				}
				cost, exact := product(j.weight, sched.Time(from+length)*p.slot)
				if p.makespan {
					cost = 0
				}
				m.model.IntegralCost = m.model.IntegralCost && exact && cost == math.Trunc(cost)
				m.add(bout{i, from, from + length, true}, cost)
				most = max(most, cost)
			}
			for from := j.first; rest > 0 && from+length+before <= until[i] && p.class.Kind == sched.P; from++ {
				m.add(bout{i, from, from + length, false}, 0)
			}
			if len(m.cols) > maxColumns {
				return fmt.Errorf("%w: more than %d columns: too large for a program over bouts", sched.ErrNotApplicable, maxColumns)
			}
		}
		worst += most
	}
	if worst >= 1<<53 {
		return fmt.Errorf("%w: the objective reaches %g, beyond 2^53: too large for a program over bouts", sched.ErrNotApplicable, worst)
	}
	return nil
}

func (m *program) add(b bout, cost float64) {
	kind := "b"
	if b.last {
		kind = "f"
	}
	m.column[b] = m.model.AddVar(milp.Variable{Name: fmt.Sprintf("%s%d_%d_%d", kind, b.job, b.from, b.stop), Upper: 1, Integer: true, Cost: cost})
	m.cols = append(m.cols, b)
}

// jobRows adds (2) and (3), and that the last completion is not before this one.
func (m *program) jobRows(i int) {
	p, j := m.p, &m.p.jobs[i]
	final := milp.Row{Name: fmt.Sprintf("final%d", i), Sense: milp.EQ, RHS: 1}
	train := milp.Row{Name: fmt.Sprintf("train%d", i), Sense: milp.GE, RHS: float64(j.train)}
	unit := number.GCD(number.GCD(p.slot, j.load), j.train)
	if j.load%p.slot == 0 {
		unit = p.slot
		train.Sense = milp.EQ
	}
	train.RHS = float64(number.CeilDiv(j.train, unit))
	last := milp.Row{Name: fmt.Sprintf("last%d", i), Sense: milp.GE}
	for c, b := range m.cols {
		if b.job != i {
			continue
		}
		trains := float64(p.trains(j, b.stop-b.from) / unit)
		train.Cols, train.Vals = append(train.Cols, c), append(train.Vals, trains)
		if b.last {
			final.Cols, final.Vals = append(final.Cols, c), append(final.Vals, 1)
			last.Cols, last.Vals = append(last.Cols, c), append(last.Vals, -float64(b.stop))
		}
	}
	m.model.AddRow(final)
	if p.class.Kind == sched.P {
		m.model.AddRow(train)
	}
	if m.latest >= 0 {
		last.Cols, last.Vals = append(last.Cols, m.latest), append(last.Vals, 1)
		m.model.AddRow(last)
	}
}

// capacityRows adds (4) and (5) for the slots in which more may be asked for
// than there is.
func (m *program) capacityRows(slots int) {
	p := m.p
	holding := make([][]int, slots) // columns of bouts that hold GPUs in a slot
	for c, b := range m.cols {
		for t := b.from; t < min(p.free(b), slots); t++ {
			holding[t] = append(holding[t], c)
		}
	}
	for t, cols := range holding {
		var gangs []int
		place := map[int]int{} // of the jobs with a bout that holds GPUs in slot t, in gangs
		for _, c := range cols {
			i := m.cols[c].job
			if _, ok := place[i]; !ok {
				place[i] = len(gangs)
				gangs = append(gangs, p.jobs[i].gang)
			}
		}
		for k, l := range limits(p.gpus, gangs) {
			row := milp.Row{Name: fmt.Sprintf("slot%d_%d", t, k), Sense: milp.LE, RHS: float64(l.most)}
			for _, c := range cols {
				if v := l.share[place[m.cols[c].job]]; v > 0 {
					row.Cols, row.Vals = append(row.Cols, c), append(row.Vals, float64(v))
				}
			}
			m.model.AddRow(row)
		}
	}
}

// orderRows adds (6). What ends at or before the last start of any bout of the
// job is all that matters.
func (m *program) orderRows() {
	p := m.p
	if p.class.Kind == sched.N {
		return
	}
	for i := range p.jobs {
		var own []int
		first, last := math.MaxInt, 0
		for c, b := range m.cols {
			if b.job == i {
				own = append(own, c)
				first, last = min(first, b.from), max(last, b.from)
			}
		}
		for t := first; t <= last; t++ {
			row := milp.Row{Name: fmt.Sprintf("order%d_%d", i, t), Sense: milp.LE, RHS: 1}
			for _, c := range own {
				b := m.cols[c]
				if b.from <= t && (b.last || t <= p.free(b)) {
					row.Cols, row.Vals = append(row.Cols, c), append(row.Vals, 1)
				}
			}
			if len(row.Cols) > 1 {
				m.model.AddRow(row)
			}
		}
	}
}
