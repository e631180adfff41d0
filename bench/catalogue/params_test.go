package catalogue

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"yardstick/bench"
	"yardstick/bench/suite"
	"yardstick/datasets"
	"yardstick/datasets/instances"
	"yardstick/datasets/tracetest"
	"yardstick/sched"
)

// settingsOf returns what a method notes that it was made with, "" if there is no
// choice. Nothing but this asks for it.
func settingsOf(m bench.Method) string {
	if text := reflect.Indirect(reflect.ValueOf(m)).FieldByName("text"); text.IsValid() {
		return text.String()
	}
	return ""
}

// defaults returns the parameters of a method and what they are where they are not
// given, as its own message says, with some of them given.
func defaults(t *testing.T, name string, given map[string]string) map[string]string {
	t.Helper()
	with := maps.Clone(given)
	if with == nil {
		with = map[string]string{}
	}
	with["\x00"] = ""
	_, err := Resolve(suite.MethodRef{Name: name, Params: with})
	if err == nil {
		t.Fatalf("%s takes any parameter", name)
	}
	_, list, found := strings.Cut(err.Error(), "is unknown here: ")
	if !found {
		t.Fatalf("%s with %v: %v", name, given, err)
	}
	out := map[string]string{}
	for _, p := range strings.Split(list, ", ") {
		if key, value, ok := strings.Cut(p, "="); ok {
			out[key] = value
		}
	}
	return out
}

// paramTexts are values to try for any parameter: zeros first. Each means another thing,
// where it means something.
var paramTexts = []string{"0", "0s", "false", "true", "1", "2", "7", "1/2", "-1", "1s", "7m", "-1s", "strict", "skip", "backfill", "pool", "best-fit", "consolidate", "first-fit",
	"heavy-edge", "optimal", "index", "release", "spread", "attained", "fewest", "least", "perfect", "forest", "mean", "median", "group", "user", "overall",
	"printed", "repaired", "exact", "serial", "horizon", "corrected", "case-2-everywhere", "starts", "configurations", "servers", "normalised", "density", "weight", "certified", "literal", "formula", "branch", "lpsolve-mip", "Es", "F(min)s", "predicted", "auto", "chain", "most-available", "least-available",
	"names.go", "recorded.go", "swf", "helios", "switch:4", "shortest", "fewest-gpus", "column:a", "descending:a", "remaining-service", "remaining-time", "gpu-time", "time", "1h/5h", "never",
	"N", "P0", "F(1)", "10", "150", "counterfactual", "observed"}

// TestNoValueMeansUnset: every value of every parameter of every method is what the
// method is made with, or is refused: two different values make two different
// settings, and what a parameter is by default can be said.
func TestNoValueMeansUnset(t *testing.T) {
	tried := 0
	check := func(name string, given map[string]string) {
		plain, err := Resolve(suite.MethodRef{Name: name, Params: given})
		if err != nil {
			t.Fatalf("%s with %v: %v", name, given, err)
		}
		usual := defaults(t, name, given)
		for _, param := range slices.Sorted(maps.Keys(usual)) {
			if _, ok := given[param]; ok {
				continue
			}
			with := func(value string) (string, error) {
				params := maps.Clone(given)
				if params == nil {
					params = map[string]string{}
				}
				params[param] = value
				m, err := Resolve(suite.MethodRef{Name: name, Params: params})
				if err != nil {
					return "", err
				}
				return settingsOf(m), nil
			}
			tried++
			if said, err := with(usual[param]); err != nil || said != settingsOf(plain) {
				t.Errorf("%s with %v: %s is %s by default, and %q with that said, %q without (%v)", name, given, param, usual[param], said, settingsOf(plain), err)
			}
			for _, nothing := range []string{"", " ", "null", "NaN", "Inf", "99999999999999999999s"} {
				if s, err := with(nothing); err == nil {
					t.Errorf("%s with %v: %s=%q is accepted: %s", name, given, param, nothing, s)
				}
			}
			made := map[string]string{}
			for _, value := range paramTexts {
				s, err := with(value)
				if err != nil {
					continue
				}
				if before, twice := made[s]; twice && !sameValue(before, value) {
					t.Errorf("%s with %v: %s=%s is the same as %s=%s: %s", name, given, param, value, param, before, s)
				}
				made[s] = value
			}
			if len(made) < 2 {
				t.Errorf("%s with %v: %s takes one value of those tried, %v: try others", name, given, param, made)
			}
		}
	}
	for _, name := range ownNames() {
		check(name, nil)
		usual := defaults(t, name, nil)
		if _, ok := usual["predictor"]; ok {
			check(name, map[string]string{"predictor": "forest"})
			check(name, map[string]string{"predictor": "mean"})
		}
		if _, ok := usual["form"]; ok {
			check(name, map[string]string{"form": "literal"})
			check(name, map[string]string{"exact": "true"})
		}
	}
	if tried < 100 {
		t.Errorf("%d parameters", tried)
	}
}

