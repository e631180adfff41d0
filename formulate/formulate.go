// Package formulate holds what the linear formulations of scheduling problems
// have in common. Each formulation is a folder of its own: it turns an
// instance and an objective into a mixed-integer program, says how the optimum
// of that program relates to the instance's, and decodes points into
// schedules. No formulation knows a solver.
package formulate

import (
	"math"
	"math/big"

	"yardstick/sched"
	"yardstick/solvers/milp"
)

// Relation says how a program's optimum z relates to the optimum OPT of the
// instance it was built for, for a minimised objective.
type Relation uint8

// The relations.
const (
	Exact       Relation = iota + 1 // z = OPT, and every feasible point decodes
	Relaxation                      // z ≤ OPT: every schedule has a point that costs no more; points may not decode
	Restriction                     // some schedules have no point; z bounds nothing from below
)

var relationNames = [...]string{"", "exact", "relaxation", "restriction"}

func (r Relation) String() string { return relationNames[r] }

// Program is a formulation of one instance.
type Program struct {
	Model    *milp.Model
	Relation Relation
	// Decode turns a feasible point into a schedule, which costs no more than
	// the point. It is nil if points of the program are not schedules, and it
	// returns an error if this one is not.
	Decode func(x []float64) (*sched.Schedule, error)
}

// Shift adds a constant to a model's objective, rounded down where it is no float64,
// and takes back that costs are integral unless the constant is an integer.
func Shift(m *milp.Model, by *big.Rat) {
	v := new(big.Rat).SetFloat64(m.Constant)
	v.Add(v, by)
	m.Constant, _ = v.Float64()
	if new(big.Rat).SetFloat64(m.Constant).Cmp(v) > 0 {
		m.Constant = math.Nextafter(m.Constant, math.Inf(-1))
	}
	m.IntegralCost = m.IntegralCost && m.Constant == math.Trunc(m.Constant)
}

// DualBound returns what a result for the program's model says about the
// instance: a number that no schedule costs less than, and the evidence for
// it. The dual bound of a Restriction bounds nothing and is dropped.
func (p *Program) DualBound(r *milp.Result) (float64, milp.Evidence) {
	if p.Relation != Exact && p.Relation != Relaxation {
		return math.Inf(-1), milp.None
	}
	return r.DualBound, r.Dual
}
