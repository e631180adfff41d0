// Package exact holds what the exact methods have in common, those that search the
// schedules of an instance and those that solve programs: what they have found out.
package exact

import (
	"math/big"

	"yardstick/sched"
	"yardstick/solvers/milp"
)

// Limits bound a method. Nodes count reproducibly, time does not. Reaching a limit
// leaves Result.Bound short of Result.Cost; it is not an error.
type Limits = milp.Limits

// Result is what an exact method has found out about an instance and an objective.
type Result struct {
	// Class is that of Schedule, and the one whose schedules Bound is proven for.
	Class sched.Class
	// Schedule is the best one found, and Cost what it costs, or its weight where the
	// objective is maximised. Both are nil if there is none.
	Schedule *sched.Schedule
	Cost     *big.Rat
	// Bound is proven: no schedule of the class costs less, or none has more weight. It
	// is Cost iff Schedule is proven to be optimal.
	Bound *big.Rat
	// Claimed is such a bound that a solver claimed without proof; nil if none did.
	Claimed *big.Rat
	// Termination says why the method ended. It is not always OPTIMAL where Bound is Cost:
	// a program may have been left that had nothing more to say.
	Termination milp.Termination
	Nodes       int       // of the search, or of its programs together
	Programs    []Program // solved one after the other, or noted by a Log; none by searches
}

// Optimal reports whether Schedule is proven to be optimal.
func (r *Result) Optimal() bool { return r.Cost != nil && r.Bound != nil && r.Bound.Cmp(r.Cost) == 0 }

// Program is an integer or linear program and what became of it.
type Program struct {
	Name                           string // among those of the method; "" if there is only one
	Relation                       string // to the instance: a formulate.Relation
	Solver                         string
	Rows, Cols, Nonzeros, Integers int
	Added                          int // rows that the points of the programs before, or of itself, have shown to be missing
	Opened, Solved, Generated      int // of a Log: programs of the name, how often one was solved, and columns added meanwhile
	Result                         *milp.Result
}
