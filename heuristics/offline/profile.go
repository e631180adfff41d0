package offline

import "math"

// profile is how many GPUs are held at every time: a step function, as sorted
// breakpoints in chunks. A chunk knows the least and the greatest of its levels and
// has a number that is to be added to all of them, so that a stretch of time is
// looked through, or changed, a chunk at a time.
//
// Outside of all that was added the level is 0.
type profile struct {
	chunks []*chunk
	first  []int64 // the first breakpoint of each chunk
	steps  int64   // chunks and breakpoints looked at so far
}

// chunkSize is the most breakpoints of a chunk.
const chunkSize = 128

// chunk is some breakpoints that follow each other. From at[i] until the next one,
// level[i] + lazy GPUs are held.
type chunk struct {
	n         int
	lazy      int32
	low, high int32 // of level
	level     [chunkSize]int32
	at        [chunkSize]int64
}

// dawn is before all times, so that differences from it do not overflow.
const dawn = math.MinInt64 / 4

func newProfile() profile {
	return profile{chunks: []*chunk{{n: 1, at: [chunkSize]int64{dawn}}}, first: []int64{dawn}}
}

// locate returns the last breakpoint at or before t.
func (p *profile) locate(t int64) (k, i int) {
	low, high := 0, len(p.first)
	for high-low > 1 {
		if m := (low + high) / 2; p.first[m] <= t {
			low = m
		} else {
			high = m
		}
	}
	c := p.chunks[low]
	from, to := 0, c.n
	for to-from > 1 {
		if m := (from + to) / 2; c.at[m] <= t {
			from = m
		} else {
			to = m
		}
	}
	return low, from
}

// fit returns the first time t, at or after from, such that at most level GPUs are
// held throughout [t, t+length). The level must not be negative.
func (p *profile) fit(from, length int64, level int32) int64 {
	t, _ := p.fitBy(from, length, level, math.MaxInt64)
	return t
}

// fitBy returns what fit does, or false if that is after latest.
func (p *profile) fitBy(from, length int64, level int32, latest int64) (int64, bool) {
	k, i := p.locate(from)
	t, open := from, true
	for ; k < len(p.chunks); k, i = k+1, 0 {
		c := p.chunks[k]
		most := level - c.lazy
		p.steps++
		switch {
		case !open && p.first[k] > latest:
			return 0, false
		case open && c.high <= most:
			if k+1 == len(p.chunks) || p.first[k+1]-t >= length {
				return t, t <= latest
			}
			continue
		case !open && c.low > most:
			continue
		}
		begin := i
		for ; i < c.n; i++ {
			switch {
			case !open:
				if c.level[i] <= most {
					t, open = c.at[i], true
				}
			case c.at[i]-t >= length:
				p.steps += int64(i - begin)
				return t, t <= latest
			case c.level[i] > most:
				open = false
			}
		}
		p.steps += int64(i - begin)
	}
	return t, t <= latest
}

// peak returns the most GPUs held at a time in [from, to).
func (p *profile) peak(from, to int64) int32 {
	most := int32(0)
	k, i := p.locate(from)
	for ; k < len(p.chunks) && p.first[k] < to; k, i = k+1, 0 {
		c := p.chunks[k]
		p.steps++
		if c.high+c.lazy <= most {
			continue
		}
		if i == 0 && (k+1 < len(p.first) && p.first[k+1] <= to) {
			most = max(most, c.high+c.lazy)
			continue
		}
		for ; i < c.n && c.at[i] < to; i++ {
			most = max(most, c.level[i]+c.lazy)
		}
	}
	return most
}

// above returns the first time in [from, to) at which more than level GPUs are held, and
// false if there is none.
func (p *profile) above(from, to int64, level int32) (int64, bool) {
	k, i := p.locate(from)
	for ; k < len(p.chunks) && p.first[k] < to; k, i = k+1, 0 {
		c := p.chunks[k]
		p.steps++
		if c.high+c.lazy <= level {
			continue
		}
		for ; i < c.n && c.at[i] < to; i++ {
			if c.level[i]+c.lazy > level {
				return max(from, c.at[i]), true
			}
		}
	}
	return 0, false
}

