package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"yardstick/bench/catalogue"
	"yardstick/bench/children"
	"yardstick/bench/record"
	"yardstick/bench/sandbox"
	"yardstick/solvers/isolate"
)

// Runs start this binary again to run cells, and as a solver.
func TestMain(m *testing.M) {
	sandbox.Main()
	isolate.Main(catalogue.Solver)
	children.Main(inChild)
	claimHolder()
	if path := os.Getenv(peakFile); path != "" {
		measured(path)
	}
	if os.Getenv(asCommand) != "" {
		os.Unsetenv(asCommand)
		main() // does not return
	}
	os.Exit(m.Run())
}

// bench runs the command line and returns its exit code and output.
func benchCommand(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(context.Background(), args, &o, &e)
	return code, o.String(), e.String()
}

// mustRun runs the command line and fails the test unless it succeeds.
func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errOut := benchCommand(t, args...)
	if code != exitOK {
		t.Fatalf("bench %s: exit code %d: %s", strings.Join(args, " "), code, errOut)
	}
	return out
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const tinySuite = `
name: tiny
instances:
  - name: small
    trace: "builtin:philly?jobs=1000"
    slice: {jobs: 4, at: busiest, repeat: 3}
    tooLarge: drop
  - name: shaped
    trace: "builtin:philly?jobs=1000"
    where: {duration_s: ["<20000", ">1000"]}
    slice: {jobs: 4, at: busiest}
    cluster: {servers: 2, gpusPerServer: 2}
    tooLarge: drop
    params: 500MB
    iteration: 1s
    round: 600s
    references: [exhaustive, {name: time-indexed, params: {slot: 600s}}, lb0, area]
objectives: [total-jct, weighted-completion, makespan]
methods: [sjf, {name: fifo, params: {blocking: skip, placement: consolidate}}]
references: [exhaustive, lb0, srpt, mean-busy-time]
limits: {solve: 10m, nodes: 2000000}
`

func TestRunReportAndReadBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	out := mustRun(t, "run", write(t, "s.yaml", tinySuite), "-o", dir, "-q", "-j", "2")
	for _, want := range []string{"small/00", "sjf(blocking=strict,placement=pool)", "exhaustive", "optimum 3/3", "0 failed"} {
		if !strings.Contains(out, want) {
			t.Errorf("the table lacks %q:\n%s", want, out)
		}
	}
	run, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Ratios) != (3*3+4)*3 { // instances × methods with schedules × objectives
		t.Errorf("%d ratio rows", len(run.Ratios))
	}
	for _, r := range run.Ratios {
		if !r.Cost.Valid || r.RatioToOptimum.Valid && r.RatioToOptimum.V < 1 || r.RatioToLowerBound.Valid && r.RatioToLowerBound.V < 1 {
			t.Errorf("%s %s %s: cost %v, ratios %v %v, %s", r.Instance, r.Objective, r.Method, r.Cost, r.RatioToOptimum, r.RatioToLowerBound, r.Message)
		}
		if r.Method == "exhaustive" && r.RatioToOptimum.V != 1 {
			t.Errorf("%s %s: the exhaustive search proved no optimum: %+v", r.Instance, r.Objective, r)
		}
	}
	for _, format := range []string{"table", "md", "latex", "csv", "json"} {
		if report := mustRun(t, "report", dir, "--format", format); !strings.Contains(report, "sjf") {
			t.Errorf("%s report lacks the policy:\n%s", format, report)
		}
	}
	path := filepath.Join(dir, "report.csv")
	mustRun(t, "report", dir, "--format", "csv", "-o", path)
	if data, err := os.ReadFile(path); err != nil || len(data) == 0 {
		t.Errorf("report file: %v", err)
	}
}

// The same suite gives the same values whatever the number of workers.
func TestRunIsReproducible(t *testing.T) {
	suite := write(t, "s.yaml", tinySuite)
	digest := func(workers string) string {
		dir := filepath.Join(t.TempDir(), "out")
		mustRun(t, "run", suite, "-o", dir, "-q", "-j", workers)
		run, err := record.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		return run.Manifest.ResultDigest
	}
	if one, three := digest("1"), digest("3"); one != three {
		t.Errorf("digest %s with one worker, %s with three", one, three)
	}
}

