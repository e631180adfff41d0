package datasets

import "iter"

// All returns the rows of a slice as a sequence, for the functions that take
// one.
func All(rows []Row) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for i := range rows {
			if !yield(rows[i], nil) {
				return
			}
		}
	}
}
