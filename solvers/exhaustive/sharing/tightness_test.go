package sharing_test

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"yardstick/bounds"
	"yardstick/internal/schedtest"
	"yardstick/sched"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// BenchmarkTightness reports mean and least ratio of each bound to the optimum of
// class Ss, over 60 instances of the kind sampled, and how much sharing gains: the
// optimum of class Ns over it. The variants take away, one by one, what makes the
// optimum dearer and no bound larger.
func BenchmarkTightness(b *testing.B) {
	full := schedtest.Slots{Work: [2]int{2, 8}, Span: 4, Xi: 2, Options: 2, Ragged: true}
	whole, one, plain := full, full, full
	whole.Ragged = false
	one.Options = 1
	plain.Ragged, plain.Options = false, 1
	for _, v := range []struct {
		name   string
		family schedtest.Slots
	}{{"as-sampled", full}, {"whole-slots", whole}, {"one-accumulation", one}, {"both", plain}} {
		for _, jobs := range []int{3, 4} {
			b.Run(fmt.Sprintf("%s/jobs=%d", v.name, jobs), func(b *testing.B) { tightness(b, v.family, jobs) })
		}
	}
}

func tightness(b *testing.B, family schedtest.Slots, jobs int) {
	closed := map[string]func(*sched.Instance, sched.Objective) (bounds.Bound, error){
		"theta-lb0": bounds.ThetaLB0, "theta-srpt": bounds.ThetaSRPT, "theta-srpt-ranked": bounds.ThetaRanked, "theta-eei": bounds.ThetaEEI,
		"theta-hybrid": func(in *sched.Instance, obj sched.Objective) (bounds.Bound, error) {
			return bounds.ThetaHybrid(context.Background(), in, obj, bounds.HybridOptions{})
		}}
	for b.Loop() {
		values := map[string][]float64{}
		for seed := range uint64(60) {
			gpus := 2 + int(seed%3)
			f := family
			f.Jobs, f.Servers, f.Gang = jobs, []int{gpus}, gpus
			in := schedtest.SlottedSharing(seed, f)
			obj := sched.TotalCompletion
			optimum := solve(b, in, obj).Cost
			note := func(name string, v *big.Rat) *big.Rat {
				f, _ := new(big.Rat).Quo(v, optimum).Float64()
				values[name] = append(values[name], f)
				return v
			}
			best := new(big.Rat)
			for name, f := range closed {
				r, err := f(in, obj)
				if err != nil {
					b.Fatal(err)
				}
				if note(name, r.Value).Cmp(best) > 0 {
					best = r.Value
				}
			}
			note("best-closed", best)
			for name, o := range map[string]bounds.PairOptions{"pair-lp-slotted": {Slotted: true}, "pair-lp": {Slot: in.Slot}, "pair-lp-fine": {Slot: in.Slot / 4}} {
				r, err := bounds.PairLP(context.Background(), in, obj, lpsolve.LP{}, milp.Limits{}, o)
				if err != nil {
					b.Fatal(err)
				}
				note(name, r.Value)
			}
			note("exclusive", solve(b, crowded(in), obj).Cost)
		}
		for name, list := range values {
			sum, least := 0.0, list[0]
			for _, v := range list {
				sum, least = sum+v, min(least, v)
			}
			b.ReportMetric(sum/float64(len(list)), fmt.Sprintf("%s-mean", name))
			b.ReportMetric(least, fmt.Sprintf("%s-min", name))
		}
	}
}

// crowded returns the instance with jobs that leave no memory for others, each
// with its fastest option.
func crowded(in *sched.Instance) *sched.Instance {
	out := *in
	out.Jobs = slices.Clone(in.Jobs)
	for i := range out.Jobs {
		sh := *out.Jobs[i].Sharing
		sh.Accumulation = slices.Clone(sh.Accumulation[:1])
		sh.Accumulation[0].Memory = in.Cluster.Servers[0].GPUMemory
		out.Jobs[i].Sharing = &sh
	}
	return &out
}
