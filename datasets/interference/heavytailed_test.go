package interference

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestHeavyTailed: over many tasks, whole mini-batches have the quantiles that the law is
// of, and halves of one's own or the partner's the factors.
func TestHeavyTailed(t *testing.T) {
	var tasks []Sized
	for i := range 60 {
		tasks = append(tasks, Sized{fmt.Sprint("t", i), 6})
	}
	table := HeavyTailed(tasks)
	s := table.Settings()[0]
	var xi []float64
	for _, a := range tasks {
		for _, b := range tasks {
			whole, ok := table.Xi(s, WithBatch(a.Task, 6), WithBatch(b.Task, 6))
			if !ok || whole < 1 || whole > 11 {
				t.Fatalf("%s beside %s: %v", a.Task, b.Task, whole)
			}
			xi = append(xi, whole)
			for _, half := range []struct {
				own, other int
				factor     float64
			}{{3, 6, 1.25}, {6, 3, 0.85}, {1, 6, 1.25 * 1.25 * 1.25}, {2, 2, 1.25 * 1.25 * 0.85 * 0.85}} {
				got, ok := table.Xi(s, WithBatch(a.Task, half.own), WithBatch(b.Task, half.other))
				if want := min(1+(whole-1)*half.factor, 11); !ok || math.Abs(got-want) > 0.003 && whole < 11 {
					t.Errorf("%s with %d beside %s with %d: %v, want %v", a.Task, half.own, b.Task, half.other, got, want)
				}
			}
		}
	}
	slices.Sort(xi)
	for p, want := range map[float64]float64{0.25: 1.19, 0.5: 1.45, 0.75: 2.05, 0.95: 4.58} {
		if got := xi[int(p*float64(len(xi)))]; math.Abs(got/want-1) > 0.1 {
			t.Errorf("quantile %v is %v, measured is %v", p, got, want)
		}
	}
}
