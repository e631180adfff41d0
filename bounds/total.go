package bounds

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"yardstick/internal/number"
	"yardstick/sched"
)

// srptCompletions calls f with the completion times under SRPT in ascending
// order, scaled by G.
func (w *workload) srptCompletions(f func(end *uint192)) {
	m := machine{release: w.release, size: w.size}
	m.run(func(s *service) {
		if s.done {
			end := s.start
			end.addWord(uint64(s.length))
			f(&end)
		}
	})
}

func (w *workload) srpt(obj sched.Objective) (*big.Rat, error) {
	weight, err := w.forTotals(obj)
	if err != nil {
		return nil, err
	}
	var sum uint192
	w.srptCompletions(func(end *uint192) { sum.add(end) })
	total := number.Ceil(new(big.Rat).SetFrac(sum.big(), big.NewInt(w.gpus))) // ΣC is an integer
	return obj.FromBase(w.in, total.Mul(total, weight)), nil
}

func (w *workload) ranked(obj sched.Objective) (*big.Rat, error) {
	weight, err := w.forTotals(obj)
	if err != nil {
		return nil, err
	}
	alone := w.alone()
	slices.Sort(alone)
	total := new(big.Rat).SetInt(w.rankedSum(alone).big())
	return obj.FromBase(w.in, total.Mul(total, weight)), nil
}

// rankedSum returns Σ_k max(alone[k], k-th completion under SRPT), alone being
// the sorted r_j + d_j.
func (w *workload) rankedSum(alone []sched.Time) *uint192 {
	var sum uint192
	k := 0
	w.srptCompletions(func(end *uint192) {
		if end.quo(uint64(w.gpus)) > 0 { // completion times are integers, the k-th one too
			end.addWord(1)
		}
		if end.reaches(uint64(alone[k])) {
			sum.add(end)
		} else {
			sum.addWord(uint64(alone[k]))
		}
		k++
	})
	return &sum
}

// forTotals returns the common weight of all jobs if the objective is that
// weight times the total completion time, up to constants.
func (w *workload) forTotals(obj sched.Objective) (*big.Rat, error) {
	if !obj.IsTotal() {
		return nil, fmt.Errorf("%w to %v", sched.ErrNotApplicable, obj)
	}
	weight, ok := w.equalWeight(obj)
	if !ok {
		return nil, fmt.Errorf("%w to %v: shortest remaining time first is optimal only for equal weights", sched.ErrNotApplicable, obj)
	}
	return weight, nil
}

// gridBits is the resolution to which mean busy times are rounded down: a
// microsecond over 2^gridBits.
const gridBits = 24

func (w *workload) meanBusyTime(obj sched.Objective) (*big.Rat, error) {
	if !obj.IsTotal() {
		return nil, fmt.Errorf("%w to %v", sched.ErrNotApplicable, obj)
	}
	weight := objectiveWeights(w.in, obj)
	m := machine{release: w.release, size: w.size, rank: smithOrder(weight.w, w.size)}

	// A stretch [t, t+l) of service contributes l·(t + l/2) to q_j·M_j. Twice
	// that is an integer in scaled time.
	moment := make([]uint192, len(w.size))
	m.run(func(s *service) {
		l := uint64(s.length)
		twice := s.start.times(2)
		twice.addWord(l)
		twice = twice.times(l)
		moment[s.job].add(&twice)
	})

	// Each job's M_j + d_j/2 = moment/(2 q_j G) + d_j/2, rounded down.
	sum, plain := new(big.Int), uint192{}
	for j := range moment {
		mean := moment[j].times(1 << gridBits)
		mean.quo(2 * uint64(w.gpus))
		mean.quo(uint64(w.size[j]))
		half := uint192{uint64(w.length[j])}
		half = half.times(1 << (gridBits - 1))
		mean.add(&half)
		if weight.equal {
			plain.add(&mean)
		} else {
			sum.Add(sum, new(big.Int).Mul(mean.big(), weight.w[j]))
		}
	}
	if weight.equal {
		sum.Mul(plain.big(), weight.w[0])
	}
	total := new(big.Rat).SetFrac(sum, new(big.Int).Lsh(big.NewInt(1), gridBits))
	total.Mul(total, weight.unit)
	if base := obj.Base(); base != obj && base.Integral(w.in) {
		total = number.Ceil(total)
	}
	return obj.FromBase(w.in, total), nil
}

// smithOrder returns each job's position when jobs are sorted by falling
// weight per size, ties by index. Quotients are compared by cross
// multiplication: in floating point where that decides, exactly where not.
func smithOrder(weight []*big.Int, size []int64) (position []int64) {
	approx := make([]float64, len(size)) // of weight/size, within a relative 2^-50
	order := make([]int, len(size))
	inRange := true
	for j, s := range size {
		w, _ := new(big.Float).SetInt(weight[j]).Float64()
		approx[j] = w / float64(s)
		inRange = inRange && !math.IsInf(w, 0)
		order[j] = j
	}
	if !inRange { // weights more than 300 decimal orders apart
		clear(approx)
	}
	left, right := new(big.Int), new(big.Int)
	slices.SortFunc(order, func(a, b int) int {
		const slack = 1 + 1.0/(1<<48)
		switch {
		case approx[a] > approx[b]*slack:
			return -1
		case approx[b] > approx[a]*slack:
			return 1
		}
		if size[a] != size[b] || weight[a].Cmp(weight[b]) != 0 {
			left.Mul(weight[a], right.SetInt64(size[b]))
			right.Mul(weight[b], new(big.Int).SetInt64(size[a]))
			if c := right.Cmp(left); c != 0 {
				return c
			}
		}
		return a - b
	})
	position = make([]int64, len(order))
	for p, j := range order {
		position[j] = int64(p)
	}
	return position
}
