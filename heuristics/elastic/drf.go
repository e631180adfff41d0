package elastic

import (
	"fmt"
	"slices"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// drf is the policy DRF.
type drf struct {
	packer  *Packer
	waiting []sched.JobID
	chosen  map[sched.JobID]Choice
}

// DRF returns the policy that shares what is free among the waiting jobs by
// dominant resource fairness: whenever jobs arrive or complete, the waiting job
// with the least dominant share, the earliest of equal ones, is given one more
// worker of its ideal types, and placed anew with it; a job that cannot be, or
// that has D_j workers, gets no more. Then every job that has some starts, and
// keeps them.
//
// Source: Section 7 of the primal-dual paper, algorithm (ii), "the numbers of
// workers (and PSs) are computed to achieve max-min fairness in dominant
// resources". Not in the source: running jobs keep what they have, since problem
// (2) does not preempt, and do not count.
func DRF() sim.Policy { return &drf{chosen: map[sched.JobID]Choice{}} }

func (f *drf) Name() string       { return "elastic-drf" }
func (f *drf) Class() sched.Class { return sched.Class{Kind: sched.E, Slotted: true} }

// filling is what a waiting job has got so far.
type filling struct {
	job     sched.JobID
	workers int
	place   sched.Placement
	share   share
	frozen  bool
}

func (f *drf) Decide(v *sim.View) (d sim.Decision, err error) {
	in := v.Known()
	if f.packer == nil {
		f.packer = NewPacker(in)
	}
	for _, id := range v.Arrived() {
		c, ok := f.packer.Ideal(id)
		if !ok {
			return d, fmt.Errorf("job %d fits nowhere", id)
		}
		f.chosen[id] = c
		f.waiting = append(f.waiting, id)
	}
	free := copyOf(v.Free())
	list := make([]filling, len(f.waiting))
	for i, id := range f.waiting {
		list[i] = filling{job: id, share: share{0, 1}}
	}
	for {
		x := poorest(list)
		if x == nil {
			break
		}
		f.grow(in, free, x)
	}
	for i := range list {
		if list[i].workers > 0 {
			d.Start = append(d.Start, sim.Assignment{Job: list[i].job, Place: list[i].place})
		}
	}
	f.waiting = slices.DeleteFunc(f.waiting, func(id sched.JobID) bool {
		return slices.ContainsFunc(d.Start, func(a sim.Assignment) bool { return a.Job == id })
	})
	return d, nil
}

// poorest returns the job with the least dominant share of those that are not
// frozen, or nil.
func poorest(list []filling) *filling {
	var least *filling
	for i := range list {
		if x := &list[i]; !x.frozen && (least == nil || x.share.compare(least.share) < 0) {
			least = x
		}
	}
	return least
}

// grow gives a job one more worker, or freezes it.
func (f *drf) grow(in *sched.Instance, free [][]int64, x *filling) {
	e, c := in.Jobs[x.job].Elastic, f.chosen[x.job]
	if x.workers > 0 {
		take(in, free, &x.place, -1)
	}
	place, ok := f.packer.Place(free, e.Ring, c.WorkerType, c.ServerType, x.workers+1)
	if ok {
		x.place, x.workers, x.share = place, x.workers+1, f.packer.dominant(&place)
	}
	if x.workers > 0 {
		take(in, free, &x.place, 1)
	}
	x.frozen = !ok || x.workers == e.MaxWorkers
}
