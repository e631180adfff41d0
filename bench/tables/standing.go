package tables

import (
	"errors"
	"fmt"
	"math/big"

	"yardstick/bench"
	"yardstick/bench/suite"
	"yardstick/bounds"
	"yardstick/bounds/theorems"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// ErrBoundViolated means that a verified schedule is better than a proven bound
// that applies to it allows: one of the two is wrong.
var ErrBoundViolated = errors.New("a verified schedule is better than a proven bound")

// standing is everything proven about one instance under one objective: the
// bounds, and the verified schedules with their costs. All comparisons are
// exact. Where the objective is maximised, a cost is what is to be large, and
// bounds are upper ones.
type standing struct {
	objective sched.Objective
	bounds    []bounds.Bound
	schedules []verifiedCost
	// limited reports that some cell's values were shaped by a limit in time
	// or memory, so that a denominator may differ from run to run.
	limited bool
}

type verifiedCost struct {
	method string
	class  sched.Class
	cost   *big.Rat
}

// addSchedule adds a schedule unless the objective is not defined for it.
func (s *standing) addSchedule(method string, v *verify.Verified) {
	if cost := v.Cost(s.objective); cost != nil {
		s.schedules = append(s.schedules, verifiedCost{method, v.Class(), cost})
	}
}

// compare is negative if the cost a is better than b, and positive if it is
// worse.
func (s *standing) compare(a, b *big.Rat) int {
	if s.objective.Maximised() {
		return b.Cmp(a)
	}
	return a.Cmp(b)
}

// bound returns the strongest bound that may be compared with a schedule of class
// c, or nil. Of equal bounds it prefers a certified one, then the first.
func (s *standing) bound(c sched.Class) *bounds.Bound {
	var best *bounds.Bound
	for i := range s.bounds {
		b := &s.bounds[i]
		if b.Divides(c, s.objective) != nil {
			continue
		}
		if best == nil {
			best = b
			continue
		}
		order := s.compare(b.Value, best.Value)
		if order > 0 || order == 0 && b.Certified && !best.Certified {
			best = b
		}
	}
	return best
}

// bestKnown returns the cheapest verified schedule that shows what class c can reach,
// the first of equal ones, or nil. Its class Y must be related to c by Y → c, the
// reverse of bounds: then some schedule of c costs no more, so that the optimum of c
// is at most its cost. A schedule of any other class says nothing of c: one of P that
// costs 13 stands beside an optimum of N of 14.
func (s *standing) bestKnown(c sched.Class) *verifiedCost {
	var best *verifiedCost
	for i := range s.schedules {
		v := &s.schedules[i]
		if v.class.Reaches(c) && (best == nil || s.compare(v.cost, best.cost) < 0) {
			best = v
		}
	}
	return best
}

// optimum returns the best cost in class c if it is proven: a bound of the class
// meets a verified schedule. Otherwise it returns nil.
func (s *standing) optimum(c sched.Class) *big.Rat {
	bound, best := s.bound(c), s.bestKnown(c)
	if bound == nil || best == nil || bound.Value.Cmp(best.cost) != 0 {
		return nil
	}
	return best.cost
}

// check returns ErrBoundViolated if any schedule is better than a bound that
// applies to it.
func (s *standing) check() error {
	for _, v := range s.schedules {
		for _, b := range s.bounds {
			if b.Divides(v.class, s.objective) == nil && s.compare(v.cost, b.Value) < 0 {
				return fmt.Errorf("%w: %s of %s costs %s, bound %s of %s is %s",
					ErrBoundViolated, v.class, v.method, v.cost.RatString(), b.Class, b.Name, b.Value.RatString())
			}
		}
	}
	return nil
}

// ratio returns cost/denominator, or denominator/cost where the objective is
// maximised, so that it is 1 for the best; nil where there is none. A divisor of
// zero makes a ratio of one if the other is zero too, and none otherwise.
func (s *standing) ratio(cost, denominator *big.Rat) *float64 {
	if cost == nil || denominator == nil {
		return nil
	}
	if s.objective.Maximised() {
		cost, denominator = denominator, cost
	}
	r := 1.0
	if denominator.Sign() != 0 {
		r, _ = new(big.Rat).Quo(cost, denominator).Float64()
	} else if cost.Sign() != 0 {
		return nil
	}
	return &r
}

// standings collects what is proven per instance and objective.
type standings struct {
	byKey map[standingKey]*standing
	order []*standing
}

type standingKey struct {
	instance  *suite.Instance
	objective sched.Objective
}

func newStandings(results []bench.CellResult) *standings {
	all := &standings{byKey: map[standingKey]*standing{}}
	for i := range results {
		r := &results[i]
		for k, objective := range r.Cell.Objectives {
			st := all.of(r.Cell.Instance, objective)
			if r.Outcomes == nil {
				st.limited = st.limited || r.Limited()
				continue
			}
			st.bounds = append(st.bounds, r.Outcomes[k].Bounds...)
			st.limited = st.limited || r.Outcomes[k].Limited()
			if v := r.Verified[k]; v != nil {
				st.addSchedule(r.Cell.Method.Ref().String(), v)
			}
		}
	}
	return all
}

func (a *standings) of(in *suite.Instance, o sched.Objective) *standing {
	key := standingKey{in, o}
	if a.byKey[key] == nil {
		a.byKey[key] = &standing{objective: o}
		a.order = append(a.order, a.byKey[key])
	}
	return a.byKey[key]
}

// least returns what is proven about the least value of an objective in a class.
// The total completion time is known from the total job completion time too.
func (a *standings) least(in *suite.Instance, objective sched.Objective, c sched.Class) theorems.Interval {
	var known theorems.Interval
	a.narrow(&known, standingKey{in, objective}, c, new(big.Rat))
	if objective == sched.TotalCompletion {
		a.narrow(&known, standingKey{in, sched.TotalJCT}, c, sched.TotalJCT.ToBase(in.Instance, new(big.Rat)))
	}
	return known
}

// narrow narrows an interval down to what is proven under one objective, to
// which a constant is added.
func (a *standings) narrow(known *theorems.Interval, key standingKey, c sched.Class, constant *big.Rat) {
	st := a.byKey[key]
	if st == nil {
		return
	}
	if b := st.bound(c); b != nil {
		if v := new(big.Rat).Add(b.Value, constant); known.Lower == nil || v.Cmp(known.Lower) > 0 {
			known.Lower = v
		}
	}
	if best := st.bestKnown(c); best != nil {
		if v := new(big.Rat).Add(best.cost, constant); known.Upper == nil || v.Cmp(known.Upper) < 0 {
			known.Upper = v
		}
	}
}
