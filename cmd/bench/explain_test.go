package main

import (
	"encoding/csv"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"yardstick/bench/hunt"
	"yardstick/bench/record"
)

const explainedSuite = `
name: explained
instances:
  - name: small
    trace: builtin:philly-like
    slice: {jobs: 6, at: busiest, repeat: 4}
    cluster: {servers: 2, gpusPerServer: 4}
    tooLarge: drop
objectives: [total-jct, makespan]
methods: [fifo, sjf, {name: fifo, params: {blocking: skip}}]
references: [exhaustive]
`

// explainedRun runs the suite.
func explainedRun(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "result")
	mustRun(t, "run", write(t, "suite.yaml", explainedSuite), "-o", dir, "--quiet")
	return dir
}

// tidyRows are the rows of csv, by column.
func tidyRows(t *testing.T, args ...string) (list []map[string]string) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(mustRun(t, append(args, "--format", "csv")...))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		one := map[string]string{}
		for k, name := range rows[0] {
			one[name] = row[k]
		}
		list = append(list, one)
	}
	return list
}

// checkSums checks that every part adds up to the difference, and what was lacked to what was
// held.
func checkSums(t *testing.T, rows []map[string]string) {
	t.Helper()
	exact := func(text string) *big.Rat {
		v, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%q is no number", text)
		}
		return v
	}
	values, sums, lacked, held := map[string]*big.Rat{}, map[string]*big.Rat{}, map[string]*big.Rat{}, map[string]*big.Rat{}
	for _, row := range rows {
		switch part := row["part"]; part {
		case "summary":
			values[row["key"]] = exact(row["adds_exact"])
		case "jobs", "gangs", "users", "hours":
			if sums[part] == nil {
				sums[part] = new(big.Rat)
			}
			sums[part].Add(sums[part], exact(row["adds_exact"]))
		case "delays":
			into := lacked
			if row["by"] != "" {
				into = held
			}
			if into[row["key"]] == nil {
				into[row["key"]] = new(big.Rat)
			}
			into[row["key"]].Add(into[row["key"]], exact(row["gpu_s_exact"]))
		}
	}
	if new(big.Rat).Sub(values["cost"], values["reference"]).Cmp(values["difference"]) != 0 {
		t.Errorf("%v", values)
	}
	for _, part := range []string{"jobs", "gangs", "users", "hours"} {
		if sums[part] == nil && part == "jobs" && values["difference"].Sign() == 0 {
			continue // none adds anything
		}
		if sums[part] == nil || sums[part].Cmp(values["difference"]) != 0 {
			t.Errorf("the %s add %v to a difference of %v", part, sums[part], values["difference"])
		}
	}
	for job, v := range lacked {
		if h := held[job]; v.Sign() > 0 && (h == nil || h.Cmp(v) != 0) {
			t.Errorf("job %s lacked %v, and %v was held", job, v, h)
		}
	}
}

