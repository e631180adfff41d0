package sim

import (
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/sched"
)

// packs tries every server for every replica, the first of which has so many
// slices.
func packs(replicas, room []int) bool {
	if len(replicas) == 0 {
		return true
	}
	for m := range room {
		if room[m] >= replicas[0] && !slices.Contains(room[:m], room[m]) {
			room[m] -= replicas[0]
			ok := packs(replicas[1:], room)
			room[m] += replicas[0]
			if ok {
				return true
			}
		}
	}
	return false
}

// replicasOf lists the slices of every replica, the most first.
func replicasOf(widths []sched.Width) (out []int) {
	for _, w := range widths {
		out = append(out, slices.Repeat([]int{w.Slices}, w.Replicas)...)
	}
	return out
}

// consolidatesWhole tries every set of vacant servers and every server for the
// rest.
func (n *naive) consolidatesWhole(replicas []int) bool {
	sizes := slices.Clone(n.size)
	slices.Sort(sizes)
	slices.Reverse(sizes)
	fewest := 1
	for !packs(replicas, slices.Clone(sizes[:fewest])) {
		if fewest++; fewest > len(sizes) {
			return false
		}
	}
	for set := range 1 << len(n.size) {
		var room []int
		vacant := true
		for s := range n.size {
			if set>>s&1 == 1 {
				room = append(room, n.size[s])
				vacant = vacant && n.free[s] == n.size[s]
			}
		}
		if !vacant || len(room) != fewest-1 {
			continue
		}
		for s := range n.size {
			if set>>s&1 == 0 && packs(replicas, append(slices.Clone(room), n.free[s])) {
				return true
			}
		}
	}
	return false
}

// TestPickWhole holds and releases GPUs at random and checks that every rule
// finds GPUs for whole replicas if and only if there are any, that whole ones
// can fill what it takes, and what its order says about that.
func TestPickWhole(t *testing.T) {
	found, refused, searched := 0, 0, 0
	for seed := range uint64(600) {
		rng := rand.New(rand.NewPCG(seed, 6))
		servers := make([]sched.Server, 1+rng.IntN(5))
		n := &naive{}
		for s := range servers {
			servers[s].GPUs = 1 + rng.IntN(8)
			n.size, n.free = append(n.size, servers[s].GPUs), append(n.free, servers[s].GPUs)
		}
		c := newCluster(servers, false)
		for range 12 {
			s := rng.IntN(len(servers))
			change := rng.IntN(n.size[s]+1) - n.free[s]
			place := &sched.Placement{Shares: []sched.Share{{Server: s, GPUs: max(change, -change)}}}
			if change < 0 {
				c.hold(0, place, 0)
			} else {
				c.release(0, place, 0)
			}
			n.free[s] += change
			var widths []sched.Width
			for _, w := range [][]int{{4, 2, 1}, {2, 1}, {3, 2}, {5, 3, 1}, {3}}[rng.IntN(5)] {
				if k := rng.IntN(4); k > 0 {
					widths = append(widths, sched.Width{Slices: w, Replicas: k})
				}
			}
			replicas := replicasOf(widths)
			fits := len(replicas) > 0 && packs(replicas, slices.Clone(n.free))
			for _, r := range everyRule() {
				want := fits
				if r == Consolidate {
					want = len(replicas) > 0 && n.consolidatesWhole(replicas)
				}
				shares, ok := c.PickWhole(r, widths)
				if ok != want || c.FitsWhole(r, widths) != ok {
					t.Fatalf("seed %d: %v of %v on %v of %v: %v, %t, want %t", seed, r, widths, n.free, n.size, shares, ok, want)
				}
				if !ok {
					refused++
					continue
				}
				found++
				if !wholeShares(n, replicas, shares) {
					t.Fatalf("seed %d: %v of %v on %v of %v: %v", seed, r, widths, n.free, n.size, shares)
				}
				if per, ok := r.rack(); ok {
					if got, want := racksUsed(n, per, shares), leastRacks(n, per, replicas); want > 0 && got != want {
						t.Fatalf("seed %d: %v of %v on %v: %v are on %d racks, want %d", seed, r, widths, n.free, shares, got, want)
					}
					continue
				}
				if want := inRuleOrder(n, r, replicas); want == nil {
					searched++
				} else if r != Consolidate && !slices.Equal(want, perServer(n, shares)) {
					t.Fatalf("seed %d: %v of %v on %v of %v: %v, want %v", seed, r, widths, n.free, n.size, shares, want)
				}
			}
		}
	}
	t.Logf("%d found, %d refused, %d by search", found, refused, searched)
	if found < 5000 || refused < 5000 || searched < 30 {
		t.Error("too few of a kind to mean anything")
	}
}

