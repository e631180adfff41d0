package timeindexed

import (
	"fmt"
	"math/big"
	"slices"

	"yardstick/internal/number"
	"yardstick/sched"
	"yardstick/solvers/partition"
)

// Numbers of jobs, and of patterns per job, beyond which the package gives up:
// the integer programs would be hopeless too.
const (
	maxJobs     = 300
	maxPatterns = 1000
)

// job is what the formulation knows of a job: its release date r, weight w,
// gang g, and the choices of a pattern, grouped by the time d they hold their
// GPUs (load and training).
type job struct {
	id      sched.JobID
	release sched.Time
	weight  float64 // 1 unless the objective weights completion times
	gang    int
	choices []choice // by increasing time; never empty
}

// choice is the patterns of one duration.
type choice struct {
	time     sched.Time
	patterns []partition.Pattern // nil: any free GPUs will do
}

// least returns d^min.
func (j *job) least() sched.Time { return j.choices[0].time }

// problem is an instance with the objective Σ w_j C_j or max C_j. The other
// objectives have the same optimal schedules.
type problem struct {
	in       *sched.Instance
	obj      sched.Objective
	makespan bool
	gpus     int
	jobs     []job
	others   []*big.Rat // others[j] is less than all jobs but j cost in any schedule, or equal; nil for the makespan
	effort   int        // spent on list schedules, in elementary steps
}

// newProblem reads the instance.
//
// Errors: the instance is not valid; sched.ErrNotApplicable if it is not one of
// continuous time with fixed gangs, the objective is maximised or a job has too many
// patterns.
func newProblem(in *sched.Instance, obj sched.Objective) (*problem, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	switch {
	case !in.Model.Exclusive():
		return nil, fmt.Errorf("%w to the %s model: jobs with fixed gangs and exclusive GPUs are needed", sched.ErrNotApplicable, in.Model)
	case in.Slot != 0:
		return nil, fmt.Errorf("%w to slotted instances: continuous time is needed", sched.ErrNotApplicable)
	case !obj.IsTotal() && obj != sched.Makespan:
		return nil, fmt.Errorf("%w to %v: a sum of completion times or the makespan is needed", sched.ErrNotApplicable, obj)
	case len(in.Jobs) > maxJobs:
		return nil, fmt.Errorf("%w: %d jobs, more than %d: too large for a time-indexed program", sched.ErrNotApplicable, len(in.Jobs), maxJobs)
	}
	p := &problem{in: in, obj: obj, makespan: obj == sched.Makespan, gpus: in.Cluster.GPUs()}
	for i := range in.Jobs {
		j := &in.Jobs[i]
		if j.Sliced() {
			return nil, fmt.Errorf("%w to tensor slices, which not any free GPUs can hold: job %d", sched.ErrNotApplicable, i)
		}
		out := job{id: sched.JobID(i), release: j.Release, weight: 1, gang: j.Gang()}
		if obj.Weighted() {
			out.weight = j.Weight
		}
		if err := out.readChoices(in); err != nil {
			return nil, err
		}
		if end := j.Release + out.choices[len(out.choices)-1].time; end > sched.MaxTime {
			return nil, fmt.Errorf("%w: job %d may end at %v, after %v", sched.ErrNotApplicable, i, end, sched.MaxTime)
		}
		p.jobs = append(p.jobs, out)
	}
	if !p.makespan {
		p.others = p.boundOthers()
	}
	return p, nil
}

func (out *job) readChoices(in *sched.Instance) error {
	j := &in.Jobs[out.id]
	if j.ConstantIteration() {
		d, err := partition.MinDuration(in, out.id)
		if err != nil {
			return err
		}
		out.choices = []choice{{time: j.Load + d}}
		return nil
	}
	patterns, err := partition.Patterns(in, out.id, maxPatterns)
	if err != nil {
		return err
	}
	slices.SortStableFunc(patterns, func(a, b partition.Pattern) int { return int(a.Duration - b.Duration) })
	for _, p := range patterns {
		if k := len(out.choices); k == 0 || out.choices[k-1].time != j.Load+p.Duration {
			out.choices = append(out.choices, choice{time: j.Load + p.Duration})
		}
		last := &out.choices[len(out.choices)-1]
		last.patterns = append(last.patterns, p)
	}
	return nil
}

