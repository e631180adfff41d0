package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"yardstick/bench/record"
)

//go:embed templates/report.html
var pageTemplate string

//go:embed templates/report.css
var pageStyle string

// page is what the HTML template prints. It has no script and refers to
// nothing outside itself.
type page struct {
	Title    string
	Style    template.CSS
	Facts    []fact
	Alert    []string // contradictions
	Sections []section
	Data     any // for programs: the report without its rows
}

type fact struct{ Name, Value string }

// section is a chapter of the page; one without blocks says in Intro why.
type section struct {
	ID, Title, Intro string
	Blocks           []block
}

// block is a table or a figure.
type block struct {
	Table  *htmlTable
	Figure *figure
	List   []string
}

// htmlTable is a table with a caption; the first cell of each row names it.
type htmlTable struct {
	Caption string
	Columns []heading
	Rows    [][]cell
	Note    string // what was left out
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

func newPage(run *record.Run) (*page, error) {
	r := New(run)
	v := newViews(run, r)
	p := &page{Title: pageTitle(r), Style: template.CSS(pageStyle), Facts: facts(run), Alert: problemLines(r.Contradictions)}
	p.add("ratios", "Ratios and their denominators", r.legend(), v.ratioTables())
	p.add("status", "Statuses and failures", "How every method ended on every instance. A method without a verified schedule counts as not solved.", v.statusTables())
	p.add("missing", "Missing and failed cells", "Per method and group: instances with a verified schedule, of all. Missing: there is no row, as the run was cut short; failed: the row says why there is no schedule.", v.matrix())
	p.add("theorems", "Theorem checks", theoremIntro, theoremBlocks(run.Theorems))
	figures := []struct {
		id, title, intro string
		plans            []plan
	}{
		{"profiles", "Performance profiles", profileIntro, v.profiles()},
		{"distributions", "Ratios per policy", boxIntro, v.distributions()},
		{"load", "Ratio against load", loadIntro, v.loads()},
		{"jct", "Job completion times", jctIntro, v.completions()},
		{"gantt", "Schedules beside the best", ganttIntro, v.gantts()},
		{"explained", "Where the difference comes from", explainIntro, v.explanations()},
		{"convergence", "Bound and incumbent over time", eventIntro, convergences(run)},
	}
	var all [][]plan
	for _, f := range figures {
		all = append(all, f.plans)
	}
	most := share(all, pointsPerReport)
	for _, f := range figures {
		var blocks []block
		for _, plan := range f.plans {
			if plan.svg != nil {
				drawn, err := plan.draw(most)
				if err != nil {
					return nil, err
				}
				blocks = append(blocks, block{Figure: drawn})
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

func (p *page) add(id, title, intro string, blocks []block) {
	if len(blocks) == 0 {
		intro = "The result directory has no rows for this section."
	}
	p.Sections = append(p.Sections, section{id, title, intro, blocks})
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

func facts(run *record.Run) []fact {
	m := &run.Manifest
	e := &m.Execution
	list := []fact{{"made", m.Created.UTC().Format(time.RFC3339)}}
	if e.Cells > 0 {
		list = append(list, fact{"cells", fmt.Sprintf("%s, %d failed, %d not run", thousands(fmt.Sprint(e.Cells)), e.Failed, e.Skipped)})
	}
	if e.Workers > 0 {
		list = append(list, fact{"time", wallText(e.Wall) + " on " + Range{e.Workers, e.Workers}.count("worker")})
	}
	return append(list, fact{"rows", thousands(fmt.Sprint(len(run.Ratios))) + " ratios, " + thousands(fmt.Sprint(len(run.Jobs))) + " jobs"},
		fact{"result digest", m.ResultDigest}, fact{"plan", m.PlanID})
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
