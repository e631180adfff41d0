package sharing

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"yardstick/sched"
	"yardstick/solvers/exact"
	search "yardstick/solvers/exhaustive/sharing"
	"yardstick/solvers/milp"
)

// plans reads the starts, options and GPUs of a point and plays them. It returns
// nil if the point has none or they are impossible.
func (pr *program) plans(x []float64) []search.Plan {
	if len(x) != len(pr.model.Vars) {
		return nil
	}
	set := func(cols []int) int {
		return slices.IndexFunc(cols, func(c int) bool { return c != none && x[c] > 0.5 })
	}
	plans := make([]search.Plan, len(pr.Jobs))
	for i := range plans {
		plans[i].Start, plans[i].Option = set(pr.x[i]), set(pr.a[i])
		for g, c := range pr.y[i] {
			if x[c] > 0.5 {
				plans[i].GPUs = append(plans[i].GPUs, g)
			}
		}
		if plans[i].Start < 0 || plans[i].Option < 0 || len(plans[i].GPUs) != pr.Jobs[i].Gang {
			return nil
		}
	}
	if !pr.Replay(plans) {
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
		if last >= 0 && plans[i].End > last+1 {
			return nil, fmt.Errorf("%w: job %d ends after slot %d, not %d", ErrRounded, i, plans[i].End-1, last)
		}
	}
	return pr.Schedule(plans), nil
}

// point returns the point of plans, or nil if they are not within the program.
func (pr *program) point(plans []search.Plan) []float64 {
	plans = pr.renamed(plans)
	x := make([]float64, len(pr.model.Vars))
	for i := range plans {
		pl := &plans[i]
		if pl.End > pr.deadline[i] || pr.x[i][pl.Start] == none || pr.e[i][pl.End-1] == none {
			return nil
		}
		x[pr.x[i][pl.Start]], x[pr.e[i][pl.End-1]], x[pr.a[i][pl.Option]] = 1, 1, 1
		for _, g := range pl.GPUs {
			x[pr.y[i][g]] = 1
		}
		if pr.c != none {
			x[pr.c] = max(x[pr.c], float64(pl.End))
		}
		for t := pl.Start; t < pl.End; t++ {
			x[pr.z[i][t]] = 1
			for _, g := range pl.GPUs {
				x[pr.b[i][g][t]] = 1
			}
		}
	}
	for i := range plans {
		for k := i + 1; k < len(plans); k++ {
			a, b := &plans[i], &plans[k]
			if !slices.ContainsFunc(a.GPUs, func(g int) bool { return slices.Contains(b.GPUs, g) }) {
				continue
			}
			x[pr.o[i][k]] = 1
			for t := max(a.Start, b.Start); t < min(a.End, b.End); t++ {
				x[pr.v[i][k][t]] = 1
				z, y := &x[pr.z[i][t]], &x[pr.z[k][t]]
				*z = min(*z, 1-loss(pr.In.Interference[pr.Jobs[i].Task][pr.Jobs[k].Task]))
				*y = min(*y, 1-loss(pr.In.Interference[pr.Jobs[k].Task][pr.Jobs[i].Task]))
			}
		}
	}
	return x
}

// renamed returns the plans with GPUs renamed so that the first job has the
// first ones.
func (pr *program) renamed(plans []search.Plan) []search.Plan {
	name := make([]int, pr.GPUs)
	next := len(plans[0].GPUs)
	for g := range name {
		if k := slices.Index(plans[0].GPUs, g); k >= 0 {
			name[g] = k
		} else {
			name[g] = next
			next++
		}
	}
	out := slices.Clone(plans)
	for i := range out {
		out[i].GPUs = make([]int, 0, len(plans[i].GPUs))
		for _, g := range plans[i].GPUs {
			out[i].GPUs = append(out[i].GPUs, name[g])
		}
		slices.Sort(out[i].GPUs)
	}
	return out
}

// listed makes a schedule near the point of a linear program: starts in the
// middle of what it has of each, options and GPUs of which it has most.
func (pr *program) listed(x []float64) []float64 {
	plans := make([]search.Plan, len(pr.Jobs))
	for i := range plans {
		mean := 0.5
		for t, c := range pr.x[i] {
			if c != none {
				mean += float64(t) * x[c]
			}
		}
		plans[i].Start = max(int(mean), pr.Jobs[i].Release)
		plans[i].Option = largest(x, pr.a[i])
		plans[i].GPUs = mostOf(x, pr.y[i], pr.Jobs[i].Gang)
	}
	if !pr.Replay(plans) {
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
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[cols[b]], x[cols[a]]) })
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
	best, cost := pr.start, pr.Cost(pr.start)
	if r.X != nil {
		if found := pr.plans(r.X); found != nil && pr.Cost(found).Cmp(cost) < 0 {
			best, cost = found, pr.Cost(found)
		}
	}
	out := &exact.Result{Class: sched.Class{Kind: sched.S, Slotted: true}, Termination: r.Termination, Schedule: pr.Schedule(best), Cost: cost, Nodes: r.Stats.Nodes,
		Programs: []exact.Program{{Relation: pr.relation.String(), Solver: solver.Name(), Rows: len(m.Rows), Cols: len(m.Vars), Nonzeros: m.Nonzeros(), Integers: m.Integers(), Result: r}}}
	if err := out.Schedule.CheckEnd(); err != nil {
		return nil, fmt.Errorf("sharing: %w: the best schedule found is too long: %w", sched.ErrNotApplicable, err)
	}
	out.Bound = pr.Lower()
	if r.Dual == milp.Proven && !math.IsInf(r.DualBound, 0) {
		if proven := pr.FromSlots(new(big.Rat).SetFloat64(r.DualBound)); proven.Cmp(out.Bound) > 0 {
			out.Bound = proven
		}
	}
	return out, nil
}
