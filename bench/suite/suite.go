// Package suite reads suite files: it checks them against their schema, says
// where what is wrong in them, sweeps the keys of their matrix, and builds the
// instances of their sources. It knows no method but by reference.
package suite

import (
	"slices"
	"time"

	"yardstick/datasets"
	"yardstick/datasets/instances"
	"yardstick/sched"
)

// APIVersion is the suite format this program reads.
const APIVersion = "yardstick/v1"

// Suite is a suite file: what to run on what.
type Suite struct {
	APIVersion string `yaml:"apiVersion" json:"apiVersion"`
	Name       string `yaml:"name" json:"name"`
	Seed       uint64 `yaml:"seed" json:"seed"` // master seed, at most 2^53
	// Fresh says that nobody who wrote a policy knew the seed: it was drawn for this run.
	Fresh      bool              `yaml:"fresh" json:"fresh,omitempty"`
	Instances  []Source          `yaml:"instances" json:"instances"`
	Objectives []sched.Objective `yaml:"objectives" json:"objectives"`
	Methods    []MethodRef       `yaml:"methods" json:"methods"`
	References []MethodRef       `yaml:"references" json:"references"`
	Matrix     *Matrix           `yaml:"matrix" json:"matrix,omitempty"`
	Limits     Limits            `yaml:"limits" json:"limits"`
	MaxJobs    int64             `yaml:"-" json:"-"` // of all instances, where more than the limit are known to be wanted

	source source
	choice choice          // of what is to run
	typed  map[string]bool // keys that settings gave
}

// source is the text that a suite was read from, for messages.
type source struct {
	name   string
	places places
}

// choice is what of a suite is to run: families by name, and methods by name, with or
// without parameters. Empty lists are all of them.
type choice struct{ families, methods []string }

// Source is one entry of a suite's instances: either a file that holds one
// instance, or a trace with the way to cut and build instances from it.
// Objectives, Methods and References override the suite's for this source.
type Source struct {
	Name string `yaml:"name" json:"name"`
	File string `yaml:"file" json:"file,omitempty"`
	// DrawAs is the name that seeds are made of; "" for Name. Sources that draw
	// alike, and differ in nothing else that is drawn from, have the same windows and
	// the same jobs.
	DrawAs string `yaml:"drawAs" json:"drawAs,omitempty"`

	Trace    string           `yaml:"trace" json:"trace,omitempty"`
	Where    map[string]any   `yaml:"where" json:"where,omitempty"`
	Slice    datasets.Slice   `yaml:"slice" json:"slice"`
	Cluster  ClusterRef       `yaml:"cluster" json:"cluster"`
	Model    sched.Model      `yaml:"model" json:"model,omitempty"`
	Round    sched.Time       `yaml:"round" json:"round"`               // releases and durations up to multiples; 0 leaves them
	Iterate  sched.Duration   `yaml:"iteration" json:"iteration"`       // length of one iteration, about; 0 for the whole run
	Params   sched.Bytes      `yaml:"params" json:"params"`             // synthetic AllReduce volume of multi-GPU jobs; 0 for none
	Weights  datasets.Weights `yaml:"weights" json:"weights"`           // unit | random; "" for the trace's
	TooLarge string           `yaml:"tooLarge" json:"tooLarge"`         // error | drop: what to do with gangs beyond the cluster
	History  *int             `yaml:"history" json:"history,omitempty"` // jobs completed before the slice that predictors may see, the last ones
	Slotted  bool             `yaml:"slotted" json:"slotted,omitempty"`
	Deadline sched.Time       `yaml:"deadline" json:"deadline,omitempty"` // of the objective scheduled-weight

	// OfferedLoad is that of every instance: all times between releases are
	// multiplied by one number. Without the key they are the trace's.
	OfferedLoad float64 `yaml:"offeredLoad" json:"offeredLoad,omitempty"`

	// Profiles gives the jobs of a gang model pipeline configurations of
	// built-in models on a GPU, as the A-SRPT paper does: builtin:v100 and so
	// on. Without, a job is one stage that runs as long as in the trace.
	Profiles    string   `yaml:"profiles" json:"profiles,omitempty"`
	SingleShare *float64 `yaml:"singleShare" json:"singleShare,omitempty"` // share of single-GPU jobs, drawn anew
	MatchDemand bool     `yaml:"matchDemand" json:"matchDemand,omitempty"` // configurations of as many GPUs as the trace says
	Shrink      int64    `yaml:"shrink" json:"shrink,omitempty"`           // divides releases and iterations

	// Overlap and MicroBatches are options of the time of an iteration in the gang model.
	Overlap      float64 `yaml:"overlap" json:"overlap,omitempty"`           // share of every AllReduce that computation hides
	MicroBatches int     `yaml:"microBatches" json:"microBatches,omitempty"` // of a mini-batch in a synchronous pipeline; without the key they are asynchronous

	Storage   instances.Storage `yaml:"storage" json:"storage,omitzero"`      // preemptive: of checkpoints
	Past      int               `yaml:"past" json:"past,omitempty"`           // preemptive: jobs before the slice that policies may replay, the last ones
	Startup   sched.Time        `yaml:"startup" json:"startup"`               // preemptive: at every (re)start
	GPUMemory sched.Bytes       `yaml:"gpuMemory" json:"gpuMemory,omitempty"` // sharing
	Ring      bool              `yaml:"ring" json:"ring,omitempty"`           // elastic: ring AllReduce instead of parameter servers

	// Capacity is what the servers of the elastic model have together, as a share of what
	// the jobs ask for. Without the key they are as they are drawn.
	Capacity float64 `yaml:"capacity" json:"capacity,omitempty"`

	// Both are of the elastic model, and limit what its jobs may choose from.
	MaxWorkers int `yaml:"maxWorkers" json:"maxWorkers,omitempty"` // of a job; 0 for as many as were drawn
	WorkerType int `yaml:"workerType" json:"workerType,omitempty"` // the only one, from 1; 0 for all

	Objectives []sched.Objective `yaml:"objectives" json:"objectives,omitempty"`
	Methods    []MethodRef       `yaml:"methods" json:"methods,omitempty"`
	References []MethodRef       `yaml:"references" json:"references,omitempty"`
	Prove      ProveRef          `yaml:"prove" json:"prove,omitzero"`

	Sharing SharingRef `yaml:"sharing" json:"sharing,omitzero"` // of the sharing model

	Swept map[string]string `yaml:"-" json:"swept,omitempty"` // values that the matrix gave, by key

	given []string // keys that the suite gave, as paths: they are not at their defaults
}

