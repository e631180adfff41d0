package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/hunt"
	"yardstick/bench/suite"
)

// losing is a policy that can be run again, and the ratio that fewer jobs have to show.
type losing struct {
	ref    suite.MethodRef
	method bench.Method
	least  *big.Rat
}

// losing finds what is to be shrunk.
func (x *explained) losing() (*losing, error) {
	row, f := x.subject.row, x.flags
	keep, ok := new(big.Rat).SetString(f.keep)
	if !ok || keep.Sign() <= 0 || keep.Cmp(big.NewRat(1, 1)) > 0 {
		return nil, usageError("--keep %s: it must be above 0 and at most 1", f.keep)
	}
	ref := methodRef(row.Method)
	if ref.Name == catalogue.ExternalName {
		return nil, usageError("--shrink: %s is a program that is not part of bench: bench hunt --policy-command looks for instances on which it loses", row.Method)
	}
	method, err := catalogue.Resolve(ref)
	switch {
	case err != nil:
		return nil, usageError("--shrink: %s cannot be run again: %w", row.Method, err)
	case method.Kind() != bench.Online:
		return nil, usageError("--shrink needs a policy that can be run again on fewer jobs: %s is no policy that can be run so", row.Method)
	case x.Maximised() || x.Difference.Sign() <= 0 || x.Against.Sign() <= 0:
		return nil, usageError("--shrink: there is no loss to show: %s costs %s, the reference %s", row.Method, x.cost(x.Cost), x.cost(x.Against))
	}
	least := new(big.Rat).Quo(x.Cost, x.Against)
	return &losing{ref, method, least.Mul(least, keep)}, nil
}

// shrinkExplained looks for the fewest jobs that show the loss.
func (a *app) shrinkExplained(ctx context.Context, x *explained, l *losing) error {
	f := x.flags
	found, err := hunt.Reduce(ctx, x.subject.instances[0], x.subsets(), x.subject.objective, replayed(l.method, x.subject.objective, a.debug), l.least)
	switch {
	case ctx.Err() != nil:
		return interrupted("nothing was found by then", "the same command begins anew")
	case errors.Is(err, hunt.ErrNotShown):
		return &exitError{exitIncomplete, fmt.Errorf("%w: a smaller --keep asks for less", err)}
	case err != nil:
		return &exitError{exitInvalid, err}
	}
	if err := a.writeProven(f.shrink, l.ref, found, 0, 0); err != nil {
		return err
	}
	if f.format == "table" && f.out == "" {
		fmt.Fprintf(a.out, "\n%d jobs show a ratio of %s, and the whole %s: %s\nwritten to %s and %s\n", len(found.Instance.Jobs), found.Ratio().FloatString(4),
			new(big.Rat).Quo(x.Cost, x.Against).FloatString(4), hunt.Words(found.Instance), f.shrink, proofPath(f.shrink))
	}
	return nil
}

// subsets are the jobs that may show the loss: all if they are few, and each delayed job
// with those that it waited for.
func (x *explained) subsets() (list [][]int) {
	const few = 12
	if n := len(x.Jobs); n <= few {
		all := make([]int, n)
		for j := range all {
			all[j] = j
		}
		list = append(list, all)
	}
	delays := x.Delays(few)
	for size := 2; size <= few; size += 2 {
		for _, d := range delays {
			some := []int{d.Job}
			for _, b := range d.By[:min(size-1, len(d.By))] {
				some = append(some, b.Job)
			}
			if len(some) == size {
				list = append(list, some)
			}
		}
	}
	return list
}
