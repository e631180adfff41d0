// Package reinsert searches for good schedules of the elastic model, class E, of whole
// instances. It proves nothing: what it returns is a claim until package verify has
// accepted it.
//
// # The method
//
// A job is inserted by package pricing: of all configurations, placements and starts that
// fit beside the others it takes the one that costs least, which is its weighted
// completion and what it takes at the prices of a bound, times a factor. Without prices
// it would be as fast as it can be, and in the way of all others. Starts insert all jobs in
// orders of where the bound's relaxation starts them, and by weight over length, with
// factors from 0 to 2. Then a few jobs are taken out and inserted in another order with
// another factor, and the result stays if it is not too much worse ([walk]).
package reinsert

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/heuristics/offline/walk"
	"yardstick/sched"
)

// Options of Search.
type Options struct {
	walk.Options
	// Prices are those of a bound on the same objective in slots, with one price for
	// a resource on all servers, or nil.
	Prices *pricing.Prices
	Starts []int64 // where its relaxation starts the jobs, by job, or nil
}

// Limits of the slots of a schedule, and of those times servers and resources, and so of
// the memory.
const (
	maxSlots = 1 << 14
	maxRows  = 1_000_000
)

// Search returns the best schedule found that ends within 1.5 times the slots of the
// schedules that are known, of which there must be one.
//
// Errors: sched.ErrNotApplicable for other models and objectives that are neither totals
// nor the makespan, and for schedules of more than 16,384 slots; that of the context if
// it ends before there is any schedule.
func Search(ctx context.Context, in *sched.Instance, obj sched.Objective, o Options) (*sched.Schedule, error) {
	s, err := newState(in, obj, o)
	if err != nil {
		return nil, err
	}
	for _, factor := range factors {
		for _, order := range s.orders(o.Starts) {
			if ctx.Err() != nil {
				break
			}
			s.all(order, factor)
		}
	}
	if s.kept == nil {
		return nil, cmp.Or(ctx.Err(), fmt.Errorf("reinsert: %w: no order of the jobs ends in %d slots", sched.ErrNotApplicable, s.room.Slots))
	}
	s.Back()
	if s.cost <= s.least {
		return s.schedule(), nil
	}
	walk.Run(ctx, s, o.Seed, o.Count(len(in.Jobs)), walk.Heat(s.cost, s.least, len(in.Jobs)))
	return s.schedule(), nil
}

// factors are of prices.
var factors = []float64{0, 0.25, 0.5, 1, 2}

// state is a schedule under change.
type state struct {
	in     *sched.Instance
	obj    sched.Objective
	weight []float64
	model  *pricing.Model
	tariff []tariff // by factor
	room   *pricing.Room
	least  float64 // what every schedule costs

	choice []pricing.Choice // by job
	end    []int64
	cost   float64
	kept   []pricing.Choice // the best
	best   float64
	before []old // the last change
	was    float64
}

// tariff is the prices times a factor.
type tariff struct {
	*pricing.Prices
}

type old struct {
	job    int
	choice pricing.Choice
}

func newState(in *sched.Instance, obj sched.Objective, o Options) (*state, error) {
	switch {
	case !in.Model.Has(sched.E):
		return nil, fmt.Errorf("reinsert: %w to the %s model: its jobs have no containers", sched.ErrNotApplicable, in.Model)
	case !obj.IsTotal() && obj != sched.Makespan:
		return nil, fmt.Errorf("reinsert: %w to %v", sched.ErrNotApplicable, obj)
	}
	s := &state{in: in, obj: obj, weight: walk.Weights(in, obj), model: pricing.New(in), choice: make([]pricing.Choice, len(in.Jobs)), end: make([]int64, len(in.Jobs)), best: math.Inf(1)}
	slots := int64(0)
	for _, k := range o.Schedules {
		last := sched.Time(0)
		for i := range k.Segments {
			last = max(last, k.Segments[i].End)
		}
		if n := int64(last / in.Slot); slots == 0 || n < slots {
			slots = n
		}
	}
	if slots += slots/2 + 1; slots == 1 || slots > maxSlots {
		return nil, fmt.Errorf("reinsert: %w: a schedule that is known is needed, of at most %d slots", sched.ErrNotApplicable, maxSlots)
	}
	if rows := int64(len(in.Cluster.Servers)*len(in.Elastic.Resources)) * slots; rows > maxRows {
		return nil, fmt.Errorf("reinsert: %w: %d numbers of what is free, of each server, resource and slot, are more than %d: choose longer slots", sched.ErrNotApplicable, rows, maxRows)
	}
	s.room = pricing.NewRoom(in, int(slots))
	worst := slices.Max(s.weight) * float64(slots)
	for _, f := range factors {
		s.tariff = append(s.tariff, tariff{Prices: s.priced(o.Prices, f, worst)})
	}
	soonest := make([]int64, len(in.Jobs))
	for id, list := range s.model.Configs {
		least := int64(math.MaxInt64)
		for i := range list {
			least = min(least, list[i].Slots)
		}
		soonest[id] = in.FirstSlot(sched.JobID(id)) + least
	}
	s.least = walk.Cost(obj, s.weight, soonest)
	return s, nil
}

