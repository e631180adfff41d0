package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"yardstick/bench/record"
	"yardstick/bench/report/chart"
)

// fullRun has rows for every section of the page.
func fullRun() *record.Run {
	run := sampleRun()
	large := largeRun(2, 400, 1000)
	run.Ratios = append(run.Ratios, large.Ratios...)
	run.Jobs, run.Segments = large.Jobs, large.Segments
	run.Manifest.Suite = large.Manifest.Suite
	run.Manifest.Inputs = []record.Input{{Name: "builtin:philly-like", SHA256: "ab", Bytes: 12}}
	for i, verdict := range []string{"holds", "holds", "undecided", "violated"} {
		run.Theorems = append(run.Theorems, record.Theorem{CellID: fmt.Sprint(i), Instance: fmt.Sprintf("small-%02d", i), Method: "sjf", Theorem: "theorem-1", Form: "printed",
			Met: i < 2, Unmet: "releases are 0", Slack: record.Some(float64(3 - i)), Verdict: verdict})
	}
	for i, bound := range []string{"srpt", "lb0", "srpt"} {
		run.Bounds = append(run.Bounds, record.Bound{Suite: "quick", Instance: fmt.Sprintf("small-%02d", i/2), Objective: "total-jct", Bound: bound, Side: record.Lower,
			Value: record.Some(10.0 - float64(i)), Class: "N", Certified: record.Some(i == 0), Wall: record.Some(1e-4)})
	}
	run.Bounds = append(run.Bounds, record.Bound{Instance: "small-03", Objective: "total-jct", Bound: "lagrangian", Message: "too large"})
	for i, wall := range []float64{0.5, 3, 60} {
		s := record.Solve{CellID: fmt.Sprint("s", i), Instance: fmt.Sprintf("small-%02d", i), Objective: "total-jct", Formulation: "time-indexed/up", Solver: "branch",
			Termination: "OPTIMAL", DualStatus: "proven", Wall: record.Some(wall), Nodes: record.Some(int64(10 * i)), GapPrimalRel: record.Some(0.01 * float64(i))}
		if i == 2 {
			s.Termination = "TIME_LIMIT"
		}
		run.Solves = append(run.Solves, s)
		for k := range 4 {
			e := record.Event{CellID: s.CellID, Objective: s.Objective, Event: k, Instance: s.Instance, Time: wall * float64(k) / 3, Dual: record.Some(float64(5 + k)), Nodes: record.Some(int64(k)), Final: k == 3}
			if k > 0 {
				e.Primal = record.Some(float64(12 - k))
			}
			run.Events = append(run.Events, e)
		}
	}
	addExplained(run)
	return run
}

// addExplained adds an instance of three jobs on two GPUs: under fifo the long job comes
// first, in the best schedule last.
func addExplained(run *record.Run) {
	for _, one := range []struct {
		cell, method, kind, cost string
		starts                   []float64
	}{{"x0", "fifo", "online", "33", []float64{0, 10, 11}}, {"x1", "exhaustive", "exact", "15", []float64{2, 0, 1}}} {
		seconds := map[string]float64{"33": 33, "15": 15}[one.cost]
		run.Ratios = append(run.Ratios, record.Ratio{CellID: one.cell, Suite: "quick", Instance: "late/00", InstanceSHA256: "00", Family: "late", Model: "gang", Class: "N", Jobs: 3, GPUs: 2, Servers: record.Some(1),
			Objective: "total-completion", Method: one.method, Kind: one.kind, Sense: record.Min, Termination: "OPTIMAL", Schedule: record.Some(0), Cost: record.Some(seconds), BestKnown: record.Some(15.0), CostExact: record.Text(one.cost), RatioToBestKnown: record.Some(seconds / 15)})
		for j, length := range []float64{10, 1, 1} {
			start := one.starts[j]
			run.Jobs = append(run.Jobs, record.Job{CellID: one.cell, Job: j, Name: record.Text([]string{"long", "short", "brief"}[j]), Start: record.Some(start), Completion: record.Some(start + length), JCT: record.Some(start + length), Train: record.Some(length), GPUs: record.Some(2), Weight: record.Some(1.0)})
			run.Segments = append(run.Segments, record.Segment{CellID: one.cell, Job: j, Start: start, End: start + length, Phase: "train", GPUs: 2})
		}
	}
}