// Every schedule of a result is explained, with the costs and the optimum of its rows, and all
// parts add up.
func TestExplainResult(t *testing.T) {
	dir := explainedRun(t)
	run, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	lost := ""
	for i := range run.Ratios {
		r := &run.Ratios[i]
		rows := tidyRows(t, "explain", dir, "--method", r.Method, "--instance", r.Instance, "--objective", r.Objective)
		checkSums(t, rows)
		for _, row := range rows {
			if row["part"] == "summary" && row["key"] == "cost" {
				cost, _ := new(big.Rat).SetString(row["adds_exact"])
				if cost.Quo(cost, big.NewRat(1e6, 1)).RatString() != string(r.CostExact) {
					t.Errorf("%s costs %v, and %s", r.Method, cost, r.CostExact)
				}
			}
			if r.Method != "exhaustive" && r.Optimum.Valid && row["part"] == "summary" && row["key"] == "reference-to-optimum" && row["adds_exact"] != "0" {
				t.Errorf("%s on %s: the reference is %s from the optimum", r.Method, r.Instance, row["adds_exact"])
			}
		}
		if r.Objective == "total-jct" && r.RatioToOptimum.V > 1 && strings.HasPrefix(r.Method, "fifo(blocking=strict") {
			lost = r.Instance
		}
	}
	if lost == "" {
		t.Fatal("fifo loses nowhere: the test has lost its subject")
	}
	out := mustRun(t, "explain", dir, "--method", "fifo", "--instance", lost)
	for _, want := range []string{"the reference is optimal: proven by exhaustive", "by gang size", "by user", "by hour", "who held the GPUs", "# runs, . waits", "fifo(blocking=strict,placement=pool) costs"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	svg, chosen := filepath.Join(t.TempDir(), "x.svg"), filepath.Join(t.TempDir(), "x.md")
	mustRun(t, "explain", dir, "--method", "fifo", "--against", "sjf", "--gantt", svg, "--format", "md", "--part", "summary", "-o", chosen)
	for path, want := range map[string]string{svg: "<svg", chosen: "sjf(blocking=strict,placement=pool) costs"} {
		if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, no %q in %.300s", path, err, want, text)
		}
	}

	// A schedule file of the same instance may be the reference, and the fewest jobs are proven.
	in, schedule, few := filepath.Join(t.TempDir(), "in.json"), filepath.Join(t.TempDir(), "s.json"), filepath.Join(t.TempDir(), "few.json")
	mustRun(t, "instance", "extract", dir, lost, "-o", in)
	mustRun(t, "solve", in, "--schedule", schedule)
	checkSums(t, tidyRows(t, "explain", dir, "--method", "fifo", "--instance", lost, "--against", schedule))
	mustRun(t, "explain", dir, "--method", "fifo", "--instance", lost, "--shrink", few)
	mustRun(t, "verify", few)
	data, err := os.Open(proofPath(few))
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	proof, err := hunt.ReadProof(data)
	if err != nil {
		t.Fatal(err)
	}
	if ratio, _ := new(big.Rat).SetString(proof.Ratio); ratio.Cmp(big.NewRat(1, 1)) <= 0 {
		t.Errorf("the fewest jobs show a ratio of %s", proof.Ratio)
	}
}

