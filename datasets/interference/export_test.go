package interference

import (
	"bytes"
	"slices"

	"yardstick/datasets/table"
)

// Rows returns the pairs in order of setting, task and partner.
func (t *Table) Rows() []Row { return slices.Clone(t.rows) }

// read reads a file's bytes.
func read(name string, data []byte) (*Table, error) {
	f, err := table.New(name, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	return readTable(f)
}
