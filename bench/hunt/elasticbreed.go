package hunt

import (
	"fmt"
	"strings"

	"yardstick/sched"
)

// elasticBreed is the elastic model: one type of worker, which takes a GPU and 8
// Mbit/s, and one of parameter server, which takes 16. One worker alone needs as
// many slots as the job's length says, and gradients that travel add up to half
// of that per worker.
func elasticBreed(s Space) *breed {
	const (
		release = iota
		workers
		length
		ring
		gradients // in quarters of what a mini-batch takes
		weight
	)
	const batches = 10 // of a worker in a slot
	b := &breed{species: species{jobs: s.Jobs, job: []gene{
		release: {name: "release", high: 4 * s.Longest, event: true, time: true}, workers: {name: "workers", low: 1, high: int64(s.Gang)}, length: {name: "length", low: 1, high: s.Longest, time: true},
		ring: {name: "ring", high: 1}, gradients: {name: "gradients", high: 2}, weight: s.weight()}}}
	for range s.Servers {
		b.shared = append(b.shared, gene{name: "bandwidth", low: 3, high: 16})
	}
	b.build = func(g *genes) *sched.Instance {
		in := &sched.Instance{Name: "hunted", Model: sched.ModelElastic, Slot: unit, Cluster: s.cluster(),
			Elastic: &sched.ElasticTypes{Resources: []string{"gpu", "bandwidth"}, Bandwidth: 1,
				Workers: []sched.Container{{Demand: []int64{1, 8}}}, Servers: []sched.Container{{Demand: []int64{0, 16}}}}}
		for h := range in.Cluster.Servers {
			server := &in.Cluster.Servers[h]
			server.Capacity = []int64{int64(server.GPUs), 8 * g.Shared[h]}
		}
		for _, v := range g.Jobs {
			e := &sched.Elastic{Ring: v[ring] == 1, MaxWorkers: int(v[workers]), Batches: batches * v[length],
				Train: []sched.Duration{seconds(1) / batches}, Update: []sched.Duration{0}, Gradients: sched.Bytes(v[gradients]) * 12_500}
			in.Jobs = append(in.Jobs, sched.Job{Release: sched.Time(v[release]) * unit, Weight: float64(v[weight]), Elastic: e})
		}
		return in
	}
	return b
}

// elasticWords describes an elastic job.
func elasticWords(_ *sched.Instance, j *sched.Job) string {
	e := j.Elastic
	kind := "parameter servers"
	if e.Ring {
		kind = "a ring"
	}
	text := fmt.Sprintf("up to %d workers with %s, %d mini-batches of %v", e.MaxWorkers, kind, e.Batches, e.Train[0])
	if e.Gradients > 0 {
		text += fmt.Sprintf(" and %v", e.Gradients)
	}
	return text + timeWords(j)
}

func serverWords(in *sched.Instance) string {
	var capacity []string
	for _, s := range in.Cluster.Servers {
		capacity = append(capacity, fmt.Sprint(s.Capacity))
	}
	return "servers of " + strings.Join(capacity, ", ")
}
