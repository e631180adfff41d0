package record

import (
	"io"
	"iter"
)

// The tables. Each column is defined here and nowhere else. Append columns;
// never rename, retype or reorder them.

// ratioTable has one column per swept parameter after the fixed ones.
func ratioTable(params []Param) *table[Ratio] {
	type R = Ratio
	t := &table[R]{
		name: "ratios",
		doc:  "One row per (instance, objective, method), failures included. A row without `cost` has no verified schedule; `termination` and `message` say why.",
		rows: func(r *Run) *[]R { return &r.Ratios },
		omit: func(r *R, _ map[string]bool) bool { return r.WallLimited },
		columns: []column[R]{
			{"cell_id", "", Key, "the cell that the row comes from: a hash of instance, method with version and parameters, objectives, seed and limits", func(r *R) any { return &r.CellID }},
			{"suite", "", Key, "name of the suite", func(r *R) any { return &r.Suite }},
			{"instance", "", Key, "name of the instance, unique within the suite", func(r *R) any { return &r.Instance }},
			{"instance_sha256", "", Value, "sha256 of the instance's content", func(r *R) any { return &r.InstanceSHA256 }},
			{"family", "", Value, "the suite's entry that the instance was made by", func(r *R) any { return &r.Family }},
			{"model", "", Value, "job model: gang, elastic, preemptive or sharing", func(r *R) any { return &r.Model }},
			{"class", "", Value, "execution class whose rules the method's schedules keep; null if the method ended before it said so", func(r *R) any { return (*Text)(&r.Class) }},
			{"jobs", "", Value, "number of jobs of the instance", func(r *R) any { return &r.Jobs }},
			{"gpus", "", Value, "number of GPUs of the cluster", func(r *R) any { return &r.GPUs }},
			{"seed", "", Value, "seed that the instance was drawn with", func(r *R) any { return &r.Seed }},
			{"objective", "", Key, "what the cost measures, such as total-jct: by the name that suites use", func(r *R) any { return &r.Objective }},
			{"method", "", Key, "name of the method, with the parameters that differ from its defaults", func(r *R) any { return &r.Method }},
			{"method_version", "", Value, "changes when the method's results may", func(r *R) any { return &r.MethodVersion }},
			{"sense", "", Value, "min or max: whether less or more of the objective is better", func(r *R) any { return &r.Sense }},
			{"kind", "", Value, "online (a policy, replayed), offline (sees the whole instance, does not aim at its optimum) or exact (also proves a bound)", func(r *R) any { return &r.Kind }},
			{"clairvoyant", "", Value, "whether the policy was told the true number of iterations", func(r *R) any { return &r.Clairvoyant }},
			{"termination", "", Value, "why the method stopped, in the words of MathOptInterface (OPTIMAL, INFEASIBLE, TIME_LIMIT, NODE_LIMIT, ...), with CRASHED and SKIPPED", func(r *R) any { return &r.Termination }},
			{"primal_status", "", Value, "evidence for the schedule: proven (verified), claimed, or null (none)", func(r *R) any { return &r.PrimalStatus }},
			{"dual_status", "", Value, "evidence for the method's own bound: certified, proven, claimed, or null (none)", func(r *R) any { return &r.DualStatus }},
			{"cost", "s or weight", Value, "the verified schedule's objective value: seconds (times weight where weighted), or weight for scheduled-weight", func(r *R) any { return &r.Cost }},
			{"optimum", "s or weight", Value, "the optimal cost in the row's class; see optimum_status", func(r *R) any { return &r.Optimum }},
			{"optimum_status", "", Value, "certified (certificate checked in exact arithmetic), proven, or claimed (a solver says so; no ratio is made of it)", func(r *R) any { return &r.OptimumStatus }},
			{"lower_bound", "s or weight", Value, "the strongest proven lower bound that may divide a schedule of the row's class; null where the objective is maximised", func(r *R) any { return &r.LowerBound }},
			{"upper_bound", "s or weight", Value, "the strongest proven upper bound, where the objective is maximised", func(r *R) any { return &r.UpperBound }},
			{"lower_bound_method", "", Value, "name of the bound in lower_bound, or in upper_bound where the objective is maximised", func(r *R) any { return &r.LowerBoundMethod }},
			{"lower_bound_class", "", Value, "execution class that the bound is proven for", func(r *R) any { return &r.LowerBoundClass }},
			{"lower_bound_certified", "", Value, "whether the bound's certificate was checked in exact arithmetic", func(r *R) any { return &r.LowerBoundCertified }},
			{"best_known", "s or weight", Value, "the best verified cost of any method whose schedules the row's class contains, or matches: the optimum of the class is at most this", func(r *R) any { return &r.BestKnown }},
			{"ratio_to_optimum", "", Value, "cost / optimum, or optimum / cost where the objective is maximised; null unless the optimum is proven", func(r *R) any { return &r.RatioToOptimum }},
			{"ratio_to_lower_bound", "", Value, "cost / lower_bound, or upper_bound / cost: never below the true ratio", func(r *R) any { return &r.RatioToLowerBound }},
			{"ratio_to_best_known", "", Value, "cost / best_known, or best_known / cost: never above the true ratio, which lies between this and ratio_to_lower_bound", func(r *R) any { return &r.RatioToBestKnown }},
			{"theorem", "", Value, "the published theorem whose bound applies to the method on this instance", func(r *R) any { return &r.Theorem }},
			{"theorem_bound", "", Value, "the theorem's competitive ratio, evaluated on this instance; null where it is infinite or 1e30 and more", func(r *R) any { return &r.TheoremBound }},
			{"theorem_holds", "", Value, "whether the measurement agrees with the theorem", func(r *R) any { return &r.TheoremHolds }},
			{"makespan_s", "s", Value, "latest completion", func(r *R) any { return &r.Makespan }},
			{"jct_mean_s", "s", Value, "mean job completion time, completion minus release", func(r *R) any { return &r.JCTMean }},
			{"jct_p50_s", "s", Value, "median job completion time (nearest rank)", func(r *R) any { return &r.JCTP50 }},
			{"jct_p95_s", "s", Value, "95th percentile of the job completion time (nearest rank)", func(r *R) any { return &r.JCTP95 }},
			{"wait_mean_s", "s", Value, "mean time of a job between release and completion in which it neither loaded, trained nor paused", func(r *R) any { return &r.WaitMean }},
			{"wait_p50_s", "s", Value, "median of the same (nearest rank)", func(r *R) any { return &r.WaitP50 }},
			{"wait_p95_s", "s", Value, "95th percentile of the same (nearest rank)", func(r *R) any { return &r.WaitP95 }},
			{"preemptions", "", Value, "number of preemptions", func(r *R) any { return &r.Preemptions }},
			{"futile_preemptions", "", Value, "preemptions of a job that had not trained since its last start: its load was for nothing", func(r *R) any { return &r.FutilePreempts }},
			{"futile_s", "s", Value, "time spent in loads that a preemption cut short", func(r *R) any { return &r.Futile }},
			{"gpu_utilization", "", Value, "GPU time in use over GPU time available until the makespan, from 0 to 1", func(r *R) any { return &r.GPUUtilization }},
			{"decisions", "", Value, "how often the policy was asked", func(r *R) any { return &r.Decisions }},
			{"decision_p50_s", "s", Timing, "median time of one decision", func(r *R) any { return &r.DecisionP50 }},
			{"decision_p99_s", "s", Timing, "99th percentile of the same", func(r *R) any { return &r.DecisionP99 }},
			{"wall_s", "s", Timing, "wall-clock time of the cell", func(r *R) any { return &r.Wall }},
			{"cpu_s", "s", Timing, "processor time of the cell", func(r *R) any { return &r.CPU }},
			{"peak_rss_bytes", "bytes", Machine, "largest resident memory of the cell's process", func(r *R) any { return &r.PeakRSS }},
			{"message", "", Machine, "what the user should know: why there is no schedule or no bound", func(r *R) any { return &r.Message }},
			{"servers", "", Value, "number of servers of the cluster", func(r *R) any { return &r.Servers }},
			{"optimum_method", "", Value, "what proved the optimum", func(r *R) any { return &r.OptimumMethod }},
			{"cost_exact", "s or weight", Value, "cost as an exact fraction, such as 7/2", func(r *R) any { return &r.CostExact }},
			{"optimum_exact", "s or weight", Value, "optimum as an exact fraction", func(r *R) any { return &r.OptimumExact }},
			{"lower_bound_exact", "s or weight", Value, "lower_bound, or upper_bound where the objective is maximised, as an exact fraction", func(r *R) any { return &r.LowerBoundExact }},
			{"schedule", "", Value, "which schedule of the cell, in jobs.arrow and segments.arrow, the row's cost is of", func(r *R) any { return &r.Schedule }},
			{"wall_limited", "", Value, "whether a limit in wall-clock time or memory shaped a value of the row, its denominators included; such a row is not part of the result digest", func(r *R) any { return &r.WallLimited }},
			{"offered_load", "", Value, "offered load of the instance: the rate at which its jobs come times the mean GPU time of one alone on the fewest servers, over the GPUs, so that 1 is as much as they can do; null of a burst, and of elastic jobs", func(r *R) any { return &r.OfferedLoad }},
			{"fresh", "", Machine, "of a policy that is a program: whether the instance was drawn for this run by a seed that was chosen then. false is a public instance, whose lengths the program may know by heart; null for all other methods", func(r *R) any { return &r.Fresh }},
			{"best_known_by", "", Value, "name of the method whose schedule best_known is the cost of", func(r *R) any { return &r.BestKnownBy }},
			{"unseen_share", "", Value, "share of the policy's predictions that are 0 iterations, as of jobs unlike any that the predictor has seen; null where the policy was told the truth", func(r *R) any { return &r.UnseenShare }},
			{"prediction_error", "", Value, "mean absolute error of the predicted numbers of iterations, over the mean of the true ones; null where the policy was told the truth", func(r *R) any { return &r.PredictionError }},
			{"deferral_choices", "", Value, "of a policy that predicts how long to defer preemptions: its choices whose outcome is known, since the first samples of its predictor; null for all other methods", func(r *R) any { return &r.DeferralChoices }},
			{"deferrals", "", Value, "of these choices, those that deferred at all", func(r *R) any { return &r.Deferrals }},
			{"deferral_gain_predicted_s", "s", Value, "by how much nearer the choices were predicted to come to what should have been chosen than preempting at once, on average", func(r *R) any { return &r.DeferralPromised }},
			{"deferral_gain_s", "s", Value, "the same as it came out; below 0 where preempting at once would have been nearer", func(r *R) any { return &r.DeferralRealised }},
			{"deferral_variance_explained", "", Value, "share of the variance of how near the choices came that the predictor explains: below 0 where it is worse than their mean; null where they are all as near", func(r *R) any { return &r.DeferralExplained }},
			{"deferral_within_95", "", Value, "share of the choices whose outcome was within the predictor's interval of 95 %", func(r *R) any { return &r.DeferralWithin }},
		},
	}
	for _, p := range params {
		t.columns = append(t.columns, column[R]{p.Column(), p.Unit, Value, "swept parameter " + p.Name,
			func(r *R) any { return param{r, p} }})
	}
	return t
}

