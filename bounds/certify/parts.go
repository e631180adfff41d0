package certify

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"yardstick/sched"
)

// part is a number of GPUs of a server of a size.
type part struct{ size, gpus int }

// partSteps limits the ways to put one kind of job on parts that are looked at.
const partSteps = 2_000_000

// parts finds the least time per iteration of one kind of job on given parts.
type parts struct {
	*stages
	fill  map[part][]filling // what a part may hold
	known map[string]*big.Rat
	steps int // left; below 0, what was found is not complete
}

// filling is what a part holds, and how long an iteration takes there.
type filling struct {
	counts []int
	alpha  *big.Rat
}

// training returns the least training time of a job on parts of distinct servers,
// over all ways to put its replicas on them; false if whole replicas do not fill
// them.
func (t *times) training(j *sched.Job, on []part) (sched.Time, bool, error) {
	key := kind(j)
	p := t.parts[key]
	if p == nil {
		p = &parts{stages: stagesOf(t.in, j), fill: map[part][]filling{}, known: map[string]*big.Rat{}, steps: partSteps}
		t.parts[key] = p
	}
	on = slices.Clone(on)
	slices.SortFunc(on, func(a, b part) int { return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.gpus, b.gpus)) })
	alpha := p.least(on, slices.Clone(p.replicas))
	switch {
	case p.steps < 0:
		return 0, false, tooHard("there are more than %d ways to put a job of %d stages on parts of servers", partSteps, len(j.Stages))
	case alpha == nil:
		return 0, false, nil
	}
	return clip(runs(j.Iters, alpha)), true, nil
}

// least returns the least bottleneck of the replicas left on the parts, or nil if
// they do not fill them.
func (p *parts) least(on []part, left []int) *big.Rat {
	if len(on) == 0 {
		if slices.Max(left) > 0 {
			return nil
		}
		return new(big.Rat)
	}
	key := fmt.Sprint(on, left)
	if v, ok := p.known[key]; ok {
		return v
	}
	var best *big.Rat
	for _, f := range p.fillings(on[0]) {
		if best != nil && f.alpha.Cmp(best) >= 0 {
			break // they are in order of alpha
		}
		if p.steps--; p.steps < 0 {
			return nil
		}
		fits := true
		for s, x := range f.counts {
			left[s] -= x
			fits = fits && left[s] >= 0
		}
		if fits {
			if rest := p.least(on[1:], left); rest != nil {
				if rest.Cmp(f.alpha) < 0 {
					rest = f.alpha
				}
				if best == nil || rest.Cmp(best) < 0 {
					best = rest
				}
			}
		}
		for s, x := range f.counts {
			left[s] += x
		}
	}
	p.known[key] = best
	return best
}

// fillings lists what fills a part, in order of alpha, as far as the steps go.
func (p *parts) fillings(on part) []filling {
	if list, ok := p.fill[on]; ok {
		return list
	}
	var list []filling
	counts := make([]int, len(p.replicas))
	var extend func(stage, room int)
	extend = func(stage, room int) {
		if p.steps--; p.steps < 0 {
			return
		}
		if stage == len(counts) {
			if room == 0 {
				list = append(list, filling{slices.Clone(counts), p.alpha(counts, on.size)})
			}
			return
		}
		for x := 0; x <= p.replicas[stage] && mul(x, p.width[stage]) <= room; x++ {
			counts[stage] = x
			extend(stage+1, room-mul(x, p.width[stage]))
		}
		counts[stage] = 0
	}
	extend(0, on.gpus)
	slices.SortStableFunc(list, func(a, b filling) int { return a.alpha.Cmp(b.alpha) })
	p.fill[on] = list
	return list
}
