package bounds

import (
	"context"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
)

// TestSlottedOptimumExceedsContinuous shows why a slotted optimum never divides
// a continuous schedule. Four preemptive gangs without overheads on four GPUs,
// (g, d) = (2,2) (2,2) (2,1) (3,2): on whole seconds the least total completion
// time is 11 s; preempting the first job at 0.5 s gives 10.5 s.
func TestSlottedOptimumExceedsContinuous(t *testing.T) {
	const s = sched.Second
	in := schedtest.Plain(schedtest.Servers(4), schedtest.Job(0, 2, 2*s), schedtest.Job(0, 2, 2*s), schedtest.Job(0, 2, s), schedtest.Job(0, 3, 2*s))
	in.Model = sched.ModelPreemptive

	left := [4]int{2, 2, 1, 2}
	slotted := leastTotal(left, [4]int{2, 2, 2, 3}, 4)
	if slotted != 11 {
		t.Errorf("the slotted optimum is %d s, want 11", slotted)
	}
	sch := &sched.Schedule{Class: sched.Class{Kind: sched.P}}
	for _, piece := range []struct {
		job        sched.JobID
		start, end sched.Time
	}{{0, 0, s / 2}, {0, s, 5 * s / 2}, {1, s / 2, 5 * s / 2}, {2, 0, s}, {3, 5 * s / 2, 9 * s / 2}} {
		sch.Segments = append(sch.Segments, sched.Segment{Job: piece.job, Start: piece.start, End: piece.end, Phase: sched.Train,
			Place: sched.Placement{Shares: []sched.Share{{Server: 0, GPUs: in.Jobs[piece.job].Gang()}}}})
	}
	sch.Sort()
	v := schedtest.Verify(t, in, sch)
	if got := v.Cost(sched.TotalCompletion); got.Cmp(integer(int64(21*s/2))) != 0 {
		t.Errorf("the continuous schedule costs %v, want 10.5 s", got)
	}
	slottedBound := Bound{Name: "slotted optimum", Class: sched.Class{Kind: sched.P, Slotted: true}, Objective: sched.TotalCompletion, Value: integer(int64(slotted) * int64(s))}
	if err := slottedBound.Divides(v.Class(), sched.TotalCompletion); err == nil {
		t.Error("the slotted optimum divides a continuous schedule")
	}
	for _, b := range mustAll(t, in, sched.TotalCompletion) {
		if b.Value.Cmp(integer(int64(21*s/2))) > 0 || b.Divides(v.Class(), sched.TotalCompletion) != nil {
			t.Errorf("%s = %v does not divide 10.5 s", b.Name, b.Value)
		}
	}
}

// leastTotal returns the least sum of completion times over all ways to run, in
// every unit slot, some of the unfinished gangs that fit the GPUs together.
func leastTotal(left, gang [4]int, gpus int) int {
	unfinished := 0
	for _, n := range left {
		if n > 0 {
			unfinished++
		}
	}
	if unfinished == 0 {
		return 0
	}
	best := 1 << 30
	for set := 1; set < 16; set++ {
		used, next := 0, left
		for j := range left {
			if set>>j&1 == 1 {
				used += gang[j]
				next[j]--
			}
		}
		if used <= gpus && min(next[0], next[1], next[2], next[3]) >= 0 {
			best = min(best, leastTotal(next, gang, gpus)+unfinished)
		}
	}
	return best
}

