package cuts

import (
	"encoding/binary"
	"slices"

	"yardstick/sched"
)

// verdict is the answer for one threshold.
type verdict uint8

const (
	undecided verdict = iota // the limit was reached
	attained
	refuted
)

// attempt is the state of the search for one threshold.
type attempt struct {
	threshold int32
	left      []int // replicas of each stage still to place
	free      []int // parts of each slot still empty
	failed    map[string]struct{}
	visits    int
	filled    []filled // the parts filled so far
}

type filled struct {
	slot   int
	counts []int
}

// feasible decides whether the parts can be filled with no stage time of a rank
// above the threshold; if so, p.placement returns how.
//
// Parts are filled one after another. The lowest stage with replicas left must
// be hosted by some part, and the next part is taken to be it: only the kinds
// of parts and their fillings are branched on, stage by stage. A state that
// failed once (replicas left, parts left of each slot) is remembered.
func (p *packing) feasible(threshold int32) verdict {
	p.try = attempt{threshold: threshold, failed: map[string]struct{}{}}
	for _, st := range p.job.Stages {
		p.try.left = append(p.try.left, st.Replicas)
	}
	for _, sl := range p.slots {
		p.try.free = append(p.try.free, sl.count)
	}
	ok := p.pack()
	p.total += p.try.visits
	switch {
	case ok:
		return attained
	case p.try.visits > p.limit:
		return undecided
	}
	return refuted
}

// placement returns the placement that the last attempt found.
func (p *packing) placement() sched.Placement {
	contents := make([][][]int, len(p.slots))
	for _, f := range p.try.filled {
		contents[f.slot] = append(contents[f.slot], f.counts)
	}
	return p.assemble(contents)
}

// pack fills the parts left. False is a proof only while visits is within the
// limit.
func (p *packing) pack() bool {
	t := &p.try
	lowest := slices.IndexFunc(t.left, func(n int) bool { return n > 0 })
	if lowest < 0 {
		return true
	}
	key := p.key()
	if _, ok := t.failed[string(key)]; ok {
		return false
	}
	config := make([]int, len(t.left))
	after := make([]int, len(t.left)+1) // replicas left of this and later stages
	for s := len(t.left) - 1; s >= 0; s-- {
		after[s] = after[s+1] + t.left[s]
	}
	for k, sl := range p.slots {
		if t.free[k] > 0 && p.choose(config, after, k, lowest, lowest, sl.part) {
			return true
		}
	}
	if t.visits <= p.limit {
		t.failed[string(key)] = struct{}{}
	}
	return false
}

// key encodes the state.
func (p *packing) key() []byte {
	b := make([]byte, 0, 128)
	for _, n := range p.try.left {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, n := range p.try.free {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

// choose chooses the replicas of stage i and of all later ones for a part of
// slot k with gpus GPUs left, most first, and goes on to the next part.
func (p *packing) choose(config, after []int, k, lowest, i, gpus int) bool {
	t := &p.try
	if gpus == 0 { // the part is full, all later stages have none
		if !p.keeps(config, k, i-1, 0) {
			return false
		}
		counts := slices.Clone(config)
		for s := lowest; s < i; s++ {
			t.left[s] -= counts[s]
		}
		t.free[k]--
		t.filled = append(t.filled, filled{k, counts})
		if p.pack() {
			return true
		}
		t.filled = t.filled[:len(t.filled)-1]
		t.free[k]++
		for s := lowest; s < i; s++ {
			t.left[s] += counts[s]
		}
		return false
	}
	if i == len(config) {
		return false
	}
	least := max(0, gpus-after[i+1])
	if i == lowest {
		least = max(1, least)
	}
	for x := min(t.left[i], gpus); x >= least; x-- {
		if t.visits++; t.visits > p.limit {
			break
		}
		config[i] = x
		// With x known stage i−1 is settled; stage i at best has all the
		// neighbours that the part can still take.
		ahead := 0
		if i+1 < len(config) {
			ahead = min(t.left[i+1], gpus-x)
		}
		if p.keeps(config, k, i-1, x) && p.keeps(config, k, i, ahead) && p.choose(config, after, k, lowest, i+1, gpus-x) {
			config[i] = 0
			return true
		}
	}
	config[i] = 0
	return false
}

// keeps reports whether stage i of the config, with b replicas of stage i+1
// beside it, keeps the threshold on a part of slot k.
func (p *packing) keeps(config []int, k, i, b int) bool {
	if i < 0 || config[i] == 0 {
		return true
	}
	a := 0
	if i > 0 {
		a = config[i-1]
	}
	return p.rank(p.slots[k].size, i, a, config[i], b) <= p.try.threshold
}
