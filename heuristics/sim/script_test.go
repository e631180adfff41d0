package sim_test

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// script is a policy that does what it is told at given times and notes what
// it sees.
type script struct {
	kind  sched.Kind
	steps map[sched.Time][]sim.Decision // one per call at that time
	look  func(*sim.View) error
	log   []string
}

func (s *script) Name() string       { return "script" }
func (s *script) Class() sched.Class { return sched.Class{Kind: s.kind} }

func (s *script) Decide(v *sim.View) (sim.Decision, error) {
	line := fmt.Sprintf("%d:", v.Now())
	for i, list := range [][]sched.JobID{v.Arrived(), v.Completed(), v.Paused()} {
		if len(list) > 0 {
			line += fmt.Sprintf(" %s%v", []string{"arrived", "completed", "paused"}[i], list)
		}
	}
	s.log = append(s.log, line)
	if s.look != nil {
		if err := s.look(v); err != nil {
			return sim.Decision{}, err
		}
	}
	todo := s.steps[v.Now()]
	if len(todo) == 0 {
		return sim.Decision{}, nil
	}
	s.steps[v.Now()] = todo[1:]
	return todo[0], nil
}

// on returns a placement from pairs of server and GPUs.
func on(pairs ...int) sched.Placement {
	var p sched.Placement
	for i := 0; i < len(pairs); i += 2 {
		p.Shares = append(p.Shares, sched.Share{Server: pairs[i], GPUs: pairs[i+1]})
	}
	return p
}

// gpus returns a placement on devices of server 0.
func gpus(devices ...int) sched.Placement {
	return sched.Placement{Shares: []sched.Share{{Server: 0, GPUs: len(devices), Devices: devices}}}
}

func start(id sched.JobID, p sched.Placement) sim.Assignment {
	return sim.Assignment{Job: id, Place: p}
}

// job returns a job of one stage that trains for the given time anywhere.
func job(release sched.Time, gang int, train sched.Time) sched.Job {
	return sched.Job{Release: release, Weight: 1, Iters: int64(train), Stages: []sched.Stage{{Replicas: gang, Compute: 1000}}}
}

func instance(model sched.Model, servers, perServer int, jobs ...sched.Job) *sched.Instance {
	return &sched.Instance{Name: "example", Model: model, Cluster: sched.Uniform(servers, perServer, 1e9, 1e10), Jobs: jobs}
}

