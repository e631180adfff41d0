package bench

import (
	"errors"
	"fmt"

	"yardstick/bounds"
	"yardstick/bounds/certify"
	"yardstick/sched"
)

// ErrBoundRefuted means that the certificate of a bound does not prove it: the bound
// or the check of certificates is wrong.
var ErrBoundRefuted = errors.New("a bound is refuted by its certificate")

// Certify makes and checks the certificates of the bounds of an instance, of the
// given Hash or "" to compute it, and marks those that were accepted. Bounds that
// come with no proof of their own are searched for, where there are few jobs. What
// cannot be certified within the limits of package certify stays as it is.
//
// Errors: ErrBoundRefuted; a certificate cannot be written.
func Certify(in *sched.Instance, hash string, outcomes []Outcome) error {
	if hash == "" {
		hash = in.Hash()
	}
	checker := certify.New(in, hash)
	for i := range outcomes {
		list := outcomes[i].Bounds
		for k := range list {
			if err := certifyBound(checker, hash, &list[k]); err != nil {
				return err
			}
		}
	}
	return nil
}

// CertifyBound does so for one bound.
//
// Errors: as for Certify.
func CertifyBound(in *sched.Instance, b *bounds.Bound) error {
	hash := in.Hash()
	return certifyBound(certify.New(in, hash), hash, b)
}

func certifyBound(checker *certify.Checker, hash string, b *bounds.Bound) error {
	b.Certified, b.Certificate = false, nil
	stated := *b
	if stated.Proof == nil {
		stated.Proof = &bounds.Proof{Kind: "search"}
	}
	text, err := stated.Document(hash)
	if err != nil {
		return fmt.Errorf("certificate of %s: %w", b.Name, err)
	}
	_, err = checker.Check(text)
	switch {
	case err == nil:
		b.Certified, b.Certificate = true, text
	case !errors.Is(err, certify.ErrTooHard):
		return fmt.Errorf("%w: %s: %w", ErrBoundRefuted, b.Name, err)
	}
	return nil
}
