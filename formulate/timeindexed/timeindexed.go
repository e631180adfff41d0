// Package timeindexed solves gang scheduling with exclusive GPUs (class N)
// through the time-indexed integer program, and returns an interval that holds
// the optimum in continuous time.
//
// Time is cut into slots of length δ. With durations rounded down the program
// is a relaxation, whose proven bound is the lower end. With durations rounded
// up its points are feasible in time; after servers have been assigned and
// every start moved to the left they give the upper end. If δ divides all
// release dates and durations, one exact program does both.
//
// Source: J. P. Sousa and L. A. Wolsey, "A time indexed formulation of
// non-preemptive single machine scheduling problems", Math. Program. 54 (1992),
// with GPUs in place of the machine.
package timeindexed

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"time"

	"yardstick/formulate"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/milp"
)

// Options direct Solve. The zero value is a good choice.
type Options struct {
	// Slot is the slot length δ; 0 means DefaultSlot.
	Slot sched.Time
	// Program says what the programs know of servers.
	Program Program
	// Limits are for the whole call. Of the time, only what the solver itself
	// takes is counted. The nodes are per program.
	Limits milp.Limits
	// Incumbent is a feasible schedule of class N; nil leaves the first upper
	// bound to list schedules. It is checked.
	Incumbent *sched.Schedule
}

// SlotLimit is the termination of a solve that solved all of its programs and left an
// interval, as wide as the slots are long.
const SlotLimit milp.Termination = "RESOLUTION_LIMIT"

// Solve bounds the optimum of an instance from both sides, in continuous time and of
// class N. The bound is never less than what the jobs cost each alone. If the slot
// divides all data, it falls short of the optimum only where a limit was reached.
//
// The programs are called down, up or exact; for the makespan their limit follows.
//
// Errors: sched.ErrNotApplicable if the instance is not one of continuous time with
// fixed gangs, the objective is maximised or a program is too large; ErrIncumbent; the
// solver cannot run.
func Solve(ctx context.Context, in *sched.Instance, obj sched.Objective, solver milp.Solver, opt Options) (*exact.Result, error) {
	out, err := solve(ctx, in, obj, solver, opt)
	if err != nil {
		return nil, fmt.Errorf("timeindexed: instance %q: %w", in.Name, err)
	}
	return out, nil
}

func solve(ctx context.Context, in *sched.Instance, obj sched.Objective, solver milp.Solver, opt Options) (*exact.Result, error) {
	s, err := newSearch(ctx, in, obj, solver, opt)
	if err != nil {
		return nil, err
	}
	if err := s.run(); err != nil {
		return nil, err
	}
	schedule, err := s.p.schedule(s.best.stays)
	if err != nil {
		return nil, err
	}
	if err := schedule.CheckEnd(); err != nil {
		return nil, fmt.Errorf("%w: the best schedule found is too long: %w", sched.ErrNotApplicable, err)
	}
	out := &exact.Result{Class: schedule.Class, Schedule: schedule, Cost: s.p.objective(s.best.cost), Bound: s.p.objective(s.lower), Programs: s.programs}
	if s.claimed != nil {
		out.Claimed = s.p.objective(s.claimed)
	}
	for _, run := range s.programs {
		out.Nodes += run.Result.Stats.Nodes
	}
	out.Termination = termination(out)
	return out, nil
}

// termination is OPTIMAL if the interval has closed, and otherwise what ended the
// first program that fell short; a proof that no point exists, which is how makespans
// are excluded, does not. Where every program was solved, the slot length is what the
// interval is wide by.
func termination(r *exact.Result) milp.Termination {
	if r.Optimal() {
		return milp.Optimal
	}
	for _, run := range r.Programs {
		excluded := run.Result.Termination == milp.Infeasible && run.Result.Dual == milp.Proven
		if run.Result.Termination != milp.Optimal && !excluded {
			return run.Result.Termination
		}
	}
	return SlotLimit
}

