package main

import (
	"os"
	"testing"
)

// TestUnseen: the worst ratios of A-SRPT on docs/suites/unseen.yaml, which docs/worst-cases.md
// states, to proven optima.
func TestUnseen(t *testing.T) {
	const name = "../../docs/suites/unseen.yaml"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	run := runSuite(t, name, string(text), nil)
	worst := map[string]float64{}
	for _, r := range run.Ratios {
		if !r.RatioToOptimum.Valid {
			t.Errorf("%s on %s: no proven optimum", r.Method, r.Instance)
		}
		if r.Instance == "pipelines/13" {
			worst[r.Method] = r.RatioToOptimum.V
		} else if r.Method == "a-srpt" {
			worst["others"] = max(worst["others"], r.RatioToOptimum.V)
		}
	}
	for method, want := range map[string]float64{"a-srpt": 14.268, "a-srpt-perfect": 1.470, "others": 5.858} {
		if got := worst[method]; got > want || got <= want-0.001 { // printed rounded up
			t.Errorf("%s: %v, want %v", method, got, want)
		}
	}
}
