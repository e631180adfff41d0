package exhaustive

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/exact"
)

// TestStart: whatever schedule the search begins with, it proves the same optimum, and
// without a node to spend it returns a schedule no dearer than that.
func TestStart(t *testing.T) {
	for seed := range uint64(tier.Draws(50, 600)) {
		rng := rand.New(rand.NewPCG(seed, 33))
		in := randomInstance(rng, 1+rng.IntN(4))
		start := schedtest.RandomSchedule(rng, in)
		for _, obj := range pick2(rng) {
			best, want := schedtest.BruteForce(in, obj)
			for _, from := range []*sched.Schedule{start, best} {
				r, err := Search{Start: from}.Solve(t.Context(), in, obj, exact.Limits{})
				if err != nil {
					t.Fatalf("seed %d: %v\n%+v", seed, err, from)
				}
				check(t, in, obj, r)
				if r.Cost.Cmp(want) != 0 {
					t.Errorf("seed %d, %v: %v, enumeration finds %v", seed, obj, r.Cost, want)
				}
				if r, err = (Search{Start: best}).Solve(t.Context(), in, obj, exact.Limits{Nodes: 1}); err != nil || r.Cost.Cmp(want) != 0 {
					t.Errorf("seed %d, %v: %v of %v from an optimum (%v)", seed, obj, r.Cost, want, err)
				}
			}
		}
	}
}

// TestBadStart: what is no schedule of the instance is refused.
func TestBadStart(t *testing.T) {
	in := schedtest.Plain(schedtest.Servers(2, 2), schedtest.Job(0, 2, sched.Second), schedtest.Job(sched.Second, 2, sched.Second))
	good, _ := schedtest.BruteForce(in, sched.TotalJCT)
	for name, change := range map[string]func(*sched.Schedule){
		"class":       func(s *sched.Schedule) { s.Class.Kind = sched.P },
		"no job":      func(s *sched.Schedule) { s.Segments[0].Job = 2 },
		"no server":   func(s *sched.Schedule) { s.Segments[0].Place.Shares[0].Server = 2 },
		"not what it": func(s *sched.Schedule) { s.Segments = s.Segments[:1] },
		"interrupted": func(s *sched.Schedule) {
			s.Segments = append(s.Segments, s.Segments[0])
			s.Segments[len(s.Segments)-1].Start += 5 * sched.Second
		},
		"which is not": func(s *sched.Schedule) { s.Segments[1].Start, s.Segments[1].End = 0, sched.Second },
		"too few GPUs": func(s *sched.Schedule) {
			s.Segments[0].Start, s.Segments[0].End = sched.Second, 2*sched.Second
			s.Segments[1].Place = s.Segments[0].Place
		},
	} {
		bad := &sched.Schedule{Class: good.Class, Segments: slices.Clone(good.Segments)}
		for i := range bad.Segments {
			bad.Segments[i].Place.Shares = slices.Clone(bad.Segments[i].Place.Shares)
		}
		change(bad)
		if _, err := (Search{Start: bad}).Solve(t.Context(), in, sched.TotalJCT, exact.Limits{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
