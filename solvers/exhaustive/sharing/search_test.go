package sharing_test

import (
	"context"
	"math"
	"math/big"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive/sharing"
	"yardstick/solvers/milp"
)

var minimised = []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT, sched.MeanJCT, sched.Makespan}

func solve(t testing.TB, in *sched.Instance, obj sched.Objective) *exact.Result {
	t.Helper()
	r, err := sharing.Solve(context.Background(), in, obj, milp.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	v := schedtest.Verify(t, in, r.Schedule)
	if r.Termination != milp.Optimal || v.Cost(obj).Cmp(r.Cost) != 0 || r.Bound.Cmp(r.Cost) != 0 || v.Class() != (sched.Class{Kind: sched.S, Slotted: true}) {
		t.Fatalf("%+v, the schedule costs %v", r, v.Cost(obj))
	}
	return r
}

// TestSolveAgainstEnumeration compares optima with those of enumeration.
func TestSolveAgainstEnumeration(t *testing.T) {
	for seed := range uint64(120) {
		in := schedtest.SmallSharing(seed)
		obj := minimised[seed%5]
		_, want := schedtest.SharingBruteForce(in, obj)
		if r := solve(t, in, obj); r.Cost.Cmp(want) != 0 {
			t.Fatalf("seed %d, %v: %v, want %v\n%+v", seed, obj, r.Cost, want, in)
		}
	}
}

// TestStartBetweenEvents: on one GPU with factors of 2.5, jobs of 1.4 and 2.4
// slots are done by 2 and 4 if the second starts in slot 1, when nothing else
// happens: it fills what the first leaves of its last slot. If it starts when the
// first is done it ends at 5, and if both start together they end at 4 and 5.
func TestStartBetweenEvents(t *testing.T) {
	in := &sched.Instance{Name: "between", Model: sched.ModelSharing, Slot: sched.Second, Cluster: schedtest.Servers(1), Interference: [][]float64{{2.5}}}
	in.Cluster.Servers[0].GPUMemory = 2
	for _, tenths := range []int64{24, 14} {
		j := schedtest.Job(0, 1, 1)
		j.Iters = tenths
		j.Sharing = &sched.Sharing{Accumulation: []sched.Accumulation{{Steps: 1, Iter: 100_000_000, Memory: 1}}}
		in.Jobs = append(in.Jobs, j)
	}
	r := solve(t, in, sched.TotalCompletion)
	if last := r.Schedule.Segments[1]; r.Cost.Cmp(big.NewRat(6*int64(sched.Second), 1)) != 0 || last.Job != 0 || last.Start != sched.Second {
		t.Errorf("it costs %v: %+v", r.Cost, r.Schedule.Segments)
	}
}

// TestScaledWeights: weights that are all multiplied by one number multiply the
// optimum by it, however large or small it is.
func TestScaledWeights(t *testing.T) {
	for seed := range uint64(60) {
		in := schedtest.SmallSharing(seed)
		base := make([]float64, len(in.Jobs))
		for i := range in.Jobs {
			base[i] = float64(1+(int(seed)+3*i)%5) + float64(seed%2)/8
			in.Jobs[i].Weight = base[i]
		}
		want := solve(t, in, sched.WeightedCompletion).Cost
		for _, e := range []int{-1071, -900, -20, 10, 27, 40, 600, 1020} {
			for i := range in.Jobs {
				in.Jobs[i].Weight = math.Ldexp(base[i], e)
			}
			factor := new(big.Rat).SetFloat64(math.Ldexp(1, e))
			if r := solve(t, in, sched.WeightedCompletion); factor.Mul(factor, want).Cmp(r.Cost) != 0 {
				t.Fatalf("seed %d: %v with weights times 2^%d, want %v", seed, r.Cost, e, factor)
			}
		}
	}
}
