package timeindexed_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"yardstick/formulate"
	"yardstick/formulate/timeindexed"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/branch"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// A given incumbent is checked, and a good one is used.
func TestIncumbent(t *testing.T) {
	r := schedtest.Rand(8)
	for range 20 {
		in := whole(r, 5, 2, 3)
		best, err := exhaustive.Solve(context.Background(), in, sched.TotalCompletion, exact.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		got := solve(t, in, sched.TotalCompletion, timeindexed.Options{Slot: sched.Second, Incumbent: best.Schedule})
		if got.Cost.Cmp(best.Cost) != 0 || !got.Optimal() {
			t.Errorf("interval [%v, %v], optimum %v", got.Bound, got.Cost, best.Cost)
		}
		for name, spoil := range map[string]func(*sched.Schedule){
			"class":   func(s *sched.Schedule) { s.Class.Kind = sched.P },
			"missing": func(s *sched.Schedule) { s.Segments = s.Segments[1:] },
			"short":   func(s *sched.Schedule) { s.Segments[0].End-- },
			"no job":  func(s *sched.Schedule) { s.Segments[0].Job = 99 },
			"negative": func(s *sched.Schedule) {
				s.Segments[0].Start, s.Segments[0].End = s.Segments[0].End, s.Segments[0].Start
			},
			"placement": func(s *sched.Schedule) { s.Segments[0].Place.Shares[0].Server = 7 },
			"early": func(s *sched.Schedule) {
				for i := range s.Segments {
					s.Segments[i].Start -= 1000 * sched.Second
					s.Segments[i].End -= 1000 * sched.Second
				}
			},
			"overfull": func(s *sched.Schedule) { // all at once
				for i := range s.Segments {
					length := s.Segments[i].End - s.Segments[i].Start
					s.Segments[i].Start = 100 * sched.Second
					s.Segments[i].End = s.Segments[i].Start + length
				}
			},
		} {
			bad := &sched.Schedule{Class: best.Schedule.Class}
			for _, seg := range best.Schedule.Segments {
				seg.Place.Shares = append([]sched.Share(nil), seg.Place.Shares...)
				bad.Segments = append(bad.Segments, seg)
			}
			spoil(bad)
			if name == "overfull" && fits(in) {
				continue
			}
			if _, err := timeindexed.Solve(context.Background(), in, sched.TotalCompletion, branch.New(lpsolve.LP{}), timeindexed.Options{Incumbent: bad}); !errors.Is(err, timeindexed.ErrIncumbent) {
				t.Errorf("%s: error %v", name, err)
			}
		}
	}
}

// fits reports whether all jobs together ask for no more GPUs than there are.
func fits(in *sched.Instance) bool {
	sum := 0
	for i := range in.Jobs {
		sum += in.Jobs[i].Gang()
	}
	return sum <= in.Cluster.GPUs()
}

func TestBadInput(t *testing.T) {
	r := schedtest.Rand(9)
	plain := func() *sched.Instance { return whole(r, 3, 2, 2) }
	for name, c := range map[string]struct {
		change func(*sched.Instance)
		obj    sched.Objective
		opt    timeindexed.Options
		want   string
	}{
		"maximised":     {func(in *sched.Instance) { in.Deadline = 9 }, sched.ScheduledWeight, timeindexed.Options{}, "completion times"},
		"slotted":       {func(in *sched.Instance) { in.Slot = sched.Second }, sched.Makespan, timeindexed.Options{}, "continuous"},
		"invalid":       {func(in *sched.Instance) { in.Jobs[0].Iters = 0 }, sched.Makespan, timeindexed.Options{}, "iters"},
		"negative slot": {func(*sched.Instance) {}, sched.Makespan, timeindexed.Options{Slot: -1}, "positive"},
		"tiny slot":     {crowd, sched.TotalCompletion, timeindexed.Options{Slot: 1}, "too large"},
		"huge weight":   {func(in *sched.Instance) { crowd(in); in.Jobs[0].Weight = 1e12 }, sched.WeightedCompletion, timeindexed.Options{Slot: sched.Second}, "2^53"},
	} {
		in := plain()
		c.change(in)
		_, err := timeindexed.Solve(context.Background(), in, c.obj, branch.New(lpsolve.LP{}), c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "timeindexed: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	sharing := schedtest.Sharing(r, schedtest.Shape{Jobs: 3, Servers: 2, GPUs: 2, Stages: 1})
	if _, err := timeindexed.Solve(context.Background(), sharing, sched.Makespan, branch.New(lpsolve.LP{}), timeindexed.Options{}); err == nil {
		t.Error("the sharing model was accepted")
	}
}

// crowd makes jobs that take all GPUs for a minute, so that some wait.
func crowd(in *sched.Instance) {
	for i := range in.Jobs {
		in.Jobs[i] = schedtest.Job(0, in.Cluster.GPUs(), sched.Time(60+i)*sched.Second)
	}
}

// Build's programs keep the relation that they state.
func TestBuild(t *testing.T) {
	r := schedtest.Rand(10)
	count := map[formulate.Relation]int{}
	for k := range 80 {
		in := whole(r, 3+r.IntN(3), 2, 3)
		slot := sched.Second
		if k%2 > 0 {
			slot = 3 * sched.Second / 2
		}
		if k%3 == 0 { // the same time on any GPUs
			for i := range in.Jobs {
				in.Jobs[i] = schedtest.Job(in.Jobs[i].Release, in.Jobs[i].Gang(), sched.Time(1+r.IntN(5))*sched.Second)
			}
		}
		obj := objectives[k%3]
		want := optimum(t, in, obj)
		for _, up := range []bool{false, true} {
			prog, err := timeindexed.Build(in, obj, slot, up)
			if err != nil {
				t.Fatal(err)
			}
			count[prog.Relation]++
			res, err := branch.New(lpsolve.LP{}).Solve(context.Background(), prog.Model, milp.Start{}, milp.Limits{})
			if err != nil || res.Termination != milp.Optimal {
				t.Fatalf("%+v, %v", res, err)
			}
			bound, evidence := prog.DualBound(res)
			if prog.Relation == formulate.Restriction {
				if evidence != milp.None || !math.IsInf(bound, -1) {
					t.Errorf("a restriction bounds the optimum by %v", bound)
				}
			} else if evidence != milp.Proven || ratOf(bound).Cmp(want) > 0 {
				t.Errorf("%v: bound %v (%v), optimum %v", prog.Relation, bound, evidence, want)
			}
			if prog.Relation == formulate.Exact && ratOf(bound).Cmp(want) != 0 {
				t.Errorf("exact program: %v, optimum %v", bound, want)
			}
			if prog.Decode == nil {
				if prog.Relation != formulate.Relaxation {
					t.Errorf("%v does not decode", prog.Relation)
				}
				continue
			}
			s, err := prog.Decode(res.X)
			if errors.Is(err, timeindexed.ErrServers) && prog.Relation != formulate.Exact {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if cost := schedtest.Verify(t, in, s).Cost(obj); cost.Cmp(ratOf(res.PrimalBound)) > 0 {
				t.Errorf("%v: the schedule costs %v, its point %v", prog.Relation, cost, res.PrimalBound)
			}
		}
	}
	for _, rel := range []formulate.Relation{formulate.Exact, formulate.Relaxation, formulate.Restriction} {
		if count[rel] < 10 {
			t.Errorf("only %d programs are %v", count[rel], rel)
		}
	}
	for _, obj := range []sched.Objective{sched.Makespan, sched.MeanJCT} {
		if _, err := timeindexed.Build(whole(r, 3, 2, 2), obj, sched.Second, false); err == nil {
			t.Errorf("%v was built", obj)
		}
	}
}

// Size is what Solve builds, but for the slots in which capacity cannot run out.
func TestSizeAndSlot(t *testing.T) {
	r := schedtest.Rand(11)
	for range 10 {
		in := odd(r, 6, 2, 2)
		slot, err := timeindexed.DefaultSlot(in, sched.TotalCompletion)
		if err != nil {
			t.Fatal(err)
		}
		rows, cols, nonzeros, err := timeindexed.Size(in, sched.TotalCompletion, slot)
		if err != nil {
			t.Fatal(err)
		}
		got := solve(t, in, sched.TotalCompletion, timeindexed.Options{})
		if chosen, _, err := timeindexed.Grid(in, sched.TotalCompletion, timeindexed.Options{}); err != nil || chosen != slot {
			t.Errorf("slot %v, %v, default %v", chosen, err, slot)
		}
		if len(got.Programs) == 0 {
			continue
		}
		if run := got.Programs[0]; run.Cols != cols || run.Rows > rows || run.Nonzeros > nonzeros || cols > 5000 || nonzeros > 150_000 {
			t.Errorf("size %d×%d with %d nonzeros, built %d×%d with %d", rows, cols, nonzeros, run.Rows, run.Cols, run.Nonzeros)
		}
	}
}

// Tiny weights make windows from costs meaningless; the horizon bounds them.
func TestTinyWeight(t *testing.T) {
	in := whole(schedtest.Rand(12), 4, 2, 2)
	crowd(in)
	in.Jobs[1].Weight = 1e-12
	got := solve(t, in, sched.WeightedCompletion, timeindexed.Options{Slot: 10 * sched.Second})
	if want := optimum(t, in, sched.WeightedCompletion); !within(got, want) {
		t.Errorf("optimum %v, interval [%v, %v]", want, got.Bound, got.Cost)
	}
	if len(got.Programs) == 0 || got.Programs[0].Cols > 200 {
		t.Errorf("programs %+v", got.Programs)
	}
}

// On this program lp_solve's search, guarded or not, says that there is no
// point at all, or used to: microseconds are large numbers. Neither bound nor
// schedule suffer.
func TestWrongClaims(t *testing.T) {
	in := busy(1, 10)
	proven := solve(t, in, sched.TotalCompletion, timeindexed.Options{})
	claimed := solveBy(t, lpsolve.MIP{}, in, sched.TotalCompletion, timeindexed.Options{})
	if claimed.Bound.Cmp(proven.Cost) > 0 || claimed.Cost.Cmp(proven.Bound) < 0 {
		t.Errorf("proven [%v, %v], with lp_solve [%v, %v]", proven.Bound, proven.Cost, claimed.Bound, claimed.Cost)
	}
	if gap(proven.Bound, proven.Cost) > 1 {
		t.Errorf("proven [%v, %v]", proven.Bound, proven.Cost)
	}
}

func TestTooLarge(t *testing.T) {
	many := &sched.Instance{Name: "many", Model: sched.ModelGang, Cluster: schedtest.Servers(1)}
	for range 301 {
		many.Jobs = append(many.Jobs, schedtest.Job(0, 1, sched.Second))
	}
	wide := &sched.Instance{Name: "wide", Model: sched.ModelGang, Cluster: sched.Uniform(40, 8, 1e9, 1e9)}
	wide.Jobs = []sched.Job{{Weight: 1, Iters: 1, Stages: []sched.Stage{{Replicas: 64, Compute: 1e9, Params: 1e9}}}}
	for _, in := range []*sched.Instance{many, wide} {
		if _, err := timeindexed.Solve(context.Background(), in, sched.Makespan, branch.New(lpsolve.LP{}), timeindexed.Options{}); !errors.Is(err, sched.ErrNotApplicable) {
			t.Errorf("%s: error %v", in.Name, err)
		}
	}
}
