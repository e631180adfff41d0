package partition

import (
	"fmt"
	"slices"

	"yardstick/sched"
	"yardstick/sched/heavyedge"
)

// leastVisits is the limit of the searches for alpha_min for one threshold.
const leastVisits = 20_000

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
// Errors: as for AlphaMin.
func MinDuration(in *sched.Instance, id sched.JobID) (sched.Time, error) {
	m, err := LeastRunTime(in, id)
	return m.Duration, err
}

// LeastRunTime returns the least running time of one job.
//
// Errors: as for AlphaMin.
func LeastRunTime(in *sched.Instance, id sched.JobID) (Minimum, error) {
	return newMinimizer(in).least(id)
}

// LeastRunTimes returns the least running time of every job. Jobs with equal
// stages share one search. Cost: O(n) besides the searches.
//
// Errors: as for AlphaMin.
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

// AlphaMin returns alpha_min, the least per-iteration time of the job over all
// placements in the empty cluster, with a placement that attains it.
//
// A gang that fits one server runs there, by monotonicity. A single stage is
// spread as evenly as its servers allow. Several stages on several servers are
// found by a search for the least bottleneck ([question.settle]), which is
// limited: Exact says whether it was settled, and [Lower, Alpha] holds
// alpha_min if not.
//
// Errors: ErrNoPlacement if the replicas, each whole on one server, do not fit
// the cluster; sched.ErrNotApplicable.
func AlphaMin(in *sched.Instance, id sched.JobID) (*Best, error) {
	return newMinimizer(in).alpha(id)
}

// AlphaMins returns alpha_min of every job. Jobs with equal stages share one
// search, and the result.
//
// Errors: as for AlphaMin.
func AlphaMins(in *sched.Instance) ([]*Best, error) {
	z := newMinimizer(in)
	out := make([]*Best, len(in.Jobs))
	for id := range out {
		var err error
		if out[id], err = z.alpha(sched.JobID(id)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// minimizer remembers alpha_min of every kind of job met.
type minimizer struct {
	in      *sched.Instance
	sizes   []sizeClass
	biggest int              // a server of sizes[0].gpus GPUs
	known   map[string]*Best // by code
}

func newMinimizer(in *sched.Instance) *minimizer {
	z := &minimizer{in: in, sizes: sizeClasses(&in.Cluster), known: map[string]*Best{}}
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
	if j := &z.in.Jobs[id]; j.Gang() <= z.sizes[0].gpus {
		p := z.together(j)
		d, err := z.in.RunTime(id, &p) // without rational numbers
		return Minimum{d, true}, err
	}
	b, err := z.alpha(id)
	if err != nil {
		return Minimum{}, err
	}
	d, err := runTime(z.in, id, b.Lower)
	if err != nil || b.Exact {
		return Minimum{d, b.Exact}, err
	}
	most, err := runTime(z.in, id, b.Alpha)
	return Minimum{d, d == most}, err
}

// together returns the placement of a job on the largest server.
func (z *minimizer) together(j *sched.Job) sched.Placement {
	share := sched.Share{Server: z.biggest, GPUs: j.Gang()}
	if len(j.Stages) > 1 || j.Sliced() {
		for _, st := range j.Stages {
			share.Stages = append(share.Stages, st.Replicas)
		}
	}
	return sched.Placement{Shares: []sched.Share{share}}
}

func (z *minimizer) alpha(id sched.JobID) (*Best, error) {
	if err := checkModel(z.in, id); err != nil {
		return nil, err
	}
	j := &z.in.Jobs[id]
	key := code(j)
	if b := z.known[key]; b != nil {
		return b, nil
	}
	b, err := z.find(id)
	if err != nil {
		return nil, fmt.Errorf("cuts: job %d: %w", id, err)
	}
	z.known[key] = b
	return b, nil
}

func (z *minimizer) find(id sched.JobID) (*Best, error) {
	j := &z.in.Jobs[id]
	if j.Gang() <= z.sizes[0].gpus {
		return z.exact(id, z.together(j))
	}
	if len(j.Stages) == 1 {
		p, err := z.evenSpread(id)
		if err != nil {
			return nil, err
		}
		return z.exact(id, p)
	}
	t, err := newTable(z.in, id)
	if err != nil { // too many stage times to rank
		return z.unranked(id)
	}
	q := &question{table: t, limit: leastVisits}
	for k, c := range z.sizes {
		q.lots = append(q.lots, lot{k, c.gpus, c.count})
	}
	if len(q.lots) == 1 {
		// On equal servers two parts that fit one may be merged, so any two parts
		// of some best placement exceed a server.
		q.lots[0].count = min(q.lots[0].count, max(1, 2*j.Gang()/(z.sizes[0].gpus+1)))
	}
	best, err := z.quick(id)
	if err != nil {
		return nil, err
	}
	high := int32(0)
	for _, sh := range best.Shares {
		gpus := z.in.Cluster.Servers[sh.Server].GPUs
		high = max(high, t.worst(slices.IndexFunc(z.sizes, func(c sizeClass) bool { return c.gpus == gpus }), sh.Stages))
	}
	low, high, c := q.settle(min(high, q.lower()), high)
	if c != nil {
		best = z.assemble(t.shape, c)
	}
	return &Best{Placement: best, Alpha: t.value(high), Lower: t.value(low), Exact: low == high, Visits: q.total}, nil
}

// exact returns a placement that is known to be best.
func (z *minimizer) exact(id sched.JobID, p sched.Placement) (*Best, error) {
	alpha, err := z.in.IterTime(id, &p)
	if err != nil {
		return nil, err
	}
	return &Best{Placement: p, Alpha: alpha, Lower: alpha, Exact: true}, nil
}

// quick returns Heavy-Edge's placement on the fewest servers.
//
// Errors: ErrNoPlacement.
func (z *minimizer) quick(id sched.JobID) (sched.Placement, error) {
	parts, err := heavyedge.Fewest(&z.in.Cluster, &z.in.Jobs[id])
	if err != nil {
		return sched.Placement{}, fmt.Errorf("%w: %w", ErrNoPlacement, err)
	}
	return heavyedge.Place(&z.in.Jobs[id], parts, heavyedge.Ring)
}

// placementOf returns the placement with counts[m] on server m, where there are
// any.
func placementOf(g *shape, counts [][]int) sched.Placement {
	var p sched.Placement
	for m, list := range counts {
		gpus := 0
		for s, x := range list {
			gpus += x * g.slices[s]
		}
		if gpus > 0 {
			p.Shares = append(p.Shares, sched.Share{Server: m, GPUs: gpus, Stages: list})
		}
	}
	return p
}

// assemble returns the placement with the given contents on the first servers of
// every size.
func (z *minimizer) assemble(g *shape, c contents) sched.Placement {
	counts := make([][]int, len(z.in.Cluster.Servers))
	for k, list := range c {
		m := 0
		for _, x := range list {
			for z.in.Cluster.Servers[m].GPUs != z.sizes[k].gpus {
				m++
			}
			counts[m] = slices.Clone(x)
			m++
		}
	}
	return placementOf(g, counts)
}
