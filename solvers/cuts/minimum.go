package cuts

import (
	"encoding/binary"
	"math/big"
	"slices"

	"yardstick/sched"
)

// Minimum is the least running time of a job over all placements in the empty
// cluster.
type Minimum struct {
	// Duration is ceil(n·alpha_min) if Exact, and otherwise a proven lower
	// bound on it.
	Duration sched.Time
	Exact    bool
}

// MinDuration returns ceil(n·alpha_min), the least running time of the job over
// all placements in the empty cluster. For jobs of many stages whose search
// exceeds its limit it returns a proven lower bound instead; [LeastRunTime]
// tells the two apart.
//
// Errors: ErrModel.
func MinDuration(in *sched.Instance, id sched.JobID) (sched.Time, error) {
	m, err := LeastRunTime(in, id)
	return m.Duration, err
}

// LeastRunTime returns the least running time of one job.
//
// A gang that fits one server runs there, by monotonicity. A single stage is
// spread as evenly as its servers allow. Several stages on several servers are
// found by bottleneck search: see [search].
//
// Errors: ErrModel.
func LeastRunTime(in *sched.Instance, id sched.JobID) (Minimum, error) {
	return newMinimizer(in).least(id)
}

// LeastRunTimes returns the least running time of every job. Jobs with equal
// stages share one search. Cost: O(n) besides the searches.
//
// Errors: ErrModel.
func LeastRunTimes(in *sched.Instance) ([]Minimum, error) {
	z := newMinimizer(in)
	out := make([]Minimum, len(in.Jobs))
	for id := range out {
		var err error
		if out[id], err = z.least(sched.JobID(id)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// minimizer remembers alpha_min of every shape of job met.
type minimizer struct {
	in      *sched.Instance
	sizes   []sizeClass
	biggest int // a server of sizes[0].gpus GPUs
	known   map[string]alphaMin
}

type alphaMin struct {
	alpha *big.Rat
	exact bool
}

func newMinimizer(in *sched.Instance) *minimizer {
	z := &minimizer{in: in, sizes: sizeClasses(&in.Cluster), known: map[string]alphaMin{}}
	for m := range in.Cluster.Servers {
		if in.Cluster.Servers[m].GPUs > in.Cluster.Servers[z.biggest].GPUs {
			z.biggest = m
		}
	}
	return z
}

func (z *minimizer) least(id sched.JobID) (Minimum, error) {
	if err := checkModel(z.in, id); err != nil {
		return Minimum{}, err
	}
	j := &z.in.Jobs[id]
	if j.Gang() <= z.sizes[0].gpus {
		share := sched.Share{Server: z.biggest, GPUs: j.Gang()}
		if len(j.Stages) > 1 {
			for _, st := range j.Stages {
				share.Stages = append(share.Stages, st.Replicas)
			}
		}
		d, err := z.in.RunTime(id, &sched.Placement{Shares: []sched.Share{share}})
		return Minimum{d, true}, err
	}
	key := shape(j)
	a, ok := z.known[key]
	if !ok {
		if len(j.Stages) == 1 {
			a = alphaMin{z.evenSpread(id), true}
		} else {
			a = leastAlpha(z.in, id)
		}
		z.known[key] = a
	}
	d, err := runTime(z.in, id, a.alpha)
	return Minimum{d, a.exact}, err
}

// shape encodes what alpha depends on besides the cluster.
func shape(j *sched.Job) string {
	var b []byte
	for _, st := range j.Stages {
		for _, v := range []int64{int64(st.Replicas), int64(st.Compute), int64(st.Params), int64(st.Boundary)} {
			b = binary.AppendVarint(b, v)
		}
	}
	return string(b)
}

// evenSpread returns alpha_min of a single stage of k replicas, more than fit
// one server. AllReduce waits for the part x of a server of g GPUs with the
// largest g/x, so g/x is to be minimised over the candidates.
func (z *minimizer) evenSpread(id sched.JobID) *big.Rat {
	k := z.in.Jobs[id].Stages[0].Replicas
	if len(z.sizes) == 1 { // over the fewest servers
		g := z.sizes[0].gpus
		servers := (k + g - 1) / g
		return z.in.StageTime(id, 0, 0, k/servers, 0, g)
	}
	type ratio struct{ gpus, part int }
	var candidates []ratio
	for _, c := range z.sizes {
		for x := 1; x <= min(c.gpus, k-1); x++ {
			candidates = append(candidates, ratio{c.gpus, x})
		}
	}
	slices.SortFunc(candidates, func(a, b ratio) int { return a.gpus*b.part - b.gpus*a.part })
	i, _ := slices.BinarySearchFunc(candidates, 0, func(r ratio, _ int) int {
		if z.spreads(k, r.gpus, r.part) {
			return 0
		}
		return -1
	})
	return z.in.StageTime(id, 0, 0, candidates[i].part, 0, candidates[i].gpus)
}

// spreads reports whether k replicas fit servers each of which holds at least
// part/gpus of its own GPUs: whether some servers with least parts of
// ceil(g·part/gpus) each have a sum of least parts ≤ k ≤ a sum of GPUs. It
// minimises the former for every value of the latter, a knapsack.
func (z *minimizer) spreads(k, gpus, part int) bool {
	const never = 1 << 40
	least := make([]int, k+1) // by GPUs of the servers chosen, k meaning k or more
	for i := range least {
		least[i] = never
	}
	least[0] = 0
	for _, c := range z.sizes {
		floor := (c.gpus*part + gpus - 1) / gpus
		for left, bundle := c.count, 1; left > 0; bundle *= 2 { // 1, 2, 4, … servers at once make every number
			n := min(bundle, left)
			left -= n
			for have := k; have >= 0; have-- {
				to := min(k, have+n*c.gpus)
				least[to] = min(least[to], least[have]+n*floor)
			}
		}
	}
	return least[k] <= k
}
