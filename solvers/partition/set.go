package partition

import "slices"

// set is a set of numbers from 0 to a bound, as bits.
type set []uint64

// newSet returns an empty set for numbers up to bound.
func newSet(bound int) set { return make(set, bound/64+1) }

func (v set) add(n int) { v[n/64] |= 1 << (n % 64) }

func (v set) has(n int) bool { return v[n/64]>>(n%64)&1 != 0 }

func (v set) equal(w set) bool { return slices.Equal(v, w) }

// addShifted adds all numbers of w plus n, as far as the set holds them.
func (v set) addShifted(w set, n int) {
	words, bits := n/64, n%64
	for i := len(v) - 1; i >= words; i-- {
		v[i] |= w[i-words] << bits
		if bits > 0 && i > words {
			v[i] |= w[i-words-1] >> (64 - bits)
		}
	}
}
