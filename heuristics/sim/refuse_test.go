package sim_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// TestBadDecisions: each is refused with an error that names the policy, the
// time, the job and the reason.
func TestBadDecisions(t *testing.T) {
	at := func(now sched.Time, d ...sim.Decision) map[sched.Time][]sim.Decision {
		return map[sched.Time][]sim.Decision{now: d}
	}
	starts := func(a ...sim.Assignment) sim.Decision { return sim.Decision{Start: a} }
	// Two servers of 2 GPUs; job 0 of 1 GPU at 0, job 1 of 3 at 0, job 2 of two
	// stages at 5.
	gang := instance(sched.ModelGang, 2, 2, job(0, 1, 9), job(0, 3, 9), job(5, 2, 9))
	gang.Jobs[2].Stages = []sched.Stage{{Replicas: 1, Compute: 1}, {Replicas: 1, Compute: 1}}
	preemptive := instance(sched.ModelPreemptive, 2, 2, job(0, 1, 9), job(0, 3, 9), job(5, 2, 9))
	preemptive.Jobs[0].Pause = 5
	shared := sharing([][]float64{{2}}, job(0, 1, 9), job(0, 1, 9), job(0, 1, 9))
	twice := []sched.JobID{0, 0}
	named, config := on(0, 1), gpus(0)
	named.Shares[0].Devices = []int{0}
	config.Config = &sched.Config{Accumulation: 3}
	tests := []struct {
		name  string
		in    *sched.Instance
		kind  sched.Kind
		steps map[sched.Time][]sim.Decision
		is    error
		says  string
	}{
		{"unknown job", gang, sched.N, at(0, starts(start(3, on(0, 1)))), sim.ErrHidden, "at 0s: decision refused: cannot start job 3"},
		{"negative job", gang, sched.N, at(0, starts(start(-1, on(0, 1)))), sim.ErrHidden, "cannot start job -1"},
		{"not released", gang, sched.N, at(0, starts(start(2, on(0, 2)))), sim.ErrHidden, "cannot start job 2: no such job has been released"},
		{"preempt hidden", preemptive, sched.P, at(0, sim.Decision{Preempt: []sched.JobID{2}}), sim.ErrHidden, "cannot preempt job 2"},
		{"twice", gang, sched.N, at(0, starts(start(0, on(0, 1)), start(0, on(1, 1)))), nil, "job 0: it is training"},
		{"done", gang, sched.N, map[sched.Time][]sim.Decision{0: {starts(start(0, on(0, 1)))}, 9: {starts(start(0, on(0, 1)))}}, nil, "at 9µs: decision refused: cannot start job 0: it is done"},
		{"small gang", gang, sched.N, at(0, starts(start(1, on(0, 2)))), nil, "holds 2 GPUs for a gang of 3"},
		{"big share", gang, sched.N, at(0, starts(start(1, on(0, 3)))), nil, "takes 3 of the 2 GPUs"},
		{"no server", gang, sched.N, at(0, starts(start(0, on(2, 1)))), nil, "server 2"},
		{"no stages", gang, sched.N, at(5, starts(start(2, on(0, 2)))), nil, "does not say which stages"},
		{"not free", gang, sched.N, at(0, starts(start(0, on(0, 1)), start(1, on(0, 2, 1, 1)))), nil, "cannot start job 1: its placement takes 2 GPUs of server 0, which has 1 free"},
		{"devices", gang, sched.N, at(0, starts(start(0, named))), nil, "names devices"},
		{"class N", gang, sched.N, at(5, sim.Decision{Preempt: []sched.JobID{0}}), nil, "class N is not preemptive"},
		{"preempt waiting", preemptive, sched.P, at(5, sim.Decision{Preempt: []sched.JobID{0}}), nil, "cannot preempt job 0: it is waiting"},
		{"preempt twice", preemptive, sched.P, map[sched.Time][]sim.Decision{0: {starts(start(0, on(0, 1)))}, 5: {{Preempt: twice}}}, nil, "it is pausing"},
		{"start pausing", preemptive, sched.P, map[sched.Time][]sim.Decision{0: {starts(start(0, on(0, 1)))}, 5: {{Preempt: []sched.JobID{0}, Start: []sim.Assignment{start(0, on(1, 1))}}}}, nil, "it is pausing"},
		{"wake now", gang, sched.N, at(5, sim.Decision{Wake: 5}), nil, "asks to be woken at 5µs"},
		{"wake before", gang, sched.N, at(5, sim.Decision{Wake: -1}), nil, "asks to be woken at -1µs"},
		{"wake never", gang, sched.N, at(5, sim.Decision{Wake: sched.MaxTime + 1}), nil, "asks to be woken"},
		{"three on a GPU", shared, sched.S, at(0, starts(start(0, gpus(0)), start(1, gpus(0)), start(2, gpus(0)))), nil, "cannot start job 2: its placement takes GPU 0 of server 0, which is held by jobs [0 1]"},
		{"no devices", shared, sched.S, at(0, starts(start(0, on(0, 1)))), nil, "names 0 devices for 1 GPUs"},
		{"no such device", shared, sched.S, at(0, starts(start(0, gpus(2)))), nil, "device 2"},
		{"no such option", shared, sched.S, at(0, starts(start(0, config))), nil, "no accumulation option"},
	}
	for _, test := range tests {
		_, err := sim.Run(context.Background(), test.in, &script{kind: test.kind, steps: test.steps}, sim.Options{})
		if err == nil || !errors.Is(err, sim.ErrDecision) || test.is != nil && !errors.Is(err, test.is) ||
			!strings.HasPrefix(err.Error(), "sim: script at ") || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: error %v, want one that says %q", test.name, err, test.says)
		}
	}
}