func jobTable() *table[Job] {
	type R = Job
	return &table[R]{
		name: "jobs",
		doc:  "One row per job of every verified schedule. Times are in seconds since the instance's epoch.",
		rows: func(r *Run) *[]R { return &r.Jobs },
		omit: func(r *R, limited map[string]bool) bool { return limited[r.CellID] },
		columns: []column[R]{
			{"cell_id", "", Key, "the cell, as in ratios.arrow", func(r *R) any { return &r.CellID }},
			{"schedule", "", Key, "which schedule of the cell, counted from 0: a cell may have one per objective", func(r *R) any { return &r.Schedule }},
			{"job", "", Key, "index of the job in the instance", func(r *R) any { return &r.Job }},
			{"name", "", Value, "name of the job in the trace", func(r *R) any { return &r.Name }},
			{"release_s", "s", Value, "time from which the job may run", func(r *R) any { return &r.Release }},
			{"start_s", "s", Value, "first start; null if the job was left out", func(r *R) any { return &r.Start }},
			{"completion_s", "s", Value, "end of the last training; null if the job was left out", func(r *R) any { return &r.Completion }},
			{"jct_s", "s", Value, "completion minus release", func(r *R) any { return &r.JCT }},
			{"wait_s", "s", Value, "time between release and completion in which the job neither loaded, trained nor paused", func(r *R) any { return &r.Wait }},
			{"train_s", "s", Value, "time in training", func(r *R) any { return &r.Train }},
			{"load_s", "s", Value, "time in loading state", func(r *R) any { return &r.Load }},
			{"pause_s", "s", Value, "time in saving state at preemptions, GPUs held", func(r *R) any { return &r.Pause }},
			{"preemptions", "", Value, "how often the job was preempted", func(r *R) any { return &r.Preemptions }},
			{"gpus", "", Value, "gang size, or the most GPUs held at a time", func(r *R) any { return &r.GPUs }},
			{"servers", "", Value, "number of distinct servers used", func(r *R) any { return &r.Servers }},
			{"iteration_s", "s", Value, "time of one iteration that the schedule reached, on average", func(r *R) any { return &r.Iteration }},
			{"iteration_best_s", "s", Value, "least time of one iteration over all placements in the empty cluster", func(r *R) any { return &r.IterationBest }},
			{"iterations_predicted", "", Value, "number of iterations that the policy was told at release", func(r *R) any { return &r.ItersPredicted }},
			{"iterations", "", Value, "true number of iterations", func(r *R) any { return &r.Iters }},
			{"weight", "", Value, "weight of the job in weighted objectives", func(r *R) any { return &r.Weight }},
			{"futile_s", "s", Value, "time spent in loads that a preemption cut short", func(r *R) any { return &r.Futile }},
			{"task", "", Value, "what the job trains, where the instance says so", func(r *R) any { return &r.Task }},
		},
	}
}

