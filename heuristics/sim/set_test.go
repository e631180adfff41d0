package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"yardstick/sched"
)

// TestSet compares the tree with a sorted slice, at bounds around the powers
// of 64 where its number of levels changes.
func TestSet(t *testing.T) {
	for _, bound := range []int{1, 2, 63, 64, 65, 4095, 4096, 4097, 300_000} {
		rng := rand.New(rand.NewPCG(1, uint64(bound)))
		s := newSet(bound)
		var in []int // sorted
		for step := range 3000 {
			i := rng.IntN(bound)
			at, found := slices.BinarySearch(in, i)
			switch rng.IntN(3) {
			case 0:
				s.add(i)
				if !found {
					in = slices.Insert(in, at, i)
				}
			case 1:
				s.remove(i)
				if found {
					in = slices.Delete(in, at, at+1)
				}
			}
			from := rng.IntN(bound)
			at, found = slices.BinarySearch(in, from)
			next, ok := s.next(from)
			if ok != (at < len(in)) || ok && next != in[at] {
				t.Fatalf("bound %d, step %d: next(%d) = %d, %t in %v", bound, step, from, next, ok, in)
			}
			if !found {
				at--
			}
			prev, ok := s.prev(from)
			if ok != (at >= 0) || ok && prev != in[at] {
				t.Fatalf("bound %d, step %d: prev(%d) = %d, %t in %v", bound, step, from, prev, ok, in)
			}
			if s.empty() != (len(in) == 0) {
				t.Fatalf("bound %d, step %d: empty is %t with %v", bound, step, s.empty(), in)
			}
		}
	}
}

// TestAgenda compares the heap with a slice that is searched.
func TestAgenda(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	var a agenda
	var naive []event
	free := []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for step := range 20_000 {
		switch op := rng.IntN(4); {
		case op < 2 && len(free) > 0:
			slot := free[len(free)-1]
			free = free[:len(free)-1]
			ev := event{at: sched.Time(rng.IntN(6)), key: eventKey(kind(rng.IntN(4)), sched.JobID(slot)), slot: slot}
			a.add(ev)
			naive = append(naive, ev)
		case op == 2 && len(naive) > 0:
			i := rng.IntN(len(naive))
			a.remove(naive[i].slot)
			free = append(free, naive[i].slot)
			naive = slices.Delete(naive, i, i+1)
		case op == 3 && len(naive) > 0:
			i := rng.IntN(len(naive))
			naive[i].at = sched.Time(rng.IntN(6))
			a.move(naive[i].slot, naive[i].at)
		}
		if len(a.heap) != len(naive) {
			t.Fatalf("step %d: %d events, want %d", step, len(a.heap), len(naive))
		}
		for i := range naive {
			if naive[i].before(a.heap[0].at, a.heap[0].key) {
				t.Fatalf("step %d: %v is before the top %v", step, naive[i], a.heap[0])
			}
			if got := a.heap[a.pos[naive[i].slot]]; got != naive[i] {
				t.Fatalf("step %d: event of slot %d is %v, want %v", step, naive[i].slot, got, naive[i])
			}
		}
	}
}

// TestLatency compares quantiles with those of the sorted values.
func TestLatency(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		var l latency
		values := make([]time.Duration, 1+rng.IntN(300))
		for i := range values {
			values[i] = time.Duration(rng.Uint64() >> (1 + rng.IntN(63)))
			l.add(values[i])
		}
		slices.Sort(values)
		for _, percent := range []int{1, 50, 99, 100} {
			exact := values[(percent*len(values)+99)/100-1]
			got := l.quantile(float64(percent) / 100)
			if got < exact || float64(got) > float64(exact)*(1+1.0/16) {
				t.Fatalf("quantile %d%% of %d values is %v, want %v", percent, len(values), got, exact)
			}
		}
	}
	if new(latency).quantile(0.5) != 0 {
		t.Fatal("quantile of no values is not 0")
	}
}
