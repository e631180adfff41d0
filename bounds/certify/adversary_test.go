package certify_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"yardstick/bounds"
	"yardstick/bounds/certify"
	"yardstick/formulate/elastic"
	"yardstick/formulate/maxweight"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive"
	"yardstick/solvers/exhaustive/bouts"
	"yardstick/solvers/exhaustive/sharing"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// farthest bounds single times of extreme instances, so that Validate and the models
// accept sums of a few.
const farthest = sched.MaxTime / 4

// span returns the time of one or very many slots, or of some slots and a bit.
func span(r *rand.Rand, slot sched.Time, few bool) sched.Time {
	n := pick[sched.Time](r, 1, 1, 2, 3, 10_000_000, 12_000_000)
	if few {
		n = sched.Time(1 + r.IntN(3))
	}
	t := farthest
	if n < farthest/slot {
		t = n * slot
	}
	return max(1, t+pick[sched.Time](r, 0, 0, 0, -1, 1, -slot/2))
}

// since returns a time of release.
func since(r *rand.Rand, slot sched.Time, few bool) sched.Time {
	if r.IntN(2) == 0 {
		return 0
	}
	return span(r, slot, few) - 1
}

func weights(r *rand.Rand) func() float64 {
	scale := pick(r, 1, 1, 1e-300, 5e-324, 1e-30, 1e15, 1e300)
	mixed := r.IntN(4) == 0
	return func() float64 {
		if mixed {
			return pick(r, 1e-300, 5e-324, 1, 7, 0.3, 1e12, 1e300)
		}
		return scale * float64(1+r.IntN(5))
	}
}

// extreme returns an instance of one of the models with very small and very large
// numbers in every field. With few, times are of a few slots.
func extreme(r *rand.Rand, model sched.Model, few bool) *sched.Instance {
	for {
		in := draw(r, model, few)
		if in.Validate() != nil {
			continue
		}
		if model == sched.ModelElastic && slices.ContainsFunc(in.Jobs, func(j sched.Job) bool {
			return len(in.ElasticConfigs(sched.JobID(slices.IndexFunc(in.Jobs, func(k sched.Job) bool { return k.Name == j.Name })))) == 0
		}) {
			continue
		}
		return in
	}
}

func draw(r *rand.Rand, model sched.Model, few bool) *sched.Instance {
	slot := pick[sched.Time](r, 1, millisecond, sched.Second, 3600*sched.Second)
	in := &sched.Instance{Name: "extreme", Model: model, Slot: slot, Cluster: schedtest.Servers(1 + r.IntN(3))}
	if r.IntN(2) == 0 && !(few && model == sched.ModelPreemptive) {
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: 1 + r.IntN(2)})
	}
	weight := weights(r)
	if model == sched.ModelElastic {
		drawTypes(r, in)
	}
	for i := range 1 + r.IntN(3) {
		j := sched.Job{Name: strconv.Itoa(i), Release: since(r, slot, few), Weight: weight()}
		length := span(r, slot, few)
		if model == sched.ModelElastic {
			j.Elastic = drawElastic(r, in, length)
			in.Jobs = append(in.Jobs, j)
			continue
		}
		gang := 1 + r.IntN(in.Cluster.GPUs())
		j.Iters, j.Stages = 1, []sched.Stage{{Replicas: gang, Compute: sched.Duration(length) * 1000}}
		if r.IntN(2) == 0 {
			j.Iters, j.Stages[0].Compute = int64(max(1, length/slot)), sched.Duration(slot)*1000
		}
		if model != sched.ModelSharing && !few && r.IntN(3) == 0 {
			j.Stages[0].Params = pick[sched.Bytes](r, 1, 1_000_000, 1_000_000_000_000, 100_000_000_000_000)
		}
		if model == sched.ModelPreemptive {
			j.Load, j.Pause = pick(r, 0, 0, 1, slot/2, slot, slot+1), pick(r, 0, 0, 1, slot, slot+1)
		}
		if model == sched.ModelSharing {
			iter, memory := j.Stages[0].Compute, pick[sched.Bytes](r, 1, 1_000_000_000_000, 5_000_000_000_000_000_000)
			j.Sharing = &sched.Sharing{Task: r.IntN(2), Accumulation: []sched.Accumulation{{Steps: 1, Iter: iter, Memory: memory}}}
			if r.IntN(2) == 0 {
				j.Sharing.Accumulation = append(j.Sharing.Accumulation, sched.Accumulation{Steps: 2, Iter: iter + 1000, Memory: memory/2 + 1})
			}
		}
		in.Jobs = append(in.Jobs, j)
	}
	if model == sched.ModelSharing {
		for m := range in.Cluster.Servers {
			in.Cluster.Servers[m].GPUMemory = pick[sched.Bytes](r, 2, 1_000_000_000_000, 6_000_000_000_000_000_000, math.MaxInt64)
		}
		xi := func() float64 { return pick(r, 1, 1, 1.25, 2, 1e10, 1e300) }
		in.Interference = [][]float64{{xi(), xi()}, {xi(), xi()}}
	}
	return in
}

