//go:build !cgo

package lpsolve

import (
	"context"
	"testing"

	"yardstick/solvers/milp"
)

func TestWithoutCgo(t *testing.T) {
	if _, err := (LP{}).Open(&milp.Model{}); err == nil {
		t.Error("Open succeeds without lp_solve")
	}
	if _, err := (MIP{}).Solve(context.Background(), &milp.Model{}, milp.Limits{}); err == nil {
		t.Error("Solve succeeds without lp_solve")
	}
}
