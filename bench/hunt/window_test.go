package hunt

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/bench/suite"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// fifo is a policy of the catalogue.
func fifo(t *testing.T) Policy {
	t.Helper()
	p, err := named(suite.MethodRef{Name: "fifo"}, sched.TotalCompletion)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestWindows: the window that is found is the worst of all, whose optima are proven one by
// one, and what is passed over is no worse.
func TestWindows(t *testing.T) {
	passed := 0
	schedtest.EachSeed(t, 12, func(t *testing.T, r *rand.Rand) {
		var all []*sched.Instance
		for range 8 {
			all = append(all, schedtest.Gang(r, schedtest.Shape{Jobs: 2 + r.IntN(4), Servers: 1 + r.IntN(2), GPUs: 1 + r.IntN(3), Stages: 1}))
		}
		w := Windows{Policy: fifo(t), Objective: sched.TotalCompletion, Count: len(all), Build: func(i int) (*sched.Instance, error) { return all[i], nil }}
		got, err := w.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		worst := new(big.Rat)
		for _, in := range all {
			found, err := Prove(t.Context(), in, w.Objective, w.Policy)
			if err != nil {
				t.Fatal(err)
			}
			if found.Ratio().Cmp(worst) > 0 {
				worst = found.Ratio()
			}
		}
		if got.Found.Ratio().Cmp(worst) != 0 || got.AtMost.Cmp(worst) != 0 || got.Found.Instance != all[got.Window] || got.Beyond != 0 || got.Found.Compared {
			t.Errorf("window %d of ratio %s (at most %s, %d others beyond), and the worst is %s", got.Window, got.Found.Ratio(), got.AtMost, got.Beyond, worst)
		}
		passed += len(all) - got.Looked
	})
	if passed == 0 {
		t.Error("no window was passed over: the bounds do nothing")
	}
}

// TestLargeWindows: of more jobs the ratio is over another schedule, whose proof holds, and is
// no more than what a bound allows; an ended search counts what it leaves.
func TestLargeWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var all []*sched.Instance
	for range 2 {
		all = append(all, schedtest.Gang(r, schedtest.Shape{Jobs: mostProven + 1, Servers: 1, GPUs: 3, Stages: 1}))
	}
	w := Windows{Policy: fifo(t), Objective: sched.TotalCompletion, Count: len(all), Build: func(i int) (*sched.Instance, error) { return all[i], nil }}
	whole, err := w.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !whole.Found.Compared || whole.Found.Ratio().Cmp(whole.AtMost) > 0 || whole.Found.Ratio().Cmp(big.NewRat(1, 1)) < 0 {
		t.Errorf("ratio %s, at most %s", whole.Found.Ratio(), whole.AtMost)
	}
	if err := whole.Found.Proof("fifo", nil).Check(whole.Found.Instance); err != nil {
		t.Error(err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	w.Watch = func(done int, _ *big.Rat) {
		if done == 1 {
			cancel()
		}
	}
	part, err := w.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if part.Looked != 1 || part.Beyond > 0 && part.Most == nil || part.Found.Ratio().Cmp(whole.Found.Ratio()) > 0 {
		t.Errorf("%+v", part)
	}
	if rest := whole.Found.Ratio(); rest.Cmp(part.Found.Ratio()) > 0 && (part.Most == nil || part.Most.Cmp(rest) < 0) {
		t.Errorf("ended, others are said to be at most %v, and one is %s", part.Most, rest)
	}

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Run(cancelled); !errors.Is(err, ErrNoWindow) {
		t.Errorf("cancelled before: %v", err)
	}
}

// TestWindowsRefused: policies that fail, and models that have no brackets.
func TestWindowsRefused(t *testing.T) {
	fails := errors.New("it fails")
	r := rand.New(rand.NewPCG(1, 3))
	in := schedtest.Gang(r, schedtest.Shape{Jobs: 3, Servers: 1, GPUs: 2, Stages: 1})
	w := Windows{Policy: func(context.Context, *sched.Instance) (*sched.Schedule, error) { return nil, fails }, Objective: sched.TotalCompletion, Count: 2, Build: func(int) (*sched.Instance, error) { return in, nil }}
	if _, err := w.Run(t.Context()); !errors.Is(err, fails) {
		t.Errorf("a policy that fails: %v", err)
	}
	w.Objective = sched.ScheduledWeight
	if _, err := w.Run(t.Context()); err == nil {
		t.Error("an objective that is maximised")
	}
	w.Objective = sched.TotalCompletion
	many := mustExample(t, sched.ModelSharing)
	for len(many.Jobs) <= mostProven {
		many.Jobs = append(many.Jobs, many.Jobs[0])
	}
	w.Build = func(int) (*sched.Instance, error) { return many, nil }
	if _, err := w.Run(t.Context()); err == nil || errors.Is(err, fails) {
		t.Errorf("many jobs that share: %v", err)
	}
}
