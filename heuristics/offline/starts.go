package offline

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"yardstick/bounds"
)

// shares are the exponents a of list orders, and the shares of a job's length that are
// added to its preferred start.
var shares = []float64{0, .25, .5, .75, 1}

// listStarts returns the starts of list scheduling in the pool: at every time, the
// waiting job of the least d·g^a/w that fits goes first.
func (p *problem) listStarts(a float64) []int64 {
	keys := make([]float64, len(p.jobs))
	for i := range p.jobs {
		j := &p.jobs[i]
		keys[i] = float64(j.short) * math.Pow(float64(j.gang), a) / j.weight
		if p.unit > 0 {
			keys[i] = -keys[i] // the longest first
		}
	}
	arrivals := p.sorted(func(i int32) float64 { return float64(p.jobs[i].release) })
	start := make([]int64, len(p.jobs))
	waiting := map[int32]*queue{} // by gang
	var gangs []int32
	free := p.gpus
	var running queue
	for next := 0; next < len(arrivals) || len(running.items) > 0; {
		now := int64(math.MaxInt64)
		if next < len(arrivals) {
			now = p.jobs[arrivals[next]].release
		}
		if len(running.items) > 0 {
			now = min(now, int64(running.items[0].key))
		}
		for ; next < len(arrivals) && p.jobs[arrivals[next]].release <= now; next++ {
			i := arrivals[next]
			g := p.jobs[i].gang
			if waiting[g] == nil {
				waiting[g] = &queue{}
				gangs = append(gangs, g)
			}
			heap.Push(waiting[g], item{keys[i], i})
		}
		for len(running.items) > 0 && int64(running.items[0].key) <= now {
			free += p.jobs[heap.Pop(&running).(item).job].gang
		}
		for {
			var best *queue
			for _, g := range gangs {
				if q := waiting[g]; g <= free && len(q.items) > 0 && (best == nil || q.items[0].before(best.items[0])) {
					best = q
				}
			}
			if best == nil {
				break
			}
			i := heap.Pop(best).(item).job
			start[i] = now
			free -= p.jobs[i].gang
			heap.Push(&running, item{float64(now + p.jobs[i].short), i})
		}
	}
	return start
}

// item is a job in a queue. Times below 2^53 are exact as keys, which is 285 years.
type item struct {
	key float64
	job int32
}

func (x item) before(y item) bool {
	return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(x.job, y.job)) < 0
}

// queue is a heap of jobs, least key first, ties to the lower index.
type queue struct{ items []item }

func (q *queue) Len() int           { return len(q.items) }
func (q *queue) Less(i, j int) bool { return q.items[i].before(q.items[j]) }
func (q *queue) Swap(i, j int)      { q.items[i], q.items[j] = q.items[j], q.items[i] }
func (q *queue) Push(x any)         { q.items = append(q.items, x.(item)) }
func (q *queue) Pop() any {
	last := q.items[len(q.items)-1]
	q.items = q.items[:len(q.items)-1]
	return last
}

// sorted returns the jobs in order of a key, ties to the lower index.
func (p *problem) sorted(key func(i int32) float64) []int32 {
	keys, order := make([]float64, len(p.jobs)), make([]int32, len(p.jobs))
	for i := range order {
		order[i], keys[i] = int32(i), key(int32(i))
	}
	slices.SortFunc(order, func(x, y int32) int { return cmp.Or(cmp.Compare(keys[x], keys[y]), cmp.Compare(x, y)) })
	return order
}

// serial puts the jobs on an empty board one after the other, each where it ends first
// given those before it.
func (b *board) serial(order []int32) {
	for _, i := range order {
		b.insert(i, b.p.jobs[i].release)
	}
}

// preferred returns for every job the start t ≥ r at which it is cheapest under prices
// of GPUs: w·(t+d) + g ∫_t^{t+d} π is least. The earliest of equals is taken. Floating
// point chooses starts here, and proves nothing.
//
// Source: as for [bounds.Prices].
func (p *problem) preferred(prices *bounds.Prices) []int64 {
	slots := len(prices.Price)
	grid, price, prefix := make([]float64, slots+1), make([]float64, slots+1), make([]float64, slots+1)
	for k := range slots {
		grid[k], price[k] = float64(prices.Grid[k]), math.Ldexp(float64(prices.Price[k]), prices.Exponent)
		prefix[k+1] = prefix[k] + float64(price[k]*float64(prices.Grid[k+1]-prices.Grid[k]))
	}
	grid[slots] = float64(prices.Grid[slots])
	slot := func(t float64) int {
		k, found := slices.BinarySearch(grid, t)
		if found {
			return k
		}
		return max(0, k-1)
	}
	out := make([]int64, len(p.jobs))
	for i := range p.jobs {
		j := &p.jobs[i]
		t, d, g := float64(j.release), float64(j.short), float64(j.gang)
		from, to := slot(t), slot(t+d)
		charge := prefix[to] + float64(price[to]*(t+d-grid[to])) - prefix[from] - float64(price[from]*(t-grid[from]))
		cost := float64(j.weight*t) + float64(g*charge)
		best, at := cost, t
		for from < slots && float64(j.weight*t) < best {
			step, until := grid[from+1]-t, math.Inf(1)
			if to < slots {
				until = grid[to+1] - t - d
			}
			cost += float64(min(step, until) * (j.weight + float64(g*(price[to]-price[from]))))
			t += min(step, until)
			if step <= until {
				from++
			}
			if until <= step {
				to++
			}
			if cost < best {
				best, at = cost, t
			}
		}
		out[i] = p.roundUp(int64(at))
	}
	return out
}
