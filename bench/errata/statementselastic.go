package errata

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"yardstick/bounds/theorems"
	formulation "yardstick/formulate/elastic"
	"yardstick/formulate/maxweight"
	"yardstick/formulate/maxweight/pricing"
	"yardstick/heuristics/primaldual"
	"yardstick/heuristics/primaldual/mincost"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// elasticCase is an elastic instance with what its statements are about: one
// maximum weighted schedule problem for all jobs, and runs of A_online.
type elasticCase struct {
	ctx     context.Context
	in      *sched.Instance // with the horizon as its deadline
	open    *sched.Instance // without a deadline, for A_online
	limits  Limits
	problem primaldual.Problem
	weight  theorems.Interval // optimum of the problem
	list    []Statement
}

// maxWindows bounds the windows that Algorithms 4 to 7 are compared on.
const maxWindows = 256

// aboutPrimalDual evaluates the statements of the primal-dual paper. The horizon of
// the maximum weighted schedule problem is the instance's deadline, or the time in
// which all jobs can be done one after the other.
func aboutPrimalDual(ctx context.Context, in *sched.Instance, l Limits) ([]Statement, error) {
	c := &elasticCase{ctx: ctx, limits: l}
	due, open := *in, *in
	open.Deadline = 0
	c.open = &open
	if c.in = &due; due.DeadlineSlots() == 0 {
		due.Deadline = sched.Time(primaldual.SerialSlots(in)) * due.Slot
	}
	if err := due.Validate(); err != nil {
		return nil, err
	}
	c.problem = primaldual.Problem{Model: pricing.New(c.in), Horizon: c.in.DeadlineSlots()}
	for id := range in.Jobs {
		c.problem.Jobs = append(c.problem.Jobs, sched.JobID(id))
	}
	for _, step := range []func() error{c.solve, c.batches, c.rounds, c.online} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	for _, r := range theorems.Complexity() {
		c.add("", "", "", r)
	}
	return c.list, nil
}

func (c *elasticCase) add(policy, unit, note string, r theorems.Result) {
	c.list = append(c.list, Statement{Paper: primalDualPaper, Policy: policy, Unit: unit, Note: note, Result: r})
}

// solve bounds the largest weight.
func (c *elasticCase) solve() error {
	r, err := maxweight.Solve(c.ctx, c.in, c.limits.Solver, c.limits.Limits)
	if err != nil {
		return err
	}
	v, err := verify.Check(c.in, r.Schedule)
	if err != nil {
		return err
	}
	c.weight = theorems.Interval{Lower: v.Cost(sched.ScheduledWeight), Upper: r.Bound}
	return nil
}

// batches runs A_maxweight with the printed and the corrected prices, and the
// pricing subroutines at the final ones.
func (c *elasticCase) batches() error {
	corrected := primaldual.Greedy{Pricing: primaldual.Corrected}.Outcome(c.problem)
	for _, g := range []primaldual.Greedy{{}, {Pricing: primaldual.Corrected}} {
		o := g.Outcome(c.problem)
		m, err := c.maxWeight(o)
		if err != nil {
			return err
		}
		m.SmallDemands = o.Tariff.Crowd < 1-1e-9
		m.WeightsInRange = true // the prices are scaled such that the least ratio is 1, and F is the largest
		// F of the corrected tariff is the largest w/f.
		m.Prohibitive = o.Tariff.Lambda >= 2*corrected.Tariff.F/o.Tariff.Mu+2.001
		form, note := theorems.Printed, "printed prices"
		if g.Pricing == primaldual.Corrected {
			form, note = theorems.Sharp, "corrected prices"
			m.MuS = rational(o.Tariff.Mu * o.Tariff.S)
		}
		for _, ring := range []bool{false, true} {
			if m.Ring = ring; c.has(ring) {
				for _, r := range c.feasible(m, o) {
					c.add("a-maxweight", "weight", note, r)
				}
			}
		}
		c.add("a-maxweight", "weight", note, theorems.Approximation(*m, form))
		if form == theorems.Printed {
			c.pricing(o.Prices())
		}
	}
	return nil
}

func rational(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }

// has reports whether there are rings, or jobs with parameter servers.
func (c *elasticCase) has(ring bool) bool {
	for i := range c.in.Jobs {
		if c.in.Jobs[i].Elastic.Ring == ring {
			return true
		}
	}
	return false
}

// maxWeight restates the outcome of A_maxweight.
func (c *elasticCase) maxWeight(o *primaldual.Outcome) (*theorems.MaxWeight, error) {
	s := &sched.Schedule{Class: sched.Class{Kind: sched.E, Slotted: true}, Segments: []sched.Segment{}}
	for _, x := range o.Runs {
		s.Segments = append(s.Segments, c.in.ElasticSegment(x.Job, x.Start, x.End-x.Start, x.Place))
	}
	s.Sort()
	v, err := verify.Check(c.in, s)
	if err != nil {
		return nil, err
	}
	return &theorems.MaxWeight{Weight: v.Cost(sched.ScheduledWeight), Optimum: c.weight, Load: c.load(o.Runs), Refused: len(o.Runs) < len(c.in.Jobs),
		Lambda: rational(o.Tariff.Lambda)}, nil
}

