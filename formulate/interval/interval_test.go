package interval_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"yardstick/bounds"
	"yardstick/formulate"
	"yardstick/formulate/interval"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

var totals = []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT, sched.MeanJCT}

func bound(t testing.TB, x interval.Relaxation, in *sched.Instance, obj sched.Objective, opt interval.Options) *interval.Result {
	t.Helper()
	r, err := x.Bound(context.Background(), in, obj, lpsolve.LP{}, milp.Limits{}, opt)
	if err != nil {
		t.Fatal(err)
	}
	if r.LP == nil || r.LP.Termination != milp.Optimal {
		t.Fatalf("%v: the linear program ended with %+v", x, r.LP)
	}
	if r.Name != x.String() || r.Objective != obj || r.Class != (sched.Class{Kind: sched.N}) || r.Proof == nil || (r.Prices != nil) != (x == interval.NPTI) {
		t.Fatalf("%v: %+v", x, r)
	}
	return r
}

// atLeast tells whether a ≥ b but for what a linear program's solver leaves open.
func atLeast(a, b *big.Rat) bool {
	x, _ := a.Float64()
	y, _ := b.Float64()
	return x >= y*(1-1e-7)
}

// TestBelowOptimum compares every bound with the optimum by enumeration, on
// instances in microseconds and on any grid; and the bounds with each other.
func TestBelowOptimum(t *testing.T) {
	for seed := range uint64(140) {
		rng := schedtest.Rand(seed)
		shape := schedtest.Shape{Jobs: 1 + rng.IntN(4), Servers: 1 + rng.IntN(3), GPUs: 3, Uniform: rng.IntN(2) == 0,
			Stages: 1 + rng.IntN(2), Traffic: rng.IntN(3) > 0, Weights: true, Span: rng.IntN(2) == 0}
		in := schedtest.Gang(rng, shape)
		if seed%4 == 0 {
			in = schedtest.Preemptive(rng, shape)
		}
		obj := totals[seed/4%4]
		s, optimum := schedtest.BruteForce(in, obj)
		schedtest.Verify(t, in, s)
		opt := interval.Options{Slot: 1 + sched.Time(rng.Int64N(4e5)), Horizon: sched.Time(1 + rng.Int64N(8e6))}
		if opt.Horizon/opt.Slot > 60 {
			opt.Slot = opt.Horizon / 60
		}
		if seed%24 == 0 {
			opt = interval.Options{}
		}
		var last *big.Rat
		for _, x := range interval.Relaxations() {
			r := bound(t, x, in, obj, opt)
			if r.Value.Cmp(optimum) > 0 {
				t.Fatalf("seed %d, %v: %v = %v exceeds the optimum %v\n%+v", seed, obj, x, r.Value, optimum, in)
			}
			if last != nil && !atLeast(r.Value, last) {
				t.Errorf("seed %d, %v: %v = %v is below the weaker program's %v", seed, obj, x, r.Value, last)
			}
			last = r.Value
			if r.Prices != nil {
				b, err := r.Prices.Bound(in, obj)
				if alone, e := bounds.LB0(in, obj); err != nil || e != nil || b.Value.Cmp(r.Value) != 0 && alone.Value.Cmp(r.Value) != 0 {
					t.Errorf("seed %d: prices prove %v, not %v (%v, %v)", seed, b.Value, r.Value, err, e)
				}
			}
		}
	}
}

// whole returns an instance of whole seconds in continuous time.
func whole(seed uint64) *sched.Instance {
	r := schedtest.Rand(seed)
	in := schedtest.Gang(r, schedtest.Shape{Jobs: 2 + r.IntN(4), Servers: 1 + r.IntN(3), GPUs: 1 + r.IntN(3), Uniform: true,
		Stages: 2, Traffic: true, Weights: seed%2 == 1, Slot: sched.Second})
	in.Slot = 0
	return in
}

