package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"yardstick/bench/record"
	"yardstick/internal/latex"
)

// sheet is a table as text, for the formats that people read.
type sheet struct {
	title   string
	columns []heading
	rows    [][]string
	note    string // what was left out
	label   string // of its float in a paper
	fixed   int    // leading columns to repeat where the others do not fit beside each other; 0 for none
}

// heading is a column's title and how it may be shown.
type heading struct {
	name string
	left bool // aligned to the left; numbers are not
	drop int  // columns with a greater drop go first where there is too little room; 0 stays
	wrap int  // width at which the text may be broken; 0 never
	hard int  // the same where all that may be missed at little loss is gone already
}

// legend says how to read the sheets, if there are any.
func (r *Report) legend() string {
	var parts []string
	if len(r.Groups) > 0 {
		parts = append(parts, r.ratioLegend())
	}
	if len(r.Placements) > 0 {
		parts = append(parts, placementLegend)
	}
	return strings.Join(parts, " ")
}

func (r *Report) ratioLegend() string {
	text := "Ratio: cost over the denominator named, rounded up, so that 1.000 is optimal; ≤: the denominator is a lower bound, so the true ratio " +
		"is at most this; a–b: it is at least a, as some verified schedule that shows what the class can reach is so much cheaper, and at most b. Per instance, = is the proven optimum and ≥ the best proven lower bound, with what proved it; certified: by a " +
		"certificate checked in exact arithmetic. k/N: over k of N instances. Percentiles are nearest-rank; decision p50 is the median over " +
		"instances of the median time."
	if slices.ContainsFunc(r.Groups, func(g Group) bool {
		return slices.ContainsFunc(g.Methods, func(a Aggregate) bool { return a.Checkable > 0 })
	}) {
		text += " Checkable: with a proof in the folder proofs that anybody checks with Python alone."
	}
	if slices.ContainsFunc(r.Groups, func(g Group) bool {
		return slices.ContainsFunc(g.Methods, func(a Aggregate) bool { return a.Unseen.Valid })
	}) {
		text += " Of policies that predict, medians over instances: unseen, the share of jobs unlike any that was learnt, predicted as 0; error, the mean absolute error of the predictions over the mean length."
	}
	if slices.ContainsFunc(r.Groups, func(g Group) bool {
		return slices.ContainsFunc(g.Methods, func(a Aggregate) bool { return a.Promised.Valid })
	}) {
		text += " Of policies that predict how long to defer preemptions: by how much nearer to what should have been chosen than preempting at once a choice was predicted to be, and was."
	}
	for _, known := range [][2]string{{"public", " public: a program may know the instances by heart."}, {"fresh", " fresh: the instances were drawn for this run."}} {
		if slices.ContainsFunc(r.Groups, func(g Group) bool {
			return slices.ContainsFunc(g.Methods, func(a Aggregate) bool { return a.Known == known[0] })
		}) {
			text += known[1]
		}
	}
	if slices.ContainsFunc(r.Groups, func(g Group) bool { return g.Maximised }) {
		text += " Where more is better, the ratio is the denominator over the value, and ≤ marks an upper bound."
	}
	if slices.ContainsFunc(r.Groups, func(g Group) bool { return g.Load != nil }) {
		text += " Offered load: median and range over the instances that are no bursts, 1 being as much as the GPUs can do."
	}
	return text
}

func objectiveTitle(name string) string {
	switch name {
	case "total-completion":
		return "total completion time"
	case "weighted-completion":
		return "total weighted completion time"
	case "total-jct":
		return "total JCT"
	case "mean-jct":
		return "mean JCT"
	case "scheduled-weight":
		return "weight done by the deadline, maximised"
	}
	return name
}

// title says what the group's instances are.
func (g *Group) title() string {
	parts := []string{"suite " + g.Suite, g.Family}
	for _, p := range g.Params {
		parts = append(parts, p.Name+" = "+p.Value)
	}
	size := g.Jobs.count("job") + ", " + g.GPUs.count("GPU")
	if g.Servers != (Range{}) {
		size += " on " + g.Servers.count("server")
	}
	if g.Load != nil {
		size += ", offered load " + g.Load.String()
	}
	parts = append(parts, g.Model+" model", fmt.Sprintf("%s (%s)", Range{g.Instances, g.Instances}.count("instance"), size))
	if len(g.Classes) == 1 {
		parts = append(parts, "class "+g.Classes[0])
	}
	return strings.Join(append(parts, objectiveTitle(g.Objective)), " · ")
}

// label names a table of the group in a paper: "summary-small-total-jct".
func (g *Group) label(part string) string {
	words := []string{part, g.Family}
	for _, p := range g.Params {
		words = append(words, p.Value)
	}
	return latex.Label(append(words, g.Objective)...)
}

