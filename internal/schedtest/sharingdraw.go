package schedtest

import (
	"math/rand/v2"

	"yardstick/sched"
)

// Sharing returns a random instance of the sharing model: three tasks with
// interference between 1 and 2.5, and jobs with up to three accumulation
// options, the last of which always leaves room for a second job. It ignores
// Slices and Graph, which that model does not have.
func Sharing(r *rand.Rand, s Shape) *sched.Instance {
	const memory = 1000
	s.Slices, s.Graph = 0, false
	in := Gang(r, s)
	in.Model = sched.ModelSharing
	for m := range in.Cluster.Servers {
		in.Cluster.Servers[m].GPUMemory = memory
	}
	in.Interference = make([][]float64, 3)
	for a := range in.Interference {
		for range in.Interference {
			in.Interference[a] = append(in.Interference[a], 1+1.5*r.Float64())
		}
	}
	for i := range in.Jobs {
		sh := &sched.Sharing{Task: r.IntN(3)}
		iter := s.unit() + s.random(r, 3, sched.Second/2)
		options := 1 + r.IntN(3)
		for k := range options {
			sh.Accumulation = append(sh.Accumulation, sched.Accumulation{Steps: 1 << k, Iter: sched.Duration(iter) * 1000,
				Memory: sched.Bytes(memory/2*(options-k)/options - r.IntN(100))})
			iter += s.random(r, 1, sched.Second/10)
		}
		if options > 1 {
			sh.Accumulation[0].Memory += sched.Bytes(r.IntN(memory / 2))
		}
		in.Jobs[i].Sharing = sh
	}
	must(in)
	return in
}