func pageOf(t *testing.T, run *record.Run) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, run, Options{Format: HTML}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	addresses = regexp.MustCompile(`(?i)(?:src|href|action|data|poster|srcset|@import|url)\s*[=(]\s*["']?\s*([^"'\s)>]+)`)
	csvLinks  = regexp.MustCompile(`download="([^"]*)" href="([^"]*)"`)
	headings  = regexp.MustCompile(`role="region" aria-label="([^"]*)"`)
	targets   = regexp.MustCompile(`href="#([^"]+)"`)
	ids       = regexp.MustCompile(` id="([^"]*)"`)
)

// checkPage wants a page that refers to nothing outside itself, whose figures
// have a text alternative and readable rows of at most MaxPoints.
func checkPage(t *testing.T, page string) {
	t.Helper()
	seen := map[string]bool{}
	for _, m := range addresses.FindAllStringSubmatch(page, -1) {
		if a := html.UnescapeString(m[1]); !strings.HasPrefix(a, "#") && !strings.HasPrefix(a, "data:text/csv") {
			t.Errorf("refers to %.80s", a)
		}
	}
	for _, bad := range []string{"<script src", "<link", "<iframe", "@import", "<img", "//cdn", "javascript:"} {
		if strings.Contains(page, bad) {
			t.Errorf("has %s", bad)
		}
	}
	if !strings.Contains(html.UnescapeString(page), `content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-`) {
		t.Error("no content security policy")
	}
	for _, m := range headings.FindAllStringSubmatch(page, -1) {
		if seen["caption "+m[1]] {
			t.Errorf("two regions are named %q", m[1])
		}
		seen["caption "+m[1]] = true
	}
	for _, m := range targets.FindAllStringSubmatch(page, -1) {
		if !strings.Contains(page, ` id="`+m[1]+`"`) {
			t.Errorf("a link leads to %q, which is not there", m[1])
		}
	}
	for _, m := range ids.FindAllStringSubmatch(page, -1) {
		if seen[m[1]] {
			t.Errorf("two elements with id %q", m[1])
		}
		seen[m[1]] = true
	}
	figures := strings.Count(page, "<figure>")
	if n := strings.Count(page, `<svg role="img" aria-label="`); n != figures || strings.Contains(page, `aria-label=""`) {
		t.Errorf("%d figures, %d text alternatives", figures, n)
	}
	links := csvLinks.FindAllStringSubmatch(page, -1)
	if len(links) != figures {
		t.Errorf("%d figures, %d files of rows", figures, len(links))
	}
	for _, m := range links {
		if seen["file "+m[1]] {
			t.Errorf("two files are named %s", m[1])
		}
		seen["file "+m[1]] = true
		text, err := url.PathUnescape(strings.TrimPrefix(html.UnescapeString(m[2]), "data:text/csv;charset=utf-8,"))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(rows) < 2 || len(rows) > chart.MaxPoints+1 {
			t.Errorf("%s: %d rows, %v", m[1], len(rows), err)
		}
	}
}

// Every section is there, in the contents too, and has what its title says.
func TestPage(t *testing.T) {
	page := pageOf(t, fullRun())
	checkPage(t, page)
	for _, id := range []string{"ratios", "status", "missing", "theorems", "profiles", "distributions", "load", "jct", "explained", "convergence", "bounds", "solves", "run"} {
		if !strings.Contains(page, `<section id="`+id+`"`) || !strings.Contains(page, `<a href="#`+id+`">`) {
			t.Errorf("section %s is missing", id)
		}
		if strings.Contains(page, `<a href="#`+id+`">`) && strings.Contains(page, id+`</a> (empty)`) {
			t.Errorf("section %s is empty", id)
		}
	}
	if strings.Contains(page, "(empty)") {
		t.Error("a section is empty")
	}
	for _, must := range []string{"optimum 4/6", "≤2.778", "index out of range", "1 failed", "n=6/6", "holds", "lagrangian on small-03", "PAR10", "time limit 60 s",
		"proven bound / value", "best: exact"} {
		if !strings.Contains(html.UnescapeString(page), must) {
			t.Errorf("%q is missing", must)
		}
	}
	if again := pageOf(t, fullRun()); again != page {
		t.Error("the same run made other bytes")
	}
}

