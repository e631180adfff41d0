package primaldual_test

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"yardstick/bounds/theorems"
	"yardstick/heuristics/elastic"
	"yardstick/heuristics/primaldual"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// brute is MaxWeight by enumeration.
type brute struct{}

func (brute) Name() string { return "brute force" }

func (brute) Solve(p primaldual.Problem) (*primaldual.Batch, error) {
	in := *p.Model.In
	in.Jobs, in.Deadline = nil, sched.Time(p.Horizon)*in.Slot
	for _, id := range p.Jobs {
		in.Jobs = append(in.Jobs, p.Model.In.Jobs[id])
	}
	s, best := schedtest.ElasticOptimum(&in, sched.ScheduledWeight, schedtest.UndominatedChoices)
	b := &primaldual.Batch{Upper: best}
	for i := range s.Segments {
		x := &s.Segments[i]
		b.Runs = append(b.Runs, primaldual.Run{Job: p.Jobs[x.Job], Start: int64(x.Start / in.Slot), End: int64(x.End / in.Slot), Place: x.Place})
	}
	return b, nil
}

func replay(t testing.TB, in *sched.Instance, p sim.Policy) *verify.Verified {
	t.Helper()
	r, err := sim.Run(context.Background(), in, p, sim.Options{})
	if err != nil {
		t.Fatalf("%v\n%+v", err, in)
	}
	return schedtest.Verify(t, in, r.Schedule)
}

func ratio(a, b *big.Rat) float64 { f, _ := new(big.Rat).Quo(a, b).Float64(); return f }

// practical is what the table's "fill" stands for.
func practical() primaldual.Greedy {
	return primaldual.Greedy{Pricing: primaldual.Normalised, Fill: true}
}

// TestOnlineAgainstOptimum: whatever solves the problems, the cost is at most
// 4·alpha times the optimum, and jobs that are shifted complete no later.
func TestOnlineAgainstOptimum(t *testing.T) {
	forms := map[string]primaldual.Options{
		"certified":         {},
		"certified, fill":   {MaxWeight: practical()},
		"certified, exact":  {MaxWeight: brute{}},
		"literal, 4":        {Form: primaldual.Literal, Alpha: 4},
		"literal, 1":        {Form: primaldual.Literal, Alpha: 1},
		"literal, formula":  {Form: primaldual.Literal},
		"literal, repaired": {Form: primaldual.Literal, Alpha: 4, MaxWeight: primaldual.Greedy{Schedules: primaldual.RepairedSchedules}},
	}
	means, worst, alphas := map[string]float64{}, map[string]float64{}, map[string]float64{}
	instances := 0.0
	schedtest.EachSeed(t, 60, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Elastic(r, shape(r, 4))
		_, optimum := schedtest.ElasticOptimum(in, sched.WeightedCompletion, schedtest.UndominatedChoices)
		instances++
		note := func(name string, v *verify.Verified, alpha int) {
			x := ratio(v.Cost(sched.WeightedCompletion), optimum)
			means[name] += x
			alphas[name] += float64(alpha)
			worst[name] = max(worst[name], x)
		}
		for name, o := range forms {
			if o.Form == primaldual.Literal && o.Alpha == 0 {
				tariff, err := primaldual.PaperTariff(in, 0, 1)
				if err != nil {
					t.Fatal(err)
				}
				o.Alpha = primaldual.PaperAlpha(in, tariff.Lambda)
				o.MaxWeight = primaldual.Greedy{Tariff: tariff, Schedules: primaldual.RepairedSchedules}
			}
			p := primaldual.New(o)
			v := replay(t, in, p)
			alpha, proven := p.Alpha()
			if !proven && o.Form == primaldual.Certified {
				t.Fatalf("%s: not proven", name)
			}
			limit := new(big.Rat).Mul(optimum, big.NewRat(int64(4*alpha), 1))
			if cost := v.Cost(sched.WeightedCompletion); proven && cost.Cmp(limit) > 0 {
				t.Errorf("%s: cost %v > 4·%d·%v\n%+v", name, cost, alpha, optimum, in)
			}
			if _, exact := o.MaxWeight.(brute); exact && alpha != 1 {
				t.Errorf("exact, but alpha is %d", alpha)
			}
			note(name, v, alpha)
			o.Shift = true
			shifted := primaldual.New(o)
			w := replay(t, in, shifted)
			note(name+", shifted", w, alpha)
			if a, _ := shifted.Alpha(); a != alpha || !reflect.DeepEqual(sansBase(shifted.Reports()), sansBase(p.Reports())) {
				t.Errorf("%s: shifting changes what is planned", name)
			}
			for i := range in.Jobs {
				if w.Jobs()[i].Completion > v.Jobs()[i].Completion {
					t.Errorf("%s: job %d completes at %v, and shifted at %v", name, i, v.Jobs()[i].Completion, w.Jobs()[i].Completion)
				}
			}
		}
		note("elastic-fifo, ideal", replay(t, in, elastic.FIFO(elastic.FIFOOptions{Ideal: true})), 0)
		note("elastic-fifo", replay(t, in, elastic.FIFO(elastic.FIFOOptions{Seed: 1})), 0)
		note("elastic-drf", replay(t, in, elastic.DRF()), 0)
	})
	var names []string
	for name := range means {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.Logf("%s: ratio %.3f on average, %.3f at most; alpha %.1f", name, means[name]/instances, worst[name], alphas[name]/instances)
	}
}

