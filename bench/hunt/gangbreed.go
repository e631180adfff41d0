package hunt

import "yardstick/sched"

// gangBreed is the gang model in continuous time: a job is released, needs GPUs
// and runs for a while; on several servers it also exchanges parameters, and may
// be a pipeline of two stages.
func gangBreed(s Space) *breed {
	traffic := int64(0)
	if s.Servers > 1 {
		traffic = 20
	}
	const (
		release = iota
		gang
		length
		params   // in 50 MB
		first    // replicas of the first of two stages; 0: there is one stage
		boundary // in 10 MB
		weight
	)
	b := &breed{species: species{jobs: s.Jobs, job: []gene{
		release: {name: "release", high: s.Longest, event: true, time: true}, gang: {name: "gang", low: 1, high: int64(s.Gang)}, length: {name: "length", low: 1, high: s.Longest, time: true},
		params: {name: "params", high: traffic}, first: {name: "first", high: min(traffic, int64(s.Gang)-1)},
		boundary: {name: "boundary", high: traffic}, weight: s.weight()}}}
	b.build = func(g *genes) *sched.Instance {
		in := &sched.Instance{Name: "hunted", Model: sched.ModelGang, Cluster: s.cluster()}
		for _, v := range g.Jobs {
			stage := sched.Stage{Replicas: int(v[gang]), Compute: seconds(v[length]), Params: sched.Bytes(v[params]) * 50_000_000}
			j := sched.Job{Release: sched.Time(v[release]) * unit, Weight: float64(v[weight]), Iters: 1, Stages: []sched.Stage{stage}}
			if head := int(v[first]); head > 0 && head < stage.Replicas {
				start := stage
				start.Replicas, start.Boundary = head, sched.Bytes(v[boundary])*10_000_000
				stage.Replicas -= head
				j.Stages = []sched.Stage{start, stage}
			}
			in.Jobs = append(in.Jobs, j)
		}
		return in
	}
	return b
}
