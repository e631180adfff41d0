package placing

import (
	"errors"
	"fmt"

	"yardstick/datasets/profile"
	"yardstick/sched"
)

// Profiled returns the instance of one job, the profiled model cut by [plan], on a
// cluster.
//
// Errors: profile.ErrNoPlan; invalid options or cluster.
func Profiled(p *profile.Profile, gpus, stages int, cluster sched.Cluster) (*sched.Instance, error) {
	job, err := plan(p, gpus, stages, cluster.Inter)
	if err != nil {
		return nil, err
	}
	in := alone(job.Name, cluster, job)
	return in, in.Validate()
}

// plan cuts a profiled model into pipeline stages for a number of GPUs, as
// profile.Solve does, and returns the job. It is given as much memory per GPU
// as the GPU of the profile has, if that is known, and trains in the first of
// these ways that fits: everything on the GPU, forward passes recomputed,
// optimizer states offloaded as well. 0 stages stands for the best number.
//
// Errors: profile.ErrNoPlan if no way fits; invalid options.
func plan(p *profile.Profile, gpus, stages int, inter sched.Bandwidth) (sched.Job, error) {
	capacity := sched.Bytes(0)
	if g, err := profile.FindGPU(p.GPU); err == nil {
		capacity = g.Memory
	}
	var best *profile.Plan
	var err error
	for _, m := range []profile.Memory{{}, {Recompute: true}, {States: profile.Offloaded, Recompute: true}} {
		m.Capacity = capacity
		best, err = profile.Solve(p, profile.Options{GPUs: gpus, Stages: stages, Memory: m, Bandwidth: inter})
		if !errors.Is(err, profile.ErrNoPlan) {
			break
		}
	}
	if err != nil {
		return sched.Job{}, err
	}
	name := fmt.Sprintf("%s-%dg-%ds", p.Model, gpus, len(best.Stages))
	return sched.Job{Name: name, Model: name, Weight: 1, Iters: 1, Stages: best.Stages}, nil
}
