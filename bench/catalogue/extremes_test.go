package catalogue

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"yardstick/bench"
	"yardstick/bench/suite"
	"yardstick/bounds"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/sched/verify"
	"yardstick/solvers/milp"
)

// extremeModels are the instances that TestExtremes draws.
var extremeModels = []struct {
	name  string
	draw  func(*extremes) *sched.Instance
	slots bool
}{
	{"gang", (*extremes).gang, false},
	{"gang in slots", (*extremes).gang, true},
	{"preemptive", (*extremes).preemptive, false},
	{"preemptive in slots", (*extremes).preemptive, true},
	{"sharing", (*extremes).sharing, false},
	{"sharing in slots", (*extremes).sharing, true},
	{"elastic", (*extremes).elastic, true},
}

// TestExtremes gives every method instances in which any field may have its
// least or its largest legal value. Whatever a method returns is right, a schedule
// that verifies and a bound that no verified schedule of its class beats, or it
// says in one line why there is none. Only policies may fail, and what is asked of a job
// that runs for longer than time goes on. YARDSTICK_TESTS=long draws many more.
func TestExtremes(t *testing.T) {
	tier.Unraced(t)
	draws := tier.Draws(2, 4)
	if tier.Long() {
		draws = 100
	}
	for _, model := range extremeModels {
		t.Run(model.name, func(t *testing.T) {
			for seed := range uint64(draws) {
				e := &extremes{Rand: rand.New(rand.NewPCG(seed, 16)), slots: model.slots}
				runExtreme(t, seed, e.valid(model.draw))
			}
		})
	}
}

// runExtreme runs every method on the instance and holds the results against each
// other.
func runExtreme(t *testing.T, seed uint64, in *sched.Instance) {
	t.Helper()
	problem := bench.Problem{Instance: in, Objectives: drawnObjectives(in),
		Limits: suite.Limits{Solve: time.Duration(tier.Draws(50, 200)) * time.Millisecond, Nodes: 100, Memory: 1 << 30}, Seed: seed}
	policies := NamesOf(bench.Online)
	verified := map[string]*verify.Verified{}
	proven := map[string][]bounds.Bound{}
	for _, name := range ownNames() {
		outcomes, err := runOne(name, problem, tier.All())
		if err != nil {
			if text := err.Error(); strings.Contains(text, "\n") || strings.Contains(text, "runtime error") || len(text) > 400 {
				t.Errorf("seed %d: %s says more than one line, or panics: %s\n%s", seed, name, text, instanceText(in))
			} else if !slices.Contains(policies, name) && !strings.Contains(text, "more than "+sched.MaxTime.String()) {
				t.Errorf("seed %d: %s fails where it should be skipped: %s\n%s", seed, name, text, instanceText(in))
			}
			continue
		}
		for i, o := range outcomes {
			where := fmt.Sprintf("%s for %v", name, problem.Objectives[i])
			if o.Schedule == nil && o.Bounds == nil && o.Message == "" && o.Termination == milp.Optimal || strings.Contains(o.Message, "\n") {
				t.Errorf("seed %d: %s returns nothing, %s, and says %q\n%s", seed, where, o.Termination, o.Message, instanceText(in))
			}
			if o.Schedule != nil {
				v, err := verify.Check(in, o.Schedule)
				if err != nil {
					t.Errorf("seed %d: %s: %v\n%s", seed, where, err, instanceText(in))
					continue
				}
				verified[where] = v
			}
			proven[where] = o.Bounds
		}
	}
	for _, where := range slices.Sorted(maps.Keys(proven)) {
		for _, b := range proven[where] {
			for _, by := range slices.Sorted(maps.Keys(verified)) {
				v := verified[by]
				cost := v.Cost(b.Objective)
				if cost == nil || !v.Class().Reaches(b.Class) {
					continue
				}
				if sign := cost.Cmp(b.Value); sign < 0 && !b.Objective.Maximised() || sign > 0 && b.Objective.Maximised() {
					t.Errorf("seed %d: %s proves %s of class %v, but %s costs %s\n%s", seed, where, b.Value.FloatString(3), b.Class, by, cost.FloatString(3), instanceText(in))
				}
			}
		}
	}
}

// drawnObjectives lists the objectives but two that differ from total JCT by a constant.
func drawnObjectives(in *sched.Instance) []sched.Objective {
	return slices.DeleteFunc(sched.Objectives(), func(o sched.Objective) bool {
		return o == sched.TotalCompletion || o == sched.MeanJCT || o == sched.ScheduledWeight && in.Deadline == 0
	})
}

