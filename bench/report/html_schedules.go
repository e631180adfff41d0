package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"yardstick/bench/record"
	"yardstick/bench/report/chart"
)

const (
	jctIntro = "Share of jobs whose job completion time (completion minus release) is at most x, over the instances on which every method of the " +
		"figure has a verified schedule."
)

// completions are the distributions of job completion times.
func (v *views) completions() []plan {
	var plans []plan
	for _, g := range v.figured {
		if p, ok := v.jct(g); ok {
			plans = append(plans, p)
		}
	}
	return plans
}

func (v *views) jct(g *view) (plan, bool) {
	names, methods := g.methods()
	kept := names[:0:0]
	var rows [][]*record.Ratio
	for i, of := range methods {
		if slices.ContainsFunc(of, func(r *record.Ratio) bool { return len(v.jobsOf(r)) > 0 }) {
			kept, rows = append(kept, names[i]), append(rows, of)
		}
	}
	count := map[string]int{} // methods with a schedule, by instance
	for _, of := range rows {
		for _, row := range of {
			if len(v.jobsOf(row)) > 0 {
				count[row.Instance]++
			}
		}
	}
	shared := 0
	for _, n := range count {
		if n == len(rows) {
			shared++
		}
	}
	if shared == 0 || len(rows) == 0 {
		return plan{}, false
	}
	p := plan{caption: "Job completion times · " + g.short, file: "jct-" + g.slug + ".csv",
		columns: []heading{{name: "method", left: true}, {name: "JCT at most (s)"}, {name: "share of jobs"}}}
	f := chart.Figure{X: "job completion time (log)", Y: "share of jobs", LogX: true, TimeX: true, YRange: [2]float64{0, 1}}
	jobs, latest := 0, 0.0
	for i, of := range rows {
		var times []float64
		zero := 0
		for _, row := range of {
			if count[row.Instance] < len(rows) {
				continue
			}
			for _, j := range v.jobsOf(row) {
				switch {
				case j.JCT.Valid && j.JCT.V > 0:
					times = append(times, j.JCT.V)
				case j.JCT.Valid:
					zero++ // left of any logarithmic axis
				}
			}
		}
		slices.Sort(times)
		l := chart.Line{Name: kept[i], Style: chart.Steps}
		p.points += len(times)
		most := min(len(times), chart.MaxPoints)
		for k := range most { // what is drawn at most: the rows behind are thinned further
			at := k * (len(times) - 1) / max(most-1, 1)
			share := float64(zero+at+1) / float64(zero+len(times))
			l.X, l.Y = append(l.X, times[at]), append(l.Y, share)
			p.rows = append(p.rows, []string{kept[i], short(times[at]), short(share)})
		}
		jobs = max(jobs, zero+len(times))
		if len(times) > 0 {
			latest = max(latest, times[len(times)-1])
		}
		if len(times) > 0 && i < 8 {
			p.alt += fmt.Sprintf("; %s median %s", kept[i], lengthText(percentile(times, 50).V))
		}
		f.Lines = append(f.Lines, l)
	}
	for i := range f.Lines { // all end together
		if l := &f.Lines[i]; len(l.X) > 0 {
			l.X, l.Y = append(l.X, latest), append(l.Y, 1)
		}
	}
	p.note = fmt.Sprintf("%s jobs on %d of %d instances, %d methods.", thousands(fmt.Sprint(jobs)), shared, g.Instances, len(kept))
	p.alt = fmt.Sprintf("Step lines of the job completion times of %d methods", len(kept)) + p.alt + "."
	p.points = min(p.points, chart.MaxPoints)
	p.picture = func(most int) chart.Drawing { f.MaxPoints = most; return &f }
	return p, true
}

// What a Gantt chart can show.
const (
	mostLanes  = 40
	mostPieces = 600
)

// gantt draws two schedules of one instance.
func (v *views) gantt(g *view, worst, best *record.Ratio) plan {
	d := detail(worst)
	over := "the best known"
	if d.Denominator == Optimum {
		over = "the proven optimum"
	}
	p := plan{caption: fmt.Sprintf("%s beside %s · %s, %s", spaced(worst.Method), over, worst.Instance, objectiveTitle(worst.Objective)), file: "gantt-" + g.slug + ".csv", wide: true,
		columns: []heading{{name: "schedule", left: true}, {name: "job"}, {name: "server"}, {name: "GPUs"}, {name: "phase", left: true}, {name: "start (s)"}, {name: "end (s)"}}}
	p.note = g.short
	if d.Denominator != None {
		p.note += "; ratio " + rangeText(d.AtLeast, d.Ratio, d.Denominator)
	}
	f := chart.Gantt{X: "time"}
	for _, row := range []*record.Ratio{worst, best} {
		name := row.Method
		if row == best {
			name = "best: " + row.Method
		}
		pieces := slices.Clone(v.piecesOf(row))
		panel := gantt(pieces, row.Servers.V, row.GPUs)
		panel.Name = fmt.Sprintf("%s, %s %s", name, objectiveTitle(row.Objective), costText(row))
		f.Panels = append(f.Panels, panel)
		for _, s := range pieces {
			p.rows = append(p.rows, []string{name, fmt.Sprint(s.Job), fmt.Sprint(s.Server), fmt.Sprint(s.GPUs), s.Phase, short(s.Start), short(s.End)})
		}
	}
	p.points = len(p.rows)
	p.alt = fmt.Sprintf("Two Gantt charts on one time axis: %s ends after %s, %s after %s.", f.Panels[0].Name, lengthText(f.Panels[0].End), f.Panels[1].Name, lengthText(f.Panels[1].End))
	p.picture = func(int) chart.Drawing { return &f }
	return p
}

