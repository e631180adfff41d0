package partition

import (
	"math/big"
	"yardstick/internal/number"
)

// table holds the exact times beta of a job's stages on servers of every size,
// as ranks: rank i stands for the i-th smallest value, and equal values have
// equal ranks.
//
// beta is affine in the numbers of neighbours on the server: with x replicas of
// stage s and n_t of each stage t next to it,
//
//	beta = alone(x) − Σ_t drop_t n_t,
//
// alone and drop depending on the server's size. So a few rationals give all
// values; brought to a common denominator they are integers, which are compared
// in 128 bits where they fit and as big.Int elsewhere.
type table struct {
	*shape
	sizes  []sizeClass
	most   []int            // of each size, GPUs of a server that placements may use
	blocks [][]*block       // [class][stage]; stages that are alike share one
	scale  *big.Int         // values are integers over scale
	fixed  []number.Uint128 // by rank, ascending, if all fit
	large  []*big.Int       // otherwise
}

// block holds the ranks of one stage on one server size. The rank of the stage
// with n_t replicas of every stage t on the server is
// ranks[n_s·self + Σ n_t·stride_t], the sum being over the neighbours.
// Neighbours with the same drop are added up, and have the same stride.
type block struct {
	ranks  []int32
	self   int
	terms  []term // of each neighbour, by stride
	groups []group
}

// term is the neighbour s + offset of a stage s.
type term struct {
	offset int
	*group
}

// group is the neighbours with one stride: a server holds at most most of them
// beside the stage, each of at least slices GPUs.
type group struct{ stride, most, slices int }

// rank returns the rank of stage s, of which counts has some, on a server of
// the given class that holds counts.
func (t *table) rank(class, s int, counts []int) int32 {
	b := t.blocks[class][s]
	at := counts[s] * b.self
	for _, n := range b.terms {
		at += counts[s+n.offset] * n.stride
	}
	return b.ranks[at]
}

// atBest returns the least rank that stage s can have on a server of the given
// class with room GPUs left, where counts is decided up to stage last, s
// included, and left says how many replicas of each later stage there are.
func (t *table) atBest(class, s int, counts []int, last int, left []int, room int) int32 {
	b := t.blocks[class][s]
	at := counts[s] * b.self
	var of *group
	spare := 0 // replicas of the group that there is room for
	for _, n := range b.terms {
		x := counts[s+n.offset]
		if s+n.offset > last {
			if n.group != of {
				of, spare = n.group, room/n.slices
			}
			x = min(left[s+n.offset], room/t.slices[s+n.offset], spare)
			spare -= x
		}
		at += x * n.stride
	}
	return b.ranks[at]
}

// leastBeside returns the least rank of x replicas of stage s on a server with
// room GPUs for others.
func (t *table) leastBeside(class, s, x, room int) int32 {
	b := t.blocks[class][s]
	var walk func(groups []group, at, room int) int32
	walk = func(groups []group, at, room int) int32 {
		if len(groups) == 0 {
			return b.ranks[at]
		}
		of := &groups[0]
		n := min(of.most, room/of.slices)
		best := walk(groups[1:], at+n*of.stride, room-n*of.slices)
		for n--; n >= 0 && len(groups) > 1; n-- {
			best = min(best, walk(groups[1:], at+n*of.stride, room-n*of.slices))
		}
		return best
	}
	return walk(b.groups, x*b.self, room)
}

// worst returns the largest rank of a stage of counts, the numbers of replicas
// of each stage on one server of the given class.
func (t *table) worst(class int, counts []int) int32 {
	w := int32(0)
	for s, x := range counts {
		if x > 0 {
			w = max(w, t.rank(class, s, counts))
		}
	}
	return w
}

// value returns the value of a rank, in seconds.
func (t *table) value(rank int32) *big.Rat {
	if t.fixed != nil {
		return new(big.Rat).SetFrac(t.fixed[rank].Big(), t.scale)
	}
	return new(big.Rat).SetFrac(t.large[rank], t.scale)
}
