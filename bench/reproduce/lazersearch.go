package reproduce

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"yardstick/bench/report/chart"
	"yardstick/bench/suite"
	"yardstick/datasets"
	policy "yardstick/heuristics/lazer"
	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// lazerOutcome is a preemption that could have been deferred, and for how long
// it should have been.
type lazerOutcome struct {
	context policy.Context
	f       sched.Time
}

// lazerOutcomes records what a deferral is asked and told, and never defers.
type lazerOutcomes struct{ list []lazerOutcome }

// Defer implements lazer.Deferral.
func (*lazerOutcomes) Defer(policy.Context) (sched.Time, error) { return 0, nil }

// Observe implements lazer.Deferral.
func (o *lazerOutcomes) Observe(of policy.Outcome) error {
	o.list = append(o.list, lazerOutcome{of.Context, of.F})
	return nil
}

// lazerSearches is how many choices each search of Figure 8e makes on a stretch of
// the replay; what it has found is then used for as many choices again.
const lazerSearches = 100

// lazerStretches is the number of stretches: 20 at scale 1, and at least 2.
func lazerStretches(scale float64) int { return max(int(20*scale), 2) }

// lazerSearch chooses X for one decision after another.
type lazerSearch interface {
	choose(policy.Context) (sched.Time, error)
	learn(c policy.Context, x, f sched.Time) error
	// use is what the search would choose from then on.
	use(policy.Context) (sched.Time, error)
}

// lazerBayes is the predictor of the paper. It learns from up to ten outcomes
// more, as its stopping rule wants, before it is used.
type lazerBayes struct{ *policy.Predictor }

func (b lazerBayes) choose(c policy.Context) (sched.Time, error) { return b.Defer(c) }
func (b lazerBayes) learn(c policy.Context, x, f sched.Time) error {
	return b.Observe(policy.Outcome{Context: c, Chosen: x, F: f, Counterfactual: f})
}
func (b lazerBayes) use(c policy.Context) (sched.Time, error) { return b.Defer(c) }

// lazerBlind chooses whole seconds without regard to contexts, and uses the one
// for which the least f was seen, the first of equal ones.
type lazerBlind struct {
	next  func() int
	best  sched.Time
	least sched.Time
}

func (b *lazerBlind) choose(policy.Context) (sched.Time, error) {
	return sched.Time(b.next()) * sched.Second, nil
}

func (b *lazerBlind) learn(_ policy.Context, x, f sched.Time) error {
	if loss := max(x-f, f-x); loss < b.least {
		b.best, b.least = x, loss
	}
	return nil
}

func (b *lazerBlind) use(policy.Context) (sched.Time, error) { return b.best, nil }

// lazerMethods makes the three searches of the figure.
func lazerMethods(seed uint64) []lazerSearch {
	rng := rand.New(rand.NewPCG(seed, 1))
	grid := -1
	return []lazerSearch{
		lazerBayes{policy.New(seed, policy.DefaultCaps())},
		&lazerBlind{next: func() int { return rng.IntN(101) }, least: math.MaxInt64},
		&lazerBlind{next: func() int { grid = (grid + 1) % 101; return grid }, least: math.MaxInt64},
	}
}

// lazerFig8e compares the three searches on the decisions of replays, with loads
// as elsewhere and with loads of 100 s, which the paper's choice of h implies.
func lazerFig8e(ctx context.Context, in Input) (*Output, error) {
	table := Table{Title: fmt.Sprintf("f = |X − F| in seconds, mean over %d stretches of %d decisions", lazerStretches(in.Scale), lazerSearches),
		Columns: []string{"load", "search", "best after 10", "after 50", "after 100", "mean of the 100", "in use after them"}}
	var figures []chart.Figure
	var notes []string
	var numbers []Number
	var orderings []Ordering
	startups, searches := []sched.Time{3 * sched.Second, 100 * sched.Second}, []string{"Bayesian optimisation", "random", "grid"}
	making := &maker{Parts: in.Parts, total: len(startups) * (1 + len(searches))}
	for _, startup := range startups {
		decisions := sync.OnceValues(func() ([]lazerOutcome, error) { return lazerDecisions(ctx, in, startup) })
		load := fmt.Sprintf("%v + 1s", startup)
		f, err := part(ctx, making, "decisions, load "+load, func() ([]float64, error) {
			outcomes, err := decisions()
			return lazerDelays(outcomes), err
		})
		if err != nil {
			return nil, err
		}
		first, _ := slices.BinarySearch(f, math.SmallestNonzeroFloat64)
		futile := len(f) - first
		notes = append(notes, fmt.Sprintf("Load %s: F is 0 in %.1f %% of %d decisions, its mean is %.2f s.", load, 100-100*float64(futile)/float64(len(f)), len(f), lazerMean(f)))
		figure := chart.Figure{Title: "Best f so far, loads of " + load, X: "searches", Y: "f (s)"}
		var best, used []float64 // of the searches, after 100 decisions
		for m, name := range searches {
			r, err := part(ctx, making, name+", load "+load, func() (lazerResult, error) {
				outcomes, err := decisions()
				if err != nil {
					return lazerResult{}, err
				}
				return lazerCompare(ctx, outcomes, in.Seed, m, lazerStretches(in.Scale))
			})
			if err != nil {
				return nil, err
			}
			best = append(best, r.Best[99])
			used = append(used, r.Used)
			table.Rows = append(table.Rows, []string{load, name, fmt.Sprintf("%.2f", r.Best[9]), fmt.Sprintf("%.2f", r.Best[49]), fmt.Sprintf("%.2f", r.Best[99]), fmt.Sprintf("%.2f", r.Mean), fmt.Sprintf("%.2f", r.Used)})
			line := chart.Line{Name: name, Style: chart.Steps}
			for k, v := range r.Best {
				line.X, line.Y = append(line.X, float64(k+1)), append(line.Y, v)
			}
			figure.Lines = append(figure.Lines, line)
		}
		median, off := lazerQuantile(f, 0.5), 0.0
		for _, v := range f {
			off += math.Abs(v-median) / float64(len(f))
		}
		table.Rows = append(table.Rows, []string{load, "X = 0, which is SRTF", "", "", "", "", fmt.Sprintf("%.2f", lazerMean(f))},
			[]string{load, "best constant in hindsight", "", "", "", "", fmt.Sprintf("%.2f", off)})
		figures = append(figures, figure)
		for k, theirs := range []string{"1.5", "1.4"} {
			numbers = append(numbers, Number{fmt.Sprintf("load %s: best of %s over that of Bayesian optimisation", load, searches[k+1]), theirs, best[k+1] / best[0]})
			orderings = append(orderings, Ordering{fmt.Sprintf("load %s, best after 100: Bayesian optimisation below %s", load, searches[k+1]), best[0], best[k+1]},
				Ordering{fmt.Sprintf("load %s, in use: Bayesian optimisation below %s", load, searches[k+1]), used[0], used[k+1]})
		}
		orderings = append(orderings, Ordering{fmt.Sprintf("load %s, in use: Bayesian optimisation below X = 0", load), used[0], lazerMean(f)})
	}
	notes = append(notes, "The paper: the best f of Bayesian optimisation is 1.5 and 1.4 times below those of random and grid search after 100 searches.",
		"The best f over all decisions says little where F is mostly 0: a search that starts at X = 0, as the grid does, has found f = 0 at once. What counts is f in use.")
	return &Output{Tables: []Table{table}, Figures: figures, Notes: notes, Numbers: numbers, Orderings: orderings}, nil
}

