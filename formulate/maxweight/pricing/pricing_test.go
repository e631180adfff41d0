package pricing_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// shape varies everything that random elastic instances can.
func shape(r *rand.Rand, jobs int) schedtest.ElasticShape {
	return schedtest.ElasticShape{Jobs: jobs, Servers: 1 + r.IntN(3), Resources: 1 + r.IntN(3), WorkerTypes: 1 + r.IntN(2), ServerTypes: r.IntN(3),
		Workers: 4, Capacity: 4 + r.IntN(4), Slots: 4, Rings: r.IntN(2) == 0, Weights: true, Releases: sched.Time(r.IntN(3)) * 8 * sched.Second}
}

// instance returns a random instance, in which a third of the time all servers
// are like the first.
func instance(r *rand.Rand) *sched.Instance {
	in := schedtest.Elastic(r, shape(r, 2))
	if r.IntN(3) == 0 {
		for h := range in.Cluster.Servers {
			in.Cluster.Servers[h] = in.Cluster.Servers[0]
		}
	}
	return in
}

// randomPrices are 0 to 4, often all 0 or the same on all servers.
func randomPrices(t *testing.T, r *rand.Rand, in *sched.Instance, slots int) *pricing.Prices {
	t.Helper()
	rows := len(in.Elastic.Resources) * slots
	of := make([]int64, len(in.Cluster.Servers)*rows)
	most := 1 + r.Int64N(5)
	for i := range of {
		of[i] = r.Int64N(most)
	}
	if r.IntN(3) == 0 {
		for h := range in.Cluster.Servers {
			copy(of[h*rows:], of[:rows])
		}
	}
	p, err := pricing.NewPrices(in, slots, 0, of)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// randomRoom is the empty cluster, or what some amount leaves of each resource.
func randomRoom(r *rand.Rand, in *sched.Instance, slots int) *pricing.Room {
	if r.IntN(3) == 0 {
		return nil
	}
	room := pricing.NewRoom(in, slots)
	some := 1 + r.IntN(4)
	for i := range room.Free {
		if r.IntN(some) == 0 {
			room.Free[i] = r.Int64N(room.Free[i] + 1)
		}
	}
	return room
}

// price is the definition of the cost of a placement in a window; -1 if there is
// no room for it.
func price(in *sched.Instance, p *pricing.Prices, room *pricing.Room, place *sched.Placement, start, end int64) int64 {
	sum := int64(0)
	for i := range place.Shares {
		for k := range in.Elastic.Resources {
			f := in.ElasticDemand(place, i, k)
			for t := start; t < min(end, int64(p.Slots)); t++ {
				at := (place.Shares[i].Server*len(in.Elastic.Resources)+k)*p.Slots + int(t)
				if room != nil && f > room.Free[at] {
					return -1
				}
				sum += f * p.Of[at]
			}
		}
	}
	return sum
}

// check verifies that a choice is what it says.
func check(t *testing.T, in *sched.Instance, m *pricing.Model, q pricing.Query, p *pricing.Prices, room *pricing.Room, c *pricing.Choice) {
	t.Helper()
	place := c.Placement(in)
	read, err := in.ReadElastic(q.Job, &place)
	if err != nil {
		t.Fatalf("%+v: %v", c, err)
	}
	if read.Workers != c.ElasticConfig.Workers || read.Slots > c.Slots || read.WorkerType != c.WorkerType || c.OneServer && !read.OneServer || c.ElasticConfig != m.Configs[q.Job][c.Config] {
		t.Fatalf("%+v is read as %+v", c, read)
	}
	cost := price(in, p, room, &place, c.Start, c.End())
	if cost < 0 || cost+q.TimeCost*c.End() != c.Cost || p.Cost(in, c) != cost {
		t.Fatalf("%+v costs %d and %d of time, Prices says %d", c, cost, q.TimeCost*c.End(), p.Cost(in, c))
	}
	if c.Start < max(q.Earliest, in.FirstSlot(q.Job)) || c.End() > q.Latest {
		t.Fatalf("%+v from slot %d to %d", c, q.Earliest, q.Latest)
	}
	if room != nil && c.End() <= int64(room.Slots) && !room.Fits(c) {
		t.Fatalf("%+v does not fit the room", c)
	}
}

// limitedTo checks that a limit at or above the least cost changes nothing, and
// that one below leaves nothing.
func limitedTo(t *testing.T, market *pricing.Market, q pricing.Query, got *pricing.Choice, ok bool) {
	t.Helper()
	for _, most := range []int64{got.Cost - 1, got.Cost, got.Cost + 1, math.MaxInt64} {
		q.Most = &most
		again, found := market.Cheapest(q)
		if want := ok && most >= got.Cost; found != want || want && key(&again) != key(got) {
			t.Fatalf("%+v, %v; %+v, %v with a cost of at most %d", got, ok, again, found, most)
		}
	}
}

// TestCheapest compares with all schedules: every y and s, with parameter
// servers on several servers and more workers than needed, at every start.
func TestCheapest(t *testing.T) {
	feasible, infeasible, full := 0, 0, 0
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 1))
		in := instance(r)
		m := pricing.New(in)
		slots := 1 + r.IntN(9)
		p, room := randomPrices(t, r, in, slots), randomRoom(r, in, slots)
		market := m.Market(p, room)
		for id := range in.Jobs {
			q := pricing.Query{Job: sched.JobID(id), Earliest: r.Int64N(3), Latest: int64(slots), TimeCost: r.Int64N(2) * r.Int64N(20)}
			if r.IntN(4) == 0 {
				q.Latest = pricing.NoLimit
			}
			got, ok := market.Cheapest(q)
			limitedTo(t, market, q, &got, ok)
			least := int64(math.MaxInt64)
			for _, c := range schedtest.ElasticChoices(in, q.Job) {
				for start := max(q.Earliest, in.FirstSlot(q.Job)); start <= int64(slots)+3 && start+c.Slots <= q.Latest; start++ {
					if cost := price(in, p, room, &c.Place, start, start+c.Slots); cost >= 0 {
						least = min(least, cost+q.TimeCost*(start+c.Slots))
					}
				}
			}
			if ok != (least < math.MaxInt64) || ok && got.Cost != least {
				t.Fatalf("seed %d, job %d: %+v, %v; want %d\n%+v", seed, id, got, ok, least, in)
			}
			if !ok {
				infeasible++
				continue
			}
			feasible++
			if room != nil {
				full++
			}
			check(t, in, m, q, p, room, &got)
		}
	}
	t.Logf("%d feasible, %d of them with residual capacity; %d infeasible", feasible, full, infeasible)
	if feasible < 3000 || infeasible < 400 || full < 1500 {
		t.Error("too few of a kind")
	}
}

