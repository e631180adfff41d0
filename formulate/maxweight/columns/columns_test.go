package columns_test

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/formulate"
	"yardstick/formulate/maxweight/columns"
	"yardstick/formulate/maxweight/pricing"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/branch"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// problem mixes everything that terms can say: completion times with rewards, jobs
// that may be left out beside others, weights that are not whole numbers.
func problem(r *rand.Rand, in *sched.Instance, slots int) *columns.Problem {
	p := &columns.Problem{Model: pricing.New(in), Slots: slots}
	for range in.Jobs {
		p.Terms = append(p.Terms, columns.Terms{Time: float64(r.IntN(8)) / 4, Reward: float64(r.IntN(20)) / 2, Optional: r.IntN(2) == 0, Latest: int64(slots) - r.Int64N(2)})
	}
	return p
}

func instance(r *rand.Rand, jobs int) *sched.Instance {
	return schedtest.Elastic(r, schedtest.ElasticShape{Jobs: jobs, Servers: 1 + r.IntN(3), Resources: 1 + r.IntN(3), WorkerTypes: 1, ServerTypes: r.IntN(2),
		Workers: 3, Capacity: 4, Slots: 3, Rings: r.IntN(2) == 0})
}

// brute goes through all schedules of all jobs.
func brute(p *columns.Problem) *big.Rat {
	var best *big.Rat
	choice := make([]*pricing.Choice, len(p.Terms))
	room := pricing.NewRoom(p.Model.In, p.Slots)
	var next func(id int)
	next = func(id int) {
		if id == len(p.Terms) {
			if v := p.Cost(choice); best == nil || v.Cmp(best) < 0 {
				best = v
			}
			return
		}
		if p.Terms[id].Optional {
			next(id + 1)
		}
		for c := range p.Model.All(sched.JobID(id), p.Terms[id].Latest) {
			if room.Fits(&c) {
				room.Take(&c)
				choice[id] = &c
				next(id + 1)
				choice[id] = nil
				room.Give(&c)
			}
		}
	}
	next(0)
	return best
}

// TestMixed compares all routes with brute force over columns, where terms are
// mixed and some problems have no solution.
func TestMixed(t *testing.T) {
	empty := 0
	schedtest.EachSeed(t, 200, func(t *testing.T, r *rand.Rand) {
		in := instance(r, 2)
		p := problem(r, in, 3+r.IntN(4))
		want := brute(p)
		o, err := p.Solve(context.Background(), lpsolve.LP{}, milp.Limits{})
		if want == nil {
			empty++
			if err == nil && (o.Termination != milp.Infeasible || o.Cost != nil || o.Bound != nil) {
				t.Fatalf("%s, %v: there is no solution", o.Termination, o.Cost)
			}
			return
		}
		if err != nil || o.Termination != milp.Optimal || o.Cost.Cmp(want) != 0 || o.Bound.Cmp(want) > 0 || p.Cost(o.Choice).Cmp(want) != 0 {
			t.Fatalf("%+v, %v; want %v\n%+v", o, err, want, in)
		}
		if bound, ok := p.Bound(o.Relaxed.Prices); !ok || bound.Cmp(o.Relaxed.Bound) != 0 || bound.Cmp(want) > 0 {
			t.Fatalf("the certificate proves %v, not %v, of %v", bound, o.Relaxed.Bound, want)
		}
		for _, write := range []func(int64, float64) (*formulate.Program, error){p.Listed, p.Compact} {
			prog, err := write(2, 5)
			if err != nil {
				t.Fatal(err)
			}
			res, err := branch.New(lpsolve.LP{}).Solve(context.Background(), prog.Model, milp.Start{}, milp.Limits{})
			if err != nil || res.Termination != milp.Optimal {
				t.Fatal(res, err)
			}
			twice := new(big.Rat).Mul(want, big.NewRat(2, 1))
			if twice.Add(twice, big.NewRat(5, 1)); new(big.Rat).SetFloat64(res.PrimalBound).Cmp(twice) != 0 {
				t.Fatalf("%s: %v, want %v", prog.Model.Name, res.PrimalBound, twice)
			}
			if _, err := prog.Decode(res.X); err != nil {
				t.Fatal(err)
			}
		}
		bound, prices, ok := p.Improve(context.Background(), nil, 20)
		if !ok || bound.Cmp(want) > 0 {
			t.Fatalf("improved %v of %v", bound, want)
		}
		if again, _, _ := p.Improve(context.Background(), prices, 5); again.Cmp(bound) < 0 {
			t.Fatalf("improved from %v to %v", bound, again)
		}
	})
	if empty < 10 || empty > 150 {
		t.Errorf("%d of 200 problems have no solution", empty)
	}
}

