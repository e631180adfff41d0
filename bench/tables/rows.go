// Package tables makes the tables that are recorded of the results of a run, with
// the strongest proven denominator of every schedule, and checks tables that were
// recorded against what follows from their schedules and certificates.
package tables

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"math/big"
	"slices"
	"strconv"

	"yardstick/bench"
	"yardstick/bench/record"
	"yardstick/bounds/proof/tree"
	"yardstick/sched"
	"yardstick/sched/verify"
	"yardstick/solvers/milp"
)

// Rows turns the results of a run into the tables that are recorded. Cells
// that were skipped leave no row. The error wraps ErrBoundViolated if a
// schedule beats a proven bound; the rows are complete all the same.
//
// Outcomes that a store keeps are read instance by instance, and every
// schedule is verified again. watch, if not nil, is told how many cells are done. After
// ctx has ended the error is that of ctx, and there are no tables.
func Rows(ctx context.Context, plan *bench.Plan, results []bench.CellResult, watch func(done int)) (*record.Run, error) {
	run := &record.Run{}
	var violations error
	for from := 0; from < len(results); {
		if watch != nil {
			watch(from)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		to := from + 1
		for to < len(results) && results[to].Cell.Instance == results[from].Cell.Instance {
			to++
		}
		opened := make([]bench.CellResult, to-from)
		for i := range opened {
			opened[i] = results[from+i].Open()
		}
		violations = errors.Join(violations, addInstance(run, plan, opened))
		from = to
	}
	if watch != nil {
		watch(len(results))
	}
	return run, violations
}

// addInstance adds the rows of the cells of one instance.
func addInstance(run *record.Run, plan *bench.Plan, results []bench.CellResult) error {
	in := results[0].Cell.Instance
	standings, best, features := newStandings(results), fastest{}, in.Features()
	if slices.ContainsFunc(results, func(r bench.CellResult) bool { return !r.Skipped }) {
		run.AddInstance(in.SHA256, in.Canonical)
		features.Suite = plan.Suite.Name
		run.Features = append(run.Features, features)
	}
	var violations error
	for _, s := range standings.order {
		violations = errors.Join(violations, s.check())
	}
	for i := range results {
		r := &results[i]
		if r.Skipped {
			continue
		}
		jobs := len(run.Jobs)
		schedules := addSchedules(run, r, best)
		theorem, about, err := addTheorems(run, r, standings)
		violations = errors.Join(violations, err)
		addPredictions(run, r)
		for k, objective := range r.Cell.Objectives {
			st := standings.of(r.Cell.Instance, objective)
			addSolves(run, plan, r, k, objective)
			addBounds(run, plan, r, k, objective)
			if r.Cell.Method.Kind() == bench.Bound {
				continue // it has no schedule, and so no row among the ratios
			}
			row := ratioRow(plan, r, k, objective, st, schedules)
			row.OfferedLoad = features.OfferedLoad
			addPredictability(&row, scheduled(run.Jobs[jobs:], row.Schedule))
			if theorem != nil && objective == about {
				addHeadline(&row, theorem)
			}
			run.Ratios = append(run.Ratios, row)
		}
	}
	return violations
}

func ratioRow(plan *bench.Plan, r *bench.CellResult, k int, objective sched.Objective, st *standing, schedules []record.Opt[int]) record.Ratio {
	in := r.Cell.Instance
	row := record.Ratio{
		CellID: r.Cell.ID, Suite: plan.Suite.Name, Instance: in.Name, InstanceSHA256: in.SHA256, Family: in.Family,
		Model: string(in.Model), Jobs: len(in.Jobs), GPUs: in.Cluster.GPUs(), Servers: record.Some(len(in.Cluster.Servers)),
		Seed: record.Some(int64(in.Seed)), Objective: objective.String(), Method: r.Cell.Method.Ref().String(),
		MethodVersion: record.Text(r.Cell.Method.Version()), Sense: record.Min, Kind: string(r.Cell.Method.Kind()),
		Wall: record.Some(r.Wall.Seconds()), CPU: record.Some(r.CPU.Seconds()), Params: in.Swept,
	}
	if bench.IsProgram(r.Cell.Method) {
		row.Fresh = record.Some(plan.Suite.Fresh)
	}
	if r.PeakRSS > 0 {
		row.PeakRSS = record.Some(r.PeakRSS)
	}
	if objective.Maximised() {
		row.Sense = record.Max
	}
	if r.Err != nil {
		row.Termination, row.Message = string(bench.TerminationOf(r.Err)), record.Text(r.Err.Error())
		row.WallLimited = r.Limited()
		return row
	}
	o := &r.Outcomes[k]
	row.Termination, row.Message = string(o.Termination), record.Text(o.Message)
	row.WallLimited = st.limited
	addReplay(&row, o.Replay)
	v := r.Verified[k]
	if v == nil {
		return row
	}
	row.Schedule = schedules[k]
	addTimes(&row, v)
	row.Class = v.Class().String()
	if v.Cost(objective) == nil {
		row.Message = record.Text(undefined(objective))
		return row
	}
	addDenominators(&row, v, st, o)
	return row
}

// undefined says why a verified schedule has no cost.
func undefined(o sched.Objective) string {
	if o == sched.ScheduledWeight {
		return "the instance has no deadline"
	}
	return "the schedule leaves jobs out"
}

func addDenominators(row *record.Ratio, v *verify.Verified, st *standing, o *bench.Outcome) {
	cost := v.Cost(st.objective)
	unit := func(r *big.Rat) *big.Rat { return inUnit(st.objective, r) }
	row.PrimalStatus = record.Proven
	row.Cost, row.CostExact = record.FromRat(unit(cost)), record.Exact(unit(cost))
	if len(o.Bounds) > 0 {
		row.DualStatus = record.Proven
		if o.Bounds[0].Certified {
			row.DualStatus = record.Certified
		}
	}
	if b := st.bound(v.Class()); b != nil {
		value := record.FromRat(unit(b.Value))
		if st.objective.Maximised() {
			row.UpperBound = value
		} else {
			row.LowerBound = value
		}
		row.LowerBoundExact = record.Exact(unit(b.Value))
		row.LowerBoundMethod, row.LowerBoundClass = record.Text(b.Name), record.Text(b.Class.String())
		row.LowerBoundCertified = record.Some(b.Certified)
		row.RatioToLowerBound = record.FromPtr(st.ratio(cost, b.Value))
	}
	best := st.bestKnown(v.Class())
	row.BestKnown, row.BestKnownBy = record.FromRat(unit(best.cost)), record.Text(best.method)
	row.RatioToBestKnown = record.FromPtr(st.ratio(cost, best.cost))
	switch optimum := st.optimum(v.Class()); {
	case optimum != nil:
		row.Optimum, row.OptimumExact = record.FromRat(unit(optimum)), record.Exact(unit(optimum))
		row.OptimumStatus, row.OptimumMethod = record.Proven, row.LowerBoundMethod
		if row.LowerBoundCertified.V {
			row.OptimumStatus = record.Certified // the schedule is verified too
		}
		row.RatioToOptimum = record.FromPtr(st.ratio(cost, optimum))
	case o.ClaimedOptimum != nil:
		row.Optimum, row.OptimumExact = record.FromRat(unit(o.ClaimedOptimum)), record.Exact(unit(o.ClaimedOptimum))
		row.OptimumStatus, row.OptimumMethod = record.Claimed, record.Text(row.Method)
		row.DualStatus = record.Claimed
	}
}

func addReplay(row *record.Ratio, replay *bench.Replay) {
	if replay == nil {
		return
	}
	row.Clairvoyant = record.Some(replay.Clairvoyant)
	row.Decisions = record.Some(replay.Decisions)
	row.DecisionP50 = record.Some(replay.DecisionP50.Seconds())
	row.DecisionP99 = record.Some(replay.DecisionP99.Seconds())
	if d := replay.Deferrals; d != nil {
		row.DeferralChoices, row.Deferrals = record.Some(d.Choices), record.Some(d.Deferred)
		row.DeferralPromised, row.DeferralRealised, row.DeferralWithin = record.Some(d.Promised), record.Some(d.Realised), record.Some(d.Within)
		if d.Explained != nil {
			row.DeferralExplained = record.Some(*d.Explained)
		}
	}
}

// scheduled are the rows of one schedule, none of none.
func scheduled(jobs []record.Job, schedule record.Opt[int]) iter.Seq[*record.Job] {
	return func(yield func(*record.Job) bool) {
		for i := range jobs {
			if schedule.Valid && jobs[i].Schedule == schedule.V && !yield(&jobs[i]) {
				return
			}
		}
	}
}

// addPredictability adds what the job rows of a schedule say of the predictions that
// it was made with.
func addPredictability(row *record.Ratio, jobs iter.Seq[*record.Job]) {
	n, unseen, off, iters := 0, 0, 0.0, 0.0
	for j := range jobs {
		if !j.ItersPredicted.Valid {
			continue
		}
		n++
		if j.ItersPredicted.V == 0 {
			unseen++
		}
		off += math.Abs(j.ItersPredicted.V - float64(j.Iters.V))
		iters += float64(j.Iters.V)
	}
	if n > 0 {
		row.UnseenShare = record.Some(float64(unseen) / float64(n))
	}
	if iters > 0 {
		row.PredictionError = record.Some(off / iters)
	}
}

func addTimes(row *record.Ratio, v *verify.Verified) {
	var jct, wait []sched.Time
	var preemptions, futile int
	var futileTime sched.Time
	for _, j := range v.Jobs() {
		preemptions += j.Preemptions
		futile += j.AbortedLoads
		futileTime += j.Futile
		if j.Scheduled {
			jct = append(jct, j.Completion-j.Release)
			wait = append(wait, j.Wait)
		}
	}
	row.Makespan = record.Some(v.Makespan().Seconds())
	row.Preemptions, row.FutilePreempts = record.Some(preemptions), record.Some(futile)
	row.Futile = record.Some(futileTime.Seconds())
	row.GPUUtilization = record.Some(v.Utilisation())
	if len(jct) == 0 {
		return
	}
	slices.Sort(jct)
	slices.Sort(wait)
	row.JCTMean, row.JCTP50, row.JCTP95 = mean(jct), nearestRank(jct, 0.50), nearestRank(jct, 0.95)
	row.WaitMean, row.WaitP50, row.WaitP95 = mean(wait), nearestRank(wait, 0.50), nearestRank(wait, 0.95)
}

// mean and nearestRank take times in ascending order and return seconds.
func mean(t []sched.Time) record.Opt[float64] {
	sum := 0.0
	for _, v := range t {
		sum += v.Seconds()
	}
	return record.Some(sum / float64(len(t)))
}

func nearestRank(t []sched.Time, p float64) record.Opt[float64] {
	rank := max(int(math.Ceil(p*float64(len(t)))), 1)
	return record.Some(t[rank-1].Seconds())
}

// addSchedules adds the job and segment rows of the cell's distinct schedules
// and returns, per objective, which of them it is.
func addSchedules(run *record.Run, r *bench.CellResult, best fastest) []record.Opt[int] {
	index := make([]record.Opt[int], len(r.Cell.Objectives))
	seen := map[*sched.Schedule]int{}
	for k, v := range r.Verified {
		if v == nil {
			continue
		}
		n, ok := seen[v.Schedule()]
		if !ok {
			n = len(seen)
			seen[v.Schedule()] = n
			addJobs(run, r, n, v, best.of(r.Cell.Instance))
			addSegments(run, r, n, v)
		}
		index[k] = record.Some(n)
	}
	return index
}

func addJobs(run *record.Run, r *bench.CellResult, n int, v *verify.Verified, best []record.Opt[float64]) {
	in := r.Cell.Instance.Instance
	predicted := map[sched.JobID]int64{}
	if replay := r.Outcomes[0].Replay; replay != nil {
		for _, p := range replay.Predictions {
			predicted[p.Job] = p.Iters
		}
	}
	for _, t := range v.Jobs() {
		j := &in.Jobs[t.Job]
		row := record.Job{CellID: r.Cell.ID, Schedule: n, Job: int(t.Job), Name: record.Text(j.Name), Task: record.Text(j.Model),
			Release: t.Release.Seconds(), Weight: record.Some(j.Weight), Iters: record.Some(j.Iters), Preemptions: record.Some(t.Preemptions)}
		if t.Scheduled {
			row.Start, row.Completion = record.Some(t.Start.Seconds()), record.Some(t.Completion.Seconds())
			row.JCT, row.Wait = record.Some((t.Completion - t.Release).Seconds()), record.Some(t.Wait.Seconds())
			row.Train, row.Load, row.Pause = record.Some(t.Train.Seconds()), record.Some(t.Load.Seconds()), record.Some(t.Pause.Seconds())
			row.Futile = record.Some(t.Futile.Seconds())
			row.GPUs, row.Servers = record.Some(t.GPUs), record.Some(t.Servers)
			if j.Iters > 0 {
				row.Iteration = record.Some(t.Train.Seconds() / float64(j.Iters))
			}
		}
		row.IterationBest = best[t.Job]
		if iters, ok := predicted[t.Job]; ok {
			row.ItersPredicted = record.Some(float64(iters))
		}
		run.Jobs = append(run.Jobs, row)
	}
}

// addPredictions adds the predictions of a replay. All objectives share one.
func addPredictions(run *record.Run, r *bench.CellResult) {
	if len(r.Outcomes) == 0 || r.Outcomes[0].Replay == nil {
		return
	}
	in, replay := r.Cell.Instance, r.Outcomes[0].Replay
	seen := map[string]int{}
	for _, j := range in.History {
		seen[j.Group]++
	}
	for _, p := range replay.Predictions {
		j := &in.Jobs[p.Job]
		row := record.Prediction{CellID: r.Cell.ID, Instance: in.Name, Method: r.Cell.Method.Ref().String(), Predictor: replay.Predictor,
			Job: int(p.Job), Release: j.Release.Seconds(), User: record.Text(j.User), Group: record.Text(j.Group), GPUs: j.Gang(),
			Predicted: p.Iters, Iters: j.Iters, Error: p.Iters - j.Iters}
		if j.Group != "" {
			row.History = seen[j.Group]
		}
		run.Predictions = append(run.Predictions, row)
	}
}

func addSegments(run *record.Run, r *bench.CellResult, n int, v *verify.Verified) {
	segments := slices.Clone(v.Schedule().Segments)
	slices.SortStableFunc(segments, func(a, b sched.Segment) int {
		return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Start, b.Start))
	})
	number := 0
	for i := range segments {
		s := &segments[i]
		if i == 0 || s.Job != segments[i-1].Job {
			number = 0
		}
		for _, sh := range s.Place.Shares {
			row := record.Segment{CellID: r.Cell.ID, Schedule: n, Job: int(s.Job), Segment: number, Server: sh.Server,
				Start: s.Start.Seconds(), End: s.End.Seconds(), Phase: s.Phase.String(), GPUs: sh.GPUs, Stages: numbers(sh.Stages), Devices: numbers(sh.Devices)}
			if c := s.Place.Config; c != nil {
				row.WorkerType, row.ServerType, row.Accumulation = record.Some(c.WorkerType), record.Some(c.ServerType), record.Some(c.Accumulation)
			}
			run.Segments = append(run.Segments, row)
		}
		number++
	}
}

