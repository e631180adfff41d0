package schedtest_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// elasticShapes vary everything that random elastic instances can.
func elasticShapes(r *rand.Rand, jobs int) schedtest.ElasticShape {
	return schedtest.ElasticShape{Jobs: jobs, Servers: 1 + r.IntN(3), Resources: 1 + r.IntN(3), WorkerTypes: 1 + r.IntN(2), ServerTypes: r.IntN(3),
		Workers: 4, Capacity: 4 + r.IntN(4), Slots: 4, Rings: r.IntN(2) == 0, Weights: true, Releases: sched.Time(r.IntN(3)) * 8 * sched.Second, Deadline: int64(r.IntN(2) * (2 + r.IntN(5)))}
}

var elasticObjectives = []sched.Objective{sched.WeightedCompletion, sched.TotalJCT, sched.Makespan, sched.ScheduledWeight}

// TestStructureLemma: dropping workers that do not shorten a job and all
// parameter servers but those of one server loses no optimum.
func TestStructureLemma(t *testing.T) {
	all, kept, solved := 0, 0, 0
	schedtest.EachSeed(t, 150, func(t *testing.T, r *rand.Rand) {
		in := schedtest.Elastic(r, elasticShapes(r, 2+r.IntN(2)))
		schedules := 1
		for id := range in.Jobs {
			full, few := schedtest.ElasticChoices(in, sched.JobID(id)), schedtest.UndominatedChoices(in, sched.JobID(id))
			all, kept = all+len(full), kept+len(few)
			schedules *= len(full)
			if shortest(full) != shortest(few) {
				t.Fatalf("job %d needs %d slots, %d without the dominated choices\n%+v", id, shortest(full), shortest(few), in)
			}
		}
		for _, obj := range elasticObjectives {
			if obj == sched.ScheduledWeight && in.Deadline == 0 || schedules > 20_000 {
				continue
			}
			s, cost := schedtest.ElasticBruteForce(in, obj)
			v := schedtest.Verify(t, in, s)
			if got := v.Cost(obj); got == nil || got.Cmp(cost) != 0 {
				t.Fatalf("%v: the schedule costs %v, not %v", obj, got, cost)
			}
			s, undominated := schedtest.ElasticOptimum(in, obj, schedtest.UndominatedChoices)
			schedtest.Verify(t, in, s)
			if undominated.Cmp(cost) != 0 {
				t.Fatalf("%v: optimum %v over all choices, %v over the undominated ones\n%+v", obj, cost, undominated, in)
			}
			solved++
		}
	})
	t.Logf("%d optima; %d choices, %d undominated", solved, all, kept)
	if solved < 300 {
		t.Errorf("only %d optima compared", solved)
	}
}

func shortest(list []schedtest.ElasticChoice) int64 {
	return slices.MinFunc(list, func(a, b schedtest.ElasticChoice) int { return int(a.Slots - b.Slots) }).Slots
}

// TestElasticBruteForceByTime compares the brute force over orders with one
// over all starting slots, which knows nothing of orders, and tries longer
// windows than needed too.
func TestElasticBruteForceByTime(t *testing.T) {
	schedtest.EachSeed(t, 60, func(t *testing.T, r *rand.Rand) {
		shape := elasticShapes(r, 2)
		shape.Capacity, shape.Slots, shape.Workers = 3, 3, 2
		in := schedtest.Elastic(r, shape)
		choices := make([][]schedtest.ElasticChoice, len(in.Jobs))
		horizon := int64(1)
		for id := range in.Jobs {
			choices[id] = schedtest.ElasticChoices(in, sched.JobID(id))
			horizon = max(horizon, in.FirstSlot(sched.JobID(id))+1)
			for _, c := range choices[id] {
				horizon = max(horizon, in.FirstSlot(sched.JobID(id))+2*c.Slots)
			}
		}
		for _, obj := range elasticObjectives {
			if obj == sched.ScheduledWeight && in.Deadline == 0 {
				continue
			}
			_, cost := schedtest.ElasticBruteForce(in, obj)
			if want := byTime(in, obj, choices, min(horizon, 12)); want.Cmp(cost) != 0 {
				t.Fatalf("%v: %v by order, %v by time\n%+v", obj, cost, want, in)
			}
		}
	})
}