// sansBase removes what shifting may change.
func sansBase(list []primaldual.Report) []primaldual.Report {
	out := slices.Clone(list)
	for i := range out {
		out[i].Base = 0
	}
	return out
}

// TestOnlineIsOnline: what is released later does not change what was started
// before.
func TestOnlineIsOnline(t *testing.T) {
	compared := 0
	schedtest.EachSeed(t, 60, func(t *testing.T, r *rand.Rand) {
		s := shape(r, 6)
		s.Releases = 300 * sched.Second
		in := schedtest.Elastic(r, s)
		slices.SortFunc(in.Jobs, func(a, b sched.Job) int { return int(a.Release - b.Release) })
		few := *in
		few.Jobs = in.Jobs[:3]
		for _, o := range []primaldual.Options{{}, {Shift: true, MaxWeight: practical()}, {Form: primaldual.Literal, Alpha: 2, Shift: true}} {
			a, b := replay(t, in, primaldual.New(o)), replay(t, &few, primaldual.New(o))
			for i := range few.Jobs {
				x, y := a.Jobs()[i], b.Jobs()[i]
				if next := in.Jobs[3].Release; x.Start <= next || y.Start <= next {
					compared++
					if x.Start != y.Start || x.Completion != y.Completion {
						t.Fatalf("job %d runs from %v to %v, without later jobs from %v to %v", i, x.Start, x.Completion, y.Start, y.Completion)
					}
				}
			}
		}
	})
	if compared < 50 {
		t.Errorf("only %d jobs compared", compared)
	}
}

// one is an instance of ring jobs on one server of 4 GPUs, each of which needs
// the given number of slots on one GPU.
func one(jobs ...sched.Job) *sched.Instance {
	in := &sched.Instance{Name: "one", Model: sched.ModelElastic, Slot: sched.Second, Cluster: sched.Uniform(1, 4, 1e9, 1e9),
		Elastic: &sched.ElasticTypes{Resources: []string{"gpu", "bw"}, Bandwidth: 1, Workers: []sched.Container{{Demand: []int64{1, 1}}}}, Jobs: jobs}
	in.Cluster.Servers[0].Capacity = []int64{4, 100}
	return in
}

func rigid(release, slots int64, weight float64) sched.Job {
	return sched.Job{Release: sched.Time(release) * sched.Second, Weight: weight,
		Elastic: &sched.Elastic{Ring: true, MaxWorkers: 1, Batches: slots, Train: []sched.Duration{1e9}, Update: []sched.Duration{0}}}
}

