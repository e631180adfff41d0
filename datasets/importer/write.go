package importer

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"yardstick/datasets"
	"yardstick/datasets/table"
	"yardstick/internal/output"
)

// Write writes rows in the unified schema to the file out. The rows' submit_s
// and deadline_s are the source's own times, in seconds since any one moment;
// in the file they count from the earliest submission, which becomes the
// report's StartS, and are rounded to microseconds if that is not 0. Rows keep
// their order.
//
// Write counts Kept and fills in the report's StartS, Start and SpanS. Rows wait
// in a temporary file in the folder of out, if that is a file. The file out appears whole or not
// at all.
//
// Errors: those of the sequence and of the watch; a row breaks the schema; a file cannot be
// written.
func Write(out string, rows iter.Seq2[*datasets.Row, error], r *Report, w Watch) error {
	s, err := newSpool(output.Folder(out))
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", out, err)
	}
	defer s.close()
	first, last := math.Inf(1), math.Inf(-1)
	for row, err := range watched(rows, w) {
		if err != nil {
			return err
		}
		r.Kept++
		if row.SubmitS.OK {
			first, last = min(first, row.SubmitS.V), max(last, row.SubmitS.V)
		}
		if err := s.add(row); err != nil {
			return fmt.Errorf("cannot write %s: %w", out, err)
		}
	}
	if first <= last {
		r.StartS, r.SpanS = first, micro(last-first)
		if r.Calendar {
			r.Start = time.UnixMicro(int64(math.Round(first * 1e6))).UTC()
		}
	}
	return datasets.WriteBatches(out, shift(watched(s.batches(), w), r.StartS))
}

// shift subtracts the start from the times of the batches.
func shift(batches iter.Seq2[*table.Batch, error], start float64) iter.Seq2[*table.Batch, error] {
	if start == 0 {
		return batches
	}
	columns := datasets.Columns()
	find := func(name string) int {
		return slices.IndexFunc(columns, func(c datasets.Column) bool { return c.Name == name })
	}
	submit, deadline := find("submit_s"), find("deadline_s")
	return func(yield func(*table.Batch, error) bool) {
		for b, err := range batches {
			if err == nil {
				times, _ := b.Numbers(submit)
				for i, t := range times {
					times[i] = micro(t - start)
				}
				times, _ = b.Numbers(deadline)
				for i, t := range times {
					times[i] = max(0, micro(t-start))
				}
			}
			if !yield(b, err) {
				return
			}
		}
	}
}
