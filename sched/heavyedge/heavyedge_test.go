package heavyedge

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"yardstick/sched"
)

// randomJob returns a chain of single-GPU replicas.
func randomJob(rng *rand.Rand) sched.Job {
	var j sched.Job
	n := 1 + rng.IntN(4)
	for s := range n {
		st := sched.Stage{Replicas: 1 + rng.IntN(6), Compute: 1, Params: sched.Bytes(rng.IntN(5)) * 60}
		if s+1 < n {
			st.Boundary = sched.Bytes(rng.IntN(5)) * 60 // small numbers, so that weights tie
		}
		j.Stages = append(j.Stages, st)
	}
	return j
}

// randomGraph returns a job with slices, with edges or with both.
func randomGraph(rng *rand.Rand) sched.Job {
	var j sched.Job
	widths := [][]int{{1, 2, 4}, {1}, {2}, {2, 3}, {1, 2, 3}}[rng.IntN(5)]
	for range 1 + rng.IntN(4) {
		j.Stages = append(j.Stages, sched.Stage{Replicas: 1 + rng.IntN(4), Compute: 1, Params: sched.Bytes(rng.IntN(5)) * 60, Slices: widths[rng.IntN(len(widths))]})
	}
	edges := rng.IntN(3) > 0
	for s := range j.Stages {
		for u := s + 1; u < len(j.Stages); u++ {
			switch {
			case edges && rng.IntN(3) > 0:
				j.Edges = append(j.Edges, sched.Edge{From: s, To: u, Bytes: sched.Bytes(rng.IntN(5)) * 60})
			case !edges && u == s+1:
				j.Stages[s].Boundary = sched.Bytes(rng.IntN(5)) * 60
			}
		}
	}
	return j
}

func randomParts(rng *rand.Rand, gang int) (parts []Part, sizes []int) {
	for gang > 0 {
		q := 1 + rng.IntN(min(gang, 6))
		sizes = append(sizes, q)
		gang -= q
	}
	slices.SortFunc(sizes, func(a, b int) int { return b - a })
	for i, q := range sizes {
		parts = append(parts, Part{i, q})
	}
	return parts, sizes
}

// TestAgainstReference compares placements with the reference, of chains and of
// graphs with slices.
func TestAgainstReference(t *testing.T) {
	sliced, refused := 0, 0
	for seed := range uint64(4000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		chain, graph := randomJob(rng), randomGraph(rng)
		for _, j := range []*sched.Job{&chain, &graph} {
			parts, sizes := randomParts(rng, j.Gang())
			if j.Sliced() && rng.IntN(4) > 0 { // parts that can be filled
				parts, sizes = wholeParts(rng, j)
			}
			for _, shape := range []AllReduce{Ring, Tree} {
				place, err := Place(j, parts, shape)
				want := reference(j, sizes, shape)
				if j.Sliced() {
					sliced++
				}
				if want == nil {
					refused++
					if !errors.Is(err, ErrParts) {
						t.Fatalf("seed %d, stages %+v, sizes %v cannot be filled, but: %v", seed, j.Stages, sizes, err)
					}
					continue
				}
				if err != nil {
					t.Fatalf("seed %d, stages %+v, sizes %v: %v", seed, j.Stages, sizes, err)
				}
				for i := range want {
					if !reflect.DeepEqual(place.Shares[i].Stages, want[i]) {
						t.Fatalf("seed %d shape %d, job %+v, sizes %v: server %d holds %v, reference %v", seed, shape, j, sizes, i, place.Shares[i].Stages, want[i])
					}
				}
			}
		}
	}
	t.Logf("%d placements with slices, %d of them refused", sliced, refused)
	if sliced < 2000 || refused < 300 || refused > sliced/2 {
		t.Error("too few of a kind to mean anything")
	}
}

// wholeParts deals whole replicas out to parts.
func wholeParts(rng *rand.Rand, j *sched.Job) (parts []Part, sizes []int) {
	sizes = make([]int, 1+rng.IntN(5))
	for s := range j.Stages {
		for range j.Stages[s].Replicas {
			sizes[rng.IntN(len(sizes))] += j.Slices(s)
		}
	}
	sizes = slices.DeleteFunc(sizes, func(q int) bool { return q == 0 })
	slices.SortFunc(sizes, func(a, b int) int { return b - a })
	for i, q := range sizes {
		parts = append(parts, Part{i, q})
	}
	return parts, sizes
}

