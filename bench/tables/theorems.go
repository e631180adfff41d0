package tables

import (
	"errors"
	"fmt"

	"yardstick/bench"
	"yardstick/bench/record"
	"yardstick/bounds/theorems"
	"yardstick/sched"
)

// ErrTheoremViolated means that a proven theorem does not hold on a verified
// schedule that meets its assumptions: the theorem, its proof or this program is
// wrong.
var ErrTheoremViolated = errors.New("a theorem is violated although its assumptions are met")

// addTheorems adds what the theorems about the cell's policy say of its
// schedule, and returns the result that sums it up, or nil, with the objective
// that it is about.
func addTheorems(run *record.Run, r *bench.CellResult, all *standings) (*theorems.Result, sched.Objective, error) {
	about := bench.TheoremsOf(r.Cell.Method)
	if about == nil || len(r.Verified) == 0 || r.Verified[0] == nil {
		return nil, 0, nil
	}
	in, v, ref := r.Cell.Instance, r.Verified[0], r.Cell.Method.Ref()
	results, err := about.Evaluate(v, r.Outcomes[0].Replay, all.least(in, about.Objective, v.Class()))
	if err != nil {
		return nil, 0, fmt.Errorf("theorems about %s on %s: %w", ref, in.Name, err)
	}
	var contradictions error
	for i := range results {
		run.Theorems = append(run.Theorems, theoremRow(r, &results[i]))
		if t := &results[i]; t.Contradiction() {
			contradictions = errors.Join(contradictions, fmt.Errorf("%w: %s (%s) about %s on %s", ErrTheoremViolated, t.Statement, t.Form, ref, in.Name))
		}
	}
	if headline, ok := about.Headline(results); ok {
		return &headline, about.Objective, contradictions
	}
	return nil, 0, contradictions
}

// addHeadline adds the theorem that sums a run up to its row.
func addHeadline(row *record.Ratio, t *theorems.Result) {
	row.Theorem, row.TheoremBound = record.Text(t.Statement+" ("+t.Form+")"), stated(t.Bound)
	if t.Verdict == theorems.Holds || t.Verdict == theorems.Violated {
		row.TheoremHolds = record.Some(t.Verdict == theorems.Holds)
	}
}

func theoremRow(r *bench.CellResult, t *theorems.Result) record.Theorem {
	row := record.Theorem{CellID: r.Cell.ID, Instance: r.Cell.Instance.Name, Method: r.Cell.Method.Ref().String(),
		Theorem: t.Statement, Form: t.Form, Met: t.Met(), AtOptimum: t.AtOptimum, Verdict: string(t.Verdict),
		Left: stated(inSeconds(t.Left)), Right: stated(inSeconds(t.Right)), Slack: stated(inSeconds(t.Slack)), Bound: stated(t.Bound)}
	for i, a := range t.Unmet {
		if i > 0 {
			row.Unmet += "; "
		}
		row.Unmet += record.Text(a)
	}
	if t.Statement == theorems.PerJob {
		row.Job = record.Some(int(t.Job))
	}
	return row
}
