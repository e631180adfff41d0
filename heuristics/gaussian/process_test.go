package gaussian

import (
	"math"
	"math/rand/v2"
	"testing"
)

func point(rng *rand.Rand, dim int) []float64 {
	x := make([]float64, dim)
	for i := range x {
		x[i] = rng.Float64()
	}
	return x
}

// observed returns a process that has seen n noisy values of a smooth function.
func observed(t testing.TB, rng *rand.Rand, dim, n int, priors Priors) *Process {
	t.Helper()
	p := New(dim, priors)
	for range n {
		x := point(rng, dim)
		y := 7 + 0.3*rng.NormFloat64()
		for i, v := range x {
			y += 20 * math.Sin(float64(i+2)*v)
		}
		if err := p.Observe(x, y); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// TestGradient compares Objective's derivatives with central differences.
func TestGradient(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		priors := Priors{}
		if seed%2 == 0 {
			priors = BoTorch()
		}
		p := observed(t, rng, 1+rng.IntN(5), 2+rng.IntN(20), priors)
		z := logarithms(p.Hyperparameters())
		for i := range z {
			z[i] += rng.NormFloat64() * 0.4
		}
		at := func(z []float64) (float64, []float64) {
			h, _ := hyperparameters(z)
			if err := p.SetHyperparameters(h); err != nil {
				t.Fatal(err)
			}
			v, g, err := p.Objective()
			if err != nil {
				t.Fatal(err)
			}
			return v, g
		}
		_, gradient := at(z)
		for i := range z {
			const h = 1e-5
			up, down := append([]float64(nil), z...), append([]float64(nil), z...)
			up[i], down[i] = z[i]+h, z[i]-h
			fu, _ := at(up)
			fd, _ := at(down)
			close(t, "derivative", gradient[i], (fu-fd)/(2*h), 2e-6)
		}
	}
}

// TestIncremental: observing one by one gives the factor of all at once.
func TestIncremental(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	p := observed(t, rng, 5, 60, BoTorch())
	queries := make([][]float64, 20)
	var means, sds []float64
	for i := range queries {
		queries[i] = point(rng, 5)
		m, s := p.Predict(queries[i])
		means, sds = append(means, m), append(sds, s)
	}
	if err := p.factorise(); err != nil {
		t.Fatal(err)
	}
	for i, x := range queries {
		m, s := p.Predict(x)
		close(t, "mean", m, means[i], 1e-10)
		close(t, "sd", s, sds[i], 1e-10)
	}
}

// TestPredictGradient compares with central differences.
func TestPredictGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	p := observed(t, rng, 3, 25, BoTorch())
	for range 20 {
		x := point(rng, 3)
		mean, sd, dMean, dSD := p.PredictGradient(x)
		m, s := p.Predict(x)
		close(t, "mean", mean, m, 1e-12)
		close(t, "sd", sd, s, 1e-12)
		for i := range x {
			const h = 1e-5
			up, down := append([]float64(nil), x...), append([]float64(nil), x...)
			up[i], down[i] = x[i]+h, x[i]-h
			mu, su := p.Predict(up)
			md, sd := p.Predict(down)
			close(t, "derivative of the mean", dMean[i], (mu-md)/(2*h), 1e-6)
			close(t, "derivative of the deviation", dSD[i], (su-sd)/(2*h), 1e-6)
		}
	}
}

// TestAlong: the process along a line is the process.
func TestAlong(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	p := observed(t, rng, 4, 30, BoTorch())
	for range 20 {
		x, input := point(rng, 4), rng.IntN(4)
		line := p.Along(x, input)
		for range 5 {
			x[input] = rng.Float64()
			mean, slope := line.Mean(x[input])
			m, _, dm, _ := p.PredictGradient(x)
			close(t, "mean along a line", mean, m, 1e-12)
			close(t, "derivative along a line", slope, dm[input], 1e-12)
		}
	}
}

// TestLeast: neither a fine grid nor L-BFGS from its best point finds a mean
// below the one found, at length scales that give several valleys.
func TestLeast(t *testing.T) {
	inside, ends := 0, 0
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 9))
		p := observed(t, rng, 3, 1+rng.IntN(40), BoTorch())
		h := Hyperparameters{Scale: 1, Noise: 0.01}
		for range 3 {
			h.Lengths = append(h.Lengths, 0.1+0.3*rng.Float64())
		}
		if err := p.SetHyperparameters(h); err != nil {
			t.Fatal(err)
		}
		x, input := point(rng, 3), rng.IntN(3)
		line := p.Along(x, input)
		at := line.Least(200)
		mean, slope := line.Mean(at)
		fine, from := math.Inf(1), 0.0
		for i := range 2_001 {
			if m, _ := line.Mean(float64(i) / 2_000); m < fine {
				fine, from = m, float64(i)/2_000
			}
		}
		_, least := Maximise(func(x float64) (float64, float64) { m, s := line.Mean(x); return -m, -s }, []float64{from})
		if mean > math.Min(fine, -least)+1e-9 {
			t.Errorf("seed %d: mean %v at %v, but %v on a fine grid and %v by L-BFGS", seed, mean, at, fine, -least)
		}
		switch {
		case at == 0 && slope >= 0, at == 1 && slope <= 0:
			ends++
		case at > 0 && at < 1 && math.Abs(slope) < 1e-4:
			inside++
		default:
			t.Errorf("seed %d: slope %v at %v", seed, slope, at)
		}
	}
	if inside < 20 || ends < 10 {
		t.Errorf("%d minima inside and %d at the ends: too few of one kind", inside, ends)
	}
}

