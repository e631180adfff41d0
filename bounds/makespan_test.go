package bounds

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/internal/number"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
)

// TestMakespanExamples checks values computed by hand.
func TestMakespanExamples(t *testing.T) {
	for _, test := range []struct {
		name            string
		in              *sched.Instance
		area            *big.Rat
		energy, packing int64
	}{
		// The first job cannot be done before 10: four microseconds of two GPUs are
		// left when the second is released at 6, of which there are three.
		{"a job that is not done in time", instance(1, 3, job(0, 2, 10, 1), job(6, 2, 4, 1)), integer(10), 12, 14},
		// 2·3 + 2·3 + 2·3 GPU-microseconds, of which no two go together.
		{"three of two GPUs on three", instance(1, 3, job(0, 2, 3, 1), job(0, 2, 3, 1), job(0, 2, 3, 1)), integer(6), 6, 9},
		// Gangs of 3 on 8: at most two at a time, 5·4/2.
		{"five of three GPUs on eight", instance(2, 4, job(0, 3, 4, 1), job(0, 3, 4, 1), job(0, 3, 4, 1), job(0, 3, 4, 1), job(0, 3, 4, 1)), integer(8), 8, 10},
		// A gang of 6 on 8 leaves no room for one of 3; the small one of 1 does not count: 5 + 4.
		{"a wide one and narrower ones", instance(1, 8, job(0, 6, 5, 1), job(0, 3, 4, 1), job(0, 3, 4, 1), job(0, 1, 1, 1)), integer(7), 7, 9},
	} {
		for _, c := range []struct {
			f    func(*sched.Instance, sched.Objective) (Bound, error)
			want *big.Rat
		}{{Area, test.area}, {Energy, integer(test.energy)}, {Packing, integer(test.packing)}} {
			b, err := c.f(test.in, sched.Makespan)
			if err != nil || b.Value.Cmp(c.want) != 0 {
				t.Errorf("%s: %s is %v (%v), want %v", test.name, b.Name, b.Value, err, c.want)
			}
		}
	}
}

// TestMakespanOrder: packing ≥ energy ≥ area, LB0, and none exceeds what an
// optimal schedule of class N takes.
func TestMakespanOrder(t *testing.T) {
	for seed := range uint64(tier.Draws(100, 300)) {
		rng := schedtest.Rand(seed)
		in := schedtest.Gang(rng, schedtest.Shape{Jobs: 1 + rng.IntN(4), Servers: 1 + rng.IntN(3), GPUs: 3, Uniform: rng.IntN(2) == 0, Stages: 2, Traffic: rng.IntN(2) == 0, Span: true})
		_, optimum := schedtest.BruteForce(in, sched.Makespan)
		value := map[string]*big.Rat{}
		for _, b := range mustAll(t, in, sched.Makespan) {
			value[b.Name] = b.Value
			if b.Value.Cmp(optimum) > 0 {
				t.Fatalf("seed %d: %s = %v exceeds the optimum %v", seed, b.Name, b.Value, optimum)
			}
		}
		for _, pair := range [][2]string{{"energy", "area"}, {"energy", "lb0"}, {"packing", "energy"}} {
			if value[pair[0]].Cmp(value[pair[1]]) < 0 {
				t.Fatalf("seed %d: %s = %v is below %s = %v", seed, pair[0], value[pair[0]], pair[1], value[pair[1]])
			}
		}
	}
}

// TestEnergyAgainstDefinition evaluates the bound at every microsecond.
func TestEnergyAgainstDefinition(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 30))
		in := randomInstance(rng, 1+rng.IntN(6), 1+sched.Time(rng.IntN(40)), []float64{1})
		want, gpus := new(big.Rat), int64(in.Cluster.GPUs())
		alone := mustValue(t, in, sched.Makespan, LB0).Num().Int64()
		for now := range alone + 1 {
			sum := now * gpus
			for i := range in.Jobs {
				j := &in.Jobs[i]
				sum += int64(j.Gang()) * max(0, int64(j.Release)+j.Iters-max(now, int64(j.Release)))
			}
			if v := big.NewRat(sum, gpus); v.Cmp(want) > 0 {
				want = v
			}
		}
		if got := mustValue(t, in, sched.Makespan, Energy); got.Cmp(number.Ceil(want)) != 0 {
			t.Fatalf("seed %d: energy %v, by definition %v", seed, got, want)
		}
	}
}

// TestDualFeasible checks on all sets of gangs that fit together that their
// images do: energyEnd of a set released at once and one microsecond long is
// the sum of its images.
func TestDualFeasible(t *testing.T) {
	for gpus := 1; gpus <= 12; gpus++ {
		var fit func(gangs []int, left int)
		fit = func(gangs []int, left int) {
			if len(gangs) > 0 {
				in := instance(1, gpus)
				for _, g := range gangs {
					in.Jobs = append(in.Jobs, job(0, g, 1, 1))
				}
				b, err := Packing(in, sched.Makespan)
				if err != nil || b.Value.Cmp(integer(1)) != 0 {
					t.Errorf("gangs %v run together on %d GPUs, but need %v µs (%v)", gangs, gpus, b.Value, err)
				}
			}
			for g := 1; g <= left && (len(gangs) == 0 || g <= gangs[len(gangs)-1]); g++ {
				fit(append(gangs, g), left-g)
			}
		}
		fit(nil, gpus)
	}
}
