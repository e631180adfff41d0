// Package joblist reads a plain list of jobs, submission time, GPUs and
// duration, from CSV or Parquet: what anyone who has a cluster or a simulator
// can write down.
package joblist

import (
	"fmt"
	"math/big"
	"path/filepath"
	"strconv"
	"strings"

	"yardstick/datasets"
	"yardstick/datasets/table"
	"yardstick/internal/input"
)

// Columns gives, per field, the column names to look for; the first that is
// there counts. Names are compared without regard to case. Nil stands for the
// names of Defaults.
type Columns struct {
	Submit                  []string // seconds since any one moment
	GPUs                    []string // GPUs of the whole gang
	Duration                []string // seconds of running
	ID, User, Group, Weight []string // optional columns
}

// Defaults returns the column names that are looked for by default.
func Defaults() Columns {
	return Columns{
		Submit:   []string{"submit", "submit_s", "submit_time", "arrival", "arrival_time"},
		GPUs:     []string{"gpus", "num_gpus", "gpu_num", "num_gpu"},
		Duration: []string{"duration", "duration_s", "run_time", "runtime"},
		ID:       []string{"id", "job_id", "jobid"},
		User:     []string{"user"},
		Group:    []string{"group"},
		Weight:   []string{"weight"},
	}
}

// List is a list of jobs as rows of the unified trace schema.
type List struct {
	// Rows are in the order of the file, with submission times since the
	// earliest, rounded up to microseconds so that no job is there before its
	// submission. A job without an id has its number, from 1, padded with zeros.
	Rows []datasets.Row
	// Origin is the earliest submission as the file has it, in seconds; it was
	// subtracted from all.
	Origin float64
	// Submits are the submission times as the file has them, in seconds: of
	// each row, a decimal number.
	Submits []string
}

// Read reads a job list. Parquet is told from CSV by its first bytes, and gzip
// from plain CSV.
//
// Errors name the file, the line or row (from 1) and the column: a required
// column is missing or has an empty value; a value is not a number, not finite
// or negative; a weight is not positive; an id is there twice.
func Read(path string, c Columns) (*List, error) {
	l, err := read(path, c)
	if err != nil {
		return nil, fmt.Errorf("joblist: %w", err)
	}
	return l, nil
}

func read(path string, c Columns) (*List, error) {
	isParquet, err := startsLikeParquet(path)
	if err != nil {
		return nil, err
	}
	l := &List{}
	if isParquet {
		err = l.readParquet(path, c.fields())
	} else {
		err = l.readCSV(path, c.fields())
	}
	if err != nil {
		return nil, err
	}
	if len(l.Rows) == 0 {
		return nil, fmt.Errorf("%s: has no jobs", path)
	}
	return l, l.finish(path)
}

func startsLikeParquet(path string) (bool, error) {
	f, err := input.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, 4)
	n, _ := f.Read(head) // what is wrong with the file, its reader says better
	return table.IsParquet(head[:n]), nil
}

// field is one column to look for and where its values go: number or text.
type field struct {
	names    []string
	required bool
	number   func(*datasets.Row) *datasets.Opt[float64]
	text     func(*datasets.Row) *datasets.Opt[string]
	isID     bool
	isSubmit bool
	positive bool // 0 is no value for it
}

func (c Columns) fields() []field {
	d := Defaults()
	or := func(names, defaults []string) []string {
		if names == nil {
			return defaults
		}
		return names
	}
	return []field{
		{names: or(c.Submit, d.Submit), required: true, isSubmit: true, number: func(r *datasets.Row) *datasets.Opt[float64] { return &r.SubmitS }},
		{names: or(c.GPUs, d.GPUs), required: true, number: func(r *datasets.Row) *datasets.Opt[float64] { return &r.GPUs }},
		{names: or(c.Duration, d.Duration), required: true, number: func(r *datasets.Row) *datasets.Opt[float64] { return &r.DurationS }},
		{names: or(c.Weight, d.Weight), positive: true, number: func(r *datasets.Row) *datasets.Opt[float64] { return &r.Weight }},
		{names: or(c.User, d.User), text: func(r *datasets.Row) *datasets.Opt[string] { return &r.User }},
		{names: or(c.Group, d.Group), text: func(r *datasets.Row) *datasets.Opt[string] { return &r.Group }},
		{names: or(c.ID, d.ID), isID: true},
	}
}

// set stores a value of the field in the row: a number and whether it is there,
// or a text.
func (f *field) set(r *datasets.Row, number float64, text string, there bool) error {
	switch {
	case f.required && !there:
		return fmt.Errorf("is empty")
	case !there:
		return nil
	case f.isID:
		r.JobID = text
	case f.text != nil:
		*f.text(r) = datasets.Some(text)
	default:
		if err := table.CheckQuantity(number); err != nil {
			return err
		}
		if f.positive && number == 0 {
			return fmt.Errorf("is 0: it must be positive")
		}
		*f.number(r) = datasets.Some(number)
	}
	return nil
}

// locate finds the columns of the fields among those of the file; a field that
// is not there and need not be is left out.
func locate(fields []field, have []string) (found []field, at []int, err error) {
	for _, f := range fields {
		i, err := table.Find(have, f.names...)
		if err == nil {
			found, at = append(found, f), append(at, i)
		} else if f.required {
			return nil, nil, err
		}
	}
	return found, at, nil
}

// finish numbers and checks the rows.
func (l *List) finish(path string) error {
	width := len(strconv.Itoa(len(l.Rows)))
	seen := make(map[string]int, len(l.Rows))
	submits := make([]*big.Rat, len(l.Rows))
	origin := 0
	for i := range l.Rows {
		r := &l.Rows[i]
		r.Trace = filepath.Base(path)
		if r.JobID == "" {
			r.JobID = fmt.Sprintf("%0*d", width, i+1)
		}
		if first, twice := seen[r.JobID]; twice {
			return fmt.Errorf("%s: jobs %d and %d both have the id %q", path, first, i+1, r.JobID)
		}
		seen[r.JobID] = i + 1
		submits[i], _ = new(big.Rat).SetString(l.Submits[i])
		if submits[i].Cmp(submits[origin]) < 0 {
			origin = i
		}
	}
	l.Origin = l.Rows[origin].SubmitS.V
	since := new(big.Rat)
	for i := range l.Rows {
		l.Rows[i].SubmitS.V = roundUp(since.Sub(submits[i], submits[origin]))
		if err := l.Rows[i].Check(); err != nil {
			return fmt.Errorf("%s: job %d: %w", path, i+1, err)
		}
	}
	return nil
}

// decimal returns a number in plain decimal notation, as the text has it if that is
// so, which may have more digits than a float64.
func decimal(text string, number float64) string {
	if text != "" && strings.Trim(text, "0123456789.") == "" {
		return text
	}
	return strconv.FormatFloat(number, 'f', -1, 64)
}

// roundUp rounds seconds up to whole microseconds.
func roundUp(seconds *big.Rat) float64 {
	micros := new(big.Int).Mul(seconds.Num(), big.NewInt(1e6))
	micros, rest := micros.QuoRem(micros, seconds.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		micros.Add(micros, big.NewInt(1))
	}
	v, _ := new(big.Rat).SetFrac(micros, big.NewInt(1e6)).Float64()
	return v
}
