package datasets

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Filter keeps the rows that meet every one of its conditions. The zero value
// keeps all rows.
type Filter struct{ conditions []condition }

// condition is "column op value". A NULL meets no condition, not even !=.
type condition struct {
	column string
	field  int
	op     string // =, !=, <, <=, > or >=
	text   string
	number float64
	isText bool
}

// ParseFilter makes a filter from a map of columns to conditions, as suites
// write it:
//
//	{trace: philly, gpus: [">=2", "<=8"], duration_s: "<86400", status: "!=Failed"}
//
// A condition is a value, a number or a text, that the column must equal, or a
// text that begins with =, !=, <, <=, > or >=; of a list, all must hold. Text
// columns are compared for equality only, byte by byte.
//
// Errors: an unknown column, with the nearest one; a number column compared
// with what is no finite number; a text column compared by order.
func ParseFilter(where map[string]any) (Filter, error) {
	var f Filter
	for _, column := range slices.Sorted(maps.Keys(where)) {
		values, several := where[column].([]any)
		if !several {
			values = []any{where[column]}
		}
		for _, value := range values {
			c, err := parseCondition(column, value)
			if err != nil {
				return Filter{}, fmt.Errorf("datasets: where: %w", err)
			}
			f.conditions = append(f.conditions, c)
		}
	}
	slices.SortStableFunc(f.conditions, func(a, b condition) int { return a.field - b.field })
	return f, nil
}

func parseCondition(column string, value any) (condition, error) {
	c := condition{column: column, op: "="}
	var err error
	if c.field, err = columnIndex(column); err != nil {
		return c, err
	}
	c.isText = Columns()[c.field].Type == "utf8"
	switch v := value.(type) {
	case string:
		c.text = v
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64:
		c.text = fmt.Sprint(v)
	default:
		return c, fmt.Errorf("column %s: %v is neither a number nor a text such as %q", column, value, ">=2")
	}
	for _, op := range []string{"!=", "<=", ">=", "=", "<", ">"} {
		if rest, ok := strings.CutPrefix(c.text, op); ok {
			c.op, c.text = op, strings.TrimSpace(rest)
			break
		}
	}
	if c.isText {
		if c.op != "=" && c.op != "!=" {
			return c, fmt.Errorf("column %s holds text: %s does not apply, only = and != do", column, c.op)
		}
		return c, nil
	}
	c.number, err = strconv.ParseFloat(strings.TrimSpace(c.text), 64)
	if err == nil && (math.IsNaN(c.number) || math.IsInf(c.number, 0)) {
		err = errors.New("not finite")
	}
	if err != nil {
		return c, fmt.Errorf("column %s holds numbers: %q is not one", column, c.text)
	}
	return c, nil
}

// Columns lists the columns that the filter looks at.
func (f Filter) Columns() []string {
	var names []string
	for _, c := range f.conditions {
		names = append(names, c.column)
	}
	return names
}

// Match reports whether the row meets every condition.
func (f Filter) Match(r *Row) bool {
	for i := range f.conditions {
		if !f.conditions[i].match(r) {
			return false
		}
	}
	return true
}

func (c *condition) match(r *Row) bool {
	switch v := r.field(c.field).(type) {
	case *string:
		return (*v == c.text) == (c.op == "=")
	case *Opt[string]:
		return v.OK && (v.V == c.text) == (c.op == "=")
	case *Opt[float64]:
		return v.OK && c.compare(v.V)
	}
	return false
}

func (c *condition) compare(v float64) bool {
	switch c.op {
	case "=":
		return v == c.number
	case "!=":
		return v != c.number
	case "<":
		return v < c.number
	case "<=":
		return v <= c.number
	case ">":
		return v > c.number
	default:
		return v >= c.number
	}
}
