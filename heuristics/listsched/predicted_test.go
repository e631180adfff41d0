package listsched_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"yardstick/heuristics/listsched"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/sched/heavyedge"
)

// baseline is one of the policies that A-SRPT is compared with, and what the
// reference needs to replay it.
type baseline struct {
	name     string
	make     func(listsched.Options) *listsched.Policy
	blocking listsched.Blocking
	key      func(j *sched.Job, d sched.Time) sched.Time // d is the predicted duration
}

var baselines = []baseline{
	{"spjf", listsched.SPJF, listsched.Strict, func(_ *sched.Job, d sched.Time) sched.Time { return d }},
	{"spwf", listsched.SPWF, listsched.Strict, func(j *sched.Job, d sched.Time) sched.Time { return d * sched.Time(j.Gang()) }},
	{"wcs-duration", listsched.WCSDuration, listsched.Skip, func(_ *sched.Job, d sched.Time) sched.Time { return d }},
	{"wcs-workload", listsched.WCSWorkload, listsched.Skip, func(j *sched.Job, d sched.Time) sched.Time { return d * sched.Time(j.Gang()) }},
	{"wcs-subtime", listsched.WCSSubTime, listsched.Skip, func(j *sched.Job, _ sched.Time) sched.Time { return j.Release }},
}

// TestBaselinesAgainstScan compares the five baselines, as published and with
// other placements, with the simulator that scans everything.
func TestBaselinesAgainstScan(t *testing.T) {
	draws := tier.Draws(250, 1000)
	differs := 0 // jobs of which Heavy-Edge and Chain make different things
	for seed := range uint64(draws) {
		rng := rand.New(rand.NewPCG(seed, 11))
		in := randomInstance(rng)
		if seed%3 == 0 {
			in = schedtest.Sliced(rng, in, 1, 2, 4)
		}
		guess := make(noisy, len(in.Jobs))
		for i := range guess {
			guess[i] = int64(rng.IntN(8))
		}
		o := listsched.Published()
		o.AllReduce = heavyedge.AllReduce(rng.IntN(2))
		if rng.IntN(3) == 0 {
			o.Placement, o.Layout = sim.BestFit, listsched.Layout(rng.IntN(2))
		}
		for _, b := range baselines {
			for _, c := range []struct {
				predictor sim.Predictor
				iters     func(i int) int64
			}{{nil, func(i int) int64 { return in.Jobs[i].Iters }}, {guess, func(i int) int64 { return guess[i] }}} {
				keys := make([]sched.Time, len(in.Jobs))
				for i := range keys {
					keys[i] = b.key(&in.Jobs[i], predicted(t, in, i, c.iters(i), o.AllReduce))
				}
				p := b.make(o)
				r, _ := run(t, in, p, sim.Options{Predictor: c.predictor})
				o.Blocking = b.blocking
				want := replayNaively(t, in, o, keys)
				if p.Name() != b.name || p.Options() != o || !reflect.DeepEqual(r.Schedule.Segments, want) {
					t.Fatalf("seed %d, %s %v:\n%v\nwant %s\n%v", seed, p.Name(), p.Options(), r.Schedule.Segments, b.name, want)
				}
				if clairvoyant := c.predictor == nil && b.name != "wcs-subtime"; r.Clairvoyant != clairvoyant {
					t.Fatalf("seed %d, %s: clairvoyant is %t", seed, b.name, r.Clairvoyant)
				}
				chained := o
				chained.Layout = listsched.Chain
				if !reflect.DeepEqual(want, replayNaively(t, in, chained, keys)) {
					differs++
				}
			}
		}
	}
	if differs < 2*draws {
		t.Errorf("the layout made a difference in %d runs only", differs)
	}
}

// predicted returns ceil(ñ·alpha~).
func predicted(t *testing.T, in *sched.Instance, i int, iters int64, shape heavyedge.AllReduce) sched.Time {
	t.Helper()
	alone := *in
	alone.Jobs = []sched.Job{in.Jobs[i]}
	alone.Jobs[0].Iters = iters
	parts, err := heavyedge.Fewest(&in.Cluster, &alone.Jobs[0])
	if err != nil {
		t.Fatal(err)
	}
	place, err := heavyedge.Place(&alone.Jobs[0], parts, shape)
	if err != nil {
		t.Fatal(err)
	}
	d, err := alone.RunTime(0, &place)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestBaselinesByHand: four GPUs. Who starts when:
//
//	job      0   1   2   3
//	release  0   1   1   2
//	gang     3   2   1   1
//	train    10  3   4   9
//
// At 10 all GPUs are free. SPJF: 1 is the head and does not fit until then, nor
// may 2 and 3, so all three start at 10. SPWF: works are 6, 4 and 9, so 2 is the
// head, starts at 1 and ends at 5; 1 is the head until 10. WCS-Duration: 1 does
// not fit, 2 starts at 1, then 3 at 5, and 1 at 10. WCS-Workload and
// WCS-SubTime do the same.
func TestBaselinesByHand(t *testing.T) {
	in := schedtest.Plain(schedtest.Servers(4), schedtest.Job(0, 3, 10), schedtest.Job(1, 2, 3), schedtest.Job(1, 1, 4), schedtest.Job(2, 1, 9))
	for i, want := range [][]sched.Time{{0, 10, 10, 10}, {0, 10, 1, 10}, {0, 10, 1, 5}, {0, 10, 1, 5}, {0, 10, 1, 5}} {
		p := baselines[i].make(listsched.Published())
		_, v := run(t, in, p, sim.Options{})
		var got []sched.Time
		for _, j := range v.Jobs() {
			got = append(got, j.Start)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s starts jobs at %v, want %v", p.Name(), got, want)
		}
	}
}

// TestBaselinesNotBelowOptimum: none beats the optimum found by brute force.
func TestBaselinesNotBelowOptimum(t *testing.T) {
	schedtest.EachSeed(t, 40, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Gang(r, schedtest.Shape{Jobs: 3, Servers: 2, GPUs: 3, Stages: 2, Traffic: true})
		_, best := schedtest.BruteForce(in, sched.TotalCompletion)
		for _, b := range baselines {
			if _, v := run(t, in, b.make(listsched.Published()), sim.Options{}); v.Cost(sched.TotalCompletion).Cmp(best) < 0 {
				t.Fatalf("%s costs %v, less than the optimum of %v", b.name, v.Cost(sched.TotalCompletion), best)
			}
		}
	})
}

// TestLayoutText: layouts are printed as they are parsed.
func TestLayoutText(t *testing.T) {
	for _, l := range []listsched.Layout{listsched.Chain, listsched.HeavyEdge} {
		text, _ := l.MarshalText()
		var back listsched.Layout
		if err := back.UnmarshalText(text); err != nil || back != l {
			t.Errorf("%v comes back as %v, %v", l, back, err)
		}
	}
	var l listsched.Layout
	if l.UnmarshalText([]byte("chained")) == nil {
		t.Error("an unknown layout is accepted")
	}
	if got := fmt.Sprint(listsched.Options{Layout: listsched.HeavyEdge, AllReduce: heavyedge.Tree}); got != "blocking=strict placement=pool layout=heavy-edge allreduce=tree" {
		t.Error(got)
	}
}
