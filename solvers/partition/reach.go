package partition

import (
	"math/bits"
	"slices"
)

// reach says what one server can hold of a chain of stages with no stage time
// of a rank above a threshold: necessary conditions for [scan].
type reach struct {
	*table
	threshold int32
	need      [][][][]int    // [class][stage][a][x]
	fill      [][][][]uint64 // [class][stage][x][b]
	begin     [][]uint64     // [class][stage]
	fewest    [][][]int      // [class][stage][x]
	loose     [][]int        // [stage][gpus]
}

// need[class][s][a][x] is the fewest replicas of stage s+1 that x > 0 replicas of
// stage s must have beside them, with a of stage s−1, or never.
//
// fill[class][s][x][b] has bit n set if n GPUs can be filled with stages after s
// beside x replicas of stage s, of which at least b of stage s+1.
//
// begin[class][s] has bit n set if n GPUs can be filled with stage s and later
// ones on an empty server.
//
// fewest[class][s][x] is the fewest GPUs in use of a server with x replicas of
// stage s, or never.
//
// loose[s][n] is how many GPUs the replicas take, of stage s and later ones,
// that can be on a server with n GPUs in use.

const never = 1 << 16

// maxReach is the most GPUs of a server for which there is a reach.
const maxReach = 62

func newReach(t *table, threshold int32) *reach {
	r := &reach{table: t, threshold: threshold}
	for class := range t.sizes {
		r.need = append(r.need, r.needs(class))
	}
	for {
		r.fill, r.begin, r.fewest = nil, nil, nil
		for class := range t.sizes {
			fill, begin := r.fills(class)
			r.fill, r.begin = append(r.fill, fill), append(r.begin, begin)
			r.fewest = append(r.fewest, r.least(class))
		}
		if !r.prune() {
			break
		}
	}
	r.gather()
	return r
}

// prune rules out blocks, x replicas of a stage on one server, that the rest of
// the stage cannot be cut into blocks beside. It reports whether there was one.
func (r *reach) prune() bool {
	found := false
	for s, k := range r.replicas {
		blocks := r.blocksOf(s)
		sums := newSet(k) // of blocks
		sums.add(0)
		for n := range k + 1 {
			if sums.has(n) {
				for _, x := range blocks {
					if n+x <= k {
						sums.add(n + x)
					}
				}
			}
		}
		for class := range r.sizes {
			for a := range r.need[class][s] {
				for x := 1; x < len(r.need[class][s][a]); x++ {
					if !sums.has(k-x) && r.need[class][s][a][x] < never {
						r.need[class][s][a][x] = never
						found = true
					}
				}
			}
		}
	}
	return found
}

// blocksOf returns the numbers of replicas of stage s that some server can have.
func (r *reach) blocksOf(s int) []int {
	var out []int
	for x := 1; x <= r.replicas[s]; x++ {
		for class := range r.sizes {
			if list := r.fewest[class][s]; x < len(list) && list[x] < never {
				out = append(out, x)
				break
			}
		}
	}
	return out
}

func (r *reach) needs(class int) [][][]int {
	type kind struct {
		*block
		before, behind [2]int // replicas and slices of the stages there
	}
	beside := func(s int) [2]int {
		if s < 0 || s >= len(r.replicas) {
			return [2]int{}
		}
		return [2]int{r.replicas[s], r.slices[s]}
	}
	known := map[kind][][]int{}
	out := make([][][]int, len(r.replicas))
	counts := make([]int, len(out)+2) // stage s is counts[s+1]
	for s := range out {
		b := kind{r.blocks[class][s], beside(s - 1), beside(s + 1)}
		if known[b] == nil {
			list := make([][]int, r.width(s-1, r.most[class])+1)
			for a := range list {
				room := r.most[class]
				if a > 0 {
					room -= a * r.slices[s-1]
				}
				list[a] = make([]int, r.width(s, room)+1)
				for x := 1; x < len(list[a]); x++ {
					list[a][x] = never
					counts[s], counts[s+1] = a, x
					for n := r.width(s+1, room-x*r.slices[s]); n >= 0; n-- {
						counts[s+2] = n
						if r.rank(class, s, counts[1:]) > r.threshold {
							break
						}
						list[a][x] = n
					}
					counts[s+2] = 0
				}
			}
			counts[s], counts[s+1] = 0, 0
			known[b] = list
		}
		out[s] = known[b]
	}
	return out
}

