package timeindexed

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"yardstick/internal/number"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// These bound what build allocates, which is counted before: an entry takes 16 bytes, a
// slot some hundred. DefaultSlot stays far below.
const (
	maxColumns  = 2_000_000
	maxNonzeros = 10_000_000
	maxSlots    = 1_000_000
)

// grid cuts time into slots of length δ, and rounds durations to slots.
//
// Down is the relaxation: a job of duration d occupies ⌊d/δ⌋ slots from slot s
// on, s ≥ ⌊r/δ⌋, and costs max(r, sδ) + d. A schedule in continuous time maps
// to starts ⌊t/δ⌋. If two discretised intervals overlap then so do the real
// ones, since t1+d1 ≤ t2 implies ⌊t1⌋+⌊d1⌋ ≤ ⌊t1+d1⌋ ≤ ⌊t2⌋ in units of δ, and
// intervals that overlap pairwise share an instant (Helly's theorem on the
// line). Hence capacity holds in every slot, and the cost has not risen.
//
// Up is feasible in time: ⌈d/δ⌉ slots, s ≥ ⌈r/δ⌉, and the cost sδ + d.
//
// If δ divides every r and d the two are the same, and exact: some optimal
// schedule starts every job at a release date or at another job's end, which
// are sums of multiples of δ.
type grid struct {
	slot sched.Time
	up   bool
}

// occupied returns how many slots a duration takes.
func (g grid) occupied(d sched.Time) int {
	if g.up {
		return int(number.CeilDiv(d, g.slot))
	}
	return int(d / g.slot)
}

// firstSlot returns the earliest slot to start in.
func (g grid) firstSlot(release sched.Time) int {
	if g.up {
		return int(number.CeilDiv(release, g.slot))
	}
	return int(release / g.slot)
}

// begin returns the time that a start in slot s stands for.
func (g grid) begin(release sched.Time, s int) sched.Time {
	return max(release, sched.Time(s)*g.slot)
}

// divides reports whether δ divides every release date and duration of p.
func (p *problem) divides(slot sched.Time) bool {
	return !slices.ContainsFunc(p.jobs, func(j job) bool {
		return j.release%slot != 0 || slices.ContainsFunc(j.choices, func(c choice) bool { return c.time%slot != 0 })
	})
}

// run is the columns of one job with one duration: starts in the consecutive
// slots from first on, columns from base on.
type run struct {
	job, choice int
	base        int
	first, n    int
	slots       int // occupied
}

// column is a start.
type column struct {
	run  int
	slot int
}

// program is the aggregated time-indexed program of a grid.
//
//	u[j,k,s] ∈ {0,1}: job j starts in slot s with its k-th duration
//	min Σ cost(j,k,s) u[j,k,s]
//	Σ_{k,s} u[j,k,s] = 1                                          each job j
//	Σ_j g_j Σ_{k, s ≤ τ < s + D_jk} u[j,k,s] ≤ G                   each slot τ
//
// Servers are not in it. Unless every server fills up with any jobs (see
// problem.alike) it is therefore a relaxation of what the grid stands for, to
// be followed by an assignment of servers; clashes that this finds come back
// as rows (see clash).
type program struct {
	p      *problem
	grid   grid
	model  *milp.Model
	runs   []run
	cols   []column
	byJob  [][]int // runs of each job
	jobRow []int
	// empty reports that some job has no start left: no point exists.
	empty bool
	// covered are the slots in which jobs may hold GPUs.
	covered spans

	// What the program knows of servers: see Program.
	parts  []partColumn   // by start; nil unless it chooses servers
	packed map[string]int // columns of configurations; nil unless it has them
}

// size returns rows, columns and nonzeros of the program that build makes of
// one duration per job, with a row for every slot.
func (p *problem) size(g grid, until []sched.Time) (rows, cols, nonzeros int) {
	runs := p.runs(g, until, make([]bool, len(p.jobs)))
	for i := range runs {
		cols += runs[i].n
		nonzeros += runs[i].n * (1 + runs[i].slots)
	}
	return len(p.jobs) + covered(runs).count(), cols, nonzeros
}

