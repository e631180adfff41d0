package sim

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/sched"
)

// naive is the state of a cluster as two slices; every rule scans them.
type naive struct{ size, free []int }

// order returns the servers with free GPUs, sorted by less and then by index.
func (n *naive) order(compare func(a, b int) int) []int {
	var out []int
	for s := range n.free {
		if n.free[s] > 0 {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, compare)
	return out
}

func greedy(order []int, free []int, gang int) map[int]int {
	out := map[int]int{}
	for _, s := range order {
		if n := min(gang, free[s]); n > 0 {
			out[s] = n
			gang -= n
		}
	}
	if gang > 0 {
		return nil
	}
	return out
}

func (n *naive) mostFirst(a, b int) int { return cmp.Compare(n.free[b], n.free[a]) }

func (n *naive) pick(r Rule, gang int) map[int]int {
	total := 0
	for _, f := range n.free {
		total += f
	}
	if total < gang {
		return nil
	}
	switch r {
	case Pool:
		return greedy(n.order(func(a, b int) int { return 0 }), n.free, gang)
	case MostAvailable:
		return greedy(n.order(n.mostFirst), n.free, gang)
	case LeastAvailable:
		return greedy(n.order(func(a, b int) int { return cmp.Compare(n.free[a], n.free[b]) }), n.free, gang)
	case BestFit:
		return n.bestFit(gang)
	}
	return n.consolidate(gang)
}

// tightest returns the server outside used with the least sufficient free
// GPUs, or −1.
func (n *naive) tightest(gang int, used map[int]int) int {
	best := -1
	for s, f := range n.free {
		if _, is := used[s]; !is && f >= gang && (best < 0 || f < n.free[best]) {
			best = s
		}
	}
	return best
}

func (n *naive) bestFit(gang int) map[int]int {
	out := map[int]int{}
	for _, s := range n.order(n.mostFirst) {
		if best := n.tightest(gang, out); best >= 0 {
			out[best] = gang
			return out
		}
		out[s] = n.free[s]
		gang -= n.free[s]
	}
	return nil
}

// ideal returns how many servers the gang needs in the empty cluster.
func (n *naive) ideal(gang int) int {
	sizes := slices.Clone(n.size)
	slices.Sort(sizes)
	for k := 1; ; k++ {
		if gang -= sizes[len(sizes)-k]; gang <= 0 {
			return k
		}
	}
}

func (n *naive) consolidate(gang int) map[int]int {
	out := map[int]int{}
	for range n.ideal(gang) - 1 {
		largest := -1
		for s := range n.size {
			if _, used := out[s]; !used && n.size[s] > 0 && n.free[s] == n.size[s] && (largest < 0 || n.size[s] > n.size[largest]) {
				largest = s
			}
		}
		if largest < 0 {
			return nil
		}
		out[largest] = n.size[largest]
		gang -= n.size[largest]
	}
	s := n.tightest(gang, out)
	if s < 0 {
		return nil
	}
	out[s] = gang
	return out
}

// consolidates tries every set of vacant servers and every server for the
// remainder, straight from the definition of Consolidate.
func (n *naive) consolidates(gang int) bool {
	k := n.ideal(gang)
	for set := range 1 << len(n.size) {
		rest, count, vacant := gang, 0, true
		for s := range n.size {
			if set>>s&1 == 1 {
				rest -= n.size[s]
				count++
				vacant = vacant && n.free[s] == n.size[s]
			}
		}
		if !vacant || count != k-1 || rest <= 0 {
			continue
		}
		for s := range n.size {
			if set>>s&1 == 0 && n.free[s] >= rest {
				return true
			}
		}
	}
	return false
}

func randomCluster(rng *rand.Rand) []sched.Server {
	servers := make([]sched.Server, 1+rng.IntN(7))
	if rng.IntN(10) == 0 {
		servers = make([]sched.Server, 60+rng.IntN(90))
	}
	uniform := rng.IntN(2) == 0
	for s := range servers {
		servers[s].GPUs = rng.IntN(9)
		if uniform {
			servers[s].GPUs = 8
		}
	}
	servers[0].GPUs = max(servers[0].GPUs, 1)
	return servers
}

// TestPick holds and releases GPUs at random and compares every rule's answer
// with a scan.
func TestPick(t *testing.T) {
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 4))
		servers := randomCluster(rng)
		c := newCluster(servers, false)
		n := &naive{}
		for s := range servers {
			n.size = append(n.size, servers[s].GPUs)
			n.free = append(n.free, servers[s].GPUs)
		}
		for range 60 {
			s := rng.IntN(len(servers))
			change := rng.IntN(n.size[s]+1) - n.free[s]
			if rng.IntN(3) == 0 {
				change = n.size[s] - n.free[s] // vacant servers are what Consolidate lives on
			}
			place := &sched.Placement{Shares: []sched.Share{{Server: s, GPUs: max(change, -change)}}}
			if change < 0 {
				c.hold(0, place, 0)
			} else {
				c.release(0, place, 0)
			}
			n.free[s] += change
			gang := 1 + rng.IntN(c.GPUs())
			for r := range Rule(len(ruleNames)) {
				check(t, seed, c, n, r, gang)
			}
		}
	}
}

