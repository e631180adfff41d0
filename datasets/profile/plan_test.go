package profile

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/sched"
)

// tiny returns a random profile of few layers.
func tiny(r *rand.Rand) *Profile {
	p := &Profile{Model: "tiny", GPU: "none", Source: Imported, Batch: 1 + r.IntN(6)}
	n := 1 + r.IntN(5)
	for i := range n {
		l := Layer{
			Name:       fmt.Sprint("l", i),
			Forward:    sched.Duration(r.IntN(1000)),
			Backward:   sched.Duration(1 + r.IntN(2000)),
			Activation: sched.Bytes(r.IntN(1000)),
			Parameters: sched.Bytes(r.IntN(3) * r.IntN(1000)),
		}
		if r.IntN(2) == 0 {
			l.Stored = Stored{sched.Bytes(r.IntN(3000)), true}
		}
		if i == n-1 {
			l.Activation = 0
		}
		p.Layers = append(p.Layers, l)
	}
	return p
}

func tinyOptions(r *rand.Rand) Options {
	o := Options{GPUs: 1 + r.IntN(6), Stages: r.IntN(4), Batch: r.IntN(2) * (1 + r.IntN(9))}
	if r.IntN(3) > 0 {
		o.Bandwidth = sched.Bandwidth(1 + r.IntN(3_000_000_000))
	}
	if r.IntN(2) == 0 {
		o.Memory = Memory{Capacity: sched.Bytes(1 + r.IntN(20_000)), States: int64(1 + r.IntN(8)), Recompute: r.IntN(2) == 0}
	}
	return o
}

// brute tries every cut and every number of replicas with a cost function of
// its own, in rational numbers, and returns the least value and, of the plans
// of that value, the fewest stages. ok is false if nothing fits.
func brute(p *Profile, o Options) (best *big.Int, fewest int, ok bool) {
	batch := int64(p.Batch)
	if o.Batch > 0 {
		batch = int64(o.Batch)
	}
	states := o.Memory.States
	if states == 0 {
		states = 8
	}
	scaled := func(v int64) int64 { return ceil(big.NewRat(v*batch, int64(p.Batch))).Int64() }
	stage := func(i, j, k int) *big.Int { // nil if it does not fit
		var time, params, kept, largest int64
		for l := i; l < j; l++ {
			layer := p.Layers[l]
			f, b := scaled(int64(layer.Forward)), scaled(int64(layer.Backward))
			time += f + b
			params += int64(layer.Parameters)
			own := scaled(int64(layer.Activation))
			if layer.Stored.Known {
				own = scaled(int64(layer.Stored.Bytes))
			}
			if o.Memory.Recompute {
				time += f
				if l > 0 {
					kept += scaled(int64(p.Layers[l-1].Activation))
				}
				largest = max(largest, own)
			} else {
				kept += own
			}
		}
		held := new(big.Rat).Add(big.NewRat(states*params, 1), big.NewRat(kept+largest, int64(k)))
		if c := int64(o.Memory.Capacity); int64(k) > batch || c > 0 && ceil(held).Cmp(big.NewInt(c)) > 0 {
			return nil
		}
		cost := ceil(big.NewRat(time, int64(k)))
		if cost.Sign() == 0 {
			cost.SetInt64(1)
		}
		if o.Bandwidth > 0 {
			bytes := 2*scaled(int64(p.Layers[j-1].Activation)) + 2*int64(k-1)*params
			if i > 0 {
				bytes += 2 * scaled(int64(p.Layers[i-1].Activation))
			}
			cost.Add(cost, ceil(new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(bytes), big.NewInt(1e9)), big.NewInt(int64(k)*int64(o.Bandwidth)))))
		}
		return cost
	}
	var search func(i, gpus, stages int, worst *big.Int)
	search = func(i, gpus, stages int, worst *big.Int) {
		if i == len(p.Layers) {
			if gpus == 0 && (o.Stages == 0 || stages == o.Stages) && (!ok || worst.Cmp(best) < 0 || worst.Cmp(best) == 0 && stages < fewest) {
				best, fewest, ok = worst, stages, true
			}
			return
		}
		for j := i + 1; j <= len(p.Layers); j++ {
			for k := 1; k <= gpus; k++ {
				if c := stage(i, j, k); c != nil {
					if c.Cmp(worst) < 0 {
						c = worst
					}
					search(j, gpus-k, stages+1, c)
				}
			}
		}
	}
	search(0, o.GPUs, 0, new(big.Int))
	return best, fewest, ok
}

