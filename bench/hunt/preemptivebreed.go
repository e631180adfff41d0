package hunt

import "yardstick/sched"

// preemptiveBreed is the preemptive model in slots.
func preemptiveBreed(s Space) *breed {
	const (
		release = iota
		gang
		length
		load
		pause
		weight
	)
	b := &breed{species: species{jobs: s.Jobs, job: []gene{
		release: {name: "release", high: 4 * s.Longest, event: true, time: true}, gang: {name: "gang", low: 1, high: int64(s.Gang)}, length: {name: "length", low: 1, high: s.Longest, time: true},
		load: {name: "load", high: s.Longest, time: true}, pause: {name: "pause", high: s.Longest, time: true}, weight: s.weight()}}}
	b.build = func(g *genes) *sched.Instance {
		in := &sched.Instance{Name: "hunted", Model: sched.ModelPreemptive, Slot: unit, Cluster: s.cluster()}
		for _, v := range g.Jobs {
			in.Jobs = append(in.Jobs, sched.Job{Release: sched.Time(v[release]) * unit, Weight: float64(v[weight]), Iters: v[length],
				Load: sched.Time(v[load]) * unit, Pause: sched.Time(v[pause]) * unit,
				Stages: []sched.Stage{{Replicas: int(v[gang]), Compute: seconds(1)}}})
		}
		return in
	}
	return b
}
