package partition

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/sched"
	"yardstick/sched/heavyedge"
)

// checkBest checks that what is claimed about a request holds as far as the
// placement shows it.
func checkBest(t *testing.T, in *sched.Instance, servers, parts []int, b *Best) {
	t.Helper()
	alpha, err := in.IterTime(0, &b.Placement)
	if err != nil {
		t.Fatal(err)
	}
	if alpha.Cmp(b.Alpha) != 0 || b.Lower.Cmp(b.Alpha) > 0 || b.Exact != (b.Lower.Cmp(b.Alpha) == 0) {
		t.Fatalf("alpha %s of a placement that takes %s, bound %s, exact %t", b.Alpha, alpha, b.Lower, b.Exact)
	}
	var order []int
	for i := range servers {
		order = append(order, i)
	}
	slices.SortFunc(order, func(a, b int) int { return servers[a] - servers[b] })
	for i, sh := range b.Placement.Shares {
		if k := order[i]; sh.Server != servers[k] || sh.GPUs != parts[k] {
			t.Fatalf("shares %+v for servers %v, parts %v", b.Placement.Shares, servers, parts)
		}
	}
}

// searchBest is BestAlpha without dynamic programming, and by the search for
// any graph of stages unless chain is set.
func searchBest(in *sched.Instance, shares []sched.Share, visits int, chain bool) (*Best, error) {
	p, err := newPacking(in, 0, shares, visits)
	if err != nil {
		return nil, err
	}
	p.chain = p.chain && chain
	return p.solve(in, 0, false)
}

// TestBestAlphaAgainstEnumeration compares dynamic programming, search, bounds
// and quick placements with the enumeration of all placements.
func TestBestAlphaAgainstEnumeration(t *testing.T) {
	requests, searched := 0, 0
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 33))
		in := randomInstance(rng, 4, 7, rng.IntN(2) == 0)
		if seed%2 == 0 {
			extend(rng, in, 10)
		}
		best, example := map[string]*big.Rat{}, map[string]sched.Placement{}
		eachPlacement(in, func(p *sched.Placement) {
			servers, parts := partsOf(p)
			key := fmt.Sprint(servers, parts)
			alpha, err := in.IterTime(0, p)
			if err != nil {
				t.Fatal(err)
			}
			if best[key] == nil || alpha.Cmp(best[key]) < 0 {
				best[key] = alpha
				example[key] = sched.Placement{Shares: append([]sched.Share(nil), p.Shares...)}
			}
		})
		for key, want := range best {
			if len(best) > 10 && rng.IntN(len(best)) > 10 {
				continue
			}
			requests++
			p := example[key]
			servers, parts := partsOf(&p)
			got, err := BestAlpha(in, 0, servers, parts, 0)
			if err != nil || !got.Exact || got.Alpha.Cmp(want) != 0 {
				t.Fatalf("seed %d, parts %s: %+v, error %v; %s by enumeration\n%+v", seed, key, got, err, want, in)
			}
			checkBest(t, in, servers, parts, got)
			if len(in.Jobs[0].Stages) == 1 {
				continue
			}
			searched++
			shares, err := sharesOf(in, 0, servers, parts)
			if err != nil {
				t.Fatal(err)
			}
			for _, chain := range []bool{true, false} {
				found, err := searchBest(in, shares, DefaultVisits, chain)
				if err != nil || !found.Exact || found.Alpha.Cmp(want) != 0 {
					t.Fatalf("seed %d, parts %s: search %+v, error %v; %s by enumeration\n%+v", seed, key, found, err, want, in)
				}
				checkBest(t, in, servers, parts, found)
			}
			// Without any search: bounds and quick placements alone.
			for _, visits := range []int{1, 4} {
				quick, err := searchBest(in, shares, visits, visits == 1)
				if err != nil || quick.Lower.Cmp(want) > 0 || quick.Alpha.Cmp(want) < 0 {
					t.Fatalf("seed %d, parts %s, %d visits: %+v, error %v; %s by enumeration\n%+v", seed, key, visits, quick, err, want, in)
				}
				checkBest(t, in, servers, parts, quick)
			}
		}
	}
	if requests < 3000 || searched < 2000 {
		t.Errorf("%d requests, %d by search", requests, searched)
	}
}

// profile is a job of synthetic stages that behaves like a known model.
type profile struct {
	name    string
	servers int // enough for every fragmentation
	stages  []sched.Stage
}