func drawTypes(r *rand.Rand, in *sched.Instance) {
	amount := func() int64 { return pick[int64](r, 1, 2, 3, 1_000_000, 1_000_000_000_000) }
	in.Elastic = &sched.ElasticTypes{Resources: []string{"bw", "mem"}}
	for m := range in.Cluster.Servers {
		in.Cluster.Servers[m].Capacity = []int64{amount(), amount()}
	}
	for range 1 + r.IntN(2) {
		in.Elastic.Workers = append(in.Elastic.Workers, sched.Container{Demand: []int64{amount(), amount() - 1}})
	}
	if r.IntN(2) == 0 {
		in.Elastic.Servers = []sched.Container{{Demand: []int64{amount(), amount() - 1}}}
	}
	in.Deadline = pick(r, 1, in.Slot-1, in.Slot, in.Slot+1, 2*in.Slot, 3*in.Slot-1, 10_000*in.Slot)
	in.Deadline = min(max(in.Deadline, 1), farthest)
}

func drawElastic(r *rand.Rand, in *sched.Instance, length sched.Time) *sched.Elastic {
	e := &sched.Elastic{Ring: len(in.Elastic.Servers) == 0 || r.IntN(2) == 0, MaxWorkers: 1 + r.IntN(3), Batches: 1, Gradients: pick[sched.Bytes](r, 0, 1, 1_000_000, 1_000_000_000_000)}
	batch := sched.Duration(length) * 1000
	if r.IntN(2) == 0 {
		e.Batches, batch = int64(max(1, length/in.Slot)), sched.Duration(in.Slot)*1000
	}
	for range in.Elastic.Workers {
		e.Train = append(e.Train, batch)
	}
	e.Update = []sched.Duration{pick(r, 0, 1, batch/2)}
	return e
}

// number changes a number of a proof.
func number(r *rand.Rand, old json.Number) json.Number {
	v, ok := new(big.Rat).SetString(string(old))
	if !ok || r.IntN(4) == 0 {
		return pick[json.Number](r, "0", "1", "-1", "2", "1048576", "4294967296", "1099511627776", "4611686018427387904", "9223372036854775807", "-9223372036854775808", "900000000000000", "1e-300", "5e-324", "1e300", "0.5")
	}
	switch r.IntN(6) {
	case 0:
		v.Add(v, big.NewRat(1, 1))
	case 1:
		v.Sub(v, big.NewRat(1, 1))
	case 2:
		v.Mul(v, big.NewRat(2, 1))
	case 3:
		v.Quo(v, big.NewRat(2, 1))
	case 4:
		v.Mul(v, big.NewRat(1_000_000_000_000, 1))
	case 5:
		v.Mul(v, new(big.Rat).SetFloat64(1+math.Ldexp(1, -1-r.IntN(50))))
	}
	if v.IsInt() {
		return json.Number(v.RatString())
	}
	f, _ := v.Float64()
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}

