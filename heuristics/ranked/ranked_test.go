package ranked

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// tiny draws jobs of a few microseconds, many alike, on a few GPUs.
func tiny(r *rand.Rand) *sched.Instance {
	servers := make([]int, 1+r.IntN(3))
	for i := range servers {
		servers[i] = 1 + r.IntN(3)
	}
	in := &sched.Instance{Name: "tiny", Cluster: schedtest.Servers(servers...)}
	in.Model, in.Keys = sched.ModelPreemptive, []string{"guess"}
	span, longest, loads, pauses := 1+r.IntN(25), 1+r.IntN(20), 1+r.IntN(4), 1+r.IntN(4)
	if r.IntN(3) == 0 {
		loads, pauses = 1, 1 // no overheads
	}
	if r.IntN(6) == 0 {
		span = 1 // all at once
	}
	for range 1 + r.IntN(9) {
		in.Jobs = append(in.Jobs, sched.Job{Release: sched.Time(r.IntN(span)), Weight: 1, Iters: int64(1 + r.IntN(longest)),
			Stages: []sched.Stage{{Replicas: 1 + r.IntN(in.Cluster.GPUs()), Compute: 1000}},
			Load:   sched.Time(r.IntN(loads)), Pause: sched.Time(r.IntN(pauses)), Keys: []float64{float64(r.IntN(4) - 1)}})
	}
	return in
}

func newNaive(in *sched.Instance) *naive {
	s := &naive{gpus: in.Cluster.GPUs()}
	for i, j := range in.Jobs {
		s.jobs = append(s.jobs, &naiveJob{id: i, release: int(j.Release), gang: j.Gang(), load: int(j.Load), pause: int(j.Pause), length: int(j.Iters), state: '-', started: -1})
	}
	return s
}

