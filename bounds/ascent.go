package bounds

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"yardstick/sched"
)

// ascent climbs L(π), see [Prices], by subgradients. Everything here is
// floating point: it chooses prices, and proves nothing about them. Products
// are rounded before they are added, so that every machine chooses the same.
type ascent struct {
	jobs     []buyer // by release
	capacity float64 // G'

	grid   []float64
	price  []float64 // of every slot, and 0 for what comes after
	prefix []float64 // ∫ π until the slot begins
	width  []float64 // of every slot
	excess []float64 // by how much the mean number of GPUs held in the slot exceeds the capacity

	// That mean is the sum of change up to the slot, and part/length of it.
	part, change []float64

	spread bool // jobs pay for the cheapest time, see leastSpread
	heap   basket[float64]

	// Where a job has been started of late, in the mean; nil if nobody asks. By job of
	// the instance.
	mean []float64

	iterations, steps int // evaluations of L, and starts looked at in them
}

// buyer is a job that chooses its start by the prices.
type buyer struct {
	release, length, gang, weight float64
	from, to                      int // slots of its earliest start and end
	id                            int
}

func newAscent(w *workload, weight []float64, kind sched.Kind) *ascent {
	a := &ascent{capacity: float64(Reachable(w.in)), spread: kind != sched.N}
	if kind == sched.Fluid {
		a.capacity = float64(w.gpus)
	}
	for j, d := range w.length {
		a.jobs = append(a.jobs, buyer{release: float64(w.in.Jobs[j].Release), length: float64(d), gang: float64(w.in.Jobs[j].Gang()), weight: weight[j], id: j})
	}
	slices.SortStableFunc(a.jobs, func(x, y buyer) int { return cmp.Compare(x.release, y.release) })
	return a
}

// on moves the ascent to a grid, with the prices of its slots.
func (a *ascent) on(grid Grid, price []float64) {
	n := len(grid)
	a.grid, a.price = make([]float64, n), append(slices.Clone(price), 0)
	a.prefix, a.excess, a.part, a.change = make([]float64, n), make([]float64, n-1), make([]float64, n), make([]float64, n)
	for k, t := range grid {
		a.grid[k] = float64(t)
	}
	a.width = make([]float64, n-1)
	for k := range a.width {
		a.width[k] = a.grid[k+1] - a.grid[k]
	}
	slot := func(t float64) int { return sort.Search(n, func(k int) bool { return a.grid[k] > t }) - 1 }
	for i := range a.jobs {
		b := &a.jobs[i]
		b.from, b.to = slot(b.release), slot(b.release+b.length)
	}
}

// Constants of climb. They only matter for speed, and were chosen on random
// instances of 1,000 jobs.
const (
	momentum = 0.7 // of the direction
	boldness = 1.5 // growth of the gap after a great step
)

// climb raises a concave function of prices of slots from the present ones and ends at
// the best ones found. It returns their value. width is how long the slot of each
// price is; value returns the value of the prices and sets excess, its subgradient per
// unit of width, or returns −∞ if the context ended.
//
// The step is Polyak's for a target that is gap above the best value known,
// along the subgradient plus a share of the last direction. After so many
// evaluations without a better value as patience says, the gap is halved and
// the search goes on from the best prices.
//
// When the context ends, so does the climb, at the best prices that were evaluated.
//
// Source: B. T. Polyak, Minimization of unsmooth functionals (1969); for the
// directions, P. M. Camerini, L. Fratta, F. Maffioli, On improving relaxation
// methods by modified gradient techniques (1975).
func climb(ctx context.Context, price, excess, width []float64, value func(context.Context) float64, gap, enough float64, patience int, more func() bool) float64 {
	direction, best, most := make([]float64, len(price)), slices.Clone(price), math.Inf(-1)
	for stalled := 0; gap > enough && more(); {
		v := value(ctx)
		if math.IsInf(v, -1) {
			break
		}
		if v > most {
			if v > most+gap/2 && !math.IsInf(most, -1) {
				gap *= boldness
			}
			most, stalled = v, 0
			copy(best, price)
		} else if stalled++; stalled == patience {
			gap, stalled = gap/2, 0
			copy(price, best)
			clear(direction)
			continue
		}
		norm := 0.0
		for k, s := range excess {
			if price[k] == 0 && s < 0 {
				s = 0
			}
			direction[k] = s + float64(momentum*direction[k])
			norm += float64(direction[k] * direction[k] * width[k])
		}
		if norm == 0 { // nothing is short: these prices are the best
			break
		}
		step := (most + gap - v) / norm
		for k := range price {
			price[k] = max(0, price[k]+float64(step*direction[k]))
		}
	}
	copy(price, best)
	return most
}

// value returns L(π) − Σ w_j (r_j + d_j) and sets excess, its subgradient. It
// returns −∞ if the context ends first.
func (a *ascent) value(ctx context.Context) float64 {
	slots := len(a.grid) - 1
	a.reset()
	total := float64(-a.capacity * a.prefix[slots])
	for i := range a.jobs {
		const often = 256 // jobs, of up to some milliseconds each
		if i%often == 0 && ctx.Err() != nil {
			return math.Inf(-1)
		}
		if a.spread {
			total += a.buy(&a.jobs[i])
		} else {
			total += a.choose(&a.jobs[i])
		}
	}
	held := 0.0
	for k := range slots {
		held += a.change[k]
		a.excess[k] = held + a.part[k]/a.width[k] - a.capacity
	}
	a.iterations++
	return total
}

// reset makes all slots empty and adds up the prices.
func (a *ascent) reset() {
	clear(a.part)
	clear(a.change)
	sum := 0.0
	for k, width := range a.width {
		a.prefix[k] = sum
		sum += float64(a.price[k] * width)
	}
	a.prefix[len(a.width)] = sum
}

// choose puts a job at its best start and returns what that costs beyond the
// earliest end without charge. See [start.next] for the starts.
func (a *ascent) choose(b *buyer) float64 {
	slots := len(a.grid) - 1
	from, to, at, end := b.from, b.to, b.release, b.release+b.length
	charge := a.prefix[to] - a.prefix[from] + float64(a.price[to]*(end-a.grid[to])) - float64(a.price[from]*(at-a.grid[from]))
	cost := float64(b.gang * charge)
	best, bestAt, bestFrom, bestTo := cost, at, from, to
	limit := b.release + best/b.weight // whatever starts later costs more
	for from < slots {
		slope := b.weight + float64(b.gang*(a.price[to]-a.price[from]))
		step, until := a.grid[from+1]-at, math.Inf(1)
		if to < slots {
			until = a.grid[to+1] - end
		}
		if step <= until {
			from++
		}
		if until <= step {
			to++
			step = until
		}
		at += step
		end += step
		a.steps++
		if at >= limit {
			break
		}
		cost += float64(slope * step)
		if cost < best {
			best, bestAt, bestFrom, bestTo = cost, at, from, to
			limit = b.release + best/b.weight
		}
	}
	if a.mean != nil {
		const last = 50 // evaluations, about
		a.mean[b.id] += (bestAt - a.mean[b.id]) / float64(min(last, a.iterations+1))
	}
	a.hold(bestFrom, bestAt, b.gang)
	a.hold(bestTo, bestAt+b.length, -b.gang)
	return best
}

// hold changes the number of GPUs held from a time on, which is in slot k.
func (a *ascent) hold(k int, at, gpus float64) {
	if k < len(a.grid)-1 {
		a.part[k] += float64(gpus * (a.grid[k+1] - at))
		a.change[k+1] += gpus
	}
}
