package asrpt_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"yardstick/heuristics/asrpt"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/sched/heavyedge"
	"yardstick/sched/verify"
)

// randomInstance returns jobs whose times are some microseconds, so that many
// are equal, most of them slowed down by spreading.
func randomInstance(rng *rand.Rand) *sched.Instance {
	in := &sched.Instance{Name: "random", Model: sched.ModelGang,
		Cluster: sched.Cluster{Inter: sched.Bandwidth(1e9 + rng.IntN(1e9)), Intra: 1e10}}
	uniform, size := rng.IntN(2) == 0, 1+rng.IntN(4)
	for range 1 + rng.IntN(5) {
		if !uniform {
			size = rng.IntN(5)
		}
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: size})
	}
	in.Cluster.Servers[0].GPUs = max(in.Cluster.Servers[0].GPUs, 1)
	spread := 1 + rng.IntN(60)
	for range 1 + rng.IntN(20) {
		j := sched.Job{Release: sched.Time(rng.IntN(spread)), Weight: 1, Iters: int64(1 + rng.IntN(12))}
		room := 1 + rng.IntN(in.Cluster.GPUs())
		if rng.IntN(2) == 0 {
			room = 1 + rng.IntN(min(4, in.Cluster.GPUs()))
		}
		for room > 0 {
			s := sched.Stage{Replicas: room, Compute: sched.Duration(1000 * (1 + rng.IntN(3)))}
			if rng.IntN(3) > 0 {
				s = sched.Stage{Replicas: 1 + rng.IntN(room), Compute: sched.Duration(300 + rng.IntN(3000)), Params: sched.Bytes(rng.IntN(3000))}
			}
			if room -= s.Replicas; room > 0 {
				s.Boundary = sched.Bytes(rng.IntN(2000))
			}
			j.Stages = append(j.Stages, s)
		}
		if rng.IntN(4) == 0 {
			j.Load = sched.Time(rng.IntN(4))
		}
		in.Jobs = append(in.Jobs, j)
	}
	return in
}

// randomOptions returns options that the reference knows: all but IdleStart.
func randomOptions(rng *rand.Rand) asrpt.Options {
	var o asrpt.Options
	if rng.IntN(2) == 0 {
		o.Comm = big.NewRat(int64(20+rng.IntN(20)), 20)
	}
	if rng.IntN(3) > 0 {
		o.Tau = big.NewRat(int64(rng.IntN(40)), 8)
	}
	if rng.IntN(3) == 0 {
		o = asrpt.Options{Comm: o.Comm, Tau: o.Tau, Ties: asrpt.Ties(rng.IntN(2)), AllReduce: heavyedge.AllReduce(rng.IntN(2)),
			Layout: asrpt.Layout(rng.IntN(2)), Slowest: asrpt.Slowest(rng.IntN(2)), Reference: asrpt.Reference(rng.IntN(2))}
	}
	return o
}

// noisy predicts what a table says.
type noisy []int64

func (p noisy) Predict(j sim.Job) (int64, error) { return p[j.ID], nil }
func (p noisy) Observe(sim.Job, int64)           {}

