package hunt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/suite"
	"yardstick/bounds"
	"yardstick/sched"
	"yardstick/sched/verify"
	"yardstick/solvers/milp"
)

// Policy replays an instance under the policy that is hunted and returns its
// schedule. It is called from several goroutines.
type Policy func(context.Context, *sched.Instance) (*sched.Schedule, error)

// optimum is a proven optimum.
type optimum struct {
	cost     *big.Rat
	schedule *verify.Verified
	method   string
	class    sched.Class
}

// candidate is an instance with its ratio.
type candidate struct {
	genes   *genes
	in      *sched.Instance
	policy  *verify.Verified
	cost    *big.Rat // of the policy
	optimum optimum
	ratio   float64 // for the search; comparisons between bests are exact
	shown   *Case   // of a conjecture: cost over optimum is 1 and its excess
	events  []int64 // units at which the policy started or ended something
}

// better reports whether a's ratio exceeds b's.
func (a *candidate) better(b *candidate) bool {
	return new(big.Rat).Mul(a.cost, b.optimum.cost).Cmp(new(big.Rat).Mul(b.cost, a.optimum.cost)) > 0
}

// evaluator evaluates instances; one per island, as it keeps buffers.
type evaluator struct {
	breed     *breed
	objective sched.Objective
	policy    Policy
	against   Policy // in place of the optimum; nil for that
	rival     string // its name
	// conjecture is what is hunted in place of a policy; nil for that.
	conjecture *Conjecture
	pool       pool
	asked      int64 // instances that the policy was asked about
	failed     int64 // those of them on which it failed
	failure    error // the first of the policy
}

// errOpen means that the optimum was not proven within the limits.
var errOpen = errors.New("hunt: the optimum is not proven within the limits")

// evaluate returns the instance that the genes make, if its ratio is at least so
// much, and nil if it is proven to be less, if the policy does not finish or if
// the optimum is too hard to prove.
//
// Errors: a schedule that breaks a rule or costs less than the optimum; a policy
// that panics, or does something else the second time on one of the first instances; classes that no optimum here may divide.
func (e *evaluator) evaluate(ctx context.Context, g *genes, least float64) (*candidate, error) {
	in := e.breed.build(g)
	if in.Validate() != nil {
		return nil, nil // an elastic job may need a bandwidth that no server has
	}
	e.asked++
	if e.conjecture != nil {
		return e.violation(ctx, g, in, least)
	}
	s, err := e.policy(ctx, in)
	if errors.Is(err, bench.ErrPanicked) {
		return nil, err
	}
	if err != nil { // stalled, say: what it did is no schedule
		e.failed++
		e.failure = cmp.Or(e.failure, err)
		return nil, nil
	}
	if e.asked <= trial {
		again, err := e.policy(ctx, in)
		if err == nil {
			err = bench.SameDecisions(s, again)
		}
		if err != nil {
			return nil, fmt.Errorf("hunt: asked a second time: %w", err)
		}
	}
	v, err := verify.Check(in, s)
	if err != nil {
		return nil, fmt.Errorf("hunt: the policy's schedule: %w", err)
	}
	cost := v.Cost(e.objective)
	if cost == nil || cost.Sign() <= 0 {
		return nil, nil
	}
	best, err := e.compare(ctx, in, v.Class(), cost, least)
	if errors.Is(err, errOpen) || best == nil && err == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c := &candidate{genes: g, in: in, policy: v, cost: cost, optimum: *best, events: events(v)}
	if e.against == nil && c.optimum.cost.Cmp(cost) > 0 {
		return nil, fmt.Errorf("hunt: a schedule of class %v costs %v, less than the optimum %v of %s", v.Class(), cost, best.cost, best.method)
	}
	c.ratio = ratio(cost, best.cost)
	if c.ratio < least {
		return nil, nil
	}
	return c, nil
}

// violation returns the instance with what a conjecture comes to on it: a candidate whose
// ratio is 1 and the excess.
func (e *evaluator) violation(ctx context.Context, g *genes, in *sched.Instance, least float64) (*candidate, error) {
	shown, err := e.conjecture.evaluate(ctx, in, e.exactly, false)
	if bad(err) {
		return nil, err
	}
	if err != nil { // no value here
		e.failed++
		e.failure = cmp.Or(e.failure, err)
		return nil, nil
	}
	one := big.NewRat(1, 1)
	c := &candidate{genes: g, in: in, cost: new(big.Rat).Add(one, shown.Excess()), optimum: optimum{cost: one}, shown: shown}
	if c.ratio = ratio(c.cost, one); c.ratio < least {
		return nil, nil
	}
	for _, v := range shown.Values {
		if v.Schedule != nil {
			c.events = append(c.events, events(v.Schedule)...)
		}
	}
	return c, nil
}

// exactly is prove, and quick where the pool can be asked.
func (e *evaluator) exactly(ctx context.Context, in *sched.Instance, obj sched.Objective, class sched.Class) (*optimum, error) {
	if class != (sched.Class{Kind: sched.N}) || !e.pool.load(in, obj) {
		return prove(ctx, in, obj, class)
	}
	last, weight := int64(0), int64(1) // one job after the other, and all of the largest weight
	for i := range e.pool.jobs {
		j := &e.pool.jobs[i]
		last, weight = max(last, j.release), max(weight, j.weight)
	}
	for i := range e.pool.jobs {
		last += e.pool.jobs[i].length
	}
	of := evaluator{objective: obj, pool: e.pool}
	best, err := of.pooled(in, new(big.Rat).SetInt64(last*weight*int64(len(in.Jobs))), 0)
	e.pool = of.pool // with its buffers
	if best != nil || err != nil {
		return best, err
	}
	return prove(ctx, in, obj, class)
}

