package report

import (
	"fmt"
	"slices"
	"strings"

	"yardstick/bench/record"
	"yardstick/internal/latex"
	"yardstick/internal/strictjson"
)

// latex prints the tables for a paper, each as a float that fits a column of text.
func (r *Report) latex(o Options) string {
	var b strings.Builder
	b.WriteString(latex.Preamble)
	most := o.Paper
	if most == 0 {
		most = latex.Width
	}
	var names []string
	for i := range r.Groups {
		for k := range r.Groups[i].Methods {
			names = append(names, r.Groups[i].Methods[k].Method)
		}
	}
	short := latex.Shorten(names)
	labels := map[string]int{}
	for _, s := range r.sheets(o) {
		t := s.paper()
		title := strings.ReplaceAll(s.title, " · ", ", ")
		t.Caption = strings.ToUpper(title[:1]) + title[1:] + ". " + r.captionNote() + r.origin
		t.Label = s.label
		if labels[t.Label]++; labels[t.Label] > 1 {
			t.Label += fmt.Sprintf("-%d", labels[t.Label])
		}
		t.Shorten(short)
		b.WriteString(t.Write(most))
	}
	comment := func(lines ...string) {
		for _, line := range lines {
			b.WriteString("% " + oneLine(line) + "\n")
		}
	}
	b.WriteString("\n")
	for _, list := range []struct {
		title    string
		problems []Problem
	}{{contradictionTitle, r.Contradictions}, {unsolvedTitle, r.Unsolved}, {unplacedTitle, r.Unplaced}} {
		if len(list.problems) > 0 {
			comment(list.title)
			comment(problemLines(list.problems)...)
		}
	}
	for _, line := range []string{r.legend(), r.Summary.line()} {
		if line != "" {
			comment(line)
		}
	}
	return b.String()
}

// captionNote says what a ratio of a caption is.
func (r *Report) captionNote() string {
	if len(r.Groups) == 0 {
		return ""
	}
	return "Ratios to the proven optimum or, with ≤, to a proven bound. "
}

// paper is the sheet as a table for papers, without a caption.
func (s sheet) paper() *latex.Table {
	t := &latex.Table{Rows: make([][]string, len(s.rows)), Fixed: s.fixed}
	for i, c := range s.columns {
		t.Columns = append(t.Columns, latex.Column{Name: c.name, Left: c.left, Drop: c.drop, Names: c.name == "method", Head: s.fixed > 0 && i >= s.fixed})
	}
	for i, row := range s.rows {
		t.Rows[i] = slices.Clone(row)
	}
	if s.note != "" {
		t.Notes = []string{s.note}
	}
	return t
}

// origin says of which draw a run is and what made it.
func origin(m *record.Manifest) string {
	var suite map[string]any
	_ = strictjson.Unmarshal(m.Suite, &suite) // one that is not read has no seed to name
	var parts []string
	if seed, ok := suite["seed"]; ok {
		parts = append(parts, fmt.Sprint("seed ", seed))
	}
	var traces []string
	sources, _ := suite["instances"].([]any)
	for _, source := range sources {
		in, _ := source.(map[string]any)
		if _, knobs, ok := strings.Cut(fmt.Sprint(in["trace"]), "?"); ok {
			for _, knob := range strings.Split(knobs, "&") {
				if seed, ok := strings.CutPrefix(knob, "seed="); ok && !slices.Contains(traces, seed) {
					traces = append(traces, seed)
				}
			}
		}
	}
	if traces != nil {
		parts = append(parts, "traces of seed "+strings.Join(traces, ", "))
	}
	if m.Versions.Bench != "" {
		version := "bench " + m.Versions.Bench
		if m.Versions.Revision != "" {
			version += fmt.Sprintf(" of commit %.12s", m.Versions.Revision)
		}
		parts = append(parts, version)
	}
	if m.Versions.LPSolve != "" {
		parts = append(parts, "lp_solve "+m.Versions.LPSolve)
	}
	if parts == nil {
		return ""
	}
	text := strings.Join(parts, "; ") + "."
	return strings.ToUpper(text[:1]) + text[1:]
}

// title of a column without its unit, as users name it.
func (h heading) plain() string {
	name, _, _ := strings.Cut(h.name, " (")
	return name
}

// columnNames lists the columns that tables of the chosen part have.
func (r *Report) columnNames(p Part) (names []string) {
	for _, s := range r.sheets(Options{Part: p}) {
		for _, c := range s.columns {
			if !slices.Contains(names, c.plain()) {
				names = append(names, c.plain())
			}
		}
	}
	return names
}

// HaveColumns checks that some table has each column that was asked for.
func (r *Report) HaveColumns(o Options) error {
	if len(o.Columns) == 0 {
		return nil
	}
	if !slices.Contains([]Format{"", Table, Markdown, LaTeX}, o.Format) {
		return fmt.Errorf("report: the format %s has all columns: columns are chosen for table, md and latex", o.Format)
	}
	names := r.columnNames(o.Part)
	for _, c := range o.Columns {
		if !slices.Contains(names, c) {
			return fmt.Errorf("report: there is no column %q: %s are there", c, strings.Join(names, ", "))
		}
	}
	return nil
}

// choose returns the sheet with these columns alone, in their order, and all of them
// where there is room. A sheet that has none of them stays as it is.
func (s sheet) choose(names []string) sheet {
	out := sheet{title: s.title, label: s.label, rows: make([][]string, len(s.rows)), note: s.note}
	for _, name := range names {
		for i, c := range s.columns {
			if c.plain() != name {
				continue
			}
			c.drop = 0
			out.columns = append(out.columns, c)
			for k, row := range s.rows {
				out.rows[k] = append(out.rows[k], row[i])
			}
			if i < s.fixed {
				out.fixed++
			}
		}
	}
	if out.columns == nil {
		return s
	}
	return out
}

// Only keeps the methods that are named, each by its whole name or by the one before its
// parameters, in every group; groups without any of them go. It errs on a name that no
// group has.
func (r *Report) Only(methods []string) error {
	if len(methods) == 0 {
		return nil
	}
	had, known := map[string]bool{}, map[string]bool{}
	keep := func(name string) bool {
		before, _, _ := strings.Cut(name, "(")
		known[name] = true
		for _, m := range methods {
			if m == name || m == before {
				had[m] = true
				return true
			}
		}
		return false
	}
	var groups []Group
	for _, g := range r.Groups {
		g.Methods = slices.DeleteFunc(slices.Clone(g.Methods), func(a Aggregate) bool { return !keep(a.Method) })
		g.Details = slices.DeleteFunc(slices.Clone(g.Details), func(d Detail) bool { return !keep(d.Method) })
		if len(g.Methods) > 0 {
			groups = append(groups, g)
		}
	}
	for _, m := range methods {
		if !had[m] {
			var names []string
			for name := range known {
				names = append(names, name)
			}
			slices.Sort(names)
			return fmt.Errorf("report: the results have no method %q: %s are there", m, strings.Join(names, ", "))
		}
	}
	r.Groups = groups
	r.Unsolved = slices.DeleteFunc(r.Unsolved, func(p Problem) bool { return !keep(p.Method) })
	return nil
}
