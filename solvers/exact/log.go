package exact

import (
	"context"
	"io"

	"yardstick/solvers/milp"
)

// Log notes the linear programs that a method opens by the solvers that it watches, in
// the order of their first opening. Programs of one name that are opened one after the
// other, as the masters of the nodes of a tree are, make one entry: of the largest size,
// with what became of the last and the work of all. The zero value is ready; a nil log
// notes nothing. It is for one goroutine.
type Log struct{ programs []*Program }

// Watch returns the solver whose programs the log notes.
func (l *Log) Watch(s milp.LPSolver) milp.LPSolver {
	if l == nil {
		return s
	}
	return &watched{log: l, LPSolver: s}
}

// Add notes an integer program that was solved.
func (l *Log) Add(p Program) {
	if l == nil {
		return
	}
	r := *p.Result
	r.X, r.RowDuals = nil, nil
	p.Result = &r
	l.programs = append(l.programs, &p)
}

// Programs returns what was noted. Points and duals are left out: they can be large.
func (l *Log) Programs() []Program {
	if l == nil {
		return nil
	}
	list := make([]Program, len(l.programs))
	for i, p := range l.programs {
		list[i] = *p
	}
	return list
}

type watched struct {
	log *Log
	milp.LPSolver
}

func (w *watched) Open(m *milp.Model) (milp.LP, error) {
	lp, err := w.LPSolver.Open(m)
	if err != nil {
		return nil, err
	}
	return &watchedLP{LP: lp, entry: w.log.entry(m.Name, w.Name()), rows: len(m.Rows), cols: len(m.Vars), nonzeros: m.Nonzeros()}, nil
}

// entry returns that of a name and a solver. Linear programs know of no integers, and
// whatever they relax they are never above it.
func (l *Log) entry(name, solver string) *Program {
	for _, p := range l.programs {
		if p.Opened > 0 && p.Name == name && p.Solver == solver {
			p.Opened++
			return p
		}
	}
	p := &Program{Name: name, Relation: "relaxation", Solver: solver, Opened: 1, Result: milp.NoResult(milp.OtherError)}
	l.programs = append(l.programs, p)
	return p
}

// watchedLP counts what is asked of a program.
type watchedLP struct {
	milp.LP
	entry                *Program
	rows, cols, nonzeros int
}

// AddColumn implements milp.LP.
func (p *watchedLP) AddColumn(v milp.Variable, rows []int, vals []float64) error {
	p.cols, p.nonzeros, p.entry.Generated = p.cols+1, p.nonzeros+len(rows), p.entry.Generated+1
	return p.LP.AddColumn(v, rows, vals)
}

// AddRow implements milp.LP.
func (p *watchedLP) AddRow(r milp.Row) error {
	p.rows, p.nonzeros, p.entry.Added = p.rows+1, p.nonzeros+len(r.Cols), p.entry.Added+1
	return p.LP.AddRow(r)
}

// Solve implements milp.LP.
func (p *watchedLP) Solve(ctx context.Context, l milp.Limits) (*milp.Result, error) {
	r, err := p.LP.Solve(ctx, l)
	if err != nil {
		return r, err
	}
	e := p.entry
	if p.nonzeros > e.Nonzeros || e.Solved == 0 {
		e.Rows, e.Cols, e.Nonzeros = p.rows, p.cols, p.nonzeros
	}
	e.Solved++
	last, before := *r, e.Result.Stats
	last.X, last.RowDuals = nil, nil
	last.Stats.Nodes += before.Nodes
	last.Stats.Iterations += before.Iterations
	last.Stats.Wall += before.Wall
	last.Stats.CPU += before.CPU
	last.Stats.PeakRSS = max(last.Stats.PeakRSS, before.PeakRSS)
	last.Stats.Steps = nil
	e.Result = &last
	return r, nil
}

// Close frees what the program holds.
func (p *watchedLP) Close() error {
	if c, ok := p.LP.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