// replay runs the script and returns the verified schedule, its segments as
// text, one per line, and the result.
func replay(t *testing.T, in *sched.Instance, s *script, o sim.Options) (*verify.Verified, string, *sim.Result) {
	t.Helper()
	r, err := sim.Run(context.Background(), in, s, o)
	if err != nil {
		t.Fatal(err)
	}
	v, err := verify.Check(in, r.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, seg := range r.Schedule.Segments {
		fmt.Fprintf(&b, "%d %v [%d,%d)\n", seg.Job, seg.Phase, seg.Start, seg.End)
	}
	return v, b.String(), r
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if strip := func(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\t", "") }; strip(got) != strip(want) {
		t.Fatalf("%s:\n%s\nwant:\n%s", what, strip(got), strip(want))
	}
}

// TestLoadAndTrain: one call per instant, after all that happens in it. At 5
// job 0 ends, job 1 arrives and job 2's load ends.
func TestLoadAndTrain(t *testing.T) {
	loads := job(0, 1, 4)
	loads.Load = 5
	in := instance(sched.ModelGang, 1, 2, job(0, 1, 5), job(5, 1, 1), loads)
	s := &script{kind: sched.N, steps: map[sched.Time][]sim.Decision{
		0: {{Start: []sim.Assignment{start(2, on(0, 1)), start(0, on(0, 1))}}},
		5: {{Start: []sim.Assignment{start(1, on(0, 1))}, Wake: 7}},
	}}
	_, segments, r := replay(t, in, s, sim.Options{})
	expect(t, "segments", segments, `
		0 train [0,5)
		2 load [0,5)
		1 train [5,6)
		2 train [5,9)`)
	expect(t, "log", strings.Join(s.log, "\n"), `
		0: arrived[0 2]
		5: arrived[1] completed[0]
		6: completed[1]
		9: completed[2]`)
	if r.Events != 3+4 || r.Decisions != 4 || r.Preemptions != 0 {
		t.Fatalf("%d events and %d decisions", r.Events, r.Decisions)
	}
}

// TestWake: each decision replaces the wake-up, and one that comes with an
// event is the same call.
func TestWake(t *testing.T) {
	in := instance(sched.ModelGang, 1, 1, job(0, 1, 3))
	s := &script{kind: sched.N, steps: map[sched.Time][]sim.Decision{
		0: {{Wake: 2}},
		2: {{Wake: 9}},
		9: {{Start: []sim.Assignment{start(0, on(0, 1))}, Wake: 12}},
	}}
	replay(t, in, s, sim.Options{})
	expect(t, "log", strings.Join(s.log, "\n"), "0: arrived[0]\n2:\n9:\n12: completed[0]")
}

// TestPreempt: a job trains 3 of 10, saves for 2 while it holds its GPUs,
// loads again elsewhere and trains the rest. A load of another job is aborted
// after 1 of 4, and again when it has just ended.
func TestPreempt(t *testing.T) {
	a, b := job(0, 1, 10), job(0, 1, 2)
	a.Load, a.Pause = 1, 2
	b.Load, b.Pause = 4, 3
	in := instance(sched.ModelPreemptive, 2, 1, a, b)
	s := &script{kind: sched.P, steps: map[sched.Time][]sim.Decision{
		0: {{Start: []sim.Assignment{start(0, on(0, 1)), start(1, on(1, 1))}, Wake: 1}},
		1: {{Preempt: []sched.JobID{1}}, {Wake: 4}},
		4: {{Preempt: []sched.JobID{0}}},
		6: {{Start: []sim.Assignment{start(0, on(1, 1)), start(1, on(0, 1))}}},
		// Job 1's load ends: preempting it now loses the whole load.
		10: {{Preempt: []sched.JobID{1}}, {Start: []sim.Assignment{start(1, on(0, 1))}}},
	}}
	s.look = func(v *sim.View) error {
		if v.Now() != 5 && v.Now() != 6 && v.Now() != 10 {
			return nil
		}
		p, err := v.Progress(0)
		if want := map[sched.Time]int64{6: 3, 10: 3 + 3}[v.Now()]; err != nil || p.Cmp(big.NewRat(want, 1)) != 0 {
			return fmt.Errorf("progress %v, want %d: %w", p, want, err)
		}
		return nil
	}
	v, segments, r := replay(t, in, s, sim.Options{})
	expect(t, "segments", segments, `
		0 load [0,1)
		1 load [0,1)
		0 train [1,4)
		0 pause [4,6)
		0 load [6,7)
		1 load [6,10)
		0 train [7,14)
		1 load [10,14)
		1 train [14,16)`)
	expect(t, "log", strings.Join(s.log, "\n"), `
		0: arrived[0 1]
		1:
		1: paused[1]
		4:
		6: paused[0]
		7:
		10:
		10: paused[1]
		14: completed[0]
		16: completed[1]`)
	if r.Preemptions != 3 || r.Futile != 2 || r.FutileTime != 5 || r.FutileGPUTime != 5 {
		t.Fatalf("%d preemptions, %d futile, %v", r.Preemptions, r.Futile, r.FutileTime)
	}
	if j := v.Jobs()[1]; j.AbortedLoads != 2 || j.Futile != 5 {
		t.Fatalf("the verifier sees %+v", j)
	}
}

// TestMigrate: with nothing to load or save a job moves in an instant. Its
// AllReduce of A = 2(k−1)/k·h = 1000 bytes takes 100 ns within one server, and
// 2000 ns over two, where each replica owns half of a card. So an iteration
// takes 1.1 or 3 µs: after 7 µs on one server 70/11 of 10 iterations are done,
// and the other 40/11 take 120/11 µs on two, rounded up to 11.
func TestMigrate(t *testing.T) {
	j := job(0, 2, 10)
	j.Stages[0].Params = 1000
	in := instance(sched.ModelPreemptive, 2, 2, j)
	s := &script{kind: sched.P, steps: map[sched.Time][]sim.Decision{
		0: {{Start: []sim.Assignment{start(0, on(0, 2))}, Wake: 7}},
		7: {{Preempt: []sched.JobID{0}}, {Start: []sim.Assignment{start(0, on(0, 1, 1, 1))}}},
	}}
	s.look = func(v *sim.View) error {
		if v.Now() != 7 {
			return nil
		}
		if p, err := v.Progress(0); err != nil || p.Cmp(big.NewRat(70, 11)) != 0 {
			return fmt.Errorf("progress %v: %w", p, err)
		}
		return nil
	}
	_, segments, _ := replay(t, in, s, sim.Options{})
	expect(t, "segments", segments, "0 train [0,7)\n0 train [7,18)")
}

func sharing(xi [][]float64, jobs ...sched.Job) *sched.Instance {
	in := instance(sched.ModelSharing, 1, 2, jobs...)
	in.Interference = xi
	in.Cluster.Servers[0].GPUMemory = 10
	for i := range in.Jobs {
		in.Jobs[i].Sharing = &sched.Sharing{Task: i % len(xi), Accumulation: []sched.Accumulation{{Steps: 1, Iter: 1000, Memory: 4}, {Steps: 2, Iter: 1500, Memory: 2}}}
	}
	return in
}

// TestShare: a job of 1 s joins one of 10 s at once. With xi = 2.5 for both it
// ends at 2.5 s and the other at 10 + 2.5·(1 − 1/2.5) = 11.5 s: the sum of 14 s
// beats the 21 s of running one after the other.
func TestShare(t *testing.T) {
	in := sharing([][]float64{{2.5}}, job(0, 1, 10*sched.Second), job(0, 1, sched.Second))
	s := &script{kind: sched.S, steps: map[sched.Time][]sim.Decision{
		0: {{Start: []sim.Assignment{start(0, gpus(0)), start(1, gpus(0))}}},
	}}
	_, segments, _ := replay(t, in, s, sim.Options{})
	expect(t, "segments", segments, "0 train [0,11500000)\n1 train [0,2500000)")
}

// TestShareWithTwo: job 0 holds both GPUs and has a partner on each; the worse
// one sets its pace. Rates per µs: [0,3) alone; [3,7) beside job 1, 1/1.5;
// then beside both, 1/3, until job 2, whose 2 iterations of 1.5 µs at xi 1.25
// take 3.75 µs, ends at 11 (rounded up); then 1/1.5 until job 1 ends. Job 1
// starts at 3 and needs 10·2 = 20 µs: it ends at 23. Job 0 has done
// 3 + 4/1.5 + 4/3 + 12/1.5 = 15 then, and 5 are left: it ends at 28.
func TestShareWithTwo(t *testing.T) {
	xi := [][]float64{{1, 1.5, 3}, {2, 1, 1}, {1.25, 1, 1}}
	in := sharing(xi, job(0, 2, 20), job(3, 1, 10), job(7, 1, 2))
	small := gpus(1)
	small.Config = &sched.Config{Accumulation: 2}
	s := &script{kind: sched.S, steps: map[sched.Time][]sim.Decision{
		0: {{Start: []sim.Assignment{start(0, gpus(0, 1))}}},
		3: {{Start: []sim.Assignment{start(1, gpus(0))}}},
		7: {{Start: []sim.Assignment{start(2, small)}}},
	}}
	s.look = func(v *sim.View) error {
		c := v.Cluster()
		var got []string
		for d := range 2 {
			got = append(got, fmt.Sprint(c.On(0, d)))
		}
		want := map[sched.Time]string{0: "[] []", 3: "[0] [0]", 7: "[0 1] [0]", 11: "[0 1] [0]", 23: "[0] [0]", 28: "[] []"}[v.Now()]
		if strings.Join(got, " ") != want {
			return fmt.Errorf("GPUs hold %v, want %v", got, want)
		}
		return nil
	}
	_, segments, _ := replay(t, in, s, sim.Options{})
	expect(t, "segments", segments, "0 train [0,28)\n1 train [3,23)\n2 train [7,11)")
}

// TestShareSlotted: as TestShare in µs with slots of 4. Job 1 needs until 2.5,
// and leaves at 4. Job 0 has done 4/2.5 = 1.6 of 10 then, and leaves at 12.4
// rounded up to 16.
func TestShareSlotted(t *testing.T) {
	in := sharing([][]float64{{2.5}}, job(0, 1, 10), job(0, 1, 1))
	in.Slot = 4
	s := &script{kind: sched.S, steps: map[sched.Time][]sim.Decision{
		0: {{Start: []sim.Assignment{start(0, gpus(0)), start(1, gpus(0))}}},
	}}
	_, segments, _ := replay(t, in, s, sim.Options{Slotted: true})
	expect(t, "segments", segments, "0 train [0,16)\n1 train [0,4)")
}

// TestSlotted: arrivals at 1 and 4, the end of a load at 6 and a pause that
// ends at 14 are seen at 4, 4, 8 and 16.
func TestSlotted(t *testing.T) {
	a := job(1, 1, 9)
	a.Load, a.Pause = 2, 2
	in := instance(sched.ModelPreemptive, 1, 1, a, job(4, 1, 1))
	in.Slot = 4
	s := &script{kind: sched.P, steps: map[sched.Time][]sim.Decision{
		4:  {{Start: []sim.Assignment{start(0, on(0, 1))}}},
		8:  {{Wake: 9}},
		12: {{Preempt: []sched.JobID{0}}},
		16: {{Start: []sim.Assignment{start(1, on(0, 1))}}},
		20: {{Start: []sim.Assignment{start(0, on(0, 1))}}},
	}}
	_, segments, r := replay(t, in, s, sim.Options{Slotted: true})
	expect(t, "segments", segments, `
		0 load [4,6)
		0 train [6,12)
		0 pause [12,14)
		1 train [16,20)
		0 load [20,22)
		0 train [22,28)`)
	expect(t, "log", strings.Join(s.log, "\n"), `
		4: arrived[0 1]
		8:
		12:
		16: paused[0]
		20: completed[1]
		24:
		28: completed[0]`)
	if want := (sched.Class{Kind: sched.P, Slotted: true}); r.Schedule.Class != want {
		t.Fatalf("class %v, want %v", r.Schedule.Class, want)
	}
}

// TestOrderOfArrivals: by release, then index, whatever the order in the
// instance.
func TestOrderOfArrivals(t *testing.T) {
	in := instance(sched.ModelGang, 1, 4, job(9, 1, 1), job(0, 1, 1), job(9, 1, 1), job(0, 1, 1))
	var order []sched.JobID
	s := &script{kind: sched.N, steps: map[sched.Time][]sim.Decision{
		0: {{Start: []sim.Assignment{start(3, on(0, 1)), start(1, on(0, 1))}}},
		9: {{Start: []sim.Assignment{start(0, on(0, 1)), start(2, on(0, 1))}}},
	}}
	s.look = func(v *sim.View) error {
		order = append(order, v.Arrived()...)
		return nil
	}
	_, segments, _ := replay(t, in, s, sim.Options{})
	expect(t, "segments", segments, "1 train [0,1)\n3 train [0,1)\n0 train [9,10)\n2 train [9,10)")
	if !slices.Equal(order, []sched.JobID{1, 3, 0, 2}) {
		t.Fatalf("jobs arrived in order %v", order)
	}
}

// TestClock: a clock that advances by 1 µs per reading.
func TestClock(t *testing.T) {
	now := time.Duration(0)
	in := instance(sched.ModelGang, 1, 1, job(0, 1, 1))
	s := &script{kind: sched.N, steps: map[sched.Time][]sim.Decision{0: {{Start: []sim.Assignment{start(0, on(0, 1))}}}}}
	_, _, r := replay(t, in, s, sim.Options{Clock: func() time.Duration { now += time.Microsecond; return now }})
	if low, high := time.Microsecond, 17*time.Microsecond/16; r.DecisionP50 < low || r.DecisionP99 > high {
		t.Fatalf("decisions took %v and %v, want %v", r.DecisionP50, r.DecisionP99, low)
	}
}
