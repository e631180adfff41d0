package library

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"

	"yardstick/bench/record"
	"yardstick/sched"
)

// Open is the gap above which an instance counts as open: 1 %.
var open = big.NewRat(1, 100)

// What is known of an instance.
const (
	StatusOptimal = "optimal" // the schedule is proven to be one of least cost
	StatusClose   = "close"   // the gap is at most 1 %
	StatusOpen    = "open"    // it is more
	StatusPartial = "partial" // there is no schedule, or no bound above 0
)

// Status says which of them it is.
func (s *Standing) Status() string {
	switch gap := s.Gap(); {
	case gap == nil:
		return StatusPartial
	case gap.Sign() == 0:
		return StatusOptimal
	case gap.Cmp(open) <= 0:
		return StatusClose
	}
	return StatusOpen
}

// Row is the line of the table that a standing has.
func (s *Standing) Row() record.LibraryRow {
	e := s.Entry
	f := &e.Features
	r := record.LibraryRow{Instance: e.Name, InstanceSHA256: e.Instance, Model: string(f.Model), Class: e.Class.String(), Objective: e.Objective.String(),
		Jobs: f.Jobs, GPUs: f.GPUs, Servers: f.Servers, Status: s.Status()}
	if f.Load > 0 {
		r.OfferedLoad = record.Some(f.Load)
	}
	if s.Schedule != nil {
		cost := inSeconds(e.Objective, s.Cost())
		r.Cost, r.CostExact, r.CostClass = record.FromRat(cost), record.Exact(cost), record.Text(s.Schedule.Class().String())
		r.ScheduleBy, r.ScheduleOn = record.Text(e.Schedule.By), record.Text(e.Schedule.On)
	}
	if s.Bound != nil {
		bound, found := inSeconds(e.Objective, s.Bound), e.Bound
		if s.Proven {
			found = e.Proof
		}
		r.Bound, r.BoundExact, r.BoundKind = record.FromRat(bound), record.Exact(bound), record.Text(s.BoundBy)
		r.BoundBy, r.BoundOn = record.Text(found.By), record.Text(found.On)
	}
	if gap := s.Gap(); gap != nil {
		r.Gap = record.FromRat(gap)
	}
	r.Proof = s.Proven
	return r
}

// inSeconds is a cost in seconds, or seconds times weight.
func inSeconds(o sched.Objective, cost *big.Rat) *big.Rat {
	return new(big.Rat).Quo(cost, big.NewRat(int64(sched.Second), 1))
}

// Report is what a check of entries has found.
type Report struct {
	Rows   []record.LibraryRow // of the entries that hold, in order of name
	Failed []string            // what does not hold
	Absent []string            // entries whose traces are not here
}

// Check checks entries, some at a time, and tells each whenever one is done.
//
// Errors: the context's.
func (l *Library) Check(ctx context.Context, entries []*Entry, workers int, each func(done, all int)) (*Report, error) {
	var mu sync.Mutex
	var group sync.WaitGroup
	r, next, done := &Report{}, 0, 0
	take := func() *Entry {
		mu.Lock()
		defer mu.Unlock()
		if next == len(entries) || ctx.Err() != nil {
			return nil
		}
		next++
		return entries[next-1]
	}
	for range workers {
		group.Go(func() {
			for e := take(); e != nil; e = take() {
				row, err := l.checked(e)
				mu.Lock()
				switch {
				case errors.Is(err, ErrAbsent):
					r.Absent = append(r.Absent, err.Error())
				case err != nil:
					r.Failed = append(r.Failed, err.Error())
				default:
					r.Rows = append(r.Rows, row)
				}
				done++
				each(done, len(entries))
				mu.Unlock()
			}
		})
	}
	group.Wait()
	slices.SortFunc(r.Rows, func(a, b record.LibraryRow) int { return compareNames(a.Instance, b.Instance) })
	slices.Sort(r.Failed)
	slices.Sort(r.Absent)
	return r, ctx.Err()
}

// checked checks one entry, and what it says that its instance is like.
func (l *Library) checked(e *Entry) (record.LibraryRow, error) {
	s, err := l.Standing(e)
	if err != nil {
		return record.LibraryRow{}, err
	}
	f, in := &e.Features, s.Instance
	if f.Model != in.Model || f.Jobs != len(in.Jobs) || f.GPUs != in.Cluster.GPUs() || f.Servers != len(in.Cluster.Servers) {
		return record.LibraryRow{}, fmt.Errorf("%s: the instance has not the features of its entry", e.Name)
	}
	return s.Row(), nil
}

func compareNames(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
