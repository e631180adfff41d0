package pairs

import (
	"math"
	"slices"

	"yardstick/sched"
)

// plan is what decides a schedule: who is asked first, and what each job does when it is.
type plan struct {
	order []int32
	genes []gene
}

// gene is what a job does when it is its turn.
type gene struct {
	mode   mode
	strict bool  // nobody behind it starts before it does, even if it is not there yet
	option int   // index of its accumulation
	with   int32 // the running job whose GPUs it asks first, or −1
	after  int32 // the job that it waits for the end of, or −1
}

// mode says which GPUs a job takes.
type mode uint8

const (
	alone  mode = iota // that are free; nobody joins it unless he names it
	free               // that are free if those are enough, else shared ones first
	mixed              // that are free, and shared ones if those are not enough
	joined             // shared ones first
	modes
)

// running is a job on GPUs.
type running struct {
	job     int32
	gpus    []int32
	start   int64
	trains  int64   // from when on
	whole   int64   // how long, alone
	left    float64 // of its training, in microseconds alone
	since   int64   // when left was right
	slow    float64 // its factor since then
	slowed  bool    // whether that was ever more than 1
	end     int64   // if nothing changes
	memory  sched.Bytes
	row     int  // of the table of interference
	partner bool // whether its factor may have changed
}

// decoder makes schedules of plans.
type decoder struct {
	p *problem
	// Of the schedule made last, by job.
	start, end []int64
	gpus       [][]int32

	on      [][2]int32 // by GPU, the jobs that hold it; −1 for none
	at      []int32    // by job, its index in runs, or −1
	runs    []running
	waiting []int32 // in order
	rank    []int32 // by job, its place in the order
	picked  []int32 // scratch
	asked   []int32 // running jobs
	ended   []bool  // by job
	front   int     // in the order, the first strict job that is not released
}

func newDecoder(p *problem) *decoder {
	n := len(p.jobs)
	return &decoder{p: p, start: make([]int64, n), end: make([]int64, n), gpus: make([][]int32, n), on: make([][2]int32, len(p.memory)), at: make([]int32, n), rank: make([]int32, n), ended: make([]bool, n)}
}

// decode makes the schedule of a plan and returns its cost, or infinity as soon as that
// exceeds the limit: at every release and completion the waiting jobs are asked in order.
func (d *decoder) decode(x *plan, limit float64) float64 {
	p := d.p
	for g := range d.on {
		d.on[g] = [2]int32{-1, -1}
	}
	for k, i := range x.order {
		d.at[i], d.rank[i], d.ended[i] = -1, int32(k), false
	}
	d.runs, d.waiting, d.front = d.runs[:0], d.waiting[:0], 0
	cost, next := p.least, 0 // of what has ended, and the others at their least
	for now := int64(0); ; {
		for ; next < len(p.arrivals) && p.jobs[p.arrivals[next]].release <= now; next++ {
			i := p.arrivals[next]
			at, _ := slices.BinarySearchFunc(d.waiting, d.rank[i], func(j, r int32) int { return int(d.rank[j] - r) })
			d.waiting = slices.Insert(d.waiting, at, i)
		}
		d.ask(x, now)
		then := int64(math.MaxInt64)
		if next < len(p.arrivals) {
			then = p.jobs[p.arrivals[next]].release
		}
		for k := range d.runs {
			then = min(then, d.runs[k].end)
		}
		if then == math.MaxInt64 {
			break
		}
		now = then
		for k := 0; k < len(d.runs); k++ {
			if r := &d.runs[k]; r.end <= now {
				i := r.job
				d.end[i], d.ended[i] = r.end, true
				cost += float64(p.weight[i] * float64(r.end-p.jobs[i].soonest))
				d.leave(k, now)
				k--
			}
		}
		if p.total && cost > limit {
			return math.Inf(1)
		}
		if now >= maxEnd {
			return math.Inf(1)
		}
	}
	if len(d.waiting) > 0 {
		return math.Inf(1) // a job whose accumulation fits nowhere
	}
	return p.cost(d.end)
}

// ask starts waiting jobs that find GPUs.
func (d *decoder) ask(x *plan, now int64) {
	for d.front < len(x.order) && !(x.genes[x.order[d.front]].strict && d.p.jobs[x.order[d.front]].release > now) {
		d.front++
	}
	kept := d.waiting[:0]
	blocked := false
	for _, i := range d.waiting {
		g := &x.genes[i]
		blocked = blocked || int(d.rank[i]) > d.front
		if blocked || g.after >= 0 && !d.ended[g.after] || !d.enter(i, g, x, now) {
			blocked = blocked || g.strict
			kept = append(kept, i)
		}
	}
	d.waiting = kept
}

