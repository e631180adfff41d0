package schedtest

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"yardstick/sched"
)

// Exclusive returns the instance of the preemptive model in which the jobs of an
// instance of the sharing model have GPUs of their own, train as fast as they do alone
// and pause for the given time when they are preempted. Execution times are those of
// class N on the original.
//
// Errors: the model is another one; a job fits no GPU.
func Exclusive(in *sched.Instance, pause sched.Time) (*sched.Instance, error) {
	if in.Model != sched.ModelSharing {
		return nil, fmt.Errorf("instance %q is of the %s model", in.Name, in.Model)
	}
	out := *in
	out.Model, out.Interference = sched.ModelPreemptive, nil
	memory := sched.Bytes(math.MaxInt64)
	for _, s := range in.Cluster.Servers {
		if s.GPUs > 0 {
			memory = min(memory, s.GPUMemory)
		}
	}
	out.Jobs = make([]sched.Job, len(in.Jobs))
	for i := range in.Jobs {
		j := in.Jobs[i]
		fit := slices.DeleteFunc(slices.Clone(j.Sharing.Accumulation), func(a sched.Accumulation) bool { return a.Memory > memory })
		if len(fit) == 0 {
			return nil, fmt.Errorf("job %d fits no GPU of %v", i, memory)
		}
		fastest := slices.MinFunc(fit, func(a, b sched.Accumulation) int { return cmp.Compare(a.Iter, b.Iter) })
		j.Stages = []sched.Stage{{Replicas: j.Gang(), Compute: fastest.Iter}}
		j.Sharing, j.Pause = nil, pause
		out.Jobs[i] = j
	}
	return &out, out.Validate()
}
