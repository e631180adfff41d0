package sharing

import (
	"fmt"
	"math"
	"math/big"

	"yardstick/formulate"
	"yardstick/internal/number"
	"yardstick/sched"
	search "yardstick/solvers/exhaustive/sharing"
	"yardstick/solvers/milp"
)

// Build returns the integer program of class Ss. Jobs are j, k; GPUs g; slots t,
// from the job's release to the last slot that it may end in if the cost is to
// be below that of a schedule found quickly. All of x, e, y and a are binary:
//
//	x_jt  j starts in t             Σ_t x_jt = 1
//	e_jt  t is j's last slot        Σ_t e_jt = 1
//	y_jg  j holds g                 Σ_g y_jg = g_j                           (8)
//	a_js  j has option s            Σ_s a_js = 1
//
// and the others follow from them, where u_jt = Σ_{τ≤t} x_jτ − Σ_{τ<t} e_jτ says
// whether j is there:
//
//	u_jt ≥ 0
//	b_jgt ≥ y_jg + u_jt − 1,  Σ_j b_jgt ≤ 2                                     (9)
//	o_jk ≥ y_jg + y_kg − 1
//	v_jkt ≥ u_jt + u_kt + o_jk − 2
//	v_jkt + a_js + a_ks' ≤ 2  if s and s' do not fit a GPU together
//	z_jt ≤ u_jt,  z_jt ≤ u_jt − (1 − 1/xi_(j|k)) v_jkt,  Σ_t z_jt ≥ Σ_s d_js a_js
//
// The objective is Σ w_j (t+1) e_jt, or the makespan C ≥ Σ_t (t+1) e_jt. Two rows
// per slot only serve the relaxation: Σ_j g_j z_jt ≤ Theta·G and Σ_j g_j u_jt ≤ 2G.
// As GPUs are alike, the first job has the first ones.
//
// 1/xi and d are rounded to multiples of 2^-30 so that the program becomes
// weaker. The relation is Exact if that changes for no number of slots at each
// speed whether a job is done, and Relaxation if it might. Costs are in
// microseconds, as the objective's.
//
// Not in the source, which states the problem without a program.
//
// Errors: sched.ErrNotApplicable, also of the mean JCT, which is that of the total,
// of programs that are too large, and of costs that have no float64.
func Build(in *sched.Instance, obj sched.Objective) (*formulate.Program, error) {
	pr, err := newProgram(in, obj, float64(in.Slot))
	if err != nil {
		return nil, err
	}
	formulate.Shift(pr.model, obj.FromBase(in, new(big.Rat)))
	return &formulate.Program{Model: pr.model, Relation: pr.relation, Decode: pr.decode}, nil
}

const maxEntries = 8_000_000

const none = -1 // no variable

// program is the model with the indices of its variables; −1 where there is
// none.
type program struct {
	*search.Problem
	model    *milp.Model
	relation formulate.Relation
	unit     float64 // cost of a slot
	deadline []int   // of each job
	horizon  int

	x, e, z [][]int // by job and slot
	y       [][]int // by job and GPU
	a       [][]int // by job and option
	b       [][][]int
	o       [][]int   // by pairs j < k
	v       [][][]int // by pairs and slot
	c       int       // the makespan
	start   []search.Plan
}

func newProgram(in *sched.Instance, obj sched.Objective, unit float64) (*program, error) {
	if obj.Sum() != obj {
		return nil, fmt.Errorf("sharing: %w to %v: that is %v divided by the number of jobs", sched.ErrNotApplicable, obj, obj.Sum())
	}
	p, err := search.NewProblem(in, obj)
	if err != nil {
		return nil, err
	}
	pr := &program{Problem: p, model: &milp.Model{Name: "sharing", IntegralCost: true}, relation: formulate.Exact, unit: unit, c: none}
	if err := pr.limit(); err != nil {
		return nil, err
	}
	if err := pr.addVariables(); err != nil {
		return nil, err
	}
	for i := range p.Jobs {
		pr.addJob(i)
	}
	for i := range p.Jobs {
		for k := i + 1; k < len(p.Jobs); k++ {
			pr.addPair(i, k)
		}
	}
	pr.addCapacity()
	for i := range p.Jobs {
		if !pr.sharp(i) {
			pr.relation = formulate.Relaxation
		}
	}
	return pr, nil
}

