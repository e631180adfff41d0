// Package joblist reads a plain list of jobs, submission time, GPUs and
// duration, from CSV or Parquet: what anyone who has a cluster or a simulator
// can write down.
package joblist

import (
	"fmt"
	"iter"
	"math"
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
	// Keys are columns of any finite numbers, each of which must be there and have a value
	// for every job.
	Keys []string
}

// Defaults returns the column names that are looked for by default.
func Defaults() Columns {
	return Columns{
		Submit:   []string{"submit", "submit_s", "submit_time", "arrival", "arrival_time", "release"},
		GPUs:     []string{"gpus", "num_gpus", "gpu_num", "num_gpu"},
		Duration: []string{"duration", "duration_s", "run_time", "runtime", "length"},
		ID:       []string{"job", "job_id", "jobid", "id", "job_name", "name"},
		User:     []string{"user"},
		Group:    []string{"group"},
		Weight:   []string{"weight"},
	}
}

// List is a list of jobs as rows of the unified trace schema.
type List struct {
	// Jobs are in the order of the file. One without an id has its number, from 1, padded
	// with zeros.
	Jobs []Job
	// Origin is the earliest submission as the file has it, in seconds; it was
	// subtracted from all.
	Origin float64

	trace string
}

// Job is a job of a list. It holds less than a row does, since lists are long.
type Job struct {
	ID, User, Group string  // User and Group are "" where the list has none
	Submit          string  // as the file has it, in seconds: a decimal number
	SubmitS         float64 // since the earliest, rounded up to microseconds so that no job is there before its submission
	GPUs, Duration  float64
	Weight          datasets.Opt[float64]
	Keys            []float64 // one for each of Columns.Keys
}

// Rows returns the jobs as rows of the unified trace schema.
func (l *List) Rows() iter.Seq2[datasets.Row, error] {
	return func(yield func(datasets.Row, error) bool) {
		for i := range l.Jobs {
			if !yield(l.row(i), nil) {
				return
			}
		}
	}
}

func (l *List) row(i int) datasets.Row {
	j := &l.Jobs[i]
	return datasets.Row{Trace: l.trace, JobID: j.ID, User: label(j.User), Group: label(j.Group), SubmitS: datasets.Some(j.SubmitS),
		DurationS: datasets.Some(j.Duration), GPUs: datasets.Some(j.GPUs), Weight: j.Weight}
}

// label is NULL where there is no text.
func label(text string) datasets.Opt[string] { return datasets.Opt[string]{V: text, OK: text != ""} }

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
	l := &List{trace: filepath.Base(path)}
	if isParquet {
		err = l.readParquet(path, c.fields())
	} else {
		err = l.readCSV(path, c.fields())
	}
	if err != nil {
		return nil, err
	}
	if len(l.Jobs) == 0 {
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
	number   func(*Job) *float64
	text     func(*Job) *string
	isSubmit bool
	isWeight bool
	isKey    bool
}

func (c Columns) fields() []field {
	d := Defaults()
	or := func(names, defaults []string) []string {
		if names == nil {
			return defaults
		}
		return names
	}
	list := []field{
		{names: or(c.Submit, d.Submit), required: true, isSubmit: true, number: func(j *Job) *float64 { return &j.SubmitS }},
		{names: or(c.GPUs, d.GPUs), required: true, number: func(j *Job) *float64 { return &j.GPUs }},
		{names: or(c.Duration, d.Duration), required: true, number: func(j *Job) *float64 { return &j.Duration }},
		{names: or(c.Weight, d.Weight), isWeight: true, number: func(j *Job) *float64 { return &j.Weight.V }},
		{names: or(c.User, d.User), text: func(j *Job) *string { return &j.User }},
		{names: or(c.Group, d.Group), text: func(j *Job) *string { return &j.Group }},
		{names: or(c.ID, d.ID), text: func(j *Job) *string { return &j.ID }},
	}
	for i, name := range c.Keys {
		list = append(list, field{names: []string{name}, required: true, isKey: true, number: func(j *Job) *float64 {
			if j.Keys == nil {
				j.Keys = make([]float64, len(c.Keys))
			}
			return &j.Keys[i]
		}})
	}
	return list
}