// TestWholeSeconds: on a grid that fits the data, PTI is at least LB0 and the
// mean busy time bound, and the Lagrangian comes within a thousandth of NPTI.
func TestWholeSeconds(t *testing.T) {
	for seed := range uint64(100) {
		in, obj := whole(seed), sched.WeightedCompletion
		var value [4]*big.Rat
		for _, x := range interval.Relaxations() {
			r := bound(t, x, in, obj, interval.Options{Slot: sched.Second})
			value[x] = r.Value
		}
		for _, f := range []func(*sched.Instance, sched.Objective) (bounds.Bound, error){bounds.LB0, bounds.MeanBusyTime} {
			if b, err := f(in, obj); err != nil || !atLeast(value[interval.PTI], b.Value) {
				t.Errorf("seed %d: PTI is %v, %s %v (%v)", seed, value[interval.PTI], b.Name, b.Value, err)
			}
		}
		d, err := bounds.Lagrangian(context.Background(), in, obj, bounds.LagrangianOptions{Slot: sched.Second, Iterations: 400})
		if err != nil {
			t.Fatal(err)
		}
		npti, _ := value[interval.NPTI].Float64()
		if got, _ := d.Value.Float64(); got < 0.999*npti || !atLeast(value[interval.NPTI], d.Value) {
			t.Errorf("seed %d: the Lagrangian is %v, NPTI %v", seed, got, npti)
		}
	}
}

// TestExamples: one GPU; releases and durations in seconds.
func TestExamples(t *testing.T) {
	for _, test := range []struct {
		jobs      [][2]sched.Time
		pti, npti float64
	}{
		{[][2]sched.Time{{0, 4}, {0, 2}, {4, 2}, {5, 1}}, 22, 23.5},
		{[][2]sched.Time{{0, 5}, {2, 1}}, 8.6, 10.5},
		{[][2]sched.Time{{3, 2}}, 5, 5},
	} {
		in := &sched.Instance{Name: "example", Model: sched.ModelGang, Cluster: schedtest.Servers(1)}
		for _, j := range test.jobs {
			in.Jobs = append(in.Jobs, schedtest.Job(j[0]*sched.Second, 1, j[1]*sched.Second))
		}
		for x, want := range map[interval.Relaxation]float64{interval.PTI: test.pti, interval.NPTI: test.npti, interval.CONF: test.npti} {
			r := bound(t, x, in, sched.TotalCompletion, interval.Options{Slot: sched.Second})
			if got, _ := r.Value.Float64(); math.Abs(got/1e6-want) > 1e-5 {
				t.Errorf("%v: %v is %v, want %v", test.jobs, x, got/1e6, want)
			}
		}
	}
}

// TestConfigurations: three gangs of two GPUs, which take a second on one
// server and an hour on two, do not fit two servers of three GPUs at one time,
// though six GPUs are enough. CONF knows: it is the optimum.
func TestConfigurations(t *testing.T) {
	in := &sched.Instance{Name: "pairs", Model: sched.ModelGang, Cluster: sched.Uniform(2, 3, 1_000_000, 1_000_000_000_000)}
	for range 3 {
		in.Jobs = append(in.Jobs, sched.Job{Weight: 1, Iters: 1, Stages: []sched.Stage{{Replicas: 2, Compute: 999_000_000, Params: 1_000_000_000}}})
	}
	_, optimum := schedtest.BruteForce(in, sched.TotalCompletion)
	for x, want := range map[interval.Relaxation]sched.Time{interval.NPTI: 3 * sched.Second, interval.CONF: 4 * sched.Second} {
		if r := bound(t, x, in, sched.TotalCompletion, interval.Options{Slot: sched.Second, Horizon: 10 * sched.Second}); r.Value.Cmp(big.NewRat(int64(want), 1)) != 0 {
			t.Errorf("%v is %v, want %v", x, r.Value, want)
		}
	}
	if optimum.Cmp(big.NewRat(4e6, 1)) != 0 {
		t.Errorf("the optimum is %v, want 4 s", optimum)
	}
}

