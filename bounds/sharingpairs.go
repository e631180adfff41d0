package bounds

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/big"

	"yardstick/internal/number"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// PairOptions choose the grid of [PairLP]. The zero value is a good choice.
type PairOptions struct {
	// Slotted asks for a bound on schedules in the slots of Instance.Slot, which
	// is larger and divides no others.
	Slotted bool
	// Slot is the length of a slot in continuous time; 0 means the shortest that
	// keeps the program small.
	Slot sched.Time
	// Horizon is the end of the last slot, rounded up; what is done later uses no
	// GPUs. 0 means when all jobs are done one after the other, each at its
	// slowest.
	Horizon sched.Time
}

// PairResult is the bound of a linear program.
type PairResult struct {
	// Bound is the better of the program's and of ThetaLB0, which it falls back
	// to where no program was solved.
	Bound
	Slot                 sched.Time
	Rows, Cols, Nonzeros int
	LP                   *milp.Result // in units scaled for the solver
}

const (
	goodPairColumns = 4_000
	mostPairColumns = 200_000
)

// PairLP bounds total completion times, weighted or not, by a linear program
// over the GPU-time that each pair of jobs spends together. In slot k, of
// length δ, z_jk is the part of job j's work that is done, and x_jk and x_(jl)k,
// one for each pair of accumulations that fit a GPU, are the GPUs that j holds
// alone and together with l, in the mean over the slot:
//
//	minimise  Σ w_j (Σ_k c_jk z_jk + d_j/2)
//	Σ_k z_jk = 1
//	(g_j d_j/δ) z_jk ≤ x_jk + Σ_l ρ_(j|l) x_(jl)k
//	x_jk + Σ_l x_(jl)k ≤ g_j
//	Σ_j x_jk + Σ_(jl) x_(jl)k ≤ G
//	0 ≤ d_j z_jk ≤ time in k from r_j on
//
// d_j is what the job needs alone and ρ_(j|l) its speed beside l relative to that.
// c_jk is the start of the slot, or r_j if that is later: a job progresses at a
// rate of at most 1, so that C_j is at least the mean time of its progress plus
// d_j/2. In a slotted schedule rates are constant during a slot, so that c_jk is
// its middle; the part of the last slot's progress that is too much may be taken
// away evenly. In z rates count relative to d_j, and a gang progresses no faster
// than on any of its GPUs.
//
// All coefficients are rounded so that the program becomes weaker, and the bound
// is what the dual solution proves in exact arithmetic. It is of class SP0.
// Reaching a limit is not an error.
//
// Cost: a linear program of O((n² + n)·slots) columns.
//
// Errors: sched.ErrNotApplicable if the model or the objective is another one, the
// makespan included, or the program too large; the solver cannot run.
func PairLP(ctx context.Context, in *sched.Instance, obj sched.Objective, solver milp.LPSolver, limits milp.Limits, opt PairOptions) (*PairResult, error) {
	out, err := pairLP(ctx, in, obj, solver, limits, opt)
	if err != nil {
		return nil, fmt.Errorf("bounds: pair-lp: %w", err)
	}
	return out, nil
}

func pairLP(ctx context.Context, in *sched.Instance, obj sched.Objective, solver milp.LPSolver, limits milp.Limits, opt PairOptions) (*PairResult, error) {
	if !obj.IsTotal() {
		return nil, fmt.Errorf("%w to %v", sched.ErrNotApplicable, obj)
	}
	if opt.Slotted && in.Slot == 0 {
		return nil, fmt.Errorf("%w: instance %q has no slots", sched.ErrNotApplicable, in.Name)
	}
	best, err := ThetaLB0(in, obj)
	if err != nil {
		return nil, err
	}
	best.Name, best.Class.Slotted = "pair-lp", opt.Slotted
	p, err := newPairs(in, obj, opt)
	if err != nil {
		return nil, err
	}
	m := p.model()
	out := &PairResult{Bound: best, Slot: p.slot, Rows: len(m.Rows), Cols: len(m.Vars), Nonzeros: m.Nonzeros()}
	duals, err := out.solve(ctx, m, solver, limits)
	if err != nil || duals == nil {
		return out, err
	}
	value := milp.ExactBound(m, duals)
	for j := range p.jobs {
		half := new(big.Rat).Mul(p.jobs[j].work, big.NewRat(1, 2))
		value.Add(value, half.Mul(half, p.weight[j]))
	}
	value = obj.FromBase(in, value)
	if obj.Integral(in) {
		value = number.Ceil(value)
	}
	if value.Cmp(out.Value) > 0 {
		out.Value, out.Proof = value, p.proof(duals)
	}
	return out, nil
}

