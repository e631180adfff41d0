package maxweight_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"
	"time"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

type prob struct {
	in      *sched.Instance
	m       *pricing.Model
	T, R, H int
	sum     float64
}

func (p *prob) cap(i int) float64 {
	return float64(p.in.Cluster.Servers[i/p.T/p.R].Capacity[i/p.T%p.R])
}

func (p *prob) price(at []float64) (value float64, list []pricing.Choice, ids []int) {
	mk := p.m.Market(pricing.Round(p.in, p.T, at, p.sum), nil)
	for i, v := range at {
		value += v * p.cap(i)
	}
	for id := range p.in.Jobs {
		c, ok := mk.Cheapest(pricing.Query{Job: sched.JobID(id), Latest: int64(p.T)})
		if ok {
			pay := p.pay(&c, at)
			value += max(0, p.in.Jobs[id].Weight-pay)
			list = append(list, c)
			ids = append(ids, id)
		}
	}
	return
}

func (p *prob) pay(c *pricing.Choice, at []float64) float64 {
	s := 0.0
	c.Use(p.in, func(h, r int, amount int64) {
		for k := c.Start; k < c.End(); k++ {
			s += at[(h*p.R+r)*p.T+int(k)] * float64(amount)
		}
	})
	return s
}

func run(t *testing.T, in *sched.Instance, alpha float64, steps int) {
	p := &prob{in: in, m: pricing.New(in), T: int(in.DeadlineSlots()), R: len(in.Elastic.Resources), H: len(in.Cluster.Servers)}
	n := p.H * p.R * p.T
	for _, j := range in.Jobs {
		p.sum += j.Weight
	}
	start := time.Now()
	// subgradient
	at := make([]float64, n)
	best := make([]float64, n)
	ub := p.sum
	lambda := 1.0
	stall := 0
	pool := map[string]bool{}
	model := &milp.Model{}
	for i := range n {
		model.AddVar(milp.Variable{Cost: p.cap(i), Upper: p.sum / p.cap(i)})
	}
	for _, j := range in.Jobs {
		model.AddVar(milp.Variable{Cost: 1, Upper: j.Weight})
	}
	add := func(c *pricing.Choice, id int) (milp.Row, bool) {
		key := fmt.Sprint(id, c.Config, c.Start, c.Workers, c.Host)
		if pool[key] {
			return milp.Row{}, false
		}
		pool[key] = true
		row := milp.Row{Sense: milp.GE, RHS: in.Jobs[id].Weight, Cols: []int{n + id}, Vals: []float64{1}}
		c.Use(in, func(h, r int, amount int64) {
			for k := c.Start; k < c.End(); k++ {
				row.Cols, row.Vals = append(row.Cols, (h*p.R+r)*p.T+int(k)), append(row.Vals, float64(amount))
			}
		})
		return row, true
	}
	for k := range steps {
		value, list, ids := p.price(at)
		if value < ub {
			if value < ub*(1-1e-4) {
				stall = 0
			}
			ub = value
			copy(best, at)
		} else if stall++; stall >= 4 {
			lambda *= .7
			stall = 0
		}
		g := make([]float64, n)
		for i := range list {
			if k > steps/2 {
				if row, ok := add(&list[i], ids[i]); ok {
					model.AddRow(row)
				}
			}
			if p.pay(&list[i], at) < in.Jobs[ids[i]].Weight {
				list[i].Use(in, func(h, r int, amount int64) {
					for k := list[i].Start; k < list[i].End(); k++ {
						x := (h*p.R+r)*p.T + int(k)
						g[x] += float64(amount) / p.cap(x)
					}
				})
			}
		}
		norm := 0.0
		for i := range g {
			g[i]--
			if g[i] > 0 || at[i] > 0 {
				norm += g[i] * g[i]
			}
		}
		step := lambda * (value - .5*ub) / norm
		for i := range g {
			at[i] = math.Max(0, at[i]+step*g[i]/p.cap(i))
		}
		if k%20 == 0 {
			println(k, int(value*1000), int(ub*1000), int(1e6*lambda))
		}
	}
	println("subgradient", int(time.Since(start).Milliseconds()), int(1000*ub), len(model.Rows))
	lp, err := lpsolve.LP{}.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	iter, rounds, rows := 0, 0, 0
	var lptime time.Duration
	lb := 0.0
	for {
		s := time.Now()
		r, err := lp.Solve(context.Background(), milp.Limits{})
		if err != nil || r.Termination != milp.Optimal {
			t.Fatal(r, err)
		}
		lptime += time.Since(s)
		iter += r.Stats.Iterations
		x := r.X
		lb = r.PrimalBound
		rounds++
		for i := range at {
			at[i] = alpha*best[i] + (1-alpha)*x[i]
		}
		for pass := range 2 {
			value, list, ids := p.price(at)
			added := 0
			for i := range list {
				if p.pay(&list[i], x)+x[n+ids[i]] < in.Jobs[ids[i]].Weight-1e-7 {
					if row, ok := add(&list[i], ids[i]); ok {
						lp.AddRow(row)
						rows++
						added++
					}
				}
			}
			if value < ub {
				ub = value
				copy(best, at)
			}
			if added > 0 || pass == 1 {
				break
			}
			copy(at, x)
		}
		println(rounds, rows, iter, int(lptime.Milliseconds()), int(time.Since(start).Milliseconds()), int(1000*lb), int(1000*ub))
		if ub-lb < 1e-7*ub || rounds > 300 {
			break
		}
	}
	t.Log(p.T, "alpha", alpha, time.Since(start), "lp", lptime, "ub", ub, "lb", lb, rounds, rows, iter)
}

func TestProbe(t *testing.T) {
	steps, _ := strconv.Atoi(os.Getenv("STEPS"))
	slots, _ := strconv.Atoi(os.Getenv("SLOTS"))
	a, _ := strconv.ParseFloat(os.Getenv("ALPHA"), 64)
	run(t, contended(100, 20, 20, int64(slots)), a, steps)
}
