package certify

import (
	"math/big"

	"yardstick/sched"
)

// pairData are dual values of the program over pairs of jobs. Arrays by slot and
// job have a row for each slot.
type pairData struct {
	Slotted  bool        `json:"slotted"`
	Slot     int64       `json:"slot"`
	Slots    int         `json:"slots"`
	Done     []float64   `json:"done"`     // of Σ_k z_jk = 1, by job
	Progress [][]float64 `json:"progress"` // charged for progress, by slot and job
	Gang     [][]float64 `json:"gang"`     // charged for each GPU held, by slot and job
	Capacity []float64   `json:"capacity"` // charged for each GPU of the cluster, by slot
}

// pairs bounds sums of completion times of jobs that share GPUs by the program
//
//	min Σ w_j (Σ_k c_jk z_jk + d_j/2)
//	Σ_k z_jk = 1
//	(g_j d_j/δ) z_jk − x_jk − Σ_l ρ_(j|l) x_(jl)k ≤ 0
//	x_jk + Σ_l x_(jl)k ≤ g_j
//	Σ_j x_jk + Σ_(jl) x_(jl)k ≤ G
//	0 ≤ z_jk ≤ min(1, time in k from r_j on/d_j), 0 ≤ x_jk ≤ g_j, 0 ≤ x_(jl)k ≤ min(g_j, g_l)
//
// and what is after the last slot uses no GPUs. docs/sharing.md, section 3, and
// the comment of bounds.PairLP say why it is a relaxation.
func (c *Checker) pairs(d *document) (proof, error) {
	var data pairData
	if err := d.totals(); err != nil {
		return proof{}, err
	}
	if err := d.read(&data); err != nil {
		return proof{}, err
	}
	jobs, memory, err := c.sharers()
	if err != nil {
		return proof{}, err
	}
	n := len(jobs)
	const most = 1 << 20
	switch {
	case data.Slot < 1 || data.Slots < 1 || data.Slots > most || data.Slot > 4*int64(sched.MaxTime)/int64(data.Slots):
		return proof{}, refuted("%d slots of %d", data.Slots, data.Slot)
	case data.Slotted && data.Slot != int64(c.in.Slot):
		return proof{}, refuted("slots of %d: the instance has slots of %d", data.Slot, int64(c.in.Slot))
	case len(data.Done) != n || len(data.Progress) != data.Slots || len(data.Gang) != data.Slots || len(data.Capacity) != data.Slots:
		return proof{}, refuted("the duals are not of %d jobs and %d slots", n, data.Slots)
	}
	p := &pairProgram{c: c, data: &data, jobs: jobs, meet: map[[2]int][]meeting{}}
	for i := range jobs {
		p.weight = append(p.weight, d.weight(&c.in.Jobs[i]))
		for l := i + 1; l < n; l++ {
			p.meet[[2]int{i, l}] = fastest(c.meetings(&jobs[i], &jobs[l], memory))
		}
	}
	if p.done, err = numbers(data.Done); err != nil {
		return proof{}, err
	}
	for k := range data.Slots {
		if err := p.addSlot(k); err != nil {
			return proof{}, err
		}
	}
	end := mul(data.Slot, int64(data.Slots))
	for i := range jobs {
		p.sum.add(p.done[i])
		p.column.reset()
		p.column.add(p.weight[i], big.NewRat(max(end, int64(c.in.Jobs[i].Release)), 1))
		p.column.add(p.done[i], big.NewRat(-1, 1))
		p.column.close(&p.sum, big.NewRat(1, 1))
		half := new(big.Rat).Mul(jobs[i].work, big.NewRat(1, 2))
		p.sum.add(half.Mul(half, p.weight[i]))
	}
	return lower(sched.Class{Kind: sched.SP0, Slotted: data.Slotted}, d.restate(c.in, p.sum.value())), nil
}

// fastest leaves out meetings that another one could replace: neither job is
// slower there.
func fastest(list []meeting) []meeting {
	var out []meeting
	for i, m := range list {
		needed := true
		for k, o := range list {
			first, second := o.first.Cmp(m.first), o.second.Cmp(m.second)
			if first >= 0 && second >= 0 && (first+second > 0 || k < i) {
				needed = false
			}
		}
		if needed {
			out = append(out, m)
		}
	}
	return out
}

type pairProgram struct {
	c      *Checker
	data   *pairData
	jobs   []sharer
	weight []*big.Rat
	done   []*big.Rat
	meet   map[[2]int][]meeting
	column column
	sum    tally
}

// addSlot adds the columns and rows of a slot.
func (p *pairProgram) addSlot(k int) error {
	n := len(p.jobs)
	if len(p.data.Progress[k]) != n || len(p.data.Gang[k]) != n {
		return refuted("the duals of slot %d are not of %d jobs", k, n)
	}
	progress, err := charges(p.data.Progress[k])
	if err != nil {
		return err
	}
	gang, err := charges(p.data.Gang[k])
	if err != nil {
		return err
	}
	list, err := charges(p.data.Capacity[k : k+1])
	if err != nil {
		return err
	}
	capacity, one := list[0], big.NewRat(1, 1)
	minus := func(v *big.Rat) *big.Rat { return new(big.Rat).Neg(v) }
	p.sum.add(minus(new(big.Rat).Mul(capacity, big.NewRat(int64(p.c.in.Cluster.GPUs()), 1))))
	part := make([]bool, n)
	for i := range p.jobs {
		j := &p.jobs[i]
		at, time, ok := p.span(i, k)
		if part[i] = ok; !ok {
			continue
		}
		g := big.NewRat(j.gang, 1)
		p.sum.add(minus(new(big.Rat).Mul(gang[i], g)))
		// z: what is done, counted at its time
		p.column.reset()
		p.column.add(p.weight[i], at)
		p.column.add(minus(p.done[i]), one)
		need := new(big.Rat).Mul(j.work, big.NewRat(j.gang, p.data.Slot))
		p.column.add(need, progress[i])
		upper := new(big.Rat).Quo(time, j.work)
		if upper.Cmp(one) > 0 {
			upper = one
		}
		p.column.close(&p.sum, upper)
		// x: GPUs that the job holds alone
		p.column.reset()
		p.column.add(minus(progress[i]), one)
		p.column.add(gang[i], one)
		p.column.add(capacity, one)
		p.column.close(&p.sum, g)
	}
	for i := range p.jobs {
		for l := i + 1; l < n; l++ {
			if !part[i] || !part[l] {
				continue
			}
			for _, m := range p.meet[[2]int{i, l}] {
				p.column.reset()
				p.column.add(minus(m.first), progress[i])
				p.column.add(minus(m.second), progress[l])
				p.column.add(gang[i], one)
				p.column.add(gang[l], one)
				p.column.add(capacity, one)
				p.column.close(&p.sum, big.NewRat(min(p.jobs[i].gang, p.jobs[l].gang), 1))
			}
		}
	}
	return nil
}

// span returns when progress of a job in a slot is counted, and how much time the
// job has there. In slotted schedules rates are constant within a slot, so that
// its middle counts.
func (p *pairProgram) span(i, k int) (at, time *big.Rat, ok bool) {
	from, to, release := mul(int64(k), p.data.Slot), mul(int64(k+1), p.data.Slot), int64(p.c.in.Jobs[i].Release)
	if p.data.Slotted {
		return big.NewRat(add(from, to), 2), big.NewRat(p.data.Slot, 1), release <= from
	}
	from = max(from, release)
	return big.NewRat(from, 1), big.NewRat(sub(to, from), 1), from < to
}
