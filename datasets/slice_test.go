package datasets

import (
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"yardstick/sched"
)

// randomTrace draws n jobs, many with equal times.
func randomTrace(t *testing.T, seed uint64, n int) *Trace {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	var rows []Row
	for i := range n {
		rows = append(rows, jobRow(fmt.Sprint(i), float64(rng.IntN(3*n)), float64(1+rng.IntN(8)), float64(1+rng.IntN(50))))
	}
	trace, err := NewTrace(All(rows), Selection{})
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

func TestLoadDropsAndCounts(t *testing.T) {
	noSubmit, noRun, noGPUs := jobRow("a", 0, 1, 1), jobRow("b", 0, 1, 1), jobRow("c", 0, 1, 1)
	noSubmit.SubmitS, noRun.DurationS, noGPUs.GPUs = Opt[float64]{}, Opt[float64]{}, Opt[float64]{}
	other := jobRow("d", 0, 1, 1)
	other.VC = Some("x")
	where, err := ParseFilter(map[string]any{"job_id": "!=z"})
	if err != nil {
		t.Fatal(err)
	}
	rows := []Row{noSubmit, noRun, noGPUs, other, jobRow("e", 1, 0, 1), jobRow("f", 1, 1, 0), jobRow("g", 1, 8.5, 1), jobRow("h", 1, 9, 1),
		jobRow("i", 1, 8, 1), jobRow("j", 1, 0.25, 1), jobRow("k", 1, 1, 1e-10), jobRow("z", 1, 1, 1)}
	trace, err := NewTrace(All(rows), Selection{Where: where, MaxGPUs: 8})
	if err != nil {
		t.Fatal(err)
	}
	want := "12 rows read, 11 match the filter, 3 kept; 1 dropped: submission time is NULL; 1 dropped: duration is NULL; " +
		"1 dropped: GPU demand is NULL; 1 dropped: asks for no GPU; 2 dropped: duration is 0; 2 dropped: asks for more GPUs than allowed"
	if got := trace.Summary().String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	s := trace.Summary()
	dropped := 0
	for _, d := range s.Dropped {
		dropped += d.Rows
	}
	if s.Kept+dropped != s.Matched || s.Kept != trace.Len() {
		t.Errorf("%+v does not add up", s)
	}
	var gangs []int
	for _, j := range trace.jobs {
		gangs = append(gangs, j.Gang)
	}
	if !slices.Equal(gangs, []int{1, 8, 1}) { // d, i, j
		t.Errorf("gangs %v", gangs)
	}
}

func TestLoadSortsStably(t *testing.T) {
	first, second := jobRow("b", 5, 1, 1), jobRow("b", 5, 2, 1)
	rows := []Row{jobRow("z", 7, 1, 1), first, jobRow("c", 5, 1, 1), second, jobRow("y", 0, 1, 1), jobRow("a", 5, 1, 1)}
	trace, err := NewTrace(All(rows), Selection{})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, j := range trace.jobs {
		got += fmt.Sprintf("%s%d ", j.ID, j.Gang)
	}
	if got != "y1 b1 c1 b2 a1 z1 " { // as they came, whatever they are called
		t.Errorf("order %s", got)
	}
}

func TestLoadErrors(t *testing.T) {
	other := jobRow("b", 0, 1, 1)
	other.Trace = "u"
	for name, c := range map[string]struct {
		row  Row
		want string
	}{
		"two traces":    {other, `traces "t" and "u"`},
		"long run":      {jobRow("b", 0, 1, 1e10), `job "b": submit_s 0, queue_s 0, duration_s 1e+10`},
		"late":          {jobRow("b", 1e10, 1, 1), `job "b": submit_s 1e+10`},
		"absurd demand": {jobRow("b", 0, 1e20, 1), `job "b": gpus is 1e+20`},
	} {
		_, err := NewTrace(All([]Row{jobRow("a", 0, 1, 1), c.row}), Selection{})
		if err == nil || !strings.HasPrefix(err.Error(), "datasets: j") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// An error of a file names it once.
	path := filepath.Join(t.TempDir(), "t.parquet")
	if err := WriteFile(path, All([]Row{jobRow("a", 0, 1, 1), other})); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Load(Selection{}); err == nil || !strings.HasPrefix(err.Error(), "datasets: "+path+": jobs of the traces") {
		t.Errorf("%v", err)
	}
}

func TestAtText(t *testing.T) {
	for text, want := range map[string]At{"start": {}, "busiest": {Rule: AtBusiest}, "random": {Rule: AtRandom}, "sample": {Rule: AtSample}, "0": {Rule: AtIndex}, "120": {Rule: AtIndex, Index: 120}} {
		var s Slice
		if err := yaml.UnmarshalWithOptions([]byte("{jobs: 8, at: "+text+", repeat: 2}"), &s, yaml.Strict()); err != nil || s != (Slice{Jobs: 8, At: want, Repeat: 2}) {
			t.Errorf("%s: %+v, %v", text, s, err)
		}
		if want.String() != text {
			t.Errorf("%s prints as %s", text, want)
		}
	}
	for _, text := range []string{"", "-1", "busy", "1.5"} {
		var a At
		if err := a.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was taken as %v", text, a)
		}
	}
}

func firsts(windows []Window) []int {
	var list []int
	for _, w := range windows {
		list = append(list, w.First)
	}
	return list
}

func TestConsecutiveWindows(t *testing.T) {
	trace := randomTrace(t, 1, 20)
	for _, c := range []struct {
		slice Slice
		want  []int
	}{
		{Slice{}, []int{0}},
		{Slice{Jobs: 5}, []int{0}},
		{Slice{Jobs: 5, Repeat: 4}, []int{0, 5, 10, 15}},
		{Slice{Jobs: 7, Repeat: 2, At: At{Rule: AtIndex, Index: 6}}, []int{6, 13}},
		{Slice{Jobs: 20, At: At{Rule: AtBusiest}}, []int{0}},
		{Slice{Jobs: 20, At: At{Rule: AtRandom}, Repeat: 3}, []int{0, 0, 0}},
	} {
		w, err := trace.Windows(c.slice, 1, "x")
		if err != nil || !slices.Equal(firsts(w), c.want) {
			t.Errorf("%+v: %v, %v", c.slice, firsts(w), err)
		}
	}
	for _, s := range []Slice{{Jobs: 21}, {Jobs: 5, Repeat: 5}, {Jobs: 7, Repeat: 2, At: At{Rule: AtIndex, Index: 7}}, {Jobs: 1, At: At{Rule: AtIndex, Index: 20}},
		{Jobs: 11, Repeat: 2, At: At{Rule: AtBusiest}}, {Jobs: -1}, {Repeat: -1}, {Jobs: 1, At: At{Rule: AtIndex, Index: 1 << 62}}} {
		if w, err := trace.Windows(s, 1, "x"); err == nil {
			t.Errorf("%+v: windows at %v", s, firsts(w))
		}
	}
	empty, err := NewTrace(All(nil), Selection{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := empty.Windows(Slice{}, 1, "x"); err == nil {
		t.Error("an empty trace has a window")
	}
}

// exactLoad is the definition, in rational arithmetic.
func exactLoad(jobs []Job) *big.Rat {
	work := new(big.Rat)
	for _, j := range jobs {
		work.Add(work, new(big.Rat).SetFrac64(int64(j.Gang)*int64(j.Run), 1e9))
	}
	span := max(jobs[len(jobs)-1].Submit-jobs[0].Submit, sched.Second)
	return work.Quo(work, big.NewRat(int64(span), 1e6))
}

// The busiest windows are those of the definition, followed by hand.
func TestBusiestWindowsAreThoseDefined(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 9))
		n := 1 + rng.IntN(40)
		jobs := 1 + rng.IntN(n)
		trace := randomTrace(t, seed, n)
		var want []int
		taken := make([]bool, n)
		for {
			best, most := -1, new(big.Rat)
			for f := 0; f+jobs <= n; f++ {
				if load := exactLoad(trace.jobs[f : f+jobs]); !slices.Contains(taken[f:f+jobs], true) && (best < 0 || load.Cmp(most) > 0) {
					best, most = f, load
				}
			}
			if best < 0 {
				break
			}
			want = append(want, best)
			for i := best; i < best+jobs; i++ {
				taken[i] = true
			}
		}
		w, err := trace.Windows(Slice{Jobs: jobs, At: At{Rule: AtBusiest}, Repeat: len(want)}, seed, "x")
		if err != nil || !slices.Equal(firsts(w), want) {
			t.Fatalf("seed %d: %d windows of %d of %d jobs: %v, want %v (%v)", seed, len(want), jobs, n, firsts(w), want, err)
		}
		for k := range w {
			exact, _ := exactLoad(trace.jobs[want[k] : want[k]+jobs]).Float64()
			if diff := w[k].Load - exact; diff > 1e-9*exact || diff < -1e-9*exact {
				t.Errorf("seed %d: load %v, want %v", seed, w[k].Load, exact)
			}
		}
		if _, err := trace.Windows(Slice{Jobs: jobs, At: At{Rule: AtBusiest}, Repeat: len(want) + 1}, seed, "x"); err == nil {
			t.Errorf("seed %d: one window more than there are", seed)
		}
	}
}

