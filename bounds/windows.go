package bounds

import (
	"math/big"

	"yardstick/sched"
)

// Window is the time in which a job may start: from First to Last, both included.
type Window struct{ First, Last sched.Time }

// Windows fixes starts by reduced costs. A schedule of class N in which job j starts at s
// costs at least L(λ), and by how much the term of s exceeds the least term of the job
// besides: where that is not below upper, no schedule with this start is. Windows
// returns, by job, the first and the last start that are not ruled out so, or nil if
// there is a job without any: no schedule costs less than upper then.
//
// The term of s is that of d_j, and what a job that runs longer pays is no less. So this
// holds for every placement, and where GPUs are pooled.
//
// Errors: the prices are not valid; sched.ErrNotApplicable.
func (p *JobPrices) Windows(in *sched.Instance, obj sched.Objective, upper *big.Rat) ([]Window, error) {
	w, err := newWorkload(in, obj)
	if err != nil {
		return nil, err
	}
	if err := p.check(sched.N, w, obj); err != nil {
		return nil, err
	}
	c := newTariffOn(p.Grid, p.Exponent, w, obj)
	return c.windows(obj.ToBase(in, upper), p.charged(c), func(j int) { p.charge(c, j) })
}

// windows returns the windows of all jobs, given a value of Σ w_j C_j and what the
// terms exceed L by. charge sets the prices of a job.
func (c *tariff) windows(upper *big.Rat, charged *big.Int, charge func(j int)) ([]Window, error) {
	least, sum := make([]*big.Int, len(c.weight)), new(big.Int)
	for j := range least {
		charge(j)
		least[j] = c.least(j)
		sum.Add(sum, least[j])
	}
	spare := c.ceil(upper) // of a start beyond the least term
	spare.Sub(spare, sum.Sub(sum, charged))
	var out []Window
	for j := range least {
		charge(j)
		w, ok := c.window(j, new(big.Int).Add(least[j], spare))
		if !ok {
			return nil, nil
		}
		out = append(out, w)
	}
	return out, nil
}

// ceil returns a value in units, rounded up.
func (c *tariff) ceil(v *big.Rat) *big.Int {
	num, den := new(big.Int).Set(v.Num()), new(big.Int).Set(v.Denom())
	if c.exponent < 0 {
		num.Lsh(num, uint(-c.exponent))
	} else {
		den.Lsh(den, uint(c.exponent))
	}
	q, rest := num.DivMod(num, den, new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// window returns the first and the last start of job j whose term is below a limit.
// Between two starts that next visits the term is linear, of an integral slope.
func (c *tariff) window(j int, limit *big.Int) (out Window, ok bool) {
	s := c.grid.start(c.w.in.Jobs[j].Release, c.w.length[j])
	at, v := s.at, c.exactly(j, &s)
	below := func(v *big.Int) bool { return v.Cmp(limit) < 0 }
	note := func(first, last sched.Time) {
		if !ok {
			out.First, ok = first, true
		}
		out.Last = last
	}
	if below(v) {
		note(at, at)
	}
	for s.next(c.grid) {
		next := c.exactly(j, &s)
		length := big.NewInt(int64(s.at - at))
		slope := new(big.Int).Sub(next, v)
		slope.Quo(slope, length)
		switch {
		case below(next) && below(v):
			note(at, s.at)
		case below(next): // falling: the first s with v + (s − at)·slope < limit
			past := new(big.Int).Sub(v, limit)
			past.Quo(past, slope.Neg(slope))
			note(at+sched.Time(past.Int64())+1, s.at)
		case below(v): // rising: the last such s
			note(at, at+lastBelow(v, limit, slope))
		}
		at, v = s.at, next
		if w := new(big.Int).Mul(c.weight[j], big.NewInt(int64(s.end()))); !below(w) {
			return out, ok
		}
	}
	if below(v) { // after the grid the term rises by the weight
		note(at, at+lastBelow(v, limit, c.weight[j]))
	}
	return out, ok
}

// lastBelow returns the largest t with v + t·slope < limit, at most lastTime.
func lastBelow(v, limit, slope *big.Int) sched.Time {
	t := new(big.Int).Sub(limit, v)
	t.Sub(t, big.NewInt(1)).Quo(t, slope)
	if !t.IsInt64() || t.Int64() > int64(lastTime) {
		return lastTime
	}
	return sched.Time(t.Int64())
}

// Excess says that the term of a start at At exceeds the least one of its job by Cost,
// rounded down, in a unit of cost.
type Excess struct {
	At   sched.Time
	Cost int64
}

// mostExcess is what larger excesses are cut down to: 64 of them fit an int64.
const mostExcess = 1 << 55

// Excesses returns L(λ) for class N in a unit of Σ w_j C_j, rounded down, and by job the
// starts between which its term is linear, with what they exceed the least one by. Starts
// after the last of them are in no schedule that costs less than upper. A schedule of
// class N costs at least L and the excesses of all of its starts.
//
// Errors: the prices are not valid; sched.ErrNotApplicable.
func (p *JobPrices) Excesses(in *sched.Instance, obj sched.Objective, unit, upper *big.Rat) (least *big.Int, starts [][]Excess, err error) {
	w, err := newWorkload(in, obj)
	if err != nil {
		return nil, nil, err
	}
	if err := p.check(sched.N, w, obj); err != nil {
		return nil, nil, err
	}
	c := newTariffOn(p.Grid, p.Exponent, w, obj)
	sum := new(big.Int)
	best := make([]*big.Int, len(w.length))
	for j := range best {
		p.charge(c, j)
		best[j] = c.least(j)
		sum.Add(sum, best[j])
	}
	sum.Sub(sum, p.charged(c))
	times, over := new(big.Int).Set(unit.Denom()), new(big.Int).Set(unit.Num()) // to the caller's unit
	if c.exponent < 0 {
		over.Lsh(over, uint(-c.exponent))
	} else {
		times.Lsh(times, uint(c.exponent))
	}
	floor := func(v *big.Int) *big.Int {
		out := new(big.Int).Mul(v, times)
		return out.Div(out, over)
	}
	spare := c.ceil(obj.ToBase(in, upper))
	spare.Sub(spare, sum)
	for j := range best {
		p.charge(c, j)
		limit := new(big.Int).Add(best[j], spare)
		var list []Excess
		note := func(at sched.Time, v *big.Int) {
			x := floor(new(big.Int).Sub(v, best[j]))
			if x.Cmp(big.NewInt(mostExcess)) > 0 {
				x.SetInt64(mostExcess)
			}
			list = append(list, Excess{at, x.Int64()})
		}
		s := c.grid.start(in.Jobs[j].Release, w.length[j])
		for more := true; more; more = s.next(c.grid) {
			v := c.exactly(j, &s)
			note(s.at, v)
			if new(big.Int).Mul(c.weight[j], big.NewInt(int64(s.end()))).Cmp(limit) >= 0 {
				break
			}
			if s.from == c.grid.Slots() && v.Cmp(limit) < 0 { // from here on the term rises by the weight
				step := lastBelow(v, limit, c.weight[j]) + 1
				note(s.at+step, v.Add(v, new(big.Int).Mul(c.weight[j], big.NewInt(int64(step)))))
			}
		}
		starts = append(starts, list)
	}
	return floor(sum), starts, nil
}
