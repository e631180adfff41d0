package forest

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// randomSamples draws samples whose features take at most values[f] values.
func randomSamples(rng *rand.Rand, n int, values Point, targets int64) []Sample {
	s := make([]Sample, n)
	for i := range s {
		for f := range s[i].X {
			s[i].X[f] = rng.Int32N(values[f]) - 2
		}
		s[i].Y = rng.Int64N(targets)
	}
	return s
}

// gain returns S_L²/n_L + S_R²/n_R of a split, exactly, or nil if a side is
// empty.
func gain(samples []Sample, f int, threshold float64) *big.Rat {
	var n, sum [2]int64
	for _, s := range samples {
		side := 0
		if float64(s.X[f]) > threshold {
			side = 1
		}
		n[side]++
		sum[side] += s.Y
	}
	if n[0] == 0 || n[1] == 0 {
		return nil
	}
	l, r := big.NewRat(sum[0]*sum[0], n[0]), big.NewRat(sum[1]*sum[1], n[1])
	return l.Add(l, r)
}

// bestGain tries every feature and every half-integer threshold.
func bestGain(samples []Sample) *big.Rat {
	var best *big.Rat
	for f := range Features {
		for threshold := -3.0; threshold < 12; threshold += 0.5 {
			if g := gain(samples, f, threshold); g != nil && (best == nil || g.Cmp(best) > 0) {
				best = g
			}
		}
	}
	return best
}

// checkTree walks a tree with the samples it was grown on and returns how many
// splits it has. Every split must be optimal, with its threshold halfway
// between neighbours; every leaf must be the mean, and must end where it has to.
func checkTree(t *testing.T, nodes []node, at int32, samples []Sample, depth, maxDepth int) int {
	t.Helper()
	var sum int64
	means := map[Point]*[2]int64{}
	for _, s := range samples {
		sum += s.Y
		m := means[s.X]
		if m == nil {
			m = &[2]int64{}
			means[s.X] = m
		}
		m[0] += s.Y
		m[1]++
	}
	alike := true
	for _, m := range means {
		alike = alike && m[0]*int64(len(samples)) == sum*m[1]
	}
	n := nodes[at]
	if n.feature < 0 {
		if !alike && depth != maxDepth {
			t.Fatalf("leaf at depth %d of samples %v", depth, samples)
		}
		if want := float64(sum) / float64(len(samples)); n.value != want {
			t.Fatalf("leaf %v, want %v", n.value, want)
		}
		return 0
	}
	if alike || depth == maxDepth {
		t.Fatalf("split at depth %d of samples %v", depth, samples)
	}
	f := int(n.feature)
	if got, want := gain(samples, f, n.value), bestGain(samples); got == nil || got.Cmp(want) != 0 {
		t.Fatalf("split x[%d] ≤ %v gains %v, the best %v; samples %v", f, n.value, got, want, samples)
	}
	var sides [2][]Sample
	low, high := int32(math.MinInt32), int32(math.MaxInt32)
	for _, s := range samples {
		if float64(s.X[f]) <= n.value {
			sides[0], low = append(sides[0], s), max(low, s.X[f])
		} else {
			sides[1], high = append(sides[1], s), min(high, s.X[f])
		}
	}
	if float64(low)+float64(high) != 2*n.value {
		t.Fatalf("threshold %v between %d and %d", n.value, low, high)
	}
	return 1 + checkTree(t, nodes, at+1, sides[0], depth+1, maxDepth) + checkTree(t, nodes, n.right, sides[1], depth+1, maxDepth)
}