// key tells choices apart, whatever they cost.
func key(c *pricing.Choice) string {
	return fmt.Sprint(c.Config, c.Start, c.Workers, c.Host, c.Servers)
}

// TestLimits compares restricted queries with All, filtered.
func TestLimits(t *testing.T) {
	feasible, infeasible := 0, 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 2))
		in := instance(r)
		m := pricing.New(in)
		slots := 3 + r.IntN(7)
		p := randomPrices(t, r, in, slots)
		market := m.Market(p, nil)
		for id := range in.Jobs {
			all := slices.Collect(m.All(sched.JobID(id), int64(slots)))
			if len(all) == 0 {
				continue
			}
			seen := map[string]bool{}
			for i := range all {
				if k := key(&all[i]); seen[k] {
					t.Fatalf("seed %d: All lists %s twice", seed, k)
				} else {
					seen[k] = true
				}
			}
			for range 5 {
				limits := randomLimits(r, in, m, sched.JobID(id), &all[r.IntN(len(all))])
				q := pricing.Query{Job: sched.JobID(id), Latest: int64(slots), TimeCost: r.Int64N(3), Limits: limits}
				least := int64(math.MaxInt64)
				for i := range all {
					if limits.Allow(&all[i]) {
						least = min(least, p.Cost(in, &all[i])+q.TimeCost*all[i].End())
					}
				}
				got, ok := market.Cheapest(q)
				if ok != (least < math.MaxInt64) || ok && got.Cost != least {
					t.Fatalf("seed %d, job %d, %+v: %+v, %v; want %d\n%+v", seed, id, limits, got, ok, least, in)
				}
				if !ok {
					infeasible++
					continue
				}
				feasible++
				check(t, in, m, q, p, nil, &got)
				if !limits.Allow(&got) || !seen[key(&got)] {
					t.Fatalf("seed %d: %+v breaks %+v, or is not listed (%v)", seed, got, limits, seen[key(&got)])
				}
			}
		}
	}
	t.Logf("%d feasible, %d infeasible", feasible, infeasible)
	if feasible < 3000 || infeasible < 300 {
		t.Error("too few of a kind")
	}
}

