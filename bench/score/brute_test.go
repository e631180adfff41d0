package score

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/internal/tier"
	"yardstick/sched"
)

// tiny draws an instance small enough for everything about it to be tried: up to three
// jobs on up to three GPUs (or two halves), done within six units of time.
func tiny(rng *rand.Rand) ([]Job, Cluster) {
	share := int64(Milli)
	if rng.IntN(4) == 0 {
		share = 500
	}
	c := Cluster{GPUs: share * int64(1+rng.IntN(3))}
	jobs := make([]Job, 1+rng.IntN(3))
	for j := range jobs {
		jobs[j] = Job{Name: fmt.Sprint(j), Release: sched.Time(rng.IntN(3)), Length: sched.Time(1 + rng.IntN(3)),
			GPUs: share * int64(1+rng.IntN(int(c.GPUs/share))), Weight: float64(1 + rng.IntN(3))}
	}
	return jobs, c
}

const horizon = 7

// fluidOracle decides by Hall's condition, over all sets of unit slots, whether a fluid
// schedule has these ends.
func fluidOracle(jobs []Job, c Cluster, ends []sched.Time) bool {
	for set := range 1 << horizon {
		need, have := int64(0), int64(0)
		for t := range horizon {
			if set>>t&1 == 1 {
				have += c.GPUs
			}
		}
		for j := range jobs {
			outside := sched.Time(0)
			for t := jobs[j].Release; t < ends[j]; t++ {
				if set>>t&1 == 0 {
					outside++
				}
			}
			need += jobs[j].GPUs * int64(max(0, jobs[j].Length-outside))
		}
		if need > have {
			return false
		}
	}
	return true
}

var totals = []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.TotalJCT, sched.MeanJCT, sched.Makespan}