// forge changes a few things of a proof's data: numbers, and what lists and objects
// hold.
func forge(t *testing.T, r *rand.Rand, data any) any {
	t.Helper()
	text, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	for range 1 + r.IntN(3) {
		v = change(r, v)
	}
	return v
}

func change(r *rand.Rand, v any) any {
	switch x := v.(type) {
	case json.Number:
		return number(r, x)
	case bool:
		return !x
	case []any:
		if len(x) == 0 {
			return x
		}
		k := r.IntN(len(x))
		switch r.IntN(12) {
		case 0:
			return slices.Delete(slices.Clone(x), k, k+1)
		case 1:
			return append(slices.Clone(x), x[k])
		case 2:
			return []any{}
		}
		x[k] = change(r, x[k])
	case map[string]any:
		if len(x) == 0 {
			return x
		}
		key := pick(r, slices.Sorted(maps.Keys(x))...)
		if r.IntN(20) == 0 {
			delete(x, key)
			return x
		}
		x[key] = change(r, x[key])
	}
	return v
}

// above returns values beyond an optimum, from next to it to very far.
func above(r *rand.Rand, optimum *big.Rat, maximised bool) *big.Rat {
	by := pick(r, big.NewRat(1, 1_000_000_000), big.NewRat(1, 1000), big.NewRat(1, 1), big.NewRat(1_000_000, 1), new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(r.IntN(70)))),
		new(big.Rat).Mul(optimum, big.NewRat(1, 1_000_000_000_000)), new(big.Rat).Mul(optimum, big.NewRat(1, 2)), new(big.Rat).Set(optimum))
	if by.Sign() <= 0 {
		by = big.NewRat(1, 1)
	}
	if maximised {
		by.Neg(by)
	}
	return by.Add(by, optimum)
}

// adversary counts what it has tried.
type adversary struct {
	t                         *testing.T
	forged, honest, confirmed int
	solved, refused           int // by exact solvers
	kinds                     map[string]int
}

// question is an instance and what is asked of it.
type question struct {
	in      *sched.Instance
	obj     sched.Objective
	class   sched.Class
	optimum *big.Rat // nil if a job runs nowhere
	exact   bool     // the optimum is that of the class, and not only of one that it contains
}

func ask(r *rand.Rand) (q question) {
	model := pick(r, sched.ModelGang, sched.ModelPreemptive, sched.ModelSharing, sched.ModelElastic, sched.ModelElastic)
	few := r.IntN(2) == 0
	q.in, q.obj, q.exact = extreme(r, model, few), pick(r, minimised...), true
	switch model {
	case sched.ModelGang:
		q.class = sched.Class{Kind: sched.N, Slotted: r.IntN(2) == 0}
	case sched.ModelPreemptive:
		q.class = sched.Class{Kind: pick(r, sched.N, sched.P), Slotted: r.IntN(2) == 0}
		q.exact = q.class.Kind == sched.N || few && q.class.Slotted && len(q.in.Cluster.Servers) == 1
	case sched.ModelSharing:
		q.class, q.exact = sched.Class{Kind: sched.S, Slotted: true}, few && len(q.in.Jobs) < 3
		for _, row := range q.in.Interference {
			q.exact = q.exact && slices.Max(row) < 10 // otherwise two jobs may be at it for ever
		}
	case sched.ModelElastic:
		q.class = sched.Class{Kind: sched.E, Slotted: true}
		if r.IntN(2) == 0 {
			q.obj = sched.ScheduledWeight
		}
	}
	if q.class.Kind == sched.P || q.class.Kind == sched.S { // the enumerations go on while waiting costs next to nothing
		lightest, heaviest := math.Inf(1), 0.0
		for i := range q.in.Jobs {
			lightest, heaviest = min(lightest, q.in.Jobs[i].Weight), max(heaviest, q.in.Jobs[i].Weight)
		}
		q.exact = q.exact && (q.obj != sched.WeightedCompletion || heaviest/lightest < 10)
	}
	q.optimum = uninterrupted(q.in, q.obj, q.class.Slotted)
	switch {
	case q.optimum == nil || !q.exact:
	case q.class.Kind == sched.P:
		q.optimum = interrupted(q.in, q.obj, q.optimum)
	case q.class.Kind == sched.S:
		_, q.optimum = schedtest.SharingBruteForce(q.in, q.obj)
	}
	return q
}

