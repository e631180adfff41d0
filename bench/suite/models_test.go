package suite_test

import (
	"fmt"
	"testing"

	"yardstick/bench/suite"
	"yardstick/sched"
)

// Every model can be named in a suite, and makes instances of itself.
func TestModels(t *testing.T) {
	needs := map[sched.Model]string{sched.ModelSharing: "gpuMemory: 24GB, "}
	for _, m := range sched.Models() {
		s, err := suite.Parse("s.yaml", fmt.Appendf(nil, "instances:\n  - {model: %s, %sslice: {jobs: 2, at: 2000}, cluster: {servers: 9}, round: 1h}\nmethods: [fifo]\n", m, needs[m]))
		if err != nil {
			t.Errorf("%s: %v", m, err)
			continue
		}
		built, err := s.Instances[0].Build(s.Seed, &suite.Budget{})
		if err != nil {
			t.Errorf("%s: %v", m, err)
			continue
		}
		if built[0].Model != m {
			t.Errorf("a source of the %s model makes instances of the %s model", m, built[0].Model)
		}
	}
}
