package main

import (
	"testing"
	"time"
)

// The line of a command that goes step by step: what is done, when it will be done if
// the steps to come take as long, and what runs. Steps that an earlier run did take none.
func TestSteps(t *testing.T) {
	s := &steps{count: counted("placements")}
	var begin time.Time
	if got := s.line(begin); got != "reading" {
		t.Error(got)
	}
	s.show(0, 10, "search on vgg19")
	begin = s.start
	if got := s.line(begin.Add(3 * time.Second)); got != "0/10 placements, search on vgg19 (3s)" {
		t.Error(got)
	}
	s.show(4, 10, "search on bert")
	s.since = begin.Add(8 * time.Second)
	if got := s.line(begin.Add(8 * time.Second)); got != "4/10 placements, ETA 12s, search on bert (0s)" {
		t.Error(got)
	}
	s = &steps{count: counted("parts")}
	for done := range int64(6) {
		s.show(done, 10, "")
		s.reused()
	}
	if got := s.line(s.start.Add(time.Second)); got != "5/10 parts" {
		t.Error(got)
	}
	s.show(8, 10, "")
	if got := s.line(s.start.Add(4 * time.Second)); got != "8/10 parts, ETA 4s" {
		t.Error(got)
	}
	s = &steps{count: megabytes}
	s.show(0, 3_000_000, "")
	s.show(2_000_000, 3_000_000, "")
	if got := s.line(s.start.Add(4 * time.Second)); got != "2.0 MB of 3.0 MB, ETA 2s" {
		t.Error(got)
	}
}
