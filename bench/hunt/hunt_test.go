package hunt

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"yardstick/bench"
	"yardstick/heuristics/asrpt"
	"yardstick/heuristics/elastic"
	"yardstick/heuristics/lazer"
	"yardstick/heuristics/listsched"
	"yardstick/heuristics/sharing"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive"
)

// simulated is a policy of the simulator, slotted where the instance is.
func simulated(policy func(*sched.Instance) sim.Policy) Policy {
	return func(ctx context.Context, in *sched.Instance) (*sched.Schedule, error) {
		r, err := sim.Run(ctx, in, policy(in), sim.Options{Slotted: in.Slot > 0})
		if err != nil {
			return nil, err
		}
		return r.Schedule, nil
	}
}

func aSRPT() Policy {
	return simulated(func(*sched.Instance) sim.Policy { return asrpt.Perfect(asrpt.Options{}) })
}

// prey is a policy with the instances that it is hunted on.
type prey struct {
	policy Policy
	space  Space
}

// preys has one of each model.
func preys() map[string]prey {
	return map[string]prey{
		"a-srpt":  {aSRPT(), Space{Model: sched.ModelGang, Jobs: 5, GPUs: 8}},
		"servers": {aSRPT(), Space{Model: sched.ModelGang, Jobs: 4, GPUs: 5, Servers: 2, Weighted: true}},
		"srtf": {simulated(func(*sched.Instance) sim.Policy { return lazer.SRTF(lazer.Options{}) }),
			Space{Model: sched.ModelPreemptive, Jobs: 4, GPUs: 4, Longest: 5}},
		"sjf-bsbf": {simulated(func(in *sched.Instance) sim.Policy { return sharing.BSBF(in.Interference, sharing.Options{}) }),
			Space{Model: sched.ModelSharing, Jobs: 3, GPUs: 2, Longest: 5}},
		"elastic-fifo": {func(ctx context.Context, in *sched.Instance) (*sched.Schedule, error) {
			r, err := sim.Run(ctx, in, elastic.FIFO(elastic.FIFOOptions{Ideal: true}), sim.Options{})
			if err != nil {
				return nil, err
			}
			return r.Schedule, nil
		}, Space{Model: sched.ModelElastic, Jobs: 3, GPUs: 3, Servers: 2, Longest: 4}},
	}
}

func (p *prey) evaluator(t testing.TB) *evaluator {
	t.Helper()
	if err := p.space.Validate(); err != nil {
		t.Fatal(err)
	}
	return &evaluator{breed: p.space.filled().breed(), objective: sched.TotalCompletion, policy: p.policy}
}

// TestPool compares the pool with the general search, on one and several
// servers and for every objective.
func TestPool(t *testing.T) {
	var p pool
	schedtest.EachSeed(t, 300, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Gang(r, schedtest.Shape{Jobs: 1 + r.IntN(7), Servers: 1 + r.IntN(3), GPUs: 1 + r.IntN(4), Stages: 1, Weights: true})
		if r.IntN(2) == 0 { // many ties
			for i := range in.Jobs {
				j := &in.Jobs[i]
				j.Iters, j.Release = 1, sched.Time(r.IntN(3))
				j.Stages[0].Compute = sched.Duration(1+r.IntN(3)) * 1000
			}
		}
		for _, obj := range []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT, sched.Makespan} {
			want, err := exhaustive.Solve(t.Context(), in, obj, exact.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if !p.load(in, obj) {
				t.Fatal("the pool refuses the instance")
			}
			e := evaluator{objective: obj, pool: p}
			got, err := e.pooled(in, new(big.Rat).Mul(want.Cost, big.NewRat(2, 1)), 0)
			if err != nil || got == nil {
				t.Fatalf("%v: %v, %v", obj, got, err)
			}
			if got.cost.Cmp(want.Cost) != 0 {
				t.Errorf("%v: %v, want %v", obj, got.cost, want.Cost)
			}
			// Whatever may still be of interest is found, and no more.
			if best, err := e.pooled(in, want.Cost, 1); best == nil || err != nil {
				t.Errorf("%v: nothing of ratio 1: %v", obj, err)
			}
			if best, err := e.pooled(in, want.Cost, 1.01); best != nil && want.Cost.Cmp(big.NewRat(1000, 1)) > 0 || err != nil {
				t.Errorf("%v: a ratio of more than 1 to the optimum: %v", obj, err)
			}
		}
	})
}

