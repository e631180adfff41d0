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

// objectives says what the objectives are. A total is Σ C_j; weighted, each term is
// multiplied by w_j; from releases, C_j − r_j stands for C_j; a mean is the sum that
// it is of, divided by n. Methods ask for these properties: what is no total, only
// those know that name it.
var objectives = [...]struct {
	name                          string
	total, weighted, fromReleases bool
	meanOf                        Objective
}{
	TotalCompletion:    {name: "total-completion", total: true},
	WeightedCompletion: {name: "weighted-completion", total: true, weighted: true},
	TotalJCT:           {name: "total-jct", total: true, fromReleases: true},
	MeanJCT:            {name: "mean-jct", total: true, fromReleases: true, meanOf: TotalJCT},
	Makespan:           {name: "makespan"},
	ScheduledWeight:    {name: "scheduled-weight"},
}

// Objectives lists every objective.
func Objectives() []Objective {
	var all []Objective
	for o := TotalCompletion; int(o) < len(objectives); o++ {
		all = append(all, o)
	}
	return all
}

func (o Objective) String() string { return objectives[o].name }

// IsTotal reports whether o is a sum of completion times, weighted or not and
// counted from releases or not, or such a sum divided by the number of jobs.
func (o Objective) IsTotal() bool { return objectives[o].total }

// Sum returns the total that o is the mean of, and o itself if it is no mean.
func (o Objective) Sum() Objective {
	if sum := objectives[o].meanOf; sum != 0 {
		return sum
	}
	return o
}

// Weighted reports whether o is a total in which job j counts w_j times.
func (o Objective) Weighted() bool { return objectives[o].weighted }

// Maximised reports whether more is better.
func (o Objective) Maximised() bool { return o == ScheduledWeight }

// IsTime reports whether costs are in microseconds (times a weight where weighted)
// rather than a weight.
func (o Objective) IsTime() bool { return o != ScheduledWeight }

// Integral reports whether the cost of every schedule of in is an integer.
func (o Objective) Integral(in *Instance) bool {
	switch {
	case o.Sum() != o:
		return false
	case o.Weighted(), o == ScheduledWeight:
		return !slices.ContainsFunc(in.Jobs, func(j Job) bool { return j.Weight != float64(int64(j.Weight)) })
	}
	return true
}

// Base returns the objective with the same best schedules that o differs from by a
// constant of the instance, or by a factor: TotalCompletion or WeightedCompletion for
// totals, and o itself for the others.
func (o Objective) Base() Objective {
	switch {
	case o.Weighted():
		return WeightedCompletion
	case o.IsTotal():
		return TotalCompletion
	}
	return o
}

// FromBase turns a value of o.Base(), or a bound on it, into one of o, in a new
// number: Σ w_j (C_j − r_j) = Σ w_j C_j − Σ w_j r_j.
func (o Objective) FromBase(in *Instance, v *big.Rat) *big.Rat {
	out := new(big.Rat).Set(v)
	if objectives[o].fromReleases {
		out.Sub(out, o.releases(in))
	}
	if o.Sum() != o {
		out.Quo(out, new(big.Rat).SetInt64(int64(len(in.Jobs))))
	}
	return out
}

// ToBase is the inverse of FromBase.
func (o Objective) ToBase(in *Instance, v *big.Rat) *big.Rat {
	out := new(big.Rat).Set(v)
	if o.Sum() != o {
		out.Mul(out, new(big.Rat).SetInt64(int64(len(in.Jobs))))
	}
	if objectives[o].fromReleases {
		out.Add(out, o.releases(in))
	}
	return out
}

// releases returns Σ r_j, or Σ w_j r_j where weighted.
func (o Objective) releases(in *Instance) *big.Rat {
	sum := newSum()
	for i := range in.Jobs {
		sum.addWeighted(o.weight(&in.Jobs[i]), int64(in.Jobs[i].Release))
	}
	return sum.value()
}

// weight returns how often a job counts in a total.
func (o Objective) weight(j *Job) float64 {
	if o.Weighted() {
		return j.Weight
	}
	return 1
}

// MarshalText implements encoding.TextMarshaler.
func (o Objective) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *Objective) UnmarshalText(text []byte) error {
	all := Objectives()
	i := slices.IndexFunc(all, func(o Objective) bool { return o.String() == string(text) })
	if i < 0 {
		return fmt.Errorf("objective %q is unknown: %v", text, all)
	}
	*o = all[i]
	return nil
}

// Cost returns the objective's exact value for the given completion times,
// one per job, in microseconds (times a weight where weighted). A negative
// completion time marks a job left out, which only ScheduledWeight allows.
func (o Objective) Cost(in *Instance, completion []Time) *big.Rat {
	if len(completion) != len(in.Jobs) {
		panic(fmt.Sprintf("sched: %d completion times for %d jobs", len(completion), len(in.Jobs)))
	}
	sum := newSum()
	switch {
	case o.IsTotal():
		for i, c := range completion {
			sum.addWeighted(o.weight(&in.Jobs[i]), int64(c))
		}
	case o == Makespan:
		sum.add(int64(slices.Max(completion)))
	case o == ScheduledWeight:
		for i, c := range completion {
			if c >= 0 && c <= in.Deadline {
				sum.addWeighted(in.Jobs[i].Weight, 1)
			}
		}
	default:
		panic(fmt.Sprintf("sched: %v has no cost", o))
	}
	return o.FromBase(in, sum.value())
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