func segmentTable() *table[Segment] {
	type R = Segment
	return &table[R]{
		name: "segments",
		doc:  "One row per segment of every verified schedule and server that it uses.",
		rows: func(r *Run) *[]R { return &r.Segments },
		omit: func(r *R, limited map[string]bool) bool { return limited[r.CellID] },
		columns: []column[R]{
			{"cell_id", "", Key, "the cell, as in ratios.arrow", func(r *R) any { return &r.CellID }},
			{"schedule", "", Key, "which schedule of the cell, as in jobs.arrow", func(r *R) any { return &r.Schedule }},
			{"job", "", Key, "index of the job in the instance", func(r *R) any { return &r.Job }},
			{"segment", "", Key, "index of the segment among the job's, in order of time", func(r *R) any { return &r.Segment }},
			{"server", "", Key, "index of the server in the cluster", func(r *R) any { return &r.Server }},
			{"start_s", "s", Value, "start of the segment", func(r *R) any { return &r.Start }},
			{"end_s", "s", Value, "end of the segment", func(r *R) any { return &r.End }},
			{"phase", "", Value, "train, load or pause", func(r *R) any { return &r.Phase }},
			{"gpus", "", Value, "GPUs held on this server", func(r *R) any { return &r.GPUs }},
			{"stages", "", Value, "replicas of each stage on this server, such as 2,1; of an elastic job, workers and parameter servers; null where a job of one stage has all GPUs", func(r *R) any { return &r.Stages }},
			{"devices", "", Value, "indices of the GPUs on the server, such as 0,3; null in exclusive classes, where any free ones will do", func(r *R) any { return &r.Devices }},
			{"worker_type", "", Value, "of an elastic job, index of the worker type; null, like the next two, where the scheduler chooses nothing but the place", func(r *R) any { return &r.WorkerType }},
			{"server_type", "", Value, "of an elastic job, index of the parameter-server type", func(r *R) any { return &r.ServerType }},
			{"accumulation", "", Value, "of a job that shares GPUs, steps of gradient accumulation", func(r *R) any { return &r.Accumulation }},
		},
	}
}

