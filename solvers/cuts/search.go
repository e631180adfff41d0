package cuts

import (
	"encoding/binary"
	"math/big"

	"yardstick/sched"
)

// maxVisits bounds the configs tried for one threshold.
const maxVisits = 300_000

// search decides whether a job can be placed with every stage time of rank ≤
// threshold. Servers are filled one after another: the lowest stage with
// replicas left must be hosted by the next server, whose size class and config
// are branched on, stage by stage. A state that failed once (replicas left,
// servers left per class) is remembered.
type search struct {
	*table
	threshold int32
	left      []int // replicas of each stage still to place
	free      []int // servers of each class still empty
	used      int   // servers that may still be opened
	failed    map[string]bool
	visits    int
}

// leastAlpha returns the least alpha over all placements, by binary search for
// the least rank that a placement reaches. It starts from the stage bound; a
// threshold that the search could not settle within its limit raises the answer
// no further, so that the result is a proven lower bound.
func leastAlpha(in *sched.Instance, id sched.JobID) alphaMin {
	j := &in.Jobs[id]
	t, err := newTable(in, id)
	if err != nil { // too many stage times to rank
		return alphaMin{stageBound(in, id), false}
	}
	low := t.rankOf(stageBound(in, id)) // everything below is refuted
	high, reached := int32(len(t.values)-1), true
	for low < high {
		mid := low + (high-low)/2
		s := newSearch(t, mid, servers(j.Gang(), t.sizes))
		if ok := s.place(); ok || s.visits > maxVisits {
			high, reached = mid, ok
		} else {
			low = mid + 1
		}
	}
	return alphaMin{t.values[low], reached}
}

// servers returns how many servers a best placement needs at most. On equal
// servers of g GPUs two parts that fit one server may be merged, so any two
// parts of a best placement exceed g.
func servers(gang int, sizes []sizeClass) int {
	if len(sizes) == 1 {
		return min(sizes[0].count, 2*gang/(sizes[0].gpus+1))
	}
	n := 0
	for _, c := range sizes {
		n += c.count
	}
	return n
}

// rankOf returns the rank of the least value that is at least v.
func (t *table) rankOf(v *big.Rat) int32 {
	low, high := 0, len(t.values)-1
	for low < high {
		if mid := (low + high) / 2; t.values[mid].Cmp(v) < 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return int32(low)
}

// stageBound returns a lower bound on alpha: a stage of k replicas takes at
// least q = ceil(k/g_max) servers, one of which holds at most floor(k/q) of
// them, beside at best as many of either neighbour as that server has left.
func stageBound(in *sched.Instance, id sched.JobID) *big.Rat {
	j := &in.Jobs[id]
	sizes := sizeClasses(&in.Cluster)
	bound := new(big.Rat)
	for s := range j.Stages {
		before, k, after := replicas(j, s-1), replicas(j, s), replicas(j, s+1)
		parts := (k + sizes[0].gpus - 1) / sizes[0].gpus
		var best *big.Rat
		for _, c := range sizes {
			for x := 1; x <= min(k/parts, c.gpus); x++ {
				v := in.StageTime(id, s, min(before, c.gpus-x), x, min(after, c.gpus-x), c.gpus)
				if best == nil || v.Cmp(best) < 0 {
					best = v
				}
			}
		}
		if best.Cmp(bound) > 0 {
			bound = best
		}
	}
	return bound
}

func newSearch(t *table, threshold int32, used int) *search {
	s := &search{table: t, threshold: threshold, used: used, failed: map[string]bool{}}
	for _, st := range t.job.Stages {
		s.left = append(s.left, st.Replicas)
	}
	for _, c := range t.sizes {
		s.free = append(s.free, c.count)
	}
	return s
}

// place reports whether the replicas left fit the servers left within the
// threshold. False is a proof only while visits is within its limit.
func (s *search) place() bool {
	lowest, total := -1, 0
	for i, n := range s.left {
		if n > 0 && lowest < 0 {
			lowest = i
		}
		total += n
	}
	if lowest < 0 {
		return true
	}
	room, open := 0, s.used // of the largest servers left
	for class, n := range s.free {
		n = min(n, open)
		open -= n
		room += n * s.sizes[class].gpus
	}
	if total > room || s.visits > maxVisits {
		return false
	}
	key := s.key()
	if s.failed[key] {
		return false
	}
	config := make([]int, len(s.left))
	for class := range s.sizes {
		if s.free[class] > 0 && s.fill(config, class, lowest, lowest, s.sizes[class].gpus) {
			return true
		}
	}
	s.failed[key] = true
	return false
}

// key encodes the state.
func (s *search) key() string {
	b := make([]byte, 0, 64)
	for _, n := range s.left {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, n := range s.free {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return string(b)
}

// fill chooses the replicas of stage i and of all later ones on a new server of
// the given class with gpus GPUs left, largest first, and goes on to the next
// server. Stages before lowest have none left.
func (s *search) fill(config []int, class, lowest, i, gpus int) bool {
	if i == len(config) {
		if !s.within(config, class, i-1, 0) {
			return false
		}
		for k, x := range config {
			s.left[k] -= x
		}
		s.free[class]--
		s.used--
		ok := s.place()
		s.free[class]++
		s.used++
		for k, x := range config {
			s.left[k] += x
		}
		return ok
	}
	least := 0
	if i == lowest {
		least = 1
	}
	for x := min(s.left[i], gpus); x >= least; x-- {
		if s.visits++; s.visits > maxVisits {
			return false
		}
		config[i] = x
		// With c_i known stage i−1 is settled; stage i at best has all the
		// neighbours that the server can still take.
		ahead := 0
		if i+1 < len(config) {
			ahead = min(s.left[i+1], gpus-x)
		}
		if !s.within(config, class, i-1, x) || !s.within(config, class, i, ahead) {
			continue
		}
		if s.fill(config, class, lowest, i+1, gpus-x) {
			config[i] = 0
			return true
		}
	}
	config[i] = 0
	return false
}

// within reports whether stage i of the config, with b replicas of stage i+1
// beside it, keeps the threshold.
func (s *search) within(config []int, class, i, b int) bool {
	if i < 0 || config[i] == 0 {
		return true
	}
	a := 0
	if i > 0 {
		a = config[i-1]
	}
	return s.rank(class, i, a, config[i], b) <= s.threshold
}
