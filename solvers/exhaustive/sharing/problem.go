// Package sharing searches the schedules of jobs that share GPUs in slots (class Ss).
//
// Jobs start at slot boundaries on a set of GPUs with an accumulation option, and
// keep both. At most two jobs are on a GPU, and their memory must fit it. In a slot
// a job does 1/xi of what it does alone, xi being the largest interference by a job
// that is on one of its GPUs in that slot. It leaves at the end of the slot in
// which its work is done. Loads are not supported, nor GPUs of different memory: all
// GPUs are alike, so that only their number counts, and which of them jobs share.
//
// The search takes milliseconds for four jobs, and about a second for seven.
//
// Source: Problem (15) with Eqs. (8) to (14) of the SJF-BSBF paper, in its slots
// τ. Slips in (10) and (13): GPUs are those of the slot
// before, and a job is done when the integral of its rate is its work, as the text says.
package sharing

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"yardstick/internal/number"
	"yardstick/sched"
)

// Limits of an instance.
const (
	maxJobs  = 16
	maxGPUs  = 64
	MaxSlots = 4096 // until all jobs are done one after the other
)

// Problem is an instance in slots.
type Problem struct {
	In     *sched.Instance
	Obj    sched.Objective
	GPUs   int
	Jobs   []Job
	memory sched.Bytes // of each GPU
}

// Job is what the search and the program know of a job.
type Job struct {
	Release int // first slot in which it may start
	Gang    int
	Task    int
	Weight  float64
	Options []Option
	Xi      []float64 // the factors that it may be slowed down by, ascending from 1

	level []int // by task of the partner: index in Xi
	twin  int   // an earlier job that differs in nothing, or −1
}

// Option is an accumulation that fits a GPU and that no other one replaces.
type Option struct {
	steps  int
	memory sched.Bytes
	Work   *big.Rat // slots that the job needs alone
	Alone  int      // the same, rounded up
	about  float64  // the same, rounded
}

// NewProblem brings an instance into slots.
//
// Errors: sched.ErrNotApplicable.
func NewProblem(in *sched.Instance, obj sched.Objective) (*Problem, error) {
	if in.Model != sched.ModelSharing || in.Slot == 0 {
		return nil, fmt.Errorf("sharing: %w to the %s model with slots of %v: jobs that share GPUs in slots are needed", sched.ErrNotApplicable, in.Model, in.Slot)
	}
	if !obj.IsTotal() && obj != sched.Makespan {
		return nil, fmt.Errorf("sharing: %w to %v", sched.ErrNotApplicable, obj)
	}
	p := &Problem{In: in, Obj: obj, GPUs: in.Cluster.GPUs(), memory: -1}
	if len(in.Jobs) > maxJobs || p.GPUs > maxGPUs {
		return nil, fmt.Errorf("sharing: %w: %d jobs on %d GPUs: at most %d and %d", sched.ErrNotApplicable, len(in.Jobs), p.GPUs, maxJobs, maxGPUs)
	}
	for _, s := range in.Cluster.Servers {
		if s.GPUs > 0 && p.memory >= 0 && s.GPUMemory != p.memory {
			return nil, fmt.Errorf("sharing: %w: GPUs of %v and %v", sched.ErrNotApplicable, p.memory, s.GPUMemory)
		}
		if s.GPUs > 0 {
			p.memory = s.GPUMemory
		}
	}
	last, work := 0, 0
	for i := range in.Jobs {
		j, err := p.newJob(i)
		if err != nil {
			return nil, err
		}
		p.Jobs = append(p.Jobs, j)
		last, work = max(last, j.Release), work+j.Options[0].Alone
	}
	if last+work > MaxSlots {
		return nil, fmt.Errorf("sharing: %w: %d slots, more than %d", sched.ErrNotApplicable, last+work, MaxSlots)
	}
	for i := range p.Jobs {
		p.Jobs[i].twin = p.twin(i)
	}
	return p, nil
}

func (p *Problem) newJob(i int) (Job, error) {
	in, j := p.In, &p.In.Jobs[i]
	if j.Load > 0 {
		return Job{}, fmt.Errorf("sharing: %w: job %d loads for %v", sched.ErrNotApplicable, i, j.Load)
	}
	if j.Sharing.Rows != nil {
		return Job{}, fmt.Errorf("sharing: %w: the interference of job %d depends on its accumulation", sched.ErrNotApplicable, i)
	}
	out := Job{Release: int((j.Release + in.Slot - 1) / in.Slot), Gang: j.Gang(), Task: j.Sharing.Task, Weight: 1}
	if p.Obj.Weighted() {
		out.Weight = j.Weight
	}
	list := slices.Clone(j.Sharing.Accumulation)
	slices.SortStableFunc(list, func(a, b sched.Accumulation) int { return int(a.Iter - b.Iter) })
	room, most := p.memory, p.largest(i)
	for _, a := range list {
		if len(out.Options) > 0 && room <= p.memory-most { // the sum may overflow
			break // a faster one fits beside any partner: it replaces this one in every schedule
		}
		if a.Memory > room || len(out.Options) > 0 && a.Memory == room { // a faster one needs no more
			continue
		}
		work := new(big.Rat).SetInt64(j.Iters)
		work.Mul(work, big.NewRat(int64(a.Iter), 1000)).Quo(work, big.NewRat(int64(in.Slot), 1))
		about, _ := work.Float64()
		if about > MaxSlots {
			return Job{}, fmt.Errorf("sharing: %w: job %d takes more than %d slots", sched.ErrNotApplicable, i, MaxSlots)
		}
		out.Options = append(out.Options, Option{steps: a.Steps, memory: a.Memory, Work: work, Alone: int(number.CeilInt(work).Int64()), about: about})
		room = a.Memory
	}
	if len(out.Options) == 0 {
		return Job{}, fmt.Errorf("sharing: %w: job %d fits no GPU of %v", sched.ErrNotApplicable, i, p.memory)
	}
	out.Xi = []float64{1}
	for k := range in.Jobs {
		if k != i {
			out.Xi = append(out.Xi, in.Interference[out.Task][in.Jobs[k].Sharing.Task])
		}
	}
	slices.Sort(out.Xi)
	out.Xi = slices.Compact(out.Xi)
	for _, xi := range in.Interference[out.Task] {
		out.level = append(out.level, slices.Index(out.Xi, xi))
	}
	return out, nil
}

