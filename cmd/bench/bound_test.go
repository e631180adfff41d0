package main

import (
	"context"
	"encoding/json"
	"maps"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/suite"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// TestBound: the ladder of every model has proven bounds, the strongest first and
// none above the cheapest schedule.
func TestBound(t *testing.T) {
	for name, in := range models() {
		path := instanceFile(t, in)
		out := mustRun(t, "bound", path, "--format", "json", "--time-limit", "10m")
		var rows []map[string]string
		if err := json.Unmarshal([]byte(out), &rows); err != nil {
			t.Fatal(err)
		}
		var last *big.Rat
		proven, refused := 0, 0
		for _, r := range rows {
			if r["exact"] == "" {
				refused++
				if !strings.HasPrefix(r["note"], "none: ") {
					t.Errorf("%s: %s has neither a value nor a reason", name, r["bound"])
				}
				continue
			}
			proven++
			v, ok := new(big.Rat).SetString(r["exact"])
			if !ok || last != nil && v.Cmp(last) > 0 || refused > 0 {
				t.Errorf("%s: %s is %s, after %v and %d refusals", name, r["bound"], r["exact"], last, refused)
			}
			if (r["best"] == "*") != (last == nil || v.Cmp(last) == 0 && rows[0]["exact"] == r["exact"]) {
				t.Errorf("%s: %s is marked %q", name, r["bound"], r["best"])
			}
			if share := r["of_best_known"]; len(share) > len("100.00 %") || share > "100.00 %" && len(share) == len("100.00 %") {
				t.Errorf("%s: %s is %s of a schedule's cost", name, r["bound"], share)
			}
			if (r["certified"] == "yes") != (len(r["certificate_sha256"]) == 64) {
				t.Errorf("%s: %s certified %s, certificate %q", name, r["bound"], r["certified"], r["certificate_sha256"])
			}
			last = v
		}
		if proven < 3 || refused < 10 {
			t.Errorf("%s: %d bounds, %d refusals", name, proven, refused)
		}
	}
}

// TestBoundClasses: a class that fewer bounds reach has fewer, and none is larger.
func TestBoundClasses(t *testing.T) {
	path := instanceFile(t, models()["preemptive"])
	values := func(class string) map[string]string {
		var rows []map[string]string
		if err := json.Unmarshal([]byte(mustRun(t, "bound", path, "--format", "json", "--class", class, "--time-limit", "10m")), &rows); err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, r := range rows {
			if r["exact"] != "" {
				out[r["bound"]] = r["exact"]
			}
		}
		return out
	}
	n, p, continuous := values("Ns"), values("Ps"), values("P")
	if n["conf"] == "" || p["conf"] != "" || p["bout-dp"] == "" || continuous["bout-dp"] != "" || continuous["srpt"] != p["srpt"] || p["srpt"] != n["srpt"] {
		t.Errorf("Ns %v\nPs %v\nP %v", n, p, continuous)
	}
}

// TestBoundOutput: the certificate of the best bound, a file, a table.
func TestBoundOutput(t *testing.T) {
	path := write(t, "in.json", tinyInstance)
	dir := t.TempDir()
	mustRun(t, "bound", path, "-o", filepath.Join(dir, "ladder.md"), "--format", "md", "--certificate", filepath.Join(dir, "c.json"))
	if out := mustRun(t, "bound", path, "--objective", "makespan"); !strings.Contains(out, "best lower bound") || !strings.Contains(out, "energy") {
		t.Errorf("makespan:\n%s", out)
	}
	brief, all := mustRun(t, "bound", path), mustRun(t, "bound", path, "--all")
	if strings.Contains(brief, "\nelastic-conf ") || !strings.Contains(brief, "do not apply (--all says why): ") || !strings.Contains(brief, "elastic-conf,") {
		t.Errorf("methods that do not apply are listed:\n%s", brief)
	}
	if !strings.Contains(all, "\nelastic-conf ") || !strings.Contains(all, "does not apply to the gang model\n") || strings.Contains(all, "--all") {
		t.Errorf("--all does not say why:\n%s", all)
	}
	for want, args := range map[string][]string{"--objective": {path, "--objective", "scheduled-weight"}, "--class": {path, "--class", "Q"},
		"slotted": {path, "--class", "Ns"}, "--format": {path, "--format", "xml"}} {
		if code, _, errOut := benchCommand(t, append([]string{"bound"}, args...)...); code != exitUsage || !strings.Contains(errOut, want) {
			t.Errorf("%v: exit code %d, %s", args, code, errOut)
		}
	}
}

// manyJobs has instances on which policies differ much. Those that bench bound once
// tried, three of each model, miss the cheapest schedule of all by a fifth and more.
func manyJobs() map[string]*sched.Instance {
	shape := schedtest.Shape{Jobs: 20, Servers: 3, GPUs: 4, Stages: 2, Traffic: true, Span: true, Slot: sched.Second}
	return map[string]*sched.Instance{
		"20 gang jobs":       schedtest.Gang(schedtest.Rand(1), shape),
		"20 preemptive jobs": schedtest.Preemptive(schedtest.Rand(1), shape),
		"20 elastic jobs": schedtest.Elastic(schedtest.Rand(3), schedtest.ElasticShape{Jobs: 20, Servers: 2, Resources: 2, WorkerTypes: 2, ServerTypes: 1, Workers: 3, Capacity: 4,
			Slots: 4, Rings: true, Weights: true}),
	}
}

// TestBoundTriesEveryPolicy: no policy that runs on the instance has a cheaper
// schedule of the class than the cheapest one known, and every policy is tried.
func TestBoundTriesEveryPolicy(t *testing.T) {
	tried := map[string]bool{}
	refs := catalogue.OnlineRefs()
	for _, ref := range refs {
		tried[ref.Name] = true
	}
	for _, name := range catalogue.NamesOf(bench.Online, bench.Offline, bench.Exact, bench.Bound) {
		if m, err := catalogue.Resolve(suite.MethodRef{Name: name}); err != nil || (m.Kind() == bench.Online) != tried[name] {
			t.Errorf("%s: tried %v, %v", name, tried[name], err)
		}
	}
	all := models()
	maps.Copy(all, manyJobs())
	for name, in := range all {
		l := &ladder{in: in, objective: suite.DefaultObjective, class: in.Class()}
		if err := l.schedules(context.Background(), suite.Limits{}, false); err != nil {
			t.Fatal(err)
		}
		if l.upper == nil || l.stopped > 0 || l.policies < 5 {
			t.Errorf("%s: cost %v, %d policies, %d stopped", name, l.upper, l.policies, l.stopped)
		}
		for _, ref := range refs {
			m, err := catalogue.Resolve(ref)
			if err != nil {
				t.Fatal(err)
			}
			c := bench.Cell{Instance: &suite.Instance{Instance: in}, Method: m, Objectives: []sched.Objective{l.objective}}
			if bench.Suits(m, in) != nil {
				continue
			}
			r := bench.RunCell(context.Background(), c, suite.Limits{}, true)
			if r.Err != nil {
				t.Fatalf("%s on %s: %v", ref, name, r.Err)
			}
			if v := r.Verified[0]; v.Class().Reaches(l.class) && v.Cost(l.objective).Cmp(l.upper) < 0 {
				t.Errorf("%s: %s costs %v, less than %v of %s", name, ref, v.Cost(l.objective), l.upper, l.upperBy)
			}
		}
	}
}

// TestBoundPreempts: for class P of a gang instance, policies that preempt are
// tried. A long job that comes just before a short one is to be stopped.
func TestBoundPreempts(t *testing.T) {
	in := schedtest.Plain(schedtest.Servers(1), schedtest.Job(0, 1, 100*sched.Second), schedtest.Job(sched.Second, 1, sched.Second))
	out := mustRun(t, "bound", instanceFile(t, in), "--class", "P", "--time-limit", "0")
	if !strings.Contains(out, "cheapest schedule known: 102.000000 s by ") || !strings.Contains(out, ": the optimum\n") {
		t.Errorf("class P:\n%s", out)
	}
	out = mustRun(t, "bound", instanceFile(t, in), "--time-limit", "0")
	if !strings.Contains(out, "cheapest schedule known: 200.000000 s by ") {
		t.Errorf("class N:\n%s", out)
	}
}

// pieces counts the lines that were there after each write.
type pieces struct{ lines []int }

func (p *pieces) Write(b []byte) (int, error) {
	n := strings.Count(string(b), "\n")
	if len(p.lines) > 0 {
		n += p.lines[len(p.lines)-1]
	}
	p.lines = append(p.lines, n)
	return len(b), nil
}

// TestBoundRows: rows are written one by one while later methods have not run, in
// an order that depends on nothing.
func TestBoundRows(t *testing.T) {
	path := write(t, "in.json", tinyInstance)
	p := &pieces{}
	var errOut strings.Builder
	if code := run(context.Background(), []string{"bound", path}, p, &errOut); code != exitOK {
		t.Fatalf("exit code %d, %s", code, errOut.String())
	}
	for i, n := range p.lines {
		if before := 0; i > 0 {
			if before = p.lines[i-1]; n > before+2 {
				t.Errorf("%d lines at once", n-before)
			}
		}
	}
	refs := boundRefs(sched.Class{Kind: sched.N})
	out, at := mustRun(t, "bound", path, "--all", "--time-limit", "0"), 0
	for _, ref := range refs {
		next := strings.Index(out, "\n"+ref.String()+" ")
		if next < at {
			t.Errorf("%s is not where it belongs:\n%s", ref, out)
		}
		at = next
	}
}

// TestOneDefaultObjective: every command that has an objective, and suites, take
// the same one if none is given.
func TestOneDefaultObjective(t *testing.T) {
	flags := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if f := c.Flags().Lookup("objective"); f != nil {
			flags++
			if f.DefValue != suite.DefaultObjective.String() {
				t.Errorf("bench %s: the default is %s", c.Name(), f.DefValue)
			}
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit((&app{}).command())
	if flags < 4 {
		t.Errorf("%d commands have an objective", flags)
	}
	out := mustRun(t, "plan", "--format", "jsonl", write(t, "suite.yaml", "instances: [{name: a, slice: {jobs: 2}, tooLarge: drop}]\nmethods: [sjf]\n"))
	if want := `"objectives":["` + suite.DefaultObjective.String() + `"]`; strings.Count(out, `"objectives":`) == 0 || strings.Count(out, want) != strings.Count(out, `"objectives":`) {
		t.Errorf("a suite's:\n%s", out)
	}
}

// TestSolveEveryModel: solve chooses a method of the model, proves an answer, says
// in what objective and unit, and has exit code 3 where there is none.
func TestSolveEveryModel(t *testing.T) {
	want := map[string]string{"gang": "exhaustive", "preemptive": "bout-dp", "sharing": "sharing-search", "elastic": "elastic-optimum"}
	all := models()
	all["sharing"] = schedtest.Every(0)["sharing of 3, slotted"]
	for name, method := range want {
		out := mustRun(t, "solve", instanceFile(t, all[name]))
		for _, line := range []string{"method       " + method + "\n", "objective    " + suite.DefaultObjective.String() + ", in seconds\n", "gap          0: the schedule is optimal, proven"} {
			if !strings.Contains(out, line) {
				t.Errorf("%s: no %q in\n%s", name, line, out)
			}
		}
	}
	out := mustRun(t, "solve", instanceFile(t, schedtest.Every(0)["elastic of 3 with a deadline"]), "--objective", "scheduled-weight")
	if !strings.Contains(out, "in weight, maximised") || !strings.Contains(out, "upper bound") || strings.Contains(out, "lower bound") {
		t.Errorf("a maximised objective:\n%s", out)
	}
	for _, args := range [][]string{
		{instanceFile(t, schedtest.Every(0)["sharing of 3"])}, // in continuous time
		{instanceFile(t, all["elastic"]), "--method", "exhaustive"},
		{instanceFile(t, all["gang"]), "--method", "bout-dp"},
	} {
		code, out, errOut := benchCommand(t, append([]string{"solve"}, args...)...)
		if code != exitUsage || out != "" || strings.Count(errOut, "\n") != 1 { // what is refused
			t.Errorf("%v: exit code %d, %s%s", args, code, out, errOut)
		}
	}
	help := mustRun(t, "solve", "--help")
	for _, name := range catalogue.NamesOf(bench.Online, bench.Offline, bench.Exact, bench.Bound) {
		m, err := catalogue.Resolve(suite.MethodRef{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		if listed := slices.Contains(catalogue.ExactNames(""), name); listed != (m.Kind() == bench.Exact) || listed && !strings.Contains(help, "\n  "+name+" ") {
			t.Errorf("%s is listed: %v", name, listed)
		}
	}
}
