// Package pai imports the traces of Alibaba's Platform for AI, 2020
// (cluster-trace-gpu-v2020), into the unified trace schema: from the tables of
// jobs, tasks and group tags ([Import]), or from the job lists that come with
// the trace's simulator ([ImportJobs]).
//
// The trace is described in Weng et al., "MLaaS in the Wild: Workload Analysis
// and Scheduling in Large-Scale Heterogeneous GPU Clusters", NSDI 2022.
package pai

import (
	"yardstick/datasets"
	"yardstick/datasets/importer"
)

// The cleaning rules.
const (
	RuleDuplicate  = "duplicate"
	RuleGPUOnly    = "gpu-only"
	RuleTerminated = "terminated"
	RuleHydra      = "hydra"
	RuleGAIA       = "gaia"
)

// Options say how a trace is imported. The zero value is a good one.
type Options struct {
	Trace  string         // name of the trace in the file written; "" stands for pai
	Member string         // which file of an archive, for ImportJobs; see importer.Open
	Watch  importer.Watch // follows the import
	Rules  []string       // cleaning rules by name; nil stands for the default ones
	// SortBytes is what each sort of Import holds in memory before it uses
	// files; 0 stands for importer.SorterBytes.
	SortBytes int
}

func (o *Options) fill() {
	if o.Trace == "" {
		o.Trace = "pai"
	}
}

// Job is a job that the rules judge.
type Job struct {
	datasets.Row
	Duplicate bool    // another job of the same name came before
	Tasks     int     // rows of the task table
	Instances float64 // of all tasks
	// Of the first task with GPUs, or the first task if none has:
	TaskName string
	PlanGPU  float64 // percent of a GPU, per instance
}

func (j *Job) row() *datasets.Row { return &j.Row }

// Rules lists the cleaning rules of Import, in the order of application.
func Rules() []importer.Rule[*Job] {
	rules := []importer.Rule[*Job]{
		{Name: RuleDuplicate, Doc: "drops jobs whose name an earlier one has", Default: true,
			Drops: func(j *Job) bool { return j.Duplicate }}}
	for _, r := range JobRules() {
		rules = append(rules, importer.Lift(r, (*Job).row))
	}
	return append(rules, importer.Rule[*Job]{Name: RuleHydra,
		Doc:   "keeps Terminated jobs of one instance with plan_gpu 100 on a GPU that is not MISC, of at least 1,000 s, task tensorflow, PyTorchWorker or worker (Hydra)",
		Drops: func(j *Job) bool { return !hydra(j) }})
}

func hydra(j *Job) bool {
	kind := j.TaskName == "tensorflow" || j.TaskName == "PyTorchWorker" || j.TaskName == "worker"
	return kind && j.Status.V == "Terminated" && j.PlanGPU == 100 && j.Instances == 1 && j.GPUType.OK && j.GPUType.V != "MISC" && j.DurationS.V >= 1000
}

// JobRules lists the cleaning rules of ImportJobs, in the order of application.
func JobRules() []importer.Rule[*datasets.Row] {
	return []importer.Rule[*datasets.Row]{
		{Name: RuleGPUOnly, Doc: "drops jobs that ask for no GPU", Default: true,
			Drops: func(r *datasets.Row) bool { return r.GPUs.V == 0 }},
		importer.NegativeTime(),
		importer.NoDuration(),
		{Name: RuleTerminated, Doc: "drops jobs whose status is not Terminated, the successful ones (NSDI'22)",
			Drops: func(r *datasets.Row) bool { return r.Status.V != "Terminated" }},
		{Name: RuleGAIA, Doc: "keeps jobs of 5 minutes to 3 days (GAIA)",
			Drops: func(r *datasets.Row) bool { return r.DurationS.V < 5*60 || r.DurationS.V > 3*86400 }},
	}
}
