package bench

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"yardstick/bench/suite"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// storing is a method for cells that are stored.
type storing struct{}

func (storing) Ref() suite.MethodRef                            { return suite.MethodRef{Name: "storing"} }
func (storing) Version() string                                 { return "1" }
func (storing) Kind() Kind                                      { return Online }
func (storing) Run(context.Context, Problem) ([]Outcome, error) { return nil, nil }

// storedExample is a cell of two jobs whose objectives share a schedule and predictions.
func storedExample() (Cell, []Outcome) {
	in := schedtest.Plain(schedtest.Servers(2, 2), schedtest.Job(0, 2, sched.Second), schedtest.Job(1, 3, sched.Second))
	cell := Cell{ID: "c", Instance: &suite.Instance{Instance: in, SHA256: in.Hash()}, Method: storing{}, Objectives: []sched.Objective{sched.TotalJCT, sched.Makespan}}
	s := &sched.Schedule{Class: sched.Class{Kind: sched.N}, Segments: []sched.Segment{
		{Job: 0, End: sched.Second, Place: sched.Placement{Shares: []sched.Share{{Server: 0, GPUs: 2}}}},
		{Job: 1, Start: sched.Second, End: 2 * sched.Second, Place: sched.Placement{Shares: []sched.Share{{Server: 0, GPUs: 2}, {Server: 1, GPUs: 1, Devices: []int{0}}}}}}}
	replay := &Replay{Decisions: 2, Predictor: "median", Predictions: []sim.Prediction{{Job: 1, Iters: 7}, {Job: 0, Iters: 1 << 40}}}
	o := Outcome{Schedule: s, Termination: Completed, Replay: replay}
	return cell, []Outcome{o, o}
}

// TestStoredCell: what is read is what was stored, with one schedule and one replay for both
// objectives.
func TestStoredCell(t *testing.T) {
	cell, outcomes := storedExample()
	r := CellResult{Cell: cell, Outcomes: outcomes}
	content, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeCell(cell, content)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Outcomes, outcomes) {
		t.Errorf("%+v became %+v", outcomes, got.Outcomes)
	}
	if got.Outcomes[0].Schedule != got.Outcomes[1].Schedule || got.Outcomes[0].Replay != got.Outcomes[1].Replay {
		t.Error("the objectives no longer share a schedule and a replay")
	}
	if outcomes[0].Schedule == nil || len(outcomes[0].Replay.Predictions) != 2 {
		t.Error("storing changed what was stored")
	}
	if text := string(content); strings.Count(text, `"packed"`) != 1 || strings.Count(text, `"predictions"`) != 1 || strings.Contains(text, "segments") {
		t.Errorf("the schedule and the predictions are not stored packed and once: %s", text)
	}
}

// TestStoredBeforeTheyWerePacked: cells of earlier versions, whose schedules and predictions
// are JSON, are read as ever.
func TestStoredBeforeTheyWerePacked(t *testing.T) {
	cell, want := storedExample()
	type old struct {
		Outcome
		Same bool `json:"same,omitempty"`
	}
	second := old{Outcome: want[1], Same: true}
	second.Schedule, second.Replay = nil, nil
	content, err := json.Marshal(map[string]any{"id": cell.ID, "method": "storing", "instance": "x", "wall_ns": 1, "cpu_ns": 1,
		"outcomes": []old{{Outcome: want[0]}, second}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(content), `"segments":[{"job":0,"start":"0s","end":"1s"`) {
		t.Fatalf("that is not how schedules were stored: %s", content)
	}
	got, err := DecodeCell(cell, content)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Outcomes, want) {
		t.Errorf("%+v became %+v", want, got.Outcomes)
	}
}
