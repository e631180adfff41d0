package sched

import (
	"fmt"
	"math"
	"slices"
)

// ElasticConfigs returns the undominated configurations of an elastic job, in
// order of worker type, server type, OneServer (true first) and workers. For
// fixed types and q_j, a configuration is listed iff
//
//   - some placement of it fits the empty cluster: Eqs. (2b) to (2e), (2g),
//     (2i), and (2h) for the job alone; and
//   - fewer workers need more slots: of equal d, the smallest N.
//
// The rest can be left out of every optimisation whose objective does not
// improve when a job completes later or uses more: dropping a worker of a
// placement, and every parameter server but those of one server, keeps all
// constraints, so the smaller N fits in the same window wherever the larger one
// does. In a ring the time per mini-batch grows with N, and more workers than
// needed for a certain d may also need more slots; they are not listed either.
//
// A configuration with OneServer false is listed if some placement on two or
// more servers fits, but it stands for placements anywhere, at the pace of
// containers that are apart. A search over these need not tell whether a
// placement happens to be on one server: it is legal there, only slower than
// with OneServer true.
//
// The list is empty if the job fits nowhere or not before MaxTime.
// Cost: per pair of types, O(D_j) and, for what fits, O(R) times the workers
// that one server of each kind holds.
//
// Source: Gamma_j of ILP (8) and (17) of the primal-dual paper, whose list of
// constraints lacks (2d), (2e) and (2g). Not in the source: dominance.
func (in *Instance) ElasticConfigs(id JobID) []ElasticConfig {
	e := in.Jobs[id].Elastic
	var out []ElasticConfig
	for m := range e.Train {
		room := in.roomFor(in.Elastic.Workers[m].Demand)
		for p := range e.Update {
			one, apart := in.mostWorkers(e, m, p, room)
			out = in.appendConfigs(out, e, ElasticConfig{WorkerType: m, ServerType: p, OneServer: true}, min(one, e.MaxWorkers))
			out = in.appendConfigs(out, e, ElasticConfig{WorkerType: m, ServerType: p}, min(apart, e.MaxWorkers))
		}
	}
	return out
}

// appendConfigs adds the configurations of up to the given number of workers.
func (in *Instance) appendConfigs(out []ElasticConfig, e *Elastic, c ElasticConfig, most int) []ElasticConfig {
	shortest := in.lastSlot() + 1
	var total int64 // workers times slots
	ok := false
	for n := 1; n <= most; n++ {
		if n == 1 || e.Ring {
			total, ok = in.workerSlots(e, c.WorkerType, c.ServerType, n, c.OneServer)
		}
		d := ceilDiv(total, int64(n))
		if !ok || d >= shortest {
			continue
		}
		shortest = d
		if e.Ring && n == 1 && !c.OneServer {
			continue // a ring of one worker is on one server
		}
		c.Workers, c.Slots = n, d
		out = append(out, c)
	}
	return out
}

// ParameterServers returns the least number of parameter servers of type p that
// take the gradients of the given number of workers of type m on other servers:
// max(1, ceil(b_m·remote/B_p)), Eqs. (2e) and (2i) of the primal-dual paper.
func (in *Instance) ParameterServers(workerType, serverType, remote int) int {
	bw := in.Elastic.Bandwidth
	b, most := in.Elastic.Workers[workerType].Demand[bw], in.Elastic.Servers[serverType].Demand[bw]
	return max(1, int(ceilDiv(b*int64(remote), most)))
}

