package certify_test

import (
	"errors"
	"math/big"
	"testing"

	"yardstick/bounds"
	"yardstick/bounds/certify"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/exhaustive/sharing"
	"yardstick/solvers/milp"
)

const millisecond = sched.Second / 1000

// longAndShort is two ring jobs of one worker, one after the other on the one
// server: its memory of 10^12 units times the long job's 12,000,000 slots is more
// than an int64 holds.
func longAndShort(t *testing.T) *sched.Instance {
	t.Helper()
	job := func(slots int64) sched.Job {
		return sched.Job{Weight: 1, Elastic: &sched.Elastic{Ring: true, MaxWorkers: 1, Batches: slots, Train: []sched.Duration{sched.Duration(millisecond) * 1000}, Update: []sched.Duration{0}}}
	}
	in := &sched.Instance{Name: "long and short", Model: sched.ModelElastic, Slot: millisecond, Cluster: schedtest.Servers(2),
		Elastic: &sched.ElasticTypes{Resources: []string{"gpu", "bw", "mem"}, Bandwidth: 1, Workers: []sched.Container{{Demand: []int64{1, 1, 1}}}},
		Jobs:    []sched.Job{job(12_000_000), job(1)}}
	in.Cluster.Servers[0].Capacity = []int64{2, 10, 1_000_000_000_000}
	if err := in.Validate(); err != nil {
		t.Fatal(err)
	}
	return in
}

// stated returns a certificate by search.
func stated(t *testing.T, in *sched.Instance, class sched.Class, obj sched.Objective, value *big.Rat) []byte {
	t.Helper()
	return document(t, in, &bounds.Bound{Class: class, Objective: obj, Value: value, Proof: &bounds.Proof{Kind: "search"}})
}

// TestBeyondInt64: the work that 10^12 units of memory can do in 12,000,000 slots
// overflows an int64. Once, that made a search give up all schedules, and accept
// any bound at all.
func TestBeyondInt64(t *testing.T) {
	in := longAndShort(t)
	es := sched.Class{Kind: sched.E, Slotted: true}
	schedule, optimum := schedtest.ElasticBruteForce(in, sched.TotalCompletion)
	schedtest.Verify(t, in, schedule)
	if want := big.NewRat(12_000_001_000, 1); optimum.Cmp(want) != 0 {
		t.Fatalf("the optimum is %v, not %v", optimum, want)
	}
	for _, value := range []*big.Rat{big.NewRat(30_446_700_000, 1), new(big.Rat).Add(optimum, big.NewRat(1, 1))} {
		_, err := certify.Check(in, stated(t, in, es, sched.TotalCompletion, value))
		if !errors.Is(err, certify.ErrRefuted) && !errors.Is(err, certify.ErrTooHard) {
			t.Errorf("%v µs, above the optimum of %v: %v", value.RatString(), optimum.RatString(), err)
		}
	}
}

// TestDeadline: how much weight is done by a deadline is what it says, be there
// none, or one within the first slot.
func TestDeadline(t *testing.T) {
	es := sched.Class{Kind: sched.E, Slotted: true}
	for _, x := range []struct {
		deadline sched.Time
		most     int64
		missing  bool
	}{{0, 0, true}, {1, 0, false}, {millisecond - 1, 0, false}, {millisecond, 1, false}, {millisecond + 1, 1, false}, {2 * millisecond, 1, false}} {
		in := longAndShort(t)
		in.Deadline = x.deadline
		for value := int64(-5); value <= 3; value++ {
			_, err := certify.Check(in, stated(t, in, es, sched.ScheduledWeight, big.NewRat(value, 1)))
			switch {
			case x.missing || value < x.most:
				if !errors.Is(err, certify.ErrRefuted) {
					t.Errorf("at most %d by %v, where the most is %d: %v", value, x.deadline, x.most, err)
				}
			case err != nil:
				t.Errorf("at most %d by %v, where the most is %d: %v", value, x.deadline, x.most, err)
			}
		}
	}
}

