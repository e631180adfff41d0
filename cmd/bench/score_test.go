package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

const scoredJobs = "id,submit,gpus,duration\na,100,1,10\nb,100,2,5\nc,103,1,4\n"

// Three levels of evidence of one schedule, and how each is refused.
func TestScore(t *testing.T) {
	jobs := write(t, "jobs.csv", scoredJobs)
	for name, c := range map[string]struct {
		schedule string
		args     []string
		code     int
		want     []string
	}{
		"completions": {"job,end\na,115\nb,105\nc,109\n", nil, exitOK, []string{"evidence: completions · class F(1)", "total-jct  26.000000 s  23.300000 s  1.1159  mean-busy-time"}},
		"intervals":   {"job,start,end\na,105,115\nb,100,105\nc,105,109\n", nil, exitOK, []string{"evidence: intervals · class N", "total-jct  26.000000 s  25.492659 s  1.0199  lagrangian"}},
		"placements": {"job,start,end,place\na,105,115,0:0\nb,100,105,0:0+1\nc,105,109,0:1\n", nil, exitOK,
			[]string{"evidence: placements · class N", "1.0199"}},
		"bouts": {"job,start,end\na,100,103\nb,103,108\na,108,115\nc,108,112\n", nil, exitOK, []string{"class P0"}},
		"infeasible": {"job,end\na,110\nb,105\nc,109\n", nil, exitInvalid,
			[]string{"no class", "within 5s, in 5s of time, 2 jobs need 15.000 GPU-seconds, and there are 10.000"}},
		"capacity":      {"job,start,end\na,100,110\nb,100,105\nc,105,109\n", nil, exitInvalid, []string{"capacity  b         100", "starts on 2 GPUs where 1 of 2 are free"}},
		"device":        {"job,start,end,place\na,105,115,0:0\nb,100,105,0:0+1\nc,105,109,0:0\n", nil, exitInvalid, []string{"device  c        105  takes GPU 0 of server 0, which is held"}},
		"sample":        {"job,end\na,115\nb,105\nc,109\nd,120\n", nil, exitInvalid, []string{"job d 120 is in the schedule and not in the job list", "the list is a sample"}},
		"missing":       {"job,end\na,115\nb,105\n", nil, exitInvalid, []string{"missing  c        103  is not in the schedule"}},
		"left out":      {"job,end\na,115\nb,105\n", []string{"--ignore", "missing"}, exitOK, []string{"1 job left out: missing", "2 jobs, 2 GPUs"}},
		"short":         {"job,start,end\na,105,115\nb,100,104.5\nc,105,109\n", nil, exitInvalid, []string{"length  b      104.5  holds its GPUs for 4.5s and runs for 5s"}},
		"tolerance":     {"job,start,end\na,105,115\nb,100,104.5\nc,105,109\n", []string{"--tolerance", "1s"}, exitOK, []string{"within the tolerance 1 jobs count as shorter"}},
		"recorded":      {"job,start,end\na,105,112\nb,100,105\nc,105,109\n", []string{"--lengths", "recorded"}, exitOK, []string{"total-jct"}},
		"hidden":        {"job,start,end\na,105,115\nb,100,105\nc,105,109\n", []string{"--evidence", "completions"}, exitOK, []string{"evidence: completions"}},
		"other columns": {"who,from,till\na,105000,115000\nb,100000,105000\nc,105000,109000\n", []string{"--map", "job=who,start=from:ms,end=till:ms"}, exitOK, []string{"1.0199"}},
		"other clock":   {"job,submit,start,end\na,0,5,15\nb,0,0,5\nc,3,5,9\n", nil, exitOK, []string{"the schedule's clock is 1m40s behind", "1.0199"}},
		"thirds":        {"job,start,end\na,105.0000001,115.0000001\nb,100.0000001,105\nc,105,109\n", nil, exitOK, []string{"class N"}},
		"resized":       {"job,start,end,gpus\na,105,115,2\nb,100,105,2\nc,115,119,1\n", nil, exitInvalid, []string{"holds 2 GPUs and asks for 1: it was resized (class M)"}},
	} {
		schedule := write(t, "schedule.csv", c.schedule)
		args := append([]string{"score", jobs, schedule, "--servers", "1", "--gpus-per-server", "2"}, c.args...)
		code, out, errOut := benchCommand(t, args...)
		if code != c.code || c.code != exitOK && strings.Count(errOut, "\n") != 1 {
			t.Errorf("%s: exit code %d\n%s%s", name, code, out, errOut)
		}
		for _, want := range c.want {
			if !strings.Contains(strings.Join(strings.Fields(out), " "), strings.Join(strings.Fields(want), " ")) {
				t.Errorf("%s: no %q in\n%s", name, want, out)
			}
		}
		if c.code == exitInvalid && strings.Contains(out, "objective") {
			t.Errorf("%s: violations, and a ratio:\n%s", name, out)
		}
	}
}

