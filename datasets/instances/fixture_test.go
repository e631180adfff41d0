package instances

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"yardstick/datasets"
	"yardstick/datasets/profile"
	"yardstick/datasets/tracetest"
	"yardstick/sched"
)

// configs are three models: one that trains on one GPU only, one that trains
// on any number, one that needs several.
func configs() []profile.Config {
	list := []profile.Config{
		{Model: "small", GPUs: 1, Stages: []sched.Stage{{Replicas: 1, Compute: 70_000_001}}},
		{Model: "any", GPUs: 1, Stages: []sched.Stage{{Replicas: 1, Compute: 200_000_000}}},
		{Model: "any", GPUs: 2, Stages: []sched.Stage{{Replicas: 2, Compute: 100_000_000, Params: 50_000_000}}},
		{Model: "any", GPUs: 4, Stages: []sched.Stage{{Replicas: 2, Compute: 60_000_000, Params: 30_000_000, Boundary: 8_000_000}, {Replicas: 2, Compute: 50_000_000, Params: 20_000_000}}},
		{Model: "large", GPUs: 4, Stages: []sched.Stage{{Replicas: 4, Compute: 300_000_007, Params: 900_000_000}}},
		{Model: "large", GPUs: 6, Stages: []sched.Stage{{Replicas: 5, Compute: 250_000_000, Params: 700_000_000, Boundary: 3_000_000}, {Replicas: 1, Compute: 240_000_000, Params: 200_000_000}}},
	}
	for i := range list {
		list[i].Name = fmt.Sprintf("%s-%dg", list[i].Model, list[i].GPUs)
	}
	return list
}

func cluster() sched.Cluster { return sched.Uniform(3, 4, 1_250_000_000, 300_000_000_000) }

// rows are n jobs: groups of several sizes with demands of 1 or more GPUs, and
// jobs without a group.
func rows(n int) []datasets.Row {
	r := rand.New(rand.NewPCG(7, 11))
	var list []datasets.Row
	at := 0.0
	for i := range n {
		at += float64(r.IntN(900)) / 4
		row := datasets.Row{
			Trace: "test", JobID: fmt.Sprintf("j%03d", i), User: datasets.Some(fmt.Sprintf("u%d", r.IntN(5))),
			SubmitS: datasets.Some(at), DurationS: datasets.Some(float64(1 + r.IntN(20_000))), GPUs: datasets.Some(float64(int(1) << r.IntN(4))),
		}
		if g := r.IntN(12); g < 9 {
			row.Group = datasets.Some(fmt.Sprintf("g%d", g))
			row.GPUs = datasets.Some(float64(1 + g%3))
		}
		if i%3 == 0 {
			row.Weight = datasets.Some(float64(1+i) / 2)
		}
		list = append(list, row)
	}
	return list
}

func windows(t testing.TB, list []datasets.Row, s datasets.Slice, seed uint64) []datasets.Window {
	t.Helper()
	trace, err := datasets.NewTrace(tracetest.All(list), datasets.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := trace.Windows(s, seed, "test")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// window is jobs 100 to 199 of 200.
func window(t testing.TB) *datasets.Window {
	t.Helper()
	return &windows(t, rows(200), datasets.Slice{Jobs: 100, At: datasets.At{Rule: datasets.AtIndex, Index: 100}}, 1)[0]
}

func must(t testing.TB) func(*sched.Instance, error) *sched.Instance {
	return func(in *sched.Instance, err error) *sched.Instance {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
}

func gangOptions() GangOptions {
	return GangOptions{Common: Common{Name: "test", Cluster: cluster(), History: 60}, Configs: configs()}
}

func preemptiveOptions() PreemptiveOptions {
	return PreemptiveOptions{Common: Common{Name: "test", Cluster: cluster(), History: 60}, Startup: 30 * sched.Second}
}

func tasks() []Task {
	return []Task{
		{"a", 12, 30_000_000, 14_000_000, Sync{500_000, 1000}, Sync{700_000, 300_000}, 440_000_000, 2, 2_600_000_000, 520_000_000},
		{"b", 128, 8_000_000, 400_000, Sync{200_000, 0}, Sync{9_000_000, 100_000}, 0, 1, 900_000_000, 18_000_000},
		{"c", 17, 0, 3_333_333, Sync{}, Sync{}, 210_000_000, 1.75, 1_500_000_000, 700_000_000},
	}
}

func sharingOptions() SharingOptions {
	return SharingOptions{Common: Common{Name: "test", Cluster: cluster(), History: 60}, GPUMemory: datasets.Some[sched.Bytes](11_000_000_000), Tasks: tasks(),
		Interference: [][]float64{{1.5, 1.25, 1.125}, {1, 2, 3}, {1.5, 1, 1}}}
}

func elasticOptions() ElasticOptions { return ElasticOptions{Common: Common{Name: "test"}} }

// all builds an instance of every model.
func all(t testing.TB, w *datasets.Window) map[string]*sched.Instance {
	ring := elasticOptions()
	ring.Ring, ring.Servers = true, datasets.Some(20)
	return map[string]*sched.Instance{
		"gang":       must(t)(Gang(w, gangOptions())),
		"preemptive": must(t)(Preemptive(w, preemptiveOptions())),
		"sharing":    must(t)(Sharing(w, sharingOptions())),
		"elastic":    must(t)(Elastic(w, elasticOptions())),
		"ring":       must(t)(Elastic(w, ring)),
	}
}
