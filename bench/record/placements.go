package record

// Placement is a row of placements.arrow: where one method put one job on given
// parts of servers, what that is worth and what is proven about it.
type Placement struct {
	Family         string
	Instance       string
	InstanceSHA256 string
	Job            int
	JobName        Text
	Alike          Opt[int]
	GPUs           int
	Replicas       string // of each stage: "4,5,6,1"
	Fragmentation  int
	Seed           Opt[int64]
	Parts          string // server:GPUs: "0:8,5:4"
	Method         string
	Minimises      Text // Alpha or Cut
	Formulation    Text
	Relation       Text
	Solver         Text

	Termination string
	Alpha       Opt[float64]
	AlphaExact  Text
	Cut         Opt[float64]
	CutExact    Text
	Placement   Text // server:replicas of each stage: "0:4,4,0,0;5:0,1,3,0"

	Lower      Opt[float64] // in the unit of Minimises
	LowerExact Text
	DualStatus Text
	Proven     Opt[bool]
	Refuted    Opt[bool]
	GapRel     Opt[float64]

	AlphaOptimum          Opt[float64]
	AlphaLowerBound       Opt[float64]
	AlphaRatioOptimum     Opt[float64]
	AlphaRatioLowerBound  Opt[float64]
	CutOptimum            Opt[float64]
	CutLowerBound         Opt[float64]
	CutRatioOptimum       Opt[float64]
	CutRatioLowerBound    Opt[float64]
	AlphaLowerBoundMethod Text
	CutLowerBoundMethod   Text

	Rows        Opt[int]
	Columns     Opt[int]
	Integers    Opt[int]
	Nodes       Opt[int64]
	Wall        Opt[float64]
	Repeats     Opt[int]
	PeakRSS     Opt[int64]
	Message     Text
	WallLimited bool
}

// Values of Placement.Minimises.
const (
	Alpha = "alpha" // the time of one iteration
	Cut   = "cut"   // the bytes that cross between servers per iteration
)

