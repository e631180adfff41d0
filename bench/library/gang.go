package library

import (
	"math/rand/v2"

	"yardstick/sched"
)

// gangs are the strata of the gang model.
func gangs() []Stratum {
	keys := func(keys map[string]string, _ bool, rng *rand.Rand, pick picker) {
		switch rng.IntN(4) {
		case 0:
			keys["profiles"] = pick("builtin:v100", "builtin:a100")
			keys["cluster.inter"] = pick("10Gbps", "25Gbps", "100Gbps")
		case 1:
			keys["params"] = pick("100MB", "500MB", "2GB")
			keys["iteration"] = pick("200ms", "1s")
		}
	}
	return []Stratum{
		{sched.ModelGang, 5, 10, 30, 180, keys},
		{sched.ModelGang, 11, 20, 38, 200, keys},
		{sched.ModelGang, 21, 100, 36, 180, keys},
		{sched.ModelGang, 101, 1000, 34, 100, keys},
		{sched.ModelGang, 1001, 10000, 12, 24, keys},
		{sched.ModelGang, 20000, 100000, 5, 8, keys},
	}
}
