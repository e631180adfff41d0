package sched_test

import (
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// What the table says of a model is so of every kind of instance that there is of it.
func TestModels(t *testing.T) {
	seen := map[sched.Model]bool{}
	for what, in := range schedtest.Every(1) {
		seen[in.Model] = true
		if err := in.Validate(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		stages, only := 0, 0
		for i := range in.Jobs {
			if len(in.Jobs[i].Stages) > 0 {
				stages++
			}
			if in.Jobs[i].OnlyStages() {
				only++
			}
		}
		n := len(in.Jobs)
		if m := in.Model; stages != 0 && stages != n || (stages == n) != m.Gangs() || (stages == n) != m.Has(sched.N) {
			t.Errorf("%s: %d of %d jobs have stages, but the %s model has gangs: %v, and schedules of class N: %v", what, stages, n, m, m.Gangs(), m.Has(sched.N))
		}
		if only != 0 && only != n || (only == n) != in.Model.Exclusive() {
			t.Errorf("%s: %d of %d jobs have stages only, but gangs of the %s model are exclusive: %v", what, only, n, in.Model, in.Model.Exclusive())
		}
		continuous := *in
		continuous.Slot = 0
		if refused := continuous.Validate() != nil; refused != in.Model.Slotted() {
			t.Errorf("%s: without slots it is refused: %v, but the %s model is always slotted: %v", what, refused, in.Model, in.Model.Slotted())
		}
		if c := in.Class(); !in.Model.Has(c.Kind) || c.Slotted != (in.Slot > 0) {
			t.Errorf("%s: class %v of the %s model with slots of %v", what, c, in.Model, in.Slot)
		}
		p := in.Preemptible()
		if err := p.Validate(); err != nil || p.Model.Has(sched.P) != in.Model.Gangs() || in.Model.Has(sched.P) && p != in {
			t.Errorf("%s: with gangs that may be paused it is of the %s model: %v", what, p.Model, err)
		}
	}
	for _, m := range sched.Models() {
		if !seen[m] {
			t.Errorf("no instance is of the %s model: schedtest.Every lacks it", m)
		}
	}
	for _, unknown := range []sched.Model{"", "gangs"} {
		if unknown.Has(sched.N) || unknown.Gangs() || unknown.Exclusive() || unknown.Slotted() {
			t.Errorf("something is true of the model %q, which there is not", unknown)
		}
	}
}
