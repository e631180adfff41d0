package elastic

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// start puts a job on a placement.
func (e *engine) start(id sched.JobID, p sched.Placement) error {
	s, err := e.state(id)
	if err != nil {
		return err
	}
	if s != sim.Waiting {
		return fmt.Errorf("it is %v", s)
	}
	r := running{job: id, place: p, start: e.now}
	if r.config, err = e.in.ReadElastic(id, &p); err != nil {
		return err
	}
	for i := range p.Shares {
		for k, name := range e.in.Elastic.Resources {
			if need, has := e.in.ElasticDemand(&p, i, k), e.free[p.Shares[i].Server][k]; need > has {
				return fmt.Errorf("it needs %d %s of server %d, of which %d are free", need, name, p.Shares[i].Server, has)
			}
		}
	}
	slots := r.config.Slots
	if e.remains[id] != nil {
		r.load = e.in.Jobs[id].Load
		slots = e.slotsFor(id, &r)
	}
	if slots > int64(sched.MaxTime/e.in.Slot)-e.now {
		return fmt.Errorf("it runs for %d slots, beyond %v", slots, sched.MaxTime)
	}
	r.end = e.now + slots
	e.take(&r.place, 1)
	e.on = append(e.on, r)
	e.states[id] = sim.Training
	return nil
}

// pace returns how many microseconds the job needs for one mini-batch, all its
// workers together: theta/N.
func (e *engine) pace(id sched.JobID, c *sched.ElasticConfig) *big.Rat {
	theta := e.in.BatchTime(id, c.WorkerType, c.ServerType, c.Workers, c.OneServer)
	return theta.Mul(theta, big.NewRat(int64(sched.Second), int64(c.Workers)))
}

// slotsFor returns the number of slots that the load and the mini-batches left
// of a job take.
func (e *engine) slotsFor(id sched.JobID, r *running) int64 {
	t := e.pace(id, &r.config)
	t.Mul(t, e.remains[id])
	t.Add(t, new(big.Rat).SetInt64(int64(r.load)))
	t.Quo(t, new(big.Rat).SetInt64(int64(e.in.Slot)))
	n, rest := new(big.Int).QuoRem(t.Num(), t.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		n.Add(n, big.NewInt(1))
	}
	if !n.IsInt64() {
		return int64(sched.MaxTime)
	}
	return n.Int64()
}

// leftOf returns how many mini-batches are left of a job on the cluster.
func (e *engine) leftOf(r *running) *big.Rat {
	left := new(big.Rat).SetInt64(e.in.Jobs[r.job].Elastic.Batches)
	if before := e.remains[r.job]; before != nil {
		left.Set(before)
	}
	if train := e.time(e.now-r.start) - r.load; train > 0 && !r.pausing {
		done := new(big.Rat).SetInt64(int64(train))
		left.Sub(left, done.Quo(done, e.pace(r.job, &r.config)))
	}
	if left.Sign() < 0 { // the last slot need not be full
		left.SetInt64(0)
	}
	return left
}

func (e *engine) find(id sched.JobID) int {
	return slices.IndexFunc(e.on, func(r running) bool { return r.job == id })
}

// preempt stops a job. If it has trained since its last start, its state is
// saved while its containers stay held.
func (e *engine) preempt(id sched.JobID) error {
	s, err := e.state(id)
	if err != nil {
		return err
	}
	i := e.find(id)
	switch {
	case e.policy.Class().Kind != sched.EP:
		return fmt.Errorf("class %v does not preempt", e.policy.Class())
	case i < 0 || e.on[i].pausing:
		return fmt.Errorf("it is %v", s)
	case e.on[i].start == e.now:
		return errors.New("it has just started")
	}
	r := &e.on[i]
	trained := e.time(e.now-r.start) > r.load
	e.result.Preemptions++
	e.addRun(r, e.time(e.now))
	e.remains[id] = e.leftOf(r)
	pause := e.in.Jobs[id].Pause
	if !trained {
		e.result.Futile++
		lost := e.time(e.now - r.start)
		e.result.FutileTime += lost
		e.result.FutileGPUTime += lost * sched.Time(r.place.GPUs())
	}
	if !trained || pause == 0 {
		e.release(&r.place)
		e.on = slices.Delete(e.on, i, i+1)
		e.states[id] = sim.Waiting
		if pause > 0 {
			e.view.paused = append(e.view.paused, id)
		}
		return nil
	}
	now := e.time(e.now)
	e.segments = append(e.segments, sched.Segment{Job: id, Start: now, End: now + pause, Phase: sched.Pause, Place: r.place})
	r.pausing, r.end = true, e.now+int64((pause+e.in.Slot-1)/e.in.Slot)
	e.states[id] = sim.Pausing
	return nil
}