// TestRelations: finer grids, permuted jobs, later releases, longer seconds.
func TestRelations(t *testing.T) {
	for seed := range uint64(40) {
		in := whole(seed)
		opt := interval.Options{Slot: 4 * sched.Second, Horizon: 40 * sched.Second}
		for _, x := range interval.Relaxations() {
			base := bound(t, x, in, sched.MeanJCT, opt).Value
			same := func(what string, v *big.Rat) {
				if !atLeast(v, base) || !atLeast(base, v) {
					t.Errorf("seed %d: %v is %v, but %v %s", seed, x, base, v, what)
				}
			}
			if x != interval.PTI { // its costs depend on the slots
				finer := bound(t, x, in, sched.MeanJCT, interval.Options{Slot: 2 * sched.Second, Horizon: opt.Horizon})
				if !atLeast(finer.Value, base) {
					t.Errorf("seed %d: %v is %v, but %v on a finer grid", seed, x, base, finer.Value)
				}
			}
			same("with jobs permuted", bound(t, x, schedtest.PermuteJobs(in, schedtest.Rand(seed).Perm(len(in.Jobs))), sched.MeanJCT, opt).Value)
			shifted := interval.Options{Slot: opt.Slot, Horizon: opt.Horizon + 3*opt.Slot}
			same("with releases later", bound(t, x, schedtest.ShiftReleases(in, 3*opt.Slot), sched.MeanJCT, shifted).Value)
			longer := bound(t, x, schedtest.Scale(in, 3), sched.MeanJCT, interval.Options{Slot: 3 * opt.Slot, Horizon: 3 * opt.Horizon})
			same("after scaling", longer.Value.Quo(longer.Value, big.NewRat(3, 1)))
			if more := bound(t, x, schedtest.AddServer(in, sched.Server{GPUs: 2}), sched.MeanJCT, opt); !atLeast(base, more.Value) {
				t.Errorf("seed %d: %v is %v, but %v with another server", seed, x, base, more.Value)
			}
		}
	}
}

