package placement

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"yardstick/sched"
	"yardstick/solvers/branch"
	"yardstick/solvers/external"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
	"yardstick/solvers/partition"
)

// fragmented returns a VGG19-like pipeline of 16 replicas with synthetic stage
// times, on random parts of servers of eight GPUs, 10 Gbit/s between them.
func fragmented(seed uint64) (in *sched.Instance, servers, parts []int) {
	const ms, mb = sched.Duration(1e6), sched.Bytes(1e6)
	in = &sched.Instance{Name: "VGG-16", Model: sched.ModelGang, Cluster: sched.Uniform(16, 8, 1.25e9, 300e9),
		Jobs: []sched.Job{{Weight: 1, Iters: 1, Stages: []sched.Stage{
			{Replicas: 8, Compute: 75 * ms, Params: 9 * mb, Boundary: 400 * mb},
			{Replicas: 5, Compute: 66 * ms, Params: 70 * mb, Boundary: 100 * mb},
			{Replicas: 2, Compute: 30 * ms, Params: 410 * mb, Boundary: 2 * mb},
			{Replicas: 1, Compute: 15 * ms, Params: 83 * mb},
		}}}}
	rng := rand.New(rand.NewPCG(seed, 45))
	for left := 16; left > 0; {
		n := min(left, 1+rng.IntN(8))
		servers, parts = append(servers, len(servers)), append(parts, n)
		left -= n
	}
	return in, servers, parts
}

// BenchmarkVGG solves every program with every solver, on five fragmentations
// and with a limit of two seconds each. It reports how many are called optimal,
// how many bounds are proven, and how many of those called optimal agree with
// the combinatorial engine to the rounding of the program.
func BenchmarkVGG(b *testing.B) {
	solvers := []milp.Solver{branch.New(lpsolve.LP{}), lpsolve.MIP{}}
	for _, s := range external.Found() {
		solvers = append(solvers, s)
	}
	for _, f := range formulations {
		for _, s := range solvers {
			b.Run(f.name+"/"+s.Name(), func(b *testing.B) {
				i, optimal, proven, right := 0, 0, 0, 0
				for b.Loop() {
					in, servers, parts := fragmented(uint64(i % 5))
					p, err := f.build(in, 0, servers, parts)
					if err != nil {
						b.Fatal(err)
					}
					res, err := s.Solve(context.Background(), p.Model, milp.Start{}, milp.Limits{Time: 2 * time.Second})
					if err != nil {
						b.Fatal(err)
					}
					i++
					if res.Termination != milp.Optimal {
						continue
					}
					optimal++
					if res.Dual == milp.Proven {
						proven++
					}
					place, err := p.Decode(res.X)
					if err != nil {
						continue
					}
					want, err := f.best(in, servers, parts)
					if err != nil {
						b.Fatal(err)
					}
					got, err := f.value(in, &place)
					if err != nil {
						b.Fatal(err)
					}
					g, _ := got.Float64()
					w, _ := want.Float64()
					if g <= w*(1+1e-5) {
						right++
					}
				}
				b.ReportMetric(100*float64(optimal)/float64(i), "%optimal")
				b.ReportMetric(100*float64(proven)/float64(i), "%proven")
				b.ReportMetric(100*float64(right)/float64(max(1, optimal)), "%right")
			})
		}
	}
	b.Run("combinatorial", func(b *testing.B) {
		for i := uint64(0); b.Loop(); i++ {
			in, servers, parts := fragmented(i % 5)
			if best, err := partition.BestAlpha(in, 0, servers, parts, 0); err != nil || !best.Exact {
				b.Fatal(best, err)
			}
		}
	})
}
