package report

import (
	"math"
	"testing"

	"yardstick/bench/record"
)

func TestShiftedGeoMean(t *testing.T) {
	if g := shiftedGeoMean([]float64{0, 3}, 1); math.Abs(g.V-1) > 1e-12 { // √(1·4) − 1
		t.Errorf("%v, want 1", g.V)
	}
	if g := shiftedGeoMean([]float64{7, 7, 7}, 1); g.V != 7 {
		t.Errorf("%v, want 7", g.V)
	}
	if g := shiftedGeoMean(nil, 1); g.Valid {
		t.Error("a mean of nothing")
	}
}

// A solve without an answer counts with the limit in the mean and ten times the
// limit in PAR10; without a limit there is no number.
func TestTimesOfSolves(t *testing.T) {
	row := func(termination string, wall float64) *record.Solve {
		return &record.Solve{Termination: termination, Wall: record.Some(wall)}
	}
	rows := []*record.Solve{row("OPTIMAL", 0), row("INFEASIBLE", 3), row("TIME_LIMIT", 60.4), {Termination: "CRASHED"}}
	got := newTimes(rows, 15)
	want := Times{Solves: 3, Solved: 2, Greatest: record.Some(3.0), PAR10: record.Some(51.0), Untimed: 1}
	want.GeoMean = got.GeoMean
	if got != want || math.Abs(got.GeoMean.V-(math.Cbrt(1*4*16)-1)) > 1e-12 {
		t.Errorf("%+v, want %+v and mean 3", got, want)
	}
	if got := newTimes(rows, 0); got.GeoMean.Valid || got.PAR10.Valid || !got.Unlimited {
		t.Errorf("without a limit: %+v", got)
	}
	if got := newTimes(rows[:2], 0); got.PAR10.V != 1.5 || got.Unlimited {
		t.Errorf("all solved: %+v", got)
	}
}

func TestSolveLimit(t *testing.T) {
	for suite, want := range map[string]float64{`{"limits":{"solve":"60s"}}`: 60, `{"limits":{"solve":20000000000}}`: 20, `{"limits":{}}`: 0, `{}`: 0, ``: 0, `[]`: 0} {
		if got, _ := (&record.Manifest{Suite: []byte(suite)}).SolveLimit(); got != want {
			t.Errorf("%s: %v, want %v", suite, got, want)
		}
	}
}
