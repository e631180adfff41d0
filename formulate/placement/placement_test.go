package placement

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"yardstick/formulate"
	"yardstick/sched"
	"yardstick/solvers/branch"
	"yardstick/solvers/external"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
	"yardstick/solvers/partition"
)

// random returns an instance of one job and parts for it. Round data have a
// coarse common unit, so that programs are exact.
func random(rng *rand.Rand, round bool) (in *sched.Instance, servers, parts []int) {
	in = &sched.Instance{Name: "random", Model: sched.ModelGang, Cluster: sched.Cluster{Inter: 1e9, Intra: 1e10}}
	if !round {
		in.Cluster.Inter = sched.Bandwidth(1e8 + rng.Int64N(1e9))
		in.Cluster.Intra = in.Cluster.Inter * sched.Bandwidth(1+rng.IntN(50))
	}
	size := func(n int64) sched.Bytes {
		if round {
			return sched.Bytes(rng.Int64N(n) * 12e6)
		}
		return sched.Bytes(rng.Int64N(n * 12e6))
	}
	j := sched.Job{Weight: 1, Iters: 10}
	for s, n := 0, 1+rng.IntN(4); s < n; s++ {
		st := sched.Stage{Replicas: 1 + rng.IntN(3), Compute: sched.Duration(1+rng.Int64N(200)) * 1e6, Params: size(20)}
		if !round {
			st.Compute += sched.Duration(rng.Int64N(1e6))
		}
		if s < n-1 {
			st.Boundary = size(5)
		}
		j.Stages = append(j.Stages, st)
	}
	in.Jobs = []sched.Job{j}
	for left := j.Gang(); left > 0; {
		n := min(left, 1+rng.IntN(4))
		servers, parts = append(servers, len(servers)), append(parts, n)
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: n + rng.IntN(3)})
		left -= n
	}
	rng.Shuffle(len(parts), func(a, b int) {
		servers[a], servers[b], parts[a], parts[b] = servers[b], servers[a], parts[b], parts[a]
	})
	return in, servers, parts
}

// extend gives the job tensor slices, a stage graph, or both, in round numbers,
// and parts for it. Whole replicas may not be able to fill these.
func extend(rng *rand.Rand, in *sched.Instance) (servers, parts []int) {
	j := &in.Jobs[0]
	kind := 1 + rng.IntN(3)
	for s := range j.Stages {
		if kind&1 != 0 {
			j.Stages[s].Slices, j.Stages[s].SliceSync = 1+rng.IntN(3), sched.Bytes(rng.IntN(3))*60e6
		}
		if kind&2 == 0 || len(j.Stages) == 1 {
			continue
		}
		j.Stages[s].Boundary = 0
		for u := s + 1; u < len(j.Stages); u++ {
			if rng.IntN(3) > 0 {
				j.Edges = append(j.Edges, sched.Edge{From: s, To: u, Bytes: sched.Bytes(rng.Int64N(5) * 12e6)})
			}
		}
	}
	in.Cluster.Servers = nil
	for left := j.Gang(); left > 0; {
		n := min(left, 1+rng.IntN(6))
		servers, parts = append(servers, len(servers)), append(parts, n)
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: n + rng.IntN(3)})
		left -= n
	}
	return servers, parts
}

// formulations are the programs and what their optimum must be.
var formulations = []struct {
	name  string
	build func(*sched.Instance, sched.JobID, []int, []int) (*Program, error)
	best  func(in *sched.Instance, servers, parts []int) (*big.Rat, error)
	value func(*sched.Instance, *sched.Placement) (*big.Rat, error)
}{
	{"naive cut", NaiveCut, leastCut, cutOf},
	{"count cut", CountCut, leastCut, cutOf},
	{"one-hot alpha", OneHotAlpha, leastAlpha, alphaOf},
}

func leastCut(in *sched.Instance, servers, parts []int) (*big.Rat, error) {
	_, cut, err := partition.MinCut(in, 0, servers, parts)
	return cut, err
}

func leastAlpha(in *sched.Instance, servers, parts []int) (*big.Rat, error) {
	b, err := partition.BestAlpha(in, 0, servers, parts, 0)
	if err != nil {
		return nil, err
	}
	return b.Lower, nil // of such small jobs also Alpha
}

func cutOf(in *sched.Instance, p *sched.Placement) (*big.Rat, error) {
	return partition.CutWeight(&in.Jobs[0], p), nil
}

func alphaOf(in *sched.Instance, p *sched.Placement) (*big.Rat, error) { return in.IterTime(0, p) }

