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
	e := &Evidence{Instance: in}
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
		Name: "idle-cluster", Paper: lazerPaper, Where: "Algorithm 1, line 3; Algorithm 2, line 2",
		Claim:      "A new job for which no running jobs are to be preempted is put into the waiting queue, which is looked at when a job completes.",
		Finding:    "Available GPUs start at 0, not at those that are free. In an idle cluster there is nothing to preempt and nothing will complete: two jobs of one GPU on two GPUs are never started.",
		Correction: "Count free GPUs, and start a job at once for which they suffice.",
		run: func(ctx context.Context) (*Evidence, error) {
			in := gangs("idle-cluster", 2, flat(0, 1, sched.Second), flat(sched.Second, 1, sched.Second))
			return leftOut(ctx, in, lazer.Options{NoFree: true}, 2)
		},
	}
}

func ownFragments() Erratum {
	return Erratum{
		Name: "own-fragments", Paper: lazerPaper, Where: "Algorithm 1, lines 12 to 17",
		Claim:      "When a job completes, the waiting jobs are started whose demands fit the GPUs that it releases.",
		Finding:    "GPUs that stay idle are never put together. Two jobs of one GPU for 10 s run on two GPUs when a job of both arrives that is longer: it is offered one GPU twice, and never started.",
		Correction: "Offer all free GPUs, at the ends of pauses as well.",
		run: func(ctx context.Context) (*Evidence, error) {
			in := gangs("own-fragments", 2, flat(0, 1, 10*sched.Second), flat(0, 1, 10*sched.Second), flat(sched.Second, 2, 20*sched.Second))
			return leftOut(ctx, in, lazer.Options{OwnGPUs: true}, 1)
		},
	}
}

// overtaken: b has 15.5 s to go when c arrives, and c 30 s; n needs 6 s and both of
// their GPUs.
func overtaken() Erratum {
	return Erratum{
		Name: "overtaken", Paper: lazerPaper, Where: "Section 4, \"Lazer on job completion\"",
		Claim:      "Waiting jobs cannot preempt a running job unless one completes, since running jobs only get closer to their ends while waiting ones keep their remaining durations.",
		Finding:    "A job may wait for want of GPUs and not of priority. On two GPUs, jobs of one GPU for 4 and 20 s run; n, both GPUs for 6 s, arrives at 1 s and is refused, as only the second one has longer to go. At 4.5 s a job of one GPU for 30 s arrives and takes the GPU of the first. From then on n has the shortest remaining duration and could preempt both, but starts at 34.5 s. Doing so at 4.5 s costs 81 s in all in place of 99.",
		Correction: "None to the algorithm as it stands, which serves waiting jobs at completions. That nothing else could be done for them is not so.",
		run: func(ctx context.Context) (*Evidence, error) {
			half := sched.Second / 2
			in := gangs("overtaken", 2, flat(0, 1, 4*sched.Second), flat(0, 1, 20*sched.Second), flat(sched.Second, 2, 6*sched.Second), flat(9*half, 1, 30*sched.Second))
			e := &Evidence{Instance: in}
			var err error
			if e.Schedule, err = preempting(ctx, in, lazer.Options{}); err != nil {
				return nil, err
			}
			on := func(gpus int) sched.Placement { return sched.Placement{Shares: []sched.Share{{GPUs: gpus}}} }
			better := &sched.Schedule{Class: sched.Class{Kind: sched.P}, Segments: []sched.Segment{
				{Job: 0, End: 8 * half, Place: on(1)}, {Job: 1, End: 9 * half, Place: on(1)}, {Job: 1, Start: 21 * half, End: 52 * half, Place: on(1)},
				{Job: 2, Start: 9 * half, End: 21 * half, Place: on(2)}, {Job: 3, Start: 21 * half, End: 81 * half, Place: on(1)}}}
			better.Sort()
			if e.Better, err = verify.Check(in, better); err != nil {
				return nil, err
			}
			if !e.Schedule.Complete() {
				return nil, errors.New("a job is left out")
			}
			second := int64(sched.Second)
			e.Facts = []Fact{
				{"start of the job that waits", "µs", microseconds(e.Schedule.Jobs()[2].Start), microseconds(69 * half)},
				{"total completion time", "µs", e.Schedule.Cost(sched.TotalCompletion), big.NewRat(99*second, 1)},
				{"the same, if it preempts at 4.5 s", "µs", e.Better.Cost(sched.TotalCompletion), big.NewRat(81*second, 1)},
			}
			return e, nil
		},
	}
}
