package theorems_test

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/bounds/theorems"
	"yardstick/heuristics/asrpt"
	"yardstick/heuristics/sim"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/sched/heavyedge"
	"yardstick/sched/verify"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive"
)

// noisy predicts what a table says.
type noisy []int64

func (p noisy) Predict(j sim.Job) (int64, error) { return p[j.ID], nil }
func (p noisy) Observe(sim.Job, int64)           {}

// sample is an instance, what is predicted for it and how A-SRPT is set.
type sample struct {
	in        *sched.Instance
	predicted noisy // nil for the truth
	options   asrpt.Options
}

// randomSample draws up to four jobs on up to three servers. Times are some
// microseconds, so that many are equal and rounding matters; most samples have
// no traffic, so that alpha is constant.
func randomSample(rng *rand.Rand) sample {
	in := &sched.Instance{Name: "random", Model: sched.ModelGang, Cluster: sched.Cluster{Inter: 1e9, Intra: sched.Bandwidth(1e9 * (1 + rng.Int64N(100)))}}
	for size, n, uniform := 1+rng.IntN(4), 1+rng.IntN(3), rng.IntN(2) == 0; n > 0; n-- {
		if !uniform {
			size = 1 + rng.IntN(4)
		}
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: size})
	}
	traffic, coarse, spread := rng.IntN(4) == 0, 1+rng.IntN(1000), 1+rng.IntN(20)
	for range 1 + rng.IntN(4) {
		in.Jobs = append(in.Jobs, randomJob(rng, in.Cluster.GPUs(), traffic, coarse, spread))
	}
	s := sample{in: in, options: asrpt.Options{Tau: big.NewRat(rng.Int64N(9), 4), Ties: asrpt.Ties(rng.IntN(2))}}
	if rng.IntN(2) == 0 {
		s.options.Comm = big.NewRat(10+rng.Int64N(20), 10)
	}
	if rng.IntN(4) == 0 {
		s.options.Layout, s.options.AllReduce = asrpt.Layout(rng.IntN(2)), heavyedge.AllReduce(rng.IntN(2))
	}
	for i := range in.Jobs {
		s.predicted = append(s.predicted, guess(rng, in.Jobs[i].Iters))
	}
	return s
}

// guess is the truth, too little, too much or anything.
func guess(rng *rand.Rand, iters int64) int64 {
	switch rng.IntN(4) {
	case 0:
		return iters
	case 1:
		return rng.Int64N(iters + 1)
	case 2:
		return iters * (1 + rng.Int64N(20))
	}
	return rng.Int64N(30)
}

func randomJob(rng *rand.Rand, gpus int, traffic bool, coarse, spread int) sched.Job {
	j := sched.Job{Release: sched.Time(rng.IntN(spread)), Weight: 1, Iters: 1 + rng.Int64N(6)}
	room := 1 + rng.IntN(max(1, gpus-rng.IntN(3))) // seldom all of them: that makes printed forms vacuous
	stages := 1
	if traffic {
		stages += rng.IntN(min(3, room))
	}
	for k := stages; k > 0; k-- {
		st := sched.Stage{Replicas: room, Compute: sched.Duration(coarse * (1 + rng.IntN(12)))}
		if k > 1 {
			st.Replicas = 1 + rng.IntN(room-k+1)
		}
		room -= st.Replicas
		if traffic {
			st.Params = sched.Bytes(rng.IntN(5000))
			if k > 1 {
				st.Boundary = sched.Bytes(rng.IntN(3000))
			}
		}
		j.Stages = append(j.Stages, st)
	}
	return j
}

// replay runs A-SRPT on a sample and returns the verified schedule.
func replay(t testing.TB, s sample) *verify.Verified {
	t.Helper()
	var o sim.Options
	if s.predicted != nil {
		o.Predictor = s.predicted
	}
	o.Slotted = s.in.Slot > 0
	r, err := sim.Run(context.Background(), s.in, asrpt.New(s.options), o)
	if err != nil {
		t.Fatalf("%v\n%+v", err, s)
	}
	v, err := verify.Check(s.in, r.Schedule)
	if err != nil {
		t.Fatalf("%v\n%+v", err, s)
	}
	return v
}

