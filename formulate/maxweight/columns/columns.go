// Package columns states the scheduling of elastic jobs as the choice of one
// schedule per job, a column, such that all of them fit the cluster: ILP (8) of
// the primal-dual paper, and the like with completion times as costs.
//
//	x[j,l] ∈ {0,1}: job j runs by schedule l
//	min  Σ_{j,l} (c_j (t_l + d_l) − w_j) x[j,l]
//	Σ_l x[j,l] = 1, or ≤ 1 if the job may be left out              each job j
//	Σ_{j,l: t ∈ l} f^r_jh(l) x[j,l] ≤ C_h^r                         each server h, resource r, slot t
//
// With c_j = 0 that is the greatest scheduled weight, negated; with w_j = 0 it is
// the least weighted completion time. The columns are the undominated ones of
// package pricing, which lose no optimum of either.
//
// The linear relaxation is solved by column generation ([Problem.Relax]), the
// integer program by branch and price ([Problem.Solve]), or written down: with
// all its columns ([Problem.Listed]), or without any ([Problem.Compact]).
//
// Every bound is Lagrangian. For any prices δ ≥ 0 of resources no choice costs
// less than
//
//	Σ_j min_l (c_j (t_l + d_l) − w_j + cost of l at δ) − Σ C δ,
//
// each minimum being at most 0 for jobs that may be left out. It is evaluated in
// integers, with prices rounded to binary fractions: see [Problem.Bound].
package columns

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
)

// Terms are how a job counts.
type Terms struct {
	Time     float64 // c_j ≥ 0, per slot of its completion
	Reward   float64 // w_j ≥ 0
	Optional bool    // whether it may be left out
	Latest   int64   // the slot to complete by, or pricing.NoLimit
}

// Problem is an instance with an objective.
type Problem struct {
	Model *pricing.Model
	Terms []Terms
	// Slots is how many slots have finite capacities: Relax and Bound ignore
	// those of later ones, which makes them weaker, but never wrong. For all
	// else, no Latest may be later.
	Slots int
}

// grain returns the greatest power of two not above 1, 2^−k, that every cost is a
// multiple of; false if k would exceed 20.
func (p *Problem) grain() (k int, ok bool) {
	for ; k <= 20; k++ {
		if !slices.ContainsFunc(p.Terms, func(t Terms) bool {
			time, reward := math.Ldexp(t.Time, k), math.Ldexp(t.Reward, k)
			return time != math.Trunc(time) || reward != math.Trunc(reward)
		}) {
			return k, true
		}
	}
	return 0, false
}

// Cost returns what a choice of one schedule per job costs; nil stands for a job
// left out.
func (p *Problem) Cost(choice []*pricing.Choice) *big.Rat {
	sum := new(big.Rat)
	for id, c := range choice {
		if c != nil {
			sum.Add(sum, p.Terms[id].cost(c))
		}
	}
	return sum
}

func (t *Terms) cost(c *pricing.Choice) *big.Rat {
	v := new(big.Rat).SetFloat64(t.Time)
	v.Mul(v, new(big.Rat).SetInt64(c.End()))
	return v.Sub(v, new(big.Rat).SetFloat64(t.Reward))
}

// Schedule returns the schedule of a choice.
func (p *Problem) Schedule(choice []*pricing.Choice) *sched.Schedule {
	s := &sched.Schedule{Class: sched.Class{Kind: sched.E, Slotted: true}, Segments: []sched.Segment{}}
	for id, c := range choice {
		if c != nil {
			s.Segments = append(s.Segments, c.Segment(p.Model.In, sched.JobID(id)))
		}
	}
	s.Sort()
	return s
}

// Greedy gives each job in turn the schedule that completes first in what the
// jobs before it have left. It returns false if a job that may not be left out
// does not complete by its Latest. It leaves others out if they do not, or do not
// pay. It returns false too once the context has ended, which it asks before each job.
//
// Of schedules that complete at one time it takes the one of least volume, in
// shares of what the servers have.
//
// Cost: O(n H R T log T) of n jobs, H servers, R resources and T slots.
func (p *Problem) Greedy(ctx context.Context, order []sched.JobID) ([]*pricing.Choice, bool) {
	out := make([]*pricing.Choice, len(p.Terms))
	return out, p.fill(ctx, out, pricing.NewRoom(p.Model.In, p.Slots), order)
}

// fill is Greedy for the jobs that have no schedule yet.
func (p *Problem) fill(ctx context.Context, out []*pricing.Choice, room *pricing.Room, order []sched.JobID) bool {
	prices := p.shares()
	for _, id := range order {
		if out[id] != nil {
			continue
		}
		if ctx.Err() != nil {
			return false
		}
		c, ok := p.Model.Market(prices, room).Cheapest(pricing.Query{Job: id, Latest: min(p.Terms[id].Latest, int64(p.Slots)), TimeCost: prices.Total() + 1})
		t := &p.Terms[id]
		switch {
		case ok && (!t.Optional || t.cost(&c).Sign() < 0):
			room.Take(&c)
			out[id] = &c
		case !t.Optional:
			return false
		}
	}
	return true
}

// shares are prices of about 1/C each, of 2^40 units in all.
func (p *Problem) shares() *pricing.Prices {
	in := p.Model.In
	rows := len(in.Cluster.Servers) * len(in.Elastic.Resources) * p.Slots
	of := make([]int64, 0, rows)
	for h := range in.Cluster.Servers {
		for _, capacity := range in.Cluster.Servers[h].Capacity {
			for range p.Slots {
				of = append(of, 1<<40/int64(rows)/max(capacity, 1))
			}
		}
	}
	prices, err := pricing.NewPrices(in, p.Slots, 0, of)
	if err != nil { // the total is at most 2^40
		panic(err)
	}
	return prices
}

// maxCapacities bounds the rows of the program, of which each takes a few hundred bytes
// in every linear program that is solved.
const maxCapacities = 1_000_000

// fits returns an error if the program has too many rows to be held in memory.
func (p *Problem) fits() error {
	in := p.Model.In
	servers, resources := len(in.Cluster.Servers), len(in.Elastic.Resources)
	if p.Slots > maxCapacities/(servers*resources) {
		return fmt.Errorf("columns: instance %q: %w: %d slots of %d resources on %d servers are more than %d capacities: choose longer slots",
			in.Name, sched.ErrNotApplicable, p.Slots, resources, servers, maxCapacities)
	}
	return nil
}

// check returns an error if the problem is one for Relax and Bound only, or too large.
func (p *Problem) check() error {
	if err := p.fits(); err != nil {
		return err
	}
	for id, t := range p.Terms {
		if t.Latest > int64(p.Slots) {
			return fmt.Errorf("columns: job %d may complete in slot %d, after the last, %d", id, t.Latest, p.Slots)
		}
	}
	return nil
}

// down returns the largest float64 that is at most v, up the smallest that is at
// least v.
func down(v *big.Rat) float64 {
	f, exact := v.Float64()
	if !exact && new(big.Rat).SetFloat64(f).Cmp(v) > 0 {
		f = math.Nextafter(f, math.Inf(-1))
	}
	return f
}

func up(v *big.Rat) float64 { return -down(new(big.Rat).Neg(v)) }
