//go:build !cgo

package lpsolve

import (
	"context"
	"errors"

	"yardstick/solvers/milp"
)

var errNoCgo = errors.New("lpsolve: this program was built without cgo and cannot run lp_solve: " +
	"install gcc and liblpsolve55-dev, and build with CGO_ENABLED=1")

func open(*milp.Model) (milp.LP, error) { return nil, errNoCgo }

func solveMIP(context.Context, *milp.Model, milp.Limits) (*milp.Result, error) { return nil, errNoCgo }

func version() string { return "none (built without cgo)" }
