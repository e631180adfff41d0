package sim

import (
	"context"
	"errors"
	"time"

	"yardstick/sched"
)

// Policy decides which jobs run where. A value serves one run, from its first event to its last.
type Policy interface {
	Name() string
	// Class returns the class whose rules the policy's schedules keep: N, P, S,
	// M, Es or EPs; if it is slotted, so is every run.
	Class() sched.Class
	// Decide is called whenever something happened; see the package comment.
	// The view and its slices are valid until Decide returns.
	Decide(*View) (Decision, error)
}

// Requirer is a Policy that needs more of an instance than that its model has
// schedules of the policy's class.
type Requirer interface {
	Policy
	// Requires returns an error that says what the instance lacks.
	Requires(*sched.Instance) error
}

// Decision is what a policy wants done now: first the preemptions, then the
// starts in order. The simulator does not keep the slices.
type Decision struct {
	Preempt []sched.JobID
	Start   []Assignment
	// Wake asks to decide again at that time, after Now, if nothing happens
	// before. It replaces any earlier wake-up; 0 means none.
	Wake sched.Time
}

// Assignment starts a job on a placement. The simulator keeps the placement,
// which must not be changed any more.
type Assignment struct {
	Job   sched.JobID
	Place sched.Placement
}

// Predictor predicts numbers of iterations from what is known online. It may
// train on Instance.History when it is made, and on completions.
type Predictor interface {
	// Predict returns how many iterations the job is expected to take, at
	// least 0. It is called at most once per job, when a policy first asks.
	Predict(Job) (int64, error)
	// Observe is called at every completion, before the policy decides.
	Observe(j Job, iters int64)
}

// Options are the settings of a run; the zero value is usable.
type Options struct {
	// Predictor answers View.Predicted. Nil tells the policy the truth.
	Predictor Predictor
	// Slotted restricts decisions to the boundaries of Instance.Slot.
	Slotted bool
	// Clock reads a monotonic clock, to measure how long decisions take. Nil
	// measures nothing.
	Clock func() time.Duration
}

// Result is what a run produced.
type Result struct {
	Schedule *sched.Schedule

	Events    int64 // ends of phases and arrivals
	Decisions int64 // calls of Decide

	// DecisionP50 and DecisionP99 are quantiles of the time that one decision
	// took, rounded up by at most 1/16; 0 without a clock.
	DecisionP50, DecisionP99 time.Duration

	Preemptions int64
	// Futile counts the preemptions of jobs that had not trained since their
	// last start. FutileTime sums the loads that were lost, FutileGPUTime
	// these times the gang.
	Futile                    int64
	FutileTime, FutileGPUTime sched.Time

	// Clairvoyant reports whether the policy was told a true number of
	// iterations before the job completed. Of elastic jobs it always is.
	Clairvoyant bool
	// Predictions are the predictor's answers in the order they were asked
	// for.
	Predictions []Prediction
}

// Prediction is the number of iterations that was predicted for a job.
type Prediction struct {
	Job   sched.JobID
	Iters int64
}

// Errors that Run and the methods of View wrap.
var (
	// ErrHidden means that a policy asked about a job that is not released.
	ErrHidden = errors.New("no such job has been released")
	// ErrDecision means that a decision cannot be carried out.
	ErrDecision = errors.New("decision refused")
	// ErrStalled means that jobs are unfinished, but nothing is left to happen
	// or only wake-ups, of which ten thousand in a row came to nothing. Where
	// the instance has a deadline, jobs that were never started may be left out.
	ErrStalled = errors.New("stalled")
)

// Run replays the instance, which must be valid, under the policy.
//
// Cost: O(log R) per event and start with R jobs on the cluster, O(servers of
// the gang · log servers) per placement, plus the policy's own work.
//
// Errors: the context's when it is cancelled; ErrDecision, ErrStalled and the
// policy's own, naming the policy, the time and, where there is one, the job;
// a model or class that cannot be replayed.
func Run(ctx context.Context, in *sched.Instance, p Policy, o Options) (*Result, error) {
	e, err := newEngine(in, p, o)
	if err != nil {
		return nil, err
	}
	if err := e.run(ctx); err != nil {
		return nil, err
	}
	return e.finish(), nil
}