// numbers is a list as text, such as 2,0,1; parseNumbers reads it.
func numbers(list []int) record.Text {
	var b []byte
	for i, n := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return record.Text(b)
}

func addBounds(run *record.Run, plan *bench.Plan, r *bench.CellResult, k int, objective sched.Objective) {
	in := r.Cell.Instance
	row := record.Bound{Suite: plan.Suite.Name, Instance: in.Name, InstanceSHA256: in.SHA256, Objective: objective.String(),
		Bound: r.Cell.Method.Ref().String(), Side: record.Lower, CellID: record.Text(r.Cell.ID), Wall: record.Some(r.Wall.Seconds())}
	if objective.Maximised() {
		row.Side = record.Upper
	}
	if r.Err != nil || len(r.Outcomes[k].Bounds) == 0 {
		if r.Cell.Method.Kind() == bench.Bound { // a bound that is missing leaves a row that says why
			row.Message = message(r, k)
			run.Bounds = append(run.Bounds, row)
		}
		return
	}
	for _, b := range r.Outcomes[k].Bounds {
		b.Value = inUnit(objective, b.Value)
		row.Bound, row.Class = b.Name, b.Class.String()
		row.Value, row.ValueExact = record.FromRat(b.Value), record.Exact(b.Value)
		row.Certified, row.Certificate = record.Some(b.Certified), ""
		if b.Certified {
			row.Certificate = run.AddCertificate(b.Certificate)
		}
		row.WallLimited = r.Outcomes[k].Limited()
		run.Bounds = append(run.Bounds, row)
	}
}

