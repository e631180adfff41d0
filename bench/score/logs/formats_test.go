package logs

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"yardstick/datasets/importer"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, format, text string) *Log {
	t.Helper()
	f, err := Find(format)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Read(write(t, "log", text), Options{Format: f})
	if err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return l
}

// at is a time in seconds since 1970.
func at(seconds int64) Time { return Time{seconds * 1e6, true} }

// moment is the same as text.
func moment(v Time) string { return time.UnixMicro(v.V).UTC().Format("2006-01-02 15:04:05") }

// seconds is a time as text in seconds.
func seconds(v Time) string {
	if !v.OK {
		return ""
	}
	return strconv.FormatInt(v.V/1e6, 10)
}

func whole(r *Row) string { return strconv.FormatInt(r.GPUs/1000, 10) }

// fixtures are files written from the columns that each format documents, with what they
// say, and how rows are written in the format.
var fixtures = []struct {
	format, text string
	first        Row
	rows         int
	write        func(rows []Row) string
	without      func(*Row) // what the format does not hold
}{
	{"acme", "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,queue,gpu_time\n" +
		"j1,u1,1,8,128,Other,FAILED,2023-03-01 00:18:22+08:00,2023-03-01 00:18:54+08:00,2023-03-01 00:20:51+08:00,117,32,936.0\n" +
		"j2,u1,1,8,128,Other,COMPLETED,2023-03-01 00:20:00+08:00,2023-03-01 00:21:00+08:00,2023-03-01 01:00:00+08:00,2340,60,18720.0\n",
		Row{Job: "j1", User: "u1", Status: "FAILED", GPUs: 8000, Weight: 1, Submit: at(1677601102), Start: at(1677601134), End: at(1677601251)}, 2,
		csvWriter("job_id,user,node_num,gpu_num,state,submit_time,start_time,end_time", func(r *Row) []string {
			return []string{r.Job, r.User, "1", whole(r), r.Status, moment(r.Submit) + "+00:00", moment(r.Start) + "+00:00", moment(r.End) + "+00:00"}
		}), nil},
	{"helios", "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n" +
		"7,ua,vc1,4,16,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:42:01,2020-06-09 19:42:01,3600,60\n",
		Row{Job: "7", User: "ua", Status: "COMPLETED", GPUs: 4000, Weight: 1, Submit: at(1591728061), Start: at(1591728121), End: at(1591731721)}, 1,
		csvWriter("job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue", func(r *Row) []string {
			return []string{r.Job, r.User, "v", whole(r), "1", "1", r.Status, moment(r.Submit), moment(r.Start), moment(r.End), "1", "1"}
		}), nil},
	{"openb", "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n" +
		"p0,12000,16384,1,460,T4,LS,Succeeded,10,130,25\np1,6000,1,0,0,,LS,Pending,10,130,\n",
		Row{Job: "p0", Status: "Succeeded", Type: "T4", GPUs: 460, Weight: 1, Submit: at(10), Start: at(25), End: at(130)}, 2,
		csvWriter("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time", func(r *Row) []string {
			return []string{r.Job, "1", "1", whole(r), "1000", "", "LS", r.Status, seconds(r.Submit), seconds(r.End), seconds(r.Start)}
		}), func(r *Row) { r.User = "" }},
	{"dlrm2025", "instance_sn,role,app_name,cpu_request,cpu_limit,gpu_request,gpu_limit,rdma_request,rdma_limit,memory_request,memory_limit,disk_request,disk_limit,max_instance_per_node,creation_time,scheduled_time,deletion_time\n" +
		"instance_9,HN,app_0,12,12,1,1,25,25,120.0,120.0,640.0,800.0,8,100,130.5,900\n",
		Row{Job: "instance_9", GPUs: 1000, Weight: 1, Submit: at(100), Start: Time{130_500_000, true}, End: at(900)}, 1,
		csvWriter("instance_sn,gpu_request,creation_time,scheduled_time,deletion_time", func(r *Row) []string {
			return []string{r.Job, whole(r), seconds(r.Submit), seconds(r.Start), seconds(r.End)}
		}), func(r *Row) { r.User, r.Status = "", "" }},
	{"kueue", "podName,createTs,scheduleTs,finishTs\ntrain-0,1700000000,1700000010,1700000100\ntrain-1,2023-11-14T22:13:20Z,2023-11-14T22:13:30Z,2023-11-14T22:15:00Z\n",
		Row{Job: "train-0", GPUs: -1, Weight: 1, Submit: at(1700000000), Start: at(1700000010), End: at(1700000100)}, 2,
		csvWriter("podName,createTs,scheduleTs,finishTs,gpus", func(r *Row) []string {
			return []string{r.Job, seconds(r.Submit), moment(r.Start), moment(r.End) + "Z", whole(r)}
		}), func(r *Row) { r.User, r.Status = "", "" }},
	{"lucid", "job_id,user,vc,jobname,gpu_num,cpu_num,state,submit_time,start_time,end_time,duration,queue,nodes,jct\n" +
		"3,u,vc,n,2,8,COMPLETED,100,160,460,300,60,\"[{'n1': 2}]\",360\n",
		Row{Job: "3", User: "u", Status: "COMPLETED", GPUs: 2000, Weight: 1, Submit: at(100), Start: at(160), End: at(460)}, 1,
		csvWriter("job_id,user,gpu_num,state,submit_time,start_time,end_time,ckpt_times", func(r *Row) []string {
			return []string{r.Job, r.User, whole(r), r.Status, seconds(r.Submit), seconds(r.Start), seconds(r.End), "0"}
		}), nil},
	{"tiresias", "time,job_id,num_gpu,submit_time,start_time,end_time,executed_time,JCT,duration,pending_time,preempt,promote\n" +
		"460,3,2,100,160,460,300,360,300,60,0,0\n",
		Row{Job: "3", GPUs: 2000, Weight: 1, Submit: at(100), Start: at(160), End: at(460)}, 1,
		csvWriter("time,job_id,num_gpu,submit_time,start_time,end_time,executed_time,JCT,duration,pending_time,preempt,promote", func(r *Row) []string {
			return []string{"0", r.Job, whole(r), seconds(r.Submit), seconds(r.Start), seconds(r.End), "0", "0", "0", "0", "0", "0"}
		}), func(r *Row) { r.User, r.Status = "", "" }},
	{"sacct", "JobIDRaw|User|State|Submit|Eligible|Start|End|AllocTRES\n" +
		"42|ann|CANCELLED by 1000|2024-01-01T00:00:00|2024-01-01T00:00:05|2024-01-01T00:01:00|2024-01-01T01:01:00|billing=8,cpu=16,gres/gpu:a100=4,gres/gpu=4,node=1\n" +
		"42.batch||CANCELLED|2024-01-01T00:01:00|2024-01-01T00:01:00|2024-01-01T00:01:00|2024-01-01T01:01:00|cpu=16,gres/gpu=4\n" +
		"43|ann|PENDING|2024-01-01T00:00:00|2024-01-01T00:00:05|Unknown|Unknown|\n",
		Row{Job: "42", User: "ann", Status: "CANCELLED", Type: "a100", GPUs: 4000, Weight: 1, Submit: at(1704067205), Start: at(1704067260), End: at(1704070860)}, 2,
		func(rows []Row) string {
			b := "JobID|User|State|Eligible|Start|End|AllocTRES\n"
			for i := range rows {
				r := &rows[i]
				b += fmt.Sprintf("%s|%s|%s|%s|%s|%s|cpu=1,gres/gpu=%s\n%s.0|||%s|%s|%s|\n", r.Job, r.User, r.Status, moment(r.Submit), moment(r.Start), moment(r.End), whole(r), r.Job,
					moment(r.Submit), moment(r.Start), moment(r.End))
			}
			return b
		}, nil},
	{"swf", "; Version: 2.2\n; MaxProcs: 64\n    1    100    60  300    4 -1 -1    4  600 -1 1    7  1 -1 1 -1 -1 -1\n 2 100 -1 -1 4 -1 -1 4 600 -1 5 7 1 -1 1 -1 -1 -1\n",
		Row{Job: "1", User: "7", Status: "COMPLETED", GPUs: 4000, Weight: 1, Submit: at(100), Start: at(160), End: at(460), Length: at(300)}, 2,
		func(rows []Row) string {
			b := "; UnixStartTime: 0\n"
			for i := range rows {
				r := &rows[i]
				b += fmt.Sprintf("%s %s %d %d %s -1 -1 1 1 -1 1 5 1 -1 1 -1 -1 -1\n", r.Job, seconds(r.Submit), (r.Start.V-r.Submit.V)/1e6, (r.End.V-r.Start.V)/1e6, whole(r))
			}
			return b
		}, func(r *Row) { r.User, r.Length = "5", Time{r.End.V - r.Start.V, true} }},
	{"batsim", "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,metadata\n" +
		"1,w0,p,10,3,60,1,COMPLETED_SUCCESSFULLY,12,30,42,2,32,1,0-1 5,-1,\n",
		Row{Job: "w0!1", Status: "COMPLETED_SUCCESSFULLY", GPUs: 3000, Weight: 1, Submit: at(10), Start: at(12), End: at(42), Place: []Spot{{"0", 3, []int{0, 1, 5}}}}, 1,
		csvWriter("job_id,workload_name,submission_time,requested_number_of_resources,final_state,starting_time,finish_time,allocated_resources", func(r *Row) []string {
			return []string{r.Job, "", seconds(r.Submit), whole(r), r.Status, seconds(r.Start), seconds(r.End), "0-" + strconv.FormatInt(r.GPUs/1000-1, 10)}
		}), func(r *Row) {
			r.User = ""
			s := Spot{Server: "0", GPUs: int(r.GPUs / 1000)}
			for d := range s.GPUs {
				s.Devices = append(s.Devices, d)
			}
			r.Place = []Spot{s}
		}},
	{"blox", `{"12": [100, 460.5], "3": [0, 60]}`, Row{Job: "12", GPUs: -1, Weight: 1, Submit: at(100), End: Time{460_500_000, true}}, 2,
		func(rows []Row) string {
			m := map[string][]json.Number{}
			for i := range rows {
				m[rows[i].Job] = []json.Number{json.Number(seconds(rows[i].Submit)), json.Number(seconds(rows[i].End))}
			}
			b, _ := json.Marshal(m)
			return string(b)
		}, func(r *Row) { *r = Row{Job: r.Job, Submit: r.Submit, End: r.End, GPUs: -1, Weight: 1} }},
	{"philly", `[{"status":"Pass","vc":"e","jobid":"a1","attempts":[{"start_time":"2017-10-07 01:12:09","end_time":"2017-10-07 01:13:23","detail":[{"ip":"m47","gpus":["gpu1","gpu0"]}]}],"submitted_time":"2017-10-07 01:11:39","user":"u"},
		{"status":"Killed","vc":"e","jobid":"a2","attempts":[],"submitted_time":"2017-10-07 01:11:39","user":"u"}]`,
		Row{Job: "a1", User: "u", Status: "Pass", GPUs: 2000, Weight: 1, Submit: at(1507338699), Start: at(1507338729), End: at(1507338803), Place: []Spot{{"m47", 2, []int{0, 1}}}}, 2,
		func(rows []Row) string {
			var list []string
			for i := range rows {
				r := &rows[i]
				var gpus []string
				for d := range int(r.GPUs / 1000) {
					gpus = append(gpus, fmt.Sprintf("%q", "gpu"+strconv.Itoa(d)))
				}
				list = append(list, fmt.Sprintf(`{"jobid":%q,"user":%q,"status":%q,"vc":"v","submitted_time":%q,"attempts":[{"start_time":%q,"end_time":%q,"detail":[{"ip":"m1","gpus":[%s]}]}]}`,
					r.Job, r.User, r.Status, moment(r.Submit), moment(r.Start), moment(r.End), strings.Join(gpus, ",")))
			}
			return "[" + strings.Join(list, ",\n") + "]"
		}, func(r *Row) {
			s := Spot{Server: "m1", GPUs: int(r.GPUs / 1000)}
			for d := range s.GPUs {
				s.Devices = append(s.Devices, d)
			}
			r.Place = []Spot{s}
		}},
	{"pollux", `{"timestamp":60,"num_nodes":2,"submitted_jobs":[{"name":"bert-0","epoch":0,"allocation":[0,0],"submission_time":10,"completion_time":null}]}
{"timestamp":120,"num_nodes":2,"submitted_jobs":[{"name":"bert-0","epoch":2,"allocation":[],"submission_time":10,"completion_time":95}]}`,
		Row{Job: "bert-0", GPUs: -1, Weight: 1, Submit: at(10), End: at(95)}, 1,
		func(rows []Row) string {
			var list []string
			for i := range rows {
				list = append(list, fmt.Sprintf(`{"name":%q,"submission_time":%s,"completion_time":%s}`, rows[i].Job, seconds(rows[i].Submit), seconds(rows[i].End)))
			}
			return `{"timestamp":1,"submitted_jobs":[` + strings.Join(list, ",") + "]}\n"
		}, func(r *Row) { *r = Row{Job: r.Job, Submit: r.Submit, End: r.End, GPUs: -1, Weight: 1} }},
	{"gavel", "scheduler:INFO [120.5] [Micro-task scheduled]\tJob ID: 3\tWorker type: v100\tWorker ID(s): 5,4\tPriority: 1.00\tDeficit: 0.00\tAllocation:  [v100 1.00]\n" +
		"scheduler:DEBUG [121.0] something else\nscheduler:INFO [480.5] [Micro-task succeeded]\tJob ID: 3\tWorker type: v100\tWorker ID(s): 4,5\n",
		Row{Job: "3", Type: "v100", GPUs: 2000, Weight: 1, Start: Time{120_500_000, true}, End: Time{480_500_000, true}, Place: []Spot{{"0", 2, []int{4, 5}}}}, 1,
		func(rows []Row) (b string) {
			for i := range rows {
				r := &rows[i]
				ids := make([]string, r.GPUs/1000)
				for d := range ids {
					ids[d] = strconv.Itoa(d)
				}
				for k, what := range []string{"scheduled", "succeeded"} {
					b += fmt.Sprintf("scheduler:INFO [%s] [Micro-task %s]\tJob ID: %s\tWorker type: v100\tWorker ID(s): %s\n", seconds([]Time{r.Start, r.End}[k]), what, r.Job, strings.Join(ids, ","))
				}
			}
			return b
		}, func(r *Row) {
			s := Spot{Server: "0", GPUs: int(r.GPUs / 1000)}
			for d := range s.GPUs {
				s.Devices = append(s.Devices, d)
			}
			*r = Row{Job: r.Job, Type: "v100", GPUs: r.GPUs, Weight: 1, Start: r.Start, End: r.End, Place: []Spot{s}}
		}},
	{"table", "job,user,status,submit_s,start_s,finish_s,gpus,place\na,u,ok,1.5,2,3,0.5,\nb,u,ok,1,2,3,4,n1:x3|n2:7\n",
		Row{Job: "a", User: "u", Status: "ok", GPUs: 500, Weight: 1, Submit: Time{1_500_000, true}, Start: at(2), End: at(3)}, 2,
		csvWriter("job,user,status,submit,start,end,gpus", func(r *Row) []string {
			return []string{r.Job, r.User, r.Status, seconds(r.Submit), seconds(r.Start), seconds(r.End), whole(r)}
		}), nil},
	{"accasim", "12;7;2017-01-01 00:00:10__3;2;100#4;2;100#__2017-01-01 00:01:00;2017-01-01 00:06:00;2;4;200;600;\n" +
		"13;NA;2017-01-01 00:00:20__3;1;100#__2017-01-01 00:06:00;2017-01-01 00:07:00;1;NA;100;600;\n",
		Row{Job: "12", User: "7", GPUs: 4000, Weight: 1, Submit: at(1483228810), Start: at(1483228860), End: at(1483229160)}, 2,
		func(rows []Row) string {
			b := ""
			for i := range rows {
				r := &rows[i]
				b += fmt.Sprintf("%s;%s;%s__0;1;1#1;1;1#__%s;%s;2;%s;2;99;\n", r.Job, r.User, moment(r.Submit), moment(r.Start), moment(r.End), whole(r))
			}
			return b
		}, func(r *Row) { r.Status = "" }},
}

