package errata

import (
	"context"
	"fmt"
	"math/big"

	"yardstick/bounds/theorems"
	"yardstick/heuristics/asrpt"
	"yardstick/sched"
)

// Lower bounds on A-SRPT's ratio, with exact predictions but for the last.

// OneJob returns an instance of one job of the given gang that runs for 8 s on a
// cluster of the given GPUs.
func OneJob(gpus, gang int) *sched.Instance {
	return oneServer("one-job", gpus, flat(0, gang, 8*sched.Second))
}

func oneJob() Remark {
	return Remark{
		Name: "one-job",
		Passage: Passage{asrptPaper, "Algorithm 1, line 2; Theorem 1",
			"Append completed jobs in Ã_1 using SRPT to pending_queue"},
		Finding: "A job alone in the cluster waits for its virtual completion: the ratio is 1 + g/G, 5/4 to 2 here, however simple the instance.",
		True:    "Theorem 1 holds; this is how far the ratio is from 1 for a single job. Starting a job when the cluster is idle avoids this and leaves the proof's order.",
		run: func(ctx context.Context) (*Evidence, error) {
			var runs []*Evidence
			for gang := 2; gang <= 8; gang += 2 {
				in := OneJob(8, gang)
				best, err := startAt(in, 0)
				if err != nil {
					return nil, err
				}
				e, err := measure(ctx, in, exactly(), nil, best)
				if err != nil {
					return nil, err
				}
				e.Facts = []Fact{{What: fmt.Sprintf("ratio with %d of 8 GPUs", gang), Got: e.ratio(), Want: big.NewRat(int64(8+gang), 8)}}
				e.Expected = []Expectation{{theorems.Theorem1, theorems.ZeroError, theorems.Holds}}
				runs = append(runs, e)
			}
			return join(runs...), nil
		},
	}
}

// Blocker returns the family on which A-SRPT is nearly as bad as Theorem 1
// allows, and a schedule that is far better: one job of b0 = G − gmax + 1 GPUs and
// virtual size 1 s (rounded down to a microsecond of running time), released at
// 0, and k jobs of gmax GPUs and 1 µs, released at 1 s. A-SRPT starts the blocker
// at 1 s and all others after it; the schedule returned starts it after all
// others.
func Blocker(gpus, gmax, k int) (*sched.Instance, *sched.Schedule, error) {
	b0 := gpus - gmax + 1
	d := sched.Second * sched.Time(gpus) / sched.Time(b0)
	in := oneServer("blocker", gpus, flat(0, b0, d))
	atOnce := gpus / gmax
	starts := []sched.Time{sched.Second + sched.Time((k+atOnce-1)/atOnce)}
	for i := range k {
		in.Jobs = append(in.Jobs, flat(sched.Second, gmax, 1))
		starts = append(starts, sched.Second+sched.Time(i/atOnce))
	}
	s, err := startAt(in, starts...)
	return in, s, err
}

// blockerRatio is the ratio of A-SRPT to that schedule, by hand: A-SRPT ends the
// blocker at 1 s + d and the i-th of the others ceil(i/m) µs later, m at a time.
func blockerRatio(gpus, gmax, k int64) *big.Rat {
	m := gpus / gmax
	d := 1_000_000 * gpus / (gpus - gmax + 1)
	rounds := (k + m - 1) / m
	ends := int64(0) // Σ ceil(i/m)
	for i := int64(1); i <= k; i++ {
		ends += (i + m - 1) / m
	}
	gamma := (1_000_000 + d) + k*(1_000_000+d) + ends
	better := k*1_000_000 + ends + 1_000_000 + rounds + d
	return big.NewRat(gamma, better)
}

func blocker() Remark {
	return Remark{
		Name: "blocker",
		Passage: Passage{asrptPaper, "Theorem 1",
			"Γ_A is no larger than (2 + τ + ρG/(G − g_max))ρ + … times the optimal job completion time OPT_A"},
		Finding: "A job of G−g_max+1 GPUs that is virtually done just before many tiny jobs of g_max GPUs arrive: the ratio tends to 1 + G/(G−g_max+1). G = 8, g_max = 4, 10,000 tiny jobs: 2.596, where the theorem allows 4.",
		True:    "Theorem 1 holds. With G−g_max+b for G−g_max, b the common divisor of all gangs and G, the bound is 2 + tau + G/(G−g_max+b), which the family misses by 1 + tau.",
		run: func(ctx context.Context) (*Evidence, error) {
			return runBlocker(ctx, 8, 4, 10_000, theorems.Holds)
		},
	}
}

func runBlocker(ctx context.Context, gpus, gmax, k int, printed theorems.Verdict) (*Evidence, error) {
	in, better, err := Blocker(gpus, gmax, k)
	if err != nil {
		return nil, err
	}
	e, err := measure(ctx, in, exactly(), nil, better)
	if err != nil {
		return nil, err
	}
	e.Facts = []Fact{{What: "ratio to the better schedule", Got: e.ratio(), Want: blockerRatio(int64(gpus), int64(gmax), int64(k))}}
	e.Expected = []Expectation{{theorems.Theorem1, theorems.Printed, printed}, {theorems.Theorem1, theorems.ZeroError, theorems.Holds},
		{theorems.PerJob, theorems.Realised, theorems.Holds}}
	return e, nil
}

func wholeCluster() Remark {
	return Remark{
		Name: "whole-cluster",
		Passage: Passage{asrptPaper, "Lemma 2, Theorem 1",
			"(1 + τ + ρG/(G − g_max)) OPT_Ã1 + I g_max α_max/(G − g_max) ε + ρ OPT_A"},
		Finding: "With a job of all GPUs this divides by zero: no bound. A ratio of the order of G happens: 8.925 for G = g_max = 8 and 1,000 tiny jobs.",
		True:    "The statements are about g_max < G. With G−g_max+b for G−g_max, b the common divisor of all gangs and G, they hold for g_max = G too: 2 + tau + G here.",
		run: func(ctx context.Context) (*Evidence, error) {
			return runBlocker(ctx, 8, 8, 1000, theorems.Vacuous)
		},
	}
}

