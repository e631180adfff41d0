// Package pack reads what is written as a row of numbers by AppendVarint and
// AppendUvarint of package encoding/binary, and of texts. It believes nothing: what is
// cut short, longer than it need be, or says of itself that it is larger than it can be
// is an error. So there is one row of bytes for a row of values.
package pack

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

// ErrDamaged reports bytes that no writer wrote.
var ErrDamaged = errors.New("packed data are cut short or damaged")

// Reader reads from the front. After an error it returns zeros: ask Err at the end, or
// where a loop would be long.
type Reader struct {
	rest string
	bad  bool
}

// NewReader returns a reader of the bytes, of which it keeps a copy. The texts that it
// returns are parts of that.
func NewReader(b []byte) *Reader { return &Reader{rest: string(b)} }

// Bad reports whether something was wrong.
func (r *Reader) Bad() bool { return r.bad }

// End returns ErrDamaged if something was wrong or something is left.
func (r *Reader) End() error {
	if r.bad || r.rest != "" {
		return ErrDamaged
	}
	return nil
}

func (r *Reader) fail() uint64 {
	r.rest, r.bad = "", true
	return 0
}

// Uvarint reads a number that is not negative.
func (r *Reader) Uvarint() uint64 {
	if len(r.rest) > 0 && r.rest[0] < 0x80 {
		v := r.rest[0]
		r.rest = r.rest[1:]
		return uint64(v)
	}
	var v uint64
	for i := 0; i < len(r.rest) && i < binary.MaxVarintLen64; i++ {
		b := r.rest[i]
		if i == binary.MaxVarintLen64-1 && b > 1 {
			break
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			if b == 0 { // it could be shorter
				break
			}
			r.rest = r.rest[i+1:]
			return v
		}
	}
	return r.fail()
}

// Varint reads a number with a sign.
func (r *Reader) Varint() int64 {
	u := r.Uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// Int reads a number with a sign that fits an int.
func (r *Reader) Int() int {
	v := r.Varint()
	if v < math.MinInt || v > math.MaxInt {
		r.fail()
		return 0
	}
	return int(v)
}

// Count reads how many things follow, of which each takes at least size bytes.
func (r *Reader) Count(size int) int {
	n := r.Uvarint()
	if n > uint64(len(r.rest)/size) {
		r.fail()
		return 0
	}
	return int(n)
}

// Text reads a text with its length before it.
func (r *Reader) Text() string {
	n := r.Count(1)
	text := r.rest[:n]
	r.rest = r.rest[n:]
	return text
}

// Float reads a number as AppendFloat writes it.
func (r *Reader) Float() float64 { return math.Float64frombits(bits.ReverseBytes64(r.Uvarint())) }

// AppendText appends a text with its length before it.
func AppendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// AppendFloat appends every bit of a number, few bytes where few of them are set.
func AppendFloat(b []byte, x float64) []byte {
	return binary.AppendUvarint(b, bits.ReverseBytes64(math.Float64bits(x)))
}
