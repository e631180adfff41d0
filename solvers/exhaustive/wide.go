package exhaustive

import (
	"math/big"
	"math/bits"
)

// wide is an unsigned integer of 128 bits: weighted sums of times fit it.
type wide struct{ hi, lo uint64 }

func (a wide) plus(b wide) wide {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	return wide{a.hi + b.hi + carry, lo}
}

// minus returns a − b, or 0 if that is negative.
func (a wide) minus(b wide) wide {
	if a.less(b) {
		return wide{}
	}
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	return wide{a.hi - b.hi - borrow, lo}
}

func product(a, b uint64) wide {
	hi, lo := bits.Mul64(a, b)
	return wide{hi, lo}
}

func (a wide) less(b wide) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

func (a wide) max(b wide) wide {
	if a.less(b) {
		return b
	}
	return a
}

// half returns a/2 rounded up.
func (a wide) half() wide {
	a = a.plus(wide{0, 1})
	return wide{a.hi >> 1, a.hi<<63 | a.lo>>1}
}

// over returns a/b rounded down.
func (a wide) over(b uint64) wide {
	lo, _ := bits.Div64(a.hi%b, a.lo, b)
	return wide{a.hi / b, lo}
}

func (a wide) big() *big.Int {
	v := new(big.Int).SetUint64(a.hi)
	return v.Add(v.Lsh(v, 64), new(big.Int).SetUint64(a.lo))
}

// wideOf returns v, which must be at least 0 and below 2^128.
func wideOf(v *big.Int) wide {
	low := new(big.Int).And(v, new(big.Int).SetUint64(1<<64-1))
	return wide{new(big.Int).Rsh(v, 64).Uint64(), low.Uint64()}
}
