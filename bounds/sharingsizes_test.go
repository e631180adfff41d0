package bounds_test

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"yardstick/bounds"
	"yardstick/heuristics/sharing"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// thetaBounds lists the closed bounds of class SP0.
func thetaBounds(t *testing.T, in *sched.Instance, obj sched.Objective) []bounds.Bound {
	t.Helper()
	var out []bounds.Bound
	for _, f := range []func(*sched.Instance, sched.Objective) (bounds.Bound, error){
		bounds.ThetaLB0, bounds.ThetaSRPT, bounds.ThetaRanked, bounds.ThetaArea, bounds.ThetaEEI, thetaHybrid} {
		b, err := f(in, obj)
		if errors.Is(err, sched.ErrNotApplicable) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.Class != (sched.Class{Kind: sched.SP0}) || b.Objective != obj || b.Proof == nil {
			t.Fatalf("%+v", b)
		}
		out = append(out, b)
	}
	return out
}

func thetaHybrid(in *sched.Instance, obj sched.Objective) (bounds.Bound, error) {
	return bounds.ThetaHybrid(context.Background(), in, obj, bounds.HybridOptions{})
}

var minimised = []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT, sched.MeanJCT, sched.Makespan}

// slots returns small slotted instances of different kinds.
func slots(seed uint64) *sched.Instance {
	s := schedtest.Slots{Jobs: 2 + int(seed%2), Servers: []int{2, 1}, Work: [2]int{1, 5}, Span: 3, Gang: 3, Xi: 1 + float64(seed%5)/2, Options: 1 + int(seed/2%2), Ragged: seed%3 == 0}
	if seed%7 == 0 {
		s.Servers = []int{2}
		s.Gang = 2
	}
	in := schedtest.SlottedSharing(seed, s)
	for i := range in.Jobs {
		in.Jobs[i].Weight = float64(1 + (int(seed)+3*i)%5)
	}
	return in
}

// TestThetaBelowBruteForce compares every bound with the optimum of class Ss by
// enumeration, and with what policies reach in continuous time.
func TestThetaBelowBruteForce(t *testing.T) {
	for seed := range uint64(160) {
		in := slots(seed)
		if seed >= 60 { // interference by accumulation
			in = schedtest.Rowed(schedtest.Rand(seed), in, 4, 3)
		}
		obj := minimised[seed%5]
		s, optimum := schedtest.SharingBruteForce(in, obj)
		v := schedtest.Verify(t, in, s)
		if v.Cost(obj).Cmp(optimum) != 0 {
			t.Fatalf("seed %d: the optimum costs %v, not %v", seed, v.Cost(obj), optimum)
		}
		for _, b := range thetaBounds(t, in, obj) {
			if err := b.Divides(v.Class(), obj); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
			if b.Value.Cmp(optimum) > 0 {
				t.Fatalf("seed %d, %v: %s = %v exceeds the optimum %v\n%+v", seed, obj, b.Name, b.Value, optimum, in)
			}
		}
	}
}

// TestThetaBelowPolicies compares the bounds with schedules in continuous time,
// of jobs with several accumulation options and of servers that differ.
func TestThetaBelowPolicies(t *testing.T) {
	for seed := range uint64(100) {
		rng := schedtest.Rand(seed)
		in := schedtest.Sharing(rng, schedtest.Shape{Jobs: 1 + rng.IntN(8), Servers: 1 + rng.IntN(3), GPUs: 3, Stages: 1, Weights: true})
		obj := minimised[seed%5]
		all := thetaBounds(t, in, obj)
		for _, p := range []sim.Policy{sharing.BSBF(in.Interference, sharing.Options{}), sharing.FFS(in.Interference, sim.Pool), sharing.FIFO()} {
			r, err := sim.Run(context.Background(), in, p, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			v := schedtest.Verify(t, in, r.Schedule)
			for _, b := range all {
				if err := b.Divides(v.Class(), obj); err != nil {
					t.Error(err)
				}
				if b.Value.Cmp(v.Cost(obj)) > 0 {
					t.Fatalf("seed %d, %s: %s = %v exceeds %v of %v", seed, p.Name(), b.Name, b.Value, obj, v.Cost(obj))
				}
			}
		}
	}
}

// TestThetaReference compares the bounds for equal releases with what they are by
// hand if alpha is 1/Theta for all: with sizes q_j in order, the k-th job is done
// at q_1 + … + q_k.
func TestThetaReference(t *testing.T) {
	raised := 0
	for seed := range uint64(60) {
		in := slots(seed)
		for i := range in.Jobs {
			in.Jobs[i].Release = 0
		}
		theta, err := bounds.Theta(in)
		if err != nil {
			t.Fatal(err)
		}
		if want := slowTheta(in); theta.Cmp(want) != 0 {
			t.Fatalf("seed %d: Theta is %v, want %v", seed, theta, want)
		}
		speed := new(big.Rat).Mul(theta, big.NewRat(int64(in.Cluster.GPUs()), 1))
		var sizes []*big.Rat
		half, now, srpt, eei := new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)
		for i := range in.Jobs {
			w := big.NewRat(in.Jobs[i].Iters*int64(in.Jobs[i].Sharing.Accumulation[0].Iter), 1000)
			half.Add(half, new(big.Rat).Mul(w, big.NewRat(1, 2)))
			sizes = append(sizes, w.Mul(w, new(big.Rat).Quo(big.NewRat(int64(in.Jobs[i].Gang()), 1), speed)))
		}
		for range sizes {
			least := 0
			for i := range sizes {
				if sizes[i].Cmp(sizes[least]) < 0 {
					least = i
				}
			}
			mean := new(big.Rat).Mul(sizes[least], big.NewRat(1, 2))
			eei.Add(eei, mean.Add(mean, now))
			now.Add(now, sizes[least])
			srpt.Add(srpt, now)
			sizes = append(sizes[:least], sizes[least+1:]...)
		}
		for _, test := range []struct {
			f    func(*sched.Instance, sched.Objective) (bounds.Bound, error)
			want *big.Rat
		}{{bounds.ThetaSRPT, srpt}, {bounds.ThetaEEI, eei.Add(eei, half)}} {
			b, err := test.f(in, sched.TotalCompletion)
			if err != nil {
				t.Fatal(err)
			}
			// The value is the next integer, or more where some jobs share worse than
			// Theta says; rounding of sizes may have cost a little.
			gap := new(big.Rat).Sub(b.Value, test.want)
			if gap.Cmp(big.NewRat(-1, 1000)) < 0 {
				t.Errorf("seed %d: %s = %v, want %v rounded up", seed, b.Name, b.Value, test.want)
			}
			if gap.Cmp(big.NewRat(1, 1)) >= 0 {
				raised++
			}
		}
	}
	if raised < 25 {
		t.Errorf("only %d of 120 bounds gain by an alpha of their own", raised)
	}
}

