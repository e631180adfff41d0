package certify

import (
	"math"
	"math/big"
	"sort"

	"yardstick/sched"
)

// priceData are prices of GPUs: in slot k one GPU costs Price[k]·2^Exponent per
// microsecond, in units of the objective's weights, and nothing after the last.
type priceData struct {
	Grid     []int64 `json:"grid"` // slot k is [Grid[k], Grid[k+1])
	Price    []int64 `json:"price"`
	Exponent int     `json:"exponent"`
	Least    []claim `json:"least,omitempty"`
}

// tariff is the cost of holding a GPU: Π(t), the integral of the prices up to t.
type tariff struct {
	grid  []int64
	price []*big.Int // by slot, and 0 after the last; in units of 2^exponent
	total []*big.Int // Π at the grid points
	rough struct{ price, total []float64 }
}

func newTariff(grid, price []int64) (*tariff, error) {
	const latest = 4 * int64(sched.MaxTime)
	switch {
	case len(grid) < 2 || len(price) != len(grid)-1:
		return nil, refuted("%d prices for %d grid points", len(price), len(grid))
	case grid[0] != 0 || grid[len(grid)-1] > latest:
		return nil, refuted("the grid is from %d to %d", grid[0], grid[len(grid)-1])
	}
	t := &tariff{grid: grid}
	sum := new(big.Int)
	for k := range grid {
		p := new(big.Int)
		if k < len(price) {
			if p.SetInt64(price[k]); price[k] < 0 || grid[k+1] <= grid[k] {
				return nil, refuted("the price of slot %d, [%d, %d), is %d", k, grid[k], grid[k+1], price[k])
			}
		}
		t.price, t.total = append(t.price, p), append(t.total, new(big.Int).Set(sum))
		t.rough.price, t.rough.total = append(t.rough.price, nearest(p)), append(t.rough.total, nearest(sum))
		if k < len(price) {
			sum.Add(sum, new(big.Int).Mul(p, big.NewInt(sub(grid[k+1], grid[k]))))
		}
	}
	return t, nil
}

func nearest(v *big.Int) float64 {
	f, _ := new(big.Float).SetInt(v).Float64()
	return f
}

// slot returns the slot that holds t ≥ 0, the last for what is after the grid.
func (t *tariff) slot(at int64) int {
	return sort.Search(len(t.grid), func(k int) bool { return t.grid[k] > at }) - 1
}

func (t *tariff) exactly(at int64) *big.Int {
	k := t.slot(at)
	v := big.NewInt(sub(at, t.grid[k]))
	return v.Add(v.Mul(v, t.price[k]), t.total[k])
}

// prices is the Lagrangian bound: whatever the prices are,
//
//	Σ w_j C_j ≥ Σ_j min_{t ≥ r_j} { w_j (t + d_j) + g_j (Π(t + d_j) − Π(t)) } − G'·Π(∞),
//
// as a job holds its GPUs from some t on for at least d_j, and pays for them, and
// no more than G' GPUs are ever held together. In t the term is linear between
// the times at which t or t + d_j is a grid point; it rises after the grid.
func (c *Checker) prices(d *document) (proof, error) {
	var data priceData
	jobs, t, s, err := c.priced(d, &data, &data)
	if err != nil {
		return proof{}, err
	}
	sum := new(big.Int)
	for i, j := range jobs {
		sum.Add(sum, t.least(&j, s.weight[i], s.common))
	}
	charge := big.NewInt(reachable(jobs, int64(c.in.Cluster.GPUs())))
	return lower(sched.Class{Kind: sched.N}, s.value(c, d, sum, charge.Mul(charge, t.total[len(t.total)-1]))), nil
}

// priced reads data with prices of GPUs, and returns the jobs, what GPUs cost and what
// sums are in.
func (c *Checker) priced(d *document, data any, p *priceData) ([]job, *tariff, *scale, error) {
	jobs, err := c.gangTotals(d, data, &p.Least)
	if err != nil {
		return nil, nil, nil, err
	}
	t, err := newTariff(p.Grid, p.Price)
	if err != nil {
		return nil, nil, nil, err
	}
	s, err := c.scale(d, p.Exponent)
	return jobs, t, s, err
}

// scale is what exact sums with prices are in: units of 2^exponent over the common
// denominator of the weights.
type scale struct {
	unit   *big.Rat
	common *big.Int
	weight []*big.Int // w_j
}

