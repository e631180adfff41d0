package elastic_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// resizing finds an optimum of class EPs for two jobs without loads and pauses: it
// decides slot by slot who runs how.
type resizing struct {
	in      *sched.Instance
	choices [][]resizable
	known   map[string]*big.Rat
}

// resizable is a choice with the mini-batches that it does in a slot.
type resizable struct {
	place *sched.Placement
	rate  *big.Rat
}

func newResizing(t testing.TB, in *sched.Instance) *resizing {
	b := &resizing{in: in, known: map[string]*big.Rat{}}
	for id := range in.Jobs {
		var list []resizable
		for _, c := range schedtest.ElasticChoices(in, sched.JobID(id)) {
			list = append(list, rate(t, in, sched.JobID(id), &c.Place))
		}
		b.choices = append(b.choices, b.best(list))
	}
	return b
}

func rate(t testing.TB, in *sched.Instance, id sched.JobID, p *sched.Placement) resizable {
	c, err := in.ReadElastic(id, p)
	if err != nil {
		t.Fatal(err)
	}
	r := in.BatchTime(id, c.WorkerType, c.ServerType, c.Workers, c.OneServer)
	r.Quo(big.NewRat(int64(in.Slot)*int64(c.Workers), 1_000_000), r)
	return resizable{p, r}
}

// takes returns what a choice takes of a server, 0 if it is not there.
func (b *resizing) takes(c *resizable, h, r int) int64 {
	for i := range c.place.Shares {
		if c.place.Shares[i].Server == h {
			return b.in.ElasticDemand(c.place, i, r)
		}
	}
	return 0
}

// best drops choices that are no faster than another which takes no more.
func (b *resizing) best(list []resizable) []resizable {
	within := func(x, y *resizable) bool {
		for h := range b.in.Cluster.Servers {
			for r := range b.in.Elastic.Resources {
				if b.takes(x, h, r) > b.takes(y, h, r) {
					return false
				}
			}
		}
		return x.rate.Cmp(y.rate) >= 0
	}
	var out []resizable
	for i := range list {
		keep := true
		for k := range list {
			if k != i && within(&list[k], &list[i]) && (k < i || !within(&list[i], &list[k])) {
				keep = false
			}
		}
		if keep {
			out = append(out, list[i])
		}
	}
	return out
}

// cost returns the least Σ w_j·(slots that job j has not completed by), from slot t
// on, with the given mini-batches left.
func (b *resizing) cost(t int64, left [2]*big.Rat) *big.Rat {
	if left[0].Sign() <= 0 && left[1].Sign() <= 0 {
		return new(big.Rat)
	}
	key := fmt.Sprint(min(t, 10), left[0], left[1])
	if v := b.known[key]; v != nil {
		return v
	}
	var best *big.Rat
	options := func(id int) []*resizable {
		out := []*resizable{nil}
		if left[id].Sign() > 0 && t >= b.in.FirstSlot(sched.JobID(id)) {
			for i := range b.choices[id] {
				out = append(out, &b.choices[id][i])
			}
		}
		return out
	}
	for _, x := range options(0) {
		for _, y := range options(1) {
			if !b.fit(x, y) || x == nil && y == nil && t >= b.in.FirstSlot(0) && t >= b.in.FirstSlot(1) {
				continue
			}
			next := left
			for id, c := range []*resizable{x, y} {
				if c != nil {
					next[id] = new(big.Rat).Sub(left[id], c.rate)
				}
				if next[id].Sign() < 0 {
					next[id] = new(big.Rat)
				}
			}
			if v := b.cost(t+1, next); best == nil || v.Cmp(best) < 0 {
				best = v
			}
		}
	}
	best = new(big.Rat).Set(best)
	for id := range left {
		if left[id].Sign() > 0 {
			best.Add(best, new(big.Rat).SetFloat64(b.in.Jobs[id].Weight))
		}
	}
	b.known[key] = best
	return best
}

func (b *resizing) fit(x, y *resizable) bool {
	if x == nil || y == nil {
		return true
	}
	for h := range b.in.Cluster.Servers {
		for r, has := range b.in.Cluster.Servers[h].Capacity {
			if b.takes(x, h, r)+b.takes(y, h, r) > has {
				return false
			}
		}
	}
	return true
}

// TestBelowPreemptiveOptimum: bounds of class F(min)s do not exceed the optimum of
// jobs that are resized in every slot; some of class Es do.
func TestBelowPreemptiveOptimum(t *testing.T) {
	lower, exceeding := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 12))
		s := shape(r, 2)
		s.Servers, s.Workers, s.Capacity, s.Slots = 1+r.IntN(2), 3, 4, 3
		in := schedtest.Elastic(r, s)
		const obj = sched.WeightedCompletion
		_, optimum := schedtest.ElasticBruteForce(in, obj)
		left := [2]*big.Rat{big.NewRat(in.Jobs[0].Elastic.Batches, 1), big.NewRat(in.Jobs[1].Elastic.Batches, 1)}
		best := newResizing(t, in).cost(0, left)
		best.Mul(best, new(big.Rat).SetInt64(int64(in.Slot)))
		if best.Cmp(optimum) > 0 {
			t.Fatalf("seed %d: resizing costs %v, keeping %v", seed, best, optimum)
		}
		if best.Cmp(optimum) < 0 {
			lower++
		}
		for _, b := range all(t, in, obj) {
			if b.Value.Cmp(best) <= 0 {
				continue
			}
			if b.Divides(sched.Class{Kind: sched.EP, Slotted: true}, obj) == nil {
				t.Fatalf("seed %d: %s of class %v is %v, more than %v\n%+v", seed, b.Name, b.Class, b.Value, best, in)
			}
			exceeding++
		}
	}
	t.Logf("resizing pays in %d instances; %d bounds of class Es exceed what it reaches", lower, exceeding)
	if lower < 10 || exceeding == 0 {
		t.Error("too few instances in which resizing pays")
	}
}
