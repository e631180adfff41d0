package errata

import (
	"context"
	"errors"
	"math/big"

	"yardstick/heuristics/lazer"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/verify"
)

const lazerPaper = "Lazer"

// gangs returns an instance of the preemptive model on one server, without times
// to load or to pause. Its deadline is far away: where a deadline is given, jobs
// that are never started may be left out of a schedule.
func gangs(name string, gpus int, jobs ...sched.Job) *sched.Instance {
	in := oneServer(name, gpus, jobs...)
	in.Model, in.Deadline = sched.ModelPreemptive, 1000*sched.Second
	return in
}

// preempting runs shortest remaining time first, which is Lazer without its
// deferrals.
func preempting(ctx context.Context, in *sched.Instance, o lazer.Options) (*verify.Verified, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	r, err := sim.Run(ctx, in, lazer.SRTF(o), sim.Options{})
	if err != nil {
		return nil, err
	}
	return verify.Check(in, r.Schedule)
}

// neverStarted counts the jobs that a schedule leaves out.
func neverStarted(v *verify.Verified) *big.Rat {
	n := int64(0)
	for _, j := range v.Jobs() {
		if !j.Scheduled {
			n++
		}
	}
	return big.NewRat(n, 1)
}

// leftOut compares what is never started under the algorithm as printed with what
// is after the correction, which must be nothing.
func leftOut(ctx context.Context, in *sched.Instance, printed lazer.Options, want int64) (*Evidence, error) {
	e := &Evidence{Instance: in, Scope: lazerClauses(in)}
	var err error
	if e.Schedule, err = preempting(ctx, in, printed); err != nil {
		return nil, err
	}
	if e.Better, err = preempting(ctx, in, lazer.Options{}); err != nil {
		return nil, err
	}
	e.Facts = []Fact{
		{"jobs that are never started, as printed", "", neverStarted(e.Schedule), big.NewRat(want, 1)},
		{"jobs that are never started, as corrected", "", neverStarted(e.Better), new(big.Rat)},
	}
	return e, nil
}

func idleCluster() Erratum {
	return Erratum{
		Name: "idle-cluster",
		Passage: Passage{lazerPaper, "Algorithm 1, line 3; Algorithm 2, line 2; Section 2",
			"Upon arrival, a job (j_k) waits in the queue until the required GPUs become available (①). Once available, the scheduler loads the model … 3: if J_r = ∅ then Enqueue j_new into WQ; return … 2: J_r ← ∅; avail_gpus ← 0"},
		Scope:      lazerScope(),
		Finding:    "Printed, the algorithms do not do what Section 2 says: available GPUs start at 0, not at those that are free. In an idle cluster there is nothing to preempt and nothing will complete: two jobs of one GPU on two GPUs are never started.",
		Correction: "Count free GPUs, and start a job at once for which they suffice.",
		run: func(ctx context.Context) (*Evidence, error) {
			in := gangs("idle-cluster", 2, flat(0, 1, sched.Second), flat(sched.Second, 1, sched.Second))
			return leftOut(ctx, in, lazer.Options{NoFree: true}, 2)
		},
	}
}

func ownFragments() Remark {
	return Remark{
		Name: "own-fragments",
		Passage: Passage{lazerPaper, "Section 4, \"Lazer on job completion\"; Algorithm 1, lines 12 to 17",
			"the completion handler identifies the GPUs secured from the completed job (line 12). Then, it selects jobs from WQ whose GPU demands fit within the secured GPUs"},
		Finding: "To the letter, GPUs that stay idle are never put together. Two jobs of one GPU for 10 s run on two GPUs when a job of both arrives that is longer: it is offered one GPU twice, and never started.",
		True:    "The paper does not say that every job starts in the end. With all free GPUs on offer, at the ends of pauses as well, every job does.",
		run: func(ctx context.Context) (*Evidence, error) {
			in := gangs("own-fragments", 2, flat(0, 1, 10*sched.Second), flat(0, 1, 10*sched.Second), flat(sched.Second, 2, 20*sched.Second))
			return leftOut(ctx, in, lazer.Options{OwnGPUs: true}, 1)
		},
	}
}

