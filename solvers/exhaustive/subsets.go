package exhaustive

import (
	"cmp"
	"fmt"
	"slices"

	"yardstick/internal/number"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// The jobs that decide about a makespan are often few: some large gangs released late.
// No schedule of all jobs ends before the best one of some of them, so that a search
// over these proves as much for all, and does not go through the ways to run the rest.

// subsets lists the sets of the jobs released at some time or later with gangs of some
// number of GPUs or more, and with running times of some length or more, for which no
// list schedule ends before the incumbent: the smallest sets first.
func (s *search) subsets() (list [][]sched.JobID, err error) {
	jobs := slices.Clone(s.jobs)
	slices.SortFunc(jobs, func(a, b job) int { return cmp.Or(cmp.Compare(b.release, a.release), cmp.Compare(a.id, b.id)) })
	known := map[string]bool{}
	add := func(measure func(j *job) int64) error {
		var levels []int64
		for i := range jobs {
			levels = append(levels, measure(&jobs[i]))
		}
		slices.Sort(levels)
		for _, least := range slices.Compact(levels) {
			var ids []sched.JobID
			for i := range jobs {
				if measure(&jobs[i]) < least {
					continue
				}
				ids = append(ids, jobs[i].id)
				if len(ids) < 2 || i+1 < len(jobs) && jobs[i+1].release == jobs[i].release {
					continue
				}
				in := s.some(ids)
				p, err := newProblem(in, s.obj)
				if err != nil {
					return err
				}
				cost, _ := p.planCost(lists(p))
				if cost.Less(s.rescale(s.best.cost)) {
					continue
				}
				sorted := slices.Sorted(slices.Values(ids))
				if key := fmt.Sprint(sorted); !known[key] {
					known[key] = true
					list = append(list, sorted)
				}
				break // with more jobs it is no less, and harder
			}
		}
		return nil
	}
	for _, measure := range []func(j *job) int64{
		func(j *job) int64 { return int64(j.gang) },
		func(j *job) int64 { return j.short },
		func(j *job) int64 { return j.work },
		func(j *job) int64 { return j.release + j.short },
	} {
		if err := add(measure); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(list, func(a, b []sched.JobID) int { return len(a) - len(b) })
	return list, nil
}

// some returns the instance with some of its jobs.
func (s *search) some(ids []sched.JobID) *sched.Instance {
	in := *s.in
	in.Jobs = nil
	for _, id := range ids {
		in.Jobs = append(in.Jobs, s.in.Jobs[id])
	}
	return &in
}

// searchSubsets searches over each of the subsets for so many nodes, and raises the bound
// by what that proves.
func (s *search) searchSubsets(nodes int) error {
	list, err := s.subsets()
	if err != nil {
		return err
	}
	for _, sub := range list {
		if err := s.searchSubset(sub, nodes); err != nil {
			return err
		}
	}
	return nil
}

// searchSubset searches over some jobs. The others are then placed around these, and
// those that end too late join them, until all end in time or the search is too long.
func (s *search) searchSubset(ids []sched.JobID, nodes int) error {
	for !s.proven() && !s.stop() {
		p, err := newProblem(s.some(ids), s.obj)
		if err != nil {
			return err
		}
		l := milp.Limits{Nodes: nodes}
		if s.limits.Nodes > 0 {
			l.Nodes = min(nodes, s.limits.Nodes-s.nodes)
		}
		t := newSearch(s.ctx, p, l)
		t.improve(lists(p))
		if err := t.run(number.Uint128{}); err != nil {
			return err
		}
		s.nodes += t.nodes
		bound := t.bound()
		if t.stopped == "" {
			bound = t.best.cost
		}
		if bound.Cmp(s.root) > 0 {
			s.root = bound
		}
		if t.best.cost.Cmp(s.best.cost) >= 0 { // no time for the others
			return nil
		}
		order := make([]int, len(ids))
		for k := range order {
			order[k] = k
		}
		slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(t.best.plan.start[x], t.best.plan.start[y]) })
		for n, k := range order {
			order[n] = slices.IndexFunc(s.jobs, func(j job) bool { return j.id == ids[p.jobs[k].id] })
		}
		pl, _ := s.fill(order)
		s.improve(pl)
		last, more := t.best.cost, len(ids)
		for i := range s.jobs {
			if late := s.unscale(number.Uint128{Lo: uint64(pl.end[i])}).Cmp(last) > 0; late && !slices.Contains(ids, s.jobs[i].id) {
				ids = append(ids, s.jobs[i].id)
			}
		}
		if t.stopped != "" || len(ids) == more {
			return nil
		}
	}
	return nil
}