// byTime tries every choice of both jobs at every slot, and every subset of the
// jobs for ScheduledWeight.
func byTime(in *sched.Instance, obj sched.Objective, choices [][]schedtest.ElasticChoice, horizon int64) *big.Rat {
	var best *big.Rat
	completion := []sched.Time{-1, -1}
	try := func() {
		if cost := obj.Cost(in, completion); best == nil || cost.Cmp(best) != 0 && (cost.Cmp(best) > 0) == obj.Maximised() {
			best = cost
		}
	}
	use := func(x *schedtest.ElasticChoice, h, r int) int64 {
		for i := range x.Place.Shares {
			if x.Place.Shares[i].Server == h {
				return in.ElasticDemand(&x.Place, i, r)
			}
		}
		return 0
	}
	fit := func(a, b *schedtest.ElasticChoice) bool {
		for h := range in.Cluster.Servers {
			for r, has := range in.Cluster.Servers[h].Capacity {
				if use(a, h, r)+use(b, h, r) > has {
					return false
				}
			}
		}
		return true
	}
	if obj == sched.ScheduledWeight {
		try()
		for id := range in.Jobs {
			completion[0], completion[1] = -1, -1
			for i := range choices[id] {
				completion[id] = sched.Time(in.FirstSlot(sched.JobID(id))+choices[id][i].Slots) * in.Slot
				try()
			}
		}
	}
	for i := range choices[0] {
		for k := range choices[1] {
			a, b := &choices[0][i], &choices[1][k]
			together := fit(a, b)
			for s := in.FirstSlot(0); s <= horizon; s++ {
				for u := in.FirstSlot(1); u <= horizon; u++ {
					if together || s+a.Slots <= u || u+b.Slots <= s {
						completion[0], completion[1] = sched.Time(s+a.Slots)*in.Slot, sched.Time(u+b.Slots)*in.Slot
						try()
					}
				}
			}
		}
	}
	return best
}

// TestElasticMetamorphic: scaling scales, permuting does nothing, another
// server or worker does no harm.
func TestElasticMetamorphic(t *testing.T) {
	optimum := func(in *sched.Instance, obj sched.Objective) *big.Rat {
		_, cost := schedtest.ElasticOptimum(in, obj, schedtest.UndominatedChoices)
		return cost
	}
	schedtest.EachSeed(t, 60, func(t *testing.T, r *rand.Rand) {
		shape := elasticShapes(r, 3)
		shape.Servers, shape.Workers, shape.Capacity = min(shape.Servers, 2), 3, 4
		in := schedtest.Elastic(r, shape)
		for _, obj := range elasticObjectives {
			if obj == sched.ScheduledWeight && in.Deadline == 0 {
				continue
			}
			cost := optimum(in, obj)
			scaled := new(big.Rat).Set(cost)
			if obj.IsTime() {
				scaled.Mul(scaled, big.NewRat(7, 1))
			}
			equal := map[string]*sched.Instance{
				"jobs":    schedtest.PermuteJobs(in, r.Perm(len(in.Jobs))),
				"servers": schedtest.PermuteServers(in, r.Perm(len(in.Cluster.Servers))),
			}
			for name, other := range equal {
				if got := optimum(other, obj); got.Cmp(cost) != 0 {
					t.Errorf("%v: permuting the %s makes %v of %v", obj, name, got, cost)
				}
			}
			if got := optimum(schedtest.ScaleElastic(in, 7), obj); got.Cmp(scaled) != 0 {
				t.Errorf("%v: scaling makes %v of %v", obj, got, cost)
			}
			more := *in
			more.Jobs = slices.Clone(in.Jobs)
			for i := range more.Jobs {
				e := *more.Jobs[i].Elastic
				e.MaxWorkers++
				more.Jobs[i].Elastic = &e
			}
			for name, other := range map[string]*sched.Instance{"server": schedtest.AddServer(in, in.Cluster.Servers[0]), "worker": &more} {
				if got := optimum(other, obj); got.Cmp(cost) != 0 && (got.Cmp(cost) < 0) == obj.Maximised() {
					t.Errorf("%v: another %s makes %v of %v", obj, name, got, cost)
				}
			}
		}
	})
}

// No random schedule beats the optimum.
func TestRandomElasticSchedule(t *testing.T) {
	schedtest.EachSeed(t, 60, func(t *testing.T, r *rand.Rand) {
		shape := elasticShapes(r, 3)
		shape.Servers, shape.Workers, shape.Capacity = min(shape.Servers, 2), 3, 4
		in := schedtest.Elastic(r, shape)
		_, least := schedtest.ElasticOptimum(in, sched.WeightedCompletion, schedtest.UndominatedChoices)
		for range 10 {
			v := schedtest.Verify(t, in, schedtest.RandomElasticSchedule(r, in))
			if cost := v.Cost(sched.WeightedCompletion); cost.Cmp(least) < 0 {
				t.Fatalf("a schedule costs %v, the optimum %v\n%+v", cost, least, in)
			}
		}
	})
}

// A job that cannot be done before MaxTime is left out where it may be.
func TestElasticNowhere(t *testing.T) {
	in := schedtest.Elastic(schedtest.Rand(1), schedtest.ElasticShape{Jobs: 2, Servers: 1, Resources: 1, WorkerTypes: 1, ServerTypes: 1, Workers: 2, Capacity: 5, Slots: 2, Deadline: 9})
	in.Jobs[0].Elastic.Batches = math.MaxInt64
	in.Jobs[1].Elastic.Ring = true
	s, cost := schedtest.ElasticBruteForce(in, sched.ScheduledWeight)
	v := schedtest.Verify(t, in, s)
	if _, ok := v.Completion(0); ok || cost.Cmp(big.NewRat(1, 1)) != 0 || v.Cost(sched.ScheduledWeight).Cmp(cost) != 0 {
		t.Errorf("cost %v of %+v", cost, s)
	}
	defer func() {
		if recover() == nil {
			t.Error("a job that runs for ever was completed")
		}
	}()
	schedtest.ElasticBruteForce(in, sched.TotalCompletion)
}
