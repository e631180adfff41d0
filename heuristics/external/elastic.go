package external

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// containers is what hello says of an elastic instance besides: amounts are in the
// order of the resources.
type containers struct {
	Resources []string  `json:"resources"`
	Bandwidth int       `json:"bandwidth"` // index of the resource that gradients flow over
	Capacity  [][]int64 `json:"capacity"`  // by server
	Workers   [][]int64 `json:"workers"`   // what a worker of each type takes
	Servers   [][]int64 `json:"servers"`   // what a parameter server of each type takes
}

func containersOf(in *sched.Instance) *containers {
	if in.Elastic == nil {
		return nil
	}
	c := &containers{Resources: in.Elastic.Resources, Bandwidth: in.Elastic.Bandwidth, Workers: [][]int64{}, Servers: [][]int64{}}
	for i := range in.Cluster.Servers {
		c.Capacity = append(c.Capacity, in.Cluster.Servers[i].Capacity)
	}
	for _, w := range in.Elastic.Workers {
		c.Workers = append(c.Workers, w.Demand)
	}
	for _, s := range in.Elastic.Servers {
		c.Servers = append(c.Servers, s.Demand)
	}
	return c
}

// elasticJob is what is said of an elastic job besides: all its work, as the
// primal-dual paper has it.
type elasticJob struct {
	Ring       bool    `json:"ring"`
	MaxWorkers int     `json:"max_workers"`
	Batches    int64   `json:"batches"`
	Train      []int64 `json:"train_ns"`  // by type of worker
	Update     []int64 `json:"update_ns"` // by type of parameter server; one entry in a ring
	Gradients  int64   `json:"gradients"`
	// Configurations are those of [sched.Instance.ElasticConfigs]: type of workers, type of
	// parameter servers, whether all are on one server, workers, slots. Only with profiles.
	Configurations [][]any `json:"configurations,omitempty"`
}

// appendElastic writes what there is to know of an elastic job.
func (p *Policy) appendElastic(b []byte, v *sim.View, id sched.JobID) ([]byte, error) {
	in := v.Known()
	e := in.Jobs[id].Elastic
	j := elasticJob{Ring: e.Ring, MaxWorkers: e.MaxWorkers, Batches: e.Batches, Gradients: int64(e.Gradients)}
	for _, t := range e.Train {
		j.Train = append(j.Train, int64(t))
	}
	for _, t := range e.Update {
		j.Update = append(j.Update, int64(t))
	}
	if p.wants(wantProfiles) {
		for _, c := range in.ElasticConfigs(id) {
			j.Configurations = append(j.Configurations, []any{c.WorkerType, c.ServerType, c.OneServer, c.Workers, c.Slots})
		}
	}
	text, err := json.Marshal(j)
	return append(append(b, `,"elastic":`...), text...), err
}

// appendAmounts writes what is free of each resource on the servers where that has
// changed since it was last told.
func (p *Policy) appendAmounts(b []byte, free [][]int64) []byte {
	comma := false
	for s, amounts := range free {
		if slices.Equal(p.amounts[s], amounts) {
			continue
		}
		p.amounts[s] = append(p.amounts[s][:0], amounts...)
		if comma {
			b = append(b, ',')
		}
		comma = true
		b = append(strconv.AppendInt(append(b, '['), int64(s), 10), ",["...)
		for r, n := range amounts {
			if r > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, n, 10)
		}
		b = append(b, "]]"...)
	}
	return b
}

// mostContainers is beyond what any server holds, and no number that products with
// demands overflow by.
const mostContainers = 1 << 20

// contain returns the containers of a start. What they may be is for the simulator to say.
func (p *Policy) contain(v *sim.View, s *start) (sched.Placement, error) {
	in := v.Known()
	c := &s.config
	switch {
	case c.Accumulation != nil || c.Size != nil || c.Stages != nil:
		return sched.Placement{}, fmt.Errorf("an elastic job has no accumulation, size or stages: choose its types")
	case s.parts == nil:
		return sched.Placement{}, fmt.Errorf("an elastic job is placed by parts, such as [[0,[4,1]]] for 4 workers and a parameter server on server 0")
	case c.Types == nil:
		c.Types = []whole{0, 0}
	case len(c.Types) != 2:
		return sched.Placement{}, fmt.Errorf("types has %d entries: it must be [type of workers, type of parameter servers]", len(c.Types))
	}
	if m, k := c.Types[0], c.Types[1]; m < 0 || m >= whole(len(in.Elastic.Workers)) || k < 0 || k >= whole(max(1, len(in.Elastic.Servers))) {
		return sched.Placement{}, fmt.Errorf("types [%d,%d]: there are %d types of workers and %d of parameter servers", m, k, len(in.Elastic.Workers), len(in.Elastic.Servers))
	}
	servers := len(in.Cluster.Servers)
	y, z := make([]int, servers), make([]int, servers)
	for i, part := range s.parts {
		switch {
		case part.server < 0 || part.server >= whole(servers):
			return sched.Placement{}, fmt.Errorf("there is no server %d: they are 0 to %d", part.server, servers-1)
		case i > 0 && part.server <= s.parts[i-1].server:
			return sched.Placement{}, fmt.Errorf("server %d comes after server %d: servers are in ascending order, each once", part.server, s.parts[i-1].server)
		case len(part.devices) != 2 || min(part.devices[0], part.devices[1]) < 0 || max(part.devices[0], part.devices[1]) > mostContainers || part.devices[0]+part.devices[1] == 0:
			return sched.Placement{}, fmt.Errorf("part %d must be [server, [workers, parameter servers]], not both 0", i)
		case part.devices[1] > 0 && len(in.Elastic.Servers) == 0:
			return sched.Placement{}, fmt.Errorf("part %d has parameter servers, of which there is no type", i)
		}
		y[part.server], z[part.server] = part.devices[0], part.devices[1]
	}
	return in.ElasticPlacement(int(c.Types[0]), int(c.Types[1]), y, z), nil
}