// What cannot be scored is refused in one line.
func TestScoreRefuses(t *testing.T) {
	jobs, schedule := write(t, "jobs.csv", scoredJobs), write(t, "schedule.csv", "job,end\na,115\nb,105\nc,109\n")
	sharing := write(t, "pollux.jsonl", `{"timestamp":1,"submitted_jobs":[{"name":"a","submission_time":0,"completion_time":9}]}`+"\n")
	for want, args := range map[string][]string{
		"which cluster?":                                 {jobs, schedule},
		"cannot be read from it, so give --gpus":         {jobs, schedule, "--gpus", "from-log"},
		"--gpus \"many\"":                                {jobs, schedule, "--gpus", "many"},
		"format \"tiresais\" is unknown":                 {jobs, schedule, "--gpus", "2", "--format", "tiresais"},
		"evidence of completions at most":                {jobs, schedule, "--gpus", "2", "--evidence", "intervals"},
		"lengths cannot be those recorded":               {jobs, schedule, "--gpus", "2", "--lengths", "recorded"},
		"has no submit time":                             {schedule, "--gpus", "2"},
		"class M":                                        {jobs, sharing, "--gpus", "2", "--format", "pollux"},
		"--objective: scheduled-weight is maximised":     {jobs, schedule, "--gpus", "2", "--objective", "scheduled-weight"},
		"--ignore \"slow\"":                              {jobs, schedule, "--gpus", "2", "--ignore", "slow"},
		"--map \"finish=end\": the field \"finish\"":     {jobs, schedule, "--gpus", "2", "--map", "finish=end"},
		"has no column till":                             {jobs, schedule, "--gpus", "2", "--map", "end=till"},
		"--zone \"Mars\"":                                {jobs, schedule, "--gpus", "2", "--zone", "Mars"},
		"no such file":                                   {jobs, "nothing.csv", "--gpus", "2"},
		"--report \"xml\"":                               {jobs, schedule, "--gpus", "2", "--report", "xml"},
		"go with a job list":                             {write(t, "instance.json", string(readExample(t))), schedule, "--gpus", "2"},
		"--lengths \"mine\": it must be jobs or recorde": {jobs, schedule, "--gpus", "2", "--lengths", "mine"},
	} {
		code, out, errOut := benchCommand(t, append([]string{"score"}, args...)...)
		if code != exitUsage || out != "" || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, want) {
			t.Errorf("%v: exit code %d, %s%s\nwant %q", args, code, out, errOut, want)
		}
	}
}

// readExample returns an instance as a file has it.
func readExample(t *testing.T) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "in.json")
	mustRun(t, "instance", "build", listTrace(t, write(t, "list.csv", scoredJobs)), "-s", "slice.jobs=0", "-s", "cluster.servers=1", "-s", "cluster.gpusPerServer=2", "-o", out)
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// listTrace imports a job list.
func listTrace(t *testing.T, list string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "trace.parquet")
	mustRun(t, "dataset", "import", list, "--format", "generic", "--map", "job_id=id", "--map", "submit_s=submit", "--map", "gpus=gpus", "--map", "duration_s=duration", "-o", out)
	return out
}

