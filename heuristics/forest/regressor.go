package forest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Features is how many features a point has. A feature that is not used is the
// same everywhere and then changes nothing.
const Features = 3

// Point is a value per feature: integers, of which trees use only the order and,
// to place thresholds, the midpoints.
type Point [Features]int32

// Sample is a point and the target observed there, at least 0.
type Sample struct {
	X Point
	Y int64
}

// Trees is how many trees a forest has where its options do not say.
const Trees = 100

// TrainOptions are the settings of Train; the zero value is the paper's.
type TrainOptions struct {
	Trees    int    // number of trees; 0 stands for the constant of that name
	MaxDepth int    // splits from root to leaf; 0 sets no limit
	Whole    bool   // grow every tree on the samples themselves, not on bootstrap samples
	Seed     uint64 // of the bootstrap samples and of ties between features
	Workers  int    // trees grown at a time; 0 stands for GOMAXPROCS. The result does not depend on it
}

// Regressor is a trained random forest. It may be used concurrently.
type Regressor struct{ trees [][]node }

// ErrNoSamples is returned by Train if there is nothing to train on.
var ErrNoSamples = errors.New("forest: no samples to train on")

// Train grows a random forest.
//
// Samples at the same point cannot be told apart by a tree, so trees are grown
// on cells, one per distinct point, that hold the number and the sum of the
// targets drawn there. Splits and leaves depend on these alone: the trees are
// those that the samples one by one would give, at the cost of the cells.
//
// Cost: O(rows) per tree for the bootstrap sample, then O(cells·depth); memory
// of about 120 bytes per cell and worker, 16 bytes per node of the result.
// Errors: ErrNoSamples; a target below 0, or targets whose sum may overflow.
func Train(samples []Sample, o TrainOptions) (*Regressor, error) {
	if len(samples) == 0 {
		return nil, ErrNoSamples
	}
	if o.Trees < 0 || o.MaxDepth < 0 || o.Workers < 0 {
		return nil, fmt.Errorf("forest: trees %d, depth %d, workers %d: none of these may be negative", o.Trees, o.MaxDepth, o.Workers)
	}
	limit := math.MaxInt64 / int64(len(samples))
	for i, s := range samples {
		if s.Y < 0 || s.Y > limit {
			return nil, fmt.Errorf("forest: target %d of sample %d: it must be from 0 to %d, so that sums of %d targets fit 64 bits", s.Y, i, limit, len(samples))
		}
	}
	if len(samples) > math.MaxInt32 {
		return nil, fmt.Errorf("forest: %d samples: at most %d can be counted", len(samples), math.MaxInt32)
	}
	if o.Trees == 0 {
		o.Trees = Trees
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	t := newTable(samples)
	r := &Regressor{trees: make([][]node, o.Trees)}
	// Workers take trees by number. A tree's randomness comes from the seed and
	// its number only, so that it does not matter who grows it when.
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(o.Workers, o.Trees) {
		wait.Go(func() {
			g := newGrower(t, o.MaxDepth)
			for i := int(next.Add(1)) - 1; i < o.Trees; i = int(next.Add(1)) - 1 {
				rng := rand.New(rand.NewPCG(o.Seed, uint64(i)))
				r.trees[i] = g.tree(rng, !o.Whole)
			}
		})
	}
	wait.Wait()
	return r, nil
}

// Predict returns the mean over the trees of the leaf that x falls in.
func (r *Regressor) Predict(x Point) float64 {
	var sum float64
	for _, nodes := range r.trees {
		i := int32(0)
		for nodes[i].feature >= 0 {
			if float64(x[nodes[i].feature]) <= nodes[i].value {
				i++
			} else {
				i = nodes[i].right
			}
		}
		sum += nodes[i].value
	}
	return sum / float64(len(r.trees))
}

// Nodes returns the number of nodes of all trees, leaves included.
func (r *Regressor) Nodes() int {
	n := 0
	for _, nodes := range r.trees {
		n += len(nodes)
	}
	return n
}

// table holds what all trees have in common: the targets by cell, and the
// orders of the cells.
type table struct {
	points []Point           // of the cells, in lexicographic order
	ends   []int32           // cell c has the targets from ends[c−1] to before ends[c]
	y      []int64           // all targets, cell by cell
	order  [Features][]int32 // the cells by feature f, then by number; nil if f is the same everywhere
}

func newTable(samples []Sample) *table {
	t := &table{y: make([]int64, len(samples))}
	seen := make(map[Point]int32) // the cell of a point
	for _, s := range samples {
		if _, ok := seen[s.X]; !ok {
			seen[s.X] = 0
			t.points = append(t.points, s.X)
		}
	}
	slices.SortFunc(t.points, func(a, b Point) int { return slices.Compare(a[:], b[:]) })
	for c, x := range t.points {
		seen[x] = int32(c)
	}
	// Counting sort of the samples by cell.
	t.ends = make([]int32, len(t.points))
	for _, s := range samples {
		t.ends[seen[s.X]]++
	}
	var before int32
	for c, n := range t.ends {
		t.ends[c] = before // where the cell's next target goes
		before += n
	}
	for _, s := range samples {
		c := seen[s.X]
		t.y[t.ends[c]] = s.Y
		t.ends[c]++
	}
	for f := range t.order {
		t.order[f] = t.sorted(f)
	}
	return t
}

// sorted returns the cells in the order of feature f, or nil if all are equal.
func (t *table) sorted(f int) []int32 {
	// Value and number in one integer, so that plain integers are sorted; the
	// sign bit is flipped to keep negative values below positive ones.
	keys := make([]uint64, len(t.points))
	for c, x := range t.points {
		keys[c] = uint64(uint32(x[f])^1<<31)<<32 | uint64(c)
	}
	slices.Sort(keys)
	if keys[0]>>32 == keys[len(keys)-1]>>32 {
		return nil
	}
	order := make([]int32, len(keys))
	for i, k := range keys {
		order[i] = int32(uint32(k))
	}
	return order
}
