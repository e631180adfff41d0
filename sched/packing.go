package sched

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Width is a number of replicas that have the same number of slices.
type Width struct{ Slices, Replicas int }

// Widths returns the job's replicas by their number of slices, widest first.
func (j *Job) Widths() []Width {
	var out []Width
	for s := range j.Stages {
		t, k := j.Slices(s), j.Stages[s].Replicas
		if i := slices.IndexFunc(out, func(w Width) bool { return w.Slices == t }); i >= 0 {
			out[i].Replicas += k
		} else {
			out = append(out, Width{t, k})
		}
	}
	slices.SortFunc(out, func(a, b Width) int { return cmp.Compare(b.Slices, a.Slices) })
	return out
}

// Fill takes off left, which is ordered widest first, the replicas that fit
// room GPUs when the widest that still fits goes first. It says in taken how
// many of each width these are, and returns how many GPUs they have.
func Fill(left []Width, room int, taken []int) int {
	before := room
	for i := range left {
		taken[i] = min(left[i].Replicas, room/left[i].Slices)
		left[i].Replicas -= taken[i]
		room -= taken[i] * left[i].Slices
	}
	return before - room
}

// maxMixes bounds the search of Pack: the product, over the widths, of the
// number of replicas plus one. It does not apply where each width divides the
// next wider one.
const maxMixes = 100_000

// Pack puts replicas, given widest first, on servers with so much room each, a
// replica whole on one server. It returns how many of each width are on each
// server, or nil if they do not fit. Whether they fit is exact: it is bin
// packing with few sizes.
//
// Filling one server after the other, widest first, finds a packing if there
// is one where each width divides the next wider: wherever the wide ones are,
// the same number of the narrower ones fits beside them in all. Elsewhere a
// search with a memory of what failed decides; it is exponential in the number
// of widths only. Cost: O(servers·widths) if filling succeeds.
func Pack(widths []Width, room []int) [][]int {
	left := slices.Clone(widths)
	fill := rows(len(room), len(widths))
	for m := range room {
		Fill(left, room[m], fill[m])
	}
	if !slices.ContainsFunc(left, func(w Width) bool { return w.Replicas > 0 }) {
		return fill
	}
	if divide(widths) {
		return nil
	}
	return newPacker(widths, room).search()
}

// rows returns a table of zeros.
func rows(n, columns int) [][]int {
	all, out := make([]int, n*columns), make([][]int, n)
	for i := range out {
		out[i], all = all[:columns:columns], all[columns:]
	}
	return out
}

// divide reports whether each width divides the next wider one.
func divide(widths []Width) bool {
	for i := 1; i < len(widths); i++ {
		if widths[i-1].Slices%widths[i].Slices != 0 {
			return false
		}
	}
	return true
}

// packer is a search for a packing: server by server, the roomiest first, over
// all ways to fill a server to which no other replica could be added. Any
// packing can be made one of these by moving replicas forward.
type packer struct {
	widths []Width
	room   []int
	order  []int   // servers by room
	fits   [][]int // fits[p][i]: replicas of width i that fit the servers order[p:], if alone
	fill   [][]int // by server
	failed map[string]bool
}

func newPacker(widths []Width, room []int) *packer {
	p := &packer{widths: widths, room: room, order: make([]int, len(room)), failed: map[string]bool{},
		fits: rows(len(room)+1, len(widths)), fill: rows(len(room), len(widths))}
	for m := range room {
		p.order[m] = m
	}
	slices.SortStableFunc(p.order, func(a, b int) int { return cmp.Compare(room[b], room[a]) })
	for n := len(room) - 1; n >= 0; n-- {
		for i, w := range widths {
			p.fits[n][i] = p.fits[n+1][i] + room[p.order[n]]/w.Slices
		}
	}
	return p
}

func (p *packer) search() [][]int {
	if !p.server(0, slices.Clone(p.widths)) {
		return nil
	}
	return p.fill
}

// server packs what is left on the n-th server and those after it.
func (p *packer) server(n int, left []Width) bool {
	if !slices.ContainsFunc(left, func(w Width) bool { return w.Replicas > 0 }) {
		return true
	}
	for i, w := range p.widths { // a wider replica takes the place of several of this width
		need := 0
		for k := range i + 1 {
			need += left[k].Replicas * (left[k].Slices / w.Slices)
		}
		if need > p.fits[n][i] {
			return false
		}
	}
	key := make([]byte, 0, 32)
	for _, w := range left {
		key = binary.AppendUvarint(key, uint64(w.Replicas))
	}
	state := string(binary.AppendUvarint(key, uint64(n)))
	if p.failed[state] {
		return false
	}
	m := p.order[n]
	if p.width(n, 0, p.room[m], left) {
		return true
	}
	clear(p.fill[m])
	p.failed[state] = true
	return false
}

// width tries all numbers of replicas of the i-th width, and of the narrower
// ones, on the n-th server.
func (p *packer) width(n, i, room int, left []Width) bool {
	if i == len(left) {
		fits := func(w Width) bool { return w.Replicas > 0 && w.Slices <= room }
		return !slices.ContainsFunc(left, fits) && p.server(n+1, left)
	}
	for x := min(left[i].Replicas, room/left[i].Slices); x >= 0; x-- {
		left[i].Replicas -= x
		p.fill[p.order[n]][i] = x
		done := p.width(n, i+1, room-x*left[i].Slices, left)
		left[i].Replicas += x
		if done {
			return true
		}
	}
	return false
}

// validatePacking checks that every replica finds a server that holds all its
// slices when the cluster is empty.
func (j *Job) validatePacking(c *Cluster) error {
	widths := j.Widths()
	if !divide(widths) {
		mixes := 1
		for _, w := range widths {
			if mixes *= w.Replicas + 1; mixes > maxMixes {
				return fmt.Errorf("has too many replicas to decide whether they fit: %s, where the numbers of slices do not divide each other", describe(widths))
			}
		}
	}
	room := make([]int, len(c.Servers))
	for m := range room {
		room[m] = c.Servers[m].GPUs
	}
	if Pack(widths, room) == nil {
		return fmt.Errorf("does not fit the servers, even if all are free: %s, each replica on one server", describe(widths))
	}
	return nil
}

// describe returns the widths as "2 replicas of 4, 8 of 1 GPUs".
func describe(widths []Width) string {
	parts := make([]string, len(widths))
	for i, w := range widths {
		parts[i] = fmt.Sprintf("%d of %d", w.Replicas, w.Slices)
	}
	return strings.Replace(strings.Join(parts, ", "), " of", " replicas of", 1) + " GPUs"
}
