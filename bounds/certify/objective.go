package certify

import (
	"math/big"

	"yardstick/sched"
)

// A proof first bounds Σ w_j C_j, where w_j is 1 unless the objective is weighted,
// and then restates that for the objective.

// weight returns w_j.
func (d *document) weight(j *sched.Job) *big.Rat {
	if d.Objective == sched.WeightedCompletion {
		return new(big.Rat).SetFloat64(j.Weight)
	}
	return big.NewRat(1, 1)
}

// equalWeight returns the weight that all jobs have, and false if they differ.
func (d *document) equalWeight(in *sched.Instance) (*big.Rat, bool) {
	for i := range in.Jobs {
		if d.Objective == sched.WeightedCompletion && in.Jobs[i].Weight != in.Jobs[0].Weight {
			return nil, false
		}
	}
	return d.weight(&in.Jobs[0]), true
}

// totals returns an error for objectives that are no sums of completion times.
func (d *document) totals() error {
	switch d.Objective {
	case sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT, sched.MeanJCT:
		return nil
	}
	return refuted("it bounds sums of completion times, not %v", d.Objective)
}

// restate turns a lower bound on Σ w_j C_j into one on the objective. Completion
// times are whole microseconds; so where weights are integers, Σ w_j C_j is one and
// the bound may be rounded up.
func (d *document) restate(in *sched.Instance, sum *big.Rat) *big.Rat {
	out := new(big.Rat).Set(sum)
	if d.whole(in) {
		out = roundUp(out)
	}
	if d.Objective == sched.TotalJCT || d.Objective == sched.MeanJCT {
		releases := new(big.Int)
		for i := range in.Jobs {
			releases.Add(releases, integer(in.Jobs[i].Release))
		}
		out.Sub(out, new(big.Rat).SetInt(releases))
	}
	if d.Objective == sched.MeanJCT {
		out.Quo(out, big.NewRat(int64(len(in.Jobs)), 1))
	}
	return out
}

// whole reports whether Σ w_j C_j, or the makespan, is always an integer.
func (d *document) whole(in *sched.Instance) bool {
	for i := range in.Jobs {
		if d.Objective == sched.WeightedCompletion && !new(big.Rat).SetFloat64(in.Jobs[i].Weight).IsInt() {
			return false
		}
	}
	return true
}

func integer(t sched.Time) *big.Int { return big.NewInt(int64(t)) }

func rational(t sched.Time) *big.Rat { return big.NewRat(int64(t), 1) }

// roundUp returns the least integer that is at least v.
func roundUp(v *big.Rat) *big.Rat {
	q, rest := new(big.Int).DivMod(v.Num(), v.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return new(big.Rat).SetInt(q)
}

// exact returns a float64 as the number that it is.
func exact(v float64) (*big.Rat, error) {
	r := new(big.Rat).SetFloat64(v)
	if r == nil {
		return nil, refuted("%v is not a number", v)
	}
	return r, nil
}
