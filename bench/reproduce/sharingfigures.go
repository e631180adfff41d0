package reproduce

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"yardstick/bench/record"
	"yardstick/bench/report/chart"
	"yardstick/sched"
)

func sharingFig4(_ context.Context, in Input) (*Output, error) {
	return sharingDistribution(in.Runs[0], "Table II's jobs", "s", 1, []float64{300, 600, 1200, 2400})
}

func sharingFig5(_ context.Context, in Input) (*Output, error) {
	return sharingDistribution(in.Runs[0], "Table III's jobs", "h", 3600, []float64{500.0 / 3600, 0.75, 1.5, 3})
}

// sharingDistribution draws the distribution of JCT under every policy, all
// windows together, and lists how long the jobs of each task wait. A unit is so
// many seconds.
func sharingDistribution(run *record.Run, title, name string, unit float64, at []float64) (*Output, error) {
	cells, err := sharingMeasure(run, "jobs", nil)
	if err != nil {
		return nil, err
	}
	figure := chart.Figure{Title: "Distribution of JCT: " + title, X: "JCT (" + name + ")", Y: "share of jobs", LogX: true}
	table := Table{Title: "Share of jobs with a JCT of at most", Columns: []string{"policy"}}
	for _, x := range at {
		table.Columns = append(table.Columns, fmt.Sprintf("%.3g %s", x, name))
	}
	for _, p := range sharingPolicies() {
		var all []float64
		for _, c := range cells[p.method] {
			all = append(all, c.all...)
		}
		if len(all) == 0 {
			continue
		}
		slices.Sort(all)
		line := chart.Line{Name: p.name, Style: chart.Steps}
		const points = 400 // enough for the eye
		for k := range min(points, len(all)) {
			i := k * len(all) / min(points, len(all))
			line.X, line.Y = append(line.X, max(all[i]/unit, 1e-6)), append(line.Y, float64(i+1)/float64(len(all)))
		}
		figure.Lines = append(figure.Lines, line)
		row := []string{p.name}
		for _, x := range at {
			below, _ := slices.BinarySearch(all, x*unit)
			row = append(row, fmt.Sprintf("%.2f", float64(below)/float64(len(all))))
		}
		table.Rows = append(table.Rows, row)
	}
	return &Output{Tables: []Table{table, sharingWaits(cells, name, unit)}, Figures: []chart.Figure{figure}, Numbers: sharingTold(cells, name)}, nil
}

// sharingTold lays ours beside the numbers that the paper's text has of Figures 4 and 5: what
// jobs of BERT wait, the share of short jobs, and how long the shortest two fifths take.
func sharingTold(cells sharingCells, name string) []Number {
	all := map[string][]float64{}
	waits := map[string]float64{}
	share := func(list []float64, seconds float64) float64 {
		below, _ := slices.BinarySearch(list, math.Nextafter(seconds, math.Inf(1)))
		return 100 * float64(below) / float64(len(list))
	}
	for _, p := range sharingPolicies()[:6] {
		for _, c := range cells[p.method] {
			all[p.name] = append(all[p.name], c.all...)
		}
		slices.Sort(all[p.name])
		waits[p.name] = sharingOver(cells[p.method], func(c *sharingCell) (float64, bool) {
			if t := c.tasks["bert"]; t != nil {
				return t.wait, true
			}
			return 0, false
		}).mean
	}
	own := all["SJF-BSBF"]
	if name == "s" {
		return []Number{{"SJF-BSBF: queueing of BERT below that of Tiresias, %", "44", 100 * (1 - waits["SJF-BSBF"]/waits["Tiresias"])}}
	}
	shortest := func(list []float64) float64 { return average(list[:len(list)*2/5]) }
	return []Number{{"SJF-BSBF: jobs with a JCT below 500 s, %", "40", share(own, 500)}, {"SJF-BSBF: mean JCT of the shortest 40 % below that of Pollux, %", "37", 100 * (1 - shortest(own)/shortest(all["Pollux"]))}}
}

