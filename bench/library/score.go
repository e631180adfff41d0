package library

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"yardstick/bench/record"
	"yardstick/bounds"
	"yardstick/sched/verify"
)

// Run is what a policy came to on one instance.
type Run struct {
	Instance string
	Jobs     int
	Cost     *big.Rat // nil if there is no schedule that can be compared
	Best     *big.Rat // cost of the best schedule known; nil if none is
	Bound    *big.Rat // nil if nothing is proven
	Why      string   // there is no cost
	// Suits is false of an instance that the policy is not made for: it does not count.
	Suits bool
	// Better reports that the policy beats the best schedule known.
	Better bool
}

// Compare compares a policy's schedule with what is known of an instance.
func (s *Standing) Compare(v *verify.Verified) Run {
	e := s.Entry
	r := Run{Instance: e.Name, Jobs: e.Features.Jobs, Suits: true, Best: s.Cost(), Bound: s.Bound}
	cost := v.Cost(e.Objective)
	about := bounds.Bound{Class: e.Class, Objective: e.Objective}
	switch {
	case cost == nil:
		r.Why = "the schedule leaves jobs out"
	case about.Divides(v.Class(), e.Objective) != nil:
		r.Why = fmt.Sprintf("the schedule is of class %v, which may cost less than any of class %v", v.Class(), e.Class)
	default:
		r.Cost, r.Better = cost, s.Better(v) && v.Class().Reaches(e.Class)
	}
	return r
}

// AtLeast is how many times the cost of the best schedule known the policy's is: never
// more than the ratio to the optimum. It is infinite where there is no cost, and not a
// number where nothing is known.
func (r *Run) AtLeast() float64 { return ratio(r.Cost, r.Best) }

// AtMost is how many times the bound the cost is: never less than the ratio to the
// optimum.
func (r *Run) AtMost() float64 { return ratio(r.Cost, r.Bound) }

func ratio(cost, by *big.Rat) float64 {
	switch {
	case by == nil || by.Sign() <= 0:
		return math.NaN()
	case cost == nil:
		return math.Inf(1)
	}
	v, _ := new(big.Rat).Quo(cost, by).Float64()
	return v
}

// Score is what a policy came to on many instances.
type Score struct {
	Counted int // instances that suit the policy
	Failed  int // those without a cost, which count as infinitely bad in the profile
	// AtLeast and AtMost are shifted geometric means of the excess over the best known and
	// over the bound, of the instances that have a cost: 0.1 is 10 %.
	AtLeast, AtMost float64
	Profile         []float64 // share of the counted instances with AtLeast at most as in ProfileAt
	Better          int       // instances on which the policy beats the best known
}

// ProfileAt are the ratios at which a profile is printed.
var ProfileAt = []float64{1, 1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 5}

// Shift is what is added to every excess before geometric means are taken, and taken away
// after: 1 %, so that optima count, and the smallest excesses do not decide.
const Shift = 0.01

// Summarize scores the runs of a policy.
func Summarize(runs []Run) Score {
	s := Score{Profile: make([]float64, len(ProfileAt))}
	var least, most []float64
	for i := range runs {
		r := &runs[i]
		if !r.Suits {
			continue
		}
		s.Counted++
		if r.Cost == nil {
			s.Failed++
		}
		if r.Better {
			s.Better++
		}
		if v := r.AtLeast(); v <= math.MaxFloat64 {
			least = append(least, v-1)
		}
		if v := r.AtMost(); v <= math.MaxFloat64 {
			most = append(most, v-1)
		}
		for k, at := range ProfileAt {
			if r.AtLeast() <= at {
				s.Profile[k]++
			}
		}
	}
	for k := range s.Profile {
		s.Profile[k] /= float64(max(s.Counted, 1))
	}
	s.AtLeast, s.AtMost = ShiftedMean(least), ShiftedMean(most)
	return s
}

// ShiftedMean is the shifted geometric mean exp(mean of log(x + Shift)) − Shift. What a
// policy that beats the best known falls below 0 by more than half of the shift counts as
// that half.
func ShiftedMean(list []float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, x := range list {
		sum += math.Log1p(max(x, -Shift/2) / Shift)
	}
	return Shift * math.Expm1(sum/float64(len(list))) // exactly 0 where all are
}

// Brackets sums up the table of a library.
type Brackets struct {
	Instances                     int
	Optimal, Close, Open, Partial int
	Proofs                        int // bounds with a proof that strangers check
	Median                        float64
	Mean                          float64 // shifted geometric mean of the gaps
	MedianTo1000                  float64 // median gap of the instances with up to 1,000 jobs
}

// Sum sums up the rows. A side that is missing counts as an infinite gap in medians, and
// not in the mean.
func Sum(rows []record.LibraryRow) Brackets {
	b := Brackets{Instances: len(rows)}
	var all, small, finite []float64
	for i := range rows {
		r := &rows[i]
		*map[string]*int{StatusOptimal: &b.Optimal, StatusClose: &b.Close, StatusOpen: &b.Open, StatusPartial: &b.Partial}[r.Status]++
		if r.Proof {
			b.Proofs++
		}
		gap := math.Inf(1)
		if r.Gap.Valid {
			gap = r.Gap.V
			finite = append(finite, gap)
		}
		all = append(all, gap)
		if r.Jobs <= 1000 {
			small = append(small, gap)
		}
	}
	b.Median, b.MedianTo1000, b.Mean = median(all), median(small), ShiftedMean(finite)
	return b
}

// median is the lower median.
func median(list []float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	slices.Sort(list)
	return list[(len(list)-1)/2]
}