func message(r *bench.CellResult, k int) record.Text {
	if r.Err != nil {
		return record.Text(r.Err.Error())
	}
	return record.Text(r.Outcomes[k].Message)
}

func addSolves(run *record.Run, plan *bench.Plan, r *bench.CellResult, k int, objective sched.Objective) {
	if r.Outcomes == nil {
		return
	}
	for i, s := range r.Outcomes[k].Solves {
		row := record.Solve{
			CellID: r.Cell.ID, Solve: i, Instance: r.Cell.Instance.Name, Objective: objective.String(),
			Formulation: s.Formulation, Relation: record.Text(s.Relation), Solver: s.Solver, SolverVersion: record.Text(s.SolverVersion),
			Rows: record.Some(s.Rows), Columns: record.Some(s.Columns), Nonzeros: record.Some(int64(s.Nonzeros)), Integers: record.Some(s.Integers),
			Termination: string(s.Result.Termination), PrimalStatus: record.Text(s.Result.Primal), DualStatus: record.Text(s.Result.Dual),
			PrimalBound: finite(s.Result.PrimalBound), DualBound: finite(s.Result.DualBound),
			Nodes: record.Some(int64(s.Result.Stats.Nodes)), Iterations: record.Some(int64(s.Result.Stats.Iterations)),
			Wall: seconds(s.Result.Stats.Wall), CPU: seconds(s.Result.Stats.CPU), Message: record.Text(s.Result.Message),
		}
		if s.Opened > 0 {
			row.Opened, row.Solved, row.GeneratedColumns = record.Some(s.Opened), record.Some(s.Solved), record.Some(int64(s.Generated))
		}
		for _, b := range r.Outcomes[k].Bounds {
			if b.Certified {
				row.Certificate = run.AddCertificate(b.Certificate)
			}
		}
		if s.Result.Stats.PeakRSS > 0 {
			row.PeakRSS = record.Some(s.Result.Stats.PeakRSS)
		}
		if row.PrimalBound.Valid && row.DualBound.Valid {
			row.GapPrimalRel = gap(s.Result.PrimalBound, s.Result.DualBound)
		}
		row.WallLimited = s.Result.Termination == milp.TimeLimit || s.Result.Termination == milp.MemoryLimit
		run.Solves = append(run.Solves, row)
		addEvents(run, &row, &s.Result)
	}
	addProof(run, r, k, objective)
}

// addProof adds the row of a proof for strangers, after those of the solves.
func addProof(run *record.Run, r *bench.CellResult, k int, objective sched.Objective) {
	o := &r.Outcomes[k]
	p := o.Proof
	if p == nil {
		return
	}
	row := record.Solve{CellID: r.Cell.ID, Solve: len(o.Solves), Instance: r.Cell.Instance.Name, Objective: objective.String(),
		Formulation: r.Cell.Method.Ref().String() + "/proof", Relation: "exact", Solver: p.Format, Termination: string(p.Termination),
		Wall: seconds(p.Wall), CPU: seconds(p.CPU), ProofFormat: record.Text(p.Format), Message: record.Text(p.Message),
		WallLimited: p.Termination == milp.Interrupted}
	if p.Certificate != nil {
		row.Nodes, row.ProofBytes = record.Some(int64(p.Nodes)), record.Some(int64(len(p.Certificate)))
		row.ProofStatus, row.PrimalStatus, row.DualStatus = record.Checkable, record.Proven, record.Proven
		row.Proof, row.Problem = run.AddProof(p.Certificate, p.Problem, tree.Checkers())
	}
	run.Solves = append(run.Solves, row)
}
