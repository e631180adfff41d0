package certify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"yardstick/bounds"
	"yardstick/bounds/certify"
	"yardstick/formulate/maxweight"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// object is the data of a proof.
type object = map[string]any

// anything returns data of every kind with random numbers, whether they make sense
// or not.
func anything(r *rand.Rand, in *sched.Instance) map[string]object {
	n, gpus := len(in.Jobs), in.Cluster.GPUs()
	slots := 1 + r.IntN(5)
	slot := int64(in.Slot)
	if slot == 0 {
		slot = 1 + r.Int64N(1e6)
	}
	number := func(top float64) float64 {
		if r.IntN(3) == 0 {
			return 0
		}
		return math.Exp(r.Float64()*10) / math.Exp(10) * top
	}
	numbers := func(k int, top float64) []float64 {
		out := []float64{}
		for range k {
			out = append(out, number(top))
		}
		return out
	}
	whole := func(k int, top int64) []int64 {
		out := []int64{}
		for range k {
			out = append(out, r.Int64N(top+1))
		}
		return out
	}
	table := func(rows, k int, top float64) [][]float64 {
		var out [][]float64
		for range rows {
			out = append(out, numbers(k, top))
		}
		return out
	}
	ones := func(k int) []int64 {
		out := make([]int64, k)
		for i := range out {
			out[i] = 1 + r.Int64N(3)
		}
		return out
	}
	grid := []int64{0}
	for k := range slots {
		grid = append(grid, grid[k]+1+r.Int64N(slot))
	}
	byJob := [][]int64{}
	for range n {
		byJob = append(byJob, whole(r.IntN(slots+1), int64(gpus)<<20))
	}
	counts := [][]int64{} // of a job on the GPUs that it shares: about its price
	for _, row := range byJob {
		count := slices.Clone(row)
		for k := range count {
			count[k] += r.Int64N(3)*(1<<18) - 1<<17
		}
		counts = append(counts, count)
	}
	least := []object{{"job": r.IntN(n), "time": r.Int64N(3e6)}}
	shares := []object{}
	for g := 1; g <= gpus; g++ {
		shares = append(shares, object{"gang": g, "share": r.IntN(4)})
	}
	machine := object{"machine": object{"whole": 1 + r.IntN(6), "shares": shares}, "apart": []int{r.IntN(n)}}
	rows, parts := [][]object{}, []object{}
	for k := range slots {
		rows = append(rows, []object{{"rule": 0, "charge": number(3e-6)}})
		size := in.Cluster.Servers[r.IntN(len(in.Cluster.Servers))].GPUs
		parts = append(parts, object{"slot": k, "size": size, "gpus": 1 + r.IntN(size), "charge": number(1), "divisor": 1 + r.IntN(3)}, object{"slot": k, "size": 0, "gpus": 0, "charge": number(1), "divisor": 2})
	}
	intervals := object{"grid": grid, "jobs": numbers(n, 3e6), "slots": numbers(slots, 2), "divisor": ones(slots)}
	withParts := object{"parts": parts}
	for k, v := range intervals {
		withParts[k] = v
	}
	out := map[string]object{
		"lb0": {"least": least}, "srpt": {"least": least}, "srpt-ranked": machine, "mean-busy-time": machine, "energy": machine,
		"spread-prices": {"grid": grid, "price": whole(slots, 1<<20), "exponent": -20 + r.IntN(4), "least": least, "whole": r.IntN(2) == 0},
		"knapsack":      {"grid": grid, "price": byJob, "exponent": -20 + r.IntN(4), "least": least, "spread": r.IntN(2) == 0},
		"prices":        {"grid": grid, "price": whole(slots, 1<<20), "exponent": -20 + r.IntN(4), "least": least},
		"pti":           intervals,
		"conf":          withParts,
		"grid-lp":       {"slot": slot, "slots": slots, "jobs": numbers(n, 1.5), "unit": "1", "rules": []object{{"most": 1 + r.IntN(4), "share": whole(n, 3)}}, "rows": rows},
		"sharing":       {"rule": []string{"alone", "srpt", "srpt-ranked", "mean-busy-time", "area"}[r.IntN(5)], "whole": 1, "sizes": whole(n, 2*slot)},
		"places":        {"grid": grid, "price": byJob, "count": counts, "exponent": -20 + r.IntN(4)},
		"pair-lp":       {"slotted": r.IntN(2) == 0, "slot": slot, "slots": slots, "done": numbers(n, 3*float64(slot)), "progress": table(slots, n, 2*float64(slot)), "gang": table(slots, n, float64(slot)), "capacity": numbers(slots, float64(slot))},
		"malleable":     {"rule": "srpt-ranked", "whole": 1, "sizes": whole(n, slot)},
	}
	if in.Elastic != nil {
		mix := []string{}
		var price [][][]int64
		for k := range in.Elastic.Resources {
			mix = append(mix, fmt.Sprintf("%d/%d", r.IntN(2), 1+k))
		}
		for range in.Cluster.Servers {
			var server [][]int64
			for range in.Elastic.Resources {
				server = append(server, whole(slots, 1<<18))
			}
			price = append(price, server)
		}
		out["elastic-busy"] = object{"mix": mix, "unit": 16, "sizes": whole(n, 40)}
		out["elastic-prices"] = object{"slots": slots, "exponent": 20, "price": price}
		out["elastic-alone"] = object{}
		charge := object{"grid": []int64{0, slot / 1e6 * r.Int64N(3)}, "charge": table(2, len(in.Elastic.Resources), 4)}
		out["elastic-grid"], out["weight-grid"] = charge, charge
		out["weight-prices"] = object{"theta": fmt.Sprint(r.IntN(3)), "slots": slots, "exponent": 20, "price": price}
	}
	return out
}

