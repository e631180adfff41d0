package heavyedge

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"yardstick/sched"
)

// graph is the job's communication graph, vertex by vertex, with exact
// weights.
type graph struct {
	n      int
	stage  []int
	weight map[[2]int]*big.Rat // u < v
}

func newGraph(stages []sched.Stage, shape AllReduce) *graph {
	g := &graph{weight: map[[2]int]*big.Rat{}}
	var first []int
	for s := range stages {
		first = append(first, g.n)
		for range stages[s].Replicas {
			g.stage = append(g.stage, s)
			g.n++
		}
	}
	add := func(u, v int, w *big.Rat) {
		key := [2]int{min(u, v), max(u, v)}
		if g.weight[key] == nil {
			g.weight[key] = new(big.Rat)
		}
		g.weight[key].Add(g.weight[key], w)
	}
	for s, st := range stages {
		k := st.Replicas
		if s+1 < len(stages) {
			w := big.NewRat(2*int64(st.Boundary), int64(k*stages[s+1].Replicas))
			for i := range k {
				for j := range stages[s+1].Replicas {
					add(first[s]+i, first[s+1]+j, w)
				}
			}
		}
		if k < 2 {
			continue
		}
		volume := big.NewRat(2*int64(k-1)*int64(st.Params), int64(k))
		if shape == Ring {
			for i := range k {
				if k == 2 && i == 1 {
					break // one edge for two replicas
				}
				add(first[s]+i, first[s]+(i+1)%k, volume)
			}
			continue
		}
		half := new(big.Rat).Quo(volume, big.NewRat(2, 1))
		for r := 1; r < k; r++ {
			p := parent(r, k)
			add(first[s]+r, first[s]+p, half)
			add(first[s]+other(r, k), first[s]+other(p, k), half)
		}
	}
	return g
}

// parent and other restate NCCL's double binary tree (Sanders, Speck and
// Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and
// scan").
func parent(r, k int) int {
	bit := 1
	for r&bit == 0 {
		bit <<= 1
	}
	if up := (r &^ bit) | bit<<1; up < k {
		return up
	}
	return r &^ bit
}

func other(r, k int) int {
	if k%2 == 0 {
		return k - 1 - r
	}
	return (r + 1) % k
}

// reference is Heavy-Edge as the paper states it, on vertices and edges.
func reference(stages []sched.Stage, sizes []int, shape AllReduce) [][]int {
	g := newGraph(stages, shape)
	left := map[int]bool{}
	for v := range g.n {
		left[v] = true
	}
	var out [][]int
	for _, q := range sizes {
		set := map[int]bool{}
		take := func(v int) { set[v] = true; delete(left, v) }
		if q > 1 {
			bu, bv := -1, -1
			var best *big.Rat
			for u := range g.n {
				for v := u + 1; v < g.n; v++ {
					w := g.weight[[2]int{u, v}]
					if w != nil && left[u] && left[v] && (best == nil || w.Cmp(best) > 0) {
						best, bu, bv = w, u, v
					}
				}
			}
			if best != nil {
				take(bu)
				take(bv)
			}
		}
		for len(set) < q {
			pick := -1
			var best *big.Rat
			for v := range g.n {
				if !left[v] {
					continue
				}
				for u := range g.n {
					w := g.weight[[2]int{min(u, v), max(u, v)}]
					if set[u] && w != nil && (best == nil || w.Cmp(best) > 0) {
						best, pick = w, v
					}
				}
			}
			if pick < 0 {
				for v := range g.n {
					if left[v] {
						pick = v
						break
					}
				}
			}
			take(pick)
		}
		counts := make([]int, len(stages))
		for v := range set {
			counts[g.stage[v]]++
		}
		out = append(out, counts)
	}
	return out
}

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

func TestAgainstReference(t *testing.T) {
	for seed := range uint64(4000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		j := randomJob(rng)
		parts, sizes := randomParts(rng, j.Gang())
		for _, shape := range []AllReduce{Ring, Tree} {
			place, err := Place(&j, parts, shape)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			want := reference(j.Stages, sizes, shape)
			for i := range want {
				if !reflect.DeepEqual(place.Shares[i].Stages, want[i]) {
					t.Fatalf("seed %d shape %d, stages %+v, sizes %v: server %d holds %v, reference %v", seed, shape, j.Stages, sizes, i, place.Shares[i].Stages, want[i])
				}
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