// TestSplitsAreOptimal checks every node of small trees by brute force in
// rational arithmetic, bootstrap samples included: these are drawn again, from
// the samples in the order of their points.
func TestSplitsAreOptimal(t *testing.T) {
	splits, ties := 0, 0
	for seed := range uint64(1200) {
		rng := rand.New(rand.NewPCG(seed, 7))
		samples := randomSamples(rng, 1+rng.IntN(14), Point{1 + rng.Int32N(8), 1 + rng.Int32N(5), 1 + rng.Int32N(3)}, 1+rng.Int64N(50))
		o := TrainOptions{Trees: 2, MaxDepth: rng.IntN(4), Whole: seed%2 == 0, Seed: seed, Workers: 1}
		r, err := Train(samples, o)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		limit := o.MaxDepth
		if limit == 0 {
			limit = -1
		}
		for i, nodes := range r.trees {
			grownOn := samples
			if !o.Whole {
				grownOn = nil
				slices.SortStableFunc(samples, func(a, b Sample) int { return slices.Compare(a.X[:], b.X[:]) })
				draw := rand.New(rand.NewPCG(seed, uint64(i)))
				for range samples {
					grownOn = append(grownOn, samples[draw.Uint32N(uint32(len(samples)))])
				}
			}
			splits += checkTree(t, nodes, 0, grownOn, 0, limit)
		}
		if !reflect.DeepEqual(r.trees[0], r.trees[1]) && o.Whole {
			ties++
		}
	}
	if splits < 5000 || ties < 20 {
		t.Fatalf("only %d splits checked, %d pairs of trees that differ by ties", splits, ties)
	}
}

// TestZeroGain: exclusive or gains nothing by its first split and all by its
// second.
func TestZeroGain(t *testing.T) {
	samples := []Sample{{Point{0, 0}, 5}, {Point{0, 1}, 9}, {Point{1, 0}, 9}, {Point{1, 1}, 5}}
	r, err := Train(samples, TrainOptions{Whole: true, Trees: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		if got := r.Predict(s.X); got != float64(s.Y) {
			t.Fatalf("%v: %v, want %d", s.X, got, s.Y)
		}
	}
}

func queries(rng *rand.Rand, n int) []Point {
	q := make([]Point, n)
	for i := range q {
		q[i] = Point{rng.Int32N(44) - 4, rng.Int32N(14) - 4, rng.Int32N(9) - 4}
	}
	return q
}

func predictions(t *testing.T, samples []Sample, o TrainOptions, q []Point) []float64 {
	t.Helper()
	r, err := Train(samples, o)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, len(q))
	for i, x := range q {
		out[i] = r.Predict(x)
	}
	return out
}

// TestInvariances: what must not change predictions, or changes them in a known
// way, to the last bit.
func TestInvariances(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 11))
		samples := randomSamples(rng, 150, Point{40, 10, 5}, 100_000)
		q := queries(rng, 300)
		whole := TrainOptions{Trees: 1, Whole: true, Seed: seed}
		bagged := TrainOptions{Trees: 6, Seed: seed, MaxDepth: int(seed % 5)}
		changed := func(change func(s *Sample)) []Sample {
			out := slices.Clone(samples)
			for i := range out {
				change(&out[i])
			}
			return out
		}
		same := func(what string, got, want []float64) {
			t.Helper()
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, %s: %v, want %v", seed, what, got, want)
			}
		}
		scaled := func(f float64, p []float64) []float64 {
			out := slices.Clone(p)
			for i := range out {
				out[i] *= f
			}
			return out
		}
		base, bag := predictions(t, samples, whole, q), predictions(t, samples, bagged, q)
		for _, workers := range []int{1, 2, 9} {
			o := bagged
			o.Workers = workers
			same(fmt.Sprint(workers, " workers"), predictions(t, samples, o, q), bag)
		}
		shuffled := slices.Clone(samples)
		rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		same("rows in another order", predictions(t, shuffled, whole, q), base)
		same("every row twice", predictions(t, slices.Concat(samples, samples), whole, q), base)
		same("targets times 8", predictions(t, changed(func(s *Sample) { s.Y *= 8 }), bagged, q), scaled(8, bag))
		moved := slices.Clone(q)
		for i := range moved {
			moved[i][0], moved[i][1] = 4*moved[i][0]+100, moved[i][1]-30
		}
		same("features moved and stretched", predictions(t, changed(func(s *Sample) { s.X[0], s.X[1] = 4*s.X[0]+100, s.X[1]-30 }), bagged, moved), bag)
		low, high := float64(math.MaxInt64), 0.0
		for _, s := range samples {
			low, high = min(low, float64(s.Y)), max(high, float64(s.Y))
		}
		for _, p := range slices.Concat(base, bag) {
			if p < low || p > high {
				t.Fatalf("seed %d: %v is not from %v to %v", seed, p, low, high)
			}
		}
		other := bagged
		other.Seed += 1000
		if slices.Equal(predictions(t, samples, other, q), bag) {
			t.Fatalf("seed %d: another seed changes nothing", seed)
		}
	}
}

