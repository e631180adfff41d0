package law

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s is %v, want %v within %v", what, got, want, relative)
	}
}

func TestTable(t *testing.T) {
	table := Table{{0, 1}, {0.5, 100}, {1, 10_000}}
	for p, want := range map[float64]float64{0: 1, 0.25: 10, 0.5: 100, 0.75: 1000, 1: 10_000} {
		near(t, "quantile", table.At(p), want, 1e-12)
	}
	near(t, "mean", table.Mean(), midpoints(table), 1e-6)
	near(t, "mean of Philly's running times, s", PhillyDuration().Mean(), 10_563, 0.002)
	near(t, "mean of a constant", Table{{0, 7}, {1, 7}}.Mean(), 7, 1e-12)
}

// midpoints integrates a quantile function numerically.
func midpoints(l Law) float64 {
	const n = 1_000_000
	sum := 0.0
	for i := range n {
		sum += l.At((float64(i) + 0.5) / n)
	}
	return sum / n
}

func TestLogNormal(t *testing.T) {
	l, err := NewLogNormal(234, 5130.609, 4_320_009)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "median", l.At(0.5), 234, 1e-9)
	near(t, "mean", l.Mean(), 5130.609, 1e-9)
	near(t, "mean, integrated", midpoints(l), 5130.609, 1e-3)
	near(t, "largest", l.At(1), 4_320_009, 0)
	// ln(x_p/median) = σ·Φ⁻¹(p), Φ⁻¹(0.975) = 1.959964.
	near(t, "quantile 0.975", math.Log(l.At(0.975)/234)/l.sigma, 1.959964, 1e-6)
	for _, bad := range [][3]float64{{0, 1, 10}, {2, 2, 10}, {2, 1, 10}, {1, 5, 10}, {math.NaN(), 1, 10}} {
		if _, err := NewLogNormal(bad[0], bad[1], bad[2]); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}

// The share of submissions up to a time is the integral of the rates.
func TestCycle(t *testing.T) {
	hours, days := []float64{1, 3}, []float64{1, 0.5, 2}
	rate := func(s float64) float64 { h := int(s / 3600); return hours[h%2] * days[h/24%3] }
	for _, length := range []float64{10, 3600, 5400, 80 * 3600, 200*3600 + 1234} {
		c := NewCycle(hours, days, length)
		total, step := 0.0, length/20_000
		for i := range 20_000 {
			total += rate((float64(i) + 0.5) * step)
		}
		sum := 0.0
		for i := range 20_000 {
			sum += rate((float64(i) + 0.5) * step)
			if at := c.At(sum / total); math.Abs(at-float64(i+1)*step) > 1e-3*length {
				t.Fatalf("length %v: the share %v is reached at %v, want %v", length, sum/total, at, float64(i+1)*step)
			}
		}
		if at := c.At(math.Nextafter(1, 0)); math.Abs(at-length) > 1e-6*length {
			t.Errorf("length %v: the last submission is at %v", length, at)
		}
	}
}

func TestSubmissions(t *testing.T) {
	c := NewCycle([]float64{1}, []float64{1}, 1e6)
	rng := rand.New(rand.NewPCG(1, 2))
	var times []float64
	for n := range 50 {
		before := len(times)
		times = c.Submissions(rng, times, n, Sittings{Batch: 4, Gap: 7, Window: 0.1})
		if len(times)-before != n {
			t.Fatalf("%d times for %d runs", len(times)-before, n)
		}
	}
	if low := slices.Min(times); low < 0 || low != math.Floor(low) {
		t.Errorf("submission at %v", low)
	}
}
