package verify

import (
	"fmt"
	"math/big"

	"yardstick/sched"
)

// sized checks what a malleable job holds: one of its sizes, on GPUs with the
// memory for it, and no choice besides.
func (c *checker) sized(j *sched.Job, p *sched.Placement) (Rule, string) {
	z := sizeOf(j, p)
	if z == nil {
		held := 0
		for i := range p.Shares {
			held += p.Shares[i].GPUs
		}
		return RuleGang, fmt.Sprintf("holds %d GPUs, which is none of its %d sizes", held, len(j.Sharing.Sizes))
	}
	if cf := p.Config; cf != nil && *cf != (sched.Config{}) {
		return RuleConfig, fmt.Sprintf("chooses %+v, but a malleable job chooses nothing but its GPUs", *cf)
	}
	for i := range p.Shares {
		if m := p.Shares[i].Server; z.Memory > c.in.Cluster.Servers[m].GPUMemory {
			return RuleMemory, fmt.Sprintf("needs %v on each GPU, but those of server %d have %v", z.Memory, m, c.in.Cluster.Servers[m].GPUMemory)
		}
	}
	return "", ""
}

// sizeOf returns the size that a placement has, or nil if the job does not
// offer it.
func sizeOf(j *sched.Job, p *sched.Placement) *sched.Size {
	held := 0
	for i := range p.Shares {
		held += p.Shares[i].GPUs
	}
	for i := range j.Sharing.Sizes {
		if j.Sharing.Sizes[i].GPUs == held {
			return &j.Sharing.Sizes[i]
		}
	}
	return nil
}

// malleableProgress checks that the bouts of a malleable job perform its
// iterations: the sum of train/iter over the bouts, each at its own size, is at
// least n.
func (c *checker) malleableProgress(id sched.JobID) {
	j := &c.in.Jobs[id]
	at := make([]sched.Time, len(j.Sharing.Sizes)) // training at each size
	total := sched.Time(0)
	for i := range c.bouts {
		b := &c.bouts[i]
		held := sizeOf(j, b.place)
		for k := range j.Sharing.Sizes {
			if &j.Sharing.Sizes[k] == held {
				at[k] += b.train
			}
		}
		total += b.train
	}
	done := new(big.Rat)
	for k, train := range at {
		if train > 0 {
			done.Add(done, big.NewRat(int64(train)*1000, int64(j.Sharing.Sizes[k].Iter)))
		}
	}
	c.require(id, done, total)
}
