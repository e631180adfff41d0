package partition

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	dataprofile "yardstick/datasets/profile"
	"yardstick/sched"
)

// TestPartsWithoutPlacement asks for parts that whole replicas may not fill: the
// enumeration of all placements says which.
func TestPartsWithoutPlacement(t *testing.T) {
	none, some := 0, 0
	for seed := range uint64(600) {
		rng := rand.New(rand.NewPCG(seed, 38))
		in := randomInstance(rng, 3, 7, seed%2 == 0)
		extend(rng, in, 10)
		if !in.Jobs[0].Sliced() {
			continue
		}
		possible := map[string]bool{}
		eachPlacement(in, func(p *sched.Placement) { possible[fmt.Sprint(partsOf(p))] = true })
		for range 5 {
			var servers, parts []int
			left := in.Jobs[0].Gang()
			for m := range in.Cluster.Servers {
				if n := min(left, rng.IntN(in.Cluster.Servers[m].GPUs+1)); n > 0 {
					servers, parts = append(servers, m), append(parts, n)
					left -= n
				}
			}
			if left > 0 {
				continue
			}
			var want error
			if possible[fmt.Sprint(servers, parts)] {
				some++
			} else {
				none++
				want = ErrNoPlacement
			}
			_, errBest := BestAlpha(in, 0, servers, parts, 0)
			_, errPlace := Place(in, 0, servers, parts)
			_, _, errCut := MinCut(in, 0, servers, parts)
			for _, err := range []error{errBest, errPlace, errCut} {
				if !errors.Is(err, want) {
					t.Fatalf("seed %d, servers %v, parts %v: errors %v, %v, %v; want %v\n%+v", seed, servers, parts, errBest, errPlace, errCut, want, in)
				}
			}
		}
	}
	if none < 100 || some < 100 {
		t.Errorf("%d requests without a placement, %d with one", none, some)
	}
	// Two replicas of three GPUs on servers of five and one: no room for the second.
	for _, stages := range [][]sched.Stage{
		{{Replicas: 2, Slices: 3, Compute: ms, Params: mb}},
		{{Replicas: 1, Slices: 3, Compute: ms, Boundary: mb}, {Replicas: 1, Slices: 3, Compute: ms}},
	} {
		in := tenGbit(1, 5, 1, stages...)
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: 1})
		_, errMin := AlphaMin(in, 0)
		_, errMax := AlphaMax(in, 0)
		_, errLeast := LeastRunTime(in, 0)
		if !errors.Is(errMin, ErrNoPlacement) || !errors.Is(errMax, ErrNoPlacement) || !errors.Is(errLeast, ErrNoPlacement) {
			t.Errorf("a job that does not fit: errors %v, %v, %v", errMin, errMax, errLeast)
		}
	}
}

// TestEnginesAgree compares dynamic programming, the scan of chains and the
// search of graphs on jobs too large to enumerate.
func TestEnginesAgree(t *testing.T) {
	settled := 0
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 39))
		in := randomInstance(rng, 2+rng.IntN(4), 26, false)
		in.Cluster.Servers = nil
		if seed%3 == 0 {
			in.Cluster.Servers = []sched.Server{{GPUs: 6}, {GPUs: 4}}
			extend(rng, in, 30)
		}
		if len(in.Jobs[0].Stages) == 1 {
			continue
		}
		servers, parts := fragmentation(rng, in.Jobs[0].Gang(), 6)
		in.Cluster.Servers = nil
		for range servers {
			in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: 6 + 2*rng.IntN(2)})
		}
		shares, err := sharesOf(in, 0, servers, parts)
		if err != nil {
			t.Fatal(err)
		}
		best, err := BestAlpha(in, 0, servers, parts, 20_000)
		if errors.Is(err, ErrNoPlacement) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		checkBest(t, in, servers, parts, best)
		for _, chain := range []bool{true, false} {
			for _, visits := range []int{1, 20_000} {
				found, err := searchBest(in, shares, visits, chain)
				if err != nil {
					t.Fatal(err)
				}
				checkBest(t, in, servers, parts, found)
				if found.Lower.Cmp(best.Alpha) > 0 || found.Alpha.Cmp(best.Lower) < 0 || found.Exact && best.Exact && found.Alpha.Cmp(best.Alpha) != 0 {
					t.Fatalf("seed %d, %d visits, chain %t: between %s and %s; BestAlpha between %s and %s\n%+v", seed, visits, chain, found.Lower, found.Alpha, best.Lower, best.Alpha, in)
				}
				if found.Exact && best.Exact {
					settled++
				}
			}
		}
	}
	if settled < 600 {
		t.Errorf("only %d pairs of exact results", settled)
	}
}

