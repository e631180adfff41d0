package exhaustive

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/exact"
)

// spread returns an instance of two or three small servers and jobs that run
// for some seconds, most of them longer on more servers.
func spread(r *rand.Rand, jobs int) *sched.Instance {
	gpus := 2 + r.IntN(2)
	c := schedtest.Servers(gpus, gpus)
	if r.IntN(3) == 0 {
		c = schedtest.Servers(gpus, 2, 2)
	}
	c.Intra = 1e15
	in := &sched.Instance{Name: "spread", Model: sched.ModelGang, Cluster: c}
	for range jobs {
		j := schedtest.Job(sched.Time(r.IntN(3))*sched.Second, 1+r.IntN(gpus+1), sched.Time(1+r.IntN(3))*sched.Second)
		j.Stages[0].Params = sched.Bytes(r.IntN(4)) * 500_000_000
		in.Jobs = append(in.Jobs, j)
	}
	return in
}

// everyOption calls next
// with every vector of GPUs per server of job i that runs no longer than its
// choice, without any symmetry.
func everyOption(s *search, i int, next func(counts []int) bool) bool {
	var key patternKey
	counts := make([]int, len(s.problem.free))
	var choose func(m, left int) bool
	choose = func(m, left int) bool {
		if m == len(counts) {
			return left == 0 && s.durationOn(&key, &s.jobs[i], counts) <= s.jobs[i].choices[s.choice[i]].duration && next(counts)
		}
		for n := 0; n <= min(left, s.problem.free[m]); n++ {
			counts[m] = n
			if choose(m+1, left-n) {
				return true
			}
		}
		counts[m] = 0
		return false
	}
	return choose(0, s.jobs[i].gang)
}

// placeable tries all servers for all jobs of the list at their starts, each
// for as long as the servers make it run, or, if full, as its choice says.
func placeable(s *search, list []int, full bool) bool {
	type stay struct {
		from, to int64
		counts   []int
	}
	var done []stay
	var key patternKey
	var from func(k int) bool
	from = func(k int) bool {
		if k == len(list) {
			return true
		}
		i := list[k]
		return everyOption(s, i, func(counts []int) bool {
			d := s.durationOn(&key, &s.jobs[i], counts)
			if full {
				d = s.jobs[i].choices[s.choice[i]].duration
			}
			done = append(done, stay{s.start[i], s.start[i] + d, append([]int(nil), counts...)})
			defer func() { done = done[:len(done)-1] }()
			for _, at := range done { // the most is held at some start
				for m := range counts {
					held := 0
					for _, o := range done {
						if o.from <= at.from && at.from < o.to {
							held += o.counts[m]
						}
					}
					if held > s.problem.free[m] {
						return false
					}
				}
			}
			return from(k + 1)
		})
	}
	return from(0)
}

// randomStarts gives every job a start and a choice.
func randomStarts(r *rand.Rand, s *search) {
	for i := range s.jobs {
		s.start[i] = r.Int64N(4) * s.jobs[0].short / 3
		s.choice[i] = r.IntN(len(s.jobs[i].choices))
		s.end[i] = s.start[i] + s.jobs[i].choices[s.choice[i]].duration
	}
}

// TestAssignAgainstEnumeration: servers are found exactly where there are
// some, and a clash is one, without any job to spare, wherever its jobs overlap
// as it says.
func TestAssignAgainstEnumeration(t *testing.T) {
	var count [2]int
	again := 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 20))
		in := spread(r, 2+r.IntN(3))
		for i := range in.Jobs {
			in.Jobs[i].Release = 0
		}
		p, err := newProblem(in, sched.TotalCompletion)
		if err != nil {
			t.Fatal(err)
		}
		if p.sensitive == 0 {
			continue
		}
		s := newSearch(t.Context(), p, exact.Limits{})
		randomStarts(r, s)
		order := s.inOrder()
		pl, stuck, ok := s.assign(order)
		if want := placeable(s, order, false); ok != want {
			t.Fatalf("seed %d: servers found: %v, enumeration says %v", seed, ok, want)
		}
		if ok {
			count[1]++
			s.improve(pl)
			schedule, err := p.decode(s.best.plan)
			if err != nil {
				t.Fatal(err)
			}
			schedtest.Verify(t, p.in, schedule)
			continue
		}
		count[0]++
		c := s.explain(stuck)
		var members []int
		for _, i := range order {
			if c.members>>i&1 == 1 {
				members = append(members, i)
			}
		}
		if placeable(s, members, false) || len(members) != bits.OnesCount64(c.members) {
			t.Fatalf("seed %d: %v is no clash", seed, c)
		}
		for k := range members {
			rest := append(append([]int(nil), members[:k]...), members[k+1:]...)
			if !placeable(s, rest, false) {
				t.Fatalf("seed %d: %v is a clash without job %d", seed, c, members[k])
			}
		}
		s.waiting = 0
		for range 200 { // other starts that overlap likewise clash as well
			randomStarts(r, s)
			if s.live(&c) {
				again++
				if placeable(s, members, true) {
					t.Fatalf("seed %d: %v is no clash at %v with %v", seed, c, s.start, s.choice)
				}
			}
		}
	}
	if min(count[0], count[1], again) < 60 {
		t.Errorf("%d clashes, %d assigned, %d clashes again: one-sided", count[0], count[1], again)
	}
}

