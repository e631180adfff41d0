package bounds

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
)

// TestEffort: more work never proves less, twice the same proves the same, and on
// some instances it proves more.
func TestEffort(t *testing.T) {
	better := 0
	for seed := range uint64(tier.Draws(4, 20)) {
		in := busy(seed, 60, 2, 1.5)
		last := mustValue(t, in, sched.TotalJCT, LB0)
		for effort := range 3 {
			opt := LagrangianOptions{Slots: 64, Iterations: 10, Effort: effort}
			d := mustClimb(t, in, sched.TotalJCT, opt)
			if d.Value.Cmp(last) < 0 {
				t.Errorf("seed %d: effort %d proves %v, one less %v", seed, effort, d.Value, last)
			}
			if again := mustClimb(t, in, sched.TotalJCT, opt); !reflect.DeepEqual(again, d) {
				t.Errorf("seed %d: effort %d proves %v, and then %v", seed, effort, d.Value, again.Value)
			}
			if effort > 0 && d.Value.Cmp(last) > 0 {
				better++
			}
			last = d.Value
		}
	}
	if better == 0 {
		t.Error("effort gained nothing")
	}
}

// waning is a context that ends after so many questions.
type waning struct {
	context.Context
	left int
}

func (w *waning) Err() error {
	if w.left--; w.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestInterrupted: wherever the context ends, what is returned is proven and worth
// at least LB0; and it is asked within an evaluation.
func TestInterrupted(t *testing.T) {
	in := busy(1, 600, 2, 1.5)
	whole := mustClimb(t, in, sched.TotalJCT, LagrangianOptions{Slots: 64, Iterations: 4})
	asked := 0
	for left := 0; ; left++ {
		ctx := &waning{context.Background(), left}
		d, err := Lagrangian(ctx, in, sched.TotalJCT, LagrangianOptions{Slots: 64, Iterations: 4})
		if err != nil {
			t.Fatal(err)
		}
		if d.Value.Cmp(mustValue(t, in, sched.TotalJCT, LB0)) < 0 || d.Value.Cmp(whole.Value) > 0 {
			t.Fatalf("after %d questions: %v", left, d.Value)
		}
		if again, err := d.Prices.Bound(in, sched.TotalJCT); err != nil || again.Value.Cmp(d.Value) != 0 {
			t.Fatalf("after %d questions: the prices prove %v (%v), not %v", left, again.Value, err, d.Value)
		}
		if asked = left; !d.Interrupted {
			break
		}
	}
	if asked < 3*whole.Iterations {
		t.Errorf("the context was asked %d times in %d evaluations of 600 jobs", asked, whole.Iterations)
	}
}

// TestBracketing: the bound holds for the class, and is no less than any other that
// does; class F(1) gets none that needs more.
func TestBracketing(t *testing.T) {
	for seed := range uint64(tier.Draws(6, 24)) {
		rng := schedtest.Rand(seed)
		shape := schedtest.Shape{Jobs: 1 + rng.IntN(4), Servers: 1 + rng.IntN(3), GPUs: 3, Stages: 1 + rng.IntN(2), Traffic: true, Weights: true, Span: rng.IntN(2) == 0}
		in := schedtest.Gang(rng, shape)
		for k, obj := range sched.Objectives() {
			if obj.Maximised() || k%3 != int(seed%3) {
				continue
			}
			_, optimum := schedtest.BruteForce(in, obj)
			for _, kind := range []sched.Kind{sched.N, sched.P, sched.P0, sched.Fluid} {
				class := sched.Class{Kind: kind}
				l, err := Bracketing(context.Background(), in, obj, class, Effort{Level: rng.IntN(2), Upper: optimum})
				if err != nil {
					t.Fatalf("seed %d, %v, %v: %v", seed, obj, class, err)
				}
				if err := l.Divides(class, obj); err != nil || l.Proof == nil || l.Value.Cmp(optimum) > 0 {
					t.Fatalf("seed %d, %v, %v: %s is %v (%v), the optimum of class N %v", seed, obj, class, l.Name, l.Value, err, optimum)
				}
				if (l.Prices != nil) != obj.IsTotal() {
					t.Fatalf("seed %d, %v: prices %v", seed, obj, l.Prices)
				}
				for _, b := range l.Tried {
					if b.Value.Cmp(l.Value) > 0 || b.Divides(class, obj) != nil {
						t.Fatalf("seed %d, %v, %v: %+v was tried, %s returned", seed, obj, class, b, l.Name)
					}
				}
			}
		}
	}
	in := busy(1, 3, 1, 1)
	if _, err := Bracketing(context.Background(), in, sched.TotalJCT, sched.Class{Kind: sched.N}, Effort{Level: MaxLevel + 1}); err == nil || errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("a level that is not there: %v", err)
	}
	if _, err := Bracketing(context.Background(), in, sched.ScheduledWeight, sched.Class{Kind: sched.N}, Effort{}); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("an objective that is maximised: %v", err)
	}
}
