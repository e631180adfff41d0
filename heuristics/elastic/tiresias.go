package elastic

import (
	"fmt"
	"math/big"
	"slices"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// tiresias is the policy Tiresias.
type tiresias struct {
	packer *Packer
	jobs   []sched.JobID // not done, by arrival
	chosen map[sched.JobID]Choice
}

// Tiresias returns the policy that preempts for the jobs with the least left to
// do: jobs are packed in order of the slots that one worker would still need times
// the dominant share of their ideal configuration, each with that configuration,
// and those that do not fit are passed over. A running job keeps its containers
// if the jobs before it leave them free. A waiting job is placed beside all that
// run if it can be, and otherwise beside the jobs before it; who is in its way
// then is placed anew or preempted.
//
// Schedules are of class EPs: a preempted or moved job keeps what it has trained,
// and pays Job.Pause and Job.Load. What a job with a pause is to leave is kept for
// the job that it is stopped for.
//
// Deciding whenever jobs arrive, complete or are freed is the same as deciding in
// every slot: in between only the jobs that run get less to do, which moves them
// forward in an order in which they are packed as it is.
//
// Source: Section 7 of the primal-dual paper, algorithm (iv): "assigns jobs
// according to the multiplication of a job's remaining workload and the number of
// resources". Not in the source: that less comes first, and all about containers
// that are kept.
func Tiresias() sim.Policy { return &tiresias{chosen: map[sched.JobID]Choice{}} }

func (t *tiresias) Name() string       { return "elastic-tiresias" }
func (t *tiresias) Class() sched.Class { return sched.Class{Kind: sched.EP, Slotted: true} }

// ranked is a job with what it is ordered by.
type ranked struct {
	job   sched.JobID
	key   *big.Rat
	place *sched.Placement // nil if it waits
	fixed bool             // it has just started
}

func (t *tiresias) Decide(v *sim.View) (d sim.Decision, err error) {
	in := v.Known()
	if t.packer == nil {
		t.packer = NewPacker(in)
	}
	for _, id := range v.Arrived() {
		c, ok := t.packer.Ideal(id)
		if !ok {
			return d, fmt.Errorf("job %d fits nowhere", id)
		}
		t.chosen[id] = c
		t.jobs = append(t.jobs, id)
	}
	t.jobs = slices.DeleteFunc(t.jobs, func(id sched.JobID) bool { return slices.Contains(v.Completed(), id) })
	order, err := t.rank(v)
	if err != nil {
		return d, err
	}
	plan, stop := t.pack(in, order, copyOf(v.Free()))
	free := copyOf(v.Free())
	for _, x := range stop {
		d.Preempt = append(d.Preempt, x.job)
		if in.Jobs[x.job].Pause == 0 {
			take(in, free, x.place, -1)
		}
	}
	for _, a := range plan {
		if holds(in, free, &a.Place) { // otherwise a pause is waited for
			take(in, free, &a.Place, 1)
			d.Start = append(d.Start, a)
		}
	}
	return d, nil
}

// rank returns the jobs that are not done in order. Jobs that pause are not
// among them.
func (t *tiresias) rank(v *sim.View) (order []ranked, err error) {
	in := v.Known()
	for _, id := range t.jobs {
		state, err := v.State(id)
		if err != nil {
			return nil, err
		}
		if state == sim.Pausing {
			continue
		}
		left, err := v.Remaining(id)
		if err != nil {
			return nil, err
		}
		c := t.chosen[id]
		left.Mul(left, in.BatchTime(id, c.WorkerType, c.ServerType, c.Workers, c.OneServer))
		share := new(big.Rat).SetFrac(new(big.Int).SetUint64(c.share.num), new(big.Int).SetUint64(c.share.den))
		x := ranked{job: id, key: left.Mul(left, share)}
		p, ok, err := v.Placement(id)
		if err != nil {
			return nil, err
		}
		if ok {
			since, _, _ := v.Started(id)
			x.place, x.fixed = p, since == v.Now()
		}
		order = append(order, x)
	}
	slices.SortStableFunc(order, func(a, b ranked) int { return a.key.Cmp(b.key) })
	return order, nil
}

// pack decides who runs where: what is to start, as soon as it can, and which
// running jobs are to stop. It changes free, which is what nobody holds, less what
// is to start. The jobs looked at leave spare, whoever else holds it now.
func (t *tiresias) pack(in *sched.Instance, order []ranked, free [][]int64) (plan []sim.Assignment, stop []ranked) {
	spare := copyOf(t.packer.empty())
	for _, x := range order {
		if x.fixed {
			take(in, spare, x.place, 1)
		}
	}
	for _, x := range order {
		if x.fixed {
			continue
		}
		c, ring := t.chosen[x.job], in.Jobs[x.job].Elastic.Ring
		if x.place != nil {
			if holds(in, spare, x.place) {
				take(in, spare, x.place, 1)
				continue
			}
			stop = append(stop, x)
			if in.Jobs[x.job].Pause > 0 {
				continue
			}
			take(in, free, x.place, -1)
		}
		place, ok := t.packer.Place(free, ring, c.WorkerType, c.ServerType, c.Workers)
		if !ok {
			place, ok = t.packer.Place(spare, ring, c.WorkerType, c.ServerType, c.Workers)
		}
		if ok {
			take(in, spare, &place, 1)
			take(in, free, &place, 1)
			plan = append(plan, sim.Assignment{Job: x.job, Place: place})
		}
	}
	return plan, stop
}

// holds reports whether a placement fits what is free.
func holds(in *sched.Instance, free [][]int64, p *sched.Placement) bool {
	for i := range p.Shares {
		for r, has := range free[p.Shares[i].Server] {
			if in.ElasticDemand(p, i, r) > has {
				return false
			}
		}
	}
	return true
}
