package external_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"yardstick/heuristics/asrpt"
	"yardstick/heuristics/elastic"
	"yardstick/heuristics/external"
	"yardstick/heuristics/lazer"
	"yardstick/heuristics/listsched"
	"yardstick/heuristics/pollux"
	"yardstick/heuristics/sharing"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
)

// scribe notes a policy's decisions as a program would answer them, with every place,
// layout and choice.
type scribe struct {
	sim.Policy
	number  map[sched.JobID]int
	lines   []string
	elastic bool
}

func (s *scribe) Decide(v *sim.View) (sim.Decision, error) {
	for _, id := range v.Arrived() {
		s.number[id] = len(s.number)
	}
	d, err := s.Policy.Decide(v)
	if err != nil {
		return d, err
	}
	answer := map[string]any{}
	var start []any
	for _, a := range d.Start {
		var parts, stages []any
		for _, sh := range a.Place.Shares {
			if a.Place.Config != nil && s.elastic {
				parts = append(parts, []any{sh.Server, sh.Stages})
				continue
			}
			if sh.Devices != nil {
				parts = append(parts, []any{sh.Server, sh.Devices})
			} else {
				parts = append(parts, []int{sh.Server, sh.GPUs})
			}
			if sh.Stages != nil {
				stages = append(stages, sh.Stages)
			}
		}
		choices := map[string]any{}
		if stages != nil {
			choices["stages"] = stages
		}
		if a.Place.Config != nil && s.elastic {
			choices["types"] = []int{a.Place.Config.WorkerType, a.Place.Config.ServerType}
		} else if a.Place.Config != nil {
			choices["accumulation"] = a.Place.Config.Accumulation
		}
		start = append(start, []any{s.number[a.Job], parts, choices})
	}
	if start != nil {
		answer["start"] = start
	}
	var off []int
	for _, id := range d.Preempt {
		off = append(off, s.number[id])
	}
	if off != nil {
		answer["preempt"] = off
	}
	if d.Wake != 0 {

		answer["wake"] = int64(d.Wake)
	}
	line, err := json.Marshal(answer)
	s.lines = append(s.lines, string(line)+"\n")
	return d, err
}

// A program that says what a policy in Go decides makes the same schedule, in every class
// and on every kind of job: all that a policy can decide can be said.
func TestEveryDecisionCanBeSaid(t *testing.T) {
	policies := map[string]func(in *sched.Instance) sim.Policy{
		"fifo": func(*sched.Instance) sim.Policy { return listsched.FIFO(listsched.Options{}) },
		"sjf": func(*sched.Instance) sim.Policy {
			return listsched.SJF(listsched.Options{Blocking: listsched.Skip, Placement: sim.BestFit})
		},
		"heavy-edge": func(*sched.Instance) sim.Policy {
			return listsched.FIFO(listsched.Options{Layout: listsched.HeavyEdge})
		},
		"a-srpt": func(*sched.Instance) sim.Policy {
			return asrpt.Perfect(asrpt.Options{Comm: big.NewRat(3, 2), Tau: big.NewRat(1, 1)})
		},
		"srtf":             func(*sched.Instance) sim.Policy { return lazer.SRTF(lazer.Options{}) },
		"sjf-bsbf":         func(in *sched.Instance) sim.Policy { return sharing.BSBF(in.Interference, sharing.Options{}) },
		"sjf-ffs":          func(in *sched.Instance) sim.Policy { return sharing.FFS(in.Interference, sim.Pool) },
		"pollux-like":      func(*sched.Instance) sim.Policy { return pollux.New(pollux.Default()) },
		"elastic-fifo":     func(*sched.Instance) sim.Policy { return elastic.FIFO(elastic.FIFOOptions{Seed: 1, Backfill: true}) },
		"elastic-drf":      func(*sched.Instance) sim.Policy { return elastic.DRF() },
		"elastic-tiresias": func(*sched.Instance) sim.Policy { return elastic.Tiresias() },
		"elastic-antman":   func(*sched.Instance) sim.Policy { return elastic.AntMan(1) },
	}
	said := map[string]int{}
	for seed := range uint64(tier.Draws(10, 100)) {
		all := schedtest.Every(seed)
		for _, what := range slices.Sorted(maps.Keys(all)) {
			in := all[what]
			for name, policy := range policies {
				if sim.Suits(in, policy(in), in.Slot > 0) != nil {
					continue
				}
				s := &scribe{Policy: policy(in), number: map[sched.JobID]int{}, elastic: in.Elastic != nil}
				o := sim.Options{Slotted: in.Slot > 0}
				want, err := sim.Run(context.Background(), in, s, o)
				if err != nil {
					continue // malleable jobs of several sizes, say, that never fit
				}
				class := fmt.Sprint(sched.Class{Kind: s.Class().Kind})
				lines := append([]string{fmt.Sprintf(`{"hello":{"name":"mirror","class":%q,"wants":["profiles","placements","progress"]}}`+"\n", class)}, s.lines...)
				p, err := external.New(scripted(t, lines...).Conn, in, external.Options{Predictor: "perfect"})
				if err != nil {
					t.Fatal(err)
				}
				got, err := sim.Run(context.Background(), in, p, o)
				if err != nil {
					t.Errorf("seed %d: %s on %s: %v", seed, name, what, err)
					continue
				}
				if !reflect.DeepEqual(got.Schedule.Segments, want.Schedule.Segments) {
					t.Errorf("seed %d: %s on %s: the schedules differ", seed, name, what)
				}
				said[name]++
			}
		}
	}
	for name := range policies {
		if said[name] < 5 {
			t.Errorf("%s ran on %d instances", name, said[name])
		}
	}
}
