package partition

import (
	"fmt"
	"math/big"
	"slices"

	"yardstick/internal/number"
	"yardstick/sched"
)

// maxTable bounds the number of stage times that are ranked for one job, some
// tenths of a second's work.
const maxTable = 1 << 19

// newTable ranks every beta that a placement could meet. Cost: a few rationals
// per server size and kind of stage, and a sort of all values.
//
// Errors: sched.ErrNotApplicable.
func newTable(in *sched.Instance, id sched.JobID) (*table, error) {
	sizes := sizeClasses(&in.Cluster)
	most := make([]int, len(sizes))
	for i, c := range sizes {
		most[i] = c.gpus
	}
	return newTableOf(in, id, sizes, most)
}

// newTableOf is newTable for placements that use at most most[i] GPUs of a
// server of sizes[i].
func newTableOf(in *sched.Instance, id sched.JobID, sizes []sizeClass, most []int) (*table, error) {
	j := &in.Jobs[id]
	t := &table{shape: newShape(j), sizes: sizes, most: most}
	r := ranking{scale: big.NewInt(1)}
	links := j.Links()
	for i, class := range sizes {
		known := map[string]*block{}
		row := make([]*block, len(j.Stages))
		for s := range row {
			key := likeness(j, s, links[s])
			if known[key] == nil {
				a := newAffine(in, id, t.shape, s, class.gpus, most[i])
				if r.cells += a.cells; r.cells > maxTable {
					return nil, fmt.Errorf("cuts: job %d: %w: more than %d stage times: too large to enumerate", id, sched.ErrNotApplicable, maxTable)
				}
				r.add(a)
				known[key] = a.block
			}
			row[s] = known[key]
		}
		t.blocks = append(t.blocks, row)
	}
	r.rank(t)
	return t, nil
}

// affine is a stage on a server size as the numbers of the formula, and the
// block that its ranks are to be written into.
type affine struct {
	*block
	alone []*big.Rat // by x from 1
	drop  []*big.Rat // of each group of neighbours
	own   int        // GPUs of a replica of the stage
	gpus  int        // that the job uses of a server at most
	cells int        // of the block
}

func newAffine(in *sched.Instance, id sched.JobID, g *shape, s, gpus, most int) *affine {
	a := &affine{block: &block{}, own: g.slices[s], gpus: most}
	counts := make([]int, len(g.replicas))
	for counts[s] = 1; counts[s] <= g.width(s, most); counts[s]++ {
		a.alone = append(a.alone, in.ServerTime(id, s, counts, gpus))
	}
	if len(a.alone) == 0 {
		return a
	}
	counts[s] = 1
	of := make([]int, len(g.near[s]))
	beside := most - a.own // GPUs
	for i, n := range g.near[s] {
		counts[n] = 1
		v := in.ServerTime(id, s, counts, gpus)
		counts[n] = 0
		v.Sub(a.alone[0], v)
		if of[i] = slices.IndexFunc(a.drop, func(d *big.Rat) bool { return d.Cmp(v) == 0 }); of[i] < 0 {
			of[i] = len(a.drop)
			a.drop, a.groups = append(a.drop, v), append(a.groups, group{slices: g.slices[n]})
		}
		to := &a.groups[of[i]]
		to.slices = min(to.slices, g.slices[n])
		to.most += g.width(n, beside)
	}
	a.self = 1
	for k := range a.groups {
		to := &a.groups[k]
		to.most = min(to.most, beside/to.slices)
		to.stride = a.self
		if a.self *= to.most + 1; a.self > maxTable {
			break
		}
	}
	a.cells = a.self * (len(a.alone) + 1)
	for k := range a.groups {
		for i, n := range g.near[s] {
			if of[i] == k {
				a.terms = append(a.terms, term{n - s, &a.groups[k]})
			}
		}
	}
	return a
}

// ranking collects the values to rank.
type ranking struct {
	scale *big.Int
	kinds []*affine
	cells int
}

func (r *ranking) add(a *affine) {
	a.ranks = make([]int32, a.cells)
	r.kinds = append(r.kinds, a)
	for _, list := range [][]*big.Rat{a.alone, a.drop} {
		for _, v := range list { // scale = lcm(scale, denominator of v)
			if d := v.Denom(); new(big.Int).Rem(r.scale, d).Sign() != 0 {
				common := new(big.Int).GCD(nil, nil, r.scale, d)
				r.scale.Mul(r.scale, common.Quo(d, common))
			}
		}
	}
}

// scaled returns v·scale, an integer.
func (r *ranking) scaled(v *big.Rat) *big.Int {
	n := new(big.Int).Quo(r.scale, v.Denom())
	return n.Mul(n, v.Num())
}

// rank sorts all values and writes the ranks.
func (r *ranking) rank(t *table) {
	t.scale = r.scale
	bits := 0
	for _, a := range r.kinds {
		for _, v := range a.alone {
			bits = max(bits, r.scaled(v).BitLen())
		}
	}
	if bits <= 128 {
		t.fixed = ranked(r, number.NewUint128, number.Uint128.Minus, number.Uint128.Compare)
		return
	}
	same := func(n *big.Int) *big.Int { return n }
	minus := func(v, d *big.Int) *big.Int { return new(big.Int).Sub(v, d) }
	t.large = ranked(r, same, minus, (*big.Int).Cmp)
}

// ranked evaluates every cell, writes its rank and returns the values by rank.
//
// Every group of neighbours fits beside a cell's replicas, though perhaps not all
// groups together: the times of such cells are bounds.
func ranked[T any](r *ranking, convert func(*big.Int) T, minus func(T, T) T, compare func(T, T) int) []T {
	type entry struct {
		value T
		rank  *int32
	}
	all := make([]entry, 0, r.cells)
	for _, a := range r.kinds {
		drops := make([]T, len(a.drop))
		for i, d := range a.drop {
			drops[i] = convert(r.scaled(d))
		}
		var walk func(k, room, at int, v T)
		walk = func(k, room, at int, v T) {
			if k == len(drops) {
				all = append(all, entry{v, &a.ranks[at]})
				return
			}
			to := &a.groups[k]
			for n := 0; n <= min(to.most, room/to.slices); n++ {
				walk(k+1, room, at+n*to.stride, v)
				v = minus(v, drops[k])
			}
		}
		for i, v := range a.alone {
			walk(0, a.gpus-(i+1)*a.own, (i+1)*a.self, convert(r.scaled(v)))
		}
	}
	slices.SortFunc(all, func(p, q entry) int { return compare(p.value, q.value) })
	var values []T
	for _, e := range all {
		if n := len(values); n == 0 || compare(values[n-1], e.value) != 0 {
			values = append(values, e.value)
		}
		*e.rank = int32(len(values) - 1)
	}
	return values
}
