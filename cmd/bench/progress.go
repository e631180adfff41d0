package main

import (
	"fmt"
	"sync"
	"time"

	"yardstick/bench"
	"yardstick/bench/report"
)

// line returns what shows how a command advances.
func (a *app) line(quiet bool) bench.Line {
	if quiet {
		return bench.Line{}
	}
	var width func() int
	if f, ok := fileOf(a.err); ok {
		width = func() int { return report.Terminal(f).Width }
	}
	return bench.Line{W: a.err, Terminal: isTerminalWriter(a.err), Width: width}
}

// steps shows how many steps of a command are done, what runs, and how long the rest
// will take if it goes on as it did.
type steps struct {
	bench.Line
	count func(done, total int64) string

	state       sync.Mutex
	done, total int64
	begun       int64 // how many were done at the start: earlier runs' work
	start       time.Time
	next        string
	since       time.Time // when next began
}

// steps begins to show steps, which count says, such as "3/7 placements"; End ends it.
func (a *app) steps(quiet bool, count func(done, total int64) string) *steps {
	s := &steps{Line: a.line(quiet), count: count}
	s.Begin(s.line)
	return s
}

// counted is the count of steps of a unit.
func counted(unit string) func(done, total int64) string {
	return func(done, total int64) string { return fmt.Sprintf("%d/%d %s", done, total, unit) }
}

// show says how many steps are done and what runs now, "" for nothing to name.
func (s *steps) show(done, total int64, next string) {
	s.state.Lock()
	defer s.state.Unlock()
	now := time.Now()
	if s.start.IsZero() {
		s.start = now
	}
	if next != s.next {
		s.next, s.since = next, now
	}
	s.done, s.total = done, total
}

// reused says that the step that is shown was done by an earlier run.
func (s *steps) reused() {
	s.state.Lock()
	defer s.state.Unlock()
	s.begun, s.start = s.done+1, time.Now()
}

// line is "12/40 placements, ETA 40s, search on vgg19 (3s)".
func (s *steps) line(now time.Time) string {
	s.state.Lock()
	defer s.state.Unlock()
	if s.start.IsZero() {
		return "reading"
	}
	text := s.count(s.done, s.total)
	if did := s.done - s.begun; did > 0 && s.total >= s.done {
		left := time.Duration(float64(now.Sub(s.start)) * float64(s.total-s.done) / float64(did))
		text += fmt.Sprintf(", ETA %v", left.Round(time.Second))
	}
	if s.next != "" {
		text += fmt.Sprintf(", %s (%v)", s.next, now.Sub(s.since).Round(time.Second))
	}
	return text
}

// interrupted is the error of a command that was told to stop: what of its work is kept,
// and how to go on.
func interrupted(kept, further string) error {
	return &exitError{exitInterrupted, fmt.Errorf("interrupted: %s; %s", kept, further)}
}
