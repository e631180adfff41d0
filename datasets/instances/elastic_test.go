package instances

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"yardstick/datasets"
	"yardstick/sched"
)

func TestElastic(t *testing.T) {
	w := window(t)
	for _, ring := range []bool{false, true} {
		o := elasticOptions()
		o.Ring = ring
		in := must(t)(Elastic(w, o))
		in64 := func(what string, v, low, high int64) {
			t.Helper()
			if v < low || v > high {
				t.Errorf("ring %v: %s is %d, want %d to %d", ring, what, v, low, high)
			}
		}
		const ms = 1_000_000
		for i, j := range w.List() {
			got := &in.Jobs[i]
			e := got.Elastic
			if !j.Weight.OK {
				in64("weight", int64(got.Weight), 200, 5000)
			}
			in64("chunks", int64(e.MaxWorkers), 5, 50)
			in64("E·K", e.Batches/int64(e.MaxWorkers), 50*10, 100*50)
			in64("gradients", int64(e.Gradients), 30e6, 575e6)
			if e.Batches%int64(e.MaxWorkers) != 0 || e.Gradients%1e6 != 0 || e.Ring != ring {
				t.Errorf("%+v", e)
			}
			for _, v := range e.Train {
				in64("training, ns", int64(v), 3_600*ms, 180_000*ms) // 0.001 to 0.05 hours
			}
			for _, v := range e.Update {
				in64("update, ns", int64(v), 10*ms, 100*ms)
			}
			updates := 10
			if ring {
				updates = 1
			}
			in64("worker types", int64(len(e.Train)), 8, 8)
			in64("update types", int64(len(e.Update)), int64(updates), int64(updates))
		}
		for _, c := range in.Elastic.Workers {
			in64("worker GPUs", c.Demand[0], 1, 4)
			in64("worker CPUs", c.Demand[1], 1, 16)
			in64("worker Mbit/s", c.Demand[2], 100, 5_000)
		}
		for _, c := range in.Elastic.Servers {
			in64("server GPUs", c.Demand[0], 0, 0)
			in64("server CPUs", c.Demand[1], 1, 16)
			in64("server Mbit/s", c.Demand[2], 5_000, 20_000)
		}
		for h, s := range in.Cluster.Servers {
			if int64(s.GPUs) != s.Capacity[0] || len(s.Capacity) != 3 {
				t.Errorf("server %d: %+v", h, s)
			}
		}
		if s := in.Cluster.Servers[0]; s.GPUs != 8 || s.Capacity[1] != 64 || s.Capacity[2] != 25_000 {
			t.Errorf("the first server is %+v", s)
		}
	}
}

// The number of servers is the least prefix of the draw that reaches the share.
func TestElasticUntilCapacity(t *testing.T) {
	w := window(t)
	last := 0
	for _, fraction := range []float64{0.05, 0.2, 0.35, 0.5} {
		o := elasticOptions()
		o.Capacity = datasets.Some(fraction)
		in := must(t)(Elastic(w, o))
		ideal := idealDemand(in)
		short := func(servers []sched.Server) bool {
			var total [resources]int64
			for _, s := range servers {
				for k := range total {
					total[k] += s.Capacity[k]
				}
			}
			for k := range total {
				if float64(total[k]) < fraction*float64(ideal[k]) {
					return true
				}
			}
			return false
		}
		list := in.Cluster.Servers
		if short(list) || len(list) > 1 && !short(list[:len(list)-1]) || len(list) < last {
			t.Errorf("fraction %v: %d servers for %v", fraction, len(list), ideal)
		}
		last = len(list)
	}
	o := elasticOptions()
	o.Servers = datasets.Some(3)
	if in := must(t)(Elastic(w, o)); len(in.Cluster.Servers) != 3 {
		t.Errorf("%d servers, want 3", len(in.Cluster.Servers))
	}
}

