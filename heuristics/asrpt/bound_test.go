package asrpt_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/heuristics/asrpt"
	"yardstick/heuristics/sim"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/partition"
)

// TestPerJobBound: in order of virtual completion,
//
//	C_i ≤ C_i^v + Σ_{j≤i} tau·q_j + Σ_{j<i} g_j·d_j/(G − max_{j≤i} g_j + b) + d_i,
//
// where b = gcd(g_1, …, g_I, G) and d_j is how long job j holds its GPUs, or the
// most that it could; C^v is rounded up and tau·q_j down to whole microseconds.
// From C_i^v on, jobs 1 to i are queued and nobody overtakes i; while the head
// does not fit, fewer GPUs are free than it needs, and both are multiples of b
// away from G; while it waits for a better placement it spends its own budget.
//
// Source: Lemma 2 of the A-SRPT paper, job by job and with G − g + b for G − g.
func TestPerJobBound(t *testing.T) {
	closest, jobs := 0.0, 0
	for seed := range uint64(tier.Draws(750, 3000)) {
		rng := rand.New(rand.NewPCG(seed, 7))
		in, o := randomInstance(rng), randomOptions(rng)
		for _, guess := range []noisy{truth(in), guesses(rng, in)} {
			p := asrpt.New(o)
			_, v := run(t, in, p, sim.Options{Predictor: guess})
			r := replayNaively(t, in, o, guess)
			virtual := virtualCompletions(in, r.size, o.Ties)
			held := make([]sched.Time, len(in.Jobs))
			for i, j := range v.Jobs() {
				held[i] = j.Completion - j.Start
			}
			for _, d := range [][]sched.Time{held, longest(t, in)} {
				bound := perJob(in, o, p.Options().Tau, virtual, r.size, d)
				for i := range bound {
					c, _ := v.Completion(sched.JobID(i))
					exact := big.NewRat(int64(c), 1)
					if exact.Cmp(bound[i]) > 0 {
						t.Fatalf("seed %d, %v: job %d completes at %v, above its bound %v\n%+v", seed, o, i, c, bound[i], in)
					}
					ratio, _ := exact.Quo(exact, bound[i]).Float64()
					closest = max(closest, ratio)
					jobs++
				}
			}
		}
	}
	t.Logf("%d bounds, the closest at %.4f of it", jobs, closest)
	if closest < 1 {
		t.Errorf("no job attains its bound: the closest is at %.4f", closest)
	}
}

// longest returns how long each job may hold its GPUs: its load and
// ceil(n·alpha_max).
func longest(t *testing.T, in *sched.Instance) []sched.Time {
	t.Helper()
	out := make([]sched.Time, len(in.Jobs))
	for i := range out {
		alpha, err := partition.AlphaMax(in, sched.JobID(i))
		if err != nil {
			t.Fatal(err)
		}
		out[i] = in.Jobs[i].Load + ceil(alpha.Mul(alpha, big.NewRat(in.Jobs[i].Iters*1e6, 1)))
	}
	return out
}

// perJob returns the bounds; nil where slices leave none. M − 1 servers may be
// left with one GPU less than a replica needs.
func perJob(in *sched.Instance, o asrpt.Options, tau *big.Rat, virtual, size []*big.Rat, d []sched.Time) []*big.Rat {
	order := make([]int, len(d))
	divisor, servers, whole := in.Cluster.GPUs(), 0, true
	for _, s := range in.Cluster.Servers {
		servers += min(1, s.GPUs)
	}
	for i := range order {
		order[i] = i
		whole = whole && !in.Jobs[i].Sliced()
		for a, b := divisor, in.Jobs[i].Gang(); ; a, b = b, a%b {
			if b == 0 {
				divisor = a
				break
			}
		}
	}
	if !whole {
		divisor = 1
	}
	slices.SortFunc(order, func(a, b int) int {
		if c := virtual[a].Cmp(virtual[b]); c != 0 {
			return c
		}
		return tie(in, o.Ties, a, b)
	})
	bound := make([]*big.Rat, len(d))
	delays, work, widest := sched.Time(0), new(big.Rat), 0
	for _, i := range order {
		gang := in.Jobs[i].Gang()
		widest = max(widest, gang+(servers-1)*(in.Jobs[i].Widths()[0].Slices-1))
		budget := new(big.Rat).Mul(tau, size[i])
		delays += sched.Time(new(big.Int).Quo(budget.Num(), budget.Denom()).Int64())
		if busy := int64(in.Cluster.GPUs() - widest + divisor); busy > 0 {
			b := big.NewRat(int64(ceil(virtual[i])+delays+d[i]), 1)
			bound[i] = b.Add(b, new(big.Rat).Quo(work, big.NewRat(busy, 1)))
		}
		work.Add(work, big.NewRat(int64(gang)*int64(d[i]), 1))
	}
	return bound
}
