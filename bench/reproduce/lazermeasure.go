package reproduce

import (
	"fmt"
	"math"
	"slices"

	"yardstick/bench/record"
	"yardstick/sched"
)

// lazerTimes are the times of the jobs of one method, in seconds, and what its
// ratios are.
type lazerTimes struct {
	jct, wait, load, train, pause []float64 // one per job, ascending once sorted
	futile                        []float64 // of the jobs with any

	held, lost          float64 // GPU-seconds in use, and in loads that were cut short
	preemptions, aborts int
	// ratios are cost over bound by objective, one per instance; bound names
	// what the first was divided by.
	ratios map[string][]float64
	bound  map[string]string

	// Of deferrals that were predicted: choices, those that deferred, and sums over
	// choices of the columns.
	choices, deferred                     float64
	promised, realised, explained, within float64
}

// lazerKey tells cells apart: a method and the startup of its jobs.
type lazerKey struct{ method, startup string }

// lazerStartups are the startups of the suites; those of Figures 3 to 5 and Table 2 are
// the first and the third. Measured restarts take from 15 to 250 s.
func lazerStartups() []string { return []string{"3s", "15s", "100s", "250s"} }

// lazerMeasure collects the times of a run, those of all instances of a key
// together.
func lazerMeasure(run *record.Run) map[lazerKey]*lazerTimes {
	all := map[lazerKey]*lazerTimes{}
	cells := map[string]*lazerTimes{}
	for i := range run.Ratios {
		r := &run.Ratios[i]
		if !r.Cost.Valid {
			continue
		}
		key := lazerKey{r.Method, r.Params["startup"]}
		t := all[key]
		if t == nil {
			t = &lazerTimes{ratios: map[string][]float64{}, bound: map[string]string{}}
			all[key] = t
		}
		if cells[r.CellID] == nil {
			t.preemptions += r.Preemptions.V
			t.aborts += r.FutilePreempts.V
			if n := float64(r.DeferralChoices.V); n > 0 {
				t.choices, t.deferred = t.choices+n, t.deferred+float64(r.Deferrals.V)
				t.promised, t.realised = t.promised+n*r.DeferralPromised.V, t.realised+n*r.DeferralRealised.V
				t.explained, t.within = t.explained+n*r.DeferralExplained.V, t.within+n*r.DeferralWithin.V
			}
		}
		cells[r.CellID] = t
		if r.RatioToLowerBound.Valid {
			t.ratios[r.Objective] = append(t.ratios[r.Objective], r.RatioToLowerBound.V)
			if t.bound[r.Objective] == "" {
				t.bound[r.Objective] = string(r.LowerBoundMethod)
			}
		}
	}
	for i := range run.Jobs {
		j := &run.Jobs[i]
		if t := cells[j.CellID]; t != nil && j.JCT.Valid {
			t.add(j)
		}
	}
	for _, t := range all {
		for _, list := range [][]float64{t.jct, t.wait, t.load, t.train, t.pause, t.futile} {
			slices.Sort(list)
		}
	}
	return all
}

func (t *lazerTimes) add(j *record.Job) {
	t.jct, t.wait = append(t.jct, j.JCT.V), append(t.wait, j.Wait.V)
	t.load, t.train, t.pause = append(t.load, j.Load.V), append(t.train, j.Train.V), append(t.pause, j.Pause.V)
	if j.Futile.V > 0 {
		t.futile = append(t.futile, j.Futile.V)
	}
	t.held += float64(j.GPUs.V) * (j.Load.V + j.Train.V + j.Pause.V)
	t.lost += float64(j.GPUs.V) * j.Futile.V
}

// ratio is the mean over the instances of cost over bound, rounded up: an upper
// estimate of the ratio to the optimum.
func (t *lazerTimes) ratio(o sched.Objective) string {
	list := t.ratios[o.String()]
	if len(list) == 0 {
		return "–"
	}
	return fmt.Sprintf("≤%.3f", math.Ceil(1000*lazerMean(list))/1000)
}

// lazerQuantile is the value of rank ceil(p·n) of ascending values; 0 of none.
func lazerQuantile(ascending []float64, p float64) float64 {
	if len(ascending) == 0 {
		return 0
	}
	return ascending[max(int(math.Ceil(p*float64(len(ascending)))), 1)-1]
}

func lazerMean(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}

func lazerMinutes(seconds float64) string { return fmt.Sprintf("%.1f", seconds/60) }

// lazerFactor prints a factor; where the denominator is 0 there is none.
func lazerFactor(a, b float64) string {
	if b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f×", a/b)
}
