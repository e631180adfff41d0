package verify

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/sched"
)

// randomPlaced returns an instance of one job with up to four stages, some of
// them sliced or joined to a graph, and a random placement of it on servers of
// different sizes.
func randomPlaced(r *rand.Rand) (*sched.Instance, *sched.Placement) {
	round := func(n int64) int64 { return max(1, n-n%[]int64{1, 1e3, 1e6}[r.IntN(3)]) } // round numbers give exact microseconds
	in := &sched.Instance{Model: sched.ModelGang, Cluster: sched.Cluster{Inter: sched.Bandwidth(round(1 + r.Int64N(1e10)))}}
	in.Cluster.Intra = in.Cluster.Inter * sched.Bandwidth(1+r.IntN(300))
	j := sched.Job{Weight: 1, Iters: 1 + r.Int64N([]int64{3, 1000, 1e6}[r.IntN(3)])}
	stages := 1 + r.IntN(4)
	for s := range stages {
		st := sched.Stage{Replicas: 1 + r.IntN(6), Compute: sched.Duration(round(1 + r.Int64N(1e9)))}
		if r.IntN(3) > 0 {
			st.Params = sched.Bytes(round(r.Int64N(1e9)))
		}
		if s < stages-1 && r.IntN(4) > 0 {
			st.Boundary = sched.Bytes(round(r.Int64N(1e8)))
		}
		if r.IntN(3) == 0 {
			st.Slices, st.SliceSync = r.IntN(4), sched.Bytes(round(r.Int64N(1e9)))
		}
		j.Stages = append(j.Stages, st)
	}
	if r.IntN(3) == 0 {
		for s := range stages {
			j.Stages[s].Boundary = 0
			for u := s + 1; u < stages; u++ {
				if r.IntN(3) > 0 {
					j.Edges = append(j.Edges, sched.Edge{From: s, To: u, Bytes: sched.Bytes(round(r.Int64N(1e8)))})
				}
			}
		}
	}
	in.Jobs = []sched.Job{j}
	var p sched.Placement
	left := make([]int, stages)
	for s := range left {
		left[s] = j.Stages[s].Replicas
	}
	for rest := j.Gang(); rest > 0; {
		if r.IntN(4) == 0 { // an unused server
			in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: r.IntN(5)})
			continue
		}
		sh := sched.Share{Server: len(in.Cluster.Servers), Stages: make([]int, stages)}
		for range 1 + r.IntN(8) {
			s := r.IntN(stages)
			for rest > 0 && left[s] == 0 {
				s = (s + 1) % stages
			}
			if rest > 0 {
				t := max(1, j.Stages[s].Slices)
				left[s]--
				rest -= t
				sh.Stages[s]++
				sh.GPUs += t
			}
		}
		if stages == 1 && j.Stages[0].Slices < 2 && r.IntN(2) == 0 {
			sh.Stages = nil
		}
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: sh.GPUs + r.IntN(4)})
		p.Shares = append(p.Shares, sh)
	}
	return in, &p
}

// TestIterationTime compares the two implementations of the iteration time,
// here and in package sched, and that exactly the time RunTime gives suffices.
func TestIterationTime(t *testing.T) {
	whole := 0
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 3))
		in, p := randomPlaced(r)
		if err := in.Validate(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		c, j := &checker{in: in}, &in.Jobs[0]
		want, err := in.IterTime(0, p)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got := c.iterationTime(j, p)
		if got.Quo(got, big.NewRat(1e9, 1)).Cmp(want) != 0 {
			t.Fatalf("seed %d: alpha %v, sched says %v", seed, got, want)
		}
		d, err := in.RunTime(0, p)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if !c.suffices(j, p, d) || c.suffices(j, p, d-1) || !c.suffices(j, p, sched.MaxTime) || c.suffices(j, p, 0) {
			t.Fatalf("seed %d: RunTime is %d, but suffices(d) is %v, suffices(d-1) %v", seed, d, c.suffices(j, p, d), c.suffices(j, p, d-1))
		}
		if want.Mul(want, new(big.Rat).SetInt64(j.Iters*1e6)).IsInt() {
			whole++
		}
	}
	if whole < 200 {
		t.Errorf("only %d running times were whole microseconds", whole)
	}
}

// TestWithin compares the arithmetic in whole nanoseconds with rationals where
// it claims to be sure, and demands that it usually does.
func TestWithin(t *testing.T) {
	sures, near := 0, 0
	const cases = 20_000
	for seed := range uint64(cases) {
		r := rand.New(rand.NewPCG(seed, 4))
		small := func() int64 { return r.Int64N(1 << r.IntN(45)) }
		moves := make([]transfer, r.IntN(6))
		for i := range moves {
			moves[i] = transfer{small(), 1 + r.Int64N(9), 1 + r.Int64N(8), 1 + r.Int64N(9), 1 + r.Int64N(9), 1 + small()}
		}
		n, compute := 1+r.Uint64N(1<<r.IntN(40)), sched.Duration(1+r.Int64N(1<<r.IntN(40)))
		need := stageTime(compute, moves)
		need.Mul(need, new(big.Rat).SetInt(new(big.Int).SetUint64(n)))
		// Budgets next to the need, or anywhere if it is out of range.
		budget := r.Uint64N(1 << 60)
		if floor := new(big.Int).Quo(need.Num(), need.Denom()); floor.IsUint64() && floor.Uint64() < 1<<60 {
			near++
			budget = max(floor.Uint64()+uint64(r.IntN(9)), 4) - 4
		}
		fits, sure := within(n, compute, moves, budget)
		if want := need.Cmp(new(big.Rat).SetInt(new(big.Int).SetUint64(budget))) <= 0; sure && fits != want {
			t.Fatalf("seed %d: %d iterations of %d and %v within %d: got %v, want %v", seed, n, compute, moves, budget, fits, want)
		}
		if sure {
			sures++
		}
	}
	if sures < cases/2 || near < cases/4 {
		t.Errorf("of %d cases only %d were decided and %d were close", cases, sures, near)
	}
}

func TestProduct(t *testing.T) {
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 5))
		var f [5]uint64
		want := big.NewInt(1)
		for i := range f {
			f[i] = r.Uint64N(1<<r.IntN(64)) + r.Uint64N(2)
			want.Mul(want, new(big.Int).SetUint64(f[i]))
		}
		hi, lo, ok := product(f[:]...)
		got := new(big.Int).SetUint64(hi)
		got.Lsh(got, 64).Add(got, new(big.Int).SetUint64(lo))
		if ok && got.Cmp(want) != 0 || !ok && want.BitLen() <= 128 && want.Sign() > 0 {
			t.Fatalf("seed %d: product of %v is %v, %v; want %v", seed, f, got, ok, want)
		}
	}
}
