package report

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"yardstick/bench/record"
	"yardstick/bench/report/chart"
)

// Library is what the page of a library shows.
type Library struct {
	Facts   []string // at the top
	Columns []string // of the summary
	Summary [][]string
	Rows    []record.LibraryRow
}

// leastGap stands for no gap on a logarithmic axis, in percent: a figure shows optimal
// instances there.
const leastGap = 1e-4

const (
	libraryIntro = "The gap is what the best schedule known costs more than the best certified bound, as a share of the bound: optimal schedules have none. Every value follows from a file that was verified when this page was made."
	gapIntro     = "Instances with a schedule and a bound above 0. Optimal ones are at the foot, at 0.0001 %."
	beatIntro    = "Write one instance into a folder of yours, find a better schedule or bound, and submit it; what is verified and better is in the next table."
)

// WriteLibrary prints the page of a library: the gap against the size, the share of the
// instances that have at most a gap, and the table. It is one file, whole without its script.
func WriteLibrary(w io.Writer, l *Library) error {
	t, err := template.New("library").Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	p := blankPage("A library of scheduling instances", l.Facts)
	summary := &htmlTable{Caption: "Instances by model and number of jobs"}
	for i, name := range l.Columns {
		summary.Columns = append(summary.Columns, heading{name: strings.ReplaceAll(name, "_", " "), left: i < 2})
	}
	for _, row := range l.Summary {
		summary.Rows = append(summary.Rows, plainCells(row))
	}
	p.add("summary", "Summary", libraryIntro, []block{{Table: summary}})
	for _, f := range []struct {
		id, title, intro string
		plan             plan
	}{{"size", "Gap against size", gapIntro, l.sizes()}, {"profile", "Profile of the gaps", "Share of all instances whose gap is at most so much; those with one side never count.", l.profile()}} {
		var blocks []block
		if f.plan.picture != nil {
			drawn, err := f.plan.draw(chart.MaxPoints)
			if err != nil {
				return err
			}
			blocks = []block{{Figures: []*figure{drawn}}}
		}
		p.add(f.id, f.title, f.intro, blocks)
	}
	p.add("instances", "Instances", "In order of name; times are in seconds, times weight where weighted.", l.table())
	p.add("beat", "Beat one", beatIntro, []block{{List: []string{
		"bench library fetch NAME -o mine", "bench simulate mine/instance.json --policy sjf --schedule mine/better.json", "bench library submit mine --by \"Your name\"", "bench library show NAME"}}})
	return t.Execute(w, p)
}

// models lists the models of the rows.
func (l *Library) models() (list []string) {
	for i := range l.Rows {
		list = append(list, l.Rows[i].Model)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// sizes draws gaps against numbers of jobs.
func (l *Library) sizes() plan {
	f := chart.Figure{X: "jobs", Y: "gap (%)", LogX: true, LogY: true}
	p := plan{caption: "Gap between the best schedule and the best bound, against the number of jobs", file: "library-gaps.csv",
		columns: []heading{{name: "instance", left: true}, {name: "model", left: true}, {name: "jobs"}, {name: "gap (%)"}}}
	for _, model := range l.models() {
		line := chart.Line{Name: model, Style: chart.Points}
		for i := range l.Rows {
			r := &l.Rows[i]
			if r.Model != model || !r.Gap.Valid || r.Jobs == 0 {
				continue
			}
			line.X, line.Y = append(line.X, float64(r.Jobs)), append(line.Y, math.Max(100*r.Gap.V, leastGap))
			p.rows = append(p.rows, []string{r.Instance, model, fmt.Sprint(r.Jobs), short(100 * r.Gap.V)})
		}
		f.Lines = append(f.Lines, line)
	}
	p.alt = fmt.Sprintf("The gaps of %d instances, as points by model; the table below has them.", len(p.rows))
	if p.points = len(p.rows); p.points > 0 {
		p.picture = func(most int) chart.Drawing { f.MaxPoints = most; return &f }
	}
	return p
}

// profile draws which share of the instances has at most a gap.
func (l *Library) profile() plan {
	f := chart.Figure{X: "gap (%), at most", Y: "share of the instances", LogX: true, YRange: [2]float64{0, 1}}
	p := plan{caption: "Share of the instances whose gap is at most so much", file: "library-profile.csv",
		columns: []heading{{name: "model", left: true}, {name: "gap (%)"}, {name: "share"}}}
	for _, model := range l.models() {
		var gaps []float64
		all := 0
		for i := range l.Rows {
			if r := &l.Rows[i]; r.Model == model {
				all++
				if r.Gap.Valid {
					gaps = append(gaps, 100*r.Gap.V)
				}
			}
		}
		slices.Sort(gaps)
		line := chart.Line{Name: model, Style: chart.Steps}
		for i, gap := range gaps {
			if i+1 < len(gaps) && gaps[i+1] == gap {
				continue
			}
			share := float64(i+1) / float64(all)
			line.X, line.Y = append(line.X, math.Max(gap, leastGap)), append(line.Y, share)
			p.rows = append(p.rows, []string{model, short(gap), short(share)})
		}
		f.Lines = append(f.Lines, line)
	}
	p.alt = fmt.Sprintf("A step line for each of %d models; the table below has its steps.", len(f.Lines))
	if p.points = len(p.rows); p.points > 0 {
		p.picture = func(most int) chart.Drawing { f.MaxPoints = most; return &f }
	}
	return p
}

// table has a line for each instance.
func (l *Library) table() []block {
	t := &htmlTable{Caption: "What is known of each instance"}
	for i, name := range []string{"instance", "class", "objective", "jobs", "GPUs", "cost", "found by", "bound", "proven by", "gap", "status"} {
		t.Columns = append(t.Columns, heading{name: name, left: slices.Contains([]int{0, 1, 2, 6, 8, 10}, i)})
	}
	number := func(v record.Opt[float64]) string {
		if !v.Valid {
			return "–"
		}
		return short(v.V)
	}
	for i := range l.Rows {
		r := &l.Rows[i]
		gap, class := "–", "empty"
		if r.Gap.Valid {
			gap, class = fmt.Sprintf("%.3f %%", 100*r.Gap.V), ""
		}
		by := string(r.BoundBy)
		if r.Proof {
			by += ", for strangers"
		}
		status := cell{Text: r.Status, Class: map[string]string{"optimal": "good", "open": "bad", "partial": "empty"}[r.Status]}
		cells := plainCells([]string{r.Instance, r.Class, r.Objective, fmt.Sprint(r.Jobs), fmt.Sprint(r.GPUs), number(r.Cost), cmp.Or(string(r.ScheduleBy), "–"), number(r.Bound), cmp.Or(by, "–")})
		t.Rows = append(t.Rows, append(cells, cell{Text: gap, Class: class}, status))
	}
	return []block{{Table: t}}
}
