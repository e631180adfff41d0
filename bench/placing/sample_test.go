package placing

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/bench/suite"
	"yardstick/sched"
	"yardstick/sched/heavyedge"
)

// sample returns a random job and the case of random parts for it, on servers
// of several sizes.
func sample(t *testing.T, rng *rand.Rand) *Case {
	t.Helper()
	inter := sched.Bandwidth(1e8 + rng.Int64N(1e9))
	in := &sched.Instance{Name: "sample", Model: sched.ModelGang, Cluster: sched.Cluster{Inter: inter, Intra: inter * sched.Bandwidth(1+rng.IntN(50))}}
	j := sched.Job{Name: "j", Weight: 1, Iters: 10}
	for s, n := 0, 1+rng.IntN(4); s < n; s++ {
		st := sched.Stage{Replicas: 1 + rng.IntN(3), Compute: sched.Duration(1 + rng.Int64N(2e8)), Params: sched.Bytes(rng.Int64N(2e8))}
		if s < n-1 {
			st.Boundary = sched.Bytes(rng.Int64N(6e7))
		}
		j.Stages = append(j.Stages, st)
	}
	in.Jobs = []sched.Job{j}
	var parts []Part
	for left := j.Gang(); left > 0; {
		n := min(left, 1+rng.IntN(4))
		parts = append(parts, Part{len(in.Cluster.Servers), n})
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: n + rng.IntN(3)})
		left -= n
	}
	rng.Shuffle(len(parts), func(a, b int) { parts[a], parts[b] = parts[b], parts[a] })
	c, err := NewCase(in, 0, parts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// everyPlacement calls f for every placement on the case's parts.
func everyPlacement(c *Case, f func(*sched.Placement)) {
	stages := c.Problem.Jobs[0].Stages
	left := make([]int, len(stages))
	for s := range stages {
		left[s] = stages[s].Replicas
	}
	p := sched.Placement{Shares: make([]sched.Share, len(c.Parts))}
	for i := range p.Shares {
		p.Shares[i] = sched.Share{Server: c.Servers[i], GPUs: c.Parts[i], Stages: make([]int, len(stages))}
	}
	var fill func(i, s, room int)
	fill = func(i, s, room int) {
		if i == len(c.Parts) {
			f(&p)
			return
		}
		if s == len(stages) {
			if room == 0 {
				next := 0
				if i+1 < len(c.Parts) {
					next = c.Parts[i+1]
				}
				fill(i+1, 0, next)
			}
			return
		}
		for x := 0; x <= min(room, left[s]); x++ {
			p.Shares[i].Stages[s] = x
			left[s] -= x
			fill(i, s+1, room-x)
			left[s] += x
		}
		p.Shares[i].Stages[s] = 0
	}
	fill(0, 0, c.Parts[0])
}

// brute returns the least alpha and the least cut of all placements, each
// evaluated as the runner does.
func brute(t *testing.T, c *Case) (alpha, cut *big.Rat) {
	t.Helper()
	everyPlacement(c, func(p *sched.Placement) {
		a, w, err := c.evaluate(p)
		if err != nil {
			t.Fatal(err)
		}
		if alpha == nil || a.Cmp(alpha) < 0 {
			alpha = a
		}
		if cut == nil || w.Cmp(cut) < 0 {
			cut = w
		}
	})
	return alpha, cut
}

func named(name string) suite.MethodRef { return suite.MethodRef{Name: name} }

// quick are the methods that need no solver.
func quick() []Method {
	return []Method{Direct(named("heavy-edge"), "1", None, HeavyEdge(heavyedge.Ring)), Direct(named("chain"), "1", None, Unproven(Chain)),
		Direct(named("intervals"), "1", None, Unproven(Intervals)), Direct(named("min-cut"), "1", Cut, MinCut), Direct(named("min-alpha"), "1", Alpha, MinAlpha(0))}
}