// TestInterpolation: with little noise the process goes through what it saw and
// knows little far away; outcomes may be shifted and scaled.
func TestInterpolation(t *testing.T) {
	var x [][]float64
	for i := range 8 {
		x = append(x, []float64{float64(i) / 7})
	}
	f := func(x float64) float64 { return math.Cos(6 * x) }
	a, b := New(1, Priors{}), New(1, Priors{})
	for _, p := range []*Process{a, b} {
		if err := p.SetHyperparameters(Hyperparameters{Lengths: []float64{0.4}, Scale: 1, Noise: MinNoise}); err != nil {
			t.Fatal(err)
		}
	}
	if m, s := a.Predict(x[0]); m != 0 || s != 1 {
		t.Errorf("knowing nothing: %v ± %v", m, s)
	}
	for _, v := range x {
		if err := a.Observe(v, f(v[0])); err != nil {
			t.Fatal(err)
		}
		if err := b.Observe(v, 1000-50*f(v[0])); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range x {
		m, s := a.Predict(v)
		if math.Abs(m-f(v[0])) > 0.01 || s > 0.02 {
			t.Errorf("at %v: %v ± %v, want %v", v, m, s, f(v[0]))
		}
		mb, sb := b.Predict(v)
		close(t, "shifted mean", mb, 1000-50*m, 1e-9)
		close(t, "scaled deviation", sb, 50*s, 1e-9)
	}
	if _, s := a.Predict([]float64{50}); s < 0.5 {
		t.Errorf("far away the deviation is %v", s)
	}
}

// TestFit: more likely than before, whatever the start, and length scales that
// tell inputs that matter from one that does not.
func TestFit(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	p := New(2, Priors{})
	for range 60 {
		x := point(rng, 2)
		if err := p.Observe(x, math.Sin(9*x[0])+0.02*rng.NormFloat64()); err != nil {
			t.Fatal(err)
		}
	}
	before, _, err := p.Objective()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Fit(); err != nil {
		t.Fatal(err)
	}
	after, gradient, err := p.Objective()
	if err != nil || after >= before {
		t.Errorf("from %v to %v, %v", before, after, err)
	}
	if h := p.Hyperparameters(); h.Lengths[1] < 5*h.Lengths[0] {
		t.Errorf("length scales %v: the second input does not matter", h.Lengths)
	}
	for i, g := range gradient {
		if math.Abs(g) > 1e-2 {
			t.Errorf("derivative %d is %v after the fit", i, g)
		}
	}
}

func TestRefused(t *testing.T) {
	p := New(2, Priors{})
	for _, x := range [][]float64{{1}, {1, math.NaN()}, {1, math.Inf(1)}} {
		if p.Observe(x, 1) == nil {
			t.Errorf("%v was observed", x)
		}
	}
	if p.Observe([]float64{1, 2}, math.NaN()) == nil || p.Len() != 0 {
		t.Error("NaN was observed")
	}
	for _, h := range []Hyperparameters{{}, {Lengths: []float64{1, 0}, Scale: 1, Noise: 1}, {Lengths: []float64{1, 1}, Scale: 1}} {
		if p.SetHyperparameters(h) == nil {
			t.Errorf("%+v was accepted", h)
		}
	}
	// One point twice, and outcomes that do not vary: the noise keeps K regular.
	for range 3 {
		if err := p.Observe([]float64{0.5, 0.5}, 4); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Fit(); err != nil {
		t.Fatal(err)
	}
	if m, _ := p.Predict([]float64{0.5, 0.5}); m != 4 {
		t.Errorf("mean %v of three times 4", m)
	}
}

func BenchmarkFit110(b *testing.B) {
	p := observed(b, rand.New(rand.NewPCG(1, 6)), 5, 110, BoTorch())
	for b.Loop() {
		q := *p
		if err := q.Fit(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkObserveAndPredict110(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 7))
	p := observed(b, rng, 5, 109, BoTorch())
	x, q := point(rng, 5), point(rng, 5)
	for b.Loop() {
		c := *p
		c.x, c.y = c.x[:109:109], c.y[:109:109]
		if err := c.Observe(x, 1); err != nil {
			b.Fatal(err)
		}
		c.Predict(q)
	}
}
