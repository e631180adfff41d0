package instances

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/datasets/profile"
	"yardstick/sched"
	"yardstick/sched/heavyedge"
)

// TestIterations: in integers as in rationals, to the nearest whole number, half up.
func TestIterations(t *testing.T) {
	configs, err := profile.BuiltinConfigs("v100")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 9))
	cluster := sched.Uniform(16, 8, 1_250_000_000, 300_000_000_000)
	for range 300 {
		o := &GangOptions{Common: Common{Cluster: cluster}}
		o.Shrink.V = 1 + r.Int64N(100)
		a := &assigner{options: o, rates: map[*profile.Config]*rate{}}
		c := &configs[r.IntN(len(configs))]
		probe := &sched.Instance{Model: sched.ModelGang, Cluster: cluster, Jobs: []sched.Job{{Weight: 1, Iters: 1, Stages: c.Stages}}}
		if probe.Validate() != nil {
			continue // more GPUs than there are
		}
		alpha, err := heavyedge.AlphaTilde(probe, 0, heavyedge.Ring)
		if err != nil {
			t.Fatal(err)
		}
		half := new(big.Rat).Mul(alpha, big.NewRat(o.Shrink.V*1e9, 2)) // nanoseconds of half an iteration
		for _, run := range []sched.Duration{0, 1, sched.Duration(r.Int64N(1e15) >> r.IntN(50)), sched.Duration(new(big.Int).Quo(half.Num(), half.Denom()).Int64())} {
			want := new(big.Rat).Quo(big.NewRat(int64(run), 1e9), alpha)
			want.Quo(want, big.NewRat(o.Shrink.V, 1)).Add(want, big.NewRat(1, 2))
			floor := new(big.Int).Div(want.Num(), want.Denom()).Int64()
			if got, err := a.iterations(c, run); err != nil || got != max(1, floor) {
				t.Fatalf("%s, shrunk by %d: a run of %v is %d iterations, not %d: %v", c.Name, o.Shrink.V, run, got, floor, err)
			}
		}
	}
}
