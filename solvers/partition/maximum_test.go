package partition

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/sched"
)

// TestAlphaMaxAgainstEnumeration compares AlphaMax with the slowest of all
// placements, and AlphaSpread with both: it is never below, and equal wherever
// the critical replica finds a largest server of its own.
func TestAlphaMaxAgainstEnumeration(t *testing.T) {
	apart := 0
	for seed := range uint64(2500) {
		rng := rand.New(rand.NewPCG(seed, 31))
		in := randomInstance(rng, 1+rng.IntN(4), 7, seed%2 == 0)
		if seed%3 == 0 {
			extend(rng, in, 9)
		}
		if err := in.Validate(); err != nil {
			t.Fatal(err)
		}
		want := new(big.Rat)
		eachPlacement(in, func(p *sched.Placement) {
			v, err := in.IterTime(0, p)
			if err != nil {
				t.Fatal(err)
			}
			if v.Cmp(want) > 0 {
				want = v
			}
		})
		got, err := AlphaMax(in, 0)
		if err != nil || got.Cmp(want) != 0 {
			t.Fatalf("seed %d: alpha_max %v, error %v; enumeration finds %v\n%+v", seed, got, err, want, in)
		}
		spread, err := AlphaSpread(in, 0)
		if err != nil || spread.Cmp(want) < 0 {
			t.Fatalf("seed %d: full spread %v, error %v, below the maximum %v\n%+v", seed, spread, err, want, in)
		}
		room := in.Cluster.GPUs() - sizeClasses(&in.Cluster)[0].gpus
		if spread.Cmp(want) > 0 {
			apart++
			if !in.Jobs[0].Sliced() && in.Jobs[0].Gang() <= room+1 {
				t.Fatalf("seed %d: the spread fits, yet %v is above the maximum %v\n%+v", seed, spread, want, in)
			}
		}
	}
	if apart < 100 {
		t.Errorf("the two differ in %d instances only", apart)
	}
}

// TestAlphaMaxByHand: two replicas with 100 MB to synchronise at 1.25 GB/s. On
// two servers of two they may be apart, at 2·1/2·100 MB·2/1.25 GB/s = 0.16 s more
// than the 0.1 s of computation; on one server only together, at 300 GB/s.
func TestAlphaMaxByHand(t *testing.T) {
	stage := sched.Stage{Replicas: 2, Compute: 100 * ms, Params: 100 * mb}
	for _, test := range []struct {
		servers     int
		max, spread *big.Rat
	}{
		{2, big.NewRat(26, 100), big.NewRat(26, 100)},
		{1, big.NewRat(301, 3000), big.NewRat(26, 100)},
	} {
		in := tenGbit(test.servers, 2, 1, stage)
		if got, err := AlphaMax(in, 0); err != nil || got.Cmp(test.max) != 0 {
			t.Errorf("%d servers: alpha_max is %v, %v, want %v", test.servers, got, err, test.max)
		}
		if got, err := AlphaSpread(in, 0); err != nil || got.Cmp(test.spread) != 0 {
			t.Errorf("%d servers: full spread is %v, %v, want %v", test.servers, got, err, test.spread)
		}
	}
	in := tenGbit(1, 2, 1)
	if _, err := AlphaMax(in, 0); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("a job without stages gives %v", err)
	}
	if _, err := AlphaSpread(in, 0); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("a job without stages gives %v", err)
	}
}
