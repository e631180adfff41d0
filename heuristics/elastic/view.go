package elastic

import (
	"fmt"
	"math/big"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// View is what a policy may know at one boundary: the past and the present.
// Methods that are asked about a job that is not released return sim.ErrHidden.
type View struct {
	engine *engine
	known  sched.Instance

	arrived, completed, paused []sched.JobID
}

func newView(e *engine) View {
	v := View{engine: e, known: *e.in}
	v.known.Jobs = nil
	return v
}

// reveal adds a job to what is known.
func (v *View) reveal(id sched.JobID) {
	for int(id) >= len(v.known.Jobs) {
		v.known.Jobs = append(v.known.Jobs, sched.Job{})
	}
	v.known.Jobs[id] = v.engine.in.Jobs[id]
}

// Now returns the present slot, which has just begun.
func (v *View) Now() int64 { return v.engine.now }

// Arrived returns the jobs that became known since the last decision, in order
// of (release, index).
func (v *View) Arrived() []sched.JobID { return v.arrived }

// Completed returns the jobs that completed since the last decision, in the
// order in which they started.
func (v *View) Completed() []sched.JobID { return v.completed }

// Paused returns the preempted jobs with a pause whose containers were freed
// since the last decision, and which wait again.
func (v *View) Paused() []sched.JobID { return v.paused }

// Known returns the instance as far as it is known: jobs keep their numbers,
// entries of jobs that are not released are empty, and the list ends with the
// highest number released. It is the same pointer during the whole run, and for
// reading.
func (v *View) Known() *sched.Instance { return &v.known }

// Free returns what is free of each resource on each server. It is for
// reading.
func (v *View) Free() [][]int64 { return v.engine.free }

// State returns where the job is in its life. A job that loads is Training.
func (v *View) State(id sched.JobID) (sim.State, error) {
	s, err := v.engine.state(id)
	if err != nil {
		return 0, fmt.Errorf("elastic: state of job %d: %w", id, err)
	}
	return s, nil
}

// Placement returns where a job on the cluster is and in which slot it was put
// there, or false if it is not on the cluster. The placement is for reading.
func (v *View) Placement(id sched.JobID) (p *sched.Placement, since int64, ok bool) {
	i := v.engine.find(id)
	if i < 0 {
		return nil, 0, false
	}
	return &v.engine.on[i].place, v.engine.on[i].start, true
}

// Remaining returns how many mini-batches are left of a job, exactly.
func (v *View) Remaining(id sched.JobID) (*big.Rat, error) {
	e := v.engine
	s, err := v.State(id)
	if err != nil {
		return nil, err
	}
	if i := e.find(id); i >= 0 {
		return e.leftOf(&e.on[i]), nil
	}
	left := new(big.Rat)
	switch {
	case s == sim.Done:
	case e.remains[id] != nil:
		left.Set(e.remains[id])
	default:
		left.SetInt64(e.in.Jobs[id].Elastic.Batches)
	}
	return left, nil
}
