package catalogue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"yardstick/bench"
	"yardstick/bench/placing"
	"yardstick/bench/suite"
	"yardstick/formulate/placement"
	"yardstick/heuristics/asrpt"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/heavyedge"
	"yardstick/solvers/exact"
	"yardstick/solvers/external"
	"yardstick/solvers/isolate"
	"yardstick/solvers/milp"
	"yardstick/solvers/partition"
)

// Placement is a row of the table of methods that place one job on given parts of
// servers, for bench place.
type Placement struct {
	Name, About string
	program     bool
	make        func(suite.MethodRef) (placing.Method, error)
}

// directPlacements are those that run in the process of bench place: heuristics, which
// end by themselves, and searches, which count their steps.
func directPlacements() []Placement {
	return []Placement{
		{"heavy-edge", "Heavy-Edge on ring AllReduce", false, direct(placing.None, placing.HeavyEdge(heavyedge.Ring))},
		{"heavy-edge-tree", "Heavy-Edge on double-tree AllReduce", false, direct(placing.None, placing.HeavyEdge(heavyedge.Tree))},
		{"chain", "replicas in pipeline order, largest part first", false, direct(placing.None, placing.Unproven(placing.Chain))},
		{"intervals", "replicas in pipeline order, best order of parts", false, direct(placing.None, placing.Unproven(placing.Intervals))},
		{"min-cut", "least cut, dynamic programming", false, direct(placing.Cut, placing.MinCut)},
		{"min-alpha", "least alpha, combinatorial search within visits=N", false, minAlpha},
	}
}

// programPlacements are the integer programs by a solver.
func programPlacements(name string, solver milp.Solver) []Placement {
	return []Placement{
		program("one-hot-alpha", "least alpha, integer program", placing.Alpha, placement.OneHotAlpha, name, solver),
		program("count-cut", "least cut, integer program", placing.Cut, placement.CountCut, name, solver),
		program("naive-cut", "least cut, integer program", placing.Cut, placement.NaiveCut, name, solver),
	}
}

// placements lists the methods of bench place, programs by every solver that is there.
func placements() []Placement {
	list := directPlacements()
	for _, solver := range placementSolvers() {
		list = append(list, programPlacements(solver.Name(), solver)...)
	}
	return list
}

// Placements lists the methods of bench place, programs by any solver, and the sets of
// them.
func Placements() []Placement {
	return append(append(directPlacements(), programPlacements("SOLVER", nil)...),
		Placement{Name: combinatorial, About: "all but programs: the default"},
		Placement{Name: programs, About: "every program by every solver"},
		Placement{Name: everything, About: "all of these"})
}

func direct(minimises placing.Objective, place placing.Search) func(suite.MethodRef) (placing.Method, error) {
	return func(ref suite.MethodRef) (placing.Method, error) {
		return placing.Direct(ref, "1", minimises, place), readParams(ref).finish()
	}
}

func minAlpha(ref suite.MethodRef) (placing.Method, error) {
	p := readParams(ref)
	visits := p.count("visits", partition.DefaultVisits, 1)
	return placing.Direct(ref, "1", placing.Alpha, placing.MinAlpha(visits)), p.finish()
}

// placementMemory is the greatest resident set of a solver's process.
const placementMemory = 4 << 30

// placementSolvers are the solvers of integer programs that are there, each of which
// solves in a process of its own.
func placementSolvers() (list []milp.Solver) {
	for _, name := range Solvers() {
		list = append(list, isolate.Solver{Solver: name, Memory: placementMemory})
	}
	for _, s := range external.Found() {
		list = append(list, s)
	}
	return list
}

func program(formulation, about string, minimises placing.Objective, build placing.Formulation, name string, solver milp.Solver) Placement {
	return Placement{formulation + "/" + name, about, true, func(ref suite.MethodRef) (placing.Method, error) {
		return placing.Formulated(ref, "1", formulation, minimises, build, solver), readParams(ref).finish()
	}}
}

// programNodes limits each placement program of a policy, which may not depend on the
// clock.
const programNodes = 20_000

