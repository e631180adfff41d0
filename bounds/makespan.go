package bounds

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"yardstick/sched"
)

func (w *workload) area(obj sched.Objective) (*big.Rat, error) {
	if err := forMakespan(obj); err != nil {
		return nil, err
	}
	return w.workEnd(), nil
}

func forMakespan(obj sched.Objective) error {
	if obj != sched.Makespan {
		return fmt.Errorf("%w to %v: it bounds the makespan", sched.ErrNotApplicable, obj)
	}
	return nil
}

// workEnd returns when all GPUs together could have done all work.
func (w *workload) workEnd() *big.Rat {
	order := make([]int, len(w.size))
	for j := range order {
		order[j] = j
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(w.release[b], w.release[a]) })
	work, end, best := new(big.Int), new(big.Int), new(big.Int)
	for _, j := range order { // last release first; among equal releases the last one counts
		work.Add(work, end.SetInt64(w.size[j]))
		end.Add(work, end.SetInt64(w.release[j]))
		if end.Cmp(best) > 0 {
			best.Set(end)
		}
	}
	return new(big.Rat).SetFrac(best, big.NewInt(w.gpus))
}

func (w *workload) energy(obj sched.Objective) (*big.Rat, error) {
	if err := forMakespan(obj); err != nil {
		return nil, err
	}
	return w.energyEnd(w.milestones(), w.gpus, func(gang int64) int64 { return gang }), nil
}

func (w *workload) packing(obj sched.Objective) (*big.Rat, error) {
	if err := forMakespan(obj); err != nil {
		return nil, err
	}
	events := w.milestones()
	best := new(big.Rat)
	for _, u := range dualFunctions(w.in) {
		if v := w.energyEnd(events, u.whole, u.share); v.Cmp(best) > 0 {
			best = v
			w.choice.Machine = w.machineOf(&u)
		}
	}
	return best, nil
}

// milestone is the release of a job, or when it would end if it ran at once.
type milestone struct {
	at  sched.Time
	job int
	end bool
}

// milestones returns those of all jobs, in order of time.
func (w *workload) milestones() []milestone {
	out := make([]milestone, 0, 2*len(w.length))
	for j, d := range w.length {
		r := w.in.Jobs[j].Release
		out = append(out, milestone{r, j, false}, milestone{r + d, j, true})
	}
	slices.SortFunc(out, func(a, b milestone) int { return cmp.Compare(a.at, b.at) })
	return out
}

// energyEnd returns the largest t + Σ_j f_j·max(0, r_j + d_j − max(t, r_j)) up to
// the last milestone, with f_j = share(g_j)/whole. It is linear between
// milestones.
func (w *workload) energyEnd(events []milestone, whole int64, share func(gang int64) int64) *big.Rat {
	value, step := new(big.Int), new(big.Int) // times whole
	for j, d := range w.length {
		value.Add(value, step.Mul(step.SetInt64(share(int64(w.in.Jobs[j].Gang()))), big.NewInt(int64(d))))
	}
	best, slope, now := new(big.Int).Set(value), whole, sched.Time(0)
	for _, e := range events {
		if e.at > now {
			value.Add(value, step.Mul(step.SetInt64(slope), big.NewInt(int64(e.at-now))))
			now = e.at
			if value.Cmp(best) > 0 {
				best.Set(value)
			}
		}
		f := share(int64(w.in.Jobs[e.job].Gang()))
		if e.end {
			f = -f
		}
		slope -= f
	}
	return new(big.Rat).SetFrac(best, big.NewInt(whole))
}
