package tables

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"yardstick/bench"
	"yardstick/bench/record"
	"yardstick/bench/suite"
	"yardstick/bounds"
	"yardstick/bounds/theorems"
	"yardstick/heuristics/elastic"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// ring is an elastic instance: one GPU, three jobs of a slot of 1 s each that weigh
// 1, 2 and 4, and a deadline after two slots.
func ring(t *testing.T) *sched.Instance {
	t.Helper()
	in := &sched.Instance{Name: "ring", Model: sched.ModelElastic, Slot: sched.Second, Deadline: 2 * sched.Second, Cluster: sched.Uniform(1, 1, 1, 1),
		Elastic: &sched.ElasticTypes{Resources: []string{"gpu", "bw"}, Bandwidth: 1, Workers: []sched.Container{{Demand: []int64{1, 1}}}}}
	in.Cluster.Servers[0].Capacity = []int64{1, 1}
	for _, w := range []float64{1, 2, 4} {
		in.Jobs = append(in.Jobs, sched.Job{Weight: w, Elastic: &sched.Elastic{Ring: true, MaxWorkers: 1, Batches: 1,
			Train: []sched.Duration{sched.Duration(sched.Second) * 1000}, Update: []sched.Duration{0}}})
	}
	if err := in.Validate(); err != nil {
		t.Fatal(err)
	}
	return in
}

// inOrder runs the jobs one after the other.
func inOrder(in *sched.Instance, jobs ...sched.JobID) *sched.Schedule {
	s := &sched.Schedule{Class: slottedElastic}
	for slot, id := range jobs {
		s.Segments = append(s.Segments, in.ElasticSegment(id, int64(slot), 1, in.ElasticPlacement(0, 0, []int{1}, nil)))
	}
	return s
}

var slottedElastic = sched.Class{Kind: sched.E, Slotted: true}

// weighs is a method that runs some jobs, and proves a bound if it is not 0.
func weighs(name string, bound int64, jobs ...sched.JobID) bench.Method {
	return bench.Heuristic(suite.MethodRef{Name: name}, "1", func(_ context.Context, p bench.Problem, o sched.Objective) (bench.Outcome, error) {
		out := bench.Outcome{Schedule: inOrder(p.Instance, jobs...), Termination: bench.Completed}
		if bound > 0 {
			out.Bounds = []bounds.Bound{{Name: name, Class: slottedElastic, Objective: o, Value: big.NewRat(bound, 1)}}
		}
		return out, nil
	})
}

func upper(name string, class sched.Class, value int64) bench.Method {
	return bench.LowerBound(suite.MethodRef{Name: name}, "1", bench.Closed(func(_ *sched.Instance, o sched.Objective) (bounds.Bound, error) {
		return bounds.Bound{Name: name, Class: class, Objective: o, Value: big.NewRat(value, 1)}, nil
	}))
}

func weightRows(t *testing.T, methods ...bench.Method) (map[string]record.Ratio, *record.Run, error) {
	t.Helper()
	plan := planOf(ring(t), []sched.Objective{sched.ScheduledWeight}, methods...)
	run, err := Rows(t.Context(), plan, bench.Run(context.Background(), plan, bench.Options{Workers: 1}), nil)
	rows := map[string]record.Ratio{}
	for _, row := range run.Ratios {
		rows[row.Method] = row
	}
	return rows, run, err
}