// lazerScope is the model of Section 2 of the Lazer paper.
func lazerScope() []string {
	return []string{"gangs of at most all GPUs, each submitted with its number of GPUs", "remaining durations are known"}
}

// lazerClauses checks lazerScope.
func lazerClauses(in *sched.Instance) []Clause {
	gangs, known := in.Validate() == nil && in.Model == sched.ModelPreemptive, true
	for i := range in.Jobs {
		gangs = gangs && in.Jobs[i].Gang() <= in.Cluster.GPUs()
		known = known && in.Jobs[i].Iters > 0 // the runs here predict nothing
	}
	scope := lazerScope()
	return []Clause{{scope[0], gangs}, {scope[1], known}}
}

// overtaken: at 5 s the second job has 15 s to go, and the one that waited, w, 29 s.
func overtaken() Erratum {
	return Erratum{
		Name: "overtaken",
		Passage: Passage{lazerPaper, "Section 4, \"Lazer on job completion\"",
			"Jobs enter WQ when, at their arrival time, they have lower priority than the running jobs or there are not enough GPUs available … Thus, WQ jobs cannot preempt a running job unless one completes and releases GPUs."},
		Scope:      append(lazerScope(), "no job completes or arrives meanwhile"),
		Finding:    "Of jobs that wait for want of GPUs and not of priority this is not so. On two GPUs, jobs of one GPU for 4 and 20 s run. n, both GPUs for 6 s, arrives at 1 s and waits, as only one of them has longer to go; w, one GPU for 30 s, arrives at 2 s and waits. At 4 s the first job completes, and w fits its GPU. At 5 s, when nothing happens, both running jobs have longer to go than n, 15 and 29 s, and release what it needs: the two conditions of Section 4.1. Preempting then costs 81 s in all; as n waits to 34 s, the total is 98.",
		Correction: "None to the algorithm as it stands, which serves waiting jobs at completions. That nothing else could be done for them is not so.",
		run: func(ctx context.Context) (*Evidence, error) {
			const second = sched.Second
			in := gangs("overtaken", 2, flat(0, 1, 4*second), flat(0, 1, 20*second), flat(second, 2, 6*second), flat(2*second, 1, 30*second))
			e := &Evidence{Instance: in}
			var err error
			if e.Schedule, err = preempting(ctx, in, lazer.Options{}); err != nil {
				return nil, err
			}
			on := func(gpus int) sched.Placement { return sched.Placement{Shares: []sched.Share{{GPUs: gpus}}} }
			better := &sched.Schedule{Class: sched.Class{Kind: sched.P}, Segments: []sched.Segment{
				{Job: 0, End: 4 * second, Place: on(1)},
				{Job: 1, End: 5 * second, Place: on(1)}, {Job: 1, Start: 11 * second, End: 26 * second, Place: on(1)},
				{Job: 2, Start: 5 * second, End: 11 * second, Place: on(2)},
				{Job: 3, Start: 4 * second, End: 5 * second, Place: on(1)}, {Job: 3, Start: 11 * second, End: 40 * second, Place: on(1)}}}
			better.Sort()
			if e.Better, err = verify.Check(in, better); err != nil {
				return nil, err
			}
			if !e.Schedule.Complete() {
				return nil, errors.New("a job is left out")
			}
			const at = 5 * second
			jobs := e.Schedule.Jobs()
			quiet := jobs[2].Start > at
			for i, j := range jobs {
				quiet = quiet && in.Jobs[i].Release != at && j.Completion != at
			}
			e.Scope = append(lazerClauses(in), Clause{"no job completes or arrives meanwhile", quiet})
			left := func(id sched.JobID) *big.Rat { return microseconds(jobs[id].Completion - at) } // of one that runs to its end
			e.Facts = []Fact{
				{"what the second job has to go at 5 s", "µs", left(1), microseconds(15 * second)},
				{"what w has to go at 5 s", "µs", left(3), microseconds(29 * second)},
				{"start of n, which needs 6 s", "µs", microseconds(jobs[2].Start), microseconds(34 * second)},
				{"total completion time", "µs", e.Schedule.Cost(sched.TotalCompletion), microseconds(98 * second)},
				{"the same, if n preempts at 5 s", "µs", e.Better.Cost(sched.TotalCompletion), microseconds(81 * second)},
			}
			return e, nil
		},
	}
}
