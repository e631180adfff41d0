package placing

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"yardstick/bench"
	"yardstick/bench/record"
	"yardstick/bench/tables"
	"yardstick/formulate/placement"
	"yardstick/sched"
	"yardstick/solvers/branch"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

func programs() []Method {
	solver := branch.New(lpsolve.LP{})
	return []Method{Formulated(named("one-hot-alpha/branch"), "1", "one-hot-alpha", Alpha, placement.OneHotAlpha, solver),
		Formulated(named("count-cut/branch"), "1", "count-cut", Cut, placement.CountCut, solver)}
}

// On small jobs every method agrees with enumeration, as far as it promises to,
// and the rows say so.
func TestAgainstEnumeration(t *testing.T) {
	proven := map[string]int{}
	const seeds = 80
	for seed := range uint64(seeds) {
		c := sample(t, rand.New(rand.NewPCG(seed, 5)))
		alpha, cut := brute(t, c)
		results := Run(context.Background(), []*Case{c}, slices.Concat(quick(), programs()), Options{Limits: milp.Limits{Nodes: 20_000}})
		rows, err := Rows(results)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i, r := range results {
			if r.Err != nil || r.Skipped || r.Alpha == nil {
				t.Fatalf("seed %d, %s: %+v", seed, r.Method.Name(), r)
			}
			if r.Alpha.Cmp(alpha) < 0 || r.Cut.Cmp(cut) < 0 {
				t.Fatalf("seed %d, %s: alpha %s, cut %s; the least are %s and %s", seed, r.Method.Name(), r.Alpha, r.Cut, alpha, cut)
			}
			least := alpha
			if r.Method.Minimises == Cut {
				least = cut
			}
			if r.Lower != nil && r.Lower.Cmp(least) > 0 {
				t.Fatalf("seed %d, %s: bound %s above the optimum %s", seed, r.Method.Name(), r.Lower, least)
			}
			if name := r.Method.Name(); (name == "min-cut" || name == "min-alpha") && (r.value().Cmp(least) != 0 || r.Termination != milp.Optimal) {
				t.Fatalf("seed %d, %s: %s %s, optimum %s", seed, name, r.Termination, r.value(), least)
			}
			row := &rows[i]
			if row.Proven.V {
				proven[r.Method.Name()]++
				if r.value().Cmp(least) != 0 {
					t.Fatalf("seed %d, %s: %s is proven, optimum %s", seed, r.Method.Name(), r.value(), least)
				}
			}
			if row.Proven.Valid != (r.Method.Minimises != None) || row.Refuted.Valid || row.WallLimited {
				t.Fatalf("seed %d: row %+v", seed, row)
			}
			check := func(what string, ratio, over record.Opt[float64], value, least *big.Rat) {
				want := record.Opt[float64]{}
				switch {
				case least.Sign() > 0:
					want = record.FromRat(new(big.Rat).Quo(value, least))
				case value.Sign() == 0:
					want = record.Some(1.0)
				}
				if ratio != want || over != record.FromRat(least) {
					t.Fatalf("seed %d, %s: %s ratio %v over %v, want %v over %s", seed, r.Method.Name(), what, ratio, over, want, least)
				}
			}
			check("alpha", row.AlphaRatioOptimum, row.AlphaOptimum, r.Alpha, alpha)
			check("alpha", row.AlphaRatioLowerBound, row.AlphaLowerBound, r.Alpha, alpha)
			check("cut", row.CutRatioOptimum, row.CutOptimum, r.Cut, cut)
			check("cut", row.CutRatioLowerBound, row.CutLowerBound, r.Cut, cut)
		}
	}
	// The program's data are rounded down to a grid, and its bound up to the
	// next value that there is.
	if proven["min-alpha"] != seeds || proven["min-cut"] != seeds || proven["one-hot-alpha/branch"] < seeds-5 {
		t.Errorf("proven of %d: %v", seeds, proven)
	}
}

// Equal inputs give equal rows, but for times.
func TestReproducible(t *testing.T) {
	c := sample(t, rand.New(rand.NewPCG(11, 6)))
	var before []record.Placement
	for range 2 {
		rows, err := Rows(Run(context.Background(), []*Case{c}, slices.Concat(quick(), programs()), Options{}))
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			rows[i].Wall, rows[i].Repeats = record.Opt[float64]{}, record.Opt[int]{}
		}
		if before != nil && !reflect.DeepEqual(before, rows) {
			t.Errorf("rows differ:\n%+v\n%+v", before, rows)
		}
		before = rows
	}
}

// Scaling all times and sizes scales alphas and cuts and leaves ratios; equal
// servers may be exchanged.
func TestMetamorphic(t *testing.T) {
	for seed := range uint64(40) {
		c := sample(t, rand.New(rand.NewPCG(seed, 7)))
		scaled := *c
		p := *c.Problem
		scaled.Problem = &p
		p.Jobs = slices.Clone(p.Jobs)
		p.Jobs[0].Stages = slices.Clone(p.Jobs[0].Stages)
		for s := range p.Jobs[0].Stages {
			st := &p.Jobs[0].Stages[s]
			st.Compute, st.Params, st.Boundary = 3*st.Compute, 3*st.Params, 3*st.Boundary
		}
		n := len(p.Cluster.Servers)
		moved := *c // every server has a twin
		q := *c.Problem
		moved.Problem = &q
		q.Cluster.Servers = slices.Repeat(q.Cluster.Servers, 2)
		moved.Servers = slices.Clone(moved.Servers)
		for i := range moved.Servers {
			moved.Servers[i] += n
		}
		rows, err := Rows(Run(context.Background(), []*Case{c, &scaled, &moved}, quick(), Options{}))
		if err != nil {
			t.Fatal(err)
		}
		k := len(quick())
		for i := range k {
			a, b, m := &rows[i], &rows[k+i], &rows[2*k+i]
			if a.AlphaRatioOptimum != b.AlphaRatioOptimum || a.CutRatioOptimum != b.CutRatioOptimum || a.Placement != b.Placement {
				t.Fatalf("seed %d, %s: scaled by 3\n%+v\n%+v", seed, a.Method, a, b)
			}
			if three := triple(t, a.AlphaExact); three != b.AlphaExact {
				t.Fatalf("seed %d, %s: alpha %s, scaled %s", seed, a.Method, a.AlphaExact, b.AlphaExact)
			}
			if a.AlphaExact != m.AlphaExact || a.CutExact != m.CutExact {
				t.Fatalf("seed %d, %s: on twins\n%+v\n%+v", seed, a.Method, a, m)
			}
		}
	}
}

