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

type highs struct{}

func (highs) name() string                            { return "highs" }
func (highs) install() string                         { return "install HiGHS from highs.dev" }
func (highs) versionArgs() []string                   { return []string{"--version"} }
func (highs) round(limit time.Duration) time.Duration { return limit }

const optionsFile = "options.txt"

func (highs) args(m *milp.Model, l milp.Limits) ([]string, map[string]string) {
	options := []string{"mip_rel_gap = 0", "mip_abs_gap = 0", "threads = 1", "random_seed = 0",
		"primal_feasibility_tolerance = 1e-9", "mip_feasibility_tolerance = 1e-9", "solution_file = " + solutionFile}
	if l.Time > 0 {
		options = append(options, "time_limit = "+strconv.FormatFloat(l.Time.Seconds(), 'f', -1, 64))
	}
	if l.Nodes > 0 && l.Nodes < math.MaxInt32 {
		options = append(options, "mip_max_nodes = "+strconv.Itoa(l.Nodes))
	}
	return []string{"--options_file", optionsFile, modelFile}, map[string]string{optionsFile: strings.Join(options, "\n") + "\n"}
}

var (
	highsBound = regexp.MustCompile(`(?m)^\s+Dual bound\s+(\S+)`)
	highsNodes = regexp.MustCompile(`(?m)^\s+Nodes\s+([0-9]+)`)
	highsIters = regexp.MustCompile(`(?m)^\s+LP iterations\s+([0-9]+)`)
	highsSteps = regexp.MustCompile(`(?m)^Simplex\s+iterations\s*:\s*([0-9]+)`)
)

func (highs) read(folder, output string, m *milp.Model) (answer, error) {
	text, err := os.ReadFile(filepath.Join(folder, solutionFile))
	if err != nil {
		return answer{}, errors.New("no solution file was written")
	}
	s, err := readHiGHS(string(text), columns(m))
	if err != nil {
		return answer{}, err
	}
	a := answer{nodes: lastCount(output, highsNodes), iterations: lastCount(output, highsIters) + lastCount(output, highsSteps),
		bound: printedBound(output, highsBound, significant(12))}
	a.termination, a.message = highsStatus(s.status)
	if a.termination == milp.NodeLimit && m.Integers() == 0 {
		a.termination = milp.Numerical
	}
	if s.feasible && (a.termination == milp.Optimal || m.Integers() > 0) {
		a.x, a.objective = s.x[:len(m.Vars)], s.objective
	}
	return a, nil
}

// highsStatus maps HiGHS' names of model statuses.
func highsStatus(status string) (milp.Termination, string) {
	switch status {
	case "Optimal":
		return milp.Optimal, ""
	case "Infeasible", "Primal infeasible or unbounded": // with finite bounds nothing is unbounded
		return milp.Infeasible, ""
	case "Time limit reached":
		return milp.TimeLimit, ""
	case "Iteration limit reached":
		return milp.IterationLimit, ""
	case "Solution limit reached": // so it calls a limit on nodes
		return milp.NodeLimit, ""
	case "Memory limit reached":
		return milp.MemoryLimit, ""
	case "Interrupted by user", "Interrupted by HiGHS":
		return milp.Interrupted, ""
	}
	return milp.Numerical, fmt.Sprintf("highs ends with status %q", status)
}

type highsSolution struct {
	status    string
	feasible  bool
	objective float64
	x         []float64
}

// readHiGHS reads a solution file in HiGHS' raw style:
//
//	Model status
//	Optimal
//
//	# Primal solution values
//	Feasible
//	Objective 3
//	# Columns 2
//	x0 1
//	x1 2
//
// and so on. Without a point the third part is "None".
func readHiGHS(text string, cols int) (*highsSolution, error) {
	scan := bufio.NewScanner(strings.NewReader(text))
	line := func() string { // the next that is not empty
		for scan.Scan() {
			if l := strings.TrimSpace(scan.Text()); l != "" {
				return l
			}
		}
		return ""
	}
	if l := line(); l != "Model status" {
		return nil, fmt.Errorf("solution file begins with %q", l)
	}
	s := &highsSolution{status: line()}
	if l := line(); l != "# Primal solution values" {
		return nil, fmt.Errorf("solution file: %q in place of the primal values", l)
	}
	switch l := line(); l {
	case "None":
		return s, nil
	case "Feasible":
		s.feasible = true
	case "Infeasible":
		return s, nil
	default:
		return nil, fmt.Errorf("solution file: primal values are %q", l)
	}
	var err error
	objective, ok := strings.CutPrefix(line(), "Objective ")
	if !ok {
		return nil, errors.New("solution file has no objective")
	}
	if s.objective, err = number(objective); err != nil {
		return nil, fmt.Errorf("solution file: objective %w", err)
	}
	if l := line(); l != fmt.Sprintf("# Columns %d", cols) {
		return nil, fmt.Errorf("solution file: %q in place of %d columns", l, cols)
	}
	for j := range cols {
		f := strings.Fields(line())
		if len(f) != 2 {
			return nil, fmt.Errorf("solution file is cut short: %d of %d columns", j, cols)
		}
		v, err := number(f[1])
		if err != nil {
			return nil, fmt.Errorf("solution file: column %d: %w", j, err)
		}
		s.x = append(s.x, v)
	}
	return s, nil
}
