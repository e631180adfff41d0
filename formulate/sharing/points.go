package sharing

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/milp"
)

// plans reads the starts, options and GPUs of a point and plays them. It returns
// nil if the point has none or they are impossible.
func (pr *program) plans(x []float64) []plan {
	if len(x) != len(pr.model.Vars) {
		return nil
	}
	set := func(cols []int) int {
		return slices.IndexFunc(cols, func(c int) bool { return c != none && x[c] > 0.5 })
	}
	plans := make([]plan, len(pr.jobs))
	for i := range plans {
		plans[i].start, plans[i].option = set(pr.x[i]), set(pr.a[i])
		for g, c := range pr.y[i] {
			if x[c] > 0.5 {
				plans[i].gpus = append(plans[i].gpus, g)
			}
		}
		if plans[i].start < 0 || plans[i].option < 0 || len(plans[i].gpus) != pr.jobs[i].gang {
			return nil
		}
	}
	if !pr.replay(plans) {
		return nil
	}
	return plans
}

// decode returns the schedule of a point, in which every job ends as soon as it
// is done.
func (pr *program) decode(x []float64) (*sched.Schedule, error) {
	plans := pr.plans(x)
	if plans == nil {
		return nil, fmt.Errorf("sharing: the point is no schedule")
	}
	for i := range plans {
		last := slices.IndexFunc(pr.e[i], func(c int) bool { return c != none && x[c] > 0.5 })
		if last >= 0 && plans[i].end > last+1 {
			return nil, fmt.Errorf("%w: job %d ends after slot %d, not %d", ErrRounded, i, plans[i].end-1, last)
		}
	}
	return pr.schedule(plans), nil
}

// point returns the point of plans, or nil if they are not within the program.
func (pr *program) point(plans []plan) []float64 {
	plans = pr.renamed(plans)
	x := make([]float64, len(pr.model.Vars))
	for i := range plans {
		pl := &plans[i]
		if pl.end > pr.deadline[i] || pr.x[i][pl.start] == none || pr.e[i][pl.end-1] == none {
			return nil
		}
		x[pr.x[i][pl.start]], x[pr.e[i][pl.end-1]], x[pr.a[i][pl.option]] = 1, 1, 1
		for _, g := range pl.gpus {
			x[pr.y[i][g]] = 1
		}
		if pr.c != none {
			x[pr.c] = max(x[pr.c], float64(pl.end))
		}
		for t := pl.start; t < pl.end; t++ {
			x[pr.z[i][t]] = 1
			for _, g := range pl.gpus {
				x[pr.b[i][g][t]] = 1
			}
		}
	}
	for i := range plans {
		for k := i + 1; k < len(plans); k++ {
			a, b := &plans[i], &plans[k]
			if !slices.ContainsFunc(a.gpus, func(g int) bool { return slices.Contains(b.gpus, g) }) {
				continue
			}
			x[pr.o[i][k]] = 1
			for t := max(a.start, b.start); t < min(a.end, b.end); t++ {
				x[pr.v[i][k][t]] = 1
				z, y := &x[pr.z[i][t]], &x[pr.z[k][t]]
				*z = min(*z, 1-loss(pr.in.Interference[pr.jobs[i].task][pr.jobs[k].task]))
				*y = min(*y, 1-loss(pr.in.Interference[pr.jobs[k].task][pr.jobs[i].task]))
			}
		}
	}
	return x
}

// renamed returns the plans with GPUs renamed so that the first job has the
// first ones.
func (pr *program) renamed(plans []plan) []plan {
	name := make([]int, pr.gpus)
	next := len(plans[0].gpus)
	for g := range name {
		if k := slices.Index(plans[0].gpus, g); k >= 0 {
			name[g] = k
		} else {
			name[g] = next
			next++
		}
	}
	out := slices.Clone(plans)
	for i := range out {
		out[i].gpus = make([]int, 0, len(plans[i].gpus))
		for _, g := range plans[i].gpus {
			out[i].gpus = append(out[i].gpus, name[g])
		}
		slices.Sort(out[i].gpus)
	}
	return out
}

// listed makes a schedule near the point of a linear program: starts in the
// middle of what it has of each, options and GPUs of which it has most.
func (pr *program) listed(x []float64) []float64 {
	plans := make([]plan, len(pr.jobs))
	for i := range plans {
		mean := 0.5
		for t, c := range pr.x[i] {
			if c != none {
				mean += float64(t) * x[c]
			}
		}
		plans[i].start = max(int(mean), pr.jobs[i].release)
		plans[i].option = largest(x, pr.a[i])
		plans[i].gpus = mostOf(x, pr.y[i], pr.jobs[i].gang)
	}
	if !pr.replay(plans) {
		return nil
	}
	return pr.point(plans)
}

func largest(x []float64, cols []int) int {
	best := 0
	for k, c := range cols {
		if x[c] > x[cols[best]] {
			best = k
		}
	}
	return best
}

// mostOf returns the n indices of the largest values, ascending.
func mostOf(x []float64, cols []int, n int) []int {
	order := make([]int, len(cols))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return compare(x[cols[b]], x[cols[a]]) })
	order = order[:n]
	slices.Sort(order)
	return order
}

// SolveProgram solves the program of [Build], with costs in slots so that bounds
// can be rounded up to them, and starts from the schedule that limits it. The
// bound is what the solver proved, or what holds before, and the termination the
// solver's own: of a relaxation it may be OPTIMAL with a bound below the cost. The
// solver's costs are in slots, times weights, without releases.
//
// Errors: as for Build; the solver cannot run.
func SolveProgram(ctx context.Context, in *sched.Instance, obj sched.Objective, solver milp.Solver, l milp.Limits) (*exact.Result, error) {
	pr, err := newProgram(in, obj, 1)
	if err != nil {
		return nil, err
	}
	r, err := solver.Solve(ctx, pr.model, milp.Start{X: pr.point(pr.start), Round: pr.listed}, l)
	if err != nil {
		return nil, fmt.Errorf("sharing: %w", err)
	}
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("sharing: %w", err)
	}
	m := pr.model
	best, cost := pr.start, pr.cost(ends(pr.start))
	if r.X != nil {
		if found := pr.plans(r.X); found != nil && pr.cost(ends(found)).Cmp(cost) < 0 {
			best, cost = found, pr.cost(ends(found))
		}
	}
	out := &exact.Result{Class: sched.Class{Kind: sched.S, Slotted: true}, Termination: r.Termination, Schedule: pr.schedule(best), Cost: cost, Nodes: r.Stats.Nodes,
		Programs: []exact.Program{{Relation: pr.relation.String(), Solver: solver.Name(), Rows: len(m.Rows), Cols: len(m.Vars), Nonzeros: m.Nonzeros(), Integers: m.Integers(), Result: r}}}
	if err := out.Schedule.CheckEnd(); err != nil {
		return nil, fmt.Errorf("sharing: %w: the best schedule found is too long: %w", sched.ErrNotApplicable, err)
	}
	s := newSearch(ctx, pr.problem, 0)
	root := s.root()
	out.Bound = s.exactly(s.bound(&root, 0))
	if r.Dual == milp.Proven && !math.IsInf(r.DualBound, 0) {
		if proven := s.objective(new(big.Rat).SetFloat64(r.DualBound)); proven.Cmp(out.Bound) > 0 {
			out.Bound = proven
		}
	}
	return out, nil
}
