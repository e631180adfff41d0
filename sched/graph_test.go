package sched_test

import (
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"yardstick/sched"
)

// graphPlaced returns an instance of one job with slices, edges or both on
// servers of g GPUs each, and a random placement of it.
func graphPlaced(r *rand.Rand) (*sched.Instance, *sched.Placement) {
	g := 1 + r.IntN(8)
	j := sched.Job{Weight: 1, Iters: 1 + r.Int64N(1<<r.IntN(21))}
	round := func(n int64) int64 { return max(1, n-n%[]int64{1, 1e3, 1e6}[r.IntN(3)]) }
	volume := func(n int64) sched.Bytes { return sched.Bytes(r.IntN(4)/2) * sched.Bytes(round(r.Int64N(n))) }
	for range 1 + r.IntN(5) {
		j.Stages = append(j.Stages, sched.Stage{Replicas: 1 + r.IntN(5), Slices: r.IntN(min(g, 4) + 1), Compute: sched.Duration(round(1 + r.Int64N(1e9))),
			Params: volume(1e9), SliceSync: volume(1e10)})
	}
	chain := r.IntN(3) == 0
	for s := range j.Stages {
		for u := s + 1; u < len(j.Stages); u++ {
			if chain && u == s+1 {
				j.Stages[s].Boundary = volume(1e8)
			} else if !chain && r.IntN(2) == 0 {
				j.Edges = append(j.Edges, sched.Edge{From: s, To: u, Bytes: volume(1e8)})
			}
		}
	}
	in := &sched.Instance{Model: sched.ModelGang, Jobs: []sched.Job{j}}
	in.Cluster = sched.Uniform(j.Gang(), g, sched.Bandwidth(round(1+r.Int64N(1e10))), 1)
	in.Cluster.Intra = in.Cluster.Inter * sched.Bandwidth(1+r.IntN(300))
	p, room := new(sched.Placement), make([]int, len(in.Cluster.Servers))
	counts := make([][]int, len(room))
	for m := range room {
		room[m], counts[m] = g, make([]int, len(j.Stages))
	}
	servers := 1 + r.IntN(len(room))
	for s := range j.Stages {
		for range j.Stages[s].Replicas {
			m := r.IntN(servers)
			for room[m] < j.Slices(s) {
				m = (m + 1) % len(room)
			}
			counts[m][s]++
			room[m] -= j.Slices(s)
		}
	}
	for m := range counts {
		if room[m] < g {
			p.Shares = append(p.Shares, sched.Share{Server: m, GPUs: g - room[m], Stages: counts[m]})
		}
	}
	return in, p
}

// slowestSlice evaluates an iteration replica by replica: every GPU moves its
// slice's part of what its replica exchanges with each single other replica, at
// B_intra to the same server and otherwise at its own 1/g of the network card.
func slowestSlice(in *sched.Instance, p *sched.Placement) *big.Rat {
	j := &in.Jobs[0]
	type replica struct{ stage, server int }
	var all []replica
	for _, sh := range p.Shares {
		for s, x := range sh.Stages {
			all = append(all, slices.Repeat([]replica{{s, sh.Server}}, x)...)
		}
	}
	worst := new(big.Rat)
	for _, a := range all {
		st := &j.Stages[a.stage]
		slicesOf := max(1, int64(st.Slices))
		local := new(big.Rat).SetFrac64(1, int64(in.Cluster.Intra))
		remote := new(big.Rat).SetFrac64(int64(in.Cluster.Servers[a.server].GPUs), int64(in.Cluster.Inter))
		time := new(big.Rat).SetFrac64(int64(st.Compute), 1e9)
		move := func(bytes, per *big.Rat) { time.Add(time, new(big.Rat).Mul(bytes, per)) }
		here := int64(0)
		for _, b := range all {
			if b == a {
				here++
			}
			volume := sched.Bytes(0) // between the two stages
			for _, e := range j.Edges {
				if e.From == a.stage && e.To == b.stage || e.To == a.stage && e.From == b.stage {
					volume = e.Bytes
				}
			}
			if len(j.Edges) == 0 && (b.stage-a.stage == 1 || a.stage-b.stage == 1) {
				volume = j.Stages[min(a.stage, b.stage)].Boundary
			}
			bytes := new(big.Rat).SetFrac64(2*int64(volume), int64(st.Replicas*j.Stages[b.stage].Replicas))
			bytes.Quo(bytes, new(big.Rat).SetInt64(slicesOf))
			if b.server == a.server {
				move(bytes, local)
			} else {
				move(bytes, remote)
			}
		}
		part := new(big.Rat).SetFrac64(int64(st.Params), slicesOf)
		part.Mul(part, big.NewRat(2*int64(st.Replicas-1), int64(st.Replicas)))
		if here == int64(st.Replicas) {
			move(part, local)
		} else { // one stream of the ring leaves the server, over the card's part of the replicas here
			move(part, new(big.Rat).Quo(remote, new(big.Rat).SetInt64(here)))
		}
		move(new(big.Rat).SetFrac64(2*(slicesOf-1)*int64(st.SliceSync), slicesOf), local)
		if time.Cmp(worst) > 0 {
			worst = time
		}
	}
	return worst
}

