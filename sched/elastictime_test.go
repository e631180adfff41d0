package sched_test

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// trainer is an elastic instance of one job by parameter servers and one ring
// on two servers of 2 GPUs and 10 Gbit/s: 1 h per slot, 36 s and 100 ms per
// mini-batch on a worker and parameter server, and 500 MB of gradients, which
// take 4 s one way at 1 Gbit/s.
func trainer() *sched.Instance {
	in := &sched.Instance{Name: "trainer", Model: sched.ModelElastic, Slot: 3600 * sched.Second, Cluster: sched.Uniform(2, 2, 1e9, 1e9),
		Elastic: &sched.ElasticTypes{Resources: []string{"gpu", "bw"}, Bandwidth: 1,
			Workers: []sched.Container{{Demand: []int64{1, 1000}}}, Servers: []sched.Container{{Demand: []int64{0, 3000}}}}}
	e := sched.Elastic{MaxWorkers: 4, Batches: 1000, Train: []sched.Duration{36 * second}, Update: []sched.Duration{second / 10}, Gradients: 500e6}
	ring := e
	ring.Ring = true
	for h := range in.Cluster.Servers {
		in.Cluster.Servers[h].Capacity = []int64{2, 10_000}
	}
	in.Jobs = []sched.Job{{Weight: 1, Elastic: &e}, {Weight: 1, Release: 3600*sched.Second + 1, Elastic: &ring}}
	return in
}

func TestBatchTimeByHand(t *testing.T) {
	in := trainer()
	for _, c := range []struct {
		job     sched.JobID
		workers int
		one     bool
		theta   string // seconds
		slots   int64
	}{
		{0, 1, true, "361/10", 11}, // 36.1 s; 36,100 s of work are 10.03 h
		{0, 2, true, "361/10", 6},
		{0, 1, false, "441/10", 13}, // + 2·4 s; 12.25 h
		{0, 3, false, "441/10", 5},
		{0, 4, false, "441/10", 4},
		{1, 1, true, "36", 10}, // exactly 10 h
		{1, 1, false, "36", 10},
		{1, 2, true, "721/20", 6},     // 36 + 0.1/2
		{1, 2, false, "801/20", 6},    // + 8/2
		{1, 3, false, "207/5", 4},     // 36 + 8.1·2/3 = 41.4; 3.83 h
		{1, 4, false, "1683/40", 3},   // 36 + 8.1·3/4 = 42.075; 2.92 h
		{1, 4, true, "1443/40", 3},    // 36 + 0.1·3/4
		{1, 10, true, "3609/100", 2},  // more than fit
		{1, 10, false, "4329/100", 2}, // 36 + 8.1·9/10
		{1, 100, false, "44019/1000", 1},
	} {
		theta, _ := new(big.Rat).SetString(c.theta)
		if got := in.BatchTime(c.job, 0, 0, c.workers, c.one); got.Cmp(theta) != 0 {
			t.Errorf("%+v: theta is %v", c, got)
		}
		if got, err := in.ElasticSlots(c.job, 0, 0, c.workers, c.one); err != nil || got != c.slots {
			t.Errorf("%+v: %d slots, %v", c, got, err)
		}
	}
}

