package main

import (
	"strings"
	"testing"
)

// TestPrintedConditionIsRenamed: the old name of SJF-BSBF's ablation is refused when the
// suite is planned, in one line that has the new one, which plans.
func TestPrintedConditionIsRenamed(t *testing.T) {
	suite := func(condition string) string {
		return write(t, "s.yaml", `apiVersion: yardstick/v1
name: pairs
instances:
  - {name: a, trace: "builtin:sjf-bsbf?jobs=20", model: sharing, gpuMemory: 24GB, slice: {jobs: 4, at: start}, cluster: {servers: 1, gpusPerServer: 4, inter: 10Gbps, intra: 300GB/s}}
methods: [{name: sjf-bsbf, params: {condition: `+condition+`}}]
objectives: [total-jct]
`)
	}
	code, _, errOut := benchCommand(t, "plan", suite("printed"))
	line, _, _ := strings.Cut(errOut, "\n") // what follows shows the suite
	if code != exitUsage || !strings.Contains(line, `"printed" is now "case-2-everywhere"`) || !strings.Contains(line, "Case 2 alone") {
		t.Errorf("exit code %d, %s", code, errOut)
	}
	for _, condition := range []string{"case-2-everywhere", "corrected"} {
		mustRun(t, "plan", suite(condition))
	}
}
