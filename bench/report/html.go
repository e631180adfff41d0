package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"yardstick/bench/record"
)

//go:embed templates/report.html
var pageTemplate string

//go:embed templates/report.css
var pageStyle string

//go:embed templates/report.js
var pageScript string

// page is what the HTML template prints. It refers to nothing outside itself, and is all
// there without its script, which alone the content security policy lets run.
type page struct {
	Title       string
	Style       template.CSS
	Script      template.JS
	ScriptHash  string // of the policy
	Facts       []string
	Alert       []string // contradictions
	Verdicts    *htmlTable
	VerdictNote string // "" for a page without verdicts
	Sections    []section
	Data        any // for programs: the report without its rows; nil for none
}

// section is a chapter of the page; one without blocks says in Intro why.
type section struct {
	ID, Title, Intro string
	More             string // folded, below the introduction
	Blocks           []block
}

// block is a table, several beside each other, figures beside each other or a list.
type block struct {
	Table   *htmlTable
	Tables  []*htmlTable
	Figures []*figure
	Wide    bool // the figures are wide ones
	List    []string
}

// htmlTable is a table with a caption, different from those of all others; the first cell
// of each row names it.
type htmlTable struct {
	ID       string // to link to; "" for none
	Caption  string
	Columns  []heading
	Rows     [][]cell
	Links    []string        // of the first cells: ids of this page; none if empty
	Bars     []template.HTML // one for each row, in a column of their own; none if empty
	BarAfter int             // the column before that of the bars
	Scale    string          // their axis
	Note     string          // what was left out
}

// Left reports whether a column of text is aligned to the left.
func (h heading) Left() bool { return h.left }

// Name is the column's title.
func (h heading) Name() string { return h.name }

type cell struct {
	Text  string
	Class string // of style: good, bad or empty
}

// figure is a picture with its text alternative and the rows behind it.
type figure struct {
	Caption string
	SVG     template.HTML
	Note    string
	Rows    htmlTable    // the first of them
	File    string       // name to download all of them under
	CSV     template.URL // all of them
}

const (
	mostTableRows   = 2000 // of the ratio tables together
	mostFigureRows  = 40   // shown below a figure; the rest is in its file
	mostListed      = 200  // lines of a list
	mostFigured     = 12   // groups that have figures
	pointsPerReport = 14000
)

// writeHTML prints the whole report as one HTML document.
func writeHTML(w io.Writer, run *record.Run) error {
	t, err := template.New("report").Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	p, err := newPage(run)
	if err != nil {
		return err
	}
	return t.Execute(w, p)
}

// blankPage is a page without sections.
func blankPage(title string, facts []string) *page {
	hash := sha256.Sum256([]byte(pageScript))
	return &page{Title: title, Facts: facts, Style: template.CSS(pageStyle), Script: template.JS(pageScript),
		ScriptHash: "'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"}
}

// First is the id of the first section.
func (p *page) First() string {
	if p.VerdictNote != "" {
		return "best"
	}
	return p.Sections[0].ID
}

func newPage(run *record.Run) (*page, error) {
	r := New(run)
	v := newViews(run, r)
	p := blankPage(pageTitle(r), facts(run))
	p.Alert, p.Verdicts, p.VerdictNote = problemLines(r.Contradictions), v.verdictTable(), verdictNote
	p.add("ratios", "Ratios and their denominators", ratioIntro, v.ratioTables())
	p.Sections[0].More = r.legend()
	p.add("status", "Statuses and failures", "How every method ended on every instance. A method without a verified schedule counts as not solved.", v.statusTables())
	p.add("missing", "Missing and failed cells", "Per method and group: instances with a verified schedule, of all. Missing: there is no row, as the run was cut short; failed: the row says why there is no schedule.", v.matrix())
	p.add("theorems", "Theorem checks", theoremIntro, theoremBlocks(run.Theorems))
	figures := v.chapters()
	var all [][]plan
	for _, f := range figures {
		all = append(all, f.plans)
	}
	most := share(all, pointsPerReport)
	for _, f := range figures {
		var blocks []block
		for _, plan := range f.plans {
			if plan.picture != nil {
				drawn, err := plan.draw(most)
				if err != nil {
					return nil, err
				}
				if last := len(blocks) - 1; last < 0 || blocks[last].Figures == nil {
					blocks = append(blocks, block{Wide: plan.wide})
				}
				last := &blocks[len(blocks)-1]
				last.Figures = append(last.Figures, drawn)
			}
			blocks = append(blocks, plan.tables...)
		}
		p.add(f.id, f.title, f.intro+v.leftOut(), blocks)
	}
	p.add("bounds", "Bounds", "How close each bound comes to the best proven one, over the instances that both have.", boundBlocks(run.Bounds))
	p.add("solves", "Solves", solveIntro, solveBlocks(run))
	if len(r.Placements) > 0 {
		p.add("placements", "Placements", placementLegend, v.placements())
	}
	p.add("run", "The run", "", runBlocks(run))
	p.Data = data(r)
	return p, nil
}

