package instances

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"yardstick/datasets"
	"yardstick/datasets/tracetest"
	"yardstick/sched"
)

func testCluster(servers, gpus int) sched.Cluster {
	return sched.Uniform(servers, gpus, 1_250_000_000, 300_000_000_000)
}

func jobRow(id string, submit, gpus, duration float64) datasets.Row {
	return datasets.Row{Trace: "t", JobID: id, SubmitS: datasets.Some(submit), GPUs: datasets.Some(gpus), DurationS: datasets.Some(duration)}
}

func gangWindow(t *testing.T, rows []datasets.Row, s datasets.Slice) *datasets.Window {
	t.Helper()
	return &windows(t, rows, s, 1)[0]
}

// fromTrace are the options of jobs that are what the trace tells.
func fromTrace(c Common) GangOptions { return GangOptions{Common: c} }

// exampleRows are three jobs before and three after second 1000.
func exampleRows() []datasets.Row {
	rows := []datasets.Row{jobRow("a", 0, 1, 100), jobRow("b", 10, 2, 990.5), jobRow("c", 20, 4, 50), jobRow("d", 1000, 0.5, 90.0000004),
		jobRow("e", 1000.25, 2, 30), jobRow("f", 1061, 3.2, 1e-6)}
	rows[0].QueueS = datasets.Some(500.0) // completes at 600, b after 1000, c at 70
	rows[0].User, rows[0].Group = datasets.Some("u"), datasets.Some("g")
	rows[4].Weight = datasets.Some(2.5)
	return rows
}

func TestBuild(t *testing.T) {
	w := gangWindow(t, exampleRows(), datasets.Slice{Jobs: 3, At: datasets.At{Rule: datasets.AtIndex, Index: 3}})
	in, err := Gang(w, fromTrace(Common{Name: "x", Cluster: testCluster(2, 4), History: 10}))
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
	last, err := Gang(w, fromTrace(Common{Cluster: testCluster(2, 4), History: 1}))
	if err != nil || !slices.Equal(last.History, history[1:]) {
		t.Errorf("history of one: %+v, %v", last, err)
	}
}

// A gang instance may be slotted and have a deadline, with profiles or without.
func TestSlottedGangs(t *testing.T) {
	common := Common{Name: "test", Cluster: cluster(), Round: 60 * sched.Second, Slotted: true, Deadline: 7 * sched.Second}
	for name, o := range map[string]GangOptions{"trace": {Common: common}, "profiles": {Common: common, Configs: configs()}} {
		if in := must(t)(Gang(window(t), o)); in.Slot != 60*sched.Second || in.Deadline != 7*sched.Second {
			t.Errorf("%s: slots of %v, deadline %v", name, in.Slot, in.Deadline)
		}
	}
}

func TestBuildRoundsUp(t *testing.T) {
	w := gangWindow(t, exampleRows(), datasets.Slice{Jobs: 3, At: datasets.At{Rule: datasets.AtIndex, Index: 3}})
	for _, iteration := range []sched.Duration{0, 1e9, 7.5e9} {
		in, err := Gang(w, GangOptions{Common: Common{Cluster: testCluster(2, 4), Round: 60 * sched.Second}, Iteration: datasets.Some(iteration)})
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
		w := gangWindow(t, []datasets.Row{jobRow("a", 3, 1, seconds)}, datasets.Slice{})
		iteration := sched.Duration(1 + rng.Int64N(20e9))
		in, err := Gang(w, GangOptions{Common: Common{Cluster: testCluster(1, 1)}, Iteration: datasets.Some(iteration)})
		if err != nil {
			t.Fatal(err)
		}
		j := in.Jobs[0]
		run, compute := int64(math.Round(seconds*1e9)), int64(j.Stages[0].Compute)
		if off := j.Iters*compute - run; 2*off > j.Iters || -2*off > j.Iters {
			t.Errorf("%v s in iterations of %v: %d of %d ns", seconds, iteration, j.Iters, compute)
		}
		if n := float64(run) / float64(iteration); n >= 1 && (float64(j.Iters) < n-0.51 || float64(j.Iters) > n+0.51) {
			t.Errorf("%v s in iterations of %v: %d of them", seconds, iteration, j.Iters)
		}
	}
}

func TestParamsMakePlacementMatter(t *testing.T) {
	w := gangWindow(t, []datasets.Row{jobRow("one", 0, 1, 600), jobRow("four", 0, 4, 600)}, datasets.Slice{})
	in, err := Gang(w, GangOptions{Common: Common{Cluster: testCluster(2, 4)}, Params: 500_000_000})
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
		rows[i].Weight = datasets.Some(float64(i + 20))
	}
	w := gangWindow(t, rows, datasets.Slice{})
	build := func(o Common) []float64 {
		o.Cluster = testCluster(2, 4)
		in, err := Gang(w, fromTrace(o))
		if err != nil {
			t.Fatal(err)
		}
		var list []float64
		for _, j := range in.Jobs {
			list = append(list, j.Weight)
		}
		return list
	}
	if got := build(Common{}); !slices.Equal(got, []float64{20, 21, 22, 23, 24, 25}) {
		t.Errorf("of the trace: %v", got)
	}
	if got := build(Common{Weights: datasets.WeightsUnit}); !slices.Equal(got, []float64{1, 1, 1, 1, 1, 1}) {
		t.Errorf("unit: %v", got)
	}
	random := build(Common{Weights: datasets.WeightsRandom})
	if slices.Min(random) < 1 || slices.Max(random) > 10 || !slices.Equal(random, build(Common{Weights: datasets.WeightsRandom, Round: sched.Second})) {
		t.Errorf("random: %v", random)
	}
	w.Seed++
	if slices.Equal(random, build(Common{Weights: datasets.WeightsRandom})) {
		t.Errorf("random weights do not depend on the seed")
	}
	var weights datasets.Weights
	if weights.UnmarshalText([]byte("random")) != nil || weights.UnmarshalText([]byte("rnd")) == nil {
		t.Error("weights are not read from text as they should be")
	}
}

