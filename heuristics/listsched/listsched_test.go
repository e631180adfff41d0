package listsched_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"yardstick/heuristics/listsched"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/sched/verify"
)

var allOptions = func() (all []listsched.Options) {
	for _, b := range []listsched.Blocking{listsched.Strict, listsched.Skip} {
		for _, r := range []sim.Rule{sim.Pool, sim.Consolidate, sim.BestFit} {
			all = append(all, listsched.Options{Blocking: b, Placement: r})
		}
	}
	return all
}()

// randomInstance returns jobs whose times are a few microseconds, so that many
// are equal, on a cluster whose servers differ or not.
func randomInstance(rng *rand.Rand) *sched.Instance {
	in := &sched.Instance{Name: "random", Model: sched.ModelGang,
		Cluster: sched.Cluster{Inter: sched.Bandwidth(1e9 + rng.IntN(1e9)), Intra: 1e10}}
	uniform, size := rng.IntN(2) == 0, 1+rng.IntN(5)
	for range 1 + rng.IntN(5) {
		if !uniform {
			size = rng.IntN(6)
		}
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: size})
	}
	in.Cluster.Servers[0].GPUs = max(in.Cluster.Servers[0].GPUs, 1)
	spread := 1 + rng.IntN(30)
	for range 1 + rng.IntN(25) {
		j := sched.Job{Release: sched.Time(rng.IntN(spread)), Weight: 1, Iters: int64(1 + rng.IntN(6))}
		room := 1 + rng.IntN(in.Cluster.GPUs())
		if rng.IntN(2) == 0 {
			room = 1 + rng.IntN(min(3, in.Cluster.GPUs()))
		}
		for room > 0 {
			s := sched.Stage{Replicas: room, Compute: sched.Duration(1000 * (1 + rng.IntN(3)))}
			if rng.IntN(3) == 0 {
				s = sched.Stage{Replicas: 1 + rng.IntN(room), Compute: sched.Duration(300 + rng.IntN(3000)), Params: sched.Bytes(rng.IntN(900))}
			}
			if room -= s.Replicas; room > 0 {
				s.Boundary = sched.Bytes(rng.IntN(900))
			}
			j.Stages = append(j.Stages, s)
		}
		j.Load = sched.Time(rng.IntN(2) * rng.IntN(4))
		in.Jobs = append(in.Jobs, j)
	}
	return in
}

// noisy predicts what a table says.
type noisy []int64

func (p noisy) Predict(j sim.Job) (int64, error) { return p[j.ID], nil }
func (p noisy) Observe(sim.Job, int64)           {}

