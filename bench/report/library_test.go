package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"yardstick/bench/record"
)

// TestLibraryPage: the page is whole, refers to nothing, escapes what a finder calls
// themselves, and has every instance with its gap.
func TestLibraryPage(t *testing.T) {
	l := &Library{Facts: []string{"version 1"}, Columns: []string{"model", "jobs", "instances"}, Summary: [][]string{{"gang", "all", "3"}}, Rows: []record.LibraryRow{
		{Instance: "gang-1", Model: "gang", Class: "N", Objective: "makespan", Jobs: 10, GPUs: 4, Cost: record.Some(5.0), ScheduleBy: record.Text("<script>alert(1)</script>"), Bound: record.Some(5.0), BoundBy: record.Text("tree"), Gap: record.Some(0.0), Status: "optimal", Proof: true},
		{Instance: "gang-2", Model: "gang", Class: "N", Objective: "makespan", Jobs: 1000, GPUs: 4, Cost: record.Some(6.0), ScheduleBy: record.Text("lns"), Bound: record.Some(5.0), BoundBy: record.Text("area"), Gap: record.Some(0.2), Status: "open"},
		{Instance: "elastic-1", Model: "elastic", Class: "Es", Objective: "total-jct", Jobs: 7, GPUs: 9, Cost: record.Some(3.0), ScheduleBy: record.Text("primal-dual"), Status: "partial"},
	}}
	page := func(l *Library) string {
		var b bytes.Buffer
		if err := WriteLibrary(&b, l); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	text := page(l)
	checkPage(t, text)
	for _, want := range []string{"gang-1", "gang-2", "elastic-1", "20.000 %", "0.000 %", `class="good">optimal`, "&lt;script&gt;alert", "tree, for strangers", "library-gaps.csv", "library-profile.csv"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(text, "<script>alert") || strings.Count(text, "<figure>") != 2 {
		t.Error("a name is no text, or there are not two figures")
	}
	if got := l.profile().rows; fmt.Sprint(got) != "[[gang 0 0.5] [gang 20 1]]" {
		t.Errorf("profile %v", got)
	}
	if got := l.sizes().rows; len(got) != 2 {
		t.Errorf("sizes %v", got)
	}
	empty := page(&Library{})
	checkPage(t, empty)
	if strings.Contains(empty, "<figure>") {
		t.Error("figures of nothing")
	}
}
