package sharing_test

import (
	"cmp"
	"context"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/heuristics/sharing"
	"yardstick/heuristics/sim"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// naive replays jobs that share GPUs, in rational numbers and with nothing kept
// from one event to the next but who is where and how much of it is done.
type naive struct {
	in       *sched.Instance
	firstFit bool
	options  sharing.Options
	memory   sched.Bytes
	now      sched.Time
	jobs     []*naiveJob
	gpus     [][]*naiveJob
	slot     sched.Time // 0: decisions at any time

	shares, partly, several, refused int // what happened
}

type naiveJob struct {
	*sched.Job
	id      sched.JobID
	option  *sched.Accumulation // nil before it starts
	start   sched.Time
	done    *big.Rat // iterations
	end     sched.Time
	pending bool
}

func ratio(a int64, b int64) *big.Rat       { return big.NewRat(a, b) }
func times(a, b *big.Rat) *big.Rat          { return new(big.Rat).Mul(a, b) }
func plus(a, b *big.Rat) *big.Rat           { return new(big.Rat).Add(a, b) }
func minus(a, b *big.Rat) *big.Rat          { return new(big.Rat).Sub(a, b) }
func over(a, b *big.Rat) *big.Rat           { return new(big.Rat).Quo(a, b) }
func exact(x float64) *big.Rat              { return new(big.Rat).SetFloat64(x) }
func span(d sched.Duration) *big.Rat        { return ratio(int64(d), 1000) } // in microseconds
func (j *naiveJob) held(g []*naiveJob) bool { return slices.Contains(g, j) }

// row is where a job with an option is in the table of interference.
func row(j *naiveJob, option *sched.Accumulation) int {
	for k := range j.Sharing.Rows {
		if option == &j.Sharing.Accumulation[k] {
			return j.Sharing.Rows[k]
		}
	}
	return j.Sharing.Task
}

// xi is the factor of a job with an option beside another with one.
func (s *naive) xi(a *naiveJob, x *sched.Accumulation, b *naiveJob, y *sched.Accumulation) float64 {
	return s.in.Interference[row(a, x)][row(b, y)]
}

func (s *naive) pace(j *naiveJob) *big.Rat { // microseconds per iteration
	xi := 1.0
	for _, g := range s.gpus {
		if j.held(g) {
			for _, k := range g {
				if k != j {
					xi = max(xi, s.xi(j, j.option, k, k.option))
				}
			}
		}
	}
	return times(exact(xi), span(j.option.Iter))
}

// finish is when a running job ends if nothing changes.
func (s *naive) finish(j *naiveJob) sched.Time {
	left := times(minus(ratio(j.Iters, 1), j.done), s.pace(j))
	up := new(big.Int).Add(left.Num(), left.Denom())
	up.Sub(up, big.NewInt(1)).Quo(up, left.Denom())
	end := max(s.now, j.start+j.Load) + max(0, sched.Time(up.Int64()))
	if s.slot > 0 {
		end = (end + s.slot - 1) / s.slot * s.slot
	}
	return end
}

func (s *naive) running(j *naiveJob) bool { return j.option != nil && j.end == 0 }

func (s *naive) advance(to sched.Time) {
	gained := map[*naiveJob]*big.Rat{}
	for _, j := range s.jobs {
		if from := max(s.now, j.start+j.Load); s.running(j) && to > from {
			gained[j] = over(ratio(int64(to-from), 1), s.pace(j))
		}
	}
	for j, n := range gained {
		j.done = plus(j.done, n)
	}
	s.now = to
}

// solo returns the fastest option that fits a room, as Algorithm 2 finds it: in
// the order of steps, and kept if strictly faster.
func solo(j *naiveJob, room sched.Bytes) *sched.Accumulation {
	var best *sched.Accumulation
	for i := range j.Sharing.Accumulation {
		if a := &j.Sharing.Accumulation[i]; a.Memory <= room && (best == nil || a.Iter < best.Iter) {
			best = a
		}
	}
	return best
}

func (s *naive) length(j *naiveJob, a *sched.Accumulation) *big.Rat {
	return times(ratio(j.Iters, 1), span(a.Iter))
}

func (s *naive) left(j *naiveJob) *big.Rat {
	left := minus(ratio(j.Iters, 1), j.done)
	if left.Sign() < 0 {
		left = new(big.Rat)
	}
	return times(left, span(j.option.Iter))
}

// sums returns the sums of completion times of a new job that needs a and a
// running one that needs b, together and one after the other.
func sums(a, b *big.Rat, xiA, xiB float64) (together, after *big.Rat) {
	slowA, slowB := times(a, exact(xiA)), times(b, exact(xiB))
	if slowA.Cmp(slowB) <= 0 {
		together = plus(slowA, plus(b, minus(slowA, over(slowA, exact(xiB)))))
	} else {
		together = plus(slowB, plus(slowB, minus(a, over(slowB, exact(xiA)))))
	}
	return together, plus(b, plus(b, a))
}

type candidate struct {
	job  *naiveJob
	sum  *big.Rat
	gpus []int
}

// algorithm2 returns whether the job should share with a running one, and the
// sum of completion times.
func (s *naive) algorithm2(j, r *naiveJob) (bool, *big.Rat) {
	share, best := false, (*big.Rat)(nil)
	for i := range j.Sharing.Accumulation {
		a := &j.Sharing.Accumulation[i]
		if a.Memory > s.memory-r.option.Memory {
			continue
		}
		xiJ, xiR := s.xi(j, a, r, r.option), s.xi(r, r.option, j, a)
		together, after := sums(s.length(j, a), s.left(r), xiJ, xiR)
		sf := together.Cmp(after) <= 0
		if s.options.Condition == sharing.Case2Everywhere {
			xa, xb := exact(xiJ), exact(xiR)
			sf = plus(plus(xa, xa), xb).Cmp(times(ratio(2, 1), times(xa, xb))) > 0
		}
		if j.Sharing.Rows != nil && !sf {
			together = after
		}
		if best == nil || together.Cmp(best) < 0 {
			share, best = sf, together
		}
	}
	return share, best
}

func (s *naive) alone() map[*naiveJob][]int {
	alone := map[*naiveJob][]int{}
	for g, on := range s.gpus {
		if len(on) == 1 {
			alone[on[0]] = append(alone[on[0]], g)
		}
	}
	return alone
}

// pass is Algorithm 1.
func (s *naive) pass() {
	var list []*naiveJob
	for _, j := range s.jobs {
		if j.pending {
			list = append(list, j)
		}
	}
	slices.SortFunc(list, func(a, b *naiveJob) int {
		return cmp.Or(s.length(a, solo(a, s.memory)).Cmp(s.length(b, solo(b, s.memory))), cmp.Compare(a.Release, b.Release), cmp.Compare(a.id, b.id))
	})
	for _, j := range list {
		var free []int
		for g, on := range s.gpus {
			if len(on) == 0 {
				free = append(free, g)
			}
		}
		var gpus []int
		room := s.memory
		var partners []*naiveJob
		switch gang := j.Gang(); {
		case len(free) >= gang:
			gpus = free[:gang]
		case s.firstFit:
			gpus = free
			for g, on := range s.gpus {
				if len(gpus) < gang && len(on) == 1 && solo(j, s.memory-on[0].option.Memory) != nil {
					gpus, room = append(gpus, g), min(room, s.memory-on[0].option.Memory)
				}
			}
		default:
			gpus, room = s.best(j, free)
			partners = s.beside(gpus)
		}
		if len(gpus) < j.Gang() {
			continue
		}
		if room < s.memory {
			s.shares++
		}
		j.pending, j.option, j.start = false, s.agreed(j, room, partners), s.now
		for _, g := range gpus {
			s.gpus[g] = append(s.gpus[g], j)
		}
	}
}

// beside returns who is on GPUs.
func (s *naive) beside(gpus []int) (partners []*naiveJob) {
	for _, g := range gpus {
		for _, r := range s.gpus[g] {
			if !slices.Contains(partners, r) {
				partners = append(partners, r)
			}
		}
	}
	return partners
}

// agreed returns the option of a job in a room beside partners: the fastest or, where
// options have rows of their own, that with the least sum over the pairs; the fastest, and
// the one with the fewest steps, of equal ones.
func (s *naive) agreed(j *naiveJob, room sched.Bytes, partners []*naiveJob) *sched.Accumulation {
	best := solo(j, room)
	if j.Sharing.Rows == nil || len(partners) == 0 {
		return best
	}
	total := func(a *sched.Accumulation) *big.Rat {
		sum := new(big.Rat)
		for _, r := range partners {
			together, _ := sums(s.length(j, a), s.left(r), s.xi(j, a, r, r.option), s.xi(r, r.option, j, a))
			sum.Add(sum, together)
		}
		return sum
	}
	least := total(best)
	for i := range j.Sharing.Accumulation {
		a := &j.Sharing.Accumulation[i]
		if a.Memory > room {
			continue
		}
		if c := cmp.Or(total(a).Cmp(least), int(a.Iter-best.Iter), a.Steps-best.Steps); c < 0 {
			best, least = a, total(a)
		}
	}
	return best
}

func (s *naive) best(j *naiveJob, free []int) (gpus []int, room sched.Bytes) {
	var found []candidate
	for r, alone := range s.alone() {
		if share, sum := s.algorithm2(j, r); share {
			found = append(found, candidate{r, sum, alone})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int { return cmp.Or(a.sum.Cmp(b.sum), cmp.Compare(a.job.id, b.job.id)) })
	room = s.memory
	var partners []*naiveJob
	for _, c := range found {
		if n := min(len(c.gpus), j.Gang()-len(gpus)); n > 0 {
			gpus, room = append(gpus, c.gpus[:n]...), min(room, s.memory-c.job.option.Memory)
			partners = append(partners, c.job)
		}
	}
	if len(gpus)+len(free) < j.Gang() {
		return nil, 0
	}
	if len(gpus) < j.Gang() {
		s.partly++
		gpus = append(gpus, free[:j.Gang()-len(gpus)]...)
	}
	if len(partners) > 1 {
		s.several++
	}
	if s.options.Recheck && !s.pays(j, s.agreed(j, room, partners), partners) {
		s.refused++
		return nil, 0
	}
	return gpus, room
}

func (s *naive) pays(j *naiveJob, option *sched.Accumulation, partners []*naiveJob) bool {
	a, x, last := s.length(j, option), 1.0, new(big.Rat)
	for _, r := range partners {
		x = max(x, s.xi(j, option, r, r.option))
	}
	slow := times(a, exact(x))
	now, later := slow, a
	for _, r := range partners {
		b, xi := s.left(r), exact(s.xi(r, r.option, j, option))
		if times(b, xi).Cmp(slow) <= 0 {
			now = plus(now, times(b, xi))
		} else {
			now = plus(now, plus(b, minus(slow, over(slow, xi))))
		}
		later = plus(later, b)
		if b.Cmp(last) > 0 {
			last = b
		}
	}
	return now.Cmp(plus(later, last)) <= 0
}

// run replays everything and returns the completions.
func (s *naive) run() []sched.Time {
	s.memory = s.in.Cluster.Servers[0].GPUMemory
	s.gpus = make([][]*naiveJob, s.in.Cluster.GPUs())
	for i := range s.in.Jobs {
		s.jobs = append(s.jobs, &naiveJob{Job: &s.in.Jobs[i], id: sched.JobID(i), done: new(big.Rat)})
	}
	for left := len(s.jobs); left > 0; {
		next := sched.MaxTime
		for _, j := range s.jobs {
			switch {
			case s.running(j):
				next = min(next, s.finish(j))
			case j.option == nil && !j.pending:
				at := j.Release
				if s.slot > 0 {
					at = (at + s.slot - 1) / s.slot * s.slot
				}
				next = min(next, at)
			}
		}
		ends := map[*naiveJob]bool{}
		for _, j := range s.jobs {
			ends[j] = s.running(j) && s.finish(j) == next
		}
		s.advance(next)
		for _, j := range s.jobs {
			if ends[j] {
				j.end = s.now
				left--
				for g := range s.gpus {
					s.gpus[g] = slices.DeleteFunc(s.gpus[g], func(k *naiveJob) bool { return k == j })
				}
			}
			if j.option == nil && j.Release <= s.now {
				j.pending = true
			}
		}
		s.pass()
	}
	var out []sched.Time
	for _, j := range s.jobs {
		out = append(out, j.end)
	}
	return out
}

// coarse draws an instance in which ties are common: two tasks, short whole
// times, factors of quarters, and options of equal speed or memory.
func coarse(rng *rand.Rand) *sched.Instance {
	in := &sched.Instance{Name: "coarse", Model: sched.ModelSharing, Cluster: schedtest.Servers(1+rng.IntN(4), 1+rng.IntN(4))}
	for m := range in.Cluster.Servers {
		in.Cluster.Servers[m].GPUMemory = 8
	}
	for range 2 {
		in.Interference = append(in.Interference, []float64{1 + float64(rng.IntN(6))/4, 1 + float64(rng.IntN(6))/4})
	}
	release := sched.Time(0)
	lists := [][]sched.Accumulation{}
	for range 3 {
		list := []sched.Accumulation{}
		for s := 1; s <= 4 && (s == 1 || rng.IntN(2) == 0); s *= 2 {
			list = append(list, sched.Accumulation{Steps: s, Iter: sched.Duration(1000 * (1 + rng.IntN(4))), Memory: sched.Bytes(1 + rng.IntN(8))})
		}
		lists = append(lists, list)
	}
	for range 2 + rng.IntN(9) {
		release += sched.Time(rng.IntN(4))
		gang := 1 + rng.IntN(in.Cluster.GPUs())
		if rng.IntN(2) == 0 {
			gang = 1 + rng.IntN(min(2, gang))
		}
		j := schedtest.Job(release, gang, 1)
		j.Iters = 1 + rng.Int64N(12)
		j.Load = sched.Time(max(0, rng.IntN(6)-3))
		j.Sharing = &sched.Sharing{Task: rng.IntN(2), Accumulation: lists[rng.IntN(len(lists))]}
		in.Jobs = append(in.Jobs, j)
	}
	return in
}

func replay(t testing.TB, in *sched.Instance, p sim.Policy, o sim.Options) *verify.Verified {
	t.Helper()
	if err := in.Validate(); err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(context.Background(), in, p, o)
	if err != nil {
		t.Fatalf("%s: %v\n%+v", p.Name(), err, in)
	}
	return schedtest.Verify(t, in, r.Schedule)
}

// TestLikeAlgorithm compares every completion with the naive replay.
func TestLikeAlgorithm(t *testing.T) {
	shares, partly, several, refused, smaller := 0, 0, 0, 0, 0
	for seed := range uint64(1500) {
		rng := rand.New(rand.NewPCG(seed, 1))
		in := coarse(rng)
		switch {
		case seed%100 == 0: // a long queue
			in = schedtest.Sharing(rng, schedtest.Shape{Jobs: 40, Servers: 2, GPUs: 3, Stages: 1})
		case seed%3 == 0:
			in = schedtest.Sharing(rng, schedtest.Shape{Jobs: 2 + rng.IntN(9), Servers: 1 + rng.IntN(3), GPUs: 3, Stages: 1 + rng.IntN(2)})
		}
		s := &naive{in: in, firstFit: rng.IntN(4) == 0, options: sharing.Options{Recheck: rng.IntN(3) == 0, Placement: sim.BestFit}}
		if rng.IntN(4) == 0 {
			s.options.Condition = sharing.Case2Everywhere
		}
		if rng.IntN(4) == 0 {
			in.Slot = 3
			s.slot = 3
		}
		if seed%2 == 0 && s.options.Condition == sharing.Corrected { // interference by accumulation
			in = schedtest.Rowed(rng, in, 3, 4)
			s.in = in
		}
		policy := sharing.BSBF(in.Interference, s.options)
		if s.firstFit {
			policy = sharing.FFS(in.Interference, sim.Pool) // the first fit depends on where jobs are
		}
		want := s.run()
		v := replay(t, in, policy, sim.Options{Slotted: s.slot > 0})
		var got []sched.Time
		for _, j := range v.Jobs() {
			got = append(got, j.Completion)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d, %s %+v: completions\n got %v\nwant %v\n%+v", seed, policy.Name(), s.options, got, want, in)
		}
		_, few := policy.Joined()
		smaller += few
		shares, partly, several, refused = shares+s.shares, partly+s.partly, several+s.several, refused+s.refused
	}
	t.Logf("%d jobs shared, %d with free GPUs too, %d with several partners, %d refused, %d with a smaller sub-batch than fitted", shares, partly, several, refused, smaller)
	if shares < 1000 || partly < 100 || several < 50 || refused < 20 || smaller < 20 {
		t.Error("the instances have become too easy")
	}
}
