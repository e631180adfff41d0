package partition

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/sched"
)

// vertexCut returns the least cut over all ways to give each server its number
// of replicas of each stage, by enumeration on the graph itself.
func vertexCut(j *sched.Job, p *sched.Placement) *big.Rat {
	type edge struct {
		u, v   int
		weight *big.Rat
	}
	var edges []edge
	var stage []int // of each vertex
	var first []int // vertex of each stage
	for s, st := range j.Stages {
		first = append(first, len(stage))
		for range st.Replicas {
			stage = append(stage, s)
		}
	}
	for s, st := range j.Stages {
		k := st.Replicas
		ring := new(big.Rat).Mul(big.NewRat(int64(2*(k-1)), int64(k)), new(big.Rat).SetInt64(int64(st.Params)))
		for i := range k {
			if k >= 3 || k == 2 && i == 0 {
				edges = append(edges, edge{first[s] + i, first[s] + (i+1)%k, ring})
			}
			next := []sched.Edge{{From: s, To: s + 1, Bytes: st.Boundary}}
			if len(j.Edges) > 0 {
				next = j.Edges
			}
			for _, e := range next {
				if e.From != s || e.To == len(j.Stages) {
					continue
				}
				b := j.Stages[e.To].Replicas
				w := new(big.Rat).Mul(big.NewRat(2, int64(k*b)), new(big.Rat).SetInt64(int64(e.Bytes)))
				for n := range b {
					edges = append(edges, edge{first[s] + i, first[e.To] + n, w})
				}
			}
		}
	}
	left := make([][]int, len(p.Shares))
	for m := range left {
		for s := range j.Stages {
			left[m] = append(left[m], replicasOf(&p.Shares[m], j, s))
		}
	}
	at := make([]int, len(stage))
	var best *big.Rat
	var assign func(v int)
	assign = func(v int) {
		if v == len(at) {
			cut := new(big.Rat)
			for _, e := range edges {
				if at[e.u] != at[e.v] {
					cut.Add(cut, e.weight)
				}
			}
			if best == nil || cut.Cmp(best) < 0 {
				best = cut
			}
			return
		}
		for m := range left {
			if left[m][stage[v]] > 0 {
				left[m][stage[v]]--
				at[v] = m
				assign(v + 1)
				left[m][stage[v]]++
			}
		}
	}
	assign(0)
	return best
}

func TestCutWeightAgainstGraph(t *testing.T) {
	tried := 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 31))
		in := randomInstance(rng, 3, 7, true)
		if seed%2 == 0 {
			extend(rng, in, 9)
		}
		eachPlacement(in, func(p *sched.Placement) {
			if rng.IntN(10) > 0 {
				return
			}
			tried++
			if got, want := CutWeight(&in.Jobs[0], p), vertexCut(&in.Jobs[0], p); got.Cmp(want) != 0 {
				t.Fatalf("seed %d: cut %s, %s by enumeration\n%+v\n%+v", seed, got, want, p, in)
			}
		})
	}
	if tried < 1000 {
		t.Errorf("only %d placements", tried)
	}
}

// A ring spread over q servers cuts q edges, whatever the partition.
func TestRingCut(t *testing.T) {
	for k := 2; k <= 10; k++ {
		j := &sched.Job{Stages: []sched.Stage{{Replicas: k, Params: sched.Bytes(k)}}} // A = 2 (k − 1)
		for q := 1; q <= k; q++ {
			p := &sched.Placement{}
			for m := range q {
				n := 1
				if m == 0 {
					n = k - q + 1
				}
				p.Shares = append(p.Shares, sched.Share{Server: m, GPUs: n})
			}
			want := q
			if q == 1 {
				want = 0
			} else if k == 2 {
				want = 1
			}
			if got := CutWeight(j, p); got.Cmp(big.NewRat(int64(want*2*(k-1)), 1)) != 0 {
				t.Errorf("%d replicas on %d servers: cut %s, want %d edges", k, q, got, want)
			}
		}
	}
}

// partsOf returns the request that a placement answers.
func partsOf(p *sched.Placement) (servers, parts []int) {
	for _, sh := range p.Shares {
		servers, parts = append(servers, sh.Server), append(parts, sh.GPUs)
	}
	return servers, parts
}

func TestMinCutAgainstEnumeration(t *testing.T) {
	requests := 0
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 32))
		in := randomInstance(rng, 4, 7, rng.IntN(2) == 0)
		if seed%2 == 0 {
			extend(rng, in, 10)
		}
		best, example := map[string]*big.Rat{}, map[string]sched.Placement{}
		eachPlacement(in, func(p *sched.Placement) {
			servers, parts := partsOf(p)
			key := fmt.Sprint(servers, parts)
			if cut := CutWeight(&in.Jobs[0], p); best[key] == nil || cut.Cmp(best[key]) < 0 {
				best[key] = cut
				example[key] = sched.Placement{Shares: append([]sched.Share(nil), p.Shares...)}
			}
		})
		for key, want := range best {
			if len(best) > 20 && rng.IntN(len(best)) > 20 {
				continue
			}
			requests++
			p := example[key]
			servers, parts := partsOf(&p)
			place, cut, err := MinCut(in, 0, servers, parts)
			if err != nil || cut.Cmp(want) != 0 {
				t.Fatalf("seed %d, parts %s: cut %v, error %v; %s by enumeration\n%+v", seed, key, cut, err, want, in)
			}
			mustRunTime(t, in, &place)
			if s, q := partsOf(&place); fmt.Sprint(s, q) != key {
				t.Fatalf("seed %d: parts %v %v for %s", seed, s, q, key)
			}
		}
	}
	if requests < 3000 {
		t.Errorf("only %d requests", requests)
	}
}

func TestMinCutLimits(t *testing.T) {
	// Denominators that are primes, and the greatest sizes: more than 63 bits.
	in := tenGbit(8, 8, 1, sched.Stage{Replicas: 13, Compute: ms, Params: 1e14, Boundary: 1e14}, sched.Stage{Replicas: 17, Compute: ms, Params: 1e14, Boundary: 1e14},
		sched.Stage{Replicas: 19, Compute: ms, Params: 1e14})
	if _, _, err := MinCut(in, 0, []int{0, 1, 2, 3, 4, 5, 6}, []int{8, 8, 8, 8, 8, 8, 1}); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("error %v", err)
	}
	if _, _, err := MinCut(in, 0, []int{0}, []int{49}); err == nil {
		t.Error("49 GPUs of a server of eight: no error")
	}
}
