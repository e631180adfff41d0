package datasets

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"yardstick/sched"
)

func testCluster(servers, gpus int) sched.Cluster {
	return sched.Uniform(servers, gpus, 1_250_000_000, 300_000_000_000)
}

func window(t *testing.T, rows []Row, s Slice) Window {
	t.Helper()
	trace, err := NewTrace(All(rows), Selection{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := trace.Windows(s, 1, "test")
	if err != nil {
		t.Fatal(err)
	}
	return w[0]
}

// exampleRows are three jobs before and three after second 1000.
func exampleRows() []Row {
	rows := []Row{jobRow("a", 0, 1, 100), jobRow("b", 10, 2, 990.5), jobRow("c", 20, 4, 50), jobRow("d", 1000, 0.5, 90.0000004),
		jobRow("e", 1000.25, 2, 30), jobRow("f", 1061, 3.2, 1e-6)}
	rows[0].QueueS = Some(500.0) // completes at 600, b after 1000, c at 70
	rows[0].User, rows[0].Group = Some("u"), Some("g")
	rows[4].Weight = Some(2.5)
	return rows
}

func TestBuild(t *testing.T) {
	w := window(t, exampleRows(), Slice{Jobs: 3, At: At{Rule: AtIndex, Index: 3}})
	in, err := w.Build(Options{Name: "x", Cluster: testCluster(2, 4), History: 10})
	if err != nil {
		t.Fatal(err)
	}
	want := []sched.Job{
		{Name: "d", Release: 0, Weight: 1, Iters: 1, Stages: []sched.Stage{{Replicas: 1, Compute: 90_000_000_400}}},
		{Name: "e", Release: 250_000, Weight: 2.5, Iters: 1, Stages: []sched.Stage{{Replicas: 2, Compute: 30_000_000_000}}},
		{Name: "f", Release: 61_000_000, Weight: 1, Iters: 1, Stages: []sched.Stage{{Replicas: 4, Compute: 1000}}},
	}
	if fmt.Sprint(in.Jobs) != fmt.Sprint(want) {
		t.Errorf("jobs\n%v, want\n%v", in.Jobs, want)
	}
	history := []sched.PastJob{{Gang: 4, Iters: 1}, {User: "u", Group: "g", Gang: 1, Iters: 1}}
	if !slices.Equal(in.History, history) {
		t.Errorf("history %+v, want %+v", in.History, history)
	}
	if in.Model != sched.ModelGang || in.Slot != 0 || in.Name != "x" {
		t.Errorf("%+v", in)
	}
	last, err := w.Build(Options{Cluster: testCluster(2, 4), History: 1})
	if err != nil || !slices.Equal(last.History, history[1:]) {
		t.Errorf("history of one: %+v, %v", last, err)
	}
}

func TestBuildRoundsUp(t *testing.T) {
	w := window(t, exampleRows(), Slice{Jobs: 3, At: At{Rule: AtIndex, Index: 3}})
	for _, iteration := range []sched.Duration{0, 1e9, 7.5e9} {
		in, err := w.Build(Options{Cluster: testCluster(2, 4), Round: 60 * sched.Second, Iteration: iteration})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []struct{ release, run sched.Time }{{0, 120}, {60, 60}, {120, 60}} {
			run, err := in.RunTime(sched.JobID(i), placementFor(in, i))
			if err != nil || in.Jobs[i].Release != want.release*sched.Second || run != want.run*sched.Second {
				t.Errorf("job %d: released at %v, runs for %v, want %+v (%v)", i, in.Jobs[i].Release, run, want, err)
			}
		}
	}
}

// placementFor puts a job of one stage on the first servers.
func placementFor(in *sched.Instance, job int) *sched.Placement {
	p, left := &sched.Placement{}, in.Jobs[job].Gang()
	for s := 0; left > 0; s++ {
		n := min(left, in.Cluster.Servers[s].GPUs)
		p.Shares = append(p.Shares, sched.Share{Server: s, GPUs: n})
		left -= n
	}
	return p
}

// However it is split into iterations, a job runs as long as in the trace.
func TestIterationsKeepTheDuration(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 2000 {
		seconds := 1000 * rng.ExpFloat64()
		w := window(t, []Row{jobRow("a", 3, 1, seconds)}, Slice{})
		iteration := sched.Duration(1 + rng.Int64N(20e9))
		in, err := w.Build(Options{Cluster: testCluster(1, 1), Iteration: iteration})
		if err != nil {
			t.Fatal(err)
		}
		j := in.Jobs[0]
		run, compute := int64(nanoseconds(seconds)), int64(j.Stages[0].Compute)
		if off := j.Iters*compute - run; 2*off > j.Iters || -2*off > j.Iters {
			t.Errorf("%v s in iterations of %v: %d of %d ns", seconds, iteration, j.Iters, compute)
		}
		if n := float64(run) / float64(iteration); n >= 1 && (float64(j.Iters) < n-0.51 || float64(j.Iters) > n+0.51) {
			t.Errorf("%v s in iterations of %v: %d of them", seconds, iteration, j.Iters)
		}
	}
}

func TestParamsMakePlacementMatter(t *testing.T) {
	w := window(t, []Row{jobRow("one", 0, 1, 600), jobRow("four", 0, 4, 600)}, Slice{})
	in, err := w.Build(Options{Cluster: testCluster(2, 4), Params: 500_000_000})
	if err != nil {
		t.Fatal(err)
	}
	one, four := in.Jobs[0], in.Jobs[1]
	if one.Stages[0].Params != 0 || four.Stages[0].Params != 500_000_000 || four.Iters != 600 {
		t.Fatalf("%+v", in.Jobs)
	}
	together, err := in.RunTime(1, &sched.Placement{Shares: []sched.Share{{Server: 0, GPUs: 4}}})
	if err != nil {
		t.Fatal(err)
	}
	apart, err := in.RunTime(1, &sched.Placement{Shares: []sched.Share{{Server: 0, GPUs: 2}, {Server: 1, GPUs: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	// AllReduce moves 2·(3/4)·500 MB per iteration: 2.5 ms within a server,
	// 1.2 s by a network card of which the job has half.
	if together != sched.Time(600*1_002_500) || apart != sched.Time(600*2_200_000) {
		t.Errorf("600 iterations take %v together, %v apart", together, apart)
	}
}

func TestWeights(t *testing.T) {
	rows := exampleRows()
	for i := range rows {
		rows[i].Weight = Some(float64(i + 20))
	}
	w := window(t, rows, Slice{})
	build := func(o Options) []float64 {
		o.Cluster = testCluster(2, 4)
		in, err := w.Build(o)
		if err != nil {
			t.Fatal(err)
		}
		var list []float64
		for _, j := range in.Jobs {
			list = append(list, j.Weight)
		}
		return list
	}
	if got := build(Options{}); !slices.Equal(got, []float64{20, 21, 22, 23, 24, 25}) {
		t.Errorf("of the trace: %v", got)
	}
	if got := build(Options{Weights: WeightsUnit}); !slices.Equal(got, []float64{1, 1, 1, 1, 1, 1}) {
		t.Errorf("unit: %v", got)
	}
	random := build(Options{Weights: WeightsRandom})
	if slices.Min(random) < 1 || slices.Max(random) > 10 || !slices.Equal(random, build(Options{Weights: WeightsRandom, Round: sched.Second})) {
		t.Errorf("random: %v", random)
	}
	w.Seed++
	if slices.Equal(random, build(Options{Weights: WeightsRandom})) {
		t.Errorf("random weights do not depend on the seed")
	}
	var weights Weights
	if weights.UnmarshalText([]byte("random")) != nil || weights.UnmarshalText([]byte("rnd")) == nil {
		t.Error("weights are not read from text as they should be")
	}
}

func TestBuildErrors(t *testing.T) {
	w := window(t, exampleRows(), Slice{})
	good := Options{Name: "x", Cluster: testCluster(2, 4)}
	for name, c := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"small cluster": {func(o *Options) { o.Cluster = testCluster(1, 3) }, `job "c" needs 4 GPUs at once, the cluster has 3`},
		"other model":   {func(o *Options) { o.Model = sched.ModelSharing }, `model "sharing"`},
		"weights":       {func(o *Options) { o.Weights = "heavy" }, `weights "heavy"`},
		"round":         {func(o *Options) { o.Round = -1 }, "negative"},
		"params":        {func(o *Options) { o.Params = -1 }, "negative"},
		"iteration":     {func(o *Options) { o.Iteration = -1 }, "negative"},
		"history":       {func(o *Options) { o.History = -1 }, "negative"},
		"uneven":        {func(o *Options) { o.Round, o.Iteration = 60*sched.Second, 7e9 }, "no multiple"},
		"no cluster":    {func(o *Options) { o.Cluster = sched.Cluster{} }, "GPUs"},
		"bandwidth":     {func(o *Options) { o.Cluster.Inter = 0 }, "bandwidths"},
	} {
		o := good
		c.change(&o)
		if _, err := w.Build(o); err == nil || !strings.HasPrefix(err.Error(), `datasets: instance "x": `) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The same rows, options and seed make the same instance, whatever order and
// file the rows came in; the hash was computed on amd64.
func TestBuildIsReproducible(t *testing.T) {
	s, err := Open("builtin:philly-like")
	if err != nil {
		t.Fatal(err)
	}
	all, err := collect(s.Rows())
	if err != nil {
		t.Fatal(err)
	}
	all = shuffled(rand.New(rand.NewPCG(1, 1)), all)
	sel := Selection{MaxGPUs: 8}
	direct, err := s.Load(sel)
	if err != nil {
		t.Fatal(err)
	}
	again, err := NewTrace(All(all), sel)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Name: "x", Cluster: testCluster(2, 4), Weights: WeightsRandom, Params: 500_000_000, History: 1000}
	for _, at := range []At{{}, {Rule: AtBusiest}, {Rule: AtRandom}, {Rule: AtIndex, Index: 20_000}} {
		slice := Slice{Jobs: 12, At: at, Repeat: 3}
		a, err := direct.Windows(slice, 1, "philly")
		if err != nil {
			t.Fatal(err)
		}
		b, err := again.Windows(slice, 1, "philly")
		if err != nil {
			t.Fatal(err)
		}
		for k := range a {
			x, err := a[k].Build(o)
			if err != nil {
				t.Fatal(err)
			}
			y, err := b[k].Build(o)
			if err != nil {
				t.Fatal(err)
			}
			if x.Hash() != y.Hash() {
				t.Errorf("at %v, repetition %d: two instances of the same rows", at, k)
			}
			var file bytes.Buffer
			if err := x.Write(&file); err != nil {
				t.Fatal(err)
			}
			if z, err := sched.ReadInstance(&file); err != nil || z.Hash() != x.Hash() {
				t.Errorf("at %v, repetition %d: the instance does not survive its file: %v", at, k, err)
			}
			const golden = "ce6efee4424f169a37bd3db38db6086390edeb91eac8f765a86fc95640978bb2"
			if at.Rule == AtRandom && k == 0 && x.Hash() != golden {
				t.Errorf("hash %s, want %s: unless the JSON form of instances was changed, old results can no longer be reproduced", x.Hash(), golden)
			}
		}
	}
}