func csvWriter(header string, line func(*Row) []string) func([]Row) string {
	return func(rows []Row) string {
		b := header + "\n"
		for i := range rows {
			b += strings.Join(line(&rows[i]), ",") + "\n"
		}
		return b
	}
}

// Every format reads its fixture, and reads back what is written in it.
func TestFormats(t *testing.T) {
	var seen []string
	for _, f := range fixtures {
		seen = append(seen, f.format)
		l := read(t, f.format, f.text)
		if len(l.Rows) != f.rows || !reflect.DeepEqual(l.Rows[0], f.first) {
			t.Errorf("%s: %d rows, first %+v\nwant %d, %+v", f.format, len(l.Rows), l.Rows[0], f.rows, f.first)
		}
		rng := rand.New(rand.NewPCG(1, 1))
		var rows []Row
		for i := range 50 {
			r := Row{Job: strconv.Itoa(100 + i), User: "u" + strconv.Itoa(rng.IntN(5)), Status: "COMPLETED", GPUs: 1000 * int64(1+rng.IntN(8)), Weight: 1}
			now := 1_600_000_000 + int64(rng.IntN(1e6))
			r.Submit, r.Start, r.End = at(now), at(now+10), at(now+10+int64(rng.IntN(1000)))
			rows = append(rows, r)
		}
		text := f.write(rows)
		got := read(t, f.format, text).Rows
		for i := range rows {
			if f.without != nil {
				f.without(&rows[i])
			}
		}
		if !reflect.DeepEqual(got, rows) {
			t.Errorf("%s: reads back\n%+v\nwant\n%+v", f.format, got[:min(2, len(got))], rows[:2])
		}
	}
	for _, f := range Formats() {
		if !slices.Contains(seen, f.Name) {
			t.Errorf("format %s has no fixture", f.Name)
		}
	}
}