// agree checks a result that claims to be optimal against the combinatorial
// engine: equality if the program is exact; else a bound from below, and a
// placement within what rounding may cost.
func agree(t *testing.T, in *sched.Instance, servers, parts []int, p *Program, res *milp.Result, want *big.Rat, value func(*sched.Instance, *sched.Placement) (*big.Rat, error)) {
	t.Helper()
	if res.Termination != milp.Optimal {
		t.Fatalf("%s: %s %s", p.Model.Name, res.Termination, res.Message)
	}
	place, err := p.Decode(res.X)
	if err != nil {
		t.Fatal(err)
	}
	got, err := value(in, &place)
	if err != nil {
		t.Fatal(err)
	}
	lower, _ := p.Lower(res)
	if lower.Cmp(want) > 0 || got.Cmp(want) < 0 {
		t.Fatalf("%s: bound %s, placement %s, optimum %s", p.Model.Name, lower, got, want)
	}
	if p.Relation == formulate.Exact {
		if lower.Cmp(want) != 0 || got.Cmp(want) != 0 {
			t.Fatalf("%s: bound %s, placement %s, optimum %s, though exact", p.Model.Name, lower, got, want)
		}
		return
	}
	units := new(big.Rat).Quo(new(big.Rat).Sub(got, lower), p.Unit)
	if edges := int64(200); units.Cmp(big.NewRat(edges, 1)) > 0 { // more than any job here has terms that are rounded
		t.Fatalf("%s: bound %s and placement %s are %s units apart", p.Model.Name, lower, got, units.FloatString(1))
	}
}

