package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"yardstick/internal/python"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/branch"
	"yardstick/solvers/external"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// exportable are small instances of every model, with their formulations.
func exportable(seed uint64) map[*sched.Instance][]string {
	r := schedtest.Rand(seed)
	s := schedtest.Shape{Jobs: 3, Servers: 1, GPUs: 3, Uniform: true, Stages: 1, Slot: 60 * sched.Second}
	gangs, stopped := schedtest.Gang(r, s), schedtest.Preemptive(r, s)
	gangs.Slot = 0 // all data are multiples of a minute, in continuous time
	elastic := schedtest.Elastic(r, schedtest.ElasticShape{Jobs: 3, Servers: 2, Resources: 2, WorkerTypes: 1, ServerTypes: 1, Workers: 2, Capacity: 5, Slots: 4, Deadline: 5})
	shared := schedtest.SlottedSharing(seed, schedtest.Slots{Jobs: 3, Servers: []int{2}, Work: [2]int{1, 3}, Span: 2, Gang: 2, Xi: 1.5, Options: 1})
	return map[*sched.Instance][]string{
		gangs:   {"time-indexed", "time-indexed-up", "time-indexed-configurations", "time-indexed-servers", "pti", "npti", "conf"},
		stopped: {"bouts"},
		shared:  {"sharing"},
		elastic: {"elastic-listed", "elastic-compact", "weight-listed", "weight-compact"},
	}
}

// TestExportedModels solves what is exported by every other solver there is, from
// MPS and from LP files: their optima must be ours, which are proven.
func TestExportedModels(t *testing.T) {
	solvers := others(t)
	if len(solvers) == 0 {
		schedtest.Missing(t, "no other solver is installed")
	}
	for seed := range uint64(1) {
		for in, names := range exportable(seed) {
			var text strings.Builder
			if err := in.Write(&text); err != nil {
				t.Fatal(err)
			}
			path := write(t, "in.json", text.String())
			for _, name := range names {
				p, err := formulations()[name].build(in, sched.TotalCompletion, 0)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				ours := solveModel(t, branch.New(lpsolve.LP{}), p.Model)
				for _, s := range solvers {
					if got := solveModel(t, s, p.Model); !near(got, ours) {
						t.Errorf("seed %d: %s: %s says %v, the proven optimum is %v", seed, name, s.Name(), got, ours)
					}
				}
				file := filepath.Join(t.TempDir(), "model.lp")
				args := []string{"export", path, "--formulation", name, "--format", "lp", "-o", file}
				if !formulations()[name].weight {
					args = append(args, "--objective", "total-completion")
				}
				mustRun(t, args...)
				for program, got := range readLP(t, file) {
					if !near(got, ours) {
						t.Errorf("seed %d: %s: %s says %v of the LP file, the proven optimum is %v", seed, name, program, got, ours)
					}
				}
			}
		}
	}
}

// TestExportedToLPSolve solves what is exported by the lp_solve command with its
// defaults. Where a total JCT has a constant it stopped at worse points of MPS files,
// up to a fifth above the optimum, until the column of the constant was an integer.
func TestExportedToLPSolve(t *testing.T) {
	if _, err := exec.LookPath("lp_solve"); err != nil {
		schedtest.Missing(t, "lp_solve is not installed")
	}
	shared := func(seed uint64) *sched.Instance {
		return schedtest.SlottedSharing(seed, schedtest.Slots{Jobs: 3, Servers: []int{2}, Work: [2]int{1, 3}, Span: 2, Gang: 2, Xi: 1.5, Options: 1})
	}
	stopped := func(seed uint64) *sched.Instance {
		r := schedtest.Rand(seed)
		s := schedtest.Shape{Jobs: 3 + int(seed%3), Servers: 1 + int(seed%2), GPUs: 3, Uniform: true, Stages: 1, Slot: 60 * sched.Second, Weights: seed%2 == 1}
		schedtest.Gang(r, s)
		return schedtest.Preemptive(r, s)
	}
	programs := map[string][]*sched.Instance{"sharing": {shared(12), shared(15), shared(17)}, "bouts": {stopped(23), stopped(25), stopped(29)}}
	for name, list := range programs {
		for i, in := range list {
			p, err := formulations()[name].build(in, sched.TotalJCT, 0)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			ours := solveModel(t, branch.New(lpsolve.LP{}), p.Model)
			path := instanceFile(t, in)
			for format, flag := range map[string]string{"mps": "-fmps", "lp": "-lp"} {
				file := filepath.Join(t.TempDir(), "model")
				mustRun(t, "export", path, "--formulation", name, "--objective", "total-jct", "--format", format, "-o", file)
				text, err := exec.Command("lp_solve", "-S3", flag, file).CombinedOutput()
				found := regexp.MustCompile(`Value of objective function:\s*(\S+)`).FindSubmatch(text)
				if err != nil || found == nil {
					t.Fatalf("%s %d, %s: %v\n%.500s", name, i, format, err, text)
				}
				if got, err := strconv.ParseFloat(string(found[1]), 64); err != nil || !near(got, ours) {
					t.Errorf("%s %d: lp_solve says %v of the %s file, the proven optimum is %v", name, i, got, format, ours)
				}
			}
		}
	}
}

