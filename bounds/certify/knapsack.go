package certify

import (
	"math/big"

	"yardstick/sched"
)

// packData are prices by job and slot: job j pays Price[j][k]·2^Exponent per
// microsecond that it runs in slot k, and nothing after the last of its list.
type packData struct {
	Grid     []int64   `json:"grid"`
	Price    [][]int64 `json:"price"`
	Exponent int       `json:"exponent"`
	Spread   bool      `json:"spread"` // jobs may be preempted: class P0
	Least    []claim   `json:"least,omitempty"`
}

// packs is the Lagrangian bound with prices by job:
//
//	Σ w_j C_j ≥ Σ_j min { w_j C_j + what job j pays } − Σ_k |slot k|·K_k,
//
// where K_k is the most that jobs can pay per microsecond which run together in slot
// k: the gangs of those that do hold at most G GPUs, and they are released before the
// slot ends. It is a knapsack. Jobs that are not preempted (N) pay for an interval,
// others (P0) for no less than the cheapest d_j units of time before they complete.
// Parts of gangs would not be one of these sets: it never holds for fluid schedules.
func (c *Checker) packs(d *document) (proof, error) {
	const steps = 2_000_000_000 // of all knapsacks
	var data packData
	jobs, err := c.gangTotals(d, &data, &data.Least)
	if err != nil {
		return proof{}, err
	}
	if len(data.Price) != len(jobs) {
		return proof{}, refuted("there are prices of %d jobs, not of %d", len(data.Price), len(jobs))
	}
	s, err := c.scale(d, data.Exponent)
	if err != nil {
		return proof{}, err
	}
	slots, gpus := max(0, sub(len(data.Grid), 1)), int64(c.in.Cluster.GPUs())
	if mul(mul(int64(slots), int64(len(jobs))), add(gpus, 1)) > steps {
		return proof{}, tooHard("%d jobs, %d slots and %d GPUs are too many for knapsacks", len(jobs), slots, gpus)
	}
	sum, class := new(big.Int), sched.N
	if data.Spread {
		class = sched.P0
	}
	for i, j := range jobs {
		row := data.Price[i]
		if len(row) > slots {
			return proof{}, refuted("job %d has %d prices for %d slots", i, len(row), slots)
		}
		whole := make([]int64, slots)
		copy(whole, row)
		t, err := newTariff(data.Grid, whole)
		if err != nil {
			return proof{}, err
		}
		j.gang = 1 // the price is of all of its GPUs
		if data.Spread {
			sum.Add(sum, t.leastSpread(&j, s.weight[i], s.common))
		} else {
			sum.Add(sum, t.least(&j, s.weight[i], s.common))
		}
	}
	charge := new(big.Int)
	for k := range slots {
		var items []item
		for i, j := range jobs {
			if k < len(data.Price[i]) && int64(j.release) < data.Grid[k+1] {
				items = append(items, item{j.gang, data.Price[i][k], 1})
			}
		}
		most := big.NewInt(knapsack(items, gpus))
		charge.Add(charge, most.Mul(most, big.NewInt(sub(data.Grid[k+1], data.Grid[k]))))
	}
	return lower(sched.Class{Kind: class}, s.value(c, d, sum, charge)), nil
}