// TestSlicesAndEdges compares iteration times with those of single GPUs, and
// running times with their exact ceilings.
func TestSlicesAndEdges(t *testing.T) {
	sliced, graphs := 0, 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 3))
		in, p := graphPlaced(r)
		if err := in.Validate(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		j := &in.Jobs[0]
		alpha, err := in.IterTime(0, p)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if want := slowestSlice(in, p); alpha.Cmp(want) != 0 {
			t.Fatalf("seed %d: alpha %v, GPU by GPU %v\n%+v\n%+v", seed, alpha, want, j, p)
		}
		largest := new(big.Rat)
		for _, sh := range p.Shares {
			for s, x := range sh.Stages {
				if x == 0 {
					continue
				}
				beta := in.ServerTime(0, s, sh.Stages, in.Cluster.Servers[sh.Server].GPUs)
				if beta.Cmp(largest) > 0 {
					largest = beta
				}
				if j.Chain() {
					if v := in.StageTime(0, s, sh.Replicas(s-1), x, sh.Replicas(s+1), in.Cluster.Servers[sh.Server].GPUs); v.Cmp(beta) != 0 {
						t.Fatalf("seed %d: StageTime %v, ServerTime %v", seed, v, beta)
					}
				}
			}
		}
		if largest.Cmp(alpha) != 0 {
			t.Fatalf("seed %d: alpha %v, largest stage time %v", seed, alpha, largest)
		}
		micros := new(big.Rat).Mul(alpha, new(big.Rat).SetInt(new(big.Int).Mul(big.NewInt(j.Iters), big.NewInt(1e6))))
		want := new(big.Int).Add(micros.Num(), new(big.Int).Sub(micros.Denom(), big.NewInt(1)))
		want.Quo(want, micros.Denom())
		if got, err := in.RunTime(0, p); err != nil && want.Cmp(big.NewInt(int64(sched.MaxTime))) <= 0 || err == nil && want.Cmp(big.NewInt(int64(got))) != 0 {
			t.Fatalf("seed %d: runs for %v (%v), want %v", seed, got, err, want)
		}
		if j.Sliced() {
			sliced++
		}
		if !j.Chain() {
			graphs++
		}
	}
	if sliced < 1000 || graphs < 1000 {
		t.Errorf("only %d jobs with slices and %d with edges", sliced, graphs)
	}
}

// TestPlainAsGraph: one slice per replica and a chain's edges written out
// change nothing.
func TestPlainAsGraph(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 4))
		in, p := randomPlaced(r)
		want, err := in.IterTime(0, p)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		run, _ := in.RunTime(0, p)
		j := &in.Jobs[0]
		links := j.Links()
		j.Edges = j.AllEdges()
		for s := range j.Stages {
			st := &j.Stages[s]
			st.Slices, st.Boundary, st.SliceSync = 1, 0, sched.Bytes(r.IntN(1e9))
		}
		if err := in.Validate(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got, err := in.IterTime(0, p)
		if err != nil || got.Cmp(want) != 0 {
			t.Fatalf("seed %d: alpha %v (%v), as a chain %v", seed, got, err, want)
		}
		if again, _ := in.RunTime(0, p); again != run {
			t.Fatalf("seed %d: runs for %v, as a chain for %v", seed, again, run)
		}
		if !reflect.DeepEqual(j.Links(), links) {
			t.Fatalf("seed %d: links %v, as a chain %v", seed, j.Links(), links)
		}
	}
}