func run(t testing.TB, in *sched.Instance, p sim.Policy, o sim.Options) (*sim.Result, *verify.Verified) {
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

func truth(in *sched.Instance) []int64 {
	var n []int64
	for i := range in.Jobs {
		n = append(n, in.Jobs[i].Iters)
	}
	return n
}

// guesses returns predictions that are sometimes right and sometimes 0.
func guesses(rng *rand.Rand, in *sched.Instance) noisy {
	n := noisy(truth(in))
	for i := range n {
		if rng.IntN(3) > 0 {
			n[i] = int64(rng.IntN(20)) * int64(rng.IntN(3))
		}
	}
	return n
}

// TestAgainstReference compares schedules segment by segment with the
// reference, with the truth and with predictions.
func TestAgainstReference(t *testing.T) {
	heavy, waited, improved, jobs, two := 0, 0, 0, 0, 0
	draws := tier.Draws(1000, 4000)
	for seed := range uint64(draws) {
		rng := rand.New(rand.NewPCG(seed, 1))
		in, o := randomInstance(rng), randomOptions(rng)
		if err := in.Validate(); err != nil {
			t.Fatal(err)
		}
		if seed%4 == 0 {
			in = schedtest.Sliced(rng, in, 1, 2, 4)
		}
		guess := guesses(rng, in)
		for _, c := range []struct {
			policy    *asrpt.Policy
			predictor sim.Predictor
			predicted []int64
		}{{asrpt.Perfect(o), nil, truth(in)}, {asrpt.New(o), guess, guess}} {
			r, _ := run(t, in, c.policy, sim.Options{Predictor: c.predictor})
			want := replayNaively(t, in, o, c.predicted)
			if o.Layout == asrpt.Optimal { // there may be several optimal layouts
				unlabel(r.Schedule.Segments)
				unlabel(want.segments)
			}
			if !reflect.DeepEqual(r.Schedule.Segments, want.segments) {
				t.Fatalf("seed %d, %s %v:\n%v\nwant\n%v", seed, c.policy.Name(), o, r.Schedule.Segments, want.segments)
			}
			if r.Clairvoyant != (c.predictor == nil) {
				t.Fatalf("seed %d, %s: clairvoyant is %t", seed, c.policy.Name(), r.Clairvoyant)
			}
			heavy, waited, improved, jobs = heavy+want.heavy, waited+want.waited, improved+want.improved, jobs+len(in.Jobs)
			for _, seg := range want.segments {
				two += len(seg.Place.Shares) - 1
			}
		}
	}
	t.Logf("%d jobs, %d communication-heavy, %d waited, %d of these improved, %d servers beyond the first", jobs, heavy, waited, improved, two)
	if k := draws / 1000; heavy < 1250*k || waited < 250*k || improved < 75*k || two < 2500*k {
		t.Error("too few of them to mean anything")
	}
}

// unlabel takes the stages off placements.
func unlabel(segments []sched.Segment) {
	for i := range segments {
		shares := slices.Clone(segments[i].Place.Shares)
		for k := range shares {
			shares[k].Stages = nil
		}
		segments[i].Place.Shares = shares
	}
}

// TestOneJob: alone, a job waits for its virtual completion at g·d/G and then
// runs for d.
func TestOneJob(t *testing.T) {
	for gang := 1; gang <= 8; gang++ {
		in := schedtest.Plain(schedtest.Servers(4, 4), schedtest.Job(0, gang, 8000))
		_, v := run(t, in, asrpt.Perfect(asrpt.Options{}), sim.Options{})
		if got, want := v.Cost(sched.TotalCompletion), big.NewRat(int64(8000+1000*gang), 1); got.Cmp(want) != 0 {
			t.Errorf("gang %d: completes at %v, want %v", gang, got, want)
		}
	}
}

// TestHeavyOnIdleCluster: a communication-heavy job that finds the cluster idle starts when it
// has completed on the virtual machine, though its placement is four times as slow as the
// best one and alpha~ is that of the best: nothing better can come.
func TestHeavyOnIdleCluster(t *testing.T) {
	in := schedtest.Plain(schedtest.Servers(8, 8), sched.Job{Weight: 1, Iters: 100, Stages: []sched.Stage{{Replicas: 9, Compute: 1_000_000, Params: 100_000_000}}})
	in.Cluster.Inter, in.Cluster.Intra = 1_250_000_000, 300_000_000_000
	for reference, first := range map[asrpt.Reference]int{asrpt.Fewest: 8, asrpt.Least: 5} {
		_, v := run(t, in, asrpt.Perfect(asrpt.Options{Reference: reference}), sim.Options{})
		alpha, err := in.IterTime(0, &sched.Placement{Shares: []sched.Share{{Server: 0, GPUs: first}, {Server: 1, GPUs: 9 - first}}})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := v.Jobs()[0].Start, ceil(alpha.Mul(alpha, big.NewRat(9*100*1e6, 16))); got != want {
			t.Errorf("%v: starts at %v, its virtual completion is %v", reference, got, want)
		}
	}
}

// family is the instance that nearly attains Theorem 1's ratio: a blocker of
// b = G − gmax + 1 GPUs and virtual size 1 s at time 0, then k jobs of gmax GPUs
// and 1 µs, released at 1 s. It comes with a schedule that runs those first, as
// many at once as fit, and the blocker when they are done.
func family(gpus, gmax, k int) (*sched.Instance, *sched.Schedule) {
	b := gpus - gmax + 1
	in := schedtest.Plain(schedtest.Servers(gpus), schedtest.Job(0, b, sched.Second*sched.Time(gpus)/sched.Time(b)))
	s := &sched.Schedule{Class: sched.Class{Kind: sched.N}}
	add := func(at sched.Time) sched.Time {
		id := sched.JobID(len(in.Jobs) - 1)
		place := sched.Placement{Shares: []sched.Share{{Server: 0, GPUs: in.Jobs[id].Gang()}}}
		d, err := in.RunTime(id, &place)
		if err != nil {
			panic(err)
		}
		s.Segments = append(s.Segments, sched.Segment{Job: id, Start: at, End: at + d, Phase: sched.Train, Place: place})
		return at + d
	}
	end := sched.Second
	for i := range k {
		in.Jobs = append(in.Jobs, schedtest.Job(sched.Second, gmax, 1))
		end = add(sched.Second + sched.Time(i/(gpus/gmax)))
	}
	blocker := in.Jobs[0]
	in.Jobs = append(in.Jobs[1:], blocker)
	for i := range s.Segments {
		s.Segments[i].Job--
	}
	add(end)
	s.Sort()
	return in, s
}

// TestFamily: A-SRPT starts the blocker at 1 s, when it is done virtually, and
// everything else after it. The ratio tends to 1 + G/(G−gmax+1).
func TestFamily(t *testing.T) {
	for _, test := range []struct {
		gpus, gmax, k int
		ratio         float64
	}{{8, 8, 1000, 8.925}, {4, 2, 10_000, 2.330}, {8, 4, 10_000, 2.596}} {
		in, best := family(test.gpus, test.gmax, test.k)
		other, err := verify.Check(in, best)
		if err != nil {
			t.Fatal(err)
		}
		_, v := run(t, in, asrpt.Perfect(asrpt.Options{}), sim.Options{})
		ratio, _ := new(big.Rat).Quo(v.Cost(sched.TotalCompletion), other.Cost(sched.TotalCompletion)).Float64()
		if math.Abs(ratio-test.ratio) > 0.0005 || ratio > 1+float64(test.gpus)/float64(test.gpus-test.gmax+1) {
			t.Errorf("G=%d, gmax=%d, k=%d: ratio %.4f, want %.3f", test.gpus, test.gmax, test.k, ratio, test.ratio)
		}
	}
}

// TestOverPrediction: one job of the whole cluster predicted f times too long
// costs 1 + f times its optimum, and with IdleStart nothing more than that.
func TestOverPrediction(t *testing.T) {
	for _, f := range []int64{1, 10, 100, 1000} {
		in := schedtest.Plain(schedtest.Servers(4), schedtest.Job(0, 4, 1000))
		_, v := run(t, in, asrpt.New(asrpt.Options{}), sim.Options{Predictor: noisy{f}})
		if got := v.Cost(sched.TotalCompletion); got.Cmp(big.NewRat(1000*(1+f), 1)) != 0 {
			t.Errorf("factor %d: completes at %v", f, got)
		}
		_, v = run(t, in, asrpt.New(asrpt.Options{IdleStart: true}), sim.Options{Predictor: noisy{f}})
		if got := v.Cost(sched.TotalCompletion); got.Cmp(big.NewRat(1000, 1)) != 0 {
			t.Errorf("factor %d: with idle start it completes at %v", f, got)
		}
	}
}

// TestIdleStart, by hand. Two GPUs. Job 0 (2 GPUs, 10 µs, q = 10) starts at once,
// as the cluster is idle. Jobs 1 and 2 (1 GPU, 6 and 4 µs, q = 3 and 2) come at 1
// and 2 and end virtually at 4 and 6: job 2 waits behind job 1, which has the
// same 2 µs left at 2 and the lower index. Both start at 10, when job 0 ends.
// Job 3 (1 GPU, 8 µs, q = 4), released at 30, starts there; job 4 (1 GPU, 2 µs,
// q = 1), released at 31, finds a job on the cluster and waits until 32.
func TestIdleStart(t *testing.T) {
	in := schedtest.Plain(schedtest.Servers(2), schedtest.Job(0, 2, 10), schedtest.Job(1, 1, 6), schedtest.Job(2, 1, 4), schedtest.Job(30, 1, 8), schedtest.Job(31, 1, 2))
	_, v := run(t, in, asrpt.Perfect(asrpt.Options{IdleStart: true}), sim.Options{})
	if got, want := starts(v), []sched.Time{0, 10, 10, 30, 32}; !slices.Equal(got, want) {
		t.Errorf("jobs start at %v, want %v", got, want)
	}
	// Without it: virtual completions are 4 and 6 for jobs 1 and 2, 15 for job
	// 0, 32 for job 4 and 35 for job 3.
	_, v = run(t, in, asrpt.Perfect(asrpt.Options{}), sim.Options{})
	if got, want := starts(v), []sched.Time{15, 4, 6, 35, 32}; !slices.Equal(got, want) {
		t.Errorf("without idle start, jobs start at %v, want %v", got, want)
	}
}

// TestNeverIdle: with IdleStart and COMM ≥ 1 no job waits while the cluster is
// idle, whatever is predicted; without it that happens.
func TestNeverIdle(t *testing.T) {
	idle := 0
	for seed := range uint64(1500) {
		rng := rand.New(rand.NewPCG(seed, 8))
		in, o := randomInstance(rng), randomOptions(rng)
		guess := guesses(rng, in)
		for _, o.IdleStart = range []bool{false, true} {
			r, v := run(t, in, asrpt.New(o), sim.Options{Predictor: guess})
			for _, j := range v.Jobs() {
				if idleSince := busyFrom(r.Schedule.Segments, j.Release); idleSince < j.Start {
					if o.IdleStart {
						t.Fatalf("seed %d, %v: the cluster is idle at %v while job %d waits from %v to %v", seed, o, idleSince, j.Job, j.Release, j.Start)
					}
					idle++
				}
			}
		}
	}
	if idle < 1000 {
		t.Errorf("without the option only %d jobs wait beside an idle cluster", idle)
	}
}

// busyFrom returns the first time from t on at which no segment runs.
func busyFrom(segments []sched.Segment, t sched.Time) sched.Time {
	for _, s := range segments { // by start
		if s.Start <= t && t < s.End {
			t = s.End
		}
	}
	return t
}

func starts(v *verify.Verified) (at []sched.Time) {
	for _, j := range v.Jobs() {
		at = append(at, j.Start)
	}
	return at
}

// TestDelay, by hand. Two servers of two GPUs, 1 byte per nanosecond between
// them and 10 inside. Job 3 has two replicas that compute for 1 µs and
// synchronise 1000 bytes: 1.1 µs per iteration on one server, 1 + 2 = 3 µs on
// two, so it is communication-heavy. It comes at 1 with ten iterations, of
// virtual size 2/4 · 11 = 5.5, is done virtually at 6.5 and queued at 7. The jobs
// before it are predicted to take no time. They start at 0 on the servers with
// the fewest free GPUs: jobs 0 and 1 on server 0, job 2 on server 1.
func TestDelay(t *testing.T) {
	heavy := sched.Job{Release: 1, Weight: 1, Iters: 10, Stages: []sched.Stage{{Replicas: 2, Compute: 1000, Params: 1000}}}
	one := func(release, d sched.Time) sched.Job { return schedtest.Job(release, 1, d) }
	base := func(jobs ...sched.Job) *sched.Instance {
		return &sched.Instance{Name: "delay", Model: sched.ModelGang, Cluster: sched.Uniform(2, 2, 1e9, 1e10), Jobs: jobs}
	}
	for _, test := range []struct {
		name  string
		in    *sched.Instance
		guess noisy
		tau   *big.Rat
		start sched.Time
		takes sched.Time
	}{
		// Job 2 ends at 5, and server 1 is free in time.
		{"free server", base(one(0, 20), one(0, 20), one(0, 5), heavy), noisy{0, 0, 0, 10}, nil, 7, 11},
		// At 7 one GPU is free, at 12 one on each server: alpha is 3 > 1.5 · 1.1.
		// It may wait for 5 µs, in which nothing better comes, and runs for 30.
		{"waits in vain", base(one(0, 20), one(0, 12), one(0, 20), heavy), noisy{0, 0, 0, 10}, nil, 17, 30},
		// With tau = 2 it may wait to 23; at 20 both servers are free.
		{"waits and improves", base(one(0, 20), one(0, 12), one(0, 20), heavy), noisy{0, 0, 0, 10}, big.NewRat(2, 1), 20, 11},
		{"tau is zero", base(one(0, 20), one(0, 12), one(0, 20), heavy), noisy{0, 0, 0, 10}, new(big.Rat), 12, 30},
		// Predicted to take no time it may not wait either.
		{"predicted nothing", base(one(0, 20), one(0, 12), one(0, 20), heavy), noisy{0, 0, 0, 0}, nil, 12, 30},
		// The GPU that makes it better comes free at the deadline itself.
		{"at the deadline", base(one(0, 17), one(0, 12), one(0, 20), heavy), noisy{0, 0, 0, 10}, nil, 17, 11},
	} {
		_, v := run(t, test.in, asrpt.New(asrpt.Options{Tau: test.tau}), sim.Options{Predictor: test.guess})
		j := v.Jobs()[3]
		if j.Start != test.start || j.Completion != test.start+test.takes {
			t.Errorf("%s: job 3 runs from %v to %v, want from %v for %v", test.name, j.Start, j.Completion, test.start, test.takes)
		}
	}
}

// TestLine, by hand: the queue is strict. Four GPUs; jobs of known size 0 at 0.
// Job 0 takes 3 GPUs for 10 µs; job 1 needs 2 and waits; job 2 needs 1, fits and
// waits behind it all the same.
func TestLine(t *testing.T) {
	in := schedtest.Plain(schedtest.Servers(4), schedtest.Job(0, 3, 10), schedtest.Job(0, 2, 5), schedtest.Job(0, 1, 5))
	_, v := run(t, in, asrpt.New(asrpt.Options{}), sim.Options{Predictor: noisy{0, 0, 0}})
	if got, want := starts(v), []sched.Time{0, 10, 10}; !slices.Equal(got, want) {
		t.Errorf("jobs start at %v, want %v", got, want)
	}
}

// TestTies: at time 4 job 1 completes virtually (released at 0, size 4) and jobs
// 0 and 2 of predicted size 0 arrive. By index they queue as 0, 1, 2; by release
// as 1, 0, 2. One GPU.
func TestTies(t *testing.T) {
	in := schedtest.Plain(schedtest.Servers(1), schedtest.Job(4, 1, 10), schedtest.Job(0, 1, 4), schedtest.Job(4, 1, 10))
	for ties, want := range map[asrpt.Ties][]sched.Time{asrpt.ByIndex: {4, 14, 18}, asrpt.ByRelease: {8, 4, 18}} {
		_, v := run(t, in, asrpt.New(asrpt.Options{Ties: ties}), sim.Options{Predictor: noisy{0, 1, 0}})
		if got := starts(v); !slices.Equal(got, want) {
			t.Errorf("ties by %v: jobs start at %v, want %v", ties, got, want)
		}
	}
}

// TestNotBelowOptimum: no policy beats the optimum found by brute force.
func TestNotBelowOptimum(t *testing.T) {
	schedtest.EachSeed(t, 60, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Gang(r, schedtest.Shape{Jobs: 3, Servers: 2, GPUs: 3, Stages: 2, Traffic: true})
		_, best := schedtest.BruteForce(in, sched.TotalCompletion)
		for _, o := range []asrpt.Options{{}, {IdleStart: true}, {Layout: asrpt.Optimal}, {Slowest: asrpt.Attained}, {Reference: asrpt.Least}, {Comm: big.NewRat(1, 1)}} {
			for _, c := range []struct {
				p    sim.Policy
				pred sim.Predictor
			}{{asrpt.Perfect(o), nil}, {asrpt.New(o), guesses(r, in)}} {
				if _, v := run(t, in, c.p, sim.Options{Predictor: c.pred}); v.Cost(sched.TotalCompletion).Cmp(best) < 0 {
					t.Fatalf("%v costs %v, less than the optimum of %v", o, v.Cost(sched.TotalCompletion), best)
				}
			}
		}
	})
}

