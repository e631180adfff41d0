// Package latextest typesets what is meant for papers, for tests.
package latextest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"yardstick/internal/schedtest"
)

// complaints are what TeX says of boxes that are too wide, floats beyond a page, characters
// that it lacks and labels that are given twice.
var complaints = regexp.MustCompile(`(?m)^(Overfull .*|LaTeX Warning: (Float too large|Label .* multiply).*|Missing character.*|!.*)$`)

// Complaints typesets a text in an article whose column has a width in points, and
// returns what TeX complains of. Files are put beside it. A test without pdflatex ends here.
func Complaints(t testing.TB, text string, width float64, files map[string][]byte) []string {
	t.Helper()
	program, err := exec.LookPath("pdflatex")
	if err != nil {
		schedtest.Missing(t, "pdflatex: internal/prepare.sh test installs it")
	}
	dir := t.TempDir()
	files = clone(files)
	files["paper.tex"] = fmt.Appendf(nil, `\documentclass{article}
\usepackage{booktabs,array,pgf,graphicx}
\extrafloats{500}\maxdeadcycles=1000\setlength{\textwidth}{%gpt}\setlength{\hsize}{\textwidth}
\begin{document}
%s
\end{document}
`, width, text)
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), program, "-interaction=nonstopmode", "-no-shell-escape", "paper.tex")
	c.Dir, c.Env = dir, append(os.Environ(), "max_print_line=1000", "HOME="+dir)
	out, err := c.CombinedOutput()
	found := complaints.FindAllString(string(out), -1)
	if err != nil && len(found) == 0 {
		found = append(found, fmt.Sprintf("%v: %s", err, out[max(0, len(out)-2000):]))
	}
	if err == nil && !strings.Contains(string(out), "Output written on paper.pdf") {
		found = append(found, "TeX made no page")
	}
	return found
}

func clone(files map[string][]byte) map[string][]byte {
	all := map[string][]byte{}
	for name, data := range files {
		all[name] = data
	}
	return all
}
