package interval

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"yardstick/bounds"
	"yardstick/internal/number"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// program is a linear program in the making. Costs are those of problem, rounded
// down; everything else is exact.
type program struct {
	ctx     context.Context // that of the call that builds it
	p       *problem
	model   *milp.Model
	slots   []row // GPUs in use
	divisor []int64
	parts   []partRow // of the rows of packing
}

// row is a row in integers, divided by their greatest common divisor when it
// is added to the model.
type row struct {
	name string
	cols []int
	vals []int64
	rhs  int64

	slot int  // of rows of packing
	part part // of those about parts
}

func (r *row) add(col int, val int64) {
	r.cols, r.vals = append(r.cols, col), append(r.vals, val)
}

// build makes the program.
//
// Errors: sched.ErrNotApplicable; the context's.
func (p *problem) build(ctx context.Context, x Relaxation) (*program, error) {
	m := &program{ctx: ctx, p: p, model: &milp.Model{Name: x.String()}, slots: make([]row, p.grid.Slots())}
	var packing []row
	var err error
	switch x {
	case PTI:
		err = m.works()
	case NPTI:
		err = m.starts()
	case CONF:
		packing, err = m.patterns()
	}
	if err != nil {
		return nil, err
	}
	for k := range m.slots {
		r := &m.slots[k]
		r.name, r.rhs = fmt.Sprintf("slot%d", k), p.gpus*int64(p.grid[k+1]-p.grid[k])
		if len(r.cols) > 0 {
			m.divisor = append(m.divisor, m.atMost(r))
		} else {
			m.divisor = append(m.divisor, 0)
		}
	}
	for i := range packing {
		m.parts = append(m.parts, partRow{packing[i].slot, packing[i].part, m.atMost(&packing[i])})
	}
	if len(m.model.Vars) > maxColumns || m.model.Nonzeros() > maxNonzeros {
		return nil, tooLarge()
	}
	return m, m.exact()
}

// atMost adds a ≤ row divided by its divisor, which it returns.
func (m *program) atMost(r *row) int64 {
	d := r.rhs
	for _, v := range r.vals {
		d = int64(number.GCD(sched.Time(d), sched.Time(max(v, -v))))
	}
	d = max(d, 1)
	out := milp.Row{Name: r.name, Cols: r.cols, Sense: milp.LE, RHS: float64(r.rhs / d)}
	for _, v := range r.vals {
		out.Vals = append(out.Vals, float64(v/d))
	}
	m.model.AddRow(out)
	return d
}

// tooLarge is the error of a program of too many columns or entries.
func tooLarge() error {
	return fmt.Errorf("%w: more than %d columns or %d entries: too large for a linear program over slots", sched.ErrNotApplicable, maxColumns, maxNonzeros)
}

// exact returns an error if a coefficient may have been rounded, or a cost has no
// float64.
func (m *program) exact() error {
	const most = 1 << 53
	for i := range m.model.Vars {
		if v := &m.model.Vars[i]; math.IsInf(v.Cost, 0) {
			return fmt.Errorf("%w: variable %s: its cost is too large for a float64", sched.ErrNotApplicable, v.Name)
		}
	}
	for i := range m.model.Rows {
		r := &m.model.Rows[i]
		for _, v := range r.Vals {
			if v > most || v < -most || r.RHS > most {
				return fmt.Errorf("%w: row %s: a coefficient is beyond 2^53", sched.ErrNotApplicable, r.Name)
			}
		}
	}
	return nil
}

// one adds the row that the job's columns, from the given one on, add up to 1.
func (m *program) one(j *job, from int) {
	r := milp.Row{Name: fmt.Sprintf("job%d", j.id), Sense: milp.EQ, RHS: 1}
	for c := from; c < len(m.model.Vars); c++ {
		r.Cols, r.Vals = append(r.Cols, c), append(r.Vals, 1)
	}
	m.model.AddRow(r)
}

// starts adds NPTI:
//
//	u[j,t] ≥ 0: how much of job j starts at t, for t in starts
//	min Σ w_j (t − r_j) u[j,t]
//	Σ_t u[j,t] = 1                                               each job j
//	Σ_{j,t} g_j |[t, t+d_j) ∩ slot k| u[j,t] ≤ G' |slot k|          each slot k
func (m *program) starts() error {
	for i := range m.p.jobs {
		j := &m.p.jobs[i]
		from := len(m.model.Vars)
		for _, t := range m.p.starts(j.release, j.length) {
			c := m.start(j, t, j.length)
			for _, o := range m.p.overlaps(t, t+j.length) {
				m.slots[o.slot].add(c, j.gang*o.time)
			}
		}
		if len(m.model.Vars) > maxColumns {
			return tooLarge()
		}
		if err := m.ctx.Err(); err != nil {
			return err
		}
		m.one(j, from)
	}
	return nil
}

// start adds the column of a job that starts at t and runs for the given time.
func (m *program) start(j *job, t, length sched.Time) int {
	late := new(big.Rat).Mul(j.weight, big.NewRat(int64(t+length-j.release-j.length), 1))
	return m.model.AddVar(milp.Variable{Name: fmt.Sprintf("u%d_%d_%d", j.id, length, t), Upper: 1, Cost: down(late)})
}

// prices returns the prices of GPUs that the duals of NPTI stand for.
func (m *program) prices(duals []float64) *bounds.Prices {
	price := make([]float64, m.p.grid.Slots())
	row := len(m.p.jobs)
	for k, d := range m.divisor {
		if d > 0 {
			price[k] = -duals[row] / float64(d)
			row++
		}
	}
	return bounds.NewPrices(m.p.grid, price, 0)
}
