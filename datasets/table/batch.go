package table

// BatchRows is how many rows a Batch holds at most.
const BatchRows = 256

// Batch is a run of consecutive rows, column by column. One that [File.Scan]
// yields is valid until the next one is asked for; strings taken from it stay
// valid.
type Batch struct {
	First int64 // index of the first row in the file, from 0
	Rows  int

	cells []cells
}

// cells are the values of one column in a batch. One of numbers and texts is
// set, according to the column's kind; what it has where present is false means
// nothing.
type cells struct {
	used    bool // false only if no value is present
	present []bool
	numbers []float64
	texts   []string
}

// NewBatch returns a batch of the given columns, each of kind Text or Number,
// that has no rows and room for BatchRows. All its cells are NULL.
func NewBatch(columns []Column) *Batch {
	b := &Batch{}
	for _, c := range columns {
		b.cells = append(b.cells, newCells(c.Kind))
	}
	return b
}

func newCells(k Kind) cells {
	c := cells{present: make([]bool, BatchRows)}
	if k == Number {
		c.numbers = make([]float64, BatchRows)
	} else {
		c.texts = make([]string, BatchRows)
	}
	return c
}

// Number returns the value of row i in the c-th of the batch's columns, which
// is a Number column; ok is false if it is NULL.
func (b *Batch) Number(c, i int) (v float64, ok bool) {
	return b.cells[c].numbers[i], b.cells[c].present[i]
}

// Text returns the value of row i in the c-th of the batch's columns, which is
// a Text column; ok is false if it is NULL.
func (b *Batch) Text(c, i int) (v string, ok bool) {
	return b.cells[c].texts[i], b.cells[c].present[i]
}

// Numbers returns the values of the c-th column, which is a Number column, and
// which of them are not NULL. The slices are the batch's own.
func (b *Batch) Numbers(c int) (values []float64, present []bool) {
	return b.cells[c].numbers[:b.Rows], b.cells[c].present[:b.Rows]
}

// Texts returns the values of the c-th column, which is a Text column, and
// which of them are not NULL. The slices are the batch's own.
func (b *Batch) Texts(c int) (values []string, present []bool) {
	return b.cells[c].texts[:b.Rows], b.cells[c].present[:b.Rows]
}

// Empty reports whether all cells of the c-th column are NULL.
func (b *Batch) Empty(c int) bool { return !b.cells[c].used }

// SetNumber sets row i of the c-th column, which is a Number column. The row
// need not be one of the batch's rows yet.
func (b *Batch) SetNumber(c, i int, v float64) {
	cells := &b.cells[c]
	cells.numbers[i], cells.present[i], cells.used = v, true, true
}

// SetText sets row i of the c-th column, which is a Text column.
func (b *Batch) SetText(c, i int, v string) {
	cells := &b.cells[c]
	cells.texts[i], cells.present[i], cells.used = v, true, true
}

// Clear removes all rows.
func (b *Batch) Clear() {
	b.Rows = 0
	for c := range b.cells {
		if cells := &b.cells[c]; cells.used {
			clear(cells.present)
			cells.used = false
		}
	}
}
