package bounds

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"yardstick/sched"
)

const knapsackName = "knapsack"

// KnapsackOptions direct [Knapsack]. The zero value is a good choice. Limits count
// work, so that results do not depend on the machine's speed.
type KnapsackOptions struct {
	// Class is N or P0; 0 means N. It is never F(1), whose instants are fractional.
	Class sched.Kind
	// Slots is the most slots that the grid may have; 0 means KnapsackSlots.
	Slots int
	// Iterations are evaluations of the bound, at most; 0 means KnapsackIterations.
	Iterations int
	// Effort is how many more times the prices climb after that, with twice the
	// slots and iterations each time. It ends early where doubling gains less than a
	// thousandth of the cost. 0 is none.
	Effort int
	// Steps limits the work on knapsacks: one for each job and, of those that may be
	// taken, number of GPUs in a slot; 0 means five billion, which take about ten seconds.
	Steps int
	// Upper is the cost of a known schedule, or nil. It only directs the search.
	Upper *big.Rat
}

// What KnapsackOptions stand for where they say nothing, and the most prices that
// there may be, one per job and slot.
const (
	KnapsackSlots      = 256
	KnapsackIterations = 400
	maxJobPrices       = 1 << 22
	maxPriceBits       = 62            // of the sum of all jobs' prices in a slot
	maxPackSteps       = 2_000_000_000 // of one evaluation
)

// JobPrices are prices of time by job and slot: job j pays Price[j][k]·2^Exponent per
// microsecond that it runs in slot k, and nothing after the last slot or where its
// list has ended. They are a dual certificate: whatever they are, no non-preemptive
// schedule of exclusive gangs costs less than
//
//	L(λ) = Σ_j min_{t ≥ r_j} { w_j (t + d_j) + ∫_t^{t+d_j} λ_j } − Σ_k |slot k|·K_k,
//
// K_k being the largest Σ_{j in K} λ_jk over sets K of jobs released before the slot
// ends whose gangs hold at most G GPUs together. Where jobs may be preempted (P0), a
// job pays for the cheapest d_j units of time up to its completion, as in
// [Prices.BoundOf].
//
// Proof. At every instant the jobs that run are one of the sets, so that in slot k all
// of them together pay at most K_k per microsecond; each pays at least its term.
//
// It does not hold for fluid schedules: with two gangs of 3 GPUs and unit length on 4
// GPUs, prices 1.5 and 0.5 give 3 where fluid schedules cost 2⅔.
type JobPrices struct {
	Grid     Grid      `json:"grid"`
	Price    [][]int64 `json:"price"`
	Exponent int       `json:"exponent"`
}

// KnapsackDual is a bound with the prices that prove it.
type KnapsackDual struct {
	Bound
	Prices      *JobPrices
	Iterations  int
	Interrupted bool // the context ended before the search did; the bound is proven all the same
}

// Knapsack bounds totals of completion times by the best [JobPrices] that it finds,
// from those of [Lagrangian]: with prices by job, which jobs fit together counts, and
// not only how many GPUs they hold. It is never less than that bound on the same grid.
//
// Errors: sched.ErrNotApplicable; the options are out of range, or there would be too
// many prices.
func Knapsack(ctx context.Context, in *sched.Instance, obj sched.Objective, opt KnapsackOptions) (*KnapsackDual, error) {
	if opt.Class == 0 {
		opt.Class = sched.N
	}
	if opt.Class != sched.N && opt.Class != sched.P0 {
		return nil, fmt.Errorf("bounds: %s: %w to class %v: sets of jobs are of whole gangs, N or P0", knapsackName, sched.ErrNotApplicable, sched.Class{Kind: opt.Class})
	}
	if opt.Slots < 0 || opt.Slots > maxSlots || opt.Iterations < 0 || opt.Effort < 0 || opt.Steps < 0 {
		return nil, fmt.Errorf("bounds: %s: options %+v: none may be negative, and slots exceed %d", knapsackName, opt, maxSlots)
	}
	defaultTo(&opt.Slots, KnapsackSlots)
	defaultTo(&opt.Iterations, KnapsackIterations)
	defaultTo(&opt.Steps, 5_000_000_000)
	if !packable(len(in.Jobs), opt.Slots, in.Cluster.GPUs()) {
		return nil, fmt.Errorf("bounds: %s: %w to %d jobs on %d slots and %d GPUs: these are too many for a knapsack in each", knapsackName, sched.ErrNotApplicable, len(in.Jobs), opt.Slots, in.Cluster.GPUs())
	}
	row, err := Lagrangian(ctx, in, obj, LagrangianOptions{Class: opt.Class, Slots: opt.Slots, Iterations: opt.Iterations, Upper: opt.Upper})
	if err != nil {
		return nil, err
	}
	w, err := newWorkload(in, obj)
	if err != nil {
		return nil, err
	}
	k := newKnapsack(w, obj, &opt, row.Prices)
	k.run(ctx)
	out := &KnapsackDual{Prices: k.prices(), Iterations: k.iterations, Interrupted: ctx.Err() != nil}
	if out.Bound, err = out.Prices.bound(opt.Class, w, obj); err != nil {
		return nil, err
	}
	if row.Value.Cmp(out.Value) > 0 { // rounding, or an interrupted climb
		out.Prices = row.Prices.byJob(in)
		out.Bound, err = out.Prices.bound(opt.Class, w, obj)
	}
	return out, err
}

