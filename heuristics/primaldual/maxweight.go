package primaldual

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
)

// Problem is a maximum weighted schedule problem, Definition 1 and problems (7)
// and (16): of the given jobs, those of the largest weight are to complete by the
// horizon in an empty cluster.
type Problem struct {
	// Model has the instance, whose releases count, and the configurations of
	// at least the jobs given.
	Model   *pricing.Model
	Jobs    []sched.JobID
	Horizon int64 // tau, in slots
	// Bounded asks for Batch.Upper.
	Bounded bool
}

// Run is a job that was given a window and containers.
type Run struct {
	Job        sched.JobID
	Start, End int64 // slots
	Place      sched.Placement
}

// Batch is what a solver makes of a problem.
type Batch struct {
	Runs []Run
	// Upper is proven: no schedule of the problem has more weight. It may be
	// nil if it was not asked for.
	Upper *big.Rat
	// Unfit is how many schedules had fewer workers than they need, see [PrintedSchedules].
	Unfit int
}

// MaxWeight solves maximum weighted schedule problems, exactly or not. Its
// answers must depend on the problem only.
type MaxWeight interface {
	Name() string
	Solve(Problem) (*Batch, error)
}

// Order is the order in which A_maxweight considers jobs, which the paper leaves
// open.
type Order uint8

// The orders. Equal jobs go by number.
const (
	ByDensity Order = iota // weight over least volume, the densest first
	ByWeight               // the heaviest first
	ByRelease              // the earliest first
)

var orderNames = []string{"density", "weight", "release"}

func (o Order) String() string { return orderNames[o] }

// MarshalText implements encoding.TextMarshaler.
func (o Order) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *Order) UnmarshalText(text []byte) error { return parse(o, text, orderNames, "order") }

// Greedy is A_maxweight, Algorithm 3: jobs one by one, each on its cheapest
// schedule at the present prices if that costs less than its weight. The zero
// value is the algorithm with the prices of Eq. (11), by density.
type Greedy struct {
	Pricing Pricing
	Order   Order
	// Fill offers the jobs that were rejected their cheapest schedule at the
	// last prices, whatever it costs, in a second pass. Not in the source; the
	// weight only grows.
	Fill bool
	// Unchecked leaves out the residual capacities ω of Algorithms 4 to 7, and
	// relies on the prices. Schedules may then take more than there is.
	Unchecked bool
	// Tariff is what resources cost in every problem, such as [PaperTariff]. nil
	// makes a tariff of the jobs of each problem.
	Tariff *Tariff
	// Schedules says how the cheapest schedule of a job is found.
	Schedules Schedules
	// Slots is T in Eq. (11), which the horizon of a problem stands for if it is
	// 0. It does not matter if there is a Tariff.
	Slots int64
	// Factor multiplies F, which λ grows with: the paper varies F by itself
	// (Figs. 4 and 11). 0 stands for 1.
	Factor float64
	// Steps is how many steps of subgradient descent the prices take before
	// they certify. They schedule nothing, but where the bound is better, fewer
	// problems are enough. Not in the source.
	Steps int
}

// Name implements MaxWeight.
func (g Greedy) Name() string {
	s := fmt.Sprintf("greedy pricing=%v order=%v schedules=%v", g.Pricing, g.Order, g.Schedules)
	if g.Fill {
		s += " fill"
	}
	return s
}

// Solve implements MaxWeight. The bound is the certificate of the final prices.
func (g Greedy) Solve(p Problem) (*Batch, error) {
	o := g.Outcome(p)
	b := &Batch{Runs: o.Runs, Unfit: o.Unfit}
	if p.Bounded {
		b.Upper = Certify(p, o.Prices(), g.Steps).Value
	}
	return b, nil
}

// Outcome is all that A_maxweight leaves behind: the solution of problem (8) or
// (17) and that of its dual, (9) or (18).
type Outcome struct {
	Runs   []Run
	Tariff Tariff
	// Utility has u_j for every job of the problem, nil where it is 0.
	Utility []*big.Rat
	// Delta has the final prices, laid out as pricing.Prices.Of: exactly these
	// numbers are the dual solution.
	Delta []float64
	Unfit int // as in Batch

	in      *sched.Instance
	horizon int
	most    float64 // the largest weight
}

// Prices returns the final prices rounded down to whole units, which certify
// just as well.
func (o *Outcome) Prices() *pricing.Prices {
	return pricing.Round(o.in, o.horizon, o.Delta, o.most)
}

// Outcome runs the algorithm.
//
// Cost: per job accepted, one preparation of package pricing, O(H·R·tau·log tau);
// per job, a query. Jobs that are equal to one rejected at the present prices are
// rejected without one.
func (g Greedy) Outcome(p Problem) *Outcome {
	a := newAuction(g, p)
	for _, i := range a.order {
		a.offer(i, false)
	}
	if g.Fill {
		a.forget()
		for _, i := range a.order {
			if !a.done[i] {
				a.offer(i, true)
			}
		}
	}
	return &a.out
}

// auction is a run of A_maxweight.
type auction struct {
	g        Greedy
	p        Problem
	order    []int // indices in Problem.Jobs
	done     []bool
	taken    []int64 // β
	room     *pricing.Room
	prices   *pricing.Prices   // nil: to be prepared anew, as what follows from them
	market   *pricing.Market   // nil if schedules are not exact
	gaps     *gaps             // nil if unchecked, or schedules are not exact
	rejected map[likeness]bool // at the present prices
	last     likeness          // rejected last, at the present prices
	out      Outcome
}

