//go:build cgo

package lpsolve

import (
	"context"
	"testing"

	"github.com/draffensperger/golp"

	"yardstick/solvers/milp"
	"yardstick/solvers/solvertest"
)

// BenchmarkLP compares, on the same program: golp alone, this package, the
// parts of it that golp has not (loading with checks; the safe bound; the
// check of the point), and a re-solve after one bound has changed.
func BenchmarkLP(b *testing.B) {
	for _, c := range []struct {
		name string
		m    *milp.Model
	}{
		{"n20T200", solvertest.TimeIndexed(20, 200, 16, 1).Relaxation()},
		{"n20T500", solvertest.TimeIndexed(20, 500, 16, 1).Relaxation()},
		{"packing300x600", solvertest.Packing(300, 600, 1)},
	} {
		p, err := openLinear(c.m)
		if err != nil {
			b.Fatal(err)
		}
		res, err := p.Solve(context.Background(), milp.Limits{})
		if err != nil || res.Termination != milp.Optimal {
			b.Fatal(res, err)
		}
		for name, f := range map[string]func(){
			"golp": func() { rawGolp(c.m) },
			"cold": func() {
				q, err := openLinear(c.m)
				if err != nil {
					b.Fatal(err)
				}
				defer q.Close()
				if r, err := q.Solve(context.Background(), milp.Limits{}); err != nil || r.Termination != milp.Optimal {
					b.Fatal(r, err)
				}
			},
			"load": func() {
				q, err := openLinear(c.m)
				if err != nil {
					b.Fatal(err)
				}
				q.Close()
			},
			"bound": func() { p.bound.Bound(res.RowDuals) },
			"check": func() { _ = milp.CheckWithin(p.m, res.X, Tolerance) },
			"warm": func() {
				v := p.m.Vars[len(p.m.Vars)/2]
				p.SetBounds(len(p.m.Vars)/2, v.Lower, 1-v.Upper)
				if _, err := p.Solve(context.Background(), milp.Limits{}); err != nil {
					b.Fatal(err)
				}
			},
		} {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					f()
				}
				b.ReportMetric(float64(c.m.Nonzeros()), "nnz")
			})
		}
	}
}

// BenchmarkSmall is the cost of one tiny solve, which overhead dominates.
func BenchmarkSmall(b *testing.B) {
	m := solvertest.Makespan([]float64{3, 5, 7, 9}, 1)
	b.Run("golp", func(b *testing.B) {
		for b.Loop() {
			if s, _ := rawGolp(m); s != golp.OPTIMAL {
				b.Fatal(s)
			}
		}
	})
	b.Run("MIP", func(b *testing.B) {
		for b.Loop() {
			if r, err := (MIP{}).Solve(context.Background(), m, milp.Start{}, milp.Limits{}); err != nil || r.Termination != milp.Optimal {
				b.Fatal(r, err)
			}
		}
	})
}
