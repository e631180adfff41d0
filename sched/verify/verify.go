package verify

import (
	"cmp"
	"fmt"
	"slices"

	"yardstick/sched"
)

// Check returns the schedule's times and costs if it keeps every rule of its
// class on the instance, and otherwise an *Error that lists the rules it
// breaks. The order of the segments does not matter. The schedule must not
// change as long as the result is in use.
//
// Errors: *Error; whatever Instance.Validate returns.
//
// Cost: O(S log S) for S segments, plus their servers and stages.
func Check(in *sched.Instance, s *sched.Schedule) (*Verified, error) {
	if err := in.Validate(); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	k := s.Class.Kind
	c := &checker{in: in, s: s, preemptive: k == sched.P || k == sched.EP || k == sched.M, sharing: k == sched.S, malleable: k == sched.M,
		elastic: in.Model == sched.ModelElastic}
	if c.class(); c.failed() {
		return nil, &c.err
	}
	if s.Class.Slotted {
		c.slot = in.Slot
	}
	c.group()
	c.jobs = make([]JobTimes, len(in.Jobs))
	for id := range in.Jobs {
		c.job(sched.JobID(id))
	}
	switch {
	case c.sharing:
		c.sweepShared()
	case c.elastic:
		c.sweepElastic()
	default:
		c.sweepExclusive()
	}
	if c.failed() {
		return nil, &c.err
	}
	return newVerified(in, s, c.jobs, c.busy), nil
}

// checker holds what the checks of one schedule have in common.
type checker struct {
	in         *sched.Instance
	s          *sched.Schedule
	preemptive bool       // class P, EP or M
	sharing    bool       // class S
	malleable  bool       // class M
	elastic    bool       // class E or EP
	slot       sched.Time // 0 in continuous classes

	// The well-formed segments of job j are bySeg[first[j]:first[j+1]], in
	// order of start. A job with a malformed or overlapping one is broken.
	bySeg, first []int32
	broken       []bool

	bouts []bout // of the job at hand
	jobs  []JobTimes
	busy  int64 // GPU-microseconds in which a GPU is held by some job
	err   Error
}

func (c *checker) failed() bool { return len(c.err.Violations) > 0 }

// class checks that the class is one of the instance's model.
func (c *checker) class() {
	k := c.s.Class.Kind
	legal := k == sched.N && !c.elastic ||
		k == sched.P && (c.in.Model == sched.ModelPreemptive || c.in.Model == sched.ModelSharing) ||
		(k == sched.S || k == sched.M) && c.in.Model == sched.ModelSharing ||
		(k == sched.E || k == sched.EP) && c.elastic
	switch {
	case !legal:
		c.err.add(RuleClass, 0, 0, "a schedule of class %q does not belong to the %s model", c.s.Class, c.in.Model)
	case c.elastic && !c.s.Class.Slotted:
		c.err.add(RuleClass, 0, 0, "class %v is not slotted, but the %s model is: its classes are Es and EPs", c.s.Class, c.in.Model)
	case c.s.Class.Slotted && c.in.Slot == 0:
		c.err.add(RuleClass, 0, 0, "class %v is slotted, but the instance has no slot length", c.s.Class)
	}
}

// group checks each segment by itself and orders the sound ones by job and
// start, in linear time if the schedule is in order of start.
func (c *checker) group() {
	n := len(c.in.Jobs)
	c.first, c.broken = make([]int32, n+1), make([]bool, n)
	sound := make([]int32, 0, len(c.s.Segments))
	for i := range c.s.Segments {
		if c.segment(&c.s.Segments[i]) {
			sound = append(sound, int32(i))
			c.first[c.s.Segments[i].Job+1]++
		}
	}
	for j := range n {
		c.first[j+1] += c.first[j]
	}
	next := slices.Clone(c.first)
	c.bySeg = make([]int32, len(sound))
	for _, i := range sound {
		j := c.s.Segments[i].Job
		c.bySeg[next[j]] = i
		next[j]++
	}
	for j := range n {
		c.sort(c.bySeg[c.first[j]:c.first[j+1]], startOf)
	}
}

func startOf(seg *sched.Segment) sched.Time { return seg.Start }

func endOf(seg *sched.Segment) sched.Time { return seg.End }

// sort sorts indices of segments by a key, and does nothing if they are. The keys lie beside
// the indices, as segments are far apart.
func (c *checker) sort(index []int32, key func(*sched.Segment) sched.Time) {
	if slices.IsSortedFunc(index, func(a, b int32) int { return cmp.Compare(key(&c.s.Segments[a]), key(&c.s.Segments[b])) }) {
		return
	}
	type keyed struct {
		key     sched.Time
		segment int32
	}
	list := make([]keyed, len(index))
	for k, i := range index {
		list[k] = keyed{key(&c.s.Segments[i]), i}
	}
	slices.SortFunc(list, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	for k := range list {
		index[k] = list[k].segment
	}
}

// segment checks one segment by itself and reports whether it is sound.
func (c *checker) segment(seg *sched.Segment) bool {
	if seg.Job < 0 || int(seg.Job) >= len(c.in.Jobs) {
		c.err.add(RuleJob, seg.Job, seg.Start, "is not one of the instance's %d jobs", len(c.in.Jobs))
		return false
	}
	if seg.Start < 0 || seg.Start >= seg.End || seg.End > sched.MaxTime || seg.Phase > sched.Pause {
		c.err.add(RuleSegment, seg.Job, seg.Start, "has a segment from %dµs to %dµs in phase %d: 0 ≤ start < end ≤ %d and phases 0 to 2 are required",
			seg.Start, seg.End, seg.Phase, sched.MaxTime)
		c.broken[seg.Job] = true
		return false
	}
	if rule, detail := c.placement(&c.in.Jobs[seg.Job], &seg.Place); rule != "" {
		c.err.add(rule, seg.Job, seg.Start, "%s", detail)
		c.broken[seg.Job] = true
		return false
	}
	return true
}

// job checks the rules that concern one job alone and fills in its times.
func (c *checker) job(id sched.JobID) {
	j := &c.in.Jobs[id]
	segs := c.bySeg[c.first[id]:c.first[id+1]]
	times := &c.jobs[id]
	times.Job, times.Release = id, j.Release
	if c.broken[id] {
		return
	}
	if len(segs) == 0 {
		if c.in.Deadline == 0 {
			c.err.add(RuleMissing, id, 0, "is not scheduled; jobs may be left out only where the instance has a deadline")
		}
		return
	}
	for k := 1; k < len(segs); k++ {
		if a, b := &c.s.Segments[segs[k-1]], &c.s.Segments[segs[k]]; b.Start < a.End {
			c.err.add(RuleOverlap, id, b.Start, "starts a segment before its last one ends at %v", a.End)
			c.broken[id] = true
			return
		}
	}
	if start := c.s.Segments[segs[0]].Start; start < j.Release {
		c.err.add(RuleRelease, id, start, "runs before its release at %v", j.Release)
	}
	if !c.split(id, segs) || !c.grammar(id) {
		return
	}
	if c.slot > 0 {
		c.slots(id)
	}
	times.fill(c.bouts)
	if c.elastic {
		times.resizedTimes(c.bouts)
		c.busy += times.GPUTime
		c.elasticProgress(id)
	} else if c.malleable {
		times.resizedTimes(c.bouts)
		c.busy += times.GPUTime
		c.malleableProgress(id)
	} else if !c.sharing {
		c.busy += times.GPUTime
		c.exclusiveProgress(id)
	}
}