func run(t *testing.T, in *sched.Instance, p *listsched.Policy, o sim.Options) (*sim.Result, *verify.Verified) {
	t.Helper()
	r, err := sim.Run(context.Background(), in, p, o)
	if err != nil {
		t.Fatal(err)
	}
	v, err := verify.Check(in, r.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	return r, v
}

// TestAgainstScan compares FIFO, SJF with the truth and SJF with predictions,
// under all options, with a simulator that scans everything at every event.
func TestAgainstScan(t *testing.T) {
	spread := 0
	for seed := range uint64(tier.Draws(400, 1500)) {
		rng := rand.New(rand.NewPCG(seed, 1))
		in := randomInstance(rng)
		if seed%3 == 0 {
			in = schedtest.Sliced(rng, in, 1, 2, 4)
		}
		predicted := make(noisy, len(in.Jobs))
		release, truth, guess := make([]sched.Time, len(in.Jobs)), make([]sched.Time, len(in.Jobs)), make([]sched.Time, len(in.Jobs))
		for i := range in.Jobs {
			predicted[i] = int64(rng.IntN(8))
			release[i] = in.Jobs[i].Release
			truth[i] = consolidated(t, in, sched.JobID(i), in.Jobs[i].Iters)
			guess[i] = consolidated(t, in, sched.JobID(i), predicted[i])
		}
		for _, o := range allOptions {
			for _, c := range []struct {
				policy    *listsched.Policy
				predictor sim.Predictor
				key       []sched.Time
			}{{listsched.FIFO(o), nil, release}, {listsched.SJF(o), nil, truth}, {listsched.SJF(o), predicted, guess}} {
				r, _ := run(t, in, c.policy, sim.Options{Predictor: c.predictor})
				want := replayNaively(t, in, o, c.key)
				if !reflect.DeepEqual(r.Schedule.Segments, want) {
					t.Fatalf("seed %d, %s %v:\n%v\nwant\n%v", seed, c.policy.Name(), o, r.Schedule.Segments, want)
				}
				if clairvoyant := c.policy.Name() == "sjf" && c.predictor == nil; r.Clairvoyant != clairvoyant {
					t.Fatalf("seed %d, %s: clairvoyant is %t", seed, c.policy.Name(), r.Clairvoyant)
				}
				for _, seg := range want {
					spread += len(seg.Place.Shares) - 1
				}
			}
		}
	}
	if spread < 10_000 {
		t.Fatalf("jobs used only %d servers beyond their first", spread)
	}
}

// consolidated returns how long the iterations take where Consolidate puts the
// job in the empty cluster.
func consolidated(t *testing.T, in *sched.Instance, id sched.JobID, iters int64) sched.Time {
	t.Helper()
	alone := *in
	alone.Jobs = []sched.Job{in.Jobs[id]}
	alone.Jobs[0].Iters = iters
	free := make([]int, len(in.Cluster.Servers))
	for s := range free {
		free[s] = in.Cluster.Servers[s].GPUs
	}
	d, err := alone.RunTime(0, placeNaively(&alone.Jobs[0], listsched.Options{Placement: sim.Consolidate}, in.Cluster.Servers, free))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func job(release sched.Time, gang int, train sched.Time) sched.Job {
	return sched.Job{Release: release, Weight: 1, Iters: int64(train), Stages: []sched.Stage{{Replicas: gang, Compute: 1000}}}
}

// TestExample: two servers of 4 GPUs. By hand, who starts when:
//
//	job      0   1   2   3   4
//	release  0   0   1   1   2
//	gang     6   3   2   4   1
//	train    10  4   6   3   2
//
// FIFO strict, pool: 0 leaves two GPUs, so 1 blocks the line until 10; then 1
// and 2 start and leave three, so 3 and behind it 4 wait for 1 to end at 14.
// FIFO skip: 2 takes the last two GPUs at 1, 4 one of them at 7; at 10 all are
// free, and 1 and 3 start. SJF strict: 1 starts at 0 and 0 blocks the line with
// five GPUs free, until 3 comes at 1 and is shorter, and 4 at 2; at 4 all three
// end, 2 starts and 0 on the six others. FIFO strict, consolidate: 0 takes
// server 0 and half of 1; at 10 1 goes to server 0, which leaves one GPU there,
// so 2 goes to server 1, and 3 waits for a whole server until 14.
func TestExample(t *testing.T) {
	in := &sched.Instance{Name: "example", Model: sched.ModelGang, Cluster: sched.Uniform(2, 4, 1e9, 1e10),
		Jobs: []sched.Job{job(0, 6, 10), job(0, 3, 4), job(1, 2, 6), job(1, 4, 3), job(2, 1, 2)}}
	for _, test := range []struct {
		p    *listsched.Policy
		want []sched.Time
	}{
		{listsched.FIFO(listsched.Options{}), []sched.Time{0, 10, 10, 14, 14}},
		{listsched.FIFO(listsched.Options{Blocking: listsched.Skip}), []sched.Time{0, 10, 1, 10, 7}},
		{listsched.SJF(listsched.Options{}), []sched.Time{4, 0, 4, 1, 2}},
		{listsched.FIFO(listsched.Options{Placement: sim.Consolidate}), []sched.Time{0, 10, 10, 14, 14}},
	} {
		_, v := run(t, in, test.p, sim.Options{})
		var got []sched.Time
		for _, j := range v.Jobs() {
			got = append(got, j.Start)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s %v starts jobs at %v, want %v", test.p.Name(), test.p.Options(), got, test.want)
		}
	}
}

// TestTies: at equal keys the earlier release goes first, then the lower
// index. One GPU; jobs 1 and 2 have equal durations and releases, job 3 is
// released later, and all wait for job 0.
func TestTies(t *testing.T) {
	in := &sched.Instance{Name: "ties", Model: sched.ModelGang, Cluster: sched.Uniform(1, 1, 1e9, 1e10),
		Jobs: []sched.Job{job(0, 1, 9), job(2, 1, 3), job(2, 1, 3), job(1, 1, 3), job(3, 1, 2)}}
	for _, o := range allOptions {
		_, v := run(t, in, listsched.SJF(o), sim.Options{})
		var got []sched.Time
		for _, j := range v.Jobs() {
			got = append(got, j.Start)
		}
		if want := []sched.Time{0, 14, 17, 11, 9}; !slices.Equal(got, want) {
			t.Errorf("sjf %v starts jobs at %v, want %v", o, got, want)
		}
	}
}

// TestScaling: multiplying all times by a factor multiplies all completions.
func TestScaling(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 2))
		in, factor := randomInstance(rng), sched.Time(2+rng.IntN(50))
		for i := range in.Jobs { // whole microseconds, nothing to round
			j := &in.Jobs[i]
			*j = sched.Job{Release: j.Release, Weight: 1, Iters: j.Iters, Load: j.Load, Stages: []sched.Stage{{Replicas: j.Gang(), Compute: sched.Duration(1000 * (1 + rng.IntN(5)))}}}
		}
		scaled := *in
		scaled.Jobs = slices.Clone(in.Jobs)
		for i := range scaled.Jobs {
			j := &scaled.Jobs[i]
			j.Release *= factor
			j.Load *= factor
			j.Stages = []sched.Stage{{Replicas: j.Gang(), Compute: j.Stages[0].Compute * sched.Duration(factor)}}
		}
		for _, o := range allOptions {
			for _, policy := range []func(listsched.Options) *listsched.Policy{listsched.FIFO, listsched.SJF} {
				_, v := run(t, in, policy(o), sim.Options{})
				_, w := run(t, &scaled, policy(o), sim.Options{})
				for id := range in.Jobs {
					a, _ := v.Completion(sched.JobID(id))
					b, _ := w.Completion(sched.JobID(id))
					if a*factor != b {
						t.Fatalf("seed %d, %v: job %d completes at %d, scaled by %d at %d", seed, o, id, a, factor, b)
					}
				}
			}
		}
	}
}

