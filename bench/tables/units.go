package tables

import (
	"math"
	"math/big"
	"time"

	"yardstick/bench/record"
	"yardstick/sched"
)

// inUnit converts a cost from microseconds to seconds where it is a time.
func inUnit(o sched.Objective, r *big.Rat) *big.Rat {
	if r == nil || !o.IsTime() {
		return r
	}
	return new(big.Rat).Quo(r, big.NewRat(int64(sched.Second), 1))
}

func finite(v float64) record.Opt[float64] {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return record.Opt[float64]{}
	}
	return record.Some(v)
}

func seconds(d time.Duration) record.Opt[float64] { return record.Some(d.Seconds()) }

// gap is |primal − dual|/|primal|: 0 where both are 0, missing where primal
// alone is or where one of the two is not known.
func gap(primal, dual float64) record.Opt[float64] {
	if primal == dual {
		return finite(0)
	}
	return finite(math.Abs(primal-dual) / math.Abs(primal))
}

// stated is a side of an inequality. Those of 10^30 and more, which records refuse,
// are left out: Theorem 1 of the A-SRPT paper as printed says such things of
// predictions that are wrong by much.
func stated(r *big.Rat) record.Opt[float64] {
	if v := record.FromRat(r); math.Abs(v.V) < record.Most {
		return v
	}
	return record.Opt[float64]{}
}

func inSeconds(microseconds *big.Rat) *big.Rat { return inUnit(sched.TotalCompletion, microseconds) }
