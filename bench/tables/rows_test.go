package tables

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"yardstick/bench"
	"yardstick/bench/record"
	"yardstick/bench/suite"
	"yardstick/bounds"
	"yardstick/heuristics/listsched"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/solvers/exhaustive"
	"yardstick/solvers/milp"
)

// instance has jobs of one GPU on one server, with the given releases and
// durations in seconds.
func instance(t *testing.T, gpus int, jobs ...[2]int) *sched.Instance {
	t.Helper()
	in := &sched.Instance{Name: "test", Model: sched.ModelGang, Cluster: sched.Uniform(1, gpus, 1, 1)}
	for _, j := range jobs {
		in.Jobs = append(in.Jobs, sched.Job{Release: sched.Time(j[0]) * sched.Second, Weight: 1, Iters: 1,
			Stages: []sched.Stage{{Replicas: 1, Compute: sched.Duration(j[1]) * sched.Duration(time.Second)}}})
	}
	if err := in.Validate(); err != nil {
		t.Fatal(err)
	}
	return in
}

func planOf(in *sched.Instance, objectives []sched.Objective, methods ...bench.Method) *bench.Plan {
	p := &bench.Plan{Suite: &suite.Suite{Name: "test", Limits: suite.Limits{Solve: time.Minute}}}
	built := &suite.Instance{Instance: in, Family: "test", SHA256: in.Hash()}
	p.Instances = []*suite.Instance{built}
	for _, m := range methods {
		c := bench.Cell{Index: len(p.Cells), Instance: built, Method: m, Objectives: objectives}
		c.ID = fmt.Sprint("cell ", c.Index)
		p.Cells = append(p.Cells, c)
	}
	return p
}

// fake is a method that does what its function does.
type fake struct {
	name string
	kind bench.Kind
	run  func(bench.Problem) ([]bench.Outcome, error)
}

func (f *fake) Ref() suite.MethodRef { return suite.MethodRef{Name: f.name} }
func (f *fake) Version() string      { return "1" }
func (f *fake) Kind() bench.Kind     { return f.kind }
func (f *fake) Run(_ context.Context, p bench.Problem) ([]bench.Outcome, error) {
	return f.run(p)
}

func fifo() bench.Method {
	return bench.Policy(suite.MethodRef{Name: "fifo"}, "1", bench.Replayed{New: func(context.Context, bench.Problem) (sim.Policy, error) {
		return listsched.FIFO(listsched.Options{}), nil
	}})
}

func sjf() bench.Method {
	return bench.Policy(suite.MethodRef{Name: "sjf"}, "1", bench.Replayed{New: func(context.Context, bench.Problem) (sim.Policy, error) {
		return listsched.SJF(listsched.Options{}), nil
	}})
}

func optimum() bench.Method {
	return bench.Search(suite.MethodRef{Name: "exhaustive"}, "1", exhaustive.Solve)
}

var bothTotals = []sched.Objective{sched.TotalJCT, sched.TotalCompletion, sched.MeanJCT}

func TestRunProvesRatios(t *testing.T) {
	in := instance(t, 1, [2]int{0, 9}, [2]int{0, 1}, [2]int{1, 2})
	plan := planOf(in, bothTotals, optimum(), bench.LowerBound(suite.MethodRef{Name: "lb0"}, "1", bench.Closed(bounds.LB0)), fifo())
	results := bench.Run(context.Background(), plan, bench.Options{Workers: 2})
	run, err := Rows(t.Context(), plan, results, nil)
	if err != nil {
		t.Fatal(err)
	}
	// The optimum runs the jobs of 1, 2 and 9 s in this order: completions 1,
	// 3, 12. FIFO runs them in order of index: 9, 10, 12.
	want := map[string][3]float64{"exhaustive": {15, 16, 5}, "fifo": {30, 31, 10}}
	if len(run.Ratios) != 6 {
		t.Fatalf("%d ratio rows, want 6", len(run.Ratios))
	}
	for i, row := range run.Ratios {
		cost := want[row.Method][i%3]
		if row.Cost.V != cost || !row.RatioToOptimum.Valid || row.OptimumStatus != record.Certified {
			t.Errorf("%s %s: cost %v (want %v), ratio %v, status %q", row.Method, row.Objective, row.Cost, cost, row.RatioToOptimum, row.OptimumStatus)
		}
		if best := want["exhaustive"][i%3]; row.RatioToOptimum.V != cost/best {
			t.Errorf("%s %s: ratio %v, want %v", row.Method, row.Objective, row.RatioToOptimum.V, cost/best)
		}
	}
}

