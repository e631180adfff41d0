package elastic

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// FIFOOptions are the choices of [FIFO]. The zero value is what the primal-dual
// paper describes.
type FIFOOptions struct {
	// Backfill passes over jobs that do not fit now and starts all that do, in
	// order. It reserves nothing.
	Backfill bool
	// Ideal gives every job its ideal configuration instead of a random number
	// of workers.
	Ideal bool
	// Seed is what the numbers of workers are drawn by, together with the
	// job's number.
	Seed uint64
}

// String returns the options as they are written in results.
func (o FIFOOptions) String() string { return fmt.Sprintf("backfill=%t ideal=%t", o.Backfill, o.Ideal) }

// fifo is the policy FIFO.
type fifo struct {
	options FIFOOptions
	packer  *Packer
	waiting []sched.JobID
	chosen  map[sched.JobID]Choice
}

// FIFO returns the policy that starts jobs in order of release on a fixed number
// of workers: a number drawn once per job from 1 to min(30, D_j), with the types
// that are fastest for it. A job starts as soon as its workers can be placed, and
// nothing passes it.
//
// Source: Section 7 of the primal-dual paper, algorithm (i): "the number of
// workers is fixed to a number within [1, 30]". Not in the source: a number that
// does not fit the empty cluster is reduced to the largest that does.
func FIFO(o FIFOOptions) sim.Policy {
	return &fifo{options: o, chosen: map[sched.JobID]Choice{}}
}

func (f *fifo) Name() string       { return "elastic-fifo" }
func (f *fifo) Class() sched.Class { return sched.Class{Kind: sched.E, Slotted: true} }

// mostDrawn is the largest number of workers that the paper gives a job.
const mostDrawn = 30

// choose returns what the job will run on.
func (f *fifo) choose(in *sched.Instance, id sched.JobID) (Choice, bool) {
	if f.options.Ideal {
		return f.packer.Ideal(id)
	}
	r := rand.New(rand.NewPCG(f.options.Seed, uint64(id)))
	return f.packer.Fixed(id, 1+r.IntN(min(mostDrawn, in.Jobs[id].Elastic.MaxWorkers)))
}

func (f *fifo) Decide(v *sim.View) (d sim.Decision, err error) {
	in := v.Known()
	if f.packer == nil {
		f.packer = NewPacker(in)
	}
	for _, id := range v.Arrived() {
		c, ok := f.choose(in, id)
		if !ok {
			return d, fmt.Errorf("job %d fits nowhere", id)
		}
		f.chosen[id] = c
		f.waiting = append(f.waiting, id)
	}
	free := copyOf(v.Free())
	blocked := false
	f.waiting = slices.DeleteFunc(f.waiting, func(id sched.JobID) bool {
		if blocked {
			return false
		}
		c := f.chosen[id]
		place, ok := f.packer.Place(free, in.Jobs[id].Elastic.Ring, c.WorkerType, c.ServerType, c.Workers)
		if !ok {
			blocked = !f.options.Backfill
			return false
		}
		take(in, free, &place, 1)
		d.Start = append(d.Start, sim.Assignment{Job: id, Place: place})
		return true
	})
	return d, nil
}

// copyOf returns a copy of what is free, for a policy to plan with.
func copyOf(free [][]int64) [][]int64 {
	out := make([][]int64, len(free))
	for h := range free {
		out[h] = slices.Clone(free[h])
	}
	return out
}

// take subtracts what a placement demands, times sign, from what is free.
func take(in *sched.Instance, free [][]int64, p *sched.Placement, sign int64) {
	for i := range p.Shares {
		for r := range in.Elastic.Resources {
			free[p.Shares[i].Server][r] -= sign * in.ElasticDemand(p, i, r)
		}
	}
}