func ceil(r *big.Rat) *big.Int {
	q, m := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	if m.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// The dynamic program is as good as trying everything, and its plans are what
// it says they are: their value is the iteration time of package sched with
// every replica on a server of its own.
func TestSolveAgainstBruteForce(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, 1))
	none, some := 0, 0
	for n := range 3000 {
		p, o := tiny(r), tinyOptions(r)
		want, stages, ok := brute(p, o)
		plan, err := Solve(p, o)
		if !ok {
			none++
			if !errors.Is(err, ErrNoPlan) {
				t.Fatalf("seed %d, case %d: %+v %+v: plan %+v, %v, but there is none", seed, n, p, o, plan, err)
			}
			continue
		}
		some++
		if err != nil || big.NewInt(int64(plan.Slowest)).Cmp(want) != 0 || len(plan.Stages) != stages {
			t.Fatalf("seed %d, case %d: %+v %+v: plan %+v, %v, but the best takes %v with %d stages", seed, n, p, o, plan, err, want, stages)
		}
		checkPlan(t, p, o, plan)
	}
	if none < 100 || some < 1000 {
		t.Errorf("%d cases have a plan and %d have none", some, none)
	}
}

// checkPlan holds a plan against the rules that Solve states.
func checkPlan(t *testing.T, p *Profile, o Options, plan *Plan) {
	t.Helper()
	gpus := 0
	var params sched.Bytes
	for s, st := range plan.Stages {
		gpus += st.Replicas
		params += st.Params
		if s > 0 && plan.First[s] <= plan.First[s-1] {
			t.Errorf("stages begin at layers %v", plan.First)
		}
	}
	if gpus != o.GPUs || plan.First[0] != 0 || params != p.Parameters() || o.Memory.Capacity > 0 && plan.Memory > o.Memory.Capacity {
		t.Errorf("plan %+v for %+v", plan, o)
	}
	b := o.Bandwidth
	if b == 0 {
		slowest := sched.Duration(0)
		for _, st := range plan.Stages {
			slowest = max(slowest, st.Compute)
		}
		if slowest != plan.Slowest {
			t.Errorf("without communication %+v takes %v", plan, slowest)
		}
		return
	}
	in := &sched.Instance{Name: "apart", Model: sched.ModelGang, Cluster: sched.Uniform(o.GPUs, 1, b, b),
		Jobs: []sched.Job{{Weight: 1, Iters: 1, Stages: plan.Stages}}}
	if err := in.Validate(); err != nil {
		t.Fatal(err)
	}
	var place sched.Placement
	for s, st := range plan.Stages {
		for range st.Replicas {
			counts := make([]int, len(plan.Stages))
			counts[s] = 1
			place.Shares = append(place.Shares, sched.Share{Server: len(place.Shares), GPUs: 1, Stages: counts})
		}
	}
	alpha, err := in.IterTime(0, &place)
	if err != nil {
		t.Fatal(err)
	}
	if got := ceil(alpha.Mul(alpha, big.NewRat(1e9, 1))); got.Cmp(big.NewInt(int64(plan.Slowest))) != 0 {
		t.Errorf("plan %+v at %v takes %v ns in package sched", plan, b, got)
	}
}

