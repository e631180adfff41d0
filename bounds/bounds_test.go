package bounds

import (
	"errors"
	"math/big"
	"testing"

	"yardstick/sched"
	"yardstick/sched/verify"
)

// job is a single-stage job without AllReduce that runs for iters microseconds
// on gang GPUs.
func job(release sched.Time, gang int, iters int64, weight float64) sched.Job {
	return sched.Job{Release: release, Weight: weight, Iters: iters, Stages: []sched.Stage{{Replicas: gang, Compute: 1000}}}
}

func instance(servers, gpus int, jobs ...sched.Job) *sched.Instance {
	return &sched.Instance{Name: "test", Model: sched.ModelGang, Cluster: sched.Uniform(servers, gpus, 1.25e9, 300e9), Jobs: jobs}
}

func mustValue(t *testing.T, in *sched.Instance, obj sched.Objective, f func(*sched.Instance, sched.Objective) (Bound, error)) *big.Rat {
	t.Helper()
	b, err := f(in, obj)
	if err != nil {
		t.Fatal(err)
	}
	if b.Objective != obj || b.Proof == nil || b.Class != (sched.Class{Kind: sched.Fluid}) || b.Name == "" {
		t.Fatalf("bound says %+v", b)
	}
	return b.Value
}

func integer(v int64) *big.Rat { return big.NewRat(v, 1) }

// TestWorkedExamples checks values computed by hand.
func TestWorkedExamples(t *testing.T) {
	oneGPU := func(pairs ...int64) *sched.Instance {
		in := instance(1, 1)
		for i := 0; i < len(pairs); i += 2 {
			in.Jobs = append(in.Jobs, job(sched.Time(pairs[i]), 1, pairs[i+1], 1))
		}
		return in
	}
	four := oneGPU(0, 4, 0, 2, 4, 2, 5, 1) // (release, length)
	two := oneGPU(0, 5, 2, 1)
	// Three jobs of two GPUs on three: lengths 2, 3, 4 and weights 1, 3, 2, all
	// released at 0. Sizes q = 4/3, 2, 8/3; order by w/q = 3/4, 3/2, 3/4: 2, 1, 3.
	weighted := instance(1, 3, job(0, 2, 2, 1), job(0, 2, 3, 3), job(0, 2, 4, 2))
	for _, test := range []struct {
		name string
		in   *sched.Instance
		obj  sched.Objective
		f    func(*sched.Instance, sched.Objective) (Bound, error)
		want *big.Rat
	}{
		{"four jobs, SRPT", four, sched.TotalCompletion, SRPT, integer(24)}, // 2 + 6 + 7 + 9
		{"four jobs, LB0", four, sched.TotalCompletion, LB0, integer(18)},   // 4 + 2 + 6 + 6
		{"four jobs, ranked", four, sched.TotalCompletion, Ranked, integer(24)},
		{"four jobs, total JCT", four, sched.TotalJCT, SRPT, integer(15)},
		{"four jobs, mean JCT", four, sched.MeanJCT, SRPT, big.NewRat(15, 4)},
		{"four jobs, makespan", four, sched.Makespan, Area, integer(9)},
		{"four jobs, alone", four, sched.Makespan, LB0, integer(6)},
		{"two jobs, SRPT", two, sched.TotalCompletion, SRPT, integer(9)}, // 3 + 6
		{"two jobs, mean busy time", two, sched.TotalCompletion, MeanBusyTime, integer(9)},
		{"two jobs, weighted sum of 2 + 2", two, sched.TotalJCT, MeanBusyTime, integer(7)}, // ceil(3.1 + 2.5 + 3) − 2
		// M = 8/3, 1, 14/3;  Σ w(M + d/2) = 11/3 + 15/2 + 40/3 = 24.5
		{"three gangs, mean busy time", weighted, sched.WeightedCompletion, MeanBusyTime, integer(25)},
		{"three gangs, LB0", weighted, sched.WeightedCompletion, LB0, integer(19)},
		{"three gangs, SRPT", weighted, sched.TotalCompletion, SRPT, integer(11)},     // 4/3 + 10/3 + 6 = 32/3
		{"three gangs, ranked", weighted, sched.TotalCompletion, Ranked, integer(12)}, // 2 + 4 + 6
	} {
		if got := mustValue(t, test.in, test.obj, test.f); got.Cmp(test.want) != 0 {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// TestOneJob: alone, a job's bound is its length, whatever its gang.
func TestOneJob(t *testing.T) {
	in := instance(2, 4, job(7, 3, 100, 2))
	for _, obj := range []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT, sched.MeanJCT, sched.Makespan} {
		want := obj.Cost(in, []sched.Time{107})
		b, err := Best(in, obj)
		if err != nil || b.Value.Cmp(want) != 0 {
			t.Errorf("%v: best bound %+v, %v; the optimum is %v", obj, b, err, want)
		}
	}
}

// TestWorkIncludesLoad: loading holds the GPUs too.
func TestWorkIncludesLoad(t *testing.T) {
	in := instance(1, 1, job(0, 1, 100, 1), job(0, 1, 100, 1))
	in.Model = sched.ModelPreemptive
	in.Jobs[0].Load, in.Jobs[1].Load = 10, 10
	if got := mustValue(t, in, sched.TotalCompletion, SRPT); got.Cmp(integer(330)) != 0 {
		t.Errorf("SRPT is %v, want 110 + 220", got)
	}
	if got := mustValue(t, in, sched.Makespan, Area); got.Cmp(integer(220)) != 0 {
		t.Errorf("area bound is %v, want 220", got)
	}
}

// TestLeastAlpha: the work of a gang that synchronises is that of its best
// placement, here all in one server although the servers listed first are
// small.
func TestLeastAlpha(t *testing.T) {
	in := instance(2, 2, sched.Job{Weight: 1, Iters: 1000, Stages: []sched.Stage{{Replicas: 4, Compute: 1e8, Params: 3e8}}})
	in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: 4})
	// 0.1 s + 2·¾·300 MB / 300 GB/s = 0.1015 s
	if got := mustValue(t, in, sched.Makespan, LB0); got.Cmp(integer(101_500_000)) != 0 {
		t.Errorf("LB0 is %v, want 101.5 s", got)
	}
}