func TestRowsDoNotDependOnWorkers(t *testing.T) {
	in := instance(t, 2, [2]int{0, 9}, [2]int{0, 1}, [2]int{1, 2}, [2]int{3, 7}, [2]int{4, 1})
	digest := func(workers int) string {
		plan := planOf(in, bothTotals, optimum(), bench.LowerBound(suite.MethodRef{Name: "srpt"}, "1", bench.Closed(bounds.SRPT)), fifo(), sjf())
		run, err := Rows(t.Context(), plan, bench.Run(context.Background(), plan, bench.Options{Workers: workers}), nil)
		if err != nil {
			t.Fatal(err)
		}
		d, err := run.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if one, four := digest(1), digest(4); one != four {
		t.Errorf("digest %s with one worker, %s with four", one, four)
	}
}

func TestRunSurvivesBadMethods(t *testing.T) {
	in := instance(t, 1, [2]int{0, 5})
	panics := &fake{"panics", bench.Offline, func(bench.Problem) ([]bench.Outcome, error) { panic("boom") }}
	fails := &fake{"fails", bench.Offline, func(bench.Problem) ([]bench.Outcome, error) { return nil, errors.New("no luck") }}
	short := &fake{"short", bench.Offline, func(bench.Problem) ([]bench.Outcome, error) { return nil, nil }}
	cheats := &fake{"cheats", bench.Offline, func(bench.Problem) ([]bench.Outcome, error) {
		s := &sched.Schedule{Class: sched.Class{Kind: sched.N}, Segments: []sched.Segment{
			{End: sched.Second, Place: sched.Placement{Shares: []sched.Share{{GPUs: 1}}}}}}
		return []bench.Outcome{{Schedule: s}}, nil
	}}
	plan := planOf(in, []sched.Objective{sched.TotalJCT}, panics, fails, short, cheats, fifo())
	results := bench.Run(context.Background(), plan, bench.Options{Workers: 1})
	for i, want := range []error{bench.ErrPanicked, nil, nil, bench.ErrInvalidSchedule} {
		if results[i].Err == nil || want != nil && !errors.Is(results[i].Err, want) {
			t.Errorf("%s: error %v", plan.Cells[i].Method.Ref(), results[i].Err)
		}
	}
	run, err := Rows(t.Context(), plan, results, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Ratios) != 5 || run.Ratios[0].Termination != "CRASHED" || run.Ratios[1].Message != "no luck" || !run.Ratios[4].Cost.Valid {
		t.Errorf("rows: %+v", run.Ratios)
	}
	if failed, skipped := bench.Failures(results); len(failed) != 4 || skipped != 0 {
		t.Errorf("failures %v, %d skipped", failed, skipped)
	}
}

// A bound that is too high is caught by the first schedule that beats it.
func TestBoundViolated(t *testing.T) {
	in := instance(t, 1, [2]int{0, 5})
	wrong := bench.LowerBound(suite.MethodRef{Name: "wrong"}, "1", func(context.Context, bench.Problem, sched.Objective) (bounds.Bound, milp.Termination, error) {
		return bounds.Bound{Name: "wrong", Class: sched.Class{Kind: sched.Fluid}, Objective: sched.TotalJCT, Value: big.NewRat(5_000_001, 1)}, milp.Optimal, nil
	})
	plan := planOf(in, []sched.Objective{sched.TotalJCT}, wrong, fifo())
	_, err := Rows(t.Context(), plan, bench.Run(context.Background(), plan, bench.Options{Workers: 1}), nil)
	if !errors.Is(err, ErrBoundViolated) || !strings.Contains(err.Error(), "wrong") {
		t.Errorf("error %v", err)
	}
}

// A bound that a limit in time has shaped is marked, with the ratios made of it,
// so that none of them enters the digest.
func TestLimitedBound(t *testing.T) {
	in := instance(t, 1, [2]int{0, 5})
	for _, ended := range []milp.Termination{milp.Optimal, milp.TimeLimit} {
		slow := bench.LowerBound(suite.MethodRef{Name: "slow"}, "1", func(context.Context, bench.Problem, sched.Objective) (bounds.Bound, milp.Termination, error) {
			return bounds.Bound{Name: "slow", Class: sched.Class{Kind: sched.Fluid}, Objective: sched.TotalJCT, Value: big.NewRat(4_000_000, 1)}, ended, nil
		})
		plan := planOf(in, []sched.Objective{sched.TotalJCT}, slow, fifo())
		run, err := Rows(t.Context(), plan, bench.Run(context.Background(), plan, bench.Options{Workers: 1}), nil)
		if err != nil {
			t.Fatal(err)
		}
		limited := ended == milp.TimeLimit
		if b, r := run.Bounds[0], run.Ratios[0]; b.WallLimited != limited || r.WallLimited != limited || r.LowerBound.V != 4 {
			t.Errorf("%s: bound %+v, ratio %+v", ended, b, r)
		}
	}
}

// A bound of a class that the schedule's does not reach is no denominator, and
// a claimed optimum makes no ratio.
func TestDenominators(t *testing.T) {
	in := instance(t, 1, [2]int{0, 5})
	foreign := bench.LowerBound(suite.MethodRef{Name: "slotted"}, "1", func(context.Context, bench.Problem, sched.Objective) (bounds.Bound, milp.Termination, error) {
		return bounds.Bound{Name: "slotted", Class: sched.Class{Kind: sched.N, Slotted: true}, Objective: sched.TotalJCT, Value: big.NewRat(5_000_000, 1)}, milp.Optimal, nil
	})
	claims := &fake{"claims", bench.Exact, func(p bench.Problem) ([]bench.Outcome, error) {
		o, err := fifo().Run(context.Background(), p)
		o[0].ClaimedOptimum, o[0].Termination = big.NewRat(4_000_000, 1), milp.Optimal
		return o, err
	}}
	plan := planOf(in, []sched.Objective{sched.TotalJCT}, foreign, claims)
	run, err := Rows(t.Context(), plan, bench.Run(context.Background(), plan, bench.Options{Workers: 1}), nil)
	if err != nil {
		t.Fatal(err)
	}
	row := run.Ratios[0]
	if row.LowerBound.Valid || row.RatioToLowerBound.Valid || row.RatioToOptimum.Valid || row.OptimumStatus != record.Claimed || row.Optimum.V != 4 {
		t.Errorf("row: %+v", row)
	}
}

func TestRunInterrupted(t *testing.T) {
	in := instance(t, 1, [2]int{0, 5})
	ctx, cancel := context.WithCancel(context.Background())
	stops := &fake{"stops", bench.Offline, func(bench.Problem) ([]bench.Outcome, error) { cancel(); return nil, ctx.Err() }}
	plan := planOf(in, []sched.Objective{sched.TotalJCT}, fifo(), stops, sjf(), sjf(), sjf())
	results := bench.Run(ctx, plan, bench.Options{Workers: 1})
	if _, skipped := bench.Failures(results); skipped < 3 || results[0].Err != nil || results[0].Skipped {
		t.Errorf("%d cells skipped, first %+v", skipped, results[0].Err)
	}
	run, err := Rows(t.Context(), plan, results, nil)
	if err != nil || len(run.Ratios) == 0 || len(run.Ratios) > 2 {
		t.Errorf("%d rows, error %v", len(run.Ratios), err)
	}
}

// Tables are made of all instances or, after an interrupt, of none.
func TestRowsStop(t *testing.T) {
	in := instance(t, 1, [2]int{0, 9}, [2]int{0, 1}, [2]int{1, 2})
	plan := planOf(in, bothTotals, fifo())
	results := bench.Run(context.Background(), plan, bench.Options{Workers: 1})
	ctx, cancel := context.WithCancel(t.Context())
	var seen []int
	if run, err := Rows(ctx, plan, results, func(done int) { seen = append(seen, done) }); run == nil || err != nil || !slices.Equal(seen, []int{0, 1}) {
		t.Errorf("%v, %v, %v", run, err, seen)
	}
	if run, err := Rows(ctx, plan, results, func(int) { cancel() }); run != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v, %v", run, err)
	}
}

