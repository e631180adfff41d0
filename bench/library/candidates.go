package library

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"yardstick/datasets/generate"
	"yardstick/sched"
)

// Stratum is a part of the library: instances of one model and about one size.
type Stratum struct {
	Model       sched.Model
	Least, Most int // jobs
	Instances   int // to be chosen
	Candidates  int // to choose from
	// keys draws what the model has for itself.
	keys func(keys map[string]string, few bool, rng *rand.Rand, pick picker)
}

// picker draws one of some texts.
type picker func(...string) string

// fewJobs is up to how many jobs an instance has slots that exact methods can look at.
const fewJobs = 20

// Strata are those of the library's first version, by model.
func Strata() []Stratum {
	return slices.Concat(gangs(), preemptives(), sharings(), elastics())
}

func (s Stratum) String() string { return fmt.Sprintf("%s, %d to %d jobs", s.Model, s.Least, s.Most) }

// draw returns the recipe of a candidate and its objective, from its own stream of random
// numbers. Not every recipe makes an instance: a load that a burst cannot have, say.
func (s Stratum) draw(seed uint64, i int) (Recipe, sched.Objective) {
	rng := rand.New(rand.NewPCG(seed, uint64(i)<<32|uint64(s.Least)<<8|uint64(s.Model[0])))
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	n := int(math.Round(float64(s.Least) * math.Pow(float64(s.Most)/float64(s.Least), rng.Float64())))
	r := Recipe{Seed: seed, Keys: map[string]string{"model": string(s.Model), "slice.jobs": strconv.Itoa(n), "slice.at": pick("busiest", "random", "random"), "tooLarge": "drop"}}
	r.Trace = s.trace(rng, n)
	servers := int(math.Exp2(rng.Float64()*min(math.Log2(float64(n)), 8))) + rng.IntN(2)
	r.Keys["cluster.servers"] = strconv.Itoa(servers)
	if s.Model.Gangs() {
		r.Keys["cluster.gpusPerServer"] = pick("1", "2", "4", "4", "8", "8", "8")
		r.Keys["history"] = "500"
		if rng.IntN(4) > 0 {
			r.Keys["offeredLoad"] = pick("0.6", "0.8", "0.9", "1", "1.1", "1.3", "1.6")
		}
		if rng.IntN(2) == 0 {
			r.Keys["round"] = pick("1s", "1m")
		}
	}
	s.keys(r.Keys, s.Most <= fewJobs, rng, pick)
	objective := sched.TotalJCT
	switch rng.IntN(8) {
	case 0, 1:
		objective = sched.WeightedCompletion
		if s.Model.Gangs() {
			r.Keys["weights"] = "random"
		}
	case 2:
		objective = sched.Makespan
	case 3:
		objective = sched.TotalCompletion
	case 4:
		objective = sched.MeanJCT
	}
	return r, objective
}

// trace draws a trace: the embedded one, or one generated like a public one.
func (s Stratum) trace(rng *rand.Rand, n int) string {
	if n <= 1_000 && rng.IntN(5) == 0 {
		return "builtin:philly-like"
	}
	like := generate.Names()[rng.IntN(len(generate.Names()))]
	trace := fmt.Sprintf("builtin:%s?jobs=%d&seed=%d", like, n+max(200, n/2), 1+rng.IntN(1_000))
	if n < 1_000 && rng.IntN(3) == 0 {
		trace += fmt.Sprintf("&interArrival=%ds", 60*(1+rng.IntN(60)))
	}
	return trace
}
