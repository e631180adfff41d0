package verify_test

import (
	"strings"
	"testing"

	"yardstick/sched"
	"yardstick/sched/verify"
)

// The verifier, which has its own list, takes the kinds of schedules that sched says
// a model has, and no others.
func TestKindsOfModels(t *testing.T) {
	instances := []*sched.Instance{gangInstance(), preemptiveInstance(), sharingInstance(), elasticInstance()}
	seen := map[sched.Model]bool{}
	for _, in := range instances {
		seen[in.Model] = true
		in.Slot = max(in.Slot, 1)
		for k := sched.N; k <= sched.FluidMin; k++ {
			_, err := verify.Check(in, &sched.Schedule{Class: sched.Class{Kind: k, Slotted: true}})
			if taken := err == nil || !strings.Contains(err.Error(), "does not belong to"); taken != in.Model.Has(k) {
				t.Errorf("%s model, class %v: the verifier takes it: %v, sched has it: %v (%v)", in.Model, sched.Class{Kind: k}, taken, in.Model.Has(k), err)
			}
		}
	}
	for _, m := range sched.Models() {
		if !seen[m] {
			t.Errorf("no instance here is of the %s model", m)
		}
	}
}
