package proof

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"yardstick/sched"
	"yardstick/solvers/partition"
)

// Pattern is a way to cut a gang: parts on different servers, and how long the job runs
// then.
type Pattern struct {
	Duration int64
	Parts    []Part
}

// Part is some GPUs of a server that has Size of them.
type Part struct{ Size, GPUs int64 }

// maxPatterns limits the patterns of a job, which the checker reads, and maxServers the
// servers that it tries them on.
const (
	maxPatterns = 1000
	maxServers  = 64
)

// NewOnServers states an instance in integers as New does, with its servers: a job holds
// the parts of one of its patterns on different servers of these sizes, and runs as long
// as the pattern says, which is the least time over all ways to put its stages on such
// parts.
//
// Errors: those of New; sched.ErrNotApplicable for too many servers or patterns.
func NewOnServers(in *sched.Instance, obj sched.Objective, class sched.Class) (*Problem, error) {
	return newProblem(in, obj, class, true)
}

// FromText states an instance in the way of a text: on servers, or on one pool.
func FromText(text []byte, in *sched.Instance, obj sched.Objective, class sched.Class) (*Problem, error) {
	return newProblem(in, obj, class, len(text) > len(ServersHeader) && string(text[:len(ServersHeader)]) == ServersHeader)
}

// spread sets the servers and all patterns, in microseconds.
func (p *Problem) spread(in *sched.Instance) error {
	if n := len(in.Cluster.Servers); n > maxServers {
		return fmt.Errorf("%w to %d servers: at most %d", sched.ErrNotApplicable, n, maxServers)
	}
	for _, s := range in.Cluster.Servers {
		p.Servers = append(p.Servers, int64(s.GPUs))
	}
	for i := range p.Jobs {
		list, err := partition.Patterns(in, sched.JobID(i), maxPatterns)
		if err != nil {
			return err
		}
		j := &p.Jobs[i]
		for _, from := range list {
			d := in.Jobs[i].Load + from.Duration
			if d > sched.MaxTime {
				return fmt.Errorf("%w: job %d would run for more than %v", sched.ErrNotApplicable, i, sched.MaxTime)
			}
			q := Pattern{Duration: int64(d)}
			for k, gpus := range from.Parts {
				q.Parts = append(q.Parts, Part{Size: int64(from.Sizes[k]), GPUs: int64(gpus)})
			}
			j.Patterns = append(j.Patterns, q)
		}
		slices.SortStableFunc(j.Patterns, func(a, b Pattern) int { return cmp.Compare(a.Duration, b.Duration) })
		j.Duration = j.Patterns[0].Duration
	}
	return nil
}

// servers appends to a text the servers, and for each job a line with its release, weight
// and number of patterns and then a line for each of these: the duration, and for each
// part the size of its server and its GPUs.
func (p *Problem) servers(b []byte) []byte {
	b = append(b, "servers"...)
	for _, s := range p.Servers {
		b = fmt.Appendf(b, " %d", s)
	}
	b = fmt.Appendf(b, "\njobs %d\n", len(p.Jobs))
	for _, j := range p.Jobs {
		b = fmt.Appendf(b, "%d %d %d\n", j.Release, j.Weight, len(j.Patterns))
		for _, q := range j.Patterns {
			b = fmt.Appendf(b, "%d", q.Duration)
			for _, part := range q.Parts {
				b = fmt.Appendf(b, " %d %d", part.Size, part.GPUs)
			}
			b = append(b, '\n')
		}
	}
	return b
}

// DurationOn returns how long a job runs with so many GPUs on each server.
//
// Errors: it has no such pattern.
func (p *Problem) DurationOn(i int, held []int64) (int64, error) {
	var parts []Part
	for m, gpus := range held {
		if gpus > 0 {
			parts = append(parts, Part{Size: p.Servers[m], GPUs: gpus})
		}
	}
	byParts := func(a, b Part) int { return cmp.Or(cmp.Compare(b.GPUs, a.GPUs), cmp.Compare(b.Size, a.Size)) }
	slices.SortFunc(parts, byParts)
	for _, q := range p.Jobs[i].Patterns {
		if own := slices.SortedFunc(slices.Values(q.Parts), byParts); slices.Equal(own, parts) {
			return q.Duration, nil
		}
	}
	return 0, fmt.Errorf("proof: job %d has no pattern for %v GPUs on the servers", i, held)
}