// ClusterRef describes a uniform cluster.
type ClusterRef struct {
	Servers       int             `yaml:"servers" json:"servers"`
	GPUsPerServer int             `yaml:"gpusPerServer" json:"gpusPerServer"`
	Inter         sched.Bandwidth `yaml:"inter" json:"inter"`
	Intra         sched.Bandwidth `yaml:"intra" json:"intra"`
}

// ProveRef says of which optima proofs are made that strangers check.
type ProveRef struct {
	UpTo int `yaml:"upTo" json:"upTo"` // jobs that an instance may have; 0 for none
}

// DefaultObjective is the objective of suites and commands that name none.
const DefaultObjective = sched.TotalJCT

// Limits bound every single solve.
type Limits struct {
	Solve  time.Duration `yaml:"solve" json:"solve"`   // wall clock
	Nodes  int           `yaml:"nodes" json:"nodes"`   // search nodes; 0 for no limit
	Memory sched.Bytes   `yaml:"memory" json:"memory"` // of a process that runs cells
	// Cell is the wall-clock time after which a method is told to stop, with what it
	// has; 0 for ten times Solve per objective. A few seconds later its process is
	// killed.
	Cell time.Duration `yaml:"cell" json:"cell"`
}

// CellTime returns the wall-clock limit of a cell of so many objectives; 0 for none.
func (l Limits) CellTime(objectives int) time.Duration {
	if l.Cell > 0 {
		return l.Cell
	}
	return time.Duration(10*objectives) * l.Solve
}

// history returns how many past jobs an instance lists: enough, where the
// suite does not say, to know most recurrent groups.
func (src *Source) history() int {
	switch {
	case src.History != nil:
		return *src.History
	case !src.Model.Gangs():
		return 0 // there is none to remember
	}
	return 10_000
}

// has reports whether the source was given the key.
func (src *Source) has(key string) bool { return slices.Contains(src.given, key) }

// optional returns a key's value, NULL where the source was not given the key. A
// field that a program has set counts as given.
func optional[T comparable](src *Source, key string, v T) datasets.Opt[T] {
	var zero T
	return datasets.Opt[T]{V: v, OK: src.has(key) || v != zero}
}
