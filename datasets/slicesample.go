package datasets

import (
	"cmp"
	"slices"

	"yardstick/sched"
)

// samples returns one sample of jobs per repetition.
func (t *Trace) samples(jobs, repeat int, master uint64, instance string) []Window {
	windows := make([]Window, repeat)
	for k := range windows {
		seed := Seed(master, instance, k)
		chosen := t.sample(jobs, seed)
		w := Window{First: chosen[0], Jobs: jobs, Repetition: k, Seed: seed, trace: t}
		w.sampled = t.together(chosen)
		w.Load = loadsOf(w.sampled, jobs)[0]
		windows[k] = w
	}
	return windows
}

// sample draws jobs that keep the distribution of the times between
// submissions. The gap of a job is the time since the submission before it.
// The jobs with a gap, all but the first, are put in order of it and cut into
// as many strata of equal size, up to one job, as jobs are wanted; of each
// stratum one job is drawn uniformly. It returns their indices, ascending.
//
// The distribution function of the gaps of the jobs drawn differs nowhere from
// that of the whole trace by more than 1/jobs + 1/(n−1), n being the number of
// jobs of the trace.
//
// Where all n jobs are wanted, they are all of the trace.
//
// Source: Lazer, section 5.1, samples 100 jobs that "preserve the original ΔA
// distribution", and does not say how.
func (t *Trace) sample(jobs int, seed uint64) []int {
	n := len(t.jobs)
	order := make([]int, 0, n)
	for i := range n {
		order = append(order, i)
	}
	if jobs == n {
		return order
	}
	order = order[1:]
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(t.gap(a), t.gap(b)), a-b) })
	rng := newRand(seed, streamWindow)
	chosen := make([]int, jobs)
	for k := range chosen {
		from, to := k*(n-1)/jobs, (k+1)*(n-1)/jobs
		chosen[k] = order[from+rng.IntN(to-from)]
	}
	slices.Sort(chosen)
	return chosen
}

// gap returns the time between the submissions of jobs i−1 and i.
func (t *Trace) gap(i int) sched.Time { return t.jobs[i].Submit - t.jobs[i-1].Submit }

// together returns the jobs with their submissions moved so that each follows
// the one before after its own gap. The first keeps its submission.
func (t *Trace) together(chosen []int) []Job {
	list := make([]Job, len(chosen))
	for k, i := range chosen {
		list[k] = t.jobs[i]
		if k > 0 {
			submit := list[k-1].Submit + t.gap(i)
			list[k].End += submit - list[k].Submit
			list[k].Submit = submit
		}
	}
	return list
}

// Before returns n jobs that a policy may have met before those of the window, fewer
// where there are not as many, in order of submission: of a window those of Past; of a
// sample, which is from all over the trace, the other jobs of another sample.
func (w *Window) Before(n int) []Job {
	if w.sampled == nil {
		past := slices.Clone(w.Past(n))
		slices.SortStableFunc(past, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
		return past
	}
	if n = min(n, len(w.trace.jobs)); n <= 0 {
		return nil
	}
	own := map[int]bool{}
	for i := range w.sampled {
		own[w.sampled[i].Row] = true
	}
	chosen := slices.DeleteFunc(w.trace.sample(n, Seed(w.Seed, "before", 0)), func(i int) bool { return own[w.trace.jobs[i].Row] })
	return w.trace.together(chosen)
}
