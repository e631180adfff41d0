package bounds

import (
	"errors"
	"math/big"
	"testing"

	"yardstick/internal/number"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// mustPacked returns a bound of class P0 on the total completion time.
func mustPacked(t *testing.T, in *sched.Instance, f func(*sched.Instance, sched.Objective) (Bound, error)) *big.Rat {
	t.Helper()
	b, err := f(in, sched.TotalCompletion)
	if err != nil || b.Class != (sched.Class{Kind: sched.P0}) || b.Proof == nil {
		t.Fatalf("%+v, %v", b, err)
	}
	return b.Value
}

// TestPackedExamples: four GPUs, no releases; (g, d) in microseconds.
func TestPackedExamples(t *testing.T) {
	for _, test := range []struct {
		name       string
		jobs       []sched.Job
		srpt, busy int64
	}{
		// more than half of the GPUs each: one after the other
		{"wide", []sched.Job{job(0, 3, 10, 1), job(0, 3, 10, 1)}, 30, 30},
		// the same; the narrow job is left out
		{"narrow beside wide", []sched.Job{job(0, 3, 10, 1), job(0, 4, 10, 1), job(0, 1, 10, 1)}, 40, 40},
		// gangs of half gain nothing: 2.5 + 7.5 + 12.5 + 15 is rounded up
		{"halves", []sched.Job{job(0, 2, 10, 1), job(0, 2, 10, 1), job(0, 2, 10, 1)}, 10 + 10 + 15, 38},
		// three GPUs in pairs: only one pair at a time fits, G' = 2
		{"pairs on three", []sched.Job{job(0, 2, 10, 1), job(0, 2, 6, 1)}, 6 + 16, 6 + 16},
	} {
		gpus := 4
		if test.name == "pairs on three" {
			gpus = 3
		}
		in := instance(1, gpus, test.jobs...)
		if got := mustPacked(t, in, PackedSRPT); got.Cmp(integer(test.srpt)) != 0 {
			t.Errorf("%s: srpt-dff is %v, want %d", test.name, got, test.srpt)
		}
		if got := mustPacked(t, in, PackedBusyTime); got.Cmp(integer(test.busy)) != 0 {
			t.Errorf("%s: eei-dff is %v, want %d", test.name, got, test.busy)
		}
	}
}

// TestPackedAgainstDefinition evaluates both bounds by unit steps of machines that
// are scaled otherwise, with the functions written as rationals.
func TestPackedAgainstDefinition(t *testing.T) {
	for seed := range uint64(120) {
		rng := schedtest.Rand(seed)
		in := instance(1, 1+rng.IntN(7))
		gpus := in.Cluster.GPUs()
		for range 1 + rng.IntN(5) {
			in.Jobs = append(in.Jobs, job(sched.Time(rng.IntN(6)), 1+rng.IntN(gpus), 1+rng.Int64N(6), 1))
		}
		srpt, busy := new(big.Rat), new(big.Rat)
		for _, u := range literalFunctions(in) {
			a, b := literalBounds(in, u)
			if a.Cmp(srpt) > 0 {
				srpt = a
			}
			if b.Cmp(busy) > 0 {
				busy = b
			}
		}
		if got := mustPacked(t, in, PackedSRPT); got.Cmp(number.Ceil(srpt)) != 0 {
			t.Errorf("seed %d: srpt-dff is %v, by definition %v\n%+v", seed, got, srpt, in)
		}
		if got := mustPacked(t, in, PackedBusyTime); got.Cmp(number.Ceil(busy)) != 0 {
			t.Errorf("seed %d: eei-dff is %v, by definition %v\n%+v", seed, got, busy, in)
		}
	}
}

// literalFunctions returns the functions of g/G that the bounds maximise over.
func literalFunctions(in *sched.Instance) []func(x *big.Rat) *big.Rat {
	gpus := int64(in.Cluster.GPUs())
	out := []func(*big.Rat) *big.Rat{
		func(x *big.Rat) *big.Rat { return x },
		func(x *big.Rat) *big.Rat { return new(big.Rat).Mul(x, big.NewRat(gpus, Reachable(in))) },
	}
	for k := int64(1); k <= 8; k++ {
		out = append(out, func(x *big.Rat) *big.Rat {
			y := new(big.Rat).Mul(x, big.NewRat(k+1, 1))
			if y.IsInt() {
				return x
			}
			return big.NewRat(new(big.Int).Quo(y.Num(), y.Denom()).Int64(), k)
		})
	}
	for g := int64(1); 2*g <= gpus; g++ { // for an ε that is no gang the function is no better than for the next gang, or the identity
		out = append(out, func(x *big.Rat) *big.Rat {
			e := big.NewRat(g, gpus)
			switch {
			case x.Cmp(new(big.Rat).Sub(big.NewRat(1, 1), e)) > 0:
				return big.NewRat(1, 1)
			case x.Cmp(e) < 0:
				return new(big.Rat)
			}
			return x
		})
	}
	return out
}

// literalBounds returns both bounds for one function, in microseconds. The machine
// works in steps of 1/scale, where scale makes all sizes integers.
func literalBounds(in *sched.Instance, u func(*big.Rat) *big.Rat) (srpt, busy *big.Rat) {
	scale := int64(in.Cluster.GPUs())
	for i := int64(2); i <= 8; i++ {
		scale *= i
	}
	scale *= 3 // G·k·G' for any k and G' up to 8
	n := len(in.Jobs)
	left, size := make([][2]int64, n), make([]int64, n)
	alone := new(big.Rat)
	var ends []int64 // alone, of the jobs on the machine
	for j := range in.Jobs {
		length := in.Jobs[j].Iters
		share := u(big.NewRat(int64(in.Jobs[j].Gang()), int64(in.Cluster.GPUs())))
		s := new(big.Rat).Mul(share, big.NewRat(length*scale, 1))
		if !s.IsInt() {
			panic("literalBounds: the scale is too coarse")
		}
		size[j] = s.Num().Int64()
		left[j] = [2]int64{size[j], size[j]}
		if end := int64(in.Jobs[j].Release) + length; size[j] == 0 {
			alone.Add(alone, big.NewRat(end, 1))
		} else {
			ends = append(ends, end)
		}
	}
	srpt, busy = new(big.Rat).Set(alone), new(big.Rat).Set(alone)
	var completions []int64
	for which := range 2 { // by what is left, by size
		moment := make([]*big.Rat, n)
		for j := range moment {
			moment[j] = new(big.Rat)
		}
		for now := int64(0); ; {
			best, next, open := -1, int64(1<<62), false
			for j := range in.Jobs {
				if left[j][which] == 0 {
					continue
				}
				open = true
				key := func(j int) int64 { return []int64{left[j][0], size[j]}[which] }
				if r := int64(in.Jobs[j].Release) * scale; r > now {
					next = min(next, r)
				} else if best < 0 || key(j) < key(best) {
					best = j
				}
			}
			if !open {
				break
			}
			if best < 0 {
				now = next
				continue
			}
			step := min(left[best][which], next-now)
			moment[best].Add(moment[best], new(big.Rat).Mul(big.NewRat(step, 1), big.NewRat(2*now+step, 2*scale)))
			now += step
			if left[best][which] -= step; left[best][which] == 0 && which == 0 {
				completions = append(completions, (now+scale-1)/scale)
			}
		}
		if which == 0 {
			for k := range ends { // ascending
				for i := k + 1; i < len(ends); i++ {
					if ends[i] < ends[k] {
						ends[i], ends[k] = ends[k], ends[i]
					}
				}
				srpt.Add(srpt, big.NewRat(max(ends[k], completions[k]), 1))
			}
			continue
		}
		for j := range in.Jobs {
			if size[j] > 0 {
				busy.Add(busy, new(big.Rat).Quo(moment[j], big.NewRat(size[j], 1)))
				busy.Add(busy, big.NewRat(in.Jobs[j].Iters, 2))
			}
		}
	}
	return srpt, busy
}

// TestPackedRelations: they are at least the bounds without functions, at most
// the optimum without stops, and change as these do.
func TestPackedRelations(t *testing.T) {
	objectives := []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT, sched.MeanJCT}
	for seed := range uint64(160) {
		rng := schedtest.Rand(seed)
		in := schedtest.Gang(rng, schedtest.Shape{Jobs: 1 + rng.IntN(4), Servers: 1 + rng.IntN(2), GPUs: 4, Stages: 2, Traffic: true, Weights: true, Span: true})
		obj := objectives[seed%4]
		_, optimum := schedtest.BruteForce(in, obj)
		for _, pair := range [][2]func(*sched.Instance, sched.Objective) (Bound, error){{PackedSRPT, Ranked}, {PackedBusyTime, MeanBusyTime}} {
			b, err := pair[0](in, obj)
			plain, plainErr := pair[1](in, obj)
			if errors.Is(err, sched.ErrNotApplicable) && errors.Is(plainErr, sched.ErrNotApplicable) {
				continue
			}
			if err != nil || plainErr != nil {
				t.Fatal(err, plainErr)
			}
			if b.Value.Cmp(plain.Value) < 0 || b.Value.Cmp(optimum) > 0 || b.Class != (sched.Class{Kind: sched.P0}) || b.Proof == nil {
				t.Errorf("seed %d, %v: %s = %v of class %v, %s = %v, the optimum %v\n%+v", seed, obj, b.Name, b.Value, b.Class, plain.Name, plain.Value, optimum, in)
			}
			moved, err := pair[0](schedtest.PermuteJobs(in, rng.Perm(len(in.Jobs))), obj)
			if err != nil || moved.Value.Cmp(b.Value) != 0 && obj != sched.WeightedCompletion {
				t.Errorf("seed %d: %s is %v with the jobs in another order, was %v (%v)", seed, b.Name, moved.Value, b.Value, err)
			}
		}
	}
	in := instance(1, 4, job(0, 3, 10, 1), job(0, 3, 10, 2))
	if _, err := PackedSRPT(in, sched.WeightedCompletion); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("srpt-dff with weights: %v", err)
	}
	for _, f := range []func(*sched.Instance, sched.Objective) (Bound, error){PackedSRPT, PackedBusyTime} {
		if _, err := f(in, sched.Makespan); !errors.Is(err, sched.ErrNotApplicable) {
			t.Errorf("makespan: %v", err)
		}
	}
}
