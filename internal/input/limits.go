package input

import (
	"fmt"
	"os"
	"strconv"
)

// Limit is how much of something the programs take from an input, so that a small file
// cannot take all memory. docs/limits.md lists them.
type Limit struct {
	Variable string // of the environment: a number there replaces Most
	Most     int64
	Share    int64  // where positive, one for so many bytes of the input, where that is more than Most
	Of       string // what is counted
}

// Limits are those that the environment can change.
func Limits() []Limit {
	return []Limit{Megabytes, YAMLLines, YAMLValues, Combinations, Cells, Jobs, Rows, Ratio}
}

// The limits. With them, an input of 1 MB takes at most 256 MB to read, to check and to
// plan.
var (
	Megabytes    = Limit{Variable: "BENCH_MAX_INPUT_MB", Most: 1024, Of: "MB"}
	YAMLLines    = Limit{Variable: "BENCH_MAX_YAML_LINES", Most: 20_000, Of: "lines"}
	YAMLValues   = Limit{Variable: "BENCH_MAX_YAML_VALUES", Most: 30_000, Of: "values"}
	Combinations = Limit{Variable: "BENCH_MAX_COMBINATIONS", Most: 10_000, Of: "combinations"}
	Cells        = Limit{Variable: "BENCH_MAX_CELLS", Most: 500_000, Of: "cells"}
	Jobs         = Limit{Variable: "BENCH_MAX_JOBS", Most: 200_000, Share: 5, Of: "jobs"}
	Rows         = Limit{Variable: "BENCH_MAX_ROWS", Most: 200_000, Share: 5, Of: "rows"}
	Ratio        = Limit{Variable: "BENCH_MAX_RATIO", Most: 200, Of: "bytes for each compressed one"}
)

// Value returns the limit for an input of so many bytes.
//
// Errors: the environment has something else than a positive number.
func (l Limit) Value(bytes int64) (int64, error) {
	text := os.Getenv(l.Variable)
	if text == "" {
		return l.Default(bytes), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > 1<<40 {
		return 0, fmt.Errorf("$%s is %q: it must be a whole number from 1 to 2^40", l.Variable, text)
	}
	return n, nil
}

// Default returns the limit where the environment has none.
func (l Limit) Default(bytes int64) int64 {
	if l.Share > 0 {
		return max(l.Most, bytes/l.Share)
	}
	return l.Most
}

// Check returns an error if an input of so many bytes has more than the limit.
func (l Limit) Check(n, bytes int64) error {
	most, err := l.Value(bytes)
	if err != nil {
		return err
	}
	if n > most {
		return l.Refuse(n, most)
	}
	return nil
}

// Refuse is the error about more than the limit.
func (l Limit) Refuse(n, most int64) error {
	return fmt.Errorf("has %d %s, more than the %d %s that are read; $%s raises that", n, l.Of, most, l.Of, l.Variable)
}
