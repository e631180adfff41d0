package sched

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// JobID is the index of a job in Instance.Jobs.
type JobID int

// Job is one training job. Which parts are set depends on the instance's
// model: Stages for the gang and preemptive models, Stages and Sharing for the
// sharing model, Elastic for the elastic model.
type Job struct {
	Name    string  `json:"name,omitempty"`
	User    string  `json:"user,omitempty"`
	Group   string  `json:"group,omitempty"` // recurrence, for prediction
	Model   string  `json:"model,omitempty"` // what is trained, and in which configuration; for people only
	Release Time    `json:"release"`         // r_j
	Weight  float64 `json:"weight"`          // w_j, finite and positive
	Iters   int64   `json:"iters"`           // n_j, at least 1

	// Stages are the pipeline stages in order. A data-parallel or single-GPU
	// job has one. All replicas of all stages run together: the gang.
	Stages []Stage `json:"stages,omitempty"`

	// Edges is the stage graph of a job whose data do not simply flow from each
	// stage to the next, such as one with expert parallelism; the stages'
	// Boundary are then 0. No edges: the chain of the stages.
	Edges []Edge `json:"edges,omitempty"`

	Load  Time `json:"load,omitempty"`  // l_j, before training at every (re)start
	Pause Time `json:"pause,omitempty"` // p_j, pause-and-save at every preemption

	Keys []float64 `json:"keys,omitempty"` // one for each of Instance.Keys; finite

	Sharing *Sharing `json:"sharing,omitempty"`
	Elastic *Elastic `json:"elastic,omitempty"`
}

// OnlyStages reports whether the job is a gang of stages and nothing besides, as those
// of models whose gangs are Exclusive are.
func (j *Job) OnlyStages() bool { return len(j.Stages) > 0 && j.Sharing == nil && j.Elastic == nil }

// Stage is one pipeline stage with its data-parallel replicas. A replica is
// one GPU or, under tensor parallelism, several on one server, each of which
// holds a slice of the stage's layers.
type Stage struct {
	Replicas int      `json:"replicas"`         // k_s
	Slices   int      `json:"slices,omitempty"` // t_s, the tensor slices of a replica, one GPU each; 0 means 1
	Compute  Duration `json:"compute"`          // p^f_s + p^b_s of a replica's own share of the mini-batch
	Params   Bytes    `json:"params,omitempty"` // h_s, trainable parameters of a replica, exchanged by AllReduce
	// SliceSync is the size of what the slices of a replica exchange by
	// AllReduce in one iteration, all AllReduces together.
	SliceSync Bytes `json:"sliceSync,omitempty"`
	Boundary  Bytes `json:"boundary,omitempty"` // D_s, to the next stage: one direction, one iteration, all replicas together
}

// Sharing holds what the GPU-sharing model adds to a job: how long an
// iteration takes and how much memory it needs per number of gradient
// accumulation steps, and which row of the interference table it belongs to.
type Sharing struct {
	Task         int            `json:"task"` // row and column of Instance.Interference
	Accumulation []Accumulation `json:"accumulation"`

	// Rows are the rows and columns of Instance.Interference of the options of
	// Accumulation, where how much jobs slow each other down depends on the size of their
	// micro-batches. Nil: those of Task, whatever the option.
	Rows []int `json:"rows,omitempty"`

	// Sizes are the numbers of GPUs that a malleable job may run on, in
	// ascending order, each with all of its GPUs to itself: class M. A job
	// without any is rigid; one with some has one stage.
	Sizes []Size `json:"sizes,omitempty"`
}

// Row returns the row and column of Instance.Interference that the job has with
// Accumulation[option].
func (s *Sharing) Row(option int) int {
	if s.Rows == nil {
		return s.Task
	}
	return s.Rows[option]
}

// Accumulation is one admissible number of gradient accumulation steps.
type Accumulation struct {
	Steps  int      `json:"steps"`  // s; the mini-batch is split into s micro-batches
	Iter   Duration `json:"iter"`   // time of one iteration when the job runs alone
	Memory Bytes    `json:"memory"` // per GPU
}