// EvaluateOn returns the cost of the schedule with the given starts and GPUs on servers.
//
// Errors: it is none.
func (p *Problem) EvaluateOn(starts []int64, held [][]int64) (*big.Int, error) {
	if len(starts) != len(p.Jobs) || len(held) != len(p.Jobs) {
		return nil, fmt.Errorf("proof: %d starts and %d places for %d jobs", len(starts), len(held), len(p.Jobs))
	}
	ends := make([]int64, len(starts))
	for i, s := range starts {
		d, err := p.DurationOn(i, held[i])
		if err != nil {
			return nil, err
		}
		if s < p.Jobs[i].Release || s > math.MaxInt64-d {
			return nil, fmt.Errorf("proof: job %d starts at %d, its release is %d", i, s, p.Jobs[i].Release)
		}
		ends[i] = s + d
	}
	cost := new(big.Int)
	for i, s := range starts {
		for m, size := range p.Servers {
			sum := int64(0)
			for k, t := range starts {
				if t <= s && s < ends[k] {
					sum += held[k][m]
				}
			}
			if sum > size {
				return nil, fmt.Errorf("proof: %d GPUs of server %d are held at %d, of %d", sum, m, s, size)
			}
		}
		end := big.NewInt(ends[i])
		if !p.Makespan {
			cost.Add(cost, end.Mul(end, big.NewInt(p.Jobs[i].Weight)))
		} else if end.Cmp(cost) > 0 {
			cost = end
		}
	}
	return cost, nil
}

// Places returns starts and GPUs on servers of a schedule that costs no more than the
// given one of the instance: each job keeps its places, and takes the first time at which
// they are free, in the order in which jobs start there.
//
// Errors: a job has no start, or no pattern.
func (p *Problem) Places(s *sched.Schedule) (starts []int64, held [][]int64, err error) {
	order, err := p.inOrder(s)
	if err != nil {
		return nil, nil, err
	}
	starts, held = make([]int64, len(p.Jobs)), make([][]int64, len(p.Jobs))
	for i := range s.Segments {
		seg := &s.Segments[i]
		held[seg.Job] = make([]int64, len(p.Servers))
		for _, share := range seg.Place.Shares {
			if share.Server < 0 || share.Server >= len(p.Servers) {
				return nil, nil, fmt.Errorf("proof: the schedule has a server %d, of %d", share.Server, len(p.Servers))
			}
			held[seg.Job][share.Server] += int64(share.GPUs)
		}
	}
	ends := make([]int64, len(p.Jobs))
	for k, i := range order {
		d, err := p.DurationOn(i, held[i])
		if err != nil {
			return nil, nil, err
		}
		at := []int64{p.Jobs[i].Release}
		for _, before := range order[:k] {
			at = append(at, max(ends[before], p.Jobs[i].Release))
		}
		slices.Sort(at)
		for _, t := range at {
			if starts[i], ends[i] = t, t+d; p.free(starts, ends, held, order[:k], i) {
				break
			}
		}
	}
	return starts, held, nil
}

// free reports whether job i has its GPUs from its start to its end beside the others.
func (p *Problem) free(starts, ends []int64, held [][]int64, others []int, i int) bool {
	at := []int64{starts[i]}
	for _, k := range others {
		if starts[i] < starts[k] && starts[k] < ends[i] {
			at = append(at, starts[k])
		}
	}
	for _, t := range at {
		for m, size := range p.Servers {
			sum := held[i][m]
			for _, k := range others {
				if starts[k] <= t && t < ends[k] {
					sum += held[k][m]
				}
			}
			if held[i][m] > 0 && sum > size {
				return false
			}
		}
	}
	return true
}