// TestMemory: two jobs that need more than half of a GPU's memory each do not share
// it, however large it is: an instance in which the sum of what they need would leave
// an int64 is refused. Of the schedules here one of two that share the GPU is the
// best, the other job with the option of less memory.
func TestMemory(t *testing.T) {
	const most = 100_000_000_000_000 // bytes
	in := schedtest.Plain(schedtest.Servers(1), schedtest.Job(0, 1, 3*sched.Second), schedtest.Job(0, 1, 3*sched.Second))
	in.Model, in.Slot, in.Interference = sched.ModelSharing, sched.Second, [][]float64{{1}}
	for i := range in.Jobs {
		in.Jobs[i].Sharing = &sched.Sharing{Accumulation: []sched.Accumulation{
			{Steps: 1, Iter: sched.Duration(3*sched.Second) * 1000}, {Steps: 2, Iter: sched.Duration(4*sched.Second) * 1000, Memory: 1}}}
	}
	holding := func(memory sched.Bytes) error {
		in.Cluster.Servers[0].GPUMemory = memory
		for i := range in.Jobs {
			in.Jobs[i].Sharing.Accumulation[0].Memory = memory / 6 * 5
		}
		return in.Validate()
	}
	if err := holding(6_000_000_000_000_000_000); err == nil {
		t.Error("memories whose sum leaves an int64 are accepted")
	}
	if err := holding(most); err != nil {
		t.Fatal(err)
	}
	_, optimum := schedtest.SharingBruteForce(in, sched.TotalCompletion)
	if want := big.NewRat(7_000_000, 1); optimum.Cmp(want) != 0 {
		t.Fatalf("the optimum is %v, not %v", optimum, want)
	}
	searched(t, in, sched.Class{Kind: sched.S, Slotted: true}, sched.TotalCompletion, optimum)
	r, err := sharing.Solve(t.Context(), in, sched.TotalCompletion, milp.Limits{})
	if err != nil || r.Bound.Cmp(optimum) != 0 || r.Cost.Cmp(optimum) != 0 {
		t.Errorf("the solver finds %+v, %v", r, err)
	}
}

// TestManyOptions: a job may have more options than an int8 counts.
func TestManyOptions(t *testing.T) {
	in := schedtest.Plain(schedtest.Servers(1), schedtest.Job(0, 1, sched.Second), schedtest.Job(0, 1, sched.Second), schedtest.Job(0, 1, sched.Second))
	in.Model, in.Slot, in.Interference = sched.ModelSharing, sched.Second, [][]float64{{1.1}}
	in.Cluster.Servers[0].GPUMemory = 1000
	for i := range in.Jobs {
		sh := &sched.Sharing{}
		for k := range 150 {
			sh.Accumulation = append(sh.Accumulation, sched.Accumulation{Steps: 1 + k, Iter: sched.Duration(sched.Second)*1000 + sched.Duration(k), Memory: sched.Bytes(1000 - 4*k)})
		}
		in.Jobs[i].Sharing = sh
	}
	searched(t, in, sched.Class{Kind: sched.S, Slotted: true}, sched.TotalCompletion, big.NewRat(6_000_000, 1))
}

// TestTinyWork: work below the unit of the bound counts for nothing. Four jobs that
// run for a slot, and beside each one that needs 100 ns at a ten-billionth of the
// speed, are all done after a slot.
func TestTinyWork(t *testing.T) {
	const slot = 3600 * sched.Second
	in := &sched.Instance{Name: "tiny", Model: sched.ModelSharing, Slot: slot, Cluster: schedtest.Servers(4), Interference: [][]float64{{2, 1}, {1e10, 1e10}}}
	in.Cluster.Servers[0].GPUMemory = 2
	for i := range 8 {
		j := schedtest.Job(0, 1, slot)
		iter := j.Stages[0].Compute
		if i%2 == 1 {
			iter = 100
		}
		j.Sharing = &sched.Sharing{Task: i % 2, Accumulation: []sched.Accumulation{{Steps: 1, Iter: iter, Memory: 1}}}
		in.Jobs = append(in.Jobs, j)
	}
	if err := in.Validate(); err != nil {
		t.Fatal(err)
	}
	r, err := sharing.Solve(t.Context(), in, sched.Makespan, milp.Limits{})
	if err != nil || r.Cost.Cmp(big.NewRat(int64(slot), 1)) != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	schedtest.Verify(t, in, r.Schedule)
	searched(t, in, sched.Class{Kind: sched.S, Slotted: true}, sched.Makespan, r.Cost)
}

// TestSlowPlacement: what is not known of a job where it runs for more than the
// largest time must not refute an optimum that does without.
func TestSlowPlacement(t *testing.T) {
	in := schedtest.Plain(schedtest.Servers(2, 1, 1), schedtest.Job(0, 2, sched.Second), schedtest.Job(0, 2, sched.Second))
	in.Cluster.Intra = 1_000_000_000_000_000_000
	for i := range in.Jobs {
		in.Jobs[i].Iters = 1_000_000
		in.Jobs[i].Stages[0] = sched.Stage{Replicas: 2, Compute: 800_000_000_000, Params: 100_000_000_000_000}
	}
	if err := in.Validate(); err != nil {
		t.Fatal(err)
	}
	optimum := uninterrupted(in, sched.TotalCompletion, false)
	_, err := certify.Check(in, stated(t, in, sched.Class{Kind: sched.N}, sched.TotalCompletion, optimum))
	if err != nil && !errors.Is(err, certify.ErrTooHard) {
		t.Errorf("the optimum %v: %v", optimum.RatString(), err)
	}
}
