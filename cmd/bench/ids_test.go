package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"yardstick/datasets"
	"yardstick/datasets/tracetest"
	"yardstick/sched"
)

func renamed(i int) string { return fmt.Sprintf("job-%c%d", 'z'-i%26, 5000-i) }

// TestIdsAreNames: on every model, jobs start first come, first served in the order
// of the file, and other ids change no start.
func TestIdsAreNames(t *testing.T) {
	models := map[string]string{
		"gang":       "{model: gang%s}: fifo",
		"profiles":   "{model: gang, profiles: builtin:v100, singleShare: 0.5%s}: fifo",
		"preemptive": "{model: preemptive, startup: 30s%s}: fifo",
		"sharing":    "{model: sharing, gpuMemory: 24GB%s}: sharing-fifo",
		"elastic":    "{model: elastic%s}: elastic-fifo",
	}
	for _, m := range []sched.Model{sched.ModelGang, sched.ModelPreemptive, sched.ModelSharing, sched.ModelElastic} {
		if models[string(m)] == "" {
			t.Errorf("no policy for the %s model", m)
		}
	}
	suite := "instances:\n"
	for _, n := range []struct {
		name string
		id   func(int) string
	}{{"a", numbered}, {"b", renamed}} {
		var rows []datasets.Row
		for _, j := range ties(n.id) {
			rows = append(rows, datasets.Row{Trace: "t", JobID: j.ID, SubmitS: datasets.Some(float64(j.Submit)), DurationS: datasets.Some(float64(j.Seconds)), GPUs: datasets.Some(1.0)})
		}
		path := filepath.Join(t.TempDir(), "t.parquet")
		if err := datasets.WriteFile(path, tracetest.All(rows)); err != nil {
			t.Fatal(err)
		}
		for model, text := range models {
			keys, policy, _ := strings.Cut(text, "}: ")
			cluster := "{servers: 1, gpusPerServer: 4}"
			if model == "elastic" {
				cluster = "{servers: 1}"
			}
			suite += fmt.Sprintf(keys+"}\n", fmt.Sprintf(", name: %s-%s, drawAs: x, trace: %q, slice: {jobs: 48}, cluster: %s, methods: [%s], references: []", n.name, model, path, cluster, policy))
		}
	}
	got := starts(t, strings.ReplaceAll(suite, "\n{", "\n  - {"))
	for model := range models {
		a, b := got["a-"+model+"/00"], got["b-"+model+"/00"]
		if len(a) != 48 || !slices.Equal(a, b) {
			t.Errorf("%s: jobs start at %v, and under other ids at %v", model, a, b)
			continue
		}
		if !slices.IsSorted(a) || a[0] == a[47] {
			t.Errorf("%s: jobs do not start in the order in which they came: %v", model, a)
		}
	}
}
