package bounds

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"yardstick/sched"
)

const placesName = "places"

// Places bounds totals of completion times of jobs that share GPUs (class SP0) by the
// best [JobPrices] that it finds. Every GPU has two places. In slot k job j pays λ_jk for
// a unit of its progress, and counts for u_jk ≥ 0 on each of its GPUs that it shares; these
// are such that for any two jobs and accumulations that fit a GPU together, with the rates
// r_jl and r_lj that these leave them,
//
//	u_jk + u_lk ≥ λ_jk r_jl/g_j + λ_lk r_lj/g_l.
//
// Then no schedule costs less than
//
//	Σ_j min_{C ≥ r_j + w_j} { weight_j C + the cheapest w_j units of [r_j, C) under λ_j } − Σ_k |slot k|·K_k,
//
// K_k being the most that jobs released before the slot ends can count for on 2G places: a
// job that has its GPUs to itself takes 2g_j and counts for λ_jk; one that shares all but a
// of them, a < g_j, takes g_j + a and counts for (g_j − a)·u_jk + a·λ_jk s_j/g_j, where s_j is
// its largest rate beside anybody.
//
// Proof. A job progresses at rates of at most 1 which add up to w_j by C_j, and so pays
// no less than the cheapest w_j units. At an instant, leave out jobs that make no progress.
// One that has its GPUs to itself pays at most λ_jk. Charge the payment of one that does not
// evenly to its GPUs: at most λ_jk s_j/g_j on those that nobody shares; and on a GPU with
// another job the two pay at most u_jk + u_lk. No GPU has more than two places.
//
// w_j is rounded down to microseconds, and rates are rounded up to 2^-30.
//
// Errors: sched.ErrNotApplicable; the options are out of range, or there would be too
// many prices.
func Places(ctx context.Context, in *sched.Instance, obj sched.Objective, opt KnapsackOptions) (*KnapsackDual, error) {
	out, err := places(ctx, in, obj, opt)
	if err != nil {
		return nil, fmt.Errorf("bounds: %s: %w", placesName, err)
	}
	return out, nil
}

func places(ctx context.Context, in *sched.Instance, obj sched.Objective, opt KnapsackOptions) (*KnapsackDual, error) {
	if !obj.IsTotal() {
		return nil, fmt.Errorf("%w to %v", sched.ErrNotApplicable, obj)
	}
	if opt.Slots < 0 || opt.Slots > maxSlots || opt.Iterations < 0 || opt.Effort < 0 || opt.Steps < 0 {
		return nil, fmt.Errorf("options %+v: none may be negative, and slots exceed %d", opt, maxSlots)
	}
	s, err := newSharers(in)
	if err != nil {
		return nil, err
	}
	defaultTo(&opt.Slots, KnapsackSlots)
	defaultTo(&opt.Iterations, KnapsackIterations)
	defaultTo(&opt.Steps, 5_000_000_000)
	if opt.Class = sched.P0; !packable(len(in.Jobs), opt.Slots, mostPlaces(in)) || len(s.example) > maxRaised {
		return nil, fmt.Errorf("%w to %d jobs of %d kinds on %d slots and %d GPUs: these are too many for a knapsack in each", sched.ErrNotApplicable, len(in.Jobs), len(s.example), opt.Slots, in.Cluster.GPUs())
	}
	w, err := s.workload()
	if err != nil {
		return nil, err
	}
	p, err := newPlaces(s)
	if err != nil {
		return nil, err
	}
	k, err := p.first(ctx, w, obj, &opt)
	if err != nil {
		return nil, err
	}
	k.run(ctx)
	out := &KnapsackDual{Prices: k.prices(), Iterations: k.iterations, Interrupted: ctx.Err() != nil}
	if out.Bound, err = p.bound(out.Prices, obj); err != nil {
		return nil, err
	}
	alone, err := ThetaLB0(in, obj)
	if err == nil && alone.Value.Cmp(out.Value) > 0 {
		out.Bound, out.Prices = alone, nil
	}
	return out, err
}

// mostPlaces limits the steps of a knapsack for each job: places times how many GPUs may
// be unshared.
func mostPlaces(in *sched.Instance) int {
	largest := 0
	for i := range in.Jobs {
		largest = max(largest, in.Jobs[i].Gang())
	}
	return 2 * in.Cluster.GPUs() * (largest + 1)
}

// first returns the knapsacks with the best prices of time on one machine, of which a job
// takes alpha_j g_j/G: see the file sharingsizes.go.
func (p *placement) first(ctx context.Context, w *workload, obj sched.Objective, opt *KnapsackOptions) (*knapsack, error) {
	row := newPriceSearch(w, obj, &LagrangianOptions{Class: sched.Fluid, Slots: opt.Slots, Iterations: opt.Iterations, Upper: opt.Upper})
	if err := row.opt.complete(w); err != nil {
		return nil, err
	}
	for i := range row.climber.jobs {
		b := &row.climber.jobs[i]
		b.gang = float64(w.size[b.id]) / b.length
	}
	grid, price := row.run(ctx)
	k := newKnapsack(p.workload, obj, opt, NewPrices(grid, price, row.scale))
	k.places = p
	for i := range k.jobs {
		id := k.jobs[i].id
		share := float64(w.size[id]) / float64(w.length[id]) / k.jobs[i].gang
		for t := range k.width {
			k.lambda[i*len(k.width)+t] *= share
		}
	}
	return k, nil
}

