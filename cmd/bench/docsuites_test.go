package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"yardstick/bench/catalogue"
	"yardstick/bench/record"
	"yardstick/bench/suite"
	"yardstick/internal/tier"
)

// suiteFiles returns every suite that is shipped.
func suiteFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"../../docs/suites/*.yaml", "../../docs/suites/brackets/*.yaml", "suites/*.yaml", "../../bench/reproduce/suites/*.yaml", "../../notebooks/golden/*.yaml"} {
		list, err := filepath.Glob(pattern)
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: %d suites, %v", pattern, len(list), err)
		}
		files = append(files, list...)
	}
	return files
}

// TestShippedSuites: every suite can be read, and its methods exist.
func TestShippedSuites(t *testing.T) {
	for _, name := range suiteFiles(t) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := suite.Parse(name, data)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, src := range s.Instances {
			for _, ref := range append(src.Methods, src.References...) {
				if _, err := catalogue.Resolve(ref); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

// scaledDown says how each suite of which it is said that its denominators are
// certified is run in tests.
var scaledDown = map[string][]string{
	"../../docs/suites/pai-75000.yaml": {"slice.jobs=1500", "history=500", "cluster.servers=15"},
}

// TestCertifiedAsSaid: wherever a suite, or a paragraph of the documents that names
// it, says certified, every schedule of a run is divided by an optimum or a bound
// that is.
func TestCertifiedAsSaid(t *testing.T) {
	texts := paragraphs(t)
	for _, name := range suiteFiles(t) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Contains(string(data), "certified")
		for _, p := range texts {
			said = said || strings.Contains(p, "certified") && strings.Contains(p, "suites/"+filepath.Base(name))
		}
		settings, scaled := scaledDown[name]
		if name == "suites/quick.yaml" {
			continue // TestReadmeTable runs it
		}
		switch {
		case said && !scaled:
			t.Errorf("%s is said to be certified: add to scaledDown how a test can run it", name)
		case said:
			t.Run(filepath.Base(name), func(t *testing.T) {
				certifiedAll(t, runSuite(t, name, string(data), settings))
			})
		}
	}
}

// paragraphs returns those of the README and the documents.
func paragraphs(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var out []string
	for _, name := range append(files, "../../README.md") {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, strings.Split(string(data), "\n\n")...)
	}
	return out
}

// runSuite runs a suite with the settings, on the traces that its comments say how
// to make.
func runSuite(t *testing.T, name, text string, settings []string) *record.Run {
	t.Helper()
	dir := t.TempDir()
	for _, m := range regexp.MustCompile(`(?m)^#\s+bench (dataset generate .* -o )(\S+)$`).FindAllStringSubmatch(text, -1) {
		trace := filepath.Join(dir, m[2])
		mustRun(t, append(strings.Fields(m[1]), trace)...)
		text = strings.ReplaceAll(text, "trace: "+m[2], "trace: "+trace)
	}
	suite := filepath.Join(dir, filepath.Base(name))
	if err := os.WriteFile(suite, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"run", suite, "-o", filepath.Join(dir, "out"), "-q"}
	for _, s := range settings {
		args = append(args, "--set", s)
	}
	mustRun(t, args...)
	run, err := record.Open(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// certifiedAll checks what divides the schedules of a run.
func certifiedAll(t *testing.T, run *record.Run) {
	t.Helper()
	if len(run.Ratios) == 0 {
		t.Error("no rows")
	}
	for i := range run.Ratios {
		r := &run.Ratios[i]
		optimum := r.Optimum.Valid && r.OptimumStatus == record.Certified
		if !optimum && !(r.LowerBoundCertified.Valid && r.LowerBoundCertified.V) {
			t.Errorf("%s on %s, %s: divided by %s, which is not certified", r.Method, r.Instance, r.Objective, r.LowerBoundMethod)
		}
	}
}

// TestBestPolicyShown: a suite about gangs that divides by bounds has the policies
// that do best, or one that is within a hundredth of them: otherwise the distance of
// those left reads as looseness of the bound.
func TestBestPolicyShown(t *testing.T) {
	tier.Slow(t)
	var candidates []string
	for _, name := range []string{"fifo", "sjf"} {
		for _, placement := range []string{"best-fit", "consolidate", "pool"} {
			candidates = append(candidates, "{name: "+name+", params: {blocking: skip, placement: "+placement+"}}")
		}
	}
	for _, name := range []string{"../../docs/suites/pai-75000.yaml"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		shown := runSuite(t, name, string(data), append([]string{"references=lb0"}, scaledDown[name]...))
		others := runSuite(t, name, string(data), append([]string{"references=lb0", "methods=" + strings.Join(candidates, ",")}, scaledDown[name]...))
		best := map[string]float64{} // by instance and objective
		for _, r := range shown.Ratios {
			key := r.Instance + " " + r.Objective
			if v, ok := best[key]; r.Cost.Valid && (!ok || r.Cost.V < v) {
				best[key] = r.Cost.V
			}
		}
		for _, r := range others.Ratios {
			if v, ok := best[r.Instance+" "+r.Objective]; !ok || r.Cost.Valid && r.Cost.V*1.01 < v {
				t.Errorf("%s: on %s, %s, %s costs %v, but the best shown %v", name, r.Instance, r.Objective, r.Method, r.Cost.V, v)
			}
		}
	}
}