// mostWorkers returns the largest number of workers that fit the empty cluster
// on one server, and on two servers or more; 0 if none do. With parameter
// servers it looks at those placements only in which one server hosts all of
// these: no others hold more workers.
func (in *Instance) mostWorkers(e *Elastic, m, p int, room room) (one, apart int) {
	if e.Ring {
		one = slices.Max(room.holds)
		if room.total > one { // so at least two servers hold some
			apart = room.total
		}
		return one, apart
	}
	worker, server := in.Elastic.Workers[m].Demand, in.Elastic.Servers[p].Demand
	bw := in.Elastic.Bandwidth
	for k, capacity := range room.kinds {
		for g := range room.holds[k] + 1 { // workers beside the parameter servers
			s := int64(math.MaxInt64)
			for r, z := range server {
				if z > 0 {
					s = min(s, (capacity[r]-int64(g)*worker[r])/z)
				}
			}
			if s < 1 {
				break
			}
			one = max(one, g)
			if remote := min(int64(room.total-room.holds[k]), s*server[bw]/worker[bw]); remote > 0 {
				apart = max(apart, g+int(remote))
			}
		}
	}
	return one, apart
}

// room is what the empty cluster holds of one type of container.
type room struct {
	kinds [][]int64 // the different capacity vectors
	holds []int     // for each, how many containers such a server holds, at most maxWorkers
	total int       // how many all servers hold together
}

func (in *Instance) roomFor(demand []int64) (out room) {
	for h := range in.Cluster.Servers {
		capacity := in.Cluster.Servers[h].Capacity
		k := slices.IndexFunc(out.kinds, func(other []int64) bool { return slices.Equal(other, capacity) })
		if k < 0 {
			n := int64(maxWorkers)
			for r, v := range demand {
				if v > 0 {
					n = min(n, capacity[r]/v)
				}
			}
			k = len(out.kinds)
			out.kinds, out.holds = append(out.kinds, capacity), append(out.holds, int(n))
		}
		out.total += out.holds[k]
	}
	return out
}

// validateElasticFit checks that every elastic job fits the empty cluster. All
// rings do or none, and all jobs with parameter servers do or none: the least
// that such a job may be made of is the same for all, one worker of some type and
// the parameter servers that it needs.
func (in *Instance) validateElasticFit() error {
	if in.Elastic == nil {
		return nil
	}
	rings, others := in.hosts(true), in.hosts(false)
	for i := range in.Jobs {
		j := &in.Jobs[i]
		switch {
		case j.Elastic.Ring && !rings:
			return fmt.Errorf("jobs[%d] %q: fits nowhere, even if all servers are free: none holds a worker of any type", i, j.Name)
		case !j.Elastic.Ring && !others:
			return fmt.Errorf("jobs[%d] %q: fits nowhere, even if all servers are free: they do not hold one worker and the parameter servers that it needs, of any types", i, j.Name)
		}
	}
	return nil
}

// hosts reports whether the empty cluster holds the least ring, or the least job
// with parameter servers: a worker beside one, or a worker on one server and on
// another the parameter servers that take its gradients. More workers and more
// servers only need more: see ElasticConfigs.
func (in *Instance) hosts(ring bool) bool {
	for m := range in.Elastic.Workers {
		worker := in.Elastic.Workers[m].Demand
		homes := 0 // servers that hold a worker
		for h := range in.Cluster.Servers {
			if in.Cluster.Servers[h].room(worker) > 0 {
				homes++
			}
		}
		if homes == 0 {
			continue
		}
		if ring {
			return true
		}
		for p := range in.Elastic.Servers {
			server, remote := in.Elastic.Servers[p].Demand, int64(in.ParameterServers(m, p, 1))
			for h := range in.Cluster.Servers {
				s := &in.Cluster.Servers[h]
				others := homes - int(min(s.room(worker), 1))
				if s.room(sum(worker, server)) > 0 || others > 0 && s.room(server) >= remote {
					return true
				}
			}
		}
	}
	return false
}

// room returns how many containers of a demand the empty server holds.
func (s *Server) room(demand []int64) int64 {
	n := int64(math.MaxInt64)
	for r, v := range demand {
		if v > 0 {
			n = min(n, s.Capacity[r]/v)
		}
	}
	return n
}

func sum(a, b []int64) []int64 {
	out := slices.Clone(a)
	for r, v := range b {
		out[r] += v
	}
	return out
}