// What a log says besides its rows.
func TestRemarks(t *testing.T) {
	const head = "time,job_id,num_gpu,submit_time,start_time,end_time,executed_time,JCT,duration,pending_time,preempt,promote\n"
	if l := read(t, "tiresias", head+"460,3,2,100,160,460,300,360,200,60,2,0\n"); !l.Hidden {
		t.Error("a job was preempted, and start to end counts as held")
	}
	if l := read(t, "gavel", "[1] [Micro-task scheduled]\tJob ID: (3, 4)\tWorker type: v100\tWorker ID(s): 5\n[2] [Micro-task succeeded]\tJob ID: (3, 4)\tWorker type: v100\tWorker ID(s): 5\n"); !strings.Contains(l.Resized, "class S") {
		t.Errorf("%q", l.Resized)
	}
	two := "[1] [Micro-task scheduled]\tJob ID: 3\tWorker type: v100\tWorker ID(s): 5\n[2] [Micro-task succeeded]\tJob ID: 3\tWorker type: v100\tWorker ID(s): 5\n"
	if l := read(t, "gavel", two+strings.ReplaceAll(two, "v100", "k80")); !strings.Contains(l.Resized, "2 types") {
		t.Errorf("%q", l.Resized)
	}
	if l := read(t, "table", "start,end\n0.1234567,2\n"); !l.Rounded || !l.Numbered || l.Rows[0].Start.V != 123457 || l.Rows[0].Job != "1" {
		t.Errorf("%+v", l)
	}
	if l := read(t, "sacct", fixtures[7].text); l.Steps != 1 || l.Rows[1].Start.OK || l.Rows[1].GPUs != -1 {
		t.Errorf("%+v", l)
	}
}