// TestRoundsByHand: jobs of one GPU and 1, 3, 3 and 4 slots, released at 0, 0, 3
// and 9. Rounds are at 1, 2, 4, 8 and 16: the first starts job 0 at 1, the third
// job 1 at 4 and job 2 a slot later, where less is taken; the last job 3 at 16.
// Nobody waits for a GPU.
func TestRoundsByHand(t *testing.T) {
	in := one(rigid(0, 1, 1), rigid(0, 3, 1), rigid(3, 3, 1), rigid(9, 4, 1))
	starts := func(o primaldual.Options) (out []int64) {
		for _, j := range replay(t, in, primaldual.New(o)).Jobs() {
			out = append(out, int64(j.Start/in.Slot))
		}
		return out
	}
	p := primaldual.New(primaldual.Options{})
	replay(t, in, p)
	var rounds [][4]int64
	for _, r := range p.Reports() {
		rounds = append(rounds, [4]int64{r.Slot, r.Base, int64(r.Jobs), int64(r.Alpha)})
	}
	if want := [][4]int64{{1, 1, 2, 1}, {2, 2, 1, 0}, {4, 4, 2, 1}, {16, 16, 1, 1}}; !slices.Equal(rounds, want) {
		t.Errorf("rounds %v, want %v", rounds, want)
	}
	if got, want := starts(primaldual.Options{}), []int64{1, 4, 5, 16}; !slices.Equal(got, want) {
		t.Errorf("starts %v, want %v", got, want)
	}
	// In the literal form the i-th round's window begins at alpha·tau_i.
	if got, want := starts(primaldual.Options{Form: primaldual.Literal, Alpha: 3}), []int64{3, 12, 13, 48}; !slices.Equal(got, want) {
		t.Errorf("literal: starts %v, want %v", got, want)
	}
	if got, want := starts(primaldual.Options{Form: primaldual.Literal, Alpha: 3, Shift: true}), []int64{1, 4, 4, 16}; !slices.Equal(got, want) {
		t.Errorf("literal, shifted: starts %v, want %v", got, want)
	}
}

// TestPrintedSchedules: Algorithms 4 and 7 to the letter plan all jobs, or it is said why
// not; both happen. Repaired, they always do.
func TestPrintedSchedules(t *testing.T) {
	complete, starved, unfit := 0, 0, 0
	schedtest.EachSeed(t, 60, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Elastic(r, shape(r, 4))
		for _, s := range []primaldual.Schedules{primaldual.PrintedSchedules, primaldual.RepairedSchedules} {
			p := primaldual.New(primaldual.Options{Form: primaldual.Literal, Alpha: 4, MaxWeight: primaldual.Greedy{Schedules: s}})
			run, err := sim.Run(context.Background(), in, p, sim.Options{})
			for _, round := range p.Reports() {
				unfit += round.Unfit
				if s == primaldual.RepairedSchedules && round.Unfit > 0 {
					t.Errorf("repaired, %d schedules lack workers", round.Unfit)
				}
			}
			switch {
			case err == nil:
				if _, err := verify.Check(in, run.Schedule); err != nil {
					t.Error(err)
				}
				complete++
			case s == primaldual.PrintedSchedules && errors.Is(err, sched.ErrNotApplicable):
				starved++
			default:
				t.Error(err)
			}
		}
	})
	if complete < 60 || starved == 0 || unfit == 0 {
		t.Errorf("%d runs complete, %d starve, %d schedules lack workers", complete, starved, unfit)
	}
	t.Logf("%d runs complete, %d starve, %d schedules lack workers", complete, starved, unfit)
}

// TestPaperAlpha: jobs of weights 6, 6 and 40 take 2, 6 and 8 units in all, so
// that w/Σf is 3, 1 and 5, F = 5. T = 5 + 1 + 3 + 4 = 13 slots, H = 1 and R = 2:
// λ = 2·13·2·5 + 1 = 261.
func TestPaperAlpha(t *testing.T) {
	in := one(rigid(0, 1, 6), rigid(5, 3, 6), rigid(0, 4, 40))
	if got := primaldual.SerialSlots(in); got != 13 {
		t.Errorf("T = %d, want 13", got)
	}
	want, same := theorems.PaperAlpha(big.NewRat(261, 1), big.NewRat(52, 1), big.NewRat(6, 1))
	for _, slots := range []int64{0, 13} {
		tariff, err := primaldual.PaperTariff(in, slots, 1)
		if err != nil || tariff.Lambda != 261 || tariff.Mu != 1 {
			t.Fatalf("%+v, %v, want lambda 261", tariff, err)
		}
		if got := primaldual.PaperAlpha(in, tariff.Lambda); got != want || got != same {
			t.Errorf("alpha %d, want %d", got, want)
		}
	}
	if tariff, err := primaldual.PaperTariff(in, 13, 10); err != nil || tariff.Lambda != 2601 {
		t.Errorf("with ten times F: %+v, %v", tariff, err)
	}
	in.Jobs = in.Jobs[1:2]
	if _, err := primaldual.PaperTariff(in, 7, 1); err == nil {
		t.Error("with a job that cannot complete by T")
	}
}

// greedyOnce schedules one job at a time: the first that it is given.
type greedyOnce struct{}

func (greedyOnce) Name() string { return "one job" }

