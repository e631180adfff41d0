package cuts

import (
	"cmp"
	"math/big"
	"math/bits"
)

// wide is an unsigned integer of 128 bits.
type wide struct{ hi, lo uint64 }

// wideBits is how large a number newWide takes; a bit less than a wide holds.
const wideBits = 127

// newWide returns a number of at most wideBits bits that is not negative.
func newWide(n *big.Int) wide {
	var bytes [16]byte
	n.FillBytes(bytes[:])
	var w wide
	for i := range 8 {
		w.hi = w.hi<<8 | uint64(bytes[i])
		w.lo = w.lo<<8 | uint64(bytes[8+i])
	}
	return w
}

func (w wide) minus(v wide) wide {
	lo, borrow := bits.Sub64(w.lo, v.lo, 0)
	hi, _ := bits.Sub64(w.hi, v.hi, borrow)
	return wide{hi, lo}
}

func (w wide) compare(v wide) int {
	if w.hi != v.hi {
		return cmp.Compare(w.hi, v.hi)
	}
	return cmp.Compare(w.lo, v.lo)
}

func (w wide) big() *big.Int {
	n := new(big.Int).SetUint64(w.hi)
	return n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(w.lo))
}
