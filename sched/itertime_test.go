package sched_test

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"yardstick/sched"
)

// pipelineCluster has three servers of 4 GPUs, 10 Gbps between and 300 GB/s within.
func pipelineCluster() sched.Cluster { return sched.Uniform(3, 4, 1_250_000_000, 300_000_000_000) }

func pipeline(params, boundary sched.Bytes, replicas ...int) sched.Job {
	j := sched.Job{Weight: 1, Iters: 1}
	for s, k := range replicas {
		st := sched.Stage{Replicas: k, Compute: second / 10, Params: params}
		if s < len(replicas)-1 {
			st.Boundary = boundary
		}
		j.Stages = append(j.Stages, st)
	}
	return j
}

// TestFewestServersAreNotBest works out the example in which the best
// placement does not use the fewest servers: three stages of 3, 2 and 3
// replicas that take 0.1 s each, 100 MB of parameters, 10 MB at each boundary.
func TestFewestServersAreNotBest(t *testing.T) {
	in := &sched.Instance{Model: sched.ModelGang, Cluster: pipelineCluster(), Jobs: []sched.Job{pipeline(100e6, 10e6, 3, 2, 3)}}
	spread := &sched.Placement{Shares: []sched.Share{on(0, 3, 0, 0), on(1, 0, 2, 0), on(2, 0, 0, 3)}}
	alpha, err := in.IterTime(0, spread)
	// The middle stage: 0.1 + 2·(10 MB·4/1.25 GB/s) + 100 MB/300 GB/s.
	if want := big.NewRat(493, 3000); err != nil || alpha.Cmp(want) != 0 {
		t.Errorf("a server per stage: alpha is %v (%v), want %v = 0.16433 s", alpha, err, want)
	}
	// Both servers are full; {a,b,c} is what the first holds.
	var best *big.Rat
	for a := range 4 {
		for b := range 3 {
			for c := range 4 {
				if a+b+c != 4 {
					continue
				}
				p := &sched.Placement{Shares: []sched.Share{on(0, a, b, c), on(1, 3-a, 2-b, 3-c)}}
				alpha, err := in.IterTime(0, p)
				if err != nil {
					t.Fatal(err)
				}
				if best == nil || alpha.Cmp(best) < 0 {
					best = alpha
				}
			}
		}
	}
	// Stage 2 on either: 0.1 + 10 MB/300 GB/s + 10 MB·4/1.25 GB/s + 100 MB·4/1.25 GB/s.
	want := big.NewRat(1, 10)
	for _, term := range []*big.Rat{big.NewRat(10e6, 300e9), big.NewRat(4*10e6, 1.25e9), big.NewRat(4*100e6, 1.25e9)} {
		want.Add(want, term)
	}
	if best.Cmp(want) != 0 || best.FloatString(4) != "0.4520" {
		t.Errorf("best on two servers: %v, want %v", best, want)
	}
}

// TestLoneReplica works out pure data parallelism on servers of 8 GPUs: a lone
// replica owns an eighth of its server's network card.
func TestLoneReplica(t *testing.T) {
	in := &sched.Instance{Model: sched.ModelGang, Cluster: sched.Uniform(2, 8, 1_250_000_000, 300_000_000_000), Jobs: []sched.Job{pipeline(100e6, 0, 9)}}
	for _, test := range []struct {
		parts [2]int
		want  string
		run   sched.Time
	}{{[2]int{8, 1}, "1.2378", 1_237_778}, {[2]int{5, 4}, "0.3844", 384_445}} {
		p := &sched.Placement{Shares: []sched.Share{{Server: 0, GPUs: test.parts[0]}, {Server: 1, GPUs: test.parts[1]}}}
		alpha, err := in.IterTime(0, p)
		if err != nil || alpha.FloatString(4) != test.want {
			t.Errorf("parts %v: alpha is %v (%v), want %s", test.parts, alpha, err, test.want)
		}
		if run, err := in.RunTime(0, p); err != nil || run != test.run {
			t.Errorf("parts %v: one iteration takes %v (%v), want %v", test.parts, run, err, test.run)
		}
	}
}

