package sim

import (
	"fmt"
	"math/big"
	"slices"

	"yardstick/sched"
)

// View is what a policy may know at one instant: the past and the present. It
// hides jobs that are not released and, unless the truth is what Options
// predict, how many iterations any job takes. Methods that are asked about a
// hidden job return ErrHidden.
type View struct {
	engine *engine

	arrived, completed, paused []sched.JobID

	holds []Assignment // placements handed out in this decision

	predicted map[sched.JobID]int64
	ideal     ideal
}

// Job is what is known about a released job. The slices and pointers belong to
// the instance: they are for reading.
type Job struct {
	ID          sched.JobID
	Name        string
	User, Group string
	Release     sched.Time
	Weight      float64
	Gang        int
	Stages      []sched.Stage
	Edges       []sched.Edge  // nil for a chain
	Widths      []sched.Width // of the replicas; nil if each has one GPU
	Load, Pause sched.Time
	Sharing     *sched.Sharing
}

func facts(in *sched.Instance, id sched.JobID) Job {
	j := &in.Jobs[id]
	return Job{ID: id, Name: j.Name, User: j.User, Group: j.Group, Release: j.Release, Weight: j.Weight,
		Gang: j.Gang(), Stages: j.Stages, Edges: j.Edges, Widths: widths(j), Load: j.Load, Pause: j.Pause, Sharing: j.Sharing}
}

// widths returns the widths of the job's replicas, or nil if each has one GPU.
func widths(j *sched.Job) []sched.Width {
	if !j.Sliced() {
		return nil
	}
	return j.Widths()
}

func newView(e *engine) View {
	return View{engine: e, predicted: map[sched.JobID]int64{}, ideal: newIdeal(e.in)}
}

// reset forgets what this decision was told and takes back what it was handed.
func (v *View) reset() {
	v.arrived, v.completed, v.paused = v.arrived[:0], v.completed[:0], v.paused[:0]
	for i := len(v.holds) - 1; i >= 0; i-- {
		h := &v.holds[i]
		v.engine.release(h.Job, &h.Place)
	}
	v.holds = v.holds[:0]
}

// Now returns the present time.
func (v *View) Now() sched.Time { return v.engine.now }

// Arrived returns the jobs released since the last decision, in order of
// (release, index).
func (v *View) Arrived() []sched.JobID { return v.arrived }

// Completed returns the jobs that completed since the last decision, in order
// of (completion, index).
func (v *View) Completed() []sched.JobID { return v.completed }

// Paused returns the preempted jobs that left their GPUs since the last
// decision and wait again, in the order in which they did.
func (v *View) Paused() []sched.JobID { return v.paused }

// Cluster returns what is free, less the placements handed out by Place and
// Hold in this decision. It is nil in the elastic model: see Free.
func (v *View) Cluster() *Cluster { return v.engine.cluster }

// Hardware returns the servers and bandwidths that the instance describes,
// whoever holds them. The slice is for reading.
func (v *View) Hardware() sched.Cluster { return v.engine.in.Cluster }

// Slot returns the slot length of a slotted run, and 0 in continuous time.
func (v *View) Slot() sched.Time {
	if !v.engine.class.Slotted {
		return 0
	}
	return v.engine.in.Slot
}

// Job returns what is known about a job.
func (v *View) Job(id sched.JobID) (Job, error) {
	if _, err := v.state("facts", id); err != nil {
		return Job{}, err
	}
	return facts(v.engine.in, id), nil
}

// Key returns a job's value of a key that the instance names, such as a column of a job
// list.
func (v *View) Key(id sched.JobID, name string) (float64, error) {
	if _, err := v.state("key", id); err != nil {
		return 0, err
	}
	i := slices.Index(v.engine.in.Keys, name)
	if i < 0 {
		return 0, fmt.Errorf("sim: key %q of job %d: the instance has %v", name, id, v.engine.in.Keys)
	}
	return v.engine.in.Jobs[id].Keys[i], nil
}

// State returns where the job is in its life.
func (v *View) State(id sched.JobID) (State, error) { return v.state("state", id) }

func (v *View) state(what string, id sched.JobID) (State, error) {
	s, err := v.engine.released(id)
	if err != nil {
		return s, fmt.Errorf("sim: %s of job %d: %w", what, id, err)
	}
	return s, nil
}

// gang returns an error unless the job is known and has a gang.
func (v *View) gang(what string, id sched.JobID) error {
	if _, err := v.state(what, id); err != nil {
		return err
	}
	if v.engine.containers != nil {
		return fmt.Errorf("sim: %s of job %d: an elastic job has no gang: its containers are placed on what Free returns", what, id)
	}
	return nil
}

// Placement returns where a job on the cluster is, or false if it is not on
// the cluster. The placement is for reading.
func (v *View) Placement(id sched.JobID) (*sched.Placement, bool, error) {
	s, err := v.state("placement", id)
	if err != nil || s == Waiting || s == Done {
		return nil, false, err
	}
	return &v.engine.records[v.engine.slots[id]].place, true, nil
}

// Started returns when a job on the cluster was put there, or false if it is not
// on the cluster.
func (v *View) Started(id sched.JobID) (sched.Time, bool, error) {
	s, err := v.state("start", id)
	if err != nil || s == Waiting || s == Done {
		return 0, false, err
	}
	return v.engine.records[v.engine.slots[id]].started, true, nil
}