// Names from outside cannot become markup, in text, attributes or data.
func TestPageEscapes(t *testing.T) {
	run := fullRun()
	evil := `</script><script>alert("1")</script>'"&`
	for i := range run.Ratios {
		run.Ratios[i].Method += evil
		run.Ratios[i].Instance += evil
		run.Ratios[i].Family += evil
		run.Ratios[i].Message = record.Text(evil)
		run.Ratios[i].Suite = evil
	}
	run.Manifest.Execution.Command = []string{evil}
	page := pageOf(t, run)
	checkPage(t, page)
	if strings.Count(page, "<script>") != 1 || strings.Count(page, "</script>") != 2 {
		t.Error("a name became a script")
	}
}

// A run without anything makes a page that says so.
func TestEmptyPage(t *testing.T) {
	page := pageOf(t, &record.Run{})
	checkPage(t, page)
	if n := strings.Count(page, "has no rows for this section"); n < 11 {
		t.Errorf("%d empty sections", n)
	}
}

// Placements have their section.
func TestPlacementPage(t *testing.T) {
	page := pageOf(t, placementRun(true))
	if !strings.Contains(page, `<section id="placements"`) {
		t.Error("no section for placements")
	}
}

// A contradiction stands at the top.
func TestPageContradiction(t *testing.T) {
	run := sampleRun()
	run.Ratios[2].RatioToOptimum = record.Some(0.9999999999999999)
	if page := pageOf(t, run); !strings.Contains(page, `role="alert"`) || strings.Index(page, `role="alert"`) > strings.Index(page, "<nav") {
		t.Error("no alert before the contents")
	}
}

