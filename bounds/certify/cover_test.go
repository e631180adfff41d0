package certify_test

import (
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"

	"yardstick/bounds"
	"yardstick/bounds/certify"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// claimed checks a certificate that jobs train for at least so long, and complete
// no earlier than that after their loads.
func claimed(in *sched.Instance, least []sched.Time) error {
	total := new(big.Rat)
	for i := range in.Jobs {
		total.Add(total, big.NewRat(int64(in.Jobs[i].Release+in.Jobs[i].Load+least[i]), 1))
	}
	b := bounds.Bound{Objective: sched.TotalCompletion, Class: sched.Class{Kind: sched.Fluid}, Value: total,
		Proof: &bounds.Proof{Kind: "lb0", Data: object{"least": bounds.Claims(in, least)}}}
	text, err := b.Document(in.Hash())
	if err != nil {
		return err
	}
	_, err = certify.Check(in, text)
	return err
}

// TestClaims: what is claimed of the training times of jobs that span servers is
// accepted up to the least over all placements, and refused a microsecond above, of
// chains and graphs of stages, on servers that are scarce and that are not, for all
// jobs of a kind.
func TestClaims(t *testing.T) {
	cases := 0
	for seed := range uint64(150) {
		r := schedtest.Rand(seed)
		s := schedtest.Shape{Jobs: 1, Servers: 2 + r.IntN(2), GPUs: 1 + r.IntN(3), Stages: 2 + r.IntN(3), Traffic: true, Uniform: seed%2 == 0, Span: true, Graph: seed%3 == 0}
		if seed%5 == 0 {
			s.Slices = 2
		}
		in := schedtest.Gang(r, s)
		if gang := in.Jobs[0].Gang(); gang <= 4 { // a server for every replica
			for range gang {
				in.Cluster.Servers = append(in.Cluster.Servers, in.Cluster.Servers[0])
			}
		}
		var best sched.Placement
		var alpha *big.Rat
		for _, p := range schedtest.Placements(in, 0) {
			if v, err := in.IterTime(0, &p); err != nil {
				t.Fatal(err)
			} else if alpha == nil || v.Cmp(alpha) < 0 {
				best, alpha = p, v
			}
		}
		var least []sched.Time
		for i := range 3 { // the job, and others of its kind
			if i > 0 {
				j := in.Jobs[0]
				j.Iters = 1 + r.Int64N(1000)
				in.Jobs = append(in.Jobs, j)
			}
			d, err := in.RunTime(sched.JobID(i), &best)
			if err != nil {
				t.Fatal(err)
			}
			least = append(least, d)
		}
		if len(bounds.Claims(in, least)) == 0 {
			continue
		}
		cases++
		if err := claimed(in, least); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		more := slices.Clone(least)
		more[r.IntN(len(more))]++
		if err := claimed(in, more); !errors.Is(err, certify.ErrRefuted) {
			t.Errorf("seed %d, a microsecond more than any placement takes: %v", seed, err)
		}
	}
	if cases < 75 {
		t.Errorf("only %d jobs span servers", cases)
	}
}

// TestManyStages: jobs of dozens of stages are certified too: on many servers, and on
// no more than they need.
func TestManyStages(t *testing.T) {
	for _, c := range []struct{ stages, servers int }{{14, 2}, {20, 30}, {22, 3}, {32, 4}, {33, 50}, {49, 100}} {
		r := schedtest.Rand(uint64(c.stages))
		cluster := sched.Uniform(c.servers, 8, sched.Bandwidth(10e9), sched.Bandwidth(2400e9))
		in := &sched.Instance{Name: "chains", Model: sched.ModelGang, Cluster: cluster}
		for range 4 {
			j := sched.Job{Iters: 1 + r.Int64N(1e5), Weight: 1}
			for s := range c.stages {
				st := sched.Stage{Replicas: 1, Compute: sched.Duration(50*time.Millisecond + time.Duration(r.Int64N(1e8))), Params: sched.Bytes(r.Int64N(1e9))}
				if s+1 < c.stages {
					st.Boundary = sched.Bytes(1e6 + r.Int64N(2e8))
				}
				j.Stages = append(j.Stages, st)
			}
			in.Jobs = append(in.Jobs, j)
		}
		if err := in.Validate(); err != nil {
			t.Fatal(err)
		}
		for _, f := range []closed{bounds.LB0, bounds.Ranked} {
			b, err := f(in, sched.TotalJCT)
			if err != nil {
				t.Fatal(err)
			}
			agree(t, in, &b)
		}
	}
}
