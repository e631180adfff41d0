package offline

import (
	"fmt"
	"math"

	"yardstick/sched"
	"yardstick/solvers/partition"
)

// problem is an instance as the search sees it. Times are microseconds; those of a
// slotted instance are multiples of the slot.
type problem struct {
	in   *sched.Instance
	obj  sched.Objective
	jobs []job
	gpus int32
	slot int64 // 1 in continuous time
	// spread reports that some running time depends on where the job runs, so that
	// servers have to be told apart.
	spread bool
	// unit is what ends are measured in where the makespan is minimised, else 0.
	unit float64
}

type job struct {
	release, short int64 // r_j, and the least time from start to end, loading included
	gang           int32
	weight         float64
	accumulation   int // steps of gradient accumulation, of jobs that have a choice
	class          int // jobs of one class have equal stages
	sensitive      bool
}

// work is what a job holds at least, in GPUs times time.
func (j *job) work() float64 { return float64(j.gang) * float64(j.short) }

// maxEnd is what any schedule may take on the way, so that times stay far within 63
// bits; what is returned ends by sched.MaxTime.
const maxEnd = 1 << 61

// newProblem prepares an instance for non-preemptive schedules, class N, or says why
// there is none that the search is for.
func newProblem(in *sched.Instance, obj sched.Objective) (*problem, error) {
	switch {
	case !in.Model.Has(sched.N):
		return nil, fmt.Errorf("offline: %w to the %s model: it has no schedules of class N", sched.ErrNotApplicable, in.Model)
	case !obj.IsTotal() && obj != sched.Makespan:
		return nil, fmt.Errorf("offline: %w to %v", sched.ErrNotApplicable, obj)
	}
	p := &problem{in: in, obj: obj, gpus: int32(in.Cluster.GPUs()), slot: int64(max(1, in.Slot))}
	classes := map[string]int{}
	var least []partition.Minimum
	if in.Model.Exclusive() {
		var err error
		if least, err = partition.LeastRunTimes(in); err != nil {
			return nil, fmt.Errorf("offline: %w", err)
		}
	}
	for id := range in.Jobs {
		src := &in.Jobs[id]
		j := job{release: p.roundUp(int64(src.Release)), gang: int32(src.Gang()), weight: 1}
		if obj.Weighted() {
			j.weight = src.Weight
		}
		var train sched.Time
		if src.Sharing != nil {
			var err error
			if train, j.accumulation, err = fastest(in, sched.JobID(id)); err != nil {
				return nil, err
			}
		} else {
			train = least[id].Duration
			j.sensitive = !src.ConstantIteration() && j.gang > 1 && len(in.Cluster.Servers) > 1 || src.Sliced()
		}
		j.short = p.roundUp(int64(src.Load + train))
		if j.sensitive {
			key := fmt.Sprint(src.Stages, src.Edges)
			if _, ok := classes[key]; !ok {
				classes[key] = len(classes)
			}
			j.class, p.spread = classes[key], true
		}
		p.jobs = append(p.jobs, j)
	}
	last, sum := int64(0), 0.0
	for i := range p.jobs {
		last, sum = max(last, p.jobs[i].release), sum+float64(p.jobs[i].short)
	}
	if float64(last)+sum > maxEnd {
		return nil, fmt.Errorf("offline: %w: the jobs one after the other take more than %v", sched.ErrNotApplicable, sched.Time(maxEnd))
	}
	if obj == sched.Makespan {
		p.unit = p.horizon()
	}
	return p, nil
}

func (p *problem) roundUp(t int64) int64 { return (t + p.slot - 1) / p.slot * p.slot }

// fastest returns the least training time of a job of the sharing model that has its
// GPUs to itself, and the number of accumulation steps that has it. Only numbers that
// every server has the memory for are looked at: then any free GPUs will do.
func fastest(in *sched.Instance, id sched.JobID) (sched.Time, int, error) {
	j := &in.Jobs[id]
	least := in.Cluster.Servers[0].GPUMemory
	for _, s := range in.Cluster.Servers {
		least = min(least, s.GPUMemory)
	}
	best, steps := sched.Time(math.MaxInt64), 0
	for _, a := range j.Sharing.Accumulation {
		if a.Memory > least {
			continue
		}
		var parts []part
		for rest, s := j.Gang(), 0; rest > 0; s++ {
			n := min(rest, in.Cluster.Servers[s].GPUs)
			parts = append(parts, part{int32(s), int32(n)})
			rest -= n
		}
		place := anyhow(j, parts)
		place.Config = &sched.Config{Accumulation: a.Steps}
		d, err := in.RunTime(id, &place)
		if err != nil {
			return 0, 0, fmt.Errorf("offline: %w", err)
		}
		if d < best {
			best, steps = d, a.Steps
		}
	}
	if steps == 0 {
		return 0, 0, fmt.Errorf("offline: %w: job %d fits the memory of some servers only", sched.ErrNotApplicable, id)
	}
	return best, steps, nil
}

// anyhow places a job whose running time does not depend on the place, replicas of one
// GPU in order of stages. The parts are in order of servers.
func anyhow(j *sched.Job, parts []part) sched.Placement {
	place := sched.Placement{Shares: make([]sched.Share, len(parts))}
	stage, left := 0, j.Stages[0].Replicas
	for k, q := range parts {
		sh := sched.Share{Server: int(q.server), GPUs: int(q.gpus)}
		if len(j.Stages) > 1 {
			sh.Stages = make([]int, len(j.Stages))
			for rest := sh.GPUs; rest > 0; {
				if left == 0 {
					stage++
					left = j.Stages[stage].Replicas
				}
				n := min(rest, left)
				sh.Stages[stage] += n
				rest -= n
				left -= n
			}
		}
		place.Shares[k] = sh
	}
	return place
}

// horizon is about when everything can have ended: the last release and all work
// after it.
func (p *problem) horizon() float64 {
	last, work := int64(0), 0.0
	for i := range p.jobs {
		j := &p.jobs[i]
		last = max(last, j.release+j.short)
		work += float64(j.gang) * float64(j.short)
	}
	return max(float64(last), work/float64(p.gpus))
}

// cost is what the search charges for the end of a job: its weighted completion. The
// makespan is nearly the sum of the 32nd powers of the ends, which says of schedules
// of one makespan too which has less at its end.
func (p *problem) cost(j *job, end int64) float64 {
	if p.unit == 0 {
		return float64(j.weight * float64(end))
	}
	x := float64(end) / p.unit
	for range 5 {
		x = float64(x * x)
	}
	return float64(float64(j.gang) * x)
}

// total is the cost of all ends.
func (p *problem) total(end []int64) float64 {
	sum := 0.0
	for i := range p.jobs {
		sum += p.cost(&p.jobs[i], end[i])
	}
	return sum
}
