package chart

// MaxPoints is how many points a figure draws at most.
const MaxPoints = 2000

// Thin returns at most most of the values, evenly spaced by index, the first
// and the last among them. Slices of one length are thinned alike.
func Thin[T any](values []T, most int) []T {
	n := len(values)
	if n <= most || most < 2 {
		return values
	}
	out := make([]T, most)
	for i := range out {
		out[i] = values[i*(n-1)/(most-1)]
	}
	return out
}
