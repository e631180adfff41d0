package hunt

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/suite"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// sjf is the policy of the catalogue.
func sjf(t *testing.T) Policy {
	t.Helper()
	m, err := catalogue.Resolve(suite.MethodRef{Name: "sjf"})
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, in *sched.Instance) (*sched.Schedule, error) {
		out, err := m.Run(ctx, bench.Problem{Instance: in, Objectives: []sched.Objective{sched.TotalJCT}})
		if err != nil {
			return nil, err
		}
		return out[0].Schedule, nil
	}
}

// What is left of an instance shows the ratio, no job less does, and all of its jobs are the
// instance's, unchanged.
func TestReduce(t *testing.T) {
	ctx, policy := context.Background(), sjf(t)
	reduced := 0
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 9))
		var jobs []sched.Job
		for range 4 + r.IntN(3) {
			jobs = append(jobs, schedtest.Job(sched.Time(r.Int64N(5))*sched.Second, 1+r.IntN(2), sched.Time(1+r.Int64N(9))*sched.Second))
		}
		in := schedtest.Plain(schedtest.Servers(2+r.IntN(2)), jobs...)
		whole, err := Prove(ctx, in, sched.TotalJCT, policy)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		least := whole.Ratio()
		if least.Cmp(big.NewRat(1, 1)) == 0 {
			continue
		}
		all := make([]int, len(in.Jobs))
		for j := range all {
			all[j] = j
		}
		f, err := Reduce(ctx, in, [][]int{all}, sched.TotalJCT, policy, least)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if f.Ratio().Cmp(least) < 0 || f.Before.Cmp(least) != 0 {
			t.Fatalf("seed %d: ratio %v from %v, at least %v was asked for", seed, f.Ratio(), f.Before, least)
		}
		if len(f.Instance.Jobs) < len(in.Jobs) {
			reduced++
		}
		for _, j := range f.Instance.Jobs {
			if !slices.ContainsFunc(in.Jobs, func(k sched.Job) bool { return k.Release == j.Release && slices.Equal(k.Stages, j.Stages) }) {
				t.Fatalf("seed %d: a job is none of the instance's", seed)
			}
		}
		if v, err := verify.Check(f.Instance, f.Policy.Schedule()); err != nil || v.Cost(sched.TotalJCT).Cmp(f.Cost) != 0 {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i := range f.Instance.Jobs { // none can be spared
			if len(f.Instance.Jobs) == 1 {
				break
			}
			less := *f.Instance
			less.Jobs = slices.Delete(slices.Clone(less.Jobs), i, i+1)
			if g, err := Prove(ctx, &less, sched.TotalJCT, policy); err != nil || g.Ratio().Cmp(least) >= 0 {
				t.Fatalf("seed %d: without job %d the ratio is %v, of %v: %v", seed, i, g.Ratio(), least, err)
			}
		}
		over := new(big.Rat).Add(least, big.NewRat(1, 1000))
		if _, err := Reduce(ctx, in, [][]int{all}, sched.TotalJCT, policy, over); !errors.Is(err, ErrNotShown) {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if reduced < 5 {
		t.Errorf("%d instances were reduced: the test has lost its subject", reduced)
	}
	if _, err := Reduce(ctx, &sched.Instance{}, nil, sched.ScheduledWeight, policy, big.NewRat(1, 1)); err == nil {
		t.Error("a maximised objective was accepted")
	}
}