// Elastic holds a job whose worker and parameter-server types and counts the
// scheduler chooses.
type Elastic struct {
	Ring       bool       `json:"ring,omitempty"` // ring AllReduce instead of parameter servers
	MaxWorkers int        `json:"maxWorkers"`     // D_j, data chunks
	Batches    int64      `json:"batches"`        // W_j = E_j·D_j·K_j mini-batches
	Train      []Duration `json:"train"`          // v_jm per worker type
	Update     []Duration `json:"update"`         // U_jp per parameter-server type; one entry for ring
	Gradients  Bytes      `json:"gradients"`      // pi_j
}

// maxBytes bounds every size so that products with a number of replicas, and sums
// of memory, fit an int64.
const maxBytes Bytes = 1e14

// validate checks a job against the assumptions A1 to A3 (release not
// negative, at least one iteration, gang within the cluster).
func (j *Job) validate(in *Instance, gpus int) error {
	switch {
	case j.Release < 0 || j.Release > MaxTime:
		return fmt.Errorf("release is %v: it must be between 0s and %v", j.Release, MaxTime)
	case !(j.Weight > 0) || math.IsInf(j.Weight, 0):
		return fmt.Errorf("weight is %v: it must be a positive number", j.Weight)
	case j.Load < 0 || j.Pause < 0 || j.Load > MaxTime || j.Pause > MaxTime:
		return fmt.Errorf("load %v, pause %v: both must be between 0s and %v", j.Load, j.Pause, MaxTime)
	}
	if len(j.Keys) != len(in.Keys) {
		return fmt.Errorf("has %d keys: the instance names %d", len(j.Keys), len(in.Keys))
	}
	for i, x := range j.Keys {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("key %s is %v: it must be a number", in.Keys[i], x)
		}
	}
	if in.Model == ModelElastic {
		return j.validateElastic(in)
	}
	switch {
	case j.Elastic != nil:
		return fmt.Errorf("has an elastic part, but the model is %s", in.Model)
	case j.Iters < 1:
		return fmt.Errorf("iters is %d: it must be at least 1", j.Iters)
	case len(j.Stages) == 0:
		return fmt.Errorf("has no stages")
	}
	if err := j.validateStages(in, gpus); err != nil {
		return err
	}
	if (j.Sharing != nil) != (in.Model == ModelSharing) {
		return fmt.Errorf("the sharing part belongs to jobs of the sharing model, and to all of them")
	}
	if in.Model == ModelSharing {
		return j.validateSharing(in)
	}
	return nil
}

func (j *Job) validateStages(in *Instance, gpus int) error {
	for s, st := range j.Stages {
		if st.Replicas < 1 || st.Compute <= 0 || st.Params < 0 || st.Boundary < 0 {
			return fmt.Errorf("stages[%d]: replicas %d and compute %v must be positive, params %v and boundary %v not negative", s, st.Replicas, st.Compute, st.Params, st.Boundary)
		}
		if st.Slices < 0 || st.SliceSync < 0 {
			return fmt.Errorf("stages[%d]: slices %d and sliceSync %v must not be negative", s, st.Slices, st.SliceSync)
		}
		if in.Model == ModelSharing && st.SliceSync > 0 {
			return fmt.Errorf("stages[%d].sliceSync is %v: jobs of the sharing model have no slices", s, st.SliceSync)
		}
		if s == len(j.Stages)-1 && st.Boundary != 0 {
			return fmt.Errorf("stages[%d].boundary is %v: the last stage sends nothing on", s, st.Boundary)
		}
		if st.Params > maxBytes || st.Boundary > maxBytes || st.SliceSync > maxBytes {
			return fmt.Errorf("stages[%d]: params %v, boundary %v, sliceSync %v: at most %v is supported", s, st.Params, st.Boundary, st.SliceSync, maxBytes)
		}
		if st.Replicas > gpus {
			return fmt.Errorf("stages[%d] has %d replicas, more than the %d GPUs of the cluster", s, st.Replicas, gpus)
		}
		if st.Slices > gpus {
			return fmt.Errorf("stages[%d] has %d slices per replica, more than the %d GPUs of the cluster", s, st.Slices, gpus)
		}
	}
	if g := j.Gang(); g > gpus {
		return fmt.Errorf("needs %d GPUs at once, more than the %d of the cluster", g, gpus)
	}
	if j.Pipeline() {
		return nil
	}
	if in.Model == ModelSharing {
		return fmt.Errorf("has slices or edges, which jobs of the sharing model do not: the placement does not matter to them")
	}
	if err := j.validateEdges(); err != nil {
		return err
	}
	return j.validatePacking(&in.Cluster)
}

