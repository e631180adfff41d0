package sched

import (
	"fmt"
	"math/big"
	"slices"
)

// Objective is what a schedule is judged by.
type Objective uint8

// The objectives. All are minimised but ScheduledWeight.
const (
	TotalCompletion    Objective = iota + 1 // Σ C_j
	WeightedCompletion                      // Σ w_j C_j
	TotalJCT                                // Σ (C_j − r_j)
	MeanJCT                                 // Σ (C_j − r_j) / n
	Makespan                                // max C_j
	ScheduledWeight                         // Σ w_j over the jobs done by the instance's deadline; maximised
)

var objectiveNames = []string{"", "total-completion", "weighted-completion", "total-jct", "mean-jct", "makespan", "scheduled-weight"}

// Objectives lists every objective.
func Objectives() []Objective {
	return []Objective{TotalCompletion, WeightedCompletion, TotalJCT, MeanJCT, Makespan, ScheduledWeight}
}

func (o Objective) String() string { return objectiveNames[o] }

// Maximised reports whether more is better.
func (o Objective) Maximised() bool { return o == ScheduledWeight }

// IsTime reports whether costs are in microseconds (times a weight for
// WeightedCompletion) rather than a weight.
func (o Objective) IsTime() bool { return o != ScheduledWeight }

// Integral reports whether the cost of every schedule of in is an integer.
func (o Objective) Integral(in *Instance) bool {
	switch o {
	case MeanJCT:
		return false
	case WeightedCompletion, ScheduledWeight:
		return !slices.ContainsFunc(in.Jobs, func(j Job) bool { return j.Weight != float64(int64(j.Weight)) })
	}
	return true
}

// Base returns the objective with the same best schedules that o differs from by a
// constant of the instance, or by a factor: TotalCompletion for TotalJCT and
// MeanJCT, and o itself for the others.
func (o Objective) Base() Objective {
	if o == TotalJCT || o == MeanJCT {
		return TotalCompletion
	}
	return o
}

// FromBase turns a value of o.Base(), or a bound on it, into one of o, in a new
// number: Σ (C_j − r_j) = Σ C_j − Σ r_j.
func (o Objective) FromBase(in *Instance, v *big.Rat) *big.Rat {
	out := new(big.Rat).Set(v)
	if o.Base() != o {
		out.Sub(out, in.releases())
	}
	if o == MeanJCT {
		out.Quo(out, new(big.Rat).SetInt64(int64(len(in.Jobs))))
	}
	return out
}

// ToBase is the inverse of FromBase.
func (o Objective) ToBase(in *Instance, v *big.Rat) *big.Rat {
	out := new(big.Rat).Set(v)
	if o == MeanJCT {
		out.Mul(out, new(big.Rat).SetInt64(int64(len(in.Jobs))))
	}
	if o.Base() != o {
		out.Add(out, in.releases())
	}
	return out
}

// releases returns Σ r_j in microseconds.
func (in *Instance) releases() *big.Rat {
	sum := newSum()
	for i := range in.Jobs {
		sum.add(int64(in.Jobs[i].Release))
	}
	return sum.value()
}

// MarshalText implements encoding.TextMarshaler.
func (o Objective) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *Objective) UnmarshalText(text []byte) error {
	i := slices.Index(objectiveNames, string(text))
	if i < 1 {
		return fmt.Errorf("objective %q is unknown: %v", text, Objectives())
	}
	*o = Objective(i)
	return nil
}

// Cost returns the objective's exact value for the given completion times,
// one per job, in microseconds (times a weight where weighted). A negative
// completion time marks a job left out, which only ScheduledWeight allows.
func (o Objective) Cost(in *Instance, completion []Time) *big.Rat {
	if len(completion) != len(in.Jobs) {
		panic(fmt.Sprintf("sched: %d completion times for %d jobs", len(completion), len(in.Jobs)))
	}
	if o == Makespan {
		return new(big.Rat).SetInt64(int64(slices.Max(completion)))
	}
	sum := newSum()
	for i, c := range completion {
		j := &in.Jobs[i]
		switch o {
		case TotalCompletion:
			sum.add(int64(c))
		case WeightedCompletion:
			sum.addWeighted(j.Weight, int64(c))
		case TotalJCT, MeanJCT:
			sum.add(int64(c - j.Release))
		case ScheduledWeight:
			if c >= 0 && c <= in.Deadline {
				sum.addWeighted(j.Weight, 1)
			}
		}
	}
	total := sum.value()
	if o == MeanJCT {
		total.Quo(total, new(big.Rat).SetInt64(int64(len(in.Jobs))))
	}
	return total
}

// exactSum adds int64s without overflow and weighted ones without rounding.
type exactSum struct {
	small int64
	big   *big.Int
	rat   *big.Rat
}

func newSum() *exactSum { return &exactSum{big: new(big.Int), rat: new(big.Rat)} }

func (s *exactSum) add(v int64) {
	if sum := s.small + v; (sum > s.small) == (v > 0) { // no overflow
		s.small = sum
		return
	}
	s.big.Add(s.big, big.NewInt(s.small))
	s.small = v
}

func (s *exactSum) addWeighted(w float64, v int64) {
	if w == 1 {
		s.add(v)
		return
	}
	r := new(big.Rat).SetFloat64(w)
	s.rat.Add(s.rat, r.Mul(r, new(big.Rat).SetInt64(v)))
}

func (s *exactSum) value() *big.Rat {
	s.big.Add(s.big, big.NewInt(s.small))
	s.small = 0
	return s.rat.Add(s.rat, new(big.Rat).SetInt(s.big))
}
