package elastic_test

import (
	"math/rand/v2"
	"testing"

	"yardstick/heuristics/elastic"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// TestProfile packs jobs where they fit first, and compares with trying every
// slot against all segments.
func TestProfile(t *testing.T) {
	later := 0
	schedtest.EachSeed(t, 80, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Elastic(r, shape(r, 8))
		from := r.Int64N(3)
		p := elastic.NewProfile(in, from)
		s := &sched.Schedule{Class: es}
		for i := range in.Jobs {
			id := sched.JobID(i)
			all := schedtest.ElasticChoices(in, id)
			c := all[r.IntN(len(all))]
			first := max(from, in.FirstSlot(id))
			at := p.Earliest(&c.Place, in.FirstSlot(id), c.Slots)
			want := first
			for !fitsBeside(in, s, &c, want) {
				want++
			}
			if at != want {
				t.Fatalf("job %d from slot %d, want %d", i, at, want)
			}
			if at > first {
				later++
			}
			p.Take(&c.Place, at, at+c.Slots)
			s.Segments = append(s.Segments, in.ElasticSegment(id, at, c.Slots, c.Place))
			if r.IntN(3) == 0 { // and back
				p.Give(&c.Place, at, at+c.Slots)
				if again := p.Earliest(&c.Place, in.FirstSlot(id), c.Slots); again != at {
					t.Fatalf("after giving back: %d, was %d", again, at)
				}
				p.Take(&c.Place, at, at+c.Slots)
			}
		}
		schedtest.Verify(t, in, s)
	})
	if later < 100 {
		t.Errorf("only %d jobs had to wait", later)
	}
}
