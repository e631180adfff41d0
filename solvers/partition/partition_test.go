package partition

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/sched"
)

const (
	ms = sched.Duration(1e6)
	mb = sched.Bytes(1e6)
)

// tenGbit returns an instance of one job on equal servers with 10 Gbit/s
// between them and 300 GB/s inside.
func tenGbit(servers, gpus int, iters int64, stages ...sched.Stage) *sched.Instance {
	return &sched.Instance{Name: "one job", Model: sched.ModelGang, Cluster: sched.Uniform(servers, gpus, 1.25e9, 300e9),
		Jobs: []sched.Job{{Weight: 1, Iters: iters, Stages: stages}}}
}

func patternNamed(t *testing.T, in *sched.Instance, parts ...int) Pattern {
	t.Helper()
	all, err := Patterns(in, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if slices.Equal(p.Parts, parts) {
			return p
		}
	}
	t.Fatalf("no pattern %v", parts)
	return Pattern{}
}

// TestFewestServersAreNotBest pins two jobs that run slower on the fewest, fullest
// servers, with values computed by hand.
func TestFewestServersAreNotBest(t *testing.T) {
	// A pipeline of 3, 2 and 3 replicas on servers of four: one server per
	// stage keeps AllReduce off the network. The middle stage is the slowest:
	// 0.1 s + 2 boundaries of 2·10 MB/2 at 4/1.25e9 s/B = 0.164 s, and AllReduce
	// of 100 MB at 300 GB/s.
	stage := func(k int, boundary sched.Bytes) sched.Stage {
		return sched.Stage{Replicas: k, Compute: 100 * ms, Params: 100 * mb, Boundary: boundary}
	}
	in := tenGbit(3, 4, 1, stage(3, 10*mb), stage(2, 10*mb), stage(3, 0))
	if got := patternNamed(t, in, 3, 3, 2).Duration; got != 164_334 {
		t.Errorf("one stage per server takes %v, want 164.334ms", got)
	}
	if got := patternNamed(t, in, 4, 4).Duration; got < 451_000 || got > 453_000 {
		t.Errorf("the best of two full servers takes %v, want about 452ms", got)
	}
	if got, err := LeastRunTime(in, 0); err != nil || got != (Minimum{164_334, true}) {
		t.Errorf("least running time is %v, %v", got, err)
	}

	in = tenGbit(2, 4, 1, stage(3, 10*mb), stage(3, 0))
	if full, even := patternNamed(t, in, 4, 2).Duration, patternNamed(t, in, 3, 3).Duration; full < 526_000 || full > 527_500 || even < 121_700 || even > 121_900 {
		t.Errorf("patterns (4,2) and (3,3) take %v and %v, want about 526.7ms and 121.8ms", full, even)
	}
}

// TestLoneReplica checks a data-parallel job of nine replicas, where AllReduce
// of 2·8/9·100 MB waits for the smallest part x at x/8 of 1.25 GB/s.
func TestLoneReplica(t *testing.T) {
	in := tenGbit(2, 8, 1, sched.Stage{Replicas: 9, Compute: 100 * ms, Params: 100 * mb})
	if got := patternNamed(t, in, 8, 1).Duration; got != 1_237_778 { // 0.1 + 1.6e9/9·8/1.25e9
		t.Errorf("(8,1) takes %v, want 1.237778s", got)
	}
	if got := patternNamed(t, in, 5, 4).Duration; got != 384_445 { // 0.1 + 1.6e9/9·8/(4·1.25e9)
		t.Errorf("(5,4) takes %v, want 384.445ms", got)
	}
	if got, err := MinDuration(in, 0); err != nil || got != 384_445 {
		t.Errorf("least running time is %v, %v", got, err)
	}
}

// TestMergeLemma moves everything from one server of a random placement to
// another of equal size that has the room, which must not slow the job down.
func TestMergeLemma(t *testing.T) {
	merges := 0
	for seed := range uint64(1500) {
		rng := rand.New(rand.NewPCG(seed, 2))
		in := randomInstance(rng, 3, 6, true)
		eachPlacement(in, func(p *sched.Placement) {
			if len(p.Shares) < 2 || rng.IntN(20) > 0 {
				return
			}
			from, to := p.Shares[0], p.Shares[1]
			if from.GPUs+to.GPUs > in.Cluster.Servers[to.Server].GPUs {
				return
			}
			merged := sched.Share{Server: to.Server, GPUs: from.GPUs + to.GPUs, Stages: slices.Clone(to.Stages)}
			for s := range merged.Stages {
				merged.Stages[s] += from.Stages[s]
			}
			q := sched.Placement{Shares: append([]sched.Share{merged}, p.Shares[2:]...)}
			merges++
			if before, after := mustRunTime(t, in, p), mustRunTime(t, in, &q); after > before {
				t.Fatalf("seed %d: %+v takes %v, merged %v", seed, p, before, after)
			}
		})
	}
	if merges < 1000 {
		t.Errorf("only %d merges were tried", merges)
	}
}

