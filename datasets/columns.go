package datasets

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"yardstick/datasets/table"
)

// Column documents one column of the unified trace schema.
type Column struct {
	Name        string
	Type        string // utf8 or double
	Unit        string // "" if the values have none
	Nullable    bool   // NULL means that the source does not say
	Required    bool   // a file must have the column; others read as NULL where absent
	Description string
}

// Columns lists the columns of the unified trace schema in the order in which
// they are written. Columns are only ever added.
func Columns() []Column { return slices.Clone(schema[:]) }

var schema = [...]Column{
	{"trace", "utf8", "", false, true, "name of the source; one file may hold several"},
	{"job_id", "utf8", "", false, true, "identifier, distinct within the trace"},
	{"user", "utf8", "", true, false, "who submitted the job"},
	{"vc", "utf8", "", true, false, "virtual cluster, or the queue or tenant that plays its part"},
	{"group", "utf8", "", true, false, "recurrence: jobs of a group are runs of the same program"},
	{"submit_s", "double", "s", true, true, "submission, since the start of the trace"},
	{"queue_s", "double", "s", true, false, "from submission to start, as it was in the source's cluster"},
	{"duration_s", "double", "s", true, true, "running time, as it was in the source's cluster"},
	{"gpus", "double", "GPU", true, true, "GPUs asked for, all replicas together; below 1 where a share of a GPU was asked for, 0 where none"},
	{"cpus", "double", "core", true, false, "CPU cores asked for"},
	{"batch_size", "double", "sample", true, false, "mini-batch, all replicas together"},
	{"deadline_s", "double", "s", true, false, "when the job should be done by, since the start of the trace"},
	{"status", "utf8", "", true, false, "how the job ended, in the source's own words"},
	{"model", "utf8", "", true, false, "what was trained"},
	{"gpu_type", "utf8", "", true, false, "type of GPU asked for, in the source's own words"},
	{"iterations", "double", "iteration", true, false, "training iterations of the run"},
	{"weight", "double", "", true, false, "importance of the job in weighted objectives; positive"},
}

// Opt is a field that a trace may lack. The zero value is NULL.
type Opt[T any] struct {
	V  T
	OK bool // whether the source has the field
}

// Some returns a field that is there.
func Some[T any](v T) Opt[T] { return Opt[T]{V: v, OK: true} }

// Row is one job of a trace. Its fields are the columns of the schema, in the
// same order; [Columns] says what they mean.
type Row struct {
	Trace, JobID                     string
	User, VC, Group                  Opt[string]
	SubmitS, QueueS, DurationS       Opt[float64]
	GPUs, CPUs, BatchSize, DeadlineS Opt[float64]
	Status, Model, GPUType           Opt[string]
	Iterations, Weight               Opt[float64]
}

// field returns a pointer to the row's i-th column: *string, *Opt[string] or
// *Opt[float64].
func (r *Row) field(i int) any {
	switch i {
	case 0:
		return &r.Trace
	case 1:
		return &r.JobID
	case 2:
		return &r.User
	case 3:
		return &r.VC
	case 4:
		return &r.Group
	case 5:
		return &r.SubmitS
	case 6:
		return &r.QueueS
	case 7:
		return &r.DurationS
	case 8:
		return &r.GPUs
	case 9:
		return &r.CPUs
	case 10:
		return &r.BatchSize
	case 11:
		return &r.DeadlineS
	case 12:
		return &r.Status
	case 13:
		return &r.Model
	case 14:
		return &r.GPUType
	case 15:
		return &r.Iterations
	case 16:
		return &r.Weight
	}
	panic(fmt.Sprintf("datasets: the schema has no column %d", i))
}

// Check returns an error that names the column if a value is not one that the
// schema allows: times and amounts are finite and not negative, weights are
// positive, job_id and trace are not empty.
func (r *Row) Check() error { return r.check(schema[:]) }

func (r *Row) check(schema []Column) error {
	for i := range schema {
		if err := checkField(&schema[i], r.field(i)); err != nil {
			return err
		}
	}
	return nil
}

func checkField(c *Column, field any) error {
	switch f := field.(type) {
	case *string:
		if *f == "" {
			return fmt.Errorf("column %s is empty", c.Name)
		}
		return checkText(c, *f)
	case *Opt[string]:
		return checkText(c, f.V)
	case *Opt[float64]:
		if !f.OK {
			return nil
		}
		if err := table.CheckQuantity(f.V); err != nil {
			return fmt.Errorf("column %s %w", c.Name, err)
		}
		if f.V > c.most() {
			return fmt.Errorf("column %s is %v: at most %v is supported, more than any cluster has", c.Name, f.V, c.most())
		}
		if c.Name == "weight" && f.V == 0 {
			return fmt.Errorf("column weight is 0: it must be positive")
		}
	}
	return nil
}

// most is the largest number that a column holds: of what a cluster has so many, more
// than any has.
func (c *Column) most() float64 {
	switch c.Unit {
	case "GPU", "core":
		return 1e10
	}
	return math.MaxFloat64
}

// checkText refuses what Parquet's strings cannot hold.
func checkText(c *Column, text string) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("column %s is not UTF-8: %q", c.Name, text)
	}
	return nil
}

func columnNames() []string {
	var names []string
	for _, c := range Columns() {
		names = append(names, c.Name)
	}
	return names
}

// columnIndex returns the place of a column in the schema, or an error that
// names the nearest one.
func columnIndex(name string) (int, error) {
	names := columnNames()
	if i := slices.Index(names, name); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("column %q is not in the trace schema; the nearest is %q (columns are %s)",
		name, table.Nearest(name, names), strings.Join(names, ", "))
}

// tableColumns returns the schema as package table writes it.
func tableColumns() []table.Column {
	var list []table.Column
	for _, c := range Columns() {
		kind := table.Number
		if c.Type == "utf8" {
			kind = table.Text
		}
		distinct := c.Name == "job_id" || c.Unit == "s"
		list = append(list, table.Column{Name: c.Name, Kind: kind, Nullable: c.Nullable, Distinct: distinct})
	}
	return list
}
