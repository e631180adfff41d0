package bench

import (
	"context"
	"errors"
	"testing"

	"yardstick/bounds/proof"
	"yardstick/bounds/proof/treecheck"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/sched/verify"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive"
	"yardstick/solvers/milp"
)

// solved returns a verified optimum.
func solved(t *testing.T, in *sched.Instance, obj sched.Objective) *verify.Verified {
	t.Helper()
	r, err := exhaustive.Solve(t.Context(), in, obj, exact.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := verify.Check(in, r.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// What an exact method returns is proven to strangers, in every objective, and only what
// is an optimum.
func TestProveAll(t *testing.T) {
	in := schedtest.Plain(schedtest.Servers(2), schedtest.Job(0, 2, 50), schedtest.Job(1, 1, 5), schedtest.Job(1, 1, 7), schedtest.Job(2, 2, 3))
	objectives := []sched.Objective{sched.TotalJCT, sched.MeanJCT, sched.WeightedCompletion, sched.Makespan, sched.ScheduledWeight}
	var outcomes []Outcome
	var verified []*verify.Verified
	for _, obj := range objectives {
		of := obj
		if obj == sched.ScheduledWeight { // which proofs are not of
			of = sched.TotalJCT
		}
		v := solved(t, in, of)
		verified, outcomes = append(verified, v), append(outcomes, Outcome{Termination: milp.Optimal, Schedule: v.Schedule()})
	}
	if err := proveAll(t.Context(), in, objectives, outcomes, verified); err != nil {
		t.Fatal(err)
	}
	for i, obj := range objectives {
		p := outcomes[i].Proof
		if obj == sched.ScheduledWeight {
			if p.Certificate != nil || p.Termination != milp.Skipped || p.Message == "" {
				t.Errorf("%v: %+v", obj, p)
			}
			continue
		}
		s, err := treecheck.Check(p.Problem, p.Certificate)
		if err != nil {
			t.Fatal(err)
		}
		problem, err := proof.New(in, obj, in.Class())
		if err != nil || problem.Value(s.Value).Cmp(verified[i].Cost(obj)) != 0 || p.Termination != milp.Optimal || p.Nodes != s.Nodes {
			t.Errorf("%v: %v of %v, %v", obj, s.Value, verified[i].Cost(obj), err)
		}
	}
	// The best makespan is not the best total.
	o := []Outcome{{Termination: milp.Optimal}}
	if err := proveAll(t.Context(), in, objectives[:1], o, verified[3:4]); !errors.Is(err, ErrBoundRefuted) {
		t.Errorf("an optimum that is none: %v", err)
	}
	o[0] = Outcome{Termination: milp.TimeLimit}
	if err := proveAll(t.Context(), in, objectives[:1], o, verified[:1]); err != nil || o[0].Proof != nil {
		t.Errorf("no optimum: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o[0] = Outcome{Termination: milp.Optimal}
	if err := proveAll(ctx, in, objectives[:1], o, verified[:1]); err != nil || o[0].Proof.Termination != milp.Interrupted {
		t.Errorf("interrupted: %v, %+v", err, o[0].Proof)
	}
}
