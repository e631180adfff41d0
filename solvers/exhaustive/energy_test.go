package exhaustive

import (
	"math/rand/v2"
	"testing"

	"yardstick/internal/number"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/exact"
)

// rootMakespan is what the relaxation proves of the node at the first release.
func rootMakespan(t *testing.T, in *sched.Instance) sched.Time {
	t.Helper()
	p, err := newProblem(in, sched.Makespan)
	if err != nil {
		t.Fatal(err)
	}
	s := newSearch(t.Context(), p, exact.Limits{})
	s.now = never
	for i := range p.jobs {
		s.first[i], s.last[i] = p.jobs[i].release, never
		s.now = min(s.now, p.jobs[i].release)
	}
	bound, _ := s.relax.bound(s)
	return sched.Time(bound.Lo)
}

// TestEnergyByHand has bounds that follow from the capacity, from gangs that do not fit
// together, and from a gang that cannot be wider than it is; all of them from a time on.
func TestEnergyByHand(t *testing.T) {
	const s = sched.Second
	for name, c := range map[string]struct {
		gpus int
		jobs []sched.Job
		want sched.Time
	}{
		"work":            {1, []sched.Job{schedtest.Job(10*s, 1, 5*s), schedtest.Job(10*s, 1, 5*s)}, 20 * s},
		"wide gangs":      {4, []sched.Job{schedtest.Job(7*s, 3, 10*s), schedtest.Job(7*s, 3, 10*s)}, 27 * s},
		"a third of five": {5, []sched.Job{schedtest.Job(1*s, 2, 4*s), schedtest.Job(1*s, 2, 4*s), schedtest.Job(1*s, 2, 4*s)}, 7 * s},
		// The first job has three of its seconds left when the others come.
		"no wider": {4, []sched.Job{schedtest.Job(1*s, 1, 8*s), schedtest.Job(6*s, 4, 2*s), schedtest.Job(6*s, 4, 2*s)}, 6*s + 19*s/4},
	} {
		if got := rootMakespan(t, schedtest.Plain(schedtest.Servers(c.gpus), c.jobs...)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestEnergyBelowOptima compares the bound at the root with enumeration, and trees from
// the worst incumbent.
func TestEnergyBelowOptima(t *testing.T) {
	for seed := range uint64(tier.Draws(150, 3000)) {
		rng := rand.New(rand.NewPCG(seed, 55))
		in := randomInstance(rng, 2+rng.IntN(3))
		_, want := schedtest.BruteForce(in, sched.Makespan)
		if got := rootMakespan(t, in); number.CeilInt(sched.Makespan.ToBase(in, want)).Int64() < int64(got) {
			t.Fatalf("seed %d: %v, the optimum is %v\n%+v", seed, got, want, in)
		}
		if s, cost := searchFrom(t, in, sched.Makespan); cost.Cmp(want) != 0 || s.unscale(s.lower).Cmp(want) > 0 {
			t.Fatalf("seed %d: the tree finds %v, the optimum is %v\n%+v", seed, cost, want, in)
		}
	}
}
