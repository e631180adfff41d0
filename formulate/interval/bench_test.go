package interval_test

import (
	"fmt"
	"testing"

	"yardstick/formulate/interval"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// BenchmarkBound shows size and time on the default grid.
func BenchmarkBound(b *testing.B) {
	for _, jobs := range []int{4, 12, 30} {
		in := schedtest.Gang(schedtest.Rand(1), schedtest.Shape{Jobs: jobs, Servers: 3, GPUs: 4, Uniform: true, Stages: 2, Traffic: true})
		for _, x := range interval.Relaxations() {
			b.Run(fmt.Sprintf("%v/jobs=%d", x, jobs), func(b *testing.B) {
				for b.Loop() {
					r := bound(b, x, in, sched.TotalJCT, interval.Options{})
					f, _ := r.Value.Float64()
					b.ReportMetric(f/1e6, "bound-s")
					b.ReportMetric(float64(r.Rows), "rows")
					b.ReportMetric(float64(r.Cols), "cols")
					b.ReportMetric(float64(r.Nonzeros), "nonzeros")
					b.ReportMetric(r.Slot.Seconds(), "slot-s")
				}
			})
		}
	}
}
