package placing

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/sched"
)

// bestOrder tries every order of the parts.
func bestOrder(t *testing.T, c *Case) *big.Rat {
	t.Helper()
	var best *big.Rat
	order := make([]int, len(c.Parts))
	for i := range order {
		order[i] = i
	}
	var permute func(n int)
	permute = func(n int) {
		if n == 0 {
			p := intervalsOf(c.Problem, c.Servers, c.Parts, order)
			a, _, err := c.evaluate(&p)
			if err != nil {
				t.Fatal(err)
			}
			if best == nil || a.Cmp(best) < 0 {
				best = a
			}
			return
		}
		for i := range n {
			order[i], order[n-1] = order[n-1], order[i]
			permute(n - 1)
			order[i], order[n-1] = order[n-1], order[i]
		}
	}
	permute(len(order))
	return best
}

func TestIntervals(t *testing.T) {
	better := 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 4))
		c := sample(t, rng)
		if len(c.Parts) > 6 {
			continue
		}
		if seed%2 == 0 { // servers alike: kinds of several parts
			for m := range c.Problem.Cluster.Servers {
				c.Problem.Cluster.Servers[m].GPUs = 6
			}
		}
		want := bestOrder(t, c)
		p, err := Intervals(c.Problem, c.Servers, c.Parts)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := c.evaluate(&p)
		if err != nil {
			t.Fatal(err)
		}
		if got.Cmp(want) != 0 {
			t.Fatalf("seed %d: %s, the best order has %s", seed, got, want)
		}
		chain, err := Chain(c.Problem, c.Servers, c.Parts)
		if err != nil {
			t.Fatal(err)
		}
		if a, _, err := c.evaluate(&chain); err != nil || a.Cmp(got) < 0 {
			t.Fatalf("seed %d: chain has %s, intervals %s, error %v", seed, a, got, err)
		} else if a.Cmp(got) > 0 {
			better++
		}
	}
	if better < 20 {
		t.Errorf("intervals beat the chain only %d times", better)
	}
}

// Parts of many kinds have too many orders.
func TestIntervalsTooLarge(t *testing.T) {
	in := &sched.Instance{Name: "large", Model: sched.ModelGang, Cluster: sched.Cluster{Inter: 1e9, Intra: 1e9}, Jobs: []sched.Job{{Weight: 1, Iters: 1}}}
	var servers, parts []int
	gang := 0
	for m := range 20 {
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: m + 1})
		servers, parts, gang = append(servers, m), append(parts, m+1), gang+m+1
	}
	in.Jobs[0].Stages = []sched.Stage{{Replicas: gang, Compute: 1}}
	if _, err := Intervals(in, servers, parts); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("error %v", err)
	}
}
