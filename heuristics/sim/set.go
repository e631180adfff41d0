package sim

import "math/bits"

// set is a set of integers below a fixed bound: a tree of bitmaps in which bit
// i of a level says whether word i of the level below is not zero. Every
// operation costs O(log_64 bound).
type set struct {
	levels [][]uint64
}

func newSet(bound int) set {
	var s set
	for words := bound; words > 1 || len(s.levels) == 0; {
		words = (words + 63) / 64
		s.levels = append(s.levels, make([]uint64, max(words, 1)))
	}
	return s
}

func (s *set) empty() bool { return s.levels[len(s.levels)-1][0] == 0 }

func (s *set) add(i int) {
	for _, words := range s.levels {
		w := &words[i>>6]
		before := *w
		*w |= 1 << (i & 63)
		if before != 0 {
			return
		}
		i >>= 6
	}
}

func (s *set) remove(i int) {
	for _, words := range s.levels {
		w := &words[i>>6]
		*w &^= 1 << (i & 63)
		if *w != 0 {
			return
		}
		i >>= 6
	}
}

// next returns the least element that is at least i.
func (s *set) next(i int) (int, bool) {
	for l, words := range s.levels {
		if i>>6 >= len(words) {
			return 0, false
		}
		if w := words[i>>6] >> (i & 63); w != 0 {
			i += bits.TrailingZeros64(w)
			for l--; l >= 0; l-- {
				i = i<<6 + bits.TrailingZeros64(s.levels[l][i])
			}
			return i, true
		}
		i = i>>6 + 1
	}
	return 0, false
}

// prev returns the greatest element that is at most i, which is below the
// bound.
func (s *set) prev(i int) (int, bool) {
	for l, words := range s.levels {
		if i < 0 {
			return 0, false
		}
		if w := words[i>>6] << (63 - i&63); w != 0 {
			i -= bits.LeadingZeros64(w)
			for l--; l >= 0; l-- {
				i = i<<6 + 63 - bits.LeadingZeros64(s.levels[l][i])
			}
			return i, true
		}
		i = i>>6 - 1
	}
	return 0, false
}
