package library

import (
	"math/rand/v2"

	"yardstick/sched"
)

// sharings are the strata of the sharing model.
func sharings() []Stratum {
	keys := func(keys map[string]string, few bool, rng *rand.Rand, pick picker) {
		keys["gpuMemory"] = pick("16GB", "24GB", "32GB")
		if few && rng.IntN(4) > 0 {
			keys["slotted"], keys["round"] = "true", pick("1h", "4h", "12h")
		}
	}
	return []Stratum{
		{sched.ModelSharing, 5, 8, 18, 90, keys},
		{sched.ModelSharing, 9, 20, 14, 60, keys},
		{sched.ModelSharing, 21, 100, 10, 40, keys},
		{sched.ModelSharing, 101, 1000, 8, 20, keys},
		{sched.ModelSharing, 1001, 5000, 3, 6, keys},
	}
}
