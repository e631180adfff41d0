package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"yardstick/bench/suite"
	"yardstick/internal/tier"
)

// TestBracketSuites: every row of brackets has a suite that builds its instances by
// seeds 1 to 10, and makes both sides of small ones.
func TestBracketSuites(t *testing.T) {
	files, err := filepath.Glob("../../docs/suites/brackets/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	small := map[string][]string{ // what makes few jobs of each
		"small":      {"slice.jobs=20"},
		"makespan":   {"slice.jobs=20"},
		"busiest":    {"slice.jobs=40"},
		"month":      {"slice.jobs=100", "cluster.servers=4"},
		"philly":     {"slice.jobs=100", "cluster.servers=4"},
		"random":     {"slice.jobs=40"},
		"pai":        {"slice.jobs=40", "cluster.servers=4"},
		"preemptive": {"slice.jobs=15"},
		"sharing":    {"slice.jobs=15"},
		"elastic":    {"slice.jobs=4", "cluster.servers=8", "round=10h"},
	}
	others := regexp.MustCompile(`(?m)^(.*&seed=([2-9]|10)|    offeredLoad: .*)\n`) // few jobs are a burst, which has no load
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		base := filepath.Base(name)
		key := base[:len(base)-len(".yaml")]
		t.Run(key, func(t *testing.T) {
			s, err := suite.Parse(name, data)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(s.Instances); n < 10 || n%10 != 0 {
				t.Errorf("%d sources: every family has ten seeds", n)
			}
			if small[key] == nil {
				t.Fatal("say how a test runs a small one")
			}
			if key != "preemptive" && key != "sharing" {
				tier.Slow(t)
			}
			run := runSuite(t, name, others.ReplaceAllString(string(data), ""), append([]string{"references=bracket"}, small[key]...))
			for i := range run.Ratios {
				r := &run.Ratios[i]
				if !r.BestKnown.Valid || !r.LowerBound.Valid || r.BestKnown.V < r.LowerBound.V {
					t.Errorf("%s on %s, %s: best known %v, bound %v", r.Method, r.Instance, r.Objective, r.BestKnown, r.LowerBound)
				}
			}
			if len(run.Ratios) == 0 {
				t.Error("no rows")
			}
		})
	}
}