func solveTable() *table[Solve] {
	type R = Solve
	return &table[R]{
		name: "solves",
		doc:  "One row per integer program, per linear program by its name, and per attempt at a proof for strangers. The relaxations at the nodes of an integer program count in its row.",
		rows: func(r *Run) *[]R { return &r.Solves },
		omit: func(r *R, limited map[string]bool) bool { return r.WallLimited || limited[r.CellID] },
		columns: []column[R]{
			{"cell_id", "", Key, "the cell, as in ratios.arrow", func(r *R) any { return &r.CellID }},
			{"solve", "", Key, "index of the solve within the cell and objective", func(r *R) any { return &r.Solve }},
			{"instance", "", Value, "name of the instance", func(r *R) any { return &r.Instance }},
			{"objective", "", Key, "the objective solved for", func(r *R) any { return &r.Objective }},
			{"formulation", "", Value, "name of the formulation", func(r *R) any { return &r.Formulation }},
			{"relation", "", Value, "how the formulation's optimum stands to the problem's: exact, relaxation (never above) or restriction (never below)", func(r *R) any { return &r.Relation }},
			{"solver", "", Value, "name of the solver", func(r *R) any { return &r.Solver }},
			{"solver_version", "", Machine, "version of the solver", func(r *R) any { return &r.SolverVersion }},
			{"rows", "", Value, "rows of the model", func(r *R) any { return &r.Rows }},
			{"columns", "", Value, "columns of the model", func(r *R) any { return &r.Columns }},
			{"nonzeros", "", Value, "nonzero entries of the model", func(r *R) any { return &r.Nonzeros }},
			{"integers", "", Value, "integer columns of the model", func(r *R) any { return &r.Integers }},
			{"termination", "", Value, "why the solver stopped", func(r *R) any { return &r.Termination }},
			{"primal_status", "", Value, "evidence for the point: proven, claimed, or null (none)", func(r *R) any { return &r.PrimalStatus }},
			{"dual_status", "", Value, "evidence for the bound: proven, claimed, or null (none)", func(r *R) any { return &r.DualStatus }},
			{"primal_bound", "model's", Value, "objective of the incumbent, in the model's own unit", func(r *R) any { return &r.PrimalBound }},
			{"dual_bound", "model's", Value, "no feasible point of the model is below it", func(r *R) any { return &r.DualBound }},
			{"gap_primal_rel", "", Value, "gap between the two, over the absolute primal bound", func(r *R) any { return &r.GapPrimalRel }},
			{"nodes", "", Value, "branch-and-bound nodes", func(r *R) any { return &r.Nodes }},
			{"iterations", "", Value, "simplex iterations", func(r *R) any { return &r.Iterations }},
			{"generated_columns", "", Value, "columns added during the solve", func(r *R) any { return &r.GeneratedColumns }},
			{"wall_s", "s", Timing, "wall-clock time", func(r *R) any { return &r.Wall }},
			{"cpu_s", "s", Timing, "processor time", func(r *R) any { return &r.CPU }},
			{"peak_rss_bytes", "bytes", Machine, "largest resident memory of the solver's process", func(r *R) any { return &r.PeakRSS }},
			{"certificate_sha256", "", Value, "sha256 of the stored certificate", func(r *R) any { return &r.Certificate }},
			{"message", "", Machine, "what the user should know", func(r *R) any { return &r.Message }},
			{"wall_limited", "", Value, "whether a limit in wall-clock time or memory ended the solve; such a row is not part of the result digest", func(r *R) any { return &r.WallLimited }},
			{"proof_status", "", Value, "independently checkable: the optimum has a proof that strangers check with the programs in the folder proofs; null of other rows", func(r *R) any { return &r.ProofStatus }},
			{"proof_format", "", Value, "of an attempt at such a proof: tree (on one pool of GPUs, check_tree.py) or tree on servers (check_servers.py)", func(r *R) any { return &r.ProofFormat }},
			{"proof_bytes", "bytes", Value, "size of the proof", func(r *R) any { return &r.ProofBytes }},
			{"proof_sha256", "", Value, "sha256 of the proof, proofs/SHA256.cert", func(r *R) any { return &r.Proof }},
			{"problem_sha256", "", Value, "sha256 of the problem that it is about, proofs/SHA256.txt", func(r *R) any { return &r.Problem }},
			{"programs", "", Value, "of linear programs that share the row, how many were opened one after the other: masters of the nodes of a tree, or programs of several problems of a policy. The size is that of the largest, termination and bounds are those of the last, work is that of all. Null of integer programs", func(r *R) any { return &r.Opened }},
			{"solved", "", Value, "how often one of them was solved, rows and columns having been added or bounds changed; null where programs is", func(r *R) any { return &r.Solved }},
		},
	}
}

