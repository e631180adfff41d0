package certify

import (
	"math/big"
	"slices"

	"yardstick/sched"
)

// elasticGridData are charges of linear programs over intervals for elastic jobs: for
// each unit of volume of a resource that is used up to a grid point, or from a time on.
type elasticGridData struct {
	Grid   []int64     `json:"grid"`   // in slots for class Es, in microseconds for F(min)
	Charge [][]float64 `json:"charge"` // by point of the grid and resource
}

func (c *Checker) readElasticGrid(d *document, x *elastic) (grid []*big.Rat, charge [][]*big.Rat, err error) {
	var data elasticGridData
	if err := d.read(&data); err != nil {
		return nil, nil, err
	}
	if len(data.Charge) != len(data.Grid) || !slices.IsSorted(data.Grid) || len(data.Grid) > 0 && data.Grid[0] < 0 {
		return nil, nil, refuted("%d charges for a grid of %d points, which must ascend from 0", len(data.Charge), len(data.Grid))
	}
	for k, at := range data.Grid {
		if slot := int64(c.in.Slot) / x.tick; x.class.Slotted && at%slot != 0 {
			return nil, nil, refuted("point %d of the grid is within a slot", k)
		}
		if len(data.Charge[k]) != len(c.in.Elastic.Resources) {
			return nil, nil, refuted("point %d of the grid has %d charges", k, len(data.Charge[k]))
		}
		list, err := charges(data.Charge[k])
		if err != nil {
			return nil, nil, err
		}
		grid, charge = append(grid, big.NewRat(at, 1)), append(charge, list)
	}
	return grid, charge, nil
}

// capacity returns what all servers have of a resource.
func (c *Checker) capacity(r int) *big.Rat {
	sum := new(big.Rat)
	for h := range c.in.Cluster.Servers {
		sum.Add(sum, big.NewRat(c.in.Cluster.Servers[h].Capacity[r], 1))
	}
	return sum
}

// elasticGrid is the program over the intervals of a grid τ_1 < τ_2 < …: the work of
// jobs that complete by τ_k is done in [0, τ_k], so that their volumes are at most
// τ_k C^r. With charges y ≥ 0 for these rows,
//
//	Σ w_j C_j ≥ Σ_j min over configurations and k of { w_j max(τ_{k−1}, r_j + d) + Σ_{k' ≥ k} Σ_r V^r y_k'r } − Σ τ_k C^r y_kr
//
// where a job that completes after τ_{k−1} does so a slot later at least in slotted
// classes, and k runs one beyond the grid.
func (c *Checker) elasticGrid(d *document) (proof, error) {
	x, err := c.elasticTotals(d)
	if err != nil {
		return proof{}, err
	}
	grid, charge, err := c.readElasticGrid(d, x)
	if err != nil {
		return proof{}, err
	}
	sum := new(big.Rat)
	for k, list := range charge {
		for r, y := range list {
			limit := new(big.Rat).Mul(grid[k], c.capacity(r))
			sum.Sub(sum, limit.Mul(limit, y))
		}
	}
	later := new(big.Rat)
	if x.class.Slotted {
		later.SetInt64(int64(c.in.Slot) / x.tick)
	}
	for i := range c.in.Jobs {
		w := d.weight(&c.in.Jobs[i])
		var least *big.Rat
		for n, volume := range x.volume[i] {
			first := x.complete(c, i, x.duration[i][n])
			pays := new(big.Rat) // for completing in interval k or before
			for k := len(grid); k >= 0; k-- {
				if k < len(grid) {
					for r, v := range volume {
						pays.Add(pays, new(big.Rat).Mul(v, charge[k][r]))
					}
					if first.Cmp(grid[k]) > 0 {
						break // nor before
					}
				}
				at := first
				if k > 0 {
					if after := new(big.Rat).Add(grid[k-1], later); after.Cmp(at) > 0 {
						at = after
					}
				}
				cost := new(big.Rat).Mul(w, at)
				if cost.Add(cost, pays); least == nil || cost.Cmp(least) < 0 {
					least = cost
				}
			}
		}
		sum.Add(sum, least)
	}
	return x.state(c, d, sum), nil
}