// placement is what the bound sees of the jobs: their work, rounded down, and rates in
// units of 2^-besideBits, rounded up.
type placement struct {
	*workload
	kind    []int          // by job
	rates   [][][][2]int64 // by two kinds, the rates that do not rule each other out
	most    []int64        // s_j by kind; 0 if nobody fits beside it
	rough   [][][][2]float64
	middle  []float64 // by kind, a rate between its largest and its least
	counter counter
}

const besideBits = 30

func newPlaces(s *sharers) (*placement, error) {
	n := len(s.example)
	p := &placement{workload: &workload{in: s.in, gpus: int64(s.in.Cluster.GPUs())}, rates: make([][][][2]int64, n), most: make([]int64, n), rough: make([][][][2]float64, n), middle: make([]float64, n)}
	for i := range s.jobs {
		work := s.jobs[i].work
		whole := new(big.Int).Quo(work.Num(), work.Denom()).Int64()
		if whole == 0 {
			return nil, fmt.Errorf("%w: job %d runs for less than a microsecond", sched.ErrNotApplicable, i)
		}
		p.length, p.kind = append(p.length, sched.Time(whole)), append(p.kind, s.jobs[i].class)
	}
	p.counter.p = p
	up := func(r *big.Rat) int64 {
		v := new(big.Int).Lsh(r.Num(), besideBits)
		v.Add(v, r.Denom()).Sub(v, big.NewInt(1))
		return v.Quo(v, r.Denom()).Int64()
	}
	for a := range n {
		p.rates[a], p.rough[a] = make([][][2]int64, n), make([][][2]float64, n)
		sum, met := 0.0, 0
		for b := range n {
			if a == b && s.count[a] == 1 {
				continue
			}
			for _, r := range undominated(s.together(s.example[a], s.example[b])) {
				x := [2]int64{up(r.first), up(r.second)}
				p.rates[a][b] = append(p.rates[a][b], x)
				p.rough[a][b] = append(p.rough[a][b], [2]float64{math.Ldexp(float64(x[0]), -besideBits), math.Ldexp(float64(x[1]), -besideBits)})
				p.most[a] = max(p.most[a], x[0])
				sum, met = sum+float64(x[0])*float64(s.count[b]), met+s.count[b]
			}
		}
		p.middle[a] = sum / float64(max(1, met)) / (1 << besideBits)
	}
	return p, nil
}

// bound returns what the prices prove, in exact arithmetic.
func (p *placement) bound(prices *JobPrices, obj sched.Objective) (Bound, error) {
	if err := prices.Validate(); err != nil {
		return Bound{}, err
	}
	data := placesData{Grid: prices.Grid.Micros(), Price: prices.trimmed(), Count: make([][]int64, len(p.length)), Exponent: prices.Exponent}
	b, err := p.workload.bound(method{name: placesName, kind: sched.SP0, eval: func(w *workload, obj sched.Objective) (*big.Rat, error) {
		c := newTariffOn(prices.Grid, prices.Exponent, w, obj)
		sum := new(big.Int)
		for j := range w.length {
			prices.charge(c, j)
			sum.Add(sum, c.leastSpread(j))
		}
		charged := new(big.Int)
		for j := range data.Count {
			data.Count[j] = make([]int64, prices.Grid.Slots())
		}
		for k := range prices.Grid.Slots() {
			s, v := p.slot(prices, k)
			most := big.NewInt(v)
			charged.Add(charged, most.Mul(most, big.NewInt(int64(prices.Grid[k+1]-prices.Grid[k]))))
			for q, j := range s.jobs {
				data.Count[j][k] = s.count[q]
			}
		}
		return obj.FromBase(w.in, c.rational(sum.Sub(sum, charged.Lsh(charged, c.shift)))), nil
	}}, obj)
	b.Proof = &Proof{placesName, data}
	return b, err
}

// placesData are prices of progress by job and slot, and what jobs count for.
type placesData struct {
	Grid     []int64   `json:"grid"`
	Price    [][]int64 `json:"price"`
	Count    [][]int64 `json:"count"`
	Exponent int       `json:"exponent"`
}

// trimmed returns the prices of each job up to the last that is not 0.
func (p *JobPrices) trimmed() [][]int64 {
	out := make([][]int64, len(p.Price))
	for j, row := range p.Price {
		n := len(row)
		for n > 0 && row[n-1] == 0 {
			n--
		}
		out[j] = append([]int64{}, row[:n]...)
	}
	return out
}