func TestAgainstCombinatorialEngine(t *testing.T) {
	solver := branch.New(lpsolve.LP{})
	exact, impossible := map[string]int{}, 0
	for seed := range uint64(240) {
		rng := rand.New(rand.NewPCG(seed, 41))
		in, servers, parts := random(rng, seed%2 == 0)
		if seed >= 120 {
			servers, parts = extend(rng, in)
		} else if err := in.Validate(); err != nil {
			t.Fatal(err)
		}
		for _, f := range formulations {
			if f.name == "naive cut" && in.Jobs[0].Gang() > 6 {
				continue
			}
			p, err := f.build(in, 0, servers, parts)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Model.Validate(); err != nil {
				t.Fatal(err)
			}
			res, err := solver.Solve(context.Background(), p.Model, milp.Start{}, milp.Limits{Nodes: 20_000})
			if err != nil {
				t.Fatal(err)
			}
			want, err := f.best(in, servers, parts)
			if errors.Is(err, partition.ErrNoPlacement) {
				impossible++
				if res.Termination != milp.Infeasible || res.Dual != milp.Proven {
					t.Fatalf("seed %d, %s: %s %s, though no placement exists", seed, f.name, res.Termination, res.Dual)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, evidence := p.Lower(res); evidence != milp.Proven {
				t.Fatalf("seed %d, %s: bound is %q", seed, f.name, evidence)
			}
			agree(t, in, servers, parts, p, res, want, f.value)
			if p.Relation == formulate.Exact {
				exact[f.name]++
			}
		}
	}
	for _, f := range formulations {
		if n := exact[f.name]; n < 20 || n > 220 {
			t.Errorf("%s: %d exact programs of 240: the test needs both kinds", f.name, n)
		}
	}
	if impossible < 20 {
		t.Errorf("parts that cannot be filled in %d programs only", impossible)
	}
}

// TestPlacementsArePoints fixes random placements in the alpha and count
// programs: each is a point, at no more than its true value.
func TestPlacementsArePoints(t *testing.T) {
	solver := branch.New(lpsolve.LP{})
	fixed := 0
	for seed := range uint64(80) {
		rng := rand.New(rand.NewPCG(seed, 42))
		in, servers, parts := random(rng, seed%2 == 0)
		r, err := newRequest(in, 0, servers, parts)
		if err != nil {
			t.Fatal(err)
		}
		var gang []int // stages of the replicas, in random order
		for s, st := range in.Jobs[0].Stages {
			for range st.Replicas {
				gang = append(gang, s)
			}
		}
		rng.Shuffle(len(gang), func(a, b int) { gang[a], gang[b] = gang[b], gang[a] })
		counts := make([][]int, len(r.gpus))
		alike, ordered := map[[2]int]int{}, true
		for m, g := range r.gpus {
			counts[m] = make([]int, len(in.Jobs[0].Stages))
			for _, s := range gang[:g] {
				counts[m][s]++
			}
			gang = gang[g:]
			key := [2]int{g, r.size(m)}
			if before, ok := alike[key]; ok && before < counts[m][0] {
				ordered = false // not itself a point, but its mirror image is
			}
			alike[key] = counts[m][0]
		}
		if !ordered {
			continue
		}
		fixed++
		place, err := r.placement(counts)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range formulations[1:] {
			p, err := f.build(in, 0, servers, parts)
			if err != nil {
				t.Fatal(err)
			}
			col := 0 // variables come part by part, stage by stage, count by count
			for m := range counts {
				for s, x := range counts[m] {
					p.Model.Vars[col+x].Lower = 1
					col += r.most(m, s) + 1
				}
			}
			res, err := solver.Solve(context.Background(), p.Model, milp.Start{}, milp.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			want, err := f.value(in, &place)
			if err != nil {
				t.Fatal(err)
			}
			if res.Termination != milp.Optimal {
				t.Fatalf("seed %d, %s: %s with a placement fixed", seed, f.name, res.Termination)
			}
			agree(t, in, servers, parts, p, res, want, f.value)
		}
	}
	if fixed < 30 {
		t.Errorf("only %d placements", fixed)
	}
}

// TestSecondOpinions gives the same programs to the solvers on PATH and to
// lp_solve's own search, and reports how long they take and how often what they
// call optimal is. Nothing they say is a proof, and their evidence must say so.
func TestSecondOpinions(t *testing.T) {
	solvers := []milp.Solver{lpsolve.MIP{}}
	for _, s := range external.Found() {
		solvers = append(solvers, s)
	}
	if len(solvers) == 1 {
		t.Log("neither glpsol nor cbc nor highs is on PATH")
	}
	for _, s := range solvers {
		t.Run(s.Name(), func(t *testing.T) {
			programs, optimal, wrong := 0, 0, 0
			took := time.Duration(0)
			for seed := range uint64(20) {
				rng := rand.New(rand.NewPCG(seed, 43))
				in, servers, parts := random(rng, true)
				if seed%4 == 3 {
					servers, parts = extend(rng, in)
				}
				for _, f := range formulations {
					if f.name == "naive cut" && in.Jobs[0].Gang() > 6 {
						continue
					}
					p, err := f.build(in, 0, servers, parts)
					if err != nil {
						t.Fatal(err)
					}
					want, err := f.best(in, servers, parts)
					if errors.Is(err, partition.ErrNoPlacement) {
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					if p.Relation != formulate.Exact { // large coefficients are beyond what tolerances resolve
						continue
					}
					programs++
					began := time.Now()
					res, err := s.Solve(context.Background(), p.Model, milp.Start{}, milp.Limits{Time: 10 * time.Minute})
					took += time.Since(began)
					if err != nil {
						t.Fatal(err)
					}
					if res.Termination != milp.Optimal {
						continue
					}
					optimal++
					if res.Dual == milp.Proven {
						t.Errorf("seed %d, %s: a bound in floating point is called proven", seed, f.name)
					}
					if !right(t, in, p, res, want, f.value) {
						wrong++
						t.Logf("seed %d, %s: optimal according to the solver, but the optimum is %s", seed, f.name, want)
					}
				}
			}
			t.Logf("%d programs in %v: %d called optimal, %d of them wrong", programs, took.Round(time.Millisecond), optimal, wrong)
			if _, own := s.(lpsolve.MIP); !own && (wrong > 0 || optimal < programs) {
				t.Errorf("%d of %d programs solved, %d wrong", optimal, programs, wrong)
			}
		})
	}
}

// right reports whether the point of a result that claims to be optimal, of an
// exact program, decodes to a placement of the optimal value.
func right(t *testing.T, in *sched.Instance, p *Program, res *milp.Result, want *big.Rat, value func(*sched.Instance, *sched.Placement) (*big.Rat, error)) bool {
	t.Helper()
	place, err := p.Decode(res.X)
	if err != nil {
		t.Log(err)
		return false
	}
	got, err := value(in, &place)
	if err != nil {
		t.Fatal(err)
	}
	lower, _ := p.Lower(res)
	return got.Cmp(want) == 0 && lower != nil && lower.Cmp(want) <= 0
}

func TestErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 44))
	in, servers, parts := random(rng, true)
	for _, f := range formulations {
		for name, request := range map[string][2][]int{
			"too few parts":  {servers, parts[1:]},
			"not the gang":   {servers[1:], parts[1:]},
			"unknown server": {append([]int{99}, servers[1:]...), parts},
			"no parts":       {nil, nil},
		} {
			if p, err := f.build(in, 0, request[0], request[1]); err == nil || p != nil {
				t.Errorf("%s, %s: error %v", f.name, name, err)
			}
		}
		p, err := f.build(in, 0, servers, parts)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Decode(make([]float64, len(p.Model.Vars))); err == nil {
			t.Errorf("%s: a point without replicas decodes", f.name)
		}
		if _, err := p.Decode(nil); err == nil {
			t.Errorf("%s: a point of another model decodes", f.name)
		}
		if lower, evidence := p.Lower(milp.NoResult(milp.TimeLimit)); lower != nil || evidence != milp.None {
			t.Errorf("%s: bound %v of no result", f.name, lower)
		}
	}
}
