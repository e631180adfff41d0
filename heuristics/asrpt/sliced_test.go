package asrpt_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/heuristics/asrpt"
	"yardstick/heuristics/listsched"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// sliced returns a random instance in which many jobs have replicas of up to
// three slices, whose numbers need not divide each other, or are no chains.
func sliced(rng *rand.Rand) *sched.Instance {
	return schedtest.Sliced(rng, randomInstance(rng), 1, 2, 2, 3)
}

// policies returns A-SRPT and the baselines it is compared with.
func policies() []sim.Policy {
	return []sim.Policy{asrpt.New(asrpt.Options{}), asrpt.Perfect(asrpt.Options{Layout: asrpt.Optimal}), asrpt.Perfect(asrpt.Options{IdleStart: true}),
		listsched.SPJF(listsched.Published()), listsched.SPWF(listsched.Published()), listsched.WCSDuration(listsched.Published()),
		listsched.WCSWorkload(listsched.Published()), listsched.WCSSubTime(listsched.Published()), listsched.FIFO(listsched.Options{Placement: sim.Consolidate}),
		listsched.FIFO(listsched.Options{Blocking: listsched.Skip, Placement: sim.BestFit, Layout: listsched.HeavyEdge})}
}

// TestSliced: every policy completes all jobs of mixed instances.
func TestSliced(t *testing.T) {
	jobs, mixed := 0, 0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 12))
		in := sliced(rng)
		guess := guesses(rng, in)
		for i, p := range policies() {
			o := sim.Options{}
			if i%3 == 0 {
				o.Predictor = guess
			}
			if _, v := run(t, in, p, o); !v.Complete() {
				t.Fatalf("seed %d: %s leaves jobs out", seed, p.Name())
			}
		}
		for i := range in.Jobs {
			jobs++
			if !in.Jobs[i].Pipeline() {
				mixed++
			}
		}
	}
	t.Logf("%d jobs, %d of them with slices or edges", jobs, mixed)
	if mixed < 1000 {
		t.Error("too few of them to mean anything")
	}
}

// TestSlicedNotBelowOptimum: no policy beats the optimum found by brute force.
func TestSlicedNotBelowOptimum(t *testing.T) {
	schedtest.EachSeed(t, 40, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Gang(r, schedtest.Shape{Jobs: 3, Servers: 2, GPUs: 4, Stages: 2, Traffic: true, Slices: 3, Graph: r.IntN(2) == 0})
		_, best := schedtest.BruteForce(in, sched.TotalCompletion)
		for _, p := range policies() {
			if _, v := run(t, in, p, sim.Options{}); v.Cost(sched.TotalCompletion).Cmp(best) < 0 {
				t.Fatalf("%s costs %v, less than the optimum of %v", p.Name(), v.Cost(sched.TotalCompletion), best)
			}
		}
	})
}

// TestSlicedWaits, by hand. Two servers of two GPUs; predicted to take no time,
// jobs queue at their releases. Jobs 0 and 1 take a GPU of server 0 each and job
// 2 one of server 1; job 0 leaves at 5. Job 3, a replica of two slices, then
// finds two free GPUs, but on two servers: it waits until 8, when job 1 leaves,
// and job 4 behind it, which would fit.
func TestSlicedWaits(t *testing.T) {
	pair := sched.Job{Release: 1, Weight: 1, Iters: 10, Stages: []sched.Stage{{Replicas: 1, Slices: 2, Compute: 1000}}}
	in := schedtest.Plain(schedtest.Servers(2, 2), schedtest.Job(0, 1, 5), schedtest.Job(0, 1, 8), schedtest.Job(0, 1, 20), pair, schedtest.Job(2, 1, 3))
	_, v := run(t, in, asrpt.New(asrpt.Options{}), sim.Options{Predictor: noisy{0, 0, 0, 0, 0}})
	if got, want := starts(v), []sched.Time{0, 0, 0, 8, 8}; !slices.Equal(got, want) {
		t.Errorf("jobs start at %v, want %v", got, want)
	}
	// A work-conserving baseline lets job 4 pass. It takes GPUs where the most are
	// free, so jobs 0 and 2 share server 0.
	_, v = run(t, in, listsched.WCSSubTime(listsched.Published()), sim.Options{})
	if got, want := starts(v), []sched.Time{0, 0, 0, 8, 2}; !slices.Equal(got, want) {
		t.Errorf("wcs-subtime starts jobs at %v, want %v", got, want)
	}
}

// TestSlicedBound is TestPerJobBound for jobs with slices. While the head, of g
// GPUs in replicas of up to w slices, does not fit M servers, some replica of it
// finds none, whatever is done with the others: every server is left with fewer
// than w GPUs, so fewer than g + (M−1)(w−1) are free in all. So the bound holds
// with G − max(g + (M−1)(w−1)) + 1 in place of G − max(g) + b, if that is
// positive.
func TestSlicedBound(t *testing.T) {
	bounds, closest := 0, 0.0
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 13))
		in, o := sliced(rng), randomOptions(rng)
		p := asrpt.New(o)
		guess := guesses(rng, in)
		_, v := run(t, in, p, sim.Options{Predictor: guess})
		size := sizes(t, in, o, guess)
		virtual := virtualCompletions(in, size, o.Ties)
		held := make([]sched.Time, len(in.Jobs))
		for i, j := range v.Jobs() {
			held[i] = j.Completion - j.Start
		}
		bound := perJob(in, o, p.Options().Tau, virtual, size, held)
		for i := range bound {
			if bound[i] == nil {
				continue
			}
			c, _ := v.Completion(sched.JobID(i))
			exact := big.NewRat(int64(c), 1)
			if exact.Cmp(bound[i]) > 0 {
				t.Fatalf("seed %d, %v: job %d completes at %v, above its bound %v\n%+v", seed, o, i, c, bound[i], in)
			}
			if ratio, _ := exact.Quo(exact, bound[i]).Float64(); in.Jobs[i].Sliced() {
				closest = max(closest, ratio)
				bounds++
			}
		}
	}
	t.Logf("%d bounds of jobs with slices, the closest at %.4f of it", bounds, closest)
	if bounds < 1000 || closest < 0.9 {
		t.Error("too few of them, or too loose, to mean anything")
	}
}