// The file is written into the result directory, and read by nobody as a table.
func TestWriteFile(t *testing.T) {
	run := sampleRun()
	for i := range run.Ratios {
		run.Ratios[i].InstanceSHA256 = "00"
	}
	dir := t.TempDir()
	if err := record.Write(dir, run); err != nil {
		t.Fatal(err)
	}
	path, err := WriteFile(run)
	if err != nil || path != filepath.Join(dir, "report.html") {
		t.Fatal(path, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	checkPage(t, string(data))
	if _, err := record.Open(dir); err != nil {
		t.Error(err)
	}
}

// The profile's steps are the empirical distribution over all instances.
func TestProfileRows(t *testing.T) {
	run := sampleRun()
	v := newViews(run, New(run))
	p, ok := v.groups[0].profile()
	if !ok {
		t.Fatal("no profile")
	}
	for _, row := range p.rows {
		at, _ := strconv.ParseFloat(row[1], 64)
		within := 0
		for _, r := range run.Ratios {
			if r.Family != "small" || r.Method != row[0] || !r.Cost.Valid {
				continue
			}
			ratio := r.RatioToLowerBound.V
			if r.RatioToOptimum.Valid {
				ratio = r.RatioToOptimum.V
			}
			if ratio <= at*(1+1e-5) {
				within++
			}
		}
		if want := short(float64(within) / 6); row[2] != want {
			t.Errorf("%v: share %s, want %s", row, row[2], want)
		}
	}
}

// The largest figures give first, and the budget is kept.
func TestShare(t *testing.T) {
	figures := func(points ...int) [][]plan {
		var list []plan
		for _, n := range points {
			list = append(list, plan{points: n})
		}
		return [][]plan{list}
	}
	for _, c := range []struct {
		points       []int
		budget, want int
	}{
		{nil, 100, chart.MaxPoints},
		{[]int{10, 10_000}, 1e6, chart.MaxPoints},
		{[]int{100, 5000, 5000}, 1100, 500},
		{[]int{5000, 5000, 5000}, 10, 50},
	} {
		if got := share(figures(c.points...), c.budget); got != c.want {
			t.Errorf("%v within %d: %d, want %d", c.points, c.budget, got, c.want)
		}
	}
}

// Lanes never hold two jobs at once, and a job keeps its lanes over its phases.
func TestLanes(t *testing.T) {
	pieces := []record.Segment{
		{Job: 0, Server: 0, Start: 0, End: 1, Phase: "load", GPUs: 2}, {Job: 0, Server: 0, Start: 1, End: 5, Phase: "train", GPUs: 2},
		{Job: 1, Server: 0, Start: 0, End: 1, Phase: "train", GPUs: 2}, {Job: 2, Server: 0, Start: 1, End: 4, Phase: "train", GPUs: 1},
		{Job: 3, Server: 1, Start: 2, End: 3, Phase: "train", GPUs: 4},
	}
	p := gantt(slices.Clone(pieces), 2, 8)
	if len(p.Lanes) != 8 || len(p.Bars) != len(pieces) {
		t.Fatalf("%+v", p)
	}
	for i, a := range p.Bars {
		for _, b := range p.Bars[:i] {
			for _, lane := range a.Lanes {
				if slices.Contains(b.Lanes, lane) && a.Start < b.End && b.Start < a.End {
					t.Errorf("%+v and %+v", a, b)
				}
				if b.Job == a.Job && !slices.Equal(a.Lanes, b.Lanes) {
					t.Errorf("job %d moved: %+v, %+v", a.Job, b, a)
				}
			}
		}
	}
	// Two jobs on every GPU of one server share the lanes.
	shared := gantt([]record.Segment{{Job: 0, Start: 0, End: 2, Phase: "train", GPUs: 2}, {Job: 1, Start: 1, End: 3, Phase: "train", GPUs: 2}}, 1, 2)
	if len(shared.Bars) != 2 || shared.Bars[0].Of != 2 || shared.Bars[0].Part == shared.Bars[1].Part {
		t.Errorf("%+v", shared)
	}
}

// The part that explains says what jobs add, all of it, and who held what they lacked.
func TestExplained(t *testing.T) {
	run := fullRun()
	v := newViews(run, New(run))
	var found []explained
	for _, g := range v.figured {
		if x, ok := v.explanation(g, nil); ok {
			found = append(found, x)
		}
	}
	if len(found) != 1 || found[0].this.Method != "fifo" || found[0].reference.Method != "exhaustive" || found[0].Difference.RatString() != "18000000" {
		t.Fatalf("explained: %+v", found)
	}
	delays := found[0].Delays(5)
	if len(delays) != 2 || found[0].NameOf(delays[0].Job) != "short" || found[0].NameOf(delays[0].By[0].Job) != "long" || delays[0].Lacked.String() != "20000000000" || delays[1].Lacked.String() != "20000000000" {
		t.Errorf("delays: %+v", delays)
	}
	text := html.UnescapeString(pageOf(t, run))
	at := strings.Index(text, `<section id="explained"`)
	if at < 0 {
		t.Fatal("there is no section")
	}
	text = text[at : at+strings.Index(text[at:], "</section>")]
	for _, must := range []string{"Jobs under fifo and exhaustive", "fifo beside exhaustive on late/00 (total completion time): 18 s", "By gang size", "By user", "By hour of release", "Most delayed, by whom", "long 20", "55.6%"} {
		if !strings.Contains(text, must) {
			t.Errorf("%q is missing", must)
		}
	}
	// A cost that does not follow from the schedule explains nothing.
	for i := range run.Ratios {
		if run.Ratios[i].CellID == "x0" {
			run.Ratios[i].CostExact = "34"
		}
	}
	for _, g := range newViews(run, New(run)).figured {
		if x, ok := newViews(run, New(run)).explanation(g, nil); ok {
			t.Errorf("explained all the same: %+v", x)
		}
	}
}
