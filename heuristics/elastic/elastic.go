package elastic

import (
	"context"
	"time"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// Policy decides which jobs run on which containers. A value serves one run.
type Policy interface {
	Name() string
	// Class returns the class whose rules the policy's schedules keep: Es or
	// EPs.
	Class() sched.Class
	// Decide is called at every boundary at which something happened. The view
	// and its slices are valid until Decide returns.
	Decide(*View) (Decision, error)
}

// Decision is what a policy wants done now: first the preemptions, then the
// starts in order. The replay does not keep the slices.
type Decision struct {
	Preempt []sched.JobID
	Start   []sim.Assignment
	// Wake asks to decide again at the beginning of that slot, after the
	// present one, if nothing happens before. It replaces any earlier wake-up;
	// 0 means none.
	Wake int64
}

// Options are the settings of a run; the zero value is usable.
type Options struct {
	// Clock reads a monotonic clock, to measure how long decisions take. Nil
	// measures nothing.
	Clock func() time.Duration
}

// Run replays the instance, which must be valid and elastic, under the policy.
// Where the instance has a deadline, jobs that were never started may be left
// out at the end.
//
// Result.Clairvoyant is true, since the work of a released job is known, and
// nothing is predicted. Futile preemptions are those during a load.
//
// Cost: O(R) per boundary at which something happens, with R jobs on the
// cluster, plus the policy's own work.
//
// Errors, as those of sim.Run: the context's when it is cancelled;
// sim.ErrDecision, sim.ErrStalled and the policy's own, naming the policy, the
// slot and, where there is one, the job; a model or class that cannot be
// replayed.
func Run(ctx context.Context, in *sched.Instance, p Policy, o Options) (*sim.Result, error) {
	e, err := newEngine(in, p, o)
	if err != nil {
		return nil, err
	}
	if err := e.run(ctx); err != nil {
		return nil, err
	}
	return e.finish(), nil
}
