package partition

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/sched"
)

// randomInstance returns an instance of one job: a random pipeline of at most
// maxGang replicas on a random cluster that has room for it.
func randomInstance(rng *rand.Rand, maxStages, maxGang int, equalServers bool) *sched.Instance {
	inter := sched.Bandwidth(1+rng.IntN(20)) * 125_000_000
	in := &sched.Instance{Name: "random", Model: sched.ModelGang,
		Cluster: sched.Cluster{Inter: inter, Intra: inter * sched.Bandwidth(1+rng.IntN(240))}}
	j := sched.Job{Weight: 1, Iters: 1 + rng.Int64N(1000)}
	for s, n := 0, 1+rng.IntN(maxStages); s < n; s++ {
		st := sched.Stage{Replicas: 1 + rng.IntN(maxGang/n), Compute: sched.Duration(1 + rng.Int64N(200_000_000))}
		if rng.IntN(4) > 0 {
			st.Params = sched.Bytes(rng.Int64N(200_000_000))
		}
		if s < n-1 && rng.IntN(4) > 0 {
			st.Boundary = sched.Bytes(rng.Int64N(40_000_000))
		}
		j.Stages = append(j.Stages, st)
	}
	in.Jobs = []sched.Job{j}
	gpus := 1 + rng.IntN(4)
	for room := 0; room < j.Gang() || rng.IntN(2) == 0 && len(in.Cluster.Servers) < 5; {
		if !equalServers {
			gpus = rng.IntN(5)
		}
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: gpus})
		room += gpus
	}
	return in
}

// extend gives the job of a random instance tensor slices, a stage graph, or
// both, and the cluster servers enough for it. Larger jobs are cut down to
// maxGang GPUs.
func extend(rng *rand.Rand, in *sched.Instance, maxGang int) {
	j := &in.Jobs[0]
	kind := 1 + rng.IntN(3)
	widest := 1
	if kind&1 != 0 {
		for s := range j.Stages {
			j.Stages[s].Slices = 1 + rng.IntN(3)
			j.Stages[s].SliceSync = sched.Bytes(rng.Int64N(500_000_000))
			if j.Gang() > maxGang {
				j.Stages[s].Slices = rng.IntN(2) // both mean one
			}
			widest = max(widest, j.Slices(s))
		}
	}
	if kind&2 != 0 && len(j.Stages) > 1 {
		for s := range j.Stages {
			j.Stages[s].Boundary = 0
			for u := s + 1; u < len(j.Stages); u++ {
				if rng.IntN(3) > 0 {
					j.Edges = append(j.Edges, sched.Edge{From: s, To: u, Bytes: sched.Bytes(rng.IntN(3)) * sched.Bytes(rng.Int64N(20_000_000))})
				}
			}
		}
	}
	servers := in.Cluster.Servers
	for m := range servers {
		if len(servers) == 1 || servers[m].GPUs == servers[0].GPUs || rng.IntN(2) == 0 {
			servers[m].GPUs = max(servers[m].GPUs, min(widest, servers[0].GPUs+widest))
		}
	}
	for in.Validate() != nil {
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: max(widest, servers[0].GPUs)})
	}
}

// eachPlacement calls f for every placement of job 0 on concrete servers.
func eachPlacement(in *sched.Instance, f func(*sched.Placement)) {
	j := &in.Jobs[0]
	left := make([]int, len(j.Stages))
	for s := range left {
		left[s] = j.Stages[s].Replicas
	}
	var p sched.Placement
	var server func(m int)
	server = func(m int) {
		if m == len(in.Cluster.Servers) {
			if !slices.ContainsFunc(left, func(n int) bool { return n > 0 }) {
				f(&p)
			}
			return
		}
		counts := make([]int, len(left))
		var stage func(s, gpus int)
		stage = func(s, gpus int) {
			if s < len(left) {
				for x := 0; x <= min(left[s], gpus/j.Slices(s)); x++ {
					counts[s] = x
					left[s] -= x
					stage(s+1, gpus-x*j.Slices(s))
					left[s] += x
				}
				counts[s] = 0
				return
			}
			used := in.Cluster.Servers[m].GPUs - gpus
			if used == 0 {
				server(m + 1)
				return
			}
			p.Shares = append(p.Shares, sched.Share{Server: m, GPUs: used, Stages: slices.Clone(counts)})
			server(m + 1)
			p.Shares = p.Shares[:len(p.Shares)-1]
		}
		stage(0, in.Cluster.Servers[m].GPUs)
	}
	server(0)
}

