package main

import (
	"strings"
	"testing"

	"yardstick/internal/schedtest"
)

// TestPoliciesAreRefusedInOneLine: simulate and hunt say at once that a policy
// does not suit an instance.
func TestPoliciesAreRefusedInOneLine(t *testing.T) {
	all := schedtest.Every(0)
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
	for what, in := range schedtest.Every(1) {
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
