package report

import (
	"fmt"
	"math"
	"slices"

	"yardstick/bench/record"
)

// Shift is the shift of shifted geometric means of times, in seconds.
const Shift = 1.0

// shiftedGeoMean returns (∏ (v + shift))^(1/n) − shift of values of at least 0:
// small times weigh little in it, large ones less than in the arithmetic mean.
// Missing if there are none.
func shiftedGeoMean(values []float64, shift float64) record.Opt[float64] {
	if len(values) == 0 {
		return record.Opt[float64]{}
	}
	sorted := slices.Sorted(slices.Values(values))
	logs := 0.0
	for _, v := range sorted {
		logs += math.Log(v + shift)
	}
	g := math.Exp(logs/float64(len(sorted))) - shift
	return record.Some(min(max(g, sorted[0]), sorted[len(sorted)-1])) // rounding may not leave the range
}

// solved reports whether a solve ended with an answer.
func solved(termination string) bool {
	return termination == "OPTIMAL" || termination == "INFEASIBLE"
}

// Times sums up the times of solves of which some reached no answer. Those
// count with the limit in the shifted geometric mean, and with ten times the
// limit in PAR10; without a limit that is known there are no such numbers
// unless all were solved.
type Times struct {
	Solves    int
	Solved    int
	GeoMean   record.Opt[float64] // shifted by Shift, over all
	PAR10     record.Opt[float64] // over all
	Greatest  record.Opt[float64] // of the solved
	Untimed   int                 // solves without a time, left out of all
	Unlimited bool                // some were not solved and the limit is not known
}

// newTimes sums up solves, limit in seconds, 0 if it is not known.
func newTimes(rows []*record.Solve, limit float64) Times {
	var t Times
	var capped, penalised []float64
	for _, row := range rows {
		if !row.Wall.Valid {
			t.Untimed++
			continue
		}
		t.Solves++
		if !solved(row.Termination) {
			capped, penalised = append(capped, limit), append(penalised, 10*limit)
			continue
		}
		t.Solved++
		capped, penalised = append(capped, row.Wall.V), append(penalised, row.Wall.V)
		t.Greatest = record.Some(max(t.Greatest.V, row.Wall.V))
	}
	if t.Solved < t.Solves && limit == 0 {
		t.Unlimited = true
		return t
	}
	t.GeoMean = shiftedGeoMean(capped, Shift)
	t.PAR10 = mean(slices.Sorted(slices.Values(penalised)))
	return t
}

var solveIntro = fmt.Sprintf("Times by the clock. Geometric means are shifted by %g s and, like PAR10, over all solves: one without an answer counts with the "+
	"time limit in the mean and with ten times the limit in PAR10. An answer is a solve that ended OPTIMAL or INFEASIBLE.", Shift)

// solveBlocks sum up the solves per formulation and solver.
func solveBlocks(run *record.Run) []block {
	type key struct{ formulation, solver string }
	type group struct {
		key
		rows []*record.Solve
	}
	by := newOrdered[key, group]()
	for i := range run.Solves {
		row := &run.Solves[i]
		g := by.at(key{row.Formulation, row.Solver})
		g.key = key{row.Formulation, row.Solver}
		g.rows = append(g.rows, row)
	}
	if len(by.values) == 0 {
		return nil
	}
	limit, _ := run.Manifest.SolveLimit() // record.Open has refused what cannot be read
	caption := "Solves per formulation and solver; the time limit is not known"
	if limit > 0 {
		caption = fmt.Sprintf("Solves per formulation and solver, time limit %g s", limit)
	}
	t := &htmlTable{Caption: caption, Columns: []heading{{name: "formulation", left: true}, {name: "solver", left: true}, {name: "solved"},
		{name: "bound", left: true}, {name: "geo mean"}, {name: "PAR10"}, {name: "slowest solved"}, {name: "nodes, median"}, {name: "gap, worst"}}}
	for _, g := range by.values {
		times := newTimes(g.rows, limit)
		var nodes, gaps []float64
		dual := newOrdered[string, Count]()
		for _, row := range g.rows {
			if row.Nodes.Valid {
				nodes = append(nodes, float64(row.Nodes.V))
			}
			if row.GapPrimalRel.Valid {
				gaps = append(gaps, row.GapPrimalRel.V)
			}
			c := dual.at(string(row.DualStatus))
			c.Name = string(row.DualStatus)
			c.N++
		}
		slices.Sort(nodes)
		slices.Sort(gaps)
		number := func(v record.Opt[float64], decimals int) string {
			if !v.Valid {
				return missing
			}
			return thousands(directed(v.V, decimals, 0))
		}
		t.Rows = append(t.Rows, []cell{{g.formulation, ""}, {g.solver, ""}, {fmt.Sprintf("%d/%d", times.Solved, times.Solves), ""}, {counts(dual), ""},
			{durationText(times.GeoMean), ""}, {durationText(times.PAR10), ""}, {durationText(times.Greatest), ""}, {number(percentile(nodes, 50), 0), ""},
			{percent(percentile(gaps, 100)), ""}})
	}
	return []block{{Table: t}}
}

