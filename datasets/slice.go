package datasets

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"yardstick/sched"
)

// Slice says which jobs of a trace become instances: consecutive ones in order
// of submission or, by the rule AtSample, a sample.
type Slice struct {
	Jobs   int `yaml:"jobs"`   // N, jobs per window; 0 is all jobs of the trace
	At     At  `yaml:"at"`     // where the windows lie; the zero value is the start
	Repeat int `yaml:"repeat"` // R, number of windows; 0 is 1

	// Load, unless it is zero, leaves only windows whose offered load on a cluster of
	// so many GPUs lies in the range. The load is [sched.OfferedLoad] of the trace's
	// gangs and durations; bursts have none.
	Load LoadRange `yaml:"load" json:",omitzero"`
	GPUs int       `yaml:"-" json:"-"` // a suite's are those of the source's cluster
}

// At is where the windows of a slice lie. Its text form is start, busiest,
// random, sample or the index, from 0, of the first window's first job.
type At struct {
	Rule  Rule
	Index int // for AtIndex
}

// Rule is a way to choose windows.
type Rule uint8

// The rules. With N jobs per window, repetition k = 0, 1, … is as follows; with a
// range of loads, windows of other loads are passed over.
const (
	// AtStart: jobs [kN, (k+1)N), consecutive windows from the first job. With a
	// range of loads, the first window after that of repetition k−1.
	AtStart Rule = iota
	// AtBusiest: the window of largest load among those that share no job
	// with the windows of repetitions 0 to k−1; of equal ones the earliest.
	// The load of a window is Σ gang·duration over its jobs, in GPU-seconds,
	// divided by its span in seconds, from the first submission to the last
	// and at least 1: the number of GPUs that the window asks for on average.
	// (Traces have a resolution of a second; without the floor, any N jobs
	// submitted in the same second would have an infinite load.)
	AtBusiest
	// AtRandom: N jobs from a first job drawn uniformly among the n−N+1
	// possible ones, independently per repetition, from the repetition's seed.
	AtRandom
	// AtIndex: jobs [i+kN, i+(k+1)N), consecutive windows from job i, and with a range
	// of loads as AtStart.
	AtIndex
	// AtSample: N jobs from all over the trace, drawn from the repetition's
	// seed, that keep the distribution of inter-arrival times; see
	// Trace.sample. It does not go with a range of loads: a sample is no window.
	AtSample
)

var ruleNames = [...]string{AtStart: "start", AtBusiest: "busiest", AtRandom: "random", AtIndex: "", AtSample: "sample"}

// String returns the text form.
func (a At) String() string {
	if a.Rule == AtIndex {
		return strconv.Itoa(a.Index)
	}
	return ruleNames[a.Rule]
}

// MarshalText implements encoding.TextMarshaler.
func (a At) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *At) UnmarshalText(text []byte) error {
	if i := slices.Index(ruleNames[:], string(text)); i >= 0 && len(text) > 0 {
		*a = At{Rule: Rule(i)}
		return nil
	}
	i, err := strconv.Atoi(string(text))
	if err != nil || i < 0 {
		return fmt.Errorf("at %q: it must be start, busiest, random, sample or the index of a job", text)
	}
	*a = At{Rule: AtIndex, Index: i}
	return nil
}

// Window is a run of consecutive jobs of a trace, or a sample of its jobs.
type Window struct {
	// First and Jobs are jobs [First, First+Jobs) of the trace, in order of
	// submission; of a sample, the first job's index and how many there are.
	First, Jobs int
	Repetition  int    // k, from 0
	Seed        uint64 // of this repetition; Build draws from it
	// Load is the average number of GPUs that the window asks for, as AtBusiest
	// defines it.
	Load float64

	trace   *Trace
	sampled []Job // of a sample: its jobs, their submissions moved together
}

// Trace returns the trace that the window is of.
func (w *Window) Trace() *Trace { return w.trace }

// List returns the window's jobs in order of submission. The slice is the
// trace's or the window's own and must not be changed.
func (w *Window) List() []Job {
	if w.sampled != nil {
		return w.sampled
	}
	return w.trace.jobs[w.First : w.First+w.Jobs]
}

// Past returns the last n jobs that completed before the window's first
// submission, oldest completion first. When they completed is what the
// source's cluster made of them: submission + queue (0 if unknown) + duration.
func (w *Window) Past(n int) []Job {
	if n <= 0 {
		return nil
	}
	jobs, epoch, ends := w.trace.jobs, w.trace.jobs[w.First].Submit, w.trace.ends()
	at, _ := slices.BinarySearchFunc(ends, epoch, func(i int32, t sched.Time) int {
		if jobs[i].End <= t {
			return -1
		}
		return 1
	})
	past := make([]Job, 0, min(n, at))
	for at--; at >= 0 && len(past) < n; at-- {
		if i := int(ends[at]); i < w.First {
			past = append(past, jobs[i])
		}
	}
	slices.Reverse(past)
	return past
}

