package exhaustive

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// pattern is a way to cut a gang: GPUs on distinct servers.
type pattern []need

// need is one part of a pattern: GPUs on one server of a size class.
type need struct{ gpus, kind int }

// anyGPUs is the class of all patterns: whatever GPUs are free will do.
const anyGPUs = -1

// packer says which jobs can run at the same time. Those of class anyGPUs need
// nothing but enough GPUs in all. Any others each take one of the patterns of
// their class, side by side.
type packer struct {
	free, kind []int // of the empty servers
	classes    []class
	number     map[string]int  // of a class, by its parent and what it adds
	known      map[string]bool // answers, by sorted classes
	key        []byte

	room []int // scratch of search
}

// class is a set of patterns: those of its parent and more. Class 0 is empty,
// and its own parent.
type class struct {
	parent int
	more   []pattern
}

func newPacker(free, kind []int) *packer {
	return &packer{free: free, kind: kind, classes: make([]class, 1), number: map[string]int{}, known: map[string]bool{}}
}

// extend returns the number of the class that has more patterns than a given
// one. Equal sets built in the same steps have equal numbers.
func (p *packer) extend(parent int, more []pattern) int {
	more = slices.Clone(more)
	slices.SortFunc(more, func(a, b pattern) int {
		return slices.CompareFunc(a, b, func(x, y need) int { return cmp.Or(cmp.Compare(x.gpus, y.gpus), cmp.Compare(x.kind, y.kind)) })
	})
	key := binary.AppendUvarint(nil, uint64(parent))
	for _, q := range more {
		key = binary.AppendUvarint(key, uint64(len(q)))
		for _, n := range q {
			key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(n.gpus)), uint64(n.kind))
		}
	}
	c, ok := p.number[string(key)]
	if !ok {
		c = len(p.classes)
		p.number[string(key)] = c
		p.classes = append(p.classes, class{parent, more})
	}
	return c
}

// fits reports whether jobs of the given classes can run at the same time, if
// the cluster has enough GPUs for them in all. It sorts its argument.
func (p *packer) fits(classes []int) bool {
	if len(classes) < 2 {
		return true // a pattern fits the empty cluster
	}
	slices.Sort(classes)
	p.key = p.key[:0]
	for _, c := range classes {
		p.key = binary.AppendUvarint(p.key, uint64(c))
	}
	fits, ok := p.known[string(p.key)]
	if !ok {
		p.room = append(p.room[:0], p.free...)
		fits = p.search(classes)
		p.known[string(p.key)] = fits
	}
	return fits
}

// search packs the classes into the room that is left.
func (p *packer) search(classes []int) bool {
	if len(classes) == 0 {
		return true
	}
	for c := classes[0]; c > 0; c = p.classes[c].parent {
		for _, q := range p.classes[c].more {
			if p.place(q, 0, make([]bool, len(p.room)), classes[1:]) {
				return true
			}
		}
	}
	return false
}

// place takes servers for the parts of q from the k-th on, all of them
// different, and goes on with the other classes. Of servers that are alike, the
// first that is not taken stands for all.
func (p *packer) place(q pattern, k int, taken []bool, rest []int) bool {
	if k == len(q) {
		return p.search(rest)
	}
	for m, room := range p.room {
		if taken[m] || room < q[k].gpus || p.kind[m] != q[k].kind || p.alikeBefore(m, taken) {
			continue
		}
		taken[m] = true
		p.room[m] -= q[k].gpus
		ok := p.place(q, k+1, taken, rest)
		p.room[m] += q[k].gpus
		taken[m] = false
		if ok {
			return true
		}
	}
	return false
}

func (p *packer) alikeBefore(m int, taken []bool) bool {
	for b := range m {
		if !taken[b] && p.room[b] == p.room[m] && p.kind[b] == p.kind[m] {
			return true
		}
	}
	return false
}
