package theorems_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/bounds/theorems"
	"yardstick/sched"
)

// Bounds by job in 128 bits are those in rationals, wherever they can be made, however long
// times are; where they cannot, the former say so.
func TestNarrow(t *testing.T) {
	const seed = 24
	rng := rand.New(rand.NewPCG(seed, 0))
	narrow, wide := 0, 0
	for draw := range 1000 {
		reach := int64(1) << rng.IntN(62)
		if draw%2 == 0 {
			reach = int64(1) << rng.IntN(45)
		}
		c := &theorems.Case{GPUs: 1 + rng.IntN(40), Tau: big.NewRat(rng.Int64N(5), 1+rng.Int64N(3))}
		if rng.IntN(4) == 0 {
			c.GPUs = 1 << rng.IntN(34)
		}
		for range 1 + rng.IntN(30) {
			j := theorems.Job{Release: sched.Time(rng.Int64N(reach)), Gang: 1 + rng.IntN(c.GPUs), Iters: 1 + rng.Int64N(1000), Predicted: rng.Int64N(1000),
				AlphaMin: big.NewRat(1, 7), AlphaTilde: big.NewRat(1+rng.Int64N(reach), 1+rng.Int64N(5))}
			j.AlphaMax = big.NewRat(1+rng.Int64N(reach), j.Iters)
			if rng.IntN(100) == 0 {
				j.AlphaMax = big.NewRat(1+rng.Int64N(reach), j.Iters+1)
			}
			j.Start = j.Release + sched.Time(rng.Int64N(reach))
			j.Completion = j.Start + sched.Time(rng.Int64N(reach)>>rng.IntN(8))
			if rng.IntN(200) == 0 {
				j.Release = -j.Release
			}
			c.Jobs = append(c.Jobs, j)
			if rng.IntN(3) == 0 { // equal slacks
				c.Jobs = append(c.Jobs, j)
			}
		}
		s, err := c.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		for _, realised := range []bool{false, true} {
			fast, slow, fastSum, slowSum, ok, all := theorems.TightestOf(s, realised)
			if !ok {
				wide++
				if all && reach < 1<<40 && c.GPUs < 1<<31 && realised && allFrom0(c) {
					t.Fatalf("seed %d, draw %d: times up to %d do not fit", seed, draw, reach)
				}
				continue
			}
			narrow++
			if !all || fast.Job != slow.Job || fast.Completion != slow.Completion || fast.Bound.Cmp(slow.Bound) != 0 || fastSum.Cmp(slowSum) != 0 {
				t.Fatalf("seed %d, draw %d, realised %v: job %d at %v, sum %v; in rationals job %d at %v, sum %v, of all: %v",
					seed, draw, realised, fast.Job, fast.Bound, fastSum, slow.Job, slow.Bound, slowSum, all)
			}
		}
	}
	if narrow < 300 || wide < 50 {
		t.Errorf("%d in 128 bits, %d not: the test did little", narrow, wide)
	}
}

func allFrom0(c *theorems.Case) bool {
	for i := range c.Jobs {
		if c.Jobs[i].Release < 0 {
			return false
		}
	}
	return true
}
