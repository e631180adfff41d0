package milp

import (
	"fmt"
	"regexp"
	"strings"
)

// Names that the MPS and LP dialects of lp_solve, GLPK, CBC and HiGHS all take
// for a name: no spaces, no operators, nothing that reads as a number (e5), a
// keyword, or a default row name of lp_solve (R1).
var (
	plainName    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,59}$`)
	reservedName = regexp.MustCompile(`^(?i:[xr][0-9]+|e[0-9]*|inf.*|nan|obj|objconst|cost|rhs|bnd|marker|rows|columns|bounds|ranges|endata|name|` +
		`max|min|maxim.*|minim.*|int|bin|sec|sin|free|sos[0-9]*|st|subject|such|end|general.*|gen|integer.*|binar.*|semi.*)$`)
)

// FileNames returns the names that the writers use for variables and rows:
// those of the model where they are plain and not used twice, and x0, x1, …
// and r0, r1, … elsewhere. Readers of solution files map them back.
func (m *Model) FileNames() (vars, rows []string) {
	for j := range m.Vars {
		vars = append(vars, m.Vars[j].Name)
	}
	for i := range m.Rows {
		rows = append(rows, m.Rows[i].Name)
	}
	return fileNames(vars, "x"), fileNames(rows, "r")
}

func fileNames(names []string, prefix string) []string {
	used := map[string]bool{}
	for k, n := range names {
		key := strings.ToLower(n)
		if !plainName.MatchString(n) || reservedName.MatchString(n) || used[key] {
			names[k] = fmt.Sprint(prefix, k)
			continue
		}
		used[key] = true
	}
	return names
}
