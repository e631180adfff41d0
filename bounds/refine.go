package bounds

import (
	"cmp"
	"slices"

	"yardstick/sched"
)

// period is a time from (inclusive) to (exclusive).
type period struct{ from, to sched.Time }

// overlaps reports whether two periods have time in common.
func (p period) overlaps(q period) bool { return p.from < q.to && q.from < p.to }

// contended returns when jobs would hold more GPUs than can be held at one
// time if every one of them started at its release. If that is never, they
// can all do so, as far as the number of GPUs goes.
func (w *workload) contended() []period {
	type event struct {
		at   sched.Time
		gpus int64
	}
	events := make([]event, 0, 2*len(w.length))
	for j, d := range w.length {
		r, gang := w.in.Jobs[j].Release, int64(w.in.Jobs[j].Gang())
		events = append(events, event{r, gang}, event{r + d, -gang})
	}
	slices.SortFunc(events, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.gpus, b.gpus)) })
	var out []period
	held, capacity, open := int64(0), Reachable(w.in), false
	for _, e := range events {
		held += e.gpus
		switch {
		case held > capacity && !open:
			out, open = append(out, period{from: e.at}), true
		case held <= capacity && open:
			out[len(out)-1].to, open = e.at, false
		}
	}
	return out
}

// refine cuts slots into parts no shorter than the shortest length, so that
// there are at most the given number of slots. It returns false if nothing can
// be cut. Prices stay what they were at every time.
//
// If it cannot cut them all, it leaves out, and merges, those without a price
// that are neither contended nor next to one with a price.
func refine(grid Grid, price []float64, slots int, shortest sched.Time, contended []period) (Grid, []float64, bool) {
	const most = 4 // parts
	cut := make([]bool, len(price))
	whole := 0
	for k := range cut {
		cut[k] = true
		whole += parts(grid, k, most, shortest)
	}
	if whole > slots {
		for k := range cut {
			for len(contended) > 0 && contended[0].to <= grid[k] {
				contended = contended[1:]
			}
			cut[k] = price[k] > 0 || k > 0 && price[k-1] > 0 || k+1 < len(price) && price[k+1] > 0 ||
				len(contended) > 0 && contended[0].overlaps(period{grid[k], grid[k+1]})
		}
	}
	for n := most; n > 1; n /= 2 {
		finer, prices := Grid{0}, []float64(nil)
		for k := range cut {
			switch p := parts(grid, k, n, shortest); {
			case cut[k]:
				for i := 1; i <= p; i++ {
					finer = append(finer, grid[k]+(grid[k+1]-grid[k])*sched.Time(i)/sched.Time(p))
					prices = append(prices, price[k])
				}
			case k > 0 && !cut[k-1]:
				finer[len(finer)-1] = grid[k+1]
			default:
				finer, prices = append(finer, grid[k+1]), append(prices, 0)
			}
		}
		if len(prices) <= slots {
			return finer, prices, len(prices) > len(price)
		}
	}
	return grid, price, false
}

// parts returns into how many parts slot k may be cut, at most n.
func parts(grid Grid, k, n int, shortest sched.Time) int {
	for n > 1 && (grid[k+1]-grid[k])/sched.Time(n) < shortest {
		n /= 2
	}
	return n
}
