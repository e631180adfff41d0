package lazer

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// naive replays jobs on a pool of GPUs as the pseudo-code has it: an event at a
// time, all jobs in one list, GPUs as counts. Times are seconds.
type naive struct {
	jobs     []*naiveJob
	gpus     int
	deferral func(n *naiveJob, victims []*naiveJob) int // nil never defers
	options  Options
	now      int
}

type naiveJob struct {
	id, release, gang, load, pause, left int
	state                                byte // - hidden, Q queued, D deferred, N pending, L loading, T training, P pausing, F finished
	since                                int  // start of the phase
	held                                 int
	heir                                 *naiveJob
	wake                                 int
	victims                              []*naiveJob
	flags                                int
	end                                  int
	preempted, futile                    int
}

func (s *naive) togo(j *naiveJob) int {
	if j.state == 'T' {
		return j.left - (s.now - j.since)
	}
	return j.left
}

func (s *naive) free() int {
	n := s.gpus
	for _, j := range s.jobs {
		switch j.state {
		case 'L', 'T', 'P':
			n -= j.gang
		case 'N':
			n -= j.held
		}
	}
	return n
}

// in returns the jobs in any of some states, the shortest to go first.
func (s *naive) in(states string) []*naiveJob {
	var list []*naiveJob
	for _, j := range s.jobs {
		for _, c := range states {
			if j.state == byte(c) {
				list = append(list, j)
			}
		}
	}
	slices.SortFunc(list, func(a, b *naiveJob) int { return cmp.Or(cmp.Compare(s.togo(a), s.togo(b)), cmp.Compare(a.id, b.id)) })
	return list
}

func (s *naive) fill(gpus int) {
	states := "Q"
	if s.options.WakeDeferred {
		states = "QD"
	}
	for _, j := range s.in(states) {
		if j.gang <= min(gpus, s.free()) {
			gpus -= j.gang
			j.state, j.since = 'L', s.now
		}
	}
}

func (s *naive) orchestrate(n *naiveJob) ([]*naiveJob, bool) {
	available := s.free()
	if s.options.NoFree {
		available = 0
	}
	if available >= n.gang {
		return nil, true
	}
	list := s.in("LTN")
	slices.SortStableFunc(list, func(a, b *naiveJob) int { return cmp.Compare(s.togo(b), s.togo(a)) })
	var victims []*naiveJob
	for _, r := range list {
		if r.flags == 0 && s.togo(n) < s.togo(r) && available < n.gang {
			victims, available = append(victims, r), available+r.gang
		}
	}
	for i := len(victims) - 1; i >= 0 && s.options.Prune; i-- {
		if available-victims[i].gang >= n.gang {
			available -= victims[i].gang
			victims = slices.Delete(victims, i, i+1)
		}
	}
	return victims, available >= n.gang
}

func (s *naive) execute(n *naiveJob, victims []*naiveJob) {
	n.state, n.held = 'N', 0
	n.held = min(s.free(), n.gang)
	for _, r := range victims {
		switch {
		case r.state == 'L' && r.since == s.now: // it has not begun
			r.state = 'Q'
			n.held = min(n.gang, n.held+s.free())
		case r.state == 'N':
			for _, p := range s.jobs {
				if p.state == 'P' && p.heir == r {
					p.heir = n
				}
			}
			r.state, r.held = 'Q', 0
			n.held = min(n.gang, n.held+s.free())
		case r.state == 'T':
			r.left, r.state, r.since, r.heir = s.togo(r), 'P', s.now, n
			r.preempted++
		case r.state == 'L':
			r.state, r.since, r.heir = 'P', s.now-r.pause, n // over at once
			r.preempted++
			r.futile++
		}
	}
	s.begin(n)
	for _, r := range victims {
		if r.state == 'Q' {
			s.fill(s.free())
			break
		}
	}
}

func (s *naive) begin(n *naiveJob) {
	if n.state == 'N' && n.held == n.gang {
		n.state, n.since = 'L', s.now
	}
}

func (s *naive) arrive(n *naiveJob) {
	n.state = 'Q'
	victims, ok := s.orchestrate(n)
	switch {
	case !ok:
	case len(victims) == 0 || s.deferral == nil:
		s.execute(n, victims)
	default:
		x := s.deferral(n, victims)
		if x == 0 {
			s.execute(n, victims)
			return
		}
		n.state, n.wake, n.victims = 'D', s.now+x, victims
		for _, r := range victims {
			r.flags++
		}
	}
}