// TestModels: every model can be hunted on, and a space that gives no more than it must is
// filled with numbers that are in range.
func TestModels(t *testing.T) {
	for _, m := range sched.Models() {
		in, err := Space{Model: m, Jobs: 2, GPUs: 2}.Example()
		if err != nil {
			t.Errorf("%s: %v", m, err)
			continue
		}
		if err := in.Validate(); err != nil || in.Model != m {
			t.Errorf("%s: the example is of the %s model: %v", m, in.Model, err)
		}
		if hunted[m].nodes < 1 {
			t.Errorf("%s: searches have no limit of nodes", m)
		}
	}
}

// TestPoolRefuses: what the pool cannot solve it leaves alone.
func TestPoolRefuses(t *testing.T) {
	flat := func() *sched.Instance { return schedtest.Plain(schedtest.Servers(4), schedtest.Job(0, 2, 1000)) }
	for name, change := range map[string]func(*sched.Instance){
		"load":     func(in *sched.Instance) { in.Jobs[0].Load = 1 },
		"exchange": func(in *sched.Instance) { in.Jobs[0].Stages[0].Params = 1 },
		"slots":    func(in *sched.Instance) { in.Slot = 1 },
		"model":    func(in *sched.Instance) { in.Model = sched.ModelPreemptive },
		"weight":   func(in *sched.Instance) { in.Jobs[0].Weight = 1.5 },
	} {
		in := flat()
		change(in)
		var p pool
		if p.load(in, sched.WeightedCompletion) {
			t.Errorf("%s: accepted", name)
		}
	}
	var p pool
	if !p.load(flat(), sched.WeightedCompletion) || p.load(flat(), sched.MeanJCT) {
		t.Error("the plain instance, or the mean")
	}
}

// TestGenes: random genes and their neighbours stay in range and make valid
// instances of the model with so many GPUs; smaller ones are smaller.
func TestGenes(t *testing.T) {
	for name, p := range preys() {
		b := p.evaluator(t).breed
		schedtest.EachSeed(t, 60, func(t *testing.T, r *rand.Rand) {
			g := b.random(r)
			for range 30 {
				if !b.fits(g) {
					t.Fatalf("%s: %+v", name, g)
				}
				in := b.build(g)
				if err := in.Validate(); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if in.Model != p.space.Model || in.Cluster.GPUs() != p.space.GPUs || len(in.Jobs) != len(g.Jobs) {
					t.Fatalf("%s: %s, %d GPUs, %d jobs", name, in.Model, in.Cluster.GPUs(), len(in.Jobs))
				}
				for _, h := range b.smaller(g) {
					if len(h.Jobs) > len(g.Jobs) || len(h.Jobs) == len(g.Jobs) && total(h) >= total(g) {
						t.Fatalf("%s: %+v is no smaller than %+v", name, h, g)
					}
				}
				before := total(g)
				n := b.mutate(r, g, []int64{1, 7})
				if total(g) != before {
					t.Fatalf("%s: a neighbour changes the original", name)
				}
				g = n
			}
		})
	}
}

func total(g *genes) (sum int64) {
	for _, j := range append(g.Jobs, g.Shared) {
		for _, v := range j {
			sum += v
		}
	}
	return sum
}

// TestEvaluate: an evaluation that may stop early agrees with the general method,
// and stops only where the ratio is less than asked for.
func TestEvaluate(t *testing.T) {
	for name, p := range preys() {
		evaluated := 0
		e := p.evaluator(t)
		schedtest.EachSeed(t, 25, func(t *testing.T, r *rand.Rand) {
			g := e.breed.random(r)
			c, err := e.evaluate(t.Context(), g, 0)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if c == nil {
				return
			}
			evaluated++
			f, err := Prove(t.Context(), c.in, sched.TotalCompletion, p.policy)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if f.Cost.Cmp(c.cost) != 0 || f.Optimum.Cmp(c.optimum.cost) != 0 {
				t.Errorf("%s: %v/%v by %s, %v/%v by %s", name, c.cost, c.optimum.cost, c.optimum.method, f.Cost, f.Optimum, f.Method)
			}
			if again, err := e.evaluate(t.Context(), g, c.ratio); again == nil || err != nil {
				t.Errorf("%s: not found again at its own ratio %v: %v", name, c.ratio, err)
			}
			if again, err := e.evaluate(t.Context(), g, c.ratio*1.001); again != nil || err != nil {
				t.Errorf("%s: found beyond its own ratio %v: %v", name, c.ratio, err)
			}
		})
		if evaluated < 15 {
			t.Errorf("%s: %d evaluated", name, evaluated)
		}
	}
}

