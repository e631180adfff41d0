package bench

import (
	"errors"
	"fmt"
	"math/big"

	"yardstick/bench/record"
	"yardstick/bounds/theorems"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// Theorems evaluates the published theorems about a policy on one of its
// schedules. predicted has the iterations that the policy was told for every
// job, nil if it was told the truth; opt is what is proven about the least
// total completion time of its class.
type Theorems func(v *verify.Verified, predicted []int64, opt theorems.Interval) ([]theorems.Result, error)

// ErrTheoremViolated means that a proven theorem does not hold on a verified
// schedule that meets its assumptions: the theorem, its proof or this program is
// wrong.
var ErrTheoremViolated = errors.New("a theorem is violated although its assumptions are met")

// addTheorems adds what the theorems about the cell's policy say of its
// schedule, and returns the result that sums it up, or nil.
func addTheorems(run *record.Run, r *CellResult, all *standings) (*theorems.Result, error) {
	m, ok := r.Cell.Method.(*policyMethod)
	if !ok || m.policy.Theorems == nil || len(r.Verified) == 0 || r.Verified[0] == nil {
		return nil, nil
	}
	in, v := r.Cell.Instance, r.Verified[0]
	results, err := m.policy.Theorems(v, r.Outcomes[0].Replay.predicted(len(in.Jobs)), all.completion(in, v.Class()))
	if err != nil {
		return nil, fmt.Errorf("theorems about %s on %s: %w", m.ref, in.Name, err)
	}
	var contradictions error
	for i := range results {
		run.Theorems = append(run.Theorems, theoremRow(r, &results[i]))
		if t := &results[i]; t.Contradiction() {
			contradictions = errors.Join(contradictions, fmt.Errorf("%w: %s (%s) about %s on %s", ErrTheoremViolated, t.Statement, t.Form, m.ref, in.Name))
		}
	}
	if headline, ok := theorems.Headline(results); ok {
		return &headline, contradictions
	}
	return nil, contradictions
}

// predicted returns the predictions by job, or nil if there are none.
func (p *Replay) predicted(jobs int) []int64 {
	if p.Predictor == "" {
		return nil
	}
	list := make([]int64, jobs)
	for _, q := range p.Predictions {
		list[q.Job] = q.Iters
	}
	return list
}

// completion returns what is proven about the least total completion time of
// an instance in a class, from whichever objective tells.
func (a *standings) completion(in *Instance, c sched.Class) theorems.Interval {
	releases := new(big.Rat)
	for i := range in.Jobs {
		releases.Add(releases, new(big.Rat).SetInt64(int64(in.Jobs[i].Release)))
	}
	var known theorems.Interval
	for objective, constant := range map[sched.Objective]*big.Rat{sched.TotalCompletion: new(big.Rat), sched.TotalJCT: releases} {
		st := a.byKey[standingKey{in, objective}]
		if st == nil {
			continue
		}
		if b := st.lowerBound(c); b != nil {
			if v := new(big.Rat).Add(b.Value, constant); known.Lower == nil || v.Cmp(known.Lower) > 0 {
				known.Lower = v
			}
		}
		if best := st.bestKnown(c); best != nil {
			if v := new(big.Rat).Add(best, constant); known.Upper == nil || v.Cmp(known.Upper) < 0 {
				known.Upper = v
			}
		}
	}
	return known
}

func theoremRow(r *CellResult, t *theorems.Result) record.Theorem {
	row := record.Theorem{CellID: r.Cell.ID, Instance: r.Cell.Instance.Name, Method: r.Cell.Method.Ref().String(),
		Theorem: t.Statement, Form: t.Form, Met: t.Met(), AtOptimum: t.AtOptimum, Verdict: string(t.Verdict),
		Left: record.FromRat(inSeconds(t.Left)), Right: record.FromRat(inSeconds(t.Right)), Slack: record.FromRat(inSeconds(t.Slack)),
		Bound: record.FromRat(t.Bound)}
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

func inSeconds(microseconds *big.Rat) *big.Rat { return inUnit(sched.TotalCompletion, microseconds) }
