package primaldual

import (
	"math"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
)

// demands are bounds on what the schedules of one job take that end by the
// horizon. A share is a fraction of the capacity of a server.
type demands struct {
	least, most float64 // all amounts of all resources in all slots together
	unit        float64 // the least positive amount of a resource in a slot
	mostShare   float64 // as most, in shares
	unitShare   float64 // as unit, in shares
	crowd       float64 // the largest share in a slot, if it is at most 1
	volume      float64 // the least sum of fractions of what all servers have together
}

// survey is what the demands of jobs are computed from.
type survey struct {
	model   *pricing.Model
	total   []float64 // capacity of each resource of all servers
	largest []float64 // of the server with the most
	least   map[*sched.Container][]float64
}

func newSurvey(m *pricing.Model) *survey {
	s := &survey{model: m, least: map[*sched.Container][]float64{}}
	n := len(m.In.Elastic.Resources)
	s.total, s.largest = make([]float64, n), make([]float64, n)
	for h := range m.In.Cluster.Servers {
		for r, c := range m.In.Cluster.Servers[h].Capacity {
			s.total[r] += float64(c)
			s.largest[r] = max(s.largest[r], float64(c))
		}
	}
	return s
}

// leastOf returns, for each resource, the least capacity of the servers that
// hold a container.
func (s *survey) leastOf(c *sched.Container) []float64 {
	if known, ok := s.least[c]; ok {
		return known
	}
	out := make([]float64, len(s.total))
	for r := range out {
		out[r] = math.Inf(1)
	}
servers:
	for h := range s.model.In.Cluster.Servers {
		has := s.model.In.Cluster.Servers[h].Capacity
		for r, need := range c.Demand {
			if need > has[r] {
				continue servers
			}
		}
		for r := range out {
			out[r] = min(out[r], float64(has[r]))
		}
	}
	s.least[c] = out
	return out
}

// of returns the demands of a job; false if none of its configurations ends by
// the horizon.
//
// Cost: O(R) per configuration.
func (s *survey) of(id sched.JobID, horizon int64) (demands, bool) {
	in := s.model.In
	d := demands{least: math.Inf(1), unit: math.Inf(1), unitShare: math.Inf(1), volume: math.Inf(1)}
	ring := in.Jobs[id].Elastic.Ring
	first := in.FirstSlot(id)
	found := false
	configs := s.model.Configs[id]
	slot := taken{crowd: make([]float64, len(s.total))}
	for i := range configs {
		c := &configs[i]
		if first+c.Slots > horizon {
			continue
		}
		found = true
		clear(slot.crowd)
		slot = taken{crowd: slot.crowd}
		s.add(&d, &slot, &in.Elastic.Workers[c.WorkerType], c.Workers, c.Workers)
		if !ring {
			most := 1 // parameter servers
			if !c.OneServer {
				most = in.ParameterServers(c.WorkerType, c.ServerType, c.Workers)
			}
			s.add(&d, &slot, &in.Elastic.Servers[c.ServerType], 1, most)
		}
		slots := float64(c.Slots)
		d.least, d.most = min(d.least, slots*slot.least), max(d.most, slots*slot.most)
		d.mostShare = max(d.mostShare, slots*slot.mostShare)
		d.volume = min(d.volume, slots*slot.volume)
		for _, share := range slot.crowd {
			d.crowd = max(d.crowd, share)
		}
	}
	return d, found
}

// taken is what one configuration takes in a slot.
type taken struct {
	least, most, mostShare, volume float64
	crowd                          []float64 // by resource
}

// add counts containers of one type, between least and most of them.
func (s *survey) add(d *demands, slot *taken, c *sched.Container, least, most int) {
	small := s.leastOf(c)
	for r, need := range c.Demand {
		if need == 0 {
			continue
		}
		f := float64(need)
		slot.least += f * float64(least)
		slot.most += f * float64(most)
		slot.mostShare += f * float64(most) / small[r]
		slot.volume += f * float64(least) / s.total[r]
		slot.crowd[r] += f * float64(most) / small[r]
		d.unit, d.unitShare = min(d.unit, f), min(d.unitShare, f/s.largest[r])
	}
}
