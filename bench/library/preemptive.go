package library

import (
	"math/rand/v2"

	"yardstick/sched"
)

// preemptives are the strata of the preemptive model.
func preemptives() []Stratum {
	keys := func(keys map[string]string, few bool, rng *rand.Rand, pick picker) {
		keys["startup"] = pick("0s", "10s", "30s", "2m")
		keys["storage"] = pick("none", "1GB/s", "200MB/s")
		if few && rng.IntN(4) > 0 {
			keys["slotted"], keys["round"] = "true", pick("30m", "1h", "2h", "6h")
		}
	}
	return []Stratum{
		{sched.ModelPreemptive, 5, 8, 18, 90, keys},
		{sched.ModelPreemptive, 9, 20, 16, 70, keys},
		{sched.ModelPreemptive, 21, 100, 14, 60, keys},
		{sched.ModelPreemptive, 101, 1000, 12, 40, keys},
		{sched.ModelPreemptive, 1001, 10000, 5, 10, keys},
	}
}
