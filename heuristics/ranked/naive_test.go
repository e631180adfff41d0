package ranked

import (
	"cmp"
	"math/big"
	"slices"

	"yardstick/sched"
)

// naive replays jobs microsecond by microsecond on a number of GPUs, with all jobs in
// lists that are sorted and scanned whenever something happens.
type naive struct {
	jobs []*naiveJob
	gpus int
	now  int

	// key is what jobs are sorted by; nil passes queues in order.
	key func(j *naiveJob) int

	thresholds []int
	timeOnly   bool
	knob       *big.Rat
	queues     [][]*naiveJob
	passed     map[string]int
}

type naiveJob struct {
	id, release, gang, load, pause, length int
	state                                  byte // - hidden, W waiting, L loading, T training, P pausing, F finished
	since                                  int  // start of the phase
	started                                int  // when it was last put on GPUs
	trained                                int  // in all
	segments                               []sched.Segment

	queue, executed, waited int // executed and waited since the last promotion
}

func (s *naive) begin(j *naiveJob, state byte) {
	if phase, on := map[byte]sched.Phase{'L': sched.Load, 'T': sched.Train, 'P': sched.Pause}[j.state]; on && j.since < s.now {
		j.segments = append(j.segments, sched.Segment{Job: sched.JobID(j.id), Start: sched.Time(j.since), End: sched.Time(s.now), Phase: phase})
	}
	j.state, j.since = state, s.now
}

func (s *naive) in(states string) (list []*naiveJob) {
	for _, j := range s.jobs {
		if slices.Contains([]byte(states), j.state) {
			list = append(list, j)
		}
	}
	slices.SortFunc(list, func(a, b *naiveJob) int { return cmp.Or(a.release-b.release, a.id-b.id) })
	return list
}

// replay runs until all jobs are finished.
func (s *naive) replay() {
	s.queues = make([][]*naiveJob, len(s.thresholds)+1)
	s.passed = map[string]int{}
	for len(s.in("-WLTP")) > 0 {
		if s.happens() {
			for again := true; again; {
				again = s.decide()
			}
		}
		s.now++
		for _, j := range s.in("T") {
			j.trained++
			j.executed++
		}
		for _, j := range s.in("W") {
			if j.executed > 0 {
				j.waited++
			}
		}
	}
}

// happens carries out what happens now.
func (s *naive) happens() (something bool) {
	for _, j := range s.in("T") {
		if j.trained == j.length {
			s.begin(j, 'F')
			s.remove(j)
			something = true
		}
	}
	for _, j := range s.in("P") {
		if s.now == j.since+j.pause {
			s.begin(j, 'W')
			something = true
		}
	}
	for _, j := range s.in("-") {
		if j.release == s.now {
			s.begin(j, 'W')
			s.queues[0] = append(s.queues[0], j)
			something = true
		}
	}
	for _, j := range s.in("L") {
		if s.now == j.since+j.load {
			s.begin(j, 'T')
			something = true
		}
	}
	return s.change() || something
}

// change has jobs pass into other queues.
func (s *naive) change() (something bool) {
	for _, j := range s.in("WLT") {
		switch {
		case j.state != 'W' && j.queue < len(s.thresholds) && s.service(j) >= s.thresholds[j.queue]:
			for s.remove(j); j.queue < len(s.thresholds) && s.service(j) >= s.thresholds[j.queue]; {
				j.queue++
			}
			s.queues[j.queue] = append(s.queues[j.queue], j)
			s.passed["demoted"]++
			something = true
		case j.state == 'W' && j.queue > 0 && s.starves(j):
			s.remove(j)
			j.queue, j.executed, j.waited = 0, 0, 0
			s.queues[0] = append(s.queues[0], j)
			s.passed["promoted"]++
			something = true
		}
	}
	return something
}

func (s *naive) service(j *naiveJob) int {
	if s.timeOnly {
		return j.executed
	}
	return j.executed * j.gang
}

func (s *naive) starves(j *naiveJob) bool {
	if s.knob == nil || j.executed == 0 || s.now == j.since {
		return false
	}
	limit := new(big.Rat).Mul(s.knob, big.NewRat(int64(j.executed), 1))
	return big.NewRat(int64(j.waited), 1).Cmp(limit) >= 0
}

func (s *naive) remove(j *naiveJob) {
	s.queues[j.queue] = slices.DeleteFunc(s.queues[j.queue], func(k *naiveJob) bool { return k == j })
}

// order lists the unfinished jobs.
func (s *naive) order() []*naiveJob {
	if s.key == nil {
		return slices.Concat(s.queues...)
	}
	list := s.in("WLTP")
	slices.SortStableFunc(list, func(a, b *naiveJob) int { return cmp.Compare(s.key(a), s.key(b)) })
	return list
}

// decide reports whether some job left its GPUs at once.
func (s *naive) decide() (again bool) {
	budget, free := s.gpus, s.gpus
	fixed := map[*naiveJob]bool{}
	for _, j := range s.in("LTP") {
		free -= j.gang
		if j.state != 'P' && j.started == s.now {
			fixed[j] = true
			budget -= j.gang
		}
	}
	var start, stop []*naiveJob
	for _, j := range s.order() {
		switch {
		case fixed[j]:
		case j.gang <= budget:
			budget -= j.gang
			if j.state == 'W' {
				start = append(start, j)
			}
		case j.state == 'L' || j.state == 'T':
			stop = append(stop, j)
		}
	}
	for _, j := range stop {
		s.passed["preempted"]++
		if j.state == 'T' && j.since < s.now && j.pause > 0 {
			s.begin(j, 'P')
			continue
		}
		s.begin(j, 'W')
		again = true
	}
	for _, j := range start {
		if j.gang > free {
			s.passed["late"]++
			continue
		}
		free -= j.gang
		j.started = s.now
		if j.load > 0 {
			s.begin(j, 'L')
		} else {
			s.begin(j, 'T')
		}
	}
	for q, list := range s.queues {
		var run, wait []*naiveJob
		for _, j := range list {
			if j.state == 'L' || j.state == 'T' {
				run = append(run, j)
			} else {
				wait = append(wait, j)
			}
		}
		s.queues[q] = append(run, wait...)
	}
	return again
}