// randomLimits are likely, but not certain, to allow the given choice.
func randomLimits(r *rand.Rand, in *sched.Instance, m *pricing.Model, id sched.JobID, near *pricing.Choice) *pricing.Limits {
	l := &pricing.Limits{Last: math.MaxInt64}
	if r.IntN(2) == 0 {
		l.First = max(0, near.Start-r.Int64N(3))
		l.Last = l.First + r.Int64N(4)
	}
	if r.IntN(2) == 0 {
		first := max(0, near.End()-r.Int64N(3))
		l.Ends = &pricing.Span{First: first, Last: first + r.Int64N(4)}
	}
	if r.IntN(2) == 0 {
		for range m.Configs[id] {
			l.Configs = append(l.Configs, r.IntN(2) == 0)
		}
		l.Configs[near.Config] = true
	}
	if r.IntN(3) > 0 {
		for h := range in.Cluster.Servers {
			l.Least = append(l.Least, max(0, near.Workers[h]-r.IntN(3)))
			l.Most = append(l.Most, near.Workers[h]+r.IntN(3))
		}
	}
	if r.IntN(2) == 0 {
		for range in.Cluster.Servers {
			l.Hosts = append(l.Hosts, r.IntN(2) == 0)
		}
		if near.Host >= 0 && r.IntN(3) > 0 {
			l.Hosts[near.Host] = true
		}
	}
	return l
}

// TestAll compares the columns with the undominated choices of schedtest, each
// at every start.
func TestAll(t *testing.T) {
	total := 0
	schedtest.EachSeed(t, 200, func(t *testing.T, r *rand.Rand) {
		in := instance(r)
		m := pricing.New(in)
		for id := range in.Jobs {
			tau := 1 + r.Int64N(8)
			got := map[string]int{}
			for c := range m.All(sched.JobID(id), tau) {
				p := c.Placement(in)
				got[fmt.Sprint(p.Shares, *p.Config, c.Start, c.Slots)]++
			}
			want := map[string]int{}
			for _, c := range schedtest.UndominatedChoices(in, sched.JobID(id)) {
				read, err := in.ReadElastic(sched.JobID(id), &c.Place)
				if err != nil {
					t.Fatal(err)
				}
				for _, config := range m.Configs[id] { // one server runs at both paces
					if config.WorkerType != read.WorkerType || config.ServerType != read.ServerType || config.Workers != read.Workers || config.OneServer && !read.OneServer {
						continue
					}
					for start := in.FirstSlot(sched.JobID(id)); start+config.Slots <= tau; start++ {
						want[fmt.Sprint(c.Place.Shares, *c.Place.Config, start, config.Slots)] = 1
					}
				}
			}
			for k := range got {
				got[k] = 1
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("job %d: %d columns, want %d\n%v\n%v\n%+v", id, len(got), len(want), got, want, in)
			}
			total += len(got)
		}
	})
	if total < 5000 {
		t.Errorf("only %d columns compared", total)
	}
}

