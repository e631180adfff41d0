package report

import (
	"fmt"
	"strconv"
	"strings"

	"yardstick/bench/record"
	"yardstick/internal/latex"
	"yardstick/internal/output"
)

// PlacementGroup holds the placements that are averaged: those of one family.
// A case is a job and the parts of servers that it must fill.
type PlacementGroup struct {
	Family         string            `json:"family"`
	Cases          int               `json:"cases"`
	Fragmentations int               `json:"fragmentations"` // cases whose parts were drawn
	GPUs           Range             `json:"gpus"`
	Replicas       string            `json:"replicas,omitempty"` // of each stage, if all jobs agree
	AlphaProven    int               `json:"alpha_proven"`       // cases with a proven least iteration time
	CutProven      int               `json:"cut_proven"`         // cases with a proven least cut
	Methods        []PlacementMethod `json:"methods"`
	Details        []PlacementDetail `json:"details"`
}

// PlacementMethod sums up one method. Means and greatest values are over the
// cases that it placed.
type PlacementMethod struct {
	Method    string              `json:"method"`
	Minimises string              `json:"minimises,omitempty"`
	Placed    int                 `json:"placed"`
	Proven    record.Opt[int]     `json:"proven"`  // cases that it proved by itself; missing if it minimises nothing
	Refuted   int                 `json:"refuted"` // cases in which its claim is wrong
	MeanAlpha record.Opt[float64] `json:"mean_alpha_s"`
	Alpha     Spread              `json:"alpha_ratio"`
	Cut       Spread              `json:"cut_ratio"`
	Gap       Spread              `json:"gap"`
	Wall      Spread              `json:"wall_s"`
}

// Spread is the arithmetic mean and the greatest of some numbers.
type Spread struct {
	Denominator Kind                `json:"denominator,omitempty"` // of ratios
	Mean        record.Opt[float64] `json:"mean"`
	Worst       record.Opt[float64] `json:"worst"`
	n           int
}

// add takes one more number, if there is one.
func (s *Spread) add(v record.Opt[float64]) {
	if !v.Valid {
		return
	}
	s.n++
	s.Mean = record.Some(s.Mean.V + (v.V-s.Mean.V)/float64(s.n))
	s.Worst = record.Some(max(s.Worst.V, v.V))
}

// PlacementDetail is one method on one case.
type PlacementDetail struct {
	Case        string              `json:"case"`
	Parts       string              `json:"parts"`
	Method      string              `json:"method"`
	Placement   string              `json:"placement,omitempty"`
	Alpha       record.Opt[float64] `json:"alpha_s"`
	AlphaRatio  record.Opt[float64] `json:"alpha_ratio"`
	Cut         record.Opt[float64] `json:"cut_bytes"`
	CutRatio    record.Opt[float64] `json:"cut_ratio"`
	Denominator Kind                `json:"alpha_denominator"`
	CutOver     Kind                `json:"cut_denominator"`
	Proven      record.Opt[bool]    `json:"proven"`
	Wall        record.Opt[float64] `json:"wall_s"`
	Termination string              `json:"termination"`
	Message     string              `json:"message,omitempty"`
}

func placementGroups(rows []record.Placement) []PlacementGroup {
	families := newOrdered[string, []*record.Placement]()
	for i := range rows {
		of := families.at(rows[i].Family)
		*of = append(*of, &rows[i])
	}
	var groups []PlacementGroup
	for _, rows := range families.values {
		groups = append(groups, newPlacementGroup(*rows))
	}
	return groups
}