// alike reports whether all patterns of every job have equal duration, so
// that any GPUs that are free at a start will do: a job that holds its GPUs
// over an interval never has to give way.
func (p *problem) alike() bool {
	return len(p.in.Cluster.Servers) == 1 || !slices.ContainsFunc(p.jobs, func(j job) bool { return len(j.choices) > 1 })
}

// sum returns the exact Σ w_j t_j.
func (p *problem) sum(t func(j *job) sched.Time) *big.Rat {
	small, total := int64(0), new(big.Rat)
	for i := range p.jobs {
		j := &p.jobs[i]
		v := int64(t(j))
		if j.weight == 1 {
			small += v // at most MaxTime each: no overflow below 10^4 jobs
			if small > 1<<62 {
				total.Add(total, new(big.Rat).SetInt64(small))
				small = 0
			}
			continue
		}
		w := new(big.Rat).SetFloat64(j.weight)
		total.Add(total, w.Mul(w, new(big.Rat).SetInt64(v)))
	}
	return total.Add(total, new(big.Rat).SetInt64(small))
}

// cost returns Σ w_j C_j, or the makespan, of completion times.
func (p *problem) cost(completion []sched.Time) *big.Rat {
	if p.makespan {
		return new(big.Rat).SetInt64(int64(slices.Max(completion)))
	}
	return p.sum(func(j *job) sched.Time { return completion[j.id] })
}

// objective turns a value of cost, or a lower bound on it, into the instance's
// objective: Σ (C_j − r_j) = Σ C_j − Σ r_j.
func (p *problem) objective(v *big.Rat) *big.Rat { return p.obj.FromBase(p.in, v) }

// trivial returns the lower bound on cost that holds without any program:
// every job alone, Σ w_j (r_j + d_j^min) or the maximum.
func (p *problem) trivial() *big.Rat {
	alone := make([]sched.Time, len(p.jobs))
	for i := range p.jobs {
		alone[i] = p.jobs[i].release + p.jobs[i].least()
	}
	return p.cost(alone)
}

// deadlines returns H_j: a time that job j completes by in every schedule of
// cost at most ub. For the makespan that is ub itself; otherwise
//
//	H_j = (ub − others_j) / w_j,
//
// because the other jobs cost at least others_j, whatever job j does. Neither
// is more than the last release date and all longest durations together: in a
// schedule in which no job can start earlier on its servers, some job runs at
// any time between the last release date and the end. One such schedule is
// optimal. On a grid rounded up, schedules of the grid are meant.
func (p *problem) deadlines(g grid, ub *big.Rat) []sched.Time {
	var last, total sched.Time
	for i := range p.jobs {
		j := &p.jobs[i]
		release, longest := j.release, j.choices[len(j.choices)-1].time
		if g.up {
			release, longest = number.CeilDiv(release, g.slot)*g.slot, number.CeilDiv(longest, g.slot)*g.slot
		}
		last = max(last, release)
		total = min(total+longest, sched.MaxTime)
	}
	out := make([]sched.Time, len(p.jobs))
	for i := range p.jobs {
		j := &p.jobs[i]
		h := new(big.Rat).Set(ub)
		if !p.makespan {
			h.Sub(h, p.others[i]).Quo(h, new(big.Rat).SetFloat64(j.weight))
		}
		floor := new(big.Int).Div(h.Num(), h.Denom()) // Euclidean: rounds down
		out[i] = min(last+total, sched.MaxTime)
		if floor.IsInt64() {
			out[i] = min(out[i], sched.Time(floor.Int64()))
		}
	}
	return out
}
