package timeindexed

import (
	"math/big"
	"slices"

	"yardstick/bounds"
	"yardstick/sched"
)

// boundOthers returns for each job a lower bound on what all others cost in
// any schedule: the best of what they cost each alone, of their mean busy times
// and, if weights are equal, of SRPT with ranks. These bounds know of a job its
// release, weight, gang and least running time only, so that the others are
// stated as jobs that run that long on any GPUs.
func (p *problem) boundOthers() []*big.Rat {
	all := &sched.Instance{Name: p.in.Name, Model: sched.ModelGang, Cluster: p.in.Cluster}
	for i := range p.jobs {
		j := &p.jobs[i]
		all.Jobs = append(all.Jobs, sched.Job{Release: j.release, Weight: j.weight, Iters: int64(j.least()),
			Stages: []sched.Stage{{Replicas: j.gang, Compute: sched.Duration(1000)}}}) // a microsecond
	}
	out := make([]*big.Rat, len(p.jobs))
	for i := range p.jobs {
		out[i] = new(big.Rat)
		if len(p.jobs) == 1 {
			continue
		}
		rest := *all
		rest.Jobs = slices.Delete(slices.Clone(all.Jobs), i, i+1)
		for _, bound := range []func(*sched.Instance, sched.Objective) (bounds.Bound, error){bounds.LB0, bounds.Ranked, bounds.MeanBusyTime} {
			b, err := bound(&rest, sched.WeightedCompletion)
			if err == nil && b.Value.Cmp(out[i]) > 0 { // an error: the bound does not apply to weights
				out[i] = b.Value
			}
		}
	}
	return out
}
