package certify_test

import (
	"context"
	"errors"
	"testing"

	"yardstick/bounds/certify"
	"yardstick/formulate/interval"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// TestIntervals: the dual values of the programs over intervals.
func TestIntervals(t *testing.T) {
	fell := 0
	for seed := range uint64(24) {
		r := schedtest.Rand(seed)
		s := shape(r, seed)
		s.Slices, s.Graph, s.Jobs = 0, false, min(s.Jobs, 4)
		in := schedtest.Gang(r, s)
		for _, obj := range minimised[:4] {
			for _, x := range []interval.Relaxation{interval.PTI, interval.NPTI, interval.CONF} {
				b, err := x.Bound(context.Background(), in, obj, lpsolve.LP{}, milp.Limits{}, interval.Options{Slot: sched.Second / 4 * sched.Time(1+seed%3)})
				if errors.Is(err, sched.ErrNotApplicable) {
					continue
				}
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if b.Proof.Kind == "lb0" {
					fell++
				}
				p, err := certify.Check(in, document(t, in, &b.Bound))
				if err != nil {
					t.Fatalf("seed %d: %v %v: %v", seed, x, obj, err)
				}
				if p.Proven.Cmp(b.Value) != 0 && obj.Integral(in) && x != interval.CONF {
					t.Errorf("seed %d: %v of %v is %v, proven %v", seed, x, obj, b.Value.RatString(), p.Proven.RatString())
				}
			}
		}
	}
	t.Logf("%d fell back to lb0", fell)
}