func TestBuild(t *testing.T) {
	in := whole(3)
	for _, x := range interval.Relaxations() {
		for _, obj := range []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT} {
			p, err := x.Build(in, obj, interval.Options{})
			if err != nil || p.Relation != formulate.Relaxation || p.Decode != nil || p.Model.Validate() != nil {
				t.Fatalf("%v: %+v, %v", x, p, err)
			}
			lp, err := lpsolve.LP{}.Open(p.Model)
			if err != nil {
				t.Fatal(err)
			}
			r, err := lp.Solve(context.Background(), milp.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			v, evidence := p.DualBound(r)
			want, _ := bound(t, x, in, obj, interval.Options{}).Value.Float64()
			if evidence != milp.Proven || v > want || math.Ceil(v) < want*(1-1e-7) {
				t.Errorf("%v: the program's bound is %v (%v), that of Bound %v", x, v, evidence, want)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	in := whole(1)
	for _, obj := range []sched.Objective{sched.Makespan, sched.ScheduledWeight} {
		for _, x := range interval.Relaxations() {
			if _, err := x.Build(in, obj, interval.Options{}); !errors.Is(err, sched.ErrNotApplicable) {
				t.Errorf("%v, %v: %v", x, obj, err)
			}
		}
	}
	if _, err := interval.NPTI.Build(in, sched.MeanJCT, interval.Options{}); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("mean JCT: %v", err)
	}
	if _, err := interval.NPTI.Build(in, sched.TotalJCT, interval.Options{Slot: 1}); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("slots of a microsecond: %v", err)
	}
	if _, err := interval.PTI.Build(in, sched.TotalJCT, interval.Options{Slot: -1}); err == nil {
		t.Error("a negative slot")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := interval.NPTI.Bound(ctx, in, sched.TotalJCT, lpsolve.LP{}, milp.Limits{}, interval.Options{})
	alone, _ := bounds.LB0(in, sched.TotalJCT)
	if err != nil || r.LP.Termination != milp.Interrupted || r.Value.Cmp(alone.Value) != 0 {
		t.Errorf("interrupted: %+v, %v", r, err)
	}
}

// countdown is a context that ends after a number of questions for its error, and
// counts those after that.
type countdown struct {
	context.Context
	left, after int
}

func (c *countdown) Err() error {
	if c.left--; c.left >= 0 {
		return nil
	}
	c.after++
	return context.Canceled
}

// TestBuildingStops: a program is not built on when the context has ended.
func TestBuildingStops(t *testing.T) {
	in := whole(3)
	for len(in.Jobs) < 50 {
		in.Jobs = append(in.Jobs, in.Jobs...)
	}
	for _, x := range interval.Relaxations() {
		ctx := &countdown{Context: context.Background(), left: 5}
		r, err := x.Bound(ctx, in, sched.TotalJCT, lpsolve.LP{}, milp.Limits{}, interval.Options{Slot: sched.Second})
		if err != nil || r.LP.Termination != milp.Interrupted || r.Cols != 0 || r.Proof == nil || ctx.after > 2 {
			t.Errorf("%v: %+v, %v; it asked %d times after the end", x, r, err, ctx.after)
		}
	}
}

// TestManyJobs: with more jobs than a small program has columns for, all time is
// one slot. The length of slots grew without end.
func TestManyJobs(t *testing.T) {
	var jobs []sched.Job
	for i := range 2500 {
		jobs = append(jobs, schedtest.Job(sched.Time(i), 1, sched.Time(5+i%7)))
	}
	in := schedtest.Plain(schedtest.Servers(4), jobs...)
	for _, x := range interval.Relaxations() {
		p, err := x.Build(in, sched.TotalJCT, interval.Options{})
		if err != nil || len(p.Model.Rows) > len(in.Jobs)+1 || len(p.Model.Vars) > 3*len(in.Jobs) {
			t.Errorf("%v: %v, %d columns in %d rows", x, err, len(p.Model.Vars), len(p.Model.Rows))
		}
	}
}

// TestDaysAndSeconds: jobs of a week and of a minute that come within seconds.
// Before the rows were scaled, lp_solve found the first program infeasible and
// crashed in the others.
func TestDaysAndSeconds(t *testing.T) {
	in := &sched.Instance{Name: "days", Model: sched.ModelGang, Cluster: sched.Uniform(2, 4, 1.25e9, 300e9)}
	for i, j := range []struct{ release, gang, seconds int }{
		{0, 8, 1004}, {1, 8, 1152}, {2, 8, 932}, {3, 8, 648_851}, {3, 1, 48}, {4, 8, 27_233}, {4, 8, 654},
	} {
		in.Jobs = append(in.Jobs, sched.Job{Name: fmt.Sprint(i), Weight: 1, Iters: 1, Release: sched.Time(j.release) * sched.Second,
			Stages: []sched.Stage{{Replicas: j.gang, Compute: sched.Duration(j.seconds) * 1e9}}})
	}
	if err := in.Validate(); err != nil {
		t.Fatal(err)
	}
	s, optimum := schedtest.BruteForce(in, sched.TotalJCT)
	schedtest.Verify(t, in, s)
	for _, x := range interval.Relaxations() {
		r := bound(t, x, in, sched.TotalJCT, interval.Options{})
		if r.Value.Cmp(optimum) > 0 {
			t.Errorf("%v: %v exceeds the optimum %v", x, r.Value, optimum)
		}
		if floor := new(big.Rat).Mul(optimum, big.NewRat(99, 100)); r.Value.Cmp(floor) < 0 {
			t.Errorf("%v: %v is more than 1 %% below the optimum %v", x, r.Value, optimum)
		}
	}
}
