package library

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"

	"yardstick/bounds"
	"yardstick/bounds/certify"
	"yardstick/bounds/proof"
	"yardstick/bounds/proof/treecheck"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// Standing is what the files of an entry prove, each of them checked.
type Standing struct {
	Entry    *Entry
	Instance *sched.Instance
	Schedule *verify.Verified // nil if none is known
	// Bound is what no schedule of the entry's class costs less than, by the certificate
	// or the proof, whichever says more; nil if nothing is proven.
	Bound   *big.Rat
	BoundBy string // the kind of the certificate, or tree
	// Proven reports that a proof for strangers beside the entry proves Bound.
	Proven bool
	// Problem and Proof are the two files of that proof; nil if there is none.
	Problem, Proof []byte
}

// Cost is that of the schedule, or nil.
func (s *Standing) Cost() *big.Rat {
	if s.Schedule == nil {
		return nil
	}
	return s.Schedule.Cost(s.Entry.Objective)
}

// Gap is how much more the schedule costs than the bound, as a share of the bound: 0 of an
// optimum. It is nil where a side is missing, or the bound is 0 and the cost is not.
func (s *Standing) Gap() *big.Rat {
	cost := s.Cost()
	switch {
	case cost == nil || s.Bound == nil:
		return nil
	case cost.Cmp(s.Bound) == 0:
		return new(big.Rat)
	case s.Bound.Sign() <= 0:
		return nil
	}
	return new(big.Rat).Quo(new(big.Rat).Sub(cost, s.Bound), s.Bound)
}

// Optimal reports that the schedule is proven to be one of least cost.
func (s *Standing) Optimal() bool {
	gap := s.Gap()
	return gap != nil && gap.Sign() == 0
}

// Standing makes the instance of an entry and checks all of its files.
//
// Errors: ErrAbsent; what does not hold.
func (l *Library) Standing(e *Entry) (*Standing, error) {
	in, err := l.Build(e)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	s := &Standing{Entry: e, Instance: in}
	for _, side := range []struct {
		file  string
		found *Found
		check func([]byte) error
	}{{scheduleName, e.Schedule, s.schedule}, {certificateName, e.Bound, s.certificate}, {proofName, e.Proof, s.proof}} {
		text, err := l.unpack(e.Name, side.file, side.found)
		if errors.Is(err, ErrNone) {
			continue
		}
		if err == nil {
			err = side.check(text)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", e.Name, side.file, err)
		}
	}
	if cost := s.Cost(); cost != nil && s.Bound != nil && cost.Cmp(s.Bound) < 0 {
		return nil, fmt.Errorf("%s: the schedule costs %s, less than the bound %s: %w", e.Name, cost.RatString(), s.Bound.RatString(), ErrContradiction)
	}
	return s, nil
}

// schedule checks a schedule.
func (s *Standing) schedule(text []byte) error {
	v, err := readSchedule(s.Entry, s.Instance, text, true)
	if err == nil {
		s.Schedule = v
	}
	return err
}

// readSchedule decodes a schedule of an entry's instance and checks it. With a seal, it
// must be there.
func readSchedule(e *Entry, in *sched.Instance, text []byte, sealed bool) (*verify.Verified, error) {
	claim, hash, err := sched.ReadSchedule(bytes.NewReader(text))
	switch {
	case err != nil:
		return nil, err
	case hash != e.Instance && (sealed || hash != ""):
		return nil, errors.New("it was made for another instance")
	case !claim.Class.Reaches(e.Class):
		return nil, fmt.Errorf("it is of class %v, which says nothing about the best schedule of class %v", claim.Class, e.Class)
	}
	v, err := verify.Check(in, claim)
	switch {
	case err != nil:
		return nil, err
	case v.Cost(e.Objective) == nil:
		return nil, fmt.Errorf("it has no %v: it leaves jobs out", e.Objective)
	}
	return v, nil
}

// certificate checks a certificate.
func (s *Standing) certificate(text []byte) error {
	st, err := certify.New(s.Instance, s.Entry.Instance).Check(text)
	if err != nil {
		return err
	}
	return s.raise(&bounds.Bound{Name: st.Kind, Class: st.Class, Objective: st.Objective, Value: st.Value})
}

// raise keeps a bound that has been checked, if it bounds what the entry is about.
func (s *Standing) raise(b *bounds.Bound) error {
	if err := b.Divides(s.Entry.Class, s.Entry.Objective); err != nil {
		return err
	}
	if s.Bound == nil || b.Value.Cmp(s.Bound) >= 0 { // a proof that says as much says it to more people
		s.Bound, s.BoundBy = b.Value, b.Name
	}
	return nil
}

// proof checks a proof for strangers, on one pool or on servers.
func (s *Standing) proof(text []byte) error {
	p, stated, err := checkProof(s.Entry, s.Instance, text)
	if err != nil {
		return err
	}
	b := bounds.Bound{Name: "tree", Class: p.Class, Objective: p.Objective, Value: p.Value(stated.Value)}
	if err := s.raise(&b); err != nil {
		return err
	}
	s.Proven = s.Bound.Cmp(b.Value) == 0
	s.Problem, s.Proof = p.Text(), text
	return nil
}

// checkProof makes the problem of a proof anew, and checks it.
func checkProof(e *Entry, in *sched.Instance, text []byte) (*proof.Problem, *treecheck.Statement, error) {
	p, err := proof.New(in, e.Objective, e.Class)
	if err != nil {
		return nil, nil, err
	}
	stated, err := treecheck.Check(p.Text(), text)
	if err == nil || !p.Placed {
		return p, stated, err
	}
	if p, err = proof.NewOnServers(in, e.Objective, e.Class); err != nil {
		return nil, nil, err
	}
	stated, err = treecheck.Check(p.Text(), text)
	return p, stated, err
}