// TestGroups: prices and placements of servers that are alike do not depend on
// which of them are listed first.
func TestGroups(t *testing.T) {
	schedtest.EachSeed(t, 300, func(t *testing.T, r *rand.Rand) {
		s := shape(r, 2)
		s.Servers = 2
		in := schedtest.Elastic(r, s)
		kinds := slices.Clone(in.Cluster.Servers)
		in.Cluster.Servers = nil
		var kind []int
		for range 2 + r.IntN(5) {
			kind = append(kind, r.IntN(2))
			in.Cluster.Servers = append(in.Cluster.Servers, kinds[kind[len(kind)-1]])
		}
		m := pricing.New(in)
		const slots = 6
		two := randomPrices(t, r, &sched.Instance{Cluster: sched.Cluster{Servers: kinds}, Elastic: in.Elastic}, slots)
		var of []int64
		rows := len(in.Elastic.Resources) * slots
		for _, k := range kind {
			of = append(of, two.Of[k*rows:][:rows]...)
		}
		p, err := pricing.NewPrices(in, slots, 0, of)
		if err != nil {
			t.Fatal(err)
		}
		grouped := m.Market(p, nil)
		for id := range in.Jobs {
			q := pricing.Query{Job: sched.JobID(id), Latest: slots}
			a, ok := grouped.Cheapest(q)
			q.Limits = &pricing.Limits{Last: math.MaxInt64, Least: make([]int, len(kind))} // no limit, but no groups either
			b, found := grouped.Cheapest(q)
			if ok != found || a.Cost != b.Cost {
				t.Fatalf("job %d: %+v %v in groups, %+v %v without\n%+v", id, a, ok, b, found, in)
			}
			if ok {
				check(t, in, m, q, p, nil, &a)
				check(t, in, m, q, p, nil, &b)
			}
		}
	})
}

// TestRound: rounded prices are at most what was given, nearly as much, and
// everything fits an int64.
func TestRound(t *testing.T) {
	schedtest.EachSeed(t, 300, func(t *testing.T, r *rand.Rand) {
		in := instance(r)
		slots := 1 + r.IntN(6)
		delta := make([]float64, len(in.Cluster.Servers)*len(in.Elastic.Resources)*slots)
		total, scale := 0.0, math.Ldexp(1, r.IntN(120)-60)
		for i := range delta {
			delta[i] = scale * r.Float64()
			total += delta[i] * float64(in.Cluster.Servers[i/slots/len(in.Elastic.Resources)].Capacity[i/slots%len(in.Elastic.Resources)])
		}
		amount := total * r.Float64() * 3
		p := pricing.Round(in, slots, delta, amount)
		for i, v := range delta {
			if got := p.Float(i); got > v || got < v-math.Ldexp(1, -p.Exponent) {
				t.Fatalf("price %v became %v", v, got)
			}
		}
		if u := max(float64(p.Total()), float64(p.Units(amount))); u < math.Ldexp(1, 57) || u > math.Ldexp(1, 60) {
			t.Fatalf("%v units", u)
		}
		value, _ := p.Value(big.NewInt(p.Total())).Float64()
		if math.Abs(value-total) > 1e-9*total {
			t.Fatalf("the total is %v, not %v", value, total)
		}
		again, err := pricing.NewPrices(in, slots, p.Exponent, p.Of)
		if err != nil || again.Total() != p.Total() {
			t.Fatalf("%v, %v", again, err)
		}
	})
}

