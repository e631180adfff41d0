package branch_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"yardstick/internal/tier"
	"yardstick/solvers/branch"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// liar is an LP solver that is wrong four times out of five.
type liar struct{ r *rand.Rand }

func (liar) Name() string { return "liar" }

func (l liar) Open(m *milp.Model) (milp.LP, error) {
	p, err := lpsolve.LP{}.Open(m)
	return lyingProgram{p, l.r, m}, err
}

type lyingProgram struct {
	milp.LP
	r *rand.Rand
	m *milp.Model
}

func (p lyingProgram) Solve(ctx context.Context, l milp.Limits) (*milp.Result, error) {
	res, err := p.LP.Solve(ctx, l)
	switch p.r.IntN(5) {
	case 0:
		return nil, errors.New("no answer")
	case 1:
		return &milp.Result{Termination: milp.Infeasible, Dual: milp.Proven, DualBound: math.Inf(1), PrimalBound: math.Inf(1), RowDuals: p.noise(len(p.m.Rows))}, nil
	case 2:
		return &milp.Result{Termination: milp.Optimal, Primal: milp.Proven, Dual: milp.Proven, X: p.noise(len(p.m.Vars)), RowDuals: p.noise(len(p.m.Rows)), DualBound: 1e9}, nil
	case 3:
		return milp.NoResult(milp.Numerical), nil
	}
	return res, err
}

// noise is small integers, and now and then something that is no number.
func (p lyingProgram) noise(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(p.r.IntN(7) - 3)
		switch p.r.IntN(20) {
		case 0:
			out[i] = math.NaN()
		case 1:
			out[i] = math.Inf(1)
		case 2:
			out[i] = p.r.NormFloat64()
		}
	}
	return out
}

// Whatever its linear programs say, the search is right: they only decide how
// long it takes.
func TestLinearProgramsAreNotTrusted(t *testing.T) {
	for name, generate := range families {
		r := newRand(6)
		for k := range tier.Draws(13, 40) {
			m := generate(r)
			want := brute(t, m)
			got := solve(t, branch.New(liar{newRand(uint64(k))}), m, milp.Limits{})
			if want == nil {
				if got.Termination != milp.Infeasible {
					t.Fatalf("%s, instance %d is infeasible; got %+v", name, k, got)
				}
				continue
			}
			if got.Termination != milp.Optimal || m.ExactObjective(got.X).Cmp(want) != 0 || rat(got.DualBound).Cmp(want) > 0 {
				t.Fatalf("%s, instance %d: got %+v, want %v", name, k, got, want)
			}
			if limit := got.Stats.Nodes / 2; limit > 0 {
				got := solve(t, branch.New(liar{newRand(uint64(k))}), m, milp.Limits{Nodes: limit})
				if got.Dual == milp.Proven && rat(got.DualBound).Cmp(want) > 0 {
					t.Fatalf("%s, instance %d: bound %v at %d nodes, optimum %v", name, k, got.DualBound, limit, want)
				}
			}
		}
	}
}

