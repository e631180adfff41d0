package schedtest

import (
	"math/rand/v2"
	"slices"

	"yardstick/sched"
)

// Shape says what random instances look like.
type Shape struct {
	Jobs    int  // how many
	Servers int  // how many
	GPUs    int  // the most on one server; each has between 1 and as many
	Uniform bool // every server has GPUs of them
	Stages  int  // the most of a job; 1 for data-parallel jobs only
	Traffic bool // stages have parameters and boundaries to move, so the placement matters
	Weights bool // weights vary from 1 to 9; otherwise they are 1
	Span    bool // the first job needs more GPUs than any server has, if the cluster has more
	Slices  int  // the most tensor slices of a replica; 0 or 1 for single GPUs only, but in Sharing
	Graph   bool // stages are random acyclic graphs, not chains, but in Sharing

	// Slot makes every release, load, pause and duration a multiple of it, on
	// every placement, and the slot length of the instance. 0: continuous time.
	Slot sched.Time
}

// unit is the grid of all times of the instance.
func (s *Shape) unit() sched.Time {
	if s.Slot > 0 {
		return s.Slot
	}
	return 1
}

// Gang returns a random instance of the gang model. Running times are around
// ten slots, or around a second in continuous time; a new job is released
// every few of these.
func Gang(r *rand.Rand, s Shape) *sched.Instance {
	in := &sched.Instance{Name: "random", Model: sched.ModelGang, Slot: s.Slot, Cluster: cluster(r, s)}
	gpus := in.Cluster.GPUs()
	largest := slices.MaxFunc(in.Cluster.Servers, func(a, b sched.Server) int { return a.GPUs - b.GPUs }).GPUs
	release := sched.Time(0)
	for i := range s.Jobs {
		gang := 1 + r.IntN(min(gpus, largest+1))
		if i == 0 && s.Span && gpus > largest {
			gang = largest + 1 + r.IntN(gpus-largest)
		}
		in.Jobs = append(in.Jobs, job(r, s, &in.Cluster, gang, release))
		if r.IntN(3) > 0 {
			release += s.random(r, 5, sched.Second/2)
		}
	}
	must(in)
	return in
}

// random returns a random time: up to that many slots, or up to a limit in
// continuous time.
func (s *Shape) random(r *rand.Rand, slots int64, limit sched.Time) sched.Time {
	if s.Slot > 0 {
		return s.Slot * sched.Time(r.Int64N(slots+1))
	}
	return sched.Time(r.Int64N(int64(limit) + 1))
}

func cluster(r *rand.Rand, s Shape) sched.Cluster {
	c := Servers()
	if s.Slot == 0 {
		c.Intra *= sched.Bandwidth(1 + r.IntN(100))
	}
	for range s.Servers {
		gpus := s.GPUs
		if !s.Uniform {
			gpus = 1 + r.IntN(s.GPUs)
		}
		c.Servers = append(c.Servers, sched.Server{GPUs: gpus})
	}
	return c
}

func job(r *rand.Rand, s Shape, c *sched.Cluster, gang int, release sched.Time) sched.Job {
	j := sched.Job{Release: release, Weight: 1, Iters: 1 + r.Int64N(3)}
	if s.Weights {
		j.Weight = float64(1 + r.IntN(9))
	}
	for left, stages := gang, 1+r.IntN(min(s.Stages, gang)); stages > 0; stages-- {
		k := left
		if stages > 1 {
			k = 1 + r.IntN(left-stages+1)
		}
		left -= k
		j.Stages = append(j.Stages, sched.Stage{Replicas: k, Compute: sched.Duration(s.unit()+s.random(r, 3, sched.Second/2)) * 1000})
	}
	if s.Slices > 1 {
		for k := range j.Stages {
			width := 1 + r.IntN(s.Slices)
			if replicas := j.Stages[k].Replicas; replicas%width != 0 && replicas <= s.Slices {
				width = replicas
			}
			slice(c, &j, k, width)
		}
	}
	if s.Traffic {
		if s.Slot > 0 {
			slottedTraffic(r, s.Slot, j.Stages)
		} else {
			traffic(r, j.Stages)
		}
	}
	if s.Graph {
		graph(r, s, &j)
	}
	return j
}

// traffic gives stages sizes that take up to about a second to move.
func traffic(r *rand.Rand, stages []sched.Stage) {
	for k := range stages {
		if r.IntN(3) > 0 {
			stages[k].Params = sched.Bytes(r.Int64N(2e8))
		}
		if k < len(stages)-1 {
			stages[k].Boundary = sched.Bytes(r.Int64N(1e8))
		}
		if stages[k].Slices > 1 {
			stages[k].SliceSync = sched.Bytes(r.Int64N(1e9))
		}
	}
}

// slottedTraffic gives stages sizes that take whole slots to move wherever the
// replicas are, at 1 GB/s both between and within servers. With u = 1 GB/s ·
// slot/2, an AllReduce of h = 2ut takes 2(k−1)h·g/(k·x·t·B), which is g slots for
// k = 2 (one if x = 2), and of h = 6ut, 4g/x or 4 slots for k = 3; a boundary
// of D = k·k'·t·t'·u takes ((k'−near)·g + near)·t' slots; and the t slices of a
// replica synchronise tu in t−1 slots.
func slottedTraffic(r *rand.Rand, slot sched.Time, stages []sched.Stage) {
	u := sched.Bytes(500 * slot)
	for k := range stages {
		t := sched.Bytes(max(1, stages[k].Slices))
		if n := stages[k].Replicas; (n == 2 || n == 3) && r.IntN(3) > 0 {
			stages[k].Params = u * t * map[int]sched.Bytes{2: 2, 3: 6}[n]
		}
		if k < len(stages)-1 && r.IntN(2) == 0 {
			stages[k].Boundary = slottedVolume(stages, k, k+1, slot)
		}
		if t > 1 && r.IntN(2) == 0 {
			stages[k].SliceSync = u * t
		}
	}
}

// Preemptive returns a random instance of the preemptive model: jobs as in
// Gang, with times to load and to pause.
func Preemptive(r *rand.Rand, s Shape) *sched.Instance {
	in := Gang(r, s)
	in.Model = sched.ModelPreemptive
	for i := range in.Jobs {
		in.Jobs[i].Load = s.random(r, 2, sched.Second/5)
		in.Jobs[i].Pause = s.random(r, 1, sched.Second/10)
	}
	must(in)
	return in
}
