package sharing

import (
	"container/heap"
	"fmt"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// Exclusive serves waiting jobs in a fixed order on GPUs of their own, which
// are those that have worked the least so far. A value serves one run.
//
// Source: the SJF-BSBF paper, Section VI-A: "Picks the top-G_j GPU with least
// execution time first", which it says of FIFO.
type Exclusive struct {
	name    string
	shorter bool // the job that needs less time is first, not the one released earlier
	skip    bool // jobs that do not fit block nobody

	board   *board  // only for what it knows of the hardware
	queues  []class // under skip by gang, else one
	idle    idle
	running map[sched.JobID]stay
	start   []sim.Assignment
}

// stay is where a running job is, and since when.
type stay struct {
	gpus []int32
	from sched.Time
}

// FIFO serves jobs in order of release; nothing starts before the first.
func FIFO() *Exclusive { return &Exclusive{name: "sharing-fifo"} }

// SJF serves the job that needs the least time first. Those that do not fit
// block nobody, unless strict.
func SJF(strict bool) *Exclusive {
	return &Exclusive{name: "sharing-sjf", shorter: true, skip: !strict}
}

// Name implements sim.Policy.
func (p *Exclusive) Name() string { return p.name }

// Class returns N.
func (p *Exclusive) Class() sched.Class { return sched.Class{Kind: sched.N} }

// Requires implements sim.Requirer: jobs run with the fastest of their
// accumulations that the memory of a GPU holds, which only those of the sharing
// model list.
func (p *Exclusive) Requires(in *sched.Instance) error {
	if in.Model != sched.ModelSharing {
		return fmt.Errorf("it reads the accumulations of jobs of the sharing model, and these are of the %s model", in.Model)
	}
	return nil
}

// idle is the GPUs that nobody holds, the least worked first.
type idle struct {
	gpus   []int32
	worked []sched.Time // of each GPU
}

func (h *idle) Len() int      { return len(h.gpus) }
func (h *idle) Swap(i, j int) { h.gpus[i], h.gpus[j] = h.gpus[j], h.gpus[i] }
func (h *idle) Push(g any)    { h.gpus = append(h.gpus, g.(int32)) }

func (h *idle) Less(i, j int) bool {
	a, b := h.gpus[i], h.gpus[j]
	if h.worked[a] != h.worked[b] {
		return h.worked[a] < h.worked[b]
	}
	return a < b
}

func (h *idle) Pop() any {
	last := len(h.gpus) - 1
	g := h.gpus[last]
	h.gpus = h.gpus[:last]
	return g
}

// Decide implements sim.Policy.
func (p *Exclusive) Decide(v *sim.View) (sim.Decision, error) {
	if p.board == nil {
		p.board = newBoard(v.Hardware(), nil)
		p.running = map[sched.JobID]stay{}
		p.idle.worked = make([]sched.Time, len(p.board.on))
		for g := range p.board.on {
			p.idle.gpus = append(p.idle.gpus, int32(g)) // a heap: all have worked 0
		}
	}
	for _, id := range v.Completed() {
		s := p.running[id]
		delete(p.running, id)
		for _, g := range s.gpus {
			p.idle.worked[g] += v.Now() - s.from
			heap.Push(&p.idle, g)
		}
	}
	for _, id := range v.Arrived() {
		if err := p.enqueue(v, id); err != nil {
			return sim.Decision{}, err
		}
	}
	p.start = p.start[:0]
	for c := p.next(); c != nil; c = p.next() {
		w := c.queue[0]
		c.pop()
		if err := p.begin(v, &w); err != nil {
			return sim.Decision{}, err
		}
	}
	return sim.Decision{Start: p.start}, nil
}

func (p *Exclusive) enqueue(v *sim.View, id sched.JobID) error {
	j, err := v.Job(id)
	if err != nil {
		return err
	}
	w := waiting{release: j.Release, id: id, gang: j.Gang}
	if p.shorter {
		solo, err := fastest(&j, p.board.memory)
		if err != nil {
			return err
		}
		if w, err = measure(v, &j, solo.Iter); err != nil {
			return err
		}
	}
	queue := 0
	if p.skip {
		queue = j.Gang
	}
	for len(p.queues) <= queue {
		p.queues = append(p.queues, class{})
	}
	p.queues[queue].push(w)
	return nil
}

// fastest returns the option that a job has alone on GPUs of some memory.
func fastest(j *sim.Job, memory sched.Bytes) (sched.Accumulation, error) {
	f := newFrontier(j.Sharing, memory)
	if len(f) == 0 {
		return sched.Accumulation{}, fmt.Errorf("sharing: job %d fits no GPU of %v", j.ID, memory)
	}
	return f[0].Accumulation, nil
}

// next returns the queue whose first job starts next, or nil.
func (p *Exclusive) next() *class {
	var first *class
	for i := range p.queues {
		c := &p.queues[i]
		if len(c.queue) > 0 && c.queue[0].gang <= len(p.idle.gpus) && (first == nil || c.queue[0].before(&first.queue[0])) {
			first = c
		}
	}
	return first
}

func (p *Exclusive) begin(v *sim.View, w *waiting) error {
	j, err := v.Job(w.id)
	if err != nil {
		return err
	}
	solo, err := fastest(&j, p.board.memory)
	if err != nil {
		return err
	}
	gpus := make([]int32, w.gang)
	for i := range gpus {
		gpus[i] = heap.Pop(&p.idle).(int32)
	}
	place := p.board.placement(gpus, solo.Steps)
	for i := range place.Shares {
		place.Shares[i].Devices = nil // class N names none
	}
	v.Cluster().Chain(j.Stages, place.Shares)
	p.running[w.id] = stay{gpus: gpus, from: v.Now()}
	p.start = append(p.start, sim.Assignment{Job: w.id, Place: place})
	return nil
}