func mustAll(t *testing.T, in *sched.Instance, obj sched.Objective) []Bound {
	t.Helper()
	all, err := All(in, obj)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestBelowBruteForce compares every bound with the optimum of class N, found
// by enumeration, and the best one with random verified schedules of class P.
func TestBelowBruteForce(t *testing.T) {
	for seed := range uint64(tier.Draws(100, 300)) {
		rng := schedtest.Rand(seed)
		shape := schedtest.Shape{Jobs: 1 + rng.IntN(4), Servers: 1 + rng.IntN(3), GPUs: 3, Uniform: rng.IntN(2) == 0, Stages: 1 + rng.IntN(2), Traffic: true, Weights: true, Span: rng.IntN(2) == 0}
		gang, preemptive := schedtest.Gang(rng, shape), schedtest.Preemptive(rng, shape)
		v := schedtest.Verify(t, preemptive, schedtest.RandomSchedule(rng, preemptive))
		for _, obj := range []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT, sched.MeanJCT, sched.Makespan} {
			_, optimum := schedtest.BruteForce(gang, obj)
			for _, b := range mustAll(t, gang, obj) {
				if b.Value.Cmp(optimum) > 0 {
					t.Fatalf("seed %d, %v: %s = %v exceeds the optimum %v\n%+v", seed, obj, b.Name, b.Value, optimum, gang)
				}
			}
			for _, b := range mustAll(t, preemptive, obj) {
				if err := b.Divides(v.Class(), obj); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if b.Value.Cmp(v.Cost(obj)) > 0 {
					t.Fatalf("seed %d, %v: %s = %v exceeds the %v of a schedule of class %v\n%+v", seed, obj, b.Name, b.Value, v.Cost(obj), v.Class(), preemptive)
				}
			}
		}
	}
}

// TestSlicedAndGraphs: no bound exceeds the optimum of jobs with tensor slices
// or expert groups, the searches included.
func TestSlicedAndGraphs(t *testing.T) {
	sliced, graphs := 0, 0
	for seed := range uint64(150) {
		rng := schedtest.Rand(1000 + seed)
		in := schedtest.Gang(rng, schedtest.Shape{Jobs: 1 + rng.IntN(3), Servers: 1 + rng.IntN(3), GPUs: 4, Uniform: rng.IntN(2) == 0, Stages: 3, Traffic: true, Slices: 1 + rng.IntN(3), Graph: true})
		for j := range in.Jobs {
			if in.Jobs[j].Sliced() {
				sliced++
			}
			if !in.Jobs[j].Chain() {
				graphs++
			}
		}
		for _, obj := range []sched.Objective{sched.TotalCompletion, sched.Makespan} {
			_, optimum := schedtest.BruteForce(in, obj)
			list := mustAll(t, in, obj)
			if obj == sched.TotalCompletion {
				h, err := Hybrid(context.Background(), in, obj, HybridOptions{})
				if err != nil {
					t.Fatal(err)
				}
				d, err := Lagrangian(context.Background(), in, obj, LagrangianOptions{Iterations: 30})
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, h, d.Bound)
			}
			for _, b := range list {
				if b.Value.Cmp(optimum) > 0 {
					t.Fatalf("seed %d, %v: %s = %v exceeds the optimum %v\n%+v", seed, obj, b.Name, b.Value, optimum, in)
				}
			}
		}
	}
	if sliced < 50 || graphs < 50 {
		t.Errorf("only %d jobs with slices and %d graphs", sliced, graphs)
	}
}

// TestTightness: on busy random instances the best bound is a useful part of
// the optimum.
func TestTightness(t *testing.T) {
	const n = 60
	sum := 0.0
	for seed := range uint64(n) {
		in := schedtest.Gang(schedtest.Rand(seed), schedtest.Shape{Jobs: 5, Servers: 2, GPUs: 2, Uniform: true, Stages: 1})
		_, optimum := schedtest.BruteForce(in, sched.TotalCompletion)
		b, err := Best(in, sched.TotalCompletion)
		if err != nil {
			t.Fatal(err)
		}
		ratio, _ := b.Value.Quo(b.Value, optimum).Float64()
		sum += ratio
	}
	if mean := sum / n; mean < 0.85 {
		t.Errorf("the best bound is on average %.3f of the optimum: it has become weak", mean)
	} else {
		t.Logf("the best bound is on average %.3f of the optimum", mean)
	}
}
