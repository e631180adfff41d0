package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"yardstick/bounds/proof"
	"yardstick/bounds/proof/tree"
	"yardstick/bounds/proof/treecheck"
	"yardstick/sched"
	"yardstick/sched/verify"
	"yardstick/solvers/milp"
)

// proofNodes and proofNodesOnServers limit the tree of a proof, and so the time that it
// takes: some seconds.
const (
	proofNodes          = 500_000
	proofNodesOnServers = 20_000
)

// proveAll makes a proof for strangers of every outcome that is an optimum.
//
// Errors: ErrBoundRefuted if a proof says that it is none.
func proveAll(ctx context.Context, in *sched.Instance, objectives []sched.Objective, outcomes []Outcome, verified []*verify.Verified) (err error) {
	for i, objective := range objectives {
		o := &outcomes[i]
		if o.Termination != milp.Optimal || verified[i] == nil {
			continue
		}
		start, cpu := time.Now(), milp.ThreadTime()
		if o.Proof, err = prove(ctx, in, objective, verified[i]); err != nil {
			return err
		}
		o.Proof.Wall, o.Proof.CPU = time.Since(start), milp.ThreadTime()-cpu
	}
	return nil
}

// prove proves that a schedule is optimal, and has the proof checked: on one pool of GPUs
// with least running times and, where placed schedules cost more than that, on servers.
func prove(ctx context.Context, in *sched.Instance, objective sched.Objective, v *verify.Verified) (*Proof, error) {
	made, value, err := tree.Optimum(ctx, in, objective, v.Schedule(), v.Cost(objective), tree.Limits{Nodes: proofNodes, OnServers: proofNodesOnServers})
	if err != nil {
		p := &Proof{Format: tree.Format, Message: err.Error()}
		switch {
		case errors.Is(err, sched.ErrNotApplicable):
			p.Termination = milp.Skipped
		case errors.Is(err, proof.ErrLimit):
			p.Termination = milp.NodeLimit
		case ctx.Err() != nil:
			p.Termination = milp.Interrupted
		default:
			return nil, err
		}
		return p, nil
	}
	if _, err := treecheck.Check(made.Problem.Text(), made.Text); err != nil {
		return nil, err
	}
	if cost := v.Cost(objective); value.Cmp(cost) != 0 {
		return nil, fmt.Errorf("%w: the proof for strangers says that the optimum is %s, and not %s", ErrBoundRefuted, value.RatString(), cost.RatString())
	}
	return &Proof{Format: made.Format(), Problem: made.Problem.Text(), Certificate: made.Text, Nodes: made.Nodes, Termination: milp.Optimal}, nil
}
