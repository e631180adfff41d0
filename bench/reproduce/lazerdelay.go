package reproduce

import (
	"context"
	"fmt"
	"slices"
	"time"

	policy "yardstick/heuristics/lazer"
	"yardstick/heuristics/listsched"
	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// lazerTimed measures the calls of a policy in which it decides something: those
// at multiples of an interval or, without one, all.
type lazerTimed struct {
	sim.Policy
	every sched.Time
	took  []float64 // seconds
}

// Decide implements sim.Policy.
func (t *lazerTimed) Decide(v *sim.View) (sim.Decision, error) {
	start := time.Now()
	d, err := t.Policy.Decide(v)
	if t.every == 0 || v.Now()%t.every == 0 {
		t.took = append(t.took, time.Since(start).Seconds())
	}
	return d, err
}

// lazerTimedDeferral measures the choices of a deferral.
type lazerTimedDeferral struct {
	*policy.Predictor
	took, learnt []float64 // seconds; of choices by a predictor that has learnt all
}

// Defer implements lazer.Deferral.
func (t *lazerTimedDeferral) Defer(c policy.Context) (sched.Time, error) {
	start, trained := time.Now(), t.Exploiting()
	x, err := t.Predictor.Defer(c)
	took := time.Since(start).Seconds()
	t.took = append(t.took, took)
	if trained {
		t.learnt = append(t.learnt, took)
	}
	return x, err
}

// lazerFig8f measures the six schedulers on the same jobs.
func lazerFig8f(ctx context.Context, in Input) (*Output, error) {
	instance, err := lazerInstance(in, 3*sched.Second)
	if err != nil {
		return nil, err
	}
	deferral := &lazerTimedDeferral{Predictor: policy.New(in.Seed, policy.DefaultCaps())}
	policies := []struct {
		name, paper string
		every       sched.Time
		schedule    sim.Policy
	}{
		{"SJF", "3.8 with SRTF", 0, listsched.SJF(listsched.Options{Blocking: listsched.Skip})},
		{"SRTF", "3.8 with SJF", 0, policy.SRTF(policy.Options{})},
		{"Pollux", "20.5, mean of the three", 60 * sched.Second, nil},
		{"Muri", "20.5, mean of the three", 360 * sched.Second, nil},
		{"Optimus", "20.5, mean of the three", 600 * sched.Second, nil},
		{"Lazer", "7.1", 0, policy.Deferring(policy.Options{}, deferral)},
	}
	table := Table{Title: "Milliseconds per call",
		Columns: []string{"scheduler", "calls", "mean", "paper, mean", "P50", "P99"}}
	making := &maker{Parts: in.Parts, total: len(policies)}
	for _, p := range policies {
		rows, err := part(ctx, making, p.name, func() ([][]string, error) {
			timed := &lazerTimed{Policy: p.schedule, every: p.every}
			if p.every > 0 {
				timed.Policy = policy.NewPeriodic(p.every, sim.Pool)
			}
			if _, err := sim.Run(ctx, instance, timed, sim.Options{}); err != nil {
				return nil, err
			}
			rows := [][]string{lazerDelayRow(p.name, timed.took, p.paper)}
			if p.name == "Lazer" {
				rows = append(rows, lazerDelayRow("Lazer, choices of X", deferral.took, "–"), lazerDelayRow("Lazer, of these by a trained predictor", deferral.learnt, "–"))
			}
			return rows, nil
		})
		if err != nil {
			return nil, err
		}
		table.Rows = append(table.Rows, rows...)
	}
	out := &Output{Tables: []Table{table}}
	mean := func(k int) float64 { return value(table.Rows[k][2]) }
	periodic := (mean(2) + mean(3) + mean(4)) / 3 // in the order of policies
	out.Numbers = []Number{{"Lazer below the mean of the three periodic, %", "49.1", 100 * (1 - mean(5)/periodic)}}
	out.Orderings = []Ordering{{"SJF and SRTF below Lazer", max(mean(0), mean(1)), mean(5)}, {"Lazer below the mean of the three periodic", mean(5), periodic}}
	out.Notes = []string{
		fmt.Sprintf("%d jobs on %d GPUs.", len(instance.Jobs), instance.Cluster.GPUs()),
		"A call is an event (arrival, completion, end of a pause or deferral) or, of the periodic schedulers, a tick; their calls at other events decide nothing and are not counted.",
		"Most calls come to a job that starts on free GPUs or to nothing; the predictor is asked only where a job needs victims. The mean of Lazer is its share of these.",
	}
	return out, nil
}

func lazerDelayRow(name string, took []float64, paper string) []string {
	if len(took) == 0 {
		return []string{name, "0", "–", paper, "–", "–"}
	}
	slices.Sort(took)
	ms := func(s float64) string { return fmt.Sprintf("%.4f", 1000*s) }
	return []string{name, fmt.Sprint(len(took)), ms(lazerMean(took)), paper, ms(lazerQuantile(took, 0.5)), ms(lazerQuantile(took, 0.99))}
}
