package errata

import (
	"fmt"
	"slices"
	"strings"
)

// Papers returns the papers' short names, in the order of the page.
func Papers() []string { return []string{asrptPaper, primalDualPaper, lazerPaper, sharingPaper} }

// Table returns the errata, the remarks and the slips of a paper, a table each, as
// docs/errata.md has them.
func Table(paper string) string {
	var b strings.Builder
	row := func(cells ...string) {
		for _, c := range cells {
			fmt.Fprintf(&b, "| %s ", strings.ReplaceAll(c, "|", `\|`))
		}
		b.WriteString("|\n")
	}
	b.WriteString("### Errata\n\n| erratum | where | as printed | within | counterexample | instead |\n|---|---|---|---|---|---|\n")
	for _, e := range Errata() {
		if e.Paper == paper {
			row("`"+e.Name+"`", e.Where, e.quoted(), strings.Join(e.Scope, "; "), e.Finding, e.Correction)
		}
	}
	b.WriteString("\n### Remarks\n\n| remark | where | as printed | what is true | measured |\n|---|---|---|---|---|\n")
	for _, r := range Remarks() {
		if r.Paper == paper {
			row("`"+r.Name+"`", r.Where, r.quoted(), r.True, r.Finding)
		}
	}
	slips := slices.DeleteFunc(Slips(), func(s Slip) bool { return s.Paper != paper })
	if len(slips) > 0 {
		b.WriteString("\n### Slips\n\n| where | as printed | read |\n|---|---|---|\n")
	}
	for _, s := range slips {
		row(s.Where, s.quoted(), s.Read)
	}
	return b.String()
}

func (p *Passage) quoted() string { return "“" + p.Quote + "”" }
