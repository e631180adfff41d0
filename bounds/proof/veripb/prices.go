package veripb

import "math"

// row is a kind of constraint on what is held in a slot: Σ take_j ≤ room. The first kind
// has the gangs and the capacity. The others are its Chvátal-Gomory cuts: both sides
// divided by some number and rounded down.
type row struct {
	divisor int64
	take    []int64
	room    int64
}

// maxCuts limits the cuts of a slot.
const maxCuts = 2

// rows returns the capacity and the cuts by which jobs take the most more of it.
func cuts(m *model) []row {
	list := []row{divided(m, 1)}
	for range maxCuts {
		best, gain := row{}, 0.0
		for d := int64(2); d <= m.Capacity; d++ {
			r := divided(m, d)
			g := 0.0
			for i, j := range m.Jobs {
				have := 0.0
				for _, other := range list {
					have = max(have, float64(other.take[i])/float64(other.room))
				}
				g += float64(j.Duration) * max(0, float64(r.take[i])/float64(r.room)-have)
			}
			if g > gain+1e-9 {
				best, gain = r, g
			}
		}
		if gain == 0 {
			break
		}
		list = append(list, best)
	}
	return list
}

func divided(m *model, d int64) row {
	r := row{divisor: d, room: m.Capacity / d}
	for _, j := range m.Jobs {
		r.take = append(r.take, j.Gang/d)
	}
	return r
}

// prices are integers ≥ 0, one for each kind of row and slot, and what follows from them.
// With the reduced cost
//
//	c_jt = K w_j (t + p_j) + Σ_rows take_j · (price of the slots t, …, t + p_j - 1)
//
// every schedule whose jobs start in some sets T_j costs K·cost ≥ Σ_j min_{t ∈ T_j} c_jt -
// paid, where paid = Σ room · price.
type prices struct {
	price [][]int64 // by row and slot
	cost  [][]int64 // by job and start
	below [][]int64 // the least cost of starts before t
	from  [][]int64 // the least cost of starts at t or later
	paid  int64
	made  int // after so many nodes
	line  int // in the proof
}

// reduce returns the prices with their reduced costs.
func (s *search) reduce(price [][]int64) *prices {
	m := s.m
	k := &prices{price: price, cost: make([][]int64, len(m.Jobs)), below: make([][]int64, len(m.Jobs)), from: make([][]int64, len(m.Jobs))}
	for i, j := range m.Jobs {
		starts := int(m.last[i]-j.Release) + 1
		k.cost[i] = make([]int64, starts)
		for t := range k.cost[i] {
			k.cost[i][t] = s.scale * j.Weight * (j.Release + int64(t) + j.Duration)
		}
	}
	for r, list := range price {
		sum := make([]int64, len(list)+1)
		for t, v := range list {
			sum[t+1] = sum[t] + v
			k.paid += s.rows[r].room * v
		}
		for i, j := range m.Jobs {
			take := s.rows[r].take[i]
			if take == 0 {
				continue
			}
			for t := range k.cost[i] {
				at := j.Release - m.first + int64(t)
				k.cost[i][t] += take * (sum[at+j.Duration] - sum[at])
			}
		}
	}
	for i, cost := range k.cost {
		k.below[i], k.from[i] = make([]int64, len(cost)+1), make([]int64, len(cost)+1)
		k.below[i][0], k.from[i][len(cost)] = math.MaxInt64, math.MaxInt64
		for t, c := range cost {
			k.below[i][t+1] = min(k.below[i][t], c)
		}
		for t := len(cost) - 1; t >= 0; t-- {
			k.from[i][t] = min(k.from[i][t+1], cost[t])
		}
	}
	return k
}

// least returns the least reduced cost of a start of job i in [from, to], one of which is
// an end of its window or both are the same.
func (k *prices) least(m *model, i int, from, to int64) int64 {
	r := m.Jobs[i].Release
	switch {
	case from == to:
		return k.cost[i][from-r]
	case to >= m.last[i]:
		return k.from[i][max(from-r, 0)]
	default:
		return k.below[i][to-r+1]
	}
}

