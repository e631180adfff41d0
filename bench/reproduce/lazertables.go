package reproduce

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"yardstick/bench/record"
	"yardstick/bench/report/chart"
	"yardstick/sched"
)

// lazerTable2 lays out Table 2: P50 and P95 of every scheduler, ours with two startups
// above the published ones, and what the paper has no column for: ratios against
// proven bounds.
func lazerTable2(_ context.Context, in Input) (*Output, error) {
	table := Table{Title: "Minutes; futile preemption over all jobs", Columns: []string{"metric", "trace", "startup"}}
	for _, s := range lazerSchedulers() {
		table.Columns = append(table.Columns, s.name+" P50", s.name+" P95")
	}
	ratios := Table{Title: "Cost over the strongest proven lower bound, and preemptions",
		Columns: []string{"trace", "startup", "scheduler", "total JCT", "total completion", "preemptions", "futile", "jobs with any", "P50 of these, min", "P95, min", "GPU time lost"}}
	out := &Output{Notes: []string{
		"By the paper's Eq. (1) waiting is a part of the JCT, so that no percentile of the waiting time can exceed the same percentile of the JCT. In the published table " +
			"the P95 of waiting exceeds the P95 of the JCT in all but two of its 18 places (Lazer on Earth and Saturn), by up to 24 times: the two rows cannot be of the same jobs and the same definition. Ours are.",
		"A JCT is no less than the training time. The published P95 under Lazer, 10.4, 13.2 and 29.9 minutes, thus say that 95 % of the jobs train for less than that, while table 1 has means of 59.5, 72.2 and 128.1.",
	}}
	traces, schedulers := lazerTraces(), lazerSchedulers()
	measured := make([]map[lazerKey]*lazerTimes, len(traces))
	for i := range traces {
		measured[i] = lazerMeasure(in.Runs[i])
	}
	published := lazerPublished()
	for _, metric := range []string{"JCT", "Waiting time", lazerFutile} {
		for i, trace := range traces {
			for _, startup := range lazerStartups() {
				ours, ran := []string{metric, trace.name, startup}, false
				for _, s := range schedulers {
					t := measured[i][lazerKey{s.method, startup}]
					if t == nil {
						ours = append(ours, absent, absent)
						continue
					}
					ran = true
					ours = append(ours, lazerMinutes(t.metric(metric, 0.5)), lazerMinutes(t.metric(metric, 0.95)))
				}
				if ran {
					table.Rows = append(table.Rows, ours)
				}
				if metric != lazerFutile { // of most jobs there is none
					out.lazerAhead(measured[i], trace.name, startup, metric)
				}
			}
			table.Rows = append(table.Rows, append([]string{metric, trace.name, publishedColumn}, published[metric][trace.name]...))
		}
	}
	for i, trace := range traces {
		for _, startup := range lazerStartups() {
			for _, s := range schedulers {
				if t := measured[i][lazerKey{s.method, startup}]; t != nil {
					ratios.Rows = append(ratios.Rows, append([]string{trace.name, startup, s.name}, t.preempted()...))
				}
			}
		}
	}
	for _, startup := range []string{"3s", "100s"} {
		out.Numbers = append(out.Numbers, lazerFactors(measured, startup)...)
	}
	out.Tables = []Table{table, ratios}
	return out, nil
}

// lazerFutile is the metric of Table 2 that counts loads which were cut short.
const lazerFutile = "Futile preemption"

