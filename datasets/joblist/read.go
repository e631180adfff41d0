package joblist

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"yardstick/datasets/table"
	"yardstick/internal/input"
)

func (l *List) readCSV(path string, fields []field) error {
	csv, err := table.OpenCSV(path)
	if err != nil {
		return err
	}
	defer csv.Close()
	most, err := input.Rows.Value(csv.Size())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	fields, at, err := locate(fields, csv.Header())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for {
		err := csv.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var job Job
		for i := range fields {
			f := &fields[i]
			number, text, there := 0.0, "", false
			if f.number != nil {
				if number, there, err = csv.Number(at[i]); err != nil {
					return err
				}
			}
			if f.number == nil || f.isSubmit { // a copy of the text of every field would take more than the jobs
				text = csv.Text(at[i])
				there = there || f.number == nil && text != ""
			}
			if err := f.set(&job, number, text, there); err != nil {
				return csv.Errorf(at[i], "%w", err)
			}
			if f.isSubmit {
				job.Submit = decimal(text, number)
			}
		}
		if int64(len(l.Jobs)) == most {
			return fmt.Errorf("%s: line %d: has more than the %d rows that are read; $%s raises that", path, csv.Line(), most, input.Rows.Variable)
		}
		if len(l.Jobs) == enough {
			l.Jobs = slices.Grow(l.Jobs, int(min(int64(csv.Rest(enough)), most-enough)))
		}
		l.Jobs = append(l.Jobs, job)
	}
}

// enough is after how many rows of a file it is clear how long they are.
const enough = 1000

func (l *List) readParquet(path string, fields []field) error {
	file, err := table.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	have := make([]string, len(file.Columns()))
	for i, c := range file.Columns() {
		if c.Kind != table.Empty { // as good as not there
			have[i] = c.Name
		}
	}
	fields, at, err := locate(fields, have)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for i := range fields {
		if c := file.Columns()[at[i]]; fields[i].number != nil && c.Kind != table.Number {
			return fmt.Errorf("%s: column %s holds %v (%s): numbers are required", path, c.Name, c.Kind, c.Type)
		}
	}
	for batch, err := range file.Scan(at) {
		if err != nil {
			return err
		}
		for r := range batch.Rows {
			var job Job
			for i := range fields {
				c := file.Columns()[at[i]]
				number, text, there := cell(batch, i, r, c.Kind)
				if err := fields[i].set(&job, number, text, there); err != nil {
					return fmt.Errorf("%s: row %d: column %s %w", path, batch.First+int64(r)+1, c.Name, err)
				}
				if fields[i].isSubmit {
					job.Submit = decimal("", number)
				}
			}
			l.Jobs = append(l.Jobs, job)
		}
	}
	return nil
}

// cell returns a value both as a number and as a text: ids and users may be
// integers.
func cell(b *table.Batch, column, row int, k table.Kind) (number float64, text string, there bool) {
	if k == table.Text {
		text, there = b.Text(column, row)
		return 0, text, there
	}
	number, there = b.Number(column, row)
	return number, strconv.FormatFloat(number, 'f', -1, 64), there
}
