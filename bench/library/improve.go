package library

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/suite"
	"yardstick/bounds"
	"yardstick/bounds/certify"
	"yardstick/bounds/proof"
	"yardstick/bounds/proof/tree"
	"yardstick/bounds/proof/treecheck"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// Improver looks for better schedules and bounds of entries by the methods of the
// catalogue.
type Improver struct {
	Library *Library
	Effort  int    // of searches that have one: 1 to 5
	Seed    uint64 // of the searches
	Day     string
	// Run runs a method on an instance, within limits of the caller's. What it returns is
	// checked here.
	Run func(context.Context, bench.Method, *sched.Instance, sched.Objective) (*bench.Outcome, error)
	// Nodes is how many nodes a tree of a proof may have; 0 makes no proofs.
	Nodes int
}

// Limits of what is tried.
const (
	maxExactGangs = 40        // jobs, of exclusive gangs
	maxExact      = 12        // of the other models
	maxProof      = 40        // jobs, of proofs for strangers
	maxFile       = 400 << 10 // bytes of a certificate or a proof, not packed, of a library that is committed
)

// Change says what an improvement of an entry has changed.
type Change struct {
	Before, After *Standing
	Schedule      bool
	Bound         bool
	Proof         bool
	// Failed are methods that came to nothing, and why.
	Failed []string
}

// Improve looks for better files of an entry, and writes those that it finds.
//
// Errors: those of Standing; a schedule or a certificate that does not hold.
func (m *Improver) Improve(ctx context.Context, e *Entry) (*Change, error) {
	before, err := m.Library.Standing(e)
	if err != nil {
		return nil, err
	}
	now := *before
	c := &Change{Before: before, After: &now}
	w := &work{Improver: m, Change: c, e: e, s: &now}
	for _, ref := range m.methods(e, now.Instance) {
		if now.Optimal() || ctx.Err() != nil {
			break
		}
		if err := w.try(ctx, ref); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", e.Name, ref, err)
		}
	}
	for _, ref := range certifiable(e) {
		if now.Bound != nil || ctx.Err() != nil {
			break
		}
		if err := w.try(ctx, ref); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", e.Name, ref, err)
		}
	}
	for _, ref := range replayable() {
		if now.Schedule != nil || ctx.Err() != nil {
			break
		}
		if err := w.try(ctx, ref); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", e.Name, ref, err)
		}
	}
	if err := w.prove(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	return c, nil
}

// methods lists what is tried on an instance: first what is quick, then what is exact.
func (m *Improver) methods(e *Entry, in *sched.Instance) (refs []suite.MethodRef) {
	params := map[string]string{"effort": fmt.Sprint(m.Effort), "seed": fmt.Sprint(m.Seed), "policies": "true"}
	bracketed := in.Model.Exclusive()
	if bracketed {
		refs = append(refs, suite.MethodRef{Name: "bracket", Params: params})
	} else {
		refs = append(refs, catalogue.OnlineRefs()...)
		refs = append(refs, suite.MethodRef{Name: "lns", Params: map[string]string{"effort": fmt.Sprint(m.Effort), "seed": fmt.Sprint(m.Seed)}})
		for _, name := range catalogue.NamesOf(bench.Bound) {
			refs = append(refs, catalogue.Proving(name, e.Class))
		}
	}
	most := maxExact
	if e.Class.Kind == sched.N {
		most = maxExactGangs
	}
	if len(in.Jobs) <= most {
		for _, name := range catalogue.ExactNames(in.Model) {
			refs = append(refs, catalogue.Proving(name, e.Class))
		}
	}
	return refs
}

// certifiable are the bounds that are tried, the best first, where the best of all bounds
// has no certificate.
func certifiable(e *Entry) (refs []suite.MethodRef) {
	var prices map[string]string
	if e.Class.Kind == sched.P {
		prices = map[string]string{"class": "P0"}
	}
	for _, name := range []string{"knapsack", "lagrangian"} {
		refs = append(refs, suite.MethodRef{Name: name, Params: prices})
	}
	for _, name := range []string{"srpt-ranked", "mean-busy-time", "area", "energy", "lb0"} {
		refs = append(refs, suite.MethodRef{Name: name})
	}
	return refs
}

// replayable are the policies that are tried, one by one, where no search ends with a
// schedule.
func replayable() []suite.MethodRef {
	return append([]suite.MethodRef{{Name: "sjf", Params: map[string]string{"blocking": "skip"}}}, catalogue.OnlineRefs()...)
}

// work is the improvement of one entry.
type work struct {
	*Improver
	*Change
	e *Entry
	s *Standing // as it is by now
}