const tinyInstance = `{
  "name": "tiny", "model": "gang",
  "cluster": {"servers": [{"gpus": 2}], "inter": "10Gbps", "intra": "300GB/s"},
  "jobs": [
    {"name": "long", "release": "0s", "weight": 1, "iters": 1, "stages": [{"replicas": 2, "compute": "10s"}]},
    {"name": "short", "release": "0s", "weight": 2, "iters": 4, "stages": [{"replicas": 1, "compute": "500ms"}]},
    {"name": "late", "release": "1s", "weight": 1, "iters": 3, "stages": [{"replicas": 1, "compute": "1s"}]}
  ]
}`

func TestSolveVerifySimulate(t *testing.T) {
	in := write(t, "in.json", tinyInstance)
	schedule := filepath.Join(t.TempDir(), "s.json")
	for _, args := range [][]string{{"--method", "exhaustive"}, {"--formulation", "time-indexed", "--slot", "1s"},
		{"--method", "time-indexed", "--slot", "1s", "--solver", "branch"}} {
		out := mustRun(t, append([]string{"solve", in, "--objective", "total-completion", "--schedule", schedule}, args...)...)
		// short 2 s, late 4 s, long 14 s
		if !strings.Contains(out, "optimal, proven") || !strings.Contains(out, "20.000000 s") {
			t.Errorf("solve %v:\n%s", args, out)
		}
	}
	if out := mustRun(t, "verify", in, schedule); !strings.Contains(out, "holds") || !strings.Contains(out, "20.000000 s") {
		t.Errorf("verify:\n%s", out)
	}
	out := mustRun(t, "solve", in, "--method", "time-indexed", "--slot", "1s", "--solver", "lpsolve-mip", "--objective", "total-completion")
	if !strings.Contains(out, "not proven") || strings.Contains(out, "optimal, proven") {
		t.Errorf("lp_solve's answer is not marked as claimed:\n%s", out)
	}
	out = mustRun(t, "simulate", in, "--policy", "sjf", "--schedule", schedule)
	if !strings.Contains(out, "20.000000 s") {
		t.Errorf("simulate:\n%s", out)
	}
	mustRun(t, "verify", in, schedule)
}

// Every way to corrupt the text of a schedule is caught with exit code 5.
func TestVerifyRejects(t *testing.T) {
	in := write(t, "in.json", tinyInstance)
	path := filepath.Join(t.TempDir(), "s.json")
	mustRun(t, "solve", in, "--schedule", path)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ old, new, rule string }{
		"earlier":    {`"start":"4s"`, `"start":"3s"`, "capacity"},
		"shorter":    {`"end":"14s"`, `"end":"13s"`, "progress"},
		"no server":  {`"server":0`, `"server":7`, "placement"},
		"fewer":      {`"gpus":2`, `"gpus":1`, "gang"},
		"missing":    {`{"job":0,.*?\n    `, ``, "missing"},
		"unreleased": {`"job":2,"start":"1s"`, `"job":2,"start":"0s"`, "release"},
	} {
		re := regexp.MustCompile(strings.NewReplacer(`{"`, `\{"`).Replace(c.old))
		bad := re.ReplaceAllString(string(good), c.new)
		if name == "missing" {
			bad = regexp.MustCompile(`,?\n    \{"job":0.*\n`).ReplaceAllString(string(good), "\n")
		}
		if bad == string(good) {
			t.Errorf("%s: nothing to corrupt in\n%s", name, good)
			continue
		}
		code, out, errOut := benchCommand(t, "verify", in, write(t, "bad.json", bad))
		if code != exitInvalid || !strings.Contains(out, c.rule) {
			t.Errorf("%s: exit code %d, output %q %q; want %d and rule %q", name, code, out, errOut, exitInvalid, c.rule)
		}
	}
}

func TestSimulateJobList(t *testing.T) {
	jobs := write(t, "jobs.csv", "id,submit_s,gpus,duration_s\na,100,2,10\nb,100,1,2.5\nc,101,1,3\n")
	out := filepath.Join(t.TempDir(), "done.csv")
	mustRun(t, "simulate", jobs, "--policy", "fifo", "-p", "blocking=strict", "--gpus", "2", "-o", out)
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := "job,submit_s,gpus,start_s,finish_s|a,100,2,100,110|b,100,1,110,112.5|c,101,1,110,113"
	var got []string
	for _, r := range rows {
		got = append(got, strings.Join(r, ","))
	}
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
}

func TestPlan(t *testing.T) {
	out := mustRun(t, "plan", write(t, "s.yaml", tinySuite))
	if !strings.Contains(out, "24 cells on 4 instances") {
		t.Errorf("plan:\n%s", out)
	}
}