func check(t *testing.T, seed uint64, c *Cluster, n *naive, r Rule, gang int) {
	t.Helper()
	want := n.pick(r, gang)
	if r == Consolidate && len(n.size) < 10 && (want != nil) != n.consolidates(gang) {
		t.Fatalf("seed %d: the scan for consolidate of %d on %v of %v finds %v", seed, gang, n.free, n.size, want)
	}
	shares, ok := c.Pick(r, gang)
	if ok != (want != nil) || len(shares) != len(want) || c.Fits(r, gang) != ok {
		t.Fatalf("seed %d: %v of %d on %v of %v: %v, %t (fits %t), want %v", seed, r, gang, n.free, n.size, shares, ok, c.Fits(r, gang), want)
	}
	for i, sh := range shares {
		if sh.GPUs != want[sh.Server] || i > 0 && sh.Server <= shares[i-1].Server {
			t.Fatalf("seed %d: %v of %d on %v of %v: %v, want %v", seed, r, gang, n.free, n.size, shares, want)
		}
	}
}

// TestChain lays stages of 2, 1 and 3 replicas over servers with 1, 4 and 1.
func TestChain(t *testing.T) {
	c := newCluster(make([]sched.Server, 1), false)
	shares := []sched.Share{{Server: 0, GPUs: 1}, {Server: 4, GPUs: 4}, {Server: 5, GPUs: 1}}
	c.Chain([]sched.Stage{{Replicas: 2}, {Replicas: 1}, {Replicas: 3}}, shares)
	want := [][]int{{1, 0, 0}, {1, 1, 2}, {0, 0, 1}}
	for i := range shares {
		if !slices.Equal(shares[i].Stages, want[i]) {
			t.Fatalf("share %d holds %v, want %v", i, shares[i].Stages, want[i])
		}
	}
	single := []sched.Share{{Server: 0, GPUs: 3}}
	if c.Chain([]sched.Stage{{Replicas: 3}}, single); single[0].Stages != nil {
		t.Fatalf("a job of one stage got stages %v", single[0].Stages)
	}
}

// TestSlab checks that no two slices overlap and that none can grow into the
// next.
func TestSlab(t *testing.T) {
	var s slab[int]
	rng := rand.New(rand.NewPCG(5, 5))
	var all [][]int
	for i := range 500 {
		p := s.take(rng.IntN(40))
		for k := range p {
			if p[k] != 0 {
				t.Fatalf("slice %d is not zeroed", i)
			}
			p[k] = i + 1
		}
		_ = append(p, -1)
		all = append(all, p)
	}
	for i, p := range all {
		for _, v := range p {
			if v != i+1 {
				t.Fatalf("slice %d was overwritten by %d", i, v)
			}
		}
	}
}