// TestHorizon: capacities after the last slot are ignored by the relaxation, which
// stays a bound, and refused by everything else.
func TestHorizon(t *testing.T) {
	schedtest.EachSeed(t, 60, func(t *testing.T, r *rand.Rand) {
		in := instance(r, 2)
		long := &columns.Problem{Model: pricing.New(in), Slots: 10}
		for range in.Jobs {
			long.Terms = append(long.Terms, columns.Terms{Time: 1 + r.Float64(), Latest: 10})
		}
		want := brute(long)
		last := new(big.Rat)
		for _, slots := range []int{0, 1, 3, 6, 10} {
			p := *long
			p.Slots, p.Terms = slots, append([]columns.Terms(nil), long.Terms...)
			for i := range p.Terms {
				p.Terms[i].Latest = pricing.NoLimit
			}
			relaxed, err := p.Relax(context.Background(), lpsolve.LP{}, milp.Limits{})
			if err != nil || relaxed.Termination != milp.Optimal || relaxed.Bound.Cmp(want) > 0 {
				t.Fatalf("%d slots: %+v, %v; the optimum is %v", slots, relaxed, err, want)
			}
			a, _ := relaxed.Bound.Float64()
			if b, _ := last.Float64(); a < b*(1-1e-7) {
				t.Fatalf("%d slots: %v, less than %v", slots, a, b)
			}
			last = relaxed.Bound
			if _, err := p.Solve(context.Background(), lpsolve.LP{}, milp.Limits{}); err == nil {
				t.Fatal("completions after the last slot were accepted")
			}
			if _, err := p.Listed(1, 0); err == nil {
				t.Fatal("completions after the last slot were accepted")
			}
		}
	})
}

// TestRounded: a program whose costs are not numbers of float64 is a relaxation.
func TestRounded(t *testing.T) {
	in := instance(schedtest.Rand(1), 2)
	p := &columns.Problem{Model: pricing.New(in), Slots: 12, Terms: []columns.Terms{{Time: 0.1, Latest: 12}, {Time: 1, Latest: 12}}}
	want := brute(p)
	for _, write := range []func(int64, float64) (*formulate.Program, error){p.Listed, p.Compact} {
		prog, err := write(3, 0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := branch.New(lpsolve.LP{}).Solve(context.Background(), prog.Model, milp.Start{}, milp.Limits{})
		if err != nil || prog.Relation != formulate.Relaxation || prog.Model.IntegralCost {
			t.Fatal(prog.Relation, r, err)
		}
		if v := new(big.Rat).SetFloat64(r.DualBound); v.Cmp(new(big.Rat).Mul(want, big.NewRat(3, 1))) > 0 {
			t.Errorf("bound %v, three times the optimum is %v", v, new(big.Rat).Mul(want, big.NewRat(3, 1)))
		}
	}
}

// countdown is a context that ends after a number of questions for its error.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left >= 0 {
		return nil
	}
	return context.Canceled
}

// TestGreedyStops: the context is asked before each job, and none is looked at after
// its end.
func TestGreedyStops(t *testing.T) {
	in := instance(schedtest.Rand(3), 5)
	p := problem(schedtest.Rand(3), in, 200)
	var order []sched.JobID
	for id := range in.Jobs {
		order = append(order, sched.JobID(id))
		p.Terms[id] = columns.Terms{Time: 1, Latest: pricing.NoLimit}
	}
	for left := range len(order) + 2 {
		choice, ok := p.Greedy(&countdown{context.Background(), left}, order)
		done := 0
		for _, c := range choice {
			if c != nil {
				done++
			}
		}
		if done != min(left, len(order)) || ok != (left >= len(order)) {
			t.Errorf("after %d questions: %d jobs, %v", left, done, ok)
		}
	}
}

// TestImproveStops: the context is asked before each job of each step, so that a step of
// thousands of jobs ends with it, and what was proven by then is returned.
func TestImproveStops(t *testing.T) {
	in := instance(schedtest.Rand(3), 5)
	p := problem(schedtest.Rand(3), in, 200)
	for id := range in.Jobs {
		p.Terms[id] = columns.Terms{Time: 1, Latest: pricing.NoLimit}
	}
	const plenty = 1 << 20
	whole := &countdown{context.Background(), plenty}
	most, _, ok := p.Improve(whole, nil, 1)
	asked := plenty - whole.left
	if !ok || asked < 3*len(in.Jobs) { // the greedy choice, and two evaluations
		t.Fatalf("%d questions of %d jobs: %v", asked, len(in.Jobs), ok)
	}
	var last *big.Rat
	for left := range asked + 1 {
		bound, _, ok := p.Improve(&countdown{context.Background(), left}, nil, 1)
		if left < 2*len(in.Jobs) && ok || ok && (bound.Cmp(most) > 0 || last != nil && bound.Cmp(last) < 0) {
			t.Errorf("after %d questions: %v, after one fewer %v, of %v", left, bound, last, most)
		}
		last = bound
	}
	if last == nil || last.Cmp(most) != 0 {
		t.Errorf("after all questions: %v, not %v", last, most)
	}
}

// TestTooLarge: programs that would not fit memory are not built.
func TestTooLarge(t *testing.T) {
	in := schedtest.Elastic(schedtest.Rand(1), schedtest.ElasticShape{Jobs: 4, Servers: 4, Resources: 1, WorkerTypes: 3, ServerTypes: 3, Workers: 12, Capacity: 12, Slots: 12})
	p := &columns.Problem{Model: pricing.New(in), Slots: 400}
	for range in.Jobs {
		p.Terms = append(p.Terms, columns.Terms{Time: 1, Latest: 400})
	}
	for _, write := range []func(int64, float64) (*formulate.Program, error){p.Listed, p.Compact} {
		if _, err := write(1, 0); !errors.Is(err, sched.ErrNotApplicable) {
			t.Error(err)
		}
	}
}
