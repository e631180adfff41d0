package preemptive

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"

	"yardstick/bounds"
	"yardstick/internal/number"
	"yardstick/sched"
	"yardstick/solvers/milp"
	"yardstick/solvers/partition"
)

// GridOptions choose the grid. The zero value is a good choice.
type GridOptions struct {
	// Slot is the length of the grid's slots; it need not fit any data. 0 means
	// the instance's slot in [SlottedGrid], and the longest slot on which all
	// data lie in [ContinuousGrid]; or, if that makes the program too large for
	// comfort, the shortest multiple of it that does not.
	Slot   sched.Time
	Limits milp.Limits
}

// GridResult is a lower bound with what it came from.
type GridResult struct {
	// Bound is the better of the program's and LB0 (in slots), which it falls
	// back to if the program was not solved.
	bounds.Bound
	Slot                 sched.Time
	Rows, Cols, Nonzeros int
	LP                   *milp.Result
}

// goodColumns is the size that the default grid aims at.
const goodColumns = 8_000

// ContinuousGrid bounds schedules in continuous time (class P0), slotted ones
// among them, by a linear program over a grid of slots of length δ:
//
//	y[j,k] ≥ 0: how long job j runs in slot k, and after the last one
//	min Σ w_j (Σ_k (mid_k − e_j) y[j,k]/d_j + d_j/2)
//	Σ_k y[j,k] = d_j                                          each job j
//	y[j,k] ≤ |slot k ∩ [r_j, ∞)|                               each j and k
//	Σ_j g_j y[j,k] ≤ G' δ, Σ_j u(g_j) y[j,k] ≤ δ               each slot k
//
// where d_j is load and least training time, mid_k the middle of slot k (and its
// beginning after the last), e_j = b(δ − b)/(2 d_j) with b = d_j mod δ, and the rows
// of a slot are (4) and (5) of the program over bouts: what holds at every
// instant holds in the mean.
//
// The times at which job j runs have length d_j and end by C_j. As mid_k rises
// with k, the sum of mid_k y[j,k] is largest if they are the last d_j before C_j;
// there it exceeds d_j (C_j − d_j/2) by z(δ − z)/2 − x(δ − x)/2, if these cover x of
// their first slot and z of their last, and at most by b(δ − b)/2, at x = 0. So on
// a grid that divides d_j nothing is lost, and half a slot may be counted in
// continuous time too.
//
// It applies to every minimised objective but the makespan. The value is
// evaluated from the dual solution in exact arithmetic. Reaching a limit is not
// an error.
//
// Errors: sched.ErrNotApplicable; the solver cannot run.
func ContinuousGrid(ctx context.Context, in *sched.Instance, obj sched.Objective, solver milp.LPSolver, opt GridOptions) (*GridResult, error) {
	return gridBound(ctx, in, obj, solver, opt, sched.Class{Kind: sched.P0})
}

// SlottedGrid is [ContinuousGrid] for schedules whose jobs start and stop at
// multiples of the instance's slot (class P0s): releases and the d_j are first
// rounded up to these. Where they are such multiples the two are the same, and
// otherwise it is no bound on schedules in continuous time.
//
// Errors: as for ContinuousGrid; sched.ErrNotApplicable also if the instance
// has no slots.
func SlottedGrid(ctx context.Context, in *sched.Instance, obj sched.Objective, solver milp.LPSolver, opt GridOptions) (*GridResult, error) {
	if in.Slot == 0 {
		return nil, fmt.Errorf("preemptive: instance %q: %w: it has no slots", in.Name, sched.ErrNotApplicable)
	}
	return gridBound(ctx, in, obj, solver, opt, sched.Class{Kind: sched.P0, Slotted: true})
}

func gridBound(ctx context.Context, in *sched.Instance, obj sched.Objective, solver milp.LPSolver, opt GridOptions, class sched.Class) (*GridResult, error) {
	g, err := newGrid(in, obj, class, opt.Slot)
	if err != nil {
		return nil, fmt.Errorf("preemptive: instance %q: %w", in.Name, err)
	}
	if err := g.build(); err != nil {
		return nil, fmt.Errorf("preemptive: instance %q: %w", in.Name, err)
	}
	out := &GridResult{Slot: g.slot, Rows: len(g.model.Rows), Cols: len(g.model.Vars), Nonzeros: g.model.Nonzeros(),
		Bound: bounds.Bound{Name: "grid-lp", Class: class, Objective: obj}}
	if out.LP, err = solveLP(ctx, g.model, solver, opt.Limits); err != nil {
		return nil, fmt.Errorf("preemptive: instance %q: %w", in.Name, err)
	}
	out.Value, out.Proof = g.value(new(big.Rat)), &bounds.Proof{Kind: "lb0", Data: aloneData{g.claims}}
	if y := out.LP.RowDuals; y != nil && out.LP.Termination == milp.Optimal {
		if v := g.value(milp.ExactBound(g.model, y)); v.Cmp(out.Value) > 0 {
			out.Value, out.Proof = v, g.proof(y)
		}
	}
	return out, nil
}