// solve returns the duals of the rows, or nil.
func (r *PairResult) solve(ctx context.Context, m *milp.Model, solver milp.LPSolver, limits milp.Limits) ([]float64, error) {
	largest := 0.0
	for _, v := range m.Vars {
		largest = max(largest, v.Cost)
	}
	_, exponent := math.Frexp(largest)
	scale := 10 - exponent // the tolerances of solvers are absolute: bring the largest cost near 1000
	scaled := *m
	scaled.Vars = append([]milp.Variable(nil), m.Vars...)
	for j := range scaled.Vars {
		scaled.Vars[j].Cost = math.Ldexp(scaled.Vars[j].Cost, scale)
	}
	lp, err := solver.Open(&scaled)
	if err != nil {
		return nil, err
	}
	if c, ok := lp.(io.Closer); ok {
		defer c.Close()
	}
	if r.LP, err = lp.Solve(ctx, limits); err != nil || r.LP.RowDuals == nil || r.LP.Termination != milp.Optimal {
		return nil, err
	}
	duals := make([]float64, len(r.LP.RowDuals))
	for i, v := range r.LP.RowDuals {
		duals[i] = math.Ldexp(v, -scale)
	}
	return duals, nil
}

// pairs is the data of the program.
type pairs struct {
	*sharers
	slotted bool
	slot    sched.Time
	grid    Grid
	weight  []*big.Rat
	meet    [][]meeting // of each job, with later ones
}

// meeting is a pair of jobs on a GPU.
type meeting struct {
	other int
	rates rates
}

func newPairs(in *sched.Instance, obj sched.Objective, opt PairOptions) (*pairs, error) {
	s, err := newSharers(in)
	if err != nil {
		return nil, err
	}
	p := &pairs{sharers: s, slotted: opt.Slotted, slot: opt.Slot, meet: make([][]meeting, len(s.jobs))}
	perSlot := 2 * len(s.jobs)
	for j := range s.jobs {
		weight := big.NewRat(1, 1)
		if obj.Weighted() {
			weight.SetFloat64(in.Jobs[j].Weight)
		}
		p.weight = append(p.weight, weight)
		for l := j + 1; l < len(s.jobs); l++ {
			for _, r := range undominated(s.together(j, l)) {
				p.meet[j] = append(p.meet[j], meeting{l, r})
				perSlot++
			}
		}
		if perSlot > mostPairColumns {
			return nil, fmt.Errorf("%w: %d jobs have too many pairs for a linear program", sched.ErrNotApplicable, len(s.jobs))
		}
	}
	horizon := opt.Horizon
	if horizon == 0 {
		horizon = p.sequence()
	}
	switch {
	case opt.Slotted:
		p.slot = in.Slot
	case p.slot == 0:
		p.slot = horizon/sched.Time(max(1, goodPairColumns/perSlot)) + 1
	}
	if p.slot <= 0 || (int64(horizon/p.slot)+1)*int64(perSlot) > mostPairColumns {
		return nil, fmt.Errorf("%w: %d columns in each slot of %v until %v: too large for a linear program", sched.ErrNotApplicable, perSlot, p.slot, horizon)
	}
	p.grid = UniformGrid(p.slot, max(horizon, 1))
	return p, p.grid.Validate()
}

// undominated leaves out rates that are no larger than others in both parts.
func undominated(list []rates) []rates {
	var out []rates
	for i, r := range list {
		keep := true
		for k, q := range list {
			a, b := q.first.Cmp(r.first), q.second.Cmp(r.second)
			if a >= 0 && b >= 0 && (a > 0 || b > 0 || k < i) {
				keep = false
			}
		}
		if keep {
			out = append(out, r)
		}
	}
	return out
}

// sequence returns when all jobs are done if they run one after the other.
func (p *pairs) sequence() sched.Time {
	var end sched.Time
	for j := range p.jobs {
		end = max(end, p.in.Jobs[j].Release)
	}
	for j := range p.jobs {
		work, _ := p.jobs[j].work.Float64()
		end = min(end+sched.Time(work)+1+p.in.Slot, 3*sched.MaxTime)
	}
	return end
}

