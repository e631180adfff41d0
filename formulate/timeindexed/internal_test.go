package timeindexed

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/branch"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

func problemOf(t *testing.T, in *sched.Instance, obj sched.Objective) *problem {
	t.Helper()
	p, err := newProblem(in, obj)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// pair is a job of two GPUs that takes one second on one server and eleven on
// two; single is one of one GPU.
func pair(release sched.Time) sched.Job {
	return sched.Job{Release: release, Weight: 1, Iters: 1, Stages: []sched.Stage{{Replicas: 2, Compute: 1e3, Params: 5e9}}}
}

// clashExample is two servers of two GPUs on which, with every job started at
// its release, the jobs need four GPUs at every moment, can be packed at every
// moment, and have no servers.
func clashExample() *sched.Instance {
	const s = sched.Second
	in := schedtest.Plain(schedtest.Servers(2, 2), pair(0), pair(2*s),
		schedtest.Job(0, 1, 2*s), schedtest.Job(0, 1, 3*s), schedtest.Job(s, 1, 2*s), schedtest.Job(s, 1, s))
	in.Cluster.Intra = 1e18
	for i := range 2 {
		in.Jobs[i].Stages[0].Compute = sched.Duration(s)*1000 - 5 // and 5 ns for the AllReduce
	}
	return in
}

// At its releases the example uses all GPUs at every moment and has none of
// its 64 assignments, counted one by one.
func TestClashIsFound(t *testing.T) {
	in := clashExample()
	p := problemOf(t, in, sched.TotalCompletion)
	if d := p.jobs[0].choices; len(d) != 2 || d[0].time != sched.Second || d[1].time < 10*sched.Second {
		t.Fatalf("the pair takes %+v", d)
	}
	feasible := 0
	for code := range 64 {
		ok := true
		for at := sched.Time(0); at < 3*sched.Second; at += sched.Second {
			var used [2]int
			for i := range p.jobs {
				j := &p.jobs[i]
				if j.release <= at && at < j.release+j.least() {
					used[code>>i&1] += j.gang
				}
			}
			if used[0]+used[1] != 4 {
				t.Fatalf("%v GPUs are used at %v", used, at)
			}
			ok = ok && used[0] == 2 && used[1] == 2
		}
		if ok {
			feasible++
		}
	}
	if feasible != 0 {
		t.Fatalf("%d of 64 assignments are feasible", feasible)
	}

	g := grid{slot: sched.Second}
	m, err := p.build(g, p.deadlines(g, big.NewRat(1e9, 1)), make([]bool, 6), true)
	if err != nil {
		t.Fatal(err)
	}
	var starts []start
	for i := range p.jobs {
		starts = append(starts, start{job: i, slot: g.firstSlot(p.jobs[i].release)})
	}
	if err := milp.Check(m.model, m.point(starts)); err != nil {
		t.Fatalf("aggregated capacity refuses the example: %v", err)
	}
	if _, none, verdict := p.assign(m.requests(starts), exactly); verdict != impossible || len(none) != 5 { // the last single may be anywhere
		t.Errorf("verdict %v, clash %v", verdict, none)
	}
	found := m.clashes(starts)
	if len(found) != 1 || found[0].atOnce || len(found[0].members) != 5 {
		t.Fatalf("clashes %+v", found)
	}
	m.forbid(found[0])
	if milp.Check(m.model, m.point(starts)) == nil {
		t.Error("the clash is not forbidden")
	}

	got, err := Solve(context.Background(), in, sched.TotalCompletion, branch.New(lpsolve.LP{}), Options{Slot: sched.Second})
	if err != nil {
		t.Fatal(err)
	}
	_, want := schedtest.BruteForce(in, sched.TotalCompletion)
	alone := p.objective(p.trivial())
	if !got.Optimal() || got.Cost.Cmp(want) != 0 || want.Cmp(alone) <= 0 {
		t.Errorf("interval [%v, %v], optimum %v, alone %v", got.Bound, got.Cost, want, alone)
	}
}

// packing returns jobs of one GPU and jobs of two or three that want to be on
// one server, released at about the same time. If odd, times are no multiples
// of a second.
func packing(r *rand.Rand, jobs int, odd bool) *sched.Instance {
	const s = sched.Second
	in := schedtest.Plain(schedtest.Servers([][]int{{2, 2}, {3, 3}, {2, 2, 2}}[r.IntN(3)]...), schedtest.Job(0, 1, s))
	in.Cluster.Intra, in.Jobs = 1e18, nil
	for range jobs {
		j := schedtest.Job(sched.Time(r.IntN(2))*s, 1+r.IntN(2), sched.Time(1+r.IntN(3))*s)
		j.Weight = float64(1 + r.IntN(4))
		if odd {
			j.Release += sched.Time(r.IntN(1e6))
			j.Stages[0].Compute += sched.Duration(r.IntN(1e9))
		}
		if k := j.Gang(); k > 1 { // split, an AllReduce takes seconds; together, some nanoseconds
			j.Stages[0].Params = sched.Bytes(k) * 3e8
			j.Stages[0].Compute -= 100
		}
		in.Jobs = append(in.Jobs, j)
	}
	return in
}

// Every feasible schedule has a point that satisfies all rows and costs no
// more: aggregated capacity, and the clashes of whatever starts there are.
func TestSchedulesHavePoints(t *testing.T) {
	r := schedtest.Rand(11)
	atOnce, windows, points := 0, 0, 0
	draws := tier.Draws(60, 500)
	for k := range draws {
		p := problemOf(t, packing(r, 6+r.IntN(4), k%2 > 0), sched.WeightedCompletion)
		g := grid{slot: sched.Second}
		var plans [][]stay
		var late big.Rat
		for range 30 {
			stays := p.listSchedule(r.Perm(len(p.jobs)))
			plans = append(plans, stays)
			if c := p.cost(p.completions(stays)); c.Cmp(&late) > 0 {
				late.Set(c)
			}
		}
		s := &search{p: p}
		build := func() *program {
			m, err := p.build(g, p.deadlines(g, &late), s.clashing(), true)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range s.clashes {
				m.forbid(c)
			}
			return m
		}
		m := build()
		for range 100 {
			starts := p.onGrid(g, r.Perm(len(p.jobs)))
			for i := range starts {
				starts[i].slot += r.IntN(4) / 3
				starts[i].choice = r.IntN(len(m.byJob[starts[i].job]))
			}
			x := m.point(starts)
			if x == nil || milp.Check(m.model, x) != nil {
				continue
			}
			found := m.clashes(starts)
			s.clashes = append(s.clashes, found...)
			for _, c := range found {
				if c.atOnce {
					atOnce++
				} else {
					windows++
				}
			}
			if len(found) == 0 {
				continue
			}
			if m = build(); milp.Check(m.model, m.point(starts)) == nil {
				t.Fatalf("instance %d: %+v does not forbid %+v", k, found, starts)
			}
		}
		for _, stays := range plans {
			x := m.discretised(stays)
			if x == nil {
				t.Fatal("a schedule within the deadlines has no point")
			}
			points++
			if err := milp.Check(m.model, x); err != nil {
				t.Fatalf("instance %d: %v\nclashes %+v\nstays %+v", k, err, s.clashes, stays)
			}
			if m.model.ExactObjective(x).Cmp(p.cost(p.completions(stays))) > 0 {
				t.Fatalf("instance %d: the point costs %v, the schedule %v", k, m.model.ExactObjective(x), p.cost(p.completions(stays)))
			}
		}
	}
	t.Logf("%d clashes at once, %d of windows, %d points", atOnce, windows, points)
	if 500*atOnce < 100*draws || 500*windows < 50*draws || points < 2*draws {
		t.Error("the test has lost its subject")
	}
}

// Where servers matter most the interval still closes on whole data, and holds
// the optimum on any.
func TestPackingAgreesWithExhaustive(t *testing.T) {
	r := schedtest.Rand(16)
	clashes := 0
	for k := range tier.Draws(270, 800) {
		in := packing(r, 4+r.IntN(4), k%3 == 0)
		obj := []sched.Objective{sched.TotalCompletion, sched.WeightedCompletion, sched.Makespan}[r.IntN(3)]
		got, err := Solve(context.Background(), in, obj, branch.New(lpsolve.LP{}), Options{Slot: sched.Second})
		if err != nil {
			t.Fatal(err)
		}
		schedtest.Verify(t, in, got.Schedule)
		best, err := exhaustive.Solve(context.Background(), in, obj, exact.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		_, divides, err := Grid(in, obj, Options{Slot: sched.Second})
		if err != nil {
			t.Fatal(err)
		}
		if got.Bound.Cmp(best.Cost) > 0 || got.Cost.Cmp(best.Cost) < 0 || divides && !got.Optimal() {
			t.Errorf("instance %d, %v: optimum %v, interval [%v, %v]", k, obj, best.Cost, got.Bound, got.Cost)
		}
		if n := len(got.Programs); n > 0 {
			clashes += got.Programs[n-1].Added
		}
	}
	t.Logf("%d clashes", clashes)
	if clashes < 20 {
		t.Error("the test has lost its subject")
	}
}

// Serial schedule generation on a grid makes feasible points, and shifting to
// the left makes nothing later.
func TestListSchedules(t *testing.T) {
	r := schedtest.Rand(12)
	for range 100 {
		in := schedtest.Gang(r, schedtest.Shape{Jobs: 2 + r.IntN(8), Servers: 1 + r.IntN(3), GPUs: 4, Stages: 2, Traffic: true})
		p := problemOf(t, in, sched.TotalCompletion)
		order := r.Perm(len(p.jobs))
		for _, up := range []bool{false, true} {
			g := grid{slot: sched.Second / 4, up: up}
			known := p.planOf(p.listSchedule(order))
			starts := p.onGrid(g, order)
			if up {
				known.cost = g.cost(p, starts)
			}
			m, err := p.build(g, p.deadlines(g, known.cost), make([]bool, len(p.jobs)), true)
			if err != nil {
				t.Fatal(err)
			}
			x := m.point(starts)
			if !up {
				x = m.discretised(known.stays)
			}
			if x == nil {
				t.Fatal("the windows cut off the schedule that they come from")
			}
			if err := milp.Check(m.model, x); err != nil {
				t.Fatal(err)
			}
			if c := m.model.ExactObjective(x).Cmp(known.cost); c > 0 || up && c != 0 {
				t.Fatalf("the point costs %v, the schedule %v", m.model.ExactObjective(x), known.cost)
			}
		}
		stays := p.listSchedule(order)
		for i := range stays { // insert idle time
			delay := sched.Time(r.IntN(1e7))
			for k := range stays {
				if stays[k].start >= stays[i].start && k != i {
					stays[k].start += delay
					stays[k].end += delay
				}
			}
		}
		shifted := p.shift(stays)
		before, after := p.completions(stays), p.completions(shifted)
		for i := range after {
			if after[i] > before[i] {
				t.Fatalf("job %d completes at %v, before at %v", i, after[i], before[i])
			}
		}
		s, err := p.schedule(shifted)
		if err != nil {
			t.Fatal(err)
		}
		schedtest.Verify(t, in, s)
		if _, err := p.incumbent(s); err != nil {
			t.Fatal(err)
		}
	}
}

// assign agrees with trying every way to place jobs on servers.
func TestAssignAgreesWithEnumeration(t *testing.T) {
	r := schedtest.Rand(13)
	count := map[verdict]int{}
	for range 400 {
		in := schedtest.Gang(r, schedtest.Shape{Jobs: 2 + r.IntN(5), Servers: 2 + r.IntN(2), GPUs: 3, Stages: 2, Traffic: true, Uniform: r.IntN(2) > 0})
		p := problemOf(t, in, sched.TotalCompletion)
		var requests []request
		length := make([]sched.Time, len(p.jobs))
		for i := range p.jobs {
			requests = append(requests, request{job: i, start: sched.Time(r.IntN(6)), limit: r.IntN(len(p.jobs[i].choices))})
			length[i] = sched.Time(1 + r.IntN(4))
		}
		lengths := func(j *job, k int) sched.Time { return length[j.id] }
		stays, none, got := p.assign(requests, lengths)
		count[got]++
		want := impossible
		if enumerate(p, requests, length, nil) {
			want = assigned
		}
		if got != want {
			t.Fatalf("%v, enumeration says %v: %+v", got, want, requests)
		}
		if got == assigned {
			for m, free := range minFree(p, stays) {
				if free < 0 {
					t.Fatalf("server %d is overfull: %+v", m, stays)
				}
			}
			continue
		}
		if enumerate(p, none, length, nil) {
			t.Fatalf("%+v is no clash", none)
		}
		for k := range none {
			rest := append(append([]request{}, none[:k]...), none[k+1:]...)
			if !enumerate(p, rest, length, nil) {
				t.Fatalf("%+v is a clash without request %d", none, k)
			}
		}
	}
	t.Log(count)
	if count[assigned] < 50 || count[impossible] < 50 {
		t.Errorf("verdicts %v: one-sided", count)
	}
}

func minFree(p *problem, stays []stay) []int {
	least := make([]int, len(p.in.Cluster.Servers))
	for m := range least {
		least[m] = math.MaxInt
	}
	for _, s := range stays {
		for m, f := range p.free(stays, s.start, s.end) {
			least[m] = min(least[m], f)
		}
	}
	return least
}

// enumerate tries every vector of GPUs per server whose parts and sizes are
// those of a pattern within the limit.
func enumerate(p *problem, requests []request, length []sched.Time, done []stay) bool {
	if len(done) == len(requests) {
		return true
	}
	q := requests[len(done)]
	j := &p.jobs[q.job]
	parts := make([]int, len(p.in.Cluster.Servers))
	var choose func(m, left int) bool
	choose = func(m, left int) bool {
		if m == len(parts) {
			if left > 0 || !admitted(p, j, q.limit, parts) {
				return false
			}
			s := stay{job: q.job, start: q.start, end: q.start + length[q.job]}
			for v, n := range parts {
				if n > 0 {
					s.servers, s.parts = append(s.servers, v), append(s.parts, n)
				}
			}
			next := append(append([]stay{}, done...), s)
			for _, f := range minFree(p, next) {
				if f < 0 {
					return false
				}
			}
			return enumerate(p, requests, length, next)
		}
		for n := 0; n <= min(left, p.in.Cluster.Servers[m].GPUs); n++ {
			parts[m] = n
			if choose(m+1, left-n) {
				return true
			}
		}
		parts[m] = 0
		return false
	}
	return choose(0, j.gang)
}

// admitted reports whether the parts per server are one of the job's patterns.
func admitted(p *problem, j *job, limit int, parts []int) bool {
	type cell struct{ size, part int }
	count := func(m map[cell]int) map[cell]int { delete(m, cell{}); return m }
	have := map[cell]int{}
	for m, n := range parts {
		if n > 0 {
			have[cell{p.in.Cluster.Servers[m].GPUs, n}]++
		}
	}
	for _, c := range j.choices[:limit+1] {
		if c.patterns == nil {
			return true
		}
		for _, q := range c.patterns {
			want := map[cell]int{}
			for k := range q.Parts {
				want[cell{q.Sizes[k], q.Parts[k]}]++
			}
			same := len(count(want)) == len(have)
			for k, n := range want {
				same = same && have[k] == n
			}
			if same {
				return true
			}
		}
	}
	return false
}

func TestProductRoundsDown(t *testing.T) {
	r := schedtest.Rand(14)
	exacts := 0
	for range 20_000 {
		w := []float64{float64(1 + r.IntN(1000)), r.ExpFloat64(), 0.1 * float64(1+r.IntN(50)), math.Ldexp(float64(1+r.IntN(7)), -3)}[r.IntN(4)]
		v := sched.Time(r.Int64N(int64(sched.MaxTime)))
		got, exact := product(w, v)
		truth := new(big.Rat).Mul(new(big.Rat).SetFloat64(w), new(big.Rat).SetInt64(int64(v)))
		c := new(big.Rat).SetFloat64(got).Cmp(truth)
		if c > 0 || exact != (c == 0) || new(big.Rat).SetFloat64(math.Nextafter(got, math.Inf(1))).Cmp(truth) <= 0 {
			t.Fatalf("%v·%d: %v, exact %v", w, v, got, exact)
		}
		if exact {
			exacts++
		}
	}
	if exacts < 5000 || exacts > 15_000 {
		t.Errorf("%d of 20000 products are exact", exacts)
	}
}

func TestLargestSum(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 1))
	for range 500 {
		numbers := make([]int, r.IntN(8))
		total := 0
		for i := range numbers {
			numbers[i] = 1 + r.IntN(9)
			total += numbers[i]
		}
		limit := r.IntN(30)
		want := 0
		for set := range 1 << len(numbers) {
			sum := 0
			for i, v := range numbers {
				sum += v * (set >> i & 1)
			}
			if sum <= limit {
				want = max(want, sum)
			}
		}
		if got, all := largestSum(numbers, limit); got != want || all != (total <= limit) {
			t.Fatalf("%v up to %d: %d, %v; want %d", numbers, limit, got, all, want)
		}
	}
}
