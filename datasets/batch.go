package datasets

import (
	"iter"
	"math"
	"unicode/utf8"

	"yardstick/datasets/table"
)

// NewBatch returns an empty batch of the columns of the unified schema.
func NewBatch() *table.Batch { return table.NewBatch(tableColumns()) }

// Append adds the row to a batch of NewBatch that has less than
// table.BatchRows rows.
func (r *Row) Append(b *table.Batch) {
	i := b.Rows
	b.Rows++
	b.SetText(0, i, r.Trace)
	b.SetText(1, i, r.JobID)
	setText(b, 2, i, r.User)
	setText(b, 3, i, r.VC)
	setText(b, 4, i, r.Group)
	setNumber(b, 5, i, r.SubmitS)
	setNumber(b, 6, i, r.QueueS)
	setNumber(b, 7, i, r.DurationS)
	setNumber(b, 8, i, r.GPUs)
	setNumber(b, 9, i, r.CPUs)
	setNumber(b, 10, i, r.BatchSize)
	setNumber(b, 11, i, r.DeadlineS)
	setText(b, 12, i, r.Status)
	setText(b, 13, i, r.Model)
	setText(b, 14, i, r.GPUType)
	setNumber(b, 15, i, r.Iterations)
	setNumber(b, 16, i, r.Weight)
}

func setText(b *table.Batch, c, i int, v Opt[string]) {
	if v.OK {
		b.SetText(c, i, v.V)
	}
}

func setNumber(b *table.Batch, c, i int, v Opt[float64]) {
	if v.OK {
		b.SetNumber(c, i, v.V)
	}
}

// batches puts rows into batches. An error comes after the rows before it.
func batches(rows iter.Seq2[Row, error]) iter.Seq2[*table.Batch, error] {
	return func(yield func(*table.Batch, error) bool) {
		b := NewBatch()
		for row, err := range rows {
			if err != nil {
				_ = yield(b, nil) && yield(nil, err)
				return
			}
			row.Append(b)
			if b.Rows == table.BatchRows {
				if !yield(b, nil) {
					return
				}
				b.Clear()
			}
		}
		yield(b, nil)
	}
}

// checkBatch is Row.Check for all rows of a batch; of several rows that break
// the schema, the error is about the first, whose index is returned with it.
func checkBatch(b *table.Batch, schema []Column) (int, error) {
	if keepsSchema(b, schema) {
		return 0, nil
	}
	first, failed := b.Rows, error(nil)
	rows := make([]Row, b.Rows)
	for c := range schema {
		if i, err := fill(rows, &schema[c], c, b, c); err != nil && i < first {
			first, failed = i, err
		}
	}
	return first, failed
}

// keepsSchema says whether no row breaks the schema.
func keepsSchema(b *table.Batch, schema []Column) bool {
	for c := range schema {
		if b.Empty(c) {
			continue
		}
		if schema[c].Type == "utf8" {
			texts, present := b.Texts(c)
			for i, text := range texts {
				if present[i] && (text == "" && !schema[c].Nullable || !utf8.ValidString(text)) {
					return false
				}
			}
			continue
		}
		least := 0.
		if schema[c].Name == "weight" {
			least = math.SmallestNonzeroFloat64
		}
		most := schema[c].most()
		numbers, present := b.Numbers(c)
		for i, v := range numbers {
			if present[i] && !(v >= least && v <= most) { // NaN is neither
				return false
			}
		}
	}
	return true
}