// checkDivision scores what passed and fails if a bound exceeds the cost.
func checkDivision(t *testing.T, c *Checked, seed uint64, objectives ...sched.Objective) {
	t.Helper()
	scores, err := Divide(context.Background(), c, objectives...)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	for i, s := range scores {
		o := objectives[i]
		if s.Violation != nil || s.Ratio != nil && s.Ratio.Cmp(big.NewRat(1, 1)) < 0 {
			t.Fatalf("seed %d: %v of class %v: ratio %v, %v", seed, o, c.Class, s.Ratio, s.Violation)
		}
		for i := range s.Bounds {
			if err := s.Bounds[i].Divides(c.Class, o); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
}

// The ends of tiny instances are accepted exactly if a fluid schedule has them, and the
// cheapest that are accepted cost no less than any bound.
func TestCompletionsAgainstHall(t *testing.T) {
	accepted, refused := 0, 0
	for seed := range uint64(tier.Draws(600, 10_000)) {
		rng := rand.New(rand.NewPCG(seed, 1))
		jobs, c := tiny(rng)
		cheapest := map[sched.Objective]*Checked{}
		for range 24 {
			ends := make([]sched.Time, len(jobs))
			r := Record{Evidence: Completions}
			for j := range jobs {
				ends[j] = jobs[j].Release + sched.Time(1+rng.IntN(horizon-int(jobs[j].Release)))
				r.Pieces = append(r.Pieces, Piece{Job: j, End: ends[j]})
			}
			want := fluidOracle(jobs, c, ends)
			k, err := Check(jobs, c, r, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if (k.Broken == 0) != want || want && k.Class.Kind != sched.Fluid {
				t.Fatalf("seed %d: jobs %+v ends %v on %d: %v, want %t", seed, jobs, ends, c.GPUs, k.Violations, want)
			}
			flows(t, k, want)
			if !want {
				refused++
				continue
			}
			accepted++
			for _, o := range totals {
				if best := cheapest[o]; best == nil || o.Cost(plain(k), k.Ends).Cmp(o.Cost(plain(best), best.Ends)) < 0 {
					cheapest[o] = k
				}
			}
		}
		for o, k := range cheapest {
			checkDivision(t, k, seed, o)
		}
	}
	if accepted < 1000 || refused < 1000 {
		t.Errorf("%d accepted, %d refused: the test has lost its subject", accepted, refused)
	}
}

// plain is an instance for costs alone.
func plain(k *Checked) *sched.Instance {
	in := &sched.Instance{}
	for _, j := range k.Jobs {
		in.Jobs = append(in.Jobs, sched.Job{Release: j.Release, Weight: j.Weight})
	}
	return in
}

// flows holds every part of the decision to the answer: the flow by itself, whose flow is
// a schedule, and the quick ways.
func flows(t *testing.T, k *Checked, want bool) (greedy bool) {
	t.Helper()
	if slices.ContainsFunc(k.Violations, func(v Violation) bool { return v.Rule != RuleFluid }) {
		return true // broken before the flow
	}
	p, err := newPool(k)
	if err != nil {
		t.Fatal(err)
	}
	if greedy = newNetwork(p, nil).greedy(); greedy && !want {
		t.Fatal("the quick way accepts what is infeasible")
	}
	n := newNetwork(p, nil)
	need := slices.Clone(n.need)
	set := n.maximum()
	if (set == nil) != want {
		t.Fatalf("maximum flow: %v, want feasible %t", set, want)
	}
	if set == nil {
		used := make([]int64, len(n.room))
		for j := range n.jobs {
			sum := int64(0)
			for i := n.jobs[j].first; i < n.jobs[j].last; i++ {
				v := *n.given(j, i)
				if v < 0 || n.spare(j, i) < 0 {
					t.Fatalf("job %d gets %d in piece %d", j, v, i)
				}
				sum, used[i] = sum+v, used[i]+v
			}
			if sum != need[j] {
				t.Fatalf("job %d gets %d of %d", j, sum, need[j])
			}
		}
		for i := range used {
			if used[i] > n.room[i] {
				t.Fatalf("piece %d gives %d of %d", i, used[i], n.room[i])
			}
		}
	} else if _, err := n.witness(p, set); err != nil {
		t.Fatal(err)
	}
	if set := newNetwork(p, nil).windows(100); set != nil && want {
		t.Fatal("a window is overfull where the ends are feasible")
	}
	return greedy
}

// The ends of full preemptive schedules are feasible, also where the quick way does not see
// it; and one unit of time less is what the oracle says.
func TestEndsOfFullSchedules(t *testing.T) {
	notGreedy, infeasible := 0, 0
	for seed := range uint64(tier.Draws(400, 1_500)) {
		rng := rand.New(rand.NewPCG(seed, 4))
		c := Cluster{GPUs: Milli * int64(2+rng.IntN(3))}
		jobs := make([]Job, 5+rng.IntN(4))
		ends := make([]sched.Time, len(jobs))
		for j := range jobs {
			jobs[j] = Job{Name: fmt.Sprint(j), Release: sched.Time(rng.IntN(horizon)), GPUs: Milli * int64(1+rng.IntN(int(c.GPUs/Milli))), Weight: 1}
		}
		for now := range sched.Time(horizon) { // fill every unit of time with whoever fits
			free := c.GPUs
			for _, j := range rng.Perm(len(jobs)) {
				if jobs[j].Release <= now && jobs[j].GPUs <= free {
					free -= jobs[j].GPUs
					jobs[j].Length++
					ends[j] = now + 1
				}
			}
		}
		var r Record
		r.Evidence = Completions
		for j := len(jobs) - 1; j >= 0; j-- {
			if jobs[j].Length == 0 {
				jobs, ends = slices.Delete(jobs, j, j+1), slices.Delete(ends, j, j+1)
			}
		}
		for j := range jobs {
			r.Pieces = append(r.Pieces, Piece{Job: j, End: ends[j]})
		}
		for _, late := range []int{-1, rng.IntN(len(jobs))} {
			if late >= 0 {
				if jobs[late].Length == ends[late]-jobs[late].Release {
					continue
				}
				jobs[late].Length++
			}
			want := fluidOracle(jobs, c, ends)
			k, err := Check(jobs, c, r, Options{})
			if err != nil || (k.Broken == 0) != want || late < 0 && !want {
				t.Fatalf("seed %d: %v %v, want %t", seed, k.Violations, err, want)
			}
			if !want {
				infeasible++
			}
			if !flows(t, k, want) && want {
				notGreedy++
				if k, err := Check(jobs, c, r, Options{Edges: 1}); err != nil || k.Broken > 0 || !k.Necessary {
					t.Fatalf("seed %d: feasible ends that no quick way decides: %v %v, marked %t", seed, k.Violations, err, k.Necessary)
				}
			}
		}
	}
	if notGreedy < 3 || infeasible < 100 {
		t.Errorf("%d by the flow alone, %d infeasible: the test has lost its subject", notGreedy, infeasible)
	}
}

// held is when a record holds GPUs: per unit of time and job.
type held [][]bool

func slotsOf(rng *rand.Rand, jobs []Job, whole bool) held {
	h := make(held, len(jobs))
	for j := range jobs {
		h[j] = make([]bool, horizon)
		from := rng.IntN(horizon)
		to := from + 1 + rng.IntN(min(4, horizon-from))
		for t := range horizon {
			h[j][t] = t >= from && t < to || !whole && rng.IntN(4) == 0
		}
	}
	return h
}

// record writes slots as intervals.
func (h held) record(jobs []Job) (r Record, single bool) {
	r.Evidence, single = Intervals, true
	for j := range h {
		n := 0
		for t := 0; t < horizon; t++ {
			if !h[j][t] {
				continue
			}
			from := t
			for t < horizon && h[j][t] {
				t++
			}
			r.Pieces = append(r.Pieces, Piece{Job: j, Start: sched.Time(from), End: sched.Time(t), GPUs: jobs[j].GPUs})
			n++
		}
		single = single && n == 1
	}
	return r, single
}

// legal decides by looking at each unit of time.
func (h held) legal(jobs []Job, c Cluster) bool {
	for j := range h {
		sum := sched.Time(0)
		for t, on := range h[j] {
			if on {
				sum++
			}
			if on && sched.Time(t) < jobs[j].Release {
				return false
			}
		}
		if sum < jobs[j].Length {
			return false
		}
	}
	for t := range horizon {
		used := int64(0)
		for j := range h {
			if h[j][t] {
				used += jobs[j].GPUs
			}
		}
		if used > c.GPUs {
			return false
		}
	}
	return true
}

// Intervals on tiny instances are accepted exactly if no unit of time breaks a rule, with
// the class that they are of; and no bound exceeds their cost, nor do those of their ends.
func TestIntervalsAgainstSlots(t *testing.T) {
	counts := map[string]int{}
	for seed := range uint64(tier.Draws(600, 10_000)) {
		rng := rand.New(rand.NewPCG(seed, 2))
		jobs, c := tiny(rng)
		for range 24 {
			h := slotsOf(rng, jobs, rng.IntN(2) == 0)
			r, single := h.record(jobs)
			k, err := Check(jobs, c, r, Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := h.legal(jobs, c)
			if (k.Broken == 0) != want {
				t.Fatalf("seed %d: %+v on %d: %+v: %v, want %t", seed, jobs, c.GPUs, r.Pieces, k.Violations, want)
			}
			if !want {
				counts["refused"]++
				continue
			}
			kind := sched.P0
			if single {
				kind = sched.N
			}
			if k.Class.Kind != kind {
				t.Fatalf("seed %d: class %v, want %v", seed, k.Class, sched.Class{Kind: kind})
			}
			counts[k.Class.String()]++
			if counts[k.Class.String()]%4 == 0 {
				checkDivision(t, k, seed, totals...)
				ends := Record{Evidence: Completions}
				for j := range jobs {
					ends.Pieces = append(ends.Pieces, Piece{Job: j, End: k.Ends[j]})
				}
				if f, err := Check(jobs, c, ends, Options{}); err != nil || f.Broken > 0 {
					t.Fatalf("seed %d: the ends of a schedule are refused: %v %v", seed, f, err)
				}
			}
		}
	}
	if counts["N"] < 200 || counts["P0"] < 100 || counts["refused"] < 1000 {
		t.Errorf("%v: the test has lost its subject", counts)
	}
}

// The best schedules of class N of tiny instances, found by trying all starts, cost no less
// than the bounds of any level.
func TestBoundsAgainstAllStarts(t *testing.T) {
	tight := 0
	for seed := range uint64(tier.Draws(150, 2_000)) {
		rng := rand.New(rand.NewPCG(seed, 3))
		jobs, c := tiny(rng)
		starts := make([]sched.Time, len(jobs))
		best := map[sched.Objective]*Checked{}
		var try func(j int)
		try = func(j int) {
			if j < len(jobs) {
				for starts[j] = jobs[j].Release; starts[j]+jobs[j].Length <= 9; starts[j]++ {
					try(j + 1)
				}
				return
			}
			r := Record{Evidence: Intervals}
			for j := range jobs {
				r.Pieces = append(r.Pieces, Piece{Job: j, Start: starts[j], End: starts[j] + jobs[j].Length})
			}
			k, err := Check(jobs, c, r, Options{})
			if err != nil || k.Broken > 0 {
				return
			}
			for _, o := range totals {
				if b := best[o]; b == nil || o.Cost(plain(k), k.Ends).Cmp(o.Cost(plain(b), b.Ends)) < 0 {
					best[o] = k
				}
			}
		}
		try(0)
		for o, k := range best {
			checkDivision(t, k, seed, o)
			if s, err := Divide(context.Background(), k, o); err == nil && s[0].Ratio != nil && s[0].Ratio.Cmp(big.NewRat(1, 1)) == 0 {
				tight++
			}
		}
	}
	if tight < 100 {
		t.Errorf("only %d best schedules meet their bound: the test has lost its subject", tight)
	}
}

// Ten jobs of 1 s that all end at 1 s on one GPU pass the test of lengths, and would have a
// ratio of 0.18.
func TestTenJobsAtOnce(t *testing.T) {
	jobs := make([]Job, 10)
	r := Record{Evidence: Completions}
	for j := range jobs {
		jobs[j] = Job{Name: fmt.Sprint(j), Length: sched.Second, GPUs: Milli, Weight: 1}
		r.Pieces = append(r.Pieces, Piece{Job: j, End: sched.Second})
	}
	k, err := Check(jobs, Cluster{GPUs: Milli}, r, Options{})
	if err != nil || k.Broken != 1 || k.Violations[0].Rule != RuleFluid {
		t.Fatalf("%+v, %v", k.Violations, err)
	}
	const want = "fluid: no fluid schedule has these ends: within 1s, in 1s of time, 10 jobs need 10.000 GPU-seconds, and there are 1.000: jobs were resized or shared GPUs, or the capacity or the lengths are others"
	if got := k.Violations[0].String(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if _, err := Divide(context.Background(), k, sched.TotalJCT); err == nil {
		t.Error("a record with violations has a ratio")
	}
}
