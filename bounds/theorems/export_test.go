package theorems

import (
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
