// Package suite reads suite files: it checks them against their schema, says
// where what is wrong in them, sweeps the keys of their matrix, and builds the
// instances of their sources. It knows no method but by reference.
package suite

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"yardstick/datasets"
	"yardstick/sched"
)

// APIVersion is the suite format this program reads.
const APIVersion = "yardstick/v1"

// Suite is a suite file: what to run on what.
type Suite struct {
	APIVersion string            `yaml:"apiVersion" json:"apiVersion"`
	Name       string            `yaml:"name" json:"name"`
	Seed       uint64            `yaml:"seed" json:"seed"` // master seed, at most 2^53
	Instances  []Source          `yaml:"instances" json:"instances"`
	Objectives []sched.Objective `yaml:"objectives" json:"objectives"`
	Methods    []MethodRef       `yaml:"methods" json:"methods"`
	References []MethodRef       `yaml:"references" json:"references"`
	Matrix     *Matrix           `yaml:"matrix" json:"matrix,omitempty"`
	Limits     Limits            `yaml:"limits" json:"limits"`

	source source
}

// source is the text that a suite was read from, for messages.
type source struct {
	name string
	data []byte
}

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

	Storage   sched.Bandwidth `yaml:"storage" json:"storage,omitempty"`     // preemptive: of checkpoints
	Startup   sched.Time      `yaml:"startup" json:"startup"`               // preemptive: at every (re)start
	GPUMemory sched.Bytes     `yaml:"gpuMemory" json:"gpuMemory,omitempty"` // sharing
	Ring      bool            `yaml:"ring" json:"ring,omitempty"`           // elastic: ring AllReduce instead of parameter servers

	// Both are of the elastic model, and limit what its jobs may choose from.
	MaxWorkers int `yaml:"maxWorkers" json:"maxWorkers,omitempty"` // of a job; 0 for as many as were drawn
	WorkerType int `yaml:"workerType" json:"workerType,omitempty"` // the only one, from 1; 0 for all

	Objectives []sched.Objective `yaml:"objectives" json:"objectives,omitempty"`
	Methods    []MethodRef       `yaml:"methods" json:"methods,omitempty"`
	References []MethodRef       `yaml:"references" json:"references,omitempty"`

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

// MethodRef names a method, with parameters: "fifo" or
// {name: fifo, params: {blocking: skip}}.
type MethodRef struct {
	Name   string            `yaml:"name" json:"name"`
	Params map[string]string `yaml:"params" json:"params,omitempty"`
}

// UnmarshalYAML accepts the short form, a bare name.
func (m *MethodRef) UnmarshalYAML(decode func(any) error) error {
	if err := decode(&m.Name); err == nil {
		return nil
	}
	type plain MethodRef // without this method
	return decode((*plain)(m))
}

// String returns the name, with the parameters sorted: "fifo(blocking=skip)".
func (m MethodRef) String() string {
	if len(m.Params) == 0 {
		return m.Name
	}
	parts := make([]string, 0, len(m.Params))
	for k, v := range m.Params {
		parts = append(parts, k+"="+v)
	}
	slices.Sort(parts)
	return m.Name + "(" + strings.Join(parts, ",") + ")"
}

// Parse reads a suite file and applies settings of the form key=value,value
// to it. Unknown keys, wrong types and missing values are errors that show line
// and column.
func Parse(name string, data []byte, settings ...string) (*Suite, error) {
	s := &Suite{APIVersion: APIVersion, Name: "suite", Seed: 1, Limits: Limits{Solve: time.Minute, Memory: 4 << 30}}
	if err := decodeStrictly(data, s); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("the file is empty")
		}
		return nil, fmt.Errorf("%s: %w", name, describeYAML(err, data))
	}
	s.source = source{name, data}
	if err := s.noteKeys(data); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for i := range s.Instances {
		s.Instances[i].setDefaults()
	}
	if err := s.override(settings); err != nil {
		return nil, err
	}
	s.inherit()
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := s.sweep(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, s.source.bare(err))
	}
	return s, nil
}

// inherit gives the suite its default lists, and every source those of the suite
// that it has none of.
func (s *Suite) inherit() {
	if s.Objectives == nil {
		s.Objectives = []sched.Objective{DefaultObjective}
	}
	if s.References == nil {
		s.References = []MethodRef{{Name: "lb0"}, {Name: "srpt-ranked"}, {Name: "mean-busy-time"}}
	}
	for i := range s.Instances {
		src := &s.Instances[i]
		if src.Objectives == nil {
			src.Objectives = s.Objectives
		}
		if src.Methods == nil {
			src.Methods = s.Methods
		}
		if src.References == nil {
			src.References = s.References
		}
	}
}

// NewSource returns a source with the defaults of a suite file.
func NewSource(trace string) *Source {
	src := &Source{Trace: trace, given: []string{"trace"}}
	src.setDefaults()
	return src
}

// setDefaults fills in the keys that the source was not given. Those that it was
// keep their values, whatever these are.
func (src *Source) setDefaults() {
	if src.File != "" {
		unlessGiven(src, "name", &src.Name, src.File)
		return
	}
	unlessGiven(src, "trace", &src.Trace, "builtin:philly-like")
	unlessGiven(src, "name", &src.Name, src.Trace)
	unlessGiven(src, "slice.jobs", &src.Slice.Jobs, 8)
	unlessGiven(src, "slice.repeat", &src.Slice.Repeat, 1)
	unlessGiven(src, "cluster.servers", &src.Cluster.Servers, 2)
	unlessGiven(src, "cluster.gpusPerServer", &src.Cluster.GPUsPerServer, 4)
	unlessGiven(src, "cluster.inter", &src.Cluster.Inter, 1_250_000_000)
	unlessGiven(src, "cluster.intra", &src.Cluster.Intra, 300_000_000_000)
	unlessGiven(src, "model", &src.Model, sched.ModelGang)
	unlessGiven(src, "tooLarge", &src.TooLarge, "error")
}