// count is "8 jobs", "1 job" or "3 to 8 jobs".
func (r Range) count(noun string) string {
	if r.Max != 1 {
		noun += "s"
	}
	n := thousands(strconv.Itoa(r.Max))
	if r.Min != r.Max {
		n = thousands(strconv.Itoa(r.Min)) + " to " + n
	}
	return n + " " + noun
}

// summarySheet is the table of a group's aggregates.
func (g *Group) summarySheet() sheet {
	sc := newScale(g)
	has := func(f func(*Aggregate) bool) bool {
		return slices.ContainsFunc(g.Methods, func(a Aggregate) bool { return f(&a) })
	}
	costColumn := heading{name: "mean cost (" + sc.unit + ")", drop: 6}
	if has(func(a *Aggregate) bool { return a.Denominator == None }) {
		costColumn.drop = 0 // all that there is
	}
	type column struct {
		heading
		shown bool
		text  func(*Aggregate) string
	}
	ratio := func(of func(*Aggregate) (least, most record.Opt[float64])) func(*Aggregate) string {
		return func(a *Aggregate) string {
			least, most := of(a)
			return rangeText(least, most, a.Denominator)
		}
	}
	type opt = record.Opt[float64]
	ratios := has(func(a *Aggregate) bool { return a.Worst.Valid })
	columns := []column{
		{heading{name: "method", left: true, wrap: 20, hard: 14}, true, func(a *Aggregate) string { return a.Method }},
		{heading{name: "class", left: true, drop: 1}, len(g.Classes) > 1, func(a *Aggregate) string { return a.Class }},
		{heading{name: "instances"}, true, func(a *Aggregate) string {
			return strings.TrimSpace(fmt.Sprintf("%s %d/%d", a.Known, a.Solved, a.Instances))
		}},
		{heading{name: "denominator", left: true, wrap: 24, hard: 16}, true, func(a *Aggregate) string { return a.denominatorText(g.Maximised) }},
		{heading{name: "geo mean"}, ratios, ratio(func(a *Aggregate) (least, most opt) { return a.GeoMeanLeast, a.GeoMean })},
		{heading{name: "median", drop: 4}, ratios, ratio(func(a *Aggregate) (least, most opt) { return a.MedianLeast, a.Median })},
		{heading{name: "p95", drop: 3}, ratios, ratio(func(a *Aggregate) (least, most opt) { return a.P95Least, a.P95 })},
		{heading{name: "worst"}, ratios, ratio(func(a *Aggregate) (least, most opt) { return a.WorstLeast, a.Worst })},
		{heading{name: "unseen", drop: 5}, has(func(a *Aggregate) bool { return a.Unseen.Valid }), func(a *Aggregate) string { return shareText(a.Unseen) }},
		{heading{name: "error", drop: 5}, has(func(a *Aggregate) bool { return a.PredictionError.Valid }), func(a *Aggregate) string { return shareText(a.PredictionError) }},
		{heading{name: "deferring, predicted", drop: 5}, has(func(a *Aggregate) bool { return a.Promised.Valid }), func(a *Aggregate) string { return gainText(a.Promised) }},
		{heading{name: "was", drop: 5}, has(func(a *Aggregate) bool { return a.Realised.Valid }), func(a *Aggregate) string { return gainText(a.Realised) }},
		{costColumn, true, func(a *Aggregate) string { return sc.text(a.MeanCost, 0) }},
		{heading{name: "theorem", left: true, wrap: 18, hard: 12, drop: 5}, has(func(a *Aggregate) bool { return len(a.Theorems) > 0 }), (*Aggregate).theoremText},
		{heading{name: "decision p50", drop: 5}, has(func(a *Aggregate) bool { return a.DecisionP50.Valid }), func(a *Aggregate) string { return durationText(a.DecisionP50) }},
	}
	s := sheet{title: g.title(), label: g.label("summary"), rows: make([][]string, len(g.Methods))}
	for _, c := range columns {
		if !c.shown {
			continue
		}
		s.columns = append(s.columns, c.heading)
		for i := range g.Methods {
			s.rows[i] = append(s.rows[i], c.text(&g.Methods[i]))
		}
	}
	return s
}

// gainText is a time that was gained, in seconds, missing where there is none.
func gainText(v record.Opt[float64]) string {
	if !v.Valid {
		return missing
	}
	return fmt.Sprintf("%+.2fs", v.V)
}

// shareText is a share in percent, missing where there is none.
func shareText(v record.Opt[float64]) string {
	if !v.Valid {
		return missing
	}
	return thousands(strconv.FormatFloat(100*v.V, 'f', 0, 64)) + " %"
}

