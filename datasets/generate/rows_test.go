package generate

import (
	"flag"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated part of docs/generator.md anew")

// checkDocument compares the named table of docs/generator.md, between its
// markers, with what the code says; with -update it writes it.
func checkDocument(t *testing.T, name, want string) {
	t.Helper()
	const path = "../../docs/generator.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), "<!-- begin "+name+":")
	marker, rest, ok2 := strings.Cut(rest, "-->\n")
	got, tail, ok3 := strings.Cut(rest, "<!-- end "+name+" -->")
	if !ok || !ok2 || !ok3 {
		t.Fatalf("%s has no markers around the %s", path, name)
	}
	if got == want {
		return
	}
	if !*update {
		t.Errorf("%s is not what the code says; YARDSTICK_TESTS=all go test ./datasets/generate -update\n%s", path, want)
		return
	}
	text = []byte(head + "<!-- begin " + name + ":" + marker + "-->\n" + want + "<!-- end " + name + " -->" + tail)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestNames(t *testing.T) {
	for i, name := range Names() {
		l, err := Parse(name)
		if err != nil || l != Like(i) || l.String() != name {
			t.Errorf("%s is %v, %v", name, l, err)
		}
	}
	if _, err := Parse("helios-earht"); err == nil || !strings.Contains(err.Error(), `the nearest is "helios-earth"`) {
		t.Errorf("a misspelt name: %v", err)
	}
	for _, rows := range []struct {
		l    Like
		jobs int
	}{{-1, 1}, {Like(len(Names())), 1}, {PAI, -1}} {
		n := 0
		for _, err := range (Spec{Like: rows.l, Jobs: rows.jobs, Seed: 1}.Rows()) {
			if n++; err == nil {
				t.Errorf("%v: no error", rows)
			}
		}
		if n != 1 {
			t.Errorf("%v: %d elements", rows, n)
		}
	}
}

// Rows keep the schema and come in order; every number of jobs works.
func TestRowsAreValid(t *testing.T) {
	for _, l := range allLike() {
		for _, jobs := range []int{0, 1, 2, 4, 5, 7, 20, 160, 3001} {
			rows := collect(t, Spec{Like: l, Jobs: jobs, Seed: 7}.Rows())
			if len(rows) != jobs {
				t.Fatalf("%s: %d rows, want %d", l, len(rows), jobs)
			}
			ids := map[string]bool{}
			for i := range rows {
				r := &rows[i]
				if err := r.Check(); err != nil {
					t.Fatalf("%s, %d jobs, row %d: %v", l, jobs, i, err)
				}
				if i > 0 && r.SubmitS.V < rows[i-1].SubmitS.V {
					t.Fatalf("%s: row %d is out of order", l, i)
				}
				if ids[r.JobID] || r.Trace != l.String() || r.DurationS.V < 1 || r.GPUs.V <= 0 || r.Iterations.V < 1 {
					t.Fatalf("%s: row %d is %+v", l, i, *r)
				}
				ids[r.JobID] = true
			}
		}
	}
}

// A group is one program of one user: same demand, virtual cluster and model,
// and iterations in proportion to the running time.
func TestGroupsAreOneProgram(t *testing.T) {
	for _, l := range []Like{PAI, HeliosEarth, Pollux} {
		first := map[string]int{}
		rows := collect(t, Spec{Like: l, Jobs: 20_000, Seed: 3}.Rows())
		for i := range rows {
			r := &rows[i]
			j, ok := first[r.Group.V]
			if !ok {
				first[r.Group.V] = i
				continue
			}
			f := &rows[j]
			if r.User != f.User || r.VC != f.VC || r.GPUs != f.GPUs || r.Model != f.Model {
				t.Fatalf("%s: %+v and %+v are of one group", l, *f, *r)
			}
			// Iterations are rounded to the nearest of the quotient.
			low, high := f.DurationS.V/(f.Iterations.V+0.5), f.DurationS.V/(f.Iterations.V-0.5)
			if lowest, highest := r.DurationS.V/(r.Iterations.V+0.5), r.DurationS.V/(r.Iterations.V-0.5); lowest > high || highest < low {
				t.Fatalf("%s: %v iterations in %v s and %v in %v s are of one group", l, f.Iterations.V, f.DurationS.V, r.Iterations.V, r.DurationS.V)
			}
		}
	}
}

func TestReproducible(t *testing.T) {
	for _, l := range allLike() {
		a := collect(t, Spec{Like: l, Jobs: 2000, Seed: 5}.Rows())
		if b := collect(t, Spec{Like: l, Jobs: 2000, Seed: 5}.Rows()); !slices.Equal(a, b) {
			t.Errorf("%s: the same seed gives different rows", l)
		}
		b, same := collect(t, Spec{Like: l, Jobs: 2000, Seed: 6}.Rows()), 0
		for i := range a {
			if a[i].SubmitS == b[i].SubmitS && a[i].DurationS == b[i].DurationS && a[i].GPUs == b[i].GPUs {
				same++
			}
		}
		if same > 20 {
			t.Errorf("%s: %d of 2000 rows are the same at another seed", l, same)
		}
	}
	// A row that this code made once.
	rows := collect(t, Spec{Like: PAI, Jobs: 1000, Seed: 42}.Rows())
	if r := rows[500]; r.SubmitS.V != goldenSubmit || r.DurationS.V != goldenDuration || r.User.V != goldenUser {
		t.Errorf("row 500 is submit %v, duration %v, user %q", r.SubmitS.V, r.DurationS.V, r.User.V)
	}
}

const (
	goldenSubmit   = 2669
	goldenDuration = 374
	goldenUser     = "u0000"
)

// The normal scores of the running times of two runs of a program correlate as
// the profile says: ρ by analysis of variance over the groups. Jobs of one GPU
// only, because the shift by demand adds to the correlation.
func TestCorrelationWithinGroups(t *testing.T) {
	for _, l := range []Like{PAI, HeliosUranus} {
		for seed := uint64(1); seed <= 2; seed++ {
			var durations, iterations []float64
			groups := map[string][]int{}
			for r, err := range (Spec{Like: l, Jobs: testJobs, Seed: seed}.Rows()) {
				if err != nil {
					t.Fatal(err)
				}
				if r.GPUs.V == 1 {
					groups[r.Group.V] = append(groups[r.Group.V], len(durations))
					durations = append(durations, r.DurationS.V)
					iterations = append(iterations, r.Iterations.V)
				}
			}
			got := intraclass(normalScores(durations), groups)
			t.Logf("%s, seed %d: %.3f", l, seed, got)
			if math.Abs(got-correlation) > 0.05 {
				t.Errorf("%s, seed %d: running times correlate by %.3f within groups, want %v", l, seed, got, correlation)
			}
			// The time per iteration, common to the group, is added.
			got = intraclass(normalScores(iterations), groups)
			if got < correlation || got > 0.75 {
				t.Errorf("%s, seed %d: iterations correlate by %.3f within groups", l, seed, got)
			}
		}
	}
}

// normalScores returns Φ⁻¹((rank+½)/n) of each value.
func normalScores(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case values[a] < values[b]:
			return -1
		case values[a] > values[b]:
			return 1
		}
		return 0
	})
	scores := make([]float64, len(values))
	for r, i := range order {
		scores[i] = math.Sqrt2 * math.Erfinv(2*(float64(r)+0.5)/float64(len(values))-1)
	}
	return scores
}

