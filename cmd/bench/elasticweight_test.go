package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"yardstick/bench/record"
)

const elasticSuite = `
name: elastic
instances:
  - {name: servers, slice: {jobs: 4, at: random, repeat: 2}, cluster: {servers: 2}, model: elastic, round: 240h, deadline: 720h}
  - {name: rings, slice: {jobs: 4, at: random, repeat: 2}, cluster: {servers: 2}, model: elastic, ring: true, round: 168h, deadline: 504h}
methods:
  - primal-dual
  - {name: primal-dual, params: {prices: corrected, fill: "true", shift: "true", steps: "5"}}
  - {name: primal-dual, params: {exact: "true"}}
  - {name: primal-dual, params: {form: literal, alpha: formula}}
  - {name: primal-dual, params: {factor: "10"}}
  - elastic-fifo
  - {name: elastic-fifo, params: {backfill: "true", ideal: "true"}}
  - elastic-drf
  - elastic-antman
  - elastic-tiresias
references:
  - elastic-optimum
  - elastic-conf
  - elastic-aggregate
  - {name: elastic-deadlines, params: {steps: "5"}}
  - {name: elastic-intervals, params: {ratio: "3/2"}}
  - elastic-mean-busy-time
  - elastic-alone
  - {name: elastic-prices, params: {steps: "5"}}
  - {name: elastic-intervals, params: {class: F(min)s}}
objectives: [weighted-completion, scheduled-weight]
limits: {solve: 10m, nodes: 20000}
`

// TestElasticSuite: every scheduler has a ratio to a proven bound, or optimum,
// for both objectives and both architectures, and every run of A_online its
// certificate.
func TestElasticSuite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	mustRun(t, "run", write(t, "s.yaml", elasticSuite), "-o", dir, "-q", "-j", "2")
	run, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	proven := map[string]int{}
	for _, r := range run.Ratios {
		weight := r.Objective == "scheduled-weight"
		if weight != (r.Sense == record.Max) || !r.Cost.Valid || weight && (r.LowerBound.Valid || !r.UpperBound.Valid) {
			t.Errorf("%s %s %s: %+v", r.Instance, r.Objective, r.Method, r)
		}
		if r.Cost.V > 0 && (!r.RatioToLowerBound.Valid || r.RatioToLowerBound.V < 1) {
			t.Errorf("%s %s %s: ratio %v", r.Instance, r.Objective, r.Method, r.RatioToLowerBound)
		}
		if r.RatioToOptimum.Valid {
			proven[r.Family+" "+r.Objective]++
		}
		online := strings.HasPrefix(r.Method, "primal-dual") && !weight
		if online && (r.Theorem != "primal-dual-lemma-1 (realised)" || r.TheoremBound.V < 4 || !r.TheoremHolds.V) {
			t.Errorf("%s %s: theorem %q, bound %v, holds %v", r.Instance, r.Method, r.Theorem, r.TheoremBound, r.TheoremHolds)
		}
	}
	for _, family := range []string{"servers", "rings"} {
		for _, objective := range []string{"weighted-completion", "scheduled-weight"} {
			if n := proven[family+" "+objective]; n < 2*8 { // all of class Es, on two instances
				t.Errorf("%s, %s: %d ratios to an optimum", family, objective, n)
			}
		}
	}
	for _, b := range run.Bounds {
		if want := map[bool]string{true: record.Upper, false: record.Lower}[b.Objective == "scheduled-weight"]; b.Side != want {
			t.Errorf("%s of %s is a %s bound", b.Bound, b.Objective, b.Side)
		}
	}
	lemma := slices.ContainsFunc(run.Theorems, func(r record.Theorem) bool {
		return r.Theorem == "primal-dual-theorem-5" && strings.Contains(r.Method, "formula") && r.Left.Valid && r.Right.Valid
	})
	if !lemma {
		t.Error("Theorem 5 is not evaluated for the literal form")
	}
}

// TestWeightMethods: the algorithms for the weight done by a deadline, against
// the optimum; under another objective, or without a deadline, they are skipped.
func TestWeightMethods(t *testing.T) {
	suite := elasticSuite[:strings.Index(elasticSuite, "methods:")] + `
methods:
  - a-maxweight
  - {name: a-maxweight, params: {prices: corrected, order: weight}}
  - {name: a-maxweight, params: {prices: normalised, fill: "true", steps: "5", factor: "2"}}
  - elastic-density
references: [elastic-optimum, elastic-conf]
objectives: [scheduled-weight, weighted-completion]
`
	for _, deadline := range []bool{true, false} {
		if !deadline {
			suite = strings.NewReplacer(", deadline: 720h", "", ", deadline: 504h", "").Replace(suite)
		}
		dir := filepath.Join(t.TempDir(), "out")
		mustRun(t, "run", write(t, "s.yaml", suite), "-o", dir, "-q")
		run, err := record.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range run.Ratios {
			weight := r.Objective == "scheduled-weight"
			offline := r.Method != "elastic-optimum"
			switch {
			case weight && deadline:
				if !r.Cost.Valid || !r.RatioToOptimum.Valid || r.RatioToOptimum.V < 1 || offline != (r.Kind == "offline") {
					t.Errorf("%s %s: %+v", r.Instance, r.Method, r)
				}
			case weight || offline:
				if r.Cost.Valid || r.Termination != "SKIPPED" || r.Message == "" {
					t.Errorf("%s %s %s: %+v", r.Instance, r.Objective, r.Method, r)
				}
			}
		}
	}
	for _, bad := range []string{"{name: a-maxweight, params: {factor: \"0\"}}", "{name: elastic-intervals, params: {ratio: \"1\"}}", "{name: elastic-density, params: {x: y}}", "{name: elastic-alone, params: {class: Q}}"} {
		if code, _, errOut := benchCommand(t, "run", write(t, "s.yaml", strings.Replace(suite, "  - a-maxweight\n", "  - "+bad+"\n", 1)), "-o", t.TempDir()); code == exitOK {
			t.Errorf("%s was accepted: %s", bad, errOut)
		}
	}
}