// denominatorText is such as "lower bound 4/24 (srpt 3, lb0 1; certified)".
func (a *Aggregate) denominatorText(maximised bool) string {
	if a.Solved == 0 {
		return missing
	}
	text := fmt.Sprintf("%s %d/%d", a.Denominator.text(maximised), a.Count, a.Instances)
	if a.Denominator == None {
		return text
	}
	var names []string
	for _, p := range a.ProvenBy {
		name := p.Name
		if len(a.ProvenBy) > 1 {
			name += " " + strconv.Itoa(p.N)
		}
		names = append(names, name)
	}
	notes := strings.Join(names, ", ")
	switch {
	case a.Certified == a.Count:
		notes += "; certified"
	case a.Certified > 0:
		notes += fmt.Sprintf("; %d certified", a.Certified)
	case a.Denominator == Bound:
		notes += "; not certified"
	}
	switch {
	case a.Checkable == 0:
	case a.Checkable == a.Count:
		notes += ", checkable"
	default:
		notes += fmt.Sprintf(", %d checkable", a.Checkable)
	}
	return text + " (" + strings.TrimPrefix(notes, "; ") + ")"
}

func (k Kind) text(maximised bool) string {
	if k == Bound && maximised {
		return "upper bound"
	}
	return string(k)
}

func (a *Aggregate) theoremText() string {
	if len(a.Theorems) == 0 {
		return missing
	}
	var parts []string
	for _, t := range a.Theorems {
		text := fmt.Sprintf("%s holds %d", t.Name, t.Holds)
		if t.Violated > 0 {
			text = fmt.Sprintf("%s VIOLATED %d/%d", t.Name, t.Violated, t.Holds+t.Violated)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// detailSheet is the table of a group's instances: one row per instance and
// denominator, one column per method with its cost and ratio.
func (g *Group) detailSheet() sheet {
	sc := newScale(g)
	s := sheet{
		title:   fmt.Sprintf("%s · %s · per instance: cost (%s) and ratio", g.subtitle(), objectiveTitle(g.Objective), sc.unit),
		label:   g.label("instances"),
		columns: []heading{{name: "instance", left: true}, {name: "denominator"}, {name: "proven by", left: true}},
		fixed:   3,
	}
	column := map[string]int{}
	instances := newOrdered[string, []*Detail]()
	for i := range g.Details {
		d := &g.Details[i]
		if column[d.Method] == 0 {
			column[d.Method] = len(s.columns)
			s.columns = append(s.columns, heading{name: d.Method})
		}
		of := instances.at(d.Instance)
		*of = append(*of, d)
	}
	type denominator struct{ value, prover string }
	for _, details := range instances.values {
		lines := newOrdered[denominator, []string]()
		line := func(key denominator) []string {
			cells := lines.at(key)
			if *cells == nil {
				*cells = make([]string, len(s.columns))
				(*cells)[1], (*cells)[2] = key.value, key.prover
			}
			return *cells
		}
		for _, d := range *details {
			if d.Cost.Valid {
				line(denominator{d.valueText(sc, g.Maximised), d.proverText()})[column[d.Method]] = d.cell(sc)
			}
		}
		if len(lines.values) == 0 {
			line(denominator{missing, missing})
		}
		for _, d := range *details {
			if !d.Cost.Valid {
				(*lines.values[0])[column[d.Method]] = d.cell(sc)
			}
		}
		(*lines.values[0])[0] = (*details)[0].Instance
		for _, cells := range lines.values {
			s.rows = append(s.rows, *cells)
		}
	}
	return s
}

func (g *Group) subtitle() string {
	parts := []string{g.Family}
	for _, p := range g.Params {
		parts = append(parts, p.Name+" = "+p.Value)
	}
	return strings.Join(parts, " · ")
}

// proverText is what proved the denominator, such as "srpt, certified".
func (d *Detail) proverText() string {
	if d.Denominator == None {
		return missing
	}
	text := d.ProvenBy
	if d.Certified {
		text += ", certified"
	}
	if d.Checkable {
		text += ", checkable"
	}
	return cmp.Or(strings.TrimPrefix(text, ", "), missing)
}

// valueText is "= 12.5" for an optimum, "≥ 12.5" for a lower bound, which is
// rounded down, and "≤ 12.5" for an upper bound, which is rounded up.
func (d *Detail) valueText(sc scale, maximised bool) string {
	switch {
	case d.Denominator == None:
		return missing
	case d.Denominator == Optimum:
		return "= " + sc.text(d.DenominatorValue, 0)
	case maximised:
		return "≤ " + sc.text(d.DenominatorValue, +1)
	}
	return "≥ " + sc.text(d.DenominatorValue, -1)
}

// cell is a cost and a ratio, or why there is none.
func (d *Detail) cell(sc scale) string {
	if !d.Cost.Valid {
		return strings.ToLower(strings.ReplaceAll(d.Termination, "_", " "))
	}
	return fmt.Sprintf("%s %6s", sc.text(d.Cost, 0), rangeText(d.AtLeast, d.Ratio, d.Denominator))
}
