package schedtest

import (
	"math/rand/v2"

	"yardstick/sched"
)

// Rowed returns an instance of the sharing model in which interference depends on
// the accumulation: a table of so many rows with factors from 1 to xi, and a row of it
// for every option of every job.
func Rowed(r *rand.Rand, in *sched.Instance, rows int, xi float64) *sched.Instance {
	out := *in
	out.Interference = make([][]float64, rows)
	for a := range out.Interference {
		for range rows {
			out.Interference[a] = append(out.Interference[a], 1+(xi-1)*r.Float64())
		}
	}
	out.Jobs = append([]sched.Job(nil), in.Jobs...)
	for i := range out.Jobs {
		sh := *out.Jobs[i].Sharing
		sh.Task, sh.Rows = r.IntN(rows), nil
		for range sh.Accumulation {
			sh.Rows = append(sh.Rows, r.IntN(rows))
		}
		out.Jobs[i].Sharing = &sh
	}
	must(&out)
	return &out
}