func TestElasticConfigsByHand(t *testing.T) {
	in := trainer()
	want := map[sched.JobID][]sched.ElasticConfig{
		// Two workers and a parameter server fit one server; a parameter server
		// takes three workers' gradients, so the fourth is beside it.
		0: {{OneServer: true, Workers: 1, Slots: 11}, {OneServer: true, Workers: 2, Slots: 6}, {Workers: 1, Slots: 13}, {Workers: 2, Slots: 7}, {Workers: 3, Slots: 5}, {Workers: 4, Slots: 4}},
		1: {{OneServer: true, Workers: 1, Slots: 10}, {OneServer: true, Workers: 2, Slots: 6}, {Workers: 2, Slots: 6}, {Workers: 3, Slots: 4}, {Workers: 4, Slots: 3}},
	}
	for id, list := range want {
		if got := in.ElasticConfigs(id); !slices.Equal(got, list) {
			t.Errorf("job %d: %+v, want %+v", id, got, list)
		}
	}
	in.Jobs[0].Elastic.Batches = 200 // 2.0055 h one worker, 2.45 h apart
	want[0] = []sched.ElasticConfig{{OneServer: true, Workers: 1, Slots: 3}, {OneServer: true, Workers: 2, Slots: 2}, {Workers: 1, Slots: 3}, {Workers: 2, Slots: 2}, {Workers: 3, Slots: 1}}
	if got := in.ElasticConfigs(0); !slices.Equal(got, want[0]) {
		t.Errorf("equal d: %+v, want %+v", got, want[0])
	}
	in.Cluster.Servers = in.Cluster.Servers[:1]
	for id := range in.Jobs {
		for _, c := range in.ElasticConfigs(sched.JobID(id)) {
			if !c.OneServer || c.Workers > 2 {
				t.Errorf("on the only server: %+v", c)
			}
		}
	}
	in.Elastic.Servers[0].Demand[1] = 10_001
	if got := in.ElasticConfigs(0); got != nil {
		t.Errorf("without room for a parameter server: %+v", got)
	}
}

// TestElasticConfigsNaive compares with the definition: for every number of
// workers, whether some placement exists, by enumeration, and whether fewer
// workers are as fast, in rationals.
func TestElasticConfigsNaive(t *testing.T) {
	listed, dominated, impossible := 0, 0, 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		in := schedtest.Elastic(r, schedtest.ElasticShape{Jobs: 2, Servers: 1 + r.IntN(3), Resources: 1 + r.IntN(3), WorkerTypes: 2, ServerTypes: r.IntN(3),
			Workers: 5, Capacity: 6, Slots: 5, Rings: true})
		for i := range in.Jobs {
			id, e := sched.JobID(i), in.Jobs[i].Elastic
			exists := map[string]bool{}
			for _, c := range schedtest.ElasticChoices(in, id) {
				read, err := in.ReadElastic(id, &c.Place)
				if err != nil || read.Slots != c.Slots {
					t.Fatal(err)
				}
				exists[fmt.Sprint(read.WorkerType, read.ServerType, read.OneServer, read.Workers)] = true
			}
			var want []sched.ElasticConfig
			for m := range e.Train {
				for p := range e.Update {
					for _, one := range []bool{true, false} {
						least := int64(math.MaxInt64)
						for n := 1; n <= e.MaxWorkers; n++ {
							work := in.BatchTime(id, m, p, n, one) // seconds of all workers
							work.Mul(work, big.NewRat(e.Batches, int64(n)))
							work.Quo(work, big.NewRat(int64(in.Slot), 1e6))
							d := new(big.Int).Quo(work.Num(), work.Denom()).Int64()
							if !work.IsInt() {
								d++
							}
							switch {
							case !exists[fmt.Sprint(m, p, one, n)]:
								impossible++
							case d >= least:
								dominated++
							default:
								listed++
								want = append(want, sched.ElasticConfig{WorkerType: m, ServerType: p, OneServer: one, Workers: n, Slots: d})
							}
							least = min(least, d)
						}
					}
				}
			}
			if got := in.ElasticConfigs(id); !slices.Equal(got, want) {
				t.Fatalf("seed %d job %d: %+v, want %+v\n%+v", seed, i, got, want, in)
			}
		}
	}
	t.Logf("%d configurations listed, %d dominated, %d impossible", listed, dominated, impossible)
	if listed < 1000 || dominated < 500 || impossible < 500 {
		t.Error("too little of a kind")
	}
}

func TestParameterServers(t *testing.T) {
	in := trainer()
	for remote, want := range []int{1, 1, 1, 1, 2, 2, 2, 3} {
		if got := in.ParameterServers(0, 0, remote); got != want {
			t.Errorf("%d remote workers: %d, want %d", remote, got, want)
		}
	}
}