func (r *reach) fills(class int) (fill [][][]uint64, begin []uint64) {
	last := len(r.replicas) - 1
	fill, begin = make([][][]uint64, last+1), make([]uint64, last+2)
	most := r.most[class]
	begin[last+1] = 1
	for s := last; s >= 0; s-- {
		fill[s] = make([][]uint64, r.width(s, most)+1)
		slab := make([]uint64, len(fill[s])*(r.width(s+1, most)+1))
		for x := range fill[s] {
			room := most - x*r.slices[s]
			row := slab[: r.width(s+1, room)+1 : r.width(s+1, room)+1]
			slab = slab[len(row):]
			for b := len(row) - 1; b >= 0; b-- {
				if b == 0 {
					row[b] = begin[min(s+2, last+1)]
				} else if need := r.need[class][s+1][x][b]; need < len(fill[s+1][b]) {
					row[b] = fill[s+1][b][need] << (b * r.slices[s+1])
				}
				if b+1 < len(row) {
					row[b] |= row[b+1]
				}
				row[b] &= 1<<(room+1) - 1
			}
			fill[s][x] = row
		}
		begin[s] = begin[s+1]
		for x := 1; x < len(fill[s]); x++ {
			if need := r.need[class][s][0][x]; need < len(fill[s][x]) {
				begin[s] |= fill[s][x][need] << (x * r.slices[s])
			}
		}
	}
	return fill, begin
}

// fits reports whether a server with room GPUs left, x replicas of stage s and a
// need of the next stage can be completed.
func (r *reach) fits(s, class, room, x, need int) bool {
	row := r.fill[class][s][x]
	return need < len(row) && row[need]&(1<<(room+1)-1) != 0
}

// most returns the most GPUs of a server with room left, x replicas of stage s
// and a need of the next stage that can be filled, or −1.
func (r *reach) fillable(s, class, room, x, need int) int {
	row := r.fill[class][s][x]
	if need >= len(row) {
		return -1
	}
	return bits.Len64(row[need]&(1<<(room+1)-1)) - 1
}

// least returns, for every stage and number x of its replicas, the fewest GPUs
// that a server of the given class with x of them can have in use.
func (r *reach) least(class int) [][]int {
	most := r.most[class]
	out := make([][]int, len(r.replicas))
	// now[x·n + b]: fewest GPUs up to the stage, with x replicas of it that need b
	// of the next one.
	n := most + 1
	now, then := slices.Repeat([]int{never}, n*n), make([]int, n*n)
	for s := range out {
		width, ahead := r.width(s, most), r.width(s+1, most)
		out[s] = slices.Repeat([]int{never}, width+1)
		for i := range then {
			then[i] = never
		}
		for x := 1; x <= width; x++ {
			own := x * r.slices[s]
			put := func(a, total int) {
				if need := r.need[class][s][a][x]; need <= ahead {
					then[x*n+need] = min(then[x*n+need], total)
				}
			}
			put(0, own)
			for a := 1; s > 0 && a*r.slices[s-1]+own <= most && a <= r.replicas[s-1]; a++ {
				for b := 0; b <= x; b++ {
					if total := now[a*n+b] + own; total <= most {
						put(a, total)
					}
				}
			}
			row := r.fill[class][s][x]
			for b := range row {
				if total := then[x*n+b]; total < never && row[b] != 0 {
					out[s][x] = min(out[s][x], total+bits.TrailingZeros64(row[b]))
				}
			}
		}
		now, then = then, now
	}
	return out
}

func (r *reach) gather() {
	top := slices.Max(r.most)
	r.loose = make([][]int, len(r.replicas)+1)
	r.loose[len(r.replicas)] = make([]int, top+1)
	for s := len(r.replicas) - 1; s >= 0; s-- {
		fewest := never
		for class := range r.sizes {
			fewest = min(fewest, slices.Min(r.fewest[class][s]))
		}
		r.loose[s] = slices.Clone(r.loose[s+1])
		for n := fewest; n <= top; n++ {
			r.loose[s][n] += r.replicas[s] * r.slices[s]
		}
	}
}
