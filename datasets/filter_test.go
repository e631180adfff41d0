package datasets

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func TestFilter(t *testing.T) {
	row := Row{Trace: "philly", JobID: "7", User: Some("ann"), GPUs: Some(4.0), SubmitS: Some(0.0), DurationS: Some(86400.0)}
	for _, c := range []struct {
		where string
		want  bool
	}{
		{"{}", true},
		{"{trace: philly}", true},
		{"{trace: Philly}", false},
		{"{trace: '!=philly'}", false},
		{"{trace: '!=helios'}", true},
		{"{trace: '=philly'}", true},
		{"{job_id: 7}", true},
		{"{user: ann, gpus: 4}", true},
		{"{user: ann, gpus: 5}", false},
		{"{gpus: 4.0}", true},
		{"{gpus: '>=4'}", true},
		{"{gpus: '>4'}", false},
		{"{gpus: '> 3.5'}", true},
		{"{gpus: '<=4'}", true},
		{"{gpus: '<4'}", false},
		{"{gpus: '!=4'}", false},
		{"{gpus: ['>=2', '<8']}", true},
		{"{gpus: ['>=2', '<4']}", false},
		{"{submit_s: 0}", true},
		{"{duration_s: '<86400'}", false},
		{"{duration_s: 8.64e4}", true},
		// A NULL meets nothing.
		{"{vc: ''}", false},
		{"{vc: '!=x'}", false},
		{"{weight: '!=1'}", false},
		{"{queue_s: 0}", false},
		{"{queue_s: '>=0'}", false},
	} {
		var where map[string]any
		if err := yaml.Unmarshal([]byte(c.where), &where); err != nil {
			t.Fatal(err)
		}
		f, err := ParseFilter(where)
		if err != nil {
			t.Errorf("%s: %v", c.where, err)
		} else if f.Match(&row) != c.want {
			t.Errorf("%s: match is %v", c.where, !c.want)
		}
	}
}

func TestFilterErrors(t *testing.T) {
	for _, c := range []struct {
		column string
		value  any
		want   string
	}{
		{"gpu", 1, `nearest is "gpus"`},
		{"Trace", "x", `nearest is "trace"`},
		{"gpus", "many", `"many" is not one`},
		{"gpus", ">=NaN", `"NaN" is not one`},
		{"gpus", "", `"" is not one`},
		{"gpus", true, "true is neither"},
		{"gpus", nil, "is neither"},
		{"status", ">a", "> does not apply"},
	} {
		_, err := ParseFilter(map[string]any{c.column: c.value})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "datasets: where: column") {
			t.Errorf("%s: %v: %v", c.column, c.value, err)
		}
	}
}

// TestConditions: they are kept in the order of the schema.
func TestConditions(t *testing.T) {
	f, err := ParseFilter(map[string]any{"gpus": []any{">=2", "<8"}, "trace": "philly"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range f.conditions {
		got = append(got, c.column+c.op+c.text)
	}
	if text := strings.Join(got, " "); text != "trace=philly gpus>=2 gpus<8" {
		t.Errorf("%q", text)
	}
}
