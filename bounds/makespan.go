package bounds

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"yardstick/sched"
)

func (w *workload) area(obj sched.Objective) (*big.Rat, error) {
	if obj != sched.Makespan {
		return nil, fmt.Errorf("%w to %v: it bounds the makespan", ErrNotApplicable, obj)
	}
	order := make([]int, len(w.size))
	for j := range order {
		order[j] = j
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(w.release[b], w.release[a]) })
	work, end, best := new(big.Int), new(big.Int), new(big.Int)
	for _, j := range order { // last release first; among equal releases the last one counts
		work.Add(work, end.SetInt64(w.size[j]))
		end.Add(work, end.SetInt64(w.release[j]))
		if end.Cmp(best) > 0 {
			best.Set(end)
		}
	}
	return new(big.Rat).SetFrac(best, big.NewInt(w.gpus)), nil
}
