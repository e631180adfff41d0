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
	var xi, own, other []float64
	for _, a := range tasks {
		for _, b := range tasks {
			whole, ok := table.Xi(s, WithBatch(a.Task, 6), WithBatch(b.Task, 6))
			if !ok || whole < 1 || whole > 11 {
				t.Fatalf("%s beside %s: %v", a.Task, b.Task, whole)
			}
			xi = append(xi, whole)
			if half, ok := table.Xi(s, WithBatch(a.Task, 3), WithBatch(b.Task, 6)); ok && whole > 1.05 && whole < 11 && half < 11 {
				own = append(own, (half-1)/(whole-1))
			}
			if half, ok := table.Xi(s, WithBatch(a.Task, 6), WithBatch(b.Task, 3)); ok && whole > 1.05 && whole < 11 && half < 11 {
				other = append(other, (half-1)/(whole-1))
			}
		}
	}
	slices.Sort(xi)
	for p, want := range map[float64]float64{0.25: 1.19, 0.5: 1.45, 0.75: 2.05, 0.95: 4.58} {
		if got := xi[int(p*float64(len(xi)))]; math.Abs(got/want-1) > 0.1 {
			t.Errorf("quantile %v is %v, measured is %v", p, got, want)
		}
	}
	for median, list := range map[float64][]float64{1.25: own, 0.85: other} {
		slices.Sort(list)
		if got := list[len(list)/2]; math.Abs(got/median-1) > 0.05 {
			t.Errorf("a half has %v times the xi − 1 at the median, measured is %v", got, median)
		}
		if spread := list[3*len(list)/4] / list[len(list)/4]; spread < 1.4 || spread > 1.85 { // measured are 1.6 and 1.6
			t.Errorf("the quartiles of halves are %v apart", spread)
		}
	}
}
