package lazer

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// watched defers by the same time and keeps what it is told, by the remaining time of
// the job that a choice was for.
type watched struct {
	x    sched.Time
	asks map[sched.Time]bool
	told map[sched.Time]Outcome
}

func (w *watched) Defer(c Context) (sched.Time, error) {
	w.asks[c.Remaining] = true
	return w.x, nil
}

func (w *watched) Observe(o Outcome) error {
	w.told[o.Context.Remaining] = o
	return nil
}

// TestObserved: what is observed of a choice is the part of the job's first load that
// the schedule shows to be cut short, and 0 where that load was done. All jobs have
// remaining times of their own.
func TestObserved(t *testing.T) {
	wasted, done, nothing := 0, 0, 0
	for seed := range uint64(6000) {
		rng := rand.New(rand.NewPCG(seed, 11))
		gpus := 1 + rng.IntN(5)
		list := randomJobs(rng, gpus)
		for i, j := range list {
			j.left, j.load = 20*j.left+i, 1+rng.IntN(12)
		}
		in := instance(list, gpus)
		w := &watched{sched.Time(rng.IntN(3)*rng.IntN(6)) * sched.Second, map[sched.Time]bool{}, map[sched.Time]Outcome{}}
		r, _, err := replay(t, in, Deferring(Options{Observed: true, Prune: seed%2 == 0}, w))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		first := map[sched.JobID]sched.Time{}
		for _, s := range r.Schedule.Segments {
			if _, seen := first[s.Job]; !seen && s.Phase == sched.Load {
				first[s.Job] = s.End - s.Start
			}
		}
		for i, j := range list {
			own := sched.Time(j.left) * sched.Second
			o, told := w.told[own]
			if !told {
				if w.asks[own] {
					nothing++
				}
				continue
			}
			want := first[sched.JobID(i)]
			if want == sched.Time(j.load)*sched.Second {
				want, done = 0, done+1
			} else {
				wasted++
			}
			if o.F != want || o.Observed != want {
				t.Fatalf("seed %d, job %d: observed %v and F %v, the schedule wastes %v of its first load", seed, i, o.Observed, o.F, want)
			}
		}
	}
	if wasted < 100 || done < 1000 || nothing == 0 {
		t.Errorf("%d loads were cut short, %d were not, %d choices came to nothing: too few for a test", wasted, done, nothing)
	}
}

// TestQuality: the improvement is that of the counterfactual F over preempting at
// once, whatever the process learns from, and its variance explained is 1 for an F that
// the process knows and not above 0 for one that nothing tells of.
func TestQuality(t *testing.T) {
	run := func(truth func(Context, *rand.Rand) sched.Time) (q Quality, realised float64) {
		rng := rand.New(rand.NewPCG(3, 9))
		p := New(3, DefaultCaps())
		for range 400 {
			c := Context{Interarrival: 60 * sched.Second, Remaining: 1000 * sched.Second, Load: 50 * sched.Second, Pause: sched.Time(rng.IntN(20)) * sched.Second}
			x, err := p.Defer(c)
			if err != nil {
				t.Fatal(err)
			}
			f := truth(c, rng)
			if p.Observations() >= bootstrap {
				realised += f.Seconds() - math.Abs((x - f).Seconds())
			}
			if err := p.Observe(Outcome{Context: c, Chosen: x, F: f, Counterfactual: f}); err != nil {
				t.Fatal(err)
			}
		}
		return p.Quality(), realised
	}
	known, realised := run(func(c Context, _ *rand.Rand) sched.Time { return 4 * c.Pause })
	if known.Choices != 390 || known.Trained == 0 || math.Abs(known.Realised-realised) > 1e-6 {
		t.Errorf("%+v, realised %v", known, realised)
	}
	if n := float64(known.Choices); known.Realised/n < 15 || math.Abs(known.Promised-known.Realised)/n > 8 {
		t.Errorf("a known F: promised %.1f s and realised %.1f s per choice", known.Promised/n, known.Realised/n)
	}
	blind, _ := run(func(_ Context, rng *rand.Rand) sched.Time { return sched.Time(rng.IntN(100)) * sched.Second })
	if e := blind.Explained(); e > 0.2 {
		t.Errorf("of an F by chance %.2f of the variance is explained", e)
	}
	if share := float64(blind.Within) / float64(blind.Choices); share < 0.7 {
		t.Errorf("intervals of 95 %% hold %.2f of the outcomes", share)
	}
}

