package certify_test

import (
	"errors"
	"math/big"
	"testing"

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
