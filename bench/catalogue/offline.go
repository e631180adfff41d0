package catalogue

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"yardstick/bench"
	"yardstick/bench/suite"
	"yardstick/bounds"
	"yardstick/heuristics/offline"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// windowSearch searches for a good schedule of class N of the whole instance, from list
// orders, prices and, if policies are asked for, what policies make of it. Its moves are
// counted, and no limit in time ends it but the cell's.
func windowSearch(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	o := offline.Options{Effort: p.count("effort", 1, 1), Moves: p.count("moves", 0, 0), Seed: uint64(p.count("seed", 1, 0))} // 0 moves: as many as the effort says
	policies := p.flag("policies")
	if o.Effort > offline.MaxEffort {
		p.refuse("effort", fmt.Errorf("it must be at most %d", offline.MaxEffort))
	}
	return bench.Configured(bench.Heuristic(ref, "1", func(ctx context.Context, problem bench.Problem, objective sched.Objective) (bench.Outcome, error) {
		o := o
		dual, err := relaxation(ctx, problem.Instance, objective)
		if err != nil {
			return bench.Outcome{}, err
		}
		if dual != nil {
			o.Prices, o.Starts = dual.Prices, dual.Starts
		}
		if policies {
			if o.Schedules, err = policySchedules(ctx, problem); err != nil {
				return bench.Outcome{}, err
			}
		}
		return WindowSearch(ctx, problem.Instance, objective, o)
	}), o, policies), p.finish()
}

// relaxation returns the prices and starts of class N that make schedules, or nil where
// there are none: there are prices of totals only.
func relaxation(ctx context.Context, in *sched.Instance, objective sched.Objective) (*bounds.Dual, error) {
	d, err := bounds.Lagrangian(ctx, in, objective, bounds.LagrangianOptions{Slots: 2 * bounds.LagrangianSlots, Iterations: 5 * bounds.LagrangianIterations})
	if errors.Is(err, sched.ErrNotApplicable) {
		return nil, nil
	}
	return d, err
}

// WindowSearch runs the search and says how it went.
func WindowSearch(ctx context.Context, in *sched.Instance, objective sched.Objective, o offline.Options) (bench.Outcome, error) {
	r, err := offline.Search(ctx, in, objective, o)
	if err != nil {
		return bench.Outcome{}, err
	}
	out := bench.Outcome{Schedule: r.Schedule, Termination: bench.Completed, Message: fmt.Sprintf("from %s, %d moves, %d steps in profiles", r.From, r.Moves, r.Work)}
	if r.Interrupted {
		out.Termination = milp.Interrupted
	}
	return out, nil
}

// policySchedules replays the online policies of class N that the instance suits, those
// that predict told the truth.
func policySchedules(ctx context.Context, p bench.Problem) (out []*sched.Schedule, err error) {
	for _, ref := range OnlineRefs() {
		m, err := Resolve(ref)
		if err != nil {
			return nil, err
		}
		if bench.Suits(m, p.Instance) != nil {
			continue
		}
		o, err := m.Run(ctx, p)
		if err != nil {
			if ctx.Err() != nil {
				return out, nil
			}
			continue // a policy that gets nowhere has no schedule to begin from
		}
		if s := o[0].Schedule; s != nil && s.Class == (sched.Class{Kind: sched.N, Slotted: p.Instance.Slot > 0}) {
			out = append(out, s)
		}
	}
	return out, nil
}

// OnlineRefs lists every online policy, the list policies once for each choice of
// their rules. Those that predict are told the truth.
func OnlineRefs() (all []suite.MethodRef) {
	for _, name := range NamesOf(bench.Online) {
		switch {
		case name == "fifo" || name == "sjf":
			for _, blocking := range []string{"strict", "skip"} {
				for _, placement := range []string{"pool", "consolidate", "best-fit"} {
					all = append(all, suite.MethodRef{Name: name, Params: map[string]string{"blocking": blocking, "placement": placement}})
				}
			}
		case slices.Contains([]string{"spjf", "spwf", "wcs-duration", "wcs-workload", "wcs-subtime", "a-srpt"}, name):
			all = append(all, suite.MethodRef{Name: name, Params: map[string]string{"predictor": "perfect"}})
		default:
			all = append(all, suite.MethodRef{Name: name})
		}
	}
	return all
}
