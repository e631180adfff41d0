package certify

import (
	"math/big"

	"yardstick/sched"
)

// gridData are dual values of the program of work per slot of a grid.
type gridData struct {
	Slot  int64       `json:"slot"`
	Slots int         `json:"slots"`
	Jobs  []float64   `json:"jobs"`  // of Σ_k y_jk = d_j
	Unit  string      `json:"unit"`  // what all duals are multiplied by, a fraction
	Rules []rule      `json:"rules"` // what jobs that run together keep
	Rows  [][]gridRow `json:"rows"`  // by slot
	Least []claim     `json:"least,omitempty"`
}

// rule says that jobs which run together have shares that add up to at most Most.
type rule struct {
	Most  int64   `json:"most"`
	Share []int64 `json:"share"` // by job
}

// gridRow is what a rule charges in a slot for each share and microsecond.
type gridRow struct {
	Rule   int     `json:"rule"`
	Charge float64 `json:"charge"`
}

// grid bounds sums of completion times of exclusive gangs that may be preempted
// (P0) by the program
//
//	min Σ w_j (r_j + d_j + Σ_k (mid_k − e_j − r_j − d_j/2) y_jk/d_j)
//	Σ_k y_jk = d_j,  0 ≤ y_jk ≤ |slot k after r_j|,  Σ_j share_j y_jk ≤ most·δ  for every slot and rule
//
// over the slots of a grid, of length δ, where mid_k is the middle of a slot, and
// the beginning of what comes after the last, and e_j = b(δ − b)/(2 d_j) with
// b = d_j mod δ. For slotted schedules (P0s), releases and d_j are first rounded
// up to slots of the instance. docs/preemptive.md, section 4, has the proof.
//
// A rule is checked: no jobs whose gangs fit the GPUs have larger shares.
func (c *Checker) grid(d *document) (proof, error) {
	var data gridData
	jobs, err := c.gangTotals(d, &data, &data.Least)
	if err != nil {
		return proof{}, err
	}
	class := sched.Class{Kind: sched.P0, Slotted: d.Class.Slotted}
	if class.Slotted {
		if c.in.Slot == 0 {
			return proof{}, refuted("the instance has no slots")
		}
		for i := range jobs {
			jobs[i].release, jobs[i].length = c.nextSlot(jobs[i].release), c.nextSlot(jobs[i].length)
		}
	}
	const most = 1 << 20
	if data.Slot < 1 || data.Slots < 0 || data.Slots > most || data.Slot > 4*int64(sched.MaxTime)/int64(data.Slots+1) {
		return proof{}, refuted("%d slots of %d", data.Slots, data.Slot)
	}
	if len(data.Jobs) != len(jobs) || len(data.Rows) != data.Slots {
		return proof{}, refuted("the duals are not of %d jobs and %d slots", len(jobs), data.Slots)
	}
	unit, ok := new(big.Rat).SetString(data.Unit)
	if !ok || unit.Sign() <= 0 {
		return proof{}, refuted("the unit is %q", data.Unit)
	}
	for _, r := range data.Rules {
		if err := c.checkRule(&r, jobs); err != nil {
			return proof{}, err
		}
	}
	p := gridProgram{d: d, c: c, data: &data, jobs: jobs, unit: unit}
	if err := p.evaluate(); err != nil {
		return proof{}, err
	}
	return lower(class, d.restate(c.in, p.sum.value())), nil
}

// nextSlot returns the first multiple of the slot from t on.
func (c *Checker) nextSlot(t sched.Time) sched.Time {
	return mul(up(t, c.in.Slot), c.in.Slot)
}

func (c *Checker) checkRule(r *rule, jobs []job) error {
	if len(r.Share) != len(jobs) || r.Most < 0 {
		return refuted("a rule has %d shares for %d jobs", len(r.Share), len(jobs))
	}
	var items []item
	for i, s := range r.Share {
		if s < 0 || s > 1<<40 {
			return refuted("a rule has a share of %d", s)
		}
		items = append(items, item{jobs[i].gang, s, 1})
	}
	if most := knapsack(items, int64(c.in.Cluster.GPUs())); most > r.Most {
		return refuted("jobs that fit together have shares of %d, and a rule allows %d", most, r.Most)
	}
	return nil
}

type gridProgram struct {
	d      *document
	c      *Checker
	data   *gridData
	jobs   []job
	unit   *big.Rat
	column column
	sum    tally
}

func (p *gridProgram) evaluate() error {
	price, err := numbers(p.data.Jobs)
	if err != nil {
		return err
	}
	for i := range price {
		price[i].Mul(price[i], p.unit)
		p.sum.add(new(big.Rat).Mul(price[i], rational(p.jobs[i].length)))
	}
	for k, rows := range p.data.Rows {
		for _, row := range rows {
			if row.Rule < 0 || row.Rule >= len(p.data.Rules) {
				return refuted("there is no rule %d", row.Rule)
			}
			charge, err := p.charge(row)
			if err != nil {
				return err
			}
			charge.Mul(charge, big.NewRat(p.data.Rules[row.Rule].Most, 1)).Mul(charge, big.NewRat(p.data.Slot, 1))
			p.sum.add(charge.Neg(charge))
		}
		if err := p.columns(k, rows, price); err != nil {
			return err
		}
	}
	if err := p.columns(p.data.Slots, nil, price); err != nil {
		return err
	}
	for i, j := range p.jobs {
		p.sum.add(weighted(p.d.weight(&p.c.in.Jobs[i]), j.end()))
	}
	return nil
}

func (p *gridProgram) charge(row gridRow) (*big.Rat, error) {
	list, err := charges([]float64{row.Charge})
	if err != nil {
		return nil, err
	}
	return list[0].Mul(list[0], p.unit), nil
}

// columns adds how long each job runs in slot k, or after the last.
func (p *gridProgram) columns(k int, rows []gridRow, price []*big.Rat) error {
	begin := mul(int64(k), p.data.Slot)
	one := big.NewRat(1, 1)
	for i, j := range p.jobs {
		r, work := int64(j.release), int64(j.length)
		upper := work
		if k < p.data.Slots {
			upper = min(work, sub(add(begin, p.data.Slot), max(begin, r)))
		}
		if upper <= 0 || work == 0 {
			continue
		}
		twice := sub(mul(2, sub(begin, r)), work) // of the middle, without r_j + d_j/2
		if k < p.data.Slots {
			twice = add(twice, p.data.Slot)
		}
		b := work % p.data.Slot
		excess := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(b), big.NewInt(sub(p.data.Slot, b))), big.NewInt(mul(2, work)))
		cost := big.NewRat(twice, 2)
		cost.Sub(cost, excess).Quo(cost, big.NewRat(work, 1))
		p.column.reset()
		p.column.add(cost, p.d.weight(&p.c.in.Jobs[i]))
		p.column.add(new(big.Rat).Neg(price[i]), one)
		for _, row := range rows {
			share := p.data.Rules[row.Rule].Share[i]
			if share == 0 {
				continue
			}
			charge, err := p.charge(row)
			if err != nil {
				return err
			}
			p.column.add(charge, big.NewRat(share, 1))
		}
		p.column.close(&p.sum, big.NewRat(upper, 1))
	}
	return nil
}