const (
	verdictNote = "Online policies, compared by the geometric means of their costs over the instances that all of them solved: + is by how much the next best one costs more. " +
		"The ratio is the best policy's cost over what is best possible, 1 for optimal schedules: one number where the optima are proven, a–b where a verified schedule shows that it is at least a and a bound that it is at most b, " +
		"≤ where there is a bound alone. Bars show the same on one axis."
	ratioIntro = "Cost over what is best possible, rounded up: 1.000 is optimal. A bar reaches from the least that the geometric mean can be to the most, pale where nothing is known of the least; " +
		"a mark is exact, as the optima are proven."
)

// chapter is a section of figures.
type chapter struct {
	id, title, intro string
	plans            []plan
}

// chapters are all figures of the report.
func (v *views) chapters() []chapter {
	return []chapter{
		{"profiles", "Performance profiles", profileIntro, v.profiles()},
		{"distributions", "Ratios per policy", boxIntro, v.distributions()},
		{"load", "Ratio against load", loadIntro, v.loads()},
		{"jct", "Job completion times", jctIntro, v.completions()},
		{"explained", "Where the difference comes from", differenceIntro, v.differences()},
		{"convergence", "Bound and incumbent over time", eventIntro, convergences(v.run)},
	}
}

func (p *page) add(id, title, intro string, blocks []block) {
	if len(blocks) == 0 {
		intro = "The result directory has no rows for this section."
	}
	p.Sections = append(p.Sections, section{ID: id, Title: title, Intro: intro, Blocks: blocks})
}

func pageTitle(r *Report) string {
	var suites []string
	for i := range r.Groups {
		if s := r.Groups[i].Suite; len(suites) == 0 || suites[len(suites)-1] != s {
			suites = append(suites, s)
		}
	}
	if len(suites) == 0 {
		return "Yardstick report"
	}
	return "Yardstick report: " + shorten(strings.Join(suites, ", "), 60)
}

// facts say what the page is of, in one line.
func facts(run *record.Run) []string {
	e := &run.Manifest.Execution
	list := []string{run.Manifest.Created.UTC().Format("2 January 2006, 15:04 UTC")}
	if e.Cells > 0 {
		text := fmt.Sprintf("%s, %d failed", Range{e.Cells, e.Cells}.count("cell"), e.Failed)
		if e.Skipped > 0 {
			text += fmt.Sprintf(", %d not run", e.Skipped)
		}
		list = append(list, text)
	}
	if e.Workers > 0 {
		list = append(list, wallText(e.Wall)+" on "+Range{e.Workers, e.Workers}.count("worker"))
	}
	return append(list, fmt.Sprintf("%s of %s", Range{len(run.Ratios), len(run.Ratios)}.count("ratio"), Range{len(run.Jobs), len(run.Jobs)}.count("job")))
}

// data is what programs may read from the page: aggregates, no rows.
func data(r *Report) any {
	type groups struct {
		Groups  []Group   `json:"groups"`
		Summary Summary   `json:"summary"`
		Wrong   []Problem `json:"contradictions,omitempty"`
	}
	d := groups{Summary: r.Summary, Wrong: r.Contradictions}
	rows := 0
	for _, g := range r.Groups {
		if rows += len(g.Methods); rows > mostTableRows/4 {
			break
		}
		g.Details = nil
		d.Groups = append(d.Groups, g)
	}
	return d
}
