package sched_test

import (
	"math/rand/v2"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// TestValidateFits draws small instances of every model in which nothing but the
// room can be wrong: Validate accepts one iff each of its jobs, alone in the empty
// cluster, has a placement, which is looked for among all there are.
func TestValidateFits(t *testing.T) {
	for _, c := range []struct {
		name string
		draw func(*rand.Rand) *sched.Instance
		fits func(*sched.Instance, sched.JobID) bool
	}{
		{"gang", func(r *rand.Rand) *sched.Instance { return drawRigid(r, sched.ModelGang) }, placed},
		{"preemptive", func(r *rand.Rand) *sched.Instance { return drawRigid(r, sched.ModelPreemptive) }, placed},
		{"sharing", drawSharing, placed},
		{"malleable", drawMalleable, func(in *sched.Instance, id sched.JobID) bool { return placed(in, id) && sized(in, id) }},
		{"elastic", drawElastic, func(in *sched.Instance, id sched.JobID) bool { return len(schedtest.ElasticChoices(in, id)) > 0 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			accepted, refused := 0, 0
			schedtest.EachSeed(t, 600, func(t *testing.T, r *rand.Rand) {
				in := c.draw(r)
				fits := true
				for id := range in.Jobs {
					fits = fits && c.fits(in, sched.JobID(id))
				}
				err := in.Validate()
				if (err == nil) != fits {
					t.Fatalf("every job has a placement: %v, but Validate says %v\n%+v", fits, err, in)
				}
				if fits {
					accepted++
				} else {
					refused++
				}
			})
			if accepted < 60 || refused < 60 {
				t.Errorf("%d instances fit and %d do not: the test is one-sided", accepted, refused)
			}
		})
	}
}

// placed reports whether the gang has a placement.
func placed(in *sched.Instance, id sched.JobID) bool { return len(schedtest.Placements(in, id)) > 0 }

// sized reports whether a size of a malleable job has a set of servers.
func sized(in *sched.Instance, id sched.JobID) bool {
	for _, z := range in.Jobs[id].Sharing.Sizes {
		for set := range 1 << len(in.Cluster.Servers) {
			gpus, holds := 0, true
			for m, s := range in.Cluster.Servers {
				if set>>m&1 == 1 {
					gpus += s.GPUs
					holds = holds && s.GPUMemory >= z.Memory
				}
			}
			if holds && gpus >= z.GPUs {
				return true
			}
		}
	}
	return false
}

// drawRigid draws up to three servers of up to five GPUs and one or two jobs of
// up to three stages with up to three slices.
func drawRigid(r *rand.Rand, model sched.Model) *sched.Instance {
	in := &sched.Instance{Name: "random", Model: model, Cluster: sched.Cluster{Inter: 1e9, Intra: 1e9}}
	for range 1 + r.IntN(3) {
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: r.IntN(5)})
	}
	in.Cluster.Servers[0].GPUs++
	for range 1 + r.IntN(2) {
		j := sched.Job{Weight: 1, Iters: 1}
		for range 1 + r.IntN(3) {
			j.Stages = append(j.Stages, sched.Stage{Replicas: 1 + r.IntN(2), Slices: r.IntN(4), Compute: second})
		}
		in.Jobs = append(in.Jobs, j)
	}
	return in
}

// drawSharing draws jobs of up to two stages with up to two options, on GPUs of
// which some have too little memory.
func drawSharing(r *rand.Rand) *sched.Instance {
	in := drawRigid(r, sched.ModelSharing)
	in.Interference = [][]float64{{1}}
	for m := range in.Cluster.Servers {
		in.Cluster.Servers[m].GPUMemory = sched.Bytes(r.IntN(8))
	}
	for i := range in.Jobs {
		j := &in.Jobs[i]
		j.Stages = j.Stages[:min(len(j.Stages), 2)]
		for k := range j.Stages {
			j.Stages[k].Slices = 0
		}
		j.Sharing = &sched.Sharing{}
		for steps := range 1 + r.IntN(2) {
			j.Sharing.Accumulation = append(j.Sharing.Accumulation, sched.Accumulation{Steps: 1 + steps, Iter: second, Memory: sched.Bytes(r.IntN(9))})
		}
	}
	return in
}

func drawMalleable(r *rand.Rand) *sched.Instance {
	in := drawSharing(r)
	for i := range in.Jobs {
		j := &in.Jobs[i]
		j.Stages = j.Stages[:1]
		for g := 1; g <= in.Cluster.GPUs(); g++ {
			if r.IntN(3) == 0 || g == in.Cluster.GPUs() && j.Sharing.Sizes == nil {
				j.Sharing.Sizes = append(j.Sharing.Sizes, sched.Size{GPUs: g, Iter: second, Memory: sched.Bytes(r.IntN(9))})
			}
		}
	}
	return in
}

// drawElastic draws demands that are about as large as the capacities.
func drawElastic(r *rand.Rand) *sched.Instance {
	in := &sched.Instance{Name: "random", Model: sched.ModelElastic, Slot: sched.Second, Cluster: sched.Cluster{Inter: 1e9, Intra: 1e9},
		Elastic: &sched.ElasticTypes{Resources: []string{"bw", "cpu", "gpu"}[:1+r.IntN(3)]}}
	for range 1 + r.IntN(3) {
		s := sched.Server{GPUs: 1}
		for range in.Elastic.Resources {
			s.Capacity = append(s.Capacity, r.Int64N(6))
		}
		if len(s.Capacity) == 3 {
			s.GPUs = int(s.Capacity[2])
		}
		in.Cluster.Servers = append(in.Cluster.Servers, s)
	}
	if in.Cluster.GPUs() == 0 {
		in.Cluster.Servers[0].GPUs, in.Cluster.Servers[0].Capacity[2] = 1, 1
	}
	container := func() sched.Container {
		demand := []int64{1 + r.Int64N(6)}
		for len(demand) < len(in.Elastic.Resources) {
			demand = append(demand, r.Int64N(6))
		}
		return sched.Container{Demand: demand}
	}
	for range 1 + r.IntN(2) {
		in.Elastic.Workers = append(in.Elastic.Workers, container())
	}
	for range 1 + r.IntN(2) {
		in.Elastic.Servers = append(in.Elastic.Servers, container())
	}
	for range 1 + r.IntN(2) {
		e := &sched.Elastic{Ring: r.IntN(3) == 0, MaxWorkers: 1 + r.IntN(3), Batches: 1}
		for range in.Elastic.Workers {
			e.Train = append(e.Train, second)
		}
		for range in.Elastic.Servers {
			e.Update = append(e.Update, second)
		}
		if e.Ring {
			e.Update = e.Update[:1]
		}
		in.Jobs = append(in.Jobs, sched.Job{Weight: 1, Elastic: e})
	}
	return in
}
