package library

import (
	"math/rand/v2"

	"yardstick/sched"
)

// elastics are the strata of the elastic model.
func elastics() []Stratum {
	keys := func(keys map[string]string, few bool, rng *rand.Rand, pick picker) {
		keys["round"] = pick("1h", "6h", "12h", "24h")
		if few {
			keys["maxWorkers"] = pick("1", "2", "3", "4")
		}
		if rng.IntN(2) == 0 {
			keys["capacity"] = pick("0.2", "0.35", "0.5")
		}
		if rng.IntN(3) == 0 {
			keys["ring"] = "true"
		}
	}
	return []Stratum{
		{sched.ModelElastic, 5, 7, 16, 80, keys},
		{sched.ModelElastic, 8, 20, 12, 50, keys},
		{sched.ModelElastic, 21, 100, 8, 30, keys},
		{sched.ModelElastic, 101, 300, 4, 8, keys},
	}
}