// likeness is what the answer to a job depends on besides the prices.
type likeness struct {
	elastic *sched.Elastic
	weight  float64
	first   int64
}

func likenessOf(in *sched.Instance, id sched.JobID) likeness {
	return likeness{in.Jobs[id].Elastic, in.Jobs[id].Weight, in.FirstSlot(id)}
}

func newAuction(g Greedy, p Problem) *auction {
	in := p.Model.In
	n := len(in.Cluster.Servers) * len(in.Elastic.Resources) * int(p.Horizon)
	a := &auction{g: g, p: p, done: make([]bool, len(p.Jobs)), taken: make([]int64, n), rejected: map[likeness]bool{}}
	a.out = Outcome{in: in, horizon: int(p.Horizon), Delta: make([]float64, n), Utility: make([]*big.Rat, len(p.Jobs))}
	survey := newSurvey(p.Model)
	rates := newRates(g.Pricing)
	key := make([]float64, len(p.Jobs))
	a.order = make([]int, 0, len(p.Jobs))
	var like likeness // of the job before
	var d demands
	var ok bool
	for i, id := range p.Jobs {
		if now := likenessOf(in, id); now != like {
			like = now
			if d, ok = survey.of(id, p.Horizon); ok {
				rates.add(like.weight, &d)
			}
		}
		if !ok {
			continue
		}
		a.order = append(a.order, i)
		w := in.Jobs[id].Weight
		a.out.most = max(a.out.most, w)
		switch g.Order {
		case ByDensity:
			key[i] = -w / d.volume
		case ByWeight:
			key[i] = -w
		case ByRelease:
			key[i] = float64(in.Jobs[id].Release)
		}
	}
	compare := func(i, k int) int { return cmp.Or(cmp.Compare(key[i], key[k]), cmp.Compare(p.Jobs[i], p.Jobs[k])) }
	if !slices.IsSortedFunc(a.order, compare) {
		slices.SortFunc(a.order, compare)
	}
	rates.factor = cmp.Or(g.Factor, 1)
	if g.Tariff != nil {
		a.out.Tariff = *g.Tariff
	} else {
		a.out.Tariff = rates.tariff(in, cmp.Or(g.Slots, p.Horizon))
	}
	if !g.Unchecked {
		a.room = pricing.NewRoom(in, int(p.Horizon))
	}
	return a
}

// offer is lines 3 to 15 of Algorithm 3, without line 9 if the cost does not
// matter.
func (a *auction) offer(i int, free bool) {
	in, id := a.p.Model.In, a.p.Jobs[i]
	like := likenessOf(in, id)
	if like == a.last || a.rejected[like] {
		return
	}
	if a.prices == nil {
		a.prices = a.out.Prices()
		if a.g.Schedules == ExactSchedules {
			a.market = a.p.Model.Market(a.prices, a.room)
			if a.room != nil {
				a.gaps = newGaps(in, a.room, a.market.Groups())
			}
		}
	}
	w := in.Jobs[id].Weight
	var most *int64 // that it pays to look at
	if !free {
		units := a.prices.Units(w)
		most = &units
	}
	c, ok := a.cheapest(id, most)
	if !ok || !free && !exceeds(w, a.prices, c.Cost) {
		a.rejected[like], a.last = true, like
		return
	}
	if !free {
		u := new(big.Rat).SetFloat64(w)
		a.out.Utility[i] = u.Sub(u, a.prices.Value(big.NewInt(c.Cost)))
	}
	a.accept(i, &c)
}

// cheapest is lines 3 to 7 of Algorithm 3, if the schedule costs at most the given
// number of units; nil for any.
func (a *auction) cheapest(id sched.JobID, most *int64) (pricing.Choice, bool) {
	if a.g.Schedules != ExactSchedules {
		return a.asPrinted(id)
	}
	q := pricing.Query{Job: id, Latest: a.p.Horizon, Most: most}
	if a.gaps != nil {
		allowed, some := a.gaps.allow(a.p.Model, id)
		if !some {
			return pricing.Choice{}, false
		}
		q.Limits = &pricing.Limits{Configs: allowed, Last: a.p.Horizon}
	}
	return a.market.Cheapest(q)
}

// exceeds reports whether a weight is more than what a number of units is
// worth, exactly.
func exceeds(w float64, p *pricing.Prices, units int64) bool {
	scaled := math.Ldexp(w, p.Exponent)
	if whole := p.Units(w); whole != units {
		return whole > units
	}
	return scaled > math.Floor(scaled)
}

// accept is lines 10 to 14 of Algorithm 3.
func (a *auction) accept(i int, c *pricing.Choice) {
	in := a.p.Model.In
	if a.room != nil {
		a.room.Take(c)
	}
	slots, resources := int(a.p.Horizon), len(in.Elastic.Resources)
	c.Use(in, func(h, r int, amount int64) {
		capacity := in.Cluster.Servers[h].Capacity[r]
		for t := int(c.Start); t < int(c.End()); t++ {
			at := (h*resources+r)*slots + t
			a.taken[at] += amount
			a.out.Delta[at] = a.out.Tariff.price(a.taken[at], capacity)
		}
	})
	a.out.Runs = append(a.out.Runs, Run{Job: a.p.Jobs[i], Start: c.Start, End: c.End(), Place: c.Placement(in)})
	a.done[i] = true
	a.prices = nil
	a.forget()
}

// forget forgets who was rejected.
func (a *auction) forget() {
	clear(a.rejected)
	a.last = likeness{}
}
