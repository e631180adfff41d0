package sim

import (
	"slices"

	"yardstick/sched"
)

// memory returns what the job needs of each GPU of a placement, which has been
// accepted by runTime. It is 0 outside the sharing model.
func (e *engine) memory(id sched.JobID, p *sched.Placement) sched.Bytes {
	sh := e.in.Jobs[id].Sharing
	if sh == nil {
		return 0
	}
	if e.malleable {
		if z, err := e.in.SizeOn(id, p); err == nil {
			return z.Memory
		}
		return 0 // View.Place holds the gang, which need not be one of the sizes
	}
	option := 0
	if p.Config != nil {
		option = slices.IndexFunc(sh.Accumulation, func(a sched.Accumulation) bool { return a.Steps == p.Config.Accumulation })
	}
	return sh.Accumulation[option].Memory
}

// repaceAround adapts the pace of a job that has just come or is about to be
// forgotten, and of the jobs that it shares GPUs with. Each job has one pace,
// that of its most disturbed replica, as synchronous training waits for it.
func (e *engine) repaceAround(slot int32) {
	r := &e.records[slot]
	e.partners = e.partners[:0]
	for i := range r.place.Shares {
		sh := &r.place.Shares[i]
		for _, dev := range sh.Devices {
			e.partners = append(e.partners, e.cluster.devices.on(sh.Server, dev)...)
		}
	}
	slices.Sort(e.partners)
	for _, id := range slices.Compact(e.partners) {
		e.repace(e.slots[id])
	}
}

// repace counts what the job has done at its old pace and sets the new one.
func (e *engine) repace(slot int32) {
	r := &e.records[slot]
	xi := e.slowdown(r)
	if xi == r.xi {
		return
	}
	if e.states[r.job] != Training {
		r.xi = xi
		return
	}
	e.settle(r)
	r.xi = xi
	e.agenda.move(slot, e.trainedAt(r))
}

// slowdown returns the largest interference by a job that shares a GPU with r,
// in whatever phase that is, and 1 if there is none.
func (e *engine) slowdown(r *record) float64 {
	xi := 1.0
	row := e.in.Interference[e.rowOf(r.job)]
	for i := range r.place.Shares {
		sh := &r.place.Shares[i]
		for _, dev := range sh.Devices {
			for _, other := range e.cluster.devices.on(sh.Server, dev) {
				if other != r.job {
					xi = max(xi, row[e.rowOf(other)])
				}
			}
		}
	}
	return xi
}

// rowOf returns the row of the interference table of a job that is on the cluster.
func (e *engine) rowOf(id sched.JobID) int {
	sh := e.in.Jobs[id].Sharing
	config := e.records[e.slots[id]].place.Config
	for k := range sh.Rows {
		if config == nil || sh.Accumulation[k].Steps == config.Accumulation {
			return sh.Rows[k]
		}
	}
	return sh.Task
}
