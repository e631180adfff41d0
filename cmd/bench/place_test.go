package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"yardstick/bench/record"
)

const placeInstance = `{
  "name": "three", "model": "gang",
  "cluster": {"servers": [{"gpus": 4}, {"gpus": 4}, {"gpus": 4}], "inter": "10Gbps", "intra": "300GB/s"},
  "jobs": [
    {"name": "pipeline", "release": "0s", "weight": 1, "iters": 10, "stages": [
      {"replicas": 3, "compute": "100ms", "params": "100MB", "boundary": "10MB"},
      {"replicas": 2, "compute": "100ms", "params": "100MB", "boundary": "10MB"},
      {"replicas": 3, "compute": "100ms", "params": "100MB"}]},
    {"name": "single", "release": "0s", "weight": 1, "iters": 10, "stages": [{"replicas": 1, "compute": "1s"}]},
    {"name": "again", "release": "5s", "weight": 1, "iters": 20, "stages": [
      {"replicas": 3, "compute": "100ms", "params": "100MB", "boundary": "10MB"},
      {"replicas": 2, "compute": "100ms", "params": "100MB", "boundary": "10MB"},
      {"replicas": 3, "compute": "100ms", "params": "100MB"}]}
  ]
}`

// On 4 + 4 GPUs the best placement splits the middle stage, on 3 + 3 + 2 it
// keeps all stages whole.
func TestPlaceInstance(t *testing.T) {
	in := write(t, "three.json", placeInstance)
	out := mustRun(t, "place", in, "--job", "pipeline")
	for _, want := range []string{"three · 8 GPUs in stages of 3,2,3 · 1 case", "optimum proven: alpha 1/1, cut 1/1", "452.", "0:3,1,0;1:0,1,3"} {
		if !strings.Contains(out, want) {
			t.Errorf("the table lacks %q:\n%s", want, out)
		}
	}
	if other := mustRun(t, "place", in, "--job", "0"); withoutTimes(other) != withoutTimes(out) {
		t.Errorf("job 0 is not the job pipeline:\n%s", other)
	}
	if out := mustRun(t, "place", in, "--job", "pipeline", "--parts", "2,3,3", "--methods", "min-alpha"); !strings.Contains(out, "164.") || !strings.Contains(out, "0:3,0,0;1:0,0,3;2:0,2,0") && !strings.Contains(out, "0:0,0,3;1:3,0,0;2:0,2,0") {
		t.Errorf("three parts:\n%s", out)
	}
	if out := mustRun(t, "place", in, "--all-jobs"); !strings.Contains(out, "1 to 8 GPUs · 2 cases") { // two jobs are alike
		t.Errorf("all jobs:\n%s", out)
	}
	sliced := strings.Replace(placeInstance, `{"replicas": 1, "compute": "1s"}`, `{"replicas": 2, "slices": 2, "compute": "1s"}`, 1)
	code, out, errOut := benchCommand(t, "place", write(t, "sliced.json", sliced), "--all-jobs")
	if code != exitOK || !strings.Contains(errOut, "1 jobs are left out") || !strings.Contains(out, "8 GPUs in stages of 3,2,3 · 1 case") {
		t.Errorf("a job of slices: exit code %d, %q:\n%s", code, errOut, out)
	}
	if out := mustRun(t, "place", in, "--all-jobs", "--fragmentations", "3"); !strings.Contains(out, "6 fragmentations") {
		t.Errorf("all jobs, fragmented:\n%s", out)
	}
}

func withoutTimes(s string) string {
	return regexp.MustCompile(`[0-9.]+ (ns|µs|ms|s)\b`).ReplaceAllString(regexp.MustCompile(` +`).ReplaceAllString(s, " "), "T")
}

