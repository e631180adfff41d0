package timeindexed

import (
	"cmp"
	"math"
	"slices"

	"yardstick/sched"
	"yardstick/solvers/partition"
)

// stay is a job with its place and time: parts[i] GPUs on servers[i] during
// [start, end).
type stay struct {
	job            int
	start, end     sched.Time
	servers, parts []int
}

// listSchedule puts the jobs into continuous time one by one, each where it
// completes first among the jobs already there (serial schedule generation):
// at its release date or when another job ends.
//
// Shape: order lists every job once; the stays are in that order. Cost:
// O(n^3) server profiles at worst.
func (p *problem) listSchedule(order []int) []stay {
	var done []stay
	for _, i := range order {
		done = append(done, p.insert(i, done))
	}
	return done
}

// insert finds the earliest completion of job i among the given stays.
func (p *problem) insert(i int, done []stay) stay {
	j := &p.jobs[i]
	times := []sched.Time{j.release}
	for _, s := range done {
		if s.end > j.release {
			times = append(times, s.end)
		}
	}
	slices.Sort(times)
	best := stay{end: math.MaxInt64}
	for _, t := range slices.Compact(times) {
		if t+j.least() >= best.end {
			break
		}
		for _, c := range j.choices {
			if t+c.time >= best.end {
				break
			}
			if servers, parts, ok := c.fit(p, j.gang, p.free(done, t, t+c.time)); ok {
				best = stay{job: i, start: t, end: t + c.time, servers: servers, parts: parts}
				break
			}
		}
	}
	return best // after the last end everything is free
}

// free returns, per server, the GPUs that no stay uses at any time of [from, to).
func (p *problem) free(done []stay, from, to sched.Time) []int {
	use := make([]int, len(p.in.Cluster.Servers))
	peak := make([]int, len(use))
	at := func(t sched.Time) {
		p.effort += len(done) + len(use)
		clear(use)
		for k := range done {
			if s := &done[k]; s.start <= t && t < s.end {
				for q, m := range s.servers {
					use[m] += s.parts[q]
				}
			}
		}
		for m := range use {
			peak[m] = max(peak[m], use[m])
		}
	}
	at(from) // usage rises only where a stay starts
	for k := range done {
		if t := done[k].start; from < t && t < to {
			at(t)
		}
	}
	for m := range peak {
		peak[m] = p.in.Cluster.Servers[m].GPUs - peak[m]
	}
	return peak
}

// fit looks for servers with the free GPUs that one of the patterns needs. It
// takes the tightest: a server that is left with the fewest free GPUs.
func (c *choice) fit(p *problem, gang int, free []int) (servers, parts []int, ok bool) {
	if c.patterns == nil {
		return anyGPUs(gang, free)
	}
	for k := range c.patterns {
		if servers, ok := p.match(&c.patterns[k], free); ok {
			return servers, c.patterns[k].Parts, true
		}
	}
	return nil, nil, false
}

// match assigns the parts of a pattern to distinct servers of their sizes.
// Parts come largest first and a server that holds a part holds any smaller
// one, so taking the tightest server never closes a way that another leaves.
func (p *problem) match(q *partition.Pattern, free []int) ([]int, bool) {
	var servers []int
	p.effort += len(free)
	for k, part := range q.Parts {
		best := -1
		for m, f := range free {
			if f >= part && p.in.Cluster.Servers[m].GPUs == q.Sizes[k] && (best < 0 || f < free[best]) && !slices.Contains(servers, m) {
				best = m
			}
		}
		if best < 0 {
			return nil, false
		}
		servers = append(servers, best)
	}
	return servers, true
}

// anyGPUs takes the tightest server that holds the whole gang, or else the
// servers with the most free GPUs.
func anyGPUs(gang int, free []int) (servers, parts []int, ok bool) {
	total, best := 0, -1
	byFree := make([]int, len(free))
	for m, f := range free {
		byFree[m] = m
		total += f
		if f >= gang && (best < 0 || f < free[best]) {
			best = m
		}
	}
	if total < gang {
		return nil, nil, false
	}
	if best >= 0 {
		return []int{best}, []int{gang}, true
	}
	slices.SortStableFunc(byFree, func(a, b int) int { return cmp.Compare(free[b], free[a]) })
	for _, m := range byFree {
		n := min(gang, free[m])
		if n == 0 {
			break
		}
		servers, parts = append(servers, m), append(parts, n)
		gang -= n
	}
	return servers, parts, true
}

// shift starts every stay as early as its servers allow, in order of start,
// and does not change servers. No job completes later than before.
func (p *problem) shift(stays []stay) []stay {
	byStart := slices.Clone(stays)
	slices.SortStableFunc(byStart, func(a, b stay) int { return cmp.Compare(a.start, b.start) })
	var done []stay
	for _, s := range byStart {
		j := &p.jobs[s.job]
		length := s.end - s.start
		times := []sched.Time{j.release}
		for _, d := range done {
			if d.end > j.release {
				times = append(times, d.end)
			}
		}
		slices.Sort(times)
		for _, t := range times { // its own start is feasible, and only an end or the release can be the earliest
			if t > s.start {
				break
			}
			free := p.free(done, t, t+length)
			if !slices.ContainsFunc(s.servers, func(m int) bool { return free[m] < s.parts[slices.Index(s.servers, m)] }) {
				s.start, s.end = t, t+length
				break
			}
		}
		done = append(done, s)
	}
	return done
}

// completions returns one completion time per job.
func (p *problem) completions(stays []stay) []sched.Time {
	c := make([]sched.Time, len(p.jobs))
	for _, s := range stays {
		c[s.job] = s.end
	}
	return c
}

// schedule states the stays as a schedule.
func (p *problem) schedule(stays []stay) (*sched.Schedule, error) {
	out := &sched.Schedule{Class: sched.Class{Kind: sched.N}}
	for _, s := range stays {
		j := &p.in.Jobs[s.job]
		id := sched.JobID(s.job)
		place, err := partition.Place(p.in, id, s.servers, s.parts)
		if err != nil {
			return nil, err
		}
		begin := s.start + j.Load
		if j.Load > 0 {
			out.Segments = append(out.Segments, sched.Segment{Job: id, Start: s.start, End: begin, Phase: sched.Load, Place: place})
		}
		out.Segments = append(out.Segments, sched.Segment{Job: id, Start: begin, End: s.end, Phase: sched.Train, Place: place})
	}
	out.Sort()
	return out, nil
}

// stays reads a schedule of class N back.
func (p *problem) stays(s *sched.Schedule) []stay {
	out := make([]stay, len(p.jobs))
	seen := make([]bool, len(p.jobs))
	for _, seg := range s.Segments {
		o := &out[seg.Job]
		if !seen[seg.Job] {
			seen[seg.Job] = true
			*o = stay{job: int(seg.Job), start: seg.Start, end: seg.End}
			for _, sh := range seg.Place.Shares {
				o.servers, o.parts = append(o.servers, sh.Server), append(o.parts, sh.GPUs)
			}
		}
		o.start, o.end = min(o.start, seg.Start), max(o.end, seg.End)
	}
	return out
}
