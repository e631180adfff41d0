package preemptive

import (
	"cmp"
	"slices"

	"yardstick/sched"
)

// first returns the best schedule of several priority orders: all orders of few
// jobs, and otherwise some that suit different instances, each improved by
// exchanging neighbours.
func (p *problem) first() []bout {
	const few = 4
	n := len(p.jobs)
	var best []bout
	try := func(order []int) bool {
		b := p.insertAll(order)
		if best == nil || p.cost(b).Cmp(p.cost(best)) < 0 {
			best = b
			return true
		}
		return false
	}
	if n <= few {
		permutations(n, func(order []int) { try(order) })
		return best
	}
	keys := []func(j *job) float64{
		func(j *job) float64 { return float64(j.first) },
		func(j *job) float64 { return float64(p.all(j)) / j.weight },
		func(j *job) float64 { return float64(p.all(j)*j.gang) / j.weight },
		func(j *job) float64 { return float64(j.first+p.all(j)) / j.weight },
	}
	for _, key := range keys {
		order := p.inOrder(func(i int) float64 { return key(&p.jobs[i]) })
		try(order)
		for k := 0; k+1 < n && n <= 40; k++ {
			order[k], order[k+1] = order[k+1], order[k]
			if !try(order) {
				order[k], order[k+1] = order[k+1], order[k]
			}
		}
	}
	return best
}

// permutations calls f with every order of 0, …, n−1.
func permutations(n int, f func([]int)) {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var fix func(k int)
	fix = func(k int) {
		if k == n {
			f(order)
			return
		}
		for i := k; i < n; i++ {
			order[k], order[i] = order[i], order[k]
			fix(k + 1)
			order[k], order[i] = order[i], order[k]
		}
	}
	fix(0)
}

// inOrder returns the jobs by rising key.
func (p *problem) inOrder(key func(i int) float64) []int {
	order := make([]int, len(p.jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(key(a), key(b)) })
	return order
}

// insertAll schedules the jobs in the given order, each so that it completes as
// early as possible on the GPUs that those before it leave.
func (p *problem) insertAll(order []int) []bout {
	var out []bout
	var free []int // per slot
	for _, i := range order {
		bouts := p.insert(&p.jobs[i], func(t int) int {
			if t < len(free) {
				return free[t]
			}
			return p.gpus
		})
		for _, b := range bouts {
			for len(free) < p.free(b) {
				free = append(free, p.gpus)
			}
			for t := b.from; t < p.free(b); t++ {
				free[t] -= p.jobs[i].gang
			}
		}
		out = append(out, bouts...)
	}
	return out
}

// ready is a slot from which a job may start, with its training left.
type ready struct {
	slot int
	left sched.Time
}

// came is how a job got ready: by waiting since, or by a bout from there.
type came struct {
	from  ready
	bout  bout
	bouts int // on the way
}

// insert returns the bouts of an earliest completion of one job, with as few
// bouts as that takes, by dynamic programming over (slot, training left).
func (p *problem) insert(j *job, free func(t int) int) []bout {
	fits := func(t int) bool { return free(t) >= j.gang }
	start := ready{j.first, j.train}
	reached := map[ready]came{start: {}}
	level := map[int][]ready{j.first: {start}}
	reach := func(r ready, c came) {
		old, ok := reached[r]
		if !ok {
			level[r.slot] = append(level[r.slot], r)
		}
		if !ok || c.bouts < old.bouts {
			reached[r] = c
		}
	}
	var end came
	found := -1 // the earliest completion
	for t := j.first; found < 0 || t+1 < found; t++ {
		for _, r := range level[t] {
			way := reached[r]
			reach(ready{t + 1, r.left}, came{from: r, bouts: way.bouts, bout: bout{job: -1}})
			for m := 1; fits(t + m - 1); m++ {
				trained := p.trains(j, m)
				c := came{from: r, bout: bout{int(j.id), t, t + m, trained >= r.left}, bouts: way.bouts + 1}
				if c.bout.last {
					if found < 0 || t+m < found || t+m == found && c.bouts < end.bouts {
						found, end = t+m, c
					}
					break
				}
				if trained < 1 || p.class.Kind == sched.N {
					continue
				}
				if next := t + m + j.pause; p.pauses(fits, t+m, next) {
					reach(ready{next + 1, r.left - trained}, c) // in slot next it would rather have trained
				}
			}
		}
		delete(level, t)
	}
	var out []bout
	for c := end; ; c = reached[c.from] {
		if c.bout.job >= 0 {
			out = append(out, c.bout)
		}
		if c.from == start {
			return out
		}
	}
}

// pauses reports whether GPUs are free for a pause in the slots [from, to).
func (p *problem) pauses(fits func(t int) bool, from, to int) bool {
	for t := from; t < to; t++ {
		if !fits(t) {
			return false
		}
	}
	return true
}

// listed is a heuristic for branch and bound: it schedules the jobs in order of
// the mean end of their final bouts in a point of the linear program.
func (m *program) listed(x []float64) []float64 {
	mean := make([]float64, len(m.p.jobs))
	for c, b := range m.cols {
		if b.last {
			mean[b.job] += x[c] * float64(b.stop)
		}
	}
	return m.point(m.p.insertAll(m.p.inOrder(func(i int) float64 { return mean[i] })))
}