// intraclass estimates, for scores of variance 1, one minus the variance within
// groups.
func intraclass(scores []float64, groups map[string][]int) float64 {
	within, degrees := 0.0, 0.0
	for _, members := range groups {
		sum, squares, n := 0.0, 0.0, float64(len(members))
		for _, i := range members {
			sum += scores[i]
			squares += scores[i] * scores[i]
		}
		within += squares - sum*sum/n
		degrees += n - 1
	}
	return 1 - within/degrees
}

// Bursts: many submissions follow another within seconds, far more than at
// random.
func TestBursts(t *testing.T) {
	for _, l := range []Like{Philly, HeliosUranus} {
		s := newSample(t, l, 50_000, 1)
		short := 0
		for i, submit := range s.submit[1:] {
			if submit-s.submit[i] <= 5 {
				short++
			}
		}
		got, random := float64(short)/50_000, 1-math.Exp(-6/s.stats.InterArrivalS.V)
		t.Logf("%s: %.2f of the inter-arrival times are at most 5 s, %.2f at random", l, got, random)
		if got < 2*random {
			t.Errorf("%s: %.2f of the inter-arrival times are at most 5 s, %.2f at random", l, got, random)
		}
	}
}

// The day and the week show: nights and weekends are quieter.
func TestCycles(t *testing.T) {
	s := newSample(t, HeliosUranus, testJobs, 1)
	var hours [24]float64
	var days [7]float64
	for _, submit := range s.submit {
		hours[int(submit/3600)%24] += 24.0 / testJobs
		days[int(submit/86400)%7] += 7.0 / testJobs
	}
	if hours[4] > 0.6 || hours[15] < 1.3 || days[6] > 0.8 || days[2] < 1.0 {
		t.Errorf("relative rates by hour %.2f, by day %.2f", hours, days)
	}
}

func BenchmarkRows(b *testing.B) {
	for _, l := range []Like{PAI, HeliosEarth, Pollux} {
		b.Run(l.String(), func(b *testing.B) {
			for range b.N {
				n := 0
				for _, err := range (Spec{Like: l, Jobs: 1_000_000, Seed: 1}.Rows()) {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
			}
		})
	}
}
