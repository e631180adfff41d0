package instances

import (
	"fmt"
	"slices"

	"yardstick/datasets"
	"yardstick/sched"
)

// Features is what an instance is like, in numbers: what costs and ratios are plotted
// against.
type Features struct {
	History     int        // past jobs, of which predictors learn
	Span        sched.Time // from the first release to the last
	Slot        sched.Time // 0 if time is not slotted
	LeastWeight float64
	MostWeight  float64
	Users       int // that are named
	Groups      int // that are named
	// Of the models whose jobs have gangs, missing of others.
	Gangs datasets.Opt[Gangs]
}

// Gangs is what the jobs with gangs of an instance ask for. Running times are those
// alone on the fewest servers of the empty cluster, as of [OfferedLoad].
type Gangs struct {
	Largest     int
	Mean        float64
	Single      float64               // share of jobs of one GPU
	OfferedLoad datasets.Opt[float64] // missing of a burst
	Work        float64               // GPU-microseconds of all jobs
	MeanRun     float64               // microseconds
	MedianRun   sched.Time            // nearest rank
	LongestRun  sched.Time
}

// FeaturesOf returns the features of a valid instance.
//
// Errors: a running time beyond sched.MaxTime; the features are those without gangs.
func FeaturesOf(in *sched.Instance) (Features, error) {
	f := Features{History: len(in.History), Span: releaseSpan(in), Slot: in.Slot, LeastWeight: in.Jobs[0].Weight, MostWeight: in.Jobs[0].Weight}
	users, groups := map[string]bool{}, map[string]bool{}
	for i := range in.Jobs {
		j := &in.Jobs[i]
		f.LeastWeight, f.MostWeight = min(f.LeastWeight, j.Weight), max(f.MostWeight, j.Weight)
		if j.User != "" {
			users[j.User] = true
		}
		if j.Group != "" {
			groups[j.Group] = true
		}
	}
	f.Users, f.Groups = len(users), len(groups)
	if !in.Model.Gangs() {
		return f, nil
	}
	g, err := gangsOf(in)
	if err != nil {
		return f, fmt.Errorf("instances: instance %q: %w", in.Name, err)
	}
	f.Gangs = datasets.Some(g)
	return f, nil
}

func gangsOf(in *sched.Instance) (Gangs, error) {
	var g Gangs
	var total demand
	gpus, single := 0, 0
	runs := make([]sched.Time, len(in.Jobs))
	for i := range in.Jobs {
		gang := in.Jobs[i].Gang()
		_, run, err := onFewest(in, sched.JobID(i))
		if err != nil {
			return Gangs{}, err
		}
		total.add(gang, run)
		runs[i], gpus, g.Largest = run, gpus+gang, max(g.Largest, gang)
		if gang == 1 {
			single++
		}
	}
	slices.Sort(runs)
	n := len(runs)
	g.Mean, g.Single = float64(gpus)/float64(n), float64(single)/float64(n)
	g.Work, g.MeanRun = total.gpuTime(), total.meanRun()
	g.MedianRun, g.LongestRun = runs[(n+1)/2-1], runs[n-1]
	if load, ok := total.over(releaseSpan(in), in.Cluster.GPUs()); ok {
		g.OfferedLoad = datasets.Some(load)
	}
	return g, nil
}
