package certify

import (
	"math/big"

	"yardstick/sched"
)

// placesData are prices of progress by job and slot, and what jobs count for on the GPUs
// that they share, both in units of 2^Exponent and nothing after the last of a list.
type placesData struct {
	Grid     []int64   `json:"grid"`
	Price    [][]int64 `json:"price"`
	Count    [][]int64 `json:"count"` // of a job on all of its GPUs together
	Exponent int       `json:"exponent"`
}

// guest is a job in a slot.
type guest struct {
	*sharer
	price, count int64
}

// places is the Lagrangian bound of jobs that share GPUs, each of which pays for its
// progress:
//
//	Σ weight_j C_j ≥ Σ_j min { weight_j C_j + what job j pays } − Σ_k |slot k|·K_k.
//
// A job progresses for w_j units at rates of at most 1, and pays no less than the cheapest
// w_j units of time before it completes. K_k is the most that jobs can count for on two
// places for each GPU. A job that is alone takes two for each of its GPUs, and its price
// counts; of one that shares, the price times its largest rate beside anybody on a GPU that
// nobody shares, and its count on one that it shares, each over its gang. What two jobs pay
// on a GPU is at most their counts there: that is checked.
func (c *Checker) places(d *document) (proof, error) {
	const steps = 500_000_000 // of all knapsacks, and pairs of jobs in slots
	var data placesData
	if err := d.totals(); err != nil {
		return proof{}, err
	}
	if err := d.read(&data); err != nil {
		return proof{}, err
	}
	jobs, memory, err := c.sharers()
	if err != nil {
		return proof{}, err
	}
	if len(data.Price) != len(jobs) || len(data.Count) != len(jobs) {
		return proof{}, refuted("there are %d prices and %d counts of %d jobs", len(data.Price), len(data.Count), len(jobs))
	}
	s, err := c.scale(d, data.Exponent)
	if err != nil {
		return proof{}, err
	}
	slots, gpus := max(0, sub(len(data.Grid), 1)), int64(c.in.Cluster.GPUs())
	largest, pairs := int64(1), mul(int64(len(jobs)), int64(len(jobs)))
	for i := range jobs {
		largest = max(largest, jobs[i].gang)
	}
	if mul(int64(slots), add(pairs, mul(mul(int64(len(jobs)), mul(gpus, 2)), add(largest, 1)))) > steps {
		return proof{}, tooHard("%d jobs, %d slots and %d GPUs are too many for knapsacks", len(jobs), slots, gpus)
	}
	sum := new(big.Int)
	for i := range jobs {
		if len(data.Price[i]) > slots || len(data.Count[i]) > slots {
			return proof{}, refuted("job %d has %d prices and %d counts for %d slots", i, len(data.Price[i]), len(data.Count[i]), slots)
		}
		t, err := newTariff(data.Grid, padded(data.Price[i], slots))
		if err != nil {
			return proof{}, err
		}
		length := small(new(big.Int).Quo(jobs[i].work.Num(), jobs[i].work.Denom()))
		if length == 0 {
			return proof{}, tooHard("job %d runs for less than a microsecond", i)
		}
		sum.Add(sum, t.leastSpread(&job{c.in.Jobs[i].Release, sched.Time(length), 1}, s.weight[i], s.common))
	}
	met := c.met(jobs, memory)
	charge := new(big.Int)
	for k := range slots {
		var guests []guest
		for i := range jobs {
			if int64(c.in.Jobs[i].Release) < data.Grid[k+1] {
				g := guest{&jobs[i], at(data.Price[i], k), at(data.Count[i], k)}
				if g.count < 0 {
					return proof{}, refuted("job %d counts for %d in slot %d", i, g.count, k)
				}
				for _, o := range guests {
					if !g.enough(&o, met.between(g.kind, o.kind)) {
						return proof{}, refuted("job %d and another one pay more than they count for in slot %d", i, k)
					}
				}
				guests = append(guests, g)
			}
		}
		most := big.NewInt(met.most(guests, gpus))
		charge.Add(charge, most.Mul(most, big.NewInt(sub(data.Grid[k+1], data.Grid[k]))))
	}
	return lower(sched.Class{Kind: sched.SP0}, s.value(c, d, sum, charge)), nil
}

// padded returns a list with zeros behind it.
func padded(list []int64, n int) []int64 {
	out := make([]int64, n)
	copy(out, list)
	return out
}

// at returns an element of a list, or 0 behind it.
func at(list []int64, k int) int64 {
	if k < len(list) {
		return list[k]
	}
	return 0
}

// enough reports whether two jobs count for what they pay on a GPU, whatever their
// accumulations: count_g/gang_g + count_o/gang_o ≥ price_g·rate_g/gang_g + price_o·rate_o/gang_o.
func (g *guest) enough(o *guest, rates []meeting) bool {
	per := func(v int64, gang int64) *big.Rat { return big.NewRat(v, gang) }
	have := per(g.count, g.gang)
	have.Add(have, per(o.count, o.gang))
	for _, m := range rates {
		pay, other := per(g.price, g.gang), per(o.price, o.gang)
		if pay.Mul(pay, m.first).Add(pay, other.Mul(other, m.second)).Cmp(have) > 0 {
			return false
		}
	}
	return true
}

// company is how fast jobs go beside each other, by their kinds.
type company struct {
	rates   [][][]meeting
	fastest []*big.Rat // beside anybody; nil if nobody fits
}

func (m *company) between(a, b int) []meeting { return m.rates[a][b] }

func (c *Checker) met(jobs []sharer, memory int64) *company {
	var example, count []int
	for i := range jobs {
		if jobs[i].kind == len(example) {
			example, count = append(example, i), append(count, 0)
		}
		count[jobs[i].kind]++
	}
	m := &company{fastest: make([]*big.Rat, len(example))}
	for a := range example {
		row := make([][]meeting, len(example))
		for b := range example {
			if a == b && count[a] == 1 {
				continue
			}
			row[b] = c.meetings(&jobs[example[a]], &jobs[example[b]], memory)
			for _, r := range row[b] {
				if m.fastest[a] == nil || r.first.Cmp(m.fastest[a]) > 0 {
					m.fastest[a] = r.first
				}
			}
		}
		m.rates = append(m.rates, row)
	}
	return m
}

// most returns the most that jobs can count for on 2·gpus places, each rounded up.
func (m *company) most(guests []guest, gpus int64) int64 {
	best := make([]int64, add(mul(gpus, 2), 1))
	for i := range guests {
		worth := m.worth(&guests[i])
		for room := len(best) - 1; room > 0; room-- {
			for taken, v := range worth {
				if v > 0 && taken <= room {
					best[room] = max(best[room], add(best[sub(room, taken)], v))
				}
			}
		}
	}
	return best[len(best)-1]
}

// worth returns what a job counts for by the places that it takes, rounded up.
func (m *company) worth(g *guest) []int64 {
	out := make([]int64, add(mul(g.gang, 2), 1))
	out[len(out)-1] = g.price
	fastest := m.fastest[g.kind]
	if fastest == nil {
		return out
	}
	single := big.NewRat(g.price, 1)
	single.Mul(single, fastest) // on all of its GPUs, were none of them shared
	for unshared := range int(g.gang) {
		v := new(big.Rat).Mul(single, big.NewRat(int64(unshared), g.gang))
		shared := big.NewRat(sub(g.gang, int64(unshared)), g.gang)
		v.Add(v, shared.Mul(shared, big.NewRat(g.count, 1)))
		out[add(int(g.gang), unshared)] = small(roundUp(v).Num())
	}
	return out
}
