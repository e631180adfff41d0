package report

import (
	"fmt"
	"strings"

	"yardstick/bench/record"
	"yardstick/bench/report/chart"
)

// Picture is a figure of the report in a file of its own.
type Picture struct {
	Name          string // of the file
	Caption, Note string
	Content       []byte
}

// Pictures draws every figure of the HTML report of a run in a format, with as many points
// as a figure may have. Two of one run have the same bytes.
func Pictures(run *record.Run, format chart.Format) ([]Picture, error) {
	v := newViews(run, New(run))
	var list []Picture
	for _, c := range v.chapters() {
		for i := range c.plans {
			p := &c.plans[i]
			if p.picture == nil {
				continue
			}
			content, err := p.picture(chart.MaxPoints).Draw(format)
			if err != nil {
				return nil, fmt.Errorf("report: %s: %w", p.caption, err)
			}
			list = append(list, Picture{strings.TrimSuffix(p.file, ".csv") + "." + string(format), p.caption, p.note, content})
		}
	}
	return list, nil
}
