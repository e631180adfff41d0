package record

// Event is a row of events.arrow: what a search knew at one moment.
type Event struct {
	CellID    string
	Objective string
	Solve     int
	Event     int
	Instance  string
	Time      float64      // s since the solve began
	Primal    Opt[float64] // as Solve.PrimalBound
	Dual      Opt[float64]
	Nodes     Opt[int64]
	Final     bool
}

// eventTable is left out of the result digest: when a search finds something
// depends on the clock.
func eventTable() *table[Event] {
	type R = Event
	return &table[R]{
		name: "events",
		doc:  "Bound and incumbent of every solve over time: one row whenever either changed, and one for the end. A solver that does not report its progress has the last alone. No row is part of the result digest.",
		rows: func(r *Run) *[]R { return &r.Events },
		omit: func(*R, map[string]bool) bool { return true },
		columns: []column[R]{
			{"cell_id", "", Key, "the cell, as in ratios.arrow", func(r *R) any { return &r.CellID }},
			{"objective", "", Key, "the objective solved for", func(r *R) any { return &r.Objective }},
			{"solve", "", Key, "index of the solve, as in solves.arrow", func(r *R) any { return &r.Solve }},
			{"event", "", Key, "index of the event within the solve, in order of time", func(r *R) any { return &r.Event }},
			{"instance", "", Timing, "name of the instance", func(r *R) any { return &r.Instance }},
			{"time_s", "s", Timing, "time since the solve began", func(r *R) any { return &r.Time }},
			{"primal_bound", "model's", Timing, "objective of the incumbent, in the model's own unit; null before there is one", func(r *R) any { return &r.Primal }},
			{"dual_bound", "model's", Timing, "no feasible point of the model is below it; null before there is one", func(r *R) any { return &r.Dual }},
			{"nodes", "", Timing, "branch-and-bound nodes so far", func(r *R) any { return &r.Nodes }},
			{"final", "", Timing, "whether this is what the solver returned in the end", func(r *R) any { return &r.Final }},
		},
	}
}
