package profile

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"yardstick/datasets/table"
	"yardstick/internal/output"
	"yardstick/sched"
)

// Column documents one column of the profile schema.
type Column struct {
	Name        string
	Type        string // utf8 or double
	Unit        string // "" if the values have none
	Nullable    bool   // NULL means that the source does not say
	Description string
}

// Columns lists the columns of a file of profiles in the order in which they
// are written: one row per layer, the layers of a profile in order and next to
// each other. Columns are only ever added; a file may lack the nullable ones.
func Columns() []Column {
	return []Column{
		{"profile", "utf8", "", false, "name of the model"},
		{"gpu", "utf8", "", false, "type of the GPU that the times are for"},
		{"source", "utf8", "", false, "analytic, measured or imported"},
		{"batch", "double", "sample", false, "mini-batch that times and activations are for"},
		{"layer", "double", "", false, "index of the layer, from 0"},
		{"name", "utf8", "", false, "name of the layer"},
		{"forward_ns", "double", "ns", false, "forward pass of the whole mini-batch on one GPU"},
		{"backward_ns", "double", "ns", false, "backward pass of the whole mini-batch on one GPU"},
		{"activation_bytes", "double", "B", false, "volume to the next layer, one direction, for the whole mini-batch; 0 in the last layer"},
		{"parameter_bytes", "double", "B", false, "trainable parameters, in the precision in which gradients are exchanged"},
		{"stored_bytes", "double", "B", true, "kept from the forward for the backward pass, for the whole mini-batch"},
	}
}

// The columns by index.
const (
	columnProfile = iota
	columnGPU
	columnSource
	columnBatch
	columnLayer
	columnName
	columnForward
	columnBackward
	columnActivation
	columnParameters
	columnStored
)