// TestMemory: GPUs of 10 bytes hold 4 and 4, but not 4 and 7, alone or not.
func TestMemory(t *testing.T) {
	in := sharing([][]float64{{2}}, job(0, 1, 9), job(0, 1, 9))
	in.Jobs[1].Sharing.Accumulation[0].Memory = 7
	steps := map[sched.Time][]sim.Decision{0: {{Start: []sim.Assignment{start(0, gpus(0)), start(1, gpus(0))}}}}
	_, err := sim.Run(context.Background(), in, &script{kind: sched.S, steps: steps}, sim.Options{})
	if err == nil || !strings.Contains(err.Error(), "needs 7B on each GPU, but GPU 0 of server 0 has 6B left") {
		t.Errorf("shared: %v", err)
	}
	in.Jobs[0].Sharing.Accumulation[0].Memory = 11
	steps = map[sched.Time][]sim.Decision{0: {{Start: []sim.Assignment{start(0, on(0, 1))}}}}
	_, err = sim.Run(context.Background(), in, &script{kind: sched.N, steps: steps}, sim.Options{})
	if err == nil || !strings.Contains(err.Error(), "needs 11B on each GPU") {
		t.Errorf("exclusive: %v", err)
	}
}

// TestNoThrashing: a job cannot be preempted in the instant of its start, so
// that an instant ends.
func TestNoThrashing(t *testing.T) {
	in := instance(sched.ModelPreemptive, 1, 1, job(0, 1, 9))
	s := &script{kind: sched.P, steps: map[sched.Time][]sim.Decision{
		0: {{Start: []sim.Assignment{start(0, on(0, 1))}, Wake: 3}},
		3: {{Preempt: []sched.JobID{0}}, {Start: []sim.Assignment{start(0, on(0, 1))}, Wake: 4}},
		4: {{Preempt: []sched.JobID{0}, Start: []sim.Assignment{start(0, on(0, 1))}}, {Preempt: []sched.JobID{0}}},
	}}
	_, err := sim.Run(context.Background(), in, s, sim.Options{})
	if err == nil || !strings.Contains(err.Error(), "at 4µs: decision refused: cannot preempt job 0: it was started in this instant") {
		t.Fatal(err)
	}
}

