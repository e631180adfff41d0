package offline

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
)

// naive is a profile as an array: the level of every unit of time.
type naive []int32

func (a naive) fit(from, length int64, level int32) int64 {
	for t := from; ; t++ {
		free := true
		for u := t; u < t+length && free; u++ {
			free = u >= int64(len(a)) || a[u] <= level
		}
		if free {
			return t
		}
	}
}

func (a naive) peak(from, to int64) int32 {
	most := int32(0)
	for t := from; t < to; t++ {
		most = max(most, a[t])
	}
	return most
}

// next is the first time after t at which the level changes.
func (a naive) next(t int64) (int64, bool) {
	for u := t + 1; u < int64(len(a)); u++ {
		if a[u] != a[u-1] {
			return u, true
		}
	}
	return 0, false
}

func (a naive) above(from, to int64, level int32) (int64, bool) {
	for t := from; t < to; t++ {
		if t < int64(len(a)) && a[t] > level {
			return t, true
		}
	}
	return 0, false
}

// check compares what a profile knows of itself with its breakpoints.
func (p *profile) check() error {
	last := int64(dawn - 1)
	level := int32(-1)
	for k, c := range p.chunks {
		if c.n < 1 || c.at[0] != p.first[k] {
			return fmt.Errorf("chunk %d has %d breakpoints from %d on, not %d", k, c.n, c.at[0], p.first[k])
		}
		low, high := c.low, c.high
		if c.measure(); c.low != low || c.high != high {
			return fmt.Errorf("chunk %d: levels between %d and %d, not %d and %d", k, c.low, c.high, low, high)
		}
		for i := range c.n {
			if c.at[i] <= last || c.level[i]+c.lazy == level {
				return fmt.Errorf("chunk %d, breakpoint %d: time %d after %d, level %d after %d", k, i, c.at[i], last, c.level[i]+c.lazy, level)
			}
			last, level = c.at[i], c.level[i]+c.lazy
		}
	}
	if level != 0 {
		return fmt.Errorf("level %d for ever", level)
	}
	return nil
}

// A profile answers as an array does, whatever is added and taken away, over one chunk
// and over many.
func TestProfileAgainstArray(t *testing.T) {
	schedtest.EachSeed(t, tier.Draws(6, 60), func(t *testing.T, r *rand.Rand) {
		horizon := 200 + r.IntN(4000)
		array, p := make(naive, 2*horizon), newProfile()
		type held struct {
			from, to int64
			gpus     int32
		}
		var holds []held
		crowd := 20 + r.IntN(2000) // that are held at most
		for range 6000 {
			h := held{from: int64(r.IntN(horizon)), gpus: int32(1 + r.IntN(8))}
			h.to = h.from + 1 + int64(r.IntN(1+r.IntN(horizon)))
			if len(holds) == crowd || len(holds) > 0 && r.IntN(3) == 0 {
				i := r.IntN(len(holds))
				h, holds[i] = holds[i], holds[len(holds)-1]
				holds = holds[:len(holds)-1]
				h.gpus = -h.gpus
			} else {
				holds = append(holds, h)
			}
			p.add(h.from, h.to, h.gpus)
			for u := h.from; u < h.to; u++ {
				array[u] += h.gpus
			}
			if r.IntN(20) > 0 {
				continue
			}
			if err := p.check(); err != nil {
				t.Fatal(err)
			}
			from, length, level := int64(r.IntN(horizon)), 1+int64(r.IntN(horizon/4)), int32(r.IntN(int(array.peak(0, int64(len(array)))+2)))
			if got, want := p.fit(from, length, level), array.fit(from, length, level); got != want {
				t.Fatalf("fit(%d, %d, %d) is %d, want %d", from, length, level, got, want)
			}
			latest := int64(r.IntN(len(array)))
			by, ok := p.fitBy(from, length, level, latest)
			if want := array.fit(from, length, level); ok != (want <= latest) || ok && by != want {
				t.Fatalf("fitBy(%d, %d, %d, %d) is %d, %t, want %d", from, length, level, latest, by, ok, want)
			}
			if got, want := p.peak(from, from+length), array.peak(from, from+length); got != want {
				t.Fatalf("peak(%d, %d) is %d, want %d", from, from+length, got, want)
			}
			at, found := p.above(from, from+length, level)
			if want, has := array.above(from, from+length, level); at != want || found != has {
				t.Fatalf("above(%d, %d, %d) is %d, %t, want %d, %t", from, from+length, level, at, found, want, has)
			}
			var got int64
			got, ok = p.next(from)
			if want, has := array.next(from); got != want || ok != has {
				t.Fatalf("next(%d) is %d, %t, want %d, %t", from, got, ok, want, has)
			}
		}
		for _, h := range holds {
			p.add(h.from, h.to, -h.gpus)
		}
		if err := p.check(); err != nil || len(p.chunks) != 1 || p.chunks[0].n != 1 {
			t.Errorf("something is left when all is taken away: %d chunks, %v", len(p.chunks), err)
		}
	})
}