func (j *Job) validateSharing(in *Instance) error {
	sh := j.Sharing
	if sh.Task < 0 || sh.Task >= len(in.Interference) {
		return fmt.Errorf("sharing.task is %d, but the interference table has %d rows", sh.Task, len(in.Interference))
	}
	if len(sh.Accumulation) == 0 {
		return fmt.Errorf("sharing.accumulation is empty")
	}
	for i, a := range sh.Accumulation {
		if a.Steps < 1 || a.Iter <= 0 || a.Memory < 0 || a.Memory > maxBytes || i > 0 && a.Steps <= sh.Accumulation[i-1].Steps {
			return fmt.Errorf("sharing.accumulation[%d] = %+v: steps must be positive and increase, iter must be positive, memory between 0B and %v", i, a, maxBytes)
		}
	}
	if sh.Rows != nil && len(sh.Rows) != len(sh.Accumulation) {
		return fmt.Errorf("sharing.rows has %d entries for %d accumulation options: one for each is needed, or none", len(sh.Rows), len(sh.Accumulation))
	}
	for i, row := range sh.Rows {
		if row < 0 || row >= len(in.Interference) {
			return fmt.Errorf("sharing.rows[%d] is %d, but the interference table has %d rows", i, row, len(in.Interference))
		}
	}
	if err := sh.validateSizes(in.Cluster.GPUs(), len(j.Stages)); err != nil {
		return err
	}
	return j.validateMemory(&in.Cluster)
}

// validateMemory checks that the empty cluster has the job's gang in GPUs that
// hold it with one of its accumulation options and, if it is malleable, one of
// its sizes in GPUs that hold that.
func (j *Job) validateMemory(c *Cluster) error {
	sh, gang := j.Sharing, j.Gang()
	least := slices.MinFunc(sh.Accumulation, func(a, b Accumulation) int { return cmp.Compare(a.Memory, b.Memory) })
	if has := c.gpusOf(least.Memory); has < gang {
		return fmt.Errorf("needs %d GPUs of at least %v, its least over sharing.accumulation, but the cluster has %d", gang, least.Memory, has)
	}
	for _, z := range sh.Sizes {
		if c.gpusOf(z.Memory) >= z.GPUs {
			return nil
		}
	}
	if len(sh.Sizes) > 0 {
		return fmt.Errorf("fits the cluster in none of its sharing.sizes: GPUs that have the memory are too few for each of them")
	}
	return nil
}

func (j *Job) validateElastic(in *Instance) error {
	e := j.Elastic
	switch {
	case e == nil:
		return fmt.Errorf("has no elastic part, but the model is elastic")
	case j.Iters != 0 || j.Stages != nil || j.Edges != nil || j.Sharing != nil:
		return fmt.Errorf("has iters, stages, edges or a sharing part, which jobs of the elastic model do not: their work is elastic.batches")
	case e.MaxWorkers < 1 || e.MaxWorkers > maxWorkers || e.Batches < 1 || e.Gradients < 0:
		return fmt.Errorf("elastic: maxWorkers %d must be between 1 and %d, batches %d positive, gradients %v not negative", e.MaxWorkers, maxWorkers, e.Batches, e.Gradients)
	case len(e.Train) != len(in.Elastic.Workers):
		return fmt.Errorf("elastic.train has %d entries for %d worker types", len(e.Train), len(in.Elastic.Workers))
	case e.Ring && len(e.Update) != 1, !e.Ring && len(e.Update) != len(in.Elastic.Servers):
		return fmt.Errorf("elastic.update has %d entries: one per parameter-server type is needed, one in all for ring", len(e.Update))
	}
	for i, d := range e.Train {
		if d <= 0 {
			return fmt.Errorf("elastic.train[%d] is %v: it must be positive", i, d)
		}
	}
	for i, d := range e.Update {
		if d < 0 {
			return fmt.Errorf("elastic.update[%d] is %v: it must not be negative", i, d)
		}
	}
	return nil
}