// TestStalled: three ways to leave jobs unstarted for ever.
func TestStalled(t *testing.T) {
	in := instance(sched.ModelGang, 1, 1, job(0, 1, 1), job(0, 1, 1), job(3, 1, 1))
	idle := &script{kind: sched.N}
	lazy := &script{kind: sched.N, steps: map[sched.Time][]sim.Decision{0: {{Start: []sim.Assignment{start(0, on(0, 1))}}}}}
	sleepy := sleeper{}
	for _, test := range []struct {
		p    sim.Policy
		says string
	}{{idle, "at 3µs: stalled: nothing is left to happen, but 3 jobs are not done, job 0 the first"},
		{lazy, "2 jobs are not done, job 1 the first"}, {sleepy, "3 jobs are not done"}} {
		_, err := sim.Run(context.Background(), in, test.p, sim.Options{})
		if !errors.Is(err, sim.ErrStalled) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%v, want %q", err, test.says)
		}
	}

	// With a deadline jobs may be left out, but not half done.
	in.Deadline = 2
	if r, err := sim.Run(context.Background(), in, lazyAgain(), sim.Options{}); err != nil || len(r.Schedule.Segments) != 1 {
		t.Errorf("left out before the deadline: %v", err)
	}
	in.Model = sched.ModelPreemptive
	half := &script{kind: sched.P, steps: map[sched.Time][]sim.Decision{
		0: {{Start: []sim.Assignment{start(0, on(0, 1))}}}, 3: {{Preempt: []sched.JobID{0}}}}}
	in.Jobs[0].Iters = 9
	if _, err := sim.Run(context.Background(), in, half, sim.Options{}); !errors.Is(err, sim.ErrStalled) {
		t.Errorf("half done: %v", err)
	}
}

func lazyAgain() sim.Policy {
	return &script{kind: sched.N, steps: map[sched.Time][]sim.Decision{0: {{Start: []sim.Assignment{start(0, on(0, 1))}}}}}
}

// sleeper asks to be woken every microsecond and does nothing.
type sleeper struct{}

func (sleeper) Name() string       { return "sleeper" }
func (sleeper) Class() sched.Class { return sched.Class{Kind: sched.N} }
func (sleeper) Decide(v *sim.View) (sim.Decision, error) {
	return sim.Decision{Wake: v.Now() + 1}, nil
}

// TestRefusedRuns: classes, models and times that cannot be replayed.
func TestRefusedRuns(t *testing.T) {
	gang := instance(sched.ModelGang, 1, 1, job(0, 1, 1))
	elastic := instance(sched.ModelElastic, 1, 1, job(0, 1, 1))
	long := instance(sched.ModelGang, 1, 1, job(sched.MaxTime, 1, sched.MaxTime))
	steps := map[sched.Time][]sim.Decision{sched.MaxTime: {{Start: []sim.Assignment{start(0, on(0, 1))}}}}
	for _, test := range []struct {
		in   *sched.Instance
		p    sim.Policy
		o    sim.Options
		says string
	}{
		{gang, &script{kind: sched.E}, sim.Options{}, "schedules elastic jobs"},
		{gang, &script{kind: sched.P0}, sim.Options{}, "class P0"},
		{gang, &script{kind: sched.P}, sim.Options{}, "class P, which does not belong to the gang model"},
		{gang, &script{kind: sched.S}, sim.Options{}, "class S, which does not belong to the gang model"},
		{gang, &script{kind: sched.M}, sim.Options{}, "class M, which does not belong to the gang model"},
		{gang, &script{kind: sched.N}, sim.Options{Slotted: true}, "slot length"},
		{elastic, &script{kind: sched.N}, sim.Options{}, "have no gang"},
		{elastic, &script{kind: sched.E}, sim.Options{}, "in slots only"},
		{long, &script{kind: sched.N, steps: steps}, sim.Options{}, "beyond which there is no time"},
	} {
		if _, err := sim.Run(context.Background(), test.in, test.p, test.o); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%v, want %q", err, test.says)
		}
	}
}

