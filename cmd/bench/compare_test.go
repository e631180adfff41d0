package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"yardstick/bench/record"
)

// resultDir writes a small result whose costs are multiplied by factor.
func resultDir(t *testing.T, factor int) string {
	t.Helper()
	run := &record.Run{Manifest: record.Manifest{Suite: []byte(`{"name":"small"}`), PlanID: "p"}}
	for i := range 8 {
		cost := float64((10 + i) * factor)
		run.Ratios = append(run.Ratios, record.Ratio{CellID: fmt.Sprint("c", i), Suite: "small", Instance: fmt.Sprint("i", i), InstanceSHA256: "aa", Family: "f", Model: "gang", Class: "N",
			Jobs: 2, GPUs: 4, Objective: "makespan", Method: "fifo", Sense: record.Min, Kind: "online", Termination: "COMPLETED", Cost: record.Some(cost), CostExact: record.Text(fmt.Sprint(cost)),
			LowerBound: record.Some(10.0), LowerBoundExact: "10", LowerBoundMethod: "srpt", LowerBoundClass: "N", RatioToLowerBound: record.Some(cost / 10), Wall: record.Some(0.01 * float64(factor))})
	}
	dir := filepath.Join(t.TempDir(), "result")
	if err := record.Write(dir, run); err != nil {
		t.Fatal(err)
	}
	return dir
}

// invoke runs the command line and returns its exit code and output.
func invoke(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(context.Background(), args, &o, &e)
	return code, o.String(), e.String()
}

func TestCompareCommand(t *testing.T) {
	a, b := resultDir(t, 1), resultDir(t, 2)
	code, out, errOut := invoke(t, "compare", a, b)
	if code != exitOK || !strings.Contains(out, "2.0000") || !strings.Contains(out, "Changed rows (8 of 8)") || !strings.Contains(out, "+  cell wall_s  f       fifo") {
		t.Errorf("code %d:\n%s%s", code, out, errOut)
	}
	if code, out, _ := invoke(t, "compare", a, a); code != exitOK || strings.Contains(out, "Changed rows") || !strings.Contains(out, "digests are equal") {
		t.Errorf("code %d:\n%s", code, out)
	}
	file := filepath.Join(t.TempDir(), "c.md")
	if code, out, errOut := invoke(t, "compare", a+","+a, b, "--format", "md", "-o", file); code != exitOK || out != "" {
		t.Errorf("code %d:\n%s%s", code, out, errOut)
	}
	if data, err := os.ReadFile(file); err != nil || !strings.Contains(string(data), "|---") {
		t.Errorf("%v:\n%s", err, data)
	}
	for _, bad := range [][]string{{"compare", a}, {"compare", a, t.TempDir()}, {"compare", a, b, "--format", "yaml"}, {"compare", a, b, "--changes", "-1"}} {
		if code, _, errOut := invoke(t, bad...); code != exitUsage || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%q: code %d, %q", bad, code, errOut)
		}
	}
}

func TestGateCommand(t *testing.T) {
	a, b := resultDir(t, 1), resultDir(t, 2)
	for _, good := range [][]string{{"gate", a}, {"gate", a, "--baseline", a}, {"gate", a, "--baseline", b}, {"gate", b, "--baseline", a, "--max-ratio-geomean", "100%"}} {
		if code, out, errOut := invoke(t, good...); code != exitOK || !strings.Contains(out, "gate passed: 8 rows") {
			t.Errorf("%q: code %d\n%s%s", good, code, out, errOut)
		}
	}
	code, out, errOut := invoke(t, "gate", b, "--baseline", a, "--max-ratio-geomean", "+99.9%")
	if code != exitGate || out != "ratio: fifo on f, makespan: the geometric mean of the ratios grew by 100 % over 8 instances, from ≤1.331 to ≤2.661, allowed is 99.9 %\n" || strings.Count(errOut, "\n") != 1 {
		t.Errorf("code %d:\n%s%s", code, out, errOut)
	}
	if code, out, _ := invoke(t, "gate", b, "--baseline", a, "--format", "json"); code != exitGate || !strings.Contains(out, `"rule": "ratio"`) {
		t.Errorf("code %d:\n%s", code, out)
	}
	for _, bad := range [][]string{{"gate"}, {"gate", t.TempDir()}, {"gate", a, "--max-ratio-geomean", "+1%"}, {"gate", a, "--baseline", b, "--max-ratio-geomean", "x"}, {"gate", a, "--format", "md"}} {
		if code, _, errOut := invoke(t, bad...); code != exitUsage || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%q: code %d, %q", bad, code, errOut)
		}
	}
}

func TestReportFiles(t *testing.T) {
	dir, out := resultDir(t, 1), t.TempDir()
	page := filepath.Join(out, "report.html")
	if code, _, errOut := invoke(t, "report", dir, "--format", "html", "-o", page); code != exitOK {
		t.Fatal(errOut)
	}
	if data, err := os.ReadFile(page); err != nil || !bytes.HasPrefix(data, []byte("<!DOCTYPE html>")) {
		t.Error(err)
	}
	if code, text, errOut := invoke(t, "report", dir, "--format", "parquet", "-o", filepath.Join(out, "pq")); code != exitOK || !strings.Contains(text, "ratios.parquet: 8 rows") {
		t.Errorf("%s%s", text, errOut)
	}
	if files, _ := os.ReadDir(filepath.Join(out, "pq")); len(files) != 1 {
		t.Errorf("%v: tables without rows were written", files)
	}
	if code, _, _ := invoke(t, "report", dir, "--format", "parquet"); code != exitUsage {
		t.Errorf("code %d for Parquet to the terminal", code)
	}
}
