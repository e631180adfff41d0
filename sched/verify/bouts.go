package verify

import "yardstick/sched"

// bout is a stretch in which a job holds one placement without a gap and
// without a new load: load, then training, then pause, each possibly absent.
type bout struct {
	place              *sched.Placement
	start, end         sched.Time
	load, train, pause sched.Time
}

// stop is when the bout was preempted or, if it is the last, completed.
func (b *bout) stop() sched.Time { return b.end - b.pause }

// split cuts the job's segments, which are disjoint and in order, into bouts.
// It reports whether they make sense as such.
func (c *checker) split(id sched.JobID, segs []int32) bool {
	j := &c.in.Jobs[id]
	c.bouts = c.bouts[:0]
	var b *bout
	for _, i := range segs {
		seg := &c.s.Segments[i]
		goesOn := b != nil && seg.Start == b.end && b.pause == 0 && seg.Phase != sched.Load
		if goesOn && !same(j, b.place, &seg.Place) {
			// A job that loads and saves in no time may move in no time.
			if !c.preemptive || j.Load > 0 || j.Pause > 0 {
				c.err.add(RulePlacementChange, id, seg.Start, "moves from %v to %v within a bout", describe(b.place), describe(&seg.Place))
				return false
			}
			goesOn = false
		}
		if !goesOn {
			c.bouts = append(c.bouts, bout{place: &seg.Place, start: seg.Start})
			b = &c.bouts[len(c.bouts)-1]
		}
		length := seg.End - seg.Start
		switch seg.Phase {
		case sched.Load:
			b.load = length
		case sched.Train:
			b.train += length
		case sched.Pause:
			if b.train == 0 {
				c.err.add(RuleGrammar, id, seg.Start, "pauses where it was not training")
				return false
			}
			b.pause = length
		}
		b.end = seg.End
	}
	return true
}

// grammar checks the order and the lengths of the parts of the job's bouts.
func (c *checker) grammar(id sched.JobID) bool {
	j := &c.in.Jobs[id]
	if len(c.bouts) > 1 && !c.preemptive {
		c.err.add(RulePreemption, id, c.bouts[1].start, "starts a second bout, which class %v does not allow", c.s.Class)
		return false
	}
	for i := range c.bouts {
		b, last, load := &c.bouts[i], i == len(c.bouts)-1, j.Load
		if c.elastic && i == 0 {
			load = 0
		}
		switch {
		case b.train == 0 && last:
			c.err.add(RuleGrammar, id, b.end, "ends with a load and no training")
		case b.train == 0 && b.load > load:
			c.err.add(RuleGrammar, id, b.start, "loads for %v before it is stopped, longer than its load of %v", b.load, load)
		case b.train == 0: // a load cut short
			continue
		case b.load != load:
			c.err.add(RuleGrammar, id, b.start, "loads for %v, not %v, before it trains", b.load, load)
		case last && b.pause > 0:
			c.err.add(RuleGrammar, id, b.stop(), "pauses after its last training")
		case !last && b.pause != j.Pause:
			c.err.add(RuleGrammar, id, b.stop(), "is preempted with a pause of %v, not %v", b.pause, j.Pause)
		default:
			continue
		}
		return false
	}
	return true
}

// slots checks that the job's bouts start and stop at slot boundaries.
func (c *checker) slots(id sched.JobID) {
	for i := range c.bouts {
		for _, t := range [2]sched.Time{c.bouts[i].start, c.bouts[i].stop()} {
			if t%c.slot != 0 {
				c.err.add(RuleSlot, id, t, "starts or stops within a slot of %v", c.slot)
				return
			}
		}
	}
}
