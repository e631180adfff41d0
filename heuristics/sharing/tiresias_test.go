package sharing_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/heuristics/sharing"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// clockwork replays Tiresias a microsecond at a time, on one pool of GPUs.
type clockwork struct {
	o    sharing.LAS
	gpus int
	jobs []*ticking
	now  int
}

type ticking struct {
	id, release, gang, load, pause int
	left, attained                 int
	state                          byte // - hidden, Q waiting, N chosen but not yet started, L, T, P, F
	since, queue, end, preempted   int
}

func (s *clockwork) free() int {
	n := s.gpus
	for _, j := range s.jobs {
		if j.state == 'L' || j.state == 'T' || j.state == 'P' {
			n -= j.gang
		}
	}
	return n
}

func (s *clockwork) in(states string) []*ticking {
	var list []*ticking
	for _, j := range s.jobs {
		if slices.Contains([]byte(states), j.state) {
			list = append(list, j)
		}
	}
	slices.SortFunc(list, func(a, b *ticking) int {
		return cmp.Or(cmp.Compare(a.queue, b.queue), cmp.Compare(a.release, b.release), cmp.Compare(a.id, b.id))
	})
	return list
}

func (s *clockwork) fill(state string) {
	for _, j := range s.in(state) {
		if j.gang <= s.free() {
			j.state, j.since = 'L', s.now
		}
	}
}

func (s *clockwork) tick() {
	for _, j := range s.in("LT") {
		j.queue = 0
		for _, t := range s.o.Thresholds {
			if j.attained >= int(t) {
				j.queue++
			}
		}
	}
	budget := s.gpus
	for _, j := range s.in("P") {
		budget -= j.gang
	}
	for _, j := range s.in("LTQN") {
		runs := j.state == 'L' || j.state == 'T'
		switch fits := j.gang <= budget; {
		case fits && !runs:
			j.state = 'N'
		case !fits && runs:
			trained := j.state == 'T' && j.since < s.now
			j.state, j.since = 'P', s.now
			if !trained {
				j.since -= j.pause // over at once
			}
			j.preempted++
		case !fits:
			j.state = 'Q'
		}
		if j.gang <= budget {
			budget -= j.gang
		}
	}
}

func (s *clockwork) run() {
	for ; slices.ContainsFunc(s.jobs, func(j *ticking) bool { return j.state != 'F' }); s.now++ {
		event := false
		for _, j := range s.jobs {
			switch {
			case j.state == 'T' && j.left == 0:
				j.state, j.end, event = 'F', s.now, true
			case j.state == 'P' && s.now >= j.since+j.pause:
				j.state, event = 'Q', true
			case j.state == '-' && j.release == s.now:
				j.state, event = 'Q', true
			}
		}
		for _, j := range s.jobs {
			if j.state == 'L' && s.now == j.since+j.load {
				j.state, j.since, event = 'T', s.now, true
			}
		}
		if s.now%int(s.o.Interval) == 0 {
			s.tick()
			event = true
		}
		for event {
			s.fill("N")
			if len(s.in("N")) == 0 {
				s.fill("Q")
			}
			for _, j := range s.jobs {
				if j.state == 'L' && j.load == 0 {
					j.state = 'T'
				}
			}
			event = false
			for _, j := range s.in("P") {
				if s.now >= j.since+j.pause {
					j.state, event = 'Q', true
				}
			}
		}
		for _, j := range s.in("T") {
			j.left--
			j.attained += j.gang
		}
	}
}

// TestTiresias compares completions and preemptions with the clockwork.
func TestTiresias(t *testing.T) {
	preempted := 0
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 2))
		s := &clockwork{gpus: 1 + rng.IntN(6), o: sharing.LAS{Interval: sched.Time(1 + rng.IntN(5)), Placement: sim.Pool}}
		threshold := sched.Time(0)
		for range rng.IntN(4) {
			threshold += sched.Time(1 + rng.IntN(12))
			s.o.Thresholds = append(s.o.Thresholds, threshold)
		}
		if err := s.o.Validate(); err != nil {
			t.Fatal(err)
		}
		in := &sched.Instance{Name: "pool", Model: sched.ModelPreemptive, Cluster: schedtest.Servers(s.gpus)}
		release := 0
		for i := range 2 + rng.IntN(8) {
			release += rng.IntN(6)
			c := &ticking{id: i, release: release, gang: 1 + rng.IntN(s.gpus), load: rng.IntN(3), pause: rng.IntN(3), left: 1 + rng.IntN(15), state: '-'}
			s.jobs = append(s.jobs, c)
			j := schedtest.Job(sched.Time(c.release), c.gang, 1)
			j.Iters, j.Load, j.Pause = int64(c.left), sched.Time(c.load), sched.Time(c.pause)
			in.Jobs = append(in.Jobs, j)
		}
		s.run()
		v := replay(t, in, sharing.NewTiresias(s.o), sim.Options{})
		for i, j := range v.Jobs() {
			if j.Completion != sched.Time(s.jobs[i].end) || j.Preemptions != s.jobs[i].preempted {
				t.Fatalf("seed %d, %+v: job %d ends at %v after %d preemptions, want %d after %d", seed, s.o, i, j.Completion, j.Preemptions, s.jobs[i].end, s.jobs[i].preempted)
			}
			preempted += j.Preemptions
		}
	}
	if preempted < 500 {
		t.Errorf("only %d preemptions", preempted)
	}
}

// TestTiresiasSlotted: in a slotted run that misses the multiples of the
// interval, jobs are preempted all the same.
func TestTiresiasSlotted(t *testing.T) {
	long, short := schedtest.Job(0, 2, 70), schedtest.Job(7, 2, 7)
	in := &sched.Instance{Name: "slots", Model: sched.ModelPreemptive, Slot: 7, Cluster: schedtest.Servers(2), Jobs: []sched.Job{long, short}}
	o := sharing.LAS{Thresholds: []sched.Time{10}, Interval: 5}
	v := replay(t, in, sharing.NewTiresias(o), sim.Options{Slotted: true})
	if jobs := v.Jobs(); jobs[0].Preemptions != 1 || jobs[1].Completion >= jobs[0].Completion {
		t.Errorf("%+v", jobs)
	}
}

// TestLASValidate: settings that make no sense are refused.
func TestLASValidate(t *testing.T) {
	for _, o := range []sharing.LAS{{}, {Interval: -1}, {Interval: 1, Thresholds: []sched.Time{0}}, {Interval: 1, Thresholds: []sched.Time{5, 5}}} {
		if o.Validate() == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	if o := sharing.DefaultLAS(); o.Validate() != nil {
		t.Error("the default is refused")
	}
}