// fewSteps are parameters of the methods that count their steps, and say by themselves
// how many: with these they make few.
var fewSteps = map[string]map[string]string{
	"lns":        {"moves": "20"},
	"lagrangian": {"iterations": "5"},
	"knapsack":   {"iterations": "5"},
}

// endedContext ends after its error was asked for so many times.
type endedContext struct {
	context.Context
	left atomic.Int64
}

func (c *endedContext) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// runOne runs a method, with as many steps as it makes by default, or with few. A bracket,
// whose steps are those of the others, is then ended by its context, as a cell's limit does:
// what it has holds whenever that is.
func runOne(name string, p bench.Problem, whole bool) (out []bench.Outcome, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("runtime error: %v\n%s", r, debug.Stack())
		}
	}()
	ref, ctx := suite.MethodRef{Name: name}, context.Background()
	if !whole {
		ref.Params = fewSteps[name]
		if name == "bracket" {
			ended := &endedContext{Context: ctx}
			ended.left.Store(50)
			ctx = ended
		}
	}
	if name == "pollux-like" || name == "tiresias-las" || strings.HasPrefix(name, "periodic") {
		ref.Params = map[string]string{"interval": "25000h"} // as they are they tick all the 29 years through
	}
	m, err := Resolve(ref)
	if err != nil {
		return nil, err
	}
	return m.Run(ctx, p)
}

func instanceText(in *sched.Instance) string {
	var b strings.Builder
	if err := in.Write(&b); err != nil {
		return err.Error()
	}
	return b.String()
}

// extremes draws instances with values at the ends of their ranges.
type extremes struct {
	*rand.Rand
	slots bool
	heat  int  // one in so many values is extreme
	long  bool // most jobs run for 0.4 times the time there is
}

// valid draws until Validate accepts.
func (e *extremes) valid(draw func(*extremes) *sched.Instance) *sched.Instance {
	for {
		e.heat = 2 + e.IntN(12)
		if e.long = e.IntN(2) == 0; e.long {
			e.heat = 30
		}
		in := draw(e)
		if in.Validate() == nil {
			return in
		}
	}
}

// pick returns the usual value or, seldom, one of the others.
func pick[T any](e *extremes, usual T, others ...T) T {
	if e.IntN(e.heat) > 0 {
		return usual
	}
	return others[e.IntN(len(others))]
}

func (e *extremes) time(usual sched.Time) sched.Time {
	return pick(e, usual, 0, 1, sched.Second-1, sched.MaxTime/2, sched.MaxTime-sched.Second, sched.MaxTime-1, sched.MaxTime)
}

func (e *extremes) duration(usual sched.Duration) sched.Duration {
	if e.long {
		usual = sched.Duration(sched.MaxTime) * 400
	}
	return pick(e, usual, 1, 999, 1000, sched.Duration(sched.MaxTime)*500, sched.Duration(sched.MaxTime)*1000, sched.Duration(sched.MaxTime)*1000+1, math.MaxInt64)
}

// repeats returns how often a job does what takes a duration.
func (e *extremes) repeats() int64 {
	if e.long {
		return pick(e, int64(1), 2, math.MaxInt64)
	}
	return pick(e, 1+e.Int64N(20), 1, 1e6, 1e12, math.MaxInt64)
}

func (e *extremes) bytes(usual sched.Bytes) sched.Bytes { return pick(e, usual, 0, 1, 1e14-1, 1e14) }

func (e *extremes) gang() *sched.Instance {
	in := &sched.Instance{Name: "extreme", Model: sched.ModelGang, Cluster: sched.Cluster{
		Inter: pick(e, sched.Bandwidth(1e9), 1, 2, math.MaxInt64), Intra: pick(e, sched.Bandwidth(3e9), 1, math.MaxInt64-1, math.MaxInt64)}}
	servers, jobs := 1+e.IntN(3), 1+e.IntN(4)
	if e.long {
		servers, jobs = 1, 4
	}
	for range servers {
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: pick(e, 1+e.IntN(4), 0, 3_000, 9_999, 10_000)})
	}
	if e.slots {
		in.Slot = pick(e, sched.Second, 7, sched.MaxTime/1000, sched.MaxTime/2+1, sched.MaxTime)
	}
	for range jobs {
		in.Jobs = append(in.Jobs, e.rigid(in.Cluster.GPUs()))
	}
	return in
}