// newPlacementGroup computes a group from its rows, of which there is at least
// one.
func newPlacementGroup(rows []*record.Placement) PlacementGroup {
	type key struct{ job, fragmentation int }
	g := PlacementGroup{Family: rows[0].Family, Replicas: rows[0].Replicas}
	cases := map[key]bool{}
	for _, row := range rows {
		k := key{row.Job, row.Fragmentation}
		if cases[k] {
			continue
		}
		cases[k] = true
		g.Cases++
		g.GPUs.add(row.GPUs, g.Cases == 1)
		if row.Replicas != g.Replicas {
			g.Replicas = ""
		}
		if row.Seed.Valid {
			g.Fragmentations++
		}
		if row.AlphaOptimum.Valid {
			g.AlphaProven++
		}
		if row.CutOptimum.Valid {
			g.CutProven++
		}
	}
	methods := newOrdered[string, PlacementMethod]()
	for _, row := range rows {
		d := PlacementDetail{Case: placementCase(row), Parts: row.Parts, Method: row.Method, Placement: string(row.Placement),
			Alpha: row.Alpha, Cut: row.Cut, Proven: row.Proven, Wall: row.Wall, Termination: row.Termination, Message: string(row.Message)}
		d.Denominator, d.AlphaRatio = placementRatio(row.AlphaRatioOptimum, row.AlphaRatioLowerBound)
		d.CutOver, d.CutRatio = placementRatio(row.CutRatioOptimum, row.CutRatioLowerBound)
		g.Details = append(g.Details, d)
		m := methods.at(row.Method)
		if m.Method == "" {
			*m = PlacementMethod{Method: row.Method, Minimises: string(row.Minimises)}
			m.Alpha.Denominator, m.Cut.Denominator = g.denominator(g.AlphaProven), g.denominator(g.CutProven)
		}
		m.add(row)
	}
	for _, m := range methods.values {
		g.Methods = append(g.Methods, *m)
	}
	return g
}

// denominator says what a group's ratios are over: optima if all are proven.
// Otherwise all ratios are over lower bounds, so that no mean mixes the two;
// where an optimum is proven, it is the lower bound.
func (g *PlacementGroup) denominator(proven int) Kind {
	if proven == g.Cases {
		return Optimum
	}
	return Bound
}

func placementRatio(optimum, bound record.Opt[float64]) (Kind, record.Opt[float64]) {
	switch {
	case optimum.Valid:
		return Optimum, optimum
	case bound.Valid:
		return Bound, bound
	}
	return None, record.Opt[float64]{}
}

// unplaced groups the rows without a placement by method and reason.
func unplaced(rows []record.Placement) []Problem {
	found := newOrdered[Problem, Problem]()
	for i := range rows {
		row := &rows[i]
		if row.Alpha.Valid {
			continue
		}
		reason := row.Termination
		if row.Message != "" {
			reason += ": " + oneLine(string(row.Message))
		}
		p := found.at(Problem{Family: row.Family, Method: row.Method, Reason: reason})
		if p.Instances == 0 {
			*p = Problem{Family: row.Family, Method: row.Method, Reason: reason, First: row.Family + ", " + placementCase(row)}
		}
		p.Instances++
	}
	var list []Problem
	for _, p := range found.values {
		list = append(list, *p)
	}
	return list
}

func (m *PlacementMethod) add(row *record.Placement) {
	m.Wall.add(row.Wall)
	if row.Proven.Valid {
		m.Proven.Valid = true
		if row.Proven.V {
			m.Proven.V++
		}
	}
	if row.Refuted.V {
		m.Refuted++
	}
	if !row.Alpha.Valid {
		return
	}
	m.Placed++
	m.MeanAlpha = record.Some(m.MeanAlpha.V + (row.Alpha.V-m.MeanAlpha.V)/float64(m.Placed))
	m.Alpha.add(row.AlphaRatioLowerBound) // over the optimum where that is proven
	m.Cut.add(row.CutRatioLowerBound)
	m.Gap.add(row.GapRel)
}

func placementCase(row *record.Placement) string {
	name := string(row.JobName)
	switch {
	case name == row.Family && row.Seed.Valid:
		return fmt.Sprintf("fragmentation %02d", row.Fragmentation)
	case name == "":
		name = "job " + strconv.Itoa(row.Job)
	}
	if row.Seed.Valid {
		name = fmt.Sprintf("%s, fragmentation %02d", name, row.Fragmentation)
	}
	return name
}

