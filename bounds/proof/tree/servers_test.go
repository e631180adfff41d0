package tree_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"yardstick/bounds/proof"
	"yardstick/bounds/proof/tree"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive"
)

// onServers returns an instance whose gangs run the slower the more they are spread, with
// its problem, a schedule to begin with and the optimum.
func onServers(t *testing.T, r *rand.Rand, shape schedtest.Shape) (*sched.Instance, *proof.Problem, proof.Claim, *sched.Schedule) {
	t.Helper()
	in := schedtest.Gang(r, shape)
	if r.IntN(3) == 0 && len(in.Cluster.Servers) > 1 { // servers that differ
		in.Cluster.Servers[0].GPUs++
	}
	obj := []sched.Objective{sched.WeightedCompletion, sched.TotalJCT, sched.Makespan}[r.IntN(3)]
	p, err := proof.NewOnServers(in, obj, continuous)
	if err != nil {
		t.Fatal(err)
	}
	s, optimum := schedtest.BruteForce(in, obj)
	starts, held, err := p.Places(s)
	if err != nil {
		t.Fatal(err)
	}
	value, err := p.EvaluateOn(starts, held)
	if err != nil {
		t.Fatal(err)
	}
	if p.Value(value).Cmp(optimum) != 0 {
		t.Fatalf("the best schedule costs %v, and as integers %v\n%s", optimum, p.Value(value), p.Text())
	}
	return in, p, proof.Claim{Value: value, Starts: starts, Held: held}, s
}

// Every optimum on servers is proven, from any schedule, and nothing else: neither with a
// damaged proof, nor what is cheaper or dearer.
func TestServers(t *testing.T) {
	var good, bad []pair
	schedtest.EachSeed(t, tier.Draws(60, 600), func(t *testing.T, r *rand.Rand) {
		_, p, claim, _ := onServers(t, r, schedtest.Shape{Jobs: 2 + r.IntN(3), Servers: 2 + r.IntN(2), GPUs: 1 + r.IntN(3), Stages: 2, Traffic: true, Weights: true})
		cost := claim.Value
		c := prove(t, p, worse(t, r, p, claim))
		if c.Claim.Value.Cmp(cost) != 0 {
			t.Fatalf("%v is proven, and the optimum is %v\n%s", c.Claim.Value, cost, p.Text())
		}
		bound := prove(t, p, proof.Claim{Value: cost})
		good = append(good, pair{"optimum", p.Text(), c.Text, func() bool { return true }}, pair{"bound", p.Text(), bound.Text, func() bool { return true }})
		var cheaper *proof.CheaperError
		if _, err := tree.Prove(context.Background(), p, proof.Claim{Value: plus(cost, 1)}, tree.Limits{}); !errors.As(err, &cheaper) || cheaper.Cost.Cmp(cost) < 0 {
			t.Fatalf("a bound above the optimum: %v", err)
		}
		line := func(v *big.Int) string { return fmt.Sprintf("\nvalue %v\n", v) }
		for _, d := range []int64{1, -1} {
			bad = append(bad, pair{"optimum±1", p.Text(), []byte(strings.Replace(string(c.Text), line(cost), line(plus(cost, d)), 1)), nil})
		}
		for range 12 {
			hostile := damage(r, string([][]byte{c.Text, bound.Text}[r.IntN(2)]))
			bad = append(bad, pair{"hostile", p.Text(), []byte(hostile), func() bool {
				if field(hostile, "claim") == "optimum" {
					return field(hostile, "value").Cmp(cost) == 0
				}
				return field(hostile, "value").Cmp(cost) <= 0
			}})
		}
		// A problem that is damaged is not the one of the hash, and if it is, may still be
		// no problem: both checkers must say the same of it.
		text := damage(r, string(p.Text()))
		sum := sha256.Sum256([]byte(text))
		bad = append(bad, pair{"other problem", []byte(text), c.Text, func() bool { return text == string(p.Text()) }},
			pair{"other problem, hash", []byte(text), []byte(strings.Replace(string(c.Text), p.Hash(), hex.EncodeToString(sum[:]), 1)), func() bool { return true }})
	})
	judge(t, good, true)
	if n := judge(t, bad, false); n == 0 || n > len(bad)*9/10 {
		t.Errorf("%d of %d changed proofs are accepted: the changes test nothing", n, len(bad))
	}
}

// worse returns a claim of some schedule: jobs one after the other, in random patterns.
func worse(t *testing.T, r *rand.Rand, p *proof.Problem, claim proof.Claim) proof.Claim {
	t.Helper()
	if r.IntN(2) == 0 {
		return claim
	}
	starts, at := make([]int64, len(p.Jobs)), int64(0)
	for _, i := range r.Perm(len(p.Jobs)) {
		at = max(at, p.Jobs[i].Release)
		starts[i] = at
		d, err := p.DurationOn(i, claim.Held[i])
		if err != nil {
			t.Fatal(err)
		}
		at += d
	}
	value, err := p.EvaluateOn(starts, claim.Held)
	if err != nil {
		t.Fatal(err)
	}
	return proof.Claim{Value: value, Starts: starts, Held: claim.Held}
}

// The optimum of larger instances on servers is that of package exhaustive, and one of
// them at least has another optimum on one pool.
func TestServersAgreeWithSearch(t *testing.T) {
	var pairs []pair
	above := 0
	schedtest.EachSeed(t, tier.Draws(6, 40), func(t *testing.T, r *rand.Rand) {
		in := schedtest.Gang(r, schedtest.Shape{Jobs: 5 + r.IntN(2), Servers: 3, GPUs: 3, Stages: 2, Traffic: true, Weights: true})
		obj := []sched.Objective{sched.TotalJCT, sched.Makespan, sched.WeightedCompletion}[r.IntN(3)]
		p, err := proof.NewOnServers(in, obj, continuous)
		if err != nil {
			t.Fatal(err)
		}
		res, err := exhaustive.Solve(t.Context(), in, obj, exact.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		claim := proof.Claim{}
		if claim.Starts, claim.Held, err = p.Places(res.Schedule); err != nil {
			t.Fatal(err)
		}
		if claim.Value, err = p.EvaluateOn(claim.Starts, claim.Held); err != nil {
			t.Fatal(err)
		}
		c := prove(t, p, claim)
		if got := p.Value(c.Claim.Value); got.Cmp(res.Cost) != 0 {
			t.Fatalf("%v: the proof says %v, the search %v", obj, got, res.Cost)
		}
		pairs = append(pairs, pair{"servers", p.Text(), c.Text, func() bool { return true }})
		pool, err := proof.New(in, obj, continuous)
		if err != nil {
			t.Fatal(err)
		}
		starts, err := pool.Starts(res.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		value, err := pool.Evaluate(starts)
		if err != nil {
			t.Fatal(err)
		}
		if on := prove(t, pool, proof.Claim{Value: value, Starts: starts}); pool.Value(on.Claim.Value).Cmp(res.Cost) < 0 {
			above++
		}
	})
	judge(t, pairs, true)
	if above == 0 {
		t.Error("the pool has the same optimum in all draws: servers are not tested")
	}
}