func ratio(cost, optimum *big.Rat) float64 {
	if optimum.Sign() == 0 {
		return math.Inf(1)
	}
	r, _ := new(big.Rat).Quo(cost, optimum).Float64()
	return r
}

// events lists the times, in units, at which the policy started or ended something.
func events(v *verify.Verified) []int64 {
	var out []int64
	for _, s := range v.Schedule().Segments {
		out = append(out, int64(s.Start/unit), int64(s.End/unit))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// compare returns what the policy is compared with: the optimum, or another policy, nil
// where that does not finish.
func (e *evaluator) compare(ctx context.Context, in *sched.Instance, class sched.Class, cost *big.Rat, least float64) (*optimum, error) {
	if e.against == nil {
		return e.optimum(ctx, in, class, cost, least)
	}
	v, err := checked(ctx, in, e.against)
	if bad(err) {
		return nil, fmt.Errorf("hunt: %s: %w", e.rival, err)
	}
	if err != nil || v.Cost(e.objective) == nil || v.Cost(e.objective).Sign() <= 0 {
		return nil, nil
	}
	return &optimum{cost: v.Cost(e.objective), schedule: v, method: e.rival, class: v.Class()}, nil
}

// optimum returns the least cost of the schedules that the policy's class is
// compared with, or nil if the ratio is proven to be less than asked for.
func (e *evaluator) optimum(ctx context.Context, in *sched.Instance, class sched.Class, cost *big.Rat, least float64) (*optimum, error) {
	if class == (sched.Class{Kind: sched.N}) && e.pool.load(in, e.objective) {
		best, err := e.pooled(in, cost, least)
		if best != nil || err != nil || e.pool.nodes <= maxPoolNodes {
			return best, err
		}
	}
	if least > 1 && e.hopeless(in, class, cost, least) {
		return nil, nil
	}
	return prove(ctx, in, e.objective, class)
}

// pooled asks the pool.
func (e *evaluator) pooled(in *sched.Instance, cost *big.Rat, least float64) (*optimum, error) {
	// Of the optimum only matters whether it is at most cost/least, and never
	// that it exceeds the policy's cost, which is one of a schedule.
	most := ratio(cost, new(big.Rat).SetInt64(1))
	if least > 1 {
		most = most / least * (1 + 1e-9)
	}
	shift, _ := e.objective.ToBase(in, new(big.Rat)).Float64()
	found, ok, known := e.pool.optimum(int64(most+shift) + 2)
	if !ok || !known {
		return nil, nil
	}
	s := e.pool.schedule(in)
	v, err := verify.Check(in, s)
	if err != nil {
		return nil, fmt.Errorf("hunt: the schedule of least cost: %w", err)
	}
	value := e.objective.FromBase(in, new(big.Rat).SetInt64(found))
	if value.Cmp(v.Cost(e.objective)) != 0 {
		return nil, fmt.Errorf("hunt: the schedule of least cost costs %v, not %v", v.Cost(e.objective), value)
	}
	return &optimum{cost: value, schedule: v, method: "pool", class: v.Class()}, nil
}

// hopeless reports whether a closed lower bound proves that the ratio is less.
func (e *evaluator) hopeless(in *sched.Instance, class sched.Class, cost *big.Rat, least float64) bool {
	best, err := bounds.Best(in, e.objective)
	if err != nil || best.Divides(class, e.objective) != nil || best.Value.Sign() <= 0 {
		return false
	}
	return ratio(cost, best.Value) < least
}

// prove finds the least cost that schedules of the given class are compared
// with: that of their own class, but of all that share where the class is that of
// exclusive schedules of the sharing model. It is found by the first exact method of
// the model that applies.
//
// Errors: the instance is too hard for the limits; there is no exact method for
// the class.
func prove(ctx context.Context, in *sched.Instance, obj sched.Objective, class sched.Class) (*optimum, error) {
	problem := bench.Problem{Instance: in, Objectives: []sched.Objective{obj}, Limits: suite.Limits{Nodes: hunted[in.Model].nodes}}
	var reasons []string
	for _, name := range catalogue.ExactNames(in.Model) {
		method, err := catalogue.Resolve(catalogue.Proving(name, class))
		if err != nil {
			return nil, err
		}
		out, err := method.Run(ctx, problem)
		if err != nil {
			return nil, err
		}
		if out[0].Termination != milp.Skipped {
			return proven(in, method.Ref(), out[0], class)
		}
		reasons = append(reasons, out[0].Message)
	}
	return nil, fmt.Errorf("hunt: there is no exact method: %s", strings.Join(reasons, "; "))
}

// proven returns the optimum that a method has proven for schedules of the given class.
func proven(in *sched.Instance, method suite.MethodRef, out bench.Outcome, class sched.Class) (*optimum, error) {
	if out.Schedule == nil || len(out.Bounds) == 0 {
		return nil, errOpen
	}
	lower := &out.Bounds[0]
	if err := lower.Divides(class, lower.Objective); err != nil {
		return nil, fmt.Errorf("hunt: there is no exact method to compare with: %w", err)
	}
	v, err := verify.Check(in, out.Schedule)
	if err != nil {
		return nil, fmt.Errorf("hunt: the optimal schedule of %s: %w", method, err)
	}
	cost := v.Cost(lower.Objective)
	if cost.Cmp(lower.Value) != 0 {
		return nil, errOpen
	}
	return &optimum{cost: cost, schedule: v, method: method.String(), class: lower.Class}, nil
}
