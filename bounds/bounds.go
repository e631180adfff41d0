// Package bounds proves lower bounds on what any schedule of an instance can
// cost, in closed form or by simulating one fast machine.
//
// # The relaxation
//
// Most bounds here hold for the fluid class F(1): each job j has work of d_j
// units of time, is served at a rate between 0 and 1 from its release on, holds
// g_j GPUs times that rate, and all jobs together never hold more than the G
// GPUs of the cluster. Servers, the shape of gangs and every cost of preempting
// or moving a job are gone. d_j is load time plus ceil(n·alpha_min), alpha_min
// being the least time per iteration over all placements in the empty cluster
// ([partition.LeastRunTime]).
//
// A non-preemptive schedule (class N) occupies exactly g_j GPUs for at least
// d_j. A preemptive one (P) trains at a rate of at most 1/alpha_min while it
// occupies g_j GPUs, so its training segments, whose lengths are whole
// microseconds, take at least ceil(n·alpha_min) together, and it loads at least
// once. Both are fluid schedules with the same completion times, so the bounds
// divide the costs of N, P and P0. They do not divide the cost of schedules
// that share GPUs: two jobs on one GPU may do more than one GPU's work.
//
// Some bounds use more of the rules. [Packing], [PackedSRPT] and [PackedBusyTime]
// need that a job holds all of its GPUs or none (P0), and [Lagrangian] that it is
// never preempted (N).
//
// Every value is computed from the raw job data in integers and rationals and
// rounded only downwards; where all costs are integers it is then rounded up to
// one. docs/bounds.md has the proofs.
package bounds

import (
	"errors"
	"fmt"
	"math/big"

	"yardstick/internal/number"
	"yardstick/sched"
)

// Bound is a proven lower bound on the cost of every schedule of one instance, or
// an upper one where the objective is maximised.
type Bound struct {
	Name      string
	Class     sched.Class // the weakest class it is proven for
	Objective sched.Objective
	Value     *big.Rat // microseconds, times a weight where weighted: as Objective.Cost
	// Proof is what a certificate is made of; nil if there is none.
	Proof *Proof `json:"-"`
	// Certified reports that package certify has accepted Certificate, which
	// states this bound. Only who called it sets them.
	Certified   bool
	Certificate []byte `json:",omitempty"`
}

// Divides returns nil if the bound may be the denominator of the cost, under
// the given objective, of a schedule of the given class, and otherwise the
// reason why not.
func (b *Bound) Divides(class sched.Class, obj sched.Objective) error {
	switch {
	case obj != b.Objective:
		return fmt.Errorf("bounds: %s bounds %v, not %v", b.Name, b.Objective, obj)
	case b.Class.Slotted && !class.Slotted:
		return fmt.Errorf("bounds: %s holds for slotted schedules (%v) only, and class %v is not slotted", b.Name, b.Class, class)
	case !class.Reaches(b.Class):
		return fmt.Errorf("bounds: %s is proven for class %v, and schedules of class %v may cost less", b.Name, b.Class, class)
	}
	return nil
}

// method is one way to bound.
type method struct {
	name  string
	kind  sched.Kind // the weakest class it is proven for
	proof string     // its kind
	eval  func(*workload, sched.Objective) (*big.Rat, error)
}

const (
	lb0 = iota
	srpt
	ranked
	meanBusyTime
	area
	energy
	packing
)

func methods() []method {
	return []method{
		lb0:          {"lb0", sched.Fluid, "lb0", (*workload).lb0},
		srpt:         {"srpt", sched.Fluid, "srpt", (*workload).srpt},
		ranked:       {"srpt-ranked", sched.Fluid, "srpt-ranked", (*workload).ranked},
		meanBusyTime: {"mean-busy-time", sched.Fluid, "mean-busy-time", (*workload).meanBusyTime},
		area:         {"area", sched.Fluid, "energy", (*workload).area}, // which is at least as large
		energy:       {"energy", sched.Fluid, "energy", (*workload).energy},
		packing:      {"packing", sched.P0, "energy", (*workload).packing},
	}
}

// LB0 is the cost if every job ran alone from its release: C_j ≥ r_j + d_j,
// because no job is served at a rate above 1. It applies to every minimised
// objective. Cost: O(n).
func LB0(in *sched.Instance, obj sched.Objective) (Bound, error) { return one(in, obj, lb0) }

// SRPT is the total completion time of shortest remaining processing time
// first on one machine of unit speed, with releases r_j and sizes
// q_j = g_j d_j/G.
//
// A fluid schedule serves job j at rate (its rate)·g_j/G of that machine's
// speed, at most 1 in all, so it is a preemptive schedule of the q_j with the
// same completion times; SRPT is optimal among those. With weights this is not
// so: the bound applies only where all are equal. Cost: O(n log n).
//
// Source: Schrage, A proof of the optimality of the shortest remaining
// processing time discipline (1968).
func SRPT(in *sched.Instance, obj sched.Objective) (Bound, error) { return one(in, obj, srpt) }

