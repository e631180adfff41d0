package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"yardstick/bench/record"
)

// views are the groups of a run with the rows that they were made of.
type views struct {
	run     *record.Run
	report  *Report
	groups  []view
	figured []*view // those that have figures
	jobs    map[scheduleKey][]record.Job
	pieces  map[scheduleKey][]record.Segment
}

// view is one group of rows.
type view struct {
	*Group
	rows  []*record.Ratio
	short string // caption of its figures
	slug  string // part of file names
	n     int    // of the group
}

// scheduleKey names a schedule in jobs.arrow and segments.arrow.
type scheduleKey struct {
	cell     string
	schedule int
}

func newViews(run *record.Run, r *Report) *views {
	v := &views{run: run, report: r}
	for i, rows := range rowsByGroup(run) {
		g := &r.Groups[i]
		v.groups = append(v.groups, view{Group: g, rows: rows, short: g.subtitle() + " · " + objectiveTitle(g.Objective), slug: g.slug(i), n: i})
	}
	// The groups with the most rows have figures.
	order := make([]*view, len(v.groups))
	for i := range order {
		order[i] = &v.groups[i]
	}
	slices.SortStableFunc(order, func(a, b *view) int { return cmp.Compare(len(b.rows), len(a.rows)) })
	v.figured = order[:min(len(order), mostFigured)]
	slices.SortFunc(v.figured, func(a, b *view) int { return cmp.Compare(a.n, b.n) })
	wanted := map[scheduleKey]bool{}
	for _, g := range v.figured {
		for _, row := range g.rows {
			if row.Schedule.Valid {
				wanted[scheduleKey{row.CellID, row.Schedule.V}] = true
			}
		}
	}
	v.jobs = spans(run.Jobs, wanted, func(j *record.Job) scheduleKey { return scheduleKey{j.CellID, j.Schedule} })
	v.pieces = spans(run.Segments, wanted, func(s *record.Segment) scheduleKey { return scheduleKey{s.CellID, s.Schedule} })
	return v
}

// spans finds the rows of each wanted schedule. Rows of one schedule stand
// together, as they are written; where they do not, they are copied.
func spans[R any](rows []R, wanted map[scheduleKey]bool, key func(*R) scheduleKey) map[scheduleKey][]R {
	found := map[scheduleKey][]R{}
	for from := 0; from < len(rows); {
		k, to := key(&rows[from]), from+1
		for to < len(rows) && key(&rows[to]) == k {
			to++
		}
		if wanted[k] {
			if before, there := found[k]; there {
				found[k] = slices.Concat(before, rows[from:to])
			} else {
				found[k] = rows[from:to]
			}
		}
		from = to
	}
	return found
}

// slug is a file name's part that is unique by the number.
func (g *Group) slug(number int) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, shorten(g.Family, 30)+"-"+g.Objective)
	return fmt.Sprintf("%d-%s", number+1, name)
}

// leftOut says which groups have no figures.
func (v *views) leftOut() string {
	if len(v.figured) == len(v.groups) {
		return ""
	}
	return fmt.Sprintf(" Figures are drawn for the %d groups with the most rows, of %d.", len(v.figured), len(v.groups))
}

// methods lists the methods of a group with their rows, in order of
// appearance.
func (g *view) methods() (names []string, rows [][]*record.Ratio) {
	by := newOrdered[string, []*record.Ratio]()
	for _, row := range g.rows {
		of := by.at(row.Method)
		if *of == nil {
			names = append(names, row.Method)
		}
		*of = append(*of, row)
	}
	for _, of := range by.values {
		rows = append(rows, *of)
	}
	return names, rows
}

// provenRatio is the cost over the strongest proven denominator: the optimum
// where it is proven, else the best bound. It is never below the true ratio.
func provenRatio(row *record.Ratio) (float64, Kind, bool) {
	d := detail(row)
	return d.Ratio.V, d.Denominator, d.Ratio.Valid
}