// span is the time that a job has in a slot, and when its progress there is
// counted.
type span struct{ time, at *big.Rat }

// span returns what job j has of slot k, or false if it is not released by then.
func (p *pairs) span(j, k int) (span, bool) {
	start, end, release := p.grid[k], p.grid[k+1], p.in.Jobs[j].Release
	if p.slotted {
		if release > start {
			return span{}, false
		}
		at := integer64(start)
		return span{integer64(p.slot), at.Add(at, big.NewRat(int64(p.slot), 2))}, true
	}
	from := max(start, release)
	return span{integer64(end - from), integer64(from)}, from < end
}

// model builds the program. Its objective leaves out the half-terms.
func (p *pairs) model() *milp.Model {
	m := &milp.Model{Name: "pair-lp"}
	gpus := float64(p.in.Cluster.GPUs())
	done := make([]milp.Row, len(p.jobs))
	for k := range p.grid.Slots() {
		p.addSlot(m, k, gpus, done)
	}
	for j := range p.jobs { // after the last slot, without GPUs
		at := max(p.grid.End(), p.in.Jobs[j].Release)
		z := m.AddVar(milp.Variable{Upper: 1, Cost: floatDown(new(big.Rat).Mul(p.weight[j], integer64(at)))})
		done[j].Cols, done[j].Vals = append(done[j].Cols, z), append(done[j].Vals, 1)
		done[j].Sense, done[j].RHS = milp.EQ, 1
		m.AddRow(done[j])
	}
	return m
}

func (p *pairs) addSlot(m *milp.Model, k int, gpus float64, done []milp.Row) {
	n := len(p.jobs)
	capacity := milp.Row{Sense: milp.LE, RHS: gpus}
	progress, gang, part := make([]milp.Row, n), make([]milp.Row, n), make([]bool, n)
	hold := func(x int, j int, rate float64) {
		progress[j].Cols, progress[j].Vals = append(progress[j].Cols, x), append(progress[j].Vals, -rate)
		gang[j].Cols, gang[j].Vals = append(gang[j].Cols, x), append(gang[j].Vals, 1)
	}
	use := func(most float64) int {
		x := m.AddVar(milp.Variable{Upper: most})
		capacity.Cols, capacity.Vals = append(capacity.Cols, x), append(capacity.Vals, 1)
		return x
	}
	for j := range p.jobs {
		var s span
		if s, part[j] = p.span(j, k); !part[j] {
			continue
		}
		g := p.in.Jobs[j].Gang()
		upper := new(big.Rat).Quo(s.time, p.jobs[j].work)
		z := m.AddVar(milp.Variable{Upper: min(1, floatUp(upper)), Cost: floatDown(s.at.Mul(s.at, p.weight[j]))})
		done[j].Cols, done[j].Vals = append(done[j].Cols, z), append(done[j].Vals, 1)
		need := new(big.Rat).Mul(p.jobs[j].work, big.NewRat(int64(g), int64(p.slot)))
		progress[j] = milp.Row{Sense: milp.LE, Cols: []int{z}, Vals: []float64{floatDown(need)}}
		gang[j] = milp.Row{Sense: milp.LE, RHS: float64(g)}
		hold(use(float64(g)), j, 1)
	}
	for j := range p.jobs {
		for _, o := range p.meet[j] {
			if part[j] && part[o.other] {
				x := use(float64(min(p.in.Jobs[j].Gang(), p.in.Jobs[o.other].Gang())))
				hold(x, j, floatUp(o.rates.first))
				hold(x, o.other, floatUp(o.rates.second))
			}
		}
	}
	for j := range p.jobs {
		if part[j] {
			m.AddRow(progress[j])
			m.AddRow(gang[j])
		}
	}
	if len(capacity.Cols) > 0 {
		m.AddRow(capacity)
	}
}

// floatDown returns the largest finite float64 that is at most v, or -Inf.
func floatDown(v *big.Rat) float64 {
	f, exact := v.Float64()
	if math.IsInf(f, 0) {
		return min(f, math.MaxFloat64)
	}
	if !exact && new(big.Rat).SetFloat64(f).Cmp(v) > 0 {
		f = math.Nextafter(f, math.Inf(-1))
	}
	return f
}

// floatUp returns the smallest float64 that is at least v, or +Inf.
func floatUp(v *big.Rat) float64 { return -floatDown(new(big.Rat).Neg(v)) }