// enter puts a job on GPUs if it finds enough.
func (d *decoder) enter(i int32, g *gene, x *plan, now int64) bool {
	j := &d.p.jobs[i]
	o := &j.options[g.option]
	need := int(j.gang)
	d.picked = d.picked[:0]
	vacant := func(most int) {
		for k := 0; k < len(d.on) && len(d.picked) < most; k++ {
			if d.on[k][0] < 0 && o.memory <= d.p.memory[k] {
				d.picked = append(d.picked, int32(k))
			}
		}
	}
	if g.mode != joined {
		vacant(need)
		if len(d.picked) < need && (g.mode == alone && g.with < 0) {
			return false
		}
	}
	if len(d.picked) < need {
		if g.mode != mixed {
			d.picked = d.picked[:0]
		}
		d.partners(i, g, x)
		for _, k := range d.asked {
			r := &d.runs[k]
			for _, gpu := range r.gpus {
				if len(d.picked) < need && d.on[gpu][1] < 0 && o.memory <= d.p.memory[gpu]-r.memory {
					d.picked = append(d.picked, gpu)
				}
			}
		}
		if len(d.picked) < need && g.mode != mixed {
			vacant(need)
		}
		if len(d.picked) < need {
			return false
		}
	}
	d.at[i] = int32(len(d.runs))
	d.runs = append(d.runs, running{job: i, gpus: append(d.gpus[i][:0], d.picked...), start: now, trains: now + j.load, whole: o.whole, left: o.work, since: now, slow: 1, memory: o.memory, row: o.row})
	r := &d.runs[len(d.runs)-1]
	d.gpus[i], d.start[i] = r.gpus, now
	for _, gpu := range r.gpus {
		if other := d.on[gpu][0]; other >= 0 {
			d.on[gpu][1] = i
			d.runs[d.at[other]].partner = true
		} else {
			d.on[gpu][0] = i
		}
	}
	r.partner = true
	d.settle(now)
	return true
}

// partners lists the running jobs that a job may join: the one that it names first, then
// those that would be joined, the least slowed pairs first.
func (d *decoder) partners(i int32, g *gene, x *plan) {
	d.asked = d.asked[:0]
	row := d.p.jobs[i].options[g.option].row
	for k := range d.runs {
		r := &d.runs[k]
		if r.job == g.with || g.mode != alone && x.genes[r.job].mode != alone {
			d.asked = append(d.asked, int32(k))
		}
	}
	key := func(k int32) float64 {
		r := &d.runs[k]
		if r.job == g.with {
			return 0
		}
		return d.p.xi[row][r.row] * d.p.xi[r.row][row]
	}
	slices.SortStableFunc(d.asked, func(a, b int32) int {
		switch x, y := key(a), key(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return int(d.runs[a].job - d.runs[b].job)
	})
}

// leave takes a job off its GPUs.
func (d *decoder) leave(k int, now int64) {
	r := &d.runs[k]
	i := r.job
	for _, gpu := range r.gpus {
		if d.on[gpu][0] == i {
			d.on[gpu][0] = d.on[gpu][1]
		}
		d.on[gpu][1] = -1
		if other := d.on[gpu][0]; other >= 0 {
			d.runs[d.at[other]].partner = true
		}
	}
	d.at[i] = -1
	last := len(d.runs) - 1
	if k != last {
		d.runs[k] = d.runs[last]
		d.at[d.runs[k].job] = int32(k)
	}
	d.runs = d.runs[:last]
	d.settle(now)
}

// settle accounts for the training of jobs whose partners have changed, and says when
// they end. What is left of a job that was slowed is rounded up by more than floating point
// errs: it may end a microsecond late, which is legal, and never early.
func (d *decoder) settle(now int64) {
	for k := range d.runs {
		r := &d.runs[k]
		if !r.partner {
			continue
		}
		r.partner = false
		if from := max(r.since, r.trains); now > from {
			r.left -= float64(now-from) / r.slow
		}
		r.since = now
		r.slow = 1
		for _, gpu := range r.gpus {
			for _, other := range d.on[gpu] {
				if other >= 0 && other != r.job {
					r.slow = max(r.slow, d.p.xi[r.row][d.runs[d.at[other]].row])
				}
			}
		}
		r.slowed = r.slowed || r.slow > 1
		if !r.slowed {
			r.end = r.trains + r.whole
		} else {
			r.end = max(now, r.trains) + max(1, int64(math.Ceil(min(float64(r.left*r.slow), maxEnd))))
		}
	}
}