func TestNotApplicable(t *testing.T) {
	in := instance(1, 1, job(0, 1, 1, 1), job(0, 1, 1, 2))
	cases := map[string]error{}
	_, cases["SRPT with weights"] = SRPT(in, sched.WeightedCompletion)
	_, cases["ranked with weights"] = Ranked(in, sched.WeightedCompletion)
	_, cases["SRPT for the makespan"] = SRPT(in, sched.Makespan)
	_, cases["mean busy time for the makespan"] = MeanBusyTime(in, sched.Makespan)
	_, cases["area for totals"] = Area(in, sched.TotalJCT)
	_, cases["a maximised objective"] = LB0(in, sched.ScheduledWeight)
	_, cases["all for a maximised objective"] = All(in, sched.ScheduledWeight)
	shared := *in
	shared.Model = sched.ModelSharing
	_, cases["sharing"] = Best(&shared, sched.TotalCompletion)
	shared.Model = sched.ModelElastic
	_, cases["elastic"] = LB0(&shared, sched.TotalCompletion)
	for name, err := range cases {
		if !errors.Is(err, sched.ErrNotApplicable) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	in.Jobs[0].Weight = 2 // equal weights are no weights
	if got := mustValue(t, in, sched.WeightedCompletion, SRPT); got.Cmp(integer(6)) != 0 {
		t.Errorf("SRPT with equal weights 2: %v, want 6", got)
	}
}

func TestDivides(t *testing.T) {
	fluid := Bound{Name: "srpt", Class: sched.Class{Kind: sched.Fluid}, Objective: sched.TotalCompletion}
	slotted := Bound{Name: "slots", Class: sched.Class{Kind: sched.N, Slotted: true}, Objective: sched.TotalCompletion}
	preemptive := Bound{Name: "p", Class: sched.Class{Kind: sched.P}, Objective: sched.TotalCompletion}
	rigid := Bound{Name: "n", Class: sched.Class{Kind: sched.N}, Objective: sched.TotalCompletion}
	for _, test := range []struct {
		bound   Bound
		class   sched.Class
		obj     sched.Objective
		divides bool
	}{
		{fluid, sched.Class{Kind: sched.N}, sched.TotalCompletion, true},
		{fluid, sched.Class{Kind: sched.P}, sched.TotalCompletion, true},
		{fluid, sched.Class{Kind: sched.P, Slotted: true}, sched.TotalCompletion, true},
		{fluid, sched.Class{Kind: sched.N}, sched.TotalJCT, false},
		{fluid, sched.Class{Kind: sched.S}, sched.TotalCompletion, false},
		{fluid, sched.Class{Kind: sched.S, Slotted: true}, sched.TotalCompletion, false},
		{fluid, sched.Class{Kind: sched.E}, sched.TotalCompletion, false},
		{fluid, sched.Class{Kind: sched.M}, sched.TotalCompletion, false},
		{slotted, sched.Class{Kind: sched.N}, sched.TotalCompletion, false},
		{slotted, sched.Class{Kind: sched.N, Slotted: true}, sched.TotalCompletion, true},
		{preemptive, sched.Class{Kind: sched.N}, sched.TotalCompletion, true},
		{rigid, sched.Class{Kind: sched.P}, sched.TotalCompletion, false},
		{rigid, sched.Class{}, sched.TotalCompletion, false},
	} {
		if err := test.bound.Divides(test.class, test.obj); (err == nil) != test.divides {
			t.Errorf("%s (%v) for %v, %v: %v", test.bound.Name, test.bound.Class, test.class, test.obj, err)
		}
	}
}

// TestSharingBeatsAnExclusiveBound shows what Divides prevents. Two jobs of
// 100 µs on one GPU cost at least 100 + 200 where GPUs are exclusive; together
// on the GPU, each slowed by 1.1, they cost 220.
func TestSharingBeatsAnExclusiveBound(t *testing.T) {
	exclusive := instance(1, 1, job(0, 1, 100, 1), job(0, 1, 100, 1))
	bound, err := Best(exclusive, sched.TotalCompletion)
	if err != nil || bound.Value.Cmp(integer(300)) != 0 {
		t.Fatalf("exclusive bound %+v, %v", bound, err)
	}
	shared := instance(1, 1, exclusive.Jobs...)
	shared.Model, shared.Interference = sched.ModelSharing, [][]float64{{1.1}}
	shared.Cluster.Servers[0].GPUMemory = 10
	s := &sched.Schedule{Class: sched.Class{Kind: sched.S}}
	for id := range shared.Jobs {
		shared.Jobs[id].Sharing = &sched.Sharing{Accumulation: []sched.Accumulation{{Steps: 1, Iter: 1000, Memory: 1}}}
		s.Segments = append(s.Segments, sched.Segment{Job: sched.JobID(id), Start: 0, End: 111, Phase: sched.Train, Place: sched.Placement{
			Shares: []sched.Share{{Server: 0, GPUs: 1, Devices: []int{0}}}, Config: &sched.Config{Accumulation: 1}}})
	}
	v, err := verify.Check(shared, s)
	if err != nil {
		t.Fatal(err)
	}
	if cost := v.Cost(sched.TotalCompletion); cost.Cmp(bound.Value) >= 0 {
		t.Errorf("the shared schedule costs %v, not less than the exclusive bound %v", cost, bound.Value)
	}
	if err := bound.Divides(v.Class(), sched.TotalCompletion); err == nil {
		t.Error("the exclusive bound divides a schedule of class S")
	}
}