// limit finds a schedule and the last slots at which jobs may end if another is
// to cost no more: what all others leave if they end as early as alone, and no later
// than if all ran one after the other. A job that ends last can start when the others
// have ended, which then run no slower, so that some optimal schedule keeps to that.
func (pr *program) limit() error {
	const quick = 20_000
	pr.start = pr.Quick(quick)
	latest, work := 0, 0
	left := new(big.Rat) // cost of the schedule less that of all jobs alone, in slots
	for i := range pr.Jobs {
		j := &pr.Jobs[i]
		latest, work = max(latest, j.Release), work+j.Options[0].Alone
		gain := big.NewRat(int64(pr.start[i].End-j.Release-j.Options[0].Alone), 1)
		left.Add(left, gain.Mul(gain, new(big.Rat).SetFloat64(j.Weight)))
	}
	last := 0 // of the schedule
	for _, pl := range pr.start {
		last = max(last, pl.End)
	}
	for i := range pr.Jobs {
		j := &pr.Jobs[i]
		until := last
		if pr.Obj != sched.Makespan {
			until = latest + work
			slots := number.FloorInt(new(big.Rat).Quo(left, new(big.Rat).SetFloat64(j.Weight)))
			if slots.IsInt64() {
				until = min(until, j.Release+j.Options[0].Alone+int(min(slots.Int64(), search.MaxSlots)))
			}
		}
		pr.deadline = append(pr.deadline, max(until, pr.start[i].End))
		pr.horizon = max(pr.horizon, pr.deadline[i])
	}
	if n := pr.entries(); n > maxEntries {
		return fmt.Errorf("sharing: %w: about %d entries in %d slots, more than %d: too large for a program", sched.ErrNotApplicable, n, pr.horizon, maxEntries)
	}
	return nil
}

// entries is about how many the rows will have: most say whether a job is there,
// which takes its starts and ends in all slots before.
func (pr *program) entries() int {
	n := 0
	for i := range pr.Jobs {
		span := pr.deadline[i] - pr.Jobs[i].Release
		n += (pr.GPUs + 2) * span * span
		for k := range i {
			n += 2 * min(span, pr.deadline[k]-pr.Jobs[k].Release) * (span + pr.deadline[k] - pr.Jobs[k].Release)
		}
	}
	return n
}

// has reports whether job i may be there in a slot.
func (pr *program) has(i, t int) bool { return pr.Jobs[i].Release <= t && t < pr.deadline[i] }

func (pr *program) binary(cost float64) int {
	return pr.model.AddVar(milp.Variable{Upper: 1, Cost: cost, Integer: true})
}

func (pr *program) unitVar() int { return pr.model.AddVar(milp.Variable{Upper: 1}) }

func fill(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = none
	}
	return out
}

// endCost returns the cost of a job that ends with slot t, rounded down.
func (pr *program) endCost(i, t int) float64 {
	w, v := pr.Jobs[i].Weight, float64(t+1)*pr.unit
	if v >= 1<<53 { // it may have been rounded up
		v = math.Nextafter(v, 0)
		pr.model.IntegralCost = false
	}
	cost := w * v
	if rest := math.FMA(w, v, -cost); rest != 0 {
		pr.model.IntegralCost = false
		if rest < 0 {
			cost = math.Nextafter(cost, math.Inf(-1))
		}
	}
	pr.model.IntegralCost = pr.model.IntegralCost && cost == math.Trunc(cost)
	return cost
}

func (pr *program) addVariables() error {
	n, most := len(pr.Jobs), 0.0 // the dearest point
	if pr.Obj == sched.Makespan {
		pr.c = pr.model.AddVar(milp.Variable{Upper: float64(pr.horizon), Cost: pr.unit})
	}
	for i := range pr.Jobs {
		j := &pr.Jobs[i]
		x, e, z := fill(pr.horizon), fill(pr.horizon), fill(pr.horizon)
		for t := j.Release; t < pr.deadline[i]; t++ {
			if t+j.Options[0].Alone <= pr.deadline[i] {
				x[t] = pr.binary(0)
			}
			if t+1 >= j.Release+j.Options[0].Alone {
				cost := 0.0
				if pr.c == none {
					cost = pr.endCost(i, t)
				}
				e[t] = pr.binary(cost)
			}
			z[t] = pr.unitVar()
		}
		if pr.c == none {
			most += pr.endCost(i, pr.deadline[i]-1)
		}
		pr.x, pr.e, pr.z = append(pr.x, x), append(pr.e, e), append(pr.z, z)
		var y, a []int
		for range pr.GPUs {
			y = append(y, pr.binary(0))
		}
		for range j.Options {
			a = append(a, pr.binary(0))
		}
		pr.y, pr.a = append(pr.y, y), append(pr.a, a)
		var b [][]int
		for range pr.GPUs {
			at := fill(pr.horizon)
			for t := j.Release; t < pr.deadline[i]; t++ {
				at[t] = pr.unitVar()
			}
			b = append(b, at)
		}
		pr.b = append(pr.b, b)
	}
	if most >= 1<<53 {
		return fmt.Errorf("sharing: %w: costs reach %g, beyond 2^53", sched.ErrNotApplicable, most)
	}
	for i := range n {
		pr.o, pr.v = append(pr.o, fill(n)), append(pr.v, make([][]int, n))
		for k := i + 1; k < n; k++ {
			pr.o[i][k] = pr.unitVar()
			pr.v[i][k] = fill(pr.horizon)
			for t := range pr.horizon {
				if pr.has(i, t) && pr.has(k, t) {
					pr.v[i][k][t] = pr.unitVar()
				}
			}
		}
	}
	for g := range pr.GPUs { // the first job has the first GPUs
		v := &pr.model.Vars[pr.y[0][g]]
		if g < pr.Jobs[0].Gang {
			v.Lower = 1
		} else {
			v.Upper = 0
		}
	}
	return nil
}

