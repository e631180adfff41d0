package offline

import (
	"math"
	"math/rand/v2"

	"yardstick/sched"
)

// anneal is simulated annealing over lists: two jobs change places, and the list is
// scheduled anew, each job in turn at its earliest gap in an array of who runs when.
// It shares nothing with the search. It returns the total JCT.
func anneal(in *sched.Instance, seed uint64, moves int) float64 {
	r, n, gpus := rand.New(rand.NewPCG(seed, 1)), len(in.Jobs), in.Cluster.GPUs()
	list, start, end := r.Perm(n), make([]int64, n), make([]int64, n)
	value := func() (sum float64) {
		for k, j := range list {
			gang, d := in.Jobs[j].Gang(), int64(in.Jobs[j].Iters)*int64(in.Jobs[j].Stages[0].Compute)/1000
			start[j] = int64(in.Jobs[j].Release)
			for again := true; again; { // to the first end of a job in the way
				again = false
				held, least := 0, int64(math.MaxInt64)
				for _, i := range list[:k] {
					if start[i] < start[j]+d && start[j] < end[i] {
						held, least = held+in.Jobs[i].Gang(), min(least, end[i])
					}
				}
				if held+gang > gpus {
					start[j], again = least, true
				}
			}
			end[j] = start[j] + d
			sum += float64(end[j]) - float64(in.Jobs[j].Release)
		}
		return sum
	}
	now := value()
	best := now
	for m := range moves {
		heat := 0.02 * now / float64(n) * (1 - float64(m)/float64(moves))
		a, b := r.IntN(n), r.IntN(n)
		list[a], list[b] = list[b], list[a]
		if v := value(); v <= now-heat*math.Log(1-r.Float64()) {
			now = v
		} else {
			list[a], list[b] = list[b], list[a]
		}
		best = min(best, now)
	}
	return best
}
