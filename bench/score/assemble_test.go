package score

import (
	"reflect"
	"strings"
	"testing"

	"yardstick/bench/score/logs"
	"yardstick/sched"
)

func seconds(v int64) logs.Time { return logs.Time{V: v * 1e6, OK: true} }

// A log that is its own job list: attempts are joined, what was not done is left out on
// request and counted, and what holds no GPUs by itself.
func TestAssembleLog(t *testing.T) {
	log := &logs.Log{Rows: []logs.Row{
		{Job: "a", Submit: seconds(100), Start: seconds(110), End: seconds(120), GPUs: 2000, Weight: 1, Status: "FAILED"},
		{Job: "b", Submit: seconds(105), Start: seconds(105), End: seconds(107), GPUs: 500, Weight: 1, Status: "COMPLETED"},
		{Job: "a", Submit: seconds(100), Start: seconds(125), End: seconds(135), GPUs: 2000, Weight: 1, Status: "COMPLETED"},
		{Job: "cpu", Submit: seconds(90), Start: seconds(90), End: seconds(95), Weight: 1},
		{Job: "waits", Submit: seconds(91), GPUs: 1000, Weight: 1},
		{Job: "killed", Submit: seconds(92), Start: seconds(92), End: seconds(93), GPUs: 1000, Weight: 1, Status: "CANCELLED"},
		{Job: "short", Submit: seconds(93), Start: seconds(93), End: seconds(93), GPUs: 1000, Weight: 1},
	}}
	a, err := Assemble(Input{Schedule: log, Recorded: true, Ignore: []string{IgnoreKilled, IgnoreUnfinished, IgnoreZero}})
	if err != nil {
		t.Fatal(err)
	}
	want := []LeftOut{{noGPUs, 1}, {IgnoreKilled, 1}, {IgnoreUnfinished, 1}, {IgnoreZero, 1}}
	if !reflect.DeepEqual(a.LeftOut, want) || len(a.Jobs) != 2 || a.Origin != 100e6 || a.Cluster.GPUs != 2*Milli {
		t.Errorf("%+v", a)
	}
	if len(a.Notes) != 2 || !strings.Contains(a.Notes[0], "upper estimate") || !strings.Contains(a.Notes[1], "flatters") {
		t.Errorf("%q", a.Notes)
	}
	k, err := Check(a.Jobs, a.Cluster, a.Record, Options{Recorded: true})
	if err != nil || k.Broken > 0 || k.Class.Kind != sched.P0 || k.Jobs[0].Length != 20e6 || k.Ends[0] != 35e6 {
		t.Errorf("%+v %v", k, err)
	}
	// Without leaving them out they are violations.
	a, err = Assemble(Input{Schedule: log, Recorded: true, GPUs: 9 * Milli})
	if err != nil {
		t.Fatal(err)
	}
	if k, err = Check(a.Jobs, a.Cluster, a.Record, Options{Recorded: true}); err != nil || k.Broken != 2 {
		t.Errorf("%v %v: the job that waits is missing, and the short one has no time", k.Violations, err)
	}
}

// A job is not taken for another's, and lists that say a job twice are refused.
func TestAssembleNames(t *testing.T) {
	list := &logs.Log{Numbered: true, Rows: []logs.Row{{Job: "1", Submit: seconds(0), Length: seconds(5), GPUs: 1000, Weight: 1}, {Job: "2", Submit: seconds(0), Length: seconds(5), GPUs: 1000, Weight: 1}}}
	s := &logs.Log{Rows: []logs.Row{{Job: "01", End: seconds(5), GPUs: -1, Weight: 1}, {Job: "02", End: seconds(9), GPUs: -1, Weight: 1}, {Job: "03", End: seconds(9), GPUs: -1, Weight: 1}}}
	a, err := Assemble(Input{Jobs: list, Schedule: s, GPUs: Milli * 4})
	if err != nil || len(a.Unknown) != 1 || a.Unknown[0].Job != "03" || len(a.Record.Pieces) != 2 {
		t.Errorf("%+v %v", a, err)
	}
	list.Rows[1].Job = "1"
	if _, err := Assemble(Input{Jobs: list, Schedule: s, GPUs: Milli * 4}); err == nil || !strings.Contains(err.Error(), `both have the name "1"`) {
		t.Errorf("%v", err)
	}
}
