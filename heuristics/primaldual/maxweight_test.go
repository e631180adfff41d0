package primaldual_test

import (
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"yardstick/bounds/theorems"
	"yardstick/formulate/maxweight/pricing"
	"yardstick/heuristics/primaldual"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// shape draws the shape of a small instance that enumeration can cope with.
func shape(r *rand.Rand, jobs int) schedtest.ElasticShape {
	return schedtest.ElasticShape{Jobs: jobs, Servers: 1 + r.IntN(2), Resources: 1 + r.IntN(3), WorkerTypes: 1 + r.IntN(2), ServerTypes: r.IntN(3),
		Workers: 3, Capacity: 3 + r.IntN(4), Slots: 4, Rings: r.IntN(2) == 0, Weights: true, Releases: sched.Time(r.IntN(2)) * 30 * sched.Second}
}

func allJobs(in *sched.Instance) []sched.JobID {
	ids := make([]sched.JobID, len(in.Jobs))
	for i := range ids {
		ids[i] = sched.JobID(i)
	}
	return ids
}

// problem is that of all jobs by the instance's deadline.
func problem(in *sched.Instance) primaldual.Problem {
	return primaldual.Problem{Model: pricing.New(in), Jobs: allJobs(in), Horizon: in.DeadlineSlots(), Bounded: true}
}

// schedule turns runs into a schedule, in which no job holds containers longer
// than it needs.
func schedule(t testing.TB, in *sched.Instance, runs []primaldual.Run) *sched.Schedule {
	t.Helper()
	s := &sched.Schedule{Class: sched.Class{Kind: sched.E, Slotted: true}, Segments: []sched.Segment{}}
	for _, x := range runs {
		c, err := in.ReadElastic(x.Job, &x.Place)
		if err != nil || c.Slots > x.End-x.Start {
			t.Fatalf("%+v needs %d slots, %v", x, c.Slots, err)
		}
		s.Segments = append(s.Segments, in.ElasticSegment(x.Job, x.Start, x.End-x.Start, x.Place))
	}
	s.Sort()
	return s
}

func weight(in *sched.Instance, runs []primaldual.Run) *big.Rat {
	sum := new(big.Rat)
	for _, x := range runs {
		sum.Add(sum, new(big.Rat).SetFloat64(in.Jobs[x.Job].Weight))
	}
	return sum
}

func greedies() []primaldual.Greedy {
	var out []primaldual.Greedy
	for _, p := range []primaldual.Pricing{primaldual.Printed, primaldual.Corrected, primaldual.Normalised} {
		for _, o := range []primaldual.Order{primaldual.ByDensity, primaldual.ByWeight, primaldual.ByRelease} {
			out = append(out, primaldual.Greedy{Pricing: p, Order: o}, primaldual.Greedy{Pricing: p, Order: o, Fill: true})
		}
	}
	return out
}

// TestGreedyBruteForce: weight ≤ optimum ≤ certificate, on schedules that keep
// every rule.
func TestGreedyBruteForce(t *testing.T) {
	share := map[string]float64{}
	bound, instances := 0.0, 0.0
	schedtest.EachSeed(t, 120, func(t *testing.T, r *rand.Rand) {
		s := shape(r, 4)
		s.Deadline = 2 + r.Int64N(6)
		in := schedtest.Elastic(r, s)
		_, optimum := schedtest.ElasticOptimum(in, sched.ScheduledWeight, schedtest.UndominatedChoices)
		if optimum.Sign() == 0 {
			return
		}
		instances++
		for _, g := range greedies() {
			b, err := g.Solve(problem(in))
			if err != nil {
				t.Fatal(err)
			}
			again, _ := g.Solve(problem(in))
			if !reflect.DeepEqual(b, again) {
				t.Errorf("%s does not repeat", g.Name())
			}
			v := schedtest.Verify(t, in, schedule(t, in, b.Runs))
			w := v.Cost(sched.ScheduledWeight)
			if w.Cmp(weight(in, b.Runs)) != 0 || w.Cmp(optimum) > 0 || b.Upper.Cmp(optimum) < 0 {
				t.Errorf("%s: weight %v of %v, bound %v\n%+v", g.Name(), w, optimum, b.Upper, in)
			}
			share[g.Name()] += ratio(w, optimum)
			if g == (primaldual.Greedy{Pricing: primaldual.Normalised}) {
				bound += ratio(b.Upper, optimum)
			}
		}
	})
	for _, g := range greedies() {
		t.Logf("%s: %.3f of the optimum on average", g.Name(), share[g.Name()]/instances)
	}
	t.Logf("bound/optimum with normalised prices: %.3f on average of %v instances", bound/instances, instances)
}

// TestFillOnlyAdds: the second pass keeps what the first did.
func TestFillOnlyAdds(t *testing.T) {
	more := 0
	schedtest.EachSeed(t, 60, func(t *testing.T, r *rand.Rand) {
		s := shape(r, 8)
		s.Deadline = 3 + r.Int64N(6)
		in := schedtest.Elastic(r, s)
		for _, g := range greedies() {
			plain, filled := g, g
			plain.Fill, filled.Fill = false, true
			a, b := plain.Outcome(problem(in)), filled.Outcome(problem(in))
			if !reflect.DeepEqual(a.Runs, b.Runs[:len(a.Runs)]) || !reflect.DeepEqual(a.Utility, b.Utility) {
				t.Fatalf("%s: %+v, and filled %+v", plain.Name(), a.Runs, b.Runs)
			}
			more += len(b.Runs) - len(a.Runs)
		}
	})
	if more == 0 {
		t.Error("the second pass never added a job")
	}
}

// roomy is an instance in which every demand is small, so that Theorem 3,
// corrected, applies: many jobs of one or two workers on large servers.
func roomy(r *rand.Rand) *sched.Instance {
	s := schedtest.ElasticShape{Jobs: 60 + r.IntN(60), Servers: 1 + r.IntN(2), Resources: 1 + r.IntN(2), WorkerTypes: 1 + r.IntN(2), ServerTypes: r.IntN(2),
		Workers: 1 + r.IntN(2), Capacity: 20, Slots: 2, Rings: true, Weights: true, Deadline: 2}
	in := schedtest.Elastic(r, s)
	for h := range in.Cluster.Servers {
		server := &in.Cluster.Servers[h]
		for k := range server.Capacity {
			server.Capacity[k] = 80 + r.Int64N(60)
		}
		if len(server.Capacity) > 1 {
			server.GPUs = int(server.Capacity[1])
		}
	}
	return in
}

// TestTheorem3Corrected: without looking at what is left, no resource is
// overdrawn; the duals are feasible; and their value is at most the proven ratio
// times the weight. All exact, the logarithm in the ratio enclosed.
func TestTheorem3Corrected(t *testing.T) {
	applied, rejected, most := 0, 0, 0.0
	schedtest.EachSeed(t, 60, func(t *testing.T, r *rand.Rand) {
		in := roomy(r)
		p := problem(in)
		g := primaldual.Greedy{Pricing: primaldual.Corrected, Order: primaldual.Order(r.IntN(3)), Unchecked: true}
		o := g.Outcome(p)
		if o.Tariff.Crowd > 1 {
			return
		}
		applied++
		schedtest.Verify(t, in, schedule(t, in, o.Runs))
		dual := new(big.Rat)
		resources := len(in.Elastic.Resources)
		delta := make([]*big.Rat, len(o.Delta))
		for i, v := range o.Delta {
			delta[i] = new(big.Rat).SetFloat64(v)
			c := in.Cluster.Servers[i/int(p.Horizon)/resources].Capacity[i/int(p.Horizon)%resources]
			dual.Add(dual, new(big.Rat).Mul(delta[i], big.NewRat(c, 1)))
		}
		for i, id := range p.Jobs {
			u := new(big.Rat)
			if o.Utility[i] != nil {
				u = o.Utility[i]
			} else {
				rejected++
			}
			dual.Add(dual, u)
			for c := range p.Model.All(id, p.Horizon) {
				left := new(big.Rat).Set(u) // u + cost, at least w
				c.Use(in, func(h, k int, amount int64) {
					for slot := c.Start; slot < c.End(); slot++ {
						left.Add(left, new(big.Rat).Mul(delta[(h*resources+k)*int(p.Horizon)+int(slot)], big.NewRat(amount, 1)))
					}
				})
				if left.Cmp(big.NewRat(int64(in.Jobs[id].Weight), 1)) < 0 {
					t.Fatalf("job %d: u + cost = %v < w = %v", id, left, in.Jobs[id].Weight)
				}
			}
		}
		mu, demand := new(big.Rat).SetFloat64(o.Tariff.Mu), new(big.Rat).SetFloat64(o.Tariff.S)
		result := theorems.Approximation(theorems.MaxWeight{Weight: weight(in, o.Runs), Optimum: theorems.Interval{Upper: dual},
			Lambda: new(big.Rat).SetFloat64(o.Tariff.Lambda), MuS: mu.Mul(mu, demand), SmallDemands: true, Prohibitive: true}, theorems.Sharp)
		if result.Verdict != theorems.Holds || !result.Met() {
			t.Errorf("the dual is %v, allowed are %v", result.Left, result.Right)
		}
		most = max(most, ratio(result.Left, result.Right))
	})
	t.Logf("applied to %d instances, %d jobs rejected; dual/(ratio·primal) up to %.3f", applied, rejected, most)
	if applied < 40 || rejected < 500 {
		t.Error("to too few")
	}
}

// TestUncheckedOverdraws: where demands are large, prices alone do not keep
// schedules within what there is.
func TestUncheckedOverdraws(t *testing.T) {
	over := 0
	for seed := range uint64(60) {
		r := schedtest.Rand(seed)
		s := shape(r, 8)
		s.Deadline = 4
		in := schedtest.Elastic(r, s)
		o := primaldual.Greedy{Pricing: primaldual.Printed, Unchecked: true}.Outcome(problem(in))
		used := map[[3]int64]int64{}
		for _, x := range o.Runs {
			for i := range x.Place.Shares {
				for k := range in.Elastic.Resources {
					for slot := x.Start; slot < x.End; slot++ {
						used[[3]int64{int64(x.Place.Shares[i].Server), int64(k), slot}] += in.ElasticDemand(&x.Place, i, k)
					}
				}
			}
		}
		for at, v := range used {
			if v > in.Cluster.Servers[at[0]].Capacity[at[1]] {
				over++
				break
			}
		}
	}
	if over == 0 {
		t.Error("never")
	}
}

// TestCertify: any prices prove a bound.
func TestCertify(t *testing.T) {
	exact := 0
	schedtest.EachSeed(t, 150, func(t *testing.T, r *rand.Rand) {
		s := shape(r, 4)
		s.Deadline = 2 + r.Int64N(5)
		in := schedtest.Elastic(r, s)
		if r.IntN(2) == 0 {
			for i := range in.Jobs {
				in.Jobs[i].Weight += 0.25
			}
		}
		p := problem(in)
		_, optimum := schedtest.ElasticOptimum(in, sched.ScheduledWeight, schedtest.UndominatedChoices)
		delta := make([]float64, len(in.Cluster.Servers)*len(in.Elastic.Resources)*int(p.Horizon))
		for i := range delta {
			delta[i] = r.Float64() * float64(r.IntN(3))
		}
		prices := pricing.Round(in, int(p.Horizon), delta, 10)
		c := primaldual.Certify(p, prices, 0)
		if c.Value.Cmp(optimum) < 0 {
			t.Fatalf("bound %v, optimum %v\n%+v", c.Value, optimum, in)
		}
		if c.Value.Cmp(optimum) == 0 {
			exact++
		}
		naive := naiveBound(p, prices)
		if tight := primaldual.Certify(p, prices, 20).Value; tight.Cmp(optimum) < 0 || tight.Cmp(c.Value) > 0 {
			t.Fatalf("bound %v, tightened %v, optimum %v", c.Value, tight, optimum)
		}
		if naive.Cmp(c.Value) != 0 {
			t.Fatalf("bound %v, by trying every theta %v", c.Value, naive)
		}
	})
	t.Logf("tight on %d instances", exact)
}

// naiveBound evaluates the bound at every point where it may be least.
func naiveBound(p primaldual.Problem, prices *pricing.Prices) *big.Rat {
	in := p.Model.In
	var w, c []*big.Rat
	thetas := []*big.Rat{new(big.Rat)}
	whole := true
	for _, id := range p.Jobs {
		least := int64(-1)
		for x := range p.Model.All(id, p.Horizon) {
			if v := prices.Cost(in, &x); least < 0 || v < least {
				least = v
			}
		}
		if least < 0 {
			continue
		}
		w = append(w, new(big.Rat).SetFloat64(in.Jobs[id].Weight))
		c = append(c, new(big.Rat).SetInt64(least))
		whole = whole && w[len(w)-1].IsInt()
		if least > 0 {
			thetas = append(thetas, new(big.Rat).Quo(w[len(w)-1], c[len(c)-1]))
		}
	}
	var best *big.Rat
	for _, theta := range thetas {
		v := new(big.Rat).Mul(theta, new(big.Rat).SetInt64(prices.Total()))
		for i := range w {
			if u := new(big.Rat).Sub(w[i], new(big.Rat).Mul(theta, c[i])); u.Sign() > 0 {
				v.Add(v, u)
			}
		}
		if best == nil || v.Cmp(best) < 0 {
			best = v
		}
	}
	if whole {
		best = new(big.Rat).SetInt(new(big.Int).Quo(best.Num(), best.Denom()))
	}
	return best
}

// TestAlike: jobs that share what they are made of are treated as others are.
func TestAlike(t *testing.T) {
	schedtest.EachSeed(t, 40, func(t *testing.T, r *rand.Rand) {
		s := shape(r, 3)
		s.Deadline = 3 + r.Int64N(5)
		in := schedtest.Elastic(r, s)
		for range 4 {
			in.Jobs = append(in.Jobs, in.Jobs[:3]...)
		}
		apart := *in
		apart.Jobs = slices.Clone(in.Jobs)
		for i := range apart.Jobs {
			e := *apart.Jobs[i].Elastic
			apart.Jobs[i].Elastic = &e
		}
		for _, g := range greedies() {
			a, b := g.Outcome(problem(in)), g.Outcome(problem(&apart))
			if !reflect.DeepEqual(a.Runs, b.Runs) || primaldual.Certify(problem(in), a.Prices(), 0).Value.Cmp(primaldual.Certify(problem(&apart), b.Prices(), 0).Value) != 0 {
				t.Fatalf("%s: %+v and %+v", g.Name(), a.Runs, b.Runs)
			}
		}
	})
}
