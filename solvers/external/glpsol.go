package external

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"yardstick/solvers/milp"
)

type glpsol struct{}

func (glpsol) name() string          { return "glpsol" }
func (glpsol) install() string       { return "install GLPK, on Debian the package glpk-utils" }
func (glpsol) versionArgs() []string { return []string{"--version"} }

const solutionFile = "solution.txt"

// round: glpsol counts whole seconds.
func (glpsol) round(limit time.Duration) time.Duration {
	return (limit + time.Second - 1).Truncate(time.Second)
}

func (g glpsol) args(m *milp.Model, l milp.Limits) ([]string, map[string]string) {
	args := []string{"--freemps", modelFile, "--write", solutionFile}
	if m.Integers() == 0 {
		// The presolver of linear programs reports an infeasible one as
		// undefined.
		args = append(args, "--nopresol")
	}
	if l.Time > 0 {
		args = append(args, "--tmlim", strconv.Itoa(int(g.round(l.Time)/time.Second)))
	}
	return args, nil
}

var (
	glpsolBound = regexp.MustCompile(`(?m)^\+.*>=\s*([-+0-9.eE]+)\s`)
	glpsolIters = regexp.MustCompile(`(?m)^[+*#~ ]\s*([0-9]+):`)
	glpsolTime  = regexp.MustCompile(`TIME LIMIT EXCEEDED`)
	// A progress line ends with the active nodes and the nodes done.
	glpsolNodes = regexp.MustCompile(`(?m)^\+.*\(([0-9]+); ([0-9]+)\)`)
)

func (glpsol) read(folder, output string, m *milp.Model) (answer, error) {
	text, err := os.ReadFile(filepath.Join(folder, solutionFile))
	if err != nil {
		return answer{}, errors.New("no solution file was written")
	}
	a := answer{bound: math.Inf(-1), iterations: lastCount(output, glpsolIters)}
	if all := glpsolNodes.FindAllStringSubmatch(output, -1); all != nil {
		last := all[len(all)-1]
		active, _ := strconv.Atoi(last[1]) // zero is as good where it overflows
		done, _ := strconv.Atoi(last[2])
		a.nodes = active + done
	}
	s, err := readGLPK(string(text), columns(m))
	if err != nil {
		return answer{}, err
	}
	late := glpsolTime.MatchString(output)
	switch {
	case s.optimal:
		a.termination = milp.Optimal
	case s.infeasible && !late:
		a.termination = milp.Infeasible
	case late:
		a.termination = milp.TimeLimit
	default:
		a.termination, a.message = milp.Numerical, "glpsol ends with status "+s.status
	}
	if s.optimal || s.feasible && m.Integers() > 0 {
		a.x, a.objective = s.x[:len(m.Vars)], s.objective
	}
	if m.Integers() > 0 {
		a.bound = printedBound(output, glpsolBound, significant(10))
	}
	return a, nil
}

// glpkSolution is a solution file of GLPK's own plain format.
type glpkSolution struct {
	status                        string
	optimal, feasible, infeasible bool
	objective                     float64
	x                             []float64
}

// readGLPK reads
//
//	s bas rows cols primal-status dual-status objective
//	s mip rows cols status objective
//	i row [status] value …
//	j col [status] value …
//	e o f
//
// where a status is u undefined, f feasible, o optimal, i infeasible point,
// n no feasible point.
func readGLPK(text string, cols int) (*glpkSolution, error) {
	var s *glpkSolution
	filled, ended, basic := 0, false, false
	for scan := bufio.NewScanner(strings.NewReader(text)); scan.Scan(); {
		f := strings.Fields(scan.Text())
		if len(f) == 0 {
			continue
		}
		switch f[0] {
		case "s":
			if s != nil || len(f) < 6 {
				return nil, fmt.Errorf("solution file: line %q", scan.Text())
			}
			if f[3] != strconv.Itoa(cols) {
				return nil, fmt.Errorf("solution file of %s columns, not %d", f[3], cols)
			}
			s = &glpkSolution{status: strings.Join(f[4:len(f)-1], " "), x: make([]float64, cols)}
			basic = f[1] == "bas"
			switch {
			case basic && len(f) == 7:
				s.feasible, s.infeasible = f[4] == "f", f[4] == "n"
				s.optimal = s.feasible && f[5] == "f"
			case f[1] == "mip" && len(f) == 6:
				s.optimal, s.feasible, s.infeasible = f[4] == "o", f[4] == "o" || f[4] == "f", f[4] == "n"
			default:
				return nil, fmt.Errorf("solution file: line %q", scan.Text())
			}
			v, err := number(f[len(f)-1])
			if err != nil {
				return nil, fmt.Errorf("solution file: objective %w", err)
			}
			s.objective = v
		case "j":
			at := 2
			if basic {
				at = 3
			}
			if s == nil || len(f) <= at {
				return nil, fmt.Errorf("solution file: line %q", scan.Text())
			}
			j, err := strconv.Atoi(f[1])
			if err != nil || j != filled+1 || j > cols {
				return nil, fmt.Errorf("solution file: column %q after %d of %d", f[1], filled, cols)
			}
			if s.x[j-1], err = number(f[at]); err != nil {
				return nil, fmt.Errorf("solution file: column %d: %w", j, err)
			}
			filled++
		case "e":
			ended = true
		}
	}
	if s == nil || !ended || filled != cols {
		return nil, fmt.Errorf("solution file is cut short: %d of %d columns", filled, cols)
	}
	return s, nil
}
