package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/record"
	"yardstick/bench/reproduce"
	"yardstick/bench/suite"
	"yardstick/bench/tables"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// tenth matches the number of jobs of a trace, and is its tenth.
var tenth = regexp.MustCompile(`\?jobs=([0-9]+)[0-9]`)

// reproduced is how the items of a paper are made in a test.
type reproduced struct {
	prefix string // of the items' names
	items  int
	brief  string                     // the suite whose items alone a brief run makes
	scales map[string]float64         // of each suite
	shrink func(*suite.Source)        // what scales leave as it is
	check  func(*record.Ratio) string // what is wrong with a row; "" if nothing is
	whole  func(*record.Run) string   // what is wrong with a run; nil for nothing
}

// TestReproduce runs the suites of every paper's items at a small scale, each
// once, in which every schedule must be divided by a proven bound, and makes
// every item of their records.
func TestReproduce(t *testing.T) {
	t.Parallel()
	for _, p := range []reproduced{
		{
			prefix: "asrpt-", items: 7, brief: "asrpt-fig5",
			scales: map[string]float64{"asrpt-fig5": 0.004, "asrpt-fig6": 0.004, "asrpt-fig7": 0.004, "asrpt-fig8": 0.004, "asrpt-fig9": 0.004, "asrpt-loads": 0.004},
			shrink: func(s *suite.Source) { // configurations need more servers than a small share of them
				if s.Cluster.Servers > 1 {
					s.Cluster.Servers, s.Slice.Jobs = 16, s.Slice.Jobs/10
				}
			},
			check: bounded,
		}, {
			prefix: "primal-dual-", items: 11, brief: "primal-dual",
			scales: map[string]float64{"primal-dual": 0.05},
			shrink: func(s *suite.Source) {
				s.Slice.Repeat = 1
				if s.Capacity == 0 { // others are scaled with the jobs
					s.Cluster.Servers /= 10
				}
			},
			check: func(r *record.Ratio) string {
				if r.Cost.Valid && r.Cost.V == 0 { // nobody is done by the deadline: there is nothing to divide by
					return ""
				}
				return bounded(r)
			},
		}, {
			prefix: "lazer-", items: 9, brief: "lazer-testbed",
			scales: map[string]float64{"lazer-earth": 0.001, "lazer-saturn": 0.0005, "lazer-uranus": 0.001, "lazer-testbed": 0.3, "lazer-loads": 0.004},
			shrink: func(s *suite.Source) { // windows of a trace a tenth as long
				s.Trace = tenth.ReplaceAllString(s.Trace, "?jobs=$1")
			},
			check: func(r *record.Ratio) string {
				if r.Termination == string(milp.Skipped) && strings.Contains(r.Method, "warmup") { // such a trace has too short a past
					return ""
				}
				return bounded(r)
			},
		}, {
			prefix: "sjf-bsbf-", items: 9, brief: "sjf-bsbf-physical",
			scales: map[string]float64{"sjf-bsbf-physical": 0.3, "sjf-bsbf-240": 0.06, "sjf-bsbf-480": 0.03, "sjf-bsbf-load": 0.03, "sjf-bsbf-xi": 0.05},
			shrink: func(s *suite.Source) { s.Slice.Repeat = 1 },
			check:  sharingBounded,
			whole:  someMalleable,
		},
	} {
		t.Run(strings.TrimSuffix(p.prefix, "-"), p.test)
	}
}

func (p *reproduced) test(t *testing.T) {
	t.Parallel()
	runs := map[string]*record.Run{}
	made := 0
	for _, item := range reproduce.Items() {
		if !strings.HasPrefix(item.Name, p.prefix) || !tier.All() && !slices.Equal(item.Suites, []string{p.brief}) {
			continue
		}
		in := reproduce.Input{Seed: 1, Scale: 0.05}
		for _, name := range item.Suites {
			if runs[name] == nil {
				runs[name] = p.run(t, name)
			}
			in.Runs = append(in.Runs, runs[name])
		}
		out, err := item.Make(context.Background(), in)
		if err != nil {
			t.Errorf("%s: %v", item.Name, err)
			continue
		}
		made++
		checkOutput(t, &item, out)
	}
	items, suites := p.items, len(p.scales)
	if !tier.All() {
		items, suites = max(made, 1), 1
	}
	if made != items {
		t.Errorf("%d items made, want %d", made, items)
	}
	if len(runs) != suites {
		t.Errorf("%d suites ran, want %d", len(runs), suites)
	}
}