func boundTable() *table[Bound] {
	type R = Bound
	return &table[R]{
		name: "bounds",
		doc:  "One row per proven bound on an instance's optimum, and per attempt at one that failed.",
		rows: func(r *Run) *[]R { return &r.Bounds },
		omit: func(r *R, limited map[string]bool) bool { return r.WallLimited || limited[string(r.CellID)] },
		columns: []column[R]{
			{"suite", "", Key, "name of the suite", func(r *R) any { return &r.Suite }},
			{"instance", "", Key, "name of the instance", func(r *R) any { return &r.Instance }},
			{"instance_sha256", "", Value, "sha256 of the instance's content", func(r *R) any { return &r.InstanceSHA256 }},
			{"objective", "", Key, "the objective bounded", func(r *R) any { return &r.Objective }},
			{"bound", "", Key, "name of the bound", func(r *R) any { return &r.Bound }},
			{"side", "", Key, "lower or upper", func(r *R) any { return &r.Side }},
			{"value", "s or weight", Value, "the bound; null if it could not be computed", func(r *R) any { return &r.Value }},
			{"class", "", Value, "execution class whose schedules it bounds, together with every class contained in it; null if there is no value", func(r *R) any { return (*Text)(&r.Class) }},
			{"certified", "", Value, "whether the certificate was checked in exact arithmetic", func(r *R) any { return &r.Certified }},
			{"wall_s", "s", Timing, "wall-clock time of computing it", func(r *R) any { return &r.Wall }},
			{"value_exact", "s or weight", Value, "value as an exact fraction, such as 7/2", func(r *R) any { return &r.ValueExact }},
			{"cell_id", "", Key, "the cell that computed it", func(r *R) any { return (*string)(&r.CellID) }},
			{"message", "", Machine, "why there is no value", func(r *R) any { return &r.Message }},
			{"wall_limited", "", Value, "whether a limit in wall-clock time or memory shaped the value; such a row is not part of the result digest", func(r *R) any { return &r.WallLimited }},
			{"certificate_sha256", "", Machine, "sha256 of the stored certificate, certificates/SHA256.json; null if the bound is not certified", func(r *R) any { return &r.Certificate }},
		},
	}
}

