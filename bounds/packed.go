package bounds

import (
	"math/big"

	"yardstick/sched"
)

// PackedSRPT is the largest, over dual-feasible functions u, of
//
//	Ranked on the machine with sizes u(g_j/G)·d_j, for the jobs with u > 0, plus
//	Σ (r_j + d_j) over the jobs with u = 0.
//
// It holds for P0: the jobs that run at one time hold all of their gangs, which
// fit the cluster, so that their u add up to at most 1, and serving job j at speed
// u(g_j/G) while it runs makes the schedule one of the machine. It does not hold
// for fluid schedules, which run parts of gangs. One u is g/G, or better, so that
// it is at least [Ranked]; another makes gangs of more than half of the GPUs run
// one after the other. Weights must be equal. Cost: O(n log n).
//
// Sources: as for [SRPT] and [Packing].
func PackedSRPT(in *sched.Instance, obj sched.Objective) (Bound, error) {
	return packed(in, obj, "srpt-dff", "srpt-ranked", (*workload).ranked)
}

// PackedBusyTime is [MeanBusyTime] with dual-feasible functions, as PackedSRPT is
// [Ranked] with them: Σ w_j (M_j + d_j/2) for the jobs with u > 0 on the machine
// with sizes u(g_j/G)·d_j, the others alone, for the best u. It holds for P0, with
// or without weights. Cost: O(n log n).
//
// Without weights and functions that is the bound of Eastman, Even and Isaacs,
// with releases.
//
// Sources: as for [MeanBusyTime] and [Packing].
func PackedBusyTime(in *sched.Instance, obj sched.Objective) (Bound, error) {
	return packed(in, obj, "eei-dff", "mean-busy-time", (*workload).meanBusyTime)
}

func packed(in *sched.Instance, obj sched.Objective, name, proof string, eval func(*workload, sched.Objective) (*big.Rat, error)) (Bound, error) {
	w, err := newWorkload(in, obj)
	if err != nil {
		return Bound{}, err
	}
	return w.bound(method{name, sched.P0, proof, func(w *workload, obj sched.Objective) (*big.Rat, error) { return w.packed(obj, eval) }}, obj)
}

// packed returns the largest value of eval over the dual-feasible functions.
func (w *workload) packed(obj sched.Objective, eval func(*workload, sched.Objective) (*big.Rat, error)) (*big.Rat, error) {
	best, err := eval(w, obj) // also says whether it applies
	if err != nil {
		return nil, err
	}
	sum := obj.Sum() // what is added up below
	for _, u := range dualFunctions(w.in) {
		v, err := w.under(&u, sum, eval)
		if err != nil {
			return nil, err
		}
		if sum != obj {
			v.Quo(v, big.NewRat(int64(len(w.length)), 1))
		}
		if v.Cmp(best) > 0 {
			best = v
			w.choice.Machine = w.machineOf(&u)
		}
	}
	return best, nil
}

// under returns the value of eval on the machine that u makes, and the cost of
// the jobs that are not on it, each alone.
func (w *workload) under(u *dualFeasible, obj sched.Objective, eval func(*workload, sched.Objective) (*big.Rat, error)) (*big.Rat, error) {
	on, off := *w.in, *w.in
	on.Jobs, off.Jobs = nil, nil
	part := workload{in: &on, gpus: u.whole}
	var alone []sched.Time
	for i, d := range w.length {
		j := w.in.Jobs[i]
		if share := u.share(int64(j.Gang())); share > 0 {
			on.Jobs = append(on.Jobs, j)
			part.length = append(part.length, d)
			part.release = append(part.release, u.whole*int64(j.Release))
			part.size = append(part.size, share*int64(d))
		} else {
			off.Jobs = append(off.Jobs, j)
			alone = append(alone, j.Release+d)
		}
	}
	total := new(big.Rat)
	if len(off.Jobs) > 0 {
		total = obj.Cost(&off, alone)
	}
	if len(on.Jobs) == 0 {
		return total, nil
	}
	v, err := eval(&part, obj)
	if err != nil {
		return nil, err
	}
	return total.Add(total, v), nil
}