// TestMergingUnequalServers shows why patterns carry server sizes: the same
// parts run at different speeds, and merging onto a larger server may hurt.
func TestMergingUnequalServers(t *testing.T) {
	in := tenGbit(0, 0, 1, sched.Stage{Replicas: 4, Compute: 100 * ms, Params: 100 * mb})
	for _, g := range []int{2, 2, 1, 3} {
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: g})
	}
	small, err := Place(in, 0, []int{0, 1}, []int{2, 2})
	if err != nil {
		t.Fatal(err)
	}
	mixed, err := Place(in, 0, []int{3, 0}, []int{2, 2})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := mustRunTime(t, in, &small), mustRunTime(t, in, &mixed); a >= b {
		t.Errorf("two parts of two take %v on servers of two and %v with a server of three", a, b)
	}
	spread, err := Place(in, 0, []int{0, 2, 3}, []int{1, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	merged, err := Place(in, 0, []int{2, 3}, []int{1, 3})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := mustRunTime(t, in, &spread), mustRunTime(t, in, &merged); a < b {
		t.Errorf("1+1+2 takes %v, less than %v of 1+3", a, b)
	}
	if got, err := MinDuration(in, 0); err != nil || got != mustRunTime(t, in, &small) {
		t.Errorf("least running time %v, %v: two full servers of two are best", got, err)
	}
}

// TestManyReplicas checks jobs of realistic size: exact where the search
// settles, and a proven bound below every pattern's time where not.
func TestManyReplicas(t *testing.T) {
	stage := func(k int, compute sched.Duration, params, boundary sched.Bytes) sched.Stage {
		return sched.Stage{Replicas: k, Compute: compute, Params: params, Boundary: boundary}
	}
	vgg := tenGbit(4, 8, 10, stage(9, 100*ms, 20*mb, 50*mb), stage(5, 90*ms, 60*mb, 20*mb), stage(1, 80*ms, 400*mb, 5*mb), stage(1, 20*ms, 80*mb, 0))
	if got, err := LeastRunTime(vgg, 0); err != nil || !got.Exact {
		t.Errorf("a pipeline of 16 replicas: %+v, %v", got, err)
	} else if all, err := Patterns(vgg, 0, 0); err != nil {
		t.Error(err)
	} else if best := slices.MinFunc(all, func(a, b Pattern) int { return int(a.Duration - b.Duration) }); best.Duration != got.Duration {
		t.Errorf("search finds %v, the best of %d patterns takes %v", got.Duration, len(all), best.Duration)
	}

	var deep []sched.Stage
	for s := range 64 {
		st := stage(1, 10*ms+sched.Duration(s*7%11)*ms, 10*mb, 30*mb+sched.Bytes(s*5%13)*mb)
		if s == 63 {
			st.Boundary = 0
		}
		deep = append(deep, st)
	}
	in := tenGbit(10, 8, 10, deep...)
	got, err := LeastRunTime(in, 0)
	if err != nil {
		t.Fatal(err)
	}
	var p sched.Placement // stages in order, eight per server
	for m := range 8 {
		counts := make([]int, 64)
		for s := range 8 {
			counts[8*m+s] = 1
		}
		p.Shares = append(p.Shares, sched.Share{Server: m, GPUs: 8, Stages: counts})
	}
	if chain := mustRunTime(t, in, &p); got.Duration > chain {
		t.Errorf("least running time %+v exceeds %v of eight stages per server", got, chain)
	}
	if _, err := Patterns(in, 0, 0); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("patterns of a pipeline of 64 stages: error %v", err)
	}
	best, err := Place(in, 0, []int{0, 1, 2, 3, 4, 5, 6, 7}, []int{8, 8, 8, 8, 8, 8, 8, 8})
	if err != nil {
		t.Fatal(err)
	}
	if d := mustRunTime(t, in, &best); d < got.Duration || d > mustRunTime(t, in, &p) {
		t.Errorf("the best placement on eight full servers takes %v; least %v, eight stages per server %v", d, got.Duration, mustRunTime(t, in, &p))
	}
}