// slowTheta is the definition of Theta.
func slowTheta(in *sched.Instance) *big.Rat {
	best := big.NewRat(1, 1)
	fastest := func(j *sched.Job) sched.Duration {
		iter := sched.Duration(0)
		for _, a := range j.Sharing.Accumulation {
			if a.Memory <= in.Cluster.Servers[0].GPUMemory && (iter == 0 || a.Iter < iter) {
				iter = a.Iter
			}
		}
		return iter
	}
	rate := func(j, k *sched.Job, a sched.Accumulation) *big.Rat {
		r := new(big.Rat).SetFloat64(in.Interference[j.Sharing.Task][k.Sharing.Task])
		return r.Quo(big.NewRat(int64(fastest(j)), int64(a.Iter)), r)
	}
	for i := range in.Jobs {
		for k := range i {
			j, l := &in.Jobs[i], &in.Jobs[k]
			for _, a := range j.Sharing.Accumulation {
				for _, b := range l.Sharing.Accumulation {
					if sum := rate(j, l, a); a.Memory+b.Memory <= in.Cluster.Servers[0].GPUMemory && sum.Add(sum, rate(l, j, b)).Cmp(best) > 0 {
						best = sum
					}
				}
			}
		}
	}
	return best
}

// TestThetaRange: Theta is 1 where memory lets nobody share, and 2 where sharing
// is free.
func TestThetaRange(t *testing.T) {
	in := schedtest.SlottedSharing(1, schedtest.Slots{Jobs: 3, Servers: []int{2}, Work: [2]int{2, 5}, Gang: 2, Xi: 1, Options: 1})
	for memory, want := range map[sched.Bytes]int64{9: 1, 10: 2} {
		in.Cluster.Servers[0].GPUMemory = memory
		if theta, err := bounds.Theta(in); err != nil || theta.Cmp(big.NewRat(want, 1)) != 0 {
			t.Errorf("with %v per GPU Theta is %v (%v), want %d", memory, theta, err, want)
		}
	}
	in.Cluster.Servers[0].GPUMemory = 4
	if _, err := bounds.Theta(in); err == nil {
		t.Error("jobs that fit no GPU have a Theta")
	}
	gang := schedtest.Plain(schedtest.Servers(1), schedtest.Job(0, 1, 1))
	if _, err := bounds.ThetaSRPT(gang, sched.TotalCompletion); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("a gang instance gives %v", err)
	}
	if _, err := bounds.ThetaLB0(in, sched.ScheduledWeight); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("a maximised objective gives %v", err)
	}
}

// TestSharingBelowExclusiveOptimum: on this instance the best schedule that
// shares costs less than every exclusive one, less even than the exclusive
// fluid bound, and no bound of an exclusive class divides it.
func TestSharingBelowExclusiveOptimum(t *testing.T) {
	in := schedtest.SlottedSharing(3, schedtest.Slots{Jobs: 3, Servers: []int{2}, Work: [2]int{4, 6}, Gang: 2, Xi: 1.1, Options: 1})
	s, optimum := schedtest.SharingBruteForce(in, sched.TotalCompletion)
	v := schedtest.Verify(t, in, s)
	if v.Class() != (sched.Class{Kind: sched.S, Slotted: true}) {
		t.Fatalf("class %v", v.Class())
	}
	gang, err := schedtest.Exclusive(in, 0) // the same jobs on GPUs of their own
	if err != nil {
		t.Fatal(err)
	}
	all, err := bounds.All(gang, sched.TotalCompletion)
	if err != nil {
		t.Fatal(err)
	}
	above := 0
	for _, b := range all {
		if b.Divides(v.Class(), sched.TotalCompletion) == nil {
			t.Errorf("%s, of class %v, divides a sharing schedule", b.Name, b.Class)
		}
		if b.Value.Cmp(optimum) > 0 {
			above++
		}
	}
	if above == 0 {
		t.Errorf("no exclusive bound of %v exceeds the optimum %v of sharing", all, optimum)
	}
	for _, b := range thetaBounds(t, in, sched.TotalCompletion) {
		if b.Value.Cmp(optimum) > 0 || b.Divides(v.Class(), sched.TotalCompletion) != nil || b.Divides(sched.Class{Kind: sched.N}, sched.TotalCompletion) != nil {
			t.Errorf("%s = %v does not divide the optimum %v", b.Name, b.Value, optimum)
		}
		if b.Divides(sched.Class{Kind: sched.E, Slotted: true}, sched.TotalCompletion) == nil {
			t.Errorf("%s divides an elastic schedule", b.Name)
		}
	}
}