// TestBootstrap: a tree on distinct points with distinct targets has a leaf for
// every sample drawn at least once, about 1 − 1/e of them.
func TestBootstrap(t *testing.T) {
	const n, trees = 20_000, 5
	samples := make([]Sample, n)
	for i := range samples {
		samples[i] = Sample{Point{int32(i)}, int64(i) * int64(i)}
	}
	r, err := Train(samples, TrainOptions{Trees: trees, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	for i, nodes := range r.trees {
		leaves := (len(nodes) + 1) / 2
		// Variance n(e⁻¹ − 2e⁻²) ≈ 0.0972 n.
		want, sigma := n*(1-1/math.E), math.Sqrt(n*(1/math.E-2/math.E/math.E))
		if z := (float64(leaves) - want) / sigma; math.Abs(z) > 5 {
			t.Errorf("tree %d: %d leaves, want about %.0f", i, leaves, want)
		}
	}
	if got, want := r.Nodes(), len(slices.Concat(r.trees...)); got != want {
		t.Errorf("%d nodes, want %d", got, want)
	}
}

func TestEdgeCases(t *testing.T) {
	for _, c := range []struct {
		samples []Sample
		query   Point
		want    float64
	}{
		{[]Sample{{Point{1, 2, 3}, 7}}, Point{9, 9, 9}, 7},
		{[]Sample{{Point{1, 2, 3}, 7}, {Point{1, 2, 3}, 8}}, Point{}, 7.5},
		{[]Sample{{Point{0}, 4}, {Point{1}, 4}, {Point{2}, 4}}, Point{1}, 4},
		{[]Sample{{Point{math.MinInt32}, 1}, {Point{math.MaxInt32}, 2}}, Point{-1}, 1}, // threshold −0.5
		{[]Sample{{Point{math.MinInt32}, 1}, {Point{math.MaxInt32}, 2}}, Point{0}, 2},
		{[]Sample{{Point{0}, 0}, {Point{1}, math.MaxInt64 / 2}}, Point{1}, math.MaxInt64 / 2},
		{[]Sample{{Point{0}, 0}, {Point{10}, 6}}, Point{5}, 0}, // on the threshold: left
		// Unequal cells of equal mean are one leaf.
		{[]Sample{{Point{0}, 1}, {Point{0}, 3}, {Point{1}, 2}}, Point{1}, 2},
	} {
		r, err := Train(c.samples, TrainOptions{Trees: 3, Whole: true})
		if err != nil {
			t.Fatalf("%v: %v", c.samples, err)
		}
		if got := r.Predict(c.query); got != c.want {
			t.Errorf("%v at %v: %v, want %v", c.samples, c.query, got, c.want)
		}
	}
	if _, err := Train(nil, TrainOptions{}); !errors.Is(err, ErrNoSamples) {
		t.Errorf("no samples: %v", err)
	}
	one := []Sample{{Y: 1}}
	for _, c := range []struct {
		samples []Sample
		o       TrainOptions
		want    string
	}{
		{[]Sample{{Y: 1}, {Y: -1}}, TrainOptions{}, "target -1 of sample 1"},
		{[]Sample{{Y: math.MaxInt64}, {Y: 1}}, TrainOptions{}, "fit 64 bits"},
		{one, TrainOptions{Trees: -1}, "trees -1"},
		{one, TrainOptions{MaxDepth: -1}, "depth -1"},
		{one, TrainOptions{Workers: -1}, "workers -1"},
	} {
		if _, err := Train(c.samples, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v %+v: error %v, want %q", c.samples, c.o, err, c.want)
		}
	}
	if r, err := Train(one, TrainOptions{}); err != nil || len(r.trees) != 100 {
		t.Errorf("the default is not 100 trees: %v", err)
	}
}
