package schedtest

import (
	"math/rand/v2"
	"slices"

	"yardstick/sched"
)

// ElasticShape says what random elastic instances look like.
type ElasticShape struct {
	Jobs, Servers int
	Resources     int // 1 to 3: bandwidth, then gpu, then memory
	WorkerTypes   int
	ServerTypes   int // parameter servers; 0 if every job is a ring
	Workers       int // the most of a job, D_j
	Capacity      int // the most of a resource on one server; each has between 1 and as many
	Slots         int // about how many slots one worker needs
	Rings         bool
	Weights       bool       // vary from 1 to 9; otherwise they are 1
	Releases      sched.Time // the latest; not aligned to slots
	Deadline      int64      // in slots; 0 for none
}

// elasticSlot is the slot length of random elastic instances.
const elasticSlot = 10 * sched.Second

// Elastic returns a random elastic instance in which every job runs on some
// placement in the empty cluster. With Rings about half the jobs are rings; with
// no parameter-server types all are. A demand is up to two units (0 is possible
// except of bandwidth, where that of parameter servers is up to four).
func Elastic(r *rand.Rand, s ElasticShape) *sched.Instance {
	for {
		in := drawElastic(r, s)
		if !slices.ContainsFunc(jobIDs(in), func(id sched.JobID) bool { return len(in.ElasticConfigs(id)) == 0 }) {
			must(in)
			return in
		}
	}
}

func jobIDs(in *sched.Instance) []sched.JobID {
	ids := make([]sched.JobID, len(in.Jobs))
	for i := range ids {
		ids[i] = sched.JobID(i)
	}
	return ids
}

func drawElastic(r *rand.Rand, s ElasticShape) *sched.Instance {
	in := &sched.Instance{Name: "random", Model: sched.ModelElastic, Slot: elasticSlot, Deadline: elasticSlot * sched.Time(s.Deadline), Cluster: Servers(),
		Elastic: &sched.ElasticTypes{Resources: []string{"bw", "gpu", "mem"}[:s.Resources], Bandwidth: 0}}
	for range s.Servers {
		server := sched.Server{GPUs: 1}
		for range s.Resources {
			server.Capacity = append(server.Capacity, 1+r.Int64N(int64(s.Capacity)))
		}
		if s.Resources > 1 {
			server.GPUs = int(server.Capacity[1])
		}
		in.Cluster.Servers = append(in.Cluster.Servers, server)
	}
	container := func(bandwidth int64) sched.Container {
		demand := []int64{1 + r.Int64N(bandwidth)}
		for len(demand) < s.Resources {
			demand = append(demand, r.Int64N(3))
		}
		return sched.Container{Demand: demand}
	}
	for range s.WorkerTypes {
		in.Elastic.Workers = append(in.Elastic.Workers, container(2))
	}
	for range s.ServerTypes {
		in.Elastic.Servers = append(in.Elastic.Servers, container(4))
	}
	for range s.Jobs {
		in.Jobs = append(in.Jobs, elasticJob(r, s))
	}
	return in
}

// elasticJob draws times such that one worker needs Slots slots at most, and
// up to twice as many when its gradients travel.
func elasticJob(r *rand.Rand, s ElasticShape) sched.Job {
	e := &sched.Elastic{Ring: s.ServerTypes == 0 || s.Rings && r.IntN(2) == 0, MaxWorkers: 1 + r.IntN(s.Workers), Batches: 1 + r.Int64N(20)}
	batch := int64(elasticSlot) * 1000 * int64(s.Slots) / e.Batches // nanoseconds
	for range s.WorkerTypes {
		e.Train = append(e.Train, sched.Duration(1+r.Int64N(batch)))
	}
	for range max(1, s.ServerTypes) {
		e.Update = append(e.Update, sched.Duration(r.Int64N(batch/4+1)))
	}
	if e.Ring {
		e.Update = e.Update[:1]
	}
	e.Gradients = sched.Bytes(r.Int64N(batch/16_000 + 1)) // 16,000 ns per byte at 1 Mbit/s
	j := sched.Job{Weight: 1, Elastic: e}
	if s.Weights {
		j.Weight = float64(1 + r.IntN(9))
	}
	if s.Releases > 0 {
		j.Release = sched.Time(r.Int64N(int64(s.Releases) + 1))
	}
	return j
}

