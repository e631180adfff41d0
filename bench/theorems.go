package bench

import (
	"yardstick/bounds/theorems"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// Theorems is what is published about a policy.
type Theorems struct {
	// Objective is the one whose least value the statements are about.
	Objective sched.Objective
	// Evaluate applies them to one of the policy's schedules, given what its
	// replay reported and what is proven about that least value in its class.
	Evaluate func(*verify.Verified, *Replay, theorems.Interval) ([]theorems.Result, error)
	// Headline picks the result that sums the others up, if one does.
	Headline func([]theorems.Result) (theorems.Result, bool)
}

// Predicted returns the predictions by job, or nil if the policy was told the
// truth.
func (p *Replay) Predicted(jobs int) []int64 {
	if p.Predictor == "" {
		return nil
	}
	list := make([]int64, jobs)
	for _, q := range p.Predictions {
		list[q.Job] = q.Iters
	}
	return list
}