// What must not change a plan does not, and what may only help never harms.
func TestSolveRelations(t *testing.T) {
	const seed = 11
	r := rand.New(rand.NewPCG(seed, 2))
	value := func(p *Profile, o Options) sched.Duration {
		plan, err := Solve(p, o)
		if errors.Is(err, ErrNoPlan) {
			return unreachable
		}
		if err != nil {
			t.Fatal(err)
		}
		return plan.Slowest
	}
	for n := range 500 {
		p, o := tiny(r), tinyOptions(r)
		base := value(p, o)
		report := func(what string, got sched.Duration) {
			t.Errorf("seed %d, case %d: %s: %v becomes %v for %+v %+v", seed, n, what, base, got, p, o)
		}
		any := o
		any.Stages = 0
		if v := value(p, any); v > base {
			report("any number of stages", v)
		}
		faster := o
		faster.Bandwidth = 2 * o.Bandwidth
		if v := value(p, faster); v > base {
			report("twice the bandwidth", v)
		}
		roomy := o
		roomy.Memory.Capacity = 0
		if v := value(p, roomy); v > base {
			report("memory without end", v)
		}
		// Merging two layers takes one cut away.
		if i := r.IntN(len(p.Layers)); i > 0 && !o.Memory.Recompute {
			merged := *p
			merged.Layers = slices.Delete(slices.Clone(p.Layers), i, i+1)
			l, next := &merged.Layers[i-1], p.Layers[i]
			l.Stored = Stored{l.Kept() + next.Kept(), true}
			l.Forward, l.Backward, l.Parameters, l.Activation = l.Forward+next.Forward, l.Backward+next.Backward, l.Parameters+next.Parameters, next.Activation
			if v := value(&merged, o); v < base && o.Batch == 0 { // rounding per layer where times scale
				report("two layers merged", v)
			}
		}
		// The chain reads the same from its end if tensors flow back.
		if !o.Memory.Recompute {
			back := *p
			back.Layers = slices.Clone(p.Layers)
			for i := range back.Layers {
				back.Layers[i].Stored = Stored{back.Layers[i].Kept(), true}
			}
			for i := range back.Layers[:len(back.Layers)-1] {
				back.Layers[i+1].Activation = p.Layers[i].Activation
			}
			back.Layers[0].Activation = 0
			slices.Reverse(back.Layers)
			if v := value(&back, o); v != base {
				report("the chain reversed", v)
			}
		}
		// Times and bytes of communication three times as large take between twice
		// and four times as long: exactly thrice but for rounding up.
		if o.Memory.Capacity == 0 && base != unreachable {
			large := *p
			large.Layers = slices.Clone(p.Layers)
			for i := range large.Layers {
				l := &large.Layers[i]
				l.Forward, l.Backward, l.Activation, l.Parameters = 3*l.Forward, 3*l.Backward, 3*l.Activation, 3*l.Parameters
			}
			if v := value(&large, o); v > 3*base || o.Batch == 0 && v < 3*base-6 {
				report("everything three times", v)
			}
		}
	}
}

func TestSolveErrors(t *testing.T) {
	p := tiny(rand.New(rand.NewPCG(1, 1)))
	for _, o := range []Options{{}, {GPUs: -1}, {GPUs: 5000}, {GPUs: 1, Stages: -1}, {GPUs: 1, Batch: -1}, {GPUs: 1, Bandwidth: -1},
		{GPUs: 1, Memory: Memory{Capacity: -1}}, {GPUs: 1, Memory: Memory{States: -1}}, {GPUs: 1, Batch: 1 << 30}} {
		if plan, err := Solve(p, o); err == nil || errors.Is(err, ErrNoPlan) {
			t.Errorf("%+v: %+v, %v", o, plan, err)
		}
	}
	if _, err := Solve(&Profile{}, Options{GPUs: 1}); err == nil {
		t.Error("an empty profile has a plan")
	}
	if _, err := Solve(p, Options{GPUs: 1, Stages: 2}); !errors.Is(err, ErrNoPlan) {
		t.Errorf("two stages on one GPU: %v", err)
	}
	// Just below the limits nothing overflows.
	big := &Profile{Model: "big", GPU: "g", Source: Imported, Batch: 1, Layers: []Layer{
		{Name: "a", Forward: maxDuration / 4, Activation: maxBytes, Parameters: maxBytes / 2}, {Name: "b", Backward: maxDuration / 4, Parameters: maxBytes / 2}}}
	plan, err := Solve(big, Options{GPUs: maxPlanGPUs, Bandwidth: 1, Batch: 1 << 24, Stages: 2})
	if err == nil {
		t.Errorf("a mini-batch of 2^24 of a large model has plan %+v", plan)
	}
	plan, err = Solve(big, Options{GPUs: 2, Bandwidth: 1_000_000})
	if err != nil || plan.Slowest <= 0 {
		t.Errorf("%+v, %v", plan, err)
	}
}