// packable reports whether there are not too many prices, nor too much work in an
// evaluation.
func packable(jobs, slots, gpus int) bool {
	return jobs <= maxJobPrices/slots && jobs*slots <= maxPackSteps/(gpus+1)
}

// byJob returns the prices g_j·π, for which L(λ) is at least L(π), as K_k is at most
// G'·π_k. Where that takes too many digits the last ones go.
func (p *Prices) byJob(in *sched.Instance) *JobPrices {
	out, largest := &JobPrices{Grid: p.Grid, Exponent: p.Exponent}, 1
	for i := range in.Jobs {
		largest = max(largest, in.Jobs[i].Gang())
	}
	digits := bits.Len64(uint64(slices.Max(p.Price))) + bits.Len(uint(largest)) + bits.Len(uint(len(in.Jobs)))
	shift := max(0, digits-maxPriceBits)
	out.Exponent += shift
	for i := range in.Jobs {
		row := make([]int64, len(p.Price))
		for k, v := range p.Price {
			if in.Jobs[i].Release < p.Grid[k+1] {
				row[k] = v >> shift * int64(in.Jobs[i].Gang())
			}
		}
		out.Price = append(out.Price, row)
	}
	return out
}

// knapsack is an ascent of L(λ), in floating point.
type knapsack struct {
	*ascent // of one job at a time
	search  *priceSearch
	opt     *KnapsackOptions
	times   Grid
	lambda  []float64 // by job, in the order of the ascent, and slot; 0 before its release
	surplus []float64 // the subgradient
	widths  []float64
	gangs   int   // the capacity
	order   []int // the jobs, by gang
	items   []int // scratch of pack
	best    []float64
	taken   []uint16
	places  *placement // where jobs share GPUs, else nil
	shared  []int      // scratch of chosen
}

func newKnapsack(w *workload, obj sched.Objective, opt *KnapsackOptions, row *Prices) *knapsack {
	s := newPriceSearch(w, obj, &LagrangianOptions{Class: opt.Class, Upper: opt.Upper})
	k := &knapsack{ascent: s.climber, search: s, opt: opt, gangs: int(w.gpus)}
	price := make([]float64, row.Grid.Slots())
	for i, v := range row.Price {
		price[i] = math.Ldexp(float64(v), row.Exponent-s.scale)
	}
	for i := range k.jobs {
		for t, v := range price {
			if row.Grid[t+1] <= sched.Time(k.jobs[i].release) {
				v = 0
			}
			k.lambda = append(k.lambda, k.jobs[i].gang*v)
		}
		k.order = append(k.order, i)
	}
	// By gang: of each, pack needs only the dearest.
	slices.SortStableFunc(k.order, func(a, b int) int { return int(k.jobs[b].gang - k.jobs[a].gang) })
	k.over(row.Grid)
	return k
}

// over takes on a grid, for which lambda has prices.
func (k *knapsack) over(grid Grid) {
	k.times = grid
	k.on(grid, make([]float64, grid.Slots()))
	k.surplus, k.widths = make([]float64, len(k.lambda)), k.widths[:0]
	for range k.jobs {
		k.widths = append(k.widths, k.width...)
	}
}

// halve cuts every slot in two, so that L(λ) is as before, and reports whether there is
// room for that.
func (k *knapsack) halve() bool {
	slots := len(k.width)
	if !packable(len(k.jobs), 2*slots, k.gangs) {
		return false
	}
	finer, lambda := Grid{0}, []float64(nil)
	for t := range slots {
		if mid := k.times[t] + (k.times[t+1]-k.times[t])/2; mid > k.times[t] {
			finer = append(finer, mid)
		}
		finer = append(finer, k.times[t+1])
	}
	for i := range k.jobs {
		for _, at := range finer[:finer.Slots()] {
			lambda = append(lambda, k.lambda[i*slots+k.times.Slot(at)])
		}
		for t := i * finer.Slots(); t < len(lambda) && finer[t-i*finer.Slots()+1] <= sched.Time(k.jobs[i].release); t++ {
			lambda[t] = 0
		}
	}
	k.lambda = lambda
	k.over(finer)
	return true
}

