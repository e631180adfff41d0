package schedtest_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// shapes lists the kinds of instance that the tests go through.
func shapes() map[string]schedtest.Shape {
	return map[string]schedtest.Shape{
		"flat":     {Jobs: 4, Servers: 2, GPUs: 3, Stages: 1},
		"traffic":  {Jobs: 3, Servers: 3, GPUs: 2, Stages: 1, Traffic: true, Weights: true},
		"pipeline": {Jobs: 3, Servers: 2, GPUs: 3, Stages: 3, Traffic: true, Span: true},
		"slotted":  {Jobs: 3, Servers: 2, GPUs: 3, Stages: 2, Traffic: true, Uniform: true, Slot: 7, Weights: true},
		"graph":    {Jobs: 3, Servers: 2, GPUs: 4, Stages: 3, Traffic: true, Slices: 3, Graph: true},
		"sliced":   {Jobs: 3, Servers: 2, GPUs: 3, Stages: 2, Traffic: true, Uniform: true, Slot: 7, Slices: 2, Graph: true},
	}
}

// models lists the generators that class N instances come from.
func models() map[string]func(*rand.Rand, schedtest.Shape) *sched.Instance {
	return map[string]func(*rand.Rand, schedtest.Shape) *sched.Instance{
		"gang": schedtest.Gang, "preemptive": schedtest.Preemptive, "sharing": schedtest.Sharing}
}

func each(t *testing.T, seeds int, f func(t *testing.T, r *rand.Rand, in *sched.Instance, shape schedtest.Shape)) {
	for model, generate := range models() {
		for name, shape := range shapes() {
			t.Run(model+"/"+name, func(t *testing.T) {
				schedtest.EachSeed(t, seeds, func(t *testing.T, r *rand.Rand) { f(t, r, generate(r, shape), shape) })
			})
		}
	}
}

// TestShapes checks that instances are what their shape asks for.
func TestShapes(t *testing.T) {
	differs, spans, sliced, graphs := 0, 0, 0, 0
	each(t, 20, func(t *testing.T, r *rand.Rand, in *sched.Instance, shape schedtest.Shape) {
		if len(in.Jobs) != shape.Jobs || len(in.Cluster.Servers) != shape.Servers || in.Slot != shape.Slot {
			t.Fatalf("%d jobs, %d servers, slot %v", len(in.Jobs), len(in.Cluster.Servers), in.Slot)
		}
		largest := 0
		for _, s := range in.Cluster.Servers {
			largest = max(largest, s.GPUs)
			if s.GPUs > shape.GPUs || shape.Uniform && s.GPUs != shape.GPUs {
				t.Errorf("a server of %d GPUs", s.GPUs)
			}
		}
		if gang := in.Jobs[0].Gang(); gang > largest {
			spans++
		} else if shape.Span && in.Cluster.GPUs() > largest {
			t.Errorf("a gang of %d does not span servers of %d", gang, largest)
		}
		for id := range in.Jobs {
			j := &in.Jobs[id]
			if len(j.Stages) > shape.Stages || !shape.Weights && j.Weight != 1 {
				t.Errorf("%d stages, weight %v", len(j.Stages), j.Weight)
			}
			if j.Sliced() {
				sliced++
			}
			if !j.Chain() {
				graphs++
			}
			if !shape.Graph && !j.Chain() || slices.ContainsFunc(j.Stages, func(st sched.Stage) bool { return st.Slices > max(1, shape.Slices) }) {
				t.Errorf("slices or edges that the shape does not ask for: %+v", j)
			}
			durations := map[sched.Time]bool{}
			for _, p := range schedtest.Placements(in, sched.JobID(id)) {
				d, err := in.RunTime(sched.JobID(id), &p)
				if err != nil {
					t.Fatal(err)
				}
				durations[d] = true
				if slot := shape.Slot; slot > 0 {
					alpha, err := in.IterTime(sched.JobID(id), &p)
					if slots := alpha.Mul(alpha, big.NewRat(1e6, int64(slot))); err != nil || !slots.IsInt() {
						t.Errorf("an iteration of %v slots (%v)", slots, err)
					}
					if d%slot != 0 || j.Release%slot != 0 || j.Load%slot != 0 || j.Pause%slot != 0 {
						t.Errorf("job %+v is not a matter of slots", j)
					}
				}
			}
			if len(durations) > 1 {
				differs++
			}
			if len(durations) > 1 && !shape.Traffic && in.Model != sched.ModelSharing {
				t.Errorf("running times %v without traffic", durations)
			}
		}
	})
	if differs < 50 || spans < 50 || sliced < 50 || graphs < 50 {
		t.Errorf("the placement matters to %d jobs, %d span servers, %d are sliced and %d are graphs", differs, spans, sliced, graphs)
	}
}

