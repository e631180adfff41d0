package report

import (
	"fmt"
	"strings"
)

// markdown prints the report as GitHub-flavoured Markdown.
func (r *Report) markdown(o Options) string {
	var b strings.Builder
	for _, s := range r.sheets(o) {
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
