package bounds

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"yardstick/sched"
)

const lagrangianName = "lagrangian"

// LagrangianOptions direct [Lagrangian]. The zero value is a good choice. Every
// limit counts work, so that results do not depend on the machine's speed.
type LagrangianOptions struct {
	// Class is N, P0 or F(1); 0 means N.
	Class sched.Kind
	// Slots is the most slots that the grid may have; 0 means LagrangianSlots.
	Slots int
	// Slot is the shortest length of a slot; 0 sets no limit. If all of the
	// time up to the horizon can be cut into slots of that length, it will be.
	Slot sched.Time
	// Horizon is the end of the last slot, rounded up to whole slots. GPUs are
	// free of charge afterwards, so that any horizon is valid. 0 means a
	// quarter more than all GPUs together need to do all work.
	Horizon sched.Time
	// Iterations are evaluations of the bound on each of the ever finer grids,
	// at most; 0 means LagrangianIterations.
	Iterations int
	// Steps limits how many starts of jobs are looked at in all; 0 means one
	// billion, which take about five seconds.
	Steps int
	// Effort is how many more times the prices climb after that, with twice the
	// slots, iterations and steps each time. It ends early where doubling gains
	// less than a thousandth of the cost. 0 is none.
	Effort int
	// Upper is the cost of a known schedule, or nil. It only directs the
	// search: no step aims beyond it.
	Upper *big.Rat
}

// What LagrangianOptions stand for where they say nothing.
const (
	LagrangianSlots      = 3000
	LagrangianIterations = 60
)

// Dual is a lower bound with the prices that prove it.
type Dual struct {
	Bound
	Prices *Prices
	// Starts are where jobs of class N start in the relaxation, about: the mean of
	// the cheapest starts under the last prices that were tried, by job. They prove
	// nothing. Nil for other classes.
	Starts      []sched.Time
	Iterations  int
	Interrupted bool // the context ended before the search did; the bound is proven all the same
}

// Lagrangian bounds totals of completion times by the best prices it finds, see
// [Prices]: in the limit, the optimum of the time-indexed linear program with
// one capacity row per slot. It is never less than [LB0].
//
// Prices climb from those of [MeanBusyTime], on a coarse grid first and then on
// finer ones, where prices are not all zero or jobs would crowd. They are then
// rounded, and the bound is evaluated from them in exact arithmetic.
//
// For class N a job pays for an interval. A preemptive schedule may pay less, as it
// can run whenever prices are low: for classes P0 and F(1) a job pays for the cheapest
// time up to its completion, see [Prices.BoundOf].
//
// Source: as [Prices]; for the climb, B. T. Polyak, Minimization of unsmooth
// functionals (1969), and P. M. Camerini, L. Fratta, F. Maffioli, On improving
// relaxation methods by modified gradient techniques (1975).
// Errors: sched.ErrNotApplicable; the options are out of range.
func Lagrangian(ctx context.Context, in *sched.Instance, obj sched.Objective, opt LagrangianOptions) (*Dual, error) {
	w, err := newWorkload(in, obj)
	if err != nil {
		return nil, err
	}
	if !obj.IsTotal() {
		return nil, fmt.Errorf("bounds: %s: %w to %v", lagrangianName, sched.ErrNotApplicable, obj)
	}
	if opt.Class == 0 {
		opt.Class = sched.N
	}
	if err := priceable(opt.Class); err != nil {
		return nil, err
	}
	if err := opt.complete(w); err != nil {
		return nil, err
	}
	s := newPriceSearch(w, obj, &opt)
	if opt.Class == sched.N {
		s.climber.mean = make([]float64, len(w.length))
	}
	grid, price := s.run(ctx)
	out := &Dual{Prices: NewPrices(grid, price, s.scale), Iterations: s.climber.iterations, Interrupted: ctx.Err() != nil}
	for j, t := range s.climber.mean {
		out.Starts = append(out.Starts, max(w.in.Jobs[j].Release, sched.Time(t)))
	}
	if out.Bound, err = out.Prices.bound(opt.Class, w, obj); err != nil {
		return nil, err
	}
	alone, err := w.bound(methods()[lb0], obj)
	if err == nil && alone.Value.Cmp(out.Value) > 0 {
		clear(out.Prices.Price) // the bound of no prices is LB0
		out.Bound, err = out.Prices.bound(opt.Class, w, obj)
	}
	return out, err
}

// complete fills in what is left to the default.
func (o *LagrangianOptions) complete(w *workload) error {
	if o.Slots < 0 || o.Slots > maxSlots || o.Slot < 0 || o.Horizon < 0 || o.Horizon > lastTime || o.Iterations < 0 || o.Steps < 0 {
		return fmt.Errorf("bounds: %s: options %+v: none may be negative, slots exceed %d or the horizon %v", lagrangianName, *o, maxSlots, lastTime)
	}
	defaultTo(&o.Slots, LagrangianSlots)
	defaultTo(&o.Iterations, LagrangianIterations)
	defaultTo(&o.Steps, 1_000_000_000)
	defaultTo(&o.Slot, 1)
	if o.Horizon == 0 {
		end, _ := w.workEnd().Float64()
		o.Horizon = sched.Time(min(1.25*end+1, float64(lastTime/2)))
	}
	return nil
}

