package datasets

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"

	"yardstick/datasets/table"
)

// sampleName is the trace that is in the program.
const sampleName = "philly-like"

// phillyLike is what the generateSample of the tests makes; one of them compares the
// two and, with -update, writes it.
//
//go:embed philly-like.parquet
var phillyLike []byte

// Builtins lists the names that Open takes after "builtin:".
func Builtins() []string { return []string{sampleName} }

func openBuiltin(name string) (*Source, error) {
	if name != sampleName {
		return nil, fmt.Errorf("builtin:%s: there is no such trace; the nearest is builtin:%s (all: %s)",
			name, table.Nearest(name, Builtins()), strings.Join(Builtins(), ", "))
	}
	file, err := table.New("builtin:"+name, bytes.NewReader(phillyLike), int64(len(phillyLike)))
	if err != nil {
		return nil, err
	}
	return newSource(file)
}
