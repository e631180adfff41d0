package main

import (
	"strings"
	"testing"
)

// TestPlanRefusesWrongModels: a policy that cannot run on a source's model is an
// error of the plan, before anything runs.
func TestPlanRefusesWrongModels(t *testing.T) {
	for method, want := range map[string]string{
		"srtf":         "srtf makes schedules of class P, which does not belong to the gang model",
		"sjf-bsbf":     "does not belong to the gang model",
		"pollux-like":  "does not belong to the gang model",
		"sharing-fifo": "it reads the accumulations of jobs of the sharing model, and these are of the gang model",
		"sharing-sjf":  "sharing-sjf cannot run on instance",
		"elastic-fifo": "elastic-fifo schedules elastic jobs, and those of instance",
		"primal-dual":  "primal-dual schedules elastic jobs",
	} {
		suite := write(t, "suite.yaml", "instances: [{name: a, slice: {jobs: 2}, tooLarge: drop}]\nmethods: [sjf, "+method+"]\n")
		if code, _, errOut := benchCommand(t, "plan", suite); code != exitUsage || !strings.Contains(errOut, want) || !strings.Contains(errOut, `instances[0] "a": method `+method) {
			t.Errorf("%s: exit code %d, %s", method, code, errOut)
		}
	}
	suite := write(t, "suite.yaml", "instances: [{name: a, slice: {jobs: 2}, model: elastic}]\nmethods: [sjf]\n")
	if code, _, errOut := benchCommand(t, "plan", suite); code != exitUsage || !strings.Contains(errOut, "is elastic") {
		t.Errorf("exit code %d, %s", code, errOut)
	}
}