// run runs a suite of the reproductions and returns its records.
func (p *reproduced) run(t *testing.T, name string) *record.Run {
	t.Helper()
	scale := p.scales[name]
	if !tier.All() {
		scale = max(scale/4, 0.004) // smaller ones leave too few jobs for the windows
	}
	s, err := reproduce.Suite(name, scale, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Instances {
		p.shrink(&s.Instances[i])
	}
	plan, err := bench.NewPlan(s, catalogue.Resolve)
	if err != nil {
		t.Fatal(err)
	}
	run, err := tables.Rows(t.Context(), plan, bench.Run(context.Background(), plan, bench.Options{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range run.Ratios {
		r := &run.Ratios[i]
		if wrong := p.check(r); wrong != "" {
			t.Errorf("%s: %s on %s, %s: %s; cost %v, ratio %v, %s", name, r.Method, r.Instance, r.Objective, wrong, r.Cost, r.RatioToLowerBound, r.Message)
		}
	}
	if p.whole != nil {
		if wrong := p.whole(run); wrong != "" {
			t.Errorf("%s: %s", name, wrong)
		}
	}
	return run
}

func bounded(r *record.Ratio) string {
	switch {
	case !r.RatioToLowerBound.Valid:
		return "no proven bound divides it"
	case r.RatioToLowerBound.V < 1:
		return "it is below a proven bound"
	case !r.LowerBoundCertified.V:
		return "its bound, of " + string(r.LowerBoundMethod) + ", is not certified"
	}
	return ""
}

// sharingBounded: malleable schedules are divided by bounds of class F(min) alone,
// and all others of the sharing model by those of SP0.
func sharingBounded(r *record.Ratio) string {
	want := "SP0"
	if r.Class == (sched.Class{Kind: sched.M}).String() {
		want = "F(min)"
	}
	if string(r.LowerBoundClass) != want {
		return "its class is divided by " + string(r.LowerBoundMethod) + " of class " + string(r.LowerBoundClass)
	}
	return bounded(r)
}

// someMalleable: all suites but that of Figure 6(b) have the malleable policy.
func someMalleable(run *record.Run) string {
	malleable := func(r record.Ratio) bool { return r.Class == (sched.Class{Kind: sched.M}).String() }
	if !slices.ContainsFunc(run.Ratios, malleable) && run.Ratios[0].Suite != "sjf-bsbf-xi" {
		return "no malleable schedule"
	}
	return ""
}

// checkOutput: tables have rows as wide as they are, without values that are no
// numbers, figures can be drawn, and the whole can be written.
func checkOutput(t *testing.T, item *reproduce.Item, out *reproduce.Output) {
	t.Helper()
	if len(out.Tables) == 0 {
		t.Errorf("%s: no tables", item.Name)
	}
	for _, table := range out.Tables {
		if len(table.Rows) == 0 {
			t.Errorf("%s: the table %q is empty", item.Name, table.Title)
		}
		for _, row := range table.Rows {
			if len(row) != len(table.Columns) || strings.Contains(strings.Join(row, "|"), "NaN") {
				t.Errorf("%s: %v in the columns %v", item.Name, row, table.Columns)
			}
		}
	}
	for _, f := range out.Figures {
		if _, err := f.SVG(); err != nil {
			t.Errorf("%s: %v", item.Name, err)
		}
	}
	var text strings.Builder
	if err := item.Write(&text, out); err != nil {
		t.Error(err)
	}
	t.Logf("%s", text.String())
}

// TestPrimalDualScales: the suite of the primal-dual paper has an instance for every
// family and draw at the scales that its page names, however little its servers have.
func TestPrimalDualScales(t *testing.T) {
	t.Parallel()
	scales := []float64{0.1}
	if tier.All() {
		scales = []float64{0.1, 0.2}
	}
	for _, scale := range scales {
		for seed := range uint64(5) {
			s, err := reproduce.Suite("primal-dual", scale, seed+1)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := bench.NewPlan(s, catalogue.Resolve); err != nil {
				t.Errorf("scale %v, seed %d: %v", scale, seed+1, err)
			}
		}
	}
}

// TestReproducePlans: what every item is made of is planned on two draws with the same
// families, settings and methods, which is what their tables are combined by.
func TestReproducePlans(t *testing.T) {
	t.Parallel()
	planned := map[string]bool{}
	for _, item := range reproduce.Items() {
		for _, name := range item.Suites {
			if planned[name] || !tier.All() && !strings.HasPrefix(name, "sjf-bsbf-") {
				continue
			}
			planned[name] = true
			cells := make([][]string, 2)
			for draw := range cells {
				s, err := reproduce.Suite(name, 0.04, uint64(draw+1))
				if err != nil {
					t.Fatalf("%s: %v", item.Name, err)
				}
				plan, err := bench.NewPlan(s, catalogue.Resolve)
				if err != nil {
					t.Errorf("%s: %s, draw %d: %v", item.Name, name, draw+1, err)
					continue
				}
				for _, c := range plan.Cells {
					cells[draw] = append(cells[draw], c.Instance.Name+" "+c.Method.Ref().String())
				}
				slices.Sort(cells[draw])
			}
			if len(cells[0]) == 0 || !slices.Equal(cells[0], cells[1]) {
				t.Errorf("%s: %s has %d cells on one draw and %d on another", item.Name, name, len(cells[0]), len(cells[1]))
			}
		}
	}
	if len(planned) < 4 {
		t.Errorf("%d suites are planned", len(planned))
	}
}

// TestReproduceShares: items of one suite run it once, read what is whole and of this
// build without planning it again or writing it anew, and do neither at another scale.
func TestReproduceShares(t *testing.T) {
	t.Chdir(t.TempDir())
	table2 := mustRun(t, "reproduce", "sjf-bsbf-table2", "--scale", "0.06", "--draws", "2", "-q")
	manifest := filepath.Join("results", "reproduce", "suites-0.06", "sjf-bsbf-physical-seed2", "manifest.json")
	before, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	code, out, errOut := benchCommand(t, "reproduce", "sjf-bsbf-fig4", "--scale", "0.06", "--draws", "2", "-q")
	if code != 0 || !strings.Contains(errOut, "cells were finished before") || !strings.Contains(out, "Average queueing time by task") {
		t.Errorf("the second item ends with %d: %s\n%s", code, errOut, out)
	}
	if after, err := os.ReadFile(manifest); err != nil || string(after) != string(before) {
		t.Errorf("what was finished is written anew: %v", err)
	}
	for _, path := range []string{"sjf-bsbf-fig4-0.06/sjf-bsbf-fig4-1.svg", "sjf-bsbf-table2-0.06/sjf-bsbf-table2.txt"} {
		if _, err := os.Stat(filepath.Join("results", "reproduce", path)); err != nil {
			t.Error(err)
		}
	}
	if _, _, errOut := benchCommand(t, "reproduce", "sjf-bsbf-table2", "--scale", "0.03", "--draws", "2", "-q"); strings.Contains(errOut, "finished before") {
		t.Errorf("another scale: %s", errOut)
	}
	// A run whose tables are lost is tabulated again, from its cells, and comes to the same.
	if err := os.Remove(manifest); err != nil {
		t.Fatal(err)
	}
	if again := mustRun(t, "reproduce", "sjf-bsbf-table2", "--scale", "0.06", "--draws", "2", "-q"); again != table2 {
		t.Errorf("tabulated again:\n%s\nbefore:\n%s", again, table2)
	}
	// Nor do tables count whose cells are not of this build, unless they are asked for.
	cells := filepath.Join("results", "reproduce", "suites-0.06", "sjf-bsbf-physical-seed1", "cells")
	file, err := reproduce.PlanFile("sjf-bsbf-physical", 0.06, 1)
	if err != nil {
		t.Fatal(err)
	}
	dir := runFlags{out: filepath.Dir(cells)}
	if finished(file, dir) == 0 {
		t.Error("a whole run of this build is not finished")
	}
	if err := os.Rename(cells, cells+"-elsewhere"); err != nil {
		t.Fatal(err)
	}
	any := dir
	any.anyBuild = true
	forced := any
	forced.force = true
	if finished(file, dir) != 0 || finished(file, any) == 0 || finished(file, forced) != 0 {
		t.Errorf("cells of no build: %d, with --any-build %d, with --force %d", finished(file, dir), finished(file, any), finished(file, forced))
	}
	if other, err := reproduce.PlanFile("sjf-bsbf-physical", 0.06, 2); err != nil || finished(other, any) != 0 {
		t.Errorf("another seed is finished: %v", err)
	}
}
