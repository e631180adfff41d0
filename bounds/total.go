package bounds

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"yardstick/sched"
)

// srptCompletions calls f with the completion times under SRPT in ascending
// order, scaled by G.
func (w *workload) srptCompletions(f func(end *big.Int)) {
	m := newMachine(w.release, w.size)
	m.before = func(a, b int) bool { return m.left[a] < m.left[b] }
	end := new(big.Int)
	m.run(func(_ int, start *big.Int, length int64, done bool) {
		if done {
			f(end.Add(start, end.SetInt64(length)))
		}
	})
}

func (w *workload) srpt(obj sched.Objective) (*big.Rat, error) {
	weight, err := w.forTotals(obj)
	if err != nil {
		return nil, err
	}
	sum := new(big.Int)
	w.srptCompletions(func(end *big.Int) { sum.Add(sum, end) })
	total := ceil(new(big.Rat).SetFrac(sum, big.NewInt(w.gpus))) // ΣC is an integer
	return w.affine(obj, total.Mul(total, weight)), nil
}

func (w *workload) ranked(obj sched.Objective) (*big.Rat, error) {
	weight, err := w.forTotals(obj)
	if err != nil {
		return nil, err
	}
	alone := w.alone()
	slices.Sort(alone)
	gpus, rem, least := big.NewInt(w.gpus), new(big.Int), new(big.Int)
	sum, k := new(big.Int), 0
	w.srptCompletions(func(end *big.Int) {
		end.QuoRem(end, gpus, rem)
		if rem.Sign() > 0 { // completion times are integers, the k-th one too
			end.Add(end, rem.SetInt64(1))
		}
		if least.SetInt64(int64(alone[k])); end.Cmp(least) < 0 {
			end.Set(least)
		}
		sum.Add(sum, end)
		k++
	})
	total := new(big.Rat).SetInt(sum)
	return w.affine(obj, total.Mul(total, weight)), nil
}

// forTotals returns the common weight of all jobs if the objective is that
// weight times the total completion time, up to constants.
func (w *workload) forTotals(obj sched.Objective) (*big.Rat, error) {
	if obj == sched.Makespan {
		return nil, fmt.Errorf("%w to %v", ErrNotApplicable, obj)
	}
	weight, ok := w.equalWeight(obj)
	if !ok {
		return nil, fmt.Errorf("%w to %v: shortest remaining time first is optimal only for equal weights", ErrNotApplicable, obj)
	}
	return weight, nil
}

// gridBits is the resolution to which mean busy times are rounded down: a
// microsecond over 2^gridBits.
const gridBits = 24

func (w *workload) meanBusyTime(obj sched.Objective) (*big.Rat, error) {
	if obj == sched.Makespan {
		return nil, fmt.Errorf("%w to %v", ErrNotApplicable, obj)
	}
	weight := objectiveWeights(w.in, obj)
	m := newMachine(w.release, w.size)
	position := smithOrder(weight.w, w.size)
	m.before = func(a, b int) bool { return position[a] < position[b] }

	// A stretch [t, t+l) of service contributes l·(t + l/2) to q_j·M_j. Twice
	// that is an integer in scaled time.
	moment := make([]big.Int, len(w.size))
	twice, l := new(big.Int), new(big.Int)
	m.run(func(j int, start *big.Int, length int64, _ bool) {
		l.SetInt64(length)
		twice.Lsh(start, 1)
		twice.Add(twice, l)
		moment[j].Add(&moment[j], twice.Mul(twice, l))
	})

	// Each job's M_j + d_j/2 = moment/(2 q_j G) + d_j/2, rounded down.
	sum, mean, div := new(big.Int), new(big.Int), new(big.Int)
	for j := range moment {
		div.Mul(big.NewInt(2*w.gpus), l.SetInt64(w.size[j]))
		mean.Quo(moment[j].Lsh(&moment[j], gridBits), div)
		mean.Add(mean, l.Lsh(l.SetInt64(int64(w.length[j])), gridBits-1))
		sum.Add(sum, mean.Mul(mean, weight.w[j]))
	}
	total := new(big.Rat).SetFrac(sum, new(big.Int).Lsh(big.NewInt(1), gridBits))
	total.Mul(total, weight.unit)
	if obj == sched.TotalJCT || obj == sched.MeanJCT {
		total = ceil(total)
	}
	return w.affine(obj, total), nil
}

// smithOrder returns each job's position when jobs are sorted by falling
// weight per size, ties by index. Quotients are compared by cross
// multiplication: in floating point where that decides, exactly where not.
func smithOrder(weight []*big.Int, size []int64) (position []int) {
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
	position = make([]int, len(order))
	for p, j := range order {
		position[j] = p
	}
	return position
}
