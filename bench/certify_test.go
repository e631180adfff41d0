package bench

import (
	"errors"
	"math/big"
	"testing"

	"yardstick/bounds"
	"yardstick/bounds/certify"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// TestCertify: bounds with a proof and optima without one are certified; a bound
// above what is true is an error, and one that is too hard to search stays as it
// was.
func TestCertify(t *testing.T) {
	in := schedtest.Plain(schedtest.Servers(2), schedtest.Job(0, 1, 4), schedtest.Job(0, 2, 3), schedtest.Job(1, 1, 2))
	lb, err := bounds.Ranked(in, sched.TotalCompletion)
	if err != nil {
		t.Fatal(err)
	}
	_, optimum := schedtest.BruteForce(in, sched.TotalCompletion)
	exact := bounds.Bound{Name: "optimum", Class: sched.Class{Kind: sched.N}, Objective: sched.TotalCompletion, Value: optimum}
	out := []Outcome{{Bounds: []bounds.Bound{lb, exact}}, {}}
	if err := Certify(in, "", out); err != nil {
		t.Fatal(err)
	}
	for _, b := range out[0].Bounds {
		s, err := certify.Check(in, b.Certificate)
		if !b.Certified || err != nil || s.Value.Cmp(b.Value) != 0 {
			t.Errorf("%+v: %v", b, err)
		}
	}
	for _, b := range []bounds.Bound{lb, exact} {
		b.Value = new(big.Rat).Add(optimum, big.NewRat(1, 1))
		if err := CertifyBound(in, &b); !errors.Is(err, ErrBoundRefuted) || b.Certified {
			t.Errorf("%s above the optimum: %v", b.Name, err)
		}
	}
	exact.Class, exact.Certified = sched.Class{Kind: sched.P}, true // of which continuous time cannot be searched
	if err := CertifyBound(in, &exact); err != nil || exact.Certified || exact.Certificate != nil {
		t.Errorf("a bound that cannot be searched: %+v, %v", exact, err)
	}
}
