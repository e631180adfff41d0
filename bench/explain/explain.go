// Package explain says where the difference between two schedules of the same jobs comes
// from: what each job adds to it, whom the jobs waited for that started later, and which
// few jobs show it best.
//
// docs/explain.md defines every number. The first schedule is the one that is explained,
// the second the reference. Times are in microseconds, GPUs in thousandths; what jobs add
// is exact, and adds up to the difference of the two costs.
package explain

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"yardstick/sched"
)

// Milli is how many of the units of Piece.GPUs a whole GPU is.
const Milli = 1000

// Job is what both schedules have to do.
type Job struct {
	Name    string // "" is none
	User    string // "" is not known
	Release int64
	GPUs    int64 // that it asks for; 0 if schedules choose
	Weight  float64
}

// Piece is a stretch of time in which a job holds GPUs.
type Piece struct {
	Job        int
	Start, End int64
	GPUs       int64
}

// Schedule is one of the two.
type Schedule struct {
	Ends   []int64 // completion of each job; negative for a job that is left out
	Pieces []Piece // in any order; nil if starts are not known
}

// Input is what is explained.
type Input struct {
	Objective       string // by its name, as sched.Objective has it
	Deadline        int64  // of objectives that have one
	GPUs            int64  // that jobs may hold at once: all GPUs, times the jobs that may share one
	Jobs            []Job
	This, Reference Schedule
}

// Explanation is where a difference comes from.
type Explanation struct {
	Input
	// Cost and Against are what the two schedules cost, Difference by how much the first is
	// worse, in microseconds, times a weight where weighted, or in weights where the
	// objective is no time. It is negative if the first is better.
	Cost, Against, Difference *big.Rat
	Shares                    []Share // one for each job, in their order
	objective                 sched.Objective
	first, firstReference     []int64 // starts, where they are known
}

// Share is what one job adds to the difference.
type Share struct {
	Job  int
	Adds *big.Rat // in the unit of Difference
	// Later is by how much the job starts later than in the reference, and Longer by how
	// much longer it takes from its start to its end; both 0 where starts are not known.
	Later, Longer int64
}

// New finds what each job adds.
//
// In a total, a job adds the difference of its own terms. In a makespan, the time by which
// the later schedule is longer is divided, at each instant, equally among the jobs that are
// not done by then: the Shapley value of the game in which a set of jobs costs the
// latest of its ends (Littlechild and Owen, A simple expression for the Shapley value in a
// special case, 1973). Of what is to be done by a deadline, a job adds its weight if the
// reference alone does it by then, and takes it away if the other alone does.
//
// Errors: no such objective; a schedule of other jobs.
func New(in Input) (*Explanation, error) {
	e := &Explanation{Input: in, Shares: make([]Share, len(in.Jobs))}
	if err := e.objective.UnmarshalText([]byte(in.Objective)); err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	if len(in.Jobs) == 0 {
		return nil, errors.New("explain: there are no jobs")
	}
	for j := range in.Jobs {
		if job := &in.Jobs[j]; outOfRange(job.Release) || math.IsNaN(job.Weight) || math.IsInf(job.Weight, 0) {
			return nil, fmt.Errorf("explain: job %d is released at %d and weighs %v", j, job.Release, job.Weight)
		}
	}
	for _, s := range []*Schedule{&e.This, &e.Reference} {
		if err := s.check(len(in.Jobs)); err != nil {
			return nil, err
		}
		if e.objective != sched.ScheduledWeight && slices.Min(s.Ends) < 0 {
			return nil, errors.New("explain: a job is left out, so that there is no cost")
		}
		s.Pieces = joined(s.Pieces)
	}
	for j := range e.Shares {
		e.Shares[j].Job = j
	}
	e.Cost, e.Against = e.cost(e.This.Ends), e.cost(e.Reference.Ends)
	e.Difference = new(big.Rat).Sub(e.Cost, e.Against)
	if e.objective.Maximised() {
		e.Difference.Neg(e.Difference)
	}
	e.share()
	e.starts()
	return e, nil
}

