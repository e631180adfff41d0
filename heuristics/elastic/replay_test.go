package elastic_test

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"yardstick/heuristics/elastic"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/sched/verify"
)

func replay(t testing.TB, in *sched.Instance, p sim.Policy) (*sim.Result, *verify.Verified) {
	t.Helper()
	r, err := sim.Run(context.Background(), in, p, sim.Options{})
	if err != nil {
		t.Fatalf("%v\n%+v", err, in)
	}
	return r, schedtest.Verify(t, in, r.Schedule)
}

// script is a policy made of a function.
type script struct {
	class  sched.Class
	decide func(v *sim.View) (sim.Decision, error)
}

func (s *script) Name() string                                 { return "script" }
func (s *script) Class() sched.Class                           { return s.class }
func (s *script) Decide(v *sim.View) (d sim.Decision, _ error) { return s.decide(v) }

var (
	es  = sched.Class{Kind: sched.E, Slotted: true}
	eps = sched.Class{Kind: sched.EP, Slotted: true}
)

// chance is a policy that starts and stops jobs at random, on random choices of
// all that the model allows.
func chance(r *rand.Rand, in *sched.Instance, class sched.Class, preemptions int) sim.Policy {
	var waiting []sched.JobID
	running := map[sched.JobID]bool{}
	return &script{class, func(v *sim.View) (d sim.Decision, err error) {
		waiting = append(append(waiting, v.Arrived()...), v.Paused()...)
		for _, id := range v.Completed() {
			delete(running, id)
		}
		free := make([][]int64, len(v.Free()))
		for h := range free {
			free[h] = slices.Clone(v.Free()[h])
		}
		for id := range in.Jobs {
			id := sched.JobID(id)
			if !running[id] || preemptions == 0 || r.IntN(3) > 0 {
				continue
			}
			if at, _, _ := v.Started(id); at == v.Now() {
				continue
			}
			preemptions--
			delete(running, id)
			d.Preempt = append(d.Preempt, id)
			state, err := v.State(id)
			if err != nil || state != sim.Training && state != sim.Loading {
				return d, errors.New("it does not run")
			}
			left, err := v.Remaining(id)
			if err != nil || left.Sign() <= 0 || left.Cmp(new(big.Rat).SetInt64(in.Jobs[id].Elastic.Batches)) > 0 {
				return d, errors.New("nothing is left to do")
			}
		}
		waiting = slices.DeleteFunc(waiting, func(id sched.JobID) bool {
			all := schedtest.ElasticChoices(v.Known(), id)
			p := all[r.IntN(len(all))].Place
			if r.IntN(3) == 0 || !fitsIn(in, free, &p) {
				return false
			}
			for i := range p.Shares {
				for k := range free[p.Shares[i].Server] {
					free[p.Shares[i].Server][k] -= in.ElasticDemand(&p, i, k)
				}
			}
			d.Start = append(d.Start, sim.Assignment{Job: id, Place: p})
			running[id] = true
			return true
		})
		if len(waiting) > 0 || preemptions > 0 {
			d.Wake = v.Now() + sched.Time(1+r.Int64N(3))*v.Slot()
		}
		return d, nil
	}}
}

// overheads gives jobs loads and pauses, not in whole slots.
func overheads(r *rand.Rand, in *sched.Instance) {
	for i := range in.Jobs {
		in.Jobs[i].Load = sched.Time(r.IntN(3)) * 7 * sched.Second
		in.Jobs[i].Pause = sched.Time(r.IntN(2)) * sched.Time(r.IntN(25)) * sched.Second
	}
}

// TestReplayRandom: whatever a policy does, the schedule keeps the rules, and no
// job holds its containers for a slot more than it needs.
func TestReplayRandom(t *testing.T) {
	preemptions, futile := int64(0), int64(0)
	schedtest.EachSeed(t, 200, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Elastic(r, shape(r, 1+r.IntN(4)))
		class := []sched.Class{es, eps}[r.IntN(2)]
		most := 0
		if class.Kind == sched.EP {
			overheads(r, in)
			most = 12
		}
		result, _ := replay(t, in, chance(r, in, class, most))
		preemptions, futile = preemptions+result.Preemptions, futile+result.Futile
		if result.Decisions == 0 || result.Events < int64(2*len(in.Jobs)) || !result.Clairvoyant {
			t.Errorf("%+v", result)
		}
		for i := range in.Jobs {
			s := &sched.Schedule{Class: class, Segments: slices.Clone(result.Schedule.Segments)}
			last := -1
			for k := range s.Segments {
				if s.Segments[k].Job == sched.JobID(i) {
					last = k
				}
			}
			if s.Segments[last].End -= in.Slot; s.Segments[last].End <= s.Segments[last].Start {
				s.Segments = slices.Delete(s.Segments, last, last+1)
			}
			if _, err := verify.Check(in, s); err == nil {
				t.Errorf("job %d could do with a slot less\n%+v\n%+v", i, result.Schedule, in)
			}
		}
	})
	t.Logf("%d preemptions, %d of them futile", preemptions, futile)
	if preemptions < 100 || futile < 5 {
		t.Error("too few preemptions")
	}
}

