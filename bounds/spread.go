package bounds

import (
	"math/big"

	"yardstick/sched"
)

// A job that may be preempted, or served at any rate up to 1, and that pays prices
// p(t) while it is served, pays no less than the cheapest d_j units of the time
// between its release and its completion C cost. So its term of the Lagrangian is
//
//	min_{C ≥ r_j + d_j} { w_j C + the cheapest d_j units of [r_j, C) under p }.
//
// A sweep over C keeps these units in a heap, the dearest first; each new slot swaps
// out what is dearer than itself. Between two swaps the term is linear in C, so that
// it is least at the end of one: an integer.

// bought is time of one price.
type bought[T int64 | float64] struct{ price, length T }

// basket is a heap of what is bought, the dearest first.
type basket[T int64 | float64] []bought[T]

func (b *basket[T]) push(x bought[T]) {
	h := append(*b, x)
	i := len(h) - 1
	for i > 0 && h[(i-1)/2].price < x.price {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = x
	*b = h
}

func (b *basket[T]) pop() {
	h := *b
	last := len(h) - 1
	x := h[last]
	h = h[:last]
	for i := 0; i < last; {
		child := 2*i + 1
		if child+1 < last && h[child+1].price > h[child].price {
			child++
		}
		if child >= last || h[child].price <= x.price {
			h[i] = x
			break
		}
		h[i] = h[child]
		i = child
	}
	*b = h
}

// leastSpread returns the least value over all C of the term above for job j, whose
// price per unit of time is factor·price.
func (c *tariff) leastSpread(j int) *big.Int {
	release, length := c.w.in.Jobs[j].Release, c.w.length[j]
	slots := c.grid.Slots()
	priceOf := func(k int) int64 {
		if k < slots {
			return c.units[k]
		}
		return 0
	}
	paid, t := new(big.Int), new(big.Int) // in units of the prices
	var heap basket[int64]
	end := release + length
	k := c.grid.Slot(release)
	for at := release; at < end; k++ { // the first d units
		until := end
		if k < slots {
			until = min(end, c.grid[k+1])
		}
		heap.push(bought[int64]{priceOf(k), int64(until - at)})
		paid.Add(paid, t.Mul(t.SetInt64(priceOf(k)), big.NewInt(int64(until-at))))
		at = until
	}
	k-- // the slot that holds the last of them, which may end there
	cost := func() *big.Int {
		v := new(big.Int).Mul(paid, c.factors[j])
		v.Lsh(v, c.shift)
		return v.Add(v, t.Mul(c.weight[j], t.SetInt64(int64(end))))
	}
	best := cost()
	for ; heap[0].price > 0; k++ {
		room := sched.Time(lastTime) // after the grid, as much as is needed
		if k < slots {
			room = c.grid[k+1] - end
		}
		price := priceOf(k)
		for room > 0 && heap[0].price > price {
			top := &heap[0]
			swap := min(room, sched.Time(top.length))
			paid.Sub(paid, t.Mul(t.SetInt64(top.price-price), big.NewInt(int64(swap))))
			if top.length -= int64(swap); top.length == 0 {
				heap.pop()
			}
			heap.push(bought[int64]{price, int64(swap)})
			end, room = end+swap, room-swap
			if v := cost(); v.Cmp(best) < 0 {
				best = v
			}
		}
		if k == slots {
			break
		}
		end = max(end, c.grid[k+1])
		if t.Mul(c.weight[j], t.SetInt64(int64(end))).Cmp(best) >= 0 {
			break
		}
	}
	return best
}

// buy lets a job that pays for the cheapest time choose when to complete, puts it
// there and returns what that costs beyond the earliest end without charge.
func (a *ascent) buy(b *buyer) float64 {
	slots, end := len(a.grid)-1, b.release+b.length
	heap := a.heap[:0]
	paid := 0.0
	for k := b.from; k <= b.to; k++ { // the first d units
		from, until := max(b.release, a.grid[k]), end
		if k < slots {
			until = min(end, a.grid[k+1])
		}
		if until > from {
			heap.push(bought[float64]{a.price[k], until - from})
			paid += float64(a.price[k] * (until - from))
		}
	}
	cost := float64(b.gang * paid)
	best, bestEnd, bestLast, dearest := cost, end, b.to, heap[0].price
	for k := b.to; heap[0].price > 0; k++ {
		a.steps++
		room := end // more than enough, after the grid: no more than d is paid for
		if k < slots {
			room = a.grid[k+1] - end
		}
		for room > 0 && heap[0].price > a.price[k] {
			top := heap[0]
			swap := min(room, top.length)
			paid -= float64((top.price - a.price[k]) * swap)
			if swap == top.length {
				heap.pop()
			} else {
				heap[0].length -= swap
			}
			heap.push(bought[float64]{a.price[k], swap})
			end, room = end+swap, room-swap
			if cost = float64(b.gang*paid) + float64(b.weight*(end-b.release-b.length)); cost < best {
				best, bestEnd, bestLast, dearest = cost, end, k, heap[0].price
			}
		}
		if k == slots {
			break
		}
		end = max(end, a.grid[k+1])
		if float64(b.weight*(end-b.release-b.length)) >= best {
			break
		}
	}
	a.heap = heap
	a.take(b, bestEnd, bestLast, dearest)
	return best
}

// take puts a job at all times up to its end that are cheaper than the dearest that it
// pays for, and at as many of those as it needs besides.
func (a *ascent) take(b *buyer, end float64, last int, dearest float64) {
	left := b.length
	for _, equal := range []bool{false, true} {
		for k := b.from; k <= last && k < len(a.grid)-1; k++ {
			if equal && a.price[k] == dearest || !equal && a.price[k] < dearest {
				time := min(left, max(0, min(end, a.grid[k+1])-max(b.release, a.grid[k])))
				a.part[k] += float64(b.gang * time)
				left -= time
			}
		}
	}
}