// TestPackerAgainstEnumeration compares with all placements of jobs that run at
// the same time.
func TestPackerAgainstEnumeration(t *testing.T) {
	var count [2]int
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 21))
		p, err := newProblem(spread(r, 2+r.IntN(3)), sched.TotalCompletion)
		if err != nil {
			t.Fatal(err)
		}
		s := newSearch(t.Context(), p, exact.Limits{})
		gpus, running := 0, uint64(0)
		for i := range p.jobs {
			if r.IntN(3) == 0 {
				s.choice[i] = r.IntN(len(p.jobs[i].choices))
			}
			running |= 1 << i
			gpus += p.jobs[i].gang
		}
		if gpus > p.gpus {
			continue
		}
		last := len(p.jobs) - 1
		got := s.fits(running&^(1<<last), p.jobs[last].choices[s.choice[last]].class) && s.fits(running, anyGPUs)
		if p.jobs[last].choices[s.choice[last]].class == anyGPUs { // fits takes those that run for granted
			for i := range last {
				got = got && s.fits(running&^(1<<i), p.jobs[i].choices[s.choice[i]].class)
			}
		}
		want := placeable(s, s.inOrder(), false) // all start at 0
		if got != want {
			t.Fatalf("seed %d: fits says %v, enumeration %v", seed, got, want)
		}
		if want {
			count[1]++
		} else {
			count[0]++
		}
	}
	if min(count[0], count[1]) < 30 {
		t.Errorf("%d do not fit, %d do: one-sided", count[0], count[1])
	}
}

// TestFewerHeld compares with counting at every time.
func TestFewerHeld(t *testing.T) {
	var count [2]int
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 22))
		draw := func(n int) (list []held) {
			for range n {
				list = append(list, held{1 + r.Int64N(4), int32(r.IntN(3)) - 1, 1 + r.Int32N(2)})
			}
			insertionSort(list, func(a, b held) bool { return a.class < b.class || a.class == b.class && a.until > b.until })
			return list
		}
		a, b := draw(r.IntN(4)), draw(r.IntN(7))
		want := true
		for class := int32(-1); class < 2; class++ {
			for at := range int64(5) {
				diff := int32(0)
				for sign, list := range map[int32][]held{1: a, -1: b} {
					for _, h := range list {
						if h.class == class && h.until > at {
							diff += sign * h.count
						}
					}
				}
				want = want && diff <= 0
			}
		}
		if got := fewerHeld(a, b); got != want {
			t.Fatalf("seed %d: %v against %v: %v, counting says %v", seed, a, b, got, want)
		}
		if want {
			count[1]++
		} else {
			count[0]++
		}
	}
	if min(count[0], count[1]) < 300 {
		t.Errorf("%v: one-sided", count)
	}
}

// TestClashes: instances whose relaxation has better starts than any servers
// allow are solved all the same.
func TestClashes(t *testing.T) {
	clashing, rounds := 0, 0
	for seed := range uint64(tier.Draws(50, 150)) {
		r := rand.New(rand.NewPCG(seed, 23))
		in := spread(r, 5)
		for _, obj := range pick2(r) {
			s, got := searchFrom(t, in, obj)
			if len(s.clashes) == 0 {
				continue
			}
			clashing++
			rounds += len(s.clashes)
			if _, want := schedtest.BruteForce(in, obj); got.Cmp(want) != 0 || s.unscale(s.lower).Cmp(want) > 0 {
				t.Errorf("seed %d, %v: search finds %v and proves %v, enumeration finds %v", seed, obj, got, s.unscale(s.lower), want)
			}
		}
	}
	t.Logf("%d searches met %d clashes", clashing, rounds)
	if clashing < tier.Draws(3, 10) {
		t.Errorf("only %d searches met clashes", clashing)
	}
}