// rigid draws a job whose gang is small, or as large as the cluster.
func (e *extremes) rigid(gpus int) sched.Job {
	j := sched.Job{Release: e.time(sched.Time(e.IntN(20)) * sched.Second), Weight: pick(e, float64(1+e.IntN(9)), 5e-324, 1e-300, 1e300, math.MaxFloat64),
		Iters: e.repeats(), Load: e.time(0)}
	for range 1 + e.IntN(2) {
		j.Stages = append(j.Stages, sched.Stage{Replicas: pick(e, 1+e.IntN(2), gpus-1, gpus), Compute: e.duration(sched.Duration(1 + e.IntN(1e9))),
			Params: e.bytes(sched.Bytes(e.IntN(2) * 1e8)), Boundary: e.bytes(1e6)})
	}
	j.Stages[len(j.Stages)-1].Boundary = 0
	return j
}

func (e *extremes) preemptive() *sched.Instance {
	in := e.gang()
	in.Model = sched.ModelPreemptive
	for i := range in.Jobs {
		in.Jobs[i].Load, in.Jobs[i].Pause = e.time(sched.Second), e.time(sched.Second)
		if e.IntN(2) == 0 {
			in.Jobs[i].Stages[0].Params, in.Jobs[i].Stages[0].Boundary, in.Jobs[i].Stages = 0, 0, in.Jobs[i].Stages[:1]
		}
	}
	return in
}

func (e *extremes) sharing() *sched.Instance {
	in := e.gang()
	in.Model = sched.ModelSharing
	memory := e.bytes(16e9)
	for m := range in.Cluster.Servers {
		in.Cluster.Servers[m].GPUMemory = memory
	}
	for range 2 {
		in.Interference = append(in.Interference, []float64{pick(e, 1.5, 1, math.Nextafter(1, 2), 1e15, math.MaxFloat64), pick(e, 1.1, 1, 1e300)})
	}
	malleable := e.IntN(3) == 0
	for i := range in.Jobs {
		j := &in.Jobs[i]
		j.Stages, j.Stages[0].Boundary = j.Stages[:1], 0
		j.Pause = e.time(0)
		j.Sharing = &sched.Sharing{Task: i % 2, Accumulation: []sched.Accumulation{{Steps: 1, Iter: e.duration(1e9), Memory: e.bytes(9e9)},
			{Steps: pick(e, 2, math.MaxInt), Iter: e.duration(12e8), Memory: e.bytes(5e9)}}}
		if !malleable {
			continue
		}
		for g := 1; g <= min(in.Cluster.GPUs(), 3); g++ {
			j.Sharing.Sizes = append(j.Sharing.Sizes, sched.Size{GPUs: g, Iter: e.duration(sched.Duration(4e9 / g)), Memory: e.bytes(9e9)})
		}
	}
	return in
}

func (e *extremes) elastic() *sched.Instance {
	const amount = 1_000_000_000_000 // the largest
	in := &sched.Instance{Name: "extreme", Model: sched.ModelElastic, Slot: pick(e, sched.Second, sched.MaxTime/1000, sched.MaxTime/2+1, sched.MaxTime), Deadline: e.time(0),
		Cluster: sched.Cluster{Inter: 1e9, Intra: 1e9}, Elastic: &sched.ElasticTypes{Resources: []string{"bw", "gpu", "mem"}}}
	for range 1 + e.IntN(3) {
		gpus := pick(e, 1+e.IntN(4), 0, 3_000)
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: gpus,
			Capacity: []int64{pick(e, int64(10_000), 0, 1, amount), int64(gpus), pick(e, int64(64), 0, 1, amount)}})
	}
	container := func(gpus int64) sched.Container {
		return sched.Container{Demand: []int64{pick(e, int64(1000), 1, amount), gpus, pick(e, int64(2), 0, 1, amount)}}
	}
	for range 1 + e.IntN(2) {
		in.Elastic.Workers = append(in.Elastic.Workers, container(pick(e, int64(1), 0)))
		in.Elastic.Servers = append(in.Elastic.Servers, container(pick(e, int64(0), 1)))
	}
	for range 1 + e.IntN(4) {
		el := &sched.Elastic{Ring: e.IntN(3) == 0, MaxWorkers: pick(e, 1+e.IntN(4), 10_000), Batches: e.repeats(),
			Gradients: pick(e, sched.Bytes(1e6), 0, 1, 1e14, math.MaxInt64)}
		for range in.Elastic.Workers {
			el.Train = append(el.Train, e.duration(1e9))
			el.Update = append(el.Update, pick(e, sched.Duration(1e8), 0, 1, math.MaxInt64))
		}
		if el.Ring {
			el.Update = el.Update[:1]
		}
		in.Jobs = append(in.Jobs, sched.Job{Release: e.time(sched.Time(e.IntN(20)) * sched.Second), Load: e.time(0), Pause: e.time(0),
			Weight: pick(e, float64(1+e.IntN(9)), 5e-324, 1e-300, 1e300, math.MaxFloat64), Elastic: el})
	}
	return in
}