// set stores a value of the field in the job: a number and whether it is there,
// or a text.
func (f *field) set(j *Job, number float64, text string, there bool) error {
	switch {
	case f.required && !there:
		return fmt.Errorf("is empty")
	case !there:
		return nil
	case f.text != nil:
		*f.text(j) = text
	case f.isKey:
		if math.IsNaN(number) || math.IsInf(number, 0) {
			return fmt.Errorf("is %v: it must be a finite number", number)
		}
		*f.number(j) = number
	default:
		if err := table.CheckQuantity(number); err != nil {
			return err
		}
		if f.isWeight && number == 0 {
			return fmt.Errorf("is 0: it must be positive")
		}
		*f.number(j) = number
		j.Weight.OK = j.Weight.OK || f.isWeight
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
	width := len(strconv.Itoa(len(l.Jobs)))
	ascending := true
	for i := range l.Jobs {
		j := &l.Jobs[i]
		if j.ID == "" {
			j.ID = fmt.Sprintf("%0*d", width, i+1)
		}
		ascending = ascending && (i == 0 || shorter(l.Jobs[i-1].ID, j.ID))
	}
	if err := l.distinct(path, ascending); err != nil {
		return err
	}
	if !l.sinceFirst() {
		l.sinceFirstExactly()
	}
	for i := range l.Jobs {
		row := l.row(i)
		if err := row.Check(); err != nil {
			return fmt.Errorf("%s: job %d: %w", path, i+1, err)
		}
	}
	return nil
}

// shorter orders texts by length first, as ascending numbers are.
func shorter(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a < b }

// distinct returns an error where an id is there twice, which it is not in ascending ones.
func (l *List) distinct(path string, ascending bool) error {
	if ascending {
		return nil
	}
	seen := make(map[string]int, len(l.Jobs))
	for i := range l.Jobs {
		j := &l.Jobs[i]
		if before, twice := seen[j.ID]; twice {
			return fmt.Errorf("%s: jobs %d and %d both have the id %q", path, before, i+1, j.ID)
		}
		seen[j.ID] = i + 1
	}
	return nil
}

// sinceFirst counts submissions from the earliest, in whole microseconds. It changes nothing
// and returns false where one has more digits than microseconds do.
func (l *List) sinceFirst() bool {
	micros := make([]int64, len(l.Jobs))
	first := 0
	for i := range l.Jobs {
		var ok bool
		if micros[i], ok = wholeMicroseconds(l.Jobs[i].Submit); !ok {
			return false
		}
		if micros[i] < micros[first] {
			first = i
		}
	}
	origin := micros[first]
	l.Origin = l.Jobs[first].SubmitS
	for i, at := range micros {
		l.Jobs[i].SubmitS = float64(at-origin) / 1e6 // both are exact: the quotient is the nearest number
	}
	return true
}

// mostMicroseconds is how far float64 counts without a gap.
const mostMicroseconds = 1 << 53

// wholeMicroseconds returns a decimal number of seconds in microseconds. It returns false
// where that is no whole number, or more than mostMicroseconds.
func wholeMicroseconds(text string) (int64, bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	fraction = strings.TrimRight(fraction, "0")
	if whole == "" || len(whole) > 10 || len(fraction) > 6 {
		return 0, false
	}
	var v int64
	for _, part := range []string{whole, fraction} {
		for i := range len(part) {
			if part[i] < '0' || part[i] > '9' {
				return 0, false
			}
			v = 10*v + int64(part[i]-'0')
		}
	}
	for range 6 - len(fraction) {
		v *= 10
	}
	return v, v <= mostMicroseconds
}

// sinceFirstExactly is sinceFirst for numbers of any length.
func (l *List) sinceFirstExactly() {
	first, submit, origin := 0, new(big.Rat), new(big.Rat)
	for i := range l.Jobs {
		if submit.SetString(l.Jobs[i].Submit); i == 0 || submit.Cmp(origin) < 0 {
			first = i
			origin.Set(submit)
		}
	}
	l.Origin = l.Jobs[first].SubmitS
	for i := range l.Jobs {
		submit.SetString(l.Jobs[i].Submit)
		l.Jobs[i].SubmitS = roundUp(submit.Sub(submit, origin))
	}
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
