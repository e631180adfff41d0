package pollux

import "yardstick/sched"

// allotment divides GPUs among jobs, the first of them first where there are too
// few for all.
//
// Let job j have the speedup s_j(g) on g GPUs over its fair share, less by the
// factor of a restart where g is not what it holds. The power mean with p = −1
// of the speedups is largest where the sum of c_j(g) = 1/s_j(g) is least. Every
// job first gets its least size; then, as long as there are GPUs, the one whose
// cost falls fastest per GPU gets its next size on the lower convex hull. That
// is optimal where the costs are convex in single GPUs, and otherwise up to the
// last step, as in the knapsack problem.
type allotment struct {
	jobs []*job
	cost [][]float64 // c_j of each size
	size []int       // index of each job's size; −1 for none
}

// least is the least factor of a restart: a job that has restarted all the time
// may still do so.
const least = 1.0 / 16

// newAllotment prepares to divide GPUs among jobs with a fair share of the given
// number of GPUs each.
func newAllotment(jobs []*job, share int, now sched.Time) *allotment {
	a := &allotment{jobs: jobs, cost: make([][]float64, len(jobs)), size: make([]int, len(jobs))}
	for i, j := range jobs {
		fair := 0
		for k, z := range j.sizes {
			if z.GPUs <= share {
				fair = k
			}
		}
		// A job of age T that has restarted R times, each time for delta, counts
		// for (T − R·delta)/(T + delta) of its speedup where it restarts again.
		age := float64(now - j.release)
		factor := 1.0
		if j.overhead > 0 && j.held >= 0 && !j.stopping {
			delta := float64(j.overhead)
			factor = max(least, (age-float64(j.restarts)*delta)/(age+delta))
		}
		a.size[i] = -1
		for k, z := range j.sizes {
			c := float64(z.Iter) / float64(j.sizes[fair].Iter)
			if k != j.held {
				c /= factor
			}
			a.cost[i] = append(a.cost[i], c)
		}
	}
	return a
}

// divide gives away up to the given number of GPUs.
func (a *allotment) divide(gpus int) {
	for i, j := range a.jobs {
		if g := j.sizes[0].GPUs; g <= gpus {
			a.size[i] = 0
			gpus -= g
		}
	}
	next, slope := make([]int, len(a.jobs)), make([]float64, len(a.jobs))
	for i := range a.jobs {
		next[i], slope[i] = a.step(i, gpus)
	}
	for {
		best := -1
		for i, j := range a.jobs {
			if next[i] >= 0 && j.sizes[next[i]].GPUs-j.sizes[a.size[i]].GPUs > gpus {
				next[i], slope[i] = a.step(i, gpus)
			}
			if next[i] >= 0 && (best < 0 || slope[i] > slope[best]) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		j := a.jobs[best]
		gpus -= j.sizes[next[best]].GPUs - j.sizes[a.size[best]].GPUs
		a.size[best] = next[best]
		next[best], slope[best] = a.step(best, gpus)
	}
}

// step returns the larger size of a job, of those for which there are GPUs, to
// which its cost falls fastest per GPU, the least of equal ones; −1 if it falls
// to none.
func (a *allotment) step(i, gpus int) (next int, slope float64) {
	next, slope = -1, 0
	at, j := a.size[i], a.jobs[i]
	if at < 0 {
		return next, slope
	}
	for k := at + 1; k < len(j.sizes); k++ {
		more := j.sizes[k].GPUs - j.sizes[at].GPUs
		if more > gpus {
			break
		}
		if fall := (a.cost[i][at] - a.cost[i][k]) / float64(more); fall > slope {
			next, slope = k, fall
		}
	}
	return next, slope
}