// check refuses what is no schedule of so many jobs.
func (s *Schedule) check(jobs int) error {
	if len(s.Ends) != jobs {
		return fmt.Errorf("explain: %d ends of %d jobs", len(s.Ends), jobs)
	}
	if j := slices.IndexFunc(s.Ends, outOfRange); j >= 0 {
		return fmt.Errorf("explain: job %d ends at %d", j, s.Ends[j])
	}
	for i := range s.Pieces {
		if p := &s.Pieces[i]; p.Job < 0 || p.Job >= jobs || p.Start >= p.End || outOfRange(p.Start) || outOfRange(p.End) || p.GPUs < 0 || p.GPUs > mostGPUs {
			return fmt.Errorf("explain: piece %d is of job %d of %d, from %d to %d on %d thousandths of GPUs", i, p.Job, jobs, p.Start, p.End, p.GPUs)
		}
	}
	return nil
}

// mostGPUs keeps sums of thousandths below 2^63.
const mostGPUs = 1 << 40

func outOfRange(t int64) bool { return t < -int64(sched.MaxTime) || t > int64(sched.MaxTime) }

// joined returns the pieces in order of start, each as long as a job holds as many GPUs: a
// load and the training after it are one.
func joined(pieces []Piece) []Piece {
	list := slices.Clone(pieces)
	slices.SortStableFunc(list, func(a, b Piece) int { return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Start, b.Start)) })
	kept := list[:0]
	for _, p := range list {
		if n := len(kept) - 1; n >= 0 && kept[n].Job == p.Job && kept[n].End == p.Start && kept[n].GPUs == p.GPUs {
			kept[n].End = p.End
			continue
		}
		kept = append(kept, p)
	}
	slices.SortStableFunc(kept, func(a, b Piece) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Job, b.Job)) })
	return kept
}

// Maximised reports whether costs are what is to be large.
func (e *Explanation) Maximised() bool { return e.objective.Maximised() }

// IsTime reports whether costs are times.
func (e *Explanation) IsTime() bool { return e.objective.IsTime() }

// cost evaluates the objective.
func (e *Explanation) cost(ends []int64) *big.Rat {
	in := &sched.Instance{Deadline: sched.Time(e.Deadline), Jobs: make([]sched.Job, len(e.Jobs))}
	times := make([]sched.Time, len(ends))
	for j := range e.Jobs {
		in.Jobs[j] = sched.Job{Release: sched.Time(e.Jobs[j].Release), Weight: e.Jobs[j].Weight}
		times[j] = sched.Time(ends[j])
	}
	return e.objective.Cost(in, times)
}

// share divides the difference.
func (e *Explanation) share() {
	switch {
	case e.objective == sched.Makespan:
		e.shareMakespan()
	case e.objective == sched.ScheduledWeight:
		for j := range e.Shares {
			e.Shares[j].Adds = new(big.Rat)
			if this, reference := e.inTime(e.This.Ends[j]), e.inTime(e.Reference.Ends[j]); this != reference {
				e.Shares[j].Adds.SetFloat64(e.Jobs[j].Weight)
				if this {
					e.Shares[j].Adds.Neg(e.Shares[j].Adds)
				}
			}
		}
	default:
		over := int64(1)
		if e.objective.Sum() != e.objective {
			over = int64(len(e.Jobs))
		}
		for j := range e.Shares {
			adds := big.NewRat(e.This.Ends[j]-e.Reference.Ends[j], over)
			if e.objective.Weighted() && e.Jobs[j].Weight != 1 {
				adds.Mul(adds, new(big.Rat).SetFloat64(e.Jobs[j].Weight))
			}
			e.Shares[j].Adds = adds
		}
	}
}

func (e *Explanation) inTime(end int64) bool { return end >= 0 && end <= e.Deadline }

// shareMakespan divides what the later schedule takes beyond the end of the other.
func (e *Explanation) shareMakespan() {
	ends, from, sign := e.This.Ends, slices.Max(e.Reference.Ends), int64(1)
	if slices.Max(ends) < from {
		ends, from, sign = e.Reference.Ends, slices.Max(ends), -1
	}
	order := make([]int, len(ends))
	for j := range order {
		order[j] = j
		e.Shares[j].Adds = new(big.Rat)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ends[a], ends[b]) })
	sum := new(big.Rat) // what all jobs bear that are not done yet
	for k, j := range order {
		if ends[j] > from {
			sum = new(big.Rat).Add(sum, big.NewRat(sign*(ends[j]-from), int64(len(order)-k)))
			from = ends[j]
		}
		e.Shares[j].Adds = sum
	}
}

