package interference

import (
	"fmt"
	"io"
	"math"
	"strings"

	"yardstick/datasets"
	"yardstick/datasets/table"
	"yardstick/internal/output"
)

// Column documents one column of the schema.
type Column struct {
	Name        string
	Type        string // utf8 or double
	Unit        string // "" if the values have none
	Nullable    bool
	Description string
}

// Columns lists the columns of a file of interference tables in the order in
// which they are written: one row per ordered pair of tasks and setting.
func Columns() []Column {
	return []Column{
		{"source", "utf8", "", false, "who measured it; synthetic where nobody did"},
		{"gpu_type", "utf8", "", false, "type of the GPUs, in the source's own words"},
		{"placement", "utf8", "", false, "consolidated, or spread where each job's GPUs lie on several servers"},
		{"gpus", "double", "GPU", false, "GPUs of each of the two jobs, which share all of them"},
		{"task", "utf8", "", false, "the job that is slowed down"},
		{"partner", "utf8", "", false, "the job beside it"},
		{"xi", "double", "", true, "time of an iteration of the task beside the partner, divided by its time alone; at least 1; NULL: they do not fit together, or were not measured"},
	}
}

// The columns by index.
const (
	columnSource = iota
	columnGPUType
	columnPlacement
	columnGPUs
	columnTask
	columnPartner
	columnXi
)

func kind(c Column) table.Kind {
	if c.Type == "utf8" {
		return table.Text
	}
	return table.Number
}

// Write writes a table as a Parquet file.
func (t *Table) Write(w io.Writer) error {
	var columns []table.Column
	for _, c := range Columns() {
		columns = append(columns, table.Column{Name: c.Name, Kind: kind(c), Nullable: c.Nullable})
	}
	out := table.NewWriter(w, columns)
	for _, r := range t.rows {
		out.Text(columnSource, r.Source)
		out.Text(columnGPUType, r.GPUType)
		out.Text(columnPlacement, string(r.Placement))
		out.Number(columnGPUs, float64(r.GPUs))
		out.Text(columnTask, r.Task)
		out.Text(columnPartner, r.Partner)
		if r.Xi.OK {
			out.Number(columnXi, r.Xi.V)
		}
		if err := out.EndRow(); err != nil {
			return fmt.Errorf("interference: %w", err)
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("interference: %w", err)
	}
	return nil
}

// WriteFile is Write to a file. The file appears whole or not at all.
func (t *Table) WriteFile(path string) error {
	return output.Write(path, t.Write)
}

// ReadFile reads a Parquet file.
//
// Errors: the file is damaged, lacks a column, has one that is not in the
// schema or of the wrong type, or holds what [New] does not accept.
func ReadFile(path string) (*Table, error) {
	f, err := table.Open(path)
	if err != nil {
		return nil, fmt.Errorf("interference: %w", err)
	}
	defer f.Close()
	if by := f.Edited(); by != "" {
		return nil, fmt.Errorf("interference: %s: was edited by %s, and its checksums no longer apply: remove the metadata of the file to use it as it is", path, by)
	}
	return readTable(f)
}

func readTable(f *table.File) (*Table, error) {
	places, err := match(f.Columns())
	if err != nil {
		return nil, fmt.Errorf("interference: %s: %w", f.Name(), err)
	}
	var rows []Row
	for batch, err := range f.Scan(places) {
		if err != nil {
			return nil, fmt.Errorf("interference: %w", err)
		}
		for i := range batch.Rows {
			row, err := readRow(batch, i)
			if err != nil {
				return nil, fmt.Errorf("interference: %s: row %d: %w", f.Name(), batch.First+int64(i)+1, err)
			}
			rows = append(rows, row)
		}
	}
	t, err := New(rows)
	if err != nil {
		return nil, fmt.Errorf("%w, in %s", err, f.Name())
	}
	return t, nil
}

// match returns where the file has the schema's columns.
func match(have []table.Column) ([]int, error) {
	schema := Columns()
	places := make([]int, len(schema))
	var names []string
	for i, c := range schema {
		places[i] = -1
		names = append(names, c.Name)
	}
	for at, h := range have {
		i, err := table.Find(names, h.Name)
		if err != nil || names[i] != h.Name {
			return nil, fmt.Errorf("column %q is not in the schema; the nearest is %q (columns are %s)", h.Name, table.Nearest(h.Name, names), strings.Join(names, ", "))
		}
		if h.Kind != kind(schema[i]) {
			return nil, fmt.Errorf("column %s holds %s (%s): %s is required", h.Name, h.Kind, h.Type, kind(schema[i]))
		}
		places[i] = at
	}
	for i, at := range places {
		if at < 0 {
			return nil, fmt.Errorf("has no column %s, which the schema requires", names[i])
		}
	}
	return places, nil
}

func readRow(b *table.Batch, i int) (Row, error) {
	var texts [columnXi]string
	for c, column := range Columns()[:columnXi] {
		ok := true
		if kind(column) == table.Text {
			texts[c], ok = b.Text(c, i)
		} else {
			_, ok = b.Number(c, i)
		}
		if !ok {
			return Row{}, fmt.Errorf("column %s is NULL: it must not be", column.Name)
		}
	}
	gpus, _ := b.Number(columnGPUs, i)
	if gpus != math.Trunc(gpus) || !(math.Abs(gpus) <= math.MaxInt32) {
		return Row{}, fmt.Errorf("column gpus is %v: it must be a whole number", gpus)
	}
	r := Row{Task: texts[columnTask], Partner: texts[columnPartner],
		Setting: Setting{texts[columnSource], texts[columnGPUType], Placement(texts[columnPlacement]), int(gpus)}}
	r.Xi = datasets.Opt[float64]{}
	r.Xi.V, r.Xi.OK = b.Number(columnXi, i)
	return r, r.check()
}
