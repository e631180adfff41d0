package pollux

import (
	"math"
	"math/rand/v2"
	"testing"

	"yardstick/sched"
)

// randomJobs returns jobs of sizes 1, 2, … whose costs fall, and convexly so if
// asked for.
func randomJobs(r *rand.Rand, convex bool) (jobs []*job, gpus int) {
	gpus = 1 + r.IntN(10)
	for range 1 + r.IntN(5) {
		j := &job{held: -1}
		iter, fall := 1000+r.IntN(1000), 300+r.IntN(300)
		for g := range 1 + r.IntN(gpus) {
			j.sizes = append(j.sizes, sched.Size{GPUs: g + 1, Iter: sched.Duration(iter)})
			if convex {
				fall = fall * (50 + r.IntN(50)) / 100
			} else {
				fall = r.IntN(400)
			}
			iter = max(iter-fall, 1)
		}
		jobs = append(jobs, j)
	}
	return jobs, gpus
}

// best returns the least sum of costs with exactly or fewer than the given GPUs,
// every job having some, by trying all.
func (a *allotment) best(i, gpus int) float64 {
	if i == len(a.jobs) {
		return 0
	}
	least := math.Inf(1)
	for k, z := range a.jobs[i].sizes {
		if z.GPUs <= gpus {
			least = min(least, a.cost[i][k]+a.best(i+1, gpus-z.GPUs))
		}
	}
	return least
}

// TestAllotmentAgainstEnumeration: greedy is optimal for convex costs, never
// better than enumeration and never over the GPUs.
func TestAllotmentAgainstEnumeration(t *testing.T) {
	worse := 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 9))
		convex := seed%2 == 0
		jobs, gpus := randomJobs(r, convex)
		a := newAllotment(jobs, 1+r.IntN(3), 100)
		a.divide(gpus)
		sum, used, idle := 0.0, 0, 0
		for i, k := range a.size {
			if k < 0 {
				idle++
				continue
			}
			sum += a.cost[i][k]
			used += jobs[i].sizes[k].GPUs
		}
		if used > gpus || idle > max(0, len(jobs)-gpus) {
			t.Fatalf("seed %d: %d of %d GPUs used, %d jobs without", seed, used, gpus, idle)
		}
		if idle > 0 {
			continue
		}
		best := a.best(0, gpus)
		if sum < best*(1-1e-12) {
			t.Fatalf("seed %d: %v is less than the optimum %v", seed, sum, best)
		}
		if sum > best*(1+1e-12) {
			worse++
			if convex {
				t.Fatalf("seed %d: %v where %v is best", seed, sum, best)
			}
		}
	}
	if worse == 0 {
		t.Error("greedy is always optimal: the instances are too easy")
	}
}

// TestRestartFactor: (T − R·delta)/(T + delta), and no less than a sixteenth.
func TestRestartFactor(t *testing.T) {
	sizes := []sched.Size{{GPUs: 1, Iter: 200}, {GPUs: 2, Iter: 100}}
	for _, test := range []struct {
		restarts int
		want     float64 // of the size it does not hold
	}{{0, 120.0 / 100 * 2}, {3, 120.0 / 40 * 2}, {5, 32}, {50, 32}} {
		j := &job{release: 10, overhead: 20, sizes: sizes, held: 1, restarts: test.restarts}
		a := newAllotment([]*job{j}, 2, 110)
		if a.cost[0][1] != 1 || math.Abs(a.cost[0][0]-test.want) > 1e-9 {
			t.Errorf("%d restarts: %v, want %v and 1", test.restarts, a.cost[0], test.want)
		}
	}
}