// SplitStage returns an instance of one job, two stages of two replicas, on
// servers of three GPUs, and its optimal schedule. Heavy-Edge fills the first
// server and so splits the second stage. Times per iteration: 8 ms to compute;
// the first stage's parameters take 5 ms inside a server and 4,087 ms for a
// replica on its own, the second's less if they are smaller than 4,087 MB. Hence
// 4,095 ms if all are spread, 8 ms and 1 ms per MB of the second stage as
// Heavy-Edge does it, and 13 ms with a server per stage: rho = 315.
func SplitStage(servers int, second sched.Bytes) (*sched.Instance, *sched.Schedule) {
	in := &sched.Instance{Name: "split-stage", Model: sched.ModelGang, Cluster: sched.Uniform(servers, 3, 3_000_000_000, 817_400_000_000),
		Jobs: []sched.Job{{Weight: 1, Iters: 1, Stages: []sched.Stage{
			{Replicas: 2, Compute: 8_000_000, Params: 4_087_000_000},
			{Replicas: 2, Compute: 8_000_000, Params: second},
		}}}}
	place := sched.Placement{Shares: []sched.Share{{Server: 0, GPUs: 2, Stages: []int{2, 0}}, {Server: 1, GPUs: 2, Stages: []int{0, 2}}}}
	return in, &sched.Schedule{Class: sched.Class{Kind: sched.N}, Segments: []sched.Segment{{Job: 0, End: 13_000, Place: place}}}
}

func splitStage() Remark {
	return Remark{
		Name: "split-stage",
		Passage: Passage{asrptPaper, "Section IV-C, after Theorem 1",
			"it is assumed that all jobs could potentially be executed with the maximum per-iteration training time α^max_i, which rarely happens in practice"},
		Finding: "For one job and exact predictions the ratio is of the order of rho, because full servers split a stage that fits one: where rho = 315, ratios of 449 and, with two servers and equal stages, 525 = (1 + g/G)·rho.",
		True:    "Theorem 1 holds, and has to depend on rho. The best placement for the GPUs selected does not help, since 3+1 splits a stage in any case; the selection has to change.",
		run: func(ctx context.Context) (*Evidence, error) {
			worst, err := runSplitStage(ctx, 2, 4_087_000_000, 525, 2)
			if err != nil {
				return nil, err
			}
			e, err := runSplitStage(ctx, 3, 4_033_000_000, 449, 5)
			if err != nil {
				return nil, err
			}
			return join(worst, e), nil
		},
	}
}

// runSplitStage compares with the ratio, and with the factor of Theorem 1 for
// G − g_max free GPUs: (2 + 315·G/free)·315.
func runSplitStage(ctx context.Context, servers int, second sched.Bytes, ratio, free int64) (*Evidence, error) {
	in, better := SplitStage(servers, second)
	e, err := measure(ctx, in, exactly(), nil, better)
	if err != nil {
		return nil, err
	}
	t1, _ := e.Result(theorems.Theorem1, theorems.Printed)
	gpus := int64(3 * servers)
	e.Facts = []Fact{
		{What: fmt.Sprintf("ratio on %d GPUs", gpus), Got: e.ratio(), Want: big.NewRat(ratio, 1)},
		{What: "least total completion time", Unit: "µs", Got: e.Better.Cost(sched.TotalCompletion), Want: big.NewRat(13_000, 1)},
		{What: "what Theorem 1 allows", Got: t1.Bound, Want: big.NewRat((2*free+315*gpus)*315, free)},
	}
	e.Expected = []Expectation{{theorems.Theorem1, theorems.Printed, theorems.Holds}, {theorems.Theorem1, theorems.ZeroError, theorems.Holds}}
	return e, nil
}

func overPrediction() Remark {
	return Remark{
		Name: "over-prediction",
		Passage: Passage{asrptPaper, "Section IV-C, after Theorem 1",
			"the performance of A-SRPT is closely tied to the average error of the employed prediction model"},
		Finding: "The ratio grows without limit with the error, even for one job: predicted to take f times as long as it does, a job of all GPUs has the ratio 1 + f. 2, 11, 101 and 1,001 here.",
		True:    "So it is. Starting a job when the cluster is idle makes the ratio 1 on this instance.",
		run: func(ctx context.Context) (*Evidence, error) {
			in := OneJob(4, 4)
			best, err := startAt(in, 0)
			if err != nil {
				return nil, err
			}
			var runs []*Evidence
			run := func(o asrpt.Options, factor int64, what string, want int64) error {
				e, err := measure(ctx, in, o, []int64{factor}, best)
				if err != nil {
					return err
				}
				e.Facts = []Fact{{What: what, Got: e.ratio(), Want: big.NewRat(want, 1)}}
				e.Expected = []Expectation{{theorems.Theorem1, theorems.Sharp, theorems.Holds}, {theorems.Lemma3, theorems.Sharp, theorems.Holds}}
				runs = append(runs, e)
				return nil
			}
			guarded := exactly()
			guarded.IdleStart = true
			if err := run(guarded, 1000, "ratio if predicted 1000 times too long, but jobs start in an idle cluster", 1); err != nil {
				return nil, err
			}
			for f := int64(1); f <= 1000; f *= 10 {
				if err := run(exactly(), f, fmt.Sprintf("ratio if predicted %d times too long", f), 1+f); err != nil {
					return nil, err
				}
			}
			return join(runs...), nil
		},
	}
}
