package theorems

import (
	"math/big"

	"yardstick/sched"
	"yardstick/solvers/partition"
)

// SymbolsOf returns the symbols that Evaluate uses for the printed forms and
// for the others.
func SymbolsOf(in *sched.Instance, run Run) (printed, attained *Symbols, err error) {
	least, err := partition.LeastRunTimes(in)
	if err != nil {
		return nil, nil, err
	}
	p, err := newCase(in, &run, least, partition.AlphaSpread)
	if err != nil {
		return nil, nil, err
	}
	a, err := newCase(in, &run, least, partition.AlphaMax)
	if err != nil {
		return nil, nil, err
	}
	m := p.machines()
	return p.symbols(m), a.symbols(m), nil
}

// TightestOf returns the bound with the least slack and the sum of all, in 128 bits and in
// rationals; narrow says whether the former could, and all whether there is a bound for every job.
func TightestOf(s *Symbols, realised bool) (fast, slow JobBound, fastSum, slowSum *big.Rat, narrow, all bool) {
	fast, fastSum, narrow = s.tightest(realised)
	bounds := JobBounds(s, realised)
	slow, slowSum = tightestOf(bounds)
	return fast, slow, fastSum, slowSum, narrow, len(bounds) == s.Jobs
}