// What is said of predictions is of the jobs that were predicted, of one schedule:
// 0 iterations are a job unlike any seen, and the error is over what is true.
func TestPredictability(t *testing.T) {
	jobs := []record.Job{
		{Job: 0, Iters: record.Some(int64(10)), ItersPredicted: record.Some(0.0)},
		{Job: 1, Iters: record.Some(int64(30)), ItersPredicted: record.Some(35.0)},
		{Job: 2, Iters: record.Some(int64(1000))}, // nobody asked
		{Schedule: 1, Job: 0, Iters: record.Some(int64(10)), ItersPredicted: record.Some(10.0)},
	}
	for _, c := range []struct {
		schedule      record.Opt[int]
		unseen, error record.Opt[float64]
	}{
		{record.Some(0), record.Some(0.5), record.Some(15.0 / 40)},
		{record.Some(1), record.Some(0.0), record.Some(0.0)},
		{record.Some(2), record.Opt[float64]{}, record.Opt[float64]{}},
		{record.Opt[int]{}, record.Opt[float64]{}, record.Opt[float64]{}},
	} {
		var row record.Ratio
		addPredictability(&row, scheduled(jobs, c.schedule))
		if row.UnseenShare != c.unseen || row.PredictionError != c.error {
			t.Errorf("schedule %v: %v and %v, want %v and %v", c.schedule, row.UnseenShare, row.PredictionError, c.unseen, c.error)
		}
	}
}
