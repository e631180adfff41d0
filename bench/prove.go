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

// proofNodes limits the tree of a proof, and so the time that it takes: some seconds.
const proofNodes = 500_000

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

// prove proves that a schedule is optimal, and has the proof checked.
func prove(ctx context.Context, in *sched.Instance, objective sched.Objective, v *verify.Verified) (*Proof, error) {
	none := func(err error) (*Proof, error) {
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
	p, err := proof.New(in, objective, in.Class())
	if err != nil {
		return none(err)
	}
	var claim proof.Claim
	if claim.Starts, err = p.Starts(v.Schedule()); err != nil {
		return nil, err
	}
	if claim.Value, err = p.Evaluate(claim.Starts); err != nil {
		return nil, err
	}
	c, err := tree.Prove(ctx, p, claim, tree.Limits{Nodes: proofNodes})
	if err != nil {
		return none(err)
	}
	if _, err := treecheck.Check(p.Text(), c.Text); err != nil {
		return nil, err
	}
	cost, value := v.Cost(objective), p.Value(c.Claim.Value)
	switch c := value.Cmp(cost); {
	case c > 0 || c < 0 && !p.Placed:
		return nil, fmt.Errorf("%w: the proof for strangers says that the optimum is %s, and not %s", ErrBoundRefuted, value.RatString(), cost.RatString())
	case c < 0:
		return none(fmt.Errorf("%w: on one pool of GPUs, with least running times, a schedule costs less than any on these servers", sched.ErrNotApplicable))
	}
	return &Proof{Format: tree.Format, Problem: p.Text(), Certificate: c.Text, Nodes: c.Nodes, Termination: milp.Optimal}, nil
}