// Bad input gives one clear line, exit code 2 and nothing else.
func TestBadInput(t *testing.T) {
	suite := func(s string) string { return write(t, "s.yaml", s) }
	in := write(t, "in.json", tinyInstance)
	edited := func(old, new string) string {
		s := strings.Replace(tinyInstance, old, new, 1)
		if s == tinyInstance {
			t.Fatalf("%q is not in the instance", old)
		}
		return write(t, "bad.json", s)
	}
	damaged := write(t, "bad.parquet", "PAR1 this is no parquet PAR1")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no such command":     {[]string{"rnu"}, "rnu"},
		"no such flag":        {[]string{"run", "--ouput", "x"}, "ouput"},
		"no such suite":       {[]string{"run", "absent.yaml"}, "absent.yaml"},
		"unknown key":         {[]string{"run", suite("metods: [fifo]\n")}, `"methods"`},
		"unknown method":      {[]string{"run", suite("instances: [{slice: {jobs: 2}}]\nmethods: [fifoo]\n")}, "fifoo"},
		"unknown parameter":   {[]string{"run", suite("instances: [{slice: {jobs: 2}}]\nmethods: [{name: fifo, params: {blokcing: skip}}]\n")}, "blokcing"},
		"unknown trace":       {[]string{"run", suite("instances: [{trace: builtin:phily}]\nmethods: [fifo]\n")}, "philly-like"},
		"absent trace":        {[]string{"run", suite("instances: [{trace: no.parquet}]\nmethods: [fifo]\n")}, "no.parquet"},
		"damaged trace":       {[]string{"run", suite("instances: [{trace: " + damaged + "}]\nmethods: [fifo]\n")}, "bad.parquet"},
		"where column":        {[]string{"run", suite("instances: [{where: {gpu: 1}}]\nmethods: [fifo]\n")}, "gpus"},
		"gang too large":      {[]string{"run", suite("instances: [{slice: {jobs: 1000}, cluster: {servers: 1, gpusPerServer: 1}}]\nmethods: [fifo]\n")}, "GPUs"},
		"unknown model":       {[]string{"run", suite("instances: [{model: gangs}]\nmethods: [fifo]\n")}, "gangs"},
		"describe damaged":    {[]string{"dataset", "describe", damaged}, "bad.parquet"},
		"describe absent":     {[]string{"dataset", "describe", "no.parquet"}, "no.parquet"},
		"import format":       {[]string{"dataset", "import", "--format", "phily", "x", "-o", "y"}, "phily"},
		"import absent":       {[]string{"dataset", "import", "--format", "philly", "x.csv", "-o", filepath.Join(t.TempDir(), "y")}, "x.csv"},
		"negative time":       {[]string{"solve", edited(`"release": "1s"`, `"release": "-1s"`)}, "release"},
		"unknown json key":    {[]string{"solve", edited(`"iters": 4`, `"iter": 4`)}, "iter"},
		"time without unit":   {[]string{"solve", edited(`"release": "1s"`, `"release": "1"`)}, "unit"},
		"gang beyond cluster": {[]string{"solve", edited(`"replicas": 2`, `"replicas": 3`)}, "3"},
		"zero weight":         {[]string{"solve", edited(`"weight": 2`, `"weight": 0`)}, "weight"},
		"cut json":            {[]string{"solve", write(t, "cut.json", tinyInstance[:200])}, "cut.json"},
		"objective":           {[]string{"solve", in, "--objective", "jct"}, "jct"},
		"method":              {[]string{"solve", in, "--method", "fifo"}, "fifo"},
		"solver":              {[]string{"solve", in, "--method", "time-indexed", "--solver", "gurobi"}, "gurobi"},
		"policy":              {[]string{"simulate", in, "--policy", "exhaustive"}, "exhaustive"},
		"no policy":           {[]string{"simulate", in}, "--policy"},
		"no cluster":          {[]string{"simulate", write(t, "j.csv", "submit,gpus,duration\n0,1,1\n"), "--policy", "fifo"}, "--gpus"},
		"NaN duration":        {[]string{"simulate", write(t, "j.csv", "submit,gpus,duration\n0,1,NaN\n"), "--policy", "fifo", "--gpus", "1"}, "j.csv"},
		"negative duration":   {[]string{"simulate", write(t, "j.csv", "submit,gpus,duration\n0,1,-4\n"), "--policy", "fifo", "--gpus", "1"}, "j.csv"},
		"missing column":      {[]string{"simulate", write(t, "j.csv", "submit,gpu,duration\n0,1,4\n"), "--policy", "fifo", "--gpus", "1"}, "gpus"},
		"job beyond cluster":  {[]string{"simulate", write(t, "j.csv", "submit,gpus,duration\n0,9,4\n"), "--policy", "fifo", "--gpus", "8"}, "9"},
		"report absent":       {[]string{"report", "nowhere"}, "nowhere"},
		"report format":       {[]string{"report", "nowhere", "--format", "pdf"}, "pdf"},
		"schedule elsewhere":  {[]string{"verify", in, in}, "in.json"},
	} {
		code, out, errOut := benchCommand(t, c.args...)
		if code != exitUsage || !strings.Contains(errOut, c.want) || strings.Contains(errOut, "goroutine") || strings.Contains(errOut, "panic") {
			t.Errorf("%s: exit code %d, message %q; want %d and %q", name, code, errOut, exitUsage, c.want)
		}
		if out != "" {
			t.Errorf("%s: output %q", name, out)
		}
		if lines := strings.Count(strings.TrimSpace(errOut), "\n"); lines > 0 && !strings.Contains(c.args[0], "run") {
			t.Errorf("%s: %d lines:\n%s", name, lines+1, errOut)
		}
	}
}

