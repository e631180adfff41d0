package report

import (
	"testing"

	"yardstick/bench/record"
)

func TestLoads(t *testing.T) {
	none := record.Opt[float64]{}
	some := record.Some[float64]
	for want, of := range map[string][]record.Opt[float64]{
		"0.90":                       {some(0.9), some(0.9000001)},
		"0.90 (1/3)":                 {none, some(0.9), none},
		"0.93 (0.88 to 1.02)":        {some(1.02), some(0.93), some(0.88)},
		"0.88 (0.88 to 1.02)":        {some(1.02), some(0.88)}, // the nearest rank of two is the lower
		"0.93 (0.004 to 12.50; 3/4)": {some(12.5), some(0.93), none, some(0.004)},
	} {
		if got := NewLoads(of).String(); got != want {
			t.Errorf("%v: %s, want %s", of, got, want)
		}
	}
	if l := NewLoads([]record.Opt[float64]{none, none}); l != nil {
		t.Errorf("bursts have loads %v", l)
	}
}
