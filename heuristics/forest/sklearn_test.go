package forest

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"yardstick/internal/python"
)

// fitCase is a case for testdata/fit.py.
type fitCase struct {
	X     []Point `json:"x"`
	Y     []int64 `json:"y"`
	Query []Point `json:"query"`
	Trees int     `json:"trees"`
	Depth int     `json:"depth"`
	Whole bool    `json:"whole"`
	Seed  uint64  `json:"seed"`
	Jobs  int     `json:"jobs"`
}

func newFitCase(samples []Sample, query []Point, o TrainOptions) fitCase {
	c := fitCase{Query: query, Trees: o.Trees, Depth: o.MaxDepth, Whole: o.Whole, Seed: o.Seed, Jobs: max(o.Workers, 1)}
	for _, s := range samples {
		c.X, c.Y = append(c.X, s.X), append(c.Y, s.Y)
	}
	return c
}

type fitAnswer struct {
	Seconds     float64
	Predictions []float64
}

// fit has scikit-learn do the cases.
func fit(t *testing.T, cases []fitCase) []fitAnswer {
	t.Helper()
	in, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python.Interpreter(t, "sklearn"), filepath.Join("testdata", "fit.py"))
	var errors bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), &errors
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errors.Bytes())
	}
	var got struct {
		Version string
		Answers []fitAnswer
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	t.Logf("scikit-learn %s", got.Version)
	return got.Answers
}

// TestSameTreesAsScikitLearn compares single trees without bootstrap, at points
// seen and unseen, to the last bit. Where two features give equally good splits,
// either may be taken, at random; so the cases are those where that cannot
// happen or does not matter: one feature; large nodes, which few splits reach,
// with targets that make ties improbable; and fully grown trees at the points
// that they were grown on.
func TestSameTreesAsScikitLearn(t *testing.T) {
	var cases []fitCase
	var ours [][]float64
	add := func(samples []Sample, query []Point, o TrainOptions) {
		o.Trees, o.Whole = 1, true
		cases = append(cases, newFitCase(samples, query, o))
		ours = append(ours, predictions(t, samples, o, query))
	}
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 23))
		o := TrainOptions{Seed: seed}
		q := queries(rng, 400)
		add(randomSamples(rng, 1+rng.IntN(60), Point{40, 1, 1}, 1+rng.Int64N(30)), q, o)
		add(randomSamples(rng, 300, Point{40, 1, 1}, 1_000_000), q, o)
		o.MaxDepth = 1 + int(seed%4)
		add(randomSamples(rng, 5_000, Point{40, 10, 5}, 1_000_000_000), q, o)
		o.MaxDepth = 0
		full := randomSamples(rng, 500, Point{40, 10, 5}, 1+rng.Int64N(100_000))
		at := make([]Point, len(full))
		for i, s := range full {
			at[i] = s.X
		}
		add(full, at, o)
	}
	for i, answer := range fit(t, cases) {
		if !slices.Equal(answer.Predictions, ours[i]) {
			for k := range ours[i] {
				if ours[i][k] != answer.Predictions[k] {
					t.Errorf("case %d of seed %d, at %v: %v, scikit-learn says %v", i%4, i/4, cases[i].Query[k], ours[i][k], answer.Predictions[k])
					break
				}
			}
		}
	}
}

// TestErrorLikeScikitLearn trains both forests on the first 80 % of a generated
// trace, as the paper does, and compares their errors on the later jobs of known
// groups. Forests are random: over 40 seeds, the standard deviations of a
// forest's root mean squared and mean absolute error were 0.41 % and 0.75 % for
// either implementation, their means 0.013 % and 0.045 % apart. The tolerances
// are four standard errors of the difference between two means over 4 seeds,
// which is 0.71 standard deviations. Forests without bootstrap must exceed one
// of them.
func TestErrorLikeScikitLearn(t *testing.T) {
	const seeds = 4
	tolerances := [2]float64{0.0116, 0.0212}
	jobs := paiLike(t, 6_000, 5)
	past, later := jobs[:4_800], jobs[4_800:]
	m := &regression{options: ForestOptions{Train: TrainOptions{Trees: 1}}}
	if err := m.learn(past); err != nil {
		t.Fatal(err)
	}
	samples := make([]Sample, len(past))
	for i, j := range past {
		samples[i] = Sample{m.point(j), j.Iters}
	}
	var query []Point
	var truth []float64
	for _, j := range later {
		if _, seen := m.groups[j.Group]; seen {
			query, truth = append(query, m.point(j)), append(truth, float64(j.Iters))
		}
	}
	if len(query) < 300 {
		t.Fatalf("only %d later jobs are of known groups", len(query))
	}
	measure := func(p []float64) (rms, abs float64) {
		for i := range p {
			d := p[i] - truth[i]
			rms, abs = rms+d*d, abs+math.Abs(d)
		}
		return math.Sqrt(rms / float64(len(p))), abs / float64(len(p))
	}
	var cases []fitCase
	var ours [2][]float64
	for seed := range uint64(seeds) {
		o := TrainOptions{Trees: 100, Seed: seed, Workers: runtime.GOMAXPROCS(0)}
		cases = append(cases, newFitCase(samples, query, o))
		rms, abs := measure(predictions(t, samples, o, query))
		ours[0], ours[1] = append(ours[0], rms), append(ours[1], abs)
	}
	rms, abs := measure(predictions(t, samples, TrainOptions{Whole: true}, query))
	unbagged := [2]float64{rms, abs}
	var theirs [2][]float64
	different := false
	for _, a := range fit(t, cases) {
		rms, abs := measure(a.Predictions)
		theirs[0], theirs[1] = append(theirs[0], rms), append(theirs[1], abs)
	}
	for k, what := range []string{"root mean squared error", "mean absolute error"} {
		a, aDev := meanAndDeviation(ours[k])
		b, bDev := meanAndDeviation(theirs[k])
		t.Logf("%s of %d predictions: %.1f (deviation %.2f%%), scikit-learn %.1f (%.2f%%)", what, len(query), a, 100*aDev/a, b, 100*bDev/b)
		if math.Abs(a/b-1) > tolerances[k] {
			t.Errorf("%s: %v, scikit-learn %v", what, a, b)
		}
		t.Logf("without bootstrap: %.1f", unbagged[k])
		different = different || math.Abs(unbagged[k]/b-1) > tolerances[k]
	}
	if !different {
		t.Error("the comparison would not notice a missing bootstrap")
	}
}

func meanAndDeviation(x []float64) (mean, deviation float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		deviation += (v - mean) * (v - mean) / float64(len(x)-1)
	}
	return mean, math.Sqrt(deviation)
}
