package suite

import (
	"slices"
	"strings"
	"testing"

	"yardstick/datasets"
	"yardstick/datasets/generate"
)

// TestGeneratedTraces: a source takes its jobs from a generated trace, the one
// that its name describes.
func TestGeneratedTraces(t *testing.T) {
	src := NewSource("builtin:helios-earth-lazer?jobs=300&seed=7")
	trace, err := src.load(&Budget{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := datasets.NewTrace(generate.Spec{Like: generate.HeliosEarthLazer, Jobs: 300, Seed: 7}.Rows(), datasets.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(trace.Jobs(), want.Jobs()) || trace.Len() != 300 {
		t.Errorf("%d jobs, want %d", trace.Len(), want.Len())
	}
	half := 0.5
	src = NewSource("builtin:helios-earth-lazer?jobs=300&seed=7&repeat=0.5&recurrence=1.5d&interArrival=2m")
	if trace, err = src.load(&Budget{}); err != nil {
		t.Fatal(err)
	}
	if want, err = datasets.NewTrace(generate.Spec{Like: generate.HeliosEarthLazer, Jobs: 300, Seed: 7, Repeat: &half, Recurrence: 129_600, InterArrival: 120}.Rows(), datasets.Selection{}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(trace.Jobs(), want.Jobs()) {
		t.Error("a trace with all knobs is another")
	}
	src = NewSource("builtin:helios-earth-lazer?jobs=300&seed=7")
	src.TooLarge, src.Cluster = "drop", ClusterRef{Servers: 1, GPUsPerServer: 1}
	if small, err := src.load(&Budget{}); err != nil || small.Len() == 0 || small.Len() == 300 {
		t.Errorf("%d jobs of one GPU, %v", small.Len(), err)
	}
	for _, name := range []string{"builtin:pollux", "builtin:pai?jobs=0", "builtin:pai?jobs=x", "builtin:pai?jobs=5&seed=-1", "builtin:pai?jobs=5&job=2", "builtin:pay?jobs=5",
		"builtin:pai?jobs=5&repeat=2", "builtin:pai?jobs=5&repeat=x", "builtin:pai?jobs=5&recurrence=30", "builtin:pai?jobs=5&recurrence=0d", "builtin:pai?jobs=5&recurrence=xd",
		"builtin:pai?jobs=5&interArrival=-1s", "builtin:pai?jobs=5&jobs=6"} {
		if _, err := NewSource(name).load(&Budget{}); err == nil || !strings.Contains(err.Error(), "builtin:") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if trace, err := NewSource("builtin:philly-like").load(&Budget{}); err != nil || trace.Len() != 27_000 {
		t.Errorf("the embedded trace: %v", err)
	}
}