func TestGeneratorsRepeat(t *testing.T) {
	for name, generate := range models() {
		a, b := generate(schedtest.Rand(3), shapes()["pipeline"]), generate(schedtest.Rand(3), shapes()["pipeline"])
		c := generate(schedtest.Rand(4), shapes()["pipeline"])
		if a.Hash() != b.Hash() || a.Hash() == c.Hash() {
			t.Errorf("%s: hashes %s, %s of one seed, %s of another", name, a.Hash(), b.Hash(), c.Hash())
		}
	}
}

// TestPlacements counts placements known by formula and checks that all differ.
func TestPlacements(t *testing.T) {
	for _, test := range []struct {
		servers, replicas []int
		want              int
	}{
		{[]int{4}, []int{3}, 1},
		{[]int{2, 2, 2}, []int{2}, 6},          // {2} three times, {1,1} three times
		{[]int{9, 9, 9}, []int{4, 3}, 15 * 10}, // C(6,2)·C(5,2): stages are independent
		{[]int{2, 1}, []int{1, 2}, 2},          // the server of one holds either stage
		{[]int{3, 3}, []int{3, 2, 1}, 6},       // on the first server 3+0+0, 2+1+0, 1+2+0, 2+0+1, 1+1+1 or 0+2+1
		{[]int{1}, []int{2}, 0},
	} {
		j := sched.Job{Weight: 1, Iters: 1}
		for _, k := range test.replicas {
			j.Stages = append(j.Stages, sched.Stage{Replicas: k, Compute: 1})
		}
		in := &sched.Instance{Cluster: schedtest.Servers(test.servers...), Jobs: []sched.Job{j}}
		got := schedtest.Placements(in, 0)
		seen := map[string]bool{}
		for _, p := range got {
			seen[fmt.Sprint(p.Shares)] = true
			if _, err := in.RunTime(0, &p); err != nil {
				t.Errorf("%v: %v", p, err)
			}
		}
		if len(got) != test.want || len(seen) != len(got) {
			t.Errorf("%v on %v: %d placements, %d of them distinct, want %d", test.replicas, test.servers, len(got), len(seen), test.want)
		}
	}
}

func TestRandomSchedulesAreLegal(t *testing.T) {
	large := schedtest.Shape{Jobs: 60, Servers: 8, GPUs: 8, Stages: 4, Traffic: true, Weights: true, Span: true}
	for _, generate := range models() {
		for seed := range uint64(10) {
			r := schedtest.Rand(seed)
			in := generate(r, large)
			schedtest.Verify(t, in, schedtest.RandomSchedule(r, in))
		}
	}
	each(t, 20, func(t *testing.T, r *rand.Rand, in *sched.Instance, _ schedtest.Shape) {
		schedtest.Verify(t, in, schedtest.RandomSchedule(r, in))
	})
}

