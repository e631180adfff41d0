package report

import (
	"cmp"
	"fmt"
	"slices"

	"yardstick/bench/record"
	"yardstick/bench/report/chart"
)

const eventIntro = "How bound and incumbent of a search met, for the solves with the most steps; the gap is shaded. Values are in the model's own unit. " +
	"Solvers that report their end alone have no figure; events.arrow has every step."

const mostSearches = 6 // that have figures

// convergences are the figures of the searches with the most steps.
func convergences(run *record.Run) []plan {
	type key struct {
		cell, objective string
		solve           int
	}
	by := newOrdered[key, []record.Event]()
	for i := range run.Events {
		e := &run.Events[i]
		of := by.at(key{e.CellID, e.Objective, e.Solve})
		*of = append(*of, *e)
	}
	searches := slices.DeleteFunc(by.values, func(events *[]record.Event) bool { return len(*events) < 3 })
	slices.SortStableFunc(searches, func(a, b *[]record.Event) int { return cmp.Compare(len(*b), len(*a)) })
	rest := 0
	if len(searches) > mostSearches {
		rest = len(searches) - mostSearches
		searches = searches[:mostSearches]
	}
	solves := map[key]*record.Solve{}
	for i := range run.Solves {
		s := &run.Solves[i]
		solves[key{s.CellID, s.Objective, s.Solve}] = s
	}
	var plans []plan
	for n, events := range searches {
		first := (*events)[0]
		p := convergence(*events)
		p.caption = fmt.Sprintf("%s · %s", first.Instance, objectiveTitle(first.Objective))
		if s := solves[key{first.CellID, first.Objective, first.Solve}]; s != nil {
			p.caption += fmt.Sprintf(" · %s by %s, %s", s.Formulation, s.Solver, s.Termination)
		}
		p.file = fmt.Sprintf("convergence-%d.csv", n+1)
		if n == 0 {
			p.note = fmt.Sprintf("%d solves in all, %d further ones with steps.", len(by.values), rest)
		}
		plans = append(plans, p)
	}
	return plans
}

func convergence(events []record.Event) plan {
	p := plan{columns: []heading{{name: "time (s)"}, {name: "incumbent"}, {name: "bound"}, {name: "nodes"}}, points: 4 * len(events)}
	slices.SortStableFunc(events, func(a, b record.Event) int { return cmp.Compare(a.Time, b.Time) })
	primal, dual := chart.Line{Name: "incumbent", Style: chart.Steps}, chart.Line{Name: "proven bound", Style: chart.Steps}
	var band chart.Band
	for _, e := range events {
		if e.Primal.Valid {
			primal.X, primal.Y = append(primal.X, e.Time), append(primal.Y, e.Primal.V)
		}
		if e.Dual.Valid {
			dual.X, dual.Y = append(dual.X, e.Time), append(dual.Y, e.Dual.V)
		}
		if e.Primal.Valid && e.Dual.Valid {
			band.X, band.Low, band.High = append(band.X, e.Time), append(band.Low, e.Dual.V), append(band.High, e.Primal.V)
		}
		nodes := ""
		if e.Nodes.Valid {
			nodes = fmt.Sprint(e.Nodes.V)
		}
		p.rows = append(p.rows, []string{short(e.Time), full(e.Primal), full(e.Dual), nodes})
	}
	last := events[len(events)-1]
	p.alt = fmt.Sprintf("Two step lines over %s s: the incumbent ends at %s, the bound at %s.", short(last.Time), full(last.Primal), full(last.Dual))
	p.picture = func(most int) chart.Drawing {
		return &chart.Figure{X: "time since the solve began", TimeX: true, Y: "objective (model's unit)", Lines: []chart.Line{primal, dual}, Bands: []chart.Band{band}, MaxPoints: most}
	}
	return p
}
