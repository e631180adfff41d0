package record

import (
	"encoding/json"
	"math/big"

	"yardstick/internal/strictjson"
)

// Opt is a value that may be missing. The zero value is missing; two Opts are
// equal under == exactly if both are missing or both hold the same value.
type Opt[T any] struct {
	V     T // the zero value if missing
	Valid bool
}

// Some returns an Opt that holds v.
func Some[T any](v T) Opt[T] { return Opt[T]{V: v, Valid: true} }

// FromPtr returns what p points to; nil is missing.
func FromPtr[T any](p *T) Opt[T] {
	if p == nil {
		return Opt[T]{}
	}
	return Some(*p)
}

// FromRat returns the float64 nearest to r; nil is missing.
func FromRat(r *big.Rat) Opt[float64] {
	if r == nil {
		return Opt[float64]{}
	}
	f, _ := r.Float64()
	return Some(f)
}

// MarshalJSON writes a missing value as null.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.Valid {
		return []byte("null"), nil
	}
	return json.Marshal(o.V)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	*o = Opt[T]{}
	if string(b) == "null" {
		return nil
	}
	o.Valid = true
	return strictjson.Unmarshal(b, &o.V)
}

// Text is a string that may be missing: the empty string is written as null.
// Bytes that are not UTF-8, which Arrow forbids, become U+FFFD when written.
type Text string

// Exact returns r as a reduced fraction such as "7/2" or "12"; nil is missing.
func Exact(r *big.Rat) Text {
	if r == nil {
		return ""
	}
	return Text(r.RatString())
}