// TestAnything: whatever the data of a certificate are, what they prove is not beyond
// the optimum by enumeration; a check may refuse them, but never panics.
func TestAnything(t *testing.T) {
	accepted, strong := map[string]int{}, map[string]int{}
	for seed := range uint64(300) {
		r := schedtest.Rand(seed)
		var in *sched.Instance
		class := sched.Class{Kind: sched.N}
		optimum := schedtest.BruteForce
		switch seed % 4 {
		case 0, 1:
			s := shape(r, seed)
			s.Jobs, s.GPUs = 1+r.IntN(3), 1+r.IntN(3)
			in = schedtest.Gang(r, s)
		case 2:
			in = schedtest.SlottedSharing(seed, schedtest.Slots{Jobs: 2 + int(seed%2), Servers: []int{2}, Work: [2]int{1, 4}, Span: 3, Gang: 2, Xi: 1.5, Options: 1 + int(seed/4%2)})
			class, optimum = sched.Class{Kind: sched.S, Slotted: true}, schedtest.SharingBruteForce
		case 3:
			in = elasticShape(seed)
			in.Jobs = in.Jobs[:min(len(in.Jobs), 2)]
			class, optimum = sched.Class{Kind: sched.E, Slotted: true}, schedtest.ElasticBruteForce
		}
		obj := minimised[r.IntN(len(minimised))]
		if in.Elastic != nil && r.IntN(2) == 0 {
			obj, in.Deadline = sched.ScheduledWeight, in.Slot*sched.Time(1+r.IntN(8))
			optimum = func(in *sched.Instance, _ sched.Objective) (*sched.Schedule, *big.Rat) {
				o, err := maxweight.Solve(context.Background(), in, lpsolve.LP{}, milp.Limits{})
				if err != nil || !o.Optimal() {
					t.Fatal(err)
				}
				return o.Schedule, o.Cost
			}
		}
		_, best := optimum(in, obj)
		stated, above := big.NewRat(-1<<62, 1), 1
		if obj.Maximised() {
			stated.Neg(stated)
			above = -1
		}
		for range 6 {
			for kind, data := range anything(r, in) {
				b := bounds.Bound{Name: kind, Class: class, Objective: obj, Value: stated, Proof: &bounds.Proof{Kind: kind, Data: data}}
				s, err := certify.Check(in, document(t, in, &b))
				if err != nil {
					if !errors.Is(err, certify.ErrRefuted) && !errors.Is(err, certify.ErrTooHard) {
						t.Fatalf("seed %d, %s: %v", seed, kind, err)
					}
					continue
				}
				accepted[kind]++
				if s.Proven.Sign() > 0 {
					strong[kind]++
				}
				if s.Proven.Cmp(best) == above {
					text, _ := json.Marshal(data)
					t.Fatalf("seed %d: %s proves %v of %v, beyond the optimum %v, by\n%s", seed, kind, s.Proven.RatString(), obj, best.RatString(), text)
				}
			}
		}
	}
	for _, kind := range []string{"lb0", "srpt", "srpt-ranked", "mean-busy-time", "energy", "prices", "spread-prices", "knapsack", "pti", "conf", "grid-lp", "sharing", "places", "pair-lp", "elastic-busy", "elastic-prices", "elastic-alone",
		"elastic-grid", "weight-grid", "weight-prices"} {
		if accepted[kind] < 10 || strong[kind] == 0 {
			t.Errorf("%s: %d were accepted, %d of them prove something", kind, accepted[kind], strong[kind])
		}
	}
	t.Log(accepted, strong)
}