// title says what the cases are.
func (g *PlacementGroup) title() string {
	parts := []string{"placement", output.Name(g.Family), g.GPUs.count("GPU")}
	const most = 12 // stages to list
	switch n := strings.Count(g.Replicas, ",") + 1; {
	case g.Replicas == "":
	case n <= most:
		parts[2] += " in stages of " + g.Replicas
	default:
		parts[2] += fmt.Sprintf(" in %d stages", n)
	}
	if g.Fragmentations == g.Cases {
		parts = append(parts, Range{g.Cases, g.Cases}.count("fragmentation"))
	} else {
		parts = append(parts, Range{g.Cases, g.Cases}.count("case"))
	}
	return strings.Join(append(parts, fmt.Sprintf("optimum proven: alpha %d/%d, cut %d/%d", g.AlphaProven, g.Cases, g.CutProven, g.Cases)), " · ")
}

// placementLegend says how to read the sheets.
const placementLegend = "Alpha: time of one iteration; cut: bytes between servers per iteration. Ratios: over the least alpha or cut that the same parts allow, " +
	"rounded up, so that 1.000 is optimal; ≤: over a proven lower bound, as not every optimum is proven. Proven: cases in which the method's own bound " +
	"meets its placement; refuted: cases in which a solver claims a bound above a verified placement, or that there is none. Gap: of its own bound, over its value. Time: to find placement and bound; median of repeated runs where they are short."

// summarySheet is the table of a group's methods.
func (g *PlacementGroup) summarySheet() sheet {
	s := sheet{title: g.title(), label: latex.Label("placements", g.Family)}
	one := g.Cases == 1
	has := func(f func(*PlacementMethod) bool) bool {
		for i := range g.Methods {
			if f(&g.Methods[i]) {
				return true
			}
		}
		return false
	}
	gapText := func(v record.Opt[float64]) string {
		if !v.Valid {
			return missing
		}
		return directed(100*v.V, 3, +1) + " %"
	}
	type column struct {
		heading
		shown bool
		text  func(i int, m *PlacementMethod) string
	}
	columns := []column{
		{heading{name: "method", left: true}, true, func(_ int, m *PlacementMethod) string { return m.Method }},
		{heading{name: "placed"}, true, func(_ int, m *PlacementMethod) string { return fmt.Sprintf("%d/%d", m.Placed, g.Cases) }},
		{heading{name: "alpha (ms)"}, true, func(_ int, m *PlacementMethod) string {
			if !m.MeanAlpha.Valid {
				return missing
			}
			return thousands(directed(1e3*m.MeanAlpha.V, 3, 0))
		}},
		{heading{name: "alpha ratio"}, true, func(_ int, m *PlacementMethod) string { return ratioText(m.Alpha.Mean, m.Alpha.Denominator) }},
		{heading{name: "worst"}, !one, func(_ int, m *PlacementMethod) string { return ratioText(m.Alpha.Worst, m.Alpha.Denominator) }},
		{heading{name: "cut ratio"}, true, func(_ int, m *PlacementMethod) string { return ratioText(m.Cut.Mean, m.Cut.Denominator) }},
		{heading{name: "worst", drop: 2}, !one, func(_ int, m *PlacementMethod) string { return ratioText(m.Cut.Worst, m.Cut.Denominator) }},
		{heading{name: "minimises", left: true, drop: 4}, true, func(_ int, m *PlacementMethod) string {
			if m.Minimises == "" {
				return missing
			}
			return m.Minimises
		}},
		{heading{name: "proven"}, true, func(_ int, m *PlacementMethod) string {
			if !m.Proven.Valid {
				return missing
			}
			return fmt.Sprintf("%d/%d", m.Proven.V, g.Cases)
		}},
		{heading{name: "refuted"}, has(func(m *PlacementMethod) bool { return m.Refuted > 0 }), func(_ int, m *PlacementMethod) string {
			if m.Refuted == 0 {
				return missing
			}
			return fmt.Sprintf("%d/%d", m.Refuted, g.Cases)
		}},
		{heading{name: "gap, worst", drop: 3}, has(func(m *PlacementMethod) bool { return m.Gap.Worst.V > 0 }), func(_ int, m *PlacementMethod) string { return gapText(m.Gap.Worst) }},
		{heading{name: "time"}, true, func(_ int, m *PlacementMethod) string { return durationText(m.Wall.Mean) }},
		{heading{name: "worst", drop: 1}, !one, func(_ int, m *PlacementMethod) string { return durationText(m.Wall.Worst) }},
		{heading{name: "server:replicas of each stage", left: true, drop: 5}, one, func(i int, m *PlacementMethod) string {
			if p := g.Details[i].Placement; p != "" {
				return shorten(p, 100)
			}
			return shorten(strings.ToLower(g.Details[i].Termination+" "+g.Details[i].Message), 100)
		}},
	}
	s.rows = make([][]string, len(g.Methods))
	for _, c := range columns {
		if !c.shown {
			continue
		}
		s.columns = append(s.columns, c.heading)
		for i := range g.Methods {
			s.rows[i] = append(s.rows[i], c.text(i, &g.Methods[i]))
		}
	}
	return s
}