// load returns the largest fraction of a resource that is taken in a slot.
func (c *elasticCase) load(runs []primaldual.Run) *big.Rat {
	most := new(big.Rat)
	resources := len(c.in.Elastic.Resources)
	taken := make([]int64, len(c.in.Cluster.Servers)*resources*int(c.problem.Horizon))
	for _, x := range runs {
		var config sched.Config
		if x.Place.Config != nil {
			config = *x.Place.Config
		}
		for _, sh := range x.Place.Shares {
			for r := range resources {
				use := int64(sh.Stages[0]) * c.in.Elastic.Workers[config.WorkerType].Demand[r]
				if sh.Stages[1] > 0 {
					use += int64(sh.Stages[1]) * c.in.Elastic.Servers[config.ServerType].Demand[r]
				}
				for t := x.Start; t < x.End; t++ {
					at := (sh.Server*resources+r)*int(c.problem.Horizon) + int(t)
					taken[at] += use
					if capacity := c.in.Cluster.Servers[sh.Server].Capacity[r]; capacity > 0 {
						if share := big.NewRat(taken[at], capacity); share.Cmp(most) > 0 {
							most = share
						}
					}
				}
			}
		}
	}
	return most
}

// feasible evaluates Theorem 2, or 7 for rings, for the jobs of that kind. A job's
// cost at the final prices is known within what their rounding costs; where that
// matters the verdict is Undecided.
func (c *elasticCase) feasible(m *theorems.MaxWeight, o *primaldual.Outcome) []theorems.Result {
	prices := o.Prices()
	market := c.problem.Model.Market(prices, nil)
	jobs := func(cost func(*pricing.Choice) *big.Rat) (list []theorems.DualJob) {
		for i, id := range c.problem.Jobs {
			j := &c.in.Jobs[id]
			d := theorems.DualJob{Weight: rational(j.Weight), Utility: o.Utility[i]}
			if d.Utility == nil {
				d.Utility = new(big.Rat)
			}
			choice, ok := market.Cheapest(pricing.Query{Job: id, Latest: c.problem.Horizon})
			if ok && j.Elastic.Ring == m.Ring {
				d.Cost = cost(&choice)
			}
			list = append(list, d)
		}
		return list
	}
	m.Jobs = jobs(func(x *pricing.Choice) *big.Rat { return prices.Value(big.NewInt(x.Cost)) })
	low := theorems.Feasible(*m)
	m.Jobs = jobs(func(x *pricing.Choice) *big.Rat { return c.exactCost(o, x) })
	high := theorems.Feasible(*m)
	for i := range low {
		if low[i].Verdict != high[i].Verdict {
			low[i].Verdict = theorems.Undecided
		}
	}
	return low
}

// exactCost is what a schedule costs at the final prices themselves: an upper bound
// on the least cost.
func (c *elasticCase) exactCost(o *primaldual.Outcome, x *pricing.Choice) *big.Rat {
	sum := new(big.Rat)
	slots, resources := int(c.problem.Horizon), len(c.in.Elastic.Resources)
	x.Use(c.in, func(h, r int, amount int64) {
		for t := int(x.Start); t < int(x.End()); t++ {
			price := rational(o.Delta[(h*resources+r)*slots+t])
			sum.Add(sum, price.Mul(price, big.NewRat(amount, 1)))
		}
	})
	return sum
}

// pricing compares Algorithms 4 to 7 with the optimum of every job at given
// prices. A row stands for all jobs and shows the first that the algorithm is wrong
// about.
func (c *elasticCase) pricing(prices *pricing.Prices) {
	market := c.problem.Model.Market(prices, nil)
	for _, ring := range []bool{false, true} {
		if !c.has(ring) {
			continue
		}
		for _, x := range []struct {
			form    string
			variant mincost.Variant
		}{{theorems.Printed, mincost.Printed}, {theorems.Repaired, mincost.AtLeastOne}} {
			wrong, jobs := 0, 0
			row := theorems.Pricing1(theorems.Pricing{Ring: ring})
			row.Verdict = theorems.NotApplicable
			for _, id := range c.problem.Jobs {
				e := c.in.Jobs[id].Elastic
				if e.Ring != ring || c.problem.Horizon > maxWindows {
					continue
				}
				jobs++
				p := theorems.Pricing{Ring: ring, Saves: c.saves(e)}
				if best, ok := market.Cheapest(pricing.Query{Job: id, Latest: c.problem.Horizon}); ok {
					p.Optimum = prices.Value(big.NewInt(best.Cost))
				}
				p.Returned = subroutines(mincost.Query{In: c.in, Job: id, Tau: c.problem.Horizon, Prices: prices}, ring, x.variant)
				r := theorems.Pricing1(p)
				if r.Job = id; x.variant == mincost.Printed {
					r.Unmet = append(r.Unmet, theorems.CountersSet)
				}
				if r.Verdict == theorems.Violated {
					wrong++
				}
				if row.Verdict == theorems.NotApplicable || r.Contradiction() && !row.Contradiction() || r.Verdict == theorems.Violated && row.Verdict != theorems.Violated {
					row = r
				}
			}
			row.Form = x.form
			note := fmt.Sprintf("wrong for %d of %d jobs", wrong, jobs)
			if jobs == 0 {
				note = fmt.Sprintf("more than %d windows", maxWindows)
			}
			c.add("a-mincost", "weight", note, row)
		}
	}
}