// TestChainAsEdges: a chain written as a stage graph is placed alike, and takes
// as long.
func TestChainAsEdges(t *testing.T) {
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 2))
		chain := randomJob(rng)
		graph := sched.Job{Stages: slices.Clone(chain.Stages)}
		for s := range len(chain.Stages) - 1 {
			graph.Edges = append(graph.Edges, sched.Edge{From: s, To: s + 1, Bytes: chain.Stages[s].Boundary})
			graph.Stages[s].Boundary = 0
			graph.Stages[s].Slices = 1
		}
		in := &sched.Instance{Cluster: sched.Uniform(chain.Gang(), 6, 1000, 30_000), Jobs: []sched.Job{chain, graph}}
		parts, _ := randomParts(rng, chain.Gang())
		for _, shape := range []AllReduce{Ring, Tree} {
			a, errA := Place(&chain, parts, shape)
			b, errB := Place(&graph, parts, shape)
			if errA != nil || errB != nil || !reflect.DeepEqual(a, b) {
				t.Fatalf("seed %d: %+v and %+v, %v %v", seed, a, b, errA, errB)
			}
			alpha, errA := in.IterTime(0, &a)
			beta, errB := in.IterTime(1, &b)
			if errA != nil || errB != nil || alpha.Cmp(beta) != 0 {
				t.Fatalf("seed %d: %v and %v, %v %v", seed, alpha, beta, errA, errB)
			}
		}
	}
}

// The order in which servers are listed, and their numbers, do not matter.
func TestLargestServersFirst(t *testing.T) {
	j := sched.Job{Stages: []sched.Stage{{Replicas: 3, Params: 10, Boundary: 7}, {Replicas: 3, Params: 20}}}
	a, err := Place(&j, []Part{{0, 4}, {1, 2}}, Ring)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Place(&j, []Part{{0, 2}, {1, 0}, {5, 4}}, Ring)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a.Shares[0].Stages, b.Shares[1].Stages) || !reflect.DeepEqual(a.Shares[1].Stages, b.Shares[0].Stages) {
		t.Errorf("%+v and %+v differ", a, b)
	}
}

func TestPlaceErrors(t *testing.T) {
	j := sched.Job{Stages: []sched.Stage{{Replicas: 3}}}
	if _, err := Place(&j, []Part{{0, 2}}, Ring); err == nil {
		t.Error("two GPUs accepted for a gang of three")
	}
}

// In every double tree each replica has at most two children per tree, so a
// degree of at most six, and both trees span all replicas.
func TestDoubleTree(t *testing.T) {
	for k := 1; k <= 70; k++ {
		degree, edges := make([]int, k), 0
		for pair, parallel := range doubleTree(k) {
			n := 1
			if parallel {
				n = 2
			}
			edges += n
			degree[pair[0]] += n
			degree[pair[1]] += n
		}
		if edges != 2*(k-1) {
			t.Errorf("k=%d: %d edges, want %d", k, edges, 2*(k-1))
		}
		if d := slices.Max(degree); d > 6 {
			t.Errorf("k=%d: degree %d", k, d)
		}
	}
}

// The paper's estimate of the least per-iteration time can be several times
// the truth: a gang of two stages of three on servers of four GPUs is put on
// 4+2, where 3+3 keeps each stage whole.
func ExampleAlphaTilde() {
	in := &sched.Instance{Model: sched.ModelGang, Cluster: sched.Uniform(2, 4, 1_250_000_000, 300_000_000_000)}
	in.Jobs = []sched.Job{{Weight: 1, Iters: 1, Stages: []sched.Stage{
		{Replicas: 3, Compute: 100_000_000, Params: 100_000_000, Boundary: 10_000_000},
		{Replicas: 3, Compute: 100_000_000, Params: 100_000_000},
	}}}
	tilde, _ := AlphaTilde(in, 0, Ring)
	apart := sched.Placement{Shares: []sched.Share{{Server: 0, GPUs: 3, Stages: []int{3, 0}}, {Server: 1, GPUs: 3, Stages: []int{0, 3}}}}
	best, _ := in.IterTime(0, &apart)
	fmt.Println(tilde.FloatString(4), best.FloatString(4))
	// Output: 0.5267 0.1218
}

func TestConsolidated(t *testing.T) {
	c := sched.Cluster{Servers: []sched.Server{{GPUs: 2}, {GPUs: 8}, {GPUs: 4}}}
	got := Consolidated(&c, 11)
	if want := []Part{{1, 8}, {2, 3}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func BenchmarkPlace(b *testing.B) {
	for _, c := range []struct {
		name  string
		k     []int
		parts int
	}{{"256x2", []int{256, 256}, 8}, {"64x8", []int{64, 64, 64, 64, 64, 64, 64, 64}, 8}} {
		j := sched.Job{}
		for s, k := range c.k {
			st := sched.Stage{Replicas: k, Params: sched.Bytes(1e8 + s)}
			if s+1 < len(c.k) {
				st.Boundary = sched.Bytes(1e7 + s)
			}
			j.Stages = append(j.Stages, st)
		}
		rng := rand.New(rand.NewPCG(1, 1))
		var parts []Part
		for left := j.Gang(); left > 0; {
			q := min(1+rng.IntN(c.parts), left)
			parts = append(parts, Part{len(parts), q})
			left -= q
		}
		for name, shape := range map[string]AllReduce{"ring": Ring, "tree": Tree} {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					if _, err := Place(&j, parts, shape); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