// sameValue reports whether two texts are two ways to write one value.
func sameValue(a, b string) bool {
	value := func(s string) string {
		switch s {
		case "true":
			return "1"
		case "false", "0s":
			return "0"
		}
		return s
	}
	return value(a) == value(b)
}

// TestZerosThatWereDefaults: zeros that stood for something else are what they say,
// or refused.
func TestZerosThatWereDefaults(t *testing.T) {
	for _, c := range []struct {
		method string
		params map[string]string
	}{
		{"lagrangian", map[string]string{"iterations": "0"}},
		{"lagrangian", map[string]string{"slots": "0"}},
		{"lagrangian", map[string]string{"class": "P"}},
		{"lagrangian", map[string]string{"effort": "-1"}},
		{"knapsack", map[string]string{"class": "F(1)"}},
		{"knapsack", map[string]string{"iterations": "0"}},
		{"bout-dp", map[string]string{"states": "0"}},
		{"time-indexed", map[string]string{"slot": "0s"}},
		{"a-srpt", map[string]string{"trees": "0"}},
		{"primal-dual", map[string]string{"form": "literal", "alpha": "0"}},
		{"lazer", map[string]string{"defer": "-1s"}},
		{"lazer", map[string]string{"defer": "10us"}},
		{"lazer", map[string]string{"seed": "9223372036854775808"}},
		{"a-maxweight", map[string]string{"factor": "1e400"}},
		{"lazer", map[string]string{"defer": "20s", "seed": "1"}},
		{"lazer", map[string]string{"defer": "20s", "warmup": "1"}},
		{"lazer", map[string]string{"observations": "9"}},
		{"lazer", map[string]string{"f": "expected"}},
		{"a-srpt", map[string]string{"retrain-every": "-1s"}},
		{"periodic", map[string]string{"interval": "0s"}},
	} {
		if m, err := Resolve(suite.MethodRef{Name: c.method, Params: c.params}); err == nil {
			t.Errorf("%s with %v is accepted: %s", c.method, c.params, settingsOf(m))
		}
	}

	// No deferral is no deferral: shortest remaining time first.
	var rows []datasets.Row
	for i := range 60 {
		rows = append(rows, datasets.Row{Trace: "t", JobID: fmt.Sprint(i), SubmitS: datasets.Some(float64(i * 97 % 400)), DurationS: datasets.Some(float64(60 + i*i*37%900)), GPUs: datasets.Some(float64(1 + i%4))})
	}
	trace, err := datasets.NewTrace(tracetest.All(rows), datasets.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	windows, err := trace.Windows(datasets.Slice{}, 1, "x")
	if err != nil {
		t.Fatal(err)
	}
	in, err := instances.Preemptive(&windows[0], instances.PreemptiveOptions{Common: instances.Common{Name: "x", Cluster: sched.Uniform(1, 4, 1e9, 1e9)}, Startup: 5 * sched.Second})
	if err != nil {
		t.Fatal(err)
	}
	cost := func(ref suite.MethodRef) *big.Rat {
		m, err := Resolve(ref)
		if err != nil {
			t.Fatal(err)
		}
		out, err := m.Run(context.Background(), bench.Problem{Instance: in, Objectives: []sched.Objective{sched.TotalCompletion}, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		total := new(big.Rat)
		for i, done := 0, map[sched.JobID]sched.Time{}; i < len(out[0].Schedule.Segments); i++ {
			s := out[0].Schedule.Segments[i]
			total.Add(total, new(big.Rat).SetInt64(int64(max(0, s.End-done[s.Job]))))
			done[s.Job] = max(done[s.Job], s.End)
		}
		return total
	}
	never, srtf := cost(suite.MethodRef{Name: "lazer", Params: map[string]string{"defer": "0s"}}), cost(suite.MethodRef{Name: "srtf"})
	predicted, later := cost(suite.MethodRef{Name: "lazer"}), cost(suite.MethodRef{Name: "lazer", Params: map[string]string{"defer": "60s"}})
	if never.Cmp(srtf) != 0 || never.Cmp(predicted) == 0 || never.Cmp(later) == 0 {
		t.Errorf("no deferral costs %v, srtf %v, predicted deferrals %v, a minute %v", never, srtf, predicted, later)
	}
}