// newSearch prepares a Solve.
func newSearch(ctx context.Context, in *sched.Instance, obj sched.Objective, solver milp.Solver, opt Options) (*search, error) {
	p, err := newProblem(in, obj)
	if err != nil {
		return nil, err
	}
	if opt.Slot < 0 {
		return nil, fmt.Errorf("the slot is %v: it must be positive", opt.Slot)
	}
	s := &search{ctx: ctx, p: p, solver: solver, program: opt.Program, limits: opt.Limits, lower: p.trivial(), best: p.first()}
	if opt.Incumbent != nil {
		given, err := p.incumbent(opt.Incumbent)
		if err != nil {
			return nil, err
		}
		s.best = better(s.best, better(given, p.inOrderOf(given.stays)))
	}
	if s.slot = opt.Slot; s.slot == 0 {
		s.slot = p.defaultSlot(s.best.cost)
	}
	if opt.Program != Starts {
		p.splitChoices()
	}
	s.exact = p.divides(s.slot)
	return s, nil
}

// search is a Solve in progress. Costs are in units of problem.cost.
type search struct {
	ctx     context.Context
	p       *problem
	solver  milp.Solver
	program Program
	limits  milp.Limits
	spent   time.Duration
	best    plan
	lower   *big.Rat // proven
	claimed *big.Rat // or nil
	clashes []clash
	slot    sched.Time
	exact   bool // the slot divides all data

	programs []exact.Program
}

// closed reports whether nothing is left to learn.
func (s *search) closed() bool { return s.lower.Cmp(s.best.cost) >= 0 || s.ctx.Err() != nil }

// step is one of the programs that a search consists of.
type step struct {
	name     string
	grid     grid
	relation formulate.Relation
	share    float64 // of the time left
	exact    bool    // the slot divides all data
	rounds   int     // programs solved at most because starts had no servers
}

func (s *search) run() error {
	down, up := grid{slot: s.slot}, grid{slot: s.slot, up: true}
	steps := []step{
		{name: "down", grid: down, relation: formulate.Relaxation, share: 0.6, rounds: 8},
		{name: "up", grid: up, relation: formulate.Restriction, share: 1},
	}
	if s.exact {
		relation := s.p.exactness()
		if s.program == Servers {
			relation = formulate.Exact
		}
		steps = []step{{name: "exact", grid: down, relation: relation, share: 1, exact: true, rounds: 100}}
	}
	solve := s.total
	if s.p.makespan {
		solve = s.bottleneck
	}
	for _, st := range steps {
		if s.closed() {
			break
		}
		before := s.best
		if err := solve(&st); err != nil {
			return err
		}
		if s.best.cost.Cmp(before.cost) < 0 && !s.closed() {
			s.best = s.p.improve(s.best, startOrder(s.best.stays))
		}
	}
	return nil
}

// exactness is the relation of the program of a slot that divides all data.
func (p *problem) exactness() formulate.Relation {
	if p.alike() {
		return formulate.Exact
	}
	return formulate.Relaxation // of servers
}

// total solves the program of Σ w_j C_j on a grid.
func (s *search) total(st *step) error {
	g := st.grid
	for {
		m, err := s.build(g, s.p.deadlines(g, s.known(g)), true)
		if err != nil {
			return err
		}
		r, err := s.solve(st, st.name, m, s.start(m))
		if err != nil {
			return err
		}
		if st.relation != formulate.Restriction {
			s.learn(r)
		}
		if again := s.use(st, m, r); !again || s.closed() {
			return nil
		}
	}
}

// known returns the cost of a point of the program of a grid. Rounded down, that of
// the best schedule will do; what a grid rounded up can express costs more.
func (s *search) known(g grid) *big.Rat {
	switch {
	case !g.up:
		return s.best.cost
	case s.program == Starts:
		return g.cost(s.p, s.p.onGrid(g, startOrder(s.best.stays)))
	}
	var starts []start
	for _, at := range s.onServers(g) {
		starts = append(starts, start{job: at.job, choice: s.p.choiceOf(&at), slot: int(at.start / g.slot)})
	}
	return g.cost(s.p, starts)
}

