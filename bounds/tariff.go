package bounds

import (
	"math"
	"math/big"

	"yardstick/sched"
)

// tariff evaluates L(π), see [Prices]. Exact values are integers in units of
// 2^exponent. Floating point only tells which starts may be the best.
type tariff struct {
	w        *workload
	grid     Grid
	exponent int
	shift    uint // of prices to those units
	weight   []*big.Int
	factors  []*big.Int // what each job pays of the price: its gang
	units    []int64    // the prices, by slot
	price    []*big.Int // of every slot, and 0 for what comes after
	prefix   []*big.Int // ∫ π until the slot begins

	// The same as float64, within a relative 2^-53. They are of use if none is
	// so large or so small that a product could leave the range.
	rough struct{ weight, factor, price, prefix []float64 }
	fit   bool
}

func newTariff(p *Prices, w *workload, obj sched.Objective) *tariff {
	c := newTariffOn(p.Grid, p.Exponent, w, obj)
	c.charge(p.Price)
	return c
}

// newTariffOn returns a tariff on a grid, without prices. Jobs pay per GPU.
func newTariffOn(grid Grid, exponent int, w *workload, obj sched.Objective) *tariff {
	weights := objectiveWeights(w.in, obj)
	unit := weights.unit.Num().BitLen() - weights.unit.Denom().BitLen() // of 2^unit
	c := &tariff{w: w, grid: grid, exponent: min(exponent, unit), fit: true}
	c.shift = uint(exponent - c.exponent)
	for j, v := range weights.w {
		if j == 0 || v != weights.w[j-1] { // mostly they are one and the same
			v = new(big.Int).Lsh(v, uint(unit-c.exponent))
		} else {
			v = c.weight[j-1]
		}
		c.weight = append(c.weight, v)
		c.rough.weight = append(c.rough.weight, c.float(v))
		c.factors = append(c.factors, big.NewInt(int64(w.in.Jobs[j].Gang())))
		c.rough.factor = append(c.rough.factor, float64(w.in.Jobs[j].Gang()))
	}
	return c
}

// charge replaces the prices, which are in units of the exponent that the tariff was
// made with.
func (c *tariff) charge(prices []int64) {
	c.units = prices
	c.price, c.prefix, c.rough.price, c.rough.prefix = c.price[:0], c.prefix[:0], c.rough.price[:0], c.rough.prefix[:0]
	sum := new(big.Int)
	for k := range len(c.grid) {
		price := new(big.Int)
		if k < len(prices) {
			price.Lsh(price.SetInt64(prices[k]), c.shift)
		}
		c.price, c.prefix = append(c.price, price), append(c.prefix, sum)
		c.rough.price, c.rough.prefix = append(c.rough.price, c.float(price)), append(c.rough.prefix, c.float(sum))
		if k < len(prices) {
			length := big.NewInt(int64(c.grid[k+1] - c.grid[k]))
			sum = new(big.Int).Add(sum, length.Mul(length, price))
		}
	}
}

// float rounds v, and notes if that is not fit for use.
func (c *tariff) float(v *big.Int) float64 {
	f, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(v), c.exponent).Float64()
	const far = 1e200
	c.fit = c.fit && (v.Sign() == 0 || f > 1/far && f < far)
	return f
}

// total returns L(π) for Σ w_j C_j and schedules of a kind: whole gangs, which hold at
// most G' GPUs, run without interruption in N and with any in P0; fluid ones hold at
// most G.
func (c *tariff) total(kind sched.Kind) *big.Rat {
	sum, least := new(big.Int), c.leastSpread
	capacity := new(big.Int).SetInt64(Reachable(c.w.in))
	switch kind {
	case sched.N:
		least = c.least
	case sched.Fluid:
		capacity.SetInt64(c.w.gpus)
	}
	for j := range c.weight {
		sum.Add(sum, least(j))
	}
	return c.rational(sum.Sub(sum, capacity.Mul(capacity, c.prefix[len(c.prefix)-1])))
}

// rational returns a number of units.
func (c *tariff) rational(v *big.Int) *big.Rat {
	power := new(big.Int).Lsh(big.NewInt(1), uint(max(c.exponent, -c.exponent)))
	if c.exponent < 0 {
		return new(big.Rat).SetFrac(v, power)
	}
	return new(big.Rat).SetInt(power.Mul(power, v))
}

// least returns the least value over all t ≥ r_j of the expression in braces.
//
// With u = 2^-53, a rough value is within 8u of the sum of its terms' absolute
// values, w(t+d) + g·P(t+d) + g·P(t). Candidates whose w(t+d) alone exceeds the
// least rough value by more than the slack cannot be the best ones; all
// others, the best one included, are off by less than half the slack.
func (c *tariff) least(j int) *big.Int {
	first := c.grid.start(c.w.in.Jobs[j].Release, c.w.length[j])
	least, slack := math.Inf(1), math.Inf(1)
	if c.fit {
		w := c.rough.weight[j]
		for s, more := first, true; more; more = s.next(c.grid) {
			if w*float64(s.end()) > least+slack {
				break
			}
			if v := c.roughly(j, &s); v < least {
				least = v
				slack = (v + c.rough.factor[j]*c.rough.prefix[len(c.grid)-1]) / (1 << 46)
			}
		}
	}
	var best *big.Int
	for s, more := first, true; more; more = s.next(c.grid) {
		if c.fit {
			if c.rough.weight[j]*float64(s.end()) > least+slack {
				break
			}
			if c.roughly(j, &s) > least+slack {
				continue
			}
		}
		if v := c.exactly(j, &s); best == nil || v.Cmp(best) < 0 {
			best = v
		}
	}
	return best
}

func (c *tariff) roughly(j int, s *start) float64 {
	p := &c.rough
	until := p.prefix[s.to] + float64(p.price[s.to]*float64(s.end()-c.grid[s.to]))
	from := p.prefix[s.from] + float64(p.price[s.from]*float64(s.at-c.grid[s.from]))
	return float64(p.weight[j]*float64(s.end())) + float64(p.factor[j]*(until-from))
}

func (c *tariff) exactly(j int, s *start) *big.Int {
	v, t := new(big.Int), new(big.Int)
	v.Mul(c.price[s.to], v.SetInt64(int64(s.end()-c.grid[s.to])))
	v.Sub(v, t.Mul(c.price[s.from], t.SetInt64(int64(s.at-c.grid[s.from]))))
	v.Add(v, c.prefix[s.to]).Sub(v, c.prefix[s.from])
	v.Mul(v, c.factors[j])
	return v.Add(v, t.Mul(c.weight[j], t.SetInt64(int64(s.end()))))
}

// start is a start of a job on a grid.
type start struct {
	at, length sched.Time
	from, to   int // slots of at and of the end
}

// start returns the earliest start of a job.
func (g Grid) start(release, length sched.Time) start {
	return start{release, length, g.Slot(release), g.Slot(release + length)}
}

func (s *start) end() sched.Time { return s.at + s.length }

// next moves to the next start for which it or its end is a grid point. It
// returns false if there is none left that could cost less than this one.
func (s *start) next(g Grid) bool {
	if s.from == g.Slots() {
		return false
	}
	step, until := g[s.from+1]-s.at, sched.Time(math.MaxInt64)
	if s.to < g.Slots() {
		until = g[s.to+1] - s.end()
	}
	if step <= until {
		s.from++
	}
	if until <= step {
		s.to++
	}
	s.at += min(step, until)
	return true
}
