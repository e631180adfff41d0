package placing

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"yardstick/bench"
	"yardstick/datasets/profile"
	"yardstick/sched"
)

// The bound of the lightest edges is below every cut, and reaches the least cut
// of a pipeline of single replicas with equal boundaries.
func TestLightestEdges(t *testing.T) {
	positive := 0
	for seed := range uint64(150) {
		c := sample(t, rand.New(rand.NewPCG(seed, 2)))
		_, cut := brute(t, c)
		bound := c.lightestEdges()
		if bound.Cmp(cut) > 0 {
			t.Fatalf("seed %d: bound %s, least cut %s", seed, bound, cut)
		}
		if len(c.Parts) == 1 && bound.Sign() != 0 {
			t.Fatalf("seed %d: bound %s of one part", seed, bound)
		}
		if bound.Sign() > 0 {
			positive++
		}
	}
	if positive < 50 {
		t.Errorf("only %d positive bounds", positive)
	}
	in := &sched.Instance{Name: "chain", Model: sched.ModelGang, Cluster: sched.Uniform(3, 3, 1e9, 1e9), Jobs: []sched.Job{{Weight: 1, Iters: 1}}}
	for s := range 6 {
		st := sched.Stage{Replicas: 1, Compute: 1, Params: 5e6, Boundary: 7e6}
		if s == 5 {
			st.Boundary = 0
		}
		in.Jobs[0].Stages = append(in.Jobs[0].Stages, st)
	}
	c, err := NewCase(in, 0, []Part{{0, 3}, {1, 2}, {2, 1}})
	if err != nil {
		t.Fatal(err)
	}
	if _, cut := brute(t, c); c.lightestEdges().Cmp(cut) != 0 || cut.Cmp(big.NewRat(28e6, 1)) != 0 {
		t.Errorf("bound %s, least cut %s, want 2 of 14 MB", c.lightestEdges(), cut)
	}
}

// raise finds the next value that an alpha can take: it never passes the
// optimum, and reaches it from just above the value before.
func TestRaise(t *testing.T) {
	moved := 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 3))
		c := sample(t, rng)
		var all []*big.Rat
		everyPlacement(c, func(p *sched.Placement) {
			a, _, err := c.evaluate(p)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, a)
		})
		slices.SortFunc(all, (*big.Rat).Cmp)
		least, some := all[0], all[rng.IntN(len(all))]
		if got := c.raise(least, some); got.Cmp(least) != 0 {
			t.Fatalf("seed %d: an attained value %s is raised to %s", seed, least, got)
		}
		// A bound a millionth below the optimum.
		lower := new(big.Rat).Mul(least, big.NewRat(999_999, 1_000_000))
		got := c.raise(lower, some)
		if got.Cmp(lower) < 0 || got.Cmp(least) > 0 {
			t.Fatalf("seed %d: bound %s raised to %s past the optimum %s", seed, lower, got, least)
		}
		if got.Cmp(least) == 0 {
			moved++
		}
		above := new(big.Rat).Add(some, big.NewRat(1, 7))
		if got := c.raise(above, some); got.Cmp(above) != 0 {
			t.Fatalf("seed %d: a bound above the placement is moved to %s", seed, got)
		}
	}
	if moved < 50 {
		t.Errorf("only %d of 60 bounds were raised to the optimum", moved)
	}
}