// run climbs, and again on finer grids as long as that is worth it.
func (k *knapsack) run(ctx context.Context) {
	const (
		worthwhile = 1e-3 // of the cost
		share      = 0.2  // of what is missing to the known schedule
	)
	value, iterations := math.Inf(-1), k.opt.Iterations
	for again := 0; ; again++ {
		before, until := value, k.iterations+iterations
		if value = k.value(ctx); math.IsInf(value, -1) {
			return
		}
		gap := 0.05 * max(value, 0.02*k.search.alone)
		if k.opt.Upper != nil {
			gap = share * (k.search.known() - value)
		}
		value = max(value, climb(ctx, k.lambda, k.surplus, k.widths, k.value, gap, 1e-6*(k.search.alone+max(0, value)), max(20, iterations/10), func() bool {
			return k.iterations < until && k.steps < k.opt.Steps
		}))
		if again == k.opt.Effort || value-before < worthwhile*(k.search.alone+value) || k.steps >= k.opt.Steps || ctx.Err() != nil || !k.halve() {
			return
		}
		iterations *= 2
	}
}

// value returns L(λ) − Σ w_j (r_j + d_j) and sets surplus. It returns −∞ if the context
// ends first.
func (k *knapsack) value(ctx context.Context) float64 {
	slots, total := len(k.width), 0.0
	for i := range k.jobs {
		if ctx.Err() != nil {
			return math.Inf(-1)
		}
		b := k.jobs[i]
		b.gang = 1 // its price is of all of its GPUs
		copy(k.price, k.lambda[i*slots:(i+1)*slots])
		k.reset()
		if k.spread {
			total += k.buy(&b)
		} else {
			total += k.choose(&b)
		}
		held := 0.0
		for t, width := range k.width {
			held += k.change[t]
			k.surplus[i*slots+t] = held + k.part[t]/width
		}
	}
	for t, width := range k.width {
		if k.places != nil {
			total -= float64(k.packPlaces(t) * width)
		} else {
			total -= float64(k.pack(t) * width)
		}
	}
	k.iterations++
	return total
}

// pack returns the value of the best set of jobs in a slot, and takes one from the
// surplus of its jobs.
func (k *knapsack) pack(t int) float64 {
	slots := len(k.width)
	at := func(i int) float64 { return k.lambda[i*slots+t] }
	k.items = k.items[:0]
	for _, i := range k.order {
		if at(i) > 0 {
			k.items = append(k.items, i)
		}
	}
	// Of each size, no more than fit.
	n := 0
	for from := 0; from < len(k.items); {
		to := from
		for to < len(k.items) && k.jobs[k.items[to]].gang == k.jobs[k.items[from]].gang {
			to++
		}
		same := k.items[from:to]
		if fit := k.gangs / int(k.jobs[same[0]].gang); fit < len(same) {
			slices.SortStableFunc(same, func(a, b int) int {
				switch {
				case at(a) > at(b):
					return -1
				case at(a) < at(b):
					return 1
				}
				return a - b
			})
			same = same[:fit]
		}
		n += copy(k.items[n:], same)
		from = to
	}
	items, size := k.items[:n], k.gangs+1
	k.best = append(k.best[:0], make([]float64, size)...)
	k.taken = append(k.taken[:0], make([]uint16, n*size)...)
	k.steps += n*size + len(k.order)
	for q, i := range items {
		gang, v := int(k.jobs[i].gang), at(i)
		for room := k.gangs; room >= gang; room-- {
			if with := k.best[room-gang] + v; with > k.best[room] {
				k.best[room], k.taken[q*size+room] = with, 1
			}
		}
	}
	for q, room := n-1, k.gangs; q >= 0; q-- {
		if k.taken[q*size+room] > 0 {
			k.surplus[items[q]*slots+t]--
			room -= int(k.jobs[items[q]].gang)
		}
	}
	return k.best[k.gangs]
}

// prices returns the prices as integers, by job of the instance.
func (k *knapsack) prices() *JobPrices {
	slots := len(k.width)
	flat := NewPrices(nil, k.lambda, k.search.scale)
	out := &JobPrices{Grid: k.times, Exponent: flat.Exponent, Price: make([][]int64, len(k.jobs))}
	for i := range k.jobs {
		out.Price[k.jobs[i].id] = flat.Price[i*slots : (i+1)*slots]
	}
	return out
}

