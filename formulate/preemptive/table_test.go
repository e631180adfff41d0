package preemptive_test

import (
	"context"
	"math/big"
	"testing"

	"yardstick/bounds"
	"yardstick/formulate/preemptive"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// family returns one of the instances of the table in docs/preemptive.md: three
// jobs on four GPUs, gangs of 1 to 4, training of 1 to 6 slots, loads and pauses
// of 0 to 2, releases in the first five slots.
func family(seed uint64) *sched.Instance {
	r := schedtest.Rand(seed)
	in := schedtest.Plain(schedtest.Servers(4), schedtest.Job(0, 1, 1))
	in.Model, in.Slot, in.Jobs = sched.ModelPreemptive, sched.Second, nil
	for range 3 {
		j := schedtest.Job(sched.Time(r.IntN(5))*sched.Second, 1+r.IntN(4), sched.Time(1+r.IntN(6))*sched.Second)
		j.Load, j.Pause = sched.Time(r.IntN(3))*sched.Second, sched.Time(r.IntN(3))*sched.Second
		in.Jobs = append(in.Jobs, j)
	}
	return in
}

// TestTable measures which share of the optimum the bounds are. The tables of
// the documents come from it; a mean that falls below the one given here means
// that a bound has become weaker.
func TestTable(t *testing.T) {
	const n, obj = 150, sched.TotalCompletion
	table := []struct {
		name        string
		bound       func(in *sched.Instance) *big.Rat
		least, mean float64
		sum, min    float64
	}{
		{name: "lb0", mean: 0.81, least: 0.56, bound: closed(t, bounds.LB0)},
		{name: "srpt", mean: 0.72, least: 0.43, bound: closed(t, bounds.SRPT)},
		{name: "srpt-ranked", mean: 0.88, least: 0.70, bound: closed(t, bounds.Ranked)},
		{name: "mean-busy-time", mean: 0.82, least: 0.67, bound: closed(t, bounds.MeanBusyTime)},
		{name: "srpt-dff", mean: 0.91, least: 0.74, bound: closed(t, bounds.PackedSRPT)},
		{name: "eei-dff", mean: 0.88, least: 0.73, bound: closed(t, bounds.PackedBusyTime)},
		{name: "best of these", mean: 0.91, least: 0.74, bound: bestClosed(t)},
		{name: "grid-lp", mean: 0.96, least: 0.82, bound: func(in *sched.Instance) *big.Rat {
			return mustGrid(t, preemptive.ContinuousGrid, in, obj, preemptive.GridOptions{}).Value
		}},
		{name: "program over bouts, linear", mean: 0.99, least: 0.84, bound: func(in *sched.Instance) *big.Rat { return boutLP(t, in, obj) }},
	}
	for i := range table {
		table[i].min = 1
	}
	for seed := range uint64(n) {
		in := family(seed)
		opt := optimum(t, in, obj).Cost
		for i := range table {
			row := &table[i]
			v := row.bound(in)
			if v.Cmp(opt) > 0 {
				t.Errorf("seed %d: %s = %v exceeds the optimum %v", seed, row.name, v, opt)
			}
			part, _ := new(big.Rat).Quo(v, opt).Float64()
			row.sum += part
			row.min = min(row.min, part)
		}
	}
	for _, row := range table {
		t.Logf("%-28s mean %.3f least %.3f", row.name, row.sum/n, row.min)
		if row.sum/n < row.mean || row.min < row.least {
			t.Errorf("%s: mean %.3f and least %.3f, not %.2f and %.2f", row.name, row.sum/n, row.min, row.mean, row.least)
		}
	}
}

func closed(t *testing.T, f func(*sched.Instance, sched.Objective) (bounds.Bound, error)) func(*sched.Instance) *big.Rat {
	return func(in *sched.Instance) *big.Rat {
		b, err := f(in, sched.TotalCompletion)
		if err != nil {
			t.Fatal(err)
		}
		return b.Value
	}
}

// bestClosed is the largest of the bounds in closed form.
func bestClosed(t *testing.T) func(*sched.Instance) *big.Rat {
	return func(in *sched.Instance) *big.Rat {
		best := new(big.Rat)
		for _, f := range []func(*sched.Instance, sched.Objective) (bounds.Bound, error){bounds.LB0, bounds.SRPT, bounds.Ranked, bounds.MeanBusyTime, bounds.PackedSRPT, bounds.PackedBusyTime} {
			if v := closed(t, f)(in); v.Cmp(best) > 0 {
				best = v
			}
		}
		return best
	}
}

// boutLP returns what the linear program of the program over bouts proves.
func boutLP(t *testing.T, in *sched.Instance, obj sched.Objective) *big.Rat {
	prog, err := preemptive.Build(in, obj, preemptive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lp, err := lpsolve.LP{}.Open(prog.Model)
	if err != nil {
		t.Fatal(err)
	}
	r, err := lp.Solve(context.Background(), milp.Limits{})
	if err != nil || r.Termination != milp.Optimal {
		t.Fatal(r, err)
	}
	return milp.ExactBound(prog.Model, r.RowDuals)
}
