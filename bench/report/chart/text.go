package chart

import (
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// texts finds the texts of an SVG document as gonum writes it: position, style
// with size, content.
var texts = regexp.MustCompile(`<text (x="[^"]*" y="[^"]*" transform="[^"]*")\s+style="font-family:Liberation Sans;font-variant:normal;font-weight:normal;font-style:normal;font-size:([0-9.]+)px([^"]*)">([^<]*)</text>`)

// anyFont lets each text keep the width that it was laid out with, whatever
// font a reader has in place of Liberation Sans.
func anyFont(svg []byte, handler text.Handler) []byte {
	return texts.ReplaceAllFunc(svg, func(match []byte) []byte {
		part := texts.FindSubmatch(match)
		size, err := strconv.ParseFloat(string(part[2]), 64)
		if err != nil {
			return match
		}
		style := draw.TextStyle{Font: sans(vg.Length(size)), Handler: handler}
		width := style.Width(html.UnescapeString(string(part[4])))
		return fmt.Appendf(nil, `<text %s textLength="%.1f" lengthAdjust="spacingAndGlyphs" style="font-family:Liberation Sans,Arial,Helvetica,sans-serif;font-size:%spx%s">%s</text>`,
			part[1], width.Points(), part[2], part[3], part[4])
	})
}

// broken breaks a text into lines of at most a width, between words.
func broken(line string, style text.Style, w vg.Length) string {
	out, width := "", vg.Length(0)
	for _, word := range strings.Fields(line) {
		more := style.Width(" " + word)
		switch {
		case out == "":
			out, width = word, more
		case width+more > w:
			out, width = out+"\n"+word, more
		default:
			out, width = out+" "+word, width+more
		}
	}
	return out
}