func TestBuildErrors(t *testing.T) {
	w := gangWindow(t, exampleRows(), datasets.Slice{})
	good := fromTrace(Common{Name: "x", Cluster: testCluster(2, 4)})
	for name, c := range map[string]struct {
		change func(*GangOptions)
		want   string
	}{
		"small cluster": {func(o *GangOptions) { o.Cluster = testCluster(1, 3) }, `job "c" needs 4 GPUs at once, the cluster has 3`},
		"weights":       {func(o *GangOptions) { o.Weights = "heavy" }, `weights "heavy"`},
		"round":         {func(o *GangOptions) { o.Round = -1 }, "round is"},
		"params":        {func(o *GangOptions) { o.Params = -1 }, "negative"},
		"iteration":     {func(o *GangOptions) { o.Iteration = datasets.Some[sched.Duration](-1) }, "negative"},
		"history":       {func(o *GangOptions) { o.History = -1 }, "history is"},
		"uneven":        {func(o *GangOptions) { o.Round, o.Iteration = 60*sched.Second, datasets.Some[sched.Duration](7e9) }, "no multiple"},
		"deadline":      {func(o *GangOptions) { o.Deadline = -1 }, "deadline is"},
		"no slots":      {func(o *GangOptions) { o.Slotted = true }, "set round"},
		"share":         {func(o *GangOptions) { o.SingleShare = datasets.Some(0.5) }, "about profiles"},
		"shrink":        {func(o *GangOptions) { o.Shrink = datasets.Some[int64](1) }, "about profiles"},
		"demand":        {func(o *GangOptions) { o.MatchDemand = true }, "about profiles"},
		"no cluster":    {func(o *GangOptions) { o.Cluster = sched.Cluster{} }, "GPUs"},
		"bandwidth":     {func(o *GangOptions) { o.Cluster.Inter = 0 }, "bandwidths"},
	} {
		o := good
		c.change(&o)
		if _, err := Gang(w, o); err == nil || !strings.HasPrefix(err.Error(), `instances: instance "x": `) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// shuffled puts rows in another order but for those submitted at the same time,
// whose order says who was first.
func shuffled(rng *rand.Rand, rows []datasets.Row) []datasets.Row {
	together := map[float64][]datasets.Row{}
	for _, r := range rows {
		together[r.SubmitS.V] = append(together[r.SubmitS.V], r)
	}
	times := slices.Sorted(maps.Keys(together))
	rng.Shuffle(len(times), func(i, j int) { times[i], times[j] = times[j], times[i] })
	var out []datasets.Row
	for _, at := range times {
		out = append(out, together[at]...)
	}
	return out
}

func collectRows(s *datasets.Source) ([]datasets.Row, error) {
	var rows []datasets.Row
	for r, err := range s.Rows() {
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// The same rows, options and seed make the same instance, whatever order and
// file the rows came in; the hash was computed on amd64.
func TestBuildIsReproducible(t *testing.T) {
	s, err := datasets.Open("builtin:philly-like")
	if err != nil {
		t.Fatal(err)
	}
	all, err := collectRows(s)
	if err != nil {
		t.Fatal(err)
	}
	all = shuffled(rand.New(rand.NewPCG(1, 1)), all)
	sel := datasets.Selection{MaxGPUs: 8}
	direct, err := s.Load(sel)
	if err != nil {
		t.Fatal(err)
	}
	again, err := datasets.NewTrace(tracetest.All(all), sel)
	if err != nil {
		t.Fatal(err)
	}
	o := GangOptions{Common: Common{Name: "x", Cluster: testCluster(2, 4), Weights: datasets.WeightsRandom, History: 1000}, Params: 500_000_000}
	for _, at := range []datasets.At{{}, {Rule: datasets.AtBusiest}, {Rule: datasets.AtRandom}, {Rule: datasets.AtIndex, Index: 20_000}} {
		slice := datasets.Slice{Jobs: 12, At: at, Repeat: 3}
		a, err := direct.Windows(slice, 1, "philly")
		if err != nil {
			t.Fatal(err)
		}
		b, err := again.Windows(slice, 1, "philly")
		if err != nil {
			t.Fatal(err)
		}
		for k := range a {
			x, err := Gang(&a[k], o)
			if err != nil {
				t.Fatal(err)
			}
			y, err := Gang(&b[k], o)
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
			if at.Rule == datasets.AtRandom && k == 0 && x.Hash() != golden {
				t.Errorf("hash %s, want %s: unless the JSON form of instances was changed, old results can no longer be reproduced", x.Hash(), golden)
			}
		}
	}
}