// randomPlaced returns an instance of one job on servers of g GPUs each, and a
// random placement of it.
func randomPlaced(r *rand.Rand) (*sched.Instance, *sched.Placement) {
	g := 1 + r.IntN(8)
	in := &sched.Instance{Model: sched.ModelGang}
	j := sched.Job{Weight: 1, Iters: 1 + r.Int64N(1<<r.IntN(21))}
	round := func(n int64) int64 { return max(1, n-n%[]int64{1, 1e3, 1e6}[r.IntN(3)]) } // round numbers make exact microseconds likely
	stages := 1 + r.IntN(4)
	for s := range stages {
		st := sched.Stage{Replicas: 1 + r.IntN(6), Compute: sched.Duration(round(1 + r.Int64N(1e9))), Params: sched.Bytes(r.IntN(2)) * sched.Bytes(round(r.Int64N(1e9)))}
		if s < stages-1 {
			st.Boundary = sched.Bytes(r.IntN(2)) * sched.Bytes(round(r.Int64N(1e8)))
		}
		j.Stages = append(j.Stages, st)
	}
	in.Jobs = []sched.Job{j}
	gang := j.Gang()
	in.Cluster = sched.Uniform(gang, g, sched.Bandwidth(round(1+r.Int64N(1e10))), 1)
	in.Cluster.Intra = in.Cluster.Inter * sched.Bandwidth(1+r.IntN(300))
	counts := make([][]int, gang) // per server and stage
	used := make([]int, gang)
	for m := range counts {
		counts[m] = make([]int, stages)
	}
	servers := 1 + r.IntN(gang)
	for s := range stages {
		for range j.Stages[s].Replicas {
			m := r.IntN(servers)
			for used[m] == g {
				m = (m + 1) % gang
			}
			counts[m][s]++
			used[m]++
		}
	}
	p := new(sched.Placement)
	for m := range counts {
		if used[m] > 0 {
			p.Shares = append(p.Shares, on(m, counts[m]...))
		}
	}
	return in, p
}

// TestRunTime compares RunTime with the exact ceiling of n·alpha: at random,
// where that is a whole number of microseconds, and next to one.
func TestRunTime(t *testing.T) {
	check := func(seed uint64, in *sched.Instance, p *sched.Placement) (whole bool) {
		t.Helper()
		if err := in.Validate(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		alpha, err := in.IterTime(0, p)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		micros := alpha.Mul(alpha, new(big.Rat).SetInt(new(big.Int).Mul(big.NewInt(in.Jobs[0].Iters), big.NewInt(1e6))))
		want := new(big.Int).Add(micros.Num(), micros.Denom())
		want.Sub(want, big.NewInt(1)).Quo(want, micros.Denom())
		got, err := in.RunTime(0, p)
		if want.Cmp(big.NewInt(int64(sched.MaxTime))) > 0 {
			if err == nil {
				t.Fatalf("seed %d: %d µs is not refused", seed, want)
			}
		} else if err != nil || want.Cmp(big.NewInt(int64(got))) != 0 {
			t.Fatalf("seed %d: runs for %d µs (%v), want %d", seed, got, err, want)
		}
		return micros.IsInt()
	}
	whole := 0
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 1))
		in, p := randomPlaced(r)
		if check(seed, in, p) {
			whole++
		}
		// A single stage over two servers of g GPUs with x replicas on the one
		// with fewer: n·alpha = n·(compute + 2(k−1)·h·g/(k·x·B)), made a
		// multiple of a microsecond, then changed by a byte or by a byte per second.
		k, g := 2+r.IntN(5), int64(6)
		x := 1 + r.IntN(k-1)
		x = min(x, k-x)
		in = &sched.Instance{Model: sched.ModelGang, Cluster: sched.Uniform(2, int(g), 1e9, 1e12), Jobs: []sched.Job{{Weight: 1, Iters: 1000 * (1 + r.Int64N(1e6)),
			Stages: []sched.Stage{{Replicas: k, Compute: sched.Duration(1 + r.Int64N(1e9)), Params: sched.Bytes(int64(k*x) * (1 + r.Int64N(1e7)))}}}}}
		p = &sched.Placement{Shares: []sched.Share{{Server: 0, GPUs: x}, {Server: 1, GPUs: k - x}}}
		if !check(seed, in, p) {
			t.Fatalf("seed %d: meant to be a whole number of microseconds", seed)
		}
		for _, d := range []sched.Bytes{-1, 1} {
			st := &in.Jobs[0].Stages[0]
			st.Params += d
			in.Cluster.Intra, in.Cluster.Inter = 1e12, 1e9+sched.Bandwidth(r.IntN(2))
			check(seed, in, p)
			st.Params -= d
		}
	}
	if whole < 100 {
		t.Errorf("only %d running times were whole numbers", whole)
	}
}

