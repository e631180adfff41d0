package suite

import (
	"fmt"
	"testing"

	"yardstick/datasets"
)

// TestKept: instances are the same whether the sources before left a trace and
// configurations or not, and sources that want other rows do not get each other's.
func TestKept(t *testing.T) {
	sources := func() []*Source {
		var list []*Source
		for _, where := range []map[string]any{nil, {"duration_s": "<5000"}, {"user": []any{"a"}}, {"user": "[a]"}, {"duration_s": "<5000"}} {
			for _, gpus := range []int{4, 8} {
				for _, profiles := range []string{"", "builtin:v100"} {
					src := NewSource("builtin:philly?jobs=2000")
					src.Name, src.Where, src.TooLarge, src.Profiles = "x", where, "drop", profiles
					src.Slice.Jobs, src.Cluster.Servers, src.Cluster.GPUsPerServer = 5, 1, gpus
					list = append(list, src)
				}
			}
		}
		return list
	}
	var shared Budget
	built := 0
	alone := sources()
	for i, src := range sources() {
		got, err1 := src.Build(1, &shared)
		want, err2 := alone[i].Build(1, &Budget{})
		if fmt.Sprint(err1) != fmt.Sprint(err2) || len(got) != len(want) {
			t.Fatalf("source %d: %v, alone %v", i, err1, err2)
		}
		for k := range got {
			built++
			if got[k].SHA256 != want[k].SHA256 || got[k].Note != want[k].Note {
				t.Errorf("source %d, window %d is another beside the others", i, k)
			}
		}
	}
	if built < 8 || len(shared.kept.traces) < 4 || len(shared.kept.configs) != 1 {
		t.Errorf("%d instances, of %d traces and %d sets of configurations", built, len(shared.kept.traces), len(shared.kept.configs))
	}
}

// TestKeptIsBounded: what is kept never has more jobs than it may.
func TestKeptIsBounded(t *testing.T) {
	var k kept
	for i := range 12 {
		src := NewSource(fmt.Sprintf("builtin:philly?jobs=%d", 30_000+i))
		var jobs Budget
		if _, err := k.trace(src.key(datasets.Selection{}), func() (*datasets.Trace, error) { return src.load(&jobs) }); err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, trace := range k.traces {
			sum += trace.Len()
		}
		if sum != k.jobs || sum > keptJobs {
			t.Fatalf("%d jobs are kept, %d are counted, at most %d may be", sum, k.jobs, keptJobs)
		}
	}
}
