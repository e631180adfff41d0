package exhaustive

import (
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/exact"
)

// TestSubsets: what searches over some jobs prove of the makespan is no more than the
// optimum, whatever schedule is to be beaten and however soon they are stopped; and what
// they find and what reordering finds are schedules, which cost no less.
func TestSubsets(t *testing.T) {
	proven, searched := 0, 0
	for seed := range uint64(tier.Draws(400, 4000)) {
		rng := rand.New(rand.NewPCG(seed, 43))
		in := randomInstance(rng, 2+rng.IntN(4))
		best, want := schedtest.BruteForce(in, sched.Makespan)
		p, err := newProblem(in, sched.Makespan)
		if err != nil {
			t.Fatal(err)
		}
		optimal, err := p.planOf(best)
		if err != nil {
			t.Fatal(err)
		}
		for _, from := range []plan{lists(p), optimal} {
			s := newSearch(t.Context(), p, exact.Limits{})
			s.improve(from)
			s.reorder(t.Context(), seed, rng.IntN(20))
			if err := s.searchSubsets([]int{1, 3, 1000}[rng.IntN(3)]); err != nil {
				t.Fatal(err)
			}
			out, err := p.decode(s.best.plan)
			if err != nil {
				t.Fatal(err)
			}
			if cost := schedtest.Verify(t, in, out).Cost(sched.Makespan); cost.Cmp(s.best.cost) != 0 || cost.Cmp(want) < 0 || s.root.Cmp(want) > 0 {
				t.Fatalf("seed %d: a schedule of %v is said to cost %v, the bound is %v, the optimum %v\n%+v", seed, cost, s.best.cost, s.root, want, in)
			}
			if searched++; s.root.Cmp(want) == 0 {
				proven++
			}
			if err := s.tree(0); err != nil || s.best.cost.Cmp(want) != 0 {
				t.Fatalf("seed %d: %v of %v (%v)", seed, s.best.cost, want, err)
			}
		}
	}
	t.Logf("%d of %d optima proven", proven, searched)
	if 2*proven < searched {
		t.Errorf("only %d of %d optima proven", proven, searched)
	}
}

// TestSomeJobsDecide: four large gangs released last decide about the makespan of forty
// jobs; and more jobs, released early, change nothing.
func TestSomeJobsDecide(t *testing.T) {
	var jobs []sched.Job
	for i := range sched.Time(40) {
		jobs = append(jobs, schedtest.Job(i*1000, 1+int(i)%3, 20_000))
	}
	for i := range sched.Time(4) {
		jobs = append(jobs, schedtest.Job(100_000+i*1000, 9, 50_000+i*1000))
	}
	in := schedtest.Plain(schedtest.Servers(8, 8), jobs...)
	r := mustSolve(t, in, sched.Makespan, exact.Limits{Nodes: 5_000})
	few := *in
	few.Jobs = slices.Clone(jobs[40:])
	want := mustSolve(t, &few, sched.Makespan, exact.Limits{})
	if !r.Optimal() || r.Cost.Cmp(want.Cost) != 0 {
		t.Errorf("%v, bound %v; the large gangs alone %v", r.Cost, r.Bound, want.Cost)
	}
}