// TestConstantIteration covers the jobs whose iterations take the same time
// everywhere, up to the longest that is supported.
func TestConstantIteration(t *testing.T) {
	p := &sched.Placement{Shares: []sched.Share{{Server: 1, GPUs: 2}}}
	for _, test := range []struct {
		n       int64
		compute sched.Duration
		want    sched.Time // 0: refused
	}{{1, 1, 1}, {1, 1000, 1}, {1, 1001, 2}, {3, 333, 1}, {3, 334, 2}, {900_000_000, second, sched.MaxTime}, {900_000_001, second, 0}, {1 << 62, 1 << 62, 0}, {1 << 40, 1000 << 24, 0}, {1, 1<<63 - 1, 0}} {
		in := &sched.Instance{Cluster: pipelineCluster(), Jobs: []sched.Job{{Iters: test.n, Stages: []sched.Stage{{Replicas: 2, Compute: test.compute}}}}}
		got, err := in.RunTime(0, p)
		if got != test.want || (err != nil) != (test.want == 0) {
			t.Errorf("%d iterations of %v take %v (%v), want %v", test.n, test.compute, got, err, test.want)
		}
		if !in.Jobs[0].ConstantIteration() {
			t.Error("one stage without parameters does not have a constant iteration")
		}
	}
	in := &sched.Instance{Cluster: pipelineCluster(), Jobs: []sched.Job{pipeline(1e6, 0, 2)}}
	in.Jobs[0].Iters = 1 << 62
	if _, err := in.RunTime(0, p); err == nil || !strings.Contains(err.Error(), "more than 250000h") {
		t.Errorf("a job of 2^62 iterations: %v", err)
	}
	j := pipeline(1, 0, 2)
	if j.ConstantIteration() {
		t.Error("an AllReduce has a constant time")
	}
	j = pipeline(0, 0, 2, 1)
	if j.ConstantIteration() {
		t.Error("a pipeline has a constant time")
	}
}

func TestSharingRunTime(t *testing.T) {
	in := sharing()
	p := &sched.Placement{Shares: []sched.Share{{Server: 0, GPUs: 1}}}
	for _, test := range []struct {
		config *sched.Config
		want   sched.Time
	}{{nil, 7 * sched.Second}, {&sched.Config{Accumulation: 1}, 7 * sched.Second}, {&sched.Config{Accumulation: 2}, 14 * sched.Second}, {&sched.Config{Accumulation: 3}, 0}} {
		p.Config = test.config
		got, err := in.RunTime(1, p)
		alpha, err2 := in.IterTime(1, p)
		if got != test.want || (err != nil) != (test.want == 0) || (err2 != nil) != (err != nil) {
			t.Errorf("%v: %v, %v, %v", test.config, got, err, err2)
		}
		if err == nil && alpha.Cmp(big.NewRat(int64(test.want), 7e6)) != 0 {
			t.Errorf("%v: alpha is %v", test.config, alpha)
		}
	}
}