// TestRelations checks what must hold between related questions.
func TestRelations(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 40))
		in := randomInstance(rng, 4, 14, seed%2 == 0)
		if seed%4 < 2 {
			extend(rng, in, 16)
		}
		least, err := AlphaMin(in, 0)
		if err != nil {
			t.Fatal(err)
		}
		most, err := AlphaMax(in, 0)
		if err != nil {
			t.Fatal(err)
		}
		alpha, err := in.IterTime(0, &least.Placement)
		if err != nil || alpha.Cmp(least.Alpha) != 0 || least.Lower.Cmp(least.Alpha) > 0 || least.Alpha.Cmp(most) > 0 {
			t.Fatalf("seed %d: alpha_min from %s to %s, alpha_max %s, the placement's %v, %v", seed, least.Lower, least.Alpha, most, alpha, err)
		}
		check := func(what string, other *sched.Instance, low, high *big.Rat) {
			t.Helper()
			got, err := AlphaMin(other, 0)
			if err != nil || high != nil && got.Lower.Cmp(high) > 0 || low != nil && got.Alpha.Cmp(low) < 0 {
				t.Fatalf("seed %d, %s: alpha_min %+v, %v; want it from %v to %v\n%+v", seed, what, got, err, low, high, in)
			}
		}
		more := *in
		more.Cluster.Servers = append(slices.Clone(in.Cluster.Servers), in.Cluster.Servers[rng.IntN(len(in.Cluster.Servers))])
		check("a server more", &more, nil, least.Alpha)
		shuffled := *in
		shuffled.Cluster.Servers = slices.Clone(in.Cluster.Servers)
		rng.Shuffle(len(shuffled.Cluster.Servers), func(a, b int) {
			s := shuffled.Cluster.Servers
			s[a], s[b] = s[b], s[a]
		})
		check("servers in another order", &shuffled, least.Lower, least.Alpha)
		// Everything three times as large: work, and what is sent.
		triple := *in
		triple.Jobs = slices.Clone(in.Jobs)
		j := &triple.Jobs[0]
		j.Stages, j.Edges = slices.Clone(j.Stages), slices.Clone(j.Edges)
		for s := range j.Stages {
			st := &j.Stages[s]
			st.Compute, st.Params, st.SliceSync, st.Boundary = 3*st.Compute, 3*st.Params, 3*st.SliceSync, 3*st.Boundary
		}
		for e := range j.Edges {
			j.Edges[e].Bytes *= 3
		}
		three := big.NewRat(3, 1)
		check("tripled", &triple, new(big.Rat).Mul(least.Lower, three), new(big.Rat).Mul(least.Alpha, three))
	}
}

// TestPublishedModels certifies alpha_min of the configurations of the nine
// models of the A-SRPT paper, on a cluster of 64 servers of eight GPUs.
func TestPublishedModels(t *testing.T) {
	configs, err := dataprofile.BuiltinConfigs("a100")
	if err != nil {
		t.Fatal(err)
	}
	in := tenGbit(64, 8, 1)
	in.Jobs = nil
	for _, c := range configs {
		in.Jobs = append(in.Jobs, sched.Job{Name: c.Name, Weight: 1, Iters: 1000, Stages: c.Stages})
	}
	all, err := AlphaMins(in)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := LeastRunTimes(in)
	if err != nil {
		t.Fatal(err)
	}
	exact, gap := 0, 0.0
	for i, b := range all {
		alpha, err := in.IterTime(sched.JobID(i), &b.Placement)
		if err != nil || alpha.Cmp(b.Alpha) != 0 || b.Lower.Cmp(b.Alpha) > 0 {
			t.Fatalf("%s: alpha_min from %s to %s of a placement that takes %v, %v", in.Jobs[i].Name, b.Lower, b.Alpha, alpha, err)
		}
		if d, err := in.RunTime(sched.JobID(i), &b.Placement); err != nil || runs[i].Duration > d || runs[i].Exact && runs[i].Duration != d {
			t.Fatalf("%s: least running time %+v, the best placement's %v, %v", in.Jobs[i].Name, runs[i], d, err)
		}
		if b.Exact {
			exact++
		}
		g, _ := new(big.Rat).Quo(new(big.Rat).Sub(b.Alpha, b.Lower), b.Alpha).Float64()
		gap = max(gap, g)
	}
	t.Logf("%d of %d exact, greatest gap %.1e", exact, len(all), gap)
	if exact < len(all)*95/100 || gap > 0.05 {
		t.Errorf("%d of %d exact, greatest gap %g", exact, len(all), gap)
	}
}