// TestSlotted: in slotted runs nothing starts within a slot, nothing starts
// before its virtual completion, and the verifier agrees on the class.
func TestSlotted(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 4))
		in := randomInstance(rng)
		in.Slot = sched.Time(1 + rng.IntN(7))
		p := asrpt.Perfect(asrpt.Options{})
		_, v := run(t, in, p, sim.Options{Slotted: true})
		if want := (sched.Class{Kind: sched.N, Slotted: true}); v.Class() != want {
			t.Fatalf("seed %d: class %v, want %v", seed, v.Class(), want)
		}
		r := replayNaively(t, in, p.Options(), truth(in))
		virtual := virtualCompletions(in, r.size, asrpt.ByIndex)
		for _, j := range v.Jobs() {
			if j.Start < ceil(virtual[j.Job]) {
				t.Fatalf("seed %d: job %d starts at %v, before its virtual completion at %v", seed, j.Job, j.Start, virtual[j.Job])
			}
		}
	}
}

// TestSlottedDelay, by hand: the fourth case of TestDelay with slots of 5 µs. Job
// 1 leaves at 15, and job 3 may wait from there for whole slots: none if tau·q is
// 4.4, one if it is 5.5, at the end of which jobs 0 and 2 leave.
func TestSlottedDelay(t *testing.T) {
	heavy := sched.Job{Release: 1, Weight: 1, Iters: 10, Stages: []sched.Stage{{Replicas: 2, Compute: 1000, Params: 1000}}}
	in := &sched.Instance{Name: "delay", Model: sched.ModelGang, Cluster: sched.Uniform(2, 2, 1e9, 1e10), Slot: 5,
		Jobs: []sched.Job{schedtest.Job(0, 1, 20), schedtest.Job(0, 1, 12), schedtest.Job(0, 1, 20), heavy}}
	for _, test := range []struct {
		tau   *big.Rat
		start sched.Time
	}{{big.NewRat(4, 5), 15}, {big.NewRat(1, 1), 20}} {
		_, v := run(t, in, asrpt.New(asrpt.Options{Tau: test.tau}), sim.Options{Predictor: noisy{0, 0, 0, 10}, Slotted: true})
		if got := v.Jobs()[3].Start; got != test.start {
			t.Errorf("tau %v: job 3 starts at %v, want %v", test.tau, got, test.start)
		}
	}
}

