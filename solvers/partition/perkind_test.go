package partition

import (
	"math/big"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// TestPerKind: alpha_max by kind is that of the job, asked as often as there are kinds.
func TestPerKind(t *testing.T) {
	asked, all := 0, 0
	for seed := range uint64(60) {
		in := schedtest.Gang(schedtest.Rand(seed), schedtest.Shape{Jobs: 6, Servers: 3, GPUs: 4, Stages: 3, Traffic: true, Slices: 2, Graph: seed%2 == 0})
		in.Jobs = append(in.Jobs, in.Jobs...)
		for _, f := range []func(*sched.Instance, sched.JobID) (*big.Rat, error){AlphaSpread, AlphaMax} {
			per := PerKind(in, func(in *sched.Instance, id sched.JobID) (*big.Rat, error) {
				asked++
				return f(in, id)
			})
			for id := range in.Jobs {
				all++
				want, err1 := f(in, sched.JobID(id))
				got, err2 := per(sched.JobID(id))
				if (err1 == nil) != (err2 == nil) || err1 == nil && got.Cmp(want) != 0 {
					t.Fatalf("seed %d, job %d: %v (%v), not %v (%v)", seed, id, got, err2, want, err1)
				}
			}
		}
	}
	if asked > all/2 {
		t.Errorf("%d questions for %d jobs", asked, all)
	}
}