// starts finds first starts, and what follows from them.
func (e *Explanation) starts() {
	e.first, e.firstReference = firsts(&e.This), firsts(&e.Reference)
	if !e.Started() {
		return
	}
	for j := range e.Shares {
		if e.This.Ends[j] >= 0 && e.Reference.Ends[j] >= 0 {
			s := &e.Shares[j]
			s.Later = e.first[j] - e.firstReference[j]
			s.Longer = e.This.Ends[j] - e.Reference.Ends[j] - s.Later
		}
	}
}

// Started reports whether the starts of both schedules are known.
func (e *Explanation) Started() bool { return e.first != nil && e.firstReference != nil }

// firsts returns the first start of each job, its end where it has none, or nil if starts
// are not known.
func firsts(s *Schedule) []int64 {
	if s.Pieces == nil {
		return nil
	}
	list := slices.Clone(s.Ends)
	for i := len(s.Pieces) - 1; i >= 0; i-- { // in order of start
		list[s.Pieces[i].Job] = s.Pieces[i].Start
	}
	return list
}

// Group is what several jobs add together.
type Group struct {
	Key  string // what they have in common
	Jobs int
	// Adds is Worse minus Better: what the jobs add that do worse, and what those take away
	// that do better.
	Adds, Worse, Better *big.Rat
}

// Key says what jobs are grouped by.
type Key func(*Job) (text string, order int64)

// GangSize, User and Hour are the groups of the report. Hours are whole ones from the
// instance's epoch to the release.
func GangSize(j *Job) (string, int64) {
	if j.GPUs == 0 {
		return "chosen", 0
	}
	return GPUs(j.GPUs), j.GPUs
}

func User(j *Job) (string, int64) { return cmp.Or(j.User, "not known"), 0 }

func Hour(j *Job) (string, int64) {
	const hour = 3600 * 1_000_000
	n := j.Release / hour
	if j.Release%hour < 0 {
		n--
	}
	return fmt.Sprint(n), n
}

// Groups adds up the jobs by a key, in the key's order: by its number, then its text. What
// the groups add is the difference.
func (e *Explanation) Groups(key Key) []Group {
	type group struct {
		Group
		order int64
	}
	by := map[string]*group{}
	var list []*group
	for j := range e.Shares {
		text, order := key(&e.Jobs[j])
		g := by[text]
		if g == nil {
			g = &group{Group{Key: text, Adds: new(big.Rat), Worse: new(big.Rat), Better: new(big.Rat)}, order}
			by[text] = g
			list = append(list, g)
		}
		g.Jobs++
		switch adds := e.Shares[j].Adds; adds.Sign() {
		case 1:
			g.Worse.Add(g.Worse, adds)
		case -1:
			g.Better.Sub(g.Better, adds)
		}
	}
	slices.SortFunc(list, func(a, b *group) int { return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.Key, b.Key)) })
	groups := make([]Group, len(list))
	for i, g := range list {
		g.Adds.Sub(g.Worse, g.Better)
		groups[i] = g.Group
	}
	return groups
}

// Most returns the shares that are largest either way, at most so many, those that add
// most first; jobs that add nothing are left out.
func (e *Explanation) Most(n int) []Share {
	list := slices.DeleteFunc(slices.Clone(e.Shares), func(s Share) bool { return s.Adds.Sign() == 0 })
	slices.SortStableFunc(list, func(a, b Share) int { return b.Adds.Cmp(a.Adds) })
	if len(list) > n { // the ends of the list
		better := 0 // of those that are kept
		for k := 1; better < n/2 && list[len(list)-k].Adds.Sign() < 0; k++ {
			better++
		}
		list = slices.Concat(list[:n-better], list[len(list)-better:])
	}
	return list
}

// NameOf is what people call a job: its name, or its number.
func (e *Explanation) NameOf(job int) string { return cmp.Or(e.Jobs[job].Name, fmt.Sprint(job)) }

// GPUs shows thousandths of GPUs as GPUs.
func GPUs(milli int64) string {
	if milli%Milli == 0 {
		return fmt.Sprint(milli / Milli)
	}
	return fmt.Sprintf("%d.%03d", milli/Milli, milli%Milli)
}
