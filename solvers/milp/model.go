// Package milp states mixed-integer linear programs, what is known about their
// solutions, and the interfaces that solvers keep. It knows no solver and no
// scheduling.
package milp

import (
	"fmt"
	"math"
)

// Model is
//
//	minimise  Constant + Σ_j Vars[j].Cost x_j
//	subject to  Σ Rows[i].Vals[k] x_{Rows[i].Cols[k]}  {≤, ≥, =}  Rows[i].RHS   for all i
//	            Vars[j].Lower ≤ x_j ≤ Vars[j].Upper,  x_j integer where Vars[j].Integer.
//
// All bounds are finite: rigorous dual bounds need them.
type Model struct {
	Name     string
	Vars     []Variable
	Rows     []Row
	Constant float64
	// IntegralCost declares that every feasible point has an integral
	// objective value, so that bounds may be rounded up.
	IntegralCost bool
}

// Variable is one column.
type Variable struct {
	Name         string
	Lower, Upper float64
	Cost         float64
	Integer      bool
}

// Sense is the relation of a row.
type Sense int8

// The relations of a row to its right-hand side.
const (
	LE Sense = iota - 1 // ≤
	EQ                  // =
	GE                  // ≥
)

// Row is one constraint. Cols are distinct.
type Row struct {
	Name  string
	Cols  []int
	Vals  []float64
	Sense Sense
	RHS   float64
}

// AddVar appends a variable and returns its index.
func (m *Model) AddVar(v Variable) int {
	m.Vars = append(m.Vars, v)
	return len(m.Vars) - 1
}

// AddRow appends a row and returns its index.
func (m *Model) AddRow(r Row) int {
	m.Rows = append(m.Rows, r)
	return len(m.Rows) - 1
}

// Nonzeros returns the number of entries of all rows.
func (m *Model) Nonzeros() int {
	n := 0
	for i := range m.Rows {
		n += len(m.Rows[i].Cols)
	}
	return n
}

// Integers returns the number of integer variables.
func (m *Model) Integers() int {
	n := 0
	for i := range m.Vars {
		if m.Vars[i].Integer {
			n++
		}
	}
	return n
}

// Validate returns an error that names the first entry that is not a finite
// number, is out of range or is repeated within its row.
func (m *Model) Validate() error {
	if !finite(m.Constant) {
		return fmt.Errorf("milp: constant is %v", m.Constant)
	}
	for j, v := range m.Vars {
		if !finite(v.Cost) || !finite(v.Lower) || !finite(v.Upper) || v.Lower > v.Upper {
			return fmt.Errorf("milp: variable %d %q: cost %v and bounds [%v, %v] must be finite and ordered", j, v.Name, v.Cost, v.Lower, v.Upper)
		}
	}
	seen := make([]int, len(m.Vars)) // 1 + the last row that mentioned the column
	for i, r := range m.Rows {
		if len(r.Cols) != len(r.Vals) {
			return fmt.Errorf("milp: row %d %q has %d columns and %d values", i, r.Name, len(r.Cols), len(r.Vals))
		}
		if !finite(r.RHS) || r.Sense < LE || r.Sense > GE {
			return fmt.Errorf("milp: row %d %q has sense %d and right-hand side %v", i, r.Name, r.Sense, r.RHS)
		}
		for k, j := range r.Cols {
			switch {
			case j < 0 || j >= len(m.Vars):
				return fmt.Errorf("milp: row %d %q mentions column %d of %d", i, r.Name, j, len(m.Vars))
			case seen[j] == i+1:
				return fmt.Errorf("milp: row %d %q mentions column %d twice", i, r.Name, j)
			case !finite(r.Vals[k]):
				return fmt.Errorf("milp: row %d %q has coefficient %v in column %d", i, r.Name, r.Vals[k], j)
			}
			seen[j] = i + 1
		}
	}
	return nil
}

// Infinity is what several solvers write for ∞. Nothing that large is data.
const Infinity = 1e30

func finite(v float64) bool { return math.Abs(v) < Infinity }