// TestInexactIsABound lets the search run out of its limit: the result must
// say so and hold the time of every placement tried.
func TestInexactIsABound(t *testing.T) {
	var stages []sched.Stage // wide stages that exchange much
	for s := range 4 {
		stages = append(stages, sched.Stage{Replicas: 20, Compute: 15*ms + sched.Duration(s)*ms, Params: mb * sched.Bytes(1+s*s), Boundary: mb * sched.Bytes(400-40*s)})
	}
	stages[3].Boundary = 0
	in := tenGbit(18, 8, 3, stages...)
	got, err := LeastRunTime(in, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got.Exact {
		t.Errorf("the search settled %+v: the test needs a harder job", got)
	}
	b, err := AlphaMin(in, 0)
	if err != nil {
		t.Fatal(err)
	}
	if alpha, err := in.IterTime(0, &b.Placement); err != nil || alpha.Cmp(b.Alpha) != 0 || b.Lower.Cmp(b.Alpha) >= 0 || b.Exact {
		t.Errorf("alpha_min between %v and %v, exact %t, of a placement that takes %v, %v", b.Lower, b.Alpha, b.Exact, alpha, err)
	}
	if d := mustRunTime(t, in, &b.Placement); got.Duration > d {
		t.Errorf("the lower bound %v exceeds the %v of a placement", got.Duration, d)
	}
	again, err := LeastRunTimes(in)
	if err != nil || again[0] != got {
		t.Errorf("a second search gives %v, %v", again, err)
	}
}

func TestErrors(t *testing.T) {
	in := tenGbit(3, 4, 1, sched.Stage{Replicas: 6, Compute: ms, Params: mb})
	for name, request := range map[string]struct{ servers, parts []int }{
		"too few servers":   {[]int{0}, []int{4, 2}},
		"server twice":      {[]int{0, 0}, []int{3, 3}},
		"unknown server":    {[]int{0, 3}, []int{3, 3}},
		"part too large":    {[]int{0, 1}, []int{5, 1}},
		"empty part":        {[]int{0, 1, 2}, []int{4, 2, 0}},
		"not the gang":      {[]int{0, 1}, []int{4, 1}},
		"negative a server": {[]int{-1, 1}, []int{4, 2}},
	} {
		if _, err := Place(in, 0, request.servers, request.parts); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Patterns(in, 0, 3); !errors.Is(err, sched.ErrNotApplicable) { // (4,2) (4,1,1) (3,3) (3,2,1) (2,2,2)
		t.Errorf("five patterns within a limit of three: error %v", err)
	}
	if got, err := Patterns(in, 0, 5); err != nil || len(got) != 5 {
		t.Errorf("five patterns within a limit of five: %d, error %v", len(got), err)
	}
	in.Jobs[0].Elastic = &sched.Elastic{}
	if _, err := MinDuration(in, 0); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("an elastic job: error %v", err)
	}
	if _, err := Patterns(in, 0, 0); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("patterns of an elastic job: error %v", err)
	}
	if _, err := Place(in, 0, nil, nil); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("placing an elastic job: error %v", err)
	}
}

// stagesOf returns stages of the given widths that exchange as a transformer's
// layers do, the first and last with the embedding.
func stagesOf(widths ...int) []sched.Stage {
	out := gpt(len(widths), 1)
	for s, k := range widths {
		out[s].Replicas = k
		out[s].Compute /= sched.Duration(k)
		out[s].Boundary *= sched.Bytes(k)
	}
	return out
}

// BenchmarkAlphaMin is of jobs of 512 GPUs, on clusters that they fill and
// larger ones.
func BenchmarkAlphaMin(b *testing.B) {
	uneven := []int{1, 16}
	for range 38 {
		uneven = append(uneven, 13)
	}
	for _, bench := range []struct {
		name   string
		stages []sched.Stage
	}{
		{"GPT-64x8", gpt(64, 8)},
		{"GPT-128x4", gpt(128, 4)},
		{"GPT-85x6", gpt(85, 6)},
		{"GPT-73x7", gpt(73, 7)},
		{"GPT-102x5", gpt(102, 5)},
		{"uneven", stagesOf(append(uneven, 1)...)},
		{"VGG-512", vgg(288, 168, 48, 8)},
	} {
		for _, servers := range []int{64, 72, 128} {
			b.Run(fmt.Sprintf("%s/%d", bench.name, servers), func(b *testing.B) {
				in := tenGbit(servers, 8, 1, bench.stages...)
				gap := 0.0
				for b.Loop() {
					m, err := AlphaMin(in, 0)
					if err != nil {
						b.Fatal(err)
					}
					gap, _ = new(big.Rat).Quo(new(big.Rat).Sub(m.Alpha, m.Lower), m.Alpha).Float64()
				}
				b.ReportMetric(gap, "gap")
			})
		}
	}
}

func BenchmarkLeastRunTime(b *testing.B) {
	in := tenGbit(8, 8, 100,
		sched.Stage{Replicas: 18, Compute: 100 * ms, Params: 20 * mb, Boundary: 50 * mb},
		sched.Stage{Replicas: 10, Compute: 90 * ms, Params: 60 * mb, Boundary: 20 * mb},
		sched.Stage{Replicas: 3, Compute: 80 * ms, Params: 400 * mb, Boundary: 5 * mb},
		sched.Stage{Replicas: 1, Compute: 20 * ms, Params: 80 * mb})
	for b.Loop() {
		if m, err := LeastRunTime(in, 0); err != nil || !m.Exact {
			b.Fatal(m, err)
		}
	}
}

func BenchmarkPatterns(b *testing.B) {
	in := tenGbit(4, 8, 100,
		sched.Stage{Replicas: 9, Compute: 100 * ms, Params: 20 * mb, Boundary: 50 * mb},
		sched.Stage{Replicas: 5, Compute: 90 * ms, Params: 60 * mb, Boundary: 20 * mb},
		sched.Stage{Replicas: 2, Compute: 80 * ms, Params: 400 * mb})
	for b.Loop() {
		if _, err := Patterns(in, 0, 0); err != nil {
			b.Fatal(err)
		}
	}
}