// lazerStated are the factors over Lazer that the text of section 5.3 states: by trace and metric
// at the median and the 95th percentile.
func lazerStated() []struct {
	trace, metric, scheduler, theirs string
	p                                float64
} {
	return []struct {
		trace, metric, scheduler, theirs string
		p                                float64
	}{
		{"Earth", "JCT", "SJF", "1.2", 0.5}, {"Earth", "JCT", "Optimus", "2.4", 0.5}, {"Earth", "JCT", "SJF", "1.2", 0.95}, {"Earth", "JCT", "Pollux", "9.2", 0.95},
		{"Saturn", "JCT", "SJF", "1.9", 0.5}, {"Saturn", "JCT", "Optimus", "3.5", 0.5}, {"Saturn", "JCT", "Muri", "1.9", 0.95}, {"Saturn", "JCT", "Pollux", "171.3", 0.95},
		{"Uranus", "JCT", "SRTF", "1.6", 0.5}, {"Uranus", "JCT", "SJF", "2.5", 0.5}, {"Uranus", "JCT", "Optimus", "2.3", 0.95}, {"Uranus", "JCT", "SJF", "233.3", 0.95},
		{"Earth", "Waiting time", "SJF", "2", 0.5}, {"Earth", "Waiting time", "Optimus", "69", 0.5}, {"Earth", "Waiting time", "SJF", "46", 0.95}, {"Earth", "Waiting time", "Pollux", "1516", 0.95},
		{"Saturn", "Waiting time", "Muri", "72", 0.95}, {"Saturn", "Waiting time", "Pollux", "11690", 0.95},
		{"Uranus", "Waiting time", "SRTF", "9", 0.5}, {"Uranus", "Waiting time", "Optimus", "44", 0.5}, {"Uranus", "Waiting time", "Optimus", "10", 0.95}, {"Uranus", "Waiting time", "SJF", "1897", 0.95},
	}
}

// lazerFactors lays ours beside them, and beside the futile preemption of SRTF and Pollux over
// Lazer's, a mean over the traces.
func lazerFactors(measured []map[lazerKey]*lazerTimes, startup string) []Number {
	method := map[string]string{}
	for _, s := range lazerSchedulers() {
		method[s.name] = s.method
	}
	over := func(trace int, metric, scheduler string, p float64) float64 {
		own, other := measured[trace][lazerKey{"lazer", startup}], measured[trace][lazerKey{method[scheduler], startup}]
		if own == nil || other == nil {
			return math.NaN()
		}
		return other.metric(metric, p) / own.metric(metric, p)
	}
	var list []Number
	for _, s := range lazerStated() {
		i := slices.IndexFunc(lazerTraces(), func(t lazerTrace) bool { return t.name == s.trace })
		list = append(list, Number{fmt.Sprintf("%s, startup %s, %s P%.0f: %s over Lazer", s.trace, startup, s.metric, 100*s.p, s.scheduler), s.theirs, over(i, s.metric, s.scheduler, s.p)})
	}
	for _, s := range []struct {
		scheduler, theirs string
		p                 float64
	}{{"SRTF", "23", 0.5}, {"Pollux", "56", 0.5}, {"SRTF", "41", 0.95}, {"Pollux", "67", 0.95}} {
		mean := 0.0
		for i := range measured {
			mean += over(i, lazerFutile, s.scheduler, s.p) / float64(len(measured))
		}
		list = append(list, Number{fmt.Sprintf("startup %s, %s P%.0f: %s over Lazer, mean of the traces", startup, lazerFutile, 100*s.p, s.scheduler), s.theirs, mean})
	}
	return list
}

