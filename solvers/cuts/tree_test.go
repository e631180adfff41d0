package cuts

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/sched"
	"yardstick/sched/heavyedge"
)

// TestTreeCutTable pins the least cuts of small double trees; the last two show
// how far they may be from 2(q − 1) edges.
func TestTreeCutTable(t *testing.T) {
	table := NewTreeCuts()
	for _, test := range []struct {
		counts []int
		want   int
	}{
		{[]int{1}, 0}, {[]int{7}, 0}, {[]int{1, 1}, 2}, {[]int{0, 2, 0}, 0},
		{[]int{3, 1}, 2}, {[]int{2, 2}, 4}, {[]int{2, 1, 1}, 4}, {[]int{1, 1, 1, 1}, 6},
		{[]int{4, 1}, 2}, {[]int{3, 2}, 3}, {[]int{3, 1, 1}, 4}, {[]int{2, 2, 1}, 5}, {[]int{2, 1, 1, 1}, 6}, {[]int{1, 1, 1, 1, 1}, 8},
		{[]int{5, 1}, 2}, {[]int{4, 2}, 4}, {[]int{3, 3}, 4}, {[]int{4, 1, 1}, 4}, {[]int{3, 2, 1}, 5}, {[]int{2, 2, 2}, 6},
		{[]int{9, 1}, 2}, {[]int{5, 5}, 6},
	} {
		if got, exact := table.Least(test.counts); got != test.want || !exact {
			t.Errorf("%v: %d edges, exact %t; want %d", test.counts, got, exact, test.want)
		}
	}
	if got, exact := table.Least([]int{5, 5, 1}); got != 4 || exact {
		t.Errorf("eleven replicas on three servers: %d edges, exact %t; want the bound 4", got, exact)
	}
	// How many partitions attain 2(q − 1).
	for k, want := range map[int][2]int{4: {3, 4}, 8: {8, 21}, 10: {10, 41}} {
		attained, all := 0, 0
		var cut func(parts []int, left int)
		cut = func(parts []int, left int) {
			if left == 0 {
				if len(parts) > 1 {
					all++
					if n, _ := table.Least(parts); n == 2*(len(parts)-1) {
						attained++
					} else if n < 2*(len(parts)-1) {
						t.Errorf("%v: %d edges connect %d servers in two trees", parts, n, len(parts))
					}
				}
				return
			}
			for n := min(left, append([]int{k}, parts...)[len(parts)]); n >= 1; n-- {
				cut(append(parts, n), left-n)
			}
		}
		cut(nil, k)
		if attained != want[0] || all != want[1] {
			t.Errorf("%d replicas: %d of %d partitions attain 2(q − 1), want %d of %d", k, attained, all, want[0], want[1])
		}
	}
}

// TestTreeEdges checks that both halves of the edges are trees.
func TestTreeEdges(t *testing.T) {
	for k := range 70 {
		edges := treeEdges(k)
		if len(edges) != 2*max(0, k-1) {
			t.Fatalf("%d replicas: %d edges", k, len(edges))
		}
		for half := range 2 {
			root := make([]int, k)
			for r := range root {
				root[r] = r
			}
			find := func(r int) int {
				for root[r] != r {
					r = root[r]
				}
				return r
			}
			for i := half; i < len(edges); i += 2 {
				u, v := find(edges[i][0]), find(edges[i][1])
				if u == v {
					t.Fatalf("%d replicas: tree %d has a cycle", k, half)
				}
				root[u] = v
			}
		}
	}
}

// TestLayoutsAgainstCounts compares the least cut by counts with the least over
// all layouts, vertex by vertex, under both shapes of AllReduce.
func TestLayoutsAgainstCounts(t *testing.T) {
	table, tried := NewTreeCuts(), 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 36))
		in := randomInstance(rng, 3, 7, true)
		if seed%2 == 0 {
			extend(rng, in, 9)
		}
		j := &in.Jobs[0]
		eachPlacement(in, func(p *sched.Placement) {
			if rng.IntN(10) > 0 {
				return
			}
			tried++
			least := map[heavyedge.AllReduce]*big.Rat{}
			eachLayout(j, p, func(server []int) {
				for _, shape := range []heavyedge.AllReduce{heavyedge.Ring, heavyedge.Tree} {
					cut, err := LayoutCut(j, server, shape)
					if err != nil {
						t.Fatal(err)
					}
					if least[shape] == nil || cut.Cmp(least[shape]) < 0 {
						least[shape] = cut
					}
				}
			})
			if got := CutWeight(j, p); got.Cmp(least[heavyedge.Ring]) != 0 {
				t.Fatalf("seed %d: ring cut %s, %s by enumeration\n%+v\n%+v", seed, got, least[heavyedge.Ring], p, in)
			}
			if got, exact := TreeCutWeight(j, p, table); !exact || got.Cmp(least[heavyedge.Tree]) != 0 {
				t.Fatalf("seed %d: tree cut %s, exact %t; %s by enumeration\n%+v\n%+v", seed, got, exact, least[heavyedge.Tree], p, in)
			}
		})
	}
	if tried < 1000 {
		t.Errorf("only %d placements", tried)
	}
	if _, err := LayoutCut(&sched.Job{Stages: []sched.Stage{{Replicas: 2}}}, []int{0}, heavyedge.Ring); err == nil {
		t.Error("a server for one of two replicas: no error")
	}
	if _, err := LayoutCut(&sched.Job{Stages: []sched.Stage{{Replicas: 2}}}, []int{0, 1, 2}, heavyedge.Tree); err == nil {
		t.Error("servers for three of two replicas: no error")
	}
}

// eachLayout calls f for all ways to put replicas on servers with the counts of
// the placement.
func eachLayout(j *sched.Job, p *sched.Placement, f func(server []int)) {
	var stage []int // of each replica
	left := make([][]int, len(p.Shares))
	for s, st := range j.Stages {
		stage = append(stage, slices.Repeat([]int{s}, st.Replicas)...)
		for m := range left {
			left[m] = append(left[m], replicasOf(&p.Shares[m], j, s))
		}
	}
	server := make([]int, len(stage))
	var put func(v int)
	put = func(v int) {
		if v == len(server) {
			f(server)
			return
		}
		for m := range left {
			if left[m][stage[v]] > 0 {
				left[m][stage[v]]--
				server[v] = p.Shares[m].Server
				put(v + 1)
				left[m][stage[v]]++
			}
		}
	}
	put(0)
}

func BenchmarkTreeTable(b *testing.B) { // all partitions of ten replicas
	for b.Loop() {
		table := NewTreeCuts()
		var cut func(parts []int, left int)
		cut = func(parts []int, left int) {
			if left == 0 {
				table.Least(parts)
				return
			}
			for n := min(left, append([]int{10}, parts...)[len(parts)]); n >= 1; n-- {
				cut(append(parts, n), left-n)
			}
		}
		cut(nil, 10)
	}
}