// shown reports whether a chart can show a row's schedule.
func (v *views) shown(row *record.Ratio) bool {
	n := len(v.piecesOf(row))
	return row.Cost.Valid && n > 0 && n <= mostPieces && row.GPUs <= mostLanes
}

func costText(row *record.Ratio) string {
	switch {
	case row.Objective == "scheduled-weight":
		return thousands(directed(row.Cost.V, 0, 0))
	case strings.HasPrefix(row.Objective, "weighted-"):
		return thousands(directed(row.Cost.V, 0, 0)) + " s·weight"
	}
	return lengthText(row.Cost.V)
}

// lengthText is a time in a unit of which it has three or more: 502.7 d, 17 s.
func lengthText(seconds float64) string {
	for _, u := range []struct {
		name string
		per  float64
	}{{"d", 86400}, {"h", 3600}, {"min", 60}} {
		if seconds >= 3*u.per {
			return thousands(directed(seconds/u.per, 1, 0)) + " " + u.name
		}
	}
	return short(seconds) + " s"
}

// worstAndBest returns the row of the greatest ratio among the online methods
// whose schedule a chart can show, and a best one of the same instance.
func (v *views) worstAndBest(g *view) (worst, best *record.Ratio) {
	by := map[string]*record.Ratio{} // a best schedule, by instance; exact methods first
	for _, row := range g.rows {
		if !v.shown(row) || !row.RatioToBestKnown.Valid || row.RatioToBestKnown.V != 1 {
			continue
		}
		if old := by[row.Instance]; old == nil || old.Kind != "exact" && row.Kind == "exact" {
			by[row.Instance] = row
		}
	}
	of := func(row *record.Ratio) float64 {
		r, _, ok := provenRatio(row)
		if !ok {
			return row.RatioToBestKnown.V
		}
		return r
	}
	clear := false
	for _, row := range g.rows {
		b := by[row.Instance]
		if row.Kind != "online" || !v.shown(row) || b == nil || row.RatioToBestKnown.V <= 1 {
			continue
		}
		switch c := readable(v.piecesOf(row)); {
		case clear && !c:
		case worst == nil || c && !clear || of(row) > of(worst):
			worst, best, clear = row, b, c
		}
	}
	return worst, best
}

// readable reports whether at least half of the jobs take a hundredth of the
// schedule's length or more.
func readable(pieces []record.Segment) bool {
	length, end := map[int]float64{}, 0.0
	for i := range pieces {
		p := &pieces[i]
		length[p.Job] = max(length[p.Job], p.End-p.Start)
		end = max(end, p.End)
	}
	n := 0
	for _, l := range length {
		if l >= end/100 {
			n++
		}
	}
	return 2*n >= len(length)
}

// Gantt draws a schedule from its segments on a cluster, lanes being GPUs. Records do
// not say which GPU of a server a job holds: lanes are filled as they fit.
func Gantt(title string, segments []record.Segment, servers, gpus int) ([]byte, error) {
	panel := gantt(slices.Clone(segments), servers, gpus)
	panel.Name = title
	g := chart.Gantt{X: "time", Panels: []chart.Panel{panel}}
	return g.SVG()
}

// gantt lays the pieces of a schedule, which it sorts, into lanes of at least so
// many servers.
func gantt(pieces []record.Segment, least, gpus int) chart.Panel {
	slices.SortStableFunc(pieces, func(a, b record.Segment) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Server, b.Server))
	})
	servers, end := 0, 0.0
	for _, s := range pieces {
		servers, end = max(servers, s.Server+1), max(end, s.End)
	}
	servers = max(servers, least)
	each := max((gpus+servers-1)/servers, 1)
	for of := 1; ; of++ { // jobs per GPU
		panel := chart.Panel{End: end}
		for s := range servers {
			for k := range each {
				name := ""
				if k == 0 {
					name = fmt.Sprintf("server %d", s)
				}
				panel.Lanes = append(panel.Lanes, name)
			}
		}
		if fill(&panel, pieces, each, of) || of == 4 {
			return panel
		}
	}
}

// slot is a part of a lane.
type slot struct{ lane, part int }

// fill gives every piece lanes of its server, which up to of jobs may hold at
// a time, and reports whether they sufficed.
func fill(panel *chart.Panel, pieces []record.Segment, each, of int) bool {
	busy := map[slot]float64{} // until when
	type place struct{ job, server int }
	last := map[place][]slot{}
	enough := true
	for _, s := range pieces {
		at := place{s.Job, s.Server}
		taken := last[at] // where the job was before, if that is free
		if len(taken) != s.GPUs || slices.ContainsFunc(taken, func(o slot) bool { return busy[o] > s.Start }) {
			taken = freeSlots(busy, s, each, of)
		}
		if len(taken) < s.GPUs {
			enough = false
			continue
		}
		last[at] = taken
		for part := range of {
			bar := chart.Bar{Start: s.Start, End: s.End, Job: s.Job, Dim: s.Phase != "train", Part: part, Of: of}
			for _, o := range taken {
				if o.part == part {
					bar.Lanes = append(bar.Lanes, o.lane)
					busy[o] = s.End
				}
			}
			if bar.Lanes != nil {
				panel.Bars = append(panel.Bars, bar)
			}
		}
	}
	return enough
}

// freeSlots returns slots of different lanes of the piece's server that are
// free at its start, first parts first, as many as it needs if there are.
func freeSlots(busy map[slot]float64, s record.Segment, each, of int) []slot {
	var free []slot
	used := map[int]bool{}
	for part := range of {
		for lane := s.Server * each; lane < (s.Server+1)*each && len(free) < s.GPUs; lane++ {
			if o := (slot{lane, part}); !used[lane] && busy[o] <= s.Start {
				used[lane] = true
				free = append(free, o)
			}
		}
	}
	return free
}
