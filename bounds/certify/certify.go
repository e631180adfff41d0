// Package certify checks certificates of lower bounds in exact arithmetic, from
// the instance alone.
//
// A certificate is a small JSON document: which value no schedule of which class
// of which instance can undercut, and the kind and data of a proof. The package
// evaluates the proof with code of its own. It imports nothing but the instance's
// types, so that it shares no line with what computed the bound: the two have to
// be wrong in the same way for a wrong bound to pass. What is simplest is chosen
// here, not what is fastest.
//
// All arithmetic that decides is in rationals, and in integers that do not wrap
// around (checked.go). Floating point only
// tells, with an analysis of its error, what need not be evaluated exactly.
// Where a proof is by search, it has a limit in steps: a bound that is true but
// takes too long to confirm is not certified.
//
// docs/certificates.md describes the format, and what each kind proves and why.
package certify

import (
	"errors"
	"fmt"
	"math/big"

	"yardstick/sched"
)

var (
	// ErrFormat reports bytes that are not a certificate: not the document, not
	// sealed, or damaged.
	ErrFormat = errors.New("not a valid certificate")
	// ErrInstance reports a certificate of another instance.
	ErrInstance = errors.New("the certificate is of another instance")
	// ErrRefuted reports a certificate that proves less than it states.
	ErrRefuted = errors.New("the certificate does not prove its bound")
	// ErrTooHard reports a proof by search that takes more steps than allowed, or
	// an instance that this kind of proof is not made for.
	ErrTooHard = errors.New("the certificate cannot be checked")
)

// Statement is what a certificate states, and what has been proven.
type Statement struct {
	Kind      string
	Objective sched.Objective
	Class     sched.Class // no schedule of it costs less than Value, or, if Objective is maximised, has more
	Value     *big.Rat    // as stated
	Proven    *big.Rat    // what the data prove: at least Value, or at most if Objective is maximised
}

// Checker checks certificates of one instance. It remembers what several of
// them need. It must not be used by two goroutines at a time.
type Checker struct {
	in    *sched.Instance
	hash  string
	jobs  []job // nil until they are asked for
	times *times
}

// New returns a checker for an instance that Validate accepts. hash is its Hash if
// the caller has just computed it, or "" to compute it here.
func New(in *sched.Instance, hash string) *Checker { return &Checker{in: in, hash: hash} }

// Check checks one certificate of an instance.
//
// Errors: those of Checker.Check.
func Check(in *sched.Instance, certificate []byte) (*Statement, error) {
	return New(in, "").Check(certificate)
}

// Check decides whether the certificate proves what it states. Cost: for closed
// bounds and linear programs about linear in the size of instance and data;
// searches are limited in steps.
//
// Errors: ErrFormat, ErrInstance, ErrRefuted or ErrTooHard, with what is violated.
func (c *Checker) Check(certificate []byte) (*Statement, error) {
	d, err := parse(certificate)
	if err != nil {
		return nil, fmt.Errorf("certify: %w: %w", ErrFormat, err)
	}
	if c.hash == "" {
		c.hash = c.in.Hash()
	}
	if d.Instance != c.hash {
		return nil, fmt.Errorf("certify: %w: it is of sha256 %.12s…, this one has %.12s…", ErrInstance, d.Instance, c.hash)
	}
	p, err := c.proof(d)
	if err != nil {
		return nil, fmt.Errorf("certify: %s: %w", d.Kind, err)
	}
	s := &Statement{d.Kind, d.Objective, d.Class, d.value, p.value}
	switch {
	case p.upper != d.Objective.Maximised():
		return nil, fmt.Errorf("certify: %s: %w: it bounds %v from the wrong side", d.Kind, ErrRefuted, d.Objective)
	case !d.Class.Reaches(p.class):
		return nil, fmt.Errorf("certify: %s: %w: it holds for class %v, and schedules of class %v may cost less", d.Kind, ErrRefuted, p.class, d.Class)
	case p.upper && d.value.Cmp(p.value) < 0, !p.upper && d.value.Cmp(p.value) > 0:
		return nil, fmt.Errorf("certify: %s: %w: the value is stated as %s, but only %s is proven", d.Kind, ErrRefuted, d.value.RatString(), p.value.RatString())
	}
	return s, nil
}

// proof is what has been proven: no schedule of the class costs less; or, of an
// upper bound, none has more weight.
type proof struct {
	class sched.Class
	value *big.Rat
	upper bool
}

func lower(class sched.Class, value *big.Rat) proof { return proof{class: class, value: value} }

func refuted(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrRefuted, fmt.Sprintf(format, args...))
}

func tooHard(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrTooHard, fmt.Sprintf(format, args...))
}

// proof evaluates the data of a document. Where numbers leave 63 bits, that panics
// with beyond, and nothing is known.
func (c *Checker) proof(d *document) (p proof, err error) {
	evaluate, ok := kinds()[d.Kind]
	if !ok {
		return proof{}, tooHard("kind %q is unknown", d.Kind)
	}
	if !known(d.Objective) {
		return proof{}, tooHard("no kind of proof is about %v", d.Objective)
	}
	defer func() {
		switch r := recover(); r.(type) {
		case nil:
		case beyond:
			p, err = proof{}, tooHard("numbers leave 63 bits: use larger slots, or larger units of resources, weights or memory")
		default:
			panic(r)
		}
	}()
	return evaluate(c, d)
}

// kinds maps the kinds of proof to their evaluation.
func kinds() map[string]func(*Checker, *document) (proof, error) {
	return map[string]func(*Checker, *document) (proof, error){
		"lb0":            (*Checker).alone,
		"srpt":           (*Checker).shortest,
		"srpt-ranked":    (*Checker).ranked,
		"mean-busy-time": (*Checker).busy,
		"energy":         (*Checker).energy,
		"prices":         (*Checker).prices,
		"spread-prices":  (*Checker).spreadPrices,
		"knapsack":       (*Checker).packs,
		"sharing":        (*Checker).sharing,
		"places":         (*Checker).places,
		"malleable":      (*Checker).malleable,
		"pair-lp":        (*Checker).pairs,
		"grid-lp":        (*Checker).grid,
		"pti":            (*Checker).shares,
		"conf":           (*Checker).patterns,
		"elastic-alone":  (*Checker).elasticAlone,
		"elastic-busy":   (*Checker).elasticBusy,
		"elastic-prices": (*Checker).elasticPrices,
		"elastic-grid":   (*Checker).elasticGrid,
		"weight-prices":  (*Checker).weightPrices,
		"weight-grid":    (*Checker).weightGrid,
		"search":         (*Checker).search,
	}
}
