package external

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"yardstick/solvers/milp"
	"yardstick/solvers/solvertest"
)

func TestAbsent(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, find := range []func() (*Solver, error){GLPSOL, CBC, HiGHS} {
		if s, err := find(); s != nil || !errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), "install") {
			t.Errorf("%v, error %v", s, err)
		}
	}
	if found := Found(); len(found) != 0 {
		t.Errorf("found %v", found)
	}
}

// A limit leaves a point and a bound around the optimum, with the constant in
// both. A program that has nothing at its limit, on a busy machine, is given more
// time: what it says is checked at every limit.
func TestIncumbentAtTimeLimit(t *testing.T) {
	m := solvertest.Integral(solvertest.Packing(30, 200, 3))
	m.Constant = 5000
	for _, find := range []func() (*Solver, error){GLPSOL, CBC, HiGHS} {
		s, err := find()
		if err != nil {
			t.Log(err)
			continue
		}
		for limit := time.Second; ; limit *= 4 {
			res, err := s.Solve(context.Background(), m, milp.Start{}, milp.Limits{Time: limit})
			if err != nil {
				t.Fatal(err)
			}
			if res.Termination != milp.TimeLimit || res.Primal == milp.Claimed || res.Dual == milp.Proven || res.Primal == milp.Proven && !(res.DualBound < res.PrimalBound) {
				t.Errorf("%s: %s with %s point %v and %s bound %v", s.Name(), res.Termination, res.Primal, res.PrimalBound, res.Dual, res.DualBound)
			}
			if res.PrimalBound <= -6300 && res.DualBound >= -6700 { // optimum between: a relaxation of about −11,625, points near −11,450
				break
			}
			if limit > 5*time.Minute || t.Failed() {
				t.Fatalf("%s: interval [%v, %v] after %v", s.Name(), res.DualBound, res.PrimalBound, limit)
			}
		}
	}
}

func TestVersion(t *testing.T) {
	for _, s := range Found() {
		if v, err := s.Version(context.Background()); err != nil || !strings.Contains(v, ".") {
			t.Errorf("%s: version %q, error %v", s.Name(), v, err)
		}
	}
}

// script returns a solver whose program is the given shell script.
func script(t *testing.T, p program, text string) *Solver {
	t.Helper()
	path := filepath.Join(t.TempDir(), p.name())
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return &Solver{path, p}
}