func solveLP(ctx context.Context, m *milp.Model, solver milp.LPSolver, l milp.Limits) (*milp.Result, error) {
	lp, err := solver.Open(m)
	if err != nil {
		return nil, err
	}
	if c, ok := lp.(io.Closer); ok {
		defer c.Close()
	}
	return lp.Solve(ctx, l)
}

// gridJob is a job on a grid. In slotted classes release and work are rounded up
// to slots.
type gridJob struct {
	gang          int
	release, work sched.Time
	weight        *big.Rat
}

// grid is an instance on a grid, and its program: costs are what jobs cost
// beyond being alone, in units of scale.
type grid struct {
	in    *sched.Instance
	obj   sched.Objective
	slot  sched.Time
	unit  sched.Time // of y; divides the slot, and all releases and work
	slots int        // of the grid; what comes after is free
	jobs  []gridJob
	scale *big.Rat
	model *milp.Model

	claims []bounds.Claim
	rules  []rule
	rows   [][]int // of each slot, the rules of its rows
}

func newGrid(in *sched.Instance, obj sched.Objective, class sched.Class, slot sched.Time) (*grid, error) {
	switch {
	case !in.Model.Exclusive():
		return nil, fmt.Errorf("%w to the %s model", sched.ErrNotApplicable, in.Model)
	case !obj.IsTotal():
		return nil, fmt.Errorf("%w to %v", sched.ErrNotApplicable, obj)
	case slot < 0:
		return nil, fmt.Errorf("the grid's slot is %v: it must be positive", slot)
	}
	if err := in.RequirePipelines(); err != nil {
		return nil, err
	}
	least, err := partition.LeastRunTimes(in)
	if err != nil {
		return nil, err
	}
	g := &grid{in: in, obj: obj, slot: slot, scale: big.NewRat(1, 1)}
	trains := make([]sched.Time, len(least))
	for i := range least {
		trains[i] = least[i].Duration
	}
	g.claims = bounds.Claims(in, trains)
	for i := range in.Jobs {
		j := &in.Jobs[i]
		out := gridJob{gang: j.Gang(), release: j.Release, work: j.Load + least[i].Duration, weight: big.NewRat(1, 1)}
		if obj.Weighted() {
			out.weight.SetFloat64(j.Weight)
		}
		if class.Slotted {
			out.release, out.work = number.CeilDiv(out.release, in.Slot)*in.Slot, number.CeilDiv(out.work, in.Slot)*in.Slot
		}
		if out.work > sched.MaxTime {
			return nil, fmt.Errorf("job %d would run for more than %v", i, sched.MaxTime)
		}
		g.unit = number.GCD(number.GCD(g.unit, out.release), out.work)
		g.jobs = append(g.jobs, out)
	}
	if class.Slotted {
		g.unit = in.Slot
	}
	return g, g.choose()
}

// choose chooses the slot, if there is none, and the horizon: when all GPUs
// together could have done all work, and the longest job after that.
func (g *grid) choose() error {
	var last, longest, work sched.Time
	gpus := sched.Time(bounds.Reachable(g.in))
	for _, j := range g.jobs {
		last, longest = max(last, j.release), max(longest, j.work)
		work = min(work+sched.Time(j.gang)*j.work/gpus+1, sched.MaxTime)
	}
	horizon := last + work + longest
	if g.slot == 0 {
		columns := func(slot sched.Time) sched.Time {
			n := sched.Time(0)
			for _, j := range g.jobs {
				n += (horizon - j.release) / slot
			}
			return n
		}
		g.slot = g.unit
		for columns(g.slot) > goodColumns {
			g.slot = number.CeilDiv(g.slot+g.slot/4+1, g.unit) * g.unit
		}
	}
	g.unit = number.GCD(g.unit, g.slot)
	slots := number.CeilDiv(horizon, g.slot)
	if slots > maxColumns/sched.Time(len(g.jobs)+1) {
		return fmt.Errorf("%w: %d slots of %v: too large for a linear program over slots", sched.ErrNotApplicable, slots, g.slot)
	}
	g.slots = int(slots)
	return nil
}