// TestBruteForceByHand solves instances whose optimum is known.
func TestBruteForceByHand(t *testing.T) {
	plain := func(servers []int, jobs ...sched.Job) *sched.Instance {
		return schedtest.Plain(schedtest.Servers(servers...), jobs...)
	}
	weighted := plain([]int{1}, schedtest.Job(0, 1, 3), schedtest.Job(0, 1, 1))
	weighted.Jobs[0].Weight = 4
	deadline := plain([]int{1}, schedtest.Job(0, 1, 3), schedtest.Job(0, 1, 2), schedtest.Job(0, 1, 2))
	deadline.Deadline, deadline.Jobs[0].Weight = 4, 1.5
	loading := plain([]int{1}, schedtest.Job(0, 1, 3))
	loading.Jobs[0].Load = 2
	for _, test := range []struct {
		name string
		in   *sched.Instance
		obj  sched.Objective
		want int64
	}{
		{"shortest first", plain([]int{1}, schedtest.Job(0, 1, 5), schedtest.Job(0, 1, 2), schedtest.Job(0, 1, 3)), sched.TotalCompletion, 2 + 5 + 10},
		{"waiting pays", plain([]int{1}, schedtest.Job(0, 1, 10), schedtest.Job(1, 1, 1)), sched.TotalCompletion, 2 + 12},
		{"flow time", plain([]int{1}, schedtest.Job(0, 1, 10), schedtest.Job(1, 1, 1)), sched.TotalJCT, 1 + 12},
		{"weight over time", weighted, sched.WeightedCompletion, 4*3 + 4},
		{"two machines", plain([]int{1, 1}, schedtest.Job(0, 1, 3), schedtest.Job(0, 1, 3), schedtest.Job(0, 1, 2), schedtest.Job(0, 1, 2), schedtest.Job(0, 1, 2)), sched.Makespan, 6},
		{"a gang spans servers", plain([]int{2, 2}, schedtest.Job(0, 3, 4), schedtest.Job(0, 1, 4), schedtest.Job(0, 2, 1)), sched.Makespan, 5},
		{"load", loading, sched.TotalCompletion, 5},
		{"two of three by the deadline", deadline, sched.ScheduledWeight, 2},
	} {
		s, cost := schedtest.BruteForce(test.in, test.obj)
		if cost.Cmp(new(big.Rat).SetInt64(test.want)) != 0 {
			t.Errorf("%s: %v is %v, want %d", test.name, test.obj, cost, test.want)
		}
		if v := schedtest.Verify(t, test.in, s); v.Cost(test.obj).Cmp(cost) != 0 {
			t.Errorf("%s: the schedule costs %v, not %v", test.name, v.Cost(test.obj), cost)
		}
	}
	// The first job moves nothing and spans both servers at no cost, so that the
	// second, whose AllReduce of 2 GB takes 2 s within a server and 6 s through
	// a third of the larger one's network card, finds both its GPUs on one.
	in := plain([]int{3, 1}, schedtest.Job(0, 2, 2*sched.Second), schedtest.Job(sched.Second, 2, sched.Second))
	in.Jobs[1].Stages[0].Params = 2e9
	s, cost := schedtest.BruteForce(in, sched.Makespan)
	if len(s.Segments[0].Place.Shares) != 2 || len(s.Segments[1].Place.Shares) != 1 || cost.Cmp(new(big.Rat).SetInt64(4e6)) != 0 {
		t.Errorf("placement: makespan %v of %+v", cost, s)
	}
}

// TestBruteForceAgainstGrid compares it on instances with whole slots with all
// schedules whose starts are whole slots, checked one by one. With integer
// data some optimal schedule is among them.
func TestBruteForceAgainstGrid(t *testing.T) {
	shape := schedtest.Shape{Jobs: 3, Servers: 2, GPUs: 2, Stages: 2, Slot: 1}
	objectives := sched.Objectives()
	for seed := range uint64(12) {
		r := schedtest.Rand(seed)
		in := schedtest.Gang(r, shape)
		in.Deadline = sched.Time(4 + r.IntN(4))
		best := map[sched.Objective]*big.Rat{}
		horizon := sched.Time(0) // all one after the other
		for id := range in.Jobs {
			j := &in.Jobs[id]
			j.Release, j.Iters = sched.Time(r.IntN(3)), 1
			j.Load = sched.Time(r.IntN(2))
			longest := sched.Time(0)
			for _, p := range schedtest.Placements(in, sched.JobID(id)) {
				d, err := in.RunTime(sched.JobID(id), &p)
				if err != nil {
					t.Fatal(err)
				}
				longest = max(longest, j.Load+d)
			}
			horizon = max(horizon, j.Release) + longest
		}
		s := &sched.Schedule{Class: sched.Class{Kind: sched.N}}
		var try func(id int)
		try = func(id int) {
			if id == len(in.Jobs) {
				v, err := verify.Check(in, s)
				if err != nil {
					return
				}
				for _, o := range objectives {
					cost := v.Cost(o)
					if best[o] == nil || cost.Cmp(best[o]) != 0 && (cost.Cmp(best[o]) < 0) != o.Maximised() {
						best[o] = cost
					}
				}
				return
			}
			j := &in.Jobs[id]
			for _, p := range schedtest.Placements(in, sched.JobID(id)) {
				d, err := in.RunTime(sched.JobID(id), &p)
				if err != nil {
					t.Fatal(err)
				}
				for start := j.Release; start+j.Load+d <= horizon; start++ {
					before := len(s.Segments)
					if j.Load > 0 {
						s.Segments = append(s.Segments, sched.Segment{Job: sched.JobID(id), Start: start, End: start + j.Load, Phase: sched.Load, Place: p})
					}
					s.Segments = append(s.Segments, sched.Segment{Job: sched.JobID(id), Start: start + j.Load, End: start + j.Load + d, Place: p})
					try(id + 1)
					s.Segments = s.Segments[:before]
				}
			}
		}
		try(0)
		for _, o := range objectives {
			if _, cost := schedtest.BruteForce(in, o); cost.Cmp(best[o]) != 0 {
				t.Errorf("seed %d: %v is %v, all schedules on the grid say %v\n%+v", seed, o, cost, best[o], in)
			}
		}
	}
}

