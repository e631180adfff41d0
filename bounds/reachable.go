package bounds

import (
	"math/bits"

	"yardstick/sched"
)

// Reachable returns G', the largest sum of gangs that is at most G: the most
// GPUs that jobs can hold at one instant if each holds all of its gang.
//
// Cost: O(n), and O(G² log G/64) at worst besides.
func Reachable(in *sched.Instance) int64 {
	gpus := in.Cluster.GPUs()
	sums := make([]uint64, gpus/64+1) // bit s: some gangs add up to s
	sums[0] = 1
	count := map[int]int{}
	for i := range in.Jobs {
		gang := in.Jobs[i].Gang()
		if count[gang]++; count[gang] <= gpus/gang { // no more of them run together
			orShifted(sums, gang)
		}
		if sums[gpus/64]>>(gpus%64)&1 == 1 {
			return int64(gpus)
		}
	}
	sums[gpus/64] &= 1<<(gpus%64) - 1
	top := len(sums) - 1
	for sums[top] == 0 {
		top--
	}
	return int64(64*top + bits.Len64(sums[top]) - 1)
}

// orShifted sets bit s + shift for every bit s that is set.
func orShifted(set []uint64, shift int) {
	words, bit := shift/64, uint(shift%64)
	for i := len(set) - 1; i >= words; i-- {
		v := set[i-words] << bit
		if bit > 0 && i > words {
			v |= set[i-words-1] >> (64 - bit)
		}
		set[i] |= v
	}
}