// programPolicy makes A-SRPT, told the true lengths, that puts every job of several
// stages on the GPUs it selects by an integer program: where that has no point within
// its nodes, or the job has tensor slices or shares GPUs, by Heavy-Edge. Each program
// solved is noted.
func programPolicy(build placing.Formulation) func(suite.MethodRef) (bench.Method, error) {
	return func(ref suite.MethodRef) (bench.Method, error) {
		p := readParams(ref)
		o := p.asrptOptions()
		name := p.get("solver", "branch")
		nodes := p.count("program-nodes", programNodes, 1)
		if err := p.finish(); err != nil {
			return nil, err
		}
		if err := o.Validate(); err != nil {
			return nil, err
		}
		solver, err := Solver(name)
		if err != nil {
			return nil, &suite.Error{Path: "params.solver", Err: err}
		}
		return bench.Configured(bench.Policy(ref, "1", bench.Replayed{New: func(ctx context.Context, problem bench.Problem) (sim.Policy, error) {
			o := o
			o.Place = func(in *sched.Instance, servers, parts []int) (sched.Placement, error) {
				return placeByProgram(ctx, build, solver, milp.Limits{Nodes: nodes}, problem.Programs, in, servers, parts)
			}
			return asrpt.Perfect(o), nil
		}}), o.String(), name, nodes), nil
	}
}

// placeByProgram puts the only job of an instance on parts of servers, and notes the program
// in the log.
//
// Errors: sched.ErrNotApplicable where there is no program or it has no point.
func placeByProgram(ctx context.Context, build placing.Formulation, solver milp.Solver, l milp.Limits, log *exact.Log, in *sched.Instance, servers, parts []int) (sched.Placement, error) {
	if !in.Jobs[0].OnlyStages() || len(parts) == 1 {
		return sched.Placement{}, sched.ErrNotApplicable
	}
	program, err := build(in, 0, servers, parts)
	if err != nil {
		return sched.Placement{}, err
	}
	m := program.Model
	r, err := solver.Solve(ctx, m, milp.Start{}, l)
	if err != nil {
		return sched.Placement{}, err
	}
	log.Add(exact.Program{Relation: program.Relation.String(), Solver: solver.Name(),
		Rows: len(m.Rows), Cols: len(m.Vars), Nonzeros: m.Nonzeros(), Integers: m.Integers(), Result: r})
	if r.X == nil {
		return sched.Placement{}, sched.ErrNotApplicable
	}
	place, err := program.Decode(r.X)
	if err != nil { // a point that only nearly satisfies the program may stand for none
		return sched.Placement{}, sched.ErrNotApplicable
	}
	return place, nil
}

// Sets of placements that have a name.
const (
	combinatorial = "combinatorial" // all but programs
	programs      = "programs"      // every program by every solver
	everything    = "all"
)

// PlacementNames lists the sets of placements and the placements themselves.
func PlacementNames() []string {
	names := []string{combinatorial, programs, everything}
	for _, p := range placements() {
		names = append(names, p.Name)
	}
	return names
}

// ResolvePlacements returns the methods of bench place that references stand for, each
// once, in order. A reference may name a set of them.
func ResolvePlacements(refs []suite.MethodRef) ([]placing.Method, error) {
	var list []placing.Method
	every := placements()
	for _, ref := range refs {
		known := false
		for _, p := range every {
			named := ref
			switch {
			case ref.Name == p.Name:
			case ref.Name == everything, ref.Name == combinatorial && !p.program, ref.Name == programs && p.program:
				if len(ref.Params) > 0 {
					return nil, fmt.Errorf("%s: a set of methods has no parameters", ref)
				}
				named.Name = p.Name
			default:
				continue
			}
			known = true
			if slices.ContainsFunc(list, func(m placing.Method) bool { return m.Name() == named.String() }) {
				continue
			}
			m, err := p.make(named)
			if err != nil {
				return nil, fmt.Errorf("method %s: %w", p.Name, err)
			}
			list = append(list, m)
		}
		if !known {
			return nil, unknownPlacement(ref.Name)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("none given: take some of " + strings.Join(PlacementNames(), ", "))
	}
	return list, nil
}

// unknownPlacement says which names there are, or how to get a solver that is not
// installed.
func unknownPlacement(name string) error {
	_, solver, _ := strings.Cut(name, "/")
	for program, find := range map[string]func() (*external.Solver, error){"glpsol": external.GLPSOL, "cbc": external.CBC, "highs": external.HiGHS} {
		if solver != program {
			continue
		}
		if _, err := find(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return fmt.Errorf("%q is unknown: %s", name, strings.Join(PlacementNames(), ", "))
}