// What simulate writes is scored as it stands, whatever it is stored as, and the cost is
// the same; and so it is as the suite's method recorded.
func TestScoreOfSimulate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	list := "id,submit,gpus,duration\n"
	for i := range 40 {
		list += fmt.Sprintf("j%d,%d,%d,%d\n", i, 1_700_000_000+rng.IntN(200), 1+rng.IntN(8), 1+rng.IntN(60))
	}
	jobs := write(t, "jobs.csv", list)
	out := filepath.Join(t.TempDir(), "out.csv")
	printed := mustRun(t, "simulate", jobs, "--policy", "sjf", "-p", "blocking=skip", "--servers", "2", "--gpus-per-server", "4", "-o", out)
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	forms := map[string]string{"csv": out, "jsonl": filepath.Join(t.TempDir(), "out.jsonl"), "parquet": filepath.Join(t.TempDir(), "out.parquet")}
	type row struct {
		Job    string `parquet:"job" json:"job"`
		Start  string `parquet:"start_s" json:"start_s"`
		Finish string `parquet:"finish_s" json:"finish_s"`
	}
	var rows []row
	lines := ""
	for _, r := range records[1:] {
		rows = append(rows, row{r[0], r[3], r[4]})
		line, err := json.Marshal(rows[len(rows)-1])
		if err != nil {
			t.Fatal(err)
		}
		lines += string(line) + "\n"
	}
	if err := os.WriteFile(forms["jsonl"], []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := parquet.WriteFile(forms["parquet"], rows); err != nil {
		t.Fatal(err)
	}
	cost := ""
	for form, path := range forms {
		var got []map[string]string
		if err := json.Unmarshal([]byte(mustRun(t, "score", jobs, path, "--servers", "2", "--gpus-per-server", "4", "--report", "json")), &got); err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || got[0]["class"] != "N" || !strings.Contains(printed, got[0]["cost"]) || cost != "" && got[0]["bound_exact"] != cost {
			t.Errorf("%s: %v\nsimulate printed\n%s", form, got, printed)
		}
		cost = got[0]["bound_exact"]
	}
	beside := func(path string) string { return "../" + filepath.Base(filepath.Dir(path)) + "/" + filepath.Base(path) } // seen from the suite
	suite := write(t, "suite.yaml", fmt.Sprintf("apiVersion: yardstick/v1\nname: s\nseed: 1\ninstances:\n  - name: list\n    trace: %s\n    slice: {jobs: 0}\n    cluster: {servers: 2, gpusPerServer: 4, inter: 10Gbps, intra: 300GB/s}\n"+
		"objectives: [total-jct]\nmethods:\n  - {name: sjf, params: {blocking: skip}}\n  - {name: recorded, params: {file: %s}}\nreferences: [srpt-ranked]\n", beside(listTrace(t, jobs)), beside(out)))
	dir := filepath.Join(t.TempDir(), "result")
	mustRun(t, "run", suite, "-o", dir, "-q")
	table, err := csv.NewReader(strings.NewReader(mustRun(t, "report", dir, "--format", "csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range table[0] {
		column[name] = i
	}
	costs := map[string]bool{}
	for _, r := range table[1:] {
		costs[r[column["mean_cost"]]+" "+r[column["geo_mean"]]+" "+r[column["class"]]] = true
	}
	if len(table) != 3 || len(costs) != 1 {
		t.Errorf("%d rows, whose costs and ratios are %v: recorded must have those of the policy", len(table)-1, costs)
	}
	if err := os.WriteFile(out, []byte(strings.Replace(string(text), records[1][4], records[1][3], 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errOut := benchCommand(t, "run", suite, "-o", filepath.Join(t.TempDir(), "broken"), "-q"); code != exitInvalid {
		t.Errorf("a recorded schedule that is none: exit code %d, %s", code, errOut)
	}
}

// An instance in place of a job list: its own cluster and clock.
func TestScoreOfInstance(t *testing.T) {
	instance := write(t, "instance.json", string(readExample(t)))
	out := mustRun(t, "score", instance, write(t, "s.csv", "job,start,end\na,5,15\nb,0,5\nc,5,9\n"))
	if !strings.Contains(out, "3 jobs, 2 GPUs · evidence: intervals · class N") || !strings.Contains(out, "1.0199") {
		t.Errorf("%s", out)
	}
}

// A schedule of ours, with loads, pauses and partners, is scored in the class that it claims,
// and one that was changed is not.
func TestScoreOfSchedules(t *testing.T) {
	for model, c := range map[string]struct{ policy, class string }{"gang": {"fifo", "N"}, "preemptive": {"srtf", "P"}, "sharing": {"sjf-bsbf", "S"}} {
		dir := t.TempDir()
		instance, schedule := filepath.Join(dir, "in.json"), filepath.Join(dir, "out.json")
		build := []string{"instance", "build", "builtin:philly-like", "-s", "model=" + model, "-s", "slice.jobs=30", "-s", "slice.at=busiest", "-s", "tooLarge=drop",
			"-s", "cluster.servers=2", "-s", "cluster.gpusPerServer=4", "-o", instance}
		if model == "sharing" {
			build = append(build, "-s", "gpuMemory=24GB")
		}
		mustRun(t, build...)
		printed := mustRun(t, "simulate", instance, "--policy", c.policy, "--schedule", schedule)
		var rows []map[string]string
		if err := json.Unmarshal([]byte(mustRun(t, "score", instance, schedule, "--objective", "all", "--report", "json")), &rows); err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			ratio, err := strconv.ParseFloat(r["ratio"], 64)
			if r["class"] != c.class || !strings.Contains(printed, r["cost"]) || err != nil || ratio < 1 {
				t.Errorf("%s: %v\n%s", model, r, printed)
			}
		}
		if len(rows) != 5 {
			t.Errorf("%s: %d rows", model, len(rows))
		}
		text, err := os.ReadFile(schedule)
		if err != nil {
			t.Fatal(err)
		}
		var s map[string]any
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		delete(s, "seal")
		s["segments"] = s["segments"].([]any)[1:]
		if text, err = json.Marshal(s); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(schedule, text, 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, errOut := benchCommand(t, "score", instance, schedule)
		if code != exitInvalid || strings.Contains(out, "objective") || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%s: a schedule without its first segment: exit code %d\n%s%s", model, code, out, errOut)
		}
	}
}

// Production logs: one that holds the recorded starts of all jobs is scored, and samples
// are refused.
func TestScoreProduction(t *testing.T) {
	out := mustRun(t, "score", sharedData(t, "raw/alibaba_gpu_v2023/openb_pod_list_default.csv.gz"), "--format", "openb", "--gpus", "6212", "--ignore", "unfinished")
	if !strings.Contains(out, "6203 jobs, 6212 GPUs · evidence: intervals · class N") || !strings.Contains(out, "1088 jobs left out: without GPUs") {
		t.Errorf("%s", out)
	}
	for file, format := range map[string]string{
		"raw/alibaba_gpu_v2025/disaggregated_DLRM_trace.csv.gz":   "dlrm2025",
		"raw/format_examples/helios_cluster_log.example.csv":      "helios",
		"raw/format_examples/acme_trace_seren.example.csv":        "acme",
		"raw/format_examples/philly_cluster_job_log.example.json": "philly",
	} {
		code, out, errOut := benchCommand(t, "score", sharedData(t, file), "--format", format, "--gpus", "9000")
		if code != exitUsage || out != "" || !strings.Contains(errOut, "a sample is not scored") {
			t.Errorf("%s: exit code %d, %s%s", file, code, out, errOut)
		}
	}
}
