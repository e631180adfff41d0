package partition

import (
	"cmp"
	"math/big"
	"slices"

	"yardstick/sched"
)

// AlphaSpread returns the per-iteration time, in seconds, of the job with every
// replica alone on a server of the largest size: the largest beta of one
// replica without neighbours. By monotonicity no placement is slower, but where
// the cluster has too few servers none is as slow either; [AlphaMax] is the
// value attained.
//
// Source: the alpha_max of the A-SRPT paper, which computes it with 1/g of the
// network card for every replica.
//
// Errors: sched.ErrNotApplicable.
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
// It is beta of some stage s with x replicas on a server whose other replicas
// slow s as little as the rest of the job allows, which must find room on the
// other servers. That depends only on how many replicas of each number of
// slices the server takes: its mix. As beta does not increase with what else is
// there, least mixes suffice. Within a mix the server takes replicas of stages
// that are not next to s where it can, and otherwise those that help s least.
// Cost: a packing per mix; a stage time per size of server, least mix, stage and
// x.
//
// Errors: ErrNoPlacement; sched.ErrNotApplicable.
func AlphaMax(in *sched.Instance, id sched.JobID) (*big.Rat, error) {
	if err := checkModel(in, id); err != nil {
		return nil, err
	}
	j := &in.Jobs[id]
	var worst *big.Rat
	for _, class := range sizeClasses(&in.Cluster) {
		z := &maximizer{in: in, id: id, shape: newShape(j), gpus: class.gpus, widths: j.Widths()}
		skipped := false
		for m := range in.Cluster.Servers {
			if g := in.Cluster.Servers[m].GPUs; g != class.gpus || skipped {
				z.others = append(z.others, g)
			} else {
				skipped = true
			}
		}
		z.mixes(nil, class.gpus)
		for s := range j.Stages {
			if v := z.slowest(s); v != nil && (worst == nil || v.Cmp(worst) > 0) {
				worst = v
			}
		}
	}
	if worst == nil {
		return nil, ErrNoPlacement
	}
	return worst, nil
}

// PerKind returns what f returns of a job, AlphaSpread or AlphaMax, and asks it once for
// all jobs with equal stages, which share the result.
func PerKind(in *sched.Instance, f func(*sched.Instance, sched.JobID) (*big.Rat, error)) func(sched.JobID) (*big.Rat, error) {
	known := map[string]*big.Rat{}
	return func(id sched.JobID) (*big.Rat, error) {
		kind := code(&in.Jobs[id])
		if alpha := known[kind]; alpha != nil {
			return alpha, nil
		}
		alpha, err := f(in, id)
		if err != nil {
			return nil, err
		}
		known[kind] = alpha
		return alpha, nil
	}
}

// maximizer looks for the slowest stage on a server of one size.
type maximizer struct {
	in *sched.Instance
	id sched.JobID
	*shape
	gpus   int
	others []int // GPUs of the other servers
	widths []sched.Width
	fits   [][]int // mixes that leave a rest which fits the other servers
}

// mixes lists the mixes that begin with mix and take at most gpus GPUs more, as
// far as the rest fits.
func (z *maximizer) mixes(mix []int, gpus int) {
	if i := len(mix); i < len(z.widths) {
		for n := 0; n <= min(z.widths[i].Replicas, gpus/z.widths[i].Slices); n++ {
			z.mixes(append(mix, n), gpus-n*z.widths[i].Slices)
		}
		return
	}
	rest, left := slices.Clone(z.widths), 0
	for i, n := range mix {
		rest[i].Replicas -= n
		left += rest[i].Replicas
	}
	if left == 0 || sched.Pack(rest, z.others) != nil {
		z.fits = append(z.fits, slices.Clone(mix))
	}
}

// least reports whether no replica can be left out of the mix, one of stage s
// staying.
func (z *maximizer) least(mix []int, own int) bool {
	smaller := slices.Clone(mix)
	for i := range mix {
		if mix[i] == 0 || i == own && mix[i] == 1 {
			continue
		}
		smaller[i]--
		if slices.ContainsFunc(z.fits, func(m []int) bool { return slices.Equal(m, smaller) }) {
			return false
		}
		smaller[i]++
	}
	return true
}

// slowest returns the greatest beta of stage s, or nil if no server of this size
// can have any of it.
func (z *maximizer) slowest(s int) *big.Rat {
	own := slices.IndexFunc(z.widths, func(w sched.Width) bool { return w.Slices == z.slices[s] })
	var worst *big.Rat
	for _, mix := range z.fits {
		if mix[own] == 0 || !z.least(mix, own) {
			continue
		}
		for x := 1; x <= min(mix[own], z.replicas[s]); x++ {
			counts := z.beside(s, x, own, mix)
			if counts == nil {
				continue
			}
			if v := z.in.ServerTime(z.id, s, counts, z.gpus); worst == nil || v.Cmp(worst) > 0 {
				worst = v
			}
		}
	}
	return worst
}

// beside returns what helps x replicas of stage s least among the contents of a
// mix, or nil if the mix has too many replicas of the width of s. The stages
// that are not next to s are left out of the counts.
func (z *maximizer) beside(s, x, own int, mix []int) []int {
	counts := make([]int, len(z.replicas))
	counts[s] = x
	for i, n := range mix {
		if i == own {
			n -= x
		}
		for u, k := range z.replicas {
			if u != s && z.slices[u] == z.widths[i].Slices && !slices.Contains(z.near[s], u) {
				n -= min(n, k)
			}
		}
		if n == 0 {
			continue
		}
		for _, u := range z.byHelp(s) {
			if z.slices[u] == z.widths[i].Slices {
				counts[u] = min(n, z.replicas[u])
				n -= counts[u]
			}
		}
		if n > 0 {
			return nil
		}
	}
	return counts
}

// byHelp returns the neighbours of stage s, first those a replica of which
// saves least time.
func (z *maximizer) byHelp(s int) []int {
	time := map[int]*big.Rat{}
	counts := make([]int, len(z.replicas))
	counts[s] = 1
	for _, u := range z.near[s] {
		counts[u] = 1
		time[u] = z.in.ServerTime(z.id, s, counts, z.gpus)
		counts[u] = 0
	}
	order := slices.Clone(z.near[s])
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Or(time[b].Cmp(time[a]), a-b) })
	return order
}
