package listsched_test

import (
	"cmp"
	"slices"
	"testing"

	"yardstick/heuristics/listsched"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/heavyedge"
)

// reference replays list scheduling the obvious way: at every event it scans
// all jobs and all servers.
type reference struct {
	in       *sched.Instance
	options  listsched.Options
	key      []sched.Time
	free     []int
	started  []bool
	segments []sched.Segment
}

// replayNaively returns the segments of list scheduling with these keys.
func replayNaively(t *testing.T, in *sched.Instance, o listsched.Options, key []sched.Time) []sched.Segment {
	t.Helper()
	r := &reference{in: in, options: o, key: key, started: make([]bool, len(in.Jobs))}
	for _, s := range in.Cluster.Servers {
		r.free = append(r.free, s.GPUs)
	}
	for now, ok := r.after(-1); ok; now, ok = r.after(now) {
		for _, seg := range r.segments {
			if seg.Phase == sched.Train && seg.End == now {
				for _, sh := range seg.Place.Shares {
					r.free[sh.Server] += sh.GPUs
				}
			}
		}
		for _, id := range r.line(now) {
			place := placeNaively(&in.Jobs[id], o, in.Cluster.Servers, r.free)
			if place != nil {
				r.run(t, now, id, *place)
			} else if o.Blocking == listsched.Strict {
				break
			}
		}
	}
	s := sched.Schedule{Segments: r.segments}
	s.Sort()
	return s.Segments
}

// after returns the first time after now at which a job is released or ends.
func (r *reference) after(now sched.Time) (next sched.Time, ok bool) {
	consider := func(t sched.Time) {
		if t > now && (!ok || t < next) {
			next, ok = t, true
		}
	}
	for i := range r.in.Jobs {
		consider(r.in.Jobs[i].Release)
	}
	for _, seg := range r.segments {
		consider(seg.End)
	}
	return next, ok
}

// line returns the jobs that wait, in order of key, release and index.
func (r *reference) line(now sched.Time) []sched.JobID {
	var line []sched.JobID
	for i := range r.in.Jobs {
		if r.in.Jobs[i].Release <= now && !r.started[i] {
			line = append(line, sched.JobID(i))
		}
	}
	slices.SortFunc(line, func(a, b sched.JobID) int {
		return cmp.Or(cmp.Compare(r.key[a], r.key[b]), cmp.Compare(r.in.Jobs[a].Release, r.in.Jobs[b].Release), cmp.Compare(a, b))
	})
	return line
}

func (r *reference) run(t *testing.T, now sched.Time, id sched.JobID, place sched.Placement) {
	t.Helper()
	r.started[id] = true
	for _, sh := range place.Shares {
		r.free[sh.Server] -= sh.GPUs
	}
	train, err := r.in.RunTime(id, &place)
	if err != nil {
		t.Fatal(err)
	}
	if load := r.in.Jobs[id].Load; load > 0 {
		r.segments = append(r.segments, sched.Segment{Job: id, Start: now, End: now + load, Phase: sched.Load, Place: place})
		now += load
	}
	r.segments = append(r.segments, sched.Segment{Job: id, Start: now, End: now + train, Phase: sched.Train, Place: place})
}