// patternOf names the pattern that a placement belongs to.
func patternOf(in *sched.Instance, p *sched.Placement) string {
	type ps struct{ part, size int }
	var list []ps
	for _, sh := range p.Shares {
		list = append(list, ps{sh.GPUs, in.Cluster.Servers[sh.Server].GPUs})
	}
	slices.SortFunc(list, func(a, b ps) int {
		if a.part != b.part {
			return b.part - a.part
		}
		return b.size - a.size
	})
	var parts, sizes []int
	for _, x := range list {
		parts, sizes = append(parts, x.part), append(sizes, x.size)
	}
	return fmt.Sprint(parts, sizes)
}

func mustRunTime(t *testing.T, in *sched.Instance, p *sched.Placement) sched.Time {
	t.Helper()
	d, err := in.RunTime(0, p)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestAgainstEnumeration compares patterns, least running times and placements
// with the enumeration of all placements.
func TestAgainstEnumeration(t *testing.T) {
	for _, test := range []struct {
		name            string
		stages, gang, n int
		equal, extended bool
	}{
		{"single stage, equal servers", 1, 9, 1000, true, false},
		{"single stage, unequal servers", 1, 9, 1000, false, false},
		{"pipeline, equal servers", 4, 7, 1000, true, false},
		{"pipeline, unequal servers", 3, 6, 1000, false, false},
		{"slices, equal servers", 1, 9, 300, true, true},
		{"slices, unequal servers", 1, 9, 300, false, true},
		{"stage graph, equal servers", 4, 7, 700, true, true},
		{"stage graph, unequal servers", 3, 6, 700, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			for seed := range uint64(test.n) {
				rng := rand.New(rand.NewPCG(seed, 1))
				in := randomInstance(rng, test.stages, test.gang, test.equal)
				if test.extended {
					extend(rng, in, 10)
				}
				if err := in.Validate(); err != nil {
					t.Fatal(err)
				}
				best := map[string]sched.Time{}
				least := sched.MaxTime
				eachPlacement(in, func(p *sched.Placement) {
					d, key := mustRunTime(t, in, p), patternOf(in, p)
					if old, ok := best[key]; !ok || d < old {
						best[key] = d
					}
					least = min(least, d)
				})
				got, err := LeastRunTime(in, 0)
				if err != nil || !got.Exact || got.Duration != least {
					t.Fatalf("seed %d: least running time %v, error %v; enumeration finds %v\n%+v", seed, got, err, least, in)
				}
				b, err := AlphaMin(in, 0)
				if err != nil || !b.Exact {
					t.Fatalf("seed %d: alpha_min %+v, error %v", seed, b, err)
				}
				if d := mustRunTime(t, in, &b.Placement); d != least {
					t.Fatalf("seed %d: the best placement %+v takes %v, not %v\n%+v", seed, b.Placement, d, least, in)
				}
				patterns, err := Patterns(in, 0, 0)
				if err != nil || len(patterns) != len(best) {
					t.Fatalf("seed %d: %d patterns, error %v; enumeration finds %d", seed, len(patterns), err, len(best))
				}
				for _, p := range patterns {
					key := fmt.Sprint(p.Parts, p.Sizes)
					if want, ok := best[key]; !ok || want != p.Duration {
						t.Fatalf("seed %d: pattern %s takes %v; enumeration finds %v, %t\n%+v", seed, key, p.Duration, want, ok, in)
					}
					place, err := Place(in, 0, serversFor(in, p), p.Parts)
					if err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
					if d := mustRunTime(t, in, &place); d != p.Duration || patternOf(in, &place) != key {
						t.Fatalf("seed %d: placement %+v of pattern %s takes %v, not %v", seed, place, key, d, p.Duration)
					}
				}
			}
		})
	}
}

// serversFor returns concrete servers of the sizes that the pattern asks for,
// the last ones first.
func serversFor(in *sched.Instance, p Pattern) []int {
	taken := make([]bool, len(in.Cluster.Servers))
	var out []int
	for _, size := range p.Sizes {
		for m := len(taken) - 1; m >= 0; m-- {
			if !taken[m] && in.Cluster.Servers[m].GPUs == size {
				taken[m] = true
				out = append(out, m)
				break
			}
		}
	}
	return out
}
