package sched_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"

	"yardstick/sched"
)

// TestSplit checks that no byte is lost and that every part is within one byte
// of its share, in rationals.
func TestSplit(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 7))
		total, weights, sum := sched.Bytes(r.Int64N(1<<(1+r.IntN(46)))), make([]int64, 1+r.IntN(9)), int64(0)
		for i := range weights {
			weights[i] = r.Int64N(1 << (1 + r.IntN(59)))
			if r.IntN(4) == 0 {
				weights[i] = 0
			}
			sum += weights[i]
		}
		parts, err := sched.Split(total, weights)
		if sum == 0 {
			if err == nil {
				t.Fatalf("seed %d: %v split by %v", seed, total, weights)
			}
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		left := total
		for i, part := range parts {
			left -= part
			share := new(big.Rat).SetFrac64(int64(total), sum)
			share.Mul(share, new(big.Rat).SetInt64(weights[i]))
			diff := share.Sub(share, new(big.Rat).SetInt64(int64(part)))
			if diff.Abs(diff).Cmp(big.NewRat(1, 1)) >= 0 || weights[i] == 0 && part != 0 {
				t.Fatalf("seed %d: %v by %v is %v: part %d is off by %v", seed, total, weights, parts, i, diff)
			}
		}
		if left != 0 {
			t.Fatalf("seed %d: %v by %v is %v", seed, total, weights, parts)
		}
	}
	for _, bad := range [][]int64{nil, {0}, {1, -1}, {1 << 62, 1 << 62}} {
		if _, err := sched.Split(1, bad); err == nil {
			t.Errorf("split by %v", bad)
		}
	}
	if _, err := sched.Split(-1, []int64{1}); err == nil {
		t.Error("less than nothing is split")
	}
}

// A transformer with a Mixture-of-Experts layer, two thirds of whose tokens go
// to the first expert group.
func ExampleJob_WithExperts() {
	j := sched.Job{Stages: []sched.Stage{
		{Replicas: 2, Compute: 30e6, Boundary: 100},
		{Replicas: 1, Compute: 1, Boundary: 100},
		{Replicas: 2, Compute: 30e6},
	}}
	expert := sched.Stage{Replicas: 1, Compute: 20e6}
	moe, err := j.WithExperts(1, []sched.ExpertGroup{{Stage: expert, Weight: 2}, {Stage: expert, Weight: 1}})
	fmt.Println(len(moe.Stages), moe.Edges, err)
	// Output: 4 [{0 1 67B} {0 2 33B} {1 3 67B} {2 3 33B}] <nil>
}

// TestWithExperts expands two layers next to each other, and a layer of a graph
// with an edge around it.
func TestWithExperts(t *testing.T) {
	stage := sched.Stage{Replicas: 1, Compute: 1}
	groups := func(weights ...int64) (out []sched.ExpertGroup) {
		for _, w := range weights {
			out = append(out, sched.ExpertGroup{Stage: stage, Weight: w})
		}
		return out
	}
	chain := sched.Job{Stages: []sched.Stage{{Replicas: 1, Compute: 1, Boundary: 10}, {Replicas: 1, Compute: 1, Boundary: 100}, stage}}
	last, err := chain.WithExperts(2, groups(1, 1, 0))
	if err != nil {
		t.Fatal(err)
	}
	both, err := last.WithExperts(1, groups(3, 1))
	if err != nil {
		t.Fatal(err)
	}
	want := []sched.Edge{{From: 0, To: 1, Bytes: 8}, {From: 0, To: 2, Bytes: 2}, {From: 1, To: 3, Bytes: 38}, {From: 1, To: 4, Bytes: 38}, {From: 1, To: 5, Bytes: 0},
		{From: 2, To: 3, Bytes: 12}, {From: 2, To: 4, Bytes: 12}, {From: 2, To: 5, Bytes: 0}}
	if len(both.Stages) != 6 || !reflect.DeepEqual(both.Edges, want) {
		t.Errorf("two layers: %v", both.Edges)
	}
	around := sched.Job{Stages: []sched.Stage{stage, stage, stage}, Edges: []sched.Edge{{From: 0, To: 1, Bytes: 7}, {From: 0, To: 2, Bytes: 5}, {From: 1, To: 2, Bytes: 7}}}
	out, err := around.WithExperts(1, groups(1, 1))
	want = []sched.Edge{{From: 0, To: 1, Bytes: 4}, {From: 0, To: 2, Bytes: 3}, {From: 0, To: 3, Bytes: 5}, {From: 1, To: 3, Bytes: 4}, {From: 2, To: 3, Bytes: 3}}
	if err != nil || !reflect.DeepEqual(out.Edges, want) {
		t.Errorf("an edge around the layer: %v (%v)", out.Edges, err)
	}
	in := &sched.Instance{Model: sched.ModelGang, Cluster: pipelineCluster(), Jobs: []sched.Job{out}}
	in.Jobs[0].Weight, in.Jobs[0].Iters = 1, 1
	if err := in.Validate(); err != nil {
		t.Error(err)
	}
	for _, bad := range [][]sched.ExpertGroup{nil, groups(0), groups(1, -1), {{Stage: sched.Stage{Boundary: 1}, Weight: 1}}} {
		if _, err := chain.WithExperts(1, bad); err == nil {
			t.Errorf("groups %+v are accepted", bad)
		}
	}
	if _, err := chain.WithExperts(3, groups(1)); err == nil {
		t.Error("a fourth stage of three is expanded")
	}
}