// detailSheet is the table of a group's cases: one row per case, one column per
// method with the iteration time and its ratio.
func (g *PlacementGroup) detailSheet() sheet {
	s := sheet{label: latex.Label("cases", g.Family), title: fmt.Sprintf("placement · %s · per case: alpha (ms) and ratio", output.Name(g.Family)),
		columns: []heading{{name: "case", left: true}, {name: "server:GPUs", left: true}}, fixed: 2}
	column := map[string]int{}
	for i := range g.Methods {
		column[g.Methods[i].Method] = len(s.columns)
		s.columns = append(s.columns, heading{name: g.Methods[i].Method})
	}
	rows := newOrdered[string, []string]()
	for i := range g.Details {
		d := &g.Details[i]
		cells := rows.at(d.Case + "\x00" + d.Parts)
		if *cells == nil {
			*cells = make([]string, len(s.columns))
			(*cells)[0], (*cells)[1] = d.Case, shorten(d.Parts, 60)
		}
		cell := strings.ToLower(strings.ReplaceAll(d.Termination, "_", " "))
		if d.Alpha.Valid {
			cell = fmt.Sprintf("%s %6s", thousands(directed(1e3*d.Alpha.V, 3, 0)), ratioText(d.AlphaRatio, d.Denominator))
		}
		(*cells)[column[d.Method]] = cell
	}
	for _, cells := range rows.values {
		s.rows = append(s.rows, *cells)
	}
	return s
}

// csvPlacements prints one row per method or, for the part Instances, one per
// case and method. Numbers are written in full, in seconds and bytes.
func (r *Report) csvPlacements(out *output.CSV, p Part) {
	if p == Instances {
		out.Write([]string{"family", "case", "parts", "method", "placement", "alpha_s", "alpha_denominator", "alpha_ratio", "cut_bytes",
			"cut_denominator", "cut_ratio", "proven", "wall_s", "termination", "message"})
		for i := range r.Placements {
			for _, d := range r.Placements[i].Details {
				proven := ""
				if d.Proven.Valid {
					proven = strconv.FormatBool(d.Proven.V)
				}
				out.Write([]string{r.Placements[i].Family, d.Case, d.Parts, d.Method, d.Placement, full(d.Alpha), string(d.Denominator), full(d.AlphaRatio),
					full(d.Cut), string(d.CutOver), full(d.CutRatio), proven, full(d.Wall), d.Termination, oneLine(d.Message)})
			}
		}
		return
	}
	out.Write([]string{"family", "cases", "method", "minimises", "placed", "proven", "refuted", "mean_alpha_s", "alpha_denominator", "alpha_ratio_mean",
		"alpha_ratio_worst", "cut_denominator", "cut_ratio_mean", "cut_ratio_worst", "gap_worst", "wall_mean_s", "wall_worst_s"})
	for i := range r.Placements {
		g := &r.Placements[i]
		for k := range g.Methods {
			m := &g.Methods[k]
			proven := ""
			if m.Proven.Valid {
				proven = strconv.Itoa(m.Proven.V)
			}
			out.Write([]string{g.Family, strconv.Itoa(g.Cases), m.Method, m.Minimises, strconv.Itoa(m.Placed), proven, strconv.Itoa(m.Refuted),
				full(m.MeanAlpha), string(m.Alpha.Denominator), full(m.Alpha.Mean), full(m.Alpha.Worst), string(m.Cut.Denominator), full(m.Cut.Mean),
				full(m.Cut.Worst), full(m.Gap.Worst), full(m.Wall.Mean), full(m.Wall.Worst)})
		}
	}
}