// runs lists the columns of the program that build makes.
func (p *problem) runs(g grid, until []sched.Time, all []bool) []run {
	var runs []run
	base := 0
	for i := range p.jobs {
		j := &p.jobs[i]
		for k := range j.choices {
			if k > 0 && !all[i] {
				break
			}
			r := run{job: i, choice: k, base: base, first: g.firstSlot(j.release), slots: g.occupied(j.choices[k].time), n: p.starts(g, i, k, until[i])}
			base += r.n
			runs = append(runs, r)
		}
	}
	return runs
}

// span is the slots from one to before another.
type span struct{ from, to int }

// spans are disjoint and in order. Between them lie slots in which no job can run, of
// which there may be far more.
type spans []span

// covered returns the slots in which jobs may hold GPUs.
func covered(runs []run) spans {
	var all, out spans
	for i := range runs {
		if r := &runs[i]; r.n > 0 && r.slots > 0 {
			all = append(all, span{r.first, r.first + r.n + r.slots - 1})
		}
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for _, s := range all {
		if last := len(out) - 1; last >= 0 && s.from <= out[last].to {
			out[last].to = max(out[last].to, s.to)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// count returns how many slots there are.
func (s spans) count() (n int) {
	for _, v := range s {
		n += v.to - v.from
	}
	return n
}

// slots yields the slots in order.
func (s spans) slots(yield func(int) bool) {
	for _, v := range s {
		for slot := v.from; slot < v.to; slot++ {
			if !yield(slot) {
				return
			}
		}
	}
}

// place returns how many slots come before one that is among them.
func (s spans) place(slot int) (n int) {
	for _, v := range s {
		if slot < v.to {
			return n + slot - v.from
		}
		n += v.to - v.from
	}
	panic("timeindexed: a slot in which nothing can run")
}

// checkSize returns an error about a program that is not worth its memory.
func checkSize(runs []run, g grid) error {
	cols, nonzeros, slots := 0.0, 0.0, 0.0 // beyond 64 bits
	for i := range runs {
		cols += float64(runs[i].n)
		nonzeros += float64(runs[i].n) * float64(1+runs[i].slots)
	}
	for _, s := range covered(runs) {
		slots += float64(s.to - s.from)
	}
	for _, of := range []struct {
		what      string
		has, most float64
	}{{"columns", cols, maxColumns}, {"nonzeros", nonzeros, maxNonzeros}, {"slots in which jobs run", slots, maxSlots}} {
		if of.has > of.most {
			return fmt.Errorf("%w: %.0f %s with slots of %v, more than %.0f: too large for a time-indexed program", sched.ErrNotApplicable, of.has, of.what, g.slot, of.most)
		}
	}
	return nil
}

// starts returns how many slots job i may start in with its k-th duration so
// that it completes by until.
func (p *problem) starts(g grid, i, k int, until sched.Time) int {
	j := &p.jobs[i]
	latest := until - j.choices[k].time
	if latest < g.begin(j.release, g.firstSlot(j.release)) {
		return 0
	}
	return int(latest/g.slot) - g.firstSlot(j.release) + 1
}

// build makes the program in which job j completes by until[j], with all its
// durations if all[j] and only the shortest otherwise: that is a relaxation,
// in which a job that takes longer is represented by its start. With timed
// false the costs are zero: the program asks for any point.
//
// Errors: sched.ErrNotApplicable.
func (p *problem) build(g grid, until []sched.Time, all []bool, timed bool) (*program, error) {
	m := &program{p: p, grid: g, model: &milp.Model{Name: "time-indexed", IntegralCost: true}, byJob: make([][]int, len(p.jobs))}
	runs := p.runs(g, until, all)
	if err := checkSize(runs, g); err != nil {
		return nil, err
	}
	m.covered = covered(runs)
	worst := 0.0
	for i := range p.jobs {
		j := &p.jobs[i]
		row, most := milp.Row{Name: fmt.Sprintf("job%d", i), Sense: milp.EQ, RHS: 1}, 0.0
		for ; len(runs) > 0 && runs[0].job == i; runs = runs[1:] {
			r, k := runs[0], runs[0].choice
			for s := r.first; s < r.first+r.n; s++ {
				cost := 0.0
				if timed {
					var exact bool
					cost, exact = product(j.weight, g.begin(j.release, s)+j.choices[k].time)
					m.model.IntegralCost = m.model.IntegralCost && exact && cost == math.Trunc(cost)
				}
				v := m.model.AddVar(milp.Variable{Name: fmt.Sprintf("u%d_%d_%d", i, k, s), Upper: 1, Integer: true, Cost: cost})
				row.Cols, row.Vals = append(row.Cols, v), append(row.Vals, 1)
				m.cols = append(m.cols, column{run: len(m.runs), slot: s})
				most = max(most, cost)
			}
			m.byJob[i] = append(m.byJob[i], len(m.runs))
			m.runs = append(m.runs, r)
		}
		if len(row.Cols) == 0 {
			m.empty = true
		}
		worst += most
		m.jobRow = append(m.jobRow, m.model.AddRow(row))
	}
	if worst >= 1<<53 {
		return nil, fmt.Errorf("%w: the objective reaches %g, beyond 2^53: too large for a time-indexed program", sched.ErrNotApplicable, worst)
	}
	m.addCapacity()
	return m, nil
}

// product returns w·t rounded down to a float64, and whether that is exact.
func product(w float64, t sched.Time) (float64, bool) {
	v := float64(t) // exact: t ≤ MaxTime < 2^53
	cost := w * v
	if rest := math.FMA(w, v, -cost); rest < 0 {
		return math.Nextafter(cost, math.Inf(-1)), false
	} else if rest > 0 {
		return cost, false
	}
	return cost, true
}

// addCapacity adds one row per slot in which more GPUs may be asked for than
// there are. Its right-hand side is the most GPUs that the jobs in question can
// use together, which may be fewer than G.
func (m *program) addCapacity() {
	n := m.covered.count()
	rows := make([]milp.Row, n)
	wanted := make([][]int, n) // gangs
	seen := make([]int, n)     // the last job, from 1
	for i, runs := range m.byJob {
		gang := m.p.jobs[i].gang
		for _, k := range runs {
			r := &m.runs[k]
			if r.n == 0 || r.slots == 0 {
				continue
			}
			first := m.covered.place(r.first)
			for q := range r.n {
				for s := first + q; s < first+q+r.slots; s++ {
					if seen[s] != i+1 {
						seen[s] = i + 1
						wanted[s] = append(wanted[s], gang)
					}
					rows[s].Cols, rows[s].Vals = append(rows[s].Cols, r.base+q), append(rows[s].Vals, float64(gang))
				}
			}
		}
	}
	s := 0
	for slot := range m.covered.slots {
		if most, all := largestSum(wanted[s], m.p.gpus); !all {
			rows[s].Name, rows[s].Sense, rows[s].RHS = fmt.Sprintf("slot%d", slot), milp.LE, float64(most)
			m.model.AddRow(rows[s])
		}
		s++
	}
}

// largestSum returns the largest sum of some of the numbers that is at most
// limit, and whether that is all of them.
func largestSum(numbers []int, limit int) (most int, all bool) {
	total := 0
	reached := make([]bool, limit+1)
	reached[0] = true
	for _, v := range numbers {
		total += v
		for s := limit; s >= v; s-- {
			reached[s] = reached[s] || reached[s-v]
		}
	}
	for most = limit; !reached[most]; most-- {
	}
	return most, total <= limit
}

// start is a choice of the program: job i starts in a slot, with a duration.
type start struct {
	job, choice int
	slot        int
}

// column returns the column of a start, or -1.
func (m *program) column(s start) int {
	for _, k := range m.byJob[s.job] {
		if r := &m.runs[k]; r.choice == s.choice && s.slot >= r.first && s.slot < r.first+r.n {
			return r.base + s.slot - r.first
		}
	}
	return -1
}

// point returns the point of one start per job, or nil if a job or a column is
// missing.
func (m *program) point(starts []start) []float64 {
	if len(starts) != len(m.p.jobs) {
		return nil
	}
	x := make([]float64, len(m.cols))
	for _, s := range starts {
		c := m.column(s)
		if c < 0 {
			return nil
		}
		x[c] = 1
	}
	return x
}

// starts reads an integral point, whose columns of starts come first; it
// returns nil if a job does not start exactly once.
func (m *program) starts(x []float64) []start {
	out := make([]start, len(m.p.jobs))
	count := make([]int, len(m.p.jobs))
	for c := range min(len(x), len(m.cols)) {
		if x[c] > 0.5 {
			r := &m.runs[m.cols[c].run]
			out[r.job] = start{job: r.job, choice: r.choice, slot: m.cols[c].slot}
			count[r.job]++
		}
	}
	if slices.ContainsFunc(count, func(n int) bool { return n != 1 }) {
		return nil
	}
	return out
}

// requests states starts in time.
func (m *program) requests(starts []start) []request {
	out := make([]request, len(starts))
	for k, s := range starts {
		out[k] = request{job: s.job, start: m.grid.begin(m.p.jobs[s.job].release, s.slot), limit: s.choice}
	}
	return out
}

// discretised returns the point that a schedule maps to, or nil if the program
// has none for it; with the grid rounded down it costs no more than the
// schedule.
func (m *program) discretised(stays []stay) []float64 {
	starts := make([]start, 0, len(stays))
	for _, s := range stays {
		j := &m.p.jobs[s.job]
		at := start{job: s.job, slot: int(s.start / m.grid.slot)}
		for at.choice = len(m.byJob[s.job]) - 1; at.choice > 0 && j.choices[at.choice].time > s.end-s.start; at.choice-- {
		}
		starts = append(starts, at)
	}
	return m.point(starts)
}

// listed turns the point of a linear program into a feasible one: jobs in
// order of mean start, each in the earliest slots with room for its shortest
// duration. It returns nil if a job finds none within its window.
func (m *program) listed(x []float64) []float64 {
	return m.point(m.p.onGrid(m.grid, m.meanOrder(x)))
}

// meanOrder returns the jobs in order of mean start.
func (m *program) meanOrder(x []float64) []int {
	mean := make([]float64, len(m.p.jobs))
	for c, v := range x[:len(m.cols)] {
		if v > 0 {
			mean[m.runs[m.cols[c].run].job] += v * float64(m.cols[c].slot)
		}
	}
	return byKey(mean)
}

// onGrid is serial schedule generation on the grid: each job in the earliest
// slots with room for its shortest duration, servers aside.
func (p *problem) onGrid(g grid, order []int) []start {
	used := usage{at: []int{0}, gpus: []int{0}}
	out := make([]start, 0, len(order))
	for _, i := range order {
		j := &p.jobs[i]
		slots := g.occupied(j.least())
		first := used.earliest(g.firstSlot(j.release), slots, p.gpus-j.gang)
		used.take(first, slots, j.gang)
		out = append(out, start{job: i, slot: first})
	}
	return out
}

// usage is how many GPUs are used from a slot on until the next; none from the last.
type usage struct{ at, gpus []int }

// earliest returns the first slot, not before the given one, from which at most so many
// GPUs are used for so many slots.
func (u *usage) earliest(first, slots, most int) int {
	for i := u.since(first); i < len(u.at) && u.at[i] < first+slots; i++ {
		if slots > 0 && u.gpus[i] > most {
			first = u.at[i+1]
		}
	}
	return first
}

// take uses GPUs for so many slots.
func (u *usage) take(first, slots, gpus int) {
	if slots == 0 {
		return
	}
	from := u.cut(first)
	for i := range u.cut(first+slots) - from {
		u.gpus[from+i] += gpus
	}
}

// since returns the index of what is used in a slot.
func (u *usage) since(slot int) int {
	i, found := slices.BinarySearch(u.at, slot)
	if !found {
		i--
	}
	return i
}

// cut makes something begin at a slot, and returns its index.
func (u *usage) cut(slot int) int {
	i := u.since(slot)
	if u.at[i] < slot {
		i++
		u.at, u.gpus = slices.Insert(u.at, i, slot), slices.Insert(u.gpus, i, u.gpus[i-1])
	}
	return i
}

// cost returns the cost of starts, as problem.cost.
func (g grid) cost(p *problem, starts []start) *big.Rat {
	completion := make([]sched.Time, len(p.jobs))
	for _, s := range starts {
		j := &p.jobs[s.job]
		completion[s.job] = g.begin(j.release, s.slot) + j.choices[s.choice].time
	}
	return p.cost(completion)
}

// byKey returns the indices of key in increasing order of key.
func byKey(key []float64) []int {
	order := make([]int, len(key))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case key[a] < key[b]:
			return -1
		case key[a] > key[b]:
			return 1
		}
		return 0
	})
	return order
}