// saves reports whether a worker beside parameter servers saves some of them.
func (c *elasticCase) saves(e *sched.Elastic) bool {
	if e.Ring {
		return false
	}
	at := c.in.Elastic.Bandwidth
	for _, w := range c.in.Elastic.Workers {
		for _, p := range c.in.Elastic.Servers {
			if w.Demand[at]*int64(e.MaxWorkers) > p.Demand[at] {
				return true
			}
		}
	}
	return false
}

// subroutines returns the cost of the cheaper answer of the two algorithms, or nil if
// there is none, or if it does not place the workers that it says.
func subroutines(q mincost.Query, ring bool, v mincost.Variant) *big.Rat {
	one, okOne := mincost.MinCost2(q)
	several, okSeveral := mincost.MinCost1(q, v)
	if ring {
		one, okOne = mincost.RingMinCost1(q)
		several, okSeveral = mincost.RingMinCost2(q, v)
	}
	best := one
	if okSeveral && (!okOne || several.Cost < one.Cost) {
		best = several
	}
	if !okOne && !okSeveral || placed(&best).Cmp(big.NewRat(int64(best.ElasticConfig.Workers), 1)) != 0 {
		return nil
	}
	return q.Prices.Value(big.NewInt(best.Cost))
}

// rounds runs A_dual and evaluates Lemma 2, with the approximation ratio that the
// certificates prove for each of its problems.
func (c *elasticCase) rounds() error {
	d := theorems.Rounds{Optimum: c.weight, Gamma: big.NewRat(9, 8), Total: new(big.Rat), Approximates: true}
	for i := range c.in.Jobs {
		w := rational(c.in.Jobs[i].Weight)
		d.Total.Add(d.Total, w)
		if d.Least == nil || w.Cmp(d.Least) < 0 {
			d.Least = w
		}
	}
	p := c.problem
	p.Bounded = true
	for left := p.Jobs; len(left) > 0; {
		p.Jobs = left
		b, err := primaldual.Greedy{}.Solve(p)
		if err != nil {
			return err
		}
		if len(b.Runs) == 0 {
			break
		}
		done := map[sched.JobID]bool{}
		weight := new(big.Rat)
		for _, x := range b.Runs {
			done[x.Job] = true
			weight.Add(weight, rational(c.in.Jobs[x.Job].Weight))
		}
		if ratio := new(big.Rat).Quo(b.Upper, weight); ratio.Cmp(d.Gamma) > 0 {
			d.Gamma = ratio
		}
		d.Weights = append(d.Weights, weight)
		var rest []sched.JobID
		for _, id := range left {
			if !done[id] {
				rest = append(rest, id)
			}
		}
		left = rest
	}
	note := fmt.Sprintf("gamma = %s", d.Gamma.FloatString(3))
	for _, form := range []string{theorems.Printed, theorems.Sharp} {
		c.add("a-dual", "weight", note, theorems.Covered(d, form))
	}
	return nil
}

// online runs A_online, certified and as printed with the alpha of Theorem 5.
func (c *elasticCase) online() error {
	opt := theorems.Interval{}
	r, err := formulation.Solve(c.ctx, c.open, sched.WeightedCompletion, c.limits.Solver, c.limits.Limits)
	if err == nil {
		opt = theorems.Interval{Lower: r.Bound}
		if r.Schedule != nil {
			v, err := verify.Check(c.open, r.Schedule)
			if err != nil {
				return err
			}
			opt.Upper = v.Cost(sched.WeightedCompletion)
		}
	} else if !errors.Is(err, sched.ErrNotApplicable) {
		return err
	}
	slots := primaldual.SerialSlots(c.in)
	tariff, err := primaldual.PaperTariff(c.in, slots, 1)
	if err != nil {
		return err
	}
	alpha, lambda := primaldual.PaperAlpha(c.in, tariff.Lambda), rational(tariff.Lambda)
	for _, run := range []struct {
		note   string
		o      primaldual.Options
		lambda *big.Rat
	}{
		{"certified", primaldual.Options{}, nil},
		{fmt.Sprintf("literal, alpha = %d", alpha), primaldual.Options{Form: primaldual.Literal, Alpha: alpha, MaxWeight: primaldual.Greedy{Tariff: tariff}}, lambda},
	} {
		v, p, err := runOnline(c.ctx, c.open, run.o)
		if err != nil {
			return err
		}
		o := onlineRun(v, p, run.lambda, opt)
		c.add("primal-dual", "weighted µs", run.note, theorems.Competitive(o))
		c.add("primal-dual", "weighted µs", run.note, theorems.PrintedTheorem5(o))
	}
	return nil
}