// weightGrid bounds the weight of the jobs done by the deadline τ: the work of those
// released at t or later and done by τ is done in [t, τ], so that
//
//	weight ≤ Σ_j max(0, w_j − min over configurations of Σ_{t ≤ r_j} Σ_r V^r y_tr) + Σ (τ − t) C^r y_tr
//
// for any charges y ≥ 0, over the configurations in which the job can be done by τ.
func (c *Checker) weightGrid(d *document) (proof, error) {
	x, err := c.weights(d)
	if err != nil {
		return proof{}, err
	}
	grid, charge, err := c.readElasticGrid(d, x)
	if err != nil {
		return proof{}, err
	}
	deadline := x.deadline(c)
	sum := new(big.Rat)
	for k, list := range charge {
		left := new(big.Rat).Sub(deadline, grid[k])
		if left.Sign() < 0 {
			return proof{}, refuted("point %d of the grid is after the deadline", k)
		}
		for r, y := range list {
			limit := new(big.Rat).Mul(left, c.capacity(r))
			sum.Add(sum, limit.Mul(limit, y))
		}
	}
	for i := range c.in.Jobs {
		gain := new(big.Rat)
		for n, volume := range x.volume[i] {
			if x.complete(c, i, x.duration[i][n]).Cmp(deadline) > 0 {
				continue
			}
			left := new(big.Rat).SetFloat64(c.in.Jobs[i].Weight)
			for k, list := range charge {
				if grid[k].Cmp(x.release[i]) > 0 {
					break
				}
				for r, y := range list {
					left.Sub(left, new(big.Rat).Mul(volume[r], y))
				}
			}
			if left.Cmp(gain) > 0 {
				gain = left
			}
		}
		sum.Add(sum, gain)
	}
	return c.weight(x.class, sum), nil
}

// weights returns what upper bounds on the weight done by a deadline know.
func (c *Checker) weights(d *document) (*elastic, error) {
	if d.Objective != sched.ScheduledWeight || c.in.Deadline == 0 {
		return nil, refuted("it bounds the weight done by a deadline, not %v", d.Objective)
	}
	return c.elastic(d)
}

// deadline returns the deadline in ticks; in slotted classes the last slot ends by it.
func (x *elastic) deadline(c *Checker) *big.Rat {
	at := int64(c.in.Deadline)
	if x.class.Slotted {
		at = sub(at, at%int64(c.in.Slot))
	}
	return big.NewRat(at, x.tick)
}

// weight returns the proof of an upper bound. Where weights are integers, it may be
// rounded down to one.
func (c *Checker) weight(class sched.Class, sum *big.Rat) proof {
	whole := true
	for i := range c.in.Jobs {
		whole = whole && new(big.Rat).SetFloat64(c.in.Jobs[i].Weight).IsInt()
	}
	if whole {
		sum = new(big.Rat).SetInt(floor(sum, 0))
	}
	return proof{class, sum, true}
}

// weightData are prices of resources and the factor that they are multiplied by.
type weightData struct {
	Theta string `json:"theta"` // a fraction
	resourceData
}

// weightPrices is the dual bound on the weight done by a deadline, for jobs that keep
// their configuration (Es): with c_j what the cheapest schedule of job j pays that ends
// by the deadline,
//
//	weight ≤ θ Σ C δ + Σ_j max(0, w_j − θ c_j).
func (c *Checker) weightPrices(d *document) (proof, error) {
	var data weightData
	if err := d.read(&data); err != nil {
		return proof{}, err
	}
	x, err := c.weights(d)
	if err != nil {
		return proof{}, err
	}
	if x.class.Kind != sched.E {
		return proof{}, refuted("it holds for class Es, not %v", d.Class)
	}
	theta, ok := new(big.Rat).SetString(data.Theta)
	if !ok || theta.Sign() < 0 {
		return proof{}, refuted("the factor is %q", data.Theta)
	}
	t, err := c.newMarket(&data.resourceData)
	if err != nil {
		return proof{}, err
	}
	pay := func(units *big.Int) *big.Rat {
		v := scaled2(new(big.Int).Set(units), data.Exponent)
		return v.Mul(v, theta)
	}
	sum := pay(t.total)
	latest := int64(c.in.Deadline / c.in.Slot)
	for i := range c.in.Jobs {
		if least := t.cheapest(i, 0, latest); least != nil {
			left := new(big.Rat).SetFloat64(c.in.Jobs[i].Weight)
			if left.Sub(left, pay(least)); left.Sign() > 0 {
				sum.Add(sum, left)
			}
		}
	}
	return c.weight(x.class, sum), nil
}
