package sched

import "fmt"

// Size is one admissible number of GPUs of a malleable job. The mini-batch of
// the whole job is the same at every size.
type Size struct {
	GPUs   int      `json:"gpus"`
	Iter   Duration `json:"iter"`   // time of one iteration
	Memory Bytes    `json:"memory"` // per GPU
}

func (s *Sharing) validateSizes(gpus, stages int) error {
	if len(s.Sizes) > 0 && stages != 1 {
		return fmt.Errorf("sharing.sizes belongs to a job of one stage, but there are %d", stages)
	}
	for i, z := range s.Sizes {
		if z.GPUs < 1 || z.GPUs > gpus || z.Iter <= 0 || z.Memory < 0 || z.Memory > maxBytes || i > 0 && z.GPUs <= s.Sizes[i-1].GPUs {
			return fmt.Errorf("sharing.sizes[%d] = %+v: gpus must be between 1 and the cluster's %d and increase, iter must be positive, memory between 0B and %v", i, z, gpus, maxBytes)
		}
	}
	return nil
}

// SizeOn returns the size that a placement of class M has.
//
// Errors: the placement does not exist in the cluster, or holds a number of GPUs
// that is none of the job's sizes.
func (in *Instance) SizeOn(id JobID, p *Placement) (*Size, error) {
	j := &in.Jobs[id]
	total, err := in.checkShares(j, p)
	if err != nil {
		return nil, fmt.Errorf("sched: job %d: %w", id, err)
	}
	if j.Sharing == nil || len(j.Sharing.Sizes) == 0 {
		return nil, fmt.Errorf("sched: job %d is not malleable: it lists no sizes", id)
	}
	for i := range j.Sharing.Sizes {
		if j.Sharing.Sizes[i].GPUs == total {
			return &j.Sharing.Sizes[i], nil
		}
	}
	return nil, fmt.Errorf("sched: job %d: placement holds %d GPUs, which is none of the job's sizes", id, total)
}

// SizeTime returns ceil(n·iter) in microseconds: how long the job trains at one
// size.
//
// Errors: that is more than MaxTime.
func (j *Job) SizeTime(s *Size) (Time, error) { return roundUp(j.Iters, s.Iter) }
