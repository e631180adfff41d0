package schedtest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"yardstick/sched"
	"yardstick/sched/verify"
)

// Servers returns a cluster of servers with the given numbers of GPUs and the
// same bandwidth, 1 GB/s, between and within them.
func Servers(gpus ...int) sched.Cluster {
	c := sched.Cluster{Inter: 1e9, Intra: 1e9}
	for _, g := range gpus {
		c.Servers = append(c.Servers, sched.Server{GPUs: g})
	}
	return c
}

// Job returns a job of weight 1 that takes the given time on any GPUs: one
// stage, one iteration, nothing to synchronise.
func Job(release sched.Time, gpus int, runs sched.Time) sched.Job {
	return sched.Job{Release: release, Weight: 1, Iters: 1, Stages: []sched.Stage{{Replicas: gpus, Compute: sched.Duration(runs * 1000)}}}
}

// Plain returns a valid instance of the gang model; it panics if what it is
// given does not make one.
func Plain(c sched.Cluster, jobs ...sched.Job) *sched.Instance {
	in := &sched.Instance{Name: "plain", Model: sched.ModelGang, Cluster: c, Jobs: jobs}
	must(in)
	return in
}

// must panics if the instance is invalid: the caller asked for the impossible.
func must(in *sched.Instance) {
	if err := in.Validate(); err != nil {
		panic(fmt.Sprintf("schedtest: %v", err))
	}
}

// Verify checks the schedule and ends the test if it breaks a rule.
func Verify(t testing.TB, in *sched.Instance, s *sched.Schedule) *verify.Verified {
	t.Helper()
	v, err := verify.Check(in, s)
	if err != nil {
		t.Fatalf("%v\ninstance %+v\nschedule %+v", err, in, s)
	}
	return v
}

// Rand returns the random source of a seed.
func Rand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x5eed)) }

// EachSeed runs f for the seeds from 0 to n−1, each as a subtest that bears the
// seed as its name.
func EachSeed(t *testing.T, n int, f func(t *testing.T, r *rand.Rand)) {
	t.Helper()
	for seed := range n {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { f(t, Rand(uint64(seed))) })
	}
}
