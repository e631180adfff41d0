package reproduce

import (
	"context"
	"fmt"
	"strconv"

	"yardstick/bench/report/chart"
	"yardstick/sched"
)

// lazerTable2 lays out Table 2: P50 and P95 of every scheduler, ours above the
// published ones, and what the paper has no column for: ratios against proven
// bounds.
func lazerTable2(_ context.Context, in Input) (*Output, error) {
	table := Table{Title: "Minutes; futile preemption over all jobs", Columns: []string{"metric", "trace", "of"}}
	for _, s := range lazerSchedulers() {
		table.Columns = append(table.Columns, s.name+" P50", "P95")
	}
	ratios := Table{Title: "Cost over the strongest proven lower bound, and preemptions",
		Columns: []string{"trace", "scheduler", "total JCT", "total completion", "preemptions", "futile", "jobs with any", "P50 of these, min", "P95, min", "GPU time lost"}}
	traces, schedulers := lazerTraces(), lazerSchedulers()
	measured := make([]map[lazerKey]*lazerTimes, len(traces))
	for i := range traces {
		measured[i] = lazerMeasure(in.Runs[i])
	}
	published := lazerPublished()
	for _, metric := range []string{"JCT", "Waiting time", "Futile preemption"} {
		for i, trace := range traces {
			ours := []string{metric, trace.name, "ours"}
			for _, s := range schedulers {
				t := measured[i][lazerKey{method: s.method}]
				if t == nil {
					ours = append(ours, "–", "–")
					continue
				}
				ours = append(ours, lazerMinutes(t.metric(metric, 0.5)), lazerMinutes(t.metric(metric, 0.95)))
			}
			table.Rows = append(table.Rows, ours, append([]string{metric, trace.name, "paper"}, published[metric][trace.name]...))
		}
	}
	for i, trace := range traces {
		for _, s := range schedulers {
			if t := measured[i][lazerKey{method: s.method}]; t != nil {
				ratios.Rows = append(ratios.Rows, append([]string{trace.name, s.name}, t.preempted()...))
			}
		}
	}
	return &Output{Tables: []Table{table, ratios}, Notes: []string{
		"By the paper's Eq. (1) waiting is a part of the JCT, so that no percentile of the waiting time can exceed the same percentile of the JCT. In the published table " +
			"the P95 of waiting exceeds the P95 of the JCT in all but two of its 18 places (Lazer on Earth and Saturn), by up to 24 times: the two rows cannot be of the same jobs and the same definition. Ours are.",
		"A JCT is no less than the training time. The published P95 under Lazer, 10.4, 13.2 and 29.9 minutes, thus say that 95 % of the jobs train for less than that, while table 1 has means of 59.5, 72.2 and 128.1.",
	}}, nil
}

// metric returns a quantile of one of Table 2's metrics over all jobs.
func (t *lazerTimes) metric(name string, p float64) float64 {
	switch name {
	case "JCT":
		return lazerQuantile(t.jct, p)
	case "Waiting time":
		return lazerQuantile(t.wait, p)
	}
	none := make([]float64, len(t.jct)-len(t.futile)) // jobs without futile preemptions
	return lazerQuantile(append(none, t.futile...), p)
}

// preempted is a row about ratios and preemptions.
func (t *lazerTimes) preempted() []string {
	return []string{t.ratio(sched.TotalJCT), t.ratio(sched.TotalCompletion), strconv.Itoa(t.preemptions), strconv.Itoa(t.aborts),
		lazerPercent(float64(len(t.futile)), float64(len(t.jct))), lazerMinutes(lazerQuantile(t.futile, 0.5)), lazerMinutes(lazerQuantile(t.futile, 0.95)), lazerPercent(t.lost, t.held)}
}

func lazerPercent(part, whole float64) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f %%", 100*part/whole)
}

