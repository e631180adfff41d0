package exhaustive

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"yardstick/internal/number"
)

// maxTrials bounds the schedules tried for the first incumbent, times the
// square of the number of jobs.
const maxTrials = 200_000

// lists returns the best of the list schedules in several orders.
func lists(p *problem) plan {
	best, _ := bestList(p)
	return best
}

// bestList returns also its order.
func bestList(p *problem) (best plan, bestOrder []int) {
	return p.fill(nil)
}

// fill returns the best of the plans in which some jobs take their places first, in the
// given order, and then the others, in several orders.
func (p *problem) fill(first []int) (best plan, bestOrder []int) {
	n := len(p.jobs)
	b := &builder{problem: p}
	keys := []func(j *job) float64{
		func(j *job) float64 { return float64(j.release) },
		func(j *job) float64 { return float64(j.short) },
		func(j *job) float64 { return float64(j.work) / j.worth },
		func(j *job) float64 { return float64(j.short) / j.worth },
		func(j *job) float64 { return float64(j.release + j.short) },
		func(j *job) float64 { return -float64(j.short) },
		func(j *job) float64 { return -float64(j.work) },
	}
	for _, key := range keys {
		order := slices.Clone(first)
		for i := range n {
			if !slices.Contains(first, i) {
				order = append(order, i)
			}
		}
		slices.SortStableFunc(order[len(first):], func(x, y int) int { return cmp.Compare(key(&p.jobs[x]), key(&p.jobs[y])) })
		if pl := b.build(order); bestOrder == nil || p.cheaper(pl, best) {
			best, bestOrder = pl, order
		}
	}
	return best, bestOrder
}

// firstIncumbent returns a good plan: the best list schedule, improved by moving single
// jobs within the order.
func firstIncumbent(p *problem) plan {
	n := len(p.jobs)
	b := &builder{problem: p}
	best, bestOrder := bestList(p)
	trials := maxTrials / (n * n)
	for improved := true; improved; {
		improved = false
		for from := 0; from < n; from++ {
			for to := 0; to < n && trials > 0; to++ {
				if from == to {
					continue
				}
				order := slices.Clone(bestOrder)
				i := order[from]
				order = slices.Insert(slices.Delete(order, from, from+1), to, i)
				trials--
				if pl := b.build(order); p.cheaper(pl, best) {
					best, bestOrder, improved = pl, order, true
				}
			}
		}
	}
	return best
}

// reorder makes list schedules in orders in which a few jobs, drawn by chance, have been
// moved, and goes on from those that cost no more: makespans are equal more often than
// not.
func (s *search) reorder(ctx context.Context, seed uint64, trials int) {
	rng := rand.New(rand.NewPCG(seed, 1))
	n, b := len(s.jobs), &builder{problem: s.problem}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	begin := s.best.plan.start
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(begin[x], begin[y]) })
	least, _ := s.planCost(b.build(order))
	for k := 0; k < trials && ctx.Err() == nil; k++ {
		next := slices.Clone(order)
		for range 1 + rng.IntN(3) {
			from, to := rng.IntN(n), rng.IntN(n)
			i := next[from]
			next = slices.Insert(slices.Delete(next, from, from+1), to, i)
		}
		pl := b.build(next)
		if cost, _ := s.planCost(pl); !least.Less(cost) {
			order, least = next, cost
			s.improve(pl)
		}
	}
}

// cheaper compares the (rounded) costs of two plans, and the sums of ends if
// those are equal.
func (p *problem) cheaper(a, b plan) bool {
	ca, sa := p.planCost(a)
	cb, sb := p.planCost(b)
	return ca.Less(cb) || ca == cb && sa < sb
}

func (p *problem) planCost(pl plan) (cost number.Uint128, sum int64) {
	for i, end := range pl.end {
		sum += end
		if p.makespan {
			cost = cost.Max(number.Uint128{Lo: uint64(end)})
		} else {
			cost = cost.Plus(number.Product(p.jobs[i].weight, uint64(end)))
		}
	}
	return cost, sum
}

// builder makes list schedules: each job in turn gets the start and GPUs with
// which it ends first, given those before it in the order.
type builder struct {
	*problem
	plan
	placed []int
	key    patternKey
}

func (b *builder) build(order []int) plan {
	b.plan, b.placed = newPlan(len(order)), b.placed[:0]
	for _, i := range order {
		j := &b.jobs[i]
		starts := []int64{j.release}
		for _, k := range b.placed {
			if b.end[k] > j.release {
				starts = append(starts, b.end[k])
			}
		}
		slices.Sort(starts)
		b.end[i] = never
		for _, at := range starts {
			if at+j.short >= b.end[i] {
				break
			}
			if counts, d, ok := b.fit(j, at); ok && at+d < b.end[i] {
				b.start[i], b.end[i], b.counts[i] = at, at+d, counts
			}
		}
		b.placed = append(b.placed, i)
	}
	return b.plan
}

// fit finds GPUs for job j from time at on: on one server, evenly over few
// servers, or where there are some, whichever runs shortest.
func (b *builder) fit(j *job, at int64) (counts []int, duration int64, ok bool) {
	if b.sensitive == 0 {
		return nil, j.short, b.idlePool(at, at+j.short) >= j.gang
	}
	short, long := b.idle(at, at+j.short), b.idle(at, at+j.long)
	tightest := -1
	for m, n := range short {
		if n >= j.gang && (tightest < 0 || n < short[tightest]) {
			tightest = m
		}
	}
	if tightest >= 0 {
		counts = make([]int, len(b.free))
		counts[tightest] = j.gang
		return counts, b.durationOn(&b.key, j, counts), true
	}
	servers := make([]int, len(long))
	for m := range servers {
		servers[m] = m
	}
	slices.SortStableFunc(servers, func(x, y int) int { return long[y] - long[x] })
	duration = never
	for parts := 2; parts <= min(len(servers), j.gang); parts++ {
		for _, even := range []bool{true, false} {
			c, left := make([]int, len(b.free)), j.gang
			for q, m := range servers[:parts] {
				n := left
				if even {
					n = (left + parts - q - 1) / (parts - q)
				}
				c[m] = min(n, long[m])
				left -= c[m]
			}
			if left > 0 {
				continue
			}
			if d := b.durationOn(&b.key, j, c); d < duration {
				counts, duration, ok = c, d, true
			}
		}
	}
	return counts, duration, ok
}

// idle returns how many GPUs of each server no placed job holds at any time
// from at to until.
func (b *builder) idle(at, until int64) []int {
	out := slices.Clone(b.free)
	for m := range out {
		out[m] -= b.peak(at, until, func(k int) int { return b.counts[k][m] })
	}
	return out
}

// idlePool returns how many GPUs in all no placed job holds, at the time from
// at to until when they are fewest.
func (b *builder) idlePool(at, until int64) int {
	return b.gpus - b.peak(at, until, func(k int) int { return b.jobs[k].gang })
}

// peak returns the most that placed jobs hold at once between at and until: at
// at or at one of their starts.
func (b *builder) peak(at, until int64, held func(k int) int) int {
	most := 0
	for q := -1; q < len(b.placed); q++ {
		t := at
		if q >= 0 {
			if t = b.start[b.placed[q]]; t <= at || t >= until {
				continue
			}
		}
		sum := 0
		for _, k := range b.placed {
			if b.start[k] <= t && t < b.end[k] {
				sum += held(k)
			}
		}
		most = max(most, sum)
	}
	return most
}