// TestReplayScales: with all times multiplied, the same happens in every slot.
func TestReplayScales(t *testing.T) {
	schedtest.EachSeed(t, 40, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Elastic(r, shape(r, 4))
		overheads(r, in)
		scaled := schedtest.ScaleElastic(in, 3)
		for _, p := range []func() sim.Policy{func() sim.Policy { return elastic.FIFO(elastic.FIFOOptions{}) }, elastic.DRF,
			func() sim.Policy { return elastic.AntMan(1) }, elastic.Tiresias} {
			a, _ := replay(t, in, p())
			b, _ := replay(t, scaled, p())
			if len(a.Schedule.Segments) != len(b.Schedule.Segments) {
				t.Fatalf("%s: %+v and %+v", p().Name(), a.Schedule, b.Schedule)
			}
			for i, x := range a.Schedule.Segments {
				y := b.Schedule.Segments[i]
				if 3*x.Start != y.Start || 3*x.End != y.End || x.Job != y.Job || x.Phase != y.Phase {
					t.Fatalf("%s: %+v and %+v", p().Name(), x, y)
				}
			}
		}
	})
}

// lab is an instance by hand: one server of 4 GPUs, ring jobs whose workers take
// a GPU each and need 12 slots of one worker, whatever their number.
func lab(jobs ...sched.Job) *sched.Instance {
	in := &sched.Instance{Name: "lab", Model: sched.ModelElastic, Slot: sched.Second, Cluster: sched.Uniform(1, 4, 1e9, 1e9),
		Elastic: &sched.ElasticTypes{Resources: []string{"gpu", "bw"}, Bandwidth: 1, Workers: []sched.Container{{Demand: []int64{1, 1}}}}, Jobs: jobs}
	in.Cluster.Servers[0].Capacity = []int64{4, 100}
	return in
}

// ring needs the given number of slots of one worker.
func ring(release, slots int64, most int) sched.Job {
	return sched.Job{Release: sched.Time(release) * sched.Second, Weight: 1,
		Elastic: &sched.Elastic{Ring: true, MaxWorkers: most, Batches: slots, Train: []sched.Duration{1e9}, Update: []sched.Duration{0}}}
}

// workersOf lists the windows of a schedule as {job, first slot, end, workers}.
func workersOf(in *sched.Instance, s *sched.Schedule) (out [][4]int64) {
	for i := range s.Segments {
		x := &s.Segments[i]
		n := 0
		for k := range x.Place.Shares {
			n += x.Place.Shares[k].Stages[0]
		}
		if x.Phase == sched.Train {
			out = append(out, [4]int64{int64(x.Job), int64(x.Start / in.Slot), int64(x.End / in.Slot), int64(n)})
		}
	}
	return out
}

