package verify

import (
	"fmt"
	"math"
	"math/big"

	"yardstick/sched"
)

// JobTimes says what became of one job. Times are in microseconds.
type JobTimes struct {
	Job        sched.JobID
	Scheduled  bool // false: the schedule leaves the job out; all but Job and Release is then zero
	Release    sched.Time
	Start      sched.Time // of its first segment
	Completion sched.Time // end of its last training

	Wait, Load, Train, Pause sched.Time // Completion − Release = Wait + Load + Train + Pause

	Preemptions  int        // bouts stopped before the job was done, loads included
	AbortedLoads int        // those of them stopped before any training: the restart was futile
	Futile       sched.Time // time spent in these loads
	GPUs         int        // the gang; the most that an elastic or malleable job holds at once
	Servers      int        // the most it was spread over at once
	GPUTime      int64      // GPU-microseconds held, in whatever phase
}

// fill sets the times from bouts whose grammar holds.
func (t *JobTimes) fill(bouts []bout) {
	last := &bouts[len(bouts)-1]
	t.Scheduled, t.Start, t.Completion = true, bouts[0].start, last.end
	t.Preemptions = len(bouts) - 1
	for i := range bouts {
		b := &bouts[i]
		t.Load, t.Train, t.Pause = t.Load+b.load, t.Train+b.train, t.Pause+b.pause
		t.Servers = max(t.Servers, len(b.place.Shares))
		if b.train == 0 {
			t.AbortedLoads++
			t.Futile += b.load
		}
	}
	for i := range last.place.Shares {
		t.GPUs += last.place.Shares[i].GPUs
	}
	held := t.Load + t.Train + t.Pause // disjoint in [0, MaxTime], so the product fits
	t.Wait = t.Completion - t.Release - held
	t.GPUTime = int64(t.GPUs) * int64(held)
}

// Verified is a schedule that keeps every rule of its class. Only Check makes
// one.
type Verified struct {
	in         *sched.Instance
	schedule   *sched.Schedule
	class      sched.Class
	completion []sched.Time // of its own: not even a change to jobs alters a cost
	scheduled  []bool
	complete   bool // no job is left out
	jobs       []JobTimes
	makespan   sched.Time
	busy       int64
}

func newVerified(in *sched.Instance, s *sched.Schedule, jobs []JobTimes, busy int64) *Verified {
	v := &Verified{in: in, schedule: s, class: s.Class, jobs: jobs, busy: busy, complete: true,
		completion: make([]sched.Time, len(jobs)), scheduled: make([]bool, len(jobs))}
	for i := range jobs {
		v.completion[i], v.scheduled[i] = jobs[i].Completion, jobs[i].Scheduled
		v.complete = v.complete && jobs[i].Scheduled
		v.makespan = max(v.makespan, jobs[i].Completion)
	}
	return v
}

// Class returns the class whose rules the schedule keeps.
func (v *Verified) Class() sched.Class { return v.class }

// Instance returns the instance that the schedule was checked against.
func (v *Verified) Instance() *sched.Instance { return v.in }

// Schedule returns the schedule that was checked.
func (v *Verified) Schedule() *sched.Schedule { return v.schedule }

// Completion returns C_j, and false if the schedule leaves the job out.
func (v *Verified) Completion(j sched.JobID) (sched.Time, bool) {
	return v.completion[j], v.scheduled[j]
}

// Complete reports whether every job is scheduled.
func (v *Verified) Complete() bool { return v.complete }

// Jobs returns the times of every job, in the order of the instance. The
// caller must not change them.
func (v *Verified) Jobs() []JobTimes { return v.jobs }

// Makespan returns the time at which the last job completes, 0 if there is none.
func (v *Verified) Makespan() sched.Time { return v.makespan }

// Utilisation returns the part of the GPU-time between the first release and
// the makespan in which the GPU was held by some job, for display.
func (v *Verified) Utilisation() float64 {
	first := v.makespan
	for i := range v.in.Jobs {
		first = min(first, v.in.Jobs[i].Release)
	}
	gpus := 0
	for i := range v.in.Cluster.Servers {
		gpus += v.in.Cluster.Servers[i].GPUs
	}
	if first == v.makespan {
		return 0
	}
	return float64(v.busy) / (float64(gpus) * float64(v.makespan-first))
}

// Cost returns the exact value of the objective, in microseconds for times
// (multiplied by weights where weighted). It returns nil where the objective
// is not defined: with jobs left out, or without a deadline for
// ScheduledWeight, all the others.
func (v *Verified) Cost(o sched.Objective) *big.Rat {
	if o == sched.ScheduledWeight {
		if v.in.Deadline == 0 {
			return nil
		}
		return v.weigh(func(j int) int64 {
			if v.scheduled[j] && v.completion[j] <= v.in.Deadline {
				return 1
			}
			return 0
		})
	}
	if !v.complete {
		return nil
	}
	switch o {
	case sched.TotalCompletion:
		return v.total(0)
	case sched.WeightedCompletion:
		return v.weigh(func(j int) int64 { return int64(v.completion[j]) })
	case sched.TotalJCT:
		return v.total(1)
	case sched.MeanJCT:
		return new(big.Rat).Quo(v.total(1), new(big.Rat).SetInt64(int64(len(v.completion))))
	case sched.Makespan:
		return new(big.Rat).SetInt64(int64(v.makespan))
	}
	panic(fmt.Sprintf("verify: there is no objective %d", o))
}

// total returns the sum of C_j − releases·r_j. It adds the upper and lower 32
// bits of each time by themselves, which cannot overflow for 2^31 jobs.
func (v *Verified) total(releases int64) *big.Rat {
	var high, low int64
	for j, c := range v.completion {
		value := int64(c) - releases*int64(v.in.Jobs[j].Release)
		high += value >> 32
		low += value & (1<<32 - 1)
	}
	sum := new(big.Int).Lsh(big.NewInt(high), 32)
	return new(big.Rat).SetInt(sum.Add(sum, big.NewInt(low)))
}

// weigh returns the sum of w_j·amount(j). A weight is m·2^e with an integer m
// of 53 bits; the products are added up by exponent.
func (v *Verified) weigh(amount func(j int) int64) *big.Rat {
	sums := map[int]*big.Int{}
	m, a := new(big.Int), new(big.Int)
	for j := range v.in.Jobs {
		fraction, e := math.Frexp(v.in.Jobs[j].Weight)
		e -= 53
		if sums[e] == nil {
			sums[e] = new(big.Int)
		}
		m.SetInt64(int64(math.Ldexp(fraction, 53)))
		sums[e].Add(sums[e], m.Mul(m, a.SetInt64(amount(j))))
	}
	total := new(big.Rat)
	for e, sum := range sums {
		part := new(big.Rat)
		if e >= 0 {
			part.SetInt(sum.Lsh(sum, uint(e)))
		} else {
			part.SetFrac(sum, new(big.Int).Lsh(big.NewInt(1), uint(-e)))
		}
		total.Add(total, part)
	}
	return total
}
