package catalogue

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"yardstick/bench/placing"
	"yardstick/formulate/placement"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/branch"
	"yardstick/solvers/exact"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
	"yardstick/solvers/partition"
)

// pipeline returns an instance of one job of several stages, and parts of its servers.
func pipeline(rng *rand.Rand) (in *sched.Instance, servers, parts []int) {
	in = &sched.Instance{Name: "random", Model: sched.ModelGang, Cluster: sched.Cluster{Inter: 1e9, Intra: 1e10}}
	j := sched.Job{Weight: 1, Iters: 10}
	stages := 2 + rng.IntN(3)
	for s := range stages {
		st := sched.Stage{Replicas: 1 + rng.IntN(2), Compute: sched.Duration(1+rng.Int64N(200)) * 1e6, Params: sched.Bytes(rng.Int64N(20) * 12e6)}
		if s < stages-1 {
			st.Boundary = sched.Bytes(rng.Int64N(5) * 12e6)
		}
		j.Stages = append(j.Stages, st)
	}
	in.Jobs = []sched.Job{j}
	for left := j.Gang(); left > 0; {
		n := min(left, 1+rng.IntN(3))
		servers, parts = append(servers, len(servers)), append(parts, n)
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: n})
		left -= n
	}
	return in, servers, parts
}

// TestPlaceByProgram: the programs place as the searches do, by either solver, and note
// what they solved.
func TestPlaceByProgram(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 6))
	for range tier.Draws(20, 200) {
		in, servers, parts := pipeline(rng)
		if len(parts) < 2 {
			continue
		}
		best, err := partition.BestAlpha(in, 0, servers, parts, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, cut, err := partition.MinCut(in, 0, servers, parts)
		if err != nil {
			t.Fatal(err)
		}
		for _, solver := range []milp.Solver{branch.New(lpsolve.LP{}), lpsolve.MIP{}} {
			var log exact.Log
			place := func(build placing.Formulation) sched.Placement {
				p, err := placeByProgram(context.Background(), build, solver, milp.Limits{Nodes: programNodes}, &log, in, servers, parts)
				if err != nil {
					t.Fatalf("%s: %v", solver.Name(), err)
				}
				return p
			}
			fastest, narrow := place(placement.OneHotAlpha), place(placement.CountCut)
			list := log.Programs()
			if len(list) != 2 || list[0].Rows == 0 || list[0].Integers == 0 || list[0].Result.X != nil {
				t.Fatalf("%s notes %+v", solver.Name(), list)
			}
			alpha, err := in.IterTime(0, &fastest)
			if err != nil {
				t.Fatal(err)
			}
			weight := partition.CutWeight(&in.Jobs[0], &narrow)
			// A program whose unit is the data's own is exact; another may take the second best.
			if alpha.Cmp(best.Lower) < 0 || list[0].Relation == "exact" && alpha.Cmp(best.Alpha) != 0 {
				t.Errorf("%s: alpha %v, and the search has %v (%v)", solver.Name(), alpha, best.Alpha, list[0].Relation)
			}
			if weight.Cmp(cut) < 0 || list[1].Relation == "exact" && weight.Cmp(cut) != 0 {
				t.Errorf("%s: cut %v, and the search has %v (%v)", solver.Name(), weight, cut, list[1].Relation)
			}
		}
	}
	in, servers, parts := pipeline(rng)
	in.Jobs[0].Stages = in.Jobs[0].Stages[:1]
	if _, err := placeByProgram(context.Background(), placement.OneHotAlpha, lpsolve.MIP{}, milp.Limits{}, nil, in, servers[:1], parts[:1]); !errors.Is(err, sched.ErrNotApplicable) {
		t.Errorf("one part: %v", err)
	}
}
