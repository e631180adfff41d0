package main

import (
	"math/big"

	"yardstick/sched"
)

// costText shows a cost in seconds, or as a weight, exactly where that takes
// at most six decimals and rounded to six otherwise.
func costText(o sched.Objective, cost *big.Rat) string {
	if !o.IsTime() {
		return cost.RatString()
	}
	return new(big.Rat).Quo(cost, big.NewRat(int64(sched.Second), 1)).FloatString(6) + " s"
}
