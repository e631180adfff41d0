package predict

import (
	"context"
	"fmt"
	"testing"

	"yardstick/heuristics/forest"
	"yardstick/heuristics/listsched"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// recurrent is an instance on one GPU whose jobs never wait: five jobs of
// three iterations, of groups a, b, a, b, b, with one job of group a before.
func recurrent() *sched.Instance {
	in := &sched.Instance{Name: "recurrent", Model: sched.ModelGang, Cluster: sched.Uniform(1, 1, 1e9, 1e9),
		History: []sched.PastJob{{User: "u", Group: "a", Gang: 1, Iters: 7}}}
	for i, group := range []string{"a", "b", "a", "b", "b"} {
		in.Jobs = append(in.Jobs, sched.Job{Release: sched.Time(i) * 100 * sched.Second, User: "u", Group: group, Weight: 1, Iters: 3,
			Stages: []sched.Stage{{Replicas: 1, Compute: 1_000_000_000}}})
	}
	return in
}

// TestOnline replays an instance under each predictor: what it knows is the
// history, and the completions that were due for learning before the job's
// release.
func TestOnline(t *testing.T) {
	each, none := forest.Retraining{Completions: 1}, forest.Retraining{}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Model: Mean, Retraining: none}, "[{0 7} {1 0} {2 7} {3 0} {4 0}]"},
		{Options{Model: Mean, Retraining: each}, "[{0 7} {1 0} {2 5} {3 3} {4 3}]"},
		{Options{Model: Median, Retraining: each, By: forest.ByUser}, "[{0 7} {1 5} {2 3} {3 3} {4 3}]"},
		{Options{Model: Mean, By: forest.Overall, Retraining: forest.Retraining{Period: 150 * sched.Second}}, "[{0 7} {1 7} {2 4} {3 4} {4 4}]"},
		{Options{Model: Forest}, "[{0 7} {1 0} {2 7} {3 0} {4 0}]"},
		{Options{Model: Forest, Trees: 3, Gang: true, Retraining: forest.Retraining{Completions: 5}}, "[{0 7} {1 0} {2 7} {3 0} {4 0}]"},
	} {
		in := recurrent()
		p, err := c.o.New(in, 1)
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(context.Background(), in, listsched.SJF(listsched.Options{}), sim.Options{Predictor: p})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := verify.Check(in, r.Schedule); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(r.Predictions); got != c.want || r.Clairvoyant {
			t.Errorf("%+v: %s, want %s; clairvoyant %t", c.o, got, c.want, r.Clairvoyant)
		}
	}
}

// TestPerfect: no predictor, so that the simulator tells the truth and says so.
func TestPerfect(t *testing.T) {
	p, err := Options{}.New(recurrent(), 1)
	if p != nil || err != nil {
		t.Errorf("%v, %v", p, err)
	}
}

// TestSeed: the forest's randomness is that of the seed alone.
func TestSeed(t *testing.T) {
	in := recurrent()
	for i := range int64(60) {
		in.History = append(in.History, sched.PastJob{User: fmt.Sprint(i % 7), Group: "a", Gang: 1, Iters: i * i % 101})
	}
	answer := func(seed uint64) (list []int64) {
		p, err := Options{Model: Forest, Trees: 2}.New(in, seed)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 7 {
			n, err := p.Predict(sim.Job{User: fmt.Sprint(i), Group: "a", Gang: 1})
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, n)
		}
		return list
	}
	first := fmt.Sprint(answer(1))
	if again := fmt.Sprint(answer(1)); again != first {
		t.Errorf("seed 1: %s, then %s", first, again)
	}
	for seed := uint64(2); fmt.Sprint(answer(seed)) == first; seed++ {
		if seed == 20 {
			t.Fatalf("seeds 1 to 20 all give %s", first)
		}
	}
}

func TestText(t *testing.T) {
	for m := range Model(len(modelNames)) {
		var back Model
		if text, _ := m.MarshalText(); back.UnmarshalText(text) != nil || back != m {
			t.Errorf("%v reads back as %v", m, back)
		}
	}
	var m Model
	if err := m.UnmarshalText([]byte("oracle")); err == nil {
		t.Error("an unknown model was accepted")
	}
	if _, err := (Options{Model: Mean, Retraining: forest.Retraining{Period: -1}}).New(recurrent(), 1); err == nil {
		t.Error("a negative period was accepted")
	}
}