// TestElasticCapacity: whatever the number of servers, they have that share of what the
// jobs ask for, each in proportion to its size but for the units that those get which
// would have none; jobs and types are as without.
func TestElasticCapacity(t *testing.T) {
	w := window(t)
	for _, servers := range []int{1, 2, 5, 9, 60} {
		for _, capacity := range []float64{0.2, 0.35, 0.5, 0.9} {
			o := elasticOptions()
			o.Servers = datasets.Some(servers)
			plain := must(t)(Elastic(w, o))
			o.Capacity = datasets.Some(capacity)
			in := must(t)(Elastic(w, o))
			if !reflect.DeepEqual(in.Jobs, plain.Jobs) || !reflect.DeepEqual(in.Elastic, plain.Elastic) {
				t.Fatalf("%d servers, %v: other jobs or types", servers, capacity)
			}
			ideal := idealDemand(in)
			for k := range ideal {
				want, total, got := int64(math.Round(capacity*float64(ideal[k]))), int64(0), int64(0)
				for _, s := range plain.Cluster.Servers {
					total += s.Capacity[k]
				}
				given := 0.0
				for _, s := range plain.Cluster.Servers {
					if s.Capacity[k]*want < total {
						given++
					}
				}
				for h, s := range in.Cluster.Servers {
					exact := float64(plain.Cluster.Servers[h].Capacity[k]) * float64(want) / float64(total)
					if d := float64(s.Capacity[k]) - exact; s.Capacity[k] < 1 || d >= 1 || d <= -1-given {
						t.Errorf("%d servers, %v: server %d has %d of %v", servers, capacity, h, s.Capacity[k], exact)
					}
					got += s.Capacity[k]
				}
				if got != want {
					t.Errorf("%d servers, %v: %d of %s, want %d", servers, capacity, got, in.Elastic.Resources[k], want)
				}
			}
		}
	}
	o := elasticOptions()
	o.Servers, o.Capacity = datasets.Some(5000), datasets.Some(0.2)
	in := must(t)(Elastic(w, o))
	gpus, ideal := int64(0), idealDemand(in)
	for h, s := range in.Cluster.Servers {
		if gpus += s.Capacity[resourceGPU]; s.Capacity[resourceGPU] > 1 && h > 0 {
			t.Errorf("server %d has %d GPUs where others have none", h, s.Capacity[resourceGPU])
		}
	}
	if want := int64(math.Round(0.2 * float64(ideal[resourceGPU]))); gpus != want || want >= 5000 {
		t.Errorf("5000 servers have %d GPUs, want %d", gpus, want)
	}
}

// TestElasticRoom: few jobs on many servers, of which each gets too little for any
// container: the first then holds what one job needs, and nothing else changes but by what
// it took. Instances with room stay as they were shared out.
func TestElasticRoom(t *testing.T) {
	made := 0
	for seed := range uint64(40) {
		for _, ring := range []bool{false, true} {
			for _, kind := range []int{0, 1, 8} {
				w := &windows(t, rows(200), datasets.Slice{Jobs: 4, At: datasets.At{Rule: datasets.AtIndex, Index: 100}}, seed)[0]
				o := elasticOptions()
				o.Ring, o.WorkerType, o.Servers, o.Capacity = ring, kind, datasets.Some(20), datasets.Some(0.35)
				in := must(t)(Elastic(w, o))
				if !canStart(in) {
					t.Fatalf("seed %d, rings %v, type %d: no job can run on %v", seed, ring, kind, in.Cluster.Servers)
				}
				o.WorkerType = 0
				all := must(t)(Elastic(w, o))
				shared := o.servers(w.Seed, all)
				taken := false
				for k := range resources {
					want, got := int64(0), int64(0)
					for h, s := range in.Cluster.Servers {
						want, got = want+shared[h].Capacity[k], got+s.Capacity[k]
						if s.Capacity[k] < 0 || h > 0 && s.Capacity[k] > shared[h].Capacity[k] || k == resourceGPU && s.GPUs != int(s.Capacity[k]) {
							t.Errorf("seed %d, rings %v, type %d: server %d has %v with %d GPUs of %v", seed, ring, kind, h, s.Capacity, s.GPUs, shared[h].Capacity)
						}
						taken = taken || s.Capacity[k] != shared[h].Capacity[k]
					}
					if got != want {
						t.Errorf("seed %d, rings %v, type %d: %d of resource %d, want %d", seed, ring, kind, got, k, want)
					}
				}
				before := *in
				before.Cluster.Servers = shared
				if taken == canStart(&before) {
					t.Errorf("seed %d, rings %v, type %d: as shared a job can run: %v, and the first server took from others: %v", seed, ring, kind, !taken, taken)
				}
				if taken {
					made++
				}
			}
		}
	}
	if made < 10 {
		t.Errorf("room was made %d times", made)
	}
	w := &windows(t, rows(200), datasets.Slice{Jobs: 1, At: datasets.At{Rule: datasets.AtIndex, Index: 100}}, 1)[0]
	o := elasticOptions()
	o.Servers, o.Capacity = datasets.Some(2), datasets.Some(0.01)
	if _, err := Elastic(w, o); err == nil || !strings.Contains(err.Error(), "no job can run") {
		t.Errorf("next to nothing: %v", err)
	}
}

