package certify

import (
	"math/big"
	"slices"

	"yardstick/sched"
)

// intervalData are dual values of the programs over intervals, PTI and CONF.
type intervalData struct {
	Grid []int64   `json:"grid"` // slot k is [Grid[k], Grid[k+1])
	Jobs []float64 `json:"jobs"` // of the row that a job's columns add up to 1
	// Slots are what a slot charges for each GPU and microsecond: Slots[k]/Divisor[k].
	Slots   []float64 `json:"slots"`
	Divisor []int64   `json:"divisor"`
	// Parts are what CONF charges besides: for each part of so many GPUs of a server
	// of a size; or, with both 0, for each GPU of a job for which any will do.
	Parts []partCharge `json:"parts,omitempty"`
	Least []claim      `json:"least,omitempty"`
}

type partCharge struct {
	Slot    int     `json:"slot"`
	Size    int     `json:"size"`
	GPUs    int     `json:"gpus"`
	Charge  float64 `json:"charge"`
	Divisor int64   `json:"divisor"`
}

// intervals are the data as rationals.
type intervals struct {
	c      *Checker
	d      *document
	data   *intervalData
	jobs   []job
	t      *tariff // for its grid
	price  []*big.Rat
	charge []*big.Rat // by slot
	gpus   int64      // G'
	column column
	sum    tally
}

func (c *Checker) intervals(d *document) (*intervals, error) {
	p := &intervals{c: c, d: d, data: &intervalData{}}
	var err error
	if p.jobs, err = c.gangTotals(d, p.data, &p.data.Least); err != nil {
		return nil, err
	}
	slots := len(p.data.Grid) - 1
	if p.t, err = newTariff(p.data.Grid, make([]int64, max(0, slots))); err != nil {
		return nil, err
	}
	if len(p.data.Jobs) != len(p.jobs) || len(p.data.Slots) != slots || len(p.data.Divisor) != slots {
		return nil, refuted("the duals are not of %d jobs and %d slots", len(p.jobs), slots)
	}
	if p.price, err = numbers(p.data.Jobs); err != nil {
		return nil, err
	}
	if p.charge, err = charges(p.data.Slots); err != nil {
		return nil, err
	}
	p.gpus = reachable(p.jobs, int64(c.in.Cluster.GPUs()))
	for k, divisor := range p.data.Divisor {
		if divisor < 1 {
			return nil, refuted("the divisor of slot %d is %d", k, divisor)
		}
		p.charge[k].Quo(p.charge[k], big.NewRat(divisor, 1))
		all := big.NewRat(p.length(k), 1)
		all.Mul(all, big.NewRat(p.gpus, 1)).Mul(all, p.charge[k])
		p.sum.add(all.Neg(all))
	}
	return p, nil
}

func (p *intervals) length(k int) int64 { return sub(p.t.grid[k+1], p.t.grid[k]) }
func (p *intervals) slots() int         { return len(p.t.grid) - 1 }

// common is the time that an interval has in common with a slot.
type common struct {
	slot int
	time int64
}

// overlaps returns those of [from, to) with every slot.
func (p *intervals) overlaps(from, to int64) []common {
	var out []common
	for k := p.t.slot(from); k < p.slots() && p.t.grid[k] < to; k++ {
		out = append(out, common{k, sub(min(to, p.t.grid[k+1]), max(from, p.t.grid[k]))})
	}
	return out
}

// starts returns the times from the release on at which a job of the given length,
// or its end, meets a grid point; and the release.
func (p *intervals) starts(release, length int64) []int64 {
	out := []int64{release}
	for _, t := range p.t.grid {
		for _, s := range []int64{t, sub(t, length)} {
			if s > release {
				out = append(out, s)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// finish turns what is beyond Σ w_j (r_j + d_j) into the objective.
func (p *intervals) finish() proof {
	sum := p.sum.value()
	for i, j := range p.jobs {
		sum.Add(sum, weighted(p.d.weight(&p.c.in.Jobs[i]), j.end()))
	}
	return lower(sched.Class{Kind: sched.N}, p.d.restate(p.c.in, sum))
}

// shares is PTI: with x_jk the share of job j's work that is done in slot k,
//
//	min Σ w_j (mid_jk − r_j − d_j/2 − e_j) x_jk
//	Σ_k x_jk = 1,  0 ≤ x_jk ≤ min(1, |slot k after r_j|/d_j),  Σ_j g_j d_j x_jk ≤ G' |slot k|
//
// mid_jk is the middle of the part of slot k that is after r_j, or the end of the
// grid, or r_j if that is later. A job that runs from t on has its work at t + d_j/2
// in the mean. With middles of slots for where the work is, the mean is too large
// by at most e_j ≥ 0, the maximum over t of what is linear between starts.
func (c *Checker) shares(d *document) (proof, error) {
	p, err := c.intervals(d)
	if err != nil {
		return proof{}, err
	}
	one := big.NewRat(1, 1)
	for i, j := range p.jobs {
		w := d.weight(&c.in.Jobs[i])
		p.sum.add(p.price[i])
		excess := p.excess(j)
		r, length := int64(j.release), int64(j.length)
		for k := p.t.slot(r); k <= p.slots(); k++ {
			late := big.NewRat(sub(p.middle(j, k), add(mul(2, r), length)), 2)
			p.column.reset()
			p.column.add(w, late.Sub(late, excess))
			p.column.add(new(big.Rat).Neg(p.price[i]), one)
			upper := one
			if k < p.slots() {
				if in := sub(p.t.grid[k+1], max(p.t.grid[k], r)); in < length {
					upper = big.NewRat(in, length)
				}
				work := new(big.Rat).Mul(big.NewRat(j.gang, 1), big.NewRat(length, 1))
				p.column.add(work, p.charge[k])
			}
			p.column.close(&p.sum, upper)
		}
	}
	return p.finish(), nil
}

// middle returns 2·mid_jk.
func (p *intervals) middle(j job, k int) int64 {
	from := max(p.t.grid[k], int64(j.release))
	if k == p.slots() {
		return mul(2, from)
	}
	return add(from, p.t.grid[k+1])
}

// excess returns e_j.
func (p *intervals) excess(j job) *big.Rat {
	worst := new(big.Rat)
	length := int64(j.length)
	for _, t := range p.starts(int64(j.release), length) {
		twice, rest := new(big.Int), length
		for _, o := range p.overlaps(t, add(t, length)) {
			twice.Add(twice, new(big.Int).Mul(big.NewInt(p.middle(j, o.slot)), big.NewInt(o.time)))
			rest = sub(rest, o.time)
		}
		twice.Add(twice, new(big.Int).Mul(big.NewInt(p.middle(j, p.slots())), big.NewInt(rest)))
		mean := new(big.Rat).SetFrac(twice, big.NewInt(mul(2, length)))
		if mean.Sub(mean, big.NewRat(add(mul(2, t), length), 2)); mean.Cmp(worst) > 0 {
			worst = mean
		}
	}
	return worst
}
