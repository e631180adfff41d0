package placing

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"yardstick/bench"
	"yardstick/bench/record"
	"yardstick/sched"
	"yardstick/sched/verify"
	"yardstick/solvers/partition"
)

// Case is one job and the parts of servers that it must fill.
type Case struct {
	Family   string // what the cases that are averaged have in common
	Instance string // that the job is of
	SHA256   string
	Job      sched.JobID // in that instance
	Alike    int         // jobs that the case stands for
	// Fragmentation counts the fragmentations of the cluster from 0; Seed is
	// missing if the parts were not drawn.
	Fragmentation int
	Seed          record.Opt[int64]

	// Problem holds the job alone, as job 0, on the whole cluster, in the gang
	// model and with iterations to spare.
	Problem *sched.Instance
	Servers []int // ascending
	Parts   []int // GPUs to use of each
}

// NewCase returns the case of one job of an instance. Labels that depend on
// more than the job are left to the caller.
//
// Errors: the job has no stages to place; sched.ErrStageGraph if it has tensor
// slices or a stage graph, for which nothing here proves an optimum; the parts
// do not make its gang, do not fit their servers or share one.
func NewCase(in *sched.Instance, id sched.JobID, parts []Part) (*Case, error) {
	j := &in.Jobs[id]
	c := &Case{Family: in.Name, Instance: in.Name, SHA256: in.Hash(), Job: id, Alike: 1}
	if !j.OnlyStages() {
		return nil, fmt.Errorf("placing: job %d %q of model %s has no gang of fixed stages to place", id, j.Name, in.Model)
	}
	if !j.Pipeline() {
		return nil, fmt.Errorf("placing: job %d %q: %w", id, j.Name, sched.ErrStageGraph)
	}
	order := slices.Clone(parts)
	slices.SortFunc(order, func(a, b Part) int { return cmp.Compare(a.Server, b.Server) })
	total := 0
	for i, p := range order {
		switch {
		case p.Server < 0 || p.Server >= len(in.Cluster.Servers) || p.GPUs < 1 || p.GPUs > in.Cluster.Servers[p.Server].GPUs:
			return nil, fmt.Errorf("placing: a part of %d GPUs does not fit server %d", p.GPUs, p.Server)
		case i > 0 && order[i-1].Server == p.Server:
			return nil, fmt.Errorf("placing: server %d is listed twice", p.Server)
		}
		c.Servers, c.Parts = append(c.Servers, p.Server), append(c.Parts, p.GPUs)
		total += p.GPUs
	}
	if total != j.Gang() {
		return nil, fmt.Errorf("placing: the parts hold %d GPUs for job %d %q of %d", total, id, j.Name, j.Gang())
	}
	c.Problem = alone(in.Name, in.Cluster, sched.Job{Name: j.Name, Weight: 1, Iters: 1, Stages: j.Stages})
	return c, c.Problem.Validate()
}

// alone returns an instance of one gang.
func alone(name string, c sched.Cluster, j sched.Job) *sched.Instance {
	return &sched.Instance{Name: name, Model: sched.ModelGang, Cluster: c, Jobs: []sched.Job{j}}
}

// shape encodes what the values of a pipeline's case depend on besides the
// cluster: jobs of one shape on the same parts are one case.
func shape(j *sched.Job) string {
	var b []byte
	for _, st := range j.Stages {
		b = fmt.Appendf(b, "%d/%d/%d/%d;", st.Replicas, st.Compute, st.Params, st.Boundary)
	}
	return string(b)
}

// evaluate returns the exact iteration time and cut of a placement, after it
// has passed the independent verifier and been found to fill exactly the
// case's parts.
//
// Errors: bench.ErrInvalidSchedule.
func (c *Case) evaluate(p *sched.Placement) (alpha, cut *big.Rat, err error) {
	invalid := func(err error) (*big.Rat, *big.Rat, error) {
		return nil, nil, fmt.Errorf("placing: %w: %w", bench.ErrInvalidSchedule, err)
	}
	if !slices.EqualFunc(p.Shares, c.Parts, func(sh sched.Share, n int) bool { return sh.GPUs == n }) ||
		!slices.EqualFunc(p.Shares, c.Servers, func(sh sched.Share, m int) bool { return sh.Server == m }) {
		return invalid(fmt.Errorf("the placement does not fill the parts %s: %s", c.partsText(), placementText(p)))
	}
	if alpha, err = c.Problem.IterTime(0, p); err != nil {
		return invalid(err)
	}
	if err := c.verify(p); err != nil {
		return invalid(err)
	}
	return alpha, partition.CutWeight(&c.Problem.Jobs[0], p), nil
}

