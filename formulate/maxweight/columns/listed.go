package columns

import (
	"fmt"
	"math"
	"math/big"

	"yardstick/formulate"
	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// Limits on programs.
const (
	maxColumns  = 200_000
	maxNonzeros = 5_000_000
)

// Listed returns the integer program with all columns, for inspection and for
// other solvers. Costs are multiplied by scale, and the constant is added.
//
// The relation is Exact, or Relaxation where a cost is not a float64 and was
// rounded down.
//
// Errors: sched.ErrNotApplicable; a job may complete after the last slot.
func (p *Problem) Listed(scale int64, constant float64) (*formulate.Program, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	w := p.writer("columns", scale, constant)
	m := p.master(false)
	rows, _ := m.Rows(m.Root())
	var list []column
	nonzeros := 0
	for id := range p.Terms {
		for c := range p.Model.All(sched.JobID(id), p.Terms[id].Latest) {
			j := w.choose(sched.JobID(id), &c, fmt.Sprintf("x%d_%d_%d", id, c.Start, len(list)))
			col := m.state(column{sched.JobID(id), &c})
			for k, i := range col.Rows {
				rows[i].Cols, rows[i].Vals = append(rows[i].Cols, j), append(rows[i].Vals, col.Vals[k])
			}
			list = append(list, column{sched.JobID(id), &c})
			if nonzeros += len(col.Rows); len(list) > maxColumns || nonzeros > maxNonzeros {
				return nil, fmt.Errorf("columns: %w: instance %q: too large for an integer program", sched.ErrNotApplicable, p.Model.In.Name)
			}
		}
	}
	w.model.Rows = rows
	return w.program(func(x []float64) ([]*pricing.Choice, error) {
		out := make([]*pricing.Choice, len(p.Terms))
		for j := range list {
			if x[j] < 0.5 {
				continue
			}
			if id := list[j].job; out[id] != nil {
				return nil, fmt.Errorf("columns: the point has two schedules of job %d", id)
			}
			out[list[j].job] = list[j].Choice
		}
		return out, nil
	}), nil
}

// writer writes down an integer program.
type writer struct {
	p        *Problem
	model    *milp.Model
	scale    *big.Rat
	relation formulate.Relation
}

func (p *Problem) writer(name string, scale int64, constant float64) *writer {
	k, ok := p.grain()
	integral := ok && k == 0 && constant == math.Trunc(constant)
	return &writer{p, &milp.Model{Name: name, Constant: constant, IntegralCost: integral}, new(big.Rat).SetInt64(scale), formulate.Exact}
}

// choose adds the binary variable that a job completes as the choice does.
func (w *writer) choose(id sched.JobID, c *pricing.Choice, name string) int {
	v := w.p.Terms[id].cost(c)
	v.Mul(v, w.scale)
	cost := down(v)
	if _, exact := v.Float64(); !exact {
		w.relation = formulate.Relaxation
		w.model.IntegralCost = false
	}
	return w.model.AddVar(milp.Variable{Name: name, Upper: 1, Cost: cost, Integer: true})
}

// program returns what was written, with a decoder for choices. What it decodes
// is checked.
func (w *writer) program(decode func(x []float64) ([]*pricing.Choice, error)) *formulate.Program {
	p := w.p
	return &formulate.Program{Model: w.model, Relation: w.relation, Decode: func(x []float64) (*sched.Schedule, error) {
		choice, err := decode(x)
		if err != nil {
			return nil, err
		}
		room := pricing.NewRoom(p.Model.In, p.Slots)
		for id, c := range choice {
			switch {
			case c == nil && !p.Terms[id].Optional:
				return nil, fmt.Errorf("columns: the point has no schedule of job %d", id)
			case c == nil:
			case !room.Fits(c):
				return nil, fmt.Errorf("columns: the point has a schedule of job %d that does not fit", id)
			default:
				room.Take(c)
			}
		}
		return p.Schedule(choice), nil
	}}
}
