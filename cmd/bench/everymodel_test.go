package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"yardstick/bench"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// everyInstance draws an instance of every model and variant of one: with time in
// slots or not, placements that matter or not, a server whose GPUs are too few for
// some gangs, and one job alone.
func everyInstance(seed uint64) map[string]*sched.Instance {
	r := schedtest.Rand(seed)
	all := map[string]*sched.Instance{}
	for _, jobs := range []int{1, 3} {
		// All data are whole seconds, so that linear programs over time are small.
		plain := schedtest.Shape{Jobs: jobs, Servers: 2, GPUs: 3, Stages: 1, Weights: true, Slot: sched.Second}
		placed, graphs := plain, plain
		placed.Stages, placed.Traffic, placed.Span = 2, true, true
		graphs.Stages, graphs.Slices, graphs.Graph, graphs.Uniform = 3, 2, true, true
		add := func(what string, in *sched.Instance) {
			all[fmt.Sprintf("%s of %d, slotted", what, jobs)] = in
			continuous := *in
			continuous.Slot = 0
			all[fmt.Sprintf("%s of %d", what, jobs)] = &continuous
		}
		add("gang pooled", schedtest.Gang(r, plain))
		add("gang placed", schedtest.Gang(r, placed))
		add("gang graphs", schedtest.Gang(r, graphs))
		add("preemptive", schedtest.Preemptive(r, placed))
		add("preemptive graphs", schedtest.Preemptive(r, graphs))
		add("sharing", schedtest.SlottedSharing(seed, schedtest.Slots{Jobs: jobs, Servers: []int{2, 1}, Work: [2]int{1, 3}, Span: 2, Gang: 2, Xi: 1.5, Options: 2}))
		add("sharing pipelines", schedtest.Sharing(r, placed))
		add("malleable", schedtest.Malleable(r, plain))
		shape := schedtest.ElasticShape{Jobs: jobs, Servers: 2, Resources: 2, WorkerTypes: 2, ServerTypes: 1, Workers: 3, Capacity: 4, Slots: 3, Rings: true, Weights: true}
		all[fmt.Sprintf("elastic of %d", jobs)] = schedtest.Elastic(r, shape)
		shape.Deadline = 3
		all[fmt.Sprintf("elastic of %d with a deadline", jobs)] = schedtest.Elastic(r, shape)
	}
	return all
}

// everyMethod lists every method, and those that parameters make different.
func everyMethod() []bench.MethodRef {
	var all []bench.MethodRef
	for _, name := range slices.Sorted(maps.Keys(methods())) {
		all = append(all, bench.MethodRef{Name: name})
	}
	with := func(name string, params ...string) {
		ref := bench.MethodRef{Name: name, Params: map[string]string{}}
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
	return all
}

// everyObjective lists the objectives that no other differs from by a constant.
var everyObjective = []sched.Objective{sched.WeightedCompletion, sched.TotalJCT, sched.Makespan, sched.ScheduledWeight}

// TestEveryMethodOnEveryModel: every method runs on every model under every
// objective, or is refused in one line; policies are refused before they run.
// YARDSTICK_LONG=1 draws more instances.
func TestEveryMethodOnEveryModel(t *testing.T) {
	seeds := uint64(1)
	if os.Getenv("YARDSTICK_LONG") != "" {
		seeds = 20
	}
	limits := bench.SuiteLimits{Solve: time.Minute, Nodes: 20, Memory: 4 << 30}
	ran := map[string]int{}
	for seed := range seeds {
		all := everyInstance(seed)
		for _, what := range slices.Sorted(maps.Keys(all)) {
			in := all[what]
			built := &bench.Instance{Instance: in, SHA256: in.Hash(), Family: what, Seed: seed}
			for _, ref := range everyMethod() {
				m, err := resolve(ref)
				if err != nil {
					t.Fatalf("%s: %v", ref, err)
				}
				c := bench.Cell{Instance: built, Method: m, Objectives: everyObjective}
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
	for name := range methods() {
		if ran[name] == 0 {
			t.Errorf("%s ran on nothing", name)
		}
	}
}

// checkOutcomes: an outcome has a schedule, a bound or one line that says why not.
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
	}
}

// TestPoliciesAreRefusedInOneLine: simulate and hunt say at once that a policy
// does not suit an instance.
func TestPoliciesAreRefusedInOneLine(t *testing.T) {
	all := everyInstance(0)
	for policy, what := range map[string]string{"sharing-fifo": "gang placed of 3", "sharing-sjf": "preemptive of 3, slotted", "pollux-like": "sharing of 3",
		"srtf": "gang pooled of 1", "sjf": "elastic of 3", "elastic-fifo": "malleable of 1"} {
		path := instanceFile(t, all[what])
		code, _, errOut := benchCommand(t, "simulate", path, "--policy", policy)
		if code != exitUsage || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, policy) || !strings.Contains(errOut, path) {
			t.Errorf("simulate %s on %s: exit code %d, %s", policy, what, code, errOut)
		}
	}
	for policy, model := range map[string]string{"sharing-fifo": "gang", "sharing-sjf": "preemptive", "pollux-like": "sharing", "srtf": "gang", "elastic-drf": "sharing", "sjf": "elastic"} {
		code, _, errOut := benchCommand(t, "hunt", "--policy", policy, "--model", model, "--jobs", "2", "--budget", "1h", "-q")
		if code != exitUsage || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, "--policy "+policy) {
			t.Errorf("hunt %s in the %s model: exit code %d, %s", policy, model, code, errOut)
		}
	}
}

// TestCommandsOnEveryModel: every formulation of every instance is written, or
// refused in one line; and the other commands that read instances do so.
func TestCommandsOnEveryModel(t *testing.T) {
	for what, in := range everyInstance(1) {
		path := instanceFile(t, in)
		for name := range formulations() {
			code, out, errOut := benchCommand(t, "export", path, "--formulation", name)
			if code != exitOK && code != exitUsage || strings.Count(errOut, "\n") != 1 || (code == exitOK) != strings.HasSuffix(out, "ENDATA\n") {
				t.Errorf("%s of %s: exit code %d, %s", name, what, code, errOut)
			}
		}
		mustRun(t, "validate", path)
		mustRun(t, "instance", "describe", path)
		if code, _, errOut := benchCommand(t, "place", path, "--all-jobs"); code != exitOK && (code != exitUsage || strings.Count(errOut, "\n") != 1) {
			t.Errorf("place %s: exit code %d, %s", what, code, errOut)
		}
	}
}
