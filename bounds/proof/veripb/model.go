// Package veripb writes gang scheduling as a pseudo-Boolean program, and proofs of optima
// and bounds that VeriPB checks: a program that is not ours and knows nothing of
// scheduling.
//
// Source: B. Bogaerts, S. Gocht, C. McCreesh and J. Nordström, "Certified Dominance and
// Symmetry Breaking for Combinatorial Optimisation", JAIR 77 (2023).
package veripb

import (
	"bytes"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"yardstick/bounds/proof"
	"yardstick/sched"
)

// model is the program: a variable s{j}_{t} for every job j and start t of its window
// [release, last], one start per job, no slot with more gangs than GPUs.
//
//	min  Σ w_j (t + p_j) s_jt
//	     Σ_t s_jt = 1                                      for every job j
//	     Σ_j Σ_{t - p_j < u ≤ t} g_j s_ju ≤ capacity       for every slot t
//
// Slots in which all jobs that could run there fit have no row.
type model struct {
	*proof.Problem
	last  []int64 // the latest start of each job
	end   int64   // no job runs from here on
	first int64   // the first slot
	hash  string  // of the problem
	value int64   // what the windows are for
	// shifted says that the windows follow not from the waiting budget alone, but also
	// from that no job starts later than in any left-shifted schedule.
	shifted bool
	rows    map[int64]int // of slots: the constraint's number in the file
	lines   int           // constraints, an equation counting for two
}

// Limits of the program, whose rows hold a term for every start and slot that it takes.
const (
	maxTerms = 30_000_000
	maxSlots = 1_000_000
)

// budgetVariables is how many variables may stand in a program whose windows follow from
// the waiting budget alone.
const budgetVariables = 60_000

// newModel returns the program of all schedules that cost less than value, and of the one
// with the given starts, if any.
//
// Windows: a schedule that costs less than value leaves every job j to wait at most
// ⌊(value - Σ w_i (r_i + p_i)) / w_j⌋, as no other job ends before r_i + p_i. Where that
// leaves too many variables, or if shifted, the latest start of any left-shifted schedule limits them
// too: from the last release to the last start, more than capacity - max g GPUs are busy
// in every slot, or the job that starts next would start earlier.
func newModel(p *proof.Problem, value int64, shifted bool) (*model, error) {
	m := &model{Problem: p, rows: map[int64]int{}, value: value}
	least, work, widest, released := new(big.Int), new(big.Int), int64(0), int64(0)
	for _, j := range p.Jobs {
		least.Add(least, new(big.Int).Mul(big.NewInt(j.Weight), big.NewInt(j.Release+j.Duration)))
		work.Add(work, new(big.Int).Mul(big.NewInt(j.Gang), big.NewInt(j.Duration)))
		widest, released = max(widest, j.Gang), max(released, j.Release)
	}
	spare := least.Sub(big.NewInt(value), least)
	latest := work.Quo(work, big.NewInt(p.Capacity-widest+1))
	latest.Add(latest, big.NewInt(released))
	wait := make([]*big.Int, len(p.Jobs))
	total := new(big.Int)
	for i, j := range p.Jobs {
		wait[i] = new(big.Int).Div(spare, big.NewInt(j.Weight))
		if wait[i].Sign() < 0 {
			wait[i].SetInt64(0)
		}
		total.Add(total, wait[i])
	}
	if m.shifted = shifted || total.Cmp(big.NewInt(budgetVariables)) > 0; m.shifted {
		for i, j := range p.Jobs {
			if room := new(big.Int).Sub(latest, big.NewInt(j.Release)); wait[i].Cmp(room) > 0 {
				wait[i] = room
			}
		}
	}
	terms := new(big.Int)
	for i, j := range p.Jobs {
		starts := new(big.Int).Add(wait[i], big.NewInt(1))
		terms.Add(terms, starts.Mul(starts, new(big.Int).Add(big.NewInt(j.Duration), big.NewInt(2))))
	}
	if terms.Cmp(big.NewInt(maxTerms)) > 0 {
		return nil, fmt.Errorf("veripb: %w: the program would have %v terms, of at most %d: state the instance in longer slots", sched.ErrNotApplicable, terms, maxTerms)
	}
	m.first = p.Jobs[0].Release
	for i, j := range p.Jobs {
		m.last = append(m.last, j.Release+wait[i].Int64())
		m.first = min(m.first, j.Release)
		m.end = max(m.end, m.last[i]+j.Duration)
	}
	if slots := m.end - m.first; slots > maxSlots {
		return nil, fmt.Errorf("veripb: %w: the program would have %d slots, of at most %d: state the instance in longer slots", sched.ErrNotApplicable, slots, maxSlots)
	}
	m.number()
	return m, nil
}

