package partition

import (
	"math/rand/v2"
	"testing"

	"yardstick/sched"
)

// TestTableAgainstStageTimes compares every rank that a filling of a server can
// meet with the exact stage time, with numbers of at most 128 bits and of more.
func TestTableAgainstStageTimes(t *testing.T) {
	small, large := 0, 0
	for seed := range uint64(120) {
		rng := rand.New(rand.NewPCG(seed, 37))
		in := randomInstance(rng, 4, 9, seed%3 == 0)
		if seed%2 == 0 {
			extend(rng, in, 12)
		}
		if seed%5 == 0 { // primes as replicas and bandwidths: no small common denominator
			in.Cluster.Inter, in.Cluster.Intra = 1_000_000_007, 999_999_999_989
			in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: 13})
			for s, k := range []int{31, 37, 41, 43} {
				if s < len(in.Jobs[0].Stages) {
					in.Jobs[0].Stages[s].Replicas = k
				}
			}
		}
		tb, err := newTable(in, 0)
		if err != nil {
			t.Fatal(err)
		}
		if tb.fixed != nil {
			small++
		} else {
			large++
		}
		for r := 1; r < max(len(tb.fixed), len(tb.large)); r++ {
			if tb.value(int32(r-1)).Cmp(tb.value(int32(r))) >= 0 {
				t.Fatalf("seed %d: value %d is not above the one before", seed, r)
			}
		}
		for class, size := range tb.sizes {
			for gpus := 1; gpus <= min(size.gpus, 6); gpus++ {
				tb.eachFilling(gpus, func(counts []int) {
					for s, x := range counts {
						if x == 0 || rng.IntN(4) > 0 {
							continue
						}
						want := in.ServerTime(0, s, counts, size.gpus)
						if got := tb.value(tb.rank(class, s, counts)); got.Cmp(want) != 0 {
							t.Fatalf("seed %d: stage %d among %v on %d GPUs takes %s, by the table %s\n%+v", seed, s, counts, size.gpus, want, got, in)
						}
						checkAtBest(t, rng, tb, class, s, counts, size.gpus-gpus)
					}
				})
			}
		}
	}
	if small < 50 || large < 5 {
		t.Errorf("%d tables of small numbers, %d of large ones", small, large)
	}
}

// checkAtBest forgets some of the counts and checks that the bounds made without
// them are none above the rank.
func checkAtBest(t *testing.T, rng *rand.Rand, tb *table, class, s int, counts []int, free int) {
	t.Helper()
	last := s + rng.IntN(len(counts)-s)
	room := free
	known := make([]int, len(counts))
	for u, x := range counts {
		if u <= last {
			known[u] = x
		} else {
			room += x * tb.slices[u]
		}
	}
	rank := tb.rank(class, s, counts)
	if got := tb.atBest(class, s, known, last, tb.replicas, room); got > rank {
		t.Fatalf("stage %d among %v, known up to %d: a bound of rank %d for %d", s, counts, last, got, rank)
	}
	beside := free
	for u, x := range counts {
		if u != s {
			beside += x * tb.slices[u]
		}
	}
	if got := tb.leastBeside(class, s, counts[s], beside); got > rank {
		t.Fatalf("stage %d among %v, with room for others on %d GPUs: a bound of rank %d for %d", s, counts, beside, got, rank)
	}
}

func TestSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 37))
	for range 200 {
		bound := rng.IntN(300)
		v, w := newSet(bound), newSet(bound)
		inV, inW := map[int]bool{}, map[int]bool{}
		for range rng.IntN(40) {
			n, m := rng.IntN(bound+1), rng.IntN(bound+1)
			v.add(n)
			w.add(m)
			inV[n], inW[m] = true, true
		}
		shift := rng.IntN(bound + 1)
		v.addShifted(w, shift)
		for n := range bound + 1 {
			if want := inV[n] || n >= shift && inW[n-shift]; v.has(n) != want {
				t.Fatalf("bound %d, shift %d: %d is there: %t, want %t", bound, shift, n, v.has(n), want)
			}
		}
	}
}
