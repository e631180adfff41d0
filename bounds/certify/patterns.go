package certify

import (
	"math/big"
)

// mostPatterns limits the ways to put a job on servers.
const mostPatterns = 5_000

// patterns is CONF: a job chooses a start and a pattern, how many GPUs it has on
// servers of which sizes, with the least duration there, or any GPUs where it runs
// as long everywhere; and in each slot the parts are packed into servers. With
// charges for GPUs and parts, the bound is
//
//	Σ_j min over starts and patterns − Σ_k (what the GPUs pay, and the best filling of each server)
//
// where a server is filled to pay the most. What any-GPU jobs are charged besides,
// servers may be given to: they are parts of one GPU.
func (c *Checker) patterns(d *document) (proof, error) {
	p, err := c.intervals(d)
	if err != nil {
		return proof{}, err
	}
	q := &packing{intervals: p, any: make([]*big.Rat, p.slots())}
	if err := q.readParts(); err != nil {
		return proof{}, err
	}
	for k := range p.slots() {
		q.servers(k)
	}
	for i := range p.jobs {
		p.sum.add(p.price[i])
		if err := q.job(i); err != nil {
			return proof{}, err
		}
	}
	return p.finish(), nil
}

type packing struct {
	*intervals
	any   []*big.Rat          // by slot, or nil
	parts []map[part]*big.Rat // by slot
}

func (q *packing) readParts() error {
	q.parts = make([]map[part]*big.Rat, q.slots())
	for k := range q.parts {
		q.parts[k] = map[part]*big.Rat{}
	}
	for _, x := range q.data.Parts {
		list, err := charges([]float64{x.Charge})
		if err != nil {
			return err
		}
		if x.Slot < 0 || x.Slot >= q.slots() || x.Divisor < 1 || x.GPUs < 0 || x.GPUs > x.Size {
			return refuted("slot %d has no parts of %d GPUs of a server of %d", x.Slot, x.GPUs, x.Size)
		}
		v := list[0].Quo(list[0], big.NewRat(x.Divisor, 1))
		if x.Size == 0 {
			q.any[x.Slot] = v
		} else {
			q.parts[x.Slot][part{x.Size, x.GPUs}] = v
		}
	}
	return nil
}

// servers adds what the servers are worth in a slot, at most.
func (q *packing) servers(k int) {
	length := big.NewRat(q.length(k), 1)
	for _, z := range q.c.times.sizes {
		count := big.NewRat(int64(z.count), 1)
		best := make([]*big.Rat, z.gpus+1) // of that many GPUs
		best[0] = new(big.Rat)
		for room := 1; room <= z.gpus; room++ {
			best[room] = best[room-1]
			for s := 1; s <= room; s++ {
				if v := q.parts[k][part{z.gpus, s}]; v != nil {
					if sum := new(big.Rat).Add(v, best[room-s]); sum.Cmp(best[room]) > 0 {
						best[room] = sum
					}
				}
			}
		}
		worth := new(big.Rat).Mul(best[z.gpus], length)
		q.sum.add(worth.Neg(worth.Mul(worth, count)))
		// GPUs of these servers, as parts of one, for jobs for which any will do
		if q.any[k] != nil {
			q.column.reset()
			q.column.add(new(big.Rat).Neg(q.any[k]), length)
			if v := q.parts[k][part{z.gpus, 1}]; v != nil {
				q.column.add(v, length)
			}
			q.column.close(&q.sum, big.NewRat(mul(int64(z.count), int64(z.gpus)), 1))
		}
	}
}

// job adds the columns of a job.
func (q *packing) job(i int) error {
	j, x := q.jobs[i], &q.c.in.Jobs[i]
	if plain(x) && !sliced(x) {
		q.columns(i, int64(j.length), nil)
		return nil
	}
	var on []part
	n := 0
	var extend func(z, most, used, left int) error
	// extend adds parts of servers of the z-th size, of which used have one, each of
	// at most so many GPUs.
	extend = func(z, most, used, left int) error {
		if left == 0 {
			if n++; n > mostPatterns {
				return tooHard("job %d has more than %d patterns", i, mostPatterns)
			}
			t, fits, err := q.c.times.training(x, on)
			if fits {
				q.columns(i, int64(add(x.Load, t)), on)
			}
			return err
		}
		if z == len(q.c.times.sizes) {
			return nil
		}
		size := q.c.times.sizes[z]
		if used < size.count {
			for s := min(most, left); s >= 1; s-- {
				on = append(on, part{size.gpus, s})
				err := extend(z, s, used+1, left-s)
				on = on[:len(on)-1]
				if err != nil {
					return err
				}
			}
		}
		if z+1 < len(q.c.times.sizes) {
			return extend(z+1, q.c.times.sizes[z+1].gpus, 0, left)
		}
		return nil
	}
	return extend(0, q.c.times.sizes[0].gpus, 0, int(j.gang))
}

// columns adds the starts of a job on parts, or on any GPUs if there are none.
func (q *packing) columns(i int, length int64, on []part) {
	j := q.jobs[i]
	one, gang := big.NewRat(1, 1), big.NewRat(j.gang, 1)
	w := q.d.weight(&q.c.in.Jobs[i])
	alone := int64(j.end())
	for _, t := range q.starts(int64(j.release), length) {
		q.column.reset()
		q.column.add(w, big.NewRat(sub(add(t, length), alone), 1))
		q.column.add(new(big.Rat).Neg(q.price[i]), one)
		for _, o := range q.overlaps(t, add(t, length)) {
			time := big.NewRat(o.time, 1)
			q.column.add(q.charge[o.slot], new(big.Rat).Mul(gang, time))
			if on == nil && q.any[o.slot] != nil {
				q.column.add(q.any[o.slot], new(big.Rat).Mul(gang, time))
			}
			for _, p := range on {
				if v := q.parts[o.slot][p]; v != nil {
					q.column.add(v, time)
				}
			}
		}
		q.column.close(&q.sum, one)
	}
}