// lazerAhead states that Lazer is below all others at the median and at the 95th
// percentile of a metric, which is what section 5.3 says of JCT and waiting time.
func (o *Output) lazerAhead(measured map[lazerKey]*lazerTimes, trace, startup, metric string) {
	own := measured[lazerKey{"lazer", startup}]
	for _, s := range lazerSchedulers() {
		t := measured[lazerKey{s.method, startup}]
		if own == nil || t == nil || t == own {
			continue
		}
		for _, p := range []float64{0.5, 0.95} {
			o.Orderings = append(o.Orderings, Ordering{Claim: fmt.Sprintf("%s, startup %s, %s P%.0f: Lazer below %s", trace, startup, metric, 100*p, s.name), Lower: own.metric(metric, p), Upper: t.metric(metric, p)})
		}
	}
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

// lazerEach makes an output for every startup of a suite and puts them together; notes,
// which are about the published numbers, once.
func lazerEach(run *record.Run, item func(at func(method string) *lazerTimes) *Output) *Output {
	all := &Output{}
	measured := lazerMeasure(run)
	for _, startup := range lazerStartups() {
		if measured[lazerKey{"lazer", startup}] == nil {
			continue
		}
		out := item(func(method string) *lazerTimes { return measured[lazerKey{method, startup}] })
		for _, t := range out.Tables {
			t.Title = "Startup " + startup + ". " + t.Title
			all.Tables = append(all.Tables, t)
		}
		for _, f := range out.Figures {
			f.Title += ", startup " + startup
			all.Figures = append(all.Figures, f)
		}
		for _, x := range out.Orderings {
			x.Claim = "Startup " + startup + ". " + x.Claim
			all.Orderings = append(all.Orderings, x)
		}
		for _, n := range out.Numbers {
			n.Statement = "Startup " + startup + ". " + n.Statement
			all.Numbers = append(all.Numbers, n)
		}
		all.Notes = out.Notes
	}
	return all
}

// lazerFig3 is the breakdown of the JCT.
func lazerFig3(_ context.Context, in Input) (*Output, error) {
	return lazerEach(in.Runs[0], lazerFig3At), nil
}

func lazerFig3At(at func(method string) *lazerTimes) *Output {
	table := Table{Title: "Seconds; each of the four has a median of its own, and the four means add up to the mean JCT",
		Columns: []string{"scheduler", "JCT P50", "over SJF", "paper", "wait P50", "load P50", "train P50", "pause P50", "JCT mean", "wait", "load", "train", "pause"}}
	published := map[string]string{"SRTF": "1.6×", "Pollux": "2.1×", "Muri": "2.1×", "Optimus": "2.6×"}
	figure := chart.Figure{Title: "JCT, Earth", X: "JCT (s)", Y: "share of the jobs", LogX: true}
	var base float64
	for _, s := range lazerSchedulers() {
		t := at(s.method)
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
	return &Output{Tables: []Table{table}, Figures: []chart.Figure{figure}, Numbers: lazerFig3Numbers(at), Notes: []string{
		"The paper says that preemption adds 126, 113, 44 and 26 s of loading to the median (Pollux, SRTF, Muri, Optimus), and that preemptive schedulers have 20.6 times the loading of SJF on average. " +
			"Both hold only if SJF's is (126+113+44+26)/4/19.6 = 3.9 s: one load. SRTF would then load the median job thirty times, within a training time of four minutes.",
		"Its factors over SJF at the median differ from those of its own Table 2 on the same trace, 7.4, 9.9, 8.2 and 10.8 over 5.6 minutes: 1.3, 1.8, 1.5 and 1.9.",
	}}
}

// lazerFig3Numbers are those of section 3.2's text, of medians, which the figure shows: what
// preemptive schedulers add to SJF's loading, and what waiting and pausing are of the JCT.
func lazerFig3Numbers(at func(method string) *lazerTimes) []Number {
	median := func(list []float64) float64 { return lazerQuantile(list, 0.5) }
	var list []Number
	added := map[string]string{"SRTF": "113", "Pollux": "126", "Muri": "44", "Optimus": "26"}
	waited := map[string]string{"SJF": "5", "Pollux": "31", "Muri": "49", "Optimus": "61"}
	var base *lazerTimes
	loads, waits, pauses, jcts := 0.0, 0.0, 0.0, 0.0
	for _, s := range lazerSchedulers() {
		t := at(s.method)
		if t == nil || s.name == "Lazer" {
			continue
		}
		if s.name == "SJF" {
			base = t
		}
		if theirs := waited[s.name]; theirs != "" {
			list = append(list, Number{s.name + ": waiting of the JCT, %", theirs, 100 * median(t.wait) / median(t.jct)})
		}
		pauses, jcts = pauses+median(t.pause)/5, jcts+median(t.jct)/5
		if theirs := added[s.name]; theirs != "" && base != nil {
			list = append(list, Number{s.name + ": loading added to SJF's, s", theirs, median(t.load) - median(base.load)})
			loads, waits = loads+median(t.load)/4, waits+median(t.wait)/4
		}
	}
	if base == nil {
		return nil
	}
	return append(list, Number{"preemptive schedulers: mean of the loading over SJF's", "20.6", loads / median(base.load)}, Number{"preemptive schedulers: mean of the waiting over SJF's", "19", waits / median(base.wait)},
		Number{"all five: mean of pausing, s", "8", pauses}, Number{"all five: mean of pausing over that of the JCT, %", "1.6", 100 * pauses / jcts})
}

// lazerFig4 is the share of the GPU time lost to futile preemptions.
func lazerFig4(_ context.Context, in Input) (*Output, error) {
	return lazerEach(in.Runs[0], lazerFig4At), nil
}

func lazerFig4At(at func(method string) *lazerTimes) *Output {
	table := Table{Title: "GPU time in loads that a preemption cut short, over GPU time in use", Columns: []string{"scheduler", "futile preemptions", "GPU-hours lost", "of", "share", "paper"}}
	published := map[string]string{"SRTF": "10 %", "Pollux": "13 %"}
	for _, s := range lazerSchedulers() {
		if t := at(s.method); t != nil {
			table.Rows = append(table.Rows, []string{s.name, strconv.Itoa(t.aborts), fmt.Sprintf("%.1f", t.lost/3600), fmt.Sprintf("%.0f", t.held/3600), lazerPercent(t.lost, t.held), lazerDash(published[s.name])})
		}
	}
	return &Output{Tables: []Table{table}, Notes: []string{
		"A scheduler that starts and preempts at ticks only cuts a load short only if it is under way at the next tick, so that there are no futile preemptions while loads are shorter than the interval. The paper's 13 % of Pollux need loads of more than 60 s.",
	}}
}

// lazerFig5 is the median waiting time over that of SJF.
func lazerFig5(_ context.Context, in Input) (*Output, error) {
	return lazerEach(in.Runs[0], lazerFig5At), nil
}

func lazerFig5At(at func(method string) *lazerTimes) *Output {
	table := Table{Title: "Waiting time, seconds", Columns: []string{"scheduler", "P50", "over SJF", "paper", "P95", "over SJF", "mean", "over SJF"}}
	published := map[string]string{"Pollux": "14.2×", "Muri": "22.2×", "Optimus": "34.5×"}
	figure := chart.Figure{Title: "Waiting time, Earth", X: "waiting time (s)", Y: "share of the jobs"}
	base := at(lazerSchedulers()[0].method)
	for _, s := range lazerSchedulers() {
		t := at(s.method)
		if t == nil || base == nil {
			continue
		}
		row := []string{s.name, lazerSeconds(lazerQuantile(t.wait, 0.5)), lazerFactor(lazerQuantile(t.wait, 0.5), lazerQuantile(base.wait, 0.5)), lazerDash(published[s.name])}
		row = append(row, lazerSeconds(lazerQuantile(t.wait, 0.95)), lazerFactor(lazerQuantile(t.wait, 0.95), lazerQuantile(base.wait, 0.95)))
		row = append(row, lazerSeconds(lazerMean(t.wait)), lazerFactor(lazerMean(t.wait), lazerMean(base.wait)))
		table.Rows = append(table.Rows, row)
		figure.Lines = append(figure.Lines, lazerCumulative(s.name, t.wait))
	}
	return &Output{Tables: []Table{table}, Figures: []chart.Figure{figure}}
}

// lazerFig8abc is the comparison on the testbed, normalised to Lazer.
func lazerFig8abc(_ context.Context, in Input) (*Output, error) {
	return lazerEach(in.Runs[0], lazerFig8abcAt), nil
}

func lazerFig8abcAt(at func(method string) *lazerTimes) *Output {
	table := Table{Title: "Over Lazer; futile-preemption time in minutes, over all jobs and over those with any", Columns: []string{"scheduler", "JCT P50", "paper", "JCT P95", "paper", "wait P50", "paper", "wait P95", "paper",
		"futile P50", "paper", "futile P95", "paper", "of those with any, P50", "P95", "jobs with any", "total JCT", "total completion"}}
	published := map[string][]string{
		"SJF": {"1.3×", "1.16×", "1.8×", "1.1×", "–", "–"}, "SRTF": {"1.5×", "1.2×", "2.4×", "1.1×", "2.03", "5.1"},
		"Pollux": {"2.1×", "1.4×", "4×", "1.3×", "8.47", "8.53"}, "Muri": {"5.3×", "2.9×", "13×", "3×", "–", "–"},
		"Optimus": {"8.8×", "3.8×", "22.2×", "4×", "–", "–"}, "Lazer": {"–", "–", "–", "–", "0", "0"},
	}
	base := at("lazer")
	out := &Output{}
	for _, s := range lazerSchedulers() {
		t := at(s.method)
		if t == nil || base == nil {
			continue
		}
		paper := published[s.name]
		row := []string{s.name,
			lazerFactor(lazerQuantile(t.jct, 0.5), lazerQuantile(base.jct, 0.5)), paper[0], lazerFactor(lazerQuantile(t.jct, 0.95), lazerQuantile(base.jct, 0.95)), paper[1],
			lazerFactor(lazerQuantile(t.wait, 0.5), lazerQuantile(base.wait, 0.5)), paper[2], lazerFactor(lazerQuantile(t.wait, 0.95), lazerQuantile(base.wait, 0.95)), paper[3],
			lazerMinutes(t.metric(lazerFutile, 0.5)), paper[4], lazerMinutes(t.metric(lazerFutile, 0.95)), paper[5],
			lazerMinutes(lazerQuantile(t.futile, 0.5)), lazerMinutes(lazerQuantile(t.futile, 0.95)), lazerPercent(float64(len(t.futile)), float64(len(t.jct))),
			t.ratio(sched.TotalJCT), t.ratio(sched.TotalCompletion)}
		table.Rows = append(table.Rows, row)
		if t == base {
			continue
		}
		for _, metric := range []string{"JCT", "Waiting time"} {
			for _, p := range []float64{0.5, 0.95} {
				out.Orderings = append(out.Orderings, Ordering{fmt.Sprintf("%s P%.0f: Lazer below %s", metric, 100*p, s.name), base.metric(metric, p), t.metric(metric, p)})
			}
		}
	}
	out.Tables = []Table{table}
	return out
}

// lazerLoads shows what deferring does as loads take longer, and what the predicted
// deferrals were worth.
func lazerLoads(_ context.Context, in Input) (*Output, error) {
	table := Table{Title: "A load takes the startup and about 1 s; JCT and waiting time in minutes",
		Columns: []string{"jobs", "startup", "scheduler", "JCT P50", "P95", "mean", "wait P50", "P95", "total JCT", "total completion", "preemptions", "futile", "jobs with any", "P50 of these, min", "P95, min", "GPU time lost"}}
	quality := Table{Title: "Deferrals as predicted: means over the choices whose outcome is known, seconds",
		Columns: []string{"jobs", "startup", "scheduler", "choices", "deferred", "gain over X = 0, predicted", "as it came out", "variance explained", "within 95 %"}}
	out := &Output{}
	constant := []lazerScheduler{{"SJF", "sjf(blocking=skip,placement=pool)"}, {"SRTF", "srtf"}, {"20 s always", "lazer(defer=20s)"}, {"100 s always", "lazer(defer=100s)"}, {"Pollux", "periodic-60"}}
	for i, family := range []string{"Earth", "samples"} {
		measured := lazerMeasure(in.Runs[i])
		for _, startup := range lazerStartups() {
			srtf := measured[lazerKey{"srtf", startup}]
			for _, s := range slices.Concat(constant, lazerVariants()) {
				t := measured[lazerKey{s.method, startup}]
				if t == nil {
					continue
				}
				row := []string{family, startup, s.name, lazerMinutes(lazerQuantile(t.jct, 0.5)), lazerMinutes(lazerQuantile(t.jct, 0.95)), lazerMinutes(lazerMean(t.jct)),
					lazerMinutes(lazerQuantile(t.wait, 0.5)), lazerMinutes(lazerQuantile(t.wait, 0.95))}
				table.Rows = append(table.Rows, append(row, t.preempted()...))
				if t.choices > 0 {
					quality.Rows = append(quality.Rows, append([]string{family, startup, s.name}, t.deferrals()...))
				}
				if srtf != nil && t != srtf && len(t.jct) == len(srtf.jct) {
					out.Orderings = append(out.Orderings, Ordering{Claim: fmt.Sprintf("%s, startup %s, mean JCT: %s below SRTF", family, startup, s.name), Lower: lazerMean(t.jct), Upper: lazerMean(srtf.jct)})
				}
			}
		}
	}
	out.Tables = []Table{table, quality}
	return out, nil
}

// deferrals is a row about what predicted deferrals were worth.
func (t *lazerTimes) deferrals() []string {
	n := t.choices
	return []string{fmt.Sprintf("%.0f", n), fmt.Sprintf("%.0f %%", 100*t.deferred/n), fmt.Sprintf("%.2f", t.promised/n), fmt.Sprintf("%.2f", t.realised/n), fmt.Sprintf("%.2f", t.explained/n), fmt.Sprintf("%.0f %%", 100*t.within/n)}
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