// TestRefusals: what a policy may not do, and how that is reported.
func TestRefusals(t *testing.T) {
	in := lab(ring(0, 12, 4), ring(3, 4, 4))
	place := func(n int) sched.Placement { return in.ElasticPlacement(0, 0, []int{n}, nil) }
	start := func(id sched.JobID, n int) sim.Decision {
		return sim.Decision{Start: []sim.Assignment{{Job: id, Place: place(n)}}}
	}
	for want, s := range map[string]*script{
		"cannot start job 1: no such job has been released": {es, func(v *sim.View) (sim.Decision, error) { return start(1, 1), nil }},
		"cannot start job 7: no such job has been released": {es, func(v *sim.View) (sim.Decision, error) { return start(7, 1), nil }},
		"class Es is not preemptive": {es, func(v *sim.View) (sim.Decision, error) {
			if v.Now() == 0 {
				return start(0, 1), nil
			}
			return sim.Decision{Preempt: []sched.JobID{0}}, nil
		}},
		"cannot start job 0: it is training": {es, func(v *sim.View) (sim.Decision, error) { return start(0, 1), nil }},
		"it needs 3 gpu of server 0, of which 2 are free": {es, func(v *sim.View) (sim.Decision, error) {
			if v.Now() == 0 {
				return start(0, 2), nil
			}
			return start(1, 3), nil
		}},
		"cannot preempt job 0: it is waiting": {eps, func(v *sim.View) (sim.Decision, error) {
			return sim.Decision{Preempt: []sched.JobID{0}}, nil
		}},
		"takes more than the 4 gpu": {es, func(v *sim.View) (sim.Decision, error) {
			d := start(0, 4)
			d.Start[0].Place.Shares[0].Stages[0] = 5
			in.Jobs[0].Elastic.MaxWorkers = 5
			return d, nil
		}},
		"woken at 3s, which must be later": {es, func(v *sim.View) (sim.Decision, error) {
			return sim.Decision{Wake: 3 * sched.Second}, nil
		}},
		"2 jobs are not done, job 0": {es, func(v *sim.View) (sim.Decision, error) { return sim.Decision{}, nil }},
		"nothing is left to happen":  {es, func(v *sim.View) (sim.Decision, error) { return sim.Decision{Wake: v.Now() + v.Slot()}, nil }},
		"own":                        {es, func(v *sim.View) (sim.Decision, error) { return sim.Decision{}, errors.New("own") }},
		"its jobs have no gang":      {sched.Class{Kind: sched.N, Slotted: true}, nil},
		"class E: ":                  {sched.Class{Kind: sched.E}, nil},
	} {
		_, err := sim.Run(context.Background(), in, s, sim.Options{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "sim: ") {
			t.Errorf("%v, want %q", err, want)
		}
		in = lab(ring(0, 12, 4), ring(3, 4, 4))
	}
	gang := schedtest.Plain(schedtest.Servers(2), schedtest.Job(0, 1, 5))
	if _, err := sim.Run(context.Background(), gang, elastic.DRF(), sim.Options{}); err == nil || !strings.Contains(err.Error(), "gang model") {
		t.Errorf("an instance of the gang model: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := sim.Run(ctx, in, elastic.DRF(), sim.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestHidden: jobs that are not released are not known, and those that never
// start may be left out by a deadline.
func TestHidden(t *testing.T) {
	in := lab(ring(0, 4, 4), ring(5, 4, 4), ring(2, 400, 4))
	in.Deadline = 20 * in.Slot
	var seen [][]int
	p := &script{es, func(v *sim.View) (d sim.Decision, _ error) {
		var known []int
		for i := range v.Known().Jobs {
			if v.Known().Jobs[i].Elastic != nil {
				known = append(known, i)
			}
			_, err := v.State(sched.JobID(i))
			if _, err2 := v.Remaining(sched.JobID(i)); errors.Is(err, sim.ErrHidden) != (v.Known().Jobs[i].Elastic == nil) || (err == nil) != (err2 == nil) {
				t.Errorf("job %d: %v, %v", i, err, err2)
			}
		}
		seen = append(seen, known)
		for _, id := range v.Arrived() {
			if id != 2 {
				d.Start = append(d.Start, sim.Assignment{Job: id, Place: in.ElasticPlacement(0, 0, []int{2}, nil)})
			}
		}
		return d, nil
	}}
	ticks := time.Duration(0)
	r, err := sim.Run(context.Background(), in, p, sim.Options{Clock: func() time.Duration { ticks += time.Second; return ticks }})
	if err != nil {
		t.Fatal(err)
	}
	v := schedtest.Verify(t, in, r.Schedule)
	if got := v.Cost(sched.ScheduledWeight); got.Cmp(big.NewRat(2, 1)) != 0 {
		t.Errorf("weight %v", got)
	}
	// Arrivals at 0, 2 and 5; completions at 2 and 7.
	if want := [][]int{{0}, {0, 2}, {0, 1, 2}, {0, 1, 2}}; !slices.EqualFunc(seen, want, slices.Equal[[]int]) {
		t.Errorf("known at the decisions: %v, want %v", seen, want)
	}
	if r.Decisions != 4 || r.Events != 5 || r.DecisionP50 < time.Second || r.DecisionP99 > time.Second*17/16 {
		t.Errorf("%+v", r)
	}
}