// lazerFig3 is the breakdown of the JCT.
func lazerFig3(_ context.Context, in Input) (*Output, error) {
	table := Table{Title: "Seconds; each of the four has a median of its own, and the four means add up to the mean JCT",
		Columns: []string{"scheduler", "JCT P50", "over SJF", "paper", "wait P50", "load P50", "train P50", "pause P50", "JCT mean", "wait", "load", "train", "pause"}}
	published := map[string]string{"SJF": "1.0×", "SRTF": "1.6×", "Pollux": "2.1×", "Muri": "2.1×", "Optimus": "2.6×"}
	measured := lazerMeasure(in.Runs[0])
	figure := chart.Figure{Title: "JCT, Earth", X: "JCT (s)", Y: "share of the jobs", LogX: true}
	var base float64
	for _, s := range lazerSchedulers() {
		t := measured[lazerKey{method: s.method}]
		if t == nil {
			continue
		}
		median := lazerQuantile(t.jct, 0.5)
		if s.name == "SJF" {
			base = median
		}
		row := []string{s.name, lazerSeconds(median), lazerFactor(median, base), lazerDash(published[s.name])}
		for _, list := range [][]float64{t.wait, t.load, t.train, t.pause} {
			row = append(row, lazerSeconds(lazerQuantile(list, 0.5)))
		}
		for _, list := range [][]float64{t.jct, t.wait, t.load, t.train, t.pause} {
			row = append(row, lazerSeconds(lazerMean(list)))
		}
		table.Rows = append(table.Rows, row)
		figure.Lines = append(figure.Lines, lazerCumulative(s.name, t.jct))
	}
	return &Output{Tables: []Table{table}, Figures: []chart.Figure{figure}, Notes: []string{
		"The paper says that preemption adds 126, 113, 44 and 26 s of loading to the median (Pollux, SRTF, Muri, Optimus), and that preemptive schedulers have 20.6 times the loading of SJF on average. " +
			"Both hold only if SJF's is (126+113+44+26)/4/19.6 = 3.9 s: one load. SRTF would then load the median job thirty times, within a training time of four minutes.",
		"Its factors over SJF at the median differ from those of its own Table 2 on the same trace, 7.4, 9.9, 8.2 and 10.8 over 5.6 minutes: 1.3, 1.8, 1.5 and 1.9.",
	}}, nil
}

// lazerFig4 is the share of the GPU time lost to futile preemptions.
func lazerFig4(_ context.Context, in Input) (*Output, error) {
	table := Table{Title: "GPU time in loads that a preemption cut short, over GPU time in use", Columns: []string{"scheduler", "futile preemptions", "GPU-hours lost", "of", "share", "paper"}}
	published := map[string]string{"SRTF": "10 %", "Pollux": "13 %"}
	measured := lazerMeasure(in.Runs[0])
	for _, s := range lazerSchedulers() {
		if t := measured[lazerKey{method: s.method}]; t != nil {
			table.Rows = append(table.Rows, []string{s.name, strconv.Itoa(t.aborts), fmt.Sprintf("%.1f", t.lost/3600), fmt.Sprintf("%.0f", t.held/3600), lazerPercent(t.lost, t.held), lazerDash(published[s.name])})
		}
	}
	return &Output{Tables: []Table{table}, Notes: []string{
		"A scheduler that starts and preempts at ticks only cuts a load short only if it is under way at the next tick, so that there are no futile preemptions while loads are shorter than the interval. The paper's 13 % of Pollux need loads of more than 60 s.",
	}}, nil
}

// lazerFig5 is the median waiting time over that of SJF.
func lazerFig5(_ context.Context, in Input) (*Output, error) {
	table := Table{Title: "Waiting time, seconds", Columns: []string{"scheduler", "P50", "over SJF", "paper", "P95", "over SJF", "mean", "over SJF"}}
	published := map[string]string{"SJF": "1.0×", "Pollux": "14.2×", "Muri": "22.2×", "Optimus": "34.5×"}
	measured := lazerMeasure(in.Runs[0])
	figure := chart.Figure{Title: "Waiting time, Earth", X: "waiting time (s)", Y: "share of the jobs"}
	base := measured[lazerKey{method: lazerSchedulers()[0].method}]
	for _, s := range lazerSchedulers() {
		t := measured[lazerKey{method: s.method}]
		if t == nil || base == nil {
			continue
		}
		row := []string{s.name, lazerSeconds(lazerQuantile(t.wait, 0.5)), lazerFactor(lazerQuantile(t.wait, 0.5), lazerQuantile(base.wait, 0.5)), lazerDash(published[s.name])}
		row = append(row, lazerSeconds(lazerQuantile(t.wait, 0.95)), lazerFactor(lazerQuantile(t.wait, 0.95), lazerQuantile(base.wait, 0.95)))
		row = append(row, lazerSeconds(lazerMean(t.wait)), lazerFactor(lazerMean(t.wait), lazerMean(base.wait)))
		table.Rows = append(table.Rows, row)
		figure.Lines = append(figure.Lines, lazerCumulative(s.name, t.wait))
	}
	return &Output{Tables: []Table{table}, Figures: []chart.Figure{figure}}, nil
}

