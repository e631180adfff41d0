package sim

import (
	"errors"
	"fmt"

	"yardstick/sched"
)

func (e *engine) arrive(id sched.JobID) {
	e.states[id] = Waiting
	if e.containers != nil {
		e.containers.reveal(id)
	}
	e.view.arrived = append(e.view.arrived, id)
}

// released returns the job's state, or an error that wraps ErrHidden.
func (e *engine) released(id sched.JobID) (State, error) {
	if id < 0 || int(id) >= len(e.states) || e.states[id] == hidden {
		return hidden, ErrHidden
	}
	return e.states[id], nil
}

// start puts a waiting job on a placement and begins its load, or its training
// if there is nothing to load.
func (e *engine) start(id sched.JobID, place sched.Placement) error {
	state, err := e.released(id)
	if err != nil {
		return err
	}
	if state != Waiting {
		return fmt.Errorf("it is %v", state)
	}
	whole, err := e.vet(id, &place)
	if err != nil {
		return err
	}
	slot := e.newRecord()
	e.records[slot] = record{job: id, place: place, started: e.now, whole: whole, xi: 1, done: e.saved[id]}
	delete(e.saved, id)
	e.slots[id] = slot
	e.hold(id, &place)
	if e.shared {
		e.repaceAround(slot)
	}
	if load := e.in.Jobs[id].Load; load > 0 && (e.containers == nil || e.records[slot].done != nil) {
		e.begin(slot, Loading, loadEnd, e.now+load)
	} else {
		e.train(slot)
	}
	return nil
}

// vet checks that the placement holds the job's gang, in class M one of its
// sizes, or containers that an elastic job may have, and that all of it is there to
// be had. It returns how long the whole job trains there when it shares no GPU.
func (e *engine) vet(id sched.JobID, p *sched.Placement) (sched.Time, error) {
	whole, err := e.runTime(id, p)
	if err != nil {
		return 0, err
	}
	if e.containers != nil {
		return whole, e.containers.vet(p)
	}
	memory := e.memory(id, p)
	for i := range p.Shares {
		sh := &p.Shares[i]
		server := &e.in.Cluster.Servers[sh.Server]
		switch {
		case e.shared:
			if err := e.cluster.devices.vet(id, sh, memory, server); err != nil {
				return 0, err
			}
		case sh.Devices != nil:
			return 0, errors.New("its placement names devices, which only class S does")
		case memory > server.GPUMemory:
			return 0, fmt.Errorf("it needs %v on each GPU, but those of server %d have %v", memory, sh.Server, server.GPUMemory)
		case sh.GPUs > e.cluster.free[sh.Server]:
			return 0, fmt.Errorf("its placement takes %d GPUs of server %d, which has %d free", sh.GPUs, sh.Server, e.cluster.free[sh.Server])
		}
	}
	return whole, nil
}

// hold takes what a vetted placement demands.
func (e *engine) hold(id sched.JobID, p *sched.Placement) {
	if e.containers != nil {
		e.containers.take(p, 1)
		return
	}
	e.cluster.hold(id, p, e.memory(id, p))
}

// release undoes hold.
func (e *engine) release(id sched.JobID, p *sched.Placement) {
	if e.containers != nil {
		e.containers.take(p, -1)
		return
	}
	e.cluster.release(id, p, e.memory(id, p))
}

// train begins the job's training.
func (e *engine) train(slot int32) {
	r := &e.records[slot]
	r.since = e.now
	e.begin(slot, Training, trainEnd, e.trainedAt(r))
}

// endPhase carries out the event of a job on the cluster: its phase is over.
func (e *engine) endPhase(slot int32) {
	e.close(slot)
	switch e.states[e.records[slot].job] {
	case Loading:
		e.train(slot)
	case Training:
		e.complete(slot)
	case Pausing:
		e.suspend(slot)
	}
}

func (e *engine) complete(slot int32) {
	id := e.records[slot].job
	e.leave(slot, Done)
	e.left--
	e.view.completed = append(e.view.completed, id)
	if e.predictor != nil {
		e.predictor.Observe(facts(e.in, id), e.iters(id))
	}
}

// suspend takes a preempted job off the cluster, keeping what it has done.
func (e *engine) suspend(slot int32) {
	r := &e.records[slot]
	if r.done != nil {
		e.saved[r.job] = r.done
	}
	e.view.paused = append(e.view.paused, r.job)
	e.leave(slot, Waiting)
}

// preempt takes a job off its GPUs: after it has saved its state if it has
// trained since its last start, at once if it has not.
func (e *engine) preempt(id sched.JobID) error {
	state, err := e.released(id)
	switch {
	case err != nil:
		return err
	case e.class.Kind != sched.P && e.class.Kind != sched.EP && !e.malleable:
		return fmt.Errorf("class %v is not preemptive", e.class)
	case state != Loading && state != Training:
		return fmt.Errorf("it is %v", state)
	}
	slot := e.slots[id]
	r := &e.records[slot]
	if r.started == e.now {
		return fmt.Errorf("it was started in this instant")
	}
	e.close(slot)
	e.result.Preemptions++
	if state == Training && r.since < e.now {
		e.settle(r)
		if pause := e.in.Jobs[id].Pause; pause > 0 {
			e.begin(slot, Pausing, pauseEnd, e.now+pause)
			return nil
		}
	} else {
		lost := e.now - r.started
		e.result.Futile++
		e.result.FutileTime += lost
		e.result.FutileGPUTime += lost * sched.Time(r.place.GPUs())
	}
	e.suspend(slot)
	return nil
}

// begin opens a phase of the job that ends at the given time.
func (e *engine) begin(slot int32, s State, end kind, at sched.Time) {
	r := &e.records[slot]
	r.segment = len(e.segments)
	e.segments = append(e.segments, sched.Segment{Job: r.job, Start: e.now, Phase: phases[s], Place: r.place})
	e.states[r.job] = s
	e.agenda.add(event{at: at, key: eventKey(end, r.job), slot: slot})
}

// close ends the phase that the job is in, and its segment.
func (e *engine) close(slot int32) {
	e.agenda.remove(slot)
	e.segments[e.records[slot].segment].End = e.now
}

// leave takes a job off the cluster and forgets its record.
func (e *engine) leave(slot int32, s State) {
	r := &e.records[slot]
	e.states[r.job] = s
	e.release(r.job, &r.place)
	if e.shared {
		e.repaceAround(slot)
	}
	e.records[slot] = record{}
	e.spare = append(e.spare, slot)
}

func (e *engine) newRecord() int32 {
	if n := len(e.spare); n > 0 {
		slot := e.spare[n-1]
		e.spare = e.spare[:n-1]
		return slot
	}
	e.records = append(e.records, record{})
	return int32(len(e.records) - 1)
}
