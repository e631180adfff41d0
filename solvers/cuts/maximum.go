package cuts

import (
	"math/big"

	"yardstick/sched"
)

// AlphaSpread returns the per-iteration time, in seconds, of the job with every
// replica alone on a server of the largest size: the largest beta(s; 0, 1, 0).
// By monotonicity no placement is slower, but where the cluster has too few
// servers none is as slow either; [AlphaMax] is the value attained.
//
// Source: the alpha_max of the A-SRPT paper, which computes it with 1/g of the
// network card for every replica.
//
// Errors: ErrModel.
func AlphaSpread(in *sched.Instance, id sched.JobID) (*big.Rat, error) {
	if err := checkModel(in, id); err != nil {
		return nil, err
	}
	gpus := sizeClasses(&in.Cluster)[0].gpus
	worst := new(big.Rat)
	for s := range in.Jobs[id].Stages {
		if v := in.StageTime(id, s, 0, 1, 0, gpus); v.Cmp(worst) > 0 {
			worst = v
		}
	}
	return worst, nil
}

// AlphaMax returns alpha_max, the greatest per-iteration time, in seconds, of
// the job over all placements in the empty cluster.
//
// It is beta(s; a, x, b) of some stage s on a server of g GPUs. The rest of the
// job must find room: the other stages may fill that server up, and what is
// left has the G − g GPUs of the other servers, so (a, x, b) can be met if and
// only if
//
//	a + x + b ≥ need = k_{s−1} + k_s + k_{s+1} − (G − g)
//
// (the case in which the other stages fill the server asks for less only if the
// gang exceeds G). As beta does not increase with a, x or b, it suffices to try
// the a + x + b = max(1, need). Cost: O(g²) stage times per stage and server
// size, and one where the cluster is not tight.
//
// Errors: ErrModel.
func AlphaMax(in *sched.Instance, id sched.JobID) (*big.Rat, error) {
	if err := checkModel(in, id); err != nil {
		return nil, err
	}
	j := &in.Jobs[id]
	total := in.Cluster.GPUs()
	worst := new(big.Rat)
	for _, class := range sizeClasses(&in.Cluster) {
		for s := range j.Stages {
			ka, kx, kb := replicas(j, s-1), replicas(j, s), replicas(j, s+1)
			here := max(1, ka+kx+kb-(total-class.gpus))
			for x := 1; x <= min(kx, here); x++ {
				for a := max(0, here-x-kb); a <= min(ka, here-x); a++ {
					if v := in.StageTime(id, s, a, x, here-x-a, class.gpus); v.Cmp(worst) > 0 {
						worst = v
					}
				}
			}
		}
	}
	return worst, nil
}