// A result directory holds what the table shows, can be reported again, and is
// the same for the same seed.
func TestPlaceProfile(t *testing.T) {
	run := func(seed string) (*record.Run, string) {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "out")
		out := mustRun(t, "place", "--profile", "builtin:v100/vgg19,builtin:v100/T5-11B", "--gpus", "8", "--stages", "0,8", "--cluster", "40x8",
			"--fragmentations", "3", "--seed", seed, "--methods", "combinatorial,one-hot-alpha/branch", "--nodes", "20", "-o", dir, "-q")
		r, err := record.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		report := mustRun(t, "report", dir, "--part", "summary")
		if tables, _, ok := strings.Cut(out, "Alpha: time"); !ok || !strings.HasPrefix(report, tables) {
			t.Errorf("the report differs:\n%s\n%s", out, report)
		}
		return r, dir
	}
	r, dir := run("3")
	if len(r.Placements) != 2*3*7 {
		t.Fatalf("%d rows", len(r.Placements))
	}
	best := map[string]string{}
	for _, p := range r.Placements {
		if p.Method == "min-alpha" {
			best[p.Family+p.Parts] = string(p.AlphaExact)
		}
	}
	for _, p := range r.Placements {
		if p.Formulation == "" && !p.Alpha.Valid || p.AlphaRatioOptimum.Valid && p.AlphaRatioOptimum.V < 1 || p.CutRatioOptimum.Valid && p.CutRatioOptimum.V < 1 || math.IsNaN(p.Wall.V) {
			t.Errorf("row %+v", p)
		}
		if p.Method == "one-hot-alpha/branch" && p.Proven.V && string(p.AlphaExact) != best[p.Family+p.Parts] {
			t.Errorf("the program proves %s, the search %s on %s", p.AlphaExact, best[p.Family+p.Parts], p.Parts)
		}
	}
	if again, _ := run("3"); again.Manifest.ResultDigest != r.Manifest.ResultDigest || again.Manifest.PlanID != r.Manifest.PlanID {
		t.Error("the same seed gives other values")
	}
	if other, _ := run("4"); other.Manifest.ResultDigest == r.Manifest.ResultDigest || other.Manifest.PlanID == r.Manifest.PlanID {
		t.Error("another seed gives the same values")
	}
	var settings map[string]any
	if err := json.Unmarshal(r.Manifest.Suite, &settings); err != nil || settings["command"] != "place" || settings["seed"] != 3.0 {
		t.Errorf("settings %v, %v", settings, err)
	}
	for part, rows := range map[string]int{"summary": 2*7 + 1, "instances": 2*3*7 + 1} {
		lines, err := csv.NewReader(strings.NewReader(mustRun(t, "report", dir, "--format", "csv", "--part", part))).ReadAll()
		if err != nil || len(lines) != rows {
			t.Errorf("%s: %d lines of CSV, want %d: %v", part, len(lines), rows, err)
		}
	}
	for _, format := range []string{"table", "md", "latex", "json"} {
		if out := mustRun(t, "report", dir, "--format", format); !strings.Contains(out, "heavy-edge-tree") {
			t.Errorf("%s lacks a method:\n%s", format, out)
		}
	}
}

// Every program by both solvers of our own finds the optimum of a small job.
func TestPlacePrograms(t *testing.T) {
	in := write(t, "three.json", placeInstance)
	dir := filepath.Join(t.TempDir(), "out")
	mustRun(t, "place", in, "--job", "0", "--methods", "min-alpha,min-cut,one-hot-alpha/branch,count-cut/branch,naive-cut/branch,one-hot-alpha/lpsolve-mip,count-cut/lpsolve-mip", "-o", dir, "-q")
	r, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Placements {
		ratio := p.AlphaRatioOptimum
		if p.Minimises == record.Cut {
			ratio = p.CutRatioOptimum
		}
		if ratio != record.Some(1.0) || p.Formulation != "" && (!p.Columns.Valid || p.Relation == "") {
			t.Errorf("%s: ratio %v: %+v", p.Method, ratio, p)
		}
	}
	if len(r.Placements) != 7 || len(r.Manifest.Inputs) != 1 {
		t.Errorf("%d rows, inputs %v", len(r.Placements), r.Manifest.Inputs)
	}
}

