package datasets

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func TestLoadRangeText(t *testing.T) {
	for text, want := range map[string]LoadRange{"0.7..1.0": {0.7, 1}, "0..2": {0, 2}, ".5..0.5": {0.5, 0.5}, "1..1.5": {1, 1.5}, "0.00001..1": {1e-5, 1}} {
		var s Slice
		if err := yaml.UnmarshalWithOptions([]byte("{jobs: 8, load: "+text+"}"), &s, yaml.Strict()); err != nil || s != (Slice{Jobs: 8, Load: want}) {
			t.Errorf("%s: %+v, %v", text, s, err)
		}
		var again LoadRange
		if err := again.UnmarshalText([]byte(want.String())); err != nil || again != want {
			t.Errorf("%s prints as %v", text, want)
		}
	}
	for _, text := range []string{"", "0.9", "..", "0.7..", "..1", "1..0.5", "-1..1", "0..0", "0..inf", "nan..1", "0..nan", "0x1..2", "1e-3..1", "+1..2", " 1..2", "0.1..0.2..0.3", "a..b"} {
		var r LoadRange
		if err := r.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was taken as %v", text, r)
		}
	}
	for want, s := range map[string]Slice{`{"Jobs":8,"At":"start","Repeat":1}`: {Jobs: 8, Repeat: 1, GPUs: 4},
		`{"Jobs":8,"At":"start","Repeat":1,"Load":"0.5..1"}`: {Jobs: 8, Repeat: 1, Load: LoadRange{0.5, 1}}} {
		if data, err := json.Marshal(s); err != nil || string(data) != want {
			t.Errorf("%s, want %s (%v)", data, want, err)
		}
	}
}

// exactOffered is the definition of the offered load in rational arithmetic; nil for
// bursts.
func exactOffered(jobs []Job, gpus int) *big.Rat {
	n := int64(len(jobs))
	work, run := new(big.Rat), new(big.Rat)
	for _, j := range jobs {
		run.Add(run, big.NewRat(int64(j.Run), 1e9))
		work.Add(work, big.NewRat(int64(j.Gang)*int64(j.Run), 1e9))
	}
	span := big.NewRat(int64(jobs[n-1].Submit-jobs[0].Submit), 1e6)
	if n < 2 || span.Sign() == 0 || span.Cmp(run.Quo(run, big.NewRat(n, 1))) < 0 {
		return nil
	}
	work.Mul(work, big.NewRat(n-1, n*int64(gpus)))
	return work.Quo(work, span)
}

// loadTrace draws jobs of a length for windows of some to be bursts; all times are
// multiplied by c.
func loadTrace(t *testing.T, seed uint64, n int, c float64) *Trace {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 3))
	var rows []Row
	for i := range n {
		rows = append(rows, jobRow(fmt.Sprint(i), c*float64(rng.IntN(12*n)), float64(1+rng.IntN(8)), c*float64(1+rng.IntN(60))))
	}
	trace, err := NewTrace(All(rows), Selection{})
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// drawRange draws a range of loads in which some windows of random traces are.
func drawRange(rng *rand.Rand) LoadRange {
	low := rng.Float64() * 0.8
	return LoadRange{low, low + rng.Float64()}
}

// TestWindowsOfLoad compares each rule with its definition, followed by hand over
// all windows: which have the load, and which of these are chosen. One repetition
// more than there are is an error that says which loads there are.
func TestWindowsOfLoad(t *testing.T) {
	chosen, refused, bursts := 0, 0, 0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 4))
		n := 2 + rng.IntN(40)
		jobs, gpus, wanted := 1+rng.IntN(min(n, 9)), 1+rng.IntN(12), drawRange(rng)
		trace := loadTrace(t, seed, n, 1)
		var matching []int
		for f := range n - jobs + 1 {
			load := exactOffered(trace.jobs[f:f+jobs], gpus)
			if load == nil {
				bursts++
				continue
			}
			if v, _ := load.Float64(); v >= wanted.Low && v <= wanted.High {
				matching = append(matching, f)
			}
		}
		disjoint := func(order []int) (list []int) {
			taken := make([]bool, n)
			for _, f := range order {
				if !slices.Contains(taken[f:f+jobs], true) {
					list = append(list, f)
					for i := f; i < f+jobs; i++ {
						taken[i] = true
					}
				}
			}
			return list
		}
		from := rng.IntN(n)
		busiest := slices.Clone(matching)
		slices.SortStableFunc(busiest, func(a, b int) int {
			return exactLoad(trace.jobs[b : b+jobs]).Cmp(exactLoad(trace.jobs[a : a+jobs]))
		})
		for at, want := range map[At][]int{
			{}:               disjoint(matching),
			{AtIndex, from}:  disjoint(slices.DeleteFunc(slices.Clone(matching), func(f int) bool { return f < from })),
			{AtBusiest, 0}:   disjoint(busiest),
			{Rule: AtRandom}: matching,
		} {
			s := Slice{Jobs: jobs, At: at, Load: wanted, GPUs: gpus, Repeat: len(want) + 1}
			windows, err := trace.Windows(s, seed, "x")
			if at.Rule != AtRandom || len(want) == 0 {
				if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "slice.load") {
					t.Errorf("seed %d, %v: %d windows, and %v, for %v with the load", seed, at, len(windows), err, want)
				}
				refused++
			}
			if len(want) == 0 {
				continue
			}
			s.Repeat = len(want)
			if windows, err = trace.Windows(s, seed, "x"); err != nil {
				t.Fatalf("seed %d, %v: %v", seed, at, err)
			}
			got := firsts(windows)
			if at.Rule == AtRandom {
				for _, f := range got {
					if !slices.Contains(matching, f) {
						t.Errorf("seed %d: a random window at %d, out of %v", seed, f, matching)
					}
				}
			} else if !slices.Equal(got, want) {
				t.Errorf("seed %d, %v: windows of %d of %d jobs at %v, want %v", seed, at, jobs, n, got, want)
			}
			chosen += len(got)
		}
	}
	if chosen < 1000 || refused < 500 || bursts < 300 {
		t.Errorf("%d windows, %d errors, %d bursts: the draws test too little", chosen, refused, bursts)
	}
}

