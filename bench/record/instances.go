package record

// Instance is a row of instances.arrow: what an instance is like. All but the names and the
// seed follow from the instance alone.
type Instance struct {
	Suite          string
	Instance       string
	InstanceSHA256 string
	Family         string
	Model          string
	Seed           Opt[int64]
	Jobs           int
	GPUs           int
	Servers        int
	History        int
	Users, Groups  int
	Span           float64 // s, as all times below
	Slot           Opt[float64]
	Deadline       Opt[float64]
	Inter, Intra   Opt[float64] // bytes per second
	LeastWeight    float64
	MostWeight     float64
	// Missing of the elastic model, whose jobs have no gang.
	OfferedLoad Opt[float64] // missing of a burst, too
	Work        Opt[float64] // GPU seconds
	LargestGang Opt[int]
	MeanGang    Opt[float64]
	SingleShare Opt[float64]
	MeanRun     Opt[float64]
	MedianRun   Opt[float64]
	LongestRun  Opt[float64]
}

// instanceTable is left out of the result digest, which has the sha256 of every instance
// already.
func instanceTable() *table[Instance] {
	type R = Instance
	return &table[R]{
		name: "instances",
		doc: "One row per instance: what ratios may be plotted against. Running times are those of a job alone on the fewest servers of the empty cluster, and null, like all that is about gangs, of elastic jobs. " +
			"No row is part of the result digest, which has the instance's sha256.",
		rows: func(r *Run) *[]R { return &r.Features },
		omit: func(*R, map[string]bool) bool { return true },
		columns: []column[R]{
			{"suite", "", Key, "name of the suite", func(r *R) any { return &r.Suite }},
			{"instance", "", Key, "name of the instance, as in ratios.arrow", func(r *R) any { return &r.Instance }},
			{"instance_sha256", "", Value, "sha256 of the instance's content", func(r *R) any { return &r.InstanceSHA256 }},
			{"family", "", Value, "the suite's entry that the instance was made by", func(r *R) any { return &r.Family }},
			{"model", "", Value, "job model: gang, elastic, preemptive or sharing", func(r *R) any { return &r.Model }},
			{"seed", "", Value, "seed that the instance was drawn with", func(r *R) any { return &r.Seed }},
			{"jobs", "", Value, "number of jobs", func(r *R) any { return &r.Jobs }},
			{"gpus", "", Value, "number of GPUs of the cluster", func(r *R) any { return &r.GPUs }},
			{"servers", "", Value, "number of servers of the cluster", func(r *R) any { return &r.Servers }},
			{"past_jobs", "", Value, "number of past jobs that predictors may learn from", func(r *R) any { return &r.History }},
			{"users", "", Value, "number of users that jobs name", func(r *R) any { return &r.Users }},
			{"groups", "", Value, "number of recurrent groups that jobs name", func(r *R) any { return &r.Groups }},
			{"span_s", "s", Value, "time from the first release to the last", func(r *R) any { return &r.Span }},
			{"slot_s", "s", Value, "length of a slot; null where time is not slotted", func(r *R) any { return &r.Slot }},
			{"deadline_s", "s", Value, "time by which jobs must be done to count; null where there is none", func(r *R) any { return &r.Deadline }},
			{"inter_bandwidth", "bytes/s", Value, "bandwidth between servers; null where nothing depends on it", func(r *R) any { return &r.Inter }},
			{"intra_bandwidth", "bytes/s", Value, "bandwidth within a server; null likewise", func(r *R) any { return &r.Intra }},
			{"weight_min", "", Value, "least weight of a job", func(r *R) any { return &r.LeastWeight }},
			{"weight_max", "", Value, "largest weight of a job", func(r *R) any { return &r.MostWeight }},
			{"offered_load", "", Value, "offered load, as in ratios.arrow; null of a burst", func(r *R) any { return &r.OfferedLoad }},
			{"gpu_time", "GPU s", Value, "GPU time of all jobs", func(r *R) any { return &r.Work }},
			{"gang_max", "", Value, "largest gang", func(r *R) any { return &r.LargestGang }},
			{"gang_mean", "", Value, "mean gang", func(r *R) any { return &r.MeanGang }},
			{"single_share", "", Value, "share of the jobs that ask for one GPU", func(r *R) any { return &r.SingleShare }},
			{"run_mean_s", "s", Value, "mean running time", func(r *R) any { return &r.MeanRun }},
			{"run_p50_s", "s", Value, "median running time (nearest rank)", func(r *R) any { return &r.MedianRun }},
			{"run_max_s", "s", Value, "longest running time", func(r *R) any { return &r.LongestRun }},
		},
	}
}