// attack tries to have false statements about one instance accepted.
func (a *adversary) attack(seed uint64) {
	t, r := a.t, schedtest.Rand(seed)
	q := ask(r)
	in, obj, class, optimum, exact := q.in, q.obj, q.class, q.optimum, q.exact
	if optimum == nil {
		return // whatever is said of all schedules is true
	}
	describe := func() string {
		text, _ := json.Marshal(in)
		return fmt.Sprintf("seed %d: %v of class %v: the optimum is at best %s\n%s", seed, obj, class, optimum.RatString(), text)
	}
	checker := certify.New(in, in.Hash())
	check := func(b *bounds.Bound) (*certify.Statement, error) {
		text, err := b.Document(in.Hash())
		if err != nil {
			t.Fatal(err)
		}
		s, err := checker.Check(text)
		if err != nil && !errors.Is(err, certify.ErrRefuted) && !errors.Is(err, certify.ErrTooHard) && !errors.Is(err, certify.ErrFormat) {
			t.Fatalf("%v\n%s", err, describe())
		}
		return s, err
	}
	bound := func(kind string, data any, value *big.Rat) *bounds.Bound {
		return &bounds.Bound{Name: kind, Class: class, Objective: obj, Value: value, Proof: &bounds.Proof{Kind: kind, Data: data}}
	}
	if exact {
		a.honest++
		switch _, err := check(bound("search", object{}, optimum)); {
		case err == nil:
			a.confirmed++
		case !errors.Is(err, certify.ErrTooHard):
			t.Fatalf("the optimum is not accepted: %v\n%s", err, describe())
		}
	}
	if exact {
		a.solve(in, obj, class, optimum, describe)
	}
	for range 4 {
		a.forged++
		value := above(r, optimum, obj.Maximised())
		if _, err := check(bound("search", object{}, value)); err == nil {
			t.Fatalf("a search accepts %s\n%s", value.RatString(), describe())
		}
	}
	trivial := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(-1), 1100))
	side := 1
	if obj.Maximised() {
		trivial.Neg(trivial)
		side = -1
	}
	for _, p := range a.proofs(r, in, obj, optimum, describe) {
		for k := range 3 {
			data := p.Data
			if k > 0 {
				data = forge(t, r, p.Data)
			}
			a.forged++
			s, err := check(bound(p.Kind, data, trivial))
			if err == nil && s.Proven.Cmp(optimum) == side {
				text, _ := json.Marshal(data)
				t.Fatalf("%s proves %s by\n%s\n%s", p.Kind, s.Proven.RatString(), text, describe())
			}
			if err == nil {
				a.kinds[p.Kind]++
			}
		}
	}
}