// TestHidden: every method of the view refuses jobs that are not released, and
// a policy that passes the error on ends the run.
func TestHidden(t *testing.T) {
	in := instance(sched.ModelGang, 1, 2, job(0, 1, 1), job(5, 1, 1))
	asked := 0
	look := func(v *sim.View) error {
		p := on(0, 1)
		for _, id := range []sched.JobID{1, 2, -1} {
			j, err0 := v.Job(id)
			_, err1 := v.State(id)
			_, _, err2 := v.Placement(id)
			_, err3 := v.Progress(id)
			n, err4 := v.Predicted(id)
			_, err5 := v.IterTime(id, &p)
			_, err6 := v.TrainTime(id, 1, &p)
			_, err7 := v.PredictedTime(id)
			_, err8 := v.Consolidated(id)
			_, _, err9 := v.Place(id, sim.Pool)
			for i, err := range []error{err0, err1, err2, err3, err4, err5, err6, err7, err8, err9, v.Hold(id, p)} {
				if !errors.Is(err, sim.ErrHidden) {
					return fmt.Errorf("method %d tells about job %d: %w", i, id, err)
				}
			}
			if n != 0 || j.Release != 0 || j.Stages != nil {
				return fmt.Errorf("job %d is given away: %+v, %d", id, j, n)
			}
		}
		asked++
		_, err := v.Predicted(1)
		return err
	}
	r, err := sim.Run(context.Background(), in, &script{kind: sched.N, look: look}, sim.Options{})
	if r != nil || !errors.Is(err, sim.ErrHidden) || asked != 1 || !strings.HasPrefix(err.Error(), "sim: script at 0s: ") {
		t.Fatalf("asked %d times: %v", asked, err)
	}
}

// teller predicts twice the truth and notes what it is told.
type teller struct {
	in  *sched.Instance
	log []string
}

func (p *teller) Predict(j sim.Job) (int64, error) {
	p.log = append(p.log, fmt.Sprintf("predict %d", j.ID))
	return 2 * p.in.Jobs[j.ID].Iters, nil
}

func (p *teller) Observe(j sim.Job, iters int64) {
	p.log = append(p.log, fmt.Sprintf("observe %d %d", j.ID, iters))
}