// placeNaively returns where the options put the job, or nil.
func placeNaively(j *sched.Job, o listsched.Options, servers []sched.Server, free []int) *sched.Placement {
	gang, takes := j.Gang(), map[int]int{}
	if sum(free) < gang {
		return nil
	}
	// fill takes of a server the GPUs of what is left of the job's replicas, those
	// with the most slices that still fit first, and returns how many these are.
	left := replicas(j)
	fill := func(s, room int) int {
		n := 0
		left = slices.DeleteFunc(left, func(slices int) bool {
			fits := n+slices <= room
			if fits {
				n += slices
			}
			return fits
		})
		if n > 0 {
			takes[s] = n
		}
		return n
	}
	best := func(need int) int { // untouched server with the least sufficient number of free GPUs
		b := -1
		for s, f := range free {
			if takes[s] == 0 && f >= need && (b < 0 || f < free[b]) {
				b = s
			}
		}
		return b
	}
	most := func(onlyVacant bool) int { // untouched server with the most free GPUs
		b := -1
		for s, f := range free {
			if takes[s] == 0 && f > 0 && (!onlyVacant || f == servers[s].GPUs) && (b < 0 || f > free[b]) {
				b = s
			}
		}
		return b
	}
	rest := gang
	switch o.Placement {
	case sim.MostAvailable:
		for rest > 0 {
			s := most(false)
			if s < 0 || fill(s, free[s]) == 0 {
				return nil // nothing fits the servers with fewer free GPUs either
			}
			rest -= takes[s]
		}
	case sim.Pool:
		for s, f := range free {
			rest -= fill(s, f)
		}
		if rest > 0 {
			return nil
		}
	case sim.BestFit:
		for best(rest) < 0 {
			s := most(false)
			if s < 0 || fill(s, free[s]) == 0 {
				return nil
			}
			rest -= takes[s]
		}
		takes[best(rest)] = rest
	case sim.Consolidate:
		for range fewest(servers, j) - 1 {
			s := most(true)
			if s < 0 {
				return nil
			}
			rest -= fill(s, free[s])
		}
		s := best(rest)
		if s < 0 {
			return nil
		}
		takes[s] = rest
	default:
		panic("rule not in the reference")
	}
	if o.Layout == listsched.HeavyEdge && (len(j.Stages) > 1 || j.Sliced()) {
		var parts []heavyedge.Part
		for s, n := range takes {
			parts = append(parts, heavyedge.Part{Server: s, GPUs: n})
		}
		place, err := heavyedge.Place(j, parts, o.AllReduce)
		if err != nil {
			panic(err)
		}
		return &place
	}
	return chain(j, takes, len(servers))
}

// replicas lists the slices of every replica, the most first. The numbers of
// slices in these tests divide each other, so filling servers in this order
// finds room if there is any.
func replicas(j *sched.Job) (out []int) {
	for s := range j.Stages {
		for range j.Stages[s].Replicas {
			out = append(out, j.Slices(s))
		}
	}
	slices.SortFunc(out, func(a, b int) int { return b - a })
	return out
}

// fewest returns the least number of servers that hold the replicas.
func fewest(servers []sched.Server, j *sched.Job) int {
	sizes := make([]int, len(servers))
	for s := range servers {
		sizes[s] = servers[s].GPUs
	}
	slices.Sort(sizes)
	slices.Reverse(sizes)
	left := replicas(j)
	for k, room := range sizes {
		left = slices.DeleteFunc(left, func(slices int) bool {
			fits := slices <= room
			if fits {
				room -= slices
			}
			return fits
		})
		if len(left) == 0 {
			return k + 1
		}
	}
	panic("the job does not fit")
}

// chain gives one server after the other the replicas in order of stage, but
// passes over those after which whole replicas could not fill what is taken.
func chain(j *sched.Job, takes map[int]int, servers int) *sched.Placement {
	var p sched.Placement
	var stages []int // of every replica left
	for s := range j.Stages {
		for range j.Stages[s].Replicas {
			stages = append(stages, s)
		}
	}
	for s := range servers {
		if takes[s] == 0 {
			continue
		}
		sh := sched.Share{Server: s, GPUs: takes[s]}
		counts := make([]int, len(j.Stages))
		for i := 0; takes[s] > 0; {
			stage := stages[i]
			rest := slices.Delete(slices.Clone(stages), i, i+1)
			if takes[s] -= j.Slices(stage); !j.Sliced() || takes[s] >= 0 && fillable(j, rest, takes) {
				counts[stage]++
				stages = rest
			} else {
				takes[s] += j.Slices(stage)
				i++
			}
		}
		if len(j.Stages) > 1 || j.Sliced() {
			sh.Stages = counts
		}
		p.Shares = append(p.Shares, sh)
	}
	return &p
}

// fillable reports whether replicas of these stages can fill what is taken of
// the servers: the most slices first, wherever they fit.
func fillable(j *sched.Job, stages []int, takes map[int]int) bool {
	var left []int
	for _, s := range stages {
		left = append(left, j.Slices(s))
	}
	slices.SortFunc(left, func(a, b int) int { return b - a })
	for _, room := range takes {
		left = slices.DeleteFunc(left, func(slices int) bool {
			fits := slices <= room
			if fits {
				room -= slices
			}
			return fits
		})
	}
	return len(left) == 0
}

func sum(v []int) int {
	n := 0
	for _, x := range v {
		n += x
	}
	return n
}
