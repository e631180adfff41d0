package main

import (
	"fmt"
	"slices"
	"strings"

	"yardstick/bench/catalogue"
	"yardstick/bench/placing"
	"yardstick/formulate/placement"
	"yardstick/sched"
	"yardstick/sched/heavyedge"
	"yardstick/solvers/cuts"
	"yardstick/solvers/external"
	"yardstick/solvers/isolate"
	"yardstick/solvers/milp"
)

// This file is where the names of bench place select implementations.

// placementMemory is the greatest resident set of a solver's process.
const placementMemory = 4 << 30

// directMethods are those that run in this process: heuristics, which end by
// themselves, and searches, which count their steps.
func directMethods() []placing.Method {
	return []placing.Method{
		placing.Heuristic("heavy-edge", heavyEdge(heavyedge.Ring)),
		placing.Heuristic("heavy-edge-tree", heavyEdge(heavyedge.Tree)),
		placing.Heuristic("chain", placing.Chain),
		placing.Heuristic("intervals", placing.Intervals),
		placing.Direct("min-cut", placing.Cut, func(in *sched.Instance, servers, parts []int) (placing.Solution, error) {
			p, cut, err := cuts.MinCut(in, 0, servers, parts)
			return placing.Solution{Placement: p, Lower: cut}, err
		}),
		placing.Direct("min-alpha", placing.Alpha, func(in *sched.Instance, servers, parts []int) (placing.Solution, error) {
			b, err := cuts.BestAlpha(in, 0, servers, parts, 0)
			if err != nil {
				return placing.Solution{}, err
			}
			return placing.Solution{Placement: b.Placement, Lower: b.Lower}, nil
		}),
	}
}

func heavyEdge(shape heavyedge.AllReduce) func(in *sched.Instance, servers, parts []int) (sched.Placement, error) {
	return func(in *sched.Instance, servers, parts []int) (sched.Placement, error) {
		list := make([]heavyedge.Part, len(parts))
		for i := range list {
			list[i] = heavyedge.Part{Server: servers[i], GPUs: parts[i]}
		}
		return heavyedge.Place(&in.Jobs[0], list, shape)
	}
}

// programMethods are the integer programs by every solver that is there, each
// solve in a process of its own.
func programMethods() []placing.Method {
	var solvers []milp.Solver
	for _, name := range catalogue.Solvers() {
		solvers = append(solvers, isolate.Solver{Solver: name, Memory: placementMemory})
	}
	for _, s := range external.Found() {
		solvers = append(solvers, s)
	}
	var list []placing.Method
	for _, s := range solvers {
		list = append(list,
			placing.Formulated("one-hot-alpha", placing.Alpha, placement.OneHotAlpha, s),
			placing.Formulated("count-cut", placing.Cut, placement.CountCut, s),
			placing.Formulated("naive-cut", placing.Cut, placement.NaiveCut, s))
	}
	return list
}

// placementMethods returns the methods that the names stand for, each once, in
// the order of the names.
func placementMethods(names []string) ([]placing.Method, error) {
	direct, programs := directMethods(), programMethods()
	every := slices.Concat(direct, programs)
	var list []placing.Method
	for _, name := range names {
		var named []placing.Method
		switch name {
		case "combinatorial":
			named = direct
		case "programs":
			named = programs
		case "all":
			named = every
		default:
			at := slices.IndexFunc(every, func(m placing.Method) bool { return m.Name() == name })
			if at < 0 {
				return nil, unknownMethod(name, every)
			}
			named = every[at : at+1]
		}
		for _, m := range named {
			if !slices.ContainsFunc(list, func(other placing.Method) bool { return other.Name() == m.Name() }) {
				list = append(list, m)
			}
		}
	}
	return list, nil
}

func methodNames(list []placing.Method) string {
	var names []string
	for _, m := range list {
		names = append(names, m.Name())
	}
	return strings.Join(names, ", ")
}

// unknownMethod says which names there are, or how to get a solver that is not
// installed.
func unknownMethod(name string, every []placing.Method) error {
	_, solver, _ := strings.Cut(name, "/")
	for program, find := range map[string]func() (*external.Solver, error){"glpsol": external.GLPSOL, "cbc": external.CBC, "highs": external.HiGHS} {
		if solver != program {
			continue
		}
		if _, err := find(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return fmt.Errorf("%q is unknown: combinatorial, programs, all, %s", name, methodNames(every))
}