func placementTable() *table[Placement] {
	type R = Placement
	return &table[R]{
		name: "placements",
		doc:  "One row per (job, parts of servers, method) of `bench place`: the placement found, its iteration time and its cut. A row without `alpha_s` has no placement; `termination` and `message` say why.",
		rows: func(r *Run) *[]R { return &r.Placements },
		omit: func(r *R, _ map[string]bool) bool { return r.WallLimited },
		columns: []column[R]{
			{"family", "", Key, "what the cases that are averaged have in common: a planned job, or an instance", func(r *R) any { return &r.Family }},
			{"instance", "", Value, "name of the instance that the job is of", func(r *R) any { return &r.Instance }},
			{"instance_sha256", "", Value, "sha256 of the instance's content", func(r *R) any { return &r.InstanceSHA256 }},
			{"job", "", Key, "index of the job in the instance", func(r *R) any { return &r.Job }},
			{"job_name", "", Value, "name of the job", func(r *R) any { return &r.JobName }},
			{"alike", "", Value, "number of jobs of the instance that the row stands for: those with equal stages", func(r *R) any { return &r.Alike }},
			{"gpus", "", Value, "gang size", func(r *R) any { return &r.GPUs }},
			{"replicas", "", Value, "replicas of each stage, such as 4,5,6,1", func(r *R) any { return &r.Replicas }},
			{"fragmentation", "", Key, "which fragmentation of the cluster, counted from 0", func(r *R) any { return &r.Fragmentation }},
			{"seed", "", Value, "seed that the fragmentation was drawn with; null if the parts were not drawn", func(r *R) any { return &r.Seed }},
			{"parts", "", Value, "the GPUs to use, as server:GPUs, such as 0:8,5:4", func(r *R) any { return &r.Parts }},
			{"method", "", Key, "name of the method; programs are named FORMULATION/SOLVER", func(r *R) any { return &r.Method }},
			{"minimises", "", Value, "alpha, cut, or null for a heuristic that minimises neither", func(r *R) any { return &r.Minimises }},
			{"formulation", "", Value, "name of the formulation, of programs", func(r *R) any { return &r.Formulation }},
			{"relation", "", Value, "how the program's optimum stands to the problem's: exact or relaxation (data rounded down to a grid)", func(r *R) any { return &r.Relation }},
			{"solver", "", Value, "name of the solver, of programs", func(r *R) any { return &r.Solver }},
			{"termination", "", Value, "why the method stopped, in the words of MathOptInterface; COMPLETED for a heuristic, SKIPPED for a job too large for the method", func(r *R) any { return &r.Termination }},
			{"alpha_s", "s", Value, "time of one iteration on the placement found (verified)", func(r *R) any { return &r.Alpha }},
			{"alpha_exact", "", Value, "alpha_s as an exact fraction", func(r *R) any { return &r.AlphaExact }},
			{"cut_bytes", "bytes", Value, "weight of the edges between servers of the job's communication graph under ring AllReduce, per iteration", func(r *R) any { return &r.Cut }},
			{"cut_exact", "", Value, "cut_bytes as an exact fraction", func(r *R) any { return &r.CutExact }},
			{"placement", "", Value, "the placement, as server:replicas of each stage, such as 0:4,4,0,0;5:0,1,3,0", func(r *R) any { return &r.Placement }},
			{"lower_bound", "s or bytes", Value, "the method's own lower bound on what it minimises", func(r *R) any { return &r.Lower }},
			{"lower_bound_exact", "s or bytes", Value, "lower_bound as an exact fraction", func(r *R) any { return &r.LowerExact }},
			{"dual_status", "", Value, "evidence for lower_bound: proven, claimed, or null (none)", func(r *R) any { return &r.DualStatus }},
			{"proven", "", Value, "whether lower_bound is proven and equal to what the method reached; null if it minimises nothing", func(r *R) any { return &r.Proven }},
			{"refuted", "", Value, "whether lower_bound is claimed and a verified placement lies below it, or infeasibility is claimed and there is a placement: the claim is wrong; null if nothing is claimed", func(r *R) any { return &r.Refuted }},
			{"gap_primal_rel", "", Value, "what the method reached less lower_bound, over what it reached", func(r *R) any { return &r.GapRel }},
			{"alpha_optimum_s", "s", Value, "the least iteration time on these parts, where it is proven", func(r *R) any { return &r.AlphaOptimum }},
			{"alpha_lower_bound_s", "s", Value, "the greatest proven lower bound of any method on the iteration time", func(r *R) any { return &r.AlphaLowerBound }},
			{"alpha_ratio_to_optimum", "", Value, "alpha_s / alpha_optimum_s", func(r *R) any { return &r.AlphaRatioOptimum }},
			{"alpha_ratio_to_lower_bound", "", Value, "alpha_s / alpha_lower_bound_s: never below the true ratio", func(r *R) any { return &r.AlphaRatioLowerBound }},
			{"cut_optimum_bytes", "bytes", Value, "the least cut on these parts, where it is proven", func(r *R) any { return &r.CutOptimum }},
			{"cut_lower_bound_bytes", "bytes", Value, "the greatest proven lower bound of any method on the cut", func(r *R) any { return &r.CutLowerBound }},
			{"cut_ratio_to_optimum", "", Value, "cut_bytes / cut_optimum_bytes", func(r *R) any { return &r.CutRatioOptimum }},
			{"cut_ratio_to_lower_bound", "", Value, "cut_bytes / cut_lower_bound_bytes: never below the true ratio", func(r *R) any { return &r.CutRatioLowerBound }},
			{"alpha_lower_bound_method", "", Value, "name of the method that proved alpha_lower_bound_s", func(r *R) any { return &r.AlphaLowerBoundMethod }},
			{"cut_lower_bound_method", "", Value, "name of the method that proved cut_lower_bound_bytes", func(r *R) any { return &r.CutLowerBoundMethod }},
			{"rows", "", Value, "rows of the program", func(r *R) any { return &r.Rows }},
			{"columns", "", Value, "columns of the program", func(r *R) any { return &r.Columns }},
			{"integers", "", Value, "integer columns of the program", func(r *R) any { return &r.Integers }},
			{"nodes", "", Value, "branch-and-bound nodes", func(r *R) any { return &r.Nodes }},
			{"wall_s", "s", Timing, "time that the method took to find its placement and bound, without the start of a child process and without checks; the median of repeats runs", func(r *R) any { return &r.Wall }},
			{"repeats", "", Timing, "number of runs that wall_s is the median of", func(r *R) any { return &r.Repeats }},
			{"peak_rss_bytes", "bytes", Machine, "largest resident memory of the solver's process", func(r *R) any { return &r.PeakRSS }},
			{"message", "", Machine, "what the user should know", func(r *R) any { return &r.Message }},
			{"wall_limited", "", Value, "whether a limit in wall-clock time or memory shaped a value of the row, its denominators included; such a row is not part of the result digest", func(r *R) any { return &r.WallLimited }},
		},
	}
}
