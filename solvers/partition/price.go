package partition

import (
	"math"
	"slices"
)

// priceSteps is how many price vectors are tried to refute one threshold.
const priceSteps = 60

// unfilled is below every sum of prices.
const unfilled = math.MinInt64 / 4

// unaffordable reports that the job cannot be placed within the threshold
// because of prices on its replicas: what all replicas cost together is more
// than what the servers can hold at most, each by itself,
//
//	Σ_s k_s u_s > Σ_m max over contents c of server m of Σ_s c_s u_s.
//
// Prices with that property exist if and only if the relaxation has no solution
// in which servers hold contents fractionally. They are sought by subgradients:
// the price of a stage rises where the best contents hold too little of it. All
// sums are integers, so that the conclusion is exact however the prices were
// found.
//
// Source: column generation for cutting stock (Gilmore and Gomory, 1961), with
// contents of servers as patterns.
func (r *reach) unaffordable(lots []lot, whole bool) bool {
	const unit = 1 << 20
	price, held := make([]int64, len(r.replicas)), make([]int, len(r.replicas))
	for s := range price {
		price[s] = unit * int64(r.slices[s])
	}
	d := newDearest(r)
	step, best := 0.5, int64(math.MinInt64)
	for range priceSteps {
		total := int64(0)
		clear(held)
		for s, k := range r.replicas {
			total += int64(k) * price[s]
		}
		for class := range r.sizes {
			d.solve(class, price)
			for _, l := range lots {
				if l.class != class {
					continue
				}
				value, ok := d.contents(l.room, whole, l.count, held)
				if !ok {
					return true
				}
				total -= int64(l.count) * value
			}
		}
		if total > 0 {
			return true
		}
		if total > best {
			best = total
		} else {
			step *= 0.9
		}
		norm := 0.0
		for s, k := range r.replicas {
			d := float64(k - held[s])
			norm += d * d
		}
		if norm == 0 {
			return false // the contents are a placement
		}
		for s, k := range r.replicas {
			price[s] += int64(step * unit * float64(k-held[s]) * float64(r.slices[s]) / math.Sqrt(norm))
			if !whole {
				price[s] = max(0, price[s])
			}
		}
	}
	return false
}

// dearest finds the contents of a server that cost most, by dynamic programming
// from the last stage to the first.
type dearest struct {
	*reach
	class int
	price []int64
	value [][][][]int64 // [stage][x][b][n]: n GPUs of later stages beside x replicas, at least b of the next stage
	next  [][][][]int8  // replicas of the next stage there
	empty [][]int64     // [stage][n]: n GPUs of the stage and later ones, on an empty server
	first [][]int8      // replicas of the stage there
}

func newDearest(r *reach) *dearest {
	d := &dearest{reach: r}
	top := slices.Max(r.most)
	for s := range r.replicas {
		value, next := make([][][]int64, r.width(s, top)+1), make([][][]int8, r.width(s, top)+1)
		for x := range value {
			for range r.width(s+1, top-x*r.slices[s]) + 1 {
				value[x], next[x] = append(value[x], make([]int64, top+1)), append(next[x], make([]int8, top+1))
			}
		}
		d.value, d.next = append(d.value, value), append(d.next, next)
	}
	for range len(r.replicas) + 1 {
		d.empty, d.first = append(d.empty, make([]int64, top+1)), append(d.first, make([]int8, top+1))
	}
	return d
}

// solve sets the values for servers of one class.
func (d *dearest) solve(class int, price []int64) {
	d.class, d.price = class, price
	last, top := len(d.replicas)-1, d.most[class]
	for n := range d.empty[last+1] {
		d.empty[last+1][n] = unfilled
	}
	d.empty[last+1][0] = 0
	for s := last; s >= 0; s-- {
		for x := range d.width(s, top) + 1 {
			d.beside(s, x, top)
		}
		for n := range top + 1 {
			d.empty[s][n], d.first[s][n] = d.empty[s+1][n], 0
			for x := 1; x <= d.width(s, n); x++ {
				need := d.need[class][s][0][x]
				if need >= len(d.value[s][x]) {
					continue
				}
				if v := d.value[s][x][need][n-x*d.slices[s]] + int64(x)*price[s]; v > d.empty[s][n] {
					d.empty[s][n], d.first[s][n] = v, int8(x)
				}
			}
		}
	}
}

// beside sets the values beside x replicas of stage s.
func (d *dearest) beside(s, x, top int) {
	value, next := d.value[s][x], d.next[s][x]
	room := top - x*d.slices[s]
	for b := len(value) - 1; b >= 0; b-- {
		for n := range value[b] {
			value[b][n], next[b][n] = unfilled, 0
			if b+1 < len(value) {
				value[b][n], next[b][n] = value[b+1][n], next[b+1][n]
			}
			v := int64(unfilled)
			if b == 0 {
				v = d.empty[min(s+2, len(d.replicas))][n]
			} else if own := b * d.slices[s+1]; own <= n && n <= room {
				if need := d.need[d.class][s+1][x][b]; need < len(d.value[s+1][b]) {
					v = d.value[s+1][b][need][n-own] + int64(b)*d.price[s+1]
				}
			}
			if v > value[b][n] {
				value[b][n], next[b][n] = v, int8(b)
			}
		}
	}
}

// contents returns what a server with the given room can hold at most, and adds
// count times its replicas to held. It returns false if the server cannot be
// filled.
func (d *dearest) contents(room int, whole bool, count int, held []int) (int64, bool) {
	n := room
	for m := range room {
		if !whole && d.empty[0][m] > d.empty[0][n] {
			n = m
		}
	}
	value := d.empty[0][n]
	if value < unfilled/2 {
		return 0, false
	}
	a, x := 0, int(d.first[0][n]) // replicas of the stages before and at s
	for s := range d.replicas {
		held[s] += x * count
		n -= x * d.slices[s]
		switch {
		case s+1 == len(d.replicas):
		case x > 0:
			a, x = x, int(d.next[s][x][d.need[d.class][s][a][x]][n])
		default:
			a, x = 0, int(d.first[s+1][n])
		}
	}
	return value, true
}
