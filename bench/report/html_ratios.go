package report

import (
	"fmt"
	"math"
	"slices"

	"yardstick/bench/report/chart"
)

const (
	profileIntro = "For each method, the share of all instances of the group on which its ratio to the strongest proven denominator is at most x. " +
		"A curve that ends below 1 has instances without a verified schedule or without a denominator. Where an optimum is not proven, the " +
		"denominator is a bound, and the curve a lower estimate. Groups of one instance have none. (Dolan and Moré, Benchmarking optimization software with performance profiles, 2002.)"
	boxIntro = "Ratios to the strongest proven denominator, one circle per instance below its box: quartiles and median (nearest rank), whiskers " +
		"to the least and the greatest. Where only a bound is proven, a pale line goes down to the least that the ratio can be; of a single instance the bar is this bracket. " +
		"n: instances with a ratio, of all; what is missing from n failed or has no denominator."
	loadIntro = "Offered load of an instance of n jobs: their rate, n − 1 over the time from the first release to the last, times the mean GPU time of " +
		"one alone on the fewest servers, over the number of GPUs. Bursts, which are released within less than the mean running time, have none and are left out."
)

// profiles are the performance profiles, one per group with ratios.
func (v *views) profiles() []plan {
	var plans []plan
	for _, g := range v.figured {
		if p, ok := g.profile(); ok && g.Instances > 1 { // of one, the table says it all
			plans = append(plans, p)
		}
	}
	return plans
}

func (g *view) profile() (plan, bool) {
	p := plan{caption: "Performance profile · " + g.short, file: "profile-" + g.slug + ".csv", note: g.denominators() + " instances.",
		columns: []heading{{name: "method", left: true}, {name: "ratio at most"}, {name: "share of instances"}}}
	names, methods := g.methods()
	f := chart.Figure{X: g.axis(), Y: "share of instances", LogX: true, YRange: [2]float64{0, 1}}
	greatest := 1.0
	within := ""
	for i, rows := range methods {
		var ratios []float64
		for _, row := range rows {
			if r, _, ok := provenRatio(row); ok && r > 0 {
				ratios = append(ratios, r)
			}
		}
		slices.Sort(ratios)
		l := chart.Line{Name: names[i], Style: chart.Steps, X: []float64{1}, Y: []float64{0}}
		for k, r := range ratios {
			if k+1 < len(ratios) && ratios[k+1] == r {
				continue
			}
			share := float64(k+1) / float64(g.Instances)
			l.X, l.Y = append(l.X, r), append(l.Y, share)
			p.rows = append(p.rows, []string{names[i], short(r), short(share)})
		}
		if len(ratios) > 0 {
			greatest = max(greatest, ratios[len(ratios)-1])
			if i < 8 {
				n, _ := slices.BinarySearch(ratios, math.Nextafter(1.1, 2))
				within += fmt.Sprintf("; %s %d of %d", names[i], n, g.Instances)
			}
		}
		f.Lines = append(f.Lines, l)
	}
	if len(p.rows) == 0 {
		return plan{}, false
	}
	for i := range f.Lines { // all end together
		l := &f.Lines[i]
		l.X, l.Y = append(l.X, greatest*1.02), append(l.Y, l.Y[len(l.Y)-1])
		p.points += len(l.X)
	}
	p.alt = fmt.Sprintf("Step lines of %d methods over %d instances. Ratio at most 1.1%s.", len(names), g.Instances, within)
	p.picture = func(most int) chart.Drawing { f.MaxPoints = most; return &f }
	return p, true
}

// short prints a number with six digits, for the data behind figures.
func short(v float64) string { return fmt.Sprintf("%.6g", v) }

// distributions are the boxes of ratios, one figure per group with ratios.
func (v *views) distributions() []plan {
	var plans []plan
	for _, g := range v.figured {
		p := plan{caption: "Ratios · " + g.short, file: "ratios-" + g.slug + ".csv", note: g.denominators() + " instances.",
			columns: []heading{{name: "instance", left: true}, {name: "method", left: true}, {name: "ratio"}, {name: "denominator", left: true}}}
		names, methods := g.methods()
		f := chart.Boxes{X: g.axis(), Log: true}
		for i, rows := range methods {
			d := chart.Distribution{}
			failed := 0
			for _, row := range rows {
				r, kind, ok := provenRatio(row)
				if !row.Cost.Valid {
					failed++
				}
				if ok && r > 0 {
					d.Values, d.Least = append(d.Values, r), append(d.Least, leastRatio(row))
					p.rows = append(p.rows, []string{row.Instance, row.Method, short(r), kind.text(g.Maximised)})
				}
			}
			d.Name = fmt.Sprintf("%s  n=%d/%d", names[i], len(d.Values), g.Instances)
			if failed > 0 {
				d.Name += fmt.Sprintf(", %d failed", failed)
			}
			f.Groups = append(f.Groups, d)
			if i < 8 {
				p.alt += fmt.Sprintf("; %s median %s", names[i], ratioText(percentile(slices.Sorted(slices.Values(d.Values)), 50), None))
			}
		}
		if len(p.rows) == 0 {
			continue
		}
		p.alt = fmt.Sprintf("Box plots of the ratios of %d methods over %d instances", len(names), g.Instances) + p.alt + "."
		p.points = len(p.rows)
		p.picture = func(most int) chart.Drawing { f.MaxPoints = most; return &f }
		plans = append(plans, p)
	}
	return plans
}

// loads are the ratios against the instances' offered load.
func (v *views) loads() []plan {
	var plans []plan
	for _, g := range v.figured {
		loads := map[string]float64{}
		for _, row := range g.rows {
			if row.OfferedLoad.Valid {
				loads[row.Instance] = row.OfferedLoad.V
			}
		}
		p := plan{caption: "Ratio against load · " + g.short, file: "load-" + g.slug + ".csv",
			note:    fmt.Sprintf("Load known of %d of %d instances; %s.", len(loads), g.Instances, g.denominators()),
			columns: []heading{{name: "instance", left: true}, {name: "method", left: true}, {name: "offered load"}, {name: "ratio"}}}
		names, methods := g.methods()
		f := chart.Figure{X: "offered load (log)", Y: "ratio (log)", LogX: true, LogY: true}
		seen := map[float64]bool{}
		for i, rows := range methods {
			l := chart.Line{Name: names[i], Style: chart.Points}
			for _, row := range rows {
				r, _, ok := provenRatio(row)
				load, known := loads[row.Instance]
				if ok && known && r > 0 {
					l.X, l.Y = append(l.X, load), append(l.Y, r)
					seen[load] = true
					p.rows = append(p.rows, []string{row.Instance, row.Method, short(load), short(r)})
				}
			}
			f.Lines = append(f.Lines, l)
		}
		if len(seen) < 2 {
			continue
		}
		p.points = 3 * len(p.rows) // a mark takes more room than a point of a line
		p.alt = fmt.Sprintf("Scatter plot of the ratios of %d methods against the offered load of %d instances.", len(names), len(loads))
		p.picture = func(most int) chart.Drawing { f.MaxPoints = max(most/3, 50); return &f }
		plans = append(plans, p)
	}
	return plans
}
