package theorems_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/bounds/theorems"
	"yardstick/heuristics/asrpt"
	"yardstick/sched"
)

// claim is an inequality; sides returns a nil right side where it does not
// apply.
type claim struct {
	name    string
	perfect bool // only runs with exact predictions are of interest
	sides   func(printed, attained *theorems.Symbols) (left, right *big.Rat)
}

// theorem is a claim of package theorems.
func theorem(name string, of func(printed, attained *theorems.Symbols) theorems.Result) claim {
	return claim{name: name, sides: func(printed, attained *theorems.Symbols) (left, right *big.Rat) {
		r := of(printed, attained)
		return r.Left, r.Right
	}}
}

func trueClaims() []claim {
	type S = theorems.Symbols
	return []claim{
		theorem("lemma 1, printed", func(p, _ *S) theorems.Result { return theorems.PrintedLemma1(p) }),
		theorem("lemma 2, printed", func(p, _ *S) theorems.Result { return theorems.PrintedLemma2(p) }),
		theorem("lemma 2, sharp", func(_, a *S) theorems.Result { return theorems.SharpLemma2(a) }),
		theorem("lemma 3, sharp", func(_, a *S) theorems.Result { return theorems.SharpLemma3(a) }),
		theorem("theorem 1, printed", func(p, _ *S) theorems.Result { return theorems.PrintedTheorem1(p) }),
		theorem("theorem 1, sharp", func(_, a *S) theorems.Result { return theorems.SharpTheorem1(a) }),
		theorem("per job, realised", func(_, a *S) theorems.Result { worst, _ := theorems.Jobs(a, true); return worst }),
	}
}

// wrongClaims look like sharper forms and are false.
func wrongClaims() []claim {
	type S = theorems.Symbols
	return []claim{
		{"theorem 1 with the factor 2·rho², as if one job alone were the worst case", true, func(_, a *S) (left, right *big.Rat) {
			right = new(big.Rat).Mul(a.Rho, a.Rho)
			right.Mul(right, big.NewRat(2, 1))
			right.Mul(right, a.OptA.Lower)
			return a.Gamma, right.Add(right, a.Rounding)
		}},
		{"lemma 2 without the 1, as if nobody waited for the virtual machine", true, func(_, a *S) (left, right *big.Rat) {
			return a.Gamma, new(big.Rat).Sub(theorems.SharpLemma2(a).Right, a.OptVirtual)
		}},
		{"lemma 3 without I, as if an overpredicted job delayed only itself", false, func(_, a *S) (left, right *big.Rat) {
			return a.OptVirtual, new(big.Rat).Add(a.OptA1, a.Over)
		}},
		{"per job with D + 1 for D", false, func(_, a *S) (left, right *big.Rat) {
			wider := *a
			wider.Divisor++
			worst, _ := theorems.Jobs(&wider, true)
			return worst.Left, worst.Right
		}},
	}
}

// climb looks for a run on which left/right is large: it changes a number or
// two of the best run so far, and begins anew where that has not helped for a
// while. Now and then it accepts a step back. It returns the largest quotient and
// its run, which violates the claim if the quotient is above 1.
func climb(t *testing.T, seed uint64, evaluations int, c claim) (best float64, at sample) {
	t.Helper()
	const patience = 400
	rng := rand.New(rand.NewPCG(seed, 0xc11b))
	var here sample
	value, stalled := 0.0, patience
	for range evaluations {
		var next sample
		if stalled++; stalled > patience {
			next, value, stalled = start(rng, c.perfect), -1, 0
		} else {
			next = mutate(rng, here)
		}
		printed, attained, err := theorems.SymbolsOf(next.in, observe(t, next, optimum(t, next.in)))
		if err != nil {
			t.Fatal(err)
		}
		q := 0.0
		if left, right := c.sides(printed, attained); right != nil && right.Sign() > 0 {
			q, _ = new(big.Rat).Quo(left, right).Float64()
			if left.Cmp(right) > 0 {
				return q, next
			}
		}
		if q > value {
			stalled = 0
		}
		if q >= value*(1-0.2*rng.Float64()*rng.Float64()*rng.Float64()) {
			value, here = q, next
		}
		if q > best {
			best, at = q, next
		}
	}
	return best, at
}

