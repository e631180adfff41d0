package sim

import (
	"fmt"
	"math/big"
	"slices"

	"yardstick/sched"
)

// containers says what is free of each resource of each server, for the elastic
// model, and what policies may know of its instance.
type containers struct {
	in    *sched.Instance
	known sched.Instance
	free  [][]int64 // by server and resource
}

func newContainers(in *sched.Instance) *containers {
	c := &containers{in: in, known: *in}
	c.known.Jobs = nil
	for h := range in.Cluster.Servers {
		c.free = append(c.free, slices.Clone(in.Cluster.Servers[h].Capacity))
	}
	return c
}

// reveal adds a job to what is known.
func (c *containers) reveal(id sched.JobID) {
	for int(id) >= len(c.known.Jobs) {
		c.known.Jobs = append(c.known.Jobs, sched.Job{})
	}
	c.known.Jobs[id] = c.in.Jobs[id]
}

// batches returns how many mini-batches a job takes in all.
func (c *containers) batches(id sched.JobID) int64 { return c.in.Jobs[id].Elastic.Batches }

// vet checks that what a placement, which ReadElastic has accepted, demands is
// free.
func (c *containers) vet(p *sched.Placement) error {
	for i := range p.Shares {
		server := p.Shares[i].Server
		for r, name := range c.in.Elastic.Resources {
			if need, has := c.in.ElasticDemand(p, i, r), c.free[server][r]; need > has {
				return fmt.Errorf("it needs %d %s of server %d, of which %d are free", need, name, server, has)
			}
		}
	}
	return nil
}

// take subtracts what a placement demands, times sign, from what is free.
func (c *containers) take(p *sched.Placement, sign int64) {
	for i := range p.Shares {
		for r := range c.in.Elastic.Resources {
			c.free[p.Shares[i].Server][r] -= sign * c.in.ElasticDemand(p, i, r)
		}
	}
}

// runTime returns how long all mini-batches of a job take on a placement, in
// whole slots: d_j of Eq. (2f) of the primal-dual paper.
func (c *containers) runTime(id sched.JobID, p *sched.Placement) (sched.Time, error) {
	config, err := c.in.ReadElastic(id, p)
	if err != nil {
		return 0, err
	}
	return sched.Time(config.Slots) * c.in.Slot, nil
}

// iterTime returns the exact time in seconds that a job needs for one mini-batch
// on a placement, all its workers together: theta/N.
func (c *containers) iterTime(id sched.JobID, p *sched.Placement) (*big.Rat, error) {
	config, err := c.in.ReadElastic(id, p)
	if err != nil {
		return nil, err
	}
	theta := c.in.BatchTime(id, config.WorkerType, config.ServerType, config.Workers, config.OneServer)
	return theta.Quo(theta, new(big.Rat).SetInt64(int64(config.Workers))), nil
}

// Known returns the elastic instance as far as it is known: jobs keep their
// numbers, entries of jobs that are not released are empty, and the list ends with
// the highest number released. Of released jobs all work is known, as in the
// primal-dual paper. It is the same pointer during the whole run, for reading, and
// nil in the other models.
func (v *View) Known() *sched.Instance {
	if v.engine.containers == nil {
		return nil
	}
	return &v.engine.containers.known
}

// Free returns what is free of each resource on each server of an elastic
// instance, and nil in the other models. It is for reading.
func (v *View) Free() [][]int64 {
	if v.engine.containers == nil {
		return nil
	}
	return v.engine.containers.free
}