// TestMaximised: where more is better, the denominators are the strongest upper
// bound and the most weight known, and ratios are theirs over the value.
func TestMaximised(t *testing.T) {
	fluid := sched.Class{Kind: sched.FluidMin, Slotted: true}
	rows, run, err := weightRows(t, weighs("light", 0, 0, 1), weighs("heavy", 7, 1, 0, 2), weighs("none", 0),
		upper("loose", slottedElastic, 12), upper("fluid", fluid, 8))
	if err != nil {
		t.Fatal(err)
	}
	// Jobs 0 and 1 weigh 3; of 1, 0 and 2 the last is late.
	for name, want := range map[string]float64{"light": 3, "heavy": 3, "none": 0} {
		row := rows[name]
		if row.Sense != record.Max || row.Kind != string(bench.Offline) || row.Cost.V != want || row.UpperBound.V != 7 || row.LowerBound.Valid || row.LowerBoundMethod != "heavy" || row.LowerBoundExact != "7" || row.BestKnown.V != 3 || row.Optimum.Valid {
			t.Errorf("%s: %+v", name, row)
		}
		if got := row.RatioToLowerBound; got.Valid != (want > 0) || got.Valid && got.V != 7.0/3 {
			t.Errorf("%s: ratio to the bound %v", name, got)
		}
		if got := row.RatioToBestKnown; got.Valid != (want > 0) || got.Valid && got.V != 1 {
			t.Errorf("%s: ratio to the best known %v", name, got)
		}
	}
	for _, b := range run.Bounds {
		if b.Side != record.Upper {
			t.Errorf("%s is a %s bound", b.Bound, b.Side)
		}
	}
	rows, _, err = weightRows(t, weighs("best", 6, 2, 1), weighs("light", 0, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	if row := rows["light"]; row.Optimum.V != 6 || row.OptimumStatus != record.Certified || row.RatioToOptimum.V != 2 || row.RatioToBestKnown.V != 2 {
		t.Errorf("%+v", row)
	}
	if row := rows["best"]; row.RatioToOptimum.V != 1 {
		t.Errorf("%+v", row)
	}
}

// TestUpperBoundViolated: a schedule of more weight than is said to be possible is
// found out, one of less is not.
func TestUpperBoundViolated(t *testing.T) {
	relaxed := sched.Class{Kind: sched.FluidMin, Slotted: true} // in which no search refutes it before
	if _, _, err := weightRows(t, weighs("best", 0, 2, 1), upper("wrong", relaxed, 5)); !errors.Is(err, ErrBoundViolated) {
		t.Errorf("%v", err)
	}
	if _, _, err := weightRows(t, weighs("light", 0, 0), upper("right", slottedElastic, 6)); err != nil {
		t.Error(err)
	}
}

// TestUndefinedCost: schedules have a cost under objectives that are defined for
// them only, and say why not.
func TestUndefinedCost(t *testing.T) {
	in := ring(t)
	all := weighs("all", 0, 2, 1, 0)
	some := weighs("some", 0, 2)
	plan := planOf(in, []sched.Objective{sched.WeightedCompletion, sched.ScheduledWeight}, all, some)
	run, err := Rows(t.Context(), plan, bench.Run(context.Background(), plan, bench.Options{Workers: 1}), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range run.Ratios {
		if undefined := row.Method == "some" && row.Objective == "weighted-completion"; row.Cost.Valid == undefined || (row.Message == "the schedule leaves jobs out") != undefined {
			t.Errorf("%s %s: cost %v, %q", row.Method, row.Objective, row.Cost, row.Message)
		}
	}
	in.Deadline = 0
	plan = planOf(in, []sched.Objective{sched.ScheduledWeight}, all)
	if run, err = Rows(t.Context(), plan, bench.Run(context.Background(), plan, bench.Options{Workers: 1}), nil); err != nil {
		t.Fatal(err)
	}
	if row := run.Ratios[0]; row.Cost.Valid || row.Message != "the instance has no deadline" {
		t.Errorf("%+v", row)
	}
}

// rounds is a policy that says of itself that it works in rounds.
type rounds struct {
	sim.Policy
	kept bool
}

func (r rounds) Alpha() (int, bool) { return 3, r.kept }

// TestRoundTheorems: what a policy says of its rounds reaches its theorems, and
// their headline the row of the objective that they are about.
func TestRoundTheorems(t *testing.T) {
	about := &bench.Theorems{Objective: sched.WeightedCompletion, Headline: theorems.PrimalDualHeadline,
		Evaluate: func(v *verify.Verified, r *bench.Replay, opt theorems.Interval) ([]theorems.Result, error) {
			return []theorems.Result{theorems.Competitive(theorems.OnlineRun{Cost: v.Cost(sched.WeightedCompletion), Optimum: opt, Alpha: r.Rounds.Alpha, Kept: r.Rounds.Kept})}, nil
		}}
	for _, c := range []struct {
		kept  bool
		bound int64 // on the optimum, in weighted seconds; 0 for none
		holds record.Opt[bool]
	}{{true, 9, record.Some(true)}, {true, 0, record.Opt[bool]{}}, {false, 9, record.Opt[bool]{}}} {
		policy := bench.Policy(suite.MethodRef{Name: "online"}, "1", bench.Replayed{Theorems: about,
			New: func(context.Context, bench.Problem) (sim.Policy, error) {
				return rounds{elastic.FIFO(elastic.FIFOOptions{}), c.kept}, nil
			}})
		methods := []bench.Method{policy}
		if c.bound > 0 {
			methods = append(methods, upper("bound", slottedElastic, c.bound*int64(sched.Second)))
		}
		plan := planOf(ring(t), []sched.Objective{sched.WeightedCompletion, sched.TotalCompletion}, methods...)
		plan.Cells[0].Objectives = []sched.Objective{sched.WeightedCompletion, sched.TotalCompletion}
		for i := range plan.Cells[1:] {
			plan.Cells[1+i].Objectives = []sched.Objective{sched.WeightedCompletion}
		}
		run, err := Rows(t.Context(), plan, bench.Run(context.Background(), plan, bench.Options{Workers: 1}), nil)
		if err != nil {
			t.Fatal(err)
		}
		row, other := run.Ratios[0], run.Ratios[1]
		if row.TheoremHolds != c.holds || (row.Theorem == "primal-dual-lemma-1 (realised)") != c.kept || c.kept && row.TheoremBound.V != 12 || other.Theorem != "" {
			t.Errorf("%+v: %q %v %v, %q", c, row.Theorem, row.TheoremBound, row.TheoremHolds, other.Theorem)
		}
		if len(run.Theorems) != 1 || run.Theorems[0].Left.V != 1+4+12 || run.Theorems[0].Right.V != float64(12*c.bound) || run.Theorems[0].Met != c.kept {
			t.Errorf("%+v", run.Theorems)
		}
	}
}
