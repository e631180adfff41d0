package theorems_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/bounds/theorems"
	"yardstick/heuristics/asrpt"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// TestLiterally checks the printed statements as they are printed, by code of
// its own: running times n·alpha that are whole microseconds on every
// placement, virtual completions that are too, alphas and OPT_A by brute force.
func TestLiterally(t *testing.T) {
	decided := 0
	schedtest.EachSeed(t, 250, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Gang(r, schedtest.Shape{Jobs: 1 + r.IntN(3), Servers: 2, GPUs: 3, Stages: 2, Traffic: r.IntN(2) == 0, Slot: 60})
		in.Slot = 0 // the grid stays
		s := sample{in: in, options: asrpt.Options{Tau: rat(r.Int64N(3), 1)}}
		for i := range in.Jobs {
			s.predicted = append(s.predicted, guess(r, in.Jobs[i].Iters))
		}
		_, best := schedtest.BruteForce(in, sched.TotalCompletion)
		run := observe(t, s, theorems.Interval{Lower: best, Upper: best})
		results, err := theorems.Evaluate(in, run)
		if err != nil {
			t.Fatal(err)
		}
		want := literally(t, s, run, best)
		for _, got := range results {
			if got.Form != theorems.Printed || got.Verdict == theorems.Vacuous {
				continue
			}
			decided++
			if w := want[got.Statement]; got.Left.Cmp(w[0]) != 0 || got.Right.Cmp(w[1]) != 0 || got.Verdict != theorems.Holds {
				t.Errorf("%s: %v ≤ %v %s, want %v ≤ %v\n%+v", got.Statement, got.Left, got.Right, got.Verdict, w[0], w[1], s)
			}
		}
	})
	if decided < 500 {
		t.Errorf("only %d statements compared", decided)
	}
}

// literally returns both sides of the printed statements, in microseconds.
func literally(t *testing.T, s sample, run theorems.Run, opt *big.Rat) map[string][2]*big.Rat {
	t.Helper()
	in := s.in
	gpus, gmax := int64(in.Cluster.GPUs()), int64(0)
	rho, alphaMax, alphaMin, eps, gamma := new(big.Rat), new(big.Rat), rat(1e15, 1), new(big.Rat), new(big.Rat)
	var release []sched.Time
	var sizes, predicted []*big.Rat
	for i := range in.Jobs {
		j := &in.Jobs[i]
		least, worst := alphas(t, in, sched.JobID(i))
		rho = larger(rho, new(big.Rat).Quo(worst, least))
		alphaMax = larger(alphaMax, worst)
		if least.Cmp(alphaMin) < 0 {
			alphaMin = least
		}
		missed := s.predicted[i] - j.Iters
		eps.Add(eps, rat(max(missed, -missed), 1))
		gamma.Add(gamma, rat(int64(run.Completion[i]), 1))
		gmax = max(gmax, int64(j.Gang()))
		release = append(release, j.Release)
		share := times(rat(int64(j.Gang()), gpus), run.AlphaTilde[i], rat(1e6, 1))
		sizes, predicted = append(sizes, times(share, rat(j.Iters, 1))), append(predicted, times(share, rat(s.predicted[i], 1)))
	}
	total := func(size []*big.Rat) *big.Rat {
		return plus(srptNaively(release, size, func(a, b int) bool { return a < b })...)
	}
	one, two, tau, jobs := rat(1, 1), rat(2, 1), s.options.Tau, int64(len(in.Jobs))
	out := map[string][2]*big.Rat{
		theorems.Lemma1: {total(sizes), times(rho, opt)},
		theorems.Lemma3: {total(predicted), plus(total(sizes), times(rat(jobs*gmax, gpus), alphaMax, eps))},
	}
	if gmax < gpus {
		crowd := rat(gpus, gpus-gmax)
		out[theorems.Lemma2] = [2]*big.Rat{gamma, plus(times(plus(one, tau, times(rho, crowd)), total(predicted)),
			times(rat(jobs*gmax, gpus-gmax), alphaMax, eps), times(rho, opt))}
		exact := times(plus(two, tau, times(rho, crowd)), rho)
		wrong := times(two, rho, rat(gmax, jobs), new(big.Rat).Quo(alphaMax, alphaMin), plus(one, tau, times(plus(one, rho), crowd)), eps)
		out[theorems.Theorem1] = [2]*big.Rat{gamma, times(plus(exact, wrong), opt)}
	}
	return out
}

// alphas returns alpha_min over all placements and the paper's alpha_max, in
// microseconds.
func alphas(t *testing.T, in *sched.Instance, id sched.JobID) (least, worst *big.Rat) {
	t.Helper()
	least, worst = rat(1e15, 1), new(big.Rat)
	for _, p := range schedtest.Placements(in, id) {
		a, err := in.IterTime(id, &p)
		if err != nil {
			t.Fatal(err)
		}
		if a.Mul(a, rat(1e6, 1)); a.Cmp(least) < 0 {
			least = a
		}
	}
	largest := 0
	for _, m := range in.Cluster.Servers {
		largest = max(largest, m.GPUs)
	}
	for s := range in.Jobs[id].Stages {
		worst = larger(worst, times(in.StageTime(id, s, 0, 1, 0, largest), rat(1e6, 1)))
	}
	return least, worst
}

func larger(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

func times(factors ...*big.Rat) *big.Rat {
	v := rat(1, 1)
	for _, f := range factors {
		v.Mul(v, f)
	}
	return v
}

func plus(terms ...*big.Rat) *big.Rat {
	v := new(big.Rat)
	for _, f := range terms {
		v.Add(v, f)
	}
	return v
}
