package external

import (
	"bytes"
	"encoding/binary"
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

type cbc struct{}

func (cbc) name() string                            { return "cbc" }
func (cbc) install() string                         { return "install COIN-OR CBC, on Debian the package coinor-cbc" }
func (cbc) versionArgs() []string                   { return []string{"-quit"} }
func (cbc) round(limit time.Duration) time.Duration { return limit }

// pointFile holds the point in binary: the text file has eight digits.
const pointFile = "point.bin"

func (cbc) args(m *milp.Model, l milp.Limits) ([]string, map[string]string) {
	// Without its own gap, cbc stops within 1e-10, and without -timeMode it
	// counts processor time.
	args := []string{modelFile, "-ratioGap", "0", "-allowableGap", "0", "-timeMode", "elapsed"}
	if l.Time > 0 {
		args = append(args, "-sec", strconv.FormatFloat(l.Time.Seconds(), 'f', -1, 64))
	}
	if l.Nodes > 0 && l.Nodes < math.MaxInt32 {
		args = append(args, "-maxNodes", strconv.Itoa(l.Nodes))
	}
	return append(args, "-solve", "-solution", solutionFile, "-saveSolution", pointFile), nil
}

var (
	cbcBound = regexp.MustCompile(`(?m)^Lower bound:\s+(\S+)`)
	cbcNodes = regexp.MustCompile(`(?m)^Enumerated nodes:\s+(\S+)`)
	cbcIters = regexp.MustCompile(`(?m)^Total iterations:\s+(\S+)`)
)

func (cbc) read(folder, output string, m *milp.Model) (answer, error) {
	text, err := os.ReadFile(filepath.Join(folder, solutionFile))
	if err != nil {
		return answer{}, errors.New("no solution file was written")
	}
	head, _, _ := strings.Cut(string(text), "\n")
	// "Optimal - objective value 3.00000000"
	status, value, ok := strings.Cut(head, " - objective value ")
	if !ok {
		return answer{}, fmt.Errorf("solution file begins with %q", head)
	}
	a := answer{nodes: lastCount(output, cbcNodes), iterations: lastCount(output, cbcIters),
		bound: printedBound(output, cbcBound, func(float64) float64 { return 1e-3 })} // three decimals
	a.termination, a.message = cbcStatus(status)
	if a.termination == milp.IterationLimit && strings.Contains(output, "Stopped on node limit") {
		a.termination = milp.NodeLimit // the solution file does not tell the two apart
	}
	if a.termination == milp.Infeasible || strings.Contains(status, "no integer solution") || !cbcHasPoint(status, m) {
		return a, nil
	}
	if a.objective, err = number(strings.TrimSpace(value)); err != nil {
		return answer{}, fmt.Errorf("solution file: objective %w", err)
	}
	point, err := os.ReadFile(filepath.Join(folder, pointFile))
	if err != nil {
		return answer{}, errors.New("no point was written")
	}
	if a.x, err = readPoint(point, len(m.Rows), columns(m)); err != nil {
		return answer{}, err
	}
	a.x = a.x[:len(m.Vars)]
	return a, nil
}

// cbcHasPoint reports whether the point of a solve with this status is a
// solution: a linear program that was stopped has none.
func cbcHasPoint(status string, m *milp.Model) bool {
	return status == "Optimal" || m.Integers() > 0 && strings.HasPrefix(status, "Stopped")
}

// cbcStatus maps the beginning of cbc's solution file.
func cbcStatus(status string) (milp.Termination, string) {
	for _, s := range []struct {
		prefix string
		t      milp.Termination
	}{
		{"Optimal", milp.Optimal},
		{"Infeasible", milp.Infeasible},
		{"Integer infeasible", milp.Infeasible},
		{"Stopped on time", milp.TimeLimit},
		{"Stopped on iterations", milp.IterationLimit},
		{"Stopped on ctrl-c", milp.Interrupted},
	} {
		if strings.HasPrefix(status, s.prefix) {
			return s.t, ""
		}
	}
	return milp.Numerical, fmt.Sprintf("cbc ends with status %q", status)
}

// readPoint reads the file of -saveSolution: the numbers of rows and columns as
// int32, the objective, the activities and duals of all rows, and the values
// and reduced costs of all columns as float64, in the machine's byte order.
func readPoint(data []byte, rows, cols int) ([]float64, error) {
	order := binary.NativeEndian
	if want := 8 + 8*(1+2*rows+2*cols); len(data) != want {
		return nil, fmt.Errorf("point file of %d bytes, not %d", len(data), want)
	}
	if r, c := order.Uint32(data), order.Uint32(data[4:]); int(r) != rows || int(c) != cols {
		return nil, fmt.Errorf("point file of %d rows and %d columns, not %d and %d", r, c, rows, cols)
	}
	x := make([]float64, cols)
	if err := binary.Read(bytes.NewReader(data[8+8*(1+2*rows):]), order, x); err != nil {
		return nil, fmt.Errorf("point file: %w", err)
	}
	for j, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("point file: column %d is %v", j, v)
		}
	}
	return x, nil
}