func (c *Checker) scale(d *document, exponent int) (*scale, error) {
	const far = 1200
	if exponent < -far || exponent > far {
		return nil, refuted("the exponent is %d", exponent)
	}
	s := &scale{unit: new(big.Rat).SetInt64(1), common: big.NewInt(1)}
	power := new(big.Int).Lsh(big.NewInt(1), uint(max(exponent, -exponent)))
	if exponent < 0 {
		s.unit.SetFrac(big.NewInt(1), power)
	} else {
		s.unit.SetInt(power)
	}
	weight := make([]*big.Rat, len(c.in.Jobs))
	for i := range weight {
		weight[i] = new(big.Rat).Quo(d.weight(&c.in.Jobs[i]), s.unit)
		s.common = lcm(s.common, weight[i].Denom())
	}
	for _, w := range weight {
		v := new(big.Int).Quo(s.common, w.Denom())
		s.weight = append(s.weight, v.Mul(v, w.Num()))
	}
	return s, nil
}

// value restates a sum over the jobs, less what is charged in units of the prices, for
// the objective.
func (s *scale) value(c *Checker, d *document, sum, charge *big.Int) *big.Rat {
	v := new(big.Int).Mul(charge, s.common)
	value := new(big.Rat).SetFrac(v.Sub(sum, v), s.common)
	return d.restate(c.in, value.Mul(value, s.unit))
}

func lcm(a, b *big.Int) *big.Int {
	if a.Cmp(b) == 0 {
		return a
	}
	g := new(big.Int).GCD(nil, nil, a, b)
	return new(big.Int).Mul(a, g.Quo(b, g))
}

// least returns min_t common·(term of t), given w·common.
//
// Rough values are sums of at most four terms, each a product of numbers rounded
// once or twice: with u = 2^-53 they are within 8u of w(t+d) + g(Π(t+d) + Π(t)). A
// start is evaluated exactly unless its rough value exceeds the least one by more
// than twice that of both.
func (t *tariff) least(j *job, w, common *big.Int) *big.Int {
	rate, _ := new(big.Rat).SetFrac(w, common).Float64()
	gang, last := float64(j.gang), t.rough.total[len(t.grid)-1]
	usable := rate > 1e-150 && rate < 1e150 && last < 1e150
	slack := func(v float64) float64 { return (v + gang*last) * (32.0 / (1 << 53)) } // v ≥ w(t+d) and Π ≤ last
	rough := func(s *start) float64 {
		from := t.rough.total[s.from] + t.rough.price[s.from]*float64(sub(s.at, t.grid[s.from]))
		to := t.rough.total[s.to] + t.rough.price[s.to]*float64(sub(s.end(), t.grid[s.to]))
		return rate*float64(s.end()) + gang*(to-from)
	}
	lowest := math.Inf(1)
	for s := t.first(j); usable; {
		v := rough(&s)
		lowest = min(lowest, v)
		if !s.next(t.grid) || rate*float64(s.end()) > lowest+2*slack(lowest) {
			break
		}
	}
	var best *big.Int
	for s := t.first(j); ; {
		if v := rough(&s); !usable || v <= lowest+2*slack(lowest) {
			held := new(big.Int).Sub(t.exactly(s.end()), t.exactly(s.at))
			held.Mul(held, big.NewInt(j.gang)).Mul(held, common)
			held.Add(held, new(big.Int).Mul(w, big.NewInt(s.end())))
			if best == nil || held.Cmp(best) < 0 {
				best = held
			}
		}
		if !s.next(t.grid) || usable && rate*float64(s.end()) > lowest+2*slack(lowest) {
			return best
		}
	}
}

// start is a start of a job at which it or its end may be a grid point.
type start struct {
	at, length int64
	from, to   int // slots of at and of at + length
}

func (t *tariff) first(j *job) start {
	r, d := int64(j.release), int64(j.length)
	return start{r, d, t.slot(r), t.slot(add(r, d))}
}

func (s *start) end() int64 { return add(s.at, s.length) }

// next moves on to the next grid point that the start or the end meets. It
// returns false if the start is beyond the last.
func (s *start) next(grid []int64) bool {
	const never = math.MaxInt64
	step, other := int64(never), int64(never)
	if s.from+1 < len(grid) {
		step = sub(grid[s.from+1], s.at)
	}
	if s.to+1 < len(grid) {
		other = sub(grid[s.to+1], s.end())
	}
	if step == never {
		return false
	}
	if step <= other {
		s.from++
	}
	if other <= step {
		s.to++
	}
	s.at = add(s.at, min(step, other))
	return true
}
