// Package errata holds corrections to the papers that can be run: for every
// statement that is false, empty or attained, an instance built by code, what the
// paper's algorithm does on it, and the values that this must give.
//
// docs/errata.md lists them; docs/theorems.md (A-SRPT), docs/primaldual.md and
// docs/sharing.md tell the same story with proofs. [Statements] evaluates what the
// papers state on any instance.
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

// Erratum is a statement of a paper and what an instance says about it.
type Erratum struct {
	Name       string
	Paper      string
	Where      string // section, equation or statement
	Claim      string // what the paper says
	Finding    string // what is violated, attained or missing
	Correction string

	run func(context.Context) (*Evidence, error)
}

// Run builds the instance, schedules it and measures. The evidence is to be
// checked by Evidence.Check.
func (e *Erratum) Run(ctx context.Context) (*Evidence, error) {
	found, err := e.run(ctx)
	if err != nil {
		return nil, fmt.Errorf("errata: %s: %w", e.Name, err)
	}
	return found, nil
}

// Evidence is what running an erratum found.
type Evidence struct {
	Instance *sched.Instance  // nil where validation refuses it
	Schedule *verify.Verified // what A-SRPT makes of it; nil where placements alone matter
	Better   *verify.Verified // another schedule, which bounds OPT_A from above; nil if none is needed

	lower *big.Rat // proven bound on OPT_A

	Facts    []Fact
	Results  []theorems.Result // of the run, if there is one
	Expected []Expectation     // about Results

	earlier []*Evidence // runs whose facts are among Facts
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
	for _, run := range append(slices.Clone(e.earlier), e) {
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

// All returns every erratum, in the order of the papers.
func All() []Erratum {
	return []Erratum{
		fewestServers(), fullServers(), loneReplica(), unattained(),
		slowIntra(), slottedLemma2(), slottedTheorem1(),
		oneJob(), blocker(), wholeCluster(), splitStage(), overPrediction(), flowTime(),
		staleCounter(), cheapestFirst(), ringCounter(), refused(), baits(), pseudoPolynomial(),
		offByOne(), starved(), overlappingWindows(), foresight(),
		idleCluster(), ownFragments(), overtaken(),
		shortJob(), longJob(), fallingSum(), slowedAlone(),
	}
}

const asrptPaper = "A-SRPT"