// TestWarm: a predictor that was warmed up has learnt what a run on the past teaches,
// and no more outcomes than it was to; a past that is too short is refused.
func TestWarm(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 12))
	in := &sched.Instance{Name: "x", Model: sched.ModelPreemptive, Cluster: sched.Uniform(1, 8, 1e9, 1e9)}
	jobs := func(n int) []sched.Job {
		var list []sched.Job
		for i := range n {
			list = append(list, sched.Job{Release: sched.Time(i) * 40 * sched.Second, Weight: 1, Iters: int64(10 + rng.ExpFloat64()*600), Load: 60 * sched.Second, Pause: 2 * sched.Second,
				Stages: []sched.Stage{{Replicas: 1 + rng.IntN(4), Compute: 1_000_000_000}}})
		}
		return list
	}
	in.Jobs, in.Past = jobs(50), jobs(400)
	if err := in.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, outcomes := range []int{1, 30, 80} {
		p := New(7, DefaultCaps())
		if err := Warm(context.Background(), in, p, Options{}, outcomes); err != nil {
			t.Fatal(err)
		}
		if p.Observations() != outcomes || p.Quality() != (Quality{}) {
			t.Errorf("after %d outcomes: %d observations, %+v", outcomes, p.Observations(), p.Quality())
		}
	}
	if err := Warm(context.Background(), in, New(7, DefaultCaps()), Options{}, 100_000); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("a past that is too short: %v", err)
	}

	// The first outcomes are those of a run on the past itself.
	past := &sched.Instance{Name: "y", Model: in.Model, Cluster: in.Cluster, Jobs: in.Past}
	all, some := New(7, DefaultCaps()), New(7, DefaultCaps())
	if _, err := sim.Run(context.Background(), past, Deferring(Options{}, all), sim.Options{}); err != nil {
		t.Fatal(err)
	}
	if !all.Exploiting() {
		t.Fatalf("the past teaches %d observations only", all.Observations())
	}
	if err := Warm(context.Background(), in, some, Options{}, 100); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if some.chosen[i] != all.chosen[i] {
			t.Fatalf("choice %d of the warm-up is %v, of the run on the past %v", i, some.chosen[i], all.chosen[i])
		}
	}
}

// TestCaps: learning ends at the cap, and a floor of no time asks more of acquisition.
func TestCaps(t *testing.T) {
	for _, c := range []Caps{{Observations: 10, Refit: 1, Floor: sched.Second}, {Observations: 25, Refit: 100, Floor: 0}, {Observations: 140, Refit: 20, Floor: 0}} {
		rng := rand.New(rand.NewPCG(1, 13))
		p := New(1, c)
		for n := 0; !p.Exploiting(); n++ {
			if n > c.Observations {
				t.Fatalf("%+v: still learning after %d outcomes", c, n)
			}
			context := Context{Interarrival: sched.Time(rng.IntN(600)) * sched.Second, Load: 50 * sched.Second, Pause: sched.Time(rng.IntN(20)) * sched.Second}
			x, err := p.Defer(context)
			if err == nil {
				err = p.Observe(Outcome{Context: context, Chosen: x, F: sched.Time(rng.IntN(90)) * sched.Second})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if n := p.Observations(); n != c.Observations {
			t.Errorf("%+v: %d observations", c, n)
		}
	}
}
