package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"yardstick/bench/record"
	"yardstick/datasets/tracetest"
)

// listed is a job of a list: what every format can say of one.
type listed struct {
	ID      string `parquet:"job_id"`
	Trace   string `parquet:"trace"`
	Submit  int64  `parquet:"submit_s"`
	Seconds int64  `parquet:"duration_s"`
	GPUs    int32  `parquet:"gpus"`
}

// ties are jobs of one GPU submitted at a handful of minutes, in no order, under
// ids that are in no order either, by number or by text: 10 comes after 7 and
// before 9.
func ties(id func(i int) string) []listed {
	rng := rand.New(rand.NewPCG(16, 5))
	var list []listed
	for i := range 48 {
		list = append(list, listed{id(i), "t", 60 * rng.Int64N(5), 100 + rng.Int64N(4000), 1})
	}
	list[rng.IntN(len(list))].Submit = 0
	return list
}

func numbered(i int) string { return strconv.Itoa(7 + (i*29)%1000) }

// fcfs returns the rows in the order in which their jobs came: by submission, and
// of those submitted together as the list has them.
func fcfs(list []listed) []int {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[a].Submit, list[b].Submit) })
	return order
}

// fcfsStarts is first come, first served on servers of one GPU each, by hand: the
// start of every row, in seconds.
func fcfsStarts(list []listed, gpus int) []float64 {
	free, starts, last := make([]int64, gpus), make([]float64, len(list)), int64(0)
	for _, i := range fcfs(list) {
		slices.Sort(free)
		last = max(last, list[i].Submit, free[0])
		starts[i], free[0] = float64(last), last+list[i].Seconds
	}
	return starts
}

// written says how the jobs are written down in each format that can be imported,
// as the tables that it takes.
func written(list []listed) map[string][]string {
	epoch := time.Date(2020, 9, 1, 0, 0, 0, 0, time.UTC)
	at := func(s int64) string { return epoch.Add(time.Duration(s) * time.Second).Format(time.DateTime) }
	table := func(head, line string, values func(j listed) []any) string {
		var b strings.Builder
		b.WriteString(head)
		for _, j := range list {
			fmt.Fprintf(&b, line+"\n", values(j)...)
		}
		return b.String()
	}
	logs := table("", `{"status": "Pass", "vc": "v", "jobid": "%s", "user": "u", "submitted_time": "%s", "attempts": [{"start_time": "%s", "end_time": "%s", "detail": [{"ip": "m", "gpus": ["g"]}]}]},`,
		func(j listed) []any { return []any{j.ID, at(j.Submit), at(j.Submit), at(j.Submit + j.Seconds)} })
	plain := func(j listed) []any { return []any{j.ID, j.Submit, j.Seconds} }
	return map[string][]string{
		"philly":      {table("timestamp,duration,num_gpus,gpu_time,cluster\n", "%s,%d,1,0,c", func(j listed) []any { return []any{at(j.Submit), j.Seconds} })},
		"philly-json": {"[" + strings.TrimSuffix(logs, ",\n") + "]"},
		"helios": {table("job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n", "%s,u,v,1,1,1,COMPLETED,%s,,,%d,0",
			func(j listed) []any { return []any{j.ID, at(j.Submit), j.Seconds} })},
		"pai": {table("", "%s,i%[1]s,u,Terminated,%d,%d", func(j listed) []any { return []any{j.ID, 1000 + j.Submit, 1000 + j.Submit + j.Seconds} }),
			table("", "%s,worker,1,Terminated,%d,%d,100,1,100,V100", func(j listed) []any { return []any{j.ID, 1000 + j.Submit, 1000 + j.Submit + j.Seconds} }),
			table("", "i%s,u,V100,,", func(j listed) []any { return []any{j.ID} })},
		"pai-sim": {table("job_id,submit_time,duration,num_gpu\n", "%s,%d,%d,1", plain)},
		"openb": {table("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n", "%s,1,1,1,1000,,LS,Succeeded,%d,%d,%d",
			func(j listed) []any { return []any{j.ID, j.Submit, j.Submit + j.Seconds, j.Submit} })},
		"acme": {table("job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,queue,gpu_time\n", "%s,u,1,1,1,T,COMPLETED,%s+00:00,,,%d,0,1",
			func(j listed) []any { return []any{j.ID, at(j.Submit), j.Seconds} })},
		"pollux":   {table("name,time,application,num_replicas,batch_size\n", "%s,%d,bert,1,8", func(j listed) []any { return []any{j.ID, j.Submit} })},
		"gavel":    {table("", "T (batch size 8)\tc\td\ta\t1\t5\t1\tm\t1\t-1\t%[2]d\t%[1]d", func(j listed) []any { return []any{j.Submit, j.Seconds} })},
		"tiresias": {table("job_id,submit_time,duration,num_gpu\n", "%s,%d,%d,1", plain)},
		"generic":  {table("name,when,length,n\n", "%s,%d,%d,1", plain)},
	}
}