// TestSharingModel: where placement changes nothing, no job is
// communication-heavy and all are done.
func TestSharingModel(t *testing.T) {
	schedtest.EachSeed(t, 30, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Sharing(r, schedtest.Shape{Jobs: 6, Servers: 3, GPUs: 3, Stages: 2})
		if _, v := run(t, in, asrpt.Perfect(asrpt.Options{Layout: asrpt.Optimal}), sim.Options{}); !v.Complete() {
			t.Fatal("jobs are left out")
		}
	})
}

// TestOptionsText: options are printed as they are parsed, and checked.
func TestOptionsText(t *testing.T) {
	p := asrpt.New(asrpt.Options{})
	if got := fmt.Sprintf("%s %v", p.Name(), p.Options()); got != "a-srpt comm=3/2 tau=1 ties=index allreduce=ring layout=heavy-edge alpha-max=spread alpha~=fewest idle-start=false" {
		t.Error(got)
	}
	if got := asrpt.Perfect(asrpt.Options{}).Name(); got != "a-srpt-perfect" {
		t.Error(got)
	}
	for i := range 2 {
		ties, layout, slowest := asrpt.Ties(i), asrpt.Layout(i), asrpt.Slowest(i)
		a, _ := ties.MarshalText()
		b, _ := layout.MarshalText()
		c, _ := slowest.MarshalText()
		var back asrpt.Options
		if back.Ties.UnmarshalText(a) != nil || back.Layout.UnmarshalText(b) != nil || back.Slowest.UnmarshalText(c) != nil ||
			back.Ties != ties || back.Layout != layout || back.Slowest != slowest {
			t.Errorf("%s, %s, %s come back as %v", a, b, c, back)
		}
	}
	var o asrpt.Options
	if o.Ties.UnmarshalText([]byte("x")) == nil || o.Layout.UnmarshalText([]byte("x")) == nil || o.Slowest.UnmarshalText([]byte("x")) == nil {
		t.Error("an unknown name is accepted")
	}
	for _, bad := range []asrpt.Options{{Comm: new(big.Rat)}, {Tau: big.NewRat(-1, 2)}, {Ties: 2}, {Layout: 2}, {Slowest: 2}, {Reference: 2}, {AllReduce: 2}} {
		if bad.Validate() == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
