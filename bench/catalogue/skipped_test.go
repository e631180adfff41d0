package catalogue

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"yardstick/bench"
	"yardstick/bench/suite"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// TestNotApplicableIsSkipped: no method fails on an instance that is too large for
// it, or on one of another model. It has an answer, or is skipped and says why; the
// methods named are skipped.
func TestNotApplicableIsSkipped(t *testing.T) {
	r := schedtest.Rand(1)
	gangs := schedtest.Gang(r, schedtest.Shape{Jobs: 310, Servers: 2, GPUs: 32, Uniform: true, Stages: 2, Traffic: true, Span: true})
	bouts := schedtest.Preemptive(r, schedtest.Shape{Jobs: 30, Servers: 1, GPUs: 4, Stages: 1, Slot: sched.Second})
	bouts.Slot = 1
	pairs := schedtest.SlottedSharing(1, schedtest.Slots{Jobs: 20, Servers: []int{4}, Work: [2]int{9_000, 10_000}, Gang: 2, Xi: 1.5, Options: 2})
	elastic := schedtest.Elastic(r, schedtest.ElasticShape{Jobs: 2, Servers: 1, Resources: 2, WorkerTypes: 1, ServerTypes: 1, Workers: 2, Capacity: 4, Slots: 3, Deadline: 3})
	elastic.Slot, elastic.Deadline = 1, 4*sched.Second
	for _, c := range []struct {
		name    string
		in      *sched.Instance
		methods []string // too large for these under every objective
	}{
		{"gangs", gangs, []string{"exhaustive", "time-indexed", "conf"}},
		{"bouts", bouts, []string{"bout-dp", "bouts"}},
		{"pairs", pairs, []string{"sharing-search", "sharing-program", "pair-lp"}},
		{"elastic", elastic, []string{"elastic-optimum", "elastic-conf", "elastic-aggregate"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.in.Validate(); err != nil {
				t.Fatal(err)
			}
			problem := bench.Problem{Instance: c.in, Objectives: []sched.Objective{sched.TotalCompletion}, Limits: suite.Limits{Solve: 50 * time.Millisecond, Nodes: 1}}
			if c.in.Deadline > 0 {
				problem.Objectives = append(problem.Objectives, sched.ScheduledWeight)
			}
			for _, name := range NamesOf(bench.Exact, bench.Offline, bench.Bound) {
				out, err := runOne(name, problem, tier.All())
				if err != nil {
					t.Errorf("%s fails: %v", name, err)
				}
				for i, o := range out {
					skipped := o.Termination == milp.Skipped
					if skipped && !strings.Contains(o.Message, sched.ErrNotApplicable.Error()) {
						t.Errorf("%s of %v is skipped and says %q", name, problem.Objectives[i], o.Message)
					}
					if slices.Contains(c.methods, name) && !skipped {
						t.Errorf("%s of %v is not skipped: %s", name, problem.Objectives[i], o.Termination)
					}
				}
			}
		})
	}
}

// TestPolicyIsSkipped: a policy that finds out while it runs that the instance is too
// large for it is skipped too.
func TestPolicyIsSkipped(t *testing.T) {
	in := schedtest.Elastic(schedtest.Rand(1), schedtest.ElasticShape{Jobs: 2, Servers: 1, Resources: 2, WorkerTypes: 1, ServerTypes: 1, Workers: 2, Capacity: 4, Slots: 3})
	late := schedtest.ShiftReleases(in, in.Slot<<21)
	m, err := Resolve(suite.MethodRef{Name: "primal-dual"})
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Run(context.Background(), bench.Problem{Instance: late, Objectives: []sched.Objective{sched.TotalCompletion, sched.Makespan}})
	if err != nil || len(out) != 2 {
		t.Fatalf("%+v, %v", out, err)
	}
	for _, o := range out {
		if o.Termination != milp.Skipped || !strings.Contains(o.Message, "does not apply: the round would have a problem of") {
			t.Errorf("%+v", o)
		}
	}
}