// TestRelations checks every transformation's effect on the optimum, and that
// no random schedule beats it.
func TestRelations(t *testing.T) {
	each(t, 4, func(t *testing.T, r *rand.Rand, in *sched.Instance, shape schedtest.Shape) {
		in.Deadline = 20 * max(shape.Slot, sched.Second/20)
		for _, o := range sched.Objectives() {
			s, opt := schedtest.BruteForce(in, o)
			if v := schedtest.Verify(t, in, s); v.Cost(o).Cmp(opt) != 0 {
				t.Fatalf("%v: the schedule costs %v, not %v", o, v.Cost(o), opt)
			}
			worse := func(a, b *big.Rat) bool { return a.Cmp(b) != 0 && (a.Cmp(b) > 0) != o.Maximised() }
			optimum := func(in *sched.Instance) *big.Rat { _, cost := schedtest.BruteForce(in, o); return cost }
			for range 5 {
				if v := schedtest.Verify(t, in, schedtest.RandomSchedule(r, in)); worse(opt, v.Cost(o)) {
					t.Errorf("%v: a random schedule costs %v, the optimum %v", o, v.Cost(o), opt)
				}
			}
			if got := optimum(schedtest.PermuteJobs(in, r.Perm(len(in.Jobs)))); got.Cmp(opt) != 0 {
				t.Errorf("%v: %v with the jobs in another order, was %v", o, got, opt)
			}
			if got := optimum(schedtest.PermuteServers(in, r.Perm(len(in.Cluster.Servers)))); got.Cmp(opt) != 0 {
				t.Errorf("%v: %v with the servers in another order, was %v", o, got, opt)
			}
			if len(in.Cluster.Servers) < 3 {
				if got := optimum(schedtest.AddServer(in, sched.Server{GPUs: 1, GPUMemory: 1000})); worse(got, opt) {
					t.Errorf("%v: %v with a server more, was %v", o, got, opt)
				}
			}
			const k, d = 3, 1000
			scaled := new(big.Rat).Set(opt)
			if o.IsTime() {
				scaled.Mul(scaled, big.NewRat(k, 1))
			}
			if got := optimum(schedtest.Scale(in, k)); worse(got, scaled) || shape.Slot > 0 && got.Cmp(scaled) != 0 {
				t.Errorf("%v: %v with times scaled by %d, was %v", o, got, k, opt)
			}
			later := new(big.Rat)
			switch o {
			case sched.TotalCompletion:
				later.SetInt64(int64(d * len(in.Jobs)))
			case sched.WeightedCompletion:
				for _, j := range in.Jobs {
					later.Add(later, big.NewRat(int64(d*j.Weight), 1))
				}
			case sched.Makespan:
				later.SetInt64(d)
			}
			if got := optimum(schedtest.ShiftReleases(in, d)); got.Cmp(later.Add(later, opt)) != 0 {
				t.Errorf("%v: %v with releases later by %d, was %v", o, got, d, opt)
			}
		}
	})
}

// TestTransformationsCopy checks that no transformation changes what it is given.
func TestTransformationsCopy(t *testing.T) {
	for name, generate := range models() {
		in, original := generate(schedtest.Rand(1), shapes()["pipeline"]), generate(schedtest.Rand(1), shapes()["pipeline"])
		schedtest.Scale(in, 3)
		schedtest.PermuteJobs(in, []int{2, 0, 1})
		schedtest.PermuteServers(in, []int{1, 0})
		schedtest.AddServer(in, sched.Server{GPUs: 2})
		schedtest.ShiftReleases(in, 5)
		if !reflect.DeepEqual(in, original) {
			t.Errorf("%s: the instance changed", name)
		}
	}
}