// Progress returns how many iterations the job has done, exactly. Those of an
// elastic job are its mini-batches.
func (v *View) Progress(id sched.JobID) (*big.Rat, error) {
	e := v.engine
	s, err := v.state("progress", id)
	if err != nil {
		return nil, err
	}
	done := new(big.Rat)
	switch s {
	case Waiting:
		if before := e.saved[id]; before != nil {
			done.Set(before)
		}
	case Training:
		done = e.progress(&e.records[e.slots[id]])
	case Loading, Pausing:
		if before := e.records[e.slots[id]].done; before != nil {
			done.Set(before)
		}
	case Done:
		done.SetInt64(e.iters(id))
	}
	return done, nil
}

// Predicted returns how many iterations the job is expected to take: the
// predictor's answer, given once and kept, or the truth if there is no
// predictor.
func (v *View) Predicted(id sched.JobID) (int64, error) {
	e := v.engine
	if _, err := v.state("prediction", id); err != nil {
		return 0, err
	}
	if e.predictor == nil {
		e.result.Clairvoyant = e.result.Clairvoyant || e.states[id] != Done
		return e.iters(id), nil
	}
	if n, ok := v.predicted[id]; ok {
		return n, nil
	}
	n, err := e.predictor.Predict(facts(e.in, id))
	if err != nil {
		return 0, fmt.Errorf("sim: prediction of job %d: %w", id, err)
	}
	if n < 0 {
		return 0, fmt.Errorf("sim: the predictor expects %d iterations of job %d", n, id)
	}
	v.predicted[id] = n
	e.result.Predictions = append(e.result.Predictions, Prediction{Job: id, Iters: n})
	return n, nil
}

// Remaining returns how many iterations the job is expected to have left, exactly:
// Predicted less Progress, at least 0.
func (v *View) Remaining(id sched.JobID) (*big.Rat, error) {
	n, err := v.Predicted(id)
	if err != nil {
		return nil, err
	}
	done, err := v.Progress(id)
	if err != nil {
		return nil, err
	}
	left := new(big.Rat).SetInt64(n)
	if left.Sub(left, done); left.Sign() < 0 {
		left.SetInt64(0)
	}
	return left, nil
}

// IterTime returns the exact time of one iteration in seconds on any placement
// of the job's gang, in class M of one of its sizes, or of the containers of an
// elastic job, free or not, when the job shares no GPU.
func (v *View) IterTime(id sched.JobID, p *sched.Placement) (*big.Rat, error) {
	if _, err := v.state("iteration time", id); err != nil {
		return nil, err
	}
	return v.engine.iterTime(id, p)
}

// Fits reports whether the rule finds free GPUs for the job now, its replicas
// whole on a server each.
func (v *View) Fits(id sched.JobID, r Rule) (bool, error) {
	if err := v.gang("fit", id); err != nil {
		return false, err
	}
	e := v.engine
	if j := &e.in.Jobs[id]; j.Sliced() {
		return e.cluster.FitsWhole(r, j.Widths()), nil
	}
	return e.cluster.Fits(r, e.in.Jobs[id].Gang()), nil
}

// Pick returns the free GPUs that the rule chooses for the job, as
// [Cluster.Pick] and [Cluster.PickWhole] do, and holds none of them.
func (v *View) Pick(id sched.JobID, r Rule) ([]sched.Share, bool, error) {
	if err := v.gang("choice of GPUs", id); err != nil {
		return nil, false, err
	}
	shares, ok := v.engine.cluster.pickFor(&v.engine.in.Jobs[id], r)
	return shares, ok, nil
}

// pickFor is Pick or PickWhole.
func (c *Cluster) pickFor(j *sched.Job, r Rule) ([]sched.Share, bool) {
	if j.Sliced() {
		return c.PickWhole(r, j.Widths())
	}
	return c.Pick(r, j.Gang())
}

// Place finds free GPUs for the job by the rule, its stages in chain order, and
// holds them until Decide returns, so that later calls find others. It returns
// false if the rule finds none. It does not look at the memory of GPUs, which
// only matters in the sharing model.
func (v *View) Place(id sched.JobID, r Rule) (sched.Placement, bool, error) {
	if err := v.gang("placement", id); err != nil {
		return sched.Placement{}, false, err
	}
	e := v.engine
	j := &e.in.Jobs[id]
	shares, ok := e.cluster.pickFor(j, r)
	if !ok {
		return sched.Placement{}, false, nil
	}
	e.cluster.Chain(j.Stages, shares)
	p := sched.Placement{Shares: shares}
	v.hold(id, p)
	return p, true, nil
}

// Hold holds the GPUs of a placement for the job until Decide returns. Errors:
// the placement does not hold the job's gang, or its GPUs cannot be had.
func (v *View) Hold(id sched.JobID, p sched.Placement) error {
	if _, err := v.state("placement", id); err != nil {
		return err
	}
	if _, err := v.engine.vet(id, &p); err != nil {
		return fmt.Errorf("sim: placement of job %d: %w", id, err)
	}
	v.hold(id, p)
	return nil
}

func (v *View) hold(id sched.JobID, p sched.Placement) {
	v.engine.hold(id, &p)
	v.holds = append(v.holds, Assignment{Job: id, Place: p})
}