// vgg returns a VGG19-like pipeline: convolutions with large activations, and
// large fully connected layers at the end.
func vgg(replicas ...int) []sched.Stage {
	out := []sched.Stage{
		{Compute: 600 * ms, Params: 9 * mb, Boundary: 400 * mb},
		{Compute: 330 * ms, Params: 70 * mb, Boundary: 100 * mb},
		{Compute: 60 * ms, Params: 410 * mb, Boundary: 2 * mb},
		{Compute: 15 * ms, Params: 83 * mb},
	}
	for s := range out { // a stage's work is divided by its replicas
		out[s].Replicas = replicas[s]
		out[s].Compute /= sched.Duration(replicas[s])
	}
	return out
}

// gpt returns a GPT-like pipeline of equal transformer layers with an embedding
// at both ends.
func gpt(depth, width int) []sched.Stage {
	out := make([]sched.Stage, depth)
	for s := range out {
		out[s] = sched.Stage{Replicas: width, Compute: 10 * ms, Params: 600 * mb, Boundary: sched.Bytes(width) * 1e6}
	}
	out[0].Compute += 30 * ms / 100
	out[depth-1].Compute += 20 * ms / 100
	out[depth-1].Boundary = 0
	return out
}

func profiles() []profile {
	return []profile{
		{"VGG-16", 16, vgg(9, 5, 1, 1)},
		{"VGG-16b", 16, vgg(8, 5, 2, 1)},
		{"VGG-32", 32, vgg(18, 10, 3, 1)},
		{"VGG-64", 64, vgg(36, 21, 6, 1)},
		{"GPT-8x1", 8, gpt(8, 1)},
		{"GPT-16x1", 16, gpt(16, 1)},
		{"GPT-32x1", 32, gpt(32, 1)},
		{"GPT-64x1", 64, gpt(64, 1)},
		{"GPT-16x2", 32, gpt(16, 2)},
		{"GPT-64x8", 512, gpt(64, 8)},
	}
}

// fragmentation returns random parts that hold the gang.
func fragmentation(rng *rand.Rand, gang, gpus int) (servers, parts []int) {
	for left := gang; left > 0; {
		n := min(left, 1+rng.IntN(gpus))
		servers, parts = append(servers, len(servers)), append(parts, n)
		left -= n
	}
	return servers, parts
}

// TestProfiles settles jobs of realistic size on random fragmentations.
func TestProfiles(t *testing.T) {
	for _, pr := range profiles() {
		in := tenGbit(pr.servers, 8, 1, pr.stages...)
		rng := rand.New(rand.NewPCG(20, 34))
		proven, worst, sum := 0, 1.0, 0.0
		const n = 20
		for range n {
			servers, parts := fragmentation(rng, in.Jobs[0].Gang(), 8)
			b, err := BestAlpha(in, 0, servers, parts, 20_000)
			if err != nil {
				t.Fatalf("%s: %v", pr.name, err)
			}
			checkBest(t, in, servers, parts, b)
			if b.Exact {
				proven++
			}
			list := make([]heavyedge.Part, len(parts))
			for i := range parts {
				list[i] = heavyedge.Part{Server: servers[i], GPUs: parts[i]}
			}
			he, err := heavyedge.Place(&in.Jobs[0], list, heavyedge.Ring)
			if err != nil {
				t.Fatal(err)
			}
			alpha, err := in.IterTime(0, &he)
			if err != nil {
				t.Fatal(err)
			}
			if alpha.Cmp(b.Alpha) < 0 {
				t.Errorf("%s: Heavy-Edge takes %s, less than %s", pr.name, alpha, b.Alpha)
			}
			r, _ := new(big.Rat).Quo(alpha, b.Alpha).Float64()
			sum += r
			worst = max(worst, r)
		}
		t.Logf("%-9s proven %d/%d; Heavy-Edge over best: mean %.3f, greatest %.3f", pr.name, proven, n, sum/n, worst)
		if proven < n {
			t.Errorf("%s: %d of %d proven", pr.name, proven, n)
		}
	}
}

func BenchmarkBestAlpha(b *testing.B) {
	for _, pr := range profiles() {
		b.Run(pr.name, func(b *testing.B) {
			in := tenGbit(pr.servers, 8, 1, pr.stages...)
			rng := rand.New(rand.NewPCG(20, 34))
			var servers, parts [20][]int
			for i := range parts {
				servers[i], parts[i] = fragmentation(rng, in.Jobs[0].Gang(), 8)
			}
			i, proven := 0, 0
			for b.Loop() {
				best, err := BestAlpha(in, 0, servers[i%20], parts[i%20], 20_000)
				if err != nil {
					b.Fatal(err)
				}
				if best.Exact {
					proven++
				}
				i++
			}
			b.ReportMetric(100*float64(proven)/float64(i), "%proven")
		})
	}
}
