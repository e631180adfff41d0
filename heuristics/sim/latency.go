package sim

import (
	"math/bits"
	"time"
)

// latency is a histogram of durations with 16 buckets per power of two, so
// that a quantile is known to 1/16 whatever the number of values.
type latency struct {
	buckets [(64 - 4 + 1) * 16]int64
	count   int64
}

func (l *latency) add(d time.Duration) {
	v := uint64(max(d, 0))
	octave := max(bits.Len64(v)-5, 0) // v>>octave is below 32
	b := v >> octave                  // below 16 only in octave 0
	if octave > 0 {
		b += uint64(octave) * 16
	}
	l.buckets[b]++
	l.count++
}

// quantile returns the largest value of the bucket that holds the value of
// rank ceil(q·count).
func (l *latency) quantile(q float64) time.Duration {
	rank := int64(q * float64(l.count))
	if float64(rank) < q*float64(l.count) {
		rank++
	}
	seen := int64(0)
	for b, n := range l.buckets {
		if seen += n; seen >= rank && n > 0 {
			if b < 32 {
				return time.Duration(b)
			}
			octave := b/16 - 1
			return time.Duration((b%16+17)<<octave - 1)
		}
	}
	return 0
}

// clock measures decisions if there is a clock to read.
type clock struct {
	read  func() time.Duration
	times latency
}

func (c *clock) start() time.Duration {
	if c.read == nil {
		return 0
	}
	return c.read()
}

func (c *clock) stop(since time.Duration) {
	if c.read != nil {
		c.times.add(c.read() - since)
	}
}
