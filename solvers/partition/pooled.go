package partition

import (
	"fmt"

	"yardstick/sched"
)

// Pooled returns the instance in which place has no effect: every job runs for its
// least running time over all placements, wherever it is. Every schedule of the given
// instance whose running times are cut to those is one of this instance, so that this
// optimum is no larger, for every objective that is minimised. How far the brackets of
// the two lie apart is what placement costs, at least the difference between this
// schedule and that bound less their gaps.
//
// Errors: as for AlphaMin; sched.ErrNotApplicable but for the gang model; a job that runs
// beyond sched.MaxTime.
func Pooled(in *sched.Instance) (*sched.Instance, error) {
	if in.Model != sched.ModelGang {
		return nil, fmt.Errorf("partition: pooled: %w to the %s model", sched.ErrNotApplicable, in.Model)
	}
	least, err := LeastRunTimes(in)
	if err != nil {
		return nil, err
	}
	out := *in
	out.Name += ", pooled"
	out.Jobs = make([]sched.Job, len(in.Jobs))
	for i, j := range in.Jobs {
		if least[i].Duration > sched.MaxTime {
			return nil, fmt.Errorf("partition: pooled: job %d runs for %v at least, beyond %v", i, least[i].Duration, sched.MaxTime)
		}
		j.Iters, j.Edges = 1, nil
		j.Stages = []sched.Stage{{Replicas: in.Jobs[i].Gang(), Compute: sched.Duration(least[i].Duration) * nanoseconds}}
		out.Jobs[i] = j
	}
	if err := out.Validate(); err != nil {
		return nil, fmt.Errorf("partition: pooled: %w", err)
	}
	return &out, nil
}

const nanoseconds = 1000 // of a microsecond
