package cuts

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"yardstick/sched"
)

// maxTable bounds the number of stage times that are evaluated for one job,
// about a second's work.
const maxTable = 1 << 19

// table holds the exact times beta(s; a, x, b) of a job's stages on servers of
// every size, as ranks: rank i stands for the i-th smallest value, and equal
// values have equal ranks.
type table struct {
	job    *sched.Job
	sizes  []sizeClass
	values []*big.Rat // by rank, ascending
	stages [][]block  // [class][stage]
}

// block holds the ranks of one stage on one server size, indexed by (a, x, b)
// with the last index fastest; entries that exceed the server stay unset.
type block struct {
	ranks        []int32
	width, depth int // numbers of values of x and of b
}

// replicas returns k_s, and 0 outside the pipeline.
func replicas(j *sched.Job, s int) int {
	if s < 0 || s >= len(j.Stages) {
		return 0
	}
	return j.Stages[s].Replicas
}

// newTable evaluates every beta that a placement could meet. Cost: one
// rational per (size, stage, a, x, b) with a + x + b within the size, and a
// sort.
//
// Errors: ErrTooLarge.
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
	t := &table{job: j, sizes: sizes}
	type entry struct {
		value *big.Rat
		near  float64 // value rounded to nearest, which keeps order
		rank  *int32
	}
	var all []entry
	for i, class := range t.sizes {
		most := most[i]
		row := make([]block, len(j.Stages))
		for s := range j.Stages {
			ka, kx, kb := min(replicas(j, s-1), most), min(replicas(j, s), most), min(replicas(j, s+1), most)
			cells := (ka + 1) * (kx + 1) * (kb + 1)
			if len(all)+cells > maxTable {
				return nil, fmt.Errorf("cuts: job %d: more than %d stage times: %w", id, maxTable, ErrTooLarge)
			}
			bl := block{make([]int32, cells), kx + 1, kb + 1}
			for a := 0; a <= ka; a++ {
				for x := 1; x <= min(kx, most-a); x++ {
					for b := 0; b <= min(kb, most-a-x); b++ {
						v := in.StageTime(id, s, a, x, b, class.gpus)
						near, _ := v.Float64()
						all = append(all, entry{v, near, &bl.ranks[(a*bl.width+x)*bl.depth+b]})
					}
				}
			}
			row[s] = bl
		}
		t.stages = append(t.stages, row)
	}
	slices.SortFunc(all, func(p, q entry) int {
		if c := cmp.Compare(p.near, q.near); c != 0 {
			return c
		}
		return p.value.Cmp(q.value)
	})
	for _, e := range all {
		if n := len(t.values); n == 0 || t.values[n-1].Cmp(e.value) != 0 {
			t.values = append(t.values, e.value)
		}
		*e.rank = int32(len(t.values) - 1)
	}
	return t, nil
}

// rank returns the rank of beta(s; a, x, b) on a server of the given class;
// x > 0.
func (t *table) rank(class, s, a, x, b int) int32 {
	bl := &t.stages[class][s]
	return bl.ranks[(a*bl.width+x)*bl.depth+b]
}

// worst returns the largest rank of a stage of config c, the numbers of
// replicas of each stage on one server of the given class.
func (t *table) worst(class int, c []int) int32 {
	w := int32(0)
	for s, x := range c {
		if x == 0 {
			continue
		}
		a, b := 0, 0
		if s > 0 {
			a = c[s-1]
		}
		if s+1 < len(c) {
			b = c[s+1]
		}
		w = max(w, t.rank(class, s, a, x, b))
	}
	return w
}