func TestPlaceBadInput(t *testing.T) {
	in := write(t, "three.json", placeInstance)
	profile := []string{"place", "--profile", "builtin:v100/vgg19"}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"nothing":            {[]string{"place"}, "--profile"},
		"absent":             {[]string{"place", "no.json"}, "no.json"},
		"which job":          {[]string{"place", in}, "--all-jobs"},
		"no such job":        {[]string{"place", in, "--job", "7"}, "from 0 to 2"},
		"job and all":        {[]string{"place", in, "--job", "0", "--all-jobs"}, "exclude"},
		"parts of all":       {[]string{"place", in, "--all-jobs", "--parts", "4,4"}, "--parts"},
		"parts too few":      {[]string{"place", in, "--job", "0", "--parts", "4,3"}, "7 GPUs"},
		"parts too large":    {[]string{"place", in, "--job", "0", "--parts", "5,3"}, "5 GPUs"},
		"parts and random":   {[]string{"place", in, "--job", "0", "--parts", "4,4", "--fragmentations", "2"}, "exclude"},
		"negative":           {[]string{"place", in, "--job", "0", "--fragmentations", "-2"}, "at least 1"},
		"seed alone":         {[]string{"place", in, "--job", "0", "--seed", "2"}, "--seed"},
		"order":              {[]string{"place", in, "--job", "0", "--fragmentations", "2", "--order", "best"}, "best"},
		"method":             {[]string{"place", in, "--job", "0", "--methods", "heavyedge"}, "heavy-edge-tree"},
		"no method":          {[]string{"place", in, "--job", "0", "--methods", ""}, "--methods is empty"},
		"solver":             {[]string{"place", in, "--job", "0", "--methods", "count-cut/gurobi"}, "gurobi"},
		"instance + cluster": {[]string{"place", in, "--job", "0", "--cluster", "4x8"}, "--cluster"},
		"time limit":         {[]string{"place", in, "--job", "0", "--time-limit", "-1s"}, "--time-limit"},
		"no gpus":            {profile, "--gpus"},
		"zero gpus":          {append(profile, "--gpus", "0"), "0 GPUs"},
		"job of a profile":   {append(profile, "--gpus", "4", "--job", "1"), "--job"},
		"two gpus":           {append(profile, "--gpus", "4,8"), "--gpus"},
		"no such model":      {[]string{"place", "--profile", "builtin:v100/vgg16", "--gpus", "4"}, "vgg19"},
		"no such GPU":        {[]string{"place", "--profile", "builtin:v1/vgg19", "--gpus", "4"}, "v100"},
		"no model":           {[]string{"place", "--profile", "vgg19", "--gpus", "4"}, "SOURCE/MODEL"},
		"no such profile":    {[]string{"place", "--profile", "no.parquet/vgg19", "--gpus", "4"}, "no.parquet"},
		"too many stages":    {append(profile, "--gpus", "4", "--stages", "5"), "no plan"},
		"cluster":            {append(profile, "--gpus", "4", "--cluster", "8"), "250x8"},
		"small cluster":      {append(profile, "--gpus", "16", "--cluster", "1x8"), "8"},
		"seldom free":        {append(profile, "--gpus", "64", "--cluster", "8x8", "--fragmentations", "1"), "too few free"},
		"bandwidth":          {append(profile, "--gpus", "16", "--inter", "10"), "--inter"},
		"slow inside":        {append(profile, "--gpus", "16", "--intra", "1Gbps"), "inter ≤ intra"},
		"twice":              {append(profile, "--profile", "builtin:v100/vgg19", "--gpus", "4"), "twice"},
		"unwritable":         {[]string{"place", in, "--job", "1", "-o", filepath.Join(in, "out")}, "three.json"},
	} {
		code, _, errOut := benchCommand(t, c.args...)
		if code != exitUsage || !strings.Contains(errOut, c.want) || strings.Contains(errOut, "goroutine") || strings.Count(strings.TrimSpace(errOut), "\n") > 0 {
			t.Errorf("%s: exit code %d, message %q; want %d and %q", name, code, errOut, exitUsage, c.want)
		}
	}
}

func TestPlaceInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errOut bytes.Buffer
	dir := filepath.Join(t.TempDir(), "out")
	code := run(ctx, []string{"place", write(t, "three.json", placeInstance), "--all-jobs", "-o", dir, "-q"}, &out, &errOut)
	if code != exitInterrupted || !strings.Contains(errOut.String(), "interrupted with 12 placements to go") {
		t.Errorf("exit code %d: %s", code, errOut.String())
	}
	if r, err := record.Open(dir); err != nil || len(r.Placements) != 0 || r.Manifest.Execution.Skipped != 12 {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "placements.arrow")); err != nil {
		t.Error(err)
	}
}