// priced returns the prices times a factor, for the slots of the room. Where they are
// nothing, what is taken costs next to nothing, so that of schedules that end together
// the smallest is taken.
func (s *state) priced(p *pricing.Prices, factor, worst float64) *pricing.Prices {
	resources := len(s.in.Elastic.Resources)
	delta := make([]float64, 0, len(s.in.Cluster.Servers)*resources*s.room.Slots)
	for h := range s.in.Cluster.Servers {
		for r, capacity := range s.in.Cluster.Servers[h].Capacity {
			little := worst / 1e9 / float64(max(1, capacity)) / float64(s.room.Slots*len(s.in.Cluster.Servers))
			for t := range s.room.Slots {
				v := little
				if p != nil && t < p.Slots {
					v += factor * p.Float((h*resources+r)*p.Slots+t)
				}
				delta = append(delta, v)
			}
		}
	}
	return pricing.Round(s.in, s.room.Slots, delta, worst)
}

// orders lists orders of the jobs: by weight over the least length, by releases, and by
// the starts of a relaxation.
func (s *state) orders(starts []int64) (out [][]int) {
	key := make([]float64, len(s.choice))
	add := func(of func(i int) float64) {
		order := make([]int, len(key))
		for i := range order {
			order[i], key[i] = i, of(i)
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(key[a], key[b]) })
		out = append(out, order)
	}
	add(func(i int) float64 {
		least := int64(math.MaxInt64)
		for _, c := range s.model.Configs[i] {
			least = min(least, c.Slots)
		}
		return float64(least) / s.weight[i]
	})
	add(func(i int) float64 { return float64(s.in.FirstSlot(sched.JobID(i))) })
	if starts != nil {
		add(func(i int) float64 { return float64(starts[i]) })
	}
	return out
}

// insert gives a job the cheapest schedule that fits, or returns false if none ends.
func (s *state) insert(i, factor int) bool {
	p := s.tariff[factor].Prices
	c, ok := s.model.Market(p, s.room).Cheapest(pricing.Query{Job: sched.JobID(i), Latest: int64(s.room.Slots), TimeCost: max(1, p.Units(s.weight[i]))})
	if !ok {
		return false
	}
	c.Workers = slices.Clone(c.Workers)
	s.room.Take(&c)
	s.choice[i], s.end[i] = c, c.End()
	return true
}

// all inserts all jobs in an order, and keeps the schedule if it is the best.
func (s *state) all(order []int, factor float64) {
	s.room = pricing.NewRoom(s.in, s.room.Slots)
	for _, i := range order {
		if !s.insert(i, slices.Index(factors, factor)) {
			return
		}
	}
	if s.cost = walk.Cost(s.obj, s.weight, s.end); s.cost < s.best {
		s.Keep()
	}
}

func (s *state) Cost() float64 { return s.cost }

func (s *state) Keep() { s.kept, s.best = append(s.kept[:0], s.choice...), s.cost }

func (s *state) Back() {
	copy(s.choice, s.kept)
	s.room = pricing.NewRoom(s.in, s.room.Slots)
	for i := range s.choice {
		s.room.Take(&s.choice[i])
		s.end[i] = s.choice[i].End()
	}
	s.cost = s.best
}

// Try takes some jobs out that run at one time, or any, and inserts them in another order.
func (s *state) Try(r *rand.Rand, limit float64) float64 {
	n := len(s.choice)
	s.before, s.was = s.before[:0], s.cost
	first := r.IntN(n)
	count := min(n, 2+r.IntN(4))
	picked := []int{first}
	for tries := 0; len(picked) < count && tries < 8*n; tries++ {
		i := r.IntN(n)
		near := s.choice[i].Start < s.choice[first].End()+2 && s.choice[first].Start < s.choice[i].End()+2
		if !slices.Contains(picked, i) && (near || tries > 4*n) {
			picked = append(picked, i)
		}
	}
	for _, i := range picked {
		s.before = append(s.before, old{i, s.choice[i]})
		s.room.Give(&s.choice[i])
	}
	r.Shuffle(len(picked), func(a, b int) { picked[a], picked[b] = picked[b], picked[a] })
	factor := r.IntN(len(factors))
	for k, i := range picked {
		if !s.insert(i, factor) {
			s.restore(picked[:k])
			return math.Inf(1)
		}
		if r.IntN(3) == 0 {
			factor = r.IntN(len(factors))
		}
	}
	s.cost = walk.Cost(s.obj, s.weight, s.end)
	return s.cost
}

// restore takes out what was inserted and puts the jobs where they were; Undo then finds
// nothing to do.
func (s *state) restore(inserted []int) {
	for _, i := range inserted {
		s.room.Give(&s.choice[i])
	}
	for _, b := range s.before {
		s.choice[b.job], s.end[b.job] = b.choice, b.choice.End()
		s.room.Take(&b.choice)
	}
	s.before, s.cost = s.before[:0], s.was
}

// Undo takes the last change back.
func (s *state) Undo() {
	var inserted []int
	for _, b := range s.before {
		inserted = append(inserted, b.job)
	}
	s.restore(inserted)
}

func (s *state) schedule() *sched.Schedule {
	out := &sched.Schedule{Class: sched.Class{Kind: sched.E, Slotted: true}}
	for i := range s.choice {
		out.Segments = append(out.Segments, s.choice[i].Segment(s.in, sched.JobID(i)))
	}
	out.Sort()
	return out
}
