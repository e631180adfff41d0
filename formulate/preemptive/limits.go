package preemptive

import (
	"cmp"
	"slices"
)

// limit says that jobs which hold GPUs at one instant have shares that add up
// to no more than most.
type limit struct {
	most  int
	share []int // per job asked about
}

// Numbers up to which limits are looked for, so that their number stays small.
const (
	fewConflicts = 12 // jobs
	fewFunctions = 8  // of a kind
)

// limits lists such inequalities for some jobs, given their gangs: that these
// fit the GPUs, by dual-feasible functions, and for sets of which no two fit
// together. It leaves out what always holds and what another one implies.
func limits(gpus int, gangs []int) []limit {
	var all []limit
	add := func(most int, share func(g int) int) {
		l, sum := limit{most: most}, 0
		for _, g := range gangs {
			l.share = append(l.share, share(g))
			sum += share(g)
		}
		if sum > most {
			all = append(all, l)
		}
	}
	add(reachable(gpus, gangs), func(g int) int { return g })
	for k := 1; k <= fewFunctions; k++ { // u^(k), times k(k+1)
		add(k*(k+1), func(g int) int {
			if x := (k + 1) * g; x%gpus != 0 {
				return x / gpus * (k + 1)
			}
			return (k + 1) * g / gpus * k
		})
	}
	narrow := slices.Clone(gangs)
	slices.Sort(narrow)
	narrow = slices.DeleteFunc(slices.Compact(narrow), func(g int) bool { return 2*g > gpus })
	for _, least := range narrow[max(0, len(narrow)-fewFunctions):] { // U^ε
		add(gpus, func(g int) int {
			switch {
			case g > gpus-least:
				return gpus
			case g < least:
				return 0
			}
			return g
		})
	}
	if len(gangs) <= fewConflicts {
		all = append(all, conflicts(gpus, gangs)...)
	}
	var out []limit
	for i := range all {
		implied := func(other limit) bool { return all[i].within(other) }
		strictly := func(other limit) bool { return all[i].within(other) && !other.within(all[i]) }
		if !slices.ContainsFunc(all[:i], implied) && !slices.ContainsFunc(all[i+1:], strictly) {
			out = append(out, all[i])
		}
	}
	return out
}

// within reports whether l follows from other: every share is at most that of
// other.
func (l limit) within(other limit) bool {
	for i := range l.share {
		if l.share[i]*other.most > other.share[i]*l.most {
			return false
		}
	}
	return true
}

// reachable returns the most GPUs that some of the gangs can hold together.
func reachable(gpus int, gangs []int) int {
	reached := make([]bool, gpus+1)
	reached[0] = true
	for _, g := range gangs {
		for s := gpus; s >= g; s-- {
			reached[s] = reached[s] || reached[s-g]
		}
	}
	most := gpus
	for !reached[most] {
		most--
	}
	return most
}

// conflicts returns, for each gang, the largest other ones no two of which fit
// beside each other or beside it.
func conflicts(gpus int, gangs []int) []limit {
	order := make([]int, len(gangs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(gangs[b], gangs[a]) })
	var out []limit
	for _, i := range order {
		l, smallest := limit{most: 1, share: make([]int, len(gangs))}, gangs[i]
		l.share[i] = 1
		alone := true
		for _, k := range order {
			if k != i && gangs[k]+smallest > gpus {
				l.share[k] = 1
				smallest, alone = min(smallest, gangs[k]), false
			}
		}
		if !alone {
			out = append(out, l)
		}
	}
	return out
}