// TestDamage: documents that are not what they should be.
func TestDamage(t *testing.T) {
	in := schedtest.Plain(schedtest.Servers(2), schedtest.Job(0, 1, 4), schedtest.Job(0, 2, 3))
	b, err := bounds.Ranked(in, sched.TotalCompletion)
	if err != nil {
		t.Fatal(err)
	}
	good := document(t, in, &b)
	other := schedtest.Plain(schedtest.Servers(2), schedtest.Job(0, 1, 4), schedtest.Job(0, 2, 4))
	if _, err := certify.Check(other, good); !errors.Is(err, certify.ErrInstance) {
		t.Errorf("another instance: %v", err)
	}
	for name, bad := range map[string]string{
		"empty":      "",
		"cut short":  string(good[:len(good)/2]),
		"two":        string(good) + string(good),
		"unknown":    strings.Replace(string(good), `"kind"`, `"more":1,"kind"`, 1),
		"no seal":    strings.Replace(string(good), `"seal":"`, `"seal":"0`, 1),
		"format":     strings.Replace(string(good), "certificate/1", "certificate/2", 1),
		"objective":  strings.Replace(string(good), "total-completion", "total-fun", 1),
		"terms":      strings.Replace(string(good), `"value":"`, `"value":"+`, 1),
		"a schedule": `{"instance_sha256":"","class":"N","segments":[]}`,
	} {
		if _, err := certify.Check(in, []byte(bad)); !errors.Is(err, certify.ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var spaced bytes.Buffer
	if err := json.Indent(&spaced, good, "", "  "); err != nil {
		t.Fatal(err)
	}
	if _, err := certify.Check(in, spaced.Bytes()); err != nil {
		t.Errorf("with spaces: %v", err)
	}
	for name, change := range map[string]func(*bounds.Bound){
		"more":  func(b *bounds.Bound) { b.Value = new(big.Rat).Add(b.Value, big.NewRat(1, 1)) },
		"class": func(b *bounds.Bound) { b.Class.Kind = sched.S },
		"weaker class": func(b *bounds.Bound) {
			b.Class.Kind = sched.FluidTheta
		},
		"kind for another objective": func(b *bounds.Bound) { b.Proof = &bounds.Proof{Kind: "energy"} },
		"maximised":                  func(b *bounds.Bound) { b.Objective, b.Proof = sched.ScheduledWeight, &bounds.Proof{Kind: "srpt"} },
	} {
		bad := b
		change(&bad)
		if _, err := certify.Check(in, document(t, in, &bad)); !errors.Is(err, certify.ErrRefuted) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.Proof = &bounds.Proof{Kind: "divination"}
	if _, err := certify.Check(in, document(t, in, &b)); !errors.Is(err, certify.ErrTooHard) {
		t.Errorf("an unknown kind: %v", err)
	}
}

// TestNothingStated: a certificate says of which objective and class it speaks.
func TestNothingStated(t *testing.T) {
	in := schedtest.Plain(schedtest.Servers(2), schedtest.Job(0, 1, 4))
	b := bounds.Bound{Class: sched.Class{Kind: sched.N}, Value: big.NewRat(4, 1), Proof: &bounds.Proof{Kind: "search"}}
	text := string(document(t, in, &b))
	for _, instead := range []string{"", `"objective":null,`} {
		changed := strings.Replace(text, `"objective":"",`, instead, 1)
		if changed == text {
			t.Fatal(text)
		}
		if _, err := certify.Check(in, []byte(changed)); !errors.Is(err, certify.ErrFormat) {
			t.Errorf("%s: %v", changed, err)
		}
	}
	b.Objective, b.Class = sched.TotalCompletion, sched.Class{}
	text = string(document(t, in, &b))
	if _, err := certify.Check(in, []byte(strings.Replace(text, `"class":"",`, "", 1))); !errors.Is(err, certify.ErrFormat) {
		t.Errorf("without a class: %v", err)
	}
}
