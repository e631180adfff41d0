package partition

import "math"

// overweight reports that the blocks of the stages are too heavy for the
// servers under some weighting of blocks by the GPUs they take: however every
// stage is cut into blocks that keep the threshold, they weigh more than the
// servers can carry.
//
// Source: the dual feasible functions of bin packing; [weighting] has them. Not
// in the source: a stage chooses its cut, and the servers carry only sizes that
// occur.
func (r *reach) overweight(lots []lot) bool {
	top := 0
	for _, l := range lots {
		top = max(top, l.room)
	}
	sizes := newSet(top) // of blocks
	blocks := make([][]int, len(r.replicas))
	for s := range blocks {
		blocks[s] = r.blocksOf(s)
		for _, x := range blocks[s] {
			sizes.add(x * r.slices[s])
		}
	}
	weight := make([]int, top+1)
	for i := 0; weighting(i, weight); i++ {
		carry := carried(weight, sizes)
		left := 0
		for _, l := range lots {
			left += l.count * carry[l.room]
		}
		for s, k := range r.replicas {
			if left -= lightest(k, r.slices[s], blocks[s], weight); left < 0 {
				return true
			}
		}
	}
	return false
}

// weighting sets the i-th weights of blocks by their GPUs n, up to g, and returns
// false if there are no more. They are, after the GPUs themselves,
//
//	0 below t, 1 from t to g − t, 2 above g − t    for t ≤ g/2, so that what is above keeps all from t out;
//	floor(n·j/(g + 1))                              for j ≤ 2g.
func weighting(i int, weight []int) bool {
	g := len(weight) - 1
	for n := range weight {
		switch t, j := i, i-g/2; {
		case i == 0:
			weight[n] = n
		case t <= g/2:
			weight[n] = 0
			if n >= t {
				weight[n]++
			}
			if n > g-t {
				weight[n]++
			}
		default:
			weight[n] = n * j / (g + 1)
		}
	}
	return i-g/2 <= 2*g
}

// carried returns, for every number of GPUs, the greatest weight of blocks of
// the given sizes that fit.
func carried(weight []int, sizes set) []int {
	out := make([]int, len(weight))
	for room := range out {
		for n := 1; n <= room; n++ {
			if sizes.has(n) {
				out[room] = max(out[room], weight[n]+out[room-n])
			}
		}
	}
	return out
}

// lightest returns the least weight of blocks that k replicas can be cut into,
// and a great number if they cannot.
func lightest(k, slices int, blocks, weight []int) int {
	least := make([]int, k+1)
	for n := 1; n <= k; n++ {
		least[n] = math.MaxInt32
		for _, x := range blocks {
			if x <= n {
				least[n] = min(least[n], least[n-x]+weight[x*slices])
			}
		}
	}
	return least[k]
}
