package placing

import (
	"fmt"

	"yardstick/bench/record"
	"yardstick/sched"
)

// Choice says which parts of servers jobs are placed on. The zero value is those of the
// fewest servers of the empty cluster.
type Choice struct {
	Sizes []int // of the parts, the largest on the largest server; nil for none prescribed

	Fragmentations int   // so many random fragmentations of the cluster; 0 for none
	Order          Order // in which the job takes their servers
	Seed           uint64
}

// Cases returns the cases of one job, one for every choice of parts, which stand for
// so many alike.
func (ch Choice) Cases(in *sched.Instance, id sched.JobID, alike int) ([]*Case, error) {
	gang := in.Jobs[id].Gang()
	var cases []*Case
	add := func(parts []Part) (*Case, error) {
		c, err := NewCase(in, id, parts)
		if err != nil {
			return nil, err
		}
		c.Alike = alike
		cases = append(cases, c)
		return c, nil
	}
	for k := range ch.Fragmentations {
		free, seed, err := Fragmentation(&in.Cluster, gang, ch.Seed, k)
		if err != nil {
			return nil, fmt.Errorf("job %d: %w", id, err)
		}
		c, err := add(Select(free, gang, ch.Order))
		if err != nil {
			return nil, err
		}
		c.Fragmentation, c.Seed = k, record.Some(int64(seed))
	}
	if ch.Fragmentations > 0 {
		return cases, nil
	}
	parts := Select(Free(&in.Cluster), gang, MostFree)
	if len(ch.Sizes) > 0 {
		var err error
		if parts, err = Fit(&in.Cluster, ch.Sizes); err != nil {
			return nil, err
		}
	}
	_, err := add(parts)
	return cases, err
}

// CasesOfAll returns the cases of every job of an instance, jobs alike once. It leaves
// out those with tensor slices or a stage graph, and counts them.
//
// Errors: sched.ErrStageGraph if there is no other job.
func (ch Choice) CasesOfAll(in *sched.Instance) (cases []*Case, leftOut int, err error) {
	var first []sched.JobID // of every shape
	alike := map[string]int{}
	for id := range in.Jobs {
		if !in.Jobs[id].Pipeline() {
			leftOut++
			continue
		}
		key := shape(&in.Jobs[id])
		if alike[key]++; alike[key] == 1 {
			first = append(first, sched.JobID(id))
		}
	}
	if len(first) == 0 {
		return nil, leftOut, fmt.Errorf("all jobs of %s: %w", in.Name, sched.ErrStageGraph)
	}
	for _, id := range first {
		more, err := ch.Cases(in, id, alike[shape(&in.Jobs[id])])
		if err != nil {
			return nil, leftOut, err
		}
		cases = append(cases, more...)
	}
	return cases, leftOut, nil
}
