// Package errata holds what there is to say about the papers' text, as code that
// runs. An [Erratum] is a passage that is false where the paper makes it: it
// carries the quotation, the place, the scope and a counterexample that is
// checked to lie inside that scope. A [Remark] is about a passage that is true as
// printed, or whose slip misleads nobody: it carries what is true, with a check.
//
// docs/errata.md is generated from them, and from slips that need no check, by the tests; docs/theorems.md (A-SRPT),
// docs/primaldual.md and docs/sharing.md tell the same story with proofs.
// [Statements] evaluates what the papers state on any instance.
package errata

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"yardstick/bounds/theorems"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// Passage is what a paper prints, and where.
type Passage struct {
	Paper string // short name
	Where string // section, equation, algorithm or theorem, and case
	Quote string // in the paper's words; … stands for what is left out, [] for what is added
}

// Erratum is a passage that is false within its scope.
type Erratum struct {
	Name string
	Passage
	Scope      []string // what the paper assumes where it says so, clause by clause
	Finding    string   // what the counterexample shows
	Correction string   // what holds instead

	run func(context.Context) (*Evidence, error)
}

// Remark is about a passage that is true, or that misleads nobody.
type Remark struct {
	Name string
	Passage
	Finding string // what an instance shows
	True    string // the statement that is true

	run func(context.Context) (*Evidence, error)
}

// Run builds the instance, schedules it and measures. The evidence is to be
// checked by Check.
func (e *Erratum) Run(ctx context.Context) (*Evidence, error) { return run(ctx, e.Name, e.run) }

// Run builds the instance, schedules it and measures. The evidence is to be
// checked by Evidence.Check.
func (r *Remark) Run(ctx context.Context) (*Evidence, error) { return run(ctx, r.Name, r.run) }

func run(ctx context.Context, name string, f func(context.Context) (*Evidence, error)) (*Evidence, error) {
	found, err := f(ctx)
	if err != nil {
		return nil, fmt.Errorf("errata: %s: %w", name, err)
	}
	return found, nil
}

// Check returns an error that lists every clause of the scope that a
// counterexample does not check or meet, and what Evidence.Check finds.
func (e *Erratum) Check(found *Evidence) error {
	var all error
	for _, run := range found.runs() {
		var checked []string
		for _, c := range run.Scope {
			checked = append(checked, c.Text)
			if !c.Met {
				all = errors.Join(all, fmt.Errorf("the counterexample is outside the scope: %s", c.Text))
			}
		}
		if len(e.Scope) == 0 || !slices.Equal(checked, e.Scope) {
			all = errors.Join(all, fmt.Errorf("the scope is %q, and checked is %q", e.Scope, checked))
		}
		for _, x := range run.Expected {
			r, ok := run.Result(x.Statement, x.Form)
			if !ok || r.Verdict != theorems.Violated {
				continue
			}
			for _, u := range r.Unmet {
				if !u.Unstated() {
					all = errors.Join(all, fmt.Errorf("the counterexample does not meet what %s states: %s", x.Statement, u))
				}
			}
		}
	}
	return errors.Join(all, found.Check())
}

// Evidence is what running an erratum or a remark found.
type Evidence struct {
	Instance *sched.Instance  // nil where validation refuses it
	Schedule *verify.Verified // what the paper's policy makes of it; nil where placements alone matter
	Better   *verify.Verified // another schedule, which bounds the optimum from above; nil if none is needed

	lower *big.Rat // proven bound on OPT_A

	Scope    []Clause // of an erratum
	Facts    []Fact
	Results  []theorems.Result // of the run, if there is one
	Expected []Expectation     // about Results

	earlier []*Evidence // runs whose facts are among Facts
}

// Clause is a clause of an erratum's scope, and whether the counterexample meets
// it.
type Clause struct {
	Text string
	Met  bool
}

// Fact is a measured value and what it must be.
type Fact struct {
	What      string
	Unit      string // "" for ratios
	Got, Want *big.Rat
}

// Expectation is the verdict that a statement must get.
type Expectation struct {
	Statement, Form string
	Want            theorems.Verdict
}

// Check returns an error that lists every fact and verdict that is not as
// expected.
func (e *Evidence) Check() error {
	var all error
	for _, f := range e.Facts {
		if f.Got.Cmp(f.Want) != 0 {
			all = errors.Join(all, fmt.Errorf("%s: %v, want %v", f.What, f.Got, f.Want))
		}
	}
	for _, run := range e.runs() {
		all = errors.Join(all, run.checkVerdicts())
	}
	return all
}

func (e *Evidence) checkVerdicts() error {
	var all error
	for _, x := range e.Expected {
		r, ok := e.Result(x.Statement, x.Form)
		if !ok || r.Verdict != x.Want {
			all = errors.Join(all, fmt.Errorf("%s, %s: %q, want %q", x.Statement, x.Form, r.Verdict, x.Want))
		}
	}
	return all
}

// runs returns the evidence of every run that was joined, the last one last.
func (e *Evidence) runs() []*Evidence { return append(slices.Clone(e.earlier), e) }

// join returns the last of several runs with the facts of all.
func join(runs ...*Evidence) *Evidence {
	last := runs[len(runs)-1]
	var facts []Fact
	for _, r := range runs {
		facts = append(facts, r.Facts...)
	}
	last.Facts, last.earlier = facts, runs[:len(runs)-1]
	return last
}

// Result returns the row of one statement.
func (e *Evidence) Result(statement, form string) (theorems.Result, bool) {
	for _, r := range e.Results {
		if r.Statement == statement && r.Form == form {
			return r, true
		}
	}
	return theorems.Result{}, false
}

// Errata returns every erratum, in the order of the papers.
func Errata() []Erratum {
	return []Erratum{
		fullServers(), slottedLemma2(), slottedTheorem1(),
		staleCounter(), cheapestFirst(), ringCounter(), refused(), baits(), offByOne(), starved(),
		idleCluster(), overtaken(),
		slowedAlone(),
	}
}

// Remarks returns every remark, in the order of the papers.
func Remarks() []Remark {
	return []Remark{
		fewestServers(), loneReplica(), unattained(), slowIntra(), wholeCluster(),
		oneJob(), blocker(), splitStage(), overPrediction(), flowTime(),
		pseudoPolynomial(), overlappingWindows(), foresight(),
		ownFragments(),
		letters(), caseOne(), case2Everywhere(), fallingSum(),
	}
}

const asrptPaper = "A-SRPT"