// leastRatio is the least that the true ratio can be: the cost over that of the best
// schedule known, or the ratio itself where the optimum is proven.
func leastRatio(row *record.Ratio) float64 {
	d := detail(row)
	return max(1, d.AtLeast.V)
}

// denominators counts the instances by the best denominator that any row has.
func (g *view) denominators() string {
	best := map[string]Kind{}
	for _, row := range g.rows {
		_, kind, ok := provenRatio(row)
		if old := best[row.Instance]; ok && old != Optimum {
			best[row.Instance] = kind
		}
	}
	proven, bound := 0, 0
	for _, k := range best {
		if k == Optimum {
			proven++
		} else {
			bound++
		}
	}
	text := fmt.Sprintf("optimum proven on %d of %d", proven, g.Instances)
	if bound > 0 {
		text += fmt.Sprintf(", a bound alone on %d", bound)
	}
	if rest := g.Instances - proven - bound; rest > 0 {
		text += fmt.Sprintf(", nothing on %d", rest)
	}
	return text
}

// axis is the label of a ratio axis.
func (g *view) axis() string {
	if g.Maximised {
		return "proven bound / value (log)"
	}
	return "cost / proven optimum or bound (log)"
}

// ratioTables are the summary tables, as many as fit.
func (v *views) ratioTables() []block {
	var blocks []block
	rows := 0
	for i := range v.groups {
		g := v.groups[i].Group
		if rows += len(g.Methods); rows > mostTableRows && i > 0 {
			blocks = append(blocks, block{List: []string{fmt.Sprintf("%d of %d groups are shown: bench report --format csv prints all", i, len(v.groups))}})
			break
		}
		t := g.summarySheet().ratiosFirst().table()
		t.ID = v.groups[i].anchor()
		bars := make([]bracket, len(g.Methods))
		for k := range g.Methods {
			a := &g.Methods[k]
			bars[k] = newBracket(a.GeoMeanLeast, a.GeoMean, a.Denominator)
		}
		t.Bars, t.Scale = drawBrackets(bars)
		blocks = append(blocks, block{Table: t})
	}
	return blocks
}

// ratiosFirst has the columns of ratios before those that say what they are over, so that
// they stand beside their bars.
func (s sheet) ratiosFirst() sheet {
	var before, ratios, after []int // columns
	for i, c := range s.columns {
		switch c.name {
		case "method", "class":
			before = append(before, i)
		case "geo mean", "median", "p95", "worst":
			ratios = append(ratios, i)
		default:
			after = append(after, i)
		}
	}
	order := slices.Concat(before, ratios, after)
	out := sheet{title: s.title, note: s.note, label: s.label, rows: make([][]string, len(s.rows))}
	for _, i := range order {
		out.columns = append(out.columns, s.columns[i])
		for k, row := range s.rows {
			out.rows[k] = append(out.rows[k], row[i])
		}
	}
	return out
}

func (v *views) placements() []block {
	var blocks []block
	for i := range v.report.Placements {
		if i == mostTableRows/10 {
			blocks = append(blocks, block{List: []string{fmt.Sprintf("%d of %d families are shown", i, len(v.report.Placements))}})
			break
		}
		blocks = append(blocks, block{Table: v.report.Placements[i].summarySheet().table()})
	}
	if len(v.report.Unplaced) > 0 {
		blocks = append(blocks, list(problemLines(v.report.Unplaced)))
	}
	return blocks
}

// jobsOf returns the jobs of a row's schedule.
func (v *views) jobsOf(row *record.Ratio) []record.Job {
	if !row.Schedule.Valid {
		return nil
	}
	return v.jobs[scheduleKey{row.CellID, row.Schedule.V}]
}

func (v *views) piecesOf(row *record.Ratio) []record.Segment {
	if !row.Schedule.Valid {
		return nil
	}
	return v.pieces[scheduleKey{row.CellID, row.Schedule.V}]
}
