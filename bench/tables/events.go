package tables

import (
	"yardstick/bench/record"
	"yardstick/solvers/milp"
)

// addEvents adds what a solver said of its bound and incumbent over time, and
// how it ended, which is all where it said nothing.
func addEvents(run *record.Run, solve *record.Solve, r *milp.Result) {
	row := record.Event{CellID: solve.CellID, Objective: solve.Objective, Solve: solve.Solve, Instance: solve.Instance}
	for _, s := range r.Stats.Steps {
		row.Time, row.Primal, row.Dual, row.Nodes = s.At.Seconds(), finite(s.Primal), finite(s.Dual), record.Some(int64(s.Nodes))
		run.Events = append(run.Events, row)
		row.Event++
	}
	row.Time, row.Primal, row.Dual, row.Nodes, row.Final = r.Stats.Wall.Seconds(), solve.PrimalBound, solve.DualBound, solve.Nodes, true
	run.Events = append(run.Events, row)
}
