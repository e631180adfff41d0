package milp

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// number writes v with as many digits as it takes to read the same v.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// WriteMPS writes m in free MPS format, in the dialect that lp_solve (-fmps),
// GLPK (--freemps), CBC and HiGHS all read: the word FREE after the name, an
// entry per line, integers between markers, and both bounds of every variable.
// Names are those of FileNames. The constant is the cost of a last variable,
// named objconst, that is fixed to 1: readers disagree about the sign of a
// right-hand side of the objective row (CBC subtracts it, GLPK and lp_solve
// add it). It is an integer if the model has integers: lp_solve 5.5.2 derives from
// the costs by how much a better solution must be better, and derives too much where
// a fixed variable with a cost is continuous.
//
// Valid when: m.Validate() is nil.
func WriteMPS(w io.Writer, m *Model) error {
	out := bufio.NewWriter(w)
	vars, rows := m.FileNames()
	fmt.Fprintf(out, "NAME %s FREE\nROWS\n N obj\n", title(m))
	for i, r := range m.Rows {
		fmt.Fprintf(out, " %s %s\n", map[Sense]string{LE: "L", EQ: "E", GE: "G"}[r.Sense], rows[i])
	}

	fmt.Fprintln(out, "COLUMNS")
	columns := m.columns()
	integer, markers := false, 0
	mark := func(is bool) {
		if is != integer {
			fmt.Fprintf(out, " M%d 'MARKER' %s\n", markers, map[bool]string{true: "'INTORG'", false: "'INTEND'"}[is])
			integer, markers = is, markers+1
		}
	}
	for j, v := range m.Vars {
		mark(v.Integer)
		if v.Cost != 0 || len(columns[j]) == 0 { // a column without entries must still appear
			fmt.Fprintf(out, " %s obj %s\n", vars[j], number(v.Cost))
		}
		for _, e := range columns[j] {
			fmt.Fprintf(out, " %s %s %s\n", vars[j], rows[e.row], number(e.val))
		}
	}
	if m.Constant != 0 {
		mark(m.Integers() > 0)
		fmt.Fprintf(out, " objconst obj %s\n", number(m.Constant))
	}
	mark(false)

	fmt.Fprintln(out, "RHS")
	for i, r := range m.Rows {
		if r.RHS != 0 {
			fmt.Fprintf(out, " RHS %s %s\n", rows[i], number(r.RHS))
		}
	}
	fmt.Fprintln(out, "BOUNDS")
	for j, v := range m.Vars {
		// The lower bound first: a negative upper bound alone would make some
		// readers drop the lower bound of zero.
		fmt.Fprintf(out, " LO BND %s %s\n UP BND %s %s\n", vars[j], number(v.Lower), vars[j], number(v.Upper))
	}
	if m.Constant != 0 {
		fmt.Fprintln(out, " FX BND objconst 1")
	}
	fmt.Fprintln(out, "ENDATA")
	return writeError(out.Flush())
}

var unsafeInTitle = regexp.MustCompile(`[^A-Za-z0-9_]+`)

// title returns the model's name as one plain word.
func title(m *Model) string {
	if s := unsafeInTitle.ReplaceAllString(m.Name, "_"); s != "" {
		return s
	}
	return "model"
}

func writeError(err error) error {
	if err != nil {
		return fmt.Errorf("milp: writing a model: %w", err)
	}
	return nil
}

type columnEntry struct {
	row int
	val float64
}

// columns returns the entries of each column, by row.
func (m *Model) columns() [][]columnEntry {
	c := make([][]columnEntry, len(m.Vars))
	for i := range m.Rows {
		for k, j := range m.Rows[i].Cols {
			c[j] = append(c[j], columnEntry{i, m.Rows[i].Vals[k]})
		}
	}
	return c
}

// WriteLP writes m in the LP format of lp_solve, which is not that of CPLEX.
// Names are those of FileNames.
//
// Valid when: m.Validate() is nil.
func WriteLP(w io.Writer, m *Model) error {
	out := bufio.NewWriter(w)
	vars, rows := m.FileNames()
	fmt.Fprintf(out, "/* %s */\nmin:", title(m))
	for j, v := range m.Vars { // all of them: this fixes their order
		fmt.Fprintf(out, " %s %s", signed(v.Cost), vars[j])
	}
	if m.Constant != 0 {
		fmt.Fprintf(out, " %s", signed(m.Constant))
	}
	fmt.Fprintln(out, ";")
	for i, r := range m.Rows {
		// The label makes it a row: without one, lp_solve reads a relation with
		// a single variable as a bound.
		fmt.Fprintf(out, "%s:", rows[i])
		for k, j := range r.Cols {
			fmt.Fprintf(out, " %s %s", signed(r.Vals[k]), vars[j])
		}
		if len(r.Cols) == 0 {
			fmt.Fprintf(out, " 0 %s", firstOf(vars))
		}
		fmt.Fprintf(out, " %s %s;\n", map[Sense]string{LE: "<=", EQ: "=", GE: ">="}[r.Sense], number(r.RHS))
	}
	var integers []string
	for j, v := range m.Vars {
		switch {
		case v.Lower == v.Upper:
			fmt.Fprintf(out, "%s = %s;\n", vars[j], number(v.Lower))
		default:
			fmt.Fprintf(out, "%s <= %s <= %s;\n", number(v.Lower), vars[j], number(v.Upper))
		}
		if v.Integer {
			integers = append(integers, vars[j])
		}
	}
	if integers != nil {
		fmt.Fprintf(out, "int %s;\n", strings.Join(integers, ","))
	}
	return writeError(out.Flush())
}

func signed(v float64) string {
	if s := number(v); s[0] == '-' {
		return s
	}
	return "+" + number(v)
}

func firstOf(vars []string) string {
	if len(vars) == 0 {
		return "none"
	}
	return vars[0]
}