// number gives the constraints their numbers: two for each job, ≥ before ≤, then one for
// each slot that needs a row.
func (m *model) number() {
	could := make([]int64, m.end-m.first+1)
	for i, j := range m.Jobs {
		could[j.Release-m.first] += j.Gang
		could[m.last[i]+j.Duration-m.first] -= j.Gang
	}
	m.lines = 2 * len(m.Jobs)
	held := int64(0)
	for k, change := range could {
		if held += change; held > m.Capacity {
			m.lines++
			m.rows[m.first+int64(k)] = m.lines
		}
	}
}

// starts returns the first and last start of job i that hold GPUs in slot t.
func (m *model) starts(i int, t int64) (from, to int64) {
	return max(m.Jobs[i].Release, t-m.Jobs[i].Duration+1), min(m.last[i], t)
}

// atLeastOne and atMostOne are the numbers of job i's equation.
func atLeastOne(i int) int { return 2*i + 1 }
func atMostOne(i int) int  { return 2*i + 2 }

// OPB returns the program as a file.
func (m *model) OPB() []byte {
	variables := 0
	for i, j := range m.Jobs {
		variables += int(m.last[i] - j.Release + 1)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "* #variable= %d #constraint= %d\n", variables, m.lines-len(m.Jobs))
	fmt.Fprintf(&b, "* problem %s\n* windows %s for %d\n* s{j}_{t}: job j, a line of instance.txt counted from 0, starts at t\n", m.hash, m.windows(), m.value)
	b.WriteString("min:")
	for i, j := range m.Jobs {
		for t := j.Release; t <= m.last[i]; t++ {
			term(&b, j.Weight*(t+j.Duration), i, t)
		}
	}
	b.WriteString(" ;\n")
	for i, j := range m.Jobs {
		for t := j.Release; t <= m.last[i]; t++ {
			term(&b, 1, i, t)
		}
		b.WriteString(" = 1 ;\n")
	}
	for _, t := range m.slots() {
		for i, j := range m.Jobs {
			for u, to := m.starts(i, t); u <= to; u++ {
				term(&b, -j.Gang, i, u)
			}
		}
		fmt.Fprintf(&b, " >= %d ;\n", -m.Capacity)
	}
	return b.Bytes()
}

// windows names what they follow from.
func (m *model) windows() string {
	if m.shifted {
		return "budget+left-shift"
	}
	return "budget"
}

// slots returns the slots with rows, in order.
func (m *model) slots() (list []int64) {
	for t := range m.rows {
		list = append(list, t)
	}
	slices.Sort(list)
	return list
}

// term writes " c s{i}_{t}".
func term(b *bytes.Buffer, c int64, i int, t int64) {
	b.WriteByte(' ')
	integer(b, c)
	b.WriteByte(' ')
	variable(b, 's', i, t)
}

func variable(b *bytes.Buffer, letter byte, i int, t int64) {
	b.WriteByte(letter)
	integer(b, int64(i))
	b.WriteByte('_')
	integer(b, t)
}

func integer[T int | int64](b *bytes.Buffer, v T) {
	b.Write(strconv.AppendInt(b.AvailableBuffer(), int64(v), 10))
}
