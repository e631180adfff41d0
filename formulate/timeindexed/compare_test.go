package timeindexed_test

import (
	"context"
	"fmt"
	"math"
	"syscall"
	"testing"
	"time"

	"yardstick/formulate"
	"yardstick/formulate/timeindexed"
	"yardstick/sched"
	"yardstick/solvers/branch"
	"yardstick/solvers/external"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// comparison is a program that all solvers are given.
type comparison struct {
	name  string
	build func(*sched.Instance, sched.Objective, sched.Time, bool) (*formulate.Program, error)
	in    *sched.Instance
	slot  sched.Time
}

// comparisons are time-indexed programs of growing size: of whole seconds, and
// two whose costs are microseconds.
func comparisons() []comparison {
	agg, conf, servers := timeindexed.Build, timeindexed.BuildConfigurations, timeindexed.BuildServers
	return []comparison{
		{"aggregated, 10 jobs, 4x8", agg, gangs(0, 10, 4, 8, true), sched.Second},
		{"aggregated, 15 jobs, 4x8", agg, gangs(0, 15, 4, 8, true), sched.Second},
		{"aggregated, 20 jobs, 4x8", agg, gangs(0, 20, 4, 8, true), sched.Second},
		{"aggregated, 10 jobs, microseconds", agg, busy(1, 10), 30 * sched.Second},
		{"aggregated, 15 jobs, microseconds", agg, busy(1, 15), 40 * sched.Second},
		{"configurations, 6 jobs, 2x8", conf, gangs(1, 6, 2, 8, true), sched.Second},
		{"configurations, 8 jobs, 2x8", conf, gangs(1, 8, 2, 8, true), sched.Second},
		{"configurations, 10 jobs, 4x8", conf, gangs(1, 10, 4, 8, true), sched.Second},
		{"servers, 4 jobs, 2x8", servers, gangs(2, 4, 2, 8, true), sched.Second},
		{"servers, 6 jobs, 2x8", servers, gangs(2, 6, 2, 8, true), sched.Second},
		{"servers, 8 jobs, 4x8", servers, gangs(2, 8, 4, 8, true), sched.Second},
	}
}

// BenchmarkSolvers gives the same programs to the proven search, to lp_solve's
// own and to the programs that are installed, each for at most 30 s, and logs
// what they say, and after how much processor time, as the rows of a table. An answer is wrong if it contradicts
// what is proven: a bound, or a point feasible in exact arithmetic.
func BenchmarkSolvers(b *testing.B) {
	const limit = 30 * time.Second
	solvers := []milp.Solver{branch.New(lpsolve.LP{}), lpsolve.MIP{}}
	for _, s := range external.Found() {
		solvers = append(solvers, s)
	}
	for _, c := range comparisons() {
		p, err := c.build(c.in, sched.TotalCompletion, c.slot, false)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				results := make([]*milp.Result, len(solvers))
				lower, upper := math.Inf(-1), math.Inf(1) // proven
				for k, s := range solvers {
					before := processorTime(b)
					r, err := s.Solve(context.Background(), p.Model, milp.Start{}, milp.Limits{Time: limit})
					if err != nil {
						b.Fatal(err)
					}
					if r.Stats.CPU == 0 { // solved in this process
						r.Stats.CPU = processorTime(b) - before
					}
					if r.Dual == milp.Proven {
						lower = max(lower, r.DualBound)
					}
					if r.Primal == milp.Proven {
						upper = min(upper, r.PrimalBound)
					}
					results[k] = r
				}
				row := fmt.Sprintf("| %s | %d × %d, %d |", c.name, len(p.Model.Rows), len(p.Model.Vars), p.Model.Nonzeros())
				for k, r := range results {
					row += fmt.Sprintf(" %s: %s |", solvers[k].Name(), described(r, lower, upper))
				}
				b.Log(row)
			}
		})
	}
}

// processorTime is what this process has used.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// described says what a result claims, beside what is proven of the optimum.
func described(r *milp.Result, lower, upper float64) string {
	switch wrong := " **wrong**"; {
	case r.Termination == milp.Infeasible:
		return fmt.Sprintf("%.2f s, infeasible,%s", r.Stats.CPU.Seconds(), wrong)
	case r.Termination == milp.Optimal:
		evidence := "claimed"
		if r.Dual == milp.Proven && r.Primal == milp.Proven {
			evidence = "proven"
		}
		if r.PrimalBound >= lower && r.PrimalBound <= upper {
			wrong = ""
		}
		return fmt.Sprintf("%.2f s, %s%s", r.Stats.CPU.Seconds(), evidence, wrong)
	case r.X != nil && !math.IsInf(r.DualBound, -1):
		return fmt.Sprintf("– (%.2f %% gap, %s)", 100*(r.PrimalBound/r.DualBound-1), r.Dual)
	case r.X != nil:
		return "– (no bound)"
	}
	return fmt.Sprintf("– (%s)", r.Termination)
}
