package theorems_test

import (
	"testing"

	"yardstick/bounds/theorems"
)

// TestProgress: a job that is left out contradicts the repaired algorithm, and
// refutes the printed one.
func TestProgress(t *testing.T) {
	for _, form := range []string{theorems.Printed, theorems.Sharp} {
		if r := theorems.Progress(form, 0); r.Verdict != theorems.Holds || !r.Met() {
			t.Errorf("%s: %+v", form, r)
		}
		r := theorems.Progress(form, 2)
		if r.Verdict != theorems.Violated || r.Contradiction() != (form == theorems.Sharp) {
			t.Errorf("%s: %+v", form, r)
		}
	}
}