// observe collects what Evaluate asks for.
func observe(t testing.TB, s sample, opt theorems.Interval) theorems.Run {
	t.Helper()
	v := replay(t, s)
	run := theorems.Run{Class: v.Class(), Predicted: s.predicted, Tau: s.options.Tau, ReleaseFirst: s.options.Ties == asrpt.ByRelease, OptA: opt}
	for i, j := range v.Jobs() {
		alpha, err := heavyedge.AlphaTilde(s.in, sched.JobID(i), s.options.AllReduce)
		if err != nil {
			t.Fatal(err)
		}
		run.Start, run.Completion, run.AlphaTilde = append(run.Start, j.Start), append(run.Completion, j.Completion), append(run.AlphaTilde, alpha)
	}
	return run
}

// optimum returns the least total completion time, proven.
func optimum(t testing.TB, in *sched.Instance) theorems.Interval {
	t.Helper()
	r, err := exhaustive.Solve(context.Background(), in, sched.TotalCompletion, exact.Limits{})
	if err != nil {
		t.Fatalf("%v\n%+v", err, in)
	}
	if _, err := verify.Check(in, r.Schedule); err != nil {
		t.Fatal(err)
	}
	return theorems.Interval{Lower: r.Bound, Upper: r.Cost}
}

func evaluate(t testing.TB, s sample, opt theorems.Interval) []theorems.Result {
	t.Helper()
	results, err := theorems.Evaluate(s.in, observe(t, s, opt))
	if err != nil {
		t.Fatalf("%v\n%+v", err, s)
	}
	return results
}

// tally counts what happened to one statement.
type tally struct {
	met, vacuous int
	use          float64 // the largest Left/Right
}

func (n *tally) add(r theorems.Result) error {
	switch r.Verdict {
	case theorems.NotApplicable:
		return nil
	case theorems.Vacuous:
		n.vacuous++
		return nil
	case theorems.Holds:
	default:
		return fmt.Errorf("%s: left %v, right %v, unmet %q", r.Verdict, r.Left, r.Right, r.Unmet)
	}
	if !r.Met() || !r.AtOptimum {
		return fmt.Errorf("unmet %q, at the optimum: %t", r.Unmet, r.AtOptimum)
	}
	n.met++
	if r.Right.Sign() > 0 { // both are 0 in Lemma 3 if every job is predicted to take no time
		use, _ := new(big.Rat).Quo(r.Left, r.Right).Float64()
		n.use = max(n.use, use)
	}
	return nil
}

// TestNoViolation: on random runs in continuous time, with right and wrong
// predictions, against proven optima, every statement whose assumptions are met
// holds in every form; and each is met often enough.
func TestNoViolation(t *testing.T) {
	samples := tier.Draws(2_500, 10_000)
	seen := map[string]*tally{}
	for seed := range uint64(samples) {
		s := randomSample(rand.New(rand.NewPCG(seed, 0x71)))
		opt := optimum(t, s.in)
		truth := s
		truth.predicted = nil
		for _, s := range []sample{truth, s} {
			for _, r := range evaluate(t, s, opt) {
				name := r.Statement + " " + r.Form
				if seen[name] == nil {
					seen[name] = &tally{}
				}
				if err := seen[name].add(r); err != nil {
					t.Fatalf("seed %d: %s: %v\n%+v", seed, name, err, s)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		n := seen[name]
		t.Logf("%-24s %6d hold, %5d vacuous, largest left/right %.3f", name, n.met, n.vacuous, n.use)
		if n.met < samples {
			t.Errorf("%s: only %d of %d runs", name, n.met, 2*samples)
		}
	}
}
