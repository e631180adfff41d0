package score

import (
	"math/rand/v2"
	"testing"

	"yardstick/internal/tier"
	"yardstick/sched"
)

// A capacity that changes is held to at every instant, at both levels, and the bounds are
// those of the largest.
func TestCapacityOverTime(t *testing.T) {
	refused, legal := 0, 0
	for seed := range uint64(tier.Draws(1_000, 3_000)) {
		rng := rand.New(rand.NewPCG(seed, 8))
		jobs, c := tiny(rng)
		share := jobs[0].GPUs
		for _, j := range jobs {
			share = gcd(share, j.GPUs)
		}
		capacity := make([]int64, horizon)
		now := c.GPUs
		for at := range sched.Time(horizon) {
			if rng.IntN(3) == 0 {
				now = share * int64(rng.IntN(int(c.GPUs/share)+1))
				c.Capacity = append(c.Capacity, Step{at, now})
			}
			capacity[at] = now
		}
		h := slotsOf(rng, jobs, rng.IntN(2) == 0)
		r, _ := h.record(jobs)
		want := h.legal(jobs, c)
		for at := range horizon {
			used := int64(0)
			for j := range h {
				if h[j][at] {
					used += jobs[j].GPUs
				}
			}
			want = want && used <= capacity[at]
		}
		k, err := Check(jobs, c, r, Options{})
		if err != nil || (k.Broken == 0) != want {
			t.Fatalf("seed %d: %+v: %v %v, want %t", seed, c, k.Violations, err, want)
		}
		if !want {
			refused++
			continue
		}
		legal++
		checkDivision(t, k, seed, totals...)
		ends := Record{Evidence: Completions}
		for j := range jobs {
			ends.Pieces = append(ends.Pieces, Piece{Job: j, End: k.Ends[j]})
		}
		if f, err := Check(jobs, c, ends, Options{}); err != nil || f.Broken > 0 {
			t.Fatalf("seed %d: the ends of a schedule are refused: %v %v", seed, f.Violations, err)
		}
	}
	if refused < 100 || legal < 30 {
		t.Errorf("%d refused, %d legal", refused, legal)
	}
}

// Where the network is too large to solve, what a necessary test refuses is infeasible, and
// what it lets pass is marked; TestEndsOfFullSchedules has feasible ends that are.
func TestTooManyEdges(t *testing.T) {
	refused := 0
	for seed := range uint64(tier.Draws(300, 1_000)) {
		rng := rand.New(rand.NewPCG(seed, 9))
		jobs, c := tiny(rng)
		r := Record{Evidence: Completions}
		ends := make([]sched.Time, len(jobs))
		for j := range jobs {
			ends[j] = min(horizon, jobs[j].Release+jobs[j].Length+sched.Time(rng.IntN(3)))
			r.Pieces = append(r.Pieces, Piece{Job: j, End: ends[j]})
		}
		k, err := Check(jobs, c, r, Options{Edges: 1})
		if err != nil {
			t.Fatal(err)
		}
		feasible := fluidOracle(jobs, c, ends)
		if k.Broken > 0 && feasible || k.Broken == 0 && !feasible && !k.Necessary {
			t.Fatalf("seed %d: %v, marked %t, feasible %t", seed, k.Violations, k.Necessary, feasible)
		}
		if k.Broken > 0 {
			refused++
		}
	}
	if refused < 50 {
		t.Errorf("only %d are refused", refused)
	}
}
