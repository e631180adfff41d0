package lazer

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/bounds"
	"yardstick/heuristics/listsched"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// TestOptimalOnOneGPU: without loads and pauses, shortest remaining time first
// on a single GPU has the least total completion time, which is the SRPT bound.
func TestOptimalOnOneGPU(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 2))
		list := randomJobs(rng, 1)
		for _, j := range list {
			j.load, j.pause = 0, 0
		}
		in := instance(list, 1)
		_, v, err := replay(t, in, SRTF(Options{}))
		if err != nil {
			t.Fatal(err)
		}
		b, err := bounds.SRPT(in, sched.TotalCompletion)
		if err != nil {
			t.Fatal(err)
		}
		if v.Cost(sched.TotalCompletion).Cmp(b.Value) != 0 {
			t.Errorf("seed %d: %v, the optimum is %v", seed, v.Cost(sched.TotalCompletion), b.Value)
		}
	}
}

// naivePeriodic replays the periodic scheduler second by second.
func naivePeriodic(jobs []*naiveJob, gpus, interval int) {
	s := &naive{jobs: jobs, gpus: gpus}
	var chosen []*naiveJob
	for ; ; s.now++ {
		open := false
		for _, j := range s.jobs {
			switch {
			case j.state == 'T' && s.togo(j) == 0:
				j.state, j.end = 'F', s.now
			case j.state == 'P' && s.now == j.since+j.pause:
				j.state = 'Q'
			case j.state == '-' && j.release == s.now:
				j.state = 'Q'
			}
			open = open || j.state != 'F'
		}
		if !open {
			return
		}
		if s.now%interval == 0 {
			chosen = nil
			budget := gpus
			for _, j := range s.in("P") {
				budget -= j.gang
			}
			for _, j := range s.in("QLT") {
				switch {
				case j.gang <= budget:
					budget -= j.gang
					chosen = append(chosen, j)
				case j.state == 'T':
					j.left, j.state, j.since = s.togo(j), 'P', s.now
				case j.state == 'L':
					j.state, j.since = 'P', s.now-j.pause
				}
			}
			for range 2 { // before and after interrupted loads have left
				for _, j := range chosen {
					if j.state == 'Q' && j.gang <= s.free() {
						j.state, j.since = 'L', s.now
					}
				}
				for _, j := range s.jobs {
					if j.state == 'P' && s.now >= j.since+j.pause {
						j.state = 'Q'
					}
				}
			}
		}
		for _, j := range s.jobs {
			if j.state == 'L' && s.now == j.since+j.load {
				j.state, j.since = 'T', s.now
			}
		}
	}
}

// TestPeriodic compares every completion with the naive replay.
func TestPeriodic(t *testing.T) {
	preempted := int64(0)
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		gpus, interval := 1+rng.IntN(6), 1+rng.IntN(9)
		list := randomJobs(rng, gpus)
		in := instance(list, gpus)
		naivePeriodic(list, gpus, interval)
		r, v, err := replay(t, in, NewPeriodic(sched.Time(interval)*sched.Second, sim.Pool))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		preempted += r.Preemptions
		var got, want []sched.Time
		for i, j := range v.Jobs() {
			got, want = append(got, j.Completion), append(want, sched.Time(list[i].end)*sched.Second)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d, %d GPUs, interval %d:\n got %v\nwant %v", seed, gpus, interval, got, want)
		}
	}
	if preempted < 1000 {
		t.Errorf("only %d preemptions", preempted)
	}
}

// TestClusters runs every policy on servers with communication, continuous and
// slotted: all jobs complete, and all schedules hold.
func TestClusters(t *testing.T) {
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 4))
		in := schedtest.Preemptive(rng, schedtest.Shape{Jobs: 1 + rng.IntN(10), Servers: 1 + rng.IntN(3), GPUs: 1 + rng.IntN(4), Stages: 2, Traffic: seed%2 == 0})
		for _, p := range []func() sim.Policy{
			func() sim.Policy { return SRTF(Options{Prune: true}) },
			func() sim.Policy { return Deferring(Options{Placement: sim.Consolidate}, New(seed, DefaultCaps())) },
			func() sim.Policy { return Deferring(Options{WakeDeferred: true}, Fixed(3*sched.Second)) },
			func() sim.Policy { return NewPeriodic(sched.Second, sim.BestFit) },
		} {
			for _, slot := range []sched.Time{0, sched.Second / 7} {
				in := *in
				in.Slot = slot
				r, err := sim.Run(context.Background(), &in, p(), sim.Options{Slotted: slot > 0})
				if err != nil {
					t.Fatalf("seed %d, %s, slot %v: %v", seed, p().Name(), slot, err)
				}
				v, err := verify.Check(&in, r.Schedule)
				if err != nil {
					t.Fatalf("seed %d, %s, slot %v: %v", seed, p().Name(), slot, err)
				}
				if !v.Complete() || v.Class().Slotted != (slot > 0) {
					t.Errorf("seed %d, %s: complete %t, class %v", seed, p().Name(), v.Complete(), v.Class())
				}
			}
		}
	}
}

