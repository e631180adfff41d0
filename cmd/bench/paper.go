package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"yardstick/internal/latex"
)

// paper is what a listing needs beside its rows to be a table in one.
type paper struct {
	caption, label string
	width          float64         // in points
	names          map[string]bool // columns with names of methods
	drop           map[string]int  // what goes first where there is too little room
}

// points is the value of a flag for a width, such as 345pt or 12cm.
type points struct{ into *float64 }

func (p points) Set(text string) (err error) {
	*p.into, err = latex.ParseWidth(text)
	return err
}

func (p points) String() string {
	if p.into == nil {
		return ""
	}
	return fmt.Sprintf("%gpt", *p.into)
}

func (p points) Type() string { return "string" }

// addWidth adds the flag for the width of tables in papers.
func addWidth(c *cobra.Command, into *float64) {
	*into = latex.Width
	c.Flags().Var(points{into}, "width", "width of LaTeX tables, in pt, mm, cm or in")
}

// latex prints the listing as floats of a paper.
func (l *listing) latex(w io.Writer) error {
	p := l.paper
	t := &latex.Table{Caption: p.caption + " " + madeBy(), Label: p.label}
	shown := l.shown()
	for _, k := range shown {
		name := l.columns[k]
		t.Columns = append(t.Columns, latex.Column{Name: strings.ReplaceAll(name, "_", " "), Left: !l.right[name], Drop: p.drop[name], Names: p.names[name]})
	}
	var names []string
	for _, row := range l.rows {
		cells := make([]string, len(shown))
		for i, k := range shown {
			if cells[i] = row[k]; p.names[l.columns[k]] {
				names = append(names, row[k])
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	t.Shorten(latex.Shorten(names))
	_, err := io.WriteString(w, latex.Preamble+t.Write(p.width))
	return err
}

// madeBy is the sentence of a caption on the program.
func madeBy() string {
	v := currentVersions()
	text := "Bench " + v.Bench
	if v.Revision != "" {
		text += fmt.Sprintf(" of commit %.12s", v.Revision)
	}
	return text + "; lp_solve " + v.LPSolve + "."
}
