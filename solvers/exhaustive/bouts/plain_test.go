package bouts_test

import (
	"math"
	"math/rand/v2"

	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// plain is a job of the plain search: release in slots, the other times in parts
// of a slot.
type plain struct{ release, gang, load, train, pause, weight int }

// plainState is what a job is about: phase W, L, T, P or D, training left, and
// slots loaded or still to save.
type plainState struct {
	phase       byte
	left, slots int
}

// plainSearch finds the least Σ w_j C_j, or the makespan, in slots of the given
// number of parts, over all ways to do anything at all that the rules of the
// class allow: jobs start when they like, interrupt loads, stop and idle. It is
// written from the rules alone, and remembers states.
type plainSearch struct {
	jobs                 []plain
	gpus, parts, horizon int
	preemptive, makespan bool
	memo                 map[string]int
}

const never = math.MaxInt32

// leastPlain returns the optimum.
func leastPlain(jobs []plain, gpus, parts int, preemptive, makespan bool) int {
	p := &plainSearch{jobs: jobs, gpus: gpus, parts: parts, preemptive: preemptive, makespan: makespan}
	first := make([]plainState, len(jobs))
	alone, last, total := 0, 0, 0
	for i, j := range jobs {
		first[i] = plainState{'W', j.train, 0}
		slots := (j.load + j.train + parts - 1) / parts
		alone += j.weight * (j.release + slots)
		last, total = max(last, j.release), total+slots
	}
	p.horizon = last + total // all jobs one after the other
	p.memo = map[string]int{}
	best := p.from(0, first)
	for _, j := range jobs { // no job of a schedule that costs no more completes later than this
		end := best
		if !makespan {
			slots := (j.load + j.train + parts - 1) / parts
			end = (best - alone + j.weight*(j.release+slots)) / j.weight
		}
		if end > p.horizon {
			p.horizon = end
			p.memo = map[string]int{}
			best = p.from(0, first)
		}
	}
	return best
}

// from returns the least cost of the slots from t on.
func (p *plainSearch) from(t int, s []plainState) int {
	rate := 0
	for i := range s {
		if s[i].phase != 'D' {
			rate += p.jobs[i].weight
		}
	}
	switch {
	case rate == 0:
		return 0
	case t >= p.horizon:
		return never
	case p.makespan:
		rate = 1
	}
	name := []byte{byte(t)}
	for _, x := range s {
		name = append(name, x.phase, byte(x.left), byte(x.slots))
	}
	k := string(name)
	if v, ok := p.memo[k]; ok {
		return v
	}
	best := never
	next := make([]plainState, len(s))
	var choose func(i, free int)
	choose = func(i, free int) {
		if i == len(s) {
			best = min(best, rate+p.from(t+1, next))
			return
		}
		j := &p.jobs[i]
		hold := func(x plainState) {
			if free >= j.gang {
				next[i] = x
				choose(i+1, free-j.gang)
			}
		}
		idle := func(x plainState) {
			next[i] = x
			choose(i+1, free)
		}
		work := func(left, trained int) {
			if left <= trained {
				hold(plainState{'D', 0, 0})
			} else {
				hold(plainState{'T', left - trained, 0})
			}
		}
		bout := func(left, slots int) { // one more slot of a bout that has not trained yet
			if trained := (slots+1)*p.parts - j.load; trained <= 0 {
				hold(plainState{'L', left, slots + 1})
			} else {
				work(left, trained)
			}
		}
		waiting := func(left int) {
			idle(plainState{'W', left, 0})
			if t >= j.release {
				bout(left, 0)
			}
		}
		saving := func(left, slots int) { // the next slot of a pause with so many to go
			if slots == 1 {
				hold(plainState{'W', left, 0})
			} else {
				hold(plainState{'P', left, slots - 1})
			}
		}
		switch x := s[i]; x.phase {
		case 'D':
			idle(x)
		case 'W':
			waiting(x.left)
		case 'L':
			bout(x.left, x.slots)
			if p.preemptive { // the load was for nothing
				waiting(x.left)
			}
		case 'T':
			work(x.left, p.parts)
			if pause := (j.pause + p.parts - 1) / p.parts; p.preemptive && pause > 0 {
				saving(x.left, pause)
			} else if p.preemptive {
				waiting(x.left)
			}
		case 'P':
			saving(x.left, x.slots)
		}
	}
	choose(0, p.gpus)
	p.memo[k] = best
	return best
}

// randomPlain returns n jobs for so many GPUs: a longer one that is released
// first, and short ones. Loads and pauses take up to so many slots.
func randomPlain(r *rand.Rand, n, gpus, parts, overhead int) []plain {
	out := make([]plain, n)
	for i := range out {
		out[i] = plain{release: 1 + r.IntN(4), gang: 1 + r.IntN(gpus), load: r.IntN(overhead*parts + 1), train: 1 + r.IntN(2*parts), pause: r.IntN(overhead*parts + 1), weight: 1}
		if i == 0 {
			out[i].release, out[i].train = 0, (2+r.IntN(4))*parts+r.IntN(parts)
		}
	}
	return out
}

// slotted turns them into an instance whose slots have the given number of
// microseconds.
func slotted(jobs []plain, slot sched.Time, parts int, servers ...int) *sched.Instance {
	in := schedtest.Plain(schedtest.Servers(servers...), schedtest.Job(0, 1, 1))
	in.Model, in.Slot, in.Jobs = sched.ModelPreemptive, slot, nil
	part := slot / sched.Time(parts)
	for _, j := range jobs {
		x := schedtest.Job(sched.Time(j.release)*slot, j.gang, sched.Time(j.train)*part)
		x.Load, x.Pause, x.Weight = sched.Time(j.load)*part, sched.Time(j.pause)*part, float64(j.weight)
		in.Jobs = append(in.Jobs, x)
	}
	return in
}
