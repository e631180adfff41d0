package hunt

import (
	"fmt"
	"strings"

	"yardstick/sched"
)

// tasks is how many rows interference tables have here.
const tasks = 2

// sharingBreed is the sharing model in slots: two tasks, whose factors are
// multiples of an eighth up to 4; a job takes half or all of a GPU's memory, and in
// the latter case may have a second, slower accumulation that takes half.
func sharingBreed(s Space) *breed {
	const (
		release = iota
		gang
		length
		task
		memory
		slower // of the second accumulation, in quarters; 0: there is none
		weight
	)
	b := &breed{species: species{jobs: s.Jobs, job: []gene{
		release: {name: "release", high: 4 * s.Longest, event: true, time: true}, gang: {name: "gang", low: 1, high: int64(s.Gang)}, length: {name: "length", low: 1, high: s.Longest, time: true},
		task: {name: "task", high: tasks - 1}, memory: {name: "memory", low: 1, high: 2}, slower: {name: "slower", high: 4}, weight: s.weight()}}}
	for range tasks * tasks {
		b.shared = append(b.shared, gene{name: "xi", low: 8, high: 32})
	}
	b.build = func(g *genes) *sched.Instance {
		in := &sched.Instance{Name: "hunted", Model: sched.ModelSharing, Slot: unit, Cluster: s.cluster(), Interference: make([][]float64, tasks)}
		for m := range in.Cluster.Servers {
			in.Cluster.Servers[m].GPUMemory = 2
		}
		for i, xi := range g.Shared {
			in.Interference[i/tasks] = append(in.Interference[i/tasks], float64(xi)/8)
		}
		for _, v := range g.Jobs {
			iter := seconds(v[length])
			options := []sched.Accumulation{{Steps: 1, Iter: iter, Memory: sched.Bytes(v[memory])}}
			if v[memory] == 2 && v[slower] > 0 {
				options = append(options, sched.Accumulation{Steps: 2, Iter: iter / 4 * sched.Duration(4+v[slower]), Memory: 1})
			}
			in.Jobs = append(in.Jobs, sched.Job{Release: sched.Time(v[release]) * unit, Weight: float64(v[weight]), Iters: 1,
				Stages:  []sched.Stage{{Replicas: int(v[gang]), Compute: iter}},
				Sharing: &sched.Sharing{Task: int(v[task]), Accumulation: options}})
		}
		return in
	}
	return b
}

// sharingWords describes a job that shares GPUs.
func sharingWords(in *sched.Instance, j *sched.Job) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, task %d", gangWords(in, j), j.Sharing.Task)
	for _, a := range j.Sharing.Accumulation {
		if a.Steps > 1 {
			fmt.Fprintf(&b, " or %v", sched.Time(a.Iter/1000))
		}
		if a.Memory*2 > in.Cluster.Servers[0].GPUMemory {
			b.WriteString(" with all memory")
		}
	}
	return b.String()
}

func factorWords(in *sched.Instance) string { return fmt.Sprintf("factors %v", in.Interference) }
