package errata_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"yardstick/bench/errata"
	"yardstick/bounds/theorems"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// TestStatements evaluates everything on random small instances of every model:
// what is proven is never contradicted, what is known to be false is violated now
// and then, and each statement has a row in every form.
func TestStatements(t *testing.T) {
	limits := errata.Limits{Limits: milp.Limits{Nodes: 2000}, Solver: lpsolve.LP{}}
	type key struct{ statement, form string }
	for name, c := range map[string]struct {
		seeds    int
		make     func(*rand.Rand) *sched.Instance
		holds    []key
		violated []key
	}{
		"gang": {25, func(r *rand.Rand) *sched.Instance {
			return schedtest.Gang(r, schedtest.Shape{Jobs: 1 + r.IntN(4), Servers: 2, GPUs: 3, Stages: 2, Traffic: true})
		}, []key{{theorems.Lemma1, theorems.Printed}, {theorems.Lemma2, theorems.Sharp}, {theorems.Lemma3, theorems.Sharp}, {theorems.Theorem1, theorems.ZeroError},
			{theorems.PerJob, theorems.Realised}, {theorems.Certificate, theorems.Longest}}, nil},
		"preemptive": {25, func(r *rand.Rand) *sched.Instance {
			return schedtest.Preemptive(r, schedtest.Shape{Jobs: 1 + r.IntN(5), Servers: 1, GPUs: 3, Stages: 1})
		}, []key{{theorems.LazerProgress, theorems.Sharp}, {theorems.Theorem1, theorems.Sharp}}, []key{{theorems.LazerProgress, theorems.Printed}}},
		"sharing": {25, func(r *rand.Rand) *sched.Instance {
			return schedtest.Sharing(r, schedtest.Shape{Jobs: 4, Servers: 1, GPUs: 2, Stages: 1})
		}, []key{{theorems.PairTheorem1, theorems.Printed}, {theorems.PairCondition, theorems.Printed}, {theorems.PairCondition, theorems.CompareSums}},
			[]key{{theorems.PairCondition, theorems.Case2Everywhere}}},
		"elastic": {25, func(r *rand.Rand) *sched.Instance {
			return schedtest.Elastic(r, schedtest.ElasticShape{Jobs: 1 + r.IntN(4), Servers: 2, Resources: 2, WorkerTypes: 1, ServerTypes: 1, Workers: 3, Capacity: 5, Slots: 3,
				Rings: true, Weights: true, Releases: 30 * sched.Second})
		}, []key{{theorems.PrimalDualLemma1, theorems.Realised}, {theorems.PrimalDualLemma2, theorems.Sharp}, {theorems.PrimalDualTheorem2, theorems.PrimalPart},
			{theorems.PrimalDualTheorem7, theorems.PrimalPart}, {theorems.PrimalDualTheorem3, theorems.Sharp}, {theorems.PrimalDualTheorem6, theorems.Repaired}},
			[]key{{theorems.PrimalDualTheorem1, theorems.Printed}, {theorems.PrimalDualTheorem6, theorems.Printed}}},
	} {
		t.Run(name, func(t *testing.T) {
			verdicts := map[key]map[theorems.Verdict]int{}
			schedtest.EachSeed(t, c.seeds, func(t *testing.T, r *rand.Rand) {
				list, err := errata.Statements(context.Background(), c.make(r), limits)
				if err != nil {
					t.Fatal(err)
				}
				for i := range list {
					s := &list[i]
					if s.Contradiction() {
						t.Errorf("%s %s (%s) of %s: %v > %v", s.Paper, s.Statement, s.Form, s.Policy, s.Left, s.Right)
					}
					k := key{s.Statement, s.Form}
					if verdicts[k] == nil {
						verdicts[k] = map[theorems.Verdict]int{}
					}
					verdicts[k][s.Verdict]++
				}
			})
			for _, k := range c.holds {
				if verdicts[k][theorems.Holds] == 0 || verdicts[k][theorems.Violated] > 0 && k.statement != theorems.PrimalDualTheorem3 {
					t.Errorf("%v: %v", k, verdicts[k])
				}
			}
			for _, k := range c.violated {
				if verdicts[k][theorems.Violated] == 0 {
					t.Errorf("%v: never violated: %v", k, verdicts[k])
				}
			}
			t.Log(verdicts)
		})
	}
}

// TestStatementsOfEveryModel: each model is from a paper, whose statements are evaluated.
func TestStatementsOfEveryModel(t *testing.T) {
	for what, in := range schedtest.Every(1) {
		list, err := errata.Statements(context.Background(), in, errata.Limits{Limits: milp.Limits{Nodes: 1000}, Solver: lpsolve.LP{}})
		if err != nil || len(list) == 0 {
			t.Errorf("%s: %d statements: %v", what, len(list), err)
		}
	}
}

// TestStatementsWithHistory: predictions of the forest make a second set of rows.
func TestStatementsWithHistory(t *testing.T) {
	in := schedtest.Gang(schedtest.Rand(1), schedtest.Shape{Jobs: 3, Servers: 1, GPUs: 3, Stages: 1})
	in.History = []sched.PastJob{{Group: "a", Gang: 1, Iters: 5}, {Group: "a", Gang: 2, Iters: 9}}
	in.Jobs[0].Group = "a"
	list, err := errata.Statements(context.Background(), in, errata.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	policies := map[string]int{}
	for _, s := range list {
		policies[s.Policy]++
		if s.Contradiction() {
			t.Errorf("%+v", s)
		}
	}
	if policies["a-srpt"] != policies["a-srpt-perfect"] || policies["a-srpt"] < 10 {
		t.Error(policies)
	}
}