// importAll writes the jobs in every format and imports them, and also writes them
// as Parquet in one group of rows and in many. It returns the traces by name.
func importAll(t *testing.T, list []listed) map[string]string {
	t.Helper()
	dir, traces, texts := t.TempDir(), map[string]string{}, written(list)
	for _, f := range formats() {
		if len(texts[f.name]) == 0 {
			t.Errorf("%s: a new format: say in this test how jobs are written in it", f.name)
			continue
		}
		args := []string{"dataset", "import", "--format", f.name}
		for i, text := range texts[f.name] {
			args = append(args, tracetest.Write(t, fmt.Sprintf("%s-%d.in", f.name, i), []byte(text)))
		}
		if f.name == "generic" {
			args = append(args, "--map", "job_id=name", "--map", "submit_s=when", "--map", "duration_s=length", "--map", "gpus=n")
		}
		traces[f.name] = filepath.Join(dir, f.name+".parquet")
		mustRun(t, append(args, "-o", traces[f.name])...)
	}
	for name, rows := range map[string]int64{"one-group": 1000, "many-groups": 7} {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[listed](&b, parquet.MaxRowsPerRowGroup(rows))
		if _, err := w.Write(list); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		traces[name] = tracetest.Write(t, name+".parquet", b.Bytes())
	}
	return traces
}

// starts runs a suite whose first jobs it returns: when each started, by instance,
// in the order of the instance's jobs.
func starts(t *testing.T, suite string) map[string][]float64 {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	mustRun(t, "run", write(t, "s.yaml", suite), "-o", dir, "-q")
	run, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	instance, out := map[string]string{}, map[string][]float64{}
	for _, c := range run.Ratios {
		instance[c.CellID] = c.Instance
	}
	for _, j := range run.Jobs {
		if name := instance[j.CellID]; j.Job == len(out[name]) {
			out[name] = append(out[name], j.Start.V)
		}
	}
	return out
}