// TestPredictorStages: samples cover the range in the bootstrap, outcomes are
// learnt until the predictor has had enough, and what it then chooses is near
// the F that the context tells.
func TestPredictorStages(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	p := New(1, DefaultCaps())
	truth := func(c Context) sched.Time { return c.Pause * 4 } // from 0 to 80 s
	draw := func() Context {
		return Context{Interarrival: sched.Time(rng.IntN(600)) * sched.Second, Remaining: sched.Time(rng.IntN(10_000)) * sched.Second,
			Load: sched.Time(10+rng.IntN(100)) * sched.Second, Pause: sched.Time(rng.IntN(20)) * sched.Second}
	}
	var cells [bootstrap]int
	for n := 0; !p.Exploiting(); n++ {
		if n > DefaultCaps().Observations {
			t.Fatalf("still learning after %d outcomes", n)
		}
		c := draw()
		x, err := p.Defer(c)
		if err != nil {
			t.Fatal(err)
		}
		if x < 0 || x > Longest {
			t.Fatalf("deferral %v", x)
		}
		if n < bootstrap {
			cells[min(int(x*bootstrap/Longest), bootstrap-1)]++
		}
		if err := p.Observe(Outcome{Context: c, Chosen: x, F: truth(c)}); err != nil {
			t.Fatal(err)
		}
	}
	for i, n := range cells {
		if n != 1 {
			t.Errorf("cell %d of the hypercube was sampled %d times", i, n)
		}
	}
	if n := p.Observations(); n < enough {
		t.Errorf("only %d observations", n)
	}
	off := 0.0
	const trials = 50
	for range trials {
		c := draw()
		x, err := p.Defer(c)
		if err != nil {
			t.Fatal(err)
		}
		off += math.Abs((x - truth(c)).Seconds()) / trials
	}
	if off > 12 { // always 40 s would be off by 20 s
		t.Errorf("deferrals are off by %.1f s on average", off)
	}
	before := p.Observations()
	if err := p.Observe(Outcome{Context: draw()}); err != nil || p.Observations() != before {
		t.Errorf("learnt after it had enough: %v", err)
	}
}

// TestForecast: F by hand.
func TestForecast(t *testing.T) {
	c := Context{Remaining: 100, Load: 30, Pause: 10}
	for _, test := range []struct {
		name     string
		arrivals [][2]sched.Time // time and remaining
		want     sched.Time
	}{
		{"none", nil, 0},
		{"a longer job", [][2]sched.Time{{1020, 100}}, 0},
		{"during the pause", [][2]sched.Time{{1005, 50}}, 0},
		{"during the load", [][2]sched.Time{{1025, 50}}, 15},
		{"at its end", [][2]sched.Time{{1040, 50}}, 30},
		{"after it", [][2]sched.Time{{1041, 50}}, 0},
		{"the first counts", [][2]sched.Time{{1020, 200}, {1021, 99}, {1035, 50}}, 11},
	} {
		var f forecast
		f.open(1000, 5, c)
		for _, a := range test.arrivals {
			f.arrival(a[0], a[1])
		}
		got := recorded{}
		if f.settle(1039, &got); len(got) > 0 {
			t.Errorf("%s: known too early", test.name)
		}
		if err := f.settle(1040, &got); err != nil || len(got) != 1 || got[0] != test.want {
			t.Errorf("%s: F is %v, want %v", test.name, got, test.want)
		}
	}
	var f forecast
	for _, at := range []sched.Time{0, 10, 30, 3600 * sched.Second} {
		f.arrival(at, 1)
	}
	if c := f.context(3600*sched.Second, &job{}, nil); c.Interarrival != 1200*sched.Second {
		t.Errorf("mean time between arrivals %v", c.Interarrival)
	}
	if c := f.context(3600*sched.Second+20, &job{}, nil); c.Interarrival != (3600*sched.Second-30)/1 {
		t.Errorf("mean time between arrivals %v", c.Interarrival)
	}
}

type recorded []sched.Time

func (*recorded) Defer(Context) (sched.Time, error) { return 0, nil }
func (r *recorded) Observe(o Outcome) error {
	*r = append(*r, o.F)
	return nil
}

// BenchmarkDeferral is one choice by a trained predictor.
func BenchmarkDeferral(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 6))
	p := New(1, DefaultCaps())
	c := Context{Interarrival: 40 * sched.Second, Remaining: 1000 * sched.Second, Load: 30 * sched.Second, Pause: 5 * sched.Second}
	for !p.Exploiting() {
		c.Pause = sched.Time(rng.IntN(20)) * sched.Second
		x, err := p.Defer(c)
		if err != nil {
			b.Fatal(err)
		}
		if err := p.Observe(Outcome{Context: c, Chosen: x}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := p.Defer(c); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReplay replays 400,000 jobs at the density of the Helios Earth trace
// (a job every 39 s of an hour's training) on 512 GPUs.
func BenchmarkReplay(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 7))
	in := &sched.Instance{Name: "earth", Model: sched.ModelPreemptive, Cluster: sched.Uniform(64, 8, 1_250_000_000, 300_000_000_000)}
	release := 0.0
	for range 400_000 {
		release += rng.ExpFloat64() * 39
		minutes := math.Exp(rng.NormFloat64()*1.8 + 2.5)
		in.Jobs = append(in.Jobs, sched.Job{Release: sched.Time(release * 1e6), Weight: 1, Iters: int64(minutes*60) + 1,
			Load: sched.Time(5+rng.IntN(40)) * sched.Second, Pause: sched.Time(1+rng.IntN(10)) * sched.Second,
			Stages: []sched.Stage{{Replicas: []int{1, 1, 1, 2, 4, 8, 8, 16}[rng.IntN(8)], Compute: 1_000_000_000}}})
	}
	for name, p := range map[string]func() sim.Policy{
		"sjf":   func() sim.Policy { return listsched.SJF(listsched.Options{Blocking: listsched.Skip}) },
		"srtf":  func() sim.Policy { return SRTF(Options{}) },
		"lazer": func() sim.Policy { return Deferring(Options{}, New(1, DefaultCaps())) },
		"p60":   func() sim.Policy { return NewPeriodic(60*sched.Second, sim.Pool) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r, err := sim.Run(context.Background(), in, p(), sim.Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(r.Preemptions), "preemptions")
				b.ReportMetric(float64(r.Futile), "futile")
			}
		})
	}
}