func TestElasticPlacementRoundTrip(t *testing.T) {
	in := trainer()
	apart := in.ElasticPlacement(0, 0, []int{1, 2}, []int{1, 0})
	ring := in.ElasticPlacement(0, 0, []int{0, 2}, nil)
	if want := (sched.Placement{Shares: []sched.Share{on2(0, 1, 1, 1), on2(1, 2, 2, 0)}, Config: &sched.Config{}}); !reflect.DeepEqual(apart, want) {
		t.Errorf("%+v, want %+v", apart, want)
	}
	if c, err := in.ReadElastic(0, &apart); err != nil || c != (sched.ElasticConfig{Workers: 3, Slots: 5}) || *c.Config() != *apart.Config {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := in.ReadElastic(1, &ring); err != nil || c != (sched.ElasticConfig{OneServer: true, Workers: 2, Slots: 6}) {
		t.Errorf("%+v, %v", c, err)
	}
	for r, want := range []int64{1, 4000} {
		if got := in.ElasticDemand(&apart, 0, r); got != want {
			t.Errorf("demand of resource %d: %d, want %d", r, got, want)
		}
	}
	if a, b := in.FirstSlot(0), in.FirstSlot(1); a != 0 || b != 2 {
		t.Errorf("first slots %d, %d", a, b)
	}
	in.Deadline = 3*in.Slot - 1
	if tau := in.DeadlineSlots(); tau != 2 {
		t.Errorf("%d slots before the deadline", tau)
	}
	s := &sched.Schedule{Class: sched.Class{Kind: sched.E, Slotted: true}, Segments: []sched.Segment{in.ElasticSegment(0, 0, 5, apart), in.ElasticSegment(1, 5, 6, ring)}}
	if x := s.Segments[1]; x.Start != 5*in.Slot || x.End != 11*in.Slot {
		t.Errorf("%+v", x)
	}
	schedtest.Verify(t, in, s)
	var b bytes.Buffer
	if err := s.Write(&b, in); err != nil {
		t.Fatal(err)
	}
	got, hash, err := sched.ReadSchedule(&b)
	if err != nil || hash != in.Hash() || !reflect.DeepEqual(got, s) {
		t.Errorf("read %+v, %v", got, err)
	}
}

// on2 is a share of an elastic job that holds the given number of GPUs.
func on2(server, gpus, workers, servers int) sched.Share {
	return sched.Share{Server: server, GPUs: gpus, Stages: []int{workers, servers}}
}

func TestReadElasticErrors(t *testing.T) {
	place := func(shares ...sched.Share) *sched.Placement { return &sched.Placement{Shares: shares} }
	for want, c := range map[string]struct {
		job sched.JobID
		p   *sched.Placement
	}{
		"no worker type 1":         {0, &sched.Placement{Config: &sched.Config{WorkerType: 1}}},
		"parameter-server type -1": {0, &sched.Placement{Config: &sched.Config{ServerType: -1}}},
		"server 2 after -1":        {0, place(on2(2, 1, 1, 1))},
		"server 0 after 0":         {0, place(on2(0, 1, 1, 1), on2(0, 1, 1, 1))},
		"[0 0] workers":            {0, place(on2(0, 0, 0, 0))},
		"[1] workers":              {0, place(sched.Share{Stages: []int{1}})},
		"[-1 1] workers":           {0, place(on2(0, 0, -1, 1))},
		"more than 4 workers":      {0, place(on2(0, 1, math.MaxInt, 1), on2(1, 1, math.MaxInt, 1))},
		"no workers":               {0, place(on2(0, 0, 0, 1))},
		"servers (false)":          {0, place(on2(0, 1, 1, 0))},
		"servers (true)":           {1, place(on2(0, 1, 1, 1))},
		"the 2 gpu of server 1":    {0, place(on2(0, 1, 1, 1), on2(1, 3, 3, 0))},
		"the 10000 bw of server 0": {0, place(on2(0, 1, 1, math.MaxInt))},
		"too few for the 4":        {0, place(on2(0, 2, 2, 1), on2(1, 2, 2, 0))},
	} {
		in := trainer()
		if strings.HasPrefix(want, "too few") { // four of 1,000 send more than 3,000
			in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{Capacity: []int64{0, 10_000}})
			c.p = place(on2(0, 2, 2, 0), on2(1, 2, 2, 0), on2(2, 0, 0, 1))
		}
		if _, err := in.ReadElastic(c.job, c.p); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "sched: job ") {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// Amounts and counts are bounded so that their products fit an int64, and the
// two places that know the GPUs of a server agree.
func TestElasticValidate(t *testing.T) {
	for want, edit := range map[string]func(in *sched.Instance){
		"has an amount of 1000000000001":  func(in *sched.Instance) { in.Cluster.Servers[1].Capacity[1] = 1_000_000_000_001 },
		"demand[1] is 1000000000001":      func(in *sched.Instance) { in.Elastic.Workers[0].Demand[1] = 1_000_000_000_001 },
		"between 1 and 10000":             func(in *sched.Instance) { in.Jobs[0].Elastic.MaxWorkers = 10_001 },
		"has 3 GPUs, but a capacity of 2": func(in *sched.Instance) { in.Cluster.Servers[0].GPUs = 3 },
	} {
		in := trainer()
		edit(in)
		if err := in.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	in := trainer()
	in.Elastic.Resources[0] = "accelerator"
	in.Cluster.Servers[0].GPUs = 3
	if err := in.Validate(); err != nil {
		t.Errorf("without a resource gpu: %v", err)
	}
}

// Numbers at the ends of what an instance may hold.
func TestElasticExtremes(t *testing.T) {
	in := trainer()
	e := in.Jobs[0].Elastic
	e.Batches, e.Train[0], e.Update[0], e.Gradients = math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64
	if err := in.Validate(); err != nil {
		t.Fatal(err)
	}
	if d, err := in.ElasticSlots(0, 0, 0, 4, false); err == nil || len(in.ElasticConfigs(0)) != 0 {
		t.Errorf("%d slots for more work than there is time", d)
	}
	e.Batches, e.Update[0], e.Gradients = 1, 0, 0
	in.Slot = 1
	e.Train[0] = sched.Duration(sched.MaxTime)*1000 - 1
	for over := range sched.Duration(3) {
		d, err := in.ElasticSlots(0, 0, 0, 1, true)
		if fits := over < 2; fits != (err == nil) || fits && d != int64(sched.MaxTime) || fits != (len(in.ElasticConfigs(0)) > 0 && in.ElasticConfigs(0)[0].Workers == 1) {
			t.Errorf("%d ns: %d slots, %v", e.Train[0], d, err)
		}
		e.Train[0]++
	}
	in.Elastic.Workers[0].Demand[1], in.Elastic.Servers[0].Demand[1] = 1_000_000_000_000, 1
	e.MaxWorkers = 10_000
	if got := in.ParameterServers(0, 0, 10_000); got != 10_000_000_000_000_000 {
		t.Errorf("%d parameter servers", got)
	}
}

// BenchmarkElasticConfigs lists the configurations of one job of the paper's
// size: 150 servers of 10 kinds, 8 worker and 10 parameter-server types, up to
// 50 workers.
func BenchmarkElasticConfigs(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	in := trainer()
	in.Elastic.Workers, in.Elastic.Servers = nil, nil
	e := in.Jobs[0].Elastic
	e.MaxWorkers, e.Batches, e.Train, e.Update = 50, 40_000, nil, nil
	for range 8 {
		in.Elastic.Workers = append(in.Elastic.Workers, sched.Container{Demand: []int64{1 + r.Int64N(4), 100 + r.Int64N(4900)}})
		e.Train = append(e.Train, sched.Duration(3_600+r.IntN(176_400))*second/1000)
	}
	for range 10 {
		in.Elastic.Servers = append(in.Elastic.Servers, sched.Container{Demand: []int64{0, 5000 + r.Int64N(15_000)}})
		e.Update = append(e.Update, sched.Duration(10+r.IntN(90))*second/1000)
	}
	in.Cluster.Servers = nil
	for h := range 150 {
		gpus := int64(1 + h%10)
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: int(gpus), Capacity: []int64{gpus, 10_000 + 15_000*(gpus/6)}})
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(in.ElasticConfigs(0)) == 0 {
			b.Fatal("none")
		}
	}
}
