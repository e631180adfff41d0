package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/suite"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// listOfJobs writes a job list with a column of guesses: bursts, equal lengths and gangs.
func listOfJobs(t *testing.T, seed uint64) {
	t.Helper()
	r := schedtest.Rand(seed)
	var b strings.Builder
	b.WriteString("id,submit,gpus,duration,est_duration\n")
	for i, at := 0, 0; i < 40; i++ {
		at += r.IntN(3) * r.IntN(60)
		fmt.Fprintf(&b, "j%d,%d,%d,%d,%d\n", i, at, 1+r.IntN(5), 1+r.IntN(5)*r.IntN(400), r.IntN(600)-100)
	}
	if err := os.WriteFile("jobs.csv", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// scheduleOfRun runs the only method of a suite on its only instance as a run does, and
// returns the schedule as --schedule writes it.
func scheduleOfRun(t *testing.T, text string) string {
	t.Helper()
	s, err := suite.Parse("s.yaml", []byte("apiVersion: yardstick/v1\nname: s\ninstances:\n"+text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	built, err := s.Instances[0].Build(s.Seed, &suite.Budget{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	m, err := catalogue.Resolve(s.Instances[0].Methods[0])
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	r := bench.RunCell(context.Background(), bench.Cell{Instance: built[0], Method: m, Objectives: []sched.Objective{suite.DefaultObjective}}, s.Limits, true)
	if r.Err != nil {
		t.Fatalf("%s: %v", text, r.Err)
	}
	named := *r.Verified[0].Instance()
	named.Name = "jobs.csv"
	var out bytes.Buffer
	if err := r.Verified[0].Schedule().Write(&out, &named); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// segments drops the hash of the instance and the seal over it: names of models differ that
// no overhead depends on.
func segments(schedule string) (kept string) {
	for line := range strings.Lines(schedule) {
		if !strings.Contains(line, `"instance_sha256":`) && !strings.Contains(line, `"seal":`) {
			kept += line
		}
	}
	return kept
}

// TestSimulatedAsInSuites: a policy makes the same schedule of a job list in simulate and
// of the instance that is written there in a suite; without overheads also of the list
// imported as a trace.
func TestSimulatedAsInSuites(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		model, policy string
		params        []string
	}{
		{"gang", "list", []string{"order=column:est_duration", "blocking=skip"}},
		{"gang", "list", []string{"order=longest", "placement=switch:2"}},
		{"gang", "list", []string{"order=fewest-gpus", "placement=worst-fit"}},
		{"gang", "sjf", []string{"placement=switch:3"}},
		{"preemptive", "srsf", nil},
		{"preemptive", "srsf", []string{"placement=switch:2"}},
		{"preemptive", "preemptive-list", []string{"order=descending:est_duration"}},
		{"preemptive", "dlas", []string{"thresholds=2m/10m", "promote=1/2"}},
		{"preemptive", "tiresias-las", nil},
		{"sharing", "sjf-bsbf", nil},
	} {
		for seed := range uint64(2) {
			listOfJobs(t, seed)
			args := []string{"simulate", "jobs.csv", "--servers", "4", "--gpus-per-server", "2", "--model", c.model, "--policy", c.policy, "--schedule", "own.json", "--instance", "in.json"}
			var params []string
			for _, p := range c.params {
				args = append(args, "-p", p)
				params = append(params, strings.Replace(p, "=", ": '", 1)+"'")
			}
			mustRun(t, args...)
			own, err := os.ReadFile("own.json")
			if err != nil {
				t.Fatal(err)
			}
			method := fmt.Sprintf("methods: [{name: %s, params: {%s}}]", c.policy, strings.Join(params, ", "))
			if got := scheduleOfRun(t, "  - {name: x, file: in.json}\n"+method); got != string(own) {
				t.Errorf("seed %d: %s on %s: simulate has\n%.300s\nthe suite\n%.300s", seed, method, c.model, own, got)
			}
			if c.model == "sharing" || strings.Contains(method, "est_duration") {
				continue // the tasks are drawn by the name of the source; a trace has no such column
			}
			mustRun(t, "dataset", "import", "--format", "generic", "--map", "job_id=id", "--map", "submit_s=submit", "--map", "duration_s=duration", "--map", "gpus=gpus", "jobs.csv", "-o", "jobs.parquet", "--rules", "none", "-q")
			source := "  - {name: x, trace: jobs.parquet, slice: {jobs: 0}, cluster: {servers: 4, gpusPerServer: 2, inter: 10Gbps, intra: 300GB/s}, iteration: 0s, model: " + c.model
			if c.model == "preemptive" {
				source += ", storage: none"
			}
			if got := scheduleOfRun(t, source+"}\n"+method); segments(got) != segments(string(own)) {
				t.Errorf("seed %d: %s on %s: simulate has\n%.300s\nthe suite of the trace\n%.300s", seed, method, c.model, own, got)
			}
		}
	}
}

// TestSimulateModelRefused: what does not go together is said in a line.
func TestSimulateModelRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	listOfJobs(t, 1)
	mustRun(t, "simulate", "jobs.csv", "--gpus", "8", "--policy", "fifo", "--instance", "in.json")
	for want, args := range map[string][]string{
		"--model chooses what a job list is made into":                          {"jobs.csv", "--gpus", "8", "--policy", "srsf"},
		"makes no instance of the model \"elastic\": gang, preemptive, sharing": {"jobs.csv", "--gpus", "8", "--policy", "fifo", "--model", "elastic"},
		"has storage, which the gang model does not know":                       {"jobs.csv", "--gpus", "8", "--policy", "fifo", "--storage", "none"},
		"has sharing.xi, which the preemptive model does not know":              {"jobs.csv", "--gpus", "8", "--policy", "srsf", "--model", "preemptive", "--xi", "2"},
		"has no column est (": {"jobs.csv", "--gpus", "8", "--policy", "list", "-p", "order=column:est"},
		"columns are id, submit, gpus, duration, est_duration":                                   {"jobs.csv", "--gpus", "8", "--policy", "list", "-p", "order=descending:guess"},
		"--model goes with a job list":                                                           {"in.json", "--policy", "fifo", "--model", "gang"},
		"it orders jobs by the column \"est\", and the instance carries no column of a job list": {"in.json", "--policy", "list", "-p", "order=column:est"},
		"or none":                    {"jobs.csv", "--gpus", "8", "--policy", "srsf", "--model", "preemptive", "--storage", "nothing"},
		"a whole number of servers":  {"jobs.csv", "--gpus", "8", "--policy", "sjf", "-p", "placement=switch:0"},
		"must be positive, or never": {"jobs.csv", "--gpus", "8", "--policy", "dlas", "--model", "preemptive", "-p", "promote=0"},
		"separated by slashes":       {"jobs.csv", "--gpus", "8", "--policy", "dlas", "--model", "preemptive", "-p", "thresholds=1h,2h"},
	} {
		if code, _, errOut := benchCommand(t, append([]string{"simulate"}, args...)...); code != exitUsage || !strings.Contains(errOut, want) || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%v: exit code %d: %s, want %q", args, code, errOut, want)
		}
	}
}
