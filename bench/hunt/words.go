package hunt

import (
	"fmt"
	"strings"

	"yardstick/sched"
)

// Words describes a small instance in a sentence: its jobs in order, equal ones
// together. Sizes that an instance of a Space does not have are left out.
func Words(in *sched.Instance) string {
	var list []string
	for i := 0; i < len(in.Jobs); {
		text := jobWords(in, &in.Jobs[i])
		n := 1
		for i+n < len(in.Jobs) && jobWords(in, &in.Jobs[i+n]) == text {
			n++
		}
		i += n
		if n > 1 {
			text = fmt.Sprintf("%d × %s", n, text)
		}
		list = append(list, text)
	}
	text := strings.Join(list, "; ")
	if in.Interference != nil {
		text += fmt.Sprintf("; factors %v", in.Interference)
	}
	if in.Elastic != nil {
		var capacity []string
		for _, s := range in.Cluster.Servers {
			capacity = append(capacity, fmt.Sprint(s.Capacity))
		}
		text += "; servers of " + strings.Join(capacity, ", ")
	}
	return text
}

func jobWords(in *sched.Instance, j *sched.Job) string {
	var b strings.Builder
	switch {
	case j.Elastic != nil:
		e := j.Elastic
		kind := "parameter servers"
		if e.Ring {
			kind = "a ring"
		}
		fmt.Fprintf(&b, "up to %d workers with %s, %d mini-batches of %v", e.MaxWorkers, kind, e.Batches, e.Train[0])
		if e.Gradients > 0 {
			fmt.Fprintf(&b, " and %v", e.Gradients)
		}
	default:
		var parts []string
		for _, st := range j.Stages {
			parts = append(parts, fmt.Sprint(st.Replicas))
		}
		compute := j.Stages[0].Compute
		fmt.Fprintf(&b, "%s GPU", strings.Join(parts, "+"))
		if j.Gang() > 1 {
			b.WriteByte('s')
		}
		fmt.Fprintf(&b, " for %v", sched.Time(j.Iters)*sched.Time(compute/1000))
		if j.Stages[0].Params > 0 {
			fmt.Fprintf(&b, " (%v to exchange)", j.Stages[0].Params)
		}
		if j.Stages[0].Boundary > 0 {
			fmt.Fprintf(&b, " (%v between stages)", j.Stages[0].Boundary)
		}
	}
	fmt.Fprintf(&b, " at %v", j.Release)
	if j.Weight != 1 {
		fmt.Fprintf(&b, ", weight %v", j.Weight)
	}
	if j.Load > 0 {
		fmt.Fprintf(&b, ", load %v", j.Load)
	}
	if j.Pause > 0 {
		fmt.Fprintf(&b, ", pause %v", j.Pause)
	}
	if j.Sharing != nil {
		fmt.Fprintf(&b, ", task %d", j.Sharing.Task)
		for _, a := range j.Sharing.Accumulation {
			if a.Steps > 1 {
				fmt.Fprintf(&b, " or %v", sched.Time(a.Iter/1000))
			}
			if a.Memory*2 > in.Cluster.Servers[0].GPUMemory {
				b.WriteString(" with all memory")
			}
		}
	}
	return b.String()
}
