package schedtest

import (
	"math/rand/v2"

	"yardstick/sched"
)

// Malleable is Sharing with jobs that list some of the numbers of GPUs that the
// cluster has, in no relation to how many more GPUs speed them up. Loads and
// pauses are those of Preemptive.
func Malleable(r *rand.Rand, s Shape) *sched.Instance {
	s.Stages = 1
	in := Sharing(r, s)
	for i := range in.Jobs {
		j := &in.Jobs[i]
		j.Load, j.Pause = s.random(r, 2, sched.Second), s.random(r, 2, sched.Second)
		iter := s.unit() + s.random(r, 5, sched.Second)
		for g := 1 + r.IntN(2); g <= in.Cluster.GPUs() && (g == 1 || r.IntN(6) > 0); g += 1 + r.IntN(2) {
			j.Sharing.Sizes = append(j.Sharing.Sizes, sched.Size{GPUs: g, Iter: sched.Duration(iter) * 1000, Memory: sched.Bytes(r.IntN(500))})
			iter = max(iter-s.random(r, 2, sched.Second/4), s.unit())
		}
		if len(j.Sharing.Sizes) == 0 {
			j.Sharing.Sizes = []sched.Size{{GPUs: 1, Iter: sched.Duration(iter) * 1000}}
		}
	}
	must(in)
	return in
}
