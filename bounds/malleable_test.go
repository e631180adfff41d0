package bounds_test

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"yardstick/bounds"
	"yardstick/heuristics/pollux"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// malleableBounds lists the bounds of class F(min) on malleable jobs.
func malleableBounds(t *testing.T, in *sched.Instance, obj sched.Objective) []bounds.Bound {
	t.Helper()
	var out []bounds.Bound
	for _, f := range []func(*sched.Instance, sched.Objective) (bounds.Bound, error){
		bounds.MalleableLB0, bounds.MalleableRanked, bounds.MalleableEEI, bounds.MalleableArea} {
		b, err := f(in, obj)
		if errors.Is(err, sched.ErrNotApplicable) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.Class != (sched.Class{Kind: sched.FluidMin}) || b.Objective != obj || b.Proof == nil {
			t.Fatalf("%+v", b)
		}
		out = append(out, b)
	}
	return out
}

// TestMalleableBelowPolicies: the bounds are below what a malleable policy
// reaches; they do not divide schedules that share, and those of SP0 do not
// divide malleable ones.
func TestMalleableBelowPolicies(t *testing.T) {
	for seed := range uint64(200) {
		rng := schedtest.Rand(seed)
		in := schedtest.Malleable(rng, schedtest.Shape{Jobs: 1 + rng.IntN(8), Servers: 1 + rng.IntN(3), GPUs: 3, Stages: 1, Weights: true})
		obj := minimised[seed%5]
		r, err := sim.Run(context.Background(), in, pollux.New(pollux.Options{Interval: sched.Second / 4}), sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		v := schedtest.Verify(t, in, r.Schedule)
		all := malleableBounds(t, in, obj)
		if len(all) < 2 {
			t.Fatalf("seed %d: only %d bounds on %v", seed, len(all), obj)
		}
		for _, b := range all {
			if err := b.Divides(v.Class(), obj); err != nil {
				t.Error(err)
			}
			if b.Value.Cmp(v.Cost(obj)) > 0 {
				t.Fatalf("seed %d: %s = %v exceeds %v of %v", seed, b.Name, b.Value, obj, v.Cost(obj))
			}
			for _, other := range []sched.Kind{sched.N, sched.P, sched.S} {
				if b.Divides(sched.Class{Kind: other}, obj) == nil {
					t.Errorf("%s divides class %v", b.Name, other)
				}
			}
		}
		for _, b := range thetaBounds(t, in, obj) {
			if b.Divides(v.Class(), obj) == nil {
				t.Errorf("%s divides class M", b.Name)
			}
		}
	}
}

// malleableBrute finds the least sum of the numbers of slots in which jobs are
// unfinished, over all ways to give each a number of GPUs in every slot, at no
// cost of stopping: rate[j][g] iterations of job j per slot on g GPUs.
type malleableBrute struct {
	rate [][]int
	gpus int
	memo map[[3]int]int
}

func (b *malleableBrute) best(left [3]int) int {
	unfinished := 0
	for _, n := range left {
		if n > 0 {
			unfinished++
		}
	}
	if unfinished == 0 {
		return 0
	}
	if known, ok := b.memo[left]; ok {
		return known
	}
	least := -1
	var give func(j, gpus int, next [3]int)
	give = func(j, gpus int, next [3]int) {
		if j == len(b.rate) {
			if next != left {
				if cost := b.best(next); least < 0 || cost < least {
					least = cost
				}
			}
			return
		}
		for g := 0; g <= gpus; g++ {
			after := next
			after[j] = max(0, left[j]-b.rate[j][g])
			give(j+1, gpus-g, after)
		}
	}
	give(0, b.gpus, left)
	b.memo[left] = unfinished + least
	return unfinished + least
}

// TestMalleableBelowBruteForce: slots are 6 µs long, in which a size does 1, 2, 3
// or 6 iterations.
func TestMalleableBelowBruteForce(t *testing.T) {
	tight, total := 0.0, 0
	for seed := range uint64(300) {
		rng := schedtest.Rand(seed)
		in := &sched.Instance{Name: "slots", Model: sched.ModelSharing, Slot: 6, Interference: [][]float64{{1}}, Cluster: schedtest.Servers(1 + rng.IntN(4))}
		b := &malleableBrute{gpus: in.Cluster.GPUs(), memo: map[[3]int]int{}}
		var left [3]int
		for j := range 2 + rng.IntN(2) {
			left[j] = 1 + rng.IntN(12)
			rates := []int{0}
			sh := &sched.Sharing{Accumulation: []sched.Accumulation{{Steps: 1, Iter: 1000}}}
			at := rng.IntN(2)
			for g := 1; g <= b.gpus; g++ {
				rates = append(rates, []int{1, 2, 3, 6}[at])
				sh.Sizes = append(sh.Sizes, sched.Size{GPUs: g, Iter: sched.Duration(6000 / rates[g])})
				at = min(3, at+rng.IntN(2))
			}
			b.rate = append(b.rate, rates)
			in.Jobs = append(in.Jobs, sched.Job{Weight: 1, Iters: int64(left[j]), Stages: []sched.Stage{{Replicas: 1, Compute: 1000}}, Sharing: sh})
		}
		if err := in.Validate(); err != nil {
			t.Fatal(err)
		}
		optimum := big.NewRat(6*int64(b.best(left)), 1)
		for _, bound := range malleableBounds(t, in, sched.TotalCompletion) {
			if bound.Value.Cmp(optimum) > 0 {
				t.Fatalf("seed %d: %s = %v exceeds the optimum %v\n%+v", seed, bound.Name, bound.Value, optimum, in)
			}
			ratio, _ := new(big.Rat).Quo(bound.Value, optimum).Float64()
			tight, total = tight+ratio, total+1
		}
	}
	if tight/float64(total) < 0.6 {
		t.Errorf("the bounds are %.2f of the optimum on average: too weak to be tested by it", tight/float64(total))
	}
}

// TestMalleableNotApplicable: rigid jobs have no such bounds.
func TestMalleableNotApplicable(t *testing.T) {
	in := schedtest.Sharing(schedtest.Rand(1), schedtest.Shape{Jobs: 3, Servers: 2, GPUs: 3, Stages: 1})
	if _, err := bounds.MalleableLB0(in, sched.TotalCompletion); !errors.Is(err, sched.ErrNotApplicable) {
		t.Error(err)
	}
}