// others returns the solvers that are installed; HiGHS also as the library of a
// Python package.
func others(t *testing.T) []*external.Solver {
	t.Helper()
	if _, err := external.HiGHS(); errors.Is(err, external.ErrAbsent) {
		t.Run("highspy", func(s *testing.T) {
			interpreter := python.Interpreter(s, "highspy")
			script, err := filepath.Abs("../../solvers/external/testdata/highs.py")
			if err != nil {
				s.Fatal(err)
			}
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "highs"), fmt.Appendf(nil, "#!/bin/sh\nexec '%s' '%s' \"$@\"\n", interpreter, script), 0o700); err != nil {
				s.Fatal(err)
			}
			t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
		})
	}
	return external.Found()
}

func solveModel(t *testing.T, s milp.Solver, m *milp.Model) float64 {
	t.Helper()
	r, err := s.Solve(context.Background(), m, milp.Start{}, milp.Limits{Time: time.Minute})
	if err != nil || r.Termination != milp.Optimal {
		t.Fatalf("%s of %s: %+v, %v", s.Name(), m.Name, r, err)
	}
	return r.PrimalBound
}

// near compares the optima of solvers in floating point.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(1, math.Abs(b)) }

// readLP returns the optimum that glpsol finds of an LP file which lp_solve has
// read and written as MPS, by program; nothing if one of the two is missing.
// lp_solve's own search is not asked: it may be wrong.
func readLP(t *testing.T, file string) map[string]float64 {
	t.Helper()
	for _, program := range []string{"lp_solve", "glpsol"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil
		}
	}
	for _, command := range [][]string{{"lp_solve", file, "-S3", "-parse_only", "-wfmps", file + ".mps"}, {"glpsol", "--freemps", file + ".mps", "--output", file + ".txt"}} {
		if text, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", command, err, text)
		}
	}
	text, err := os.ReadFile(file + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`Objective:\s+\S+ = (\S+)`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("glpsol wrote\n%s", text)
	}
	v, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]float64{"glpsol": v}
}

func TestExportMistakes(t *testing.T) {
	in := write(t, "in.json", tinyInstance)
	for _, args := range [][]string{{"--formulation", "none"}, {"--formulation", "npti", "--format", "xls"}, {"--formulation", "npti", "--slot", "3"},
		{"--formulation", "npti", "--objective", "fun"}, {"--formulation", "sharing"}} {
		if code, _, errOut := benchCommand(t, append([]string{"export", in}, args...)...); code != exitUsage {
			t.Errorf("%v: exit code %d, %s", args, code, errOut)
		}
	}
	if out := mustRun(t, "export", in, "--formulation", "npti"); !strings.HasPrefix(out, "NAME") {
		t.Errorf("no MPS:\n%.200s", out)
	}
}

// Every flag changes what is written, or is refused: for each formulation.
func TestExportFlagsMeanSomething(t *testing.T) {
	for in, names := range exportable(3) {
		for j := range in.Jobs { // with which no two objectives are the same
			in.Jobs[j].Weight = float64(2 + j)
		}
		in.Jobs[0].Release += 60 * sched.Second
		path := instanceFile(t, in)
		for _, name := range names {
			plain := mustRun(t, "export", path, "--formulation", name)
			for _, flag := range [][]string{{"--format", "lp"}, {"--slot", "30s"}, {"--objective", "makespan"}, {"--objective", "total-completion"}, {"--objective", "weighted-completion"}} {
				code, out, errOut := benchCommand(t, append([]string{"export", path, "--formulation", name}, flag...)...)
				if code == exitOK && out == plain || code != exitOK && (code != exitUsage || strings.Count(errOut, "\n") != 1) {
					t.Errorf("%s %v: exit code %d, the same text: %t: %s", name, flag, code, out == plain, errOut)
				}
			}
		}
	}
}
