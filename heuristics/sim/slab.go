package sim

// slab hands out short slices cut from long ones, so that the placements of a
// million jobs are a few thousand allocations.
type slab[T any] struct {
	free  []T
	chunk int
}

const maxChunk = 4096

// take returns n zeroed elements that nobody else holds.
func (s *slab[T]) take(n int) []T {
	if n > len(s.free) {
		s.chunk = min(max(2*s.chunk, 16), maxChunk)
		s.free = make([]T, max(n, s.chunk))
	}
	out := s.free[:n:n]
	s.free = s.free[n:]
	return out
}