// row builds a row term by term.
type row struct{ milp.Row }

func (r *row) add(col int, val float64) *row {
	if col != none {
		r.Cols, r.Vals = append(r.Cols, col), append(r.Vals, val)
	}
	return r
}

// there adds val·u_it.
func (pr *program) there(r *row, i, t int, val float64) *row {
	for s := range t + 1 {
		r.add(pr.x[i][s], val)
		if s < t {
			r.add(pr.e[i][s], -val)
		}
	}
	return r
}

func (pr *program) put(r *row, sense milp.Sense, rhs float64) {
	r.Sense, r.RHS = sense, rhs
	if len(r.Cols) > 0 {
		pr.model.AddRow(r.Row)
	}
}

func (pr *program) one(cols []int, val float64) *row {
	r := &row{}
	for _, c := range cols {
		r.add(c, val)
	}
	return r
}

func (pr *program) addJob(i int) {
	j := &pr.Jobs[i]
	pr.put(pr.one(pr.x[i], 1), milp.EQ, 1)
	pr.put(pr.one(pr.e[i], 1), milp.EQ, 1)
	pr.put(pr.one(pr.y[i], 1), milp.EQ, float64(j.Gang))
	pr.put(pr.one(pr.a[i], 1), milp.EQ, 1)
	work := pr.one(pr.z[i], 1)
	for s := range j.Options {
		work.add(pr.a[i][s], -pr.work(&j.Options[s]))
	}
	pr.put(work, milp.GE, 0)
	for t := j.Release; t < pr.deadline[i]; t++ {
		pr.put(pr.there(&row{}, i, t, 1), milp.GE, 0)
		pr.put(pr.there((&row{}).add(pr.z[i][t], 1), i, t, -1), milp.LE, 0)
		for g := range pr.GPUs {
			pr.put(pr.there((&row{}).add(pr.b[i][g][t], -1).add(pr.y[i][g], 1), i, t, 1), milp.LE, 1)
		}
	}
	if pr.c != none {
		r := (&row{}).add(pr.c, -1)
		for t, e := range pr.e[i] {
			r.add(e, float64(t+1))
		}
		pr.put(r, milp.LE, 0)
	}
}

func (pr *program) addPair(i, k int) {
	a, b := &pr.Jobs[i], &pr.Jobs[k]
	o := pr.o[i][k]
	for g := range pr.GPUs {
		pr.put((&row{}).add(pr.y[i][g], 1).add(pr.y[k][g], 1).add(o, -1), milp.LE, 1)
	}
	lossA, lossB := loss(pr.In.Interference[a.Task][b.Task]), loss(pr.In.Interference[b.Task][a.Task])
	for t, v := range pr.v[i][k] {
		if v == none {
			continue
		}
		both := (&row{}).add(o, 1).add(v, -1)
		pr.put(pr.there(pr.there(both, i, t, 1), k, t, 1), milp.LE, 2)
		pr.put(pr.there((&row{}).add(pr.z[i][t], 1).add(v, lossA), i, t, -1), milp.LE, 0)
		pr.put(pr.there((&row{}).add(pr.z[k][t], 1).add(v, lossB), k, t, -1), milp.LE, 0)
		for s := range a.Options {
			for q := range b.Options {
				if !pr.Fits(&a.Options[s], &b.Options[q]) {
					pr.put((&row{}).add(v, 1).add(pr.a[i][s], 1).add(pr.a[k][q], 1), milp.LE, 2)
				}
			}
		}
	}
}

func (pr *program) addCapacity() {
	theta := pr.Theta() * float64(pr.GPUs) * (1 + search.Rounding)
	for t := range pr.horizon {
		for g := range pr.GPUs {
			r := &row{}
			for i := range pr.Jobs {
				r.add(pr.b[i][g][t], 1)
			}
			if len(r.Cols) > 2 {
				pr.put(r, milp.LE, 2)
			}
		}
		done, held := &row{}, &row{}
		for i := range pr.Jobs {
			if pr.has(i, t) {
				done.add(pr.z[i][t], float64(pr.Jobs[i].Gang))
				pr.there(held, i, t, float64(pr.Jobs[i].Gang))
			}
		}
		pr.put(done, milp.LE, theta)
		pr.put(held, milp.LE, float64(2*pr.GPUs))
	}
}