// Validate returns an error unless the grid is valid and every job has at most one
// price per slot, not negative and of all jobs together less than 2^62.
func (p *JobPrices) Validate() error {
	if err := p.Grid.Validate(); err != nil {
		return err
	}
	if p.Exponent < -maxExponent || p.Exponent > maxExponent {
		return fmt.Errorf("bounds: the exponent of the prices is %d: it must be within ±%d", p.Exponent, maxExponent)
	}
	most := int64(1) << maxPriceBits / int64(max(1, len(p.Price)))
	for j, row := range p.Price {
		if len(row) > p.Grid.Slots() {
			return fmt.Errorf("bounds: job %d has %d prices for %d slots", j, len(row), p.Grid.Slots())
		}
		for k, v := range row {
			if v < 0 || v > most {
				return fmt.Errorf("bounds: job %d has the price %d in slot %d: it must be between 0 and %d", j, v, k, most)
			}
		}
	}
	return nil
}

// bound returns L(λ) for schedules of class N or P0 of the instance, evaluated in
// exact arithmetic from the raw data.
//
// Cost: O(n) per slot besides a knapsack in each, O(n·G).
// Errors: the prices are not valid; sched.ErrNotApplicable.
func (p *JobPrices) bound(kind sched.Kind, w *workload, obj sched.Objective) (Bound, error) {
	if err := p.check(kind, w, obj); err != nil {
		return Bound{}, err
	}
	b, err := w.bound(method{name: knapsackName, kind: kind, eval: func(w *workload, obj sched.Objective) (*big.Rat, error) {
		return obj.FromBase(w.in, p.total(kind, w, obj)), nil
	}}, obj)
	b.Proof = p.proof(kind, w.claims)
	return b, err
}

// check returns an error unless prices by job bound the schedules of a kind.
func (p *JobPrices) check(kind sched.Kind, w *workload, obj sched.Objective) error {
	if err := p.Validate(); err != nil {
		return err
	}
	switch {
	case len(p.Price) != len(w.length):
		return fmt.Errorf("bounds: %s: prices of %d jobs for %d", knapsackName, len(p.Price), len(w.length))
	case kind != sched.N && kind != sched.P0:
		return fmt.Errorf("bounds: %s: %w to class %v", knapsackName, sched.ErrNotApplicable, sched.Class{Kind: kind})
	case !obj.IsTotal():
		return fmt.Errorf("bounds: %s: %w to %v", knapsackName, sched.ErrNotApplicable, obj)
	}
	return nil
}

// total returns L(λ) for Σ w_j C_j.
func (p *JobPrices) total(kind sched.Kind, w *workload, obj sched.Objective) *big.Rat {
	c := newTariffOn(p.Grid, p.Exponent, w, obj)
	sum, least := new(big.Int), c.least
	if kind != sched.N {
		least = c.leastSpread
	}
	for j := range w.length {
		p.charge(c, j)
		sum.Add(sum, least(j))
	}
	return c.rational(sum.Sub(sum, p.charged(c)))
}

// charge has job j pay its prices.
func (p *JobPrices) charge(c *tariff, j int) {
	c.factors[j], c.rough.factor[j] = big.NewInt(1), 1
	row := make([]int64, p.Grid.Slots())
	copy(row, p.Price[j])
	c.charge(row)
}

// charged returns Σ_k |slot k|·K_k.
func (p *JobPrices) charged(c *tariff) *big.Int {
	sum := new(big.Int)
	for k := range p.Grid.Slots() {
		most := big.NewInt(p.most(c.w, k))
		sum.Add(sum, most.Mul(most, big.NewInt(int64(p.Grid[k+1]-p.Grid[k]))))
	}
	return sum.Lsh(sum, c.shift)
}

// most returns K_k.
func (p *JobPrices) most(w *workload, k int) int64 {
	byGang := map[int][]int64{}
	var gangs []int
	for j := range w.length {
		if k >= len(p.Price[j]) || p.Price[j][k] == 0 || w.in.Jobs[j].Release >= p.Grid[k+1] {
			continue
		}
		g := w.in.Jobs[j].Gang()
		if byGang[g] == nil {
			gangs = append(gangs, g)
		}
		byGang[g] = append(byGang[g], p.Price[j][k])
	}
	slices.Sort(gangs)
	gpus := int(w.gpus)
	best := make([]int64, gpus+1)
	for _, g := range gangs {
		values := byGang[g]
		slices.Sort(values)
		slices.Reverse(values)
		for _, v := range values[:min(len(values), gpus/g)] { // no more of them run together
			for room := gpus; room >= g; room-- {
				best[room] = max(best[room], best[room-g]+v)
			}
		}
	}
	return best[gpus]
}
