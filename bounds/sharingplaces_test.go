package bounds

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
)

// sharingDraw is a small slotted instance, sometimes with interference by accumulation.
func sharingDraw(seed uint64) *sched.Instance {
	in := schedtest.SmallSharing(seed)
	if seed%4 == 3 {
		in = schedtest.Rowed(schedtest.Rand(seed), in, 4, 3)
	}
	return in
}

func mustPlace(t testing.TB, in *sched.Instance) *placement {
	t.Helper()
	s, err := newSharers(in)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPlaces(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// mostByEnumeration puts every job on every set of GPUs with every accumulation, or on
// none, and returns the most that they pay at their rates: a gang is as slow as on the
// slowest of its GPUs.
func mostByEnumeration(s *sharers, price []int64) *big.Rat {
	in, best := s.in, new(big.Rat)
	gpus, n := in.Cluster.GPUs(), len(s.jobs)
	on, with := make([]uint, n), make([]int, n)
	var put func(j int)
	put = func(j int) {
		if j == n {
			sum := new(big.Rat)
			for a := range n {
				if on[a] == 0 {
					continue
				}
				rate := new(big.Rat).Set(s.jobs[a].options[with[a]].speed)
				for b := range n {
					if x, y := &s.jobs[a].options[with[a]], &s.jobs[b].options[with[b]]; b != a && on[a]&on[b] != 0 {
						if x.memory > s.memory-y.memory {
							return
						}
						if slow := new(big.Rat).Quo(x.speed, s.slowdown(x, y)); slow.Cmp(rate) < 0 {
							rate = slow
						}
					}
				}
				sum.Add(sum, rate.Mul(rate, big.NewRat(price[a], 1)))
			}
			if sum.Cmp(best) > 0 {
				best = sum
			}
			return
		}
		for on[j] = range uint(1) << gpus {
			held, full := 0, false
			for g := range gpus {
				if on[j]>>g&1 == 1 {
					held++
					before := 0
					for _, o := range on[:j] {
						before += int(o >> g & 1)
					}
					full = full || before == 2
				}
			}
			if held != 0 && held != in.Jobs[j].Gang() || full {
				continue
			}
			options := len(s.jobs[j].options)
			if held == 0 {
				options = 1
			}
			for with[j] = range options {
				put(j + 1)
			}
		}
		on[j], with[j] = 0, 0
	}
	put(0)
	return best
}

// TestPlacesCoverEverySharing: whatever the prices, no way to share the GPUs pays more
// than the knapsack, and any two jobs count for enough.
func TestPlacesCoverEverySharing(t *testing.T) {
	tight, better := 0, 0
	draws := tier.Draws(300, 2000)
	for seed := range uint64(draws) {
		r := rand.New(rand.NewPCG(seed, 18))
		in := sharingDraw(seed)
		in.Jobs = in.Jobs[:min(len(in.Jobs), 3)]
		p := mustPlace(t, in)
		s, _ := newSharers(in)
		prices := &JobPrices{Grid: Grid{0, 20 * sched.Second}}
		var price []int64
		for range in.Jobs {
			price = append(price, int64(max(0, r.IntN(5)-1))*r.Int64N(1000)*r.Int64N(1<<20))
			prices.Price = append(prices.Price, price[len(price)-1:])
		}
		slot, most := p.slot(prices, 0)
		want := mostByEnumeration(s, price)
		if want.Cmp(big.NewRat(most, 1)) > 0 {
			t.Fatalf("seed %d: the knapsack has %d, a schedule pays %v\n%+v\n%v", seed, most, want, in, price)
		}
		if !slot.enough() {
			t.Fatalf("seed %d: %v count for %v", seed, slot.price, slot.count)
		}
		plain := *slot
		plain.count = nil
		for q, j := range plain.jobs {
			plain.count = append(plain.count, shareUp(plain.price[q], p.most[p.kind[j]]))
		}
		if v := plain.most(); v < most {
			t.Fatalf("seed %d: %d, and %d where nobody counts for others", seed, most, v)
		} else if v > most {
			better++
		}
		if want.Cmp(big.NewRat(99*most, 100)) >= 0 {
			tight++
		}
		// A job that counts for less than a partner needs is found out.
		for q, j := range slot.jobs {
			short := *slot
			short.count = append([]int64(nil), slot.count...)
			short.count[q] = 0
			pays := false
			for l, o := range slot.jobs {
				for _, x := range p.rates[p.kind[j]][p.kind[o]] {
					pays = pays || l != q && x[0] > 0 && slot.price[q] > 0 && slot.count[l] == 0
				}
			}
			if pays && short.enough() {
				t.Fatalf("seed %d: job %d of price %d counts for nothing beside others that count for nothing", seed, j, slot.price[q])
			}
		}
	}
	t.Logf("of %d: %d within a hundredth, %d by what jobs count for others", draws, tight, better)
	if 4*tight < draws || better == 0 {
		t.Errorf("of %d: %d within a hundredth, %d by what jobs count for others", draws, tight, better)
	}
}

// TestPlacesBelowBruteForce: the bound, of prices that climb and of any, is at most the
// optimum by enumeration, and at least that of jobs alone.
func TestPlacesBelowBruteForce(t *testing.T) {
	better := 0
	for seed := range uint64(tier.Draws(60, 600)) {
		in, obj := sharingDraw(seed), totals[seed%4]
		_, optimum := schedtest.SharingBruteForce(in, obj)
		o := KnapsackOptions{Slots: 24, Iterations: 60, Effort: int(seed % 2)}
		d, err := Places(context.Background(), in, obj, o)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := ThetaLB0(in, obj)
		if err != nil {
			t.Fatal(err)
		}
		if d.Value.Cmp(optimum) > 0 || d.Value.Cmp(alone.Value) < 0 {
			t.Fatalf("seed %d, %v: %v, alone %v, optimum %v\n%+v", seed, obj, d.Value, alone.Value, optimum, in)
		}
		if d.Value.Cmp(alone.Value) > 0 {
			better++
		}
		if again, err := Places(context.Background(), in, obj, o); err != nil || !reflect.DeepEqual(d.Bound, again.Bound) {
			t.Fatalf("seed %d: %v, and then %v (%v)", seed, d.Value, again.Value, err)
		}
		p := mustPlace(t, in)
		any := randomJobPrices(rand.New(rand.NewPCG(seed, 19)), len(in.Jobs), 12*sched.Second)
		for range 5 {
			b, err := p.bound(any, obj)
			if err != nil || b.Value.Cmp(optimum) > 0 {
				t.Fatalf("seed %d, %v: %v (%v) by any prices, optimum %v\n%+v\n%+v", seed, obj, b.Value, err, optimum, in, any)
			}
			any.Exponent-- // from much too dear
		}
	}
	if better < 10 {
		t.Errorf("better than alone on %d", better)
	}
}

// TestPlacesScale: with all times a power of two longer the same prices prove as much
// more, a server more never makes the same prices prove more, and where nobody fits beside
// anybody the bound is one of exclusive gangs.
func TestPlacesScale(t *testing.T) {
	for seed := range uint64(60) {
		in, obj := sharingDraw(seed), sched.TotalCompletion
		p := mustPlace(t, in)
		prices := randomJobPrices(rand.New(rand.NewPCG(seed, 20)), len(in.Jobs), 12*sched.Second)
		prices.Exponent -= 12
		b, err := p.bound(prices, obj)
		if err != nil {
			t.Fatal(err)
		}
		long := schedtest.Scale(in, 4)
		slow := *prices
		slow.Grid = nil
		for _, x := range prices.Grid {
			slow.Grid = append(slow.Grid, 4*x)
		}
		if four, err := mustPlace(t, long).bound(&slow, obj); err != nil || four.Value.Cmp(new(big.Rat).Mul(new(big.Rat).Sub(b.Value, big.NewRat(1, 1)), big.NewRat(4, 1))) <= 0 {
			// Work is rounded down, so that the longer one may prove a little more; both are rounded up.
			t.Errorf("seed %d: %v, and %v (%v) of times four times as long", seed, b.Value, four.Value, err)
		}
		more := *in
		more.Cluster.Servers = append(append([]sched.Server(nil), in.Cluster.Servers...), in.Cluster.Servers[0])
		if wide, err := mustPlace(t, &more).bound(prices, obj); err != nil || wide.Value.Cmp(b.Value) > 0 {
			t.Errorf("seed %d: %v, and %v (%v) with a server more", seed, b.Value, wide.Value, err)
		}
		exclusive := mustPlace(t, in)
		for a := range exclusive.rates { // as if no two fit
			clear(exclusive.rates[a])
			clear(exclusive.rough[a])
			exclusive.most[a] = 0
		}
		if b2, err := exclusive.bound(prices, obj); err != nil || b2.Value.Cmp(b.Value) < 0 {
			t.Errorf("seed %d: %v of exclusive GPUs (%v), %v of shared ones", seed, b2.Value, err, b.Value)
		}
	}
}

// TestPlacesRefuses: what the bound is not about.
func TestPlacesRefuses(t *testing.T) {
	in := sharingDraw(1)
	gang := schedtest.Plain(schedtest.Servers(1), schedtest.Job(0, 1, 1))
	for name, test := range map[string]struct {
		in  *sched.Instance
		obj sched.Objective
	}{"makespan": {in, sched.Makespan}, "weight": {in, sched.ScheduledWeight}, "gangs": {gang, sched.TotalJCT}} {
		if _, err := Places(context.Background(), test.in, test.obj, KnapsackOptions{}); !errors.Is(err, sched.ErrNotApplicable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, o := range []KnapsackOptions{{Slots: -1}, {Slots: maxSlots + 1}, {Iterations: -1}, {Effort: -1}, {Steps: -1}} {
		if _, err := Places(context.Background(), in, sched.TotalJCT, o); err == nil || errors.Is(err, sched.ErrNotApplicable) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	b, err := ThetaLB0(in, sched.TotalJCT)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if d, err := Places(ctx, in, sched.TotalJCT, KnapsackOptions{}); err != nil || !d.Interrupted || d.Value.Cmp(b.Value) < 0 {
		t.Errorf("a context that has ended: %v (%v)", d, err)
	}
}

// TestBracketingPlaces: of jobs that share GPUs the lower side has the bound by places, in
// every class that it holds for, and on some instances it is the best one.
func TestBracketingPlaces(t *testing.T) {
	best := 0
	for seed := range uint64(8) {
		in := sharingDraw(seed)
		_, optimum := schedtest.SharingBruteForce(in, sched.TotalJCT)
		for _, class := range []sched.Class{{Kind: sched.S}, {Kind: sched.S, Slotted: true}, {Kind: sched.SP0}} {
			l, err := Bracketing(context.Background(), in, sched.TotalJCT, class, Effort{})
			if err != nil || l.Value.Cmp(optimum) > 0 {
				t.Fatalf("seed %d, %v: %+v (%v), optimum %v", seed, class, l, err, optimum)
			}
			if l.Name == placesName {
				best++
			}
		}
	}
	if best == 0 {
		t.Error("it is never the best")
	}
}
