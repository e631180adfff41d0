package gaussian

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestImprovement compares with numerical integration, and derivatives with
// central differences.
func TestImprovement(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		mean, sd, best := rng.NormFloat64(), 0.05+rng.Float64()*2, rng.NormFloat64()
		value, dMean, dSD := Improvement(mean, sd, best)
		sum := 0.0
		const steps = 20_000
		for i := range steps { // mid-points from −9 to 9 deviations
			u := -9 + 18*(float64(i)+0.5)/steps
			sum += math.Max(0, best-(mean+sd*u)) * density(u) * 18 / steps
		}
		close(t, "expected improvement", value, sum, 1e-6)
		const h = 1e-6
		up, _, _ := Improvement(mean+h, sd, best)
		down, _, _ := Improvement(mean-h, sd, best)
		close(t, "derivative by the mean", dMean, (up-down)/(2*h), 1e-7)
		up, _, _ = Improvement(mean, sd+h, best)
		down, _, _ = Improvement(mean, sd-h, best)
		close(t, "derivative by the deviation", dSD, (up-down)/(2*h), 1e-7)
	}
	if v, dm, ds := Improvement(2, 0, 5); v != 3 || dm != -1 || ds != 0 {
		t.Errorf("without deviation: %v, %v, %v", v, dm, ds)
	}
	if v, _, _ := Improvement(5, 0, 2); v != 0 {
		t.Errorf("without deviation and hope: %v", v)
	}
}

// TestMaximise: peaks inside, at the ends, and the better of two.
func TestMaximise(t *testing.T) {
	for _, c := range []struct {
		name  string
		f     func(x float64) (float64, float64)
		x, at float64
	}{
		{"inside", func(x float64) (float64, float64) { return -(x - 0.3) * (x - 0.3), -2 * (x - 0.3) }, 0.3, 1e-6},
		{"left", func(x float64) (float64, float64) { return -x, -1 }, 0, 0},
		{"right", func(x float64) (float64, float64) { return x * x, 2 * x }, 1, 0},
		{"two", func(x float64) (float64, float64) {
			return math.Sin(9*x) + x/2, 9*math.Cos(9*x) + 0.5
		}, (2*math.Pi + math.Pi/2 + math.Asin(0.5/9)) / 9, 1e-6},
	} {
		if x, v := Maximise(c.f, []float64{0, 0.25, 0.5, 0.8, 1}); math.Abs(x-c.x) > c.at {
			t.Errorf("%s: %v at %v, want %v", c.name, v, x, c.x)
		}
	}
}

// TestOptimisation: expected improvement finds the minimum of a function that
// it may ask twenty times.
func TestOptimisation(t *testing.T) {
	f := func(x float64) float64 { return math.Sin(13*x)*math.Sin(27*x)/2 + x }
	least := math.Inf(1)
	for i := range 10_001 {
		least = math.Min(least, f(float64(i)/10_000))
	}
	rng := rand.New(rand.NewPCG(2, 2))
	p := New(1, Priors{})
	best := math.Inf(1)
	for n := range 20 {
		x := rng.Float64()
		if n >= 5 {
			if err := p.Fit(); err != nil {
				t.Fatal(err)
			}
			x, _ = Maximise(func(x float64) (float64, float64) {
				mean, sd, dMean, dSD := p.PredictGradient([]float64{x})
				v, dm, ds := Improvement(mean, sd, best)
				return v, dm*dMean[0] + ds*dSD[0]
			}, []float64{rng.Float64(), rng.Float64(), rng.Float64(), rng.Float64(), rng.Float64()})
		}
		if err := p.Observe([]float64{x}, f(x)); err != nil {
			t.Fatal(err)
		}
		best = math.Min(best, f(x))
	}
	if best > least+0.01 {
		t.Errorf("found %v, the minimum is %v", best, least)
	}
}
