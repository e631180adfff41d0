package interference

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"yardstick/datasets"
)

// TestFitLoads finds the loads that a table was made of, exactly and through
// noise.
func TestFitLoads(t *testing.T) {
	table := Synthetic()
	s := table.Settings()[0]
	f, err := FitLoads(table, s)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{}
	for _, l := range SyntheticLoads() {
		want[l.Task] = l.Busy
	}
	for _, l := range f.Loads {
		if math.Abs(l.Busy-want[l.Task]) > 0.005 { // the table has three decimals
			t.Errorf("%s: %v, want %v", l.Task, l.Busy, want[l.Task])
		}
	}
	if f.Pairs != 225 || f.RMSE > 1e-3 || f.R2 < 0.999 || f.Beyond != 0 {
		t.Errorf("%v", f)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	rows := table.Rows()
	for i := range rows {
		rows[i].Xi = datasets.Some(max(1, rows[i].Xi.V*math.Exp(0.05*rng.NormFloat64())))
	}
	noisy, err := New(rows)
	if err != nil {
		t.Fatal(err)
	}
	g, err := FitLoads(noisy, s)
	if err != nil {
		t.Fatal(err)
	}
	if g.RMSE < 0.03 || g.RMSE > 0.055 || g.R2 < 0.8 {
		t.Errorf("with 5 %% of noise: %v", g)
	}
	if _, err := FitLoads(table, Setting{Source: "nobody"}); err == nil {
		t.Error("a setting without pairs is fitted")
	}
}

// TestFitLoadsOfGavel shows how well the model fits Gavel's published
// measurements; docs/reproduction/sharing.md has the figures.
func TestFitLoadsOfGavel(t *testing.T) {
	table, _ := published(t)
	for _, s := range table.Settings() {
		if s.GPUs != 1 || s.Placement != Consolidated {
			continue
		}
		f, err := FitLoads(table, s)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%v: %v", s, f)
		if !(f.R2 > 0) || f.Pairs < 100 {
			t.Errorf("%v: %v: worse than one factor for all", s, f)
		}
	}
}

// Fit says how well loads and [ProcessorSharing] explain measured factors.
type Fit struct {
	Loads []Load // of the tasks, in alphabetical order
	Pairs int    // ordered pairs that have a factor
	// R2 is the coefficient of determination of ln xi; NaN if all factors are
	// equal. RMSE is the root of the mean square of ln(model/measured), about the
	// relative error; Worst is the largest |model/measured − 1|.
	R2, RMSE, Worst float64
	// Beyond counts the pairs measured above 2, which the model never reaches.
	Beyond int
}

// FitLoads finds the loads for which ProcessorSharing comes nearest to the
// factors of a setting: least squares of logarithms, one task after the other,
// by golden section, until no load moves by a ten-thousandth.
//
// Errors: the setting has no factors.
func FitLoads(t *Table, s Setting) (*Fit, error) {
	tasks := t.Tasks(s)
	f := &Fit{}
	var pairs []pair
	index := map[string]int{}
	for i, name := range tasks {
		index[name] = i
		f.Loads = append(f.Loads, Load{Task: name, Busy: 0.5})
	}
	of := make([][]int, len(tasks)) // the pairs that a task is in
	for _, a := range tasks {
		for _, b := range tasks {
			xi, ok := t.Xi(s, a, b)
			if !ok {
				continue
			}
			i, k := index[a], index[b]
			of[i] = append(of[i], len(pairs))
			if k != i {
				of[k] = append(of[k], len(pairs))
			}
			pairs = append(pairs, pair{i, k, math.Log(xi)})
			if xi > 2 {
				f.Beyond++
			}
		}
	}
	if len(pairs) == 0 {
		return nil, fmt.Errorf("interference: nothing was measured of %v", s)
	}
	f.Pairs = len(pairs)
	f.descend(pairs, of)
	f.evaluate(pairs)
	return f, nil
}

// pair is a measured factor of task a beside task b.
type pair struct {
	a, b int
	log  float64 // of the factor
}

func (f *Fit) residual(p pair) float64 {
	xi, _ := ProcessorSharing(f.Loads[p.a].Busy, f.Loads[p.b].Busy)
	return math.Log(xi) - p.log
}

func (f *Fit) descend(pairs []pair, of [][]int) {
	const rounds, still = 200, 1e-4
	for range rounds {
		moved := 0.0
		for i := range f.Loads {
			load := &f.Loads[i].Busy
			before := *load
			*load = golden(func(v float64) float64 {
				*load = v
				sum := 0.0
				for _, k := range of[i] {
					r := f.residual(pairs[k])
					sum += r * r
				}
				return sum
			})
			moved = max(moved, math.Abs(*load-before))
		}
		if moved < still {
			return
		}
	}
}

// golden returns where on [0, 1] a function with one minimum is least.
func golden(f func(float64) float64) float64 {
	const ratio = 0.6180339887498949
	low, high := 0.0, 1.0
	a, b := high-ratio*(high-low), low+ratio*(high-low)
	fa, fb := f(a), f(b)
	for high-low > 1e-6 {
		if fa <= fb {
			high, b, fb = b, a, fa
			a = high - ratio*(high-low)
			fa = f(a)
		} else {
			low, a, fa = a, b, fb
			b = low + ratio*(high-low)
			fb = f(b)
		}
	}
	return (low + high) / 2
}

func (f *Fit) evaluate(pairs []pair) {
	n, mean := float64(len(pairs)), 0.0
	for _, p := range pairs {
		mean += p.log / n
	}
	rest, all := 0.0, 0.0
	for _, p := range pairs {
		r := f.residual(p)
		rest += r * r
		all += (p.log - mean) * (p.log - mean)
		f.Worst = max(f.Worst, math.Abs(math.Exp(r)-1))
	}
	f.R2, f.RMSE = 1-rest/all, math.Sqrt(rest/n)
}

// String says it in one line.
func (f *Fit) String() string {
	return fmt.Sprintf("%d tasks, %d pairs, R² of logarithms %.3f, RMSE of logarithms %.3f, worst %.0f %%, %d above 2", len(f.Loads), f.Pairs, f.R2, f.RMSE, 100*f.Worst, f.Beyond)
}
