package walk_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"yardstick/heuristics/offline/walk"
	"yardstick/sched"
)

// hills is a walk on whole numbers, whose cost has many valleys; it checks what Run may
// ask of a state.
type hills struct {
	t                *testing.T
	at, before, best int
	tried, kept      bool
}

func height(x int) float64 { return math.Abs(float64(x)) + 5*math.Abs(math.Sin(float64(x))) }

func (h *hills) Cost() float64 { return height(h.at) }
func (h *hills) Keep()         { h.best, h.kept = h.at, true }
func (h *hills) Back()         { h.at = h.best }

func (h *hills) Undo() {
	if !h.tried {
		h.t.Error("something is undone twice")
	}
	h.at, h.tried = h.before, false
}

func (h *hills) Try(r *rand.Rand, limit float64) float64 {
	h.before, h.tried = h.at, true
	h.at += r.IntN(7) - 3
	if v := height(h.at); v <= limit {
		return v
	}
	return math.Inf(1)
}

// A walk ends at the best point that it met, which is the lowest of all if it may climb
// hills, and makes no move once its context has ended.
func TestRun(t *testing.T) {
	h := &hills{t: t, at: 60}
	if made := walk.Run(context.Background(), h, 1, 4000, 8); made != 4000 || h.at != 0 {
		t.Errorf("%d moves lead to %d", made, h.at)
	}
	cold := &hills{t: t, at: 60}
	walk.Run(context.Background(), cold, 1, 4000, 0)
	if cold.Cost() > height(60) || !cold.kept {
		t.Errorf("without heat a walk leads up, to %d", cold.at)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if still := (&hills{t: t, at: 9}); walk.Run(ctx, still, 1, 100, 1) != 0 || still.at != 9 {
		t.Errorf("a walk whose context has ended is at %d", still.at)
	}
}

// Totals are weighted sums of ends, and of equal makespans the lower mean is better.
func TestCost(t *testing.T) {
	w := []float64{2, 1}
	if got := walk.Cost(sched.WeightedCompletion, w, []int64{3, 10}); got != 16 {
		t.Errorf("a total of %v", got)
	}
	a, b, c := walk.Cost(sched.Makespan, w, []int64{3, 10}), walk.Cost(sched.Makespan, w, []int64{4, 10}), walk.Cost(sched.Makespan, w, []int64{0, 11})
	if !(a < b && b < c) {
		t.Errorf("makespans of %v, %v and %v", a, b, c)
	}
}