// lazerDelays returns what the decisions would have had to be deferred by, in seconds,
// in ascending order.
func lazerDelays(outcomes []lazerOutcome) []float64 {
	f := []float64{}
	for _, o := range outcomes {
		f = append(f, o.f.Seconds())
	}
	slices.Sort(f)
	return f
}

// lazerDecisions replays SRTF on lazerInstance and returns what its preemptions would have had to be deferred by.
func lazerDecisions(ctx context.Context, in Input, startup sched.Time) ([]lazerOutcome, error) {
	instance, err := lazerInstance(in, startup)
	if err != nil {
		return nil, err
	}
	var record lazerOutcomes
	if _, err := sim.Run(ctx, instance, policy.Deferring(policy.Options{}, &record), sim.Options{}); err != nil {
		return nil, err
	}
	if len(record.list) < 3*lazerSearches {
		return nil, fmt.Errorf("reproduce: %d jobs need %d decisions about deferrals only, %d are wanted", len(instance.Jobs), len(record.list), 3*lazerSearches)
	}
	return record.list, nil
}

// lazerInstance is the busiest window of 20,000 jobs of the suite lazer-earth. At
// a scale below 1 the trace, the window, down to 2,000 jobs, and the cluster
// shrink together, so that it stays as busy; jobs that are too large for the
// cluster are left out.
func lazerInstance(in Input, startup sched.Time) (*sched.Instance, error) {
	s, err := Suite("lazer-earth", 1, 1)
	if err != nil {
		return nil, err
	}
	source := s.Instances[0]
	scale := max(in.Scale, 0.1)
	source.Trace = fmt.Sprintf("builtin:helios-earth-lazer?jobs=%d", int(427_000*scale))
	source.Slice.At.Rule = datasets.AtBusiest
	source.Slice.Jobs = int(20_000 * scale)
	source.Cluster.Servers = max(int(float64(source.Cluster.Servers)*scale), 1)
	source.TooLarge = "drop"
	source.Startup = startup
	built, err := source.Build(in.Seed, &suite.Budget{Most: maxJobs})
	if err != nil {
		return nil, err
	}
	return built[0].Instance, nil
}

type lazerResult struct {
	Best       []float64 // so far, after each search
	Mean, Used float64   // of all searches, and of what was used afterwards
}

// lazerCompare runs the m-th search on stretches of the decisions, and returns the
// means over these.
func lazerCompare(ctx context.Context, outcomes []lazerOutcome, seed uint64, m, stretches int) (lazerResult, error) {
	r := lazerResult{Best: make([]float64, lazerSearches)}
	n := float64(stretches)
	for k := range stretches {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		search := lazerMethods(seed + uint64(k))[m]
		from := k * (len(outcomes) - 3*lazerSearches) / (stretches - 1)
		stretch := outcomes[from : from+3*lazerSearches]
		least := math.Inf(1)
		for i := range lazerSearches {
			loss, err := lazerTry(search, stretch[i])
			if err != nil {
				return r, err
			}
			least = math.Min(least, loss)
			r.Best[i] += least / n
			r.Mean += loss / n / lazerSearches
		}
		if b, ok := search.(lazerBayes); ok {
			for i := lazerSearches; !b.Exploiting() && i < 2*lazerSearches; i++ {
				if _, err := lazerTry(search, stretch[i]); err != nil {
					return r, err
				}
			}
		}
		for _, o := range stretch[2*lazerSearches:] {
			x, err := search.use(o.context)
			if err != nil {
				return r, err
			}
			r.Used += math.Abs((x - o.f).Seconds()) / n / lazerSearches
		}
	}
	return r, nil
}

// lazerTry has the search choose and learn, and returns f in seconds.
func lazerTry(s lazerSearch, o lazerOutcome) (float64, error) {
	x, err := s.choose(o.context)
	if err != nil {
		return 0, err
	}
	return math.Abs((x - o.f).Seconds()), s.learn(o.context, x, o.f)
}
