package catalogue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"yardstick/bench"
	"yardstick/bench/suite"
	"yardstick/bounds"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
)

// everyMethod lists every method, and those that parameters make different.
func everyMethod() []suite.MethodRef {
	var all []suite.MethodRef
	for _, name := range ownNames() {
		ref := suite.MethodRef{Name: name}
		if !tier.All() {
			ref.Params = fewSteps[name]
		}
		all = append(all, ref)
	}
	with := func(name string, params ...string) {
		ref := suite.MethodRef{Name: name, Params: map[string]string{}}
		for i := 0; i < len(params); i += 2 {
			ref.Params[params[i]] = params[i+1]
		}
		all = append(all, ref)
	}
	for _, blocking := range []string{"strict", "skip"} {
		for _, placement := range []string{"pool", "consolidate", "best-fit"} {
			with("fifo", "blocking", blocking, "placement", placement)
			with("sjf", "blocking", blocking, "placement", placement)
		}
	}
	for _, name := range []string{"spjf", "spwf", "wcs-duration", "wcs-workload", "wcs-subtime", "a-srpt", "srtf", "lazer", "sjf-bsbf", "sharing-sjf"} {
		for _, predictor := range []string{"perfect", "forest"} {
			with(name, "predictor", predictor)
		}
	}
	with("a-srpt-perfect", "layout", "optimal")
	with("sharing-sjf", "strict", "true")
	with("sjf-bsbf", "recheck", "true")
	with("bout-dp", "non-preemptive", "true")
	with("bouts", "non-preemptive", "true")
	with("elastic-alone", "class", "F(min)")
	with("elastic-mean-busy-time", "class", "F(min)s")
	with("elastic-fifo", "backfill", "true")
	with("primal-dual", "form", "literal", "alpha", "formula")
	with("primal-dual", "form", "literal", "schedules", "exact", "slots", "horizon")
	with("primal-dual", "exact", "true")
	return all
}

// TestEveryMethodOnEveryModel: every method runs on every model under every
// objective, or is refused in one line; policies are refused before they run.
// YARDSTICK_TESTS=long draws more instances.
func TestEveryMethodOnEveryModel(t *testing.T) {
	seeds := uint64(1)
	if tier.Long() {
		seeds = 20
	}
	limits := suite.Limits{Solve: time.Minute, Nodes: 20, Memory: 4 << 30}
	ran := map[string]int{}
	for seed := range seeds {
		all := schedtest.Every(seed)
		for _, what := range slices.Sorted(maps.Keys(all)) {
			in := all[what]
			built := &suite.Instance{Instance: in, SHA256: in.Hash(), Family: what, Seed: seed}
			for _, ref := range everyMethod() {
				m, err := Resolve(ref)
				if err != nil {
					t.Fatalf("%s: %v", ref, err)
				}
				c := bench.Cell{Instance: built, Method: m, Objectives: sched.Objectives()}
				refusal := bench.Suits(m, in)
				r := bench.RunCell(context.Background(), c, limits, true)
				switch {
				case errors.Is(r.Err, bench.ErrPanicked), errors.Is(r.Err, bench.ErrInvalidSchedule):
					t.Errorf("seed %d: %s on %s: %v", seed, ref, what, r.Err)
				case refusal != nil && (r.Err == nil || strings.Contains(refusal.Error(), "\n")):
					t.Errorf("seed %d: %s on %s is refused (%v), and runs: %v", seed, ref, what, refusal, r.Err)
				case refusal == nil && r.Err != nil:
					t.Errorf("seed %d: %s on %s is not refused, and fails: %v", seed, ref, what, r.Err)
				case r.Err == nil:
					checkOutcomes(t, fmt.Sprintf("seed %d: %s on %s", seed, ref, what), r)
					ran[ref.Name]++
				}
			}
		}
	}
	for _, name := range ownNames() {
		if ran[name] == 0 {
			t.Errorf("%s ran on nothing", name)
		}
	}
}

// checkOutcomes: an outcome has a schedule, a bound or one line that says why not, and
// those of objectives that differ by a constant differ by that.
func checkOutcomes(t *testing.T, what string, r bench.CellResult) {
	t.Helper()
	for i, o := range r.Outcomes {
		switch {
		case strings.Contains(o.Message, "\n"):
			t.Errorf("%s, %v: more than a line: %q", what, r.Cell.Objectives[i], o.Message)
		case o.Schedule == nil && len(o.Bounds) == 0 && o.Message == "" && (o.Termination == "SKIPPED" || o.Termination == ""):
			t.Errorf("%s, %v: nothing, and no reason", what, r.Cell.Objectives[i])
		case r.Cell.Method.Kind() == bench.Online && r.Verified[i] == nil:
			t.Errorf("%s, %v: no schedule", what, r.Cell.Objectives[i])
		}
		if base := slices.Index(r.Cell.Objectives, r.Cell.Objectives[i].Base()); base != i {
			checkBase(t, what, r.Cell.Instance.Instance, r.Cell.Objectives[i], o.Bounds, r.Outcomes[base].Bounds)
		}
	}
}

// checkBase: a method bounds an objective and its base alike, but for rounding.
func checkBase(t *testing.T, what string, in *sched.Instance, o sched.Objective, list, base []bounds.Bound) {
	t.Helper()
	if len(list) != len(base) {
		t.Errorf("%s: %d bounds for %v, %d for %v", what, len(list), o, len(base), o.Base())
		return
	}
	for i, b := range list {
		off := new(big.Rat).Sub(o.ToBase(in, b.Value), base[i].Value)
		if off.Abs(off); off.Cmp(big.NewRat(int64(len(in.Jobs)), 1)) > 0 {
			t.Errorf("%s: the bound on %v is off that on %v by %s µs", what, o, o.Base(), off.FloatString(3))
		}
	}
}
