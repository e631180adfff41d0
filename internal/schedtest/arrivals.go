package schedtest

import (
	"math/rand/v2"

	"yardstick/sched"
)

// Arrivals draws jobs of 1, 2, 4, 8 or 16 GPUs, alike often, and up to ten minutes in
// whole seconds, released one every so many seconds in the mean, on four servers of eight
// GPUs. Every 58 s they are as much work as the GPUs can do.
func Arrivals(seed uint64, jobs int, every float64) *sched.Instance {
	rng := rand.New(rand.NewPCG(seed, 77))
	in := Plain(Servers(8, 8, 8, 8), Job(0, 1, 1))
	in.Jobs = nil
	at := 0.0
	for range jobs {
		g := 1 << rng.IntN(5)
		in.Jobs = append(in.Jobs, Job(sched.Time(at)*sched.Second, g, sched.Time(1+rng.IntN(600))*sched.Second))
		at += rng.ExpFloat64() * every
	}
	return in
}