// Placements that break a rule are found out, whoever made them.
func TestEvaluateRejects(t *testing.T) {
	in := &sched.Instance{Name: "two", Model: sched.ModelGang, Cluster: sched.Uniform(3, 4, 1e9, 1e10), Jobs: []sched.Job{{Weight: 1, Iters: 1,
		Stages: []sched.Stage{{Replicas: 3, Compute: 1e6, Params: 1e6, Boundary: 1e6}, {Replicas: 2, Compute: 1e6}}}}}
	c, err := NewCase(in, 0, []Part{{2, 2}, {0, 3}})
	if err != nil {
		t.Fatal(err)
	}
	share := func(server int, stages ...int) sched.Share {
		n := 0
		for _, x := range stages {
			n += x
		}
		return sched.Share{Server: server, GPUs: n, Stages: stages}
	}
	if _, _, err := c.evaluate(&sched.Placement{Shares: []sched.Share{share(0, 3, 0), share(2, 0, 2)}}); err != nil {
		t.Fatal(err)
	}
	for name, shares := range map[string][]sched.Share{
		"other parts":    {share(0, 2, 0), share(2, 1, 2)},
		"other server":   {share(0, 3, 0), share(1, 0, 2)},
		"one part":       {share(0, 3, 0)},
		"wrong stages":   {share(0, 2, 1), share(2, 2, 0)},
		"no stages":      {{Server: 0, GPUs: 3}, {Server: 2, GPUs: 2}},
		"descending":     {share(2, 0, 2), share(0, 3, 0)},
		"negative":       {share(0, 4, -1), share(2, -1, 3)},
		"nothing at all": nil,
	} {
		if _, _, err := c.evaluate(&sched.Placement{Shares: shares}); !errors.Is(err, bench.ErrInvalidSchedule) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestNewCaseRefuses(t *testing.T) {
	in := &sched.Instance{Name: "one", Model: sched.ModelGang, Cluster: sched.Uniform(2, 4, 1e9, 1e10),
		Jobs: []sched.Job{{Name: "j", Weight: 1, Iters: 1, Stages: []sched.Stage{{Replicas: 5, Compute: 1e6}}}}}
	for name, c := range map[string]struct {
		parts []Part
		want  string
	}{
		"too few": {[]Part{{0, 4}}, "4 GPUs"}, "too many": {[]Part{{0, 4}, {1, 2}}, "6 GPUs"}, "too large": {[]Part{{0, 5}}, "does not fit"},
		"no server": {[]Part{{0, 4}, {2, 1}}, "server 2"}, "twice": {[]Part{{0, 2}, {0, 3}}, "twice"}, "empty": {[]Part{{0, 5}, {1, 0}}, "does not fit"},
		"negative": {[]Part{{-1, 5}}, "does not fit"}, "none": {nil, "0 GPUs"},
	} {
		if _, err := NewCase(in, 0, c.parts); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v lacks %q", name, err, c.want)
		}
	}
	sliced := *in
	sliced.Jobs = []sched.Job{{Weight: 1, Iters: 1, Stages: []sched.Stage{{Replicas: 2, Slices: 2, Compute: 1e6}}}}
	if _, err := NewCase(&sliced, 0, []Part{{0, 4}}); !errors.Is(err, sched.ErrStageGraph) {
		t.Errorf("tensor slices: %v", err)
	}
	elastic := *in
	elastic.Jobs = []sched.Job{{Elastic: &sched.Elastic{}}}
	if _, err := NewCase(&elastic, 0, []Part{{0, 4}, {1, 1}}); err == nil {
		t.Error("an elastic job has a case")
	}
}

func TestPlan(t *testing.T) {
	profiles, err := profile.Builtin("v100")
	if err != nil {
		t.Fatal(err)
	}
	for i := range profiles {
		p := &profiles[i]
		for _, stages := range []int{0, 4} {
			job, err := plan(p, 16, stages, 1_250_000_000)
			if errors.Is(err, profile.ErrNoPlan) && p.Model == "gpt-175b" { // 350 GB of weights on 16 GPUs of 32 GB
				continue
			}
			if err != nil || job.Gang() != 16 || stages > 0 && len(job.Stages) != stages || !strings.HasPrefix(job.Name, p.Model+"-16g-") {
				t.Errorf("%s: %d stages: %+v, %v", p.Model, stages, job, err)
			}
		}
	}
	if _, err := plan(&profiles[0], 16, 17, 1_250_000_000); !errors.Is(err, profile.ErrNoPlan) {
		t.Errorf("17 stages on 16 GPUs: %v", err)
	}
}