// sharingWaits lists the mean waiting time of the jobs of each task.
func sharingWaits(cells sharingCells, name string, unit float64) Table {
	var tasks []string
	for _, list := range cells {
		for _, c := range list {
			tasks = slices.AppendSeq(tasks, maps.Keys(c.tasks))
		}
	}
	slices.Sort(tasks)
	tasks = slices.Compact(tasks)
	table := Table{Title: "Average queueing time by task (" + name + ")", Columns: append([]string{"policy"}, tasks...)}
	for _, p := range sharingPolicies() {
		if len(cells[p.method]) == 0 {
			continue
		}
		row := []string{p.name}
		for _, task := range tasks {
			row = append(row, sharingOver(cells[p.method], func(c *sharingCell) (float64, bool) {
				t := c.tasks[task]
				if t == nil {
					return 0, false
				}
				return t.wait, true
			}).text(unit, 2))
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// sharingSweep is one of the two parts of Figure 6.
type sharingSweep struct {
	title, axis, key string
	fixed            map[string]string // of the other swept parameters
	policies         []sharingPolicy
}

func sharingFig6(_ context.Context, in Input) (*Output, error) {
	everywhere := sharingPolicy{"SJF-BSBF, Case 2 everywhere", "sjf-bsbf(condition=case-2-everywhere)"}
	all := sharingPolicies()
	out := &Output{}
	for i, s := range []sharingSweep{
		{"(a) load", "jobs in eight hours over 240", "sharing.rate", nil, all[:6]},
		{"(b) interference, GPUs of 24 GB", "xi", "sharing.xi", map[string]string{"gpuMemory": "24GB"}, append(slices.Clone(all), everywhere)},
		{"(b) interference, GPUs of 11 GB", "xi", "sharing.xi", map[string]string{"gpuMemory": "11GB"}, append(slices.Clone(all), everywhere)},
	} {
		if err := out.addSweep(in.Runs[min(i, 1)], &s); err != nil {
			return nil, err
		}
	}
	out.Numbers = sharingReductions(out.Figures)
	return out, nil
}

// sharingReductions are the least and the greatest reduction of the mean JCT against SJF-FFS in each
// chart of Figure 6(b), at ratios from 1.5 to 2.
func sharingReductions(figures []chart.Figure) []Number {
	var list []Number
	for _, f := range figures {
		var own, ffs *chart.Line
		for k := range f.Lines {
			switch f.Lines[k].Name {
			case "SJF-BSBF":
				own = &f.Lines[k]
			case "SJF-FFS":
				ffs = &f.Lines[k]
			}
		}
		if f.X != "xi" || own == nil || ffs == nil || !slices.Equal(own.X, ffs.X) {
			continue
		}
		least, most := math.Inf(1), math.Inf(-1)
		for k, x := range own.X {
			if x >= 1.5 {
				least, most = min(least, 100*(1-own.Y[k]/ffs.Y[k])), max(most, 100*(1-own.Y[k]/ffs.Y[k]))
			}
		}
		list = append(list, Number{f.Title + ": least reduction against SJF-FFS from 1.5 to 2, %", "8", least}, Number{f.Title + ": greatest reduction against SJF-FFS from 1.5 to 2, %", "13", most})
	}
	return list
}

// addSweep adds a chart and two tables of a sweep: average JCT, and total JCT over
// the best bound.
func (o *Output) addSweep(run *record.Run, s *sharingSweep) error {
	values, err := sharingValues(run, s.key)
	if err != nil {
		return err
	}
	figure := chart.Figure{Title: "Figure 6" + s.title, X: s.axis, Y: "average JCT (h)"}
	mean := Table{Title: "Average JCT in hours, Figure 6" + s.title, Columns: []string{"policy"}}
	ratio := Table{Title: "Total JCT over the best proven bound, Figure 6" + s.title, Columns: []string{"policy"}}
	for _, v := range values {
		mean.Columns, ratio.Columns = append(mean.Columns, v.text), append(ratio.Columns, v.text)
	}
	rows := map[string][2][]string{}
	for _, v := range values {
		params := map[string]string{s.key: v.text}
		for k, w := range s.fixed {
			params[k] = w
		}
		cells, err := sharingMeasure(run, "jobs", params)
		if err != nil {
			return err
		}
		for _, p := range s.policies {
			m := sharingOver(cells[p.method], sharingJCT)
			if m.n == 0 {
				continue
			}
			i := slices.IndexFunc(figure.Lines, func(l chart.Line) bool { return l.Name == p.name })
			if i < 0 {
				i = len(figure.Lines)
				figure.Lines = append(figure.Lines, chart.Line{Name: p.name})
			}
			l := &figure.Lines[i]
			l.X, l.Y = append(l.X, v.number), append(l.Y, m.mean/3600)
			r := rows[p.name]
			rows[p.name] = [2][]string{append(r[0], fmt.Sprintf("%.2f", m.mean/3600)), append(r[1], sharingOver(cells[p.method], sharingRatio(sched.TotalJCT)).upper())}
		}
	}
	for _, p := range s.policies {
		if r := rows[p.name]; len(r[0]) == len(values) {
			mean.Rows, ratio.Rows = append(mean.Rows, append([]string{p.name}, r[0]...)), append(ratio.Rows, append([]string{p.name}, r[1]...))
		}
	}
	if len(mean.Rows) > 0 {
		o.Tables, o.Figures = append(o.Tables, mean, ratio), append(o.Figures, figure)
	}
	return nil
}

// sharingValue is a value of a swept parameter.
type sharingValue struct {
	text   string
	number float64
}

// sharingValues lists the values of a swept parameter in ascending order.
func sharingValues(run *record.Run, key string) ([]sharingValue, error) {
	var list []sharingValue
	for i := range run.Ratios {
		text, ok := run.Ratios[i].Params[key]
		if !ok || slices.ContainsFunc(list, func(v sharingValue) bool { return v.text == text }) {
			continue
		}
		number, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("reproduce: %s: %w", key, err)
		}
		list = append(list, sharingValue{text, number})
	}
	slices.SortFunc(list, func(a, b sharingValue) int { return int(1e6 * (a.number - b.number)) })
	return list, nil
}