// Write writes profiles as one Parquet file.
//
// Errors: a profile does not validate, or there twice (same model, GPU, source
// and batch).
func Write(w io.Writer, profiles []Profile) error {
	var columns []table.Column
	for _, c := range Columns() {
		columns = append(columns, table.Column{Name: c.Name, Kind: kind(c), Nullable: c.Nullable})
	}
	if err := checkAll(profiles); err != nil {
		return err
	}
	out := table.NewWriter(w, columns)
	for i := range profiles {
		p := &profiles[i]
		for l := range p.Layers {
			writeLayer(out, p, l)
			if err := out.EndRow(); err != nil {
				return fmt.Errorf("profile: %w", err)
			}
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	return nil
}

func kind(c Column) table.Kind {
	if c.Type == "utf8" {
		return table.Text
	}
	return table.Number
}

func writeLayer(out *table.Writer, p *Profile, i int) {
	l := &p.Layers[i]
	out.Text(columnProfile, p.Model)
	out.Text(columnGPU, p.GPU)
	out.Text(columnSource, string(p.Source))
	out.Number(columnBatch, float64(p.Batch))
	out.Number(columnLayer, float64(i))
	out.Text(columnName, l.Name)
	out.Number(columnForward, float64(l.Forward)) // exact: the limits are below 2^53
	out.Number(columnBackward, float64(l.Backward))
	out.Number(columnActivation, float64(l.Activation))
	out.Number(columnParameters, float64(l.Parameters))
	if l.Stored.Known {
		out.Number(columnStored, float64(l.Stored.Bytes))
	}
}

// key is what tells the profiles of a file apart.
func (p *Profile) key() string {
	return fmt.Sprintf("%q on %q, %s, batch %d", p.Model, p.GPU, p.Source, p.Batch)
}

func checkAll(profiles []Profile) error {
	if len(profiles) == 0 {
		return errors.New("profile: there are no profiles")
	}
	seen := map[string]bool{}
	for i := range profiles {
		if err := profiles[i].Validate(); err != nil {
			return err
		}
		key := profiles[i].key()
		if seen[key] {
			return fmt.Errorf("profile: %s is there twice, or its layers are not next to each other", key)
		}
		seen[key] = true
	}
	return nil
}

// WriteFile is Write to a file, which appears whole or not at all.
func WriteFile(path string, profiles []Profile) error {
	return output.Write(path, func(w io.Writer) error { return Write(w, profiles) })
}

// ReadFile is Read from a file.
func ReadFile(path string) ([]Profile, error) {
	file, err := table.Open(path)
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	defer file.Close()
	if by := file.Edited(); by != "" {
		return nil, fmt.Errorf("profile: %s: was edited by %s, and its checksums no longer apply: remove the metadata of the file to use it as it is", path, by)
	}
	return readTable(file)
}

func readTable(file *table.File) ([]Profile, error) {
	r, err := newReader(file)
	if err != nil {
		return nil, fmt.Errorf("profile: %s: %w", file.Name(), err)
	}
	for batch, err := range file.Scan(r.scan) {
		if err != nil {
			return nil, fmt.Errorf("profile: %w", err)
		}
		for i := range batch.Rows {
			if err := r.row(batch, i); err != nil {
				return nil, fmt.Errorf("profile: %s: row %d: %w", file.Name(), batch.First+int64(i)+1, err)
			}
		}
	}
	if err := checkAll(r.profiles); err != nil {
		return nil, fmt.Errorf("profile: %s: %w", file.Name(), err)
	}
	return r.profiles, nil
}

// reader gathers rows into profiles.
type reader struct {
	scan     []int // the file's columns that are read
	at       []int // at[c] is the place in scan of schema column c, or absent
	profiles []Profile
}

const absent = -1 // in reader.at: the file has no such column

func newReader(file *table.File) (*reader, error) {
	schema := Columns()
	r := &reader{at: make([]int, len(schema))}
	var names []string
	for i, c := range schema {
		r.at[i] = absent
		names = append(names, c.Name)
	}
	for place, have := range file.Columns() {
		c, err := table.Find(names, have.Name)
		if err != nil || names[c] != have.Name {
			return nil, fmt.Errorf("column %q is not in the profile schema; the nearest is %q (columns are %s)",
				have.Name, table.Nearest(have.Name, names), strings.Join(names, ", "))
		}
		want := kind(schema[c])
		switch {
		case have.Kind == want:
			r.at[c] = len(r.scan)
			r.scan = append(r.scan, place)
		case have.Kind != table.Empty || !schema[c].Nullable:
			return nil, fmt.Errorf("column %s holds %s (%s): %s is required", have.Name, have.Kind, have.Type, want)
		}
	}
	for c, want := range schema {
		if r.at[c] == absent && !want.Nullable {
			return nil, fmt.Errorf("has no column %s, which the profile schema requires", want.Name)
		}
	}
	return r, nil
}

// row adds row i of the batch: a layer 0 begins a profile.
func (r *reader) row(b *table.Batch, i int) error {
	var texts [columnStored + 1]string
	var numbers [columnStored + 1]int64
	var known bool
	for c, column := range Columns() {
		if r.at[c] == absent {
			continue
		}
		ok := false
		if kind(column) == table.Text {
			texts[c], ok = b.Text(r.at[c], i)
		} else {
			var v float64
			if v, ok = b.Number(r.at[c], i); ok && (v != math.Trunc(v) || math.Abs(v) > 1<<53) {
				return fmt.Errorf("column %s is %v: it must be a whole number", column.Name, v)
			}
			numbers[c] = int64(v)
		}
		if !ok && !column.Nullable {
			return fmt.Errorf("column %s is NULL: it must not be", column.Name)
		}
		known = ok && c == columnStored
	}
	p := Profile{Model: texts[columnProfile], GPU: texts[columnGPU], Source: Source(texts[columnSource]), Batch: int(numbers[columnBatch])}
	if numbers[columnLayer] == 0 {
		r.profiles = append(r.profiles, p)
	}
	if len(r.profiles) == 0 {
		return fmt.Errorf("layer %d comes before layer 0", numbers[columnLayer])
	}
	open := &r.profiles[len(r.profiles)-1]
	if open.key() != p.key() || int64(len(open.Layers)) != numbers[columnLayer] {
		return fmt.Errorf("layer %d of %s follows layer %d of %s: the layers of a profile must be in order and next to each other",
			numbers[columnLayer], p.key(), len(open.Layers)-1, open.key())
	}
	open.Layers = append(open.Layers, Layer{
		Name:       texts[columnName],
		Forward:    sched.Duration(numbers[columnForward]),
		Backward:   sched.Duration(numbers[columnBackward]),
		Activation: sched.Bytes(numbers[columnActivation]),
		Parameters: sched.Bytes(numbers[columnParameters]),
		Stored:     Stored{Bytes: sched.Bytes(numbers[columnStored]), Known: known},
	})
	return nil
}
