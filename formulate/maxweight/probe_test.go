package maxweight_test

import (
	"context"
	"testing"
	"time"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

func kelley(t *testing.T, in *sched.Instance, alpha float64) {
	m := pricing.New(in)
	T := int(in.DeadlineSlots())
	R := len(in.Elastic.Resources)
	H := len(in.Cluster.Servers)
	model := &milp.Model{}
	sum := 0.0
	for _, j := range in.Jobs {
		sum += j.Weight
	}
	for h := range H {
		for r := range R {
			for range T {
				c := float64(in.Cluster.Servers[h].Capacity[r])
				model.AddVar(milp.Variable{Cost: c, Upper: sum / c})
			}
		}
	}
	for _, j := range in.Jobs {
		model.AddVar(milp.Variable{Cost: 1, Upper: j.Weight})
	}
	lp, err := lpsolve.LP{}.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	ub := sum
	start := time.Now()
	iter, rounds, rows := 0, 0, 0
	var lptime time.Duration
	x := make([]float64, len(model.Vars))
	best := make([]float64, H*R*T)
	lb := 0.0
	for {
		if rounds > 0 {
			s := time.Now()
			r, err := lp.Solve(context.Background(), milp.Limits{})
			if err != nil || r.Termination != milp.Optimal {
				t.Fatal(r, err)
			}
			lptime += time.Since(s)
			iter += r.Stats.Iterations
			x = r.X
			lb = r.PrimalBound
		}
		rounds++
		at := make([]float64, H*R*T)
		for i := range at {
			at[i] = alpha*best[i] + (1-alpha)*x[i]
		}
		for pass := range 2 {
			p := pricing.Round(in, T, at, sum)
			mk := m.Market(p, nil)
			value := 0.0
			for i, v := range at {
				value += v * float64(in.Cluster.Servers[i/T/R].Capacity[i/T%R])
			}
			added := 0
			for id := range in.Jobs {
				c, ok := mk.Cheapest(pricing.Query{Job: sched.JobID(id), Latest: int64(T)})
				if !ok {
					continue
				}
				row := milp.Row{Sense: milp.GE, RHS: in.Jobs[id].Weight, Cols: []int{H*R*T + id}, Vals: []float64{1}}
				pay, true_ := 0.0, 0.0
				c.Use(in, func(h, r int, amount int64) {
					for k := c.Start; k < c.End(); k++ {
						i := (h*R+r)*T + int(k)
						row.Cols, row.Vals = append(row.Cols, i), append(row.Vals, float64(amount))
						pay += float64(amount) * x[i]
						true_ += float64(amount) * at[i]
					}
				})
				value += max(0, in.Jobs[id].Weight-true_)
				if pay+x[H*R*T+id] < in.Jobs[id].Weight-1e-7 {
					lp.AddRow(row)
					rows++
					added++
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
		if testing.Verbose() { println(rounds, rows, iter, int(lptime.Milliseconds()), int(time.Since(start).Milliseconds()), int(1000*lb), int(1000*ub)) }
		if ub-lb < 1e-7*ub || rounds > 300 {
			break
		}
	}
	t.Log(T, "alpha", alpha, time.Since(start), "lp", lptime, "ub", ub, "lb", lb, rounds, rows, iter)
}

func TestProbe(t *testing.T) {
	for _, slots := range []int64{16, 32} {
		kelley(t, contended(100, 20, 20, slots), .6)
	}
	in := contended(200, 20, 20, 64)
	kelley(t, in, .6)
}
