package certify_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"yardstick/bounds"
	"yardstick/bounds/certify"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// TestDepth: a search through very many slots gives up, and does not use up the stack.
func TestDepth(t *testing.T) {
	for _, jobs := range []int{1, 4} {
		var list []sched.Job
		for range jobs {
			list = append(list, schedtest.Job(0, 1, 10_000_000*millisecond))
		}
		in := schedtest.Plain(schedtest.Servers(1), list...)
		in.Slot, in.Model = millisecond, sched.ModelPreemptive
		value := big.NewRat(int64(jobs*(jobs+1)/2*10_000_000*1000+1), 1)
		if _, err := certify.Check(in, stated(t, in, sched.Class{Kind: sched.P, Slotted: true}, sched.TotalCompletion, value)); !errors.Is(err, certify.ErrTooHard) {
			t.Errorf("%d preemptive jobs: %v", jobs, err)
		}
		in.Model, in.Interference = sched.ModelSharing, [][]float64{{1.5}}
		in.Cluster.Servers[0].GPUMemory = 10
		for i := range in.Jobs {
			in.Jobs[i].Sharing = &sched.Sharing{Accumulation: []sched.Accumulation{{Steps: 1, Iter: in.Jobs[i].Stages[0].Compute, Memory: 6}}}
		}
		if err := in.Validate(); err != nil {
			t.Fatal(err)
		}
		if _, err := certify.Check(in, stated(t, in, sched.Class{Kind: sched.S, Slotted: true}, sched.TotalCompletion, value)); !errors.Is(err, certify.ErrTooHard) {
			t.Errorf("%d sharing jobs: %v", jobs, err)
		}
	}
}

// TestManyFillings: a job of dozens of stages can lie on parts of servers in more ways
// than can be listed. The check says so, and does not list them.
func TestManyFillings(t *testing.T) {
	in := &sched.Instance{Name: "many", Model: sched.ModelGang, Cluster: sched.Uniform(3, 20, 10e9, 2400e9)}
	j := sched.Job{Iters: 1000, Weight: 1}
	for s := range 40 {
		st := sched.Stage{Replicas: 1, Compute: sched.Duration(50_000_000 + s), Params: sched.Bytes(1e8)}
		if s < 39 {
			st.Boundary = sched.Bytes(100_000_000 + s)
		}
		j.Stages = append(j.Stages, st)
	}
	in.Jobs = []sched.Job{j, j}
	if err := in.Validate(); err != nil {
		t.Fatal(err)
	}
	search := stated(t, in, sched.Class{Kind: sched.N}, sched.TotalCompletion, big.NewRat(1e15, 1))
	prices := document(t, in, &bounds.Bound{Class: sched.Class{Kind: sched.N}, Objective: sched.TotalCompletion, Value: big.NewRat(1, 1),
		Proof: &bounds.Proof{Kind: "conf", Data: map[string]any{"grid": []int64{0, int64(sched.Second)}, "jobs": []float64{0, 0}, "slots": []float64{0}, "divisor": []int64{1}}}})
	for kind, text := range map[string][]byte{"search": search, "conf": prices} {
		if _, err := certify.Check(in, text); !errors.Is(err, certify.ErrTooHard) || !strings.Contains(err.Error(), "ways") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