func TestIdealDemandByHand(t *testing.T) {
	in := &sched.Instance{
		Elastic: &sched.ElasticTypes{
			Workers: []sched.Container{{Demand: []int64{1, 2, 1000}}, {Demand: []int64{4, 8, 3000}}},
			Servers: []sched.Container{{Demand: []int64{0, 16, 5000}}, {Demand: []int64{0, 3, 10_000}}},
		},
		Jobs: []sched.Job{
			{Elastic: &sched.Elastic{MaxWorkers: 7, Train: []sched.Duration{5, 4}, Update: []sched.Duration{2, 1}}},
			{Elastic: &sched.Elastic{MaxWorkers: 2, Train: []sched.Duration{5, 5}, Update: []sched.Duration{1}, Ring: true}},
		},
	}
	// 7 workers of the second type send 21 Gbit/s, to 3 servers of the second type.
	want := [resources]int64{7*4 + 2*1, 7*8 + 3*3 + 2*2, 7*3000 + 3*10_000 + 2*1000}
	if got := idealDemand(in); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestElasticGivenCluster(t *testing.T) {
	w := window(t)
	o := elasticOptions()
	server := func(gpus int, capacity ...int64) sched.Server { return sched.Server{GPUs: gpus, Capacity: capacity} }
	for _, c := range []struct {
		ring    bool
		servers []sched.Server
		ok      bool
	}{
		{false, []sched.Server{server(4, 4, 32, 25_000)}, true},
		{false, []sched.Server{server(4, 4, 16, 5_000)}, false},                          // no parameter server beside
		{false, []sched.Server{server(4, 4, 16, 5_000), server(0, 0, 16, 20_000)}, true}, // on two
		{true, []sched.Server{server(4, 4, 16, 5_000)}, true},                            // none needed
		{true, []sched.Server{server(4, 4, 16, 50)}, false},
	} {
		o.Ring, o.Cluster = c.ring, sched.Cluster{Servers: c.servers, Inter: 1e9, Intra: 1e9}
		in, err := Elastic(w, o)
		if (err == nil) != c.ok {
			t.Errorf("ring %v on %v: %v", c.ring, c.servers, err)
		}
		if err == nil && len(in.Cluster.Servers) != len(c.servers) {
			t.Errorf("%d servers", len(in.Cluster.Servers))
		}
	}
}

func TestElasticWeights(t *testing.T) {
	w := window(t)
	o := elasticOptions()
	for from, high := range map[datasets.Weights]float64{datasets.WeightsUnit: 1, datasets.WeightsRandom: 10} {
		o.Weights = from
		in := must(t)(Elastic(w, o))
		for i := range in.Jobs {
			if v := in.Jobs[i].Weight; v < 1 || v > high {
				t.Errorf("weights %s: %v", from, v)
			}
		}
	}
}

// Limits take choices away, and nothing else: each configuration of a limited
// job is one of the unlimited job, and every one within the limits is left.
func TestElasticLimits(t *testing.T) {
	w := window(t)
	for _, ring := range []bool{false, true} {
		o := elasticOptions()
		o.Ring, o.Servers = ring, datasets.Some(20)
		full := must(t)(Elastic(w, o))
		o.MaxWorkers, o.WorkerType = 4, 3
		limited := must(t)(Elastic(w, o))
		if len(limited.Elastic.Workers) != 1 || !reflect.DeepEqual(limited.Elastic.Workers[0], full.Elastic.Workers[2]) {
			t.Fatalf("ring %v: worker types %v of %v", ring, limited.Elastic.Workers, full.Elastic.Workers)
		}
		if !reflect.DeepEqual(limited.Cluster, full.Cluster) {
			t.Errorf("ring %v: another cluster", ring)
		}
		for id := range full.Jobs {
			var want []sched.ElasticConfig
			for _, c := range full.ElasticConfigs(sched.JobID(id)) {
				if c.WorkerType == 2 && c.Workers <= 4 {
					c.WorkerType = 0
					want = append(want, c)
				}
			}
			if got := limited.ElasticConfigs(sched.JobID(id)); len(got) == 0 || !reflect.DeepEqual(got, want) {
				t.Errorf("ring %v: job %d has %v, want %v", ring, id, got, want)
			}
		}
	}
	for _, bad := range []ElasticOptions{{MaxWorkers: -1}, {WorkerType: -1}, {WorkerType: 9}, {WorkerTypes: datasets.Some(2), WorkerType: 3}} {
		if _, err := Elastic(w, bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