func defaultTo[T int | sched.Time](v *T, fallback T) {
	if *v == 0 {
		*v = fallback
	}
}

// priceSearch is a Lagrangian in progress. Weights are scaled by a power of
// two so that the largest is near 1.
type priceSearch struct {
	w       *workload
	obj     sched.Objective
	opt     *LagrangianOptions
	scale   int // exponent
	weight  []float64
	alone   float64 // Σ w_j d_j
	climber *ascent

	contended []period
}

func newPriceSearch(w *workload, obj sched.Objective, opt *LagrangianOptions) *priceSearch {
	s := &priceSearch{w: w, obj: obj, opt: opt, weight: make([]float64, len(w.length))}
	largest := 1.0
	if obj.Weighted() {
		largest = 0
		for i := range w.in.Jobs {
			largest = max(largest, w.in.Jobs[i].Weight)
		}
	}
	_, s.scale = math.Frexp(largest)
	for j := range s.weight {
		s.weight[j] = math.Ldexp(1, -s.scale)
		if obj.Weighted() {
			s.weight[j] = math.Ldexp(w.in.Jobs[j].Weight, -s.scale)
		}
	}
	for j, d := range w.length {
		s.alone += float64(s.weight[j] * float64(d))
	}
	s.climber, s.contended = newAscent(w, s.weight, opt.Class), w.contended()
	return s
}

// run returns the best prices found and their grid.
func (s *priceSearch) run(ctx context.Context) (Grid, []float64) {
	const coarse = 16 // the first grid has so many times fewer slots
	length := s.opt.Slot
	for s.opt.Horizon/length > sched.Time(max(1, s.opt.Slots/coarse)) && length < lastTime/8 {
		length *= 2
	}
	grid := UniformGrid(length, s.opt.Horizon)
	if len(s.contended) == 0 { // without prices every job runs at once
		return grid, make([]float64, grid.Slots())
	}
	price := s.w.fluidPrices(s.weight, smithOrder(objectiveWeights(s.w.in, s.obj).w, s.w.size), grid)
	value := 0.0
	for again := 0; ; again++ {
		before := value
		grid, price, value = s.onFiner(ctx, grid, price, value)
		const worthwhile = 1e-3 // of the cost
		if again == s.opt.Effort || again > 0 && value-before < worthwhile*(s.alone+value) || ctx.Err() != nil {
			return grid, price
		}
		s.opt.Slots, s.opt.Iterations, s.opt.Steps = min(2*s.opt.Slots, maxSlots), 2*s.opt.Iterations, 2*s.opt.Steps
	}
}

// onFiner climbs on ever finer grids, from prices whose value is last if that is
// not 0, and returns the last grid with the best prices and their value.
func (s *priceSearch) onFiner(ctx context.Context, grid Grid, price []float64, last float64) (Grid, []float64, float64) {
	const worthwhile = 1e-4 // of the cost
	steps := s.climber.steps + s.opt.Steps
	if last > 0 {
		grid, price, _ = refine(grid, price, s.opt.Slots, s.opt.Slot, s.contended)
	}
	for {
		s.climber.on(grid, price)
		value := max(last, s.climb(ctx, last, steps))
		price = s.climber.price[:grid.Slots()]
		if value == 0 {
			clear(price)
		}
		enough := last > 0 && value-last < worthwhile*(s.alone+value)
		last = value
		if enough || s.climber.steps >= steps || ctx.Err() != nil {
			return grid, price, last
		}
		var finer bool
		if grid, price, finer = refine(grid, price, s.opt.Slots, s.opt.Slot, s.contended); !finer {
			return grid, price, last
		}
	}
}

// climb climbs on one grid, from prices of value last if they are not the first
// ones, and returns the value reached. It leaves half of the steps until most to
// finer grids.
func (s *priceSearch) climb(ctx context.Context, last float64, most int) float64 {
	a := s.climber
	iterations, steps := a.iterations+s.opt.Iterations, (a.steps+most)/2
	value := a.value(ctx)
	gap := max(0.02*s.alone, 0.1*value)
	if last > 0 {
		gap = 0.03 * last
	}
	if s.opt.Upper != nil {
		gap = min(gap, s.known()-value)
	}
	return max(value, climb(ctx, a.price[:len(a.width)], a.excess, a.width, a.value, gap, 1e-6*(s.alone+max(0, value)), max(4, s.opt.Iterations/10), func() bool {
		return a.iterations < iterations && a.steps < steps
	}))
}

// known returns by how much the known schedule costs more than [LB0].
func (s *priceSearch) known() float64 {
	more := new(big.Rat).Sub(s.opt.Upper, s.obj.Cost(s.w.in, s.w.alone()))
	if s.obj.Sum() != s.obj {
		more.Mul(more, big.NewRat(int64(len(s.weight)), 1))
	}
	f, _ := more.Float64()
	return math.Ldexp(f, -s.scale)
}
