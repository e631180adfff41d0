package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"yardstick/bench/record"
	"yardstick/bench/report"
	"yardstick/bench/report/chart"
	"yardstick/internal/latex"
	"yardstick/internal/output"
)

// isPicture reports whether a format of bench report is one of figures.
func isPicture(format string) bool {
	for _, f := range chart.Formats() {
		if format == string(f) {
			return true
		}
	}
	return false
}

// writeFigures writes every figure of a report into a folder; of the formats for papers with
// figures.tex, which shows them all with their captions.
func (a *app) writeFigures(dir, out string, format chart.Format) error {
	if out == "" {
		return usageError("--format %s needs a directory to write to: -o DIR", format)
	}
	run, err := record.Open(dir)
	if err != nil {
		return usageError("%w", err)
	}
	pictures, err := report.Pictures(run, format)
	if err != nil {
		return err
	}
	if len(pictures) == 0 {
		return usageError("%s has no figures: no method has a ratio", dir)
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return usageError("%w", err)
	}
	var all strings.Builder
	for _, p := range pictures {
		path := filepath.Join(out, p.Name)
		if err := a.writeFile(path, func(w io.Writer) error { _, err := w.Write(p.Content); return err }); err != nil {
			return err
		}
		fmt.Fprintf(a.out, "%s: %s\n", path, output.Name(p.Caption))
		show := `\includegraphics[width=\linewidth]`
		if format == chart.PGF {
			show = `\input`
		}
		fmt.Fprintf(&all, "\\begin{figure}\n  \\centering\n  %s{%s}\n  \\caption{%s. %s}\n  \\label{fig:%s}\n\\end{figure}\n\n",
			show, p.Name, latex.Escape(p.Caption), latex.Escape(capital(p.Note)), strings.TrimSuffix(p.Name, filepath.Ext(p.Name)))
	}
	if format == chart.SVG {
		return nil
	}
	path := filepath.Join(out, "figures.tex")
	text := "% \\usepackage{graphicx,pgf}\n" + all.String()
	if err := a.writeFile(path, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s: %s with captions\n", path, output.Count(len(pictures), "figure"))
	return nil
}

// capital begins a text as a sentence does.
func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
