package profile

import (
	"math"
	"math/bits"

	"yardstick/sched"
)

// sums are the totals of the layers of one stage.
type sums struct {
	time       sched.Duration
	parameters sched.Bytes
	kept       sched.Bytes // for the backward pass, for the whole mini-batch
	largest    sched.Bytes // with recomputation, what the largest layer keeps while it is recomputed
	traffic    sched.Bytes // 2 D_in + 2 D_out
}

// extend adds layer i in front.
func (s *solver) extend(t *sums, i int) {
	l := &s.layers[i]
	t.time += l.Forward + l.Backward
	t.parameters += l.Parameters
	if !s.options.Memory.Recompute {
		t.kept += l.Kept()
		return
	}
	t.time += l.Forward
	t.kept += s.entering(i)
	t.largest = max(t.largest, l.Kept())
}

// entering returns the volume that crosses the cut before layer i.
func (s *solver) entering(i int) sched.Bytes {
	if i == 0 {
		return 0
	}
	return s.layers[i-1].Activation
}

// sum returns the totals of layers i..j−1.
func (s *solver) sum(i, j int) sums {
	var t sums
	for l := j - 1; l >= i; l-- {
		s.extend(&t, l)
	}
	t.traffic = 2*s.entering(i) + 2*s.layers[j-1].Activation
	return t
}

// stagesBefore fills in cost and low for the stages that end before layer j.
func (s *solver) stagesBefore(j int) {
	for k := 1; k <= s.options.GPUs; k++ {
		s.low[k] = j
	}
	var t sums
	for i := j - 1; i >= 0; i-- {
		s.extend(&t, i)
		t.traffic = 2*s.entering(i) + 2*s.layers[j-1].Activation
		for k := 1; k <= min(s.options.GPUs, s.batch); k++ {
			// The memory only grows with more layers: once one does not fit, no
			// longer stage does.
			if s.low[k] == i+1 && s.fits(&t, k) {
				s.low[k] = i
				s.cost[k][i] = s.stageCost(&t, k)
			}
		}
	}
}

func (s *solver) fits(t *sums, k int) bool {
	c := s.options.Memory.Capacity
	return c == 0 || s.held(t, k) <= c
}

// held returns what each GPU of a stage of k replicas holds.
func (s *solver) held(t *sums, k int) sched.Bytes {
	return sched.Bytes(s.options.Memory.States)*t.parameters + (t.kept+t.largest+sched.Bytes(k)-1)/sched.Bytes(k)
}

func (s *solver) memory(i, j, k int) sched.Bytes {
	t := s.sum(i, j)
	return s.held(&t, k)
}

// stageCost returns the time of a stage of k replicas; Solve has the formula.
func (s *solver) stageCost(t *sums, k int) sched.Duration {
	cost := share(t.time, k)
	if b := s.options.Bandwidth; b > 0 {
		bytes := uint64(t.traffic) + 2*uint64(k-1)*uint64(t.parameters)
		ns, ok := mulDivUp(bytes, 1e9, uint64(k)*uint64(b))
		if !ok || ns > math.MaxInt64-int64(cost) {
			return unreachable
		}
		cost += sched.Duration(ns)
	}
	return cost
}

// share returns the time of one of k replicas, rounded up; at least 1 ns.
func share(t sched.Duration, k int) sched.Duration {
	return max(1, (t+sched.Duration(k)-1)/sched.Duration(k))
}

// stage returns layers i..j−1 on k replicas as the schedulers see it.
func (s *solver) stage(i, j, k int) sched.Stage {
	t := s.sum(i, j)
	return sched.Stage{Replicas: k, Compute: share(t.time, k), Params: t.parameters, Boundary: s.layers[j-1].Activation}
}

// mulDivUp returns ceil(a·b/c), exactly; ok is false if it does not fit.
func mulDivUp(a, b, c uint64) (v int64, ok bool) {
	high, low := bits.Mul64(a, b)
	low, carry := bits.Add64(low, c-1, 0)
	high += carry
	if high >= c {
		return 0, false
	}
	q, _ := bits.Div64(high, low, c)
	return int64(q), q <= math.MaxInt64
}
