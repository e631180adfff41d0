package sharing

import (
	"fmt"

	"yardstick/sched"
)

// Preemptive returns the instance of the preemptive model in which the jobs of
// an instance of the sharing model have GPUs of their own, train as fast as
// they do alone and pause for the given time when they are preempted. So
// policies that preempt run on what those that share run on. Execution times are
// those of class N on the original.
//
// Errors: the model is another one; a job fits no GPU.
func Preemptive(in *sched.Instance, pause sched.Time) (*sched.Instance, error) {
	if in.Model != sched.ModelSharing {
		return nil, fmt.Errorf("sharing: instance %q is of the %s model", in.Name, in.Model)
	}
	out := *in
	out.Model, out.Interference = sched.ModelPreemptive, nil
	memory := newBoard(in.Cluster, nil).memory
	out.Jobs = make([]sched.Job, len(in.Jobs))
	for i := range in.Jobs {
		j := in.Jobs[i]
		options := newFrontier(j.Sharing.Accumulation, memory)
		if len(options) == 0 {
			return nil, fmt.Errorf("sharing: job %d fits no GPU of %v", i, memory)
		}
		j.Stages = []sched.Stage{{Replicas: j.Gang(), Compute: options[0].Iter}}
		j.Sharing, j.Pause = nil, pause
		out.Jobs[i] = j
	}
	return &out, out.Validate()
}