// A result directory with a changed byte does not open.
func TestReportRejectsDamage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	mustRun(t, "run", write(t, "s.yaml", "instances: [{slice: {jobs: 2}}]\nmethods: [fifo]\n"), "-o", dir, "-q")
	path := filepath.Join(dir, "ratios.arrow")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, errOut := benchCommand(t, "report", dir); code != exitUsage || !strings.Contains(errOut, "ratios.arrow") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
}

func TestInterruptedRunWritesWhatItHas(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errOut bytes.Buffer
	dir := filepath.Join(t.TempDir(), "out")
	code := run(ctx, []string{"run", write(t, "s.yaml", tinySuite), "-o", dir, "-q"}, &out, &errOut)
	if code != exitInterrupted || !strings.Contains(errOut.String(), "bench run") {
		t.Errorf("exit code %d: %s", code, errOut.String())
	}
	if _, err := record.Open(dir); err != nil {
		t.Error(err)
	}
}

// sharedData returns a file of the public traces, which lie beside the
// repository and are not part of it.
func sharedData(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "data", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no public traces in ../shared/data: %v", err)
	}
	return path
}

func TestRunOnRealTraces(t *testing.T) {
	philly := filepath.Join(t.TempDir(), "philly.parquet")
	out := mustRun(t, "dataset", "import", "--format", "philly", sharedData(t, "raw/philly/philly.csv.gz"), "-o", philly)
	if !strings.Contains(out, "70063") && !strings.Contains(out, "70,063") {
		t.Errorf("import:\n%s", out)
	}
	suite := `
name: real
instances:
  - name: curated
    trace: ` + sharedData(t, "curated/jobs.parquet") + `
    where: {trace: philly}
    slice: {jobs: 7, at: busiest, repeat: 3}
    tooLarge: drop
  - name: imported
    trace: ` + philly + `
    slice: {jobs: 7, at: busiest, repeat: 3}
    tooLarge: drop
methods: [fifo, sjf]
references: [exhaustive, lb0, srpt, mean-busy-time]
`
	dir := filepath.Join(t.TempDir(), "out")
	mustRun(t, "run", write(t, "s.yaml", suite), "-o", dir, "-q")
	run, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	cost := map[string]float64{}
	for _, r := range run.Ratios {
		if !r.RatioToOptimum.Valid {
			t.Errorf("%s %s: no proven optimum", r.Instance, r.Method)
		}
		cost[r.Instance+r.Method] = r.Cost.V
	}
	// Both files hold the same jobs.
	for key, c := range cost {
		if rest, ok := strings.CutPrefix(key, "curated"); ok && cost["imported"+rest] != c {
			t.Errorf("%s costs %v, imported %v", key, c, cost["imported"+rest])
		}
	}
}

// Half of the memory is the soft limit, unless the user has set one.
func TestSpareMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	t.Setenv("GOMEMLIMIT", "1GiB")
	spareMemory()
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("limit %d in spite of GOMEMLIMIT, before %d", got, before)
	}
	t.Setenv("GOMEMLIMIT", "")
	spareMemory()
	m := record.ThisMachine()
	if got := debug.SetMemoryLimit(-1); got <= 0 || got > m.RAM/2 {
		t.Errorf("limit %d of %d", got, m.RAM)
	}
}
