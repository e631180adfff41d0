package report

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"yardstick/bench/record"
	"yardstick/internal/output"
)

// Format is a way to print a report.
type Format string

// The formats.
const (
	Table    Format = "table" // for terminals
	Markdown Format = "md"
	LaTeX    Format = "latex" // tables for a column of a paper: see Options.Paper
	CSV      Format = "csv"   // one rectangle: see Options.Part
	JSON     Format = "json"  // the whole Report
	HTML     Format = "html"  // self-contained, with figures; needs the run: see Write
)

// Formats lists every format.
func Formats() []Format { return []Format{Table, Markdown, LaTeX, CSV, JSON, HTML} }

// ParseFormat returns the format of that name.
func ParseFormat(name string) (Format, error) {
	if f := Format(name); slices.Contains(Formats(), f) {
		return f, nil
	}
	return "", fmt.Errorf("report: format %q is unknown: %v are there", name, Formats())
}

// Part selects what is printed.
type Part string

// The parts of a report.
const (
	All       Part = ""          // CSV prints the summary alone
	Summaries Part = "summary"   // one row per method and denominator
	Instances Part = "instances" // one row per instance
)

// Options say how to print. The zero value prints all of it as a table without
// colours and without a limit in width.
type Options struct {
	Format Format // "" for Table
	Part   Part   // JSON prints all of it whatever Part says
	Width  int    // columns of the terminal, which Table fits; 0 for no limit
	Color  bool   // Table alone

	Paper   float64  // width of LaTeX tables in points; 0 for a column of the class article
	Columns []string // of Table, Markdown and LaTeX, in this order; none for all, or as many as fit
}

// Write prints the report of a run, in any format.
func Write(w io.Writer, run *record.Run, o Options) error {
	if o.Format == HTML {
		return writeHTML(w, run)
	}
	return New(run).Write(w, o)
}

// FileName is the name of the HTML report in a result directory.
const FileName = "report.html"

// WriteFile writes the HTML report of a run into its directory, as
// report.html, and returns its path.
func WriteFile(run *record.Run) (string, error) {
	path := filepath.Join(run.Dir, FileName)
	if err := output.Write(path, func(w io.Writer) error { return writeHTML(w, run) }); err != nil {
		return "", fmt.Errorf("report: %w", err)
	}
	return path, nil
}

// Write prints the report, in every format but HTML.
func (r *Report) Write(w io.Writer, o Options) error {
	if err := r.HaveColumns(o); err != nil {
		return err
	}
	var text string
	switch o.Format {
	case Table, "":
		text = r.table(o)
	case Markdown:
		text = r.markdown(o)
	case LaTeX:
		text = r.latex(o)
	case CSV:
		return r.csv(w, o.Part)
	case JSON:
		return r.json(w)
	case HTML:
		return fmt.Errorf("report: the HTML report needs the run: use Write")
	default:
		return fmt.Errorf("report: format %q is unknown: %v are there", o.Format, Formats())
	}
	_, err := io.WriteString(w, text)
	return err
}

// sheets returns the tables of the chosen part and columns, instances first, so that a
// terminal ends with the summaries.
func (r *Report) sheets(o Options) []sheet {
	var list []sheet
	if o.Part != Summaries {
		for i := range r.Groups {
			list = append(list, r.Groups[i].detailSheet())
		}
		for i := range r.Placements {
			list = append(list, r.Placements[i].detailSheet())
		}
	}
	if o.Part != Instances {
		for i := range r.Groups {
			list = append(list, r.Groups[i].summarySheet())
		}
		for i := range r.Placements {
			list = append(list, r.Placements[i].summarySheet())
		}
	}
	if len(o.Columns) > 0 {
		for i := range list {
			list[i] = list[i].choose(o.Columns)
		}
	}
	return list
}

// problemLines lists what went wrong, one line each.
func problemLines(list []Problem) []string {
	var lines []string
	for _, p := range list {
		where := p.First
		if p.Instances > 1 {
			noun := "instances"
			if p.Objective == "" {
				noun = "cases"
			}
			where = fmt.Sprintf("%d %s, first %s", p.Instances, noun, p.First)
		}
		if p.Objective != "" {
			where += " (" + objectiveTitle(p.Objective) + ")"
		}
		lines = append(lines, fmt.Sprintf("%s on %s: %s", p.Method, where, shorten(p.Reason, 200)))
	}
	return lines
}

const (
	contradictionTitle = "CONTRADICTION: a verified schedule beats a proven bound; one of the two is wrong:"
	unsolvedTitle      = "no verified schedule:"
	unplacedTitle      = "no placement:"
)

// line is "144 cells, 0 failed, 61 s on 2 workers · results/quick".
func (s Summary) line() string {
	var parts []string
	if s.Cells > 0 {
		parts = append(parts, Range{s.Cells, s.Cells}.count("cell"), fmt.Sprintf("%d failed", s.Failed))
	}
	if s.Skipped > 0 {
		parts = append(parts, fmt.Sprintf("%d not run", s.Skipped))
	}
	if s.Workers > 0 {
		parts = append(parts, wallText(s.Wall)+" on "+Range{s.Workers, s.Workers}.count("worker"))
	}
	line := strings.Join(parts, ", ")
	if s.Dir != "" {
		if line != "" {
			line += " · "
		}
		line += s.Dir
	}
	return line
}