// next returns the first breakpoint after t, and false if there is none.
func (p *profile) next(t int64) (int64, bool) {
	k, i := p.locate(t)
	if i+1 < p.chunks[k].n {
		return p.chunks[k].at[i+1], true
	}
	if k+1 < len(p.chunks) {
		return p.first[k+1], true
	}
	return 0, false
}

// add changes the level throughout [from, to), which must not be empty.
func (p *profile) add(from, to int64, gpus int32) {
	p.cut(from)
	p.cut(to)
	k, i := p.locate(from)
	last, end := p.locate(to)
	for ; k < last; k, i = k+1, 0 {
		p.chunks[k].raise(i, p.chunks[k].n, gpus)
	}
	p.chunks[last].raise(i, end, gpus)
	p.steps += int64(last - k + 2)
	p.join(to)
	p.join(from)
}

// raise adds to the levels from i to end.
func (c *chunk) raise(i, end int, gpus int32) {
	switch {
	case i == end:
		return
	case i == 0 && end == c.n:
		c.lazy += gpus
		return
	}
	for ; i < end; i++ {
		c.level[i] += gpus
	}
	c.measure()
}

// measure finds the least and the greatest level.
func (c *chunk) measure() {
	low, high := c.level[0], c.level[0]
	for _, v := range c.level[1:c.n] {
		low, high = min(low, v), max(high, v)
	}
	c.low, c.high = low, high
}

// cut makes t a breakpoint.
func (p *profile) cut(t int64) {
	k, i := p.locate(t)
	c := p.chunks[k]
	if c.at[i] == t {
		return
	}
	if c.n == chunkSize {
		p.halve(k)
		p.cut(t)
		return
	}
	copy(c.at[i+2:c.n+1], c.at[i+1:c.n])
	copy(c.level[i+2:c.n+1], c.level[i+1:c.n])
	c.at[i+1], c.level[i+1] = t, c.level[i]
	c.n++
}

// halve makes two chunks of one.
func (p *profile) halve(k int) {
	c := p.chunks[k]
	d := &chunk{n: c.n - c.n/2, lazy: c.lazy}
	copy(d.at[:], c.at[c.n/2:c.n])
	copy(d.level[:], c.level[c.n/2:c.n])
	c.n /= 2
	c.measure()
	d.measure()
	p.insert(k+1, d)
}

func (p *profile) insert(k int, c *chunk) {
	p.chunks = append(p.chunks, nil)
	copy(p.chunks[k+1:], p.chunks[k:])
	p.chunks[k] = c
	p.first = append(p.first, 0)
	copy(p.first[k+1:], p.first[k:])
	p.first[k] = c.at[0]
}

func (p *profile) remove(k int) {
	p.chunks = append(p.chunks[:k], p.chunks[k+1:]...)
	p.first = append(p.first[:k], p.first[k+1:]...)
}

// join takes the breakpoint t away if nothing changes there.
func (p *profile) join(t int64) {
	k, i := p.locate(t)
	c := p.chunks[k]
	switch {
	case c.at[i] != t || k == 0 && i == 0:
		return
	case i > 0:
		if c.level[i-1] != c.level[i] {
			return
		}
	default:
		b := p.chunks[k-1]
		if b.level[b.n-1]+b.lazy != c.level[0]+c.lazy {
			return
		}
	}
	copy(c.at[i:], c.at[i+1:c.n])
	copy(c.level[i:], c.level[i+1:c.n])
	if c.n--; c.n == 0 {
		p.remove(k)
		return
	}
	p.first[k] = c.at[0]
	c.measure()
	if k > 0 && c.n+p.chunks[k-1].n < chunkSize/2 {
		p.merge(k)
	}
}

// merge moves the breakpoints of a chunk to the one before it.
func (p *profile) merge(k int) {
	b, c := p.chunks[k-1], p.chunks[k]
	for i := range c.n {
		b.at[b.n], b.level[b.n] = c.at[i], c.level[i]+c.lazy-b.lazy
		b.n++
	}
	b.measure()
	p.remove(k)
}