// try runs a method and takes what it has found.
func (w *work) try(ctx context.Context, ref suite.MethodRef) error {
	method, err := catalogue.Resolve(ref)
	if err != nil {
		return err
	}
	in := w.s.Instance
	if bench.Suits(method, in) != nil {
		return nil
	}
	out, err := w.Run(ctx, method, in, w.e.Objective)
	switch {
	case err != nil && (errors.Is(err, bench.ErrInvalidSchedule) || errors.Is(err, bench.ErrBoundRefuted)):
		return err
	case err != nil:
		w.Failed = append(w.Failed, fmt.Sprintf("%s: %v", ref, err))
		return nil
	}
	if out.Schedule != nil && out.Schedule.Class.Reaches(w.e.Class) {
		if err := w.offer(out.Schedule, ref.String()); err != nil {
			return err
		}
	}
	for i := range out.Bounds {
		if err := w.offerBound(&out.Bounds[i], ref.String()); err != nil {
			return err
		}
	}
	return nil
}

// offer keeps a schedule if it is better.
func (w *work) offer(s *sched.Schedule, by string) error {
	v, err := verify.Check(w.s.Instance, s)
	if err != nil {
		return fmt.Errorf("%w: %w", bench.ErrInvalidSchedule, err)
	}
	if !w.s.Better(v) {
		return nil
	}
	if err := w.Library.keepSchedule(w.e, v, by, w.Day); err != nil {
		return err
	}
	w.s.Schedule, w.Schedule = v, true
	return nil
}

// Better reports whether a schedule is better than the best one known.
func (s *Standing) Better(v *verify.Verified) bool {
	cost := v.Cost(s.Entry.Objective)
	return cost != nil && (s.Schedule == nil || cost.Cmp(s.Cost()) < 0)
}

// keepSchedule writes a schedule, and the entry.
func (l *Library) keepSchedule(e *Entry, v *verify.Verified, by, day string) error {
	var b bytes.Buffer
	if err := v.Schedule().Write(&b, v.Instance()); err != nil {
		return err
	}
	return l.keep(e, &e.Schedule, scheduleName, b.Bytes(), by, day)
}

// keep writes a file of an entry and, at once, the entry, which says in *side what the
// file is: a process that is killed between the two leaves an entry that check names.
func (l *Library) keep(e *Entry, side **Found, file string, text []byte, by, day string) error {
	found := &Found{By: by, On: day, SHA256: hashOf(text)}
	if err := found.validate(); err != nil {
		return err
	}
	if err := l.pack(e.Name, file, text); err != nil {
		return err
	}
	*side = found
	return l.write(e)
}

// offerBound keeps a bound if it has a certificate, and is better.
func (w *work) offerBound(b *bounds.Bound, by string) error {
	if b.Value.Sign() <= 0 || b.Divides(w.e.Class, w.e.Objective) != nil || w.s.Bound != nil && b.Value.Cmp(w.s.Bound) <= 0 {
		return nil
	}
	if b.Certificate != nil { // made where the method ran, with the proof that it had there
		if _, err := certify.New(w.s.Instance, w.e.Instance).Check(b.Certificate); err != nil {
			return fmt.Errorf("%w: %s: %w", bench.ErrBoundRefuted, b.Name, err)
		}
	} else if err := bench.CertifyBound(w.s.Instance, b); err != nil {
		return err
	}
	if b.Certificate == nil {
		w.Failed = append(w.Failed, by+": its bound has no certificate")
		return nil
	}
	if len(b.Certificate) > maxFile {
		w.Failed = append(w.Failed, fmt.Sprintf("%s: its certificate has %d kB, more than the %d kB that are kept", by, len(b.Certificate)>>10, maxFile>>10))
		return nil
	}
	if err := w.Library.keep(w.e, &w.e.Bound, certificateName, b.Certificate, by, w.Day); err != nil {
		return err
	}
	w.s.Bound, w.s.BoundBy, w.Bound = b.Value, b.Name, true
	return nil
}

// prove makes a proof for strangers where there is none and may be one.
func (w *work) prove(ctx context.Context) error {
	in := w.s.Instance
	if w.Nodes == 0 || w.s.Proven || w.s.Schedule == nil || w.s.Schedule.Class().Kind != sched.N || w.e.Class.Kind != sched.N || len(in.Jobs) > maxProof {
		return nil
	}
	made, value, err := tree.Optimum(ctx, in, w.e.Objective, w.s.Schedule.Schedule(), w.s.Cost(), tree.Limits{Nodes: w.Nodes, OnServers: w.Nodes / 50})
	switch {
	case errors.Is(err, sched.ErrNotApplicable), errors.Is(err, proof.ErrLimit), err != nil && ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	case len(made.Text) > maxFile || w.s.Bound != nil && value.Cmp(w.s.Bound) < 0:
		return nil
	}
	if _, err := treecheck.Check(made.Problem.Text(), made.Text); err != nil {
		return err
	}
	if err := w.Library.keep(w.e, &w.e.Proof, proofName, made.Text, "tree", w.Day); err != nil {
		return err
	}
	w.s.Bound, w.s.BoundBy, w.s.Proven, w.Proof = value, "tree", true, true
	return nil
}
