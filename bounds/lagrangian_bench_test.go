package bounds

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"yardstick/sched"
)

// busy returns jobs of one to 16 GPUs and half an hour in the median that ask
// for load times what the cluster has.
func busy(seed uint64, jobs, servers int, load float64) *sched.Instance {
	rng := rand.New(rand.NewPCG(seed, 6))
	in := instance(servers, 8)
	at := 0.0
	for range jobs {
		gang := []int{1, 1, 1, 2, 2, 4, 4, 8, 8, 16}[rng.IntN(10)] // 4.7 in the mean
		length := 1800e6 * math.Exp(1.2*rng.NormFloat64())         // 3,698 s in the mean
		in.Jobs = append(in.Jobs, job(sched.Time(at), gang, 1+int64(length), float64(1+rng.IntN(5))))
		at += rng.ExpFloat64() * 4.7 * 3698e6 / (load * float64(8*servers))
	}
	return in
}

// BenchmarkLagrangian reports, besides the time, the mean job completion time
// that the bound proves and the best of the other bounds, both in multiples of
// what jobs would have alone.
func BenchmarkLagrangian(b *testing.B) {
	for _, c := range []struct {
		name          string
		jobs, servers int
		load          float64
	}{{"jobs=1000/load=0.8", 1000, 8, 0.8}, {"jobs=1000/load=1.2", 1000, 8, 1.2}, {"jobs=1000/load=2", 1000, 8, 2},
		{"jobs=20000/load=0.9", 20_000, 250, 0.9}, {"jobs=75000/load=0.9", 75_000, 250, 0.9}, {"jobs=75000/load=1.3", 75_000, 250, 1.3}} {
		b.Run(c.name, func(b *testing.B) {
			in := busy(1, c.jobs, c.servers, c.load)
			var d *Dual
			for b.Loop() {
				var err error
				if d, err = Lagrangian(context.Background(), in, sched.TotalJCT, LagrangianOptions{}); err != nil {
					b.Fatal(err)
				}
			}
			alone, err := LB0(in, sched.TotalJCT)
			if err != nil {
				b.Fatal(err)
			}
			other, err := Best(in, sched.TotalJCT)
			if err != nil {
				b.Fatal(err)
			}
			unit, _ := alone.Value.Float64()
			report := func(v Bound, name string) {
				f, _ := v.Value.Float64()
				b.ReportMetric(f/unit, name)
			}
			report(d.Bound, "lagrangian")
			report(other, "other")
			b.ReportMetric(float64(d.Iterations), "iterations")
			b.ReportMetric(float64(d.Prices.Grid.Slots()), "slots")
		})
	}
}