// A score is explained beside a policy, an exact method or another score.
func TestExplainScore(t *testing.T) {
	dir := t.TempDir()
	jobs := write(t, "jobs.csv", "id,submit,gpus,duration,user\na,100,2,10,ann\nb,100,1,5,bob\nc,103,1,4,bob\n")
	scored := func(name, schedule string, args ...string) string {
		path := filepath.Join(dir, name+".json")
		mustRun(t, append([]string{"score", jobs, write(t, name+".csv", schedule), "--gpus", "2", "--save", path}, args...)...)
		return path
	}
	poor := scored("poor", "job,start,end\na,100,110\nb,110,115\nc,110,114\n")
	good := scored("good", "job,start,end\na,107,117\nb,100,105\nc,103,107\n")
	ends := scored("ends", "job,end\na,110\nb,115\nc,114\n")
	stopped := scored("stopped", "job,start,end\na,100,105\nb,105,110\na,110,115\nc,105,109\n")
	for name, args := range map[string][]string{
		"policy":            {"explain", poor, "--against", "sjf"},
		"exact":             {"explain", poor, "--against", "exhaustive", "--objective", "makespan"},
		"other score":       {"explain", poor, "--against", good},
		"ends alone":        {"explain", ends, "--against", good},
		"stopped":           {"explain", stopped, "--against", "fifo"},
		"stopped as such":   {"explain", stopped, "--against", "srtf"},
		"against ends":      {"explain", ends, "--against", ends, "--objective", "mean-jct"},
		"weighted, by each": {"explain", poor, "--against", good, "--objective", "weighted-completion"},
	} {
		t.Run(name, func(t *testing.T) { checkSums(t, tidyRows(t, args...)) })
	}
	out := mustRun(t, "explain", poor, "--against", good)
	for _, want := range []string{"total-jct: 3 jobs", "the difference is 10.000000 s", "ann", "a: 10", "the optimum is not known"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if out := mustRun(t, "explain", poor, "--against", "exhaustive"); !strings.Contains(out, "the reference is optimal: proven by exhaustive") {
		t.Errorf("not optimal:\n%s", out)
	}
	if out := mustRun(t, "explain", ends, "--against", good); !strings.Contains(out, "not known, as a schedule has ends alone") {
		t.Errorf("delays of ends alone:\n%s", out)
	}
	var rows []map[string]string
	if err := json.Unmarshal([]byte(mustRun(t, "explain", poor, "--against", good, "--part", "delays", "--format", "json")), &rows); err != nil || len(rows) != 4 || rows[0]["later_s"] != "10" || rows[1]["by"] != "a" || rows[1]["gpu_s"] != "10" {
		t.Errorf("delays %v: %v", err, rows)
	}
}

// What cannot be explained is said in one line.
func TestExplainRefuses(t *testing.T) {
	dir := explainedRun(t)
	jobs := write(t, "jobs.csv", "id,submit,gpus,duration\na,100,2,10\nb,100,1,5\n")
	path := func(name string) string { return filepath.Join(t.TempDir(), name) }
	whole, stopped, others, third := path("a.json"), path("b.json"), path("c.json"), path("d.json")
	mustRun(t, "score", jobs, write(t, "1.csv", "job,start,end\na,100,110\nb,110,115\n"), "--gpus", "2", "--save", whole)
	mustRun(t, "score", jobs, write(t, "2.csv", "job,start,end\na,100,105\nb,105,110\na,110,115\n"), "--gpus", "2", "--save", stopped)
	mustRun(t, "score", write(t, "o.csv", "id,submit,gpus,duration\na,100,2,10\nc,100,1,5\n"), write(t, "3.csv", "job,start,end\na,100,110\nc,110,115\n"), "--gpus", "2", "--save", others)
	mustRun(t, "score", write(t, "p.csv", "id,submit,gpus,duration\na,100,0.5,10\nb,100,1,5\n"), write(t, "4.csv", "job,start,end\na,100,110\nb,110,115\n"), "--gpus", "2", "--save", third)
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	damaged := write(t, "damaged.json", strings.Replace(string(text), `"end":"10s"`, `"end":"9s"`, 1))
	torn := write(t, "torn.json", string(text[:len(text)/2]))
	for want, c := range map[string]struct {
		code int
		args []string
	}{
		"give --method":                            {exitUsage, []string{dir}},
		"no method \"sjff\"":                       {exitUsage, []string{dir, "--method", "sjff"}},
		"no schedule of sjf":                       {exitUsage, []string{dir, "--method", "sjf", "--instance", "nothing"}},
		"--part \"all\"":                           {exitUsage, []string{dir, "--method", "sjf", "--part", "all"}},
		"--format \"xml\"":                         {exitUsage, []string{dir, "--method", "sjf", "--format", "xml"}},
		"is no method of the result":               {exitUsage, []string{dir, "--method", "sjf", "--against", "nothing"}},
		"has no schedule to compare with":          {exitUsage, []string{dir, "--method", "sjf", "--against", "lb0"}},
		"is no policy that can be run":             {exitUsage, []string{dir, "--method", "exhaustive", "--shrink", "x.json"}},
		"--keep 2":                                 {exitUsage, []string{dir, "--method", "fifo", "--shrink", "x.json", "--keep", "2"}},
		"holds one schedule":                       {exitUsage, []string{whole}},
		"go with a result directory":               {exitUsage, []string{whole, "--method", "sjf"}},
		"--shrink needs a policy":                  {exitUsage, []string{whole, "--against", "sjf", "--shrink", "x.json"}},
		"objective \"speed\"":                      {exitUsage, []string{whole, "--against", "sjf", "--objective", "speed"}},
		"of class P0 does what one of class N may": {exitUsage, []string{whole, "--against", stopped}},
		"is of other jobs than":                    {exitUsage, []string{whole, "--against", others}},
		"parts of GPUs":                            {exitUsage, []string{third, "--against", "sjf"}},
		"holds its GPUs for 9s":                    {exitUsage, []string{damaged, "--against", "sjf"}},
		"torn.json is no file of bench score":      {exitUsage, []string{torn, "--against", "sjf"}},
		"no such file":                             {exitUsage, []string{"nothing.json"}},
		"is no schedule as bench solve":            {exitUsage, []string{whole, "--against", jobs}},
	} {
		code, out, errOut := benchCommand(t, append([]string{"explain"}, c.args...)...)
		if code != c.code || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, want) || out != "" {
			t.Errorf("%v: exit code %d, %s%s\nwant %q", c.args, code, out, errOut, want)
		}
	}
	// A result that was damaged is not explained.
	segments := filepath.Join(dir, "segments.arrow")
	data, err := os.ReadFile(segments)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(segments, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, errOut := benchCommand(t, "explain", dir, "--method", "sjf"); code != exitUsage || strings.Count(errOut, "\n") != 1 {
		t.Errorf("a damaged result: exit code %d, %s", code, errOut)
	}
}