// ScaleElastic multiplies every time of an elastic instance by k: slot,
// deadline, releases, loads, pauses, v_jm and U_jp, and the gradients.
// Effect: every schedule scales, and so does every optimum in time.
func ScaleElastic(in *sched.Instance, k int64) *sched.Instance {
	out := *in
	out.Slot, out.Deadline = out.Slot*sched.Time(k), out.Deadline*sched.Time(k)
	out.Jobs = slices.Clone(in.Jobs)
	for i := range out.Jobs {
		j := &out.Jobs[i]
		j.Release, j.Load, j.Pause = j.Release*sched.Time(k), j.Load*sched.Time(k), j.Pause*sched.Time(k)
		e := *j.Elastic
		e.Train, e.Update = slices.Clone(e.Train), slices.Clone(e.Update)
		for m := range e.Train {
			e.Train[m] *= sched.Duration(k)
		}
		for p := range e.Update {
			e.Update[p] *= sched.Duration(k)
		}
		e.Gradients *= sched.Bytes(k)
		j.Elastic = &e
	}
	must(&out)
	return &out
}

// ElasticChoice is one way to run an elastic job: a placement and how many
// slots it takes.
type ElasticChoice struct {
	Place sched.Placement
	Slots int64
}

// ElasticChoices returns Gamma_j of the primal-dual paper without the starting
// times: every worker type, parameter-server type and number y_h and s_h of both
// on every server that Eqs. (2b) to (2g), (2i) and, in the empty cluster, (2h)
// allow, with the least number of slots. Nothing is left out by dominance. It is
// meant for up to three servers with capacities of a few units.
func ElasticChoices(in *sched.Instance, id sched.JobID) []ElasticChoice {
	var out []ElasticChoice
	e := in.Jobs[id].Elastic
	n := len(in.Cluster.Servers)
	for m := range e.Train {
		for p := range e.Update {
			y, s := make([]int, n), make([]int, n)
			var count func(h, left int)
			count = func(h, left int) { // containers on servers h, h+1, …, left of the workers
				if h == n {
					place := in.ElasticPlacement(m, p, y, s)
					if c, err := in.ReadElastic(id, &place); err == nil {
						out = append(out, ElasticChoice{place, c.Slots})
					}
					return
				}
				for y[h] = 0; y[h] <= left && holds(in, h, m, p, y[h], 0); y[h]++ {
					for s[h] = 0; holds(in, h, m, p, y[h], s[h]); s[h]++ {
						count(h+1, left-y[h])
						if e.Ring {
							break
						}
					}
				}
				y[h], s[h] = 0, 0
			}
			count(0, e.MaxWorkers)
		}
	}
	return out
}

// holds reports whether a server of the empty cluster holds the containers.
func holds(in *sched.Instance, h, m, p, y, s int) bool {
	for r, capacity := range in.Cluster.Servers[h].Capacity {
		used := in.Elastic.Workers[m].Demand[r] * int64(y)
		if s > 0 {
			used += in.Elastic.Servers[p].Demand[r] * int64(s)
		}
		if used > capacity {
			return false
		}
	}
	return true
}

// UndominatedChoices returns the part of Gamma_j that dominance leaves, without
// the starting times: for each of Instance.ElasticConfigs every way to put N
// workers on servers, on one alone if OneServer, with parameter servers on a
// single server, max(1, ceil(b_m(N−g)/B_p)) of them beside g workers there.
func UndominatedChoices(in *sched.Instance, id sched.JobID) []ElasticChoice {
	var out []ElasticChoice
	e := in.Jobs[id].Elastic
	n := len(in.Cluster.Servers)
	for _, c := range in.ElasticConfigs(id) {
		y := make([]int, n)
		put := func() {
			for host := range n {
				s := make([]int, n)
				if !e.Ring {
					s[host] = in.ParameterServers(c.WorkerType, c.ServerType, c.Workers-y[host])
				} else if host > 0 {
					break
				}
				place := in.ElasticPlacement(c.WorkerType, c.ServerType, y, s)
				if _, err := in.ReadElastic(id, &place); err != nil || c.OneServer && len(place.Shares) > 1 {
					continue
				}
				out = append(out, ElasticChoice{place, c.Slots})
			}
		}
		var spread func(h, left int)
		spread = func(h, left int) {
			if h == n-1 {
				y[h] = left
				put()
				return
			}
			for y[h] = 0; y[h] <= left; y[h]++ {
				spread(h+1, left-y[h])
			}
			y[h] = 0
		}
		spread(0, c.Workers)
	}
	return out
}