// played runs a policy and returns the segments of each job without their placements.
func played(t *testing.T, in *sched.Instance, p *Policy) ([][]sched.Segment, *sim.Result) {
	t.Helper()
	if err := in.Validate(); err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(context.Background(), in, p, sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	schedtest.Verify(t, in, r.Schedule)
	list := make([][]sched.Segment, len(in.Jobs))
	for _, g := range r.Schedule.Segments {
		g.Place = sched.Placement{}
		list[g.Job] = append(list[g.Job], g)
	}
	return list, r
}

func compareRuns(t *testing.T, what string, in *sched.Instance, got [][]sched.Segment, s *naive) {
	t.Helper()
	s.replay()
	for i, j := range s.jobs {
		if fmt.Sprint(got[i]) != fmt.Sprint(j.segments) {
			t.Fatalf("%s: job %d of %+v on %d GPUs:\n%v\nwant\n%v", what, i, in.Jobs, s.gpus, got[i], j.segments)
		}
	}
}

// TestOrders compares every order with the naive replay.
func TestOrders(t *testing.T) {
	left := func(j *naiveJob) int { return j.length - j.trained }
	keys := map[string]func(in *sched.Instance) func(j *naiveJob) int{
		"remaining-service": func(*sched.Instance) func(j *naiveJob) int { return func(j *naiveJob) int { return left(j) * j.gang } },
		"remaining-time":    func(*sched.Instance) func(j *naiveJob) int { return left },
		"release":           func(*sched.Instance) func(j *naiveJob) int { return func(j *naiveJob) int { return j.release } },
		"fewest-gpus":       func(*sched.Instance) func(j *naiveJob) int { return func(j *naiveJob) int { return j.gang } },
		"longest":           func(*sched.Instance) func(j *naiveJob) int { return func(j *naiveJob) int { return -j.length } },
		"column:guess": func(in *sched.Instance) func(j *naiveJob) int {
			return func(j *naiveJob) int { return int(in.Jobs[j.id].Keys[0]) }
		},
		"descending:guess": func(in *sched.Instance) func(j *naiveJob) int {
			return func(j *naiveJob) int { return -int(in.Jobs[j.id].Keys[0]) }
		},
	}
	passed := map[string]int{}
	for seed := range uint64(tier.Draws(1500, 10_000)) {
		in := tiny(schedtest.Rand(seed))
		for name, key := range keys {
			var o Order
			if err := o.UnmarshalText([]byte(name)); err != nil || o.String() != name {
				t.Fatalf("%s: %v, %v", name, o, err)
			}
			got, r := played(t, in, New(o, sim.Pool))
			s := newNaive(in)
			s.key = key(in)
			compareRuns(t, fmt.Sprintf("seed %d, %s", seed, name), in, got, s)
			if int64(s.passed["preempted"]) != r.Preemptions {
				t.Fatalf("seed %d, %s: %d preemptions, want %d", seed, name, r.Preemptions, s.passed["preempted"])
			}
			if name == "remaining-service" {
				again, _ := played(t, in, SRSF(sim.BestFit))
				compareRuns(t, fmt.Sprintf("seed %d, srsf", seed), in, again, func() *naive { s := newNaive(in); s.key = key(in); return s }())
			}
			for what, n := range s.passed {
				passed[what] += n
			}
		}
	}
	if passed["preempted"] < 1000 || passed["late"] < 1000 {
		t.Errorf("too few of a kind to mean anything: %v", passed)
	}
}

// TestDLAS compares least attained service with the naive replay of its queues.
func TestDLAS(t *testing.T) {
	passed := map[string]int{}
	for seed := range uint64(tier.Draws(6000, 40_000)) {
		r := schedtest.Rand(seed)
		in := tiny(r)
		s := newNaive(in)
		var o LAS
		at := 0
		for range 1 + r.IntN(3) {
			at += 1 + r.IntN(12)
			o.Thresholds, s.thresholds = append(o.Thresholds, sched.Time(at)), append(s.thresholds, at)
		}
		o.TimeOnly = r.IntN(4) == 0
		if r.IntN(3) > 0 {
			o.Promote = big.NewRat(int64(1+r.IntN(5)), int64(1+r.IntN(4)))
		}
		if err := o.Validate(); err != nil {
			t.Fatal(err)
		}
		s.timeOnly, s.knob = o.TimeOnly, o.Promote
		got, _ := played(t, in, DLAS(o))
		compareRuns(t, fmt.Sprintf("seed %d, %+v", seed, o), in, got, s)
		for what, n := range s.passed {
			passed[what] += n
		}
	}
	for _, what := range []string{"preempted", "demoted", "promoted", "late"} {
		if passed[what] < 500 {
			t.Errorf("too few %s to mean anything: %v", what, passed)
		}
	}
	t.Log(passed)
}

// TestDLASByHand: three jobs of one GPU on one, and thresholds of 2 µs. Each trains for
// 2 µs before any trains for longer, and then they finish in the order in which they
// joined the second queue.
func TestDLASByHand(t *testing.T) {
	in := schedtest.Plain(schedtest.Servers(1), schedtest.Job(0, 1, 5), schedtest.Job(0, 1, 3), schedtest.Job(1, 1, 4))
	in.Model = sched.ModelPreemptive
	got, _ := played(t, in, DLAS(LAS{Thresholds: []sched.Time{2}}))
	for id, want := range []string{"0-2 6-9", "2-4 9-10", "4-6 10-12"} {
		var text []string
		for _, g := range got[id] {
			text = append(text, fmt.Sprintf("%d-%d", int64(g.Start), int64(g.End)))
		}
		if s := strings.Join(text, " "); s != want {
			t.Errorf("job %d trains %s, want %s", id, s, want)
		}
	}
}

// TestEverywhere replays whatever the models have: pipelines, slices, placements that
// matter, slots. The verifier accepts every schedule, and scaled times scale it.
func TestEverywhere(t *testing.T) {
	rules := []sim.Rule{sim.Pool, sim.Consolidate, sim.BestFit, sim.MostAvailable, sim.LeastAvailable, sim.FirstFit, sim.Switch(1), sim.Switch(2)}
	half := func(t sched.Time) LAS { return LAS{Thresholds: []sched.Time{t, 3 * t}, Promote: big.NewRat(1, 2)} }
	for seed := range uint64(tier.Draws(150, 1500)) {
		r := schedtest.Rand(seed)
		shape := schedtest.Shape{Jobs: 1 + r.IntN(9), Servers: 1 + r.IntN(4), GPUs: 4, Stages: 1 + r.IntN(3), Traffic: r.IntN(2) == 0}
		in := schedtest.Preemptive(r, shape)
		if r.IntN(4) == 0 {
			in = schedtest.Sliced(r, in, 1, 2)
		}
		for _, rule := range rules {
			o := half(sched.Second)
			o.Placement = rule
			for _, make := range []func() *Policy{func() *Policy { return SRSF(rule) }, func() *Policy { return DLAS(o) },
				func() *Policy { return New(Order{kind: remainingTime}, rule) }} {
				for _, slotted := range []bool{false, in.Slot > 0} {
					result, err := sim.Run(context.Background(), in, make(), sim.Options{Slotted: slotted})
					if err != nil {
						t.Fatalf("seed %d, %s by %v: %v", seed, make().Name(), rule, err)
					}
					if _, err := verify.Check(in, result.Schedule); err != nil {
						t.Fatalf("seed %d, %s by %v: %v", seed, make().Name(), rule, err)
					}
				}
			}
		}
	}
}

// TestScaled: all times three times as long, thresholds included, make a schedule three
// times as long.
func TestScaled(t *testing.T) {
	for seed := range uint64(tier.Draws(300, 3000)) {
		in := tiny(schedtest.Rand(seed))
		scaled := *in
		scaled.Jobs = slices.Clone(in.Jobs)
		for i := range scaled.Jobs {
			j := &scaled.Jobs[i]
			j.Release, j.Iters, j.Load, j.Pause = 3*j.Release, 3*j.Iters, 3*j.Load, 3*j.Pause
		}
		for name, make := range map[string]func(scale sched.Time) *Policy{
			"srsf": func(sched.Time) *Policy { return SRSF(sim.Pool) },
			"dlas": func(k sched.Time) *Policy { return DLAS(LAS{Thresholds: []sched.Time{12 * k, 24 * k}}) },
		} {
			if name == "dlas" && slices.ContainsFunc(in.Jobs, func(j sched.Job) bool { return 12%j.Gang() != 0 }) {
				continue // a threshold between two microseconds
			}
			once, _ := played(t, in, make(1))
			thrice, _ := played(t, &scaled, make(3))
			for i := range once {
				for k := range once[i] {
					once[i][k].Start, once[i][k].End = 3*once[i][k].Start, 3*once[i][k].End
				}
			}
			if fmt.Sprint(once) != fmt.Sprint(thrice) {
				t.Fatalf("seed %d, %s: %v, want %v", seed, name, thrice, once)
			}
		}
	}
}

// TestRefused: what is wrong with settings and instances is said before anything runs.
func TestRefused(t *testing.T) {
	in := tiny(schedtest.Rand(1))
	var o Order
	for text, want := range map[string]string{"column:": "is unknown", "quickest": "remaining-service", "descending:": "column:NAME"} {
		if err := o.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := o.UnmarshalText([]byte("column:est")); err != nil {
		t.Fatal(err)
	}
	if err := sim.Suits(in, New(o, sim.Pool), false); err == nil || !strings.Contains(err.Error(), `orders jobs by the column "est", and the instance has only: guess`) {
		t.Errorf("an unknown column: %v", err)
	}
	for i := range in.Jobs {
		in.Jobs[i].Keys = nil
	}
	in.Keys = nil
	if err := sim.Suits(in, New(o, sim.Pool), false); err == nil || !strings.Contains(err.Error(), "carries no column") {
		t.Errorf("no columns: %v", err)
	}
	sharing := schedtest.Sharing(schedtest.Rand(1), schedtest.Shape{Jobs: 2, Servers: 1, GPUs: 2, Stages: 1})
	if err := sim.Suits(sharing, SRSF(sim.Pool), false); err == nil || !strings.Contains(err.Error(), "accumulation") {
		t.Errorf("sharing: %v", err)
	}
	for _, bad := range []LAS{{}, {Thresholds: []sched.Time{0}}, {Thresholds: []sched.Time{5, 5}}, {Thresholds: []sched.Time{5}, Promote: new(big.Rat)}} {
		if bad.Validate() == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
