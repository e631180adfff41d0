package report

import (
	"fmt"
	"strings"
)

// markdown prints the report as GitHub-flavoured Markdown.
func (r *Report) markdown(p Part) string {
	var b strings.Builder
	for _, s := range r.sheets(p) {
		t := s.writer(oneLine)
		fmt.Fprintf(&b, "### %s\n\n%s\n\n", s.title, t.RenderMarkdown())
	}
	list := func(title string, problems []Problem) {
		if len(problems) > 0 {
			fmt.Fprintf(&b, "%s\n\n", title)
			for _, line := range problemLines(problems) {
				fmt.Fprintf(&b, "- %s\n", line)
			}
			b.WriteString("\n")
		}
	}
	list(contradictionTitle, r.Contradictions)
	list(unsolvedTitle, r.Unsolved)
	list(unplacedTitle, r.Unplaced)
	if legend := r.legend(); legend != "" {
		b.WriteString(legend + "\n")
	}
	if line := r.Summary.line(); line != "" {
		b.WriteString("\n" + line + "\n")
	}
	return b.String()
}

// latex prints each table in the manner of the package booktabs.
func (r *Report) latex(p Part) string {
	var b strings.Builder
	b.WriteString("% needs \\usepackage{booktabs}\n")
	for _, s := range r.sheets(p) {
		var align strings.Builder
		var header []string
		for _, c := range s.columns {
			header = append(header, c.name)
			if c.left {
				align.WriteByte('l')
			} else {
				align.WriteByte('r')
			}
		}
		fmt.Fprintf(&b, "\n\\begin{table}\n\\centering\n\\caption{%s}\n\\begin{tabular}{%s}\n\\toprule\n%s\\midrule\n",
			escapeLaTeX(s.title), align.String(), latexRow(header))
		for _, row := range s.rows {
			b.WriteString(latexRow(row))
		}
		b.WriteString("\\bottomrule\n\\end{tabular}\n\\end{table}\n")
	}
	comment := func(lines ...string) {
		for _, line := range lines {
			b.WriteString("% " + line + "\n")
		}
	}
	b.WriteString("\n")
	if len(r.Contradictions) > 0 {
		comment(contradictionTitle)
		comment(problemLines(r.Contradictions)...)
	}
	if len(r.Unsolved) > 0 {
		comment(unsolvedTitle)
		comment(problemLines(r.Unsolved)...)
	}
	if len(r.Unplaced) > 0 {
		comment(unplacedTitle)
		comment(problemLines(r.Unplaced)...)
	}
	if legend := r.legend(); legend != "" {
		comment(legend)
	}
	if line := r.Summary.line(); line != "" {
		comment(line)
	}
	return b.String()
}

func latexRow(cells []string) string {
	escaped := make([]string, len(cells))
	for i, cell := range cells {
		escaped[i] = escapeLaTeX(oneLine(cell))
	}
	return strings.Join(escaped, " & ") + " \\\\\n"
}

func escapeLaTeX(s string) string {
	return strings.NewReplacer(`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`, "{", `\{`, "}", `\}`,
		"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "≤", `$\le$`, "≥", `$\ge$`, "·", `$\cdot$`, "×", `$\times$`, "µ", `$\mu$`, "–", "--").Replace(s)
}
