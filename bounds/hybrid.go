package bounds

import (
	"cmp"
	"context"
	"math/big"
	"slices"

	"yardstick/sched"
)

// HybridOptions direct [Hybrid].
type HybridOptions struct {
	// Evaluations limits how many sets of jobs are tried; 0 means as many as
	// serve three million jobs in all (a second or two), and at least 50.
	Evaluations int
}

// Hybrid is the largest value found of
//
//	Ranked(J') + Σ_{j ∉ J'} (r_j + d_j)
//
// over sets J' of jobs, for total completion time and what is affine in it.
// It is at least [Ranked], hence at least [LB0] and [SRPT].
//
// The jobs of J' by themselves form a fluid schedule, whose total completion
// time [Ranked] bounds; every other job ends no earlier than r_j + d_j.
//
// All sets are tried if that takes no more evaluations than allowed. Otherwise
// the search starts from the best of these sets: all jobs, none, and those of
// at least g GPUs for every g; and it moves blocks of jobs in or out, where jobs
// are in order of d_j − q_j and blocks become ever smaller, until no single job
// improves the value. Weights must be equal. Cost: O(n log n) per evaluation.
//
// When the context ends the search does, and its best set counts.
//
// Errors: sched.ErrNotApplicable.
func Hybrid(ctx context.Context, in *sched.Instance, obj sched.Objective, opt HybridOptions) (Bound, error) {
	w, err := newWorkload(in, obj)
	if err != nil {
		return Bound{}, err
	}
	evaluations := opt.Evaluations
	if evaluations == 0 {
		evaluations = max(50, 3_000_000/len(in.Jobs))
	}
	return w.bound(method{name: "hybrid", kind: sched.Fluid, proof: "srpt-ranked", eval: func(w *workload, obj sched.Objective) (*big.Rat, error) {
		weight, err := w.forTotals(obj)
		if err != nil {
			return nil, err
		}
		s := newHybrid(w, evaluations)
		if 1<<min(len(in.Jobs), 62) <= evaluations {
			s.all(ctx)
		} else {
			s.search(ctx)
		}
		w.choice.Apart = s.apart()
		total := new(big.Rat).SetInt(s.value.big())
		return obj.FromBase(w.in, total.Mul(total, weight)), nil
	}}, obj)
}

// hybrid is a search for a set of jobs.
type hybrid struct {
	w     *workload
	alone []sched.Time // r_j + d_j
	order []int        // jobs by r_j + d_j: subsets keep it
	moves []int        // jobs by d_j − q_j
	left  int          // evaluations

	best  []bool
	value uint192
}

func newHybrid(w *workload, evaluations int) *hybrid {
	s := &hybrid{w: w, alone: w.alone(), left: evaluations, best: make([]bool, len(w.size))}
	for j := range s.best {
		s.order, s.moves = append(s.order, j), append(s.moves, j)
		s.best[j] = true
	}
	slices.SortStableFunc(s.order, func(a, b int) int { return cmp.Compare(s.alone[a], s.alone[b]) })
	idle := func(j int) int64 { return w.gpus*int64(w.length[j]) - w.size[j] }
	slices.SortStableFunc(s.moves, func(a, b int) int { return cmp.Compare(idle(b), idle(a)) })
	s.value = s.evaluate(s.best)
	return s
}

// evaluate returns the value of a set.
func (s *hybrid) evaluate(in []bool) uint192 {
	s.left--
	part := workload{gpus: s.w.gpus}
	var alone []sched.Time
	var rest uint192
	for _, j := range s.order {
		if !in[j] {
			rest.addWord(uint64(s.alone[j]))
			continue
		}
		part.release, part.size = append(part.release, s.w.release[j]), append(part.size, s.w.size[j])
		alone = append(alone, s.alone[j])
	}
	rest.add(part.rankedSum(alone))
	return rest
}

// apart returns the jobs that are not in the best set.
func (s *hybrid) apart() []int {
	var out []int
	for j, in := range s.best {
		if !in {
			out = append(out, j)
		}
	}
	return out
}

// try keeps the set if it is better than the best one.
func (s *hybrid) try(in []bool) bool {
	v := s.evaluate(in)
	if v.cmp(&s.value) <= 0 {
		return false
	}
	s.value = v
	copy(s.best, in)
	return true
}

// all tries every set.
func (s *hybrid) all(ctx context.Context) {
	in := make([]bool, len(s.best))
	for set := range uint64(1) << len(in) {
		for j := range in {
			in[j] = set>>j&1 == 1
		}
		s.try(in)
		if ctx.Err() != nil {
			return
		}
	}
}

func (s *hybrid) search(ctx context.Context) {
	in := make([]bool, len(s.best))
	var gangs []int
	for i := range in {
		gangs = append(gangs, s.w.in.Jobs[i].Gang())
	}
	slices.Sort(gangs)
	gangs = slices.Compact(gangs)
	more := func() bool { return s.left > 0 && ctx.Err() == nil }
	for _, least := range append(gangs, int(s.w.gpus)+1) {
		for j := range in {
			in[j] = s.w.in.Jobs[j].Gang() >= least
		}
		if more() {
			s.try(in)
		}
	}
	for size := (len(in) + 1) / 2; more(); {
		improved := false
		for from := 0; from < len(in) && more(); from += size {
			block := s.moves[from:min(from+size, len(in))]
			for _, to := range []bool{false, true} {
				copy(in, s.best)
				changed := false
				for _, j := range block {
					changed = changed || in[j] != to
					in[j] = to
				}
				if changed && more() && s.try(in) {
					improved = true
				}
			}
		}
		if size == 1 && !improved {
			return
		}
		size = max(1, size/2)
	}
}
