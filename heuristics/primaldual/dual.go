package primaldual

import (
	"fmt"
	"math/big"

	"yardstick/sched"
)

// Form says how A_dual and A_online repeat a solver that is not exact.
type Form uint8

// The forms.
const (
	// Certified solves one maximum weighted schedule problem after the other,
	// each for the jobs that are left, until the weight together is at least what
	// the first one's bound allows any schedule, or no job is left. Each is as long
	// as its jobs take, and starts where the one before ends.
	Certified Form = iota
	// Literal is Algorithm 2: a fixed number alpha of problems, tau slots apart.
	// It ends early when no job is left, as the paper suggests after Theorem 5.
	Literal
)

var formNames = []string{"certified", "literal"}

func (f Form) String() string { return formNames[f] }

// MarshalText implements encoding.TextMarshaler.
func (f Form) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (f *Form) UnmarshalText(text []byte) error { return parse(f, text, formNames, "form") }

// Round is the result of A_dual on one problem.
type Round struct {
	Tau   int64 // horizon of the problem
	Jobs  int   // in the problem
	Runs  []Run // from slot 0 on
	Slots int64 // how long the schedule is
	// Alpha is the number of problems solved that scheduled something.
	Alpha int
	// Unfit is how many schedules had fewer workers than they need, see [PrintedSchedules].
	Unfit int
	// Weight is that of the jobs scheduled, and Upper what it is proven to be
	// at most when all are to complete by Tau.
	Weight, Upper *big.Rat
}

// Reached reports whether the schedule is one as Lemma 1 asks for, of at least
// the optimal weight: then Alpha is the number that it calls alpha.
func (r *Round) Reached() bool { return r.Weight.Cmp(r.Upper) >= 0 }

// Dual is A_dual, Algorithm 2: a schedule of at most alpha·tau slots of jobs
// with at least the weight that is possible within tau slots. alpha is the number
// of problems to solve in the literal form; the certified form finds its own.
//
// It returns an error if the solver does, or exceeds the horizon, or schedules a
// job that it was not given.
func Dual(solver MaxWeight, p Problem, form Form, alpha int) (*Round, error) {
	r := &Round{Tau: p.Horizon, Jobs: len(p.Jobs), Weight: new(big.Rat)}
	left := append([]sched.JobID(nil), p.Jobs...)
	for sub := 1; len(left) > 0 && (form == Certified || sub <= alpha); sub++ {
		b, err := solver.Solve(Problem{Model: p.Model, Jobs: left, Horizon: p.Horizon, Bounded: sub == 1})
		if err != nil {
			return nil, fmt.Errorf("primaldual: %s: %w", solver.Name(), err)
		}
		if r.Upper == nil {
			r.Upper = b.Upper
		}
		r.Unfit += b.Unfit
		if len(b.Runs) == 0 {
			break
		}
		at := r.Slots
		if form == Literal {
			at = int64(sub-1) * p.Horizon
		}
		if left, err = r.add(p, b, left, at); err != nil {
			return nil, fmt.Errorf("primaldual: %s: %w", solver.Name(), err)
		}
		r.Alpha = sub
		if form == Certified && r.Reached() {
			break
		}
	}
	if r.Upper == nil { // there were no jobs, or no problems to solve
		r.Upper = new(big.Rat)
		for _, id := range p.Jobs {
			r.Upper.Add(r.Upper, weightOf(p.Model.In, id))
		}
	}
	return r, nil
}

func weightOf(in *sched.Instance, id sched.JobID) *big.Rat {
	return new(big.Rat).SetFloat64(in.Jobs[id].Weight)
}

// add appends a batch that begins in the given slot, and returns the jobs that
// are left.
func (r *Round) add(p Problem, b *Batch, left []sched.JobID, at int64) ([]sched.JobID, error) {
	chosen := make([]bool, len(p.Model.In.Jobs))
	for _, x := range b.Runs {
		if x.Job < 0 || int(x.Job) >= len(chosen) || chosen[x.Job] || x.Start < 0 || x.End <= x.Start || x.End > p.Horizon {
			return nil, fmt.Errorf("job %d is put in slots %d to %d of %d, or twice", x.Job, x.Start, x.End, p.Horizon)
		}
		chosen[x.Job] = true
	}
	rest := make([]sched.JobID, 0, len(left))
	for _, id := range left {
		if chosen[id] {
			r.Weight.Add(r.Weight, weightOf(p.Model.In, id))
		} else {
			rest = append(rest, id)
		}
	}
	if len(rest)+len(b.Runs) != len(left) {
		return nil, fmt.Errorf("%d of %d jobs are scheduled, but %d are left", len(b.Runs), len(left), len(rest))
	}
	for _, x := range b.Runs {
		x.Start, x.End = x.Start+at, x.End+at
		r.Runs = append(r.Runs, x)
		r.Slots = max(r.Slots, x.End)
	}
	return rest, nil
}