func TestConfigs(t *testing.T) {
	for _, g := range GPUs() {
		profiles, err := Builtin(g.Name)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		covered := map[string]int{} // demands per model
		all, err := BuiltinConfigs(g.Name)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, c := range all {
			total := 0
			for _, st := range c.Stages {
				total += st.Replicas
			}
			if total != c.GPUs || names[c.Name] || c.Memory > g.Memory || c.Name != fmt.Sprintf("%s-%dg-%ds", c.Model, c.GPUs, len(c.Stages)) {
				t.Errorf("%s: %+v", g.Name, c)
			}
			names[c.Name] = true
			if key := fmt.Sprint(c.Model, c.GPUs); !seen[key] {
				seen[key] = true
				covered[c.Model]++
			}
			in := &sched.Instance{Name: c.Name, Model: sched.ModelGang, Cluster: sched.Uniform(8, 8, 1e9, 1e11), Jobs: []sched.Job{{Weight: 1, Iters: 1, Stages: c.Stages}}}
			if err := in.Validate(); err != nil {
				t.Error(err)
			}
		}
		for _, p := range profiles {
			fits := covered[p.Model]
			if small := p.Parameters() < 1e9; small && fits != 7 || fits < 2 {
				t.Errorf("%s: %s has configurations for %d of the 7 demands", g.Name, p.Model, fits)
			}
		}
	}
	if _, err := BuiltinConfigs("v10"); err == nil {
		t.Error("v10 has configurations")
	}
	p := tiny(rand.New(rand.NewPCG(3, 3)))
	for _, demands := range [][]int{{}, {0}, {-1, 2}, {1, 100_000}} {
		if _, err := Configs(p, ConfigOptions{Demands: demands}); err == nil {
			t.Errorf("demands %v have configurations", demands)
		}
	}
	// A configuration of every way to save memory, and none where none helps.
	two := &Profile{Model: "two", GPU: "g", Source: Imported, Batch: 2, Layers: []Layer{
		{Name: "a", Forward: 10, Backward: 20, Activation: 10, Parameters: 100, Stored: Stored{500, true}},
		{Name: "b", Forward: 10, Backward: 20, Activation: 5, Parameters: 100, Stored: Stored{500, true}},
		{Name: "c", Forward: 10, Backward: 20, Parameters: 100, Stored: Stored{500, true}}}}
	for capacity, want := range map[sched.Bytes]string{3900: "resident", 3899: "recompute", 2915: "recompute", 2914: "offload", 1115: "offload", 1114: "none"} {
		got := "none"
		list, err := Configs(two, ConfigOptions{Demands: []int{1}, Capacity: capacity})
		if err != nil || len(list) > 1 {
			t.Fatal(list, err)
		}
		if len(list) == 1 {
			got = "resident"
			if list[0].Recompute {
				got = "recompute"
			}
			if list[0].Offload {
				got = "offload"
			}
			if list[0].Recompute && list[0].Slowest != 120 || !list[0].Recompute && list[0].Slowest != 90 {
				t.Errorf("capacity %v takes %v", capacity, list[0].Slowest)
			}
		}
		if got != want {
			t.Errorf("capacity %v: %s, want %s", capacity, got, want)
		}
	}
}

func BenchmarkBuiltinConfigs(b *testing.B) {
	for b.Loop() {
		if _, err := BuiltinConfigs("v100"); err != nil {
			b.Fatal(err)
		}
	}
}