func unlessGiven[T any](src *Source, key string, p *T, v T) {
	if !src.has(key) {
		*p = v
	}
}

// history returns how many past jobs an instance lists: enough, where the
// suite does not say, to know most recurrent groups.
func (src *Source) history() int {
	switch {
	case src.History != nil:
		return *src.History
	case src.Model == sched.ModelElastic:
		return 0 // its jobs have no gang to remember
	}
	return 10_000
}

func (s *Suite) validate() error {
	if s.APIVersion != APIVersion {
		return fmt.Errorf("apiVersion is %q: this program reads %q", s.APIVersion, APIVersion)
	}
	if strings.ContainsAny(s.Name, `/\`) {
		return fmt.Errorf("name is %q: it becomes a folder's name, so it may not hold a slash", s.Name)
	}
	if s.Seed > 1<<53 {
		return fmt.Errorf("seed is %d: at most 2^53, so that every tool reads it exactly", s.Seed)
	}
	if len(s.Instances) == 0 {
		return errors.New("instances is missing: list at least one, such as {trace: \"builtin:philly-like\"}")
	}
	if s.Limits.Solve < 0 || s.Limits.Nodes < 0 || s.Limits.Memory < 0 || s.Limits.Cell < 0 {
		return errors.New("limits must not be negative")
	}
	names := map[string]bool{}
	for i, src := range s.Instances {
		if err := src.validate(); err != nil {
			return fmt.Errorf("instances[%d] %q: %w", i, src.Name, err)
		}
		if len(src.Methods) == 0 {
			return fmt.Errorf("instances[%d] %q: has no methods: list some here or at the top of the suite, such as methods: [fifo, sjf]", i, src.Name)
		}
		if names[src.Name] {
			return fmt.Errorf("instances[%d]: the name %q is taken: give each source a name of its own", i, src.Name)
		}
		names[src.Name] = true
	}
	return nil
}

// sweep replaces every source by the copies that the matrix makes of it.
func (s *Suite) sweep() error {
	if s.Matrix == nil {
		return nil
	}
	var out []Source
	swept := map[string]bool{}
	for i, src := range s.Instances {
		copies, err := s.Matrix.expand(src)
		if err != nil {
			return err
		}
		for _, c := range copies {
			if err := c.validate(); err != nil {
				return fmt.Errorf("instances[%d] %q with %v: %w", i, src.Name, c.Swept, err)
			}
			for key := range c.Swept {
				swept[key] = true
			}
		}
		out = append(out, copies...)
	}
	if len(out) == 0 {
		return errors.New("matrix: exclude leaves no combination")
	}
	for _, axis := range s.Matrix.Axes {
		if !swept[axis.Key] {
			return fmt.Errorf("matrix: no source knows %q: the first %w", axis.Key, s.Instances[0].misplaced(axis.Key))
		}
	}
	s.Instances = out
	return nil
}

// Beyond these, numbers of servers and of windows are typing errors.
const (
	maxCluster = 10_000
	maxRepeat  = 1_000_000
)

// validate checks what the source says and that it is said of the right model.
func (src *Source) validate() error {
	for _, key := range src.given {
		if err := src.misplaced(key); err != nil {
			return err
		}
	}
	if src.File != "" {
		return nil
	}
	switch {
	case src.Slice.Jobs < 0 || src.Slice.Repeat < 1 || src.Slice.Repeat > maxRepeat:
		return fmt.Errorf("slice of %d jobs, repeated %d times: the number of jobs must be positive, or 0 for all, and the repetitions from 1 to %d", src.Slice.Jobs, src.Slice.Repeat, maxRepeat)
	case min(src.Cluster.Servers, src.Cluster.GPUsPerServer) < 1 || max(src.Cluster.Servers, src.Cluster.GPUsPerServer) > maxCluster:
		return fmt.Errorf("cluster of %d × %d GPUs: both must be positive, and at most %d", src.Cluster.Servers, src.Cluster.GPUsPerServer, maxCluster)
	case src.Round < 0 || src.Params < 0 || src.Iterate < 0 || src.history() < 0:
		return errors.New("round, params, iteration and history must not be negative")
	case src.Model == sched.ModelElastic && src.has("round") && src.Round == 0:
		return errors.New("round is 0s: it is the length of the elastic model's slots, so it must be positive")
	case src.has("deadline") && src.Deadline <= 0:
		return fmt.Errorf("deadline is %v: it must be positive; without the key there is none", src.Deadline)
	case src.has("offeredLoad") && src.OfferedLoad <= 0:
		return fmt.Errorf("offeredLoad is %v: it must be positive; without the key, jobs come as they do in the trace", src.OfferedLoad)
	case src.has("offeredLoad") && src.has("sharing.rate"):
		return errors.New("offeredLoad and sharing.rate both say how often jobs come: drop one of the two")
	case src.has("slice.load") && src.Slice.At.Rule == datasets.AtSample:
		return errors.New("slice.load chooses windows, and at: sample makes none: say at: random, or set the load of what is built by offeredLoad")
	case src.TooLarge != "error" && src.TooLarge != "drop":
		return fmt.Errorf("tooLarge is %q: it must be error or drop", src.TooLarge)
	}
	return nil
}

// Nearest returns the candidate at the least edit distance from s, or "" if
// none is close.
func Nearest(s string, candidates []string) string {
	best, distance := "", len(s)/2+1
	for _, c := range candidates {
		if d := editDistance(strings.ToLower(s), strings.ToLower(c)); d < distance {
			best, distance = c, d
		}
	}
	return best
}

// editDistance is Levenshtein's.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