// TestWindowsOfLoadScale: all times multiplied by a number choose the same windows,
// and so do twice the GPUs at half the load.
func TestWindowsOfLoadScale(t *testing.T) {
	compared := 0
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 5))
		s := Slice{Jobs: 2 + rng.IntN(7), At: At{Rule: []Rule{AtStart, AtBusiest, AtRandom}[seed%3]}, Load: drawRange(rng), GPUs: 1 + rng.IntN(12), Repeat: 1 + rng.IntN(3)}
		want, err := loadTrace(t, seed, 50, 1).Windows(s, seed, "x")
		if err != nil {
			continue
		}
		compared++
		for _, c := range []float64{0.001, 60, 3600} {
			got, err := loadTrace(t, seed, 50, c).Windows(s, seed, "x")
			// The floor of a second in AtBusiest's load does not scale.
			if floor := c < 1 && s.At.Rule == AtBusiest; !floor && (err != nil || !slices.Equal(firsts(got), firsts(want))) {
				t.Errorf("seed %d, times %v: %v, want %v (%v)", seed, c, firsts(got), firsts(want), err)
			}
		}
		s.GPUs, s.Load = 2*s.GPUs, LoadRange{s.Load.Low / 2, s.Load.High / 2}
		if got, err := loadTrace(t, seed, 50, 1).Windows(s, seed, "x"); err != nil || !slices.Equal(firsts(got), firsts(want)) {
			t.Errorf("seed %d, twice the GPUs at half the load: %v, want %v (%v)", seed, firsts(got), firsts(want), err)
		}
	}
	if compared < 40 {
		t.Errorf("%d traces have such windows", compared)
	}
}

// TestWindowsOfLoadRepeat: a random window of some load is drawn uniformly, by the
// repetition's seed alone.
func TestWindowsOfLoadRepeat(t *testing.T) {
	trace := loadTrace(t, 1, 60, 1)
	s := Slice{Jobs: 5, At: At{Rule: AtRandom}, Load: LoadRange{0.3, 0.7}, GPUs: 12, Repeat: 2000}
	matching, _ := trace.candidates(&s, 5)
	all, err := trace.Windows(s, 7, "x")
	if err != nil || len(matching) < 10 || len(matching) > 50 {
		t.Fatalf("%d candidates, %v", len(matching), err)
	}
	s.Repeat = 5
	few, _ := trace.Windows(s, 7, "x")
	if !slices.Equal(firsts(all)[:5], firsts(few)) {
		t.Error("a repetition depends on how many there are")
	}
	hits := map[int]float64{}
	for _, f := range firsts(all) {
		hits[f]++
	}
	mean := 2000 / float64(len(matching))
	for _, f := range matching {
		if math.Abs(hits[f]-mean) > 5*math.Sqrt(mean) {
			t.Errorf("window %d is drawn %v times, %v on average", f, hits[f], mean)
		}
	}
}

func TestWindowsOfLoadErrors(t *testing.T) {
	trace := loadTrace(t, 1, 30, 1)
	for want, s := range map[string]Slice{
		"a sample is none":     {Jobs: 5, At: At{Rule: AtSample}, Load: LoadRange{0, 1}, GPUs: 4},
		"and has 0":            {Jobs: 5, Load: LoadRange{0, 1}},
		"have loads from 0.":   {Jobs: 5, Load: LoadRange{50, 60}, GPUs: 4},
		"all its 30 windows":   {Jobs: 1, Load: LoadRange{0, 100}, GPUs: 4},
		"1..2 on 4 GPUs were ": {Jobs: 5, Load: LoadRange{1, 2}, GPUs: 4, Repeat: 20},
	} {
		_, err := trace.Windows(s, 1, "x")
		if err == nil || !strings.HasPrefix(err.Error(), "datasets: ") || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want one line about %q", err, want)
		}
	}
}