// TestPredictor: it is asked once per job, when the policy first asks, told of
// completions before the policy, and what it said is recorded.
func TestPredictor(t *testing.T) {
	in := instance(sched.ModelGang, 1, 1, job(0, 1, 3), job(0, 1, 4))
	script := func() *script {
		s := &script{kind: sched.N, steps: map[sched.Time][]sim.Decision{
			0: {{Start: []sim.Assignment{start(1, on(0, 1))}}}, 4: {{Start: []sim.Assignment{start(0, on(0, 1))}}}}}
		s.look = func(v *sim.View) error {
			if v.Now() == 0 {
				if n, err := v.Predicted(1); err != nil || n != 8 && n != 4 {
					return fmt.Errorf("predicted %d: %w", n, err)
				}
			}
			_, err := v.PredictedTime(0)
			return err
		}
		return s
	}
	p := &teller{in: in}
	r, err := sim.Run(context.Background(), in, script(), sim.Options{Predictor: p})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(p.log, r.Predictions, r.Clairvoyant); got != "[predict 1 predict 0 observe 1 4 observe 0 3] [{1 8} {0 6}] false" {
		t.Fatal(got)
	}
	r, err = sim.Run(context.Background(), in, script(), sim.Options{})
	if err != nil || !r.Clairvoyant || r.Predictions != nil {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, blind := range []sim.Policy{&sleepless{}, &sleepless{looksBack: true}} {
		if r, err = sim.Run(context.Background(), in, blind, sim.Options{}); err != nil || r.Clairvoyant {
			t.Fatalf("a policy that asked too late or never is clairvoyant: %+v, %v", r, err)
		}
	}
}

// sleepless starts each job as it comes, on a pool, waiting in order. It may
// look how long jobs took when they are done.
type sleepless struct {
	queue     []sched.JobID
	looksBack bool
}

func (*sleepless) Name() string       { return "sleepless" }
func (*sleepless) Class() sched.Class { return sched.Class{Kind: sched.N} }
func (s *sleepless) Decide(v *sim.View) (d sim.Decision, err error) {
	s.queue = append(s.queue, v.Arrived()...)
	if done := v.Completed(); s.looksBack && len(done) > 0 {
		if _, err := v.PredictedTime(done[0]); err != nil {
			return d, err
		}
	}
	for len(s.queue) > 0 {
		p, ok, err := v.Place(s.queue[0], sim.Pool)
		if err != nil || !ok {
			return d, err
		}
		d.Start = append(d.Start, sim.Assignment{Job: s.queue[0], Place: p})
		s.queue = s.queue[1:]
	}
	return d, nil
}

// TestHold: what is handed out in a decision is taken in it, and given back if
// it is not used.
func TestHold(t *testing.T) {
	in := instance(sched.ModelGang, 2, 2, job(0, 1, 3), job(0, 3, 3), job(0, 3, 3))
	s := &script{kind: sched.N}
	s.look = func(v *sim.View) error {
		if v.Now() > 0 {
			return nil
		}
		if err := v.Hold(0, on(0, 1)); err != nil {
			return err
		}
		if err := v.Hold(1, on(0, 2, 1, 1)); err == nil {
			return errors.New("held GPUs were held again")
		}
		p, ok, err := v.Place(1, sim.Pool)
		if err != nil || !ok || fmt.Sprint(p.Shares) != fmt.Sprint(on(0, 1, 1, 2).Shares) || v.Cluster().Free() != 0 {
			return fmt.Errorf("placed on %v, %d are free: %w", p, v.Cluster().Free(), err)
		}
		if _, ok, _ := v.Place(2, sim.Pool); ok {
			return errors.New("found a place where there is none")
		}
		s.steps = map[sched.Time][]sim.Decision{0: {{Start: []sim.Assignment{start(2, on(0, 1, 1, 2)), start(0, on(0, 1))}}}, 3: {{Start: []sim.Assignment{start(1, p)}}}}
		return nil
	}
	_, segments, _ := replay(t, in, s, sim.Options{})
	expect(t, "segments", segments, "0 train [0,3)\n2 train [0,3)\n1 train [3,6)")
}

// TestTrainTime compares hypothetical times with those of instances that have
// the hypothetical number of iterations.
func TestTrainTime(t *testing.T) {
	in := instance(sched.ModelGang, 2, 2, job(0, 3, 7))
	in.Jobs[0].Stages[0].Params = 12345
	s := &script{kind: sched.N, steps: map[sched.Time][]sim.Decision{0: {{Start: []sim.Assignment{start(0, on(0, 2, 1, 1))}}}}}
	s.look = func(v *sim.View) error {
		for _, p := range []sched.Placement{on(0, 2, 1, 1), on(0, 1, 1, 2)} {
			for _, n := range []int64{1, 6, 7, 1000} {
				other := instance(sched.ModelGang, 2, 2, in.Jobs[0])
				other.Jobs[0].Iters = n
				want, _ := other.RunTime(0, &p)
				if got, err := v.TrainTime(0, n, &p); err != nil || got != want {
					return fmt.Errorf("%d iterations take %v, want %v: %w", n, got, want, err)
				}
			}
		}
		if got, err := v.TrainTime(0, 0, &sched.Placement{Shares: on(0, 2, 1, 1).Shares}); got != 0 || err != nil {
			return fmt.Errorf("no iterations take %v: %w", got, err)
		}
		bad := on(0, 2)
		for _, n := range []int64{-1, 1 << 62} {
			if _, err := v.TrainTime(0, n, &bad); err == nil || !strings.Contains(err.Error(), "job 0") {
				return fmt.Errorf("%d iterations on a bad placement: %w", n, err)
			}
		}
		good := on(0, 2, 1, 1)
		if _, err := v.TrainTime(0, 1<<62, &good); err == nil || !strings.Contains(err.Error(), "take more than") {
			return fmt.Errorf("2^62 iterations: %w", err)
		}
		return nil
	}
	replay(t, in, s, sim.Options{})
}

// TestCancel: a run ends when its context does, even one that only wakes.
func TestCancel(t *testing.T) {
	in := instance(sched.ModelGang, 1, 1, job(0, 1, sched.MaxTime/2))
	ctx, cancel := context.WithCancel(context.Background())
	s := &script{kind: sched.N, steps: map[sched.Time][]sim.Decision{0: {{Start: []sim.Assignment{start(0, on(0, 1))}, Wake: 1}}}}
	calls := 0
	_, err := sim.Run(ctx, in, waker{s, func() {
		if calls++; calls == 10_000 {
			cancel()
		}
	}}, sim.Options{})
	if !errors.Is(err, context.Canceled) || calls > 15_000 {
		t.Fatalf("after %d calls: %v", calls, err)
	}
	if _, err := sim.Run(ctx, in, &script{kind: sched.N}, sim.Options{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// waker adds a wake-up every microsecond to a script.
type waker struct {
	*script
	called func()
}

func (w waker) Decide(v *sim.View) (sim.Decision, error) {
	w.called()
	d, err := w.script.Decide(v)
	d.Wake = v.Now() + 1
	return d, err
}
