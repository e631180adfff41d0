package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"yardstick/bench/catalogue"
	"yardstick/bench/children"
	"yardstick/bench/suite"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// storeCertificates writes the certificates of some methods on an instance.
func storeCertificates(t *testing.T, in *sched.Instance, methods ...string) []string {
	t.Helper()
	var paths []string
	for _, name := range methods {
		m, err := catalogue.Resolve(suite.MethodRef{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		workers := children.New(suite.Limits{Nodes: 1_000_000}, 1)
		r := workers.One(t.Context(), m, in, sched.TotalJCT)
		workers.Close()
		if r.Err != nil {
			t.Fatalf("%s: %v", name, r.Err)
		}
		b := r.Outcomes[0].Bounds
		if len(b) != 1 || !b[0].Certified {
			t.Fatalf("%s is not certified: %+v %s", name, b, r.Outcomes[0].Message)
		}
		path := filepath.Join(t.TempDir(), name+".json")
		if err := os.WriteFile(path, b[0].Certificate, 0o644); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// models are an instance of every model with the methods that prove bounds on it.
func certified() map[string]struct {
	in      *sched.Instance
	methods []string
} {
	r := schedtest.Rand(5)
	slotted := schedtest.Shape{Jobs: 4, Servers: 1, GPUs: 4, Uniform: true, Stages: 1, Slot: 60 * sched.Second}
	pipelines := schedtest.Shape{Jobs: 4, Servers: 2, GPUs: 3, Uniform: true, Stages: 3, Traffic: true, Span: true}
	return map[string]struct {
		in      *sched.Instance
		methods []string
	}{
		"gang":       {schedtest.Gang(r, pipelines), []string{"lb0", "srpt", "srpt-ranked", "mean-busy-time", "hybrid", "lagrangian", "pti", "npti", "conf", "exhaustive"}},
		"preemptive": {schedtest.Preemptive(r, slotted), []string{"lb0", "srpt-dff", "eei-dff", "grid-lp", "bout-dp"}},
		"sharing":    {schedtest.SlottedSharing(3, schedtest.Slots{Jobs: 3, Servers: []int{2, 1}, Work: [2]int{1, 5}, Span: 3, Gang: 2, Xi: 1.5, Options: 2}), []string{"theta-lb0", "theta-srpt", "theta-srpt-ranked", "theta-eei", "theta-hybrid", "pair-lp", "sharing-search"}},
		"elastic": {schedtest.Elastic(r, schedtest.ElasticShape{Jobs: 3, Servers: 2, Resources: 2, WorkerTypes: 1, ServerTypes: 1, Workers: 3, Capacity: 6, Slots: 6}),
			[]string{"elastic-alone", "elastic-mean-busy-time", "elastic-conf", "elastic-optimum"}},
	}
}

// TestVerifyCertificates: what is stored holds with nothing but the instance, and
// not after any one digit has been changed.
func TestVerifyCertificates(t *testing.T) {
	for model, m := range certified() {
		var text strings.Builder
		if err := m.in.Write(&text); err != nil {
			t.Fatal(err)
		}
		in := write(t, "in.json", text.String())
		for _, path := range storeCertificates(t, m.in, m.methods...) {
			name := fmt.Sprint(model, " ", filepath.Base(path))
			if out := mustRun(t, "verify", in, path); !strings.Contains(out, "holds") || !strings.Contains(out, "total-jct") {
				t.Errorf("%s:\n%s", name, out)
			}
			flipDigits(t, name, in, path)
		}
	}
}

// TestVerifyFlippedSchedule: neither does a schedule, whichever digit it is.
func TestVerifyFlippedSchedule(t *testing.T) {
	in := write(t, "in.json", tinyInstance)
	path := filepath.Join(t.TempDir(), "s.json")
	mustRun(t, "solve", in, "--schedule", path)
	mustRun(t, "verify", in, path)
	flipDigits(t, "schedule", in, path)
}

// flipDigits changes some digits of a file, one at a time, and expects that the
// file is refused.
func flipDigits(t *testing.T, name, in, path string) {
	t.Helper()
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var digits []int
	for i, c := range good {
		if '0' <= c && c <= '9' {
			digits = append(digits, i)
		}
	}
	const most = 12
	step := max(1, len(digits)/most)
	for k := 0; k < len(digits); k += step {
		bad := append([]byte(nil), good...)
		bad[digits[k]] = '0' + (bad[digits[k]]-'0'+1)%10
		code, out, _ := benchCommand(t, "verify", in, write(t, "bad.json", string(bad)))
		if code == exitOK || strings.Contains(out, "holds\n") {
			t.Errorf("%s: digit %d of %d changed, and it holds:\n%s", name, k, len(digits), out)
		}
	}
}