// TestPricesRefused: what does not fit an int64 is an error, or becomes 0.
func TestPricesRefused(t *testing.T) {
	in := schedtest.Elastic(schedtest.Rand(1), schedtest.ElasticShape{Jobs: 1, Servers: 1, Resources: 1, WorkerTypes: 1, Workers: 1, Capacity: 4, Slots: 2})
	capacity := in.Cluster.Servers[0].Capacity[0]
	if _, err := pricing.NewPrices(in, 1, 0, []int64{1<<60/capacity + 1}); err == nil {
		t.Error("prices beyond 2^60 are accepted")
	}
	if p, err := pricing.NewPrices(in, 1, 0, []int64{1 << 60 / capacity}); err != nil || p.Total() < 1<<59 {
		t.Error(p, err)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0} {
		if p := pricing.Round(in, 1, []float64{v}, 0); p.Total() != 0 {
			t.Errorf("%v became %v", v, p.Of)
		}
	}
	for _, v := range []float64{5e-324, 1e-300, 1e260} {
		if p := pricing.Round(in, 1, []float64{v}, v); p.Float(0) > v {
			t.Errorf("%v became %v", v, p.Float(0))
		}
	}
}

// TestTimeCostCapped: the cost of time stays an int64.
func TestTimeCostCapped(t *testing.T) {
	in := schedtest.Elastic(schedtest.Rand(1), schedtest.ElasticShape{Jobs: 1, Servers: 1, Resources: 1, WorkerTypes: 1, Workers: 1, Capacity: 4, Slots: 2})
	p, err := pricing.NewPrices(in, 1, 0, []int64{3})
	if err != nil {
		t.Fatal(err)
	}
	c, ok := pricing.New(in).Market(p, nil).Cheapest(pricing.Query{Latest: pricing.NoLimit, TimeCost: math.MaxInt64})
	if !ok || c.Cost < 1<<61 {
		t.Errorf("%+v, %v", c, ok)
	}
}

// TestRoom: what is taken is gone until it is given back.
func TestRoom(t *testing.T) {
	schedtest.EachSeed(t, 200, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Elastic(r, shape(r, 3))
		m := pricing.New(in)
		const slots = 40
		room := pricing.NewRoom(in, slots)
		before := room.Clone()
		none, err := pricing.NewPrices(in, slots, 0, make([]int64, len(room.Free)))
		if err != nil {
			t.Fatal(err)
		}
		s := &sched.Schedule{Class: sched.Class{Kind: sched.E, Slotted: true}}
		var taken []pricing.Choice
		for id := range in.Jobs {
			c, ok := m.Market(none, room).Cheapest(pricing.Query{Job: sched.JobID(id), Latest: pricing.NoLimit, TimeCost: 1})
			if !ok || !room.Fits(&c) {
				t.Fatalf("job %d does not fit %d slots: %+v", id, slots, c)
			}
			room.Take(&c)
			taken = append(taken, c)
			s.Segments = append(s.Segments, c.Segment(in, sched.JobID(id)))
		}
		s.Sort()
		schedtest.Verify(t, in, s)
		for i := range taken {
			room.Give(&taken[i])
		}
		if !slices.Equal(room.Free, before.Free) {
			t.Fatal("not everything came back")
		}
	})
}

// TestFits compares with all placements.
func TestFits(t *testing.T) {
	schedtest.EachSeed(t, 200, func(t *testing.T, r *rand.Rand) {
		in := instance(r)
		fitter := pricing.New(in).Fitter()
		for id := range in.Jobs {
			exists := map[sched.ElasticConfig]bool{}
			for _, c := range schedtest.ElasticChoices(in, sched.JobID(id)) {
				read, _ := in.ReadElastic(sched.JobID(id), &c.Place)
				read.Slots = 0
				exists[read] = true
				read.OneServer = false // a legal pace anywhere
				exists[read] = true
			}
			e := in.Jobs[id].Elastic
			for w := range e.Train {
				for p := range e.Update {
					for n := 1; n <= e.MaxWorkers; n++ {
						for _, one := range []bool{true, false} {
							c := sched.ElasticConfig{WorkerType: w, ServerType: p, OneServer: one, Workers: n}
							if got := fitter.Fits(sched.JobID(id), c); got != exists[c] {
								t.Fatalf("job %d: %+v fits: %v, want %v\n%+v", id, c, got, exists[c], in)
							}
						}
					}
				}
			}
		}
	})
}