// build makes the program. Costs are rounded down, everything else is exact.
func (g *grid) build() error {
	g.model = &milp.Model{Name: "grid"}
	heaviest := new(big.Rat)
	for _, j := range g.jobs {
		if j.weight.Cmp(heaviest) > 0 {
			heaviest = j.weight
		}
	}
	g.scale.Mul(heaviest, new(big.Rat).SetInt64(int64(g.slot)))
	columns := make([][]int, g.slots) // of each slot
	owner := make([][]int, g.slots)
	for i := range g.jobs {
		j := &g.jobs[i]
		row := milp.Row{Name: fmt.Sprintf("job%d", i), Sense: milp.EQ, RHS: float64(j.work / g.unit)}
		for k := min(int(j.release/g.slot), g.slots); k <= g.slots; k++ {
			begin, end := max(sched.Time(k)*g.slot, j.release), sched.Time(k+1)*g.slot
			v := milp.Variable{Name: fmt.Sprintf("y%d_%d", i, k), Upper: float64(min(end-begin, j.work) / g.unit), Cost: g.late(j, k)}
			if k == g.slots {
				v.Upper = float64(j.work / g.unit)
			} else {
				columns[k], owner[k] = append(columns[k], len(g.model.Vars)), append(owner[k], i)
			}
			row.Cols, row.Vals = append(row.Cols, len(g.model.Vars)), append(row.Vals, 1)
			g.model.AddVar(v)
		}
		g.model.AddRow(row)
	}
	var present []int
	var rows []limit
	for k := range columns {
		if k == 0 || !slices.Equal(owner[k], present) {
			present, rows = owner[k], g.limits(owner[k])
			g.addRules(present, rows)
		}
		g.rows = append(g.rows, nil)
		for n, l := range rows {
			row := milp.Row{Name: fmt.Sprintf("slot%d_%d", k, n), Sense: milp.LE, RHS: float64(int64(l.most) * int64(g.slot/g.unit))}
			for c, share := range l.share {
				if share > 0 {
					row.Cols, row.Vals = append(row.Cols, columns[k][c]), append(row.Vals, float64(share))
				}
			}
			g.model.AddRow(row)
			g.rows[k] = append(g.rows[k], len(g.rules)-len(rows)+n)
		}
	}
	for i := range g.model.Rows {
		if g.model.Rows[i].RHS > 1<<50 {
			return fmt.Errorf("%w: row %s: too large for a linear program over slots", sched.ErrNotApplicable, g.model.Rows[i].Name)
		}
	}
	if g.model.Nonzeros() > maxEntries {
		return fmt.Errorf("%w: %d entries: too large for a linear program over slots", sched.ErrNotApplicable, g.model.Nonzeros())
	}
	return nil
}

func (g *grid) limits(present []int) []limit {
	gangs := make([]int, len(present))
	for c, i := range present {
		gangs[c] = g.jobs[i].gang
	}
	return limits(g.in.Cluster.GPUs(), gangs)
}

// late returns what a unit of work of the job costs in slot k, beyond its part
// of what the job costs alone, in units of scale and rounded down.
func (g *grid) late(j *gridJob, k int) float64 {
	beyond := j.work % g.slot
	v := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(int64(beyond)), big.NewInt(int64(beyond-g.slot))), big.NewInt(2*int64(j.work)))
	twice := 2*int64(k)*int64(g.slot) - 2*int64(j.release) - int64(j.work)
	if k < g.slots {
		twice += int64(g.slot)
	}
	v.Add(v, big.NewRat(twice, 2))
	v.Mul(v, j.weight).Quo(v, big.NewRat(int64(j.work/g.unit), 1)).Quo(v, g.scale)
	f, exact := v.Float64()
	if !exact && new(big.Rat).SetFloat64(f).Cmp(v) > 0 {
		f = math.Nextafter(f, math.Inf(-1))
	}
	return f
}

// value turns the program's value into the objective's: with 0, what the jobs
// cost alone. Where all costs are integers it is rounded up to one.
func (g *grid) value(v *big.Rat) *big.Rat {
	out := new(big.Rat).Mul(v, g.scale)
	for _, j := range g.jobs {
		out.Add(out, new(big.Rat).Mul(j.weight, big.NewRat(int64(j.release+j.work), 1)))
	}
	if g.obj.Base().Integral(g.in) {
		out = number.Ceil(out)
	}
	return g.obj.FromBase(g.in, out)
}