// run plays all events. It returns false if jobs are left that nothing will
// start.
func (s *naive) run() bool {
	for ; ; s.now++ {
		var done, saved []*naiveJob
		open := false
		for _, j := range s.jobs {
			switch {
			case j.state == 'T' && s.togo(j) == 0:
				done = append(done, j)
			case j.state == 'P' && s.now == j.since+j.pause:
				saved = append(saved, j)
			}
			open = open || j.state != 'F' && (j.state != 'Q' || s.now < 10_000)
		}
		if !open {
			return len(s.in("Q")) == 0
		}
		for _, j := range done {
			j.state, j.end = 'F', s.now
			if s.options.OwnGPUs {
				s.fill(j.gang)
			}
		}
		if len(done) > 0 && !s.options.OwnGPUs {
			s.fill(s.free())
		}
		s.ends(saved)
		for _, j := range s.jobs {
			if j.state == '-' && j.release == s.now {
				s.arrive(j)
			}
		}
		var over []*naiveJob
		for _, j := range s.jobs {
			if j.wake > 0 && s.now >= j.wake {
				over = append(over, j)
			}
		}
		slices.SortStableFunc(over, func(a, b *naiveJob) int { return cmp.Compare(a.wake, b.wake) })
		for _, j := range over {
			j.wake = 0
			for _, r := range j.victims {
				r.flags--
			}
			if j.state == 'D' {
				j.state = 'Q'
				if victims, ok := s.orchestrate(j); ok {
					s.execute(j, victims)
				}
			}
		}
		for again := true; again; { // loads that were interrupted in this instant
			saved = nil
			for _, j := range s.jobs {
				if j.state == 'P' && s.now >= j.since+j.pause {
					saved = append(saved, j)
				}
			}
			s.ends(saved)
			again = len(saved) > 0
		}
		for _, j := range s.jobs {
			if j.state == 'L' && s.now == j.since+j.load {
				j.state, j.since = 'T', s.now
			}
		}
	}
}

func (s *naive) ends(saved []*naiveJob) {
	for _, j := range saved {
		j.state = 'Q'
		if h := j.heir; h != nil && h.state == 'N' {
			h.held = min(h.gang, h.held+s.free())
			s.begin(h)
		}
		j.heir = nil
	}
	if len(saved) > 0 && !s.options.OwnGPUs {
		s.fill(s.free())
	}
}

func randomJobs(rng *rand.Rand, gpus int) []*naiveJob {
	var list []*naiveJob
	release := 0
	for i := range 2 + rng.IntN(8) {
		release += rng.IntN(8)
		j := &naiveJob{id: i, release: release, gang: 1 + rng.IntN(gpus), load: rng.IntN(4), pause: rng.IntN(4), left: 1 + rng.IntN(20), state: '-'}
		if j.pause == 0 {
			j.load++ // or a preempted job could go on as if nothing had been
		}
		list = append(list, j)
	}
	return list
}

func instance(jobs []*naiveJob, gpus int) *sched.Instance {
	in := &sched.Instance{Name: "pool", Model: sched.ModelPreemptive, Cluster: sched.Uniform(1, gpus, 1e9, 1e9)}
	for _, j := range jobs {
		in.Jobs = append(in.Jobs, sched.Job{Release: sched.Time(j.release) * sched.Second, Weight: 1, Iters: int64(j.left),
			Load: sched.Time(j.load) * sched.Second, Pause: sched.Time(j.pause) * sched.Second,
			Stages: []sched.Stage{{Replicas: j.gang, Compute: 1_000_000_000}}})
	}
	return in
}

func replay(t *testing.T, in *sched.Instance, p sim.Policy) (*sim.Result, *verify.Verified, error) {
	t.Helper()
	if err := in.Validate(); err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(context.Background(), in, p, sim.Options{})
	if err != nil {
		return nil, nil, err
	}
	v, err := verify.Check(in, r.Schedule)
	if err != nil {
		t.Fatalf("%v: %v", p.Name(), err)
	}
	return r, v, nil
}

// TestLikePseudoCode compares every completion with the naive replay, without
// deferral, with constant deferrals, and with deferrals by the jobs' sizes.
func TestLikePseudoCode(t *testing.T) {
	preempted, futile, stuck := 0, 0, 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		gpus := 1 + rng.IntN(6)
		list := randomJobs(rng, gpus)
		in := instance(list, gpus)
		o := Options{Prune: rng.IntN(3) == 0, WakeDeferred: rng.IntN(3) == 0, OwnGPUs: rng.IntN(6) == 0, NoFree: rng.IntN(20) == 0}
		s := &naive{jobs: list, gpus: gpus, options: o}
		policy := SRTF(o)
		if x := rng.IntN(8); x > 0 {
			s.deferral = func(*naiveJob, []*naiveJob) int { return x }
			policy = Deferring(o, Fixed(sched.Time(x)*sched.Second))
		}
		finished := s.run()
		_, v, err := replay(t, in, policy)
		if (err == nil) != finished {
			t.Fatalf("seed %d: %v, the naive replay finished %t", seed, err, finished)
		}
		if err != nil {
			stuck++
			continue
		}
		var got, want []string
		for i, j := range v.Jobs() {
			got = append(got, fmt.Sprintf("%v/%d/%d", j.Completion, j.Preemptions, j.AbortedLoads))
			want = append(want, fmt.Sprintf("%v/%d/%d", sched.Time(list[i].end)*sched.Second, list[i].preempted, list[i].futile))
			preempted += list[i].preempted
			futile += list[i].futile
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d, %+v: completion/preemptions/futile\n got %v\nwant %v", seed, o, got, want)
		}
	}
	if preempted < 1000 || futile < 100 || stuck < 20 {
		t.Errorf("only %d preemptions, %d of them futile, and %d runs that stall", preempted, futile, stuck)
	}
}