// solve has the exact solver of the model find the optimum. Nothing that it states is
// beyond that, and it is that if it says so.
func (a *adversary) solve(in *sched.Instance, obj sched.Objective, class sched.Class, optimum *big.Rat, describe func() string) {
	var x *exact.Result
	var err error
	ctx, limits := a.t.Context(), milp.Limits{Nodes: 2000}
	switch {
	case obj.Maximised():
		if in.DeadlineSlots() > 100 {
			return
		}
		x, err = maxweight.Solve(ctx, in, lpsolve.LP{}, limits)
	case class.Kind == sched.E:
		x, err = elastic.Solve(ctx, in, obj, lpsolve.LP{}, limits)
	case class.Kind == sched.S:
		x, err = sharing.Solve(ctx, in, obj, limits)
	case class.Slotted && in.Model == sched.ModelPreemptive:
		x, err = bouts.Search{NonPreemptive: class.Kind == sched.N}.Solve(ctx, in, obj, limits)
	case !class.Slotted && in.Model == sched.ModelGang:
		continuous := *in
		continuous.Slot = 0
		x, err = exhaustive.Solve(ctx, &continuous, obj, limits)
	default:
		return
	}
	if err != nil {
		a.refused++
		return
	}
	a.solved++
	lower, upper := x.Bound, x.Cost
	if obj.Maximised() {
		lower, upper = x.Cost, x.Bound
	}
	if lower.Cmp(optimum) > 0 || upper.Cmp(optimum) < 0 {
		a.t.Fatalf("a solver states %s and %s\n%s", lower.RatString(), upper.RatString(), describe())
	}
}

// proofs returns proofs of every kind that says something about the model: those
// of bounds, none of which may be beyond the optimum, and random ones.
func (a *adversary) proofs(r *rand.Rand, in *sched.Instance, obj sched.Objective, optimum *big.Rat, describe func() string) (list []bounds.Proof) {
	keep := func(b bounds.Bound, err error) {
		if err != nil {
			return
		}
		if b.Value.Cmp(optimum) > 0 {
			a.t.Fatalf("%s is %s\n%s", b.Name, b.Value.RatString(), describe())
		}
		if b.Proof != nil {
			list = append(list, *b.Proof)
		}
	}
	switch {
	case obj.Maximised():
	case in.Model == sched.ModelElastic:
		for _, class := range []sched.Class{{Kind: sched.E, Slotted: true}, {Kind: sched.FluidMin}, {Kind: sched.FluidMin, Slotted: true}} {
			keep(elastic.Alone(in, obj, class))
			keep(elastic.MeanBusyTime(in, obj, class))
		}
	case in.Model == sched.ModelSharing:
		for _, f := range []closed{bounds.ThetaLB0, bounds.ThetaSRPT, bounds.ThetaRanked, bounds.ThetaArea, bounds.ThetaEEI, placed} {
			keep(f(in, obj))
		}
	default:
		for _, f := range append(priced(), bounds.LB0, bounds.SRPT, bounds.Ranked, bounds.MeanBusyTime, bounds.Area, bounds.Energy, bounds.Packing, bounds.PackedSRPT, bounds.PackedBusyTime) {
			keep(f(in, obj))
		}
	}
	random := anything(r, in)
	for _, kind := range slices.Sorted(maps.Keys(random)) {
		if r.IntN(3) == 0 {
			list = append(list, bounds.Proof{Kind: kind, Data: random[kind]})
		}
	}
	return list
}

// TestAdversary: on instances with extreme numbers in every field, no certificate of
// any kind is accepted whose value is beyond the optimum, which is found in integers
// and rationals of any size; and the optimum is confirmed by search or too hard.
// YARDSTICK_TESTS=long makes it last for at least 10^5 forged certificates.
func TestAdversary(t *testing.T) {
	most := tier.Draws(1_000, 4_000)
	if tier.Long() {
		most = 120_000
	}
	a := &adversary{t: t, kinds: map[string]int{}}
	for seed := uint64(0); a.forged < most; seed++ {
		a.attack(seed)
	}
	t.Logf("%d forged certificates; %d of %d optima confirmed; %d solved, %d refused by solvers; evaluated: %v", a.forged, a.confirmed, a.honest, a.solved, a.refused, a.kinds)
	if a.confirmed < a.honest/3 {
		t.Errorf("only %d of %d optima were confirmed by search", a.confirmed, a.honest)
	}
}
