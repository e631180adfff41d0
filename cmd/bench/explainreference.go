package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/explain"
	"yardstick/bench/record"
	"yardstick/bench/score"
	"yardstick/bench/suite"
	"yardstick/internal/input"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// reference finds what the schedule is compared with.
func (a *app) reference(ctx context.Context, f *explainFlags, s *subject) (*side, error) {
	if f.against == "" {
		return s.bestKnown()
	}
	var names []string
	for _, r := range s.others {
		names = append(names, r.Method)
	}
	if name, err := methodOf(f.against, names); err == nil {
		return s.fromRow(s.others[slices.Index(names, name)])
	}
	if _, err := os.Stat(f.against); err == nil {
		return s.fromFile(f.against)
	}
	method, err := catalogue.Resolve(methodRef(f.against))
	switch {
	case err != nil:
		return nil, usageError("--against %s is no method of the result, no file and no method of bench: %w", f.against, err)
	case s.noPolicy != nil:
		return nil, usageError("no method can be run on the jobs of %s: %w; --against takes another file of bench score --save", s.path, s.noPolicy)
	case method.Kind() == bench.Bound:
		return nil, usageError("--against %s: a bound has no schedule to compare with", f.against)
	}
	in := s.instances[0]
	for _, other := range s.instances {
		if err = bench.Suits(method, other); err == nil {
			in = other
			break
		}
	}
	if err != nil {
		return nil, usageError("--against %s: %w", f.against, err)
	}
	v, err := a.runMethod(ctx, method, in, s.objective, suite.Limits{Cell: f.timeLimit}, false)
	if err != nil {
		return nil, err
	}
	if v.verified == nil {
		return nil, usageError("--against %s has no schedule: %s", f.against, cmp.Or(v.outcome.Message, string(v.outcome.Termination)))
	}
	out := sideOf(method.Ref().String(), v.verified)
	for i := range v.outcome.Bounds {
		b := &v.outcome.Bounds[i]
		if cost := v.verified.Cost(s.objective); b.Divides(s.this.class, s.objective) == nil && cost != nil && cost.Cmp(b.Value) == 0 {
			out.optimal = out.name
		}
	}
	return &out, nil
}

// bestKnown is the best schedule of the result.
func (s *subject) bestKnown() (*side, error) {
	if s.row == nil {
		return nil, usageError("%s holds one schedule, and what would be better is not in it: --against sjf has a policy of bench make one of the same jobs, --against FILE takes another schedule of them that bench score --save kept", s.path)
	}
	slices.SortStableFunc(s.others, func(a, b *record.Ratio) int { return cmp.Compare(exactFirst(a), exactFirst(b)) })
	list := make([]explain.Candidate, len(s.others))
	for i, r := range s.others {
		list[i] = explain.Candidate{Name: r.Method, Class: r.Class}
		if cost, ok := new(big.Rat).SetString(string(r.CostExact)); ok {
			list[i].Cost = cost
		}
	}
	best, err := explain.Choose(s.row.Class, s.row.Objective, list)
	switch {
	case err != nil:
		return nil, usageError("%s: %w", s.path, err)
	case best < 0:
		return nil, usageError("%s has no other schedule on %s that class %s may be compared with: add a policy or an exact method of the class to the suite and run it again, or name a method or a schedule with --against", s.path, s.row.Instance, s.row.Class)
	}
	return s.fromRow(s.others[best])
}

func exactFirst(r *record.Ratio) int {
	if r.Kind == "exact" {
		return 0
	}
	return 1
}

// fromRow is a schedule of the same result.
func (s *subject) fromRow(r *record.Ratio) (*side, error) {
	v, err := s.scheduled(r)
	if err != nil {
		return nil, err
	}
	out := sideOf(r.Method, v)
	return &out, nil
}

// fromFile is a schedule of bench, or another score of the same jobs.
func (s *subject) fromFile(path string) (*side, error) {
	text, err := input.Read(path)
	if err != nil {
		return nil, usageError("--against: %w", err)
	}
	if score.IsSaved(text) {
		saved, err := readScore(path)
		if err != nil {
			return nil, err
		}
		return s.fromScore(path, saved)
	}
	schedule, hash, err := sched.ReadSchedule(bytes.NewReader(text))
	if err != nil {
		return nil, usageError("--against %s is no schedule as bench solve and bench score --save write it: %s", path, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	for _, in := range s.instances {
		if hash != "" && hash != in.Hash() {
			continue
		}
		v, err := verify.Check(in, schedule)
		if err != nil {
			return nil, &exitError{exitInvalid, fmt.Errorf("--against %s: %s", path, strings.ReplaceAll(err.Error(), "\n", "; "))}
		}
		out := sideOf(path, v)
		return &out, nil
	}
	return nil, usageError("--against %s was made for another instance than that of %s", path, s.path)
}

// fromScore is another score of the same jobs.
func (s *subject) fromScore(path string, saved *score.Saved) (*side, error) {
	var jobs []explain.Job
	var out side
	if v := saved.Verified; v != nil {
		other := &subject{}
		other.of(v.Instance())
		jobs, out = other.jobs, sideOf(path, v)
	} else {
		jobs, out = jobsOf(saved.Checked), side{name: path, class: saved.Checked.Class, Schedule: scheduleOf(saved.Checked)}
	}
	at := map[string]int{}
	for j := range jobs {
		at[jobs[j].Name] = j
	}
	order := make([]int, len(s.jobs)) // of the other's jobs
	place := make([]int, len(jobs))
	for j := range s.jobs {
		k, ok := at[s.jobs[j].Name]
		if !ok || len(at) != len(jobs) || len(jobs) != len(s.jobs) || jobs[k].Release != s.jobs[j].Release || jobs[k].GPUs != s.jobs[j].GPUs || jobs[k].Weight != s.jobs[j].Weight {
			return nil, usageError("--against %s is of other jobs than %s: job %s is not in both with the same release, GPUs and weight", path, s.path, s.jobs[j].Name)
		}
		order[j], place[k] = k, j
	}
	ends := make([]int64, len(order))
	for j, k := range order {
		ends[j] = out.Ends[k]
	}
	out.Ends = ends
	for i := range out.Pieces {
		out.Pieces[i].Job = place[out.Pieces[i].Job]
	}
	return &out, nil
}
