package catalogue

import (
	"context"

	"yardstick/bench/suite"
	"yardstick/heuristics/offline"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive"
)

// Exact is an exact method, a formulation of bench solve.
type Exact struct {
	Name  string
	Model sched.Model // whose schedules it is exact for
	About string
}

// ExactMethods lists the exact methods, those of a model in the order in which they
// are tried.
func ExactMethods() []Exact {
	return []Exact{
		{"exhaustive", sched.ModelGang, "branch and bound over semi-active schedules, continuous time"},
		{"time-indexed", sched.ModelGang, "integer program over start slots, continuous time"},
		{"bout-dp", sched.ModelPreemptive, "dynamic program over preemptive schedules, in slots"},
		{"bouts", sched.ModelPreemptive, "integer program over the bouts of jobs, in slots"},
		{"sharing-search", sched.ModelSharing, "branch and bound over schedules that share GPUs, in slots"},
		{"sharing-program", sched.ModelSharing, "integer program over the same schedules"},
		{"elastic-optimum", sched.ModelElastic, "branch and price over configurations, in slots"},
	}
}

// ExactNames lists the exact methods of a model, or all of them for "".
func ExactNames(model sched.Model) (names []string) {
	for _, m := range ExactMethods() {
		if model == "" || model == m.Model {
			names = append(names, m.Name)
		}
	}
	return names
}

// Proving returns the method as it proves bounds of schedules of a class: some have a
// parameter that makes them prove one for another class than they do without.
func Proving(name string, class sched.Class) suite.MethodRef {
	ref := suite.MethodRef{Name: name}
	switch {
	case class.Kind == sched.N && (name == "bout-dp" || name == "bouts"):
		ref.Params = map[string]string{"non-preemptive": "true"}
	case class.Kind != sched.E && (name == "elastic-alone" || name == "elastic-mean-busy-time"):
		ref.Params = map[string]string{"class": sched.Class{Kind: sched.FluidMin, Slotted: class.Slotted}.String()}
	}
	return ref
}

// improvingMoves are the moves of window search from each of the plans that the exact
// search of gangs has improved: from many plans few moves gain more than from one many.
const improvingMoves = 5_000

// gangSearch is the exact search of gangs, whose plans window search improves.
func gangSearch(ctx context.Context, in *sched.Instance, objective sched.Objective, l exact.Limits) (*exact.Result, error) {
	improve := func(ctx context.Context, from *sched.Schedule, seed uint64) (*sched.Schedule, error) {
		r, err := offline.Search(ctx, in, objective, offline.Options{Moves: improvingMoves, Seed: seed, Schedules: []*sched.Schedule{from}})
		if err != nil {
			return nil, err
		}
		return r.Schedule, nil
	}
	return exhaustive.Search{Improve: improve}.Solve(ctx, in, objective, l)
}