func predictionTable() *table[Prediction] {
	type R = Prediction
	return &table[R]{
		name: "predictions",
		doc:  "One row per job whose number of iterations a policy asked a predictor for; none where the policy was told the truth.",
		rows: func(r *Run) *[]R { return &r.Predictions },
		omit: func(r *R, limited map[string]bool) bool { return limited[r.CellID] },
		columns: []column[R]{
			{"cell_id", "", Key, "the cell, as in ratios.arrow", func(r *R) any { return &r.CellID }},
			{"instance", "", Value, "name of the instance", func(r *R) any { return &r.Instance }},
			{"method", "", Value, "name of the policy, with its parameters", func(r *R) any { return &r.Method }},
			{"predictor", "", Value, "what predicted: forest, mean or median", func(r *R) any { return &r.Predictor }},
			{"job", "", Key, "index of the job in the instance", func(r *R) any { return &r.Job }},
			{"release_s", "s", Value, "release of the job, when it was predicted", func(r *R) any { return &r.Release }},
			{"user", "", Value, "who submitted the job", func(r *R) any { return &r.User }},
			{"group", "", Value, "recurrent group of the job", func(r *R) any { return &r.Group }},
			{"gpus", "", Value, "gang size of the job", func(r *R) any { return &r.GPUs }},
			{"group_history", "", Value, "jobs of the same group in the instance's history; 0 of a job without a group", func(r *R) any { return &r.History }},
			{"iterations_predicted", "", Value, "number of iterations predicted; 0 for a job unlike any seen", func(r *R) any { return &r.Predicted }},
			{"iterations", "", Value, "true number of iterations", func(r *R) any { return &r.Iters }},
			{"error", "", Value, "predicted minus true number of iterations", func(r *R) any { return &r.Error }},
		},
	}
}

