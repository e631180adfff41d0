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
	maxSlots = 4096 // until all jobs are done one after the other
)

// problem is an instance in slots.
type problem struct {
	in     *sched.Instance
	obj    sched.Objective
	gpus   int
	memory sched.Bytes // of each
	jobs   []job
}

// job is what the search and the program know of a job.
type job struct {
	release int // first slot in which it may start
	gang    int
	task    int
	weight  float64
	options []option
	twin    int // an earlier job that differs in nothing, or −1

	xi    []float64 // the factors that it may be slowed down by, ascending from 1
	level []int     // by task of the partner: index in xi
}

// option is an accumulation that fits a GPU and that no other one replaces.
type option struct {
	steps  int
	memory sched.Bytes
	work   *big.Rat // slots that the job needs alone
	about  float64  // the same, rounded
	alone  int      // the same, rounded up
}

func newProblem(in *sched.Instance, obj sched.Objective) (*problem, error) {
	if in.Model != sched.ModelSharing || in.Slot == 0 {
		return nil, fmt.Errorf("sharing: %w to the %s model with slots of %v: jobs that share GPUs in slots are needed", sched.ErrNotApplicable, in.Model, in.Slot)
	}
	if !obj.IsTotal() && obj != sched.Makespan {
		return nil, fmt.Errorf("sharing: %w to %v", sched.ErrNotApplicable, obj)
	}
	p := &problem{in: in, obj: obj, gpus: in.Cluster.GPUs(), memory: -1}
	if len(in.Jobs) > maxJobs || p.gpus > maxGPUs {
		return nil, fmt.Errorf("sharing: %w: %d jobs on %d GPUs: at most %d and %d", sched.ErrNotApplicable, len(in.Jobs), p.gpus, maxJobs, maxGPUs)
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
		p.jobs = append(p.jobs, j)
		last, work = max(last, j.release), work+j.options[0].alone
	}
	if last+work > maxSlots {
		return nil, fmt.Errorf("sharing: %w: %d slots, more than %d", sched.ErrNotApplicable, last+work, maxSlots)
	}
	for i := range p.jobs {
		p.jobs[i].twin = p.twin(i)
	}
	return p, nil
}

func (p *problem) newJob(i int) (job, error) {
	in, j := p.in, &p.in.Jobs[i]
	if j.Load > 0 {
		return job{}, fmt.Errorf("sharing: %w: job %d loads for %v", sched.ErrNotApplicable, i, j.Load)
	}
	out := job{release: int((j.Release + in.Slot - 1) / in.Slot), gang: j.Gang(), task: j.Sharing.Task, weight: 1}
	if p.obj.Weighted() {
		out.weight = j.Weight
	}
	list := slices.Clone(j.Sharing.Accumulation)
	slices.SortStableFunc(list, func(a, b sched.Accumulation) int { return int(a.Iter - b.Iter) })
	room, most := p.memory, p.largest(i)
	for _, a := range list {
		if len(out.options) > 0 && room <= p.memory-most { // the sum may overflow
			break // a faster one fits beside any partner: it replaces this one in every schedule
		}
		if a.Memory > room || len(out.options) > 0 && a.Memory == room { // a faster one needs no more
			continue
		}
		work := new(big.Rat).SetInt64(j.Iters)
		work.Mul(work, big.NewRat(int64(a.Iter), 1000)).Quo(work, big.NewRat(int64(in.Slot), 1))
		about, _ := work.Float64()
		if about > maxSlots {
			return job{}, fmt.Errorf("sharing: %w: job %d takes more than %d slots", sched.ErrNotApplicable, i, maxSlots)
		}
		out.options = append(out.options, option{a.Steps, a.Memory, work, about, int(number.CeilInt(work).Int64())})
		room = a.Memory
	}
	if len(out.options) == 0 {
		return job{}, fmt.Errorf("sharing: %w: job %d fits no GPU of %v", sched.ErrNotApplicable, i, p.memory)
	}
	out.xi = []float64{1}
	for k := range in.Jobs {
		if k != i {
			out.xi = append(out.xi, in.Interference[out.task][in.Jobs[k].Sharing.Task])
		}
	}
	slices.Sort(out.xi)
	out.xi = slices.Compact(out.xi)
	for _, xi := range in.Interference[out.task] {
		out.level = append(out.level, slices.Index(out.xi, xi))
	}
	return out, nil
}

// largest returns the most memory that any other job may take on a GPU.
func (p *problem) largest(i int) sched.Bytes {
	var most sched.Bytes
	for k := range p.in.Jobs {
		for _, a := range p.in.Jobs[k].Sharing.Accumulation {
			if k != i && a.Memory <= p.memory {
				most = max(most, a.Memory)
			}
		}
	}
	return most
}

// twin returns the last job before i that differs in nothing, or −1.
func (p *problem) twin(i int) int {
	a := &p.jobs[i]
	for k := i - 1; k >= 0; k-- {
		b := &p.jobs[k]
		if a.release == b.release && a.gang == b.gang && a.task == b.task && a.weight == b.weight &&
			slices.EqualFunc(a.options, b.options, func(x, y option) bool { return x.memory == y.memory && x.work.Cmp(y.work) == 0 }) {
			return k
		}
	}
	return -1
}

// fits reports whether two jobs may be on one GPU with these options.
func (p *problem) fits(a, b *option) bool { return a.memory <= p.memory-b.memory } // the sum may overflow

// done reports whether a job has done its work after so many slots at each of
// its levels: Σ count/xi ≥ work. Floating point decides where it can.
func (j *job) done(o *option, counts []int32) bool {
	sum := 0.0
	for l, n := range counts {
		sum += float64(n) / j.xi[l]
	}
	if gap := sum - o.about; math.Abs(gap) > 1e-9*(1+o.about) {
		return gap > 0
	}
	exact := new(big.Rat)
	for l, n := range counts {
		part := new(big.Rat).SetFloat64(j.xi[l])
		exact.Add(exact, part.Quo(big.NewRat(int64(n), 1), part))
	}
	return exact.Cmp(o.work) >= 0
}

// left returns about how many slots a job needs alone after these.
func (j *job) left(o *option, counts []int32) float64 {
	sum := o.about
	for l, n := range counts {
		sum -= float64(n) / j.xi[l]
	}
	return sum
}

// cost returns the objective of completions in slots.
func (p *problem) cost(ends []int) *big.Rat {
	completion := make([]sched.Time, len(ends))
	for i, c := range ends {
		completion[i] = sched.Time(c) * p.in.Slot
	}
	return p.obj.Cost(p.in, completion)
}

// plan is a job's option, GPUs and slots.
type plan struct {
	option     int
	gpus       []int // ascending
	start, end int
}

// schedule returns the schedule of the plans.
func (p *problem) schedule(plans []plan) *sched.Schedule {
	s := &sched.Schedule{Class: sched.Class{Kind: sched.S, Slotted: true}}
	for i, pl := range plans {
		place := sched.Placement{Config: &sched.Config{Accumulation: p.jobs[i].options[pl.option].steps}}
		first := 0
		for m, server := range p.in.Cluster.Servers {
			var devices []int
			for _, g := range pl.gpus {
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
		s.Segments = append(s.Segments, sched.Segment{Job: sched.JobID(i), Start: sched.Time(pl.start) * p.in.Slot, End: sched.Time(pl.end) * p.in.Slot, Phase: sched.Train, Place: place})
	}
	s.Sort()
	return s
}

// layStages puts the stages of a job of several onto its GPUs in order.
func (p *problem) layStages(i int, shares []sched.Share) {
	stages := p.in.Jobs[i].Stages
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
