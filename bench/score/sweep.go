package score

import (
	"cmp"
	"slices"

	"yardstick/sched"
)

// room is what is free at a moment.
type room struct {
	pool    int64     // thousandths of GPUs
	servers []int     // free GPUs of each
	holder  [][]int32 // per server and device, 1 + the piece that holds it; nil where none was named
}

// sweep goes through all intervals in order of time and reports those that start where
// there is no room. What ends at a moment leaves before what starts then.
//
// Within the tolerance an interval may wait for room: its start is put off to when others
// have ended. Then it is shorter, and so is its job if its intervals are not long enough
// any more; no job ends at another time.
func (k *checker) sweep() {
	var starts []int32
	for i := range k.Pieces {
		if j := k.Pieces[i].Job; j >= 0 && j < len(k.Jobs) && !k.out[j] {
			starts = append(starts, int32(i))
		}
	}
	ends := slices.Clone(starts)
	slices.SortFunc(starts, func(a, b int32) int {
		return cmp.Or(cmp.Compare(k.Pieces[a].Start, k.Pieces[b].Start), cmp.Compare(a, b))
	})
	slices.SortFunc(ends, func(a, b int32) int {
		return cmp.Or(cmp.Compare(k.Pieces[a].End, k.Pieces[b].End), cmp.Compare(a, b))
	})
	r := room{pool: k.Cluster.GPUs, holder: make([][]int32, len(k.Cluster.Servers))}
	r.servers = slices.Clone(k.Cluster.Servers)
	steps := k.steps()
	inside := make([]bool, len(k.Pieces))
	var waiting []int32
	full := k.Cluster.GPUs
	for len(starts) > 0 || len(ends) > 0 {
		now, what := k.next(starts, ends, steps)
		switch what {
		case ending:
			i := ends[0]
			ends = ends[1:]
			if inside[i] {
				r.leave(&k.Pieces[i], i)
			} else if w := slices.Index(waiting, i); w >= 0 {
				waiting = slices.Delete(waiting, w, w+1) // it ended while it waited
				k.Pieces[i].Start = k.Pieces[i].End
			}
		case stepping:
			r.pool += steps[0].GPUs - full
			full, steps = steps[0].GPUs, steps[1:]
			if r.pool < 0 {
				k.bad.add(RuleCapacity, -1, now, "%s GPUs are in use when the capacity falls to %s", GPUs(full-r.pool), GPUs(full))
				r.pool = 0
			}
		case starting:
			waiting = append(waiting, starts[0])
			starts = starts[1:]
		}
		if len(waiting) == 0 || what != starting && k.sameTime(now, starts, ends, steps) {
			continue // all that leaves or changes now does so before anything starts
		}
		waiting = slices.DeleteFunc(waiting, func(i int32) bool { return k.enter(&r, i, now, full, inside) })
	}
	for _, i := range waiting {
		k.refuse(&r, i, full)
	}
}

// The kinds of event, in the order in which those of one moment happen.
const (
	ending = iota
	stepping
	starting
)

// next returns the time and the kind of the next event.
func (k *checker) next(starts, ends []int32, steps []Step) (now sched.Time, what int) {
	now, what = sched.Time(1<<62), starting
	if len(starts) > 0 {
		now = k.Pieces[starts[0]].Start
	}
	if len(steps) > 0 && steps[0].At <= now {
		now, what = steps[0].At, stepping
	}
	if len(ends) > 0 && k.Pieces[ends[0]].End <= now {
		now, what = k.Pieces[ends[0]].End, ending
	}
	return now, what
}

// sameTime reports whether another event that is no start happens at the same time.
func (k *checker) sameTime(now sched.Time, starts, ends []int32, steps []Step) bool {
	at, what := k.next(starts, ends, steps)
	return at == now && what != starting
}

// enter lets a piece in if there is room, and refuses it if it has waited too long. It
// returns whether it waits no more.
func (k *checker) enter(r *room, i int32, now sched.Time, full int64, inside []bool) bool {
	p := &k.Pieces[i]
	if now-p.Start > k.options.Tolerance {
		k.refuse(r, i, full)
		return true
	}
	if rule, _ := r.lacks(p, full); rule != "" {
		if k.options.Tolerance == 0 {
			k.refuse(r, i, full)
			return true
		}
		return false
	}
	p.Start, inside[i] = now, true
	r.take(p, i, k.Cluster.Servers)
	return true
}

// refuse reports a piece that there is no room for.
func (k *checker) refuse(r *room, i int32, full int64) {
	p := &k.Pieces[i]
	rule, detail := r.lacks(p, full)
	if rule == "" {
		rule, detail = RuleCapacity, func() string { return "starts before there is room for it" }
	}
	k.bad.add(rule, p.Job, p.Start, "%s", detail())
}

// steps returns the changes of capacity: what is lost is lost later by the tolerance, and
// what is gained is gained earlier.
func (k *checker) steps() []Step {
	steps := slices.Clone(k.Cluster.Capacity)
	before := k.Cluster.GPUs
	for i := range steps {
		after := steps[i].GPUs
		if after < before {
			steps[i].At += k.options.Tolerance
		} else {
			steps[i].At -= k.options.Tolerance
		}
		before = after
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	return steps
}