// Ranked is Σ_k max(k-th smallest r_j + d_j, k-th completion under SRPT), which
// is at least LB0 and at least SRPT, for total completion time and what is
// affine in it.
//
// The k-th completion of a fluid schedule is no earlier than either: its
// completion times exceed the r_j + d_j job by job, hence in sorted order, and
// SRPT has completed the most jobs at every instant. Weights must be equal.
// Cost: O(n log n).
func Ranked(in *sched.Instance, obj sched.Objective) (Bound, error) { return one(in, obj, ranked) }

// MeanBusyTime is Σ w_j M_j + ½ Σ w_j d_j, where M_j is the mean time at which
// the machine of [SRPT] works on job j when it always serves the released job
// of largest w_j/q_j.
//
// Let a fluid schedule serve j at rates y_j(t) ≤ 1 with integral d_j until C_j.
// The mean of t under y_j/d_j is at most C_j − d_j/2, because the density is at
// most 1/d_j. The same means are the mean busy times of the schedule's work on
// the unit machine, and over all preemptive schedules of that machine Σ w_j M_j
// is least for the static priorities w_j/q_j. It applies with weights; without,
// w_j = 1. Cost: O(n log n).
//
// Source: Goemans, Improved approximation algorithms for scheduling with
// release dates (1997); with equal releases, Eastman, Even and Isaacs, Bounds
// for the optimal scheduling of n jobs on m processors (1964).
func MeanBusyTime(in *sched.Instance, obj sched.Objective) (Bound, error) {
	return one(in, obj, meanBusyTime)
}

// Area is max over release dates t of t + Σ_{r_j ≥ t} g_j d_j/G, a bound on the
// makespan: the work released from t on takes that long on all GPUs. Cost:
// O(n log n).
func Area(in *sched.Instance, obj sched.Objective) (Bound, error) { return one(in, obj, area) }

// Energy is max over t ≤ max_j r_j + d_j of
//
//	t + Σ_j g_j·max(0, r_j + d_j − max(t, r_j))/G,
//
// a bound on the makespan that is at least [Area] and [LB0].
//
// The makespan is at least every such t. At a rate of at most 1, job j has done at most t − r_j of its work by t, so
// that at least r_j + d_j − max(t, r_j) is left, and after t all GPUs together
// need the sum divided by G. Cost: O(n log n).
//
// Source: left-shifted work of energetic reasoning, as in P. Baptiste, C. Le
// Pape, W. Nuijten, Satisfiability tests and time-bound adjustments for
// cumulative scheduling problems (1999).
func Energy(in *sched.Instance, obj sched.Objective) (Bound, error) { return one(in, obj, energy) }

// Packing is [Energy] with f(g_j/G) in place of g_j/G, for the best of several
// functions f such that Σ x ≤ 1 implies Σ f(x) ≤ 1: gangs that run at one time
// fit the cluster, and so do their images. One f makes every gang of more than
// half of the GPUs need all of them.
//
// The functions are g/G' in place of g/G, G' being the most GPUs that gangs can
// hold together; for k = 1, …, 8, f(x) = x if (k+1)x is an integer and
// ⌊(k+1)x⌋/k otherwise; and, for the eight largest gangs g ≤ G/2, f(x) = 1 above
// 1 − g/G, 0 below g/G and x between. It holds for P0, where a job holds all of
// its GPUs or none, but not for fluid schedules. Cost: O(n log n).
//
// Source: S. P. Fekete, J. Schepers, New classes of fast lower bounds for bin
// packing problems, Math. Program. 91 (2001).
func Packing(in *sched.Instance, obj sched.Objective) (Bound, error) { return one(in, obj, packing) }

// All returns every bound that applies to the objective. It returns
// sched.ErrNotApplicable if none does.
func All(in *sched.Instance, obj sched.Objective) ([]Bound, error) {
	w, err := newWorkload(in, obj)
	if err != nil {
		return nil, err
	}
	var out []Bound
	for _, m := range methods() {
		b, err := w.bound(m, obj)
		switch {
		case err == nil:
			out = append(out, b)
		case !errors.Is(err, sched.ErrNotApplicable):
			return nil, err
		}
	}
	return out, nil
}

// Best returns the largest bound that applies to the objective.
func Best(in *sched.Instance, obj sched.Objective) (Bound, error) {
	all, err := All(in, obj)
	if err != nil {
		return Bound{}, err
	}
	best := all[0] // lb0 always applies
	for _, b := range all[1:] {
		if b.Value.Cmp(best.Value) > 0 {
			best = b
		}
	}
	return best, nil
}

func one(in *sched.Instance, obj sched.Objective, which int) (Bound, error) {
	w, err := newWorkload(in, obj)
	if err != nil {
		return Bound{}, err
	}
	return w.bound(methods()[which], obj)
}

// bound evaluates a method and rounds its value up to an integer where every
// cost is one.
func (w *workload) bound(m method, obj sched.Objective) (Bound, error) {
	w.choice = closedData{Least: w.claims}
	v, err := m.eval(w, obj)
	if err != nil {
		return Bound{}, fmt.Errorf("bounds: %s: %w", m.name, err)
	}
	if obj.Integral(w.in) {
		v = number.Ceil(v)
	}
	return Bound{Name: m.name, Class: sched.Class{Kind: m.kind}, Objective: obj, Value: v, Proof: w.proof(m)}, nil
}