// percent prints a share, rounded up.
func percent(v record.Opt[float64]) string {
	if !v.Valid {
		return missing
	}
	return directed(100*v.V, 2, +1) + " %"
}

// counts is "proven 5, none 1".
func counts(o *ordered[string, Count]) string {
	text := ""
	for _, c := range o.values {
		if text != "" {
			text += ", "
		}
		name := c.Name
		if name == "" {
			name = "none"
		}
		text += fmt.Sprintf("%s %d", name, c.N)
	}
	return text
}

// boundBlocks compare the bounds with the best ones.
func boundBlocks(rows []record.Bound) []block {
	type subject struct{ instance, objective, side, class string }
	best := map[subject]float64{}
	of := func(b *record.Bound) subject { return subject{b.Instance, b.Objective, b.Side, b.Class} }
	better := func(b *record.Bound, v, than float64) bool { return (b.Side == record.Lower) == (v > than) }
	for i := range rows {
		b := &rows[i]
		if old, there := best[of(b)]; b.Value.Valid && (!there || better(b, b.Value.V, old)) {
			best[of(b)] = b.Value.V
		}
	}
	type key struct{ bound, objective, side, class string }
	type group struct {
		key
		all, best, certified int
		ratios, times        []float64
	}
	failed := newOrdered[string, Problem]()
	by := newOrdered[key, group]()
	for i := range rows {
		b := &rows[i]
		if !b.Value.Valid {
			p := failed.at(b.Bound + "\x00" + string(b.Message))
			if p.Instances == 0 {
				*p = Problem{Objective: b.Objective, Method: b.Bound, Reason: oneLine(string(b.Message)), First: b.Instance}
			}
			p.Instances++
			continue
		}
		k := key{b.Bound, b.Objective, b.Side, b.Class}
		g := by.at(k)
		g.key = k
		g.all++
		if b.Certified.V {
			g.certified++
		}
		strongest := best[of(b)]
		if b.Value.V == strongest {
			g.best++
		}
		if strongest > 0 && b.Value.V > 0 {
			g.ratios = append(g.ratios, b.Value.V/strongest)
		}
		if b.Wall.Valid {
			g.times = append(g.times, b.Wall.V)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	t := &htmlTable{Caption: "Bounds per objective and class", Columns: []heading{{name: "bound", left: true}, {name: "objective", left: true}, {name: "side", left: true}, {name: "class", left: true},
		{name: "instances"}, {name: "is the best"}, {name: "certified"}, {name: "bound / best, geo mean"}, {name: "least"}, {name: "time, median"}}}
	for _, g := range by.values {
		if len(t.Rows) == mostTableRows/4 {
			t.Note = fmt.Sprintf("%d of %d rows are shown.", len(t.Rows), len(by.values))
			break
		}
		slices.Sort(g.ratios)
		slices.Sort(g.times)
		three := func(v record.Opt[float64]) string {
			if !v.Valid {
				return missing
			}
			return directed(v.V, 3, -1)
		}
		var least record.Opt[float64]
		if len(g.ratios) > 0 {
			least = record.Some(g.ratios[0])
		}
		t.Rows = append(t.Rows, []cell{{spaced(g.bound), ""}, {g.objective, ""}, {g.side, ""}, {g.class, ""}, {fmt.Sprint(g.all), ""}, {fmt.Sprintf("%d/%d", g.best, g.all), ""},
			{fmt.Sprintf("%d/%d", g.certified, g.all), ""}, {three(geoMean(g.ratios)), ""}, {three(least), ""}, {durationText(percentile(g.times, 50)), ""}})
	}
	blocks := []block{{Table: t}}
	var lines []Problem
	for _, p := range failed.values {
		lines = append(lines, *p)
	}
	if len(lines) > 0 {
		blocks = append(blocks, list(problemLines(lines)))
	}
	return blocks
}
