package tables

import (
	"yardstick/bench/record"
	"yardstick/bench/suite"
	"yardstick/solvers/partition"
)

// fastest knows the least iteration times of the jobs of each instance, which
// all its cells share.
type fastest map[*suite.Instance][]record.Opt[float64]

// of returns the least iteration time of every job in seconds, missing where it
// is not proven or, as for elastic jobs, not defined.
func (f fastest) of(in *suite.Instance) []record.Opt[float64] {
	if known, ok := f[in]; ok {
		return known
	}
	list := make([]record.Opt[float64], len(in.Jobs))
	if in.Model.Exclusive() {
		best, _ := partition.AlphaMins(in.Instance) // a column that may be missing is not worth failing for
		for i, b := range best {
			if b.Exact {
				list[i] = record.FromRat(b.Alpha)
			}
		}
	}
	for i := range in.Jobs {
		if sh := in.Jobs[i].Sharing; sh != nil {
			least := sh.Accumulation[0].Iter
			for _, a := range sh.Accumulation {
				least = min(least, a.Iter)
			}
			list[i] = record.Some(float64(least) / 1e9)
		}
	}
	f[in] = list
	return list
}
