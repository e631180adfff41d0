package exhaustive

import (
	"context"
	"math/rand/v2"
	"slices"

	"yardstick/internal/number"
)

// greedy starts jobs one by one, in order of time: of those that can start before any
// other that waits could have ended, the one whose start costs least under the prices,
// its own and, impatience times as heavy, what the jobs that go on waiting lose. Prices
// near the best ones say what a start costs the others. Chance decides what they leave
// open: the cost of a job's own start is multiplied by a number of its own between
// 1−noise and 1+noise.
type greedy struct {
	*search
	rng               *rand.Rand
	impatience, noise float64

	waits  []bool
	starts []int64 // of the jobs that wait, the earliest
	factor []float64
	order  []int
	held   []span // by jobs that run, by their end
}

// span is how long a job holds some GPUs.
type span struct {
	end  int64
	gang int
}

// pricedPlan is a plan and what it costs, in the search's units.
type pricedPlan struct {
	plan
	cost number.Uint128
}

// pricedPlans makes plans of so many trials and returns the best of them, the cheapest
// first, and no two of one cost. There are none without prices.
func (s *search) pricedPlans(ctx context.Context, seed uint64, trials, most int) (best []pricedPlan) {
	if s.excess == nil {
		return nil
	}
	n := len(s.jobs)
	impatience, noise := []float64{1, 1.5, 2, 3, 5, 8}, []float64{0.25, 0.5, 1}
	g := &greedy{search: s, rng: rand.New(rand.NewPCG(seed, 0)), waits: make([]bool, n), starts: make([]int64, n), factor: make([]float64, n)}
	b := &builder{problem: s.problem}
	for k := 0; k < trials && ctx.Err() == nil; k++ {
		g.impatience, g.noise = impatience[k%len(impatience)], noise[k/len(impatience)%len(noise)]
		if !g.run() {
			continue
		}
		p := pricedPlan{plan: b.build(g.order)}
		p.cost, _ = s.planCost(p.plan)
		at, found := slices.BinarySearchFunc(best, p, func(x, y pricedPlan) int { return x.cost.Compare(y.cost) })
		if !found {
			best = slices.Insert(best, at, p)
			best = best[:min(len(best), most)]
		}
	}
	return best
}

// run orders all jobs, and returns false if the prices leave no start to one of them.
func (g *greedy) run() bool {
	g.order, g.held = g.order[:0], g.held[:0]
	for i := range g.jobs {
		g.waits[i], g.factor[i] = true, 1+g.noise*(2*g.rng.Float64()-1)
	}
	now := int64(0)
	for range g.jobs {
		before := int64(never) // when some job that starts as soon as it can ends
		for i := range g.jobs {
			if g.waits[i] {
				g.starts[i] = g.earliest(i, now)
				before = min(before, g.starts[i]+g.jobs[i].short)
			}
		}
		best, least := -1, 0.0
		at, waiting, ok := int64(-1), int64(0), false
		for i := range g.jobs {
			if !g.waits[i] || g.starts[i] >= before {
				continue
			}
			if g.starts[i] != at {
				at = g.starts[i]
				waiting, ok = g.from(at)
			}
			own, _, fits := g.excess[i].of(at)
			if !ok || !fits {
				continue
			}
			mine, _ := g.excess[i].from(at)
			if v := g.factor[i]*float64(own) + g.impatience*float64(waiting-mine); best < 0 || v < least {
				best, least = i, v
			}
		}
		if best < 0 {
			return false
		}
		now = g.starts[best]
		g.start(best, now)
	}
	return true
}

// start has job i start.
func (g *greedy) start(i int, now int64) {
	g.waits[i] = false
	g.order = append(g.order, i)
	g.held = slices.DeleteFunc(g.held, func(h span) bool { return h.end <= now })
	h := span{now + g.jobs[i].short, g.jobs[i].gang}
	at := 0
	for at < len(g.held) && g.held[at].end <= h.end {
		at++
	}
	g.held = slices.Insert(g.held, at, h)
}

// earliest returns when job i has GPUs if no other starts, not before now.
func (g *greedy) earliest(i int, now int64) int64 {
	at, free := max(now, g.jobs[i].release), g.gpus
	for _, h := range g.held {
		if h.end > at {
			free -= h.gang
		}
	}
	for _, h := range g.held {
		if free >= g.jobs[i].gang {
			break
		}
		if h.end > at {
			at, free = h.end, free+h.gang
		}
	}
	return at
}

// from returns what the jobs that wait lose at least if they start at a time or later,
// and false if one of them cannot.
func (g *greedy) from(at int64) (sum int64, ok bool) {
	for i := range g.jobs {
		if g.waits[i] {
			cost, ok := g.excess[i].from(at)
			if !ok {
				return 0, false
			}
			sum += cost
		}
	}
	return sum, true
}
