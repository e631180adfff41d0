package lazer

import (
	"fmt"
	"math/big"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// phase is where a job is in the policy's eyes.
type phase uint8

const (
	queued   phase = iota // in the waiting queue
	deferred              // waits for the end of its deferral
	pending               // holds some GPUs and waits for its victims' pauses
	active                // loads or trains
	pausing               // saves its state after a preemption
)

// job is what the policy keeps of an unfinished job.
type job struct {
	id          sched.JobID
	gang        int
	load, pause sched.Time
	phase       phase

	// left is the remaining training time at trainFrom, or now where the job
	// does not train.
	left, trainFrom sched.Time

	flags int // deferrals that have chosen the job for a victim
	held  int // GPUs that a pending job has
	heir  *job
	at    int // index in jobs.running

	choice *outcome // of the job's deferral, until its load has ended
}

// remaining returns T' at a time.
func (j *job) remaining(now sched.Time) sched.Time {
	if j.phase != active || now <= j.trainFrom {
		return j.left
	}
	return max(j.left-(now-j.trainFrom), 0)
}

// jobs are the unfinished jobs, and which of them may be victims.
type jobs struct {
	all     map[sched.JobID]*job
	running []*job // pending and active
}

func (js *jobs) run(j *job, p phase) {
	if j.phase != pending && j.phase != active {
		j.at = len(js.running)
		js.running = append(js.running, j)
	}
	j.phase = p
}

// stop takes a pending or active job off the running ones.
func (js *jobs) stop(j *job, p phase) {
	last := js.running[len(js.running)-1]
	js.running[j.at], last.at = last, j.at
	js.running = js.running[:len(js.running)-1]
	j.phase = p
}

// arrive makes the policy's record of a job.
func (js *jobs) arrive(v *sim.View, id sched.JobID) (*job, error) {
	facts, err := v.Job(id)
	if err != nil {
		return nil, err
	}
	j := &job{id: id, gang: facts.Gang, load: facts.Load, pause: facts.Pause}
	js.all[id] = j
	p, err := v.Consolidated(id)
	if err != nil {
		return nil, err
	}
	return j, j.measure(v, &p)
}

// measure sets the remaining time: what is expected to be left of the job, at
// the speed that it has on a placement.
func (j *job) measure(v *sim.View, p *sched.Placement) error {
	iters, err := v.Predicted(j.id)
	if err != nil {
		return err
	}
	done, err := v.Progress(j.id)
	if err != nil {
		return err
	}
	alpha, err := v.IterTime(j.id, p)
	if err != nil {
		return err
	}
	left := new(big.Rat).SetInt64(iters)
	left.Sub(left, done).Mul(left, alpha).Mul(left, big.NewRat(int64(sched.Second), 1))
	if left.Sign() <= 0 {
		j.left = 0 // longer than predicted
		return nil
	}
	up := new(big.Int).Add(left.Num(), left.Denom())
	up.Sub(up, big.NewInt(1)).Quo(up, left.Denom())
	if !up.IsInt64() || sched.Time(up.Int64()) > sched.MaxTime {
		return fmt.Errorf("lazer: job %d is expected to train for more than %v", j.id, sched.MaxTime)
	}
	j.left = sched.Time(up.Int64())
	return nil
}