// shuffled puts rows in another order but for those submitted at the same time,
// whose order says who was first.
func shuffled(rng *rand.Rand, rows []Row) []Row {
	together := map[float64][]Row{}
	for _, r := range rows {
		together[r.SubmitS.V] = append(together[r.SubmitS.V], r)
	}
	times := slices.Sorted(maps.Keys(together))
	rng.Shuffle(len(times), func(i, j int) { times[i], times[j] = times[j], times[i] })
	var out []Row
	for _, at := range times {
		out = append(out, together[at]...)
	}
	return out
}

// Shifting all submissions moves no window; shuffling the rows moves none.
func TestWindowsDoNotDependOnClockOrOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	var rows []Row
	for i := range 300 {
		rows = append(rows, jobRow(fmt.Sprintf("%03d", i), float64(rng.IntN(500)), float64(1+rng.IntN(8)), float64(1+rng.IntN(50))))
	}
	s := Slice{Jobs: 10, At: At{Rule: AtBusiest}, Repeat: 10}
	reference, err := NewTrace(All(rows), Selection{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := reference.Windows(s, 1, "x")
	if err != nil {
		t.Fatal(err)
	}
	rows = shuffled(rng, rows)
	for i := range rows {
		rows[i].SubmitS.V += 12345
	}
	moved, err := NewTrace(All(rows), Selection{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := moved.Windows(s, 1, "x")
	if err != nil || !slices.Equal(firsts(got), firsts(want)) {
		t.Errorf("%v, want %v (%v)", firsts(got), firsts(want), err)
	}
}

func TestRandomWindows(t *testing.T) {
	trace := randomTrace(t, 3, 100)
	s := Slice{Jobs: 10, At: At{Rule: AtRandom}, Repeat: 2000}
	a, err := trace.Windows(s, 7, "x")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := trace.Windows(Slice{Jobs: 10, At: s.At, Repeat: 5}, 7, "x")
	if !slices.Equal(firsts(a)[:5], firsts(b)) {
		t.Error("a repetition depends on how many there are")
	}
	other, _ := trace.Windows(s, 7, "y")
	again, _ := trace.Windows(s, 8, "x")
	if slices.Equal(firsts(a), firsts(other)) || slices.Equal(firsts(a), firsts(again)) {
		t.Error("windows do not depend on the name or the master seed")
	}
	hits := make([]int, 91)
	for _, w := range a {
		hits[w.First]++
	}
	if slices.Min(hits) == 0 || slices.Max(hits) > 60 { // 22 on average
		t.Errorf("first jobs are not uniform over 91 places: %v", hits)
	}
}

func TestSeed(t *testing.T) {
	seen := map[uint64]bool{}
	for master := range uint64(10) {
		for _, name := range []string{"", "a", "b", "ab"} {
			for k := range 10 {
				s := Seed(master, name, k)
				if s >= 1<<53 || seen[s] {
					t.Errorf("Seed(%d, %q, %d) = %d is too large or there twice", master, name, k, s)
				}
				seen[s] = true
			}
		}
	}
	// Results of earlier versions stay reproducible.
	if s := Seed(1, "philly-busy", 0); s != 7736532918175955 {
		t.Errorf("Seed(1, philly-busy, 0) = %d", s)
	}
}