// start draws a run to begin with: a random sample, or more often jobs that take
// the same time everywhere.
func start(rng *rand.Rand, perfect bool) sample {
	s := randomSample(rng)
	if rng.IntN(4) > 0 {
		gpus := 4 + rng.IntN(5)
		s.in.Cluster = sched.Uniform(1, gpus, 1e9, 1e9)
		s.options = asrpt.Options{Tau: new(big.Rat)}
		for i := range s.in.Jobs {
			s.in.Jobs[i] = sched.Job{Weight: 1, Iters: 1 + rng.Int64N(20), Release: sched.Time(rng.IntN(200)),
				Stages: []sched.Stage{{Replicas: 1 + rng.IntN(gpus), Compute: sched.Duration(1000 * (1 + rng.IntN(100)))}}}
		}
	}
	if perfect || rng.IntN(3) == 0 {
		s.predicted = nil
	}
	return s
}

// mutate returns a copy of a sample with one or two numbers changed, or the
// sample itself if that makes a gang too large.
func mutate(rng *rand.Rand, before sample) sample {
	s, in := before, *before.in
	in.Jobs = slices.Clone(in.Jobs)
	in.Cluster.Servers = slices.Clone(in.Cluster.Servers)
	s.in, s.predicted = &in, slices.Clone(s.predicted)
	for range 1 + rng.IntN(2) {
		i := rng.IntN(len(in.Jobs))
		j := &in.Jobs[i]
		j.Stages = slices.Clone(j.Stages)
		st := &j.Stages[rng.IntN(len(j.Stages))]
		other := &in.Jobs[rng.IntN(len(in.Jobs))]
		switch rng.IntN(9) {
		case 0:
			j.Release = other.Release + sched.Time(rng.IntN(3))
		case 1: // when the virtual machine may be done with the other one
			d := sched.Time(other.Iters) * sched.Time(other.Stages[0].Compute) / 1000
			j.Release = other.Release + 1 + d*sched.Time(other.Gang())/sched.Time(in.Cluster.GPUs())
		case 2:
			if j.Iters = 1; rng.IntN(2) == 0 {
				j.Iters = 1 + rng.Int64N(20)
			}
		case 3:
			st.Compute = min(1e6, max(1000, sched.Duration(float64(st.Compute)*(0.2+1.8*rng.Float64()))))
		case 4:
			st.Replicas = max(1, st.Replicas+rng.IntN(3)-1)
		case 5:
			if st.Replicas = 1; len(j.Stages) == 1 && rng.IntN(2) == 0 {
				st.Replicas = in.Cluster.GPUs()
			}
		case 6:
			if len(in.Jobs) < 6 {
				in.Jobs = append(in.Jobs, *other)
				if s.predicted != nil {
					s.predicted = append(s.predicted, other.Iters)
				}
			}
		case 7:
			m := &in.Cluster.Servers[rng.IntN(len(in.Cluster.Servers))]
			m.GPUs = min(8, max(1, m.GPUs+rng.IntN(3)-1))
		case 8:
			if s.predicted != nil {
				s.predicted[i] = guess(rng, j.Iters)
			}
		}
	}
	for i := range in.Jobs {
		if in.Jobs[i].Gang() > in.Cluster.GPUs() {
			return before
		}
	}
	return s
}

// TestClimb: a search for violations finds none of the true claims and breaks
// every wrong one.
func TestClimb(t *testing.T) {
	const first = 3 // seed
	for _, c := range trueClaims() {
		q, at := climb(t, first, 500, c)
		t.Logf("%s: left/right up to %.4f", c.name, q)
		if q > 1 {
			t.Errorf("%s is violated: left/right %.4f\n%+v", c.name, q, at)
		}
	}
	for _, c := range wrongClaims() {
		best := 0.0
		for seed := uint64(first); seed < first+4 && best <= 1; seed++ {
			best, _ = climb(t, seed, 3000, c)
			t.Logf("%s: seed %d, left/right up to %.4f", c.name, seed, best)
		}
		if best <= 1 {
			t.Errorf("%s: no violation found", c.name)
		}
	}
}
