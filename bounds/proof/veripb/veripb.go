package veripb

import (
	"context"
	"fmt"
	"math/big"

	"yardstick/bounds/proof"
	"yardstick/internal/number"
	"yardstick/sched"
)

// Proof is a proof with what it is about.
type Proof struct {
	Model []byte // model.opb
	Proof []byte // proof.pbp
	// Shifted says that the model leaves out late starts that no left-shifted schedule
	// has, besides those that the waiting budget excludes.
	Shifted bool
	Nodes   int
}

// scale and, for bounds of one line, fine are what reduced costs are multiplied by before
// they are rounded: of a tree the prices are most of the file. maxCost limits what a
// schedule costs: products are then far below 64 bits.
const (
	scale   = 1_000
	fine    = 10_000
	maxCost = 1 << 36
)

// Options limit a search; its zero value is 2 million nodes.
type Options struct{ Nodes int }

// Prove proves that no schedule of p costs less than c.Value, or, if c has a schedule, that
// this is the optimum.
//
// Errors: sched.ErrNotApplicable for the makespan and for problems that are too large;
// *proof.CheaperError if the claim is false; proof.ErrLimit.
func Prove(ctx context.Context, p *proof.Problem, c proof.Claim, opt Options) (*Proof, error) {
	s, err := newSearch(ctx, p, c, opt, false)
	if err != nil {
		return nil, err
	}
	root, err := s.refute()
	if err != nil {
		return nil, err
	}
	return s.finish(root, c.Starts), nil
}

func newSearch(ctx context.Context, p *proof.Problem, c proof.Claim, opt Options, shifted bool) (*search, error) {
	switch {
	case p.Makespan:
		return nil, fmt.Errorf("veripb: %w to the makespan: its cost is no sum over starts", sched.ErrNotApplicable)
	case c.Value.Cmp(big.NewInt(maxCost)) > 0:
		return nil, fmt.Errorf("veripb: %w to a cost of %v, of at most %d: state the instance in longer slots, or with weights of fewer digits", sched.ErrNotApplicable, c.Value, int64(maxCost))
	}
	value := c.Value.Int64()
	m, err := newModel(p, value, shifted)
	if err != nil {
		return nil, err
	}
	if opt.Nodes == 0 {
		opt.Nodes = 2_000_000
	}
	m.hash = p.Hash()
	s := &search{ctx: ctx, m: m, rows: cuts(m), scale: scale, value: value, limit: opt.Nodes}
	s.ascent = newAscent(s)
	s.start = make([]float64, len(s.ascent.price))
	return s, nil
}

// Best returns the best bound that prices alone prove, with its proof, of one line with
// sums: no schedule of p costs less. Starts are those of some schedule.
//
// Errors: those of Prove.
func Best(ctx context.Context, p *proof.Problem, starts []int64) (*big.Int, *Proof, error) {
	cost, err := p.Evaluate(starts)
	if err != nil {
		return nil, nil, err
	}
	wide, err := newSearch(ctx, p, proof.Claim{Value: cost}, Options{}, false)
	if err != nil {
		return nil, nil, err
	}
	wide.scale = fine
	st := wide.m.root()
	wide.climbRoot(st)
	value := wide.reached(wide.round(wide.ascent.bestPrices), st)
	// The same prices reach no less in the windows that follow from the lower value.
	s, err := newSearch(ctx, p, proof.Claim{Value: value}, Options{}, wide.m.shifted)
	if err != nil {
		return nil, nil, err
	}
	s.scale = fine
	for r := range s.rows {
		copy(s.start[r*s.ascent.slots:(r+1)*s.ascent.slots], wide.ascent.bestPrices[r*wide.ascent.slots:])
	}
	k := s.round(s.start)
	if s.excess(k, s.m.root()) <= 0 {
		return nil, nil, fmt.Errorf("veripb: prices that reached %v no longer do so in narrower windows", value)
	}
	return value, s.finish(s.leaf(k, s.m.root()), nil), nil
}

// reached returns the value that prices prove.
func (s *search) reached(k *prices, st *state) *big.Int {
	sum := new(big.Rat).SetFrac64(s.excess(k, st), s.scale)
	return number.CeilInt(sum.Add(sum, new(big.Rat).SetInt64(s.value-1)))
}

func (s *search) finish(root *node, starts []int64) *Proof {
	return &Proof{Model: s.m.OPB(), Proof: s.proof(root, starts), Shifted: s.m.shifted, Nodes: max(s.nodes, 1)}
}