func mustRun(t *testing.T, ctx context.Context, o Options) *Result {
	t.Helper()
	r, err := Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReproducible: what is found depends neither on the number of workers nor on
// interruptions.
func TestReproducible(t *testing.T) {
	for name, p := range preys() {
		evaluations := int64(400)
		if name == "elastic-fifo" {
			evaluations = 60
		}
		o := Options{Name: name, Policy: p.policy, Space: p.space, Objective: sched.TotalCompletion, Seed: 5, Evaluations: evaluations, Workers: 1}
		want := mustRun(t, t.Context(), o)
		if want.Evaluations != evaluations || want.Found == nil {
			t.Fatalf("%s: %d evaluations, found %v", name, want.Evaluations, want.Found)
		}
		var state *State
		ctx, cancel := context.WithCancel(t.Context())
		o.Workers = 3
		o.Save = func(s *State) error { state = s; return nil }
		o.Watch = func(p Progress) {
			if p.Evaluations > evaluations/2 {
				cancel()
			}
		}
		part := mustRun(t, ctx, o)
		cancel()
		if part.Evaluations == 0 || part.Evaluations == evaluations && name != "elastic-fifo" {
			t.Errorf("%s: %d evaluations when interrupted", name, part.Evaluations)
		}
		text, err := json.Marshal(state) // as a file has it
		if err != nil {
			t.Fatal(err)
		}
		o.Resume, o.Watch = &State{}, nil
		if err := json.Unmarshal(text, o.Resume); err != nil {
			t.Fatal(err)
		}
		got := mustRun(t, t.Context(), o)
		if got.Evaluations != evaluations || got.Found.Ratio().Cmp(want.Found.Ratio()) != 0 || got.Found.Instance.Hash() != want.Found.Instance.Hash() {
			t.Errorf("%s: %d evaluations, ratio %v; uninterrupted %v", name, got.Evaluations, got.Found.Ratio(), want.Found.Ratio())
		}
		o.Seed++
		if _, err := Run(t.Context(), o); !errors.Is(err, ErrOther) {
			t.Errorf("%s: the state of another seed: %v", name, err)
		}
	}
}

// TestDamagedState: nothing that a state may say makes a hunt fail otherwise than
// with an error.
// A policy that fails on everything ends the hunt after a few instances, and a program that does not
// start after one per island, however many workers there are; one that fails on many instances does not.
func TestFailingPolicies(t *testing.T) {
	broken := errors.New("broken")
	var mu sync.Mutex
	for _, workers := range []int{1, 3} {
		for name, c := range map[string]struct {
			fails func(call int, in *sched.Instance) error
			most  int // calls
			found bool
		}{
			"always":   {func(int, *sched.Instance) error { return broken }, trial * Islands, false},
			"no start": {func(int, *sched.Instance) error { return bench.NotStarted(broken) }, workers, false},
			"at first": {func(n int, _ *sched.Instance) error { return map[bool]error{true: broken}[n < trial*Islands] }, 1 << 20, true},
			"then gone": {func(n int, _ *sched.Instance) error {
				return map[bool]error{true: bench.NotStarted(broken)}[n > 2*trial*Islands]
			}, 1 << 20, true},
			"often": {func(_ int, in *sched.Instance) error { return map[bool]error{true: broken}[in.Hash()[0]%4 != 0] }, 1 << 20, true},
		} {
			calls := 0
			p := func(ctx context.Context, in *sched.Instance) (*sched.Schedule, error) {
				mu.Lock()
				calls++
				n, err := calls, c.fails(calls, in)
				mu.Unlock()
				if err != nil && n < 300 { // shrinking and proving are to find it well
					return nil, err
				}
				return aSRPT()(ctx, in)
			}
			r, err := Run(context.Background(), Options{Name: name, Policy: p, Space: Space{Model: sched.ModelGang, Jobs: 3, GPUs: 3}, Objective: sched.TotalCompletion, Seed: 1, Evaluations: 400, Workers: workers})
			switch {
			case calls > c.most:
				t.Errorf("%s, %d workers: %d calls, at most %d are due", name, workers, calls, c.most)
			case name == "no start":
				if !errors.Is(err, bench.ErrNotStarted) || err.Error() != "broken" {
					t.Errorf("%s: %v", name, err)
				}
			case err != nil:
				t.Errorf("%s: %v", name, err)
			case (r.Found != nil) != c.found || !errors.Is(r.Failure, broken) || !c.found && r.Evaluations != int64(c.most):
				t.Errorf("%s: found %v after %d, failure %v", name, r.Found, r.Evaluations, r.Failure)
			}
		}
	}
}

// A policy that does not do the same twice is said to be one: at once if it shows on the first instances,
// else by the proof.
func TestInconstant(t *testing.T) {
	calls := 0
	coin := func(ctx context.Context, in *sched.Instance) (*sched.Schedule, error) {
		if calls++; calls%2 == 0 {
			return aSRPT()(ctx, in)
		}
		return simulated(func(*sched.Instance) sim.Policy { return listsched.FIFO(listsched.Options{}) })(ctx, in)
	}
	_, err := Run(context.Background(), Options{Name: "coin", Policy: coin, Space: Space{Model: sched.ModelGang, Jobs: 5, GPUs: 4}, Objective: sched.TotalCompletion, Seed: 1, Evaluations: 1 << 40, Workers: 1})
	if err == nil || !strings.Contains(err.Error(), "asked a second time: two runs of the policy on one instance differ: in one job ") || calls > 2*trial*Islands {
		t.Errorf("after %d calls the error is %v", calls, err)
	}
	calls = 0
	p := func(ctx context.Context, in *sched.Instance) (*sched.Schedule, error) {
		if calls++; calls > 200 {
			return aSRPT()(ctx, in)
		}
		return simulated(func(*sched.Instance) sim.Policy { return listsched.FIFO(listsched.Options{}) })(ctx, in)
	}
	_, err = Run(context.Background(), Options{Name: "inconstant", Policy: p, Space: Space{Model: sched.ModelGang, Jobs: 5, GPUs: 4}, Objective: sched.TotalCompletion, Seed: 1, Evaluations: 200, Workers: 1})
	if err == nil || !strings.Contains(err.Error(), "once and") {
		t.Errorf("the error is %v", err)
	}
}

func TestDamagedState(t *testing.T) {
	p := preys()["a-srpt"]
	var state *State
	o := Options{Policy: p.policy, Space: p.space, Objective: sched.TotalCompletion, Evaluations: 80, Save: func(s *State) error { state = s; return nil }}
	mustRun(t, t.Context(), o)
	o.Save = nil
	for _, damage := range [][2]string{{`"jobs":[[`, `"jobs":[[-1,`}, {`"random":"`, `"random":"AA`}, {`"evaluations"`, `"evaluation`}, {`[{`, `[7,{`}} {
		s := *state
		text := strings.Replace(string(s.Islands), damage[0], damage[1], 1)
		if text == string(s.Islands) {
			t.Fatalf("%q is not there", damage[0])
		}
		s.Islands = json.RawMessage(text)
		o.Resume = &s
		if _, err := Run(t.Context(), o); err == nil && damage[0] != `"evaluations"` {
			t.Errorf("%q: no error", damage[1])
		}
	}
}

// TestShrink: one blocker and tiny jobs remain of an instance with needless jobs
// and numbers, and no ratio is lost.
func TestShrink(t *testing.T) {
	p := preys()["a-srpt"]
	e := p.evaluator(t)
	g := &genes{Jobs: [][]int64{{0, 1, 480, 0, 0, 0, 1}, {60, 8, 2, 0, 0, 0, 1}, {60, 8, 1, 0, 0, 0, 1}, {60, 8, 1, 0, 0, 0, 1}, {900, 1, 3, 0, 0, 0, 1}}}
	c, err := e.evaluate(t.Context(), g, 0)
	if err != nil || c == nil {
		t.Fatal(err)
	}
	small, err := e.shrink(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.better(small) || len(small.genes.Jobs) >= len(g.Jobs) {
		t.Errorf("ratio %v of %d jobs, before %v", small.ratio, len(small.genes.Jobs), c.ratio)
	}
	for _, h := range e.breed.smaller(small.genes) {
		if next, err := e.evaluate(t.Context(), h, 0); err != nil || next != nil && !small.better(next) {
			t.Errorf("%+v is smaller and as bad, %v", h, err)
		}
	}
	less, err := e.shrink(t.Context(), c, big.NewRat(9, 10))
	if err != nil {
		t.Fatal(err)
	}
	if less.ratio < 0.9*c.ratio*(1-1e-12) || total(less.genes) > total(small.genes) {
		t.Errorf("keeping 0.9: %v", less.ratio)
	}
}

// TestFindsWorse: in few evaluations the hunt finds what a policy is known to be
// bad at: FIFO and SJF have any ratio, as a long job may be just ahead.
func TestFindsWorse(t *testing.T) {
	for name, policy := range map[string]func(listsched.Options) *listsched.Policy{"fifo": listsched.FIFO, "sjf": listsched.SJF} {
		o := Options{Policy: simulated(func(*sched.Instance) sim.Policy { return policy(listsched.Options{}) }),
			Space: Space{Model: sched.ModelGang, Jobs: 4, GPUs: 4}, Objective: sched.TotalCompletion, Evaluations: 4000, Workers: 2}
		if r := mustRun(t, t.Context(), o); r.Found.Ratio().Cmp(big.NewRat(3, 1)) < 0 {
			t.Errorf("%s: only %v", name, r.Found.Ratio())
		}
	}
}

// TestOutOfRange: spaces without instances, maximised objectives, policies that
// always fail.
func TestOutOfRange(t *testing.T) {
	for _, s := range []Space{{Model: "gangs", Jobs: 2, GPUs: 2}, {Model: sched.ModelGang, GPUs: 2}, {Model: sched.ModelGang, Jobs: 2, GPUs: 2, Servers: 3},
		{Model: sched.ModelGang, Jobs: 2, GPUs: 2, Gang: 3}, {Model: sched.ModelSharing, Jobs: 2, GPUs: 2, Longest: 1000}} {
		if _, err := Run(t.Context(), Options{Space: s, Objective: sched.TotalCompletion, Evaluations: 1}); err == nil {
			t.Errorf("%+v: no error", s)
		}
	}
	fine := Space{Model: sched.ModelGang, Jobs: 2, GPUs: 2}
	if _, err := Run(t.Context(), Options{Space: fine, Objective: sched.ScheduledWeight, Evaluations: 1}); err == nil {
		t.Error("scheduled weight: no error")
	}
	broken := errors.New("broken")
	r := mustRun(t, t.Context(), Options{Space: fine, Objective: sched.TotalCompletion, Evaluations: 20,
		Policy: func(context.Context, *sched.Instance) (*sched.Schedule, error) { return nil, broken }})
	if r.Found != nil || !errors.Is(r.Failure, broken) {
		t.Errorf("found %v, failure %v", r.Found, r.Failure)
	}
	late := func(_ context.Context, in *sched.Instance) (*sched.Schedule, error) {
		return &sched.Schedule{Class: sched.Class{Kind: sched.N}}, nil // of no job
	}
	if _, err := Run(t.Context(), Options{Space: fine, Objective: sched.TotalCompletion, Evaluations: 20, Policy: late}); err == nil {
		t.Error("an invalid schedule passes")
	}
}

// TestProof: a proof survives being written and read, and a change of any of its
// values is noticed.
func TestProof(t *testing.T) {
	p := preys()["srtf"]
	e := p.evaluator(t)
	in := e.breed.build(e.breed.random(rand.New(rand.NewPCG(3, 1))))
	f, err := Prove(t.Context(), in, sched.TotalCompletion, p.policy)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Proof("srtf", map[string]string{"prune": "true"}).Write(&b); err != nil {
		t.Fatal(err)
	}
	read := func(text string) error {
		proof, err := ReadProof(strings.NewReader(text))
		if err != nil {
			return err
		}
		return proof.Check(in)
	}
	if err := read(b.String()); err != nil {
		t.Fatal(err)
	}
	ratio := fmt.Sprintf("%q", f.Ratio().RatString())
	for _, damage := range [][2]string{{ratio, `"17/3"`}, {f.Cost.RatString(), "1"}, {f.Optimum.RatString(), "1"}, {`"end":"`, `"end":"1`},
		{in.Hash()[:8], "00000000"}, {`"class": "Ps"`, `"class": "Ns"`}, {`"params"`, `"param"`}, {`"job":0`, `"job":1`}} {
		if text := strings.Replace(b.String(), damage[0], damage[1], 1); text == b.String() {
			t.Errorf("%q is not there:\n%s", damage[0], text)
		} else if read(text) == nil && damage[0] != `"class": "Ps"` {
			t.Errorf("%q for %q passes", damage[1], damage[0])
		}
	}
}

// BenchmarkEvaluate times random walks of the search, with the general methods
// behind them.
func BenchmarkEvaluate(b *testing.B) {
	for name, p := range preys() {
		for _, jobs := range []int{5, 8} {
			if jobs > 5 && name != "a-srpt" && name != "srtf" {
				continue
			}
			b.Run(fmt.Sprintf("%s/jobs=%d", name, jobs), func(b *testing.B) {
				p.space.Jobs = jobs
				l := newIsland(p.evaluator(b), 1, 0)
				l.quota = -1
				for b.Loop() {
					if err := l.run(b.Context(), 1); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