// TestMergeLemma checks that putting the contents of two servers on one, where
// they fit, never makes an iteration longer, and that alpha is the largest
// StageTime.
func TestMergeLemma(t *testing.T) {
	merges := 0
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 2))
		in, p := randomPlaced(r)
		alpha, err := in.IterTime(0, p)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		largest := new(big.Rat)
		for _, sh := range p.Shares {
			for s := range in.Jobs[0].Stages {
				if x := sh.Replicas(s); x > 0 {
					if beta := in.StageTime(0, s, sh.Replicas(s-1), x, sh.Replicas(s+1), in.Cluster.Servers[sh.Server].GPUs); beta.Cmp(largest) > 0 {
						largest = beta
					}
				}
			}
		}
		if largest.Cmp(alpha) != 0 {
			t.Fatalf("seed %d: alpha %v, largest stage time %v", seed, alpha, largest)
		}
		if len(p.Shares) < 2 {
			continue
		}
		order := r.Perm(len(p.Shares))
		a, b := p.Shares[order[0]], p.Shares[order[1]]
		if a.GPUs+b.GPUs > in.Cluster.Servers[0].GPUs {
			continue
		}
		merged := sched.Share{Server: a.Server, GPUs: a.GPUs + b.GPUs}
		for s := range a.Stages {
			merged.Stages = append(merged.Stages, a.Stages[s]+b.Stages[s])
		}
		q := new(sched.Placement)
		for _, sh := range p.Shares {
			switch sh.Server {
			case a.Server:
				q.Shares = append(q.Shares, merged)
			case b.Server:
			default:
				q.Shares = append(q.Shares, sh)
			}
		}
		after, err := in.IterTime(0, q)
		if err != nil || after.Cmp(alpha) > 0 {
			t.Fatalf("seed %d: alpha grew from %v to %v (%v) by merging %+v into %+v", seed, alpha, after, err, p, q)
		}
		merges++
	}
	if merges < 500 {
		t.Errorf("only %d merges", merges)
	}
}

func TestBadPlacements(t *testing.T) {
	in := gang()
	tests := []struct {
		job  sched.JobID
		on   []sched.Share
		want string
	}{
		{1, nil, "0 GPUs for a gang of 1"},
		{1, []sched.Share{{Server: 2, GPUs: 1}}, "server 2"},
		{1, []sched.Share{{Server: -1, GPUs: 1}}, "server -1"},
		{1, []sched.Share{{Server: 1, GPUs: 1}, {Server: 0, GPUs: 1}}, "server 0 after 1"},
		{1, []sched.Share{{Server: 0, GPUs: 0}}, "0 of the 4 GPUs"},
		{1, []sched.Share{{Server: 0, GPUs: 5}}, "5 of the 4 GPUs"},
		{1, []sched.Share{{Server: 0, GPUs: 2}}, "2 GPUs for a gang of 1"},
		{0, []sched.Share{{Server: 0, GPUs: 3}}, "which stages"},
		{0, []sched.Share{{Server: 0, GPUs: 3, Stages: []int{3}}}, "do not match 2 stages"},
		{0, []sched.Share{{Server: 0, GPUs: 3, Stages: []int{2, 0}}}, "on 3 GPUs"},
		{0, []sched.Share{on(0, 3, -1), on(1, -1, 2)}, "-1 replicas of stage 0 on server 1"},
		{0, []sched.Share{on(0, 1, 2)}, "1 replicas of stage 0"},
	}
	for _, test := range tests {
		p := &sched.Placement{Shares: test.on}
		for _, err := range []error{errorOf(in.RunTime(test.job, p)), errorOf(in.IterTime(test.job, p))} {
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "sched: job ") {
				t.Errorf("%+v: error %v, want one with %q", test.on, err, test.want)
			}
		}
	}
	if _, err := elastic().RunTime(0, &sched.Placement{}); err == nil || !strings.Contains(err.Error(), "elastic") {
		t.Errorf("elastic job: %v", err)
	}
}

func errorOf[T any](_ T, err error) error { return err }

// TestRunTimeAtMaxTime: a running time of exactly MaxTime is legal, and none that
// is a microsecond more.
func TestRunTimeAtMaxTime(t *testing.T) {
	in := &sched.Instance{Model: sched.ModelGang, Cluster: pipelineCluster(), Jobs: []sched.Job{pipeline(0, 0, 1, 1)}}
	in.Jobs[0].Iters = int64(sched.MaxTime)
	for i := range in.Jobs[0].Stages {
		in.Jobs[0].Stages[i].Compute = 1000 // a microsecond
	}
	p := &sched.Placement{Shares: []sched.Share{on(0, 1, 1)}}
	if run, err := in.RunTime(0, p); err != nil || run != sched.MaxTime {
		t.Errorf("%v, %v", run, err)
	}
	for range 20 {
		in.Jobs[0].Iters++
		if run, err := in.RunTime(0, p); err == nil || !strings.Contains(err.Error(), "more than 250000h") {
			t.Errorf("%d iterations: %v, %v", in.Jobs[0].Iters, run, err)
		}
	}
}
