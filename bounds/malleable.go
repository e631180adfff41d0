package bounds

import (
	"fmt"
	"math/big"

	"yardstick/internal/number"
	"yardstick/sched"
)

// The bounds of this file hold for malleable schedules of the sharing model,
// class M. Job j has n_j iterations, of iter_j(g) each on g GPUs. Let
//
//	d_j = n_j·min_g iter_j(g),    v_j = n_j·min_g g·iter_j(g).
//
// While j trains on g GPUs, it does a part 1/(n_j iter_j(g)) of its work per
// microsecond, at most 1/d_j, and per GPU at most 1/v_j. So a schedule is a
// fluid one with sizes v_j/G on the one machine and lengths d_j, whenever a job
// is stopped, moved or resized: class F(min). Neither minimum is rounded, as work
// may be split over sizes; only a completion is a whole microsecond.

// MalleableLB0 is the cost if every job ran alone on its fastest size from its
// release: C_j ≥ r_j + d_j. It applies to every minimised objective. Cost: O(n)
// for jobs of few sizes, as for all of these.
func MalleableLB0(in *sched.Instance, obj sched.Objective) (Bound, error) {
	return malleable(in, obj, "malleable-lb0", "alone", func(w *malleableJobs, obj sched.Objective) (*big.Rat, error) { return w.lb0(obj) })
}

// MalleableRanked is [Ranked] with the sizes v_j/G and the lengths d_j.
func MalleableRanked(in *sched.Instance, obj sched.Objective) (Bound, error) {
	return malleable(in, obj, "malleable-srpt-ranked", "srpt-ranked", func(w *malleableJobs, obj sched.Objective) (*big.Rat, error) { return w.ranked(obj) })
}

// MalleableEEI is [MeanBusyTime] with the sizes v_j/G and the half-terms d_j/2.
func MalleableEEI(in *sched.Instance, obj sched.Objective) (Bound, error) {
	return malleable(in, obj, "malleable-eei", "mean-busy-time", func(w *malleableJobs, obj sched.Objective) (*big.Rat, error) {
		return w.exactHalves(obj, func(j int) *big.Rat { return w.duration[j] })
	})
}

// MalleableArea is [Area] with the sizes v_j/G, a bound on the makespan.
func MalleableArea(in *sched.Instance, obj sched.Objective) (Bound, error) {
	return malleable(in, obj, "malleable-area", "area", func(w *malleableJobs, obj sched.Objective) (*big.Rat, error) { return w.area(obj) })
}

// malleableJobs is the workload with d_j in exact microseconds.
type malleableJobs struct {
	workload
	duration []*big.Rat
}

func malleable(in *sched.Instance, obj sched.Objective, name, rule string, eval func(*malleableJobs, sched.Objective) (*big.Rat, error)) (Bound, error) {
	if obj.Maximised() {
		return Bound{}, fmt.Errorf("bounds: %s: %w to %v: that is maximised", name, sched.ErrNotApplicable, obj)
	}
	w, err := newMalleable(in)
	if err != nil {
		return Bound{}, fmt.Errorf("bounds: %s: %w", name, err)
	}
	b, err := w.bound(method{name: name, kind: sched.FluidMin, eval: func(_ *workload, obj sched.Objective) (*big.Rat, error) { return eval(w, obj) }}, obj)
	b.Proof = &Proof{"malleable", w.sizes(rule)}
	return b, err
}

func newMalleable(in *sched.Instance) (*malleableJobs, error) {
	w := &malleableJobs{workload: workload{in: in}}
	var volume []*big.Rat
	largest := int64(1)
	for i := range in.Jobs {
		j := &in.Jobs[i]
		if j.Sharing == nil || len(j.Sharing.Sizes) == 0 {
			return nil, fmt.Errorf("%w: job %d is not malleable", sched.ErrNotApplicable, i)
		}
		iters := big.NewRat(j.Iters, 1000)
		var d, v *big.Rat
		for _, z := range j.Sharing.Sizes {
			iter := big.NewRat(int64(z.Iter), 1)
			if d == nil || iter.Cmp(d) < 0 {
				d = iter
			}
			if used := new(big.Rat).Mul(iter, big.NewRat(int64(z.GPUs), 1)); v == nil || used.Cmp(v) < 0 {
				v = used
			}
		}
		d, v = new(big.Rat).Mul(d, iters), v.Mul(v, iters)
		if d.Cmp(integer64(sched.MaxTime)) > 0 {
			return nil, fmt.Errorf("job %d would run for more than %v", i, sched.MaxTime)
		}
		w.duration, volume = append(w.duration, d), append(volume, v)
		length := number.Ceil(d).Num().Int64()
		w.length = append(w.length, sched.Time(length))
		largest = max(largest, int64(j.Release), length)
	}
	// v_j ≤ g·n_j·iter_j(g) for the fastest g, so that v_j/G is at most d_j.
	w.gpus = scaleFor(largest)
	scale := big.NewRat(w.gpus, int64(in.Cluster.GPUs()))
	for i := range in.Jobs {
		size := volume[i].Mul(volume[i], scale)
		whole := new(big.Int).Quo(size.Num(), size.Denom())
		if whole.Sign() == 0 {
			return nil, fmt.Errorf("%w: job %d takes too little time beside what others take", sched.ErrNotApplicable, i)
		}
		w.release = append(w.release, w.gpus*int64(in.Jobs[i].Release))
		w.size = append(w.size, whole.Int64())
	}
	return w, nil
}