// ascent looks for prices under which nothing cheaper starts in given windows, by
// subgradients with Polyak's steps.
type ascent struct {
	s          *search
	price      []float64 // by row and slot
	sum        []float64
	slope      []float64
	direction  []float64
	slots      int
	bestPrices []float64
}

func newAscent(s *search) *ascent {
	a := &ascent{s: s, slots: int(s.m.end - s.m.first)}
	n := a.slots * len(s.rows)
	a.price, a.bestPrices, a.slope, a.direction = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	a.sum = make([]float64, (a.slots+1)*len(s.rows))
	return a
}

// deflection is the share of the last direction in the next one.
const deflection = 0.7

// climb starts from the prices given and returns the best bound, in units of cost, and
// leaves its prices in bestPrices. It ends when the bound exceeds enough, after the given
// number of steps, or when so many as patience have brought nothing. Steps are as long as
// if aim, which is more, were the best bound that there is; their directions are deflected
// by those before them.
//
// Source: P. Camerini, L. Fratta and F. Maffioli, "On improving relaxation methods by
// modified gradient techniques", Math. Program. Study 3 (1975).
func (a *ascent) climb(st *state, from []float64, enough, aim float64, steps, patience int) float64 {
	copy(a.price, from)
	copy(a.bestPrices, from)
	clear(a.direction)
	best, factor, since, reference := math.Inf(-1), 1.0, 0, math.Inf(-1)
	for range steps {
		v := a.value(st)
		if v > best {
			best = v
			copy(a.bestPrices, a.price)
		}
		if best > enough {
			break
		}
		if best > reference+1e-3*(aim-best) {
			reference, since = best, 0
		} else if since++; since%10 == 0 {
			factor /= 2
			copy(a.price, a.bestPrices)
			clear(a.direction)
			if since > patience {
				break
			}
			continue
		}
		norm := 0.0
		for i, g := range a.slope {
			d := g + deflection*a.direction[i]
			if a.price[i] == 0 && d < 0 {
				d = 0
			}
			a.direction[i] = d
			norm += d * d
		}
		if norm == 0 {
			break
		}
		step := factor * (aim - v) / norm
		for i, d := range a.direction {
			a.price[i] = max(0, a.price[i]+step*d)
		}
	}
	return best
}

// value returns the bound under the prices, and leaves its slope.
func (a *ascent) value(st *state) (v float64) {
	m, rows := a.s.m, a.s.rows
	for r := range rows {
		room, sum := float64(rows[r].room), a.sum[r*(a.slots+1):]
		list, slope := a.price[r*a.slots:(r+1)*a.slots], a.slope[r*a.slots:(r+1)*a.slots]
		for t, x := range list {
			sum[t+1] = sum[t] + x
			v -= room * x
			slope[t] = 0
		}
	}
	for i := range m.Jobs {
		j := &m.Jobs[i]
		from, to := st.window(m, i)
		at, best := from, math.Inf(1)
		for t := from; t <= to; t++ {
			c := float64(j.Weight * (t + j.Duration))
			u := int(t - m.first)
			for r := range rows {
				if take := rows[r].take[i]; take > 0 {
					sum := a.sum[r*(a.slots+1):]
					c += float64(take) * (sum[u+int(j.Duration)] - sum[u])
				}
			}
			if c < best {
				at, best = t, c
			}
		}
		v += best
		u := int(at - m.first)
		for r := range rows {
			take, slope := float64(rows[r].take[i]), a.slope[r*a.slots:(r+1)*a.slots]
			slope[u] += take // as differences; summed below
			if end := u + int(j.Duration); end < a.slots {
				slope[end] -= take
			}
		}
	}
	for r := range rows {
		list, slope := a.price[r*a.slots:(r+1)*a.slots], a.slope[r*a.slots:(r+1)*a.slots]
		held, room := 0.0, float64(rows[r].room)
		for t := range slope {
			held += slope[t]
			slope[t] = held - room
			if list[t] == 0 && slope[t] < 0 || a.s.m.rows[a.s.m.first+int64(t)] == 0 {
				slope[t] = 0
			}
		}
	}
	return v
}
