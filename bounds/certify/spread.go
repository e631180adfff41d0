package certify

import (
	"math/big"
	"slices"

	"yardstick/sched"
)

// spreadData are prices of GPUs for jobs that may be preempted.
type spreadData struct {
	priceData
	// Whole says that gangs run as a whole (P0), so that no more than G' GPUs are held
	// together. If not, parts of them may (F(1)), and it is G.
	Whole bool `json:"whole"`
}

// spreadPrices is the Lagrangian bound of jobs that may be preempted, or served at any
// rate of at most 1:
//
//	Σ w_j C_j ≥ Σ_j min_C { w_j C + g_j·(what the cheapest d_j of [r_j, C) cost) } − capacity·Π(∞),
//
// as a job is served for d_j units of time before it completes, none of them twice.
func (c *Checker) spreadPrices(d *document) (proof, error) {
	var data spreadData
	jobs, t, s, err := c.priced(d, &data, &data.priceData)
	if err != nil {
		return proof{}, err
	}
	class, charge := sched.Fluid, big.NewInt(int64(c.in.Cluster.GPUs()))
	if data.Whole {
		class = sched.P0
		charge.SetInt64(reachable(jobs, int64(c.in.Cluster.GPUs())))
	}
	sum := new(big.Int)
	for i, j := range jobs {
		sum.Add(sum, t.leastSpread(&j, s.weight[i], s.common))
	}
	return lower(sched.Class{Kind: class}, s.value(c, d, sum, charge.Mul(charge, t.total[len(t.total)-1]))), nil
}

// offer is time at one price.
type offer struct{ price, length int64 }

// leastSpread returns min_C common·(term of C), given w·common.
//
// Say that C is in slot k, of price p, and x of the job's time is in that slot: its
// first x, or C could be earlier. The rest is the cheapest of the slots before. One
// more unit of x costs w + g·p and saves g times the dearest of the rest. So x is best
// where the rest is what costs at most p + w/g, as far as the slot and d_j allow.
func (t *tariff) leastSpread(j *job, w, common *big.Int) *big.Int {
	rate := new(big.Int).Mul(big.NewInt(j.gang), common) // of a unit of price
	margin := new(big.Int).Quo(w, rate)                  // prices are integers, so that this may be rounded down
	r, d := int64(j.release), int64(j.length)
	var before []offer // by price
	var best *big.Int
	known := int64(0) // how much time is before
	for k := t.slot(r); ; k++ {
		from := max(r, t.grid[k])
		if best != nil && new(big.Int).Mul(w, big.NewInt(from)).Cmp(best) >= 0 {
			return best
		}
		length := d // after the grid
		if k+1 < len(t.grid) {
			length = sub(t.grid[k+1], from)
		}
		limit := new(big.Int).Add(t.price[k], margin)
		cheap := int64(0)
		for _, o := range before {
			if big.NewInt(o.price).Cmp(limit) > 0 {
				break
			}
			cheap = add(cheap, o.length)
		}
		x := sub(d, min(cheap, d))
		if x = max(min(x, length), sub(d, min(known, d))); x <= length {
			cost := new(big.Int).Mul(t.price[k], big.NewInt(x))
			rest := sub(d, x)
			for _, o := range before {
				if rest == 0 {
					break
				}
				part := min(rest, o.length)
				cost.Add(cost, new(big.Int).Mul(big.NewInt(o.price), big.NewInt(part)))
				rest = sub(rest, part)
			}
			cost.Mul(cost, rate)
			cost.Add(cost, new(big.Int).Mul(w, big.NewInt(add(from, x))))
			if best == nil || cost.Cmp(best) < 0 {
				best = cost
			}
		}
		if k+1 == len(t.grid) {
			return best
		}
		price := small(t.price[k])
		at, _ := slices.BinarySearchFunc(before, price, func(o offer, p int64) int { return sign(o.price, p) })
		if at < len(before) && before[at].price == price {
			before[at].length = add(before[at].length, length)
		} else {
			before = slices.Insert(before, at, offer{price, length})
		}
		known = add(known, length)
	}
}
