package certify_test

import (
	"context"
	"testing"
	"time"

	"yardstick/bounds"
	"yardstick/bounds/certify"
	"yardstick/formulate/elastic"
	"yardstick/formulate/interval"
	"yardstick/formulate/preemptive"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// BenchmarkCertify times the check of certificates, and reports as ratio how much
// longer that takes than to compute the bound in floating point.
func BenchmarkCertify(b *testing.B) {
	r := schedtest.Rand(1)
	many := schedtest.Gang(r, schedtest.Shape{Jobs: 20_000, Servers: 32, GPUs: 8, Uniform: true, Stages: 1})
	few := schedtest.Gang(r, schedtest.Shape{Jobs: 20, Servers: 4, GPUs: 4, Uniform: true, Stages: 3, Traffic: true, Span: true})
	stopped := schedtest.Preemptive(r, schedtest.Shape{Jobs: 20, Servers: 2, GPUs: 8, Uniform: true, Stages: 1})
	shared := schedtest.Sharing(r, schedtest.Shape{Jobs: 6, Servers: 2, GPUs: 2, Uniform: true, Stages: 1})
	chosen := schedtest.Elastic(r, schedtest.ElasticShape{Jobs: 12, Servers: 4, Resources: 2, WorkerTypes: 2, ServerTypes: 1, Workers: 4, Capacity: 8, Slots: 10})
	ctx, obj := context.Background(), sched.TotalJCT
	for _, x := range []struct {
		name  string
		in    *sched.Instance
		bound func(*sched.Instance) (bounds.Bound, error)
	}{
		{"lb0/20000", many, func(in *sched.Instance) (bounds.Bound, error) { return bounds.LB0(in, obj) }},
		{"srpt-ranked/20000", many, func(in *sched.Instance) (bounds.Bound, error) { return bounds.Ranked(in, obj) }},
		{"mean-busy-time/20000", many, func(in *sched.Instance) (bounds.Bound, error) { return bounds.MeanBusyTime(in, obj) }},
		{"lagrangian/20000", many, func(in *sched.Instance) (bounds.Bound, error) {
			d, err := bounds.Lagrangian(ctx, in, obj, bounds.LagrangianOptions{})
			return d.Bound, err
		}},
		{"npti/20", few, func(in *sched.Instance) (bounds.Bound, error) { return overSlots(interval.NPTI, in) }},
		{"pti/20", few, func(in *sched.Instance) (bounds.Bound, error) { return overSlots(interval.PTI, in) }},
		{"conf/20", few, func(in *sched.Instance) (bounds.Bound, error) { return overSlots(interval.CONF, in) }},
		{"grid-lp/20", stopped, func(in *sched.Instance) (bounds.Bound, error) {
			g, err := preemptive.ContinuousGrid(ctx, in, obj, lpsolve.LP{}, preemptive.GridOptions{Slot: sched.Second / 4})
			return g.Bound, err
		}},
		{"pair-lp/6", shared, func(in *sched.Instance) (bounds.Bound, error) {
			p, err := bounds.PairLP(ctx, in, obj, lpsolve.LP{}, milp.Limits{}, bounds.PairOptions{})
			return p.Bound, err
		}},
		{"elastic-conf/12", chosen, func(in *sched.Instance) (bounds.Bound, error) {
			p, err := elastic.Conf(ctx, in, obj, lpsolve.LP{}, milp.Limits{})
			return p.Bound, err
		}},
	} {
		b.Run(x.name, func(b *testing.B) {
			begin := time.Now()
			bound, err := x.bound(x.in)
			solve := time.Since(begin)
			if err != nil {
				b.Fatal(err)
			}
			hash := x.in.Hash()
			text, err := bound.Document(hash)
			if err != nil || text == nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := certify.New(x.in, hash).Check(text); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(solve), "ratio")
			b.ReportMetric(float64(len(text)), "bytes")
		})
	}
}

func overSlots(x interval.Relaxation, in *sched.Instance) (bounds.Bound, error) {
	r, err := x.Bound(context.Background(), in, sched.TotalJCT, lpsolve.LP{}, milp.Limits{Time: time.Minute}, interval.Options{})
	if err != nil {
		return bounds.Bound{}, err
	}
	return r.Bound, nil
}
