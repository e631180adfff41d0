package bounds

import (
	"slices"

	"yardstick/sched"
)

// dualFeasible is a function u such that gangs which fit the cluster together
// have images that add up to at most 1: u(gang) = share(gang)/whole.
type dualFeasible struct {
	whole int64
	share func(gang int64) int64
}

// mostFunctions is how many dual-feasible functions of each kind are tried.
const mostFunctions = 8

// dualFunctions lists
//
//   - x ↦ g/G', G' being the most GPUs that gangs can hold together ([Reachable]);
//   - u^(k), which maps x = g/G to x if (k+1)x is an integer, and to ⌊(k+1)x⌋/k
//     otherwise, for k = 1, …, 8;
//   - U^ε, which maps x to 1 above 1 − ε, to 0 below ε and to x between, for ε = g/G
//     with the eight largest gangs g ≤ G/2.
//
// Source: S. P. Fekete, J. Schepers, New classes of fast lower bounds for bin
// packing problems, Math. Program. 91 (2001).
func dualFunctions(in *sched.Instance) []dualFeasible {
	gpus := int64(in.Cluster.GPUs())
	out := []dualFeasible{{Reachable(in), func(gang int64) int64 { return gang }}}
	for k := int64(1); k <= mostFunctions; k++ {
		out = append(out, dualFeasible{k * (k + 1), func(gang int64) int64 {
			x := (k + 1) * gang
			if x%gpus == 0 {
				return x / gpus * k
			}
			return x / gpus * (k + 1)
		}})
	}
	for _, least := range narrow(in, mostFunctions) {
		out = append(out, dualFeasible{gpus, func(gang int64) int64 {
			switch {
			case gang > gpus-least:
				return gpus
			case gang < least:
				return 0
			}
			return gang
		}})
	}
	return out
}

// narrow returns the largest gangs of at most half of the GPUs, at most n.
func narrow(in *sched.Instance, n int) []int64 {
	var out []int64
	for i := range in.Jobs {
		if g := in.Jobs[i].Gang(); 2*g <= in.Cluster.GPUs() {
			out = append(out, int64(g))
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[max(0, len(out)-n):]
}
