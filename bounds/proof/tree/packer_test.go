package tree

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPacker compares the jobs that fit together and pay most with all sets of jobs.
func TestPacker(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 54))
		p := packer[uint64]{capacity: 1 + r.Int64N(12)}
		n := 1 + r.IntN(7)
		pay := make([]uint64, n)
		for j := range n {
			p.gang = append(p.gang, 1+r.Int64N(p.capacity))
			pay[j] = r.Uint64N(6)
		}
		value := func(set []int) (held int64, paid uint64) {
			for _, j := range set {
				held, paid = held+p.gang[j], paid+pay[j]
			}
			return held, paid
		}
		best := uint64(0)
		for all := range 1 << n {
			var set []int
			for j := range n {
				if all>>j&1 == 1 {
					set = append(set, j)
				}
			}
			if held, paid := value(set); held <= p.capacity {
				best = max(best, paid)
			}
		}
		got := p.most(func(j int) uint64 { return pay[j] })
		set := p.set()
		held, paid := value(set)
		if got != best || paid != best || held > p.capacity || len(slices.Compact(slices.Sorted(slices.Values(set)))) != len(set) {
			t.Errorf("seed %d: the most is %d, not %d; the set %v pays %d and holds %d of %d", seed, got, best, set, paid, held, p.capacity)
		}
	}
}
