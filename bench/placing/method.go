package placing

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"time"

	"yardstick/bench/record"
	"yardstick/formulate"
	"yardstick/formulate/placement"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// Objective is what a method minimises.
type Objective string

// The objectives.
const (
	None  Objective = ""           // a heuristic
	Alpha Objective = record.Alpha // the time of one iteration
	Cut   Objective = record.Cut   // the weight of the edges between servers
)

// Method places jobs.
type Method interface {
	Name() string
	Minimises() Objective
	// Run places the case's job. Not finding a placement is an answer; an error
	// means that the method could not run.
	Run(context.Context, *Case, Limits) (Answer, error)
}

// Completed is the termination of a heuristic.
const Completed milp.Termination = "COMPLETED"

// Limits bound one run of a method. The zero value sets no limit.
type Limits struct {
	Time  time.Duration // wall clock; such a limit makes results irreproducible
	Nodes int           // branch-and-bound nodes
}

// Answer is what a method says. Placements are claims until they are checked.
type Answer struct {
	Placement   *sched.Placement // nil if none was found
	Lower       *big.Rat         // bound on what the method minimises: seconds or bytes; nil if none
	Evidence    milp.Evidence    // of Lower
	Termination milp.Termination
	Message     string
	Wall        time.Duration // median of Repeats runs
	Repeats     int
	Program     *Program // nil of methods that are none
}

// Program records a run of a solver on a formulation.
type Program struct {
	Formulation, Solver     string
	Relation                formulate.Relation
	Rows, Columns, Integers int
	Stats                   milp.Stats
}

// Solution is a placement found by search in this process, and a bound on what
// it minimises, or nil.
type Solution struct {
	Placement sched.Placement
	Lower     *big.Rat
}

// Direct returns a method that runs in this process: a heuristic, which
// minimises None, or a search, whose bound is proven. It gets the job as job 0
// of an instance, on ascending servers.
//
// It is run again and again until that took repeatTime or it ran most times,
// for a steady median.
func Direct(name string, minimises Objective, place func(in *sched.Instance, servers, parts []int) (Solution, error)) Method {
	return &direct{name, minimises, place}
}

// Heuristic is Direct for a function that proves nothing.
func Heuristic(name string, place func(in *sched.Instance, servers, parts []int) (sched.Placement, error)) Method {
	return Direct(name, None, func(in *sched.Instance, servers, parts []int) (Solution, error) {
		p, err := place(in, servers, parts)
		return Solution{Placement: p}, err
	})
}

const (
	repeatTime  = 20 * time.Millisecond
	repeatTimes = 11
)

type direct struct {
	name      string
	minimises Objective
	place     func(in *sched.Instance, servers, parts []int) (Solution, error)
}

func (m *direct) Name() string         { return m.name }
func (m *direct) Minimises() Objective { return m.minimises }

func (m *direct) Run(ctx context.Context, c *Case, _ Limits) (Answer, error) {
	var found Solution
	var walls []time.Duration
	for total := time.Duration(0); len(walls) == 0 || len(walls) < repeatTimes && total < repeatTime && ctx.Err() == nil; {
		start := time.Now()
		var err error
		found, err = m.place(c.Problem, c.Servers, c.Parts)
		wall := time.Since(start)
		if errors.Is(err, sched.ErrNotApplicable) {
			return Answer{Termination: milp.Skipped, Message: err.Error(), Wall: wall, Repeats: 1}, nil
		}
		if err != nil {
			return Answer{}, err
		}
		walls, total = append(walls, wall), total+wall
	}
	slices.Sort(walls)
	a := Answer{Placement: &found.Placement, Termination: Completed, Lower: found.Lower, Wall: walls[len(walls)/2], Repeats: len(walls)}
	if found.Lower != nil {
		a.Evidence = milp.Proven
	}
	return a, nil
}

// Formulated returns the method that builds an integer program and hands it to
// a solver. It is named FORMULATION/SOLVER. Its time is that of building,
// solving and decoding; a solver that runs in a child process reports its own,
// so that the start of the process does not count.
func Formulated(formulation string, minimises Objective,
	build func(in *sched.Instance, id sched.JobID, servers, parts []int) (*placement.Program, error), solver milp.Solver) Method {
	return &formulated{formulation, minimises, build, solver}
}

type formulated struct {
	formulation string
	minimises   Objective
	build       func(in *sched.Instance, id sched.JobID, servers, parts []int) (*placement.Program, error)
	solver      milp.Solver
}

func (m *formulated) Name() string         { return m.formulation + "/" + m.solver.Name() }
func (m *formulated) Minimises() Objective { return m.minimises }

func (m *formulated) Run(ctx context.Context, c *Case, l Limits) (Answer, error) {
	start := time.Now()
	p, err := m.build(c.Problem, 0, c.Servers, c.Parts)
	if err != nil {
		return Answer{}, err
	}
	built := time.Since(start)
	res, err := m.solver.Solve(ctx, p.Model, milp.Start{}, milp.Limits{Time: l.Time, Nodes: l.Nodes})
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Termination: res.Termination, Message: res.Message, Repeats: 1, Program: &Program{
		Formulation: m.formulation, Solver: m.solver.Name(), Relation: p.Relation,
		Rows: len(p.Model.Rows), Columns: len(p.Model.Vars), Integers: p.Model.Integers(), Stats: res.Stats}}
	decoding := time.Now()
	if res.X != nil {
		// A point that only nearly satisfies the program may stand for no
		// placement.
		place, err := p.Decode(res.X)
		if err == nil {
			a.Placement = &place
		} else {
			a.Message = err.Error()
		}
	}
	if res.Termination != milp.Infeasible { // which these programs never are
		a.Lower, a.Evidence = p.Lower(res)
	} else if res.Dual == milp.Proven {
		return Answer{}, errors.New("placing: " + m.Name() + " proves that there is no placement, though there always is one")
	}
	if a.Lower != nil && a.Lower.Sign() < 0 { // a weak bound: both objectives are positive
		a.Lower = new(big.Rat)
	}
	a.Wall = built + res.Stats.Wall + time.Since(decoding)
	return a, nil
}

// limited reports whether a limit in wall-clock time or memory shaped the
// answer.
func (a *Answer) limited() bool {
	return a.Termination == milp.TimeLimit || a.Termination == milp.MemoryLimit
}

// gap is value − lower over value, and missing where there is no bound.
func gap(value, lower *big.Rat) record.Opt[float64] {
	if value == nil || lower == nil {
		return record.Opt[float64]{}
	}
	if value.Sign() == 0 {
		return record.Some(0.0)
	}
	g, _ := new(big.Rat).Quo(new(big.Rat).Sub(value, lower), value).Float64()
	if math.Abs(g) > 1e9 {
		return record.Opt[float64]{}
	}
	return record.Some(g)
}