// largest returns the most memory that any other job may take on a GPU.
func (p *Problem) largest(i int) sched.Bytes {
	var most sched.Bytes
	for k := range p.In.Jobs {
		for _, a := range p.In.Jobs[k].Sharing.Accumulation {
			if k != i && a.Memory <= p.memory {
				most = max(most, a.Memory)
			}
		}
	}
	return most
}

// twin returns the last job before i that differs in nothing, or −1.
func (p *Problem) twin(i int) int {
	a := &p.Jobs[i]
	for k := i - 1; k >= 0; k-- {
		b := &p.Jobs[k]
		if a.Release == b.Release && a.Gang == b.Gang && a.Task == b.Task && a.Weight == b.Weight &&
			slices.EqualFunc(a.Options, b.Options, func(x, y Option) bool { return x.memory == y.memory && x.Work.Cmp(y.Work) == 0 }) {
			return k
		}
	}
	return -1
}

// Fits reports whether two jobs may be on one GPU with these options.
func (p *Problem) Fits(a, b *Option) bool { return a.memory <= p.memory-b.memory } // the sum may overflow

// Done reports whether a job has done its work after so many slots at each of
// its levels: Σ count/xi ≥ work. Floating point decides where it can.
func (j *Job) Done(o *Option, counts []int32) bool {
	sum := 0.0
	for l, n := range counts {
		sum += float64(n) / j.Xi[l]
	}
	if gap := sum - o.about; math.Abs(gap) > 1e-9*(1+o.about) {
		return gap > 0
	}
	exact := new(big.Rat)
	for l, n := range counts {
		part := new(big.Rat).SetFloat64(j.Xi[l])
		exact.Add(exact, part.Quo(big.NewRat(int64(n), 1), part))
	}
	return exact.Cmp(o.Work) >= 0
}

// left returns about how many slots a job needs alone after these.
func (j *Job) left(o *Option, counts []int32) float64 {
	sum := o.about
	for l, n := range counts {
		sum -= float64(n) / j.Xi[l]
	}
	return sum
}

// Cost returns the objective of plans.
func (p *Problem) Cost(plans []Plan) *big.Rat {
	completion := make([]sched.Time, len(plans))
	for i := range plans {
		completion[i] = sched.Time(plans[i].End) * p.In.Slot
	}
	return p.Obj.Cost(p.In, completion)
}

// Plan is a job's option, GPUs and slots.
type Plan struct {
	Option     int
	GPUs       []int // ascending
	Start, End int
}

// Schedule returns the schedule of the plans.
func (p *Problem) Schedule(plans []Plan) *sched.Schedule {
	s := &sched.Schedule{Class: sched.Class{Kind: sched.S, Slotted: true}}
	for i, pl := range plans {
		place := sched.Placement{Config: &sched.Config{Accumulation: p.Jobs[i].Options[pl.Option].steps}}
		first := 0
		for m, server := range p.In.Cluster.Servers {
			var devices []int
			for _, g := range pl.GPUs {
				if g >= first && g < first+server.GPUs {
					devices = append(devices, g-first)
				}
			}
			if len(devices) > 0 {
				place.Shares = append(place.Shares, sched.Share{Server: m, GPUs: len(devices), Devices: devices})
			}
			first += server.GPUs
		}
		p.layStages(i, place.Shares)
		s.Segments = append(s.Segments, sched.Segment{Job: sched.JobID(i), Start: sched.Time(pl.Start) * p.In.Slot, End: sched.Time(pl.End) * p.In.Slot, Phase: sched.Train, Place: place})
	}
	s.Sort()
	return s
}

// layStages puts the stages of a job of several onto its GPUs in order.
func (p *Problem) layStages(i int, shares []sched.Share) {
	stages := p.In.Jobs[i].Stages
	if len(stages) == 1 {
		return
	}
	s, left := 0, stages[0].Replicas
	for k := range shares {
		shares[k].Stages = make([]int, len(stages))
		for range shares[k].GPUs {
			for left == 0 {
				s++
				left = stages[s].Replicas
			}
			shares[k].Stages[s]++
			left--
		}
	}
}
