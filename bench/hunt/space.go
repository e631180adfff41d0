package hunt

import (
	"cmp"
	"fmt"

	"yardstick/sched"
)

// Space says which instances are looked at.
type Space struct {
	Model   sched.Model `json:"model"`
	Jobs    int         `json:"jobs"`    // at most
	GPUs    int         `json:"gpus"`    // in all; on the first servers one more if they do not divide evenly
	Servers int         `json:"servers"` // 0 means 1
	Gang    int         `json:"gang"`    // the most GPUs, or workers, of a job; 0 means all
	// Longest is the most units of a second that a job runs for, and that it is
	// released after the start; 0 means 1000, or 12 where time has slots.
	Longest int64 `json:"longest"`
	// Weighted lets weights vary from 1 to 9.
	Weighted bool `json:"weighted,omitempty"`
}

// unit is what times are multiples of, and the slot length where there is one.
const unit = sched.Second

// filled returns the space with the values that zeros stand for.
func (s Space) filled() Space {
	s.Servers = cmp.Or(s.Servers, 1)
	s.Gang = cmp.Or(s.Gang, s.GPUs)
	if s.Model == sched.ModelGang {
		s.Longest = cmp.Or(s.Longest, 1000)
	}
	s.Longest = cmp.Or(s.Longest, 12)
	return s
}

// Validate returns an error if there are no such instances, or if their optima
// could not be found.
func (s Space) Validate() error {
	s = s.filled()
	switch {
	case s.Jobs < 1 || s.Jobs > 12:
		return fmt.Errorf("hunt: %d jobs: between 1 and 12 are supported", s.Jobs)
	case s.GPUs < 1 || s.GPUs > 64 || s.Servers < 1 || s.Servers > s.GPUs:
		return fmt.Errorf("hunt: %d GPUs on %d servers: at most 64 GPUs, and one for every server at least", s.GPUs, s.Servers)
	case s.Gang < 1 || s.Gang > s.GPUs:
		return fmt.Errorf("hunt: gangs of up to %d of %d GPUs", s.Gang, s.GPUs)
	case s.Longest < 1 || s.Longest > 1_000_000 || s.Model != sched.ModelGang && s.Longest > 100:
		return fmt.Errorf("hunt: jobs of up to %d s: at most 1,000,000, and 100 in slots", s.Longest)
	}
	if _, err := s.breed(); err != nil {
		return err
	}
	return nil
}

// breed returns the genes of the space's instances, and what makes instances of
// them.
func (s Space) breed() (*breed, error) {
	switch s.Model {
	case sched.ModelGang:
		return gangBreed(s), nil
	case sched.ModelPreemptive:
		return preemptiveBreed(s), nil
	case sched.ModelSharing:
		return sharingBreed(s), nil
	case sched.ModelElastic:
		return elasticBreed(s), nil
	}
	return nil, fmt.Errorf("hunt: model %q is unknown: gang, preemptive, sharing, elastic", s.Model)
}

// Example returns an instance of the space: the one whose numbers are all least.
//
// Errors: those of Validate.
func (s Space) Example() (*sched.Instance, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	b, err := s.filled().breed()
	if err != nil {
		return nil, err
	}
	least := func(of []gene) (list []int64) {
		for _, g := range of {
			list = append(list, g.low)
		}
		return list
	}
	return b.build(&genes{Jobs: [][]int64{least(b.job)}, Shared: least(b.shared)}), nil
}

// breed is a kind of instance.
type breed struct {
	species
	build func(*genes) *sched.Instance
}

// cluster returns the servers. Between them runs a tenth of what runs inside, so
// that where a gang is matters if it has something to exchange.
func (s Space) cluster() sched.Cluster {
	c := sched.Uniform(s.Servers, s.GPUs/s.Servers, 1_000_000_000, 10_000_000_000)
	for i := range s.GPUs % s.Servers {
		c.Servers[i].GPUs++
	}
	return c
}

// weight is the gene for weights, which the last number of every job is.
func (s Space) weight() gene {
	k := gene{name: "weight", low: 1, high: 1}
	if s.Weighted {
		k.high = 9
	}
	return k
}

// seconds returns so many units as a stage computes for.
func seconds(n int64) sched.Duration { return sched.Duration(n) * sched.Duration(unit) * 1000 }

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