// TestPrograms that fail or lie: what they claim must not pass.
func TestPrograms(t *testing.T) {
	// min x + y, x + 2y ≥ 3: optimum 2.
	m := &milp.Model{Vars: []milp.Variable{{Upper: 3, Cost: 1, Integer: true}, {Upper: 3, Cost: 1, Integer: true}},
		Rows: []milp.Row{{Cols: []int{0, 1}, Vals: []float64{1, 2}, Sense: milp.GE, RHS: 3}}}
	glpk := func(status, objective, x, y string) string {
		return "cat >solution.txt <<E\ns mip 1 2 " + status + " " + objective + "\ni 1 3\nj 1 " + x + "\nj 2 " + y + "\ne o f\nE\n"
	}
	for _, test := range []struct {
		name, script string
		program      program
		want         milp.Termination
		primal       milp.Evidence
		value        float64
	}{
		{"optimal", glpk("o", "2", "1", "1"), glpsol{}, milp.Optimal, milp.Proven, 2},
		{"nearly whole", glpk("o", "2", "1.0000001", "0.9999999"), glpsol{}, milp.Optimal, milp.Proven, 2},
		{"warning", glpk("o", "2", "1", "1") + "exit 1\n", glpsol{}, milp.Optimal, milp.Proven, 2},
		{"infeasible point", glpk("o", "1", "1", "0"), glpsol{}, milp.Numerical, milp.None, math.Inf(1)},
		{"out of bounds", glpk("o", "-1", "-7", "6"), glpsol{}, milp.Numerical, milp.Proven, 3}, // (0, 3), once moved into the bounds
		{"another objective", glpk("o", "1.5", "1", "1"), glpsol{}, milp.Numerical, milp.Proven, 2},
		{"undefined", glpk("u", "0", "0", "0"), glpsol{}, milp.Numerical, milp.None, math.Inf(1)},
		{"infeasible", glpk("n", "0", "0", "0"), glpsol{}, milp.Infeasible, milp.None, math.Inf(1)},
		{"time limit", "echo 'TIME LIMIT EXCEEDED; SEARCH TERMINATED'\n" + glpk("f", "3", "1", "2"), glpsol{}, milp.TimeLimit, milp.Proven, 3},
		{"not a number", glpk("o", "2", "nan", "1"), glpsol{}, milp.OtherError, milp.None, math.Inf(1)},
		{"cut short", "printf 's mip 1 2 o 2\\nj 1 1\\n' >solution.txt", glpsol{}, milp.OtherError, milp.None, math.Inf(1)},
		{"another model", "printf 's mip 1 3 o 2\\nj 1 1\\n' >solution.txt", glpsol{}, milp.OtherError, milp.None, math.Inf(1)},
		{"empty file", ": >solution.txt", glpsol{}, milp.OtherError, milp.None, math.Inf(1)},
		{"no file", "true", glpsol{}, milp.OtherError, milp.None, math.Inf(1)},
		{"failure", "exit 3", glpsol{}, milp.Crashed, milp.None, math.Inf(1)},
		{"signal", "kill -SEGV $$", cbc{}, milp.Crashed, milp.None, math.Inf(1)},
		{"no point file", "echo 'Optimal - objective value 2' >solution.txt", cbc{}, milp.OtherError, milp.None, math.Inf(1)},
		{"short point file", "echo 'Optimal - objective value 2' >solution.txt; echo x >point.bin", cbc{}, milp.OtherError, milp.None, math.Inf(1)},
		{"unknown status", "echo 'Weird - objective value 2' >solution.txt", cbc{}, milp.Numerical, milp.None, math.Inf(1)},
		{"optimal", "printf 'Model status\\nOptimal\\n\\n# Primal solution values\\nFeasible\\nObjective 2\\n# Columns 2\\na 1\\nb 1\\n# Rows 1\\nr 3\\n' >solution.txt",
			highs{}, milp.Optimal, milp.Proven, 2},
		{"cut short", "printf 'Model status\\nOptimal\\n\\n# Primal solution values\\nFeasible\\nObjective 2\\n# Columns 2\\na 1\\n' >solution.txt",
			highs{}, milp.OtherError, milp.None, math.Inf(1)},
		{"node limit", "printf 'Model status\\nSolution limit reached\\n\\n# Primal solution values\\nNone\\n' >solution.txt; echo '  Dual bound        1.5'",
			highs{}, milp.NodeLimit, milp.None, math.Inf(1)},
	} {
		t.Run(test.program.name()+"/"+test.name, func(t *testing.T) {
			res, err := script(t, test.program, test.script).Solve(context.Background(), m, milp.Start{}, milp.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if err := res.Validate(); err != nil {
				t.Error(err)
			}
			if res.Termination != test.want || res.Primal != test.primal || res.PrimalBound != test.value || res.Dual == milp.Proven {
				t.Errorf("%+v, want %s, %q %v", res, test.want, test.primal, test.value)
			}
			if slices.Contains([]milp.Termination{milp.Numerical, milp.OtherError, milp.Crashed}, res.Termination) && res.Message == "" {
				t.Errorf("%s without a message", res.Termination)
			}
			if test.want == milp.NodeLimit && !(res.DualBound <= 1.5 && res.DualBound > 1.499) {
				t.Errorf("bound %v, want just below 1.5", res.DualBound)
			}
		})
	}
}

// A program that does not keep its limit is killed, with all it started.
func TestKilled(t *testing.T) {
	m := solvertest.MarketSplit(4, 30, 1)
	s := script(t, cbc{}, "exec sleep 600")
	begin := time.Now()
	res, err := s.Solve(context.Background(), m, milp.Start{}, milp.Limits{Time: 10 * time.Millisecond})
	if err != nil || res.Termination != milp.TimeLimit || res.X != nil {
		t.Errorf("%+v, error %v", res, err)
	}
	if wall := time.Since(begin); wall < Grace || wall > 5*time.Minute {
		t.Errorf("killed after %v", wall)
	}
}

func TestNoFilesAreLeft(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	for _, s := range Found() {
		if _, err := s.Solve(context.Background(), solvertest.MarketSplit(2, 6, 1), milp.Start{}, milp.Limits{}); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, error %v", left, err)
	}
}