// TestOrderOfEqualSubmissions: jobs submitted at the same time come in the order of
// the file, whatever the format and whatever they are called.
func TestOrderOfEqualSubmissions(t *testing.T) {
	list := ties(numbered)
	want := fcfsStarts(list, 2)
	suite := "instances:\n"
	traces := importAll(t, list)
	for name, path := range traces {
		rows := tracetest.Read(t, path)
		if len(rows) != len(list) {
			t.Fatalf("%s: %d rows", name, len(rows))
		}
		for i, r := range rows {
			if int64(r.SubmitS.V) != list[i].Submit {
				t.Fatalf("%s: row %d was submitted at %v, in the list at %d", name, i, r.SubmitS.V, list[i].Submit)
			}
		}
		if name != "pollux" { // it has no durations
			suite += fmt.Sprintf("  - {name: %s, trace: %q, slice: {jobs: %d}, cluster: {servers: 2, gpusPerServer: 1}}\n", name, path, len(list))
		}
	}
	got := starts(t, suite+"methods: [fifo]\nreferences: [lb0]\n")
	if len(got) != len(traces)-1 {
		t.Fatalf("%d instances of %d traces", len(got), len(traces))
	}
	order := fcfs(list)
	for name, s := range got {
		for k, i := range order {
			if s[k] != want[i] {
				t.Errorf("%s: job %d in order, row %d, starts at %v under run, want %v", name, k, i, s[k], want[i])
				break
			}
		}
	}

	text := "id,submit,gpus,duration\n"
	for _, j := range list {
		text += fmt.Sprintf("%s,%d,1,%d\n", j.ID, j.Submit, j.Seconds)
	}
	plain := strings.ReplaceAll(text, "id,", "unknown,") // jobs are numbered
	for name, path := range map[string]string{"CSV": write(t, "jobs.csv", text), "CSV without ids": write(t, "plain.csv", plain),
		"one-group": traces["one-group"], "many-groups": traces["many-groups"], "tiresias": traces["tiresias"], "helios": traces["helios"]} {
		out := filepath.Join(t.TempDir(), "done.csv")
		mustRun(t, "simulate", path, "--policy", "fifo", "--servers", "2", "--gpus-per-server", "1", "-o", out)
		file, err := os.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(file).ReadAll()
		file.Close()
		if err != nil || len(records) != len(list)+1 {
			t.Fatalf("%s: %d lines, %v", name, len(records), err)
		}
		column := slices.Index(records[0], "start_s")
		for k, i := range order {
			if at, err := strconv.ParseFloat(records[k+1][column], 64); err != nil || at != want[i] {
				t.Errorf("%s: row %d starts at %v under simulate, want %v (%v)", name, i, at, want[i], err)
				break
			}
		}
	}
}

// TestMinuteStampedTrace: first come, first served on a public trace that is
// stamped by the minute is what it is by hand, for every job.
func TestMinuteStampedTrace(t *testing.T) {
	const gpus = 64
	path := filepath.Join(t.TempDir(), "minutes.parquet")
	mustRun(t, "dataset", "import", "--format", "tiresias", "--unit", "min", tracetest.Public(t, "raw/philly/chronus_trace_job_Philly_MIX1.csv.gz"), "-o", path)
	rows, ids := tracetest.Read(t, path), map[string]int{}
	order := make([]int, len(rows))
	for i, r := range rows {
		order[i], ids[r.JobID] = i, i
	}
	// byHand starts the jobs in an order: each once those before it have started and
	// enough GPUs are free.
	byHand := func(tie func(a, b int) int) []float64 {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(rows[a].SubmitS.V, rows[b].SubmitS.V), tie(a, b)) })
		free, starts, last := make([]float64, gpus), make([]float64, len(rows)), 0.0
		for _, i := range order {
			gang := int(rows[i].GPUs.V)
			slices.Sort(free)
			last = max(last, rows[i].SubmitS.V, free[gang-1])
			starts[i] = last
			for g := range gang {
				free[g] = last + rows[i].DurationS.V
			}
		}
		return starts
	}
	want := byHand(cmp.Compare[int])
	wrong := byHand(func(a, b int) int { return cmp.Compare(rows[a].JobID, rows[b].JobID) })
	out := filepath.Join(t.TempDir(), "done.csv")
	mustRun(t, "simulate", path, "--policy", "fifo", "--gpus", strconv.Itoa(gpus), "-o", out)
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(records) != len(rows)+1 {
		t.Fatalf("%d lines of %d jobs: %v", len(records), len(rows), err)
	}
	elsewhere := 0
	for _, r := range records[1:] {
		i := ids[r[0]]
		if at, err := strconv.ParseFloat(r[3], 64); err != nil || at != want[i] {
			t.Fatalf("job %s starts at %v, want %v (%v)", r[0], at, want[i], err)
		}
		if want[i] != wrong[i] {
			elsewhere++
		}
	}
	t.Logf("%d of %d jobs start elsewhere where equal submissions are ordered by the text of ids", elsewhere, len(rows))
	if elsewhere < len(rows)/2 {
		t.Errorf("only %d jobs start elsewhere: the trace has no ties to speak of", elsewhere)
	}
}
