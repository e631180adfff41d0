package sim

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
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
		return n.fewest(gang, n.tightest)
	case FirstFit:
		return n.fewest(gang, n.lowest)
	}
	if servers, ok := r.rack(); ok {
		return n.inRacks(servers, gang)
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

// lowest returns the first server outside used with sufficient free GPUs, or −1.
func (n *naive) lowest(gang int, used map[int]int) int {
	for s, f := range n.free {
		if _, is := used[s]; !is && f >= gang {
			return s
		}
	}
	return -1
}

// fewest takes the servers with the most free GPUs until one is found for the rest.
func (n *naive) fewest(gang int, last func(gang int, used map[int]int) int) map[int]int {
	out := map[int]int{}
	for _, s := range n.order(n.mostFirst) {
		if best := last(gang, out); best >= 0 {
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

// only returns the cluster with nothing free but on the servers of a rack.
func (n *naive) only(rack, servers int) *naive {
	out := &naive{size: n.size, free: make([]int, len(n.free))}
	for s := range n.free {
		if s/servers == rack {
			out.free[s] = n.free[s]
		}
	}
	return out
}

// inRacks has a server of its own for every rack, takes those as best fit does, and then
// the servers of each, in the last one by best fit again.
func (n *naive) inRacks(servers, gang int) map[int]int {
	if best := n.tightest(gang, nil); best >= 0 {
		return map[int]int{best: gang}
	}
	merged := &naive{}
	for s := range n.free {
		if s%servers == 0 {
			merged.free = append(merged.free, 0)
		}
		merged.free[s/servers] += n.free[s]
	}
	out := map[int]int{}
	for rack, gpus := range merged.fewest(gang, merged.tightest) {
		for s, taken := range n.only(rack, servers).fewest(gpus, n.only(rack, servers).tightest) {
			out[s] = taken
		}
	}
	return out
}

// everyRule lists the rules, with racks of several sizes.
func everyRule() []Rule {
	list := []Rule{Switch(1), Switch(2), Switch(3), Switch(8), Switch(1000)}
	for r := range Rule(len(ruleNames)) {
		list = append(list, r)
	}
	return list
}

// TestRuleNames reads what every rule writes, and the second name of most-available.
func TestRuleNames(t *testing.T) {
	for _, want := range everyRule() {
		var r Rule
		text, err := want.MarshalText()
		if err == nil {
			err = r.UnmarshalText(text)
		}
		if err != nil || r != want {
			t.Errorf("%v: read as %v, %v", want, r, err)
		}
	}
	var r Rule
	if err := r.UnmarshalText([]byte("worst-fit")); err != nil || r != MostAvailable {
		t.Errorf("worst-fit is %v, %v", r, err)
	}
	for text, want := range map[string]string{
		"switch":          `placement rule "switch" is unknown: pool, consolidate, best-fit, most-available, least-available, first-fit, worst-fit, switch:N with N servers in a rack`,
		"switch:0":        `placement rule "switch:0": a rack has a whole number of servers, from 1 to 1048576, such as switch:8`,
		"switch:-3":       "from 1 to",
		"switch:2.5":      "a whole number",
		"switch:99999999": "from 1 to",
		"best":            "is unknown",
	} {
		if err := r.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestSwitch, by hand: eight servers of two GPUs in racks of three, three and two.
func TestSwitch(t *testing.T) {
	c := newCluster(slices.Repeat([]sched.Server{{GPUs: 2}}, 8), false)
	for s, free := range []int{2, 2, 0, 1, 1, 2, 0, 1} { // by rack: 4, 4 and 1
		c.hold(0, &sched.Placement{Shares: []sched.Share{{Server: s, GPUs: 2 - free}}}, 0)
	}
	for _, test := range []struct {
		gang int
		want []taken
	}{
		{1, []taken{{3, 1}}},                                         // the tightest server, of any rack
		{2, []taken{{0, 2}}},                                         // still one server
		{3, []taken{{0, 2}, {1, 1}}},                                 // the first of two racks with four
		{5, []taken{{0, 2}, {1, 2}, {7, 1}}},                         // a whole rack, and the one that suffices for the rest
		{7, []taken{{0, 2}, {1, 2}, {3, 1}, {5, 2}}},                 // in the second rack the full server first
		{9, []taken{{0, 2}, {1, 2}, {3, 1}, {4, 1}, {5, 2}, {7, 1}}}, // everything
	} {
		shares, ok := c.Pick(Switch(3), test.gang)
		var got []taken
		for _, sh := range shares {
			got = append(got, taken{sh.Server, sh.GPUs})
		}
		if !ok || !slices.Equal(got, test.want) {
			t.Errorf("%d GPUs: %v, want %v", test.gang, got, test.want)
		}
	}
	if _, ok := c.Pick(Switch(3), 10); ok {
		t.Error("found 10 GPUs of 9")
	}
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
			for _, r := range everyRule() {
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
