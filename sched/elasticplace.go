package sched

import (
	"fmt"
	"slices"
)

// ElasticPlacement returns the placement with workers[h] workers and servers[h]
// parameter servers on server h: y_jhm and s_jhp of the primal-dual paper. In a
// ring, servers may be nil. Servers that host nothing are left out.
func (in *Instance) ElasticPlacement(workerType, serverType int, workers, servers []int) Placement {
	p := Placement{Config: &Config{WorkerType: workerType, ServerType: serverType}}
	gpu := in.Elastic.gpu()
	for h, y := range workers {
		s := 0
		if servers != nil {
			s = servers[h]
		}
		if y == 0 && s == 0 {
			continue
		}
		sh := Share{Server: h, Stages: []int{y, s}}
		if gpu >= 0 {
			sh.GPUs = int(in.elasticDemand(p.Config, &sh, gpu))
		}
		p.Shares = append(p.Shares, sh)
	}
	return p
}

// gpu returns the index of the resource that is named gpu, −1 without one.
func (e *ElasticTypes) gpu() int { return slices.Index(e.Resources, "gpu") }

// ElasticDemand returns f^r_jh(l), how much of resource r a share of the
// placement of an elastic job takes of its server: e^r_m y + z^r_p s.
func (in *Instance) ElasticDemand(p *Placement, share, r int) int64 {
	return in.elasticDemand(p.choice(), &p.Shares[share], r)
}

func (in *Instance) elasticDemand(c *Config, sh *Share, r int) int64 {
	f := in.Elastic.Workers[c.WorkerType].Demand[r] * int64(sh.Stages[0])
	if s := sh.Stages[1]; s > 0 { // a ring may have no type
		f += in.Elastic.Servers[c.ServerType].Demand[r] * int64(s)
	}
	return f
}

// holds reports whether the capacity of a resource suffices for a share of at
// most maxWorkers workers.
func (in *Instance) holds(capacity int64, c *Config, sh *Share, r int) bool {
	if s := int64(sh.Stages[1]); s > 0 {
		if z := in.Elastic.Servers[c.ServerType].Demand[r]; z > 0 && s > capacity/z { // lest the product overflow
			return false
		}
	}
	return in.elasticDemand(c, sh, r) <= capacity
}

// choice returns the configuration; none is the same as an empty one.
func (p *Placement) choice() *Config {
	if p.Config == nil {
		return &Config{}
	}
	return p.Config
}

// ElasticSegment returns the segment of a job that runs on the placement during
// the given number of slots from slot start on.
func (in *Instance) ElasticSegment(id JobID, start, slots int64, p Placement) Segment {
	return Segment{Job: id, Start: Time(start) * in.Slot, End: Time(start+slots) * in.Slot, Place: p}
}

// ReadElastic returns the configuration that a placement of an elastic job is
// of, with Slots as needed for all its mini-batches.
//
// Errors: the placement breaks one of the constraints on the job alone, Eqs.
// (2b) to (2g), (2i) and (2h) of the primal-dual paper.
func (in *Instance) ReadElastic(id JobID, p *Placement) (ElasticConfig, error) {
	c, err := in.readElastic(in.Jobs[id].Elastic, p)
	if err == nil {
		c.Slots, err = in.ElasticSlots(id, c.WorkerType, c.ServerType, c.Workers, c.OneServer)
	} else {
		err = fmt.Errorf("sched: job %d: %w", id, err)
	}
	return c, err
}

func (in *Instance) readElastic(e *Elastic, p *Placement) (ElasticConfig, error) {
	choice := p.choice()
	c := ElasticConfig{WorkerType: choice.WorkerType, ServerType: choice.ServerType, OneServer: len(p.Shares) == 1}
	if c.WorkerType < 0 || c.WorkerType >= len(e.Train) || c.ServerType < 0 || c.ServerType >= len(e.Update) {
		return c, fmt.Errorf("there is no worker type %d with parameter-server type %d", c.WorkerType, c.ServerType)
	}
	hosted, last := false, -1
	for i := range p.Shares {
		sh := &p.Shares[i]
		if sh.Server <= last || sh.Server >= len(in.Cluster.Servers) {
			return c, fmt.Errorf("placement lists server %d after %d: ascending indices below %d are required", sh.Server, last, len(in.Cluster.Servers))
		}
		last = sh.Server
		if len(sh.Stages) != 2 || min(sh.Stages[0], sh.Stages[1]) < 0 || max(sh.Stages[0], sh.Stages[1]) == 0 {
			return c, fmt.Errorf("placement has %v workers and parameter servers on server %d: two numbers, not both 0, are required", sh.Stages, sh.Server)
		}
		if c.Workers += min(sh.Stages[0], maxWorkers+1); c.Workers > e.MaxWorkers {
			return c, fmt.Errorf("placement has more than %d workers", e.MaxWorkers)
		}
		hosted = hosted || sh.Stages[1] > 0
	}
	switch {
	case c.Workers < 1:
		return c, fmt.Errorf("placement has no workers")
	case e.Ring == hosted:
		return c, fmt.Errorf("placement has parameter servers (%v): none in a ring, at least one elsewhere", hosted)
	}
	bw := in.Elastic.Bandwidth
	for i := range p.Shares {
		sh := &p.Shares[i]
		for r, capacity := range in.Cluster.Servers[sh.Server].Capacity {
			if !in.holds(capacity, choice, sh, r) {
				return c, fmt.Errorf("placement takes more than the %d %s of server %d", capacity, in.Elastic.Resources[r], sh.Server)
			}
		}
		remote := in.Elastic.Workers[c.WorkerType].Demand[bw] * int64(c.Workers-sh.Stages[0])
		if s := sh.Stages[1]; s > 0 && remote > int64(s)*in.Elastic.Servers[c.ServerType].Demand[bw] {
			return c, fmt.Errorf("placement has %d parameter servers on server %d, too few for the %d workers elsewhere", s, sh.Server, c.Workers-sh.Stages[0])
		}
	}
	return c, nil
}
