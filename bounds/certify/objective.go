package certify

import (
	"math/big"

	"yardstick/sched"
)

// A proof first bounds Σ w_j C_j, where w_j is 1 unless the objective is weighted,
// and then restates that for the objective.

// sums are the objectives that are sums of completion times.
var sums = map[sched.Objective]struct {
	weighted     bool
	fromReleases bool // of C_j − r_j
	mean         bool // divided by the number of jobs
}{
	sched.TotalCompletion:    {},
	sched.WeightedCompletion: {weighted: true},
	sched.TotalJCT:           {fromReleases: true},
	sched.MeanJCT:            {fromReleases: true, mean: true},
}

// known reports whether any kind of proof is about the objective.
func known(o sched.Objective) bool {
	_, sum := sums[o]
	return sum || o == sched.Makespan || o == sched.ScheduledWeight
}

// weight returns w_j.
func (d *document) weight(j *sched.Job) *big.Rat {
	if sums[d.Objective].weighted {
		return new(big.Rat).SetFloat64(j.Weight)
	}
	return big.NewRat(1, 1)
}

// equalWeight returns the weight that all jobs have, and false if they differ.
func (d *document) equalWeight(in *sched.Instance) (*big.Rat, bool) {
	for i := range in.Jobs {
		if sums[d.Objective].weighted && in.Jobs[i].Weight != in.Jobs[0].Weight {
			return nil, false
		}
	}
	return d.weight(&in.Jobs[0]), true
}

// totals returns an error for objectives that are no sums of completion times.
func (d *document) totals() error {
	if _, ok := sums[d.Objective]; !ok {
		return refuted("it bounds sums of completion times, not %v", d.Objective)
	}
	return nil
}

// restate turns a lower bound on Σ w_j C_j into one on the objective. Completion
// times are whole microseconds; so where weights are integers, Σ w_j C_j is one and
// the bound may be rounded up.
func (d *document) restate(in *sched.Instance, sum *big.Rat) *big.Rat {
	out := new(big.Rat).Set(sum)
	if d.whole(in) {
		out = roundUp(out)
	}
	if sums[d.Objective].fromReleases {
		for i := range in.Jobs {
			out.Sub(out, weighted(d.weight(&in.Jobs[i]), in.Jobs[i].Release))
		}
	}
	if sums[d.Objective].mean {
		out.Quo(out, big.NewRat(int64(len(in.Jobs)), 1))
	}
	return out
}

// whole reports whether Σ w_j C_j, or the makespan, is always an integer.
func (d *document) whole(in *sched.Instance) bool {
	for i := range in.Jobs {
		if sums[d.Objective].weighted && !new(big.Rat).SetFloat64(in.Jobs[i].Weight).IsInt() {
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
