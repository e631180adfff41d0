package certify

import "slices"

// pool is the bound that searches use: jobs that wait are work for the GPUs that
// will be free, all together. Up to the k-th completion of shortest remaining
// processing time first on these no schedule has completed k jobs, and no job
// completes before its own earliest end.
type pool struct {
	times []int64 // ascending, from now on; GPUs are constant in between
	free  []int64 // from times[k] on
	work  []int64 // ∫ free up to times[k]

	rel, left, alone, done []int64 // scratch
}

// reset makes all GPUs free from now on but for those held until the given ends.
func (p *pool) reset(now, gpus int64, held []hold) {
	p.times, p.free, p.work = append(p.times[:0], now), p.free[:0], append(p.work[:0], 0)
	for _, h := range held {
		if h.end > now {
			p.times = append(p.times, h.end)
		}
	}
	slices.Sort(p.times)
	p.times = slices.Compact(p.times)
	for k, t := range p.times {
		free := gpus
		for _, h := range held {
			if h.end > t {
				free = sub(free, h.gpus)
			}
		}
		p.free = append(p.free, free)
		if k > 0 {
			p.work = append(p.work, add(p.work[k-1], mul(sub(t, p.times[k-1]), p.free[k-1])))
		}
	}
}

// hold is GPUs that are held until some time.
type hold struct{ end, gpus int64 }

// by returns the work that can be done by a time.
func (p *pool) by(at int64) int64 {
	k := len(p.times) - 1
	for p.times[k] > at {
		k--
	}
	return add(p.work[k], mul(sub(at, p.times[k]), p.free[k]))
}

// when returns the first time by which so much work can be done.
func (p *pool) when(work int64) int64 {
	k := len(p.times) - 1
	for k > 0 && p.work[k] >= work {
		k--
	}
	if work <= p.work[k] {
		return p.times[k]
	}
	return add(p.times[k], up(sub(work, p.work[k]), p.free[k])) // the last free is positive, as some work is left for it
}

// from returns the first time, not before the given one, from which on so many
// GPUs are free.
func (p *pool) from(at, gang int64) int64 {
	for k, t := range p.times {
		if p.free[k] >= gang {
			return max(at, t)
		}
	}
	return at // there are never so many
}

// need is a job that waits: from release on it takes work, and at least length.
type need struct {
	job                   int
	release, length, work int64
	gang                  int64 // GPUs that it needs at once
}

// ends returns lower bounds on the completion times, in ascending order, with
// rank by rank the later of what the pool and the jobs alone allow.
func (p *pool) ends(now int64, waiting []need) []int64 {
	n := len(waiting)
	p.rel, p.left, p.alone, p.done = p.rel[:0], p.left[:0], p.alone[:0], p.done[:0]
	for _, w := range waiting {
		at := max(now, w.release)
		p.rel, p.left, p.alone = append(p.rel, p.by(at)), append(p.left, w.work), append(p.alone, add(p.from(at, w.gang), w.length))
	}
	slices.Sort(p.alone)
	for j := range n {
		if p.left[j] == 0 {
			p.done = append(p.done, p.rel[j])
		}
	}
	at := int64(0) // in work
	for len(p.done) < n {
		best, next := -1, int64(-1)
		for j := range n {
			switch {
			case p.left[j] == 0:
			case p.rel[j] > at:
				if next < 0 || p.rel[j] < next {
					next = p.rel[j]
				}
			case best < 0 || p.left[j] < p.left[best]:
				best = j
			}
		}
		if best < 0 {
			at = next
			continue
		}
		step := p.left[best]
		if next >= 0 {
			step = min(step, sub(next, at))
		}
		at = add(at, step)
		if p.left[best] = sub(p.left[best], step); p.left[best] == 0 {
			p.done = append(p.done, at)
		}
	}
	slices.Sort(p.done)
	for k := range p.done {
		p.done[k] = max(p.when(p.done[k]), p.alone[k])
	}
	return p.done
}

// least returns a lower bound on the cost of all jobs, given that of those that do
// not wait any more.
func (p *pool) least(t *target, cost, now int64, waiting []need) int64 {
	switch t.goal {
	case lastEnd:
		for _, e := range p.ends(now, waiting) {
			cost = max(cost, e)
		}
		return cost
	case weightedEnds:
		return p.leastEnds(t, cost, now, waiting)
	}
	return p.apart(t, cost, now, waiting)
}

// apart is the cost if no job that waits were in another's way.
func (p *pool) apart(t *target, cost, now int64, waiting []need) int64 {
	for _, w := range waiting {
		cost = t.with(cost, w.job, add(p.from(max(now, w.release), w.gang), w.length))
	}
	return cost
}

// leastEnds is least for Σ w_j C_j.
func (p *pool) leastEnds(t *target, cost, now int64, waiting []need) int64 {
	ends := p.ends(now, waiting)
	if t.equal {
		for _, e := range ends {
			cost = add(cost, t.product(t.weight[0], e))
		}
		return cost
	}
	apart, weights := p.apart(t, cost, now, waiting), make([]int64, 0, len(waiting))
	for _, w := range waiting {
		weights = append(weights, t.weight[w.job])
	}
	slices.Sort(weights)
	for k, e := range ends { // the heaviest jobs first
		cost = add(cost, t.product(weights[len(weights)-1-k], e))
	}
	return max(apart, cost)
}
