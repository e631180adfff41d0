package asrpt_test

import (
	"math/big"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"yardstick/heuristics/asrpt"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/heavyedge"
)

// TestDocumentedInstances reads the instances of docs/instances.md, checks what
// is said there about them, and replays them.
func TestDocumentedInstances(t *testing.T) {
	text, err := os.ReadFile("../../docs/instances.md")
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]*sched.Instance{}
	for _, block := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		in, err := sched.ReadInstance(strings.NewReader(block[1]))
		if err != nil {
			t.Fatal(err)
		}
		read[in.Name] = in
		if _, v := run(t, in, asrpt.Perfect(asrpt.Options{}), sim.Options{}); !v.Complete() {
			t.Errorf("%s: jobs are left out", in.Name)
		}
	}
	for _, test := range []struct {
		name   string
		alpha  *big.Rat // in seconds
		stages [][]int  // per server, on the fewest of the empty cluster
	}{
		{"tensor", big.NewRat(621, 1000), [][]int{{2, 0}, {0, 1}}},
		{"experts", big.NewRat(14524, 100_000), [][]int{{2, 1, 0, 0, 1}, {0, 0, 1, 1, 1}}},
	} {
		in := read[test.name]
		if in == nil {
			t.Fatalf("docs/instances.md has no instance %q", test.name)
		}
		parts, err := heavyedge.Fewest(&in.Cluster, &in.Jobs[0])
		if err != nil {
			t.Fatal(err)
		}
		place, err := heavyedge.Place(&in.Jobs[0], parts, heavyedge.Ring)
		if err != nil {
			t.Fatal(err)
		}
		var stages [][]int
		for _, sh := range place.Shares {
			stages = append(stages, sh.Stages)
		}
		alpha, err := in.IterTime(0, &place)
		if err != nil || alpha.Cmp(test.alpha) != 0 || !reflect.DeepEqual(stages, test.stages) {
			t.Errorf("%s: %v s on %v (%v), want %v on %v", test.name, alpha, stages, err, test.alpha, test.stages)
		}
	}
	mixture := read["experts"].Jobs[0]
	chain := mixture
	chain.Edges, chain.Stages = nil, []sched.Stage{mixture.Stages[0], {Replicas: 1, Compute: 1, Boundary: 40e6}, mixture.Stages[4]}
	chain.Stages[0].Boundary = 40e6
	expanded, err := chain.WithExperts(1, []sched.ExpertGroup{{Stage: mixture.Stages[1], Weight: 5}, {Stage: mixture.Stages[2], Weight: 3}, {Stage: mixture.Stages[3], Weight: 2}})
	if err != nil || !reflect.DeepEqual(expanded, mixture) {
		t.Errorf("WithExperts makes %+v (%v), want %+v", expanded, err, mixture)
	}
}