func triple(t *testing.T, exact record.Text) record.Text {
	t.Helper()
	v, ok := new(big.Rat).SetString(string(exact))
	if !ok {
		t.Fatalf("%q is no fraction", exact)
	}
	return record.Exact(v.Mul(v, big.NewRat(3, 1)))
}

// fake is a method that says what it is told to.
func fake(name string, minimises Objective, run func(ctx context.Context, c *Case) (Answer, error)) Method {
	return Method{named(name), "1", minimises, func(ctx context.Context, c *Case, _ milp.Limits) (Answer, error) { return run(ctx, c) }}
}

// Methods that lie, fail, panic or are too small for the job are told apart.
func TestBadMethods(t *testing.T) {
	c := sample(t, rand.New(rand.NewPCG(9, 8)))
	alpha, _ := brute(t, c)
	above := new(big.Rat).Mul(alpha, big.NewRat(10, 1))
	place := func(evidence milp.Evidence, lower *big.Rat) func(context.Context, *Case) (Answer, error) {
		return func(_ context.Context, c *Case) (Answer, error) {
			p, _, err := MinAlpha(0)(c.Problem, c.Servers, c.Parts)
			return Answer{Placement: &p, Lower: lower, Evidence: evidence, Termination: milp.Optimal, Program: &bench.Solve{}}, err
		}
	}
	run := func(m Method) (Result, record.Placement, error) {
		t.Helper()
		results := Run(context.Background(), []*Case{c}, append(quick(), m), Options{})
		rows, err := Rows(results)
		return results[len(results)-1], rows[len(rows)-1], err
	}

	if _, _, err := run(fake("liar", Alpha, place(milp.Proven, above))); !errors.Is(err, tables.ErrBoundViolated) || !strings.Contains(err.Error(), "liar") {
		t.Errorf("a false proof: %v", err)
	}
	if _, row, err := run(fake("boaster", Alpha, place(milp.Claimed, above))); err != nil || row.Refuted != record.Some(true) || row.Proven != record.Some(false) {
		t.Errorf("a false claim: %v, %+v", err, row)
	}
	if _, row, err := run(fake("denier", Cut, func(context.Context, *Case) (Answer, error) {
		return Answer{Termination: milp.Infeasible, Program: &bench.Solve{}}, nil
	})); err != nil || row.Refuted != record.Some(true) || row.Alpha.Valid {
		t.Errorf("a claim that there is no placement: %v, %+v", err, row)
	}
	if _, row, err := run(fake("honest", Alpha, place(milp.Claimed, alpha))); err != nil || row.Refuted != record.Some(false) || row.Proven != record.Some(false) {
		t.Errorf("a true claim: %v, %+v", err, row)
	}
	r, row, err := run(fake("wrong", None, func(context.Context, *Case) (Answer, error) {
		return Answer{Placement: &sched.Placement{Shares: []sched.Share{{Server: 99, GPUs: 1}}}}, nil
	}))
	if !errors.Is(r.Err, bench.ErrInvalidSchedule) || err != nil || row.Alpha.Valid || row.Message == "" {
		t.Errorf("a wrong placement: %v, %v, %+v", r.Err, err, row)
	}
	if r, _, _ := run(fake("panics", None, func(context.Context, *Case) (Answer, error) { panic("ouch") })); !errors.Is(r.Err, bench.ErrPanicked) {
		t.Errorf("a panic: %v", r.Err)
	}
	failure := errors.New("no licence")
	r, _, _ = run(fake("fails", None, func(context.Context, *Case) (Answer, error) { return Answer{}, failure }))
	if failed, skipped := Failures([]Result{r}); len(failed) != 1 || !errors.Is(failed[0], failure) || skipped != 0 {
		t.Errorf("a failure: %v, %d", failed, skipped)
	}
	if _, row, err := run(fake("slow", Cut, func(context.Context, *Case) (Answer, error) {
		return Answer{Termination: milp.TimeLimit, Program: &bench.Solve{}}, nil
	})); err != nil || !row.WallLimited || row.Alpha.Valid {
		t.Errorf("a time limit: %v, %+v", err, row)
	}
}

// After an interruption nothing more runs, and what ran is kept.
func TestInterrupted(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	cases := []*Case{sample(t, rng), sample(t, rng)}
	cases[1].Family = "second"
	ctx, cancel := context.WithCancel(context.Background())
	stop := fake("stop", None, func(context.Context, *Case) (Answer, error) {
		cancel()
		return Answer{Termination: milp.Interrupted}, nil
	})
	results := Run(ctx, cases, append(quick(), stop), Options{})
	rows, err := Rows(results)
	if _, skipped := Failures(results); err != nil || skipped != 1+len(quick())+1 || len(rows) != len(quick()) {
		t.Errorf("%d rows, %d skipped, %v", len(rows), skipped, err)
	}
}