// ends returns the jobs by the time of their end, of equal ones the first first. Every
// window asks for it, so it is made once.
func (t *Trace) ends() []int32 {
	t.ending.Do(func() {
		t.byEnd = make([]int32, len(t.jobs)) // traces are shorter than 2³¹
		for i := range t.byEnd {
			t.byEnd[i] = int32(i)
		}
		slices.SortFunc(t.byEnd, func(a, b int32) int {
			return cmp.Or(cmp.Compare(t.jobs[a].End, t.jobs[b].End), cmp.Compare(a, b))
		})
	})
	return t.byEnd
}

// Windows returns the windows of a slice, one per repetition. Seeds are
// Seed(master, instance, k), where instance is the name of the suite's entry.
//
// Errors: the trace has too few jobs, or too few windows of that load.
// Cost: O(n log n) for busiest, else O(n).
func (t *Trace) Windows(s Slice, master uint64, instance string) ([]Window, error) {
	n, jobs, repeat := len(t.jobs), s.Jobs, max(s.Repeat, 1)
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	if jobs == 0 {
		jobs = n
	}
	if n == 0 || jobs > n {
		return nil, fmt.Errorf("datasets: a slice of %d jobs was asked for, the trace has %d (%v)", jobs, n, t.summary)
	}
	if s.At.Rule == AtSample {
		return t.samples(jobs, repeat, master, instance), nil
	}
	candidates, loads := t.candidates(&s, jobs)
	var first []int
	switch s.At.Rule {
	case AtRandom:
		for k := 0; k < repeat && len(candidates) > 0; k++ {
			first = append(first, candidates[newRand(Seed(master, instance, k), streamWindow).IntN(len(candidates))])
		}
	case AtBusiest:
		first = t.busiest(jobs, repeat, candidates)
	default:
		next := s.At.Index
		for _, f := range candidates {
			if f >= next && len(first) < repeat {
				first, next = append(first, f), f+jobs
			}
		}
	}
	if len(first) < repeat && s.Load.given() {
		return nil, fmt.Errorf("datasets: %d windows of %d jobs at %v with a load of %v on %d GPUs were asked for, the trace of %d jobs has %d: %s; choose another slice.load or slice.jobs (%v)",
			repeat, jobs, s.At, s.Load, s.GPUs, n, len(first), describeLoads(loads), t.summary)
	}
	if len(first) < repeat {
		return nil, fmt.Errorf("datasets: %d windows of %d jobs at %v were asked for, the trace of %d jobs has %d (%v)", repeat, jobs, s.At, n, len(first), t.summary)
	}
	windows := make([]Window, repeat)
	for k, f := range first {
		windows[k] = Window{First: f, Jobs: jobs, Repetition: k, Seed: Seed(master, instance, k), Load: loadsOf(t.jobs[f:f+jobs], jobs)[0], trace: t}
	}
	return windows, nil
}

func (s *Slice) validate() error {
	switch {
	case s.Jobs < 0 || s.Repeat < 0 || s.At.Index < 0:
		return fmt.Errorf("slice of %d jobs at %v, repeated %d times: none of these may be negative", s.Jobs, s.At, s.Repeat)
	case s.Load.given() && s.At.Rule == AtSample:
		return errors.New("slice.load chooses windows, and a sample is none: say at: random, or set the load of what is built by offeredLoad")
	case s.Load.given() && s.GPUs < 1:
		return fmt.Errorf("a slice of load %v needs the GPUs that the load is of, and has %d", s.Load, s.GPUs)
	}
	return nil
}

// busiest returns the first jobs of at most the given number of disjoint
// windows, by falling load, out of the candidates.
func (t *Trace) busiest(jobs, windows int, candidates []int) []int {
	loads := loadsOf(t.jobs, jobs)
	order := slices.Clone(candidates)
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(loads[b], loads[a]), a-b) })
	var chosen []int // in order of choice
	var sorted []int // the same, ascending
	for _, f := range order {
		if len(chosen) == windows {
			break
		}
		// Only the chosen windows just before and after f can overlap it.
		at, _ := slices.BinarySearch(sorted, f)
		if at < len(sorted) && sorted[at] < f+jobs || at > 0 && f < sorted[at-1]+jobs {
			continue
		}
		sorted = slices.Insert(sorted, at, f)
		chosen = append(chosen, f)
	}
	return chosen
}

// loadsOf returns the load, as AtBusiest defines it, of every window of so many consecutive jobs of a list.
//
// Work is summed in whole GPU-milliseconds as a sliding window. The sums are
// exact while they stay below 2^53, that is 285,000 GPU-years, so that equal
// windows have equal loads.
func loadsOf(list []Job, jobs int) []float64 {
	work := func(i int) float64 {
		return float64(list[i].Gang) * math.Round(float64(list[i].Run)/1e6)
	}
	loads := make([]float64, len(list)-jobs+1)
	sum := 0.0
	for i := range list {
		sum += work(i)
		first := i - jobs + 1
		if first < 0 {
			continue
		}
		span := max(list[i].Submit-list[first].Submit, sched.Second)
		loads[first] = sum / (float64(span) / 1e3)
		sum -= work(first)
	}
	return loads
}
