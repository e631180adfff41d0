package tree_test

import (
	"math/rand/v2"
	"testing"

	"yardstick/bounds/proof"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive"
)

// In slots, releases and durations are rounded up to slots, and the optimum is that of
// package exhaustive with rounded times; without slots it is no more.
func TestSlots(t *testing.T) {
	var pairs []pair
	rounded := false
	schedtest.EachSeed(t, tier.Draws(20, 100), func(t *testing.T, r *rand.Rand) {
		in, obj := pooled(r, 3+r.IntN(3))
		in.Slot = sched.Time(1000 * (1 + r.IntN(3)))
		if err := in.Validate(); err != nil {
			t.Fatal(err)
		}
		class := in.Class()
		if !class.Slotted {
			t.Fatalf("class %v", class)
		}
		p, err := proof.New(in, obj, class)
		if err != nil {
			t.Fatal(err)
		}
		slot := int64(in.Slot)
		for i, j := range p.Jobs {
			from := int64(in.Jobs[i].Release)
			if j.Release*slot < from || (j.Release-1)*slot >= from && from > 0 || int64(p.Unit) != slot {
				t.Fatalf("the release %d is %d slots of %d", from, j.Release, slot)
			}
			rounded = rounded || j.Release*slot != from
		}
		free, err := proof.New(in, obj, continuous)
		if err != nil {
			t.Fatal(err)
		}
		var jobs []sched.Job // with rounded times
		up := func(v int64) sched.Time { return sched.Time((v + slot - 1) / slot * slot) }
		for i, j := range free.Jobs {
			job := schedtest.Job(up(j.Release*int64(free.Unit)), int(j.Gang), up(j.Duration*int64(free.Unit)))
			job.Weight = in.Jobs[i].Weight
			jobs = append(jobs, job)
		}
		on := schedtest.Plain(in.Cluster, jobs...)
		base := obj.Base()
		if base != sched.Makespan && !base.Weighted() { // completions alone: releases are others
			base = sched.TotalCompletion
		}
		res, err := exhaustive.Solve(t.Context(), on, base, exact.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		starts := p.List(r.Perm(len(p.Jobs)))
		value, err := p.Evaluate(starts)
		if err != nil {
			t.Fatal(err)
		}
		c := prove(t, p, proof.Claim{Value: value, Starts: starts})
		proven := p.Value(c.Claim.Value)
		if want := obj.FromBase(in, res.Cost); proven.Cmp(want) != 0 {
			t.Fatalf("%v in slots of %v: %v is proven, and the search says %v\n%s", obj, in.Slot, proven, want, p.Text())
		}
		if cost, _ := best(free); free.Value(cost).Cmp(proven) > 0 {
			t.Fatalf("%v without slots, and %v in slots", free.Value(cost), proven)
		}
		pairs = append(pairs, pair{"slots", p.Text(), c.Text, func() bool { return true }})
	})
	if !rounded {
		t.Error("no release is rounded")
	}
	judge(t, pairs, true)
}

// Prices close nodes where times are few small integers too: as many cells as there are
// units of time.
func TestPricesInSlots(t *testing.T) {
	schedtest.EachSeed(t, 3, func(t *testing.T, r *rand.Rand) {
		p, err := proof.New(crowd(r, 12, 3), sched.TotalCompletion, continuous) // up to 60 units
		if err != nil {
			t.Fatal(err)
		}
		starts := p.List(r.Perm(len(p.Jobs)))
		value, err := p.Evaluate(starts)
		if err != nil {
			t.Fatal(err)
		}
		c := prove(t, p, proof.Claim{Value: value, Starts: starts})
		t.Logf("%d nodes, %d prices", c.Nodes, c.Prices)
		if c.Prices < 3 {
			t.Errorf("%d vectors of prices for %d nodes", c.Prices, c.Nodes)
		}
	})
}