// A start is a suggestion: good ones save nodes, bad ones are refused, and the
// same one gives the same search.
func TestSuggestions(t *testing.T) {
	r := newRand(7)
	saved := 0
	for k := range 100 {
		m := covering(r)
		plain := solve(t, branch.New(lpsolve.LP{}), m, milp.Limits{})
		if plain.X == nil {
			continue
		}
		bad := func(x []float64) []float64 {
			out := make([]float64, len(x)-r.IntN(2))
			for j := range out {
				out[j] = float64(r.IntN(3)) / 2
			}
			if len(out) > 0 && r.IntN(3) == 0 {
				out[0] = math.NaN()
			}
			return out
		}
		misled := solveFrom(t, branch.New(lpsolve.LP{}), m, milp.Start{X: bad(plain.X), Round: bad}, milp.Limits{})
		if misled.Termination != milp.Optimal || misled.PrimalBound != plain.PrimalBound {
			t.Fatalf("instance %d: %+v without and %+v with bad suggestions", k, plain, misled)
		}
		guided := solveFrom(t, branch.New(lpsolve.LP{}), m, milp.Start{X: plain.X}, milp.Limits{})
		again := solveFrom(t, branch.New(lpsolve.LP{}), m, milp.Start{X: plain.X}, milp.Limits{})
		guided.Stats.Wall, again.Stats.Wall, guided.Stats.CPU, again.Stats.CPU = 0, 0, 0, 0
		checkSteps(t, guided)
		guided.Stats.Steps, again.Stats.Steps = nil, nil // when they were is not the same
		if !reflect.DeepEqual(guided, again) {
			t.Fatalf("instance %d: %+v, then %+v", k, guided, again)
		}
		if guided.Termination != milp.Optimal || guided.PrimalBound != plain.PrimalBound {
			t.Fatalf("instance %d: %+v without and %+v with the optimum as start", k, plain, guided)
		}
		saved += plain.Stats.Nodes - guided.Stats.Nodes
	}
	if saved <= 0 {
		t.Errorf("starting from optima saved %d nodes", saved)
	}
}

// Progress reports bounds that only rise and incumbents that only fall, and
// ends where the result does.
func TestProgress(t *testing.T) {
	r := newRand(8)
	for range 20 {
		m := generalAssignment(r)
		lastBound, lastCutoff := math.Inf(-1), math.Inf(1)
		solver := branch.New(lpsolve.LP{}).With(branch.Options{Progress: func(bound, incumbent float64, nodes int) {
			if bound < lastBound || incumbent > lastCutoff || bound > incumbent {
				t.Errorf("[%v, %v] after [%v, %v]", bound, incumbent, lastBound, lastCutoff)
			}
			lastBound, lastCutoff = bound, incumbent
		}})
		if got := solve(t, solver, m, milp.Limits{}); got.X != nil && (got.PrimalBound != lastCutoff || got.DualBound != lastBound) {
			t.Errorf("ended with [%v, %v], last report [%v, %v]", got.DualBound, got.PrimalBound, lastBound, lastCutoff)
		}
	}
}

// Adding a constant to all costs of an assignment row changes nothing but the
// objective: in particular, elastic columns stay dearer than what they stand
// in for.
func TestCostsMayBeShifted(t *testing.T) {
	r := newRand(9)
	before, after := 0, 0
	for k := range 100 {
		m := generalAssignment(r)
		near := solve(t, branch.New(lpsolve.LP{}), m, milp.Limits{})
		shift := 0.0
		for _, row := range m.Rows {
			if row.Sense == milp.EQ {
				by := float64(1_000_000_000 + r.IntN(1000))
				shift += by
				for _, j := range row.Cols {
					m.Vars[j].Cost += by
				}
			}
		}
		far := solve(t, branch.New(lpsolve.LP{}), m, milp.Limits{})
		if near.Termination != far.Termination || near.PrimalBound+shift != far.PrimalBound {
			t.Fatalf("instance %d: %+v, and shifted by %v %+v", k, near, shift, far)
		}
		before += near.Stats.Nodes
		after += far.Stats.Nodes
	}
	if after > before+before/4+10 {
		t.Errorf("%d nodes, and %d with larger costs", before, after)
	}
}

// checkSteps wants bounds that rise and incumbents that fall, in order of time,
// up to the result.
func checkSteps(t *testing.T, r *milp.Result) {
	t.Helper()
	steps := r.Stats.Steps
	for i, s := range steps {
		if i > 0 && (s.At < steps[i-1].At || s.Dual < steps[i-1].Dual || s.Primal > steps[i-1].Primal || s.Nodes < steps[i-1].Nodes) {
			t.Errorf("step %d is %+v after %+v", i, s, steps[i-1])
		}
		if s.Dual > r.DualBound || s.Primal < r.PrimalBound {
			t.Errorf("step %d is %+v, beyond the result %v, %v", i, s, r.PrimalBound, r.DualBound)
		}
	}
	if len(steps) == 0 && r.Stats.Nodes > 0 {
		t.Error("no step")
	}
}
