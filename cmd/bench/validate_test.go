package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"yardstick/bench/errata"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// instanceFile writes an instance to a file.
func instanceFile(t *testing.T, in *sched.Instance) string {
	t.Helper()
	var b strings.Builder
	if err := in.Write(&b); err != nil {
		t.Fatal(err)
	}
	return write(t, "in.json", b.String())
}

// models has a small instance of every model.
func models() map[string]*sched.Instance {
	r := schedtest.Rand(4)
	shape := schedtest.Shape{Jobs: 3, Servers: 2, GPUs: 2, Stages: 1, Slot: sched.Second}
	return map[string]*sched.Instance{
		"gang":       schedtest.Gang(r, schedtest.Shape{Jobs: 4, Servers: 2, GPUs: 3, Stages: 2, Traffic: true}),
		"slotted":    schedtest.Gang(r, shape),
		"preemptive": schedtest.Preemptive(r, shape),
		"sharing":    schedtest.Sharing(r, shape),
		"elastic": schedtest.Elastic(r, schedtest.ElasticShape{Jobs: 3, Servers: 2, Resources: 2, WorkerTypes: 1, ServerTypes: 1, Workers: 3, Capacity: 4, Slots: 4,
			Rings: true, Weights: true}),
	}
}

// TestValidateInstance: every model has its statements, in every format, and
// none is contradicted.
func TestValidateInstance(t *testing.T) {
	want := map[string]string{"gang": "theorem-1", "slotted": "not met: decisions in continuous time", "preemptive": "lazer-progress",
		"sharing": "pair-theorem-1", "elastic": "primal-dual-lemma-2"}
	for name, in := range models() {
		path := instanceFile(t, in)
		for _, format := range []string{"table", "md", "csv", "json"} {
			out := mustRun(t, "validate", path, "--format", format)
			if !strings.Contains(out, want[name]) || !strings.Contains(out, "holds") {
				t.Errorf("%s, %s:\n%s", name, format, out)
			}
			switch format {
			case "csv":
				if rows, err := csv.NewReader(strings.NewReader(out)).ReadAll(); err != nil || len(rows) < 4 {
					t.Errorf("%s: %d rows, %v", name, len(rows), err)
				}
			case "json":
				var rows []map[string]string
				if err := json.Unmarshal([]byte(out), &rows); err != nil || len(rows) < 3 || rows[0]["verdict"] == "" {
					t.Errorf("%s: %d rows, %v", name, len(rows), err)
				}
			}
		}
	}
}

// TestValidateDirectory sums up what a run recorded.
func TestValidateDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	suite := strings.Replace(tinySuite, "methods: [", "methods: [a-srpt-perfect, ", 1)
	mustRun(t, "run", write(t, "s.yaml", suite), "-o", dir, "-q")
	out := mustRun(t, "validate", dir)
	for _, text := range []string{"theorem-1", "zero-error", "per-job", "a-srpt-perfect"} {
		if !strings.Contains(out, text) {
			t.Errorf("%s is missing:\n%s", text, out)
		}
	}
	plain := filepath.Join(t.TempDir(), "plain")
	mustRun(t, "run", write(t, "s.yaml", tinySuite), "-o", plain, "-q")
	if code, _, errOut := benchCommand(t, "validate", plain); code != exitUsage || !strings.Contains(errOut, "no rows about theorems") {
		t.Errorf("%d, %s", code, errOut)
	}
}

// TestValidateErrata: all errata and all remarks are listed and confirmed, in every
// format, and apart.
func TestValidateErrata(t *testing.T) {
	out := mustRun(t, "validate", "--errata", "--format", "json")
	var rows []entryRow
	if err := json.Unmarshal([]byte(out), &rows); err != nil || len(rows) != len(errata.Errata())+len(errata.Remarks()) {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, r := range rows {
		if !r.Confirmed || r.Problem != "" || len(r.Measured) == 0 || r.Quote == "" {
			t.Errorf("%+v", r)
		}
		isErratum := i < len(errata.Errata())
		if (r.Kind == erratumKind) != isErratum || (len(r.Scope) > 0) != isErratum || (r.Correction != "") != isErratum || (r.True == "") != isErratum {
			t.Errorf("row %d is not that of its kind: %+v", i, r)
		}
	}
	for _, format := range []string{"table", "md", "csv"} {
		var b strings.Builder
		if err := (&app{out: &b}).printErrata(rows, format); err != nil {
			t.Error(err)
		}
		for _, r := range rows {
			if !strings.Contains(b.String(), r.Name) || format == "csv" && !strings.Contains(b.String(), r.Kind+","+r.Name) {
				t.Errorf("%s: %s is missing", format, r.Name)
			}
		}
		if text := b.String(); format == "table" && (!strings.Contains(text, "ERRATA") || strings.Index(text, "REMARKS") < strings.Index(text, rows[len(errata.Errata())-1].Name+" ·") ||
			!strings.HasSuffix(text, countEntries(rows)+"\n")) {
			t.Errorf("errata and remarks are not apart:\n%s", text)
		}
	}
	if err := unconfirmed(rows); err != nil {
		t.Error(err)
	}
	last := &rows[len(rows)-1]
	last.Confirmed, last.Problem = false, "does not"
	var exit *exitError
	if err := unconfirmed(rows); !errors.As(err, &exit) || exit.code != exitInvalid || !strings.Contains(err.Error(), "remark "+last.Name+": does not") {
		t.Errorf("a remark that is not confirmed: %v", err)
	}
}

// TestValidateRefuses: what is neither a directory nor an instance.
func TestValidateRefuses(t *testing.T) {
	for want, args := range map[string][]string{
		"give a result directory": {}, "--errata takes": {"--errata", "x"}, "no such file": {"nowhere"}, "--format": {"--errata", "--format", "xml"},
		"manifest": {t.TempDir()},
	} {
		if code, _, errOut := benchCommand(t, append([]string{"validate"}, args...)...); code != exitUsage || !strings.Contains(errOut, want) {
			t.Errorf("%v: exit code %d, %s", args, code, errOut)
		}
	}
}