func theoremTable() *table[Theorem] {
	type R = Theorem
	return &table[R]{
		name: "theorems",
		doc:  "One row per published inequality and schedule that it is about: total completion time, or for `primal-dual` total weighted completion time.",
		rows: func(r *Run) *[]R { return &r.Theorems },
		omit: func(r *R, limited map[string]bool) bool { return limited[r.CellID] },
		columns: []column[R]{
			{"cell_id", "", Key, "the cell, as in ratios.arrow", func(r *R) any { return &r.CellID }},
			{"instance", "", Value, "name of the instance", func(r *R) any { return &r.Instance }},
			{"method", "", Value, "name of the policy, with its parameters", func(r *R) any { return &r.Method }},
			{"theorem", "", Key, "the statement", func(r *R) any { return &r.Theorem }},
			{"form", "", Key, "printed (as published), or a corrected or sharper form", func(r *R) any { return &r.Form }},
			{"assumptions_met", "", Value, "whether the run meets every assumption of the statement's proof", func(r *R) any { return &r.Met }},
			{"assumptions_unmet", "", Value, "those that it does not meet", func(r *R) any { return &r.Unmet }},
			{"left_s", "s", Value, "left side of the inequality; null where it is not about such runs", func(r *R) any { return &r.Left }},
			{"right_s", "s", Value, "right side, at the optimum where that is proven and else at its best lower bound; null where it is infinite or 1e30 and more", func(r *R) any { return &r.Right }},
			{"slack_s", "s", Value, "right side less left side; null where the right side is", func(r *R) any { return &r.Slack }},
			{"at_optimum", "", Value, "whether the right side does not depend on the optimum, or that is proven", func(r *R) any { return &r.AtOptimum }},
			{"verdict", "", Value, "holds or violated, both proven; undecided between the bounds on the optimum; vacuous (the right side is infinite); not applicable", func(r *R) any { return &r.Verdict }},
			{"bound", "", Value, "what the inequality allows the ratio of cost and optimum to be; null where that is infinite or 1e30 and more", func(r *R) any { return &r.Bound }},
			{"job", "", Value, "the job with the least slack, of a statement about every job", func(r *R) any { return &r.Job }},
		},
	}
}

// Table describes one file of a result directory.
type Table struct {
	Name    string // of the file, with its extension
	Doc     string
	Columns []Column
}

// file is a table of whatever rows.
type file interface {
	table() Table
	encode(w io.Writer, run *Run, metadata [][2]string) (rows int, err error)
	decode(data []byte, run *Run) (rows int, err error)
	digest(run *Run, limited map[string]bool) ([]byte, error)
	values(run *Run) iter.Seq2[[]any, error]
}

// tables lists the files of a result directory.
func tables(params []Param) []file {
	return []file{ratioTable(params), jobTable(), segmentTable(), solveTable(), boundTable(), predictionTable(), placementTable(), theoremTable(), eventTable(), instanceTable()}
}

func (t *table[R]) table() Table {
	return Table{Name: t.file(), Doc: t.doc, Columns: t.describe()}
}