// TestPermutation: where releases are distinct, the order of the jobs in the
// instance does not matter.
func TestPermutation(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		in := randomInstance(rng)
		for i, at := range rng.Perm(len(in.Jobs)) {
			in.Jobs[i].Release = sched.Time(at)
		}
		perm := rng.Perm(len(in.Jobs))
		mixed := *in
		mixed.Jobs = make([]sched.Job, len(in.Jobs))
		for i, k := range perm {
			mixed.Jobs[k] = in.Jobs[i]
		}
		for _, o := range allOptions {
			for _, policy := range []func(listsched.Options) *listsched.Policy{listsched.FIFO, listsched.SJF} {
				r, _ := run(t, in, policy(o), sim.Options{})
				m, _ := run(t, &mixed, policy(o), sim.Options{})
				for i := range r.Schedule.Segments {
					r.Schedule.Segments[i].Job = sched.JobID(perm[r.Schedule.Segments[i].Job])
				}
				r.Schedule.Sort()
				if !reflect.DeepEqual(r.Schedule, m.Schedule) {
					t.Fatalf("seed %d, %v: %v\nwant\n%v", seed, o, m.Schedule, r.Schedule)
				}
			}
		}
	}
}

// TestNotBelowOptimum: no policy beats the optimum found by brute force.
func TestNotBelowOptimum(t *testing.T) {
	schedtest.EachSeed(t, 60, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Gang(r, schedtest.Shape{Jobs: 3, Servers: 2, GPUs: 3, Stages: 2, Traffic: true})
		_, best := schedtest.BruteForce(in, sched.TotalCompletion)
		for _, o := range allOptions {
			for _, policy := range []func(listsched.Options) *listsched.Policy{listsched.FIFO, listsched.SJF} {
				if _, v := run(t, in, policy(o), sim.Options{}); v.Cost(sched.TotalCompletion).Cmp(best) < 0 {
					t.Fatalf("%v costs %v, less than the optimum of %v", o, v.Cost(sched.TotalCompletion), best)
				}
			}
		}
	})
}

// TestWorkload verifies what the benchmark replays, with a full queue.
func TestWorkload(t *testing.T) {
	in := workload(4000, 1.5, 1)
	for _, o := range allOptions {
		for _, policy := range []func(listsched.Options) *listsched.Policy{listsched.FIFO, listsched.SJF} {
			if _, v := run(t, in, policy(o), sim.Options{}); !v.Complete() {
				t.Fatalf("%v leaves jobs out", o)
			}
		}
	}
}

// TestOptionsText: options are printed as they are parsed.
func TestOptionsText(t *testing.T) {
	if got := fmt.Sprintf("%s %v", listsched.FIFO(listsched.Options{}).Name(), listsched.Options{}); got != "fifo blocking=strict placement=pool layout=chain" {
		t.Error(got)
	}
	for _, o := range allOptions {
		var back listsched.Options
		b, _ := o.Blocking.MarshalText()
		r, _ := o.Placement.MarshalText()
		if back.Blocking.UnmarshalText(b) != nil || back.Placement.UnmarshalText(r) != nil || back != o {
			t.Errorf("%v comes back as %v", o, back)
		}
	}
	var o listsched.Options
	if err := o.Blocking.UnmarshalText([]byte("maybe")); err == nil || !strings.Contains(err.Error(), "strict") {
		t.Error(err)
	}
	if err := o.Placement.UnmarshalText([]byte("nowhere")); err == nil || !strings.Contains(err.Error(), "best-fit") {
		t.Error(err)
	}
}

// TestSlotted: in slotted runs nothing starts within a slot, and the verifier
// agrees that the class is Ns.
func TestSlotted(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 4))
		in := randomInstance(rng)
		in.Slot = sched.Time(1 + rng.IntN(7))
		for _, o := range allOptions {
			_, v := run(t, in, listsched.SJF(o), sim.Options{Slotted: true})
			if want := (sched.Class{Kind: sched.N, Slotted: true}); v.Class() != want {
				t.Fatalf("seed %d: class %v, want %v", seed, v.Class(), want)
			}
		}
	}
}