// Input that is wrong ends in one line that says where.
func TestErrors(t *testing.T) {
	for name, c := range map[string]struct{ format, text, want string }{
		"number":     {"table", "job,start,end\na,x,3\n", `line 2: column start: "x" is not a number`},
		"no job":     {"table", "job,start,end\n,1,3\n", "line 2: column job: is empty"},
		"gpus":       {"table", "job,gpus\na,0.0001\n", "line 2: column gpus"},
		"negative":   {"table", "job,gpus\na,-1\n", "line 2: column gpus"},
		"place":      {"table", "job,place\na,here\n", `"here" is no place`},
		"range":      {"table", "job,end\na,1e300\n", "out of range"},
		"date":       {"helios", "job_id,start_time\na,yesterday\n", "is not a time such as"},
		"empty":      {"table", "job,end\n", "has no rows"},
		"blox":       {"blox", `{"a":[1]}`, "needs a submit time and an end"},
		"sample":     {"philly", `[{"id":"a","num_gpus":8,"attempts":[]}]`, "samples, whose missing jobs held GPUs"},
		"swf":        {"swf", "1 2 3\n", "has 3 fields, the format has 18"},
		"resources":  {"batsim", "job_id,allocated_resources\n1,a-b\n", "are no numbers such as 0-3 5"},
		"keys":       {"table", `{"job":"a","end":1}` + "\n" + `{"job":"b","End":1}`, `the key "End" is not in the first object`},
		"unknown":    {"gavel", "[2] [Micro-task succeeded]\tJob ID: 3\tWorker type: v100\tWorker ID(s): 5\n", "that was not scheduled"},
		"accasim":    {"accasim", "12;7;0__3;2#__1;2;2;4;200;600;\n", "is no line such as"},
		"accasim 25": {"accasim", "12;7;2017-01-01 25:00:10__3;2#__2017-01-01 00:01:00;2017-01-01 00:06:00;2;4;200;600;\n", "line 1"},
		"accasim 0":  {"accasim", "\n", "has no jobs"},
		"gpu shares": {"openb", "name,num_gpu,gpu_milli\na,1,2000\n", "no number from 0 to 1000"},
	} {
		f, err := Find(c.format)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Read(write(t, "log", c.text), Options{Format: f})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for text, want := range map[string]string{"finish=x": "the nearest is", "end=x:parsec": "unit", "end=": "field=name", "end=x:milli": "cannot be in milli", "gpus=x:ms": "cannot be in ms"} {
		if _, err := ParseColumn(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Units are exact where they can be, and rounded to the nearest where not.
func TestScaled(t *testing.T) {
	for _, c := range []struct {
		text  string
		unit  Unit
		want  int64
		exact bool
	}{{"1.5", second, 1_500_000, true}, {"0.0000005", second, 1, false}, {"-2", second, -2_000_000, true}, {"1e3", millisecond, 1_000_000, true}, {"1234", nanosecond, 1, false},
		{"0.5", hour, 1_800_000_000, true}, {"1700000000.123456", auto, 1_700_000_000_123_456, true}, {"2", day, 172_800_000_000, true}} {
		v, exact, err := c.unit.micros([]byte(c.text), importer.Clock{})
		if err != nil || v != c.want || exact != c.exact {
			t.Errorf("%s %s: %d %t %v, want %d %t", c.text, unitNames[c.unit], v, exact, err, c.want, c.exact)
		}
	}
}

// FuzzTable gives the readers arbitrary text: an error or rows, and never a panic.
func FuzzTable(f *testing.F) {
	for _, x := range fixtures {
		f.Add(x.format, []byte(x.text))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		format, err := Find(name)
		if err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if l, err := Read(path, Options{Format: format}); err == nil && len(l.Rows) == 0 {
			t.Error("a log without rows")
		}
	})
}
