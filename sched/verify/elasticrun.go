package verify

import (
	"math/big"

	"yardstick/sched"
)

// resizedTimes corrects what fill takes from the last bout: in classes EP and M
// the job may have held another number of GPUs before.
func (t *JobTimes) resizedTimes(bouts []bout) {
	t.GPUs, t.GPUTime = 0, 0
	for i := range bouts {
		b, gpus := &bouts[i], 0
		for k := range b.place.Shares {
			gpus += b.place.Shares[k].GPUs
		}
		t.GPUs = max(t.GPUs, gpus)
		t.GPUTime += int64(gpus) * int64(b.end-b.start)
	}
}

// elasticProgress checks Eq. (2f) of the primal-dual paper, over windows of
// possibly different configurations: the sum of length·Y/theta is at least W.
func (c *checker) elasticProgress(id sched.JobID) {
	j := &c.in.Jobs[id]
	type pace struct {
		work, unit *big.Int
		train      sched.Time
	}
	var paces []pace // windows at one pace are put together, lest the denominators grow
	total := sched.Time(0)
next:
	for i := range c.bouts {
		b := &c.bouts[i]
		if b.train == 0 {
			continue
		}
		total += b.train
		work, unit := c.batchWork(j, b.place)
		for k := range paces {
			if paces[k].work.Cmp(work) == 0 && paces[k].unit.Cmp(unit) == 0 {
				paces[k].train += b.train
				continue next
			}
		}
		paces = append(paces, pace{work, unit, b.train})
	}
	short := big.NewRat(j.Elastic.Batches, 1)
	for k := range paces {
		p := &paces[k]
		available := p.unit.Mul(p.unit, big.NewInt(int64(p.train)*1000))
		if len(paces) == 1 && available.Cmp(new(big.Int).Mul(p.work, big.NewInt(j.Elastic.Batches))) >= 0 {
			return
		}
		short.Sub(short, new(big.Rat).SetFrac(available, p.work))
	}
	if short.Sign() > 0 {
		digits, _ := short.Float64()
		c.err.add(RuleProgress, id, c.jobs[id].Completion, "ends after %v of training, %.3g short of its %d mini-batches", total, digits, j.Elastic.Batches)
	}
}

// batchWork returns the time in nanoseconds that a sound placement of Y
// workers spends on each mini-batch, theta/Y, as the fraction work/unit. By
// Eqs. (1) and (14) of the primal-dual paper, multiplied by the bandwidth b in
// Mbit/s, of which each bit takes 1000/b ns:
//
//	b·theta   = b·v + x             by parameter servers
//	Y·b·theta = Y·b·v + (Y−1)·x     in a ring
//	x         = b·U, and 2·8·1000·pi more where q = 0.
func (c *checker) batchWork(j *sched.Job, p *sched.Placement) (work, unit *big.Int) {
	e := j.Elastic
	m, k := types(p)
	count := int64(0)
	for i := range p.Shares {
		count += int64(p.Shares[i].Stages[0])
	}
	workers, bandwidth := big.NewInt(count), big.NewInt(c.in.Elastic.Workers[m].Demand[c.in.Elastic.Bandwidth])
	exchange := big.NewInt(int64(e.Update[k]))
	exchange.Mul(exchange, bandwidth)
	if len(p.Shares) > 1 { // q = 0
		bits := big.NewInt(int64(e.Gradients))
		exchange.Add(exchange, bits.Mul(bits, big.NewInt(16_000)))
	}
	unit = bandwidth.Mul(bandwidth, workers)
	work = big.NewInt(int64(e.Train[m]))
	if e.Ring {
		work.Mul(work, unit)
		work.Add(work, exchange.Mul(exchange, big.NewInt(count-1)))
		return work, unit.Mul(unit, workers)
	}
	work.Mul(work, big.NewInt(c.in.Elastic.Workers[m].Demand[c.in.Elastic.Bandwidth]))
	return work.Add(work, exchange), unit
}

// sweepElastic checks Eq. (2h) of the primal-dual paper at every instant: on no
// server do the jobs together take more of a resource than there is. As in
// sweepExclusive, it is enough to look when a segment starts. A sum beyond an
// int64 cannot go unseen: each share alone is within the capacity, so the sum
// would have passed the capacity, which is far below, before.
func (c *checker) sweepElastic() {
	starts, ends := c.live()
	e := c.in.Elastic
	used := make([][]int64, len(c.in.Cluster.Servers))
	for h := range used {
		used[h] = make([]int64, len(e.Resources))
	}
	for _, i := range starts {
		seg := &c.s.Segments[i]
		for ; c.s.Segments[ends[0]].End <= seg.Start; ends = ends[1:] { // never runs out: seg ends later
			p := &c.s.Segments[ends[0]].Place
			for k := range p.Shares {
				for r := range e.Resources {
					used[p.Shares[k].Server][r] -= demand(e, p, &p.Shares[k], r)
				}
			}
		}
		for k := range seg.Place.Shares {
			sh := &seg.Place.Shares[k]
			for r := range e.Resources {
				used[sh.Server][r] += demand(e, &seg.Place, sh, r)
				if now, has := used[sh.Server][r], c.in.Cluster.Servers[sh.Server].Capacity[r]; now > has {
					c.err.add(RuleCapacity, seg.Job, seg.Start, "makes the %s in use on server %d %d of %d", e.Resources[r], sh.Server, now, has)
				}
			}
		}
	}
}
