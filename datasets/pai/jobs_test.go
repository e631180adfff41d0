package pai

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"yardstick/datasets"
)

const noEstimate = `job_id,num_inst,submit_time,num_cpu,num_gpu,gpu_type,duration,user
0,1,100,6.0,0.5,T4,60.0,ae8ed1
1,4,50,8,1,V100,600,b0
2,1,70,8,0.0,CPU,10,b0
`

const estimate = `job_name,submit_time,duration,plan_gpu,plan_cpu,inst_num,wait_time,user,group,status,user_dur,group_gpu_dur
x,5,60,50,600,3,7.5,u,g,Terminated,1.5,2.5
y,5,60,200,600,,,u,,Failed,,
`

func TestImportJobs(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.parquet")
	r, err := ImportJobs(write(t, "in.csv", noEstimate), out, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []datasets.Row{
		{Trace: "pai", JobID: "0", User: datasets.Some("ae8ed1"), SubmitS: number(50), DurationS: number(60), GPUs: number(.5), CPUs: number(6), GPUType: datasets.Some("T4")},
		{Trace: "pai", JobID: "1", User: datasets.Some("b0"), SubmitS: number(0), DurationS: number(600), GPUs: number(4), CPUs: number(32), GPUType: datasets.Some("V100")},
	}
	if rows := read(t, out); !slices.Equal(rows, want) || r.DroppedBy(RuleGPUOnly) != 1 || r.StartS != 50 {
		t.Errorf("%v: %+v", r, rows)
	}
	if _, err := ImportJobs(write(t, "in.csv", estimate), out, Options{Trace: "sim", Rules: []string{"none"}}); err != nil {
		t.Fatal(err)
	}
	want = []datasets.Row{
		{Trace: "sim", JobID: "x", User: datasets.Some("u"), Group: datasets.Some("g"), Status: datasets.Some("Terminated"),
			SubmitS: number(0), QueueS: number(7.5), DurationS: number(60), GPUs: number(1.5), CPUs: number(18)},
		{Trace: "sim", JobID: "y", User: datasets.Some("u"), Status: datasets.Some("Failed"), SubmitS: number(0), DurationS: number(60), GPUs: number(2), CPUs: number(6)},
	}
	if rows := read(t, out); !slices.Equal(rows, want) {
		t.Errorf("%+v", rows)
	}
}

func TestImportJobsErrors(t *testing.T) {
	for text, want := range map[string]string{
		"job_id,duration,num_gpu\n":                    "has no column submit_time",
		"job_id,duration,submit_time,gpu\n":            "has no column num_gpu or plan_gpu (the nearest is \"gpu\"",
		strings.Replace(noEstimate, "60.0", "long", 1): `line 2: column duration: "long" is not a number`,
		strings.Replace(noEstimate, "0.5", "-0.5", 1):  "line 2: column num_gpu: is -0.5",
		strings.Replace(noEstimate, "\n0,", "\n,", 1):  "line 2: column job_id: is empty",
	} {
		in := write(t, "in.csv", text)
		_, err := ImportJobs(in, filepath.Join(t.TempDir(), "x"), Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "pai: "+in+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v", err)
		}
	}
}

// FuzzImportJobs gives the importer arbitrary bytes: an error or as many rows
// as it reports, and never a panic.
func FuzzImportJobs(f *testing.F) {
	f.Add(noEstimate)
	f.Add(estimate)
	f.Fuzz(func(t *testing.T, text string) {
		out := filepath.Join(t.TempDir(), "out.parquet")
		r, err := ImportJobs(write(t, "in.csv", text), out, Options{})
		if err != nil {
			return
		}
		if n := len(read(t, out)); n != r.Kept {
			t.Errorf("%v, but %d rows were written", r, n)
		}
	})
}