// racksUsed counts the racks of so many servers that shares are on; one server alone is
// less than a rack.
func racksUsed(n *naive, per int, shares []sched.Share) int {
	used := map[int]bool{}
	for _, sh := range shares {
		used[sh.Server/per] = true
	}
	if len(shares) == 1 {
		return 1
	}
	return 1 + len(used)
}

// leastRacks returns 1 if the replicas fit on one server, 2 if they fit in one rack, and
// 0 if they need several.
func leastRacks(n *naive, per int, replicas []int) int {
	least := 0
	for s := range n.free {
		if packs(replicas, []int{n.free[s]}) {
			return 1
		}
		if packs(replicas, n.only(s/per, per).free) {
			least = 2
		}
	}
	return least
}

func perServer(n *naive, shares []sched.Share) []int {
	takes := make([]int, len(n.size))
	for _, sh := range shares {
		takes[sh.Server] = sh.GPUs
	}
	return takes
}

// wholeShares reports whether the shares ascend, are free, and whole replicas
// fill them to the last GPU.
func wholeShares(n *naive, replicas []int, shares []sched.Share) bool {
	var room []int
	total := 0
	for i, sh := range shares {
		if sh.GPUs < 1 || sh.GPUs > n.free[sh.Server] || i > 0 && sh.Server <= shares[i-1].Server {
			return false
		}
		room = append(room, sh.GPUs)
		total += sh.GPUs
	}
	for _, w := range replicas {
		total -= w
	}
	return total == 0 && packs(replicas, room)
}

// inRuleOrder takes of one server after the other, in the rule's order, the
// replicas that still fit, those with the most slices first. It returns the GPUs
// taken of each server, or nil if replicas are left over.
func inRuleOrder(n *naive, r Rule, replicas []int) []int {
	order := n.order(func(a, b int) int { return 0 })
	switch r {
	case LeastAvailable:
		order = n.order(func(a, b int) int { return n.free[a] - n.free[b] })
	case MostAvailable, BestFit, FirstFit:
		order = n.order(n.mostFirst)
	}
	takes, left := make([]int, len(n.size)), slices.Clone(replicas)
	for _, s := range order {
		rest := 0
		for _, w := range left {
			rest += w
		}
		used := map[int]int{}
		for m := range takes {
			if takes[m] > 0 {
				used[m] = takes[m]
			}
		}
		if best := n.tightest(rest, used); r == BestFit && rest > 0 && best >= 0 {
			takes[best] = rest
			return takes
		}
		if first := n.lowest(rest, used); r == FirstFit && rest > 0 && first >= 0 {
			takes[first] = rest
			return takes
		}
		left = slices.DeleteFunc(left, func(w int) bool {
			fits := takes[s]+w <= n.free[s]
			if fits {
				takes[s] += w
			}
			return fits
		})
	}
	if len(left) > 0 {
		return nil
	}
	return takes
}

// TestChainWhole, by hand: replicas of two slices are passed over where one GPU
// is left, and single ones where too few would be left to fill the rest.
func TestChainWhole(t *testing.T) {
	c := newCluster(make([]sched.Server, 1), false)
	shares := []sched.Share{{Server: 0, GPUs: 3}, {Server: 1, GPUs: 3}, {Server: 4, GPUs: 1}}
	c.Chain([]sched.Stage{{Replicas: 2, Slices: 2}, {Replicas: 3}}, shares)
	for i, want := range [][]int{{1, 1}, {1, 1}, {0, 1}} {
		if !slices.Equal(shares[i].Stages, want) {
			t.Errorf("share %d holds %v, want %v", i, shares[i].Stages, want)
		}
	}
	shares = []sched.Share{{Server: 0, GPUs: 3}, {Server: 1, GPUs: 4}}
	c.Chain([]sched.Stage{{Replicas: 3}, {Replicas: 2, Slices: 2}}, shares)
	for i, want := range [][]int{{3, 0}, {0, 2}} {
		if !slices.Equal(shares[i].Stages, want) {
			t.Errorf("share %d holds %v, want %v", i, shares[i].Stages, want)
		}
	}
	shares = []sched.Share{{Server: 0, GPUs: 4}, {Server: 1, GPUs: 3}}
	c.Chain([]sched.Stage{{Replicas: 3}, {Replicas: 2, Slices: 2}}, shares)
	for i, want := range [][]int{{2, 1}, {1, 1}} { // a third single GPU on the first would leave one that nothing fills
		if !slices.Equal(shares[i].Stages, want) {
			t.Errorf("share %d holds %v, want %v", i, shares[i].Stages, want)
		}
	}
	single := []sched.Share{{Server: 0, GPUs: 4}}
	c.Chain([]sched.Stage{{Replicas: 2, Slices: 2}}, single)
	if !slices.Equal(single[0].Stages, []int{2}) {
		t.Errorf("a job of one stage of slices got %v", single[0].Stages)
	}
}