func (greedyOnce) Solve(p primaldual.Problem) (*primaldual.Batch, error) {
	b := &primaldual.Batch{Upper: new(big.Rat)}
	for _, id := range p.Jobs {
		for _, c := range p.Model.Configs[id] {
			if c.Slots <= p.Horizon && b.Upper.Sign() == 0 {
				place := p.Model.In.ElasticPlacement(0, 0, []int{1}, nil)
				b.Runs = []primaldual.Run{{Job: id, Start: 0, End: c.Slots, Place: place}}
			}
			if c.Slots <= p.Horizon {
				b.Upper.Add(b.Upper, new(big.Rat).SetFloat64(p.Model.In.Jobs[id].Weight))
				break
			}
		}
	}
	return b, nil
}

// TestDualByHand: three jobs of one, two and one slots within two slots, by a
// solver that schedules one at a time.
func TestDualByHand(t *testing.T) {
	in := one(rigid(0, 1, 1), rigid(0, 2, 1), rigid(0, 1, 1))
	in.Deadline = 2 * in.Slot
	spans := func(form primaldual.Form, alpha int) (out [][2]int64, r *primaldual.Round) {
		r, err := primaldual.Dual(greedyOnce{}, problem(in), form, alpha)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r.Runs {
			out = append(out, [2]int64{x.Start, x.End})
		}
		return out, r
	}
	if got, r := spans(primaldual.Certified, 0); !slices.Equal(got, [][2]int64{{0, 1}, {1, 3}, {3, 4}}) || r.Alpha != 3 || !r.Reached() || r.Slots != 4 {
		t.Errorf("certified: %v, %+v", got, r)
	}
	if got, r := spans(primaldual.Literal, 5); !slices.Equal(got, [][2]int64{{0, 1}, {2, 4}, {4, 5}}) || r.Alpha != 3 || !r.Reached() {
		t.Errorf("literal: %v, %+v", got, r)
	}
	if got, r := spans(primaldual.Literal, 2); !slices.Equal(got, [][2]int64{{0, 1}, {2, 4}}) || r.Alpha != 2 || r.Reached() {
		t.Errorf("literal, 2: %v, %+v", got, r)
	}
	if _, err := sim.Run(context.Background(), in, primaldual.New(primaldual.Options{Form: primaldual.Literal}), sim.Options{}); err == nil || !strings.Contains(err.Error(), "alpha") {
		t.Errorf("without an alpha: %v", err)
	}
}

// liar returns what its function makes of a problem.
type liar func(p primaldual.Problem) []primaldual.Run

func (liar) Name() string { return "liar" }
func (l liar) Solve(p primaldual.Problem) (*primaldual.Batch, error) {
	return &primaldual.Batch{Runs: l(p), Upper: big.NewRat(100, 1)}, nil
}

// TestDualRefuses: a solver that breaks its contract.
func TestDualRefuses(t *testing.T) {
	in := one(rigid(0, 1, 1), rigid(0, 2, 1))
	in.Deadline = 2 * in.Slot
	place := in.ElasticPlacement(0, 0, []int{1}, nil)
	run := func(id sched.JobID, start, end int64) primaldual.Run {
		return primaldual.Run{Job: id, Start: start, End: end, Place: place}
	}
	for name, runs := range map[string][]primaldual.Run{"too late": {run(0, 2, 3)}, "too early": {run(0, -1, 1)}, "empty": {run(0, 1, 1)},
		"unknown": {run(7, 0, 1)}, "twice": {run(0, 0, 1), run(0, 1, 2)}} {
		if _, err := primaldual.Dual(liar(func(primaldual.Problem) []primaldual.Run { return runs }), problem(in), primaldual.Certified, 0); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestNames(t *testing.T) {
	for _, g := range greedies() {
		var p primaldual.Pricing
		var o primaldual.Order
		a, _ := g.Pricing.MarshalText()
		b, _ := g.Order.MarshalText()
		if p.UnmarshalText(a) != nil || o.UnmarshalText(b) != nil || p != g.Pricing || o != g.Order {
			t.Errorf("%s reads as %v, %v", g.Name(), p, o)
		}
	}
	for _, f := range []primaldual.Form{primaldual.Certified, primaldual.Literal} {
		var got primaldual.Form
		text, _ := f.MarshalText()
		if got.UnmarshalText(text) != nil || got != f {
			t.Errorf("%v reads as %v", f, got)
		}
	}
	var p primaldual.Pricing
	if err := p.UnmarshalText([]byte("free")); err == nil || !strings.Contains(err.Error(), "normalised") {
		t.Errorf("%v", err)
	}
}
