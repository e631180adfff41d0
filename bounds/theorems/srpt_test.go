package theorems_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/bounds/theorems"
	"yardstick/sched"
)

// srptNaively serves jobs by scanning all of them at every release and
// completion.
func srptNaively(release []sched.Time, size []*big.Rat, before func(a, b int) bool) []*big.Rat {
	left, done := make([]*big.Rat, len(size)), make([]*big.Rat, len(size))
	for i := range size {
		left[i] = new(big.Rat).Set(size[i])
	}
	for now := rat(-1000, 1); slices.Contains(done, nil); {
		job, next := -1, (*big.Rat)(nil)
		for i, d := range done {
			at := rat(int64(release[i]), 1)
			switch {
			case d != nil:
			case at.Cmp(now) > 0:
				if next == nil || at.Cmp(next) < 0 {
					next = at
				}
			case job < 0 || left[i].Cmp(left[job]) < 0 || left[i].Cmp(left[job]) == 0 && before(i, job):
				job = i
			}
		}
		if job < 0 {
			now = next
			continue
		}
		end := new(big.Rat).Add(now, left[job])
		if next != nil && next.Cmp(end) < 0 {
			left[job].Sub(end, next)
			now = next
			continue
		}
		now, done[job] = end, end
	}
	return done
}

func TestSRPT(t *testing.T) {
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 1 + rng.IntN(9)
		release, size := make([]sched.Time, n), make([]*big.Rat, n)
		for i := range size {
			release[i], size[i] = sched.Time(rng.IntN(12)), rat(rng.Int64N(20), 1+rng.Int64N(6))
		}
		before := func(a, b int) bool { return a < b }
		if seed%2 == 0 {
			before = func(a, b int) bool { return a > b }
		}
		got, want := theorems.SRPT(release, size, before), srptNaively(release, size, before)
		for i := range want {
			if got[i].Cmp(want[i]) != 0 {
				t.Fatalf("seed %d: job %d ends at %v, want %v\nreleases %v, sizes %v", seed, i, got[i], want[i], release, size)
			}
		}
	}
}
