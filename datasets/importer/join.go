package importer

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math"

	"yardstick/datasets"
)

// Join merges two sequences of records in order of their keys. For each record
// of the left it calls left, then right once for each record of the right that
// has the same key, and then done. Of several records of the left with one key,
// the first gets all of the right; records of the right that meet none of the
// left are passed over.
//
// Errors: those of the sequences and of the functions.
func Join(leftRecords, rightRecords iter.Seq2[Record, error], left, right func(Record) error, done func() error) error {
	next, stop := iter.Pull2(rightRecords)
	defer stop()
	r, err, more := next()
	for l, failed := range leftRecords {
		if failed != nil {
			return failed
		}
		if failed := left(l); failed != nil {
			return failed
		}
		for ; more && err == nil; r, err, more = next() {
			order := bytes.Compare(r.Key, l.Key)
			if order > 0 {
				break
			}
			if order < 0 {
				continue
			}
			if failed := right(r); failed != nil {
				return failed
			}
		}
		if err != nil {
			return err
		}
		if failed := done(); failed != nil {
			return failed
		}
	}
	return err
}

// Pack appends texts and numbers to the value of a record.
type Pack []byte

// Text appends a text.
func (p Pack) Text(s []byte) Pack {
	return append(binary.AppendUvarint(p, uint64(len(s))), s...)
}

// Number appends a number that may be NULL.
func (p Pack) Number(v datasets.Opt[float64]) Pack {
	if !v.OK {
		return append(p, 0)
	}
	return binary.LittleEndian.AppendUint64(append(p, 1), math.Float64bits(v.V))
}

// Unpack reads what Pack wrote, in the same order, and shortens itself.
type Unpack []byte

// Text reads a text. It is valid as long as the record.
func (u *Unpack) Text() []byte {
	n, k := binary.Uvarint(*u)
	end := k + int(n)
	s := (*u)[k:end]
	*u = (*u)[end:]
	return s
}

// Number reads a number.
func (u *Unpack) Number() datasets.Opt[float64] {
	if (*u)[0] == 0 {
		*u = (*u)[1:]
		return datasets.Opt[float64]{}
	}
	v := math.Float64frombits(binary.LittleEndian.Uint64((*u)[1:]))
	*u = (*u)[9:]
	return datasets.Some(v)
}