// TestGraphMonotone: with slices and edges too, a stage's time on a server does
// not rise when a replica of any stage joins it, and so merging two servers of
// one size never makes an iteration longer.
func TestGraphMonotone(t *testing.T) {
	steps, merges := 0, 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 5))
		in, p := graphPlaced(r)
		j, g := &in.Jobs[0], in.Cluster.Servers[0].GPUs
		for _, sh := range p.Shares {
			for s, x := range sh.Stages {
				for u := range j.Stages {
					more := slices.Clone(sh.Stages)
					if more[u]++; x == 0 || more[u] > j.Stages[u].Replicas || sh.GPUs+j.Slices(u) > g {
						continue
					}
					steps++
					if before, after := in.ServerTime(0, s, sh.Stages, g), in.ServerTime(0, s, more, g); after.Cmp(before) > 0 {
						t.Fatalf("seed %d: stage %d takes %v with %v and %v with %v", seed, s, before, sh.Stages, after, more)
					}
				}
			}
		}
		if len(p.Shares) < 2 || p.Shares[0].GPUs+p.Shares[1].GPUs > g {
			continue
		}
		alpha, err := in.IterTime(0, p)
		if err != nil {
			t.Fatal(err)
		}
		merged := sched.Share{Server: p.Shares[0].Server, GPUs: p.Shares[0].GPUs + p.Shares[1].GPUs}
		for s := range j.Stages {
			merged.Stages = append(merged.Stages, p.Shares[0].Stages[s]+p.Shares[1].Stages[s])
		}
		q := &sched.Placement{Shares: append([]sched.Share{merged}, p.Shares[2:]...)}
		if after, err := in.IterTime(0, q); err != nil || after.Cmp(alpha) > 0 {
			t.Fatalf("seed %d: alpha grew from %v to %v (%v) by merging %+v", seed, alpha, after, err, p)
		}
		merges++
	}
	if steps < 2000 || merges < 100 {
		t.Errorf("only %d steps and %d merges", steps, merges)
	}
}

// TestSlicedPlacements breaks the placement of a job with slices.
func TestSlicedPlacements(t *testing.T) {
	in := &sched.Instance{Cluster: pipelineCluster(), Jobs: []sched.Job{
		{Iters: 1, Stages: []sched.Stage{{Replicas: 2, Slices: 2, Compute: 1000}}},
		{Iters: 1, Stages: []sched.Stage{{Replicas: 1, Slices: 3, Compute: 1000}, {Replicas: 2, Compute: 1000}}}}}
	share := func(server, gpus int, stages ...int) sched.Share {
		return sched.Share{Server: server, GPUs: gpus, Stages: stages}
	}
	for _, test := range []struct {
		job  sched.JobID
		on   []sched.Share
		want string // "" if legal
	}{
		{0, []sched.Share{share(0, 4, 2)}, ""},
		{0, []sched.Share{share(0, 2, 1), share(2, 2, 1)}, ""},
		{0, []sched.Share{{Server: 0, GPUs: 4}}, "how many replicas of 2 slices"},
		{0, []sched.Share{share(0, 3, 1), share(1, 1, 1)}, "on 3 GPUs"}, // a replica over two servers
		{0, []sched.Share{share(0, 2, 2)}, "on 2 GPUs"},
		{0, []sched.Share{share(0, 2, 1)}, "1 replicas of stage 0, which has 2"},
		{1, []sched.Share{share(0, 4, 1, 1), share(1, 1, 0, 1)}, ""},
		{1, []sched.Share{share(0, 2, 1, 1), share(1, 1, 0, 1)}, "on 2 GPUs"},
		{1, []sched.Share{share(0, 3, 0, 3)}, "0 replicas of stage 0"},
		{1, []sched.Share{share(0, 3, 1, 0), share(1, 2, -1, 5)}, "-1 replicas"},
	} {
		p := &sched.Placement{Shares: test.on}
		_, err := in.RunTime(test.job, p)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%+v: error %v, want %q", test.on, err, test.want)
		}
	}
	constant, synchronised := in.Jobs[0], in.Jobs[0]
	synchronised.Stages = []sched.Stage{{Replicas: 2, Slices: 2, Compute: 1000, SliceSync: 1}}
	if !constant.ConstantIteration() || synchronised.ConstantIteration() {
		t.Error("slices that synchronise take as long as their computation")
	}
}

func TestPipeline(t *testing.T) {
	in := gang()
	if err := in.RequirePipelines(); err != nil {
		t.Error(err)
	}
	for _, edit := range []func(j *sched.Job){
		func(j *sched.Job) { j.Stages[1].Slices = 2 },
		func(j *sched.Job) { j.Stages[0].Boundary, j.Edges = 0, []sched.Edge{{From: 0, To: 1, Bytes: 1}} },
	} {
		in := gang()
		edit(&in.Jobs[0])
		if err := in.Validate(); err != nil {
			t.Error(err)
		}
		if err := in.RequirePipelines(); err == nil || !strings.Contains(err.Error(), `job 0 "pipeline"`) {
			t.Errorf("error %v", err)
		}
	}
}