// lazerFig8abc is the comparison on the testbed, normalised to Lazer.
func lazerFig8abc(_ context.Context, in Input) (*Output, error) {
	table := Table{Title: "Over Lazer; futile-preemption time in minutes, over the jobs with any", Columns: []string{"scheduler", "JCT P50", "paper", "P95", "paper", "wait P50", "paper", "P95", "paper",
		"futile P50", "paper", "P95", "paper", "total JCT", "total completion"}}
	published := map[string][]string{
		"SJF": {"1.3×", "1.16×", "1.8×", "1.1×", "0", "0"}, "SRTF": {"1.5×", "1.2×", "2.4×", "1.1×", "2.03", "5.1"},
		"Pollux": {"2.1×", "1.4×", "4×", "1.3×", "8.47", "8.53"}, "Muri": {"5.3×", "2.9×", "13×", "3×", "–", "–"},
		"Optimus": {"8.8×", "3.8×", "22.2×", "4×", "–", "–"}, "Lazer": {"1×", "1×", "1×", "1×", "0", "0"},
	}
	measured := lazerMeasure(in.Runs[0])
	base := measured[lazerKey{method: "lazer"}]
	for _, s := range lazerSchedulers() {
		t := measured[lazerKey{method: s.method}]
		if t == nil || base == nil {
			continue
		}
		paper := published[s.name]
		row := []string{s.name,
			lazerFactor(lazerQuantile(t.jct, 0.5), lazerQuantile(base.jct, 0.5)), paper[0], lazerFactor(lazerQuantile(t.jct, 0.95), lazerQuantile(base.jct, 0.95)), paper[1],
			lazerFactor(lazerQuantile(t.wait, 0.5), lazerQuantile(base.wait, 0.5)), paper[2], lazerFactor(lazerQuantile(t.wait, 0.95), lazerQuantile(base.wait, 0.95)), paper[3],
			lazerMinutes(lazerQuantile(t.futile, 0.5)), paper[4], lazerMinutes(lazerQuantile(t.futile, 0.95)), paper[5],
			t.ratio(sched.TotalJCT), t.ratio(sched.TotalCompletion)}
		table.Rows = append(table.Rows, row)
	}
	return &Output{Tables: []Table{table}}, nil
}

// lazerLoads shows what deferring does as loads take longer.
func lazerLoads(_ context.Context, in Input) (*Output, error) {
	table := Table{Title: "A load takes the startup and about 1 s; JCT and waiting time in minutes",
		Columns: []string{"jobs", "startup", "scheduler", "JCT P50", "P95", "mean", "wait P50", "P95", "total JCT", "total completion", "preemptions", "futile", "jobs with any", "P50 of these, min", "P95, min", "GPU time lost"}}
	measured := lazerMeasure(in.Runs[0])
	methods := []lazerScheduler{{"SJF", "sjf(blocking=skip,placement=pool)"}, {"SRTF", "srtf"}, {"20 s always", "lazer(defer=20s)"}, {"100 s always", "lazer(defer=100s)"}, {"Lazer", "lazer"}, {"Pollux", "periodic-60"}}
	for _, family := range []string{"earth", "testbed"} {
		for _, startup := range []string{"3s", "30s", "100s", "300s"} {
			for _, s := range methods {
				t := measured[lazerKey{s.method, family, startup}]
				if t == nil {
					continue
				}
				row := []string{family, startup, s.name, lazerMinutes(lazerQuantile(t.jct, 0.5)), lazerMinutes(lazerQuantile(t.jct, 0.95)), lazerMinutes(lazerMean(t.jct)),
					lazerMinutes(lazerQuantile(t.wait, 0.5)), lazerMinutes(lazerQuantile(t.wait, 0.95))}
				table.Rows = append(table.Rows, append(row, t.preempted()...))
			}
		}
	}
	return &Output{Tables: []Table{table}}, nil
}

func lazerSeconds(s float64) string { return fmt.Sprintf("%.1f", s) }

func lazerDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// lazerCumulative is the distribution function of ascending positive values, at 200
// ranks; those up to 0.1 count as 0.1, for logarithmic axes.
func lazerCumulative(name string, ascending []float64) chart.Line {
	const ranks = 200
	line := chart.Line{Name: name, Style: chart.Steps}
	for i := 1; i <= ranks; i++ {
		p := float64(i) / ranks
		line.X, line.Y = append(line.X, max(lazerQuantile(ascending, p), 0.1)), append(line.Y, p)
	}
	return line
}
