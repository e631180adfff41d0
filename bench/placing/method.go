package placing

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"time"

	"yardstick/bench"
	"yardstick/bench/record"
	"yardstick/bench/suite"
	"yardstick/formulate/placement"
	"yardstick/sched"
	"yardstick/sched/heavyedge"
	"yardstick/solvers/milp"
	"yardstick/solvers/partition"
)

// Objective is what a method minimises.
type Objective string

// The objectives.
const (
	None  Objective = ""           // a heuristic
	Alpha Objective = record.Alpha // the time of one iteration
	Cut   Objective = record.Cut   // the weight of the edges between servers
)

// Method places jobs. Package catalogue has them by name.
type Method struct {
	Ref       suite.MethodRef
	Version   string // changes when the method's results may
	Minimises Objective
	// Run places the case's job. Not finding a placement is an answer; an error
	// means that the method could not run.
	Run func(context.Context, *Case, milp.Limits) (Answer, error)
}

// Name is what results call the method, with its parameters.
func (m *Method) Name() string { return m.Ref.String() }

// ID is the name with the version. First versions are not said.
func (m *Method) ID() string {
	if m.Version == "1" {
		return m.Name()
	}
	return m.Name() + "@" + m.Version
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
	Program     *bench.Solve // nil of methods that are none
}

// Search places job 0 of an instance on parts of ascending servers, in this process. It
// returns a bound that it proves, or nil.
type Search func(in *sched.Instance, servers, parts []int) (sched.Placement, *big.Rat, error)

// MinCut finds the least cut.
func MinCut(in *sched.Instance, servers, parts []int) (sched.Placement, *big.Rat, error) {
	return partition.MinCut(in, 0, servers, parts)
}

// MinAlpha finds the least time of an iteration, as [partition.BestAlpha] does within a
// number of visits.
func MinAlpha(visits int) Search {
	return func(in *sched.Instance, servers, parts []int) (sched.Placement, *big.Rat, error) {
		b, err := partition.BestAlpha(in, 0, servers, parts, visits)
		if err != nil {
			return sched.Placement{}, nil, err
		}
		return b.Placement, b.Lower, nil
	}
}

// HeavyEdge is the Heavy-Edge mapping.
func HeavyEdge(shape heavyedge.AllReduce) Search {
	return Unproven(func(in *sched.Instance, servers, parts []int) (sched.Placement, error) {
		list := make([]heavyedge.Part, len(parts))
		for i := range list {
			list[i] = heavyedge.Part{Server: servers[i], GPUs: parts[i]}
		}
		return heavyedge.Place(&in.Jobs[0], list, shape)
	})
}

// Unproven is a heuristic as a search that proves nothing.
func Unproven(place func(in *sched.Instance, servers, parts []int) (sched.Placement, error)) Search {
	return func(in *sched.Instance, servers, parts []int) (sched.Placement, *big.Rat, error) {
		p, err := place(in, servers, parts)
		return p, nil, err
	}
}

const (
	repeatTime  = 20 * time.Millisecond
	repeatTimes = 11
)

// Direct returns a method that runs in this process. It is run again and again until
// that took repeatTime or it ran most times, for a steady median.
func Direct(ref suite.MethodRef, version string, minimises Objective, place Search) Method {
	return Method{ref, version, minimises, func(ctx context.Context, c *Case, _ milp.Limits) (Answer, error) {
		var found sched.Placement
		var lower *big.Rat
		var walls []time.Duration
		for total := time.Duration(0); len(walls) == 0 || len(walls) < repeatTimes && total < repeatTime && ctx.Err() == nil; {
			start := time.Now()
			var err error
			found, lower, err = place(c.Problem, c.Servers, c.Parts)
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
		a := Answer{Placement: &found, Termination: bench.Completed, Lower: lower, Wall: walls[len(walls)/2], Repeats: len(walls)}
		if lower != nil {
			a.Evidence = milp.Proven
		}
		return a, nil
	}}
}

// Formulation builds the integer program of a job on parts of servers.
type Formulation func(in *sched.Instance, id sched.JobID, servers, parts []int) (*placement.Program, error)

// Formulated returns the method that builds an integer program, of the given name, and
// hands it to a solver. Its time is that of building, solving and decoding; a solver that
// runs in a child process reports its own, so that the start of the process does not count.
func Formulated(ref suite.MethodRef, version, formulation string, minimises Objective, build Formulation, solver milp.Solver) Method {
	return Method{ref, version, minimises, func(ctx context.Context, c *Case, l milp.Limits) (Answer, error) {
		start := time.Now()
		p, err := build(c.Problem, 0, c.Servers, c.Parts)
		if err != nil {
			return Answer{}, err
		}
		built := time.Since(start)
		res, err := solver.Solve(ctx, p.Model, milp.Start{}, l)
		if err != nil {
			return Answer{}, err
		}
		a := Answer{Termination: res.Termination, Message: res.Message, Repeats: 1, Program: &bench.Solve{
			Formulation: formulation, Solver: solver.Name(), Relation: p.Relation.String(),
			Rows: len(p.Model.Rows), Columns: len(p.Model.Vars), Integers: p.Model.Integers(), Result: *res}}
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
			return Answer{}, errors.New("placing: " + ref.String() + " proves that there is no placement, though there always is one")
		}
		if a.Lower != nil && a.Lower.Sign() < 0 { // a weak bound: both objectives are positive
			a.Lower = new(big.Rat)
		}
		a.Wall = built + res.Stats.Wall + time.Since(decoding)
		return a, nil
	}}
}

// limited reports whether a limit in wall-clock time or memory shaped the
// answer.
func (a *Answer) limited() bool {
	return a.Termination == milp.TimeLimit || a.Termination == milp.MemoryLimit
}
