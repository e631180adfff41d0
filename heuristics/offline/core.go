package offline

import (
	"context"
	"maps"
	"slices"
)

const (
	coreFrom  = 2500   // jobs of an instance, from which on it is searched by its core
	coreJobs  = 600    // of the core
	coreMoves = 90_000 // of one search at most: from one start, twice as many find no more
)

// core is the problem of the jobs that hold most alone. What all others hold is taken from
// the pool, each running from its release on, in the mean of blocks as long as these jobs
// run in the mean: a large job waits for no peak that small ones can be moved out of. Of
// thousands of jobs some hundred hold nine tenths, and nearly all of the waiting is theirs;
// searched alone they cost a fraction of the moves, and can be moved at higher thresholds.
type core struct {
	p    *problem
	ids  []int32 // of its jobs in the whole problem, in order of starts
	rest []int32 // all others, in order of starts
	held profile // what those hold
}

// newCore makes the core of the problem of a board: so many jobs that hold most, and the
// gangs of at least an eighth of the cluster.
func newCore(b *board, most int) *core {
	p := b.p
	in := make([]bool, len(p.jobs))
	for k, i := range p.sorted(func(i int32) float64 { return -p.jobs[i].work() }) {
		in[i] = k < most || 8*p.jobs[i].gang >= p.gpus
	}
	c := &core{p: &problem{in: p.in, obj: p.obj, gpus: p.gpus, slot: p.slot}, held: newProfile()}
	length := int64(0) // of the others
	for _, i := range p.sorted(func(i int32) float64 { return float64(b.start[i]) }) {
		if in[i] {
			c.ids, c.p.jobs = append(c.ids, i), append(c.p.jobs, p.jobs[i])
		} else {
			c.rest = append(c.rest, i)
			length += p.jobs[i].short
		}
	}
	if len(c.rest) > 0 {
		c.smooth(p, p.roundUp(max(1, length/int64(len(c.rest)))))
	}
	return c
}

// smooth sets what the others hold in the mean of blocks of a length. What the whole
// cluster cannot hold is left out: those jobs will wait.
func (c *core) smooth(p *problem, block int64) {
	held := map[int64]float64{} // GPUs times time, by block
	for _, i := range c.rest {
		j := &p.jobs[i]
		for t, end := j.release, j.release+j.short; t < end; {
			next := min(end, (t/block+1)*block)
			held[t/block] += float64(j.gang) * float64(next-t)
			t = next
		}
	}
	for _, k := range slices.Sorted(maps.Keys(held)) {
		if gpus := min(p.gpus, int32(held[k]/float64(block)+0.5)); gpus > 0 {
			c.held.add(k*block, (k+1)*block, gpus)
		}
	}
}

// searchCore makes two thirds of the moves of the core alone, of at most so many jobs, from
// the starts of a board; puts all other jobs around it, in the order of theirs; and makes the
// last third of all jobs. It returns the last search, what both looked at, and how many
// moves they made.
func (f *finder) searchCore(ctx context.Context, from *board, most int, seed uint64, moves int) (all *search, work int64, made int) {
	c := newCore(from, most)
	b := newBoard(c.p, f.times, false)
	b.pool = c.held
	for k := range c.ids {
		b.insert(int32(k), c.p.jobs[k].release)
	}
	alone := newSearch(b, seed)
	made = alone.run(ctx, moves/3*2, heat(len(c.ids)))
	whole := newBoard(f.p, f.times, false)
	for k, i := range c.ids {
		whole.start[i], whole.end[i] = b.start[k], b.end[k]
		whole.put(i)
	}
	for _, i := range c.rest {
		whole.insert(i, f.p.jobs[i].release)
	}
	all = newSearch(whole, seed)
	made += all.run(ctx, moves-moves/3*2, 0)
	return all, alone.work() + all.work(), made
}
