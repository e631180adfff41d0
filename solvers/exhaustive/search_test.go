package exhaustive

import (
	"cmp"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/internal/number"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/exact"
)

// oneByOne is a plan that runs jobs one after another: an incumbent bad enough
// not to hide what the search leaves out.
func oneByOne(p *problem) plan {
	pl := newPlan(len(p.jobs))
	order := make([]int, len(p.jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p.jobs[a].release, p.jobs[b].release) })
	var now int64
	for _, i := range order {
		j := &p.jobs[i]
		pl.start[i] = max(now, j.release)
		pl.end[i] = pl.start[i] + j.long
		now = pl.end[i]
	}
	return pl
}

// searchFrom runs the search from the worst incumbent.
func searchFrom(t *testing.T, in *sched.Instance, obj sched.Objective) (*search, *big.Rat) {
	t.Helper()
	p, err := newProblem(in, obj)
	if err != nil {
		t.Fatal(err)
	}
	s := newSearch(t.Context(), p, exact.Limits{})
	s.improve(oneByOne(p))
	if err := s.run(number.Uint128{}); err != nil {
		t.Fatal(err)
	}
	return s, s.best.cost
}

// TestSearchWithoutHeuristic makes the tree prove what the first incumbent
// mostly finds, so that a wrong bound or rule shows.
func TestSearchWithoutHeuristic(t *testing.T) {
	for seed := range uint64(tier.Draws(130, 400)) {
		rng := rand.New(rand.NewPCG(seed, 2))
		n := []int{2, 3, 3, 3, 3, 3, 4, 4, 4, 4}[rng.IntN(10)]
		if seed%30 == 0 {
			n = 5
		}
		in := randomInstance(rng, n)
		compareTrees(t, in, pick2(rng), fmt.Sprint("seed ", seed))
	}
}

func compareTrees(t *testing.T, in *sched.Instance, objectives []sched.Objective, name string) {
	t.Helper()
	for _, obj := range objectives {
		_, want := schedtest.BruteForce(in, obj)
		s, got := searchFrom(t, in, obj)
		if got.Cmp(want) != 0 {
			t.Errorf("%s, %v: search finds %v, enumeration %v\n%+v", name, obj, got, want, in)
		}
		if s.unscale(s.lower).Cmp(want) > 0 {
			t.Errorf("%s, %v: lower bound %v exceeds the optimum %v", name, obj, s.unscale(s.lower), want)
		}
	}
}

// TestRulesByHand holds instances that tell a rule from a wrong one.
func TestRulesByHand(t *testing.T) {
	gang := func(release sched.Time, gpus int, ms sched.Duration, params sched.Bytes, weight float64) sched.Job {
		return sched.Job{Release: release * 1000, Weight: weight, Iters: 1, Stages: []sched.Stage{{Replicas: gpus, Compute: ms * 1e6, Params: params}}}
	}
	instance := func(sizes []int, jobs ...sched.Job) *sched.Instance {
		c := schedtest.Servers(sizes...)
		c.Intra = 10e9
		return schedtest.Plain(c, jobs...)
	}
	for name, in := range map[string]*sched.Instance{
		// Two servers with one free GPU each are not alike when the other GPU
		// falls free at different times: the third job must join the second, so
		// that the fourth finds a whole server.
		"servers with different futures": instance([]int{2, 2},
			gang(0, 1, 2, 0, 1), gang(0, 1, 10, 0, 1), gang(1, 1, 10, 0, 1), gang(2, 2, 1, 100_000_000, 1)),
		// Of equal jobs the heavier one need not start first where an earlier
		// start may mean a slower placement.
		"heavier twin": instance([]int{1, 2, 3},
			gang(2, 3, 3, 1_000_000, 1), gang(0, 3, 3, 1_000_000, 5), gang(2, 3, 3, 1_000_000, 5)),
		// The third job does best to wait for a server, although it could have
		// run for long enough on two.
		"waiting for one server": instance([]int{3, 3},
			gang(0, 2, 5, 5_000_000, 1), gang(0, 2, 9, 5_000_000, 1), gang(1, 2, 3, 5_000_000, 1)),
		// One GPU was idle all the time, but not the same one: the light last
		// job could not have run there from 0 to 6 without delaying the third.
		"idle in turns": instance([]int{3, 2},
			gang(0, 2, 4, 5_000_000, 100), gang(0, 2, 4, 5_000_000, 100), gang(0, 3, 20, 50_000_000, 100), gang(6, 2, 1, 0, 100), gang(0, 1, 6, 0, 1)),
	} {
		compareTrees(t, in, objectives, name)
	}
}
