package bounds

import (
	"fmt"
	"math/big"

	"yardstick/sched"
)

// Theta returns by what factor sharing can make GPUs do more: the largest sum of
// the rates of two jobs on a GPU, at least 1 and at most 2.
//
// Cost: O(k²) for k different pairs of task and options, at most 2,000; beyond
// these, where every job counts as if it were as fast with any accumulation,
// O(n + tasks²).
//
// Errors: sched.ErrNotApplicable if the model is another one; a job fits no GPU.
func Theta(in *sched.Instance) (*big.Rat, error) {
	s, err := newSharers(in)
	if err != nil {
		return nil, fmt.Errorf("bounds: theta: %w", err)
	}
	best := big.NewRat(1, 1)
	for _, t := range s.thetas() {
		if t.Cmp(best) > 0 {
			best = t
		}
	}
	return best, nil
}