// verify runs the job on the placement for as many iterations as show its
// iteration time to a millionth of a microsecond, if that is not too long, and
// lets the verifier recompute it. A time that is too short is rejected.
func (c *Case) verify(p *sched.Placement) error {
	in := *c.Problem
	in.Jobs = slices.Clone(in.Jobs)
	in.Jobs[0].Iters = 1_000_000
	end, err := in.RunTime(0, p)
	if err != nil {
		in.Jobs[0].Iters = 1
		if end, err = in.RunTime(0, p); err != nil {
			return err
		}
	}
	_, err = verify.Check(&in, &sched.Schedule{Class: sched.Class{Kind: sched.N}, Segments: []sched.Segment{{End: end, Place: *p}}})
	return err
}

// maxAttainable bounds the stage times that raise looks at.
const maxAttainable = 200_000

// raise returns the least value that the iteration time can take and that is
// not below lower. Every iteration time is the time of some stage beside some
// numbers of replicas within one part, so that a bound may be moved up to the
// next of these. Values from top on are not told apart: it returns at most top,
// the iteration time of some placement.
func (c *Case) raise(lower, top *big.Rat) *big.Rat {
	if lower.Cmp(top) >= 0 {
		return lower
	}
	stages := c.Problem.Jobs[0].Stages
	replicas := func(s, most int) int {
		if s < 0 || s >= len(stages) {
			return 0
		}
		return min(stages[s].Replicas, most)
	}
	best, seen, looked := top, map[[2]int]bool{}, 0
	for i, part := range c.Parts {
		size := c.Problem.Cluster.Servers[c.Servers[i]].GPUs
		if seen[[2]int{part, size}] {
			continue
		}
		seen[[2]int{part, size}] = true
		for s := range stages {
			for x := 1; x <= replicas(s, part); x++ {
				for a := 0; a <= replicas(s-1, part-x); a++ {
					for b := 0; b <= replicas(s+1, part-x-a); b++ {
						if looked++; looked > maxAttainable {
							return lower
						}
						if v := c.Problem.StageTime(0, s, a, x, b, size); v.Cmp(lower) >= 0 && v.Cmp(best) < 0 {
							best = v
						}
					}
				}
			}
		}
	}
	return best
}

// lightestEdges returns a lower bound on the cut: the communication graph is
// connected, and a connected graph that falls into P parts has lost at least
// P − 1 edges, so that the P − 1 lightest are a bound. It is the least cut of a
// pipeline of single replicas with equal boundaries, where no dynamic program
// over vectors of replicas has a chance.
func (c *Case) lightestEdges() *big.Rat {
	type edges struct {
		weight *big.Rat
		count  int
	}
	stages := c.Problem.Jobs[0].Stages
	var all []edges
	for s, st := range stages {
		k := int64(st.Replicas)
		switch {
		case k == 2:
			all = append(all, edges{big.NewRat(int64(st.Params), 1), 1}) // 2 (k − 1)/k h
		case k > 2:
			all = append(all, edges{big.NewRat(2*(k-1)*int64(st.Params), k), int(k)})
		}
		if s+1 < len(stages) {
			pairs := k * int64(stages[s+1].Replicas)
			all = append(all, edges{big.NewRat(2*int64(st.Boundary), pairs), int(pairs)})
		}
	}
	slices.SortFunc(all, func(a, b edges) int { return a.weight.Cmp(b.weight) })
	bound, left := new(big.Rat), len(c.Parts)-1
	for _, e := range all {
		n := min(left, e.count)
		bound.Add(bound, new(big.Rat).Mul(e.weight, big.NewRat(int64(n), 1)))
		left -= n
	}
	return bound
}

// replicasText is such as "4,5,6,1".
func (c *Case) replicasText() string {
	var list []string
	for _, st := range c.Problem.Jobs[0].Stages {
		list = append(list, strconv.Itoa(st.Replicas))
	}
	return strings.Join(list, ",")
}

// partsText is such as "0:8,5:4".
func (c *Case) partsText() string {
	var list []string
	for i, m := range c.Servers {
		list = append(list, fmt.Sprintf("%d:%d", m, c.Parts[i]))
	}
	return strings.Join(list, ",")
}

// placementText is such as "0:4,4,0,0;5:0,1,3,0".
func placementText(p *sched.Placement) string {
	var list []string
	for i := range p.Shares {
		sh := &p.Shares[i]
		counts := sh.Stages
		if counts == nil {
			counts = []int{sh.GPUs}
		}
		list = append(list, fmt.Sprintf("%d:%s", sh.Server, strings.Trim(strings.ReplaceAll(fmt.Sprint(counts), " ", ","), "[]")))
	}
	return strings.Join(list, ";")
}

// ID encodes all that the values of a case depend on, and its labels.
func (c *Case) ID() string {
	return fmt.Sprintf("%s %s %d %d %s", c.Family, c.SHA256, c.Job, c.Fragmentation, c.partsText())
}

// Name says which case it is, for people.
func (c *Case) Name() string {
	name := c.Problem.Jobs[0].Name
	if name == "" {
		name = fmt.Sprintf("job %d", c.Job)
	}
	if c.Seed.Valid {
		name = fmt.Sprintf("%s, fragmentation %d", name, c.Fragmentation)
	}
	return name
}