// onServers returns a list schedule on a grid rounded up, in order of the best
// schedule.
func (s *search) onServers(g grid) []stay {
	return s.p.on(g).listSchedule(startOrder(s.best.stays))
}

// build makes the program of a grid in which job j completes by until[j].
func (s *search) build(g grid, until []sched.Time, timed bool) (*program, error) {
	all := s.clashing()
	if s.program != Starts {
		all = s.p.every()
	}
	m, err := s.p.build(g, until, all, timed)
	if err != nil {
		return nil, err
	}
	return m, m.extend(s.program)
}

// start returns a point to begin with, or nil.
func (s *search) start(m *program) []float64 {
	switch {
	case s.program == Starts && m.grid.up:
		return m.point(s.p.onGrid(m.grid, startOrder(s.best.stays)))
	case s.program == Starts:
		return m.discretised(s.best.stays)
	case m.grid.up:
		return m.pointOf(s.onServers(m.grid))
	}
	return m.pointOf(s.best.stays)
}

// learn keeps the bound of a relaxation.
func (s *search) learn(r *milp.Result) {
	if r.Dual == milp.None || math.IsInf(r.DualBound, 0) {
		return // the program has a point: +Inf could only be a mistake
	}
	bound := new(big.Rat).SetFloat64(r.DualBound)
	if r.Dual == milp.Claimed {
		s.claimed = bound
	} else if bound.Cmp(s.lower) > 0 {
		s.lower = bound
	}
}

// use makes schedules of the solver's point. It returns true if no servers
// exist for its starts and that is now forbidden, so that the program should be
// solved again.
func (s *search) use(st *step, m *program, r *milp.Result) bool {
	starts := m.starts(r.X)
	if starts == nil {
		return false
	}
	order := make([]float64, len(starts))
	for _, at := range starts {
		order[at.job] = float64(at.slot)
	}
	s.best = better(s.best, s.p.planOf(s.p.listSchedule(byKey(order))))
	if m.parts != nil {
		if stays := m.placed(starts, r.X); (st.grid.up || st.exact) && s.p.overfull(stays) < 0 {
			s.best = better(s.best, s.p.inOrderOf(stays))
		}
		return false // rounded down too, servers exist
	}
	if st.grid.up || st.exact {
		stays, _, verdict := s.p.assign(m.requests(starts), exactly)
		if verdict == assigned {
			s.best = better(s.best, s.p.inOrderOf(stays))
		}
		if verdict == assigned || st.grid.up {
			return false
		}
	}
	if st.rounds--; r.Termination != milp.Optimal || st.rounds < 0 {
		return false
	}
	found := m.clashes(starts)
	s.clashes = append(s.clashes, found...)
	return len(found) > 0
}

// clashing reports which jobs are part of a clash.
func (s *search) clashing() []bool {
	out := make([]bool, len(s.p.jobs))
	for _, c := range s.clashes {
		for _, m := range c.members {
			out[m.job] = true
		}
	}
	return out
}

// solve hands a program to the solver and records it.
func (s *search) solve(st *step, name string, m *program, start []float64) (*milp.Result, error) {
	for _, c := range s.clashes {
		m.forbid(c)
	}
	l := s.limits
	if l.Time > 0 {
		l.Time = max(time.Duration(st.share*float64(l.Time-s.spent)), time.Millisecond)
	}
	round := m.listed
	if s.program != Starts {
		round = m.listedOn
	}
	r, err := s.solver.Solve(s.ctx, m.model, milp.Start{X: start, Round: round}, l)
	if err != nil {
		return nil, err
	}
	if err := r.Validate(); err != nil {
		return nil, err
	}
	s.spent += r.Stats.Wall
	s.programs = append(s.programs, exact.Program{Name: name, Relation: st.relation.String(), Solver: s.solver.Name(), Rows: len(m.model.Rows), Cols: len(m.model.Vars),
		Nonzeros: m.model.Nonzeros(), Integers: m.model.Integers(), Added: len(s.clashes), Result: r})
	return r, nil
}
