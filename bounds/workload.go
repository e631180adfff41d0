package bounds

import (
	"fmt"
	"math"
	"math/big"

	"yardstick/sched"
	"yardstick/solvers/partition"
)

// workload is what the fluid relaxation keeps of an instance.
//
// Time on the single machine is scaled by G, the number of GPUs, so that
// releases G·r_j and sizes g_j·d_j are integers; both fit an int64 by the
// limits of package sched. Sums of them are kept in big.Int.
type workload struct {
	in      *sched.Instance
	gpus    int64
	length  []sched.Time // d_j = load + least running time
	release []int64      // G·r_j
	size    []int64      // g_j·d_j
	claims  []Claim      // about d_j, of jobs that span several servers

	choice closedData // what the last evaluation chose
}

func newWorkload(in *sched.Instance, obj sched.Objective) (*workload, error) {
	if !in.Model.Exclusive() {
		return nil, fmt.Errorf("bounds: %w to the %s model: its jobs have no fixed work on exclusive GPUs", sched.ErrNotApplicable, in.Model)
	}
	if obj.Maximised() {
		return nil, fmt.Errorf("bounds: %w to %v: that is maximised", sched.ErrNotApplicable, obj)
	}
	least, err := partition.LeastRunTimes(in)
	if err != nil {
		return nil, fmt.Errorf("bounds: %w", err)
	}
	w := &workload{in: in, gpus: int64(in.Cluster.GPUs())}
	trains := make([]sched.Time, len(least))
	for i := range least {
		trains[i] = least[i].Duration
	}
	w.claims = Claims(in, trains)
	for i := range in.Jobs {
		j := &in.Jobs[i]
		d := j.Load + least[i].Duration
		if d > sched.MaxTime {
			return nil, fmt.Errorf("bounds: job %d would run for more than %v", i, sched.MaxTime)
		}
		w.length = append(w.length, d)
		w.release = append(w.release, w.gpus*int64(j.Release))
		w.size = append(w.size, int64(j.Gang())*int64(d))
	}
	return w, nil
}

// alone returns r_j + d_j for every job.
func (w *workload) alone() []sched.Time {
	c := make([]sched.Time, len(w.length))
	for i, d := range w.length {
		c[i] = w.in.Jobs[i].Release + d
	}
	return c
}

func (w *workload) lb0(obj sched.Objective) (*big.Rat, error) {
	return obj.Cost(w.in, w.alone()), nil
}

// weights are integers that stand to each other, and to the objective's
// weights w_j, as W_j : w_j = unit.
type weights struct {
	w     []*big.Int // W_j = w_j / unit
	unit  *big.Rat   // a power of two
	equal bool       // all W_j are one number
}

// objectiveWeights returns the exact weights of an objective: floating-point
// numbers are integers times powers of two, so the least power is the unit.
func objectiveWeights(in *sched.Instance, obj sched.Objective) weights {
	out := weights{w: make([]*big.Int, len(in.Jobs)), unit: big.NewRat(1, 1)}
	if !obj.Weighted() {
		one := big.NewInt(1)
		for i := range out.w {
			out.w[i] = one
		}
		out.equal = true
		return out
	}
	mantissa, exponent := make([]int64, len(in.Jobs)), make([]int, len(in.Jobs))
	least := math.MaxInt
	for i := range in.Jobs {
		m, e := math.Frexp(in.Jobs[i].Weight) // Weight = m·2^e, ½ ≤ m < 1
		mantissa[i], exponent[i] = int64(m*(1<<53)), e-53
		for mantissa[i]%2 == 0 {
			mantissa[i] /= 2
			exponent[i]++
		}
		least = min(least, exponent[i])
	}
	for i, m := range mantissa {
		out.w[i] = new(big.Int).Lsh(big.NewInt(m), uint(exponent[i]-least))
	}
	power := new(big.Int).Lsh(big.NewInt(1), uint(max(least, -least)))
	out.unit.SetInt(power)
	if least < 0 {
		out.unit.Inv(out.unit)
	}
	return out
}

// equalWeight returns the common weight of all jobs under the objective, and
// whether there is one.
func (w *workload) equalWeight(obj sched.Objective) (*big.Rat, bool) {
	if !obj.Weighted() {
		return big.NewRat(1, 1), true
	}
	first := w.in.Jobs[0].Weight
	for i := range w.in.Jobs {
		if w.in.Jobs[i].Weight != first {
			return nil, false
		}
	}
	return new(big.Rat).SetFloat64(first), true
}
