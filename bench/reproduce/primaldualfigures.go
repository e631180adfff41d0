package reproduce

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"yardstick/bench/record"
)

// errNoRows says that a run is not one of the suite.
var errNoRows = errors.New("reproduce: the records have no rows of the suite primal-dual")

func prefixed(prefixes ...string) func(string) bool {
	return func(family string) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(family, p) {
				return true
			}
		}
		return false
	}
}

// primalDualByJobs makes Figures 2 and 5.
func primalDualByJobs(ring string) func(context.Context, Input) (*Output, error) {
	return func(_ context.Context, in Input) (*Output, error) {
		return primalDualOnline(in, ring, prefixed("jobs-"), primalDualJobs, "jobs")
	}
}

// primalDualByServers makes Figures 3 and 6: 100 jobs.
func primalDualByServers(ring string) func(context.Context, Input) (*Output, error) {
	return func(_ context.Context, in Input) (*Output, error) {
		full := func(family string) bool { return family == "jobs-100" || strings.HasPrefix(family, "servers-") }
		return primalDualOnline(in, ring, full, primalDualServers, "servers")
	}
}

func primalDualOnline(in Input, ring string, families func(string) bool, x func(*record.Ratio) (float64, bool), axis string) (*Output, error) {
	var curves []primalDualCurve
	for _, p := range primalDualSchedulers() {
		s := primalDualSelect{families: families, ring: ring, method: p.method, x: x, y: primalDualCost}
		curves = append(curves, s.curve(in.Runs[0], p.name))
	}
	if len(curves[0].x) == 0 {
		return nil, errNoRows
	}
	const title = "Total weighted completion time, millions of weight × hours"
	out := &Output{Tables: []Table{primalDualTable(title+", mean of three trials, and over the best proven bound", axis, 2, true, curves)}}
	out.Figures = append(out.Figures, primalDualFigure(title, axis, "10^6 weight × hours", curves))
	out.Notes = append(primalDualAgainst(&curves[0], curves[1:]), primalDualTrend(&curves[0], axis)...)
	out.Orderings = slices.Concat(primalDualBelow(curves, axis), primalDualBest(curves), primalDualRising(&curves[0], axis))
	return out, nil
}

// primalDualAgainst compares A_online with the others, place by place.
func primalDualAgainst(own *primalDualCurve, others []primalDualCurve) []string {
	var notes []string
	for _, c := range others {
		least, most, n := 0.0, 0.0, 0
		for i, x := range own.x {
			other, ok := c.at(x)
			if !ok || other == 0 {
				continue
			}
			d := 100 * (own.mean[i]/other - 1)
			if n++; n == 1 {
				least, most = d, d
			}
			least, most = min(least, d), max(most, d)
		}
		if n > 0 {
			notes = append(notes, fmt.Sprintf("%s against %s: %+.0f to %+.0f %%", own.name, c.name, least, most))
		}
	}
	return notes
}

// primalDualFactor makes Figures 4 and 11 of the rows of a family.
func primalDualFactor(family string) func(context.Context, Input) (*Output, error) {
	return func(_ context.Context, in Input) (*Output, error) {
		method, value, title, unit := "primal-dual", primalDualCost, "Total weighted completion time, millions of weight × hours", "10^6 weight × hours"
		if family == "weight-factor" {
			method, value, title, unit = "a-maxweight", primalDualDone, "Weight done by the deadline, thousands", "10^3 weight"
		}
		var curves []primalDualCurve
		for _, a := range primalDualArchitectures() {
			c := primalDualCurve{name: a.name}
			for _, factor := range []float64{1, 100, 10_000, 1_000_000} {
				name := method
				if factor > 1 {
					name += "(factor=" + strconv.FormatFloat(factor, 'f', 0, 64) + ")"
				}
				s := primalDualSelect{families: func(f string) bool { return f == family }, ring: a.ring, method: name, y: value,
					x: func(*record.Ratio) (float64, bool) { return factor, true }}
				part := s.curve(in.Runs[0], "")
				c.class = part.class
				c.x, c.mean, c.ratio = append(c.x, part.x...), append(c.mean, part.mean...), append(c.ratio, part.ratio...)
			}
			curves = append(curves, c)
		}
		if len(curves[0].x) == 0 {
			return nil, errNoRows
		}
		out := &Output{Tables: []Table{primalDualTable(title+", mean of three trials, and over the best proven bound", "factor of F", 3, true, curves)}}
		f := primalDualFigure(title, "factor of F", unit, curves)
		f.LogX = true
		out.Figures = append(out.Figures, f)
		claim := primalDualRising
		if family == "weight-factor" {
			claim = primalDualFalling
		}
		for i := range curves {
			out.Notes = append(out.Notes, primalDualTrend(&curves[i], "F times")...)
			out.Orderings = append(out.Orderings, claim(&curves[i], "F times")...)
		}
		return out, nil
	}
}

type primalDualArchitecture struct{ name, ring string }

func primalDualArchitectures() []primalDualArchitecture {
	return []primalDualArchitecture{{"parameter servers", "false"}, {"Ring-AllReduce", "true"}}
}

// primalDualTypes makes Figure 9. The place 0 stands for all types.
func primalDualTypes(_ context.Context, in Input) (*Output, error) {
	out, curves, err := primalDualLimited(in, "type-", "worker type, 0: any", 0)
	if err != nil {
		return nil, err
	}
	for _, c := range curves {
		out.Orderings = append(out.Orderings, primalDualChoice(&c)...)
		any, ok := c.at(0)
		if !ok || len(c.x) < 2 {
			continue
		}
		best, worst := slices.Min(c.mean[1:]), slices.Max(c.mean[1:])
		out.Notes = append(out.Notes, fmt.Sprintf("%s: a single type costs %+.0f to %+.0f %% of what the choice of all costs", c.name, 100*(best/any-1), 100*(worst/any-1)))
	}
	return out, nil
}

// primalDualWorkers makes Figure 10. No job has more than 50 workers.
func primalDualWorkers(_ context.Context, in Input) (*Output, error) {
	out, curves, err := primalDualLimited(in, "workers-", "most workers of a job", 50)
	if err != nil {
		return nil, err
	}
	for i := range curves {
		out.Notes = append(out.Notes, primalDualTrend(&curves[i], "workers")...)
		out.Orderings = append(out.Orderings, primalDualFalling(&curves[i], "workers")...)
	}
	return out, nil
}

// primalDualLimited compares A_online on 100 jobs whose choices are limited, by
// the number at the end of the family's name, with the same jobs unlimited, at the
// place all.
func primalDualLimited(in Input, prefix, axis string, all float64) (*Output, []primalDualCurve, error) {
	place := func(r *record.Ratio) (float64, bool) {
		if r.Family == "jobs-100" {
			return all, true
		}
		n, err := strconv.ParseFloat(strings.TrimPrefix(r.Family, prefix), 64)
		return n, err == nil
	}
	families := func(f string) bool { return f == "jobs-100" || strings.HasPrefix(f, prefix) }
	var curves []primalDualCurve
	for _, a := range primalDualArchitectures() {
		s := primalDualSelect{families: families, ring: a.ring, method: "primal-dual", x: place, y: primalDualCost}
		curves = append(curves, s.curve(in.Runs[0], a.name))
	}
	if len(curves[0].x) == 0 {
		return nil, nil, errNoRows
	}
	const title = "Total weighted completion time of A_online, millions of weight × hours"
	out := &Output{Tables: []Table{primalDualTable(title+", mean of three trials, and over the best proven bound", axis, 2, true, curves)}}
	out.Figures = append(out.Figures, primalDualFigure(title, axis, "10^6 weight × hours", curves))
	return out, curves, nil
}

// primalDualTimes makes Figure 7.
func primalDualTimes(_ context.Context, in Input) (*Output, error) {
	var curves []primalDualCurve
	for _, a := range primalDualArchitectures() {
		for _, p := range primalDualSchedulers()[:2] {
			s := primalDualSelect{families: prefixed("jobs-"), ring: a.ring, method: p.method, x: primalDualJobs, y: primalDualCPU}
			curves = append(curves, s.curve(in.Runs[0], p.name+", "+a.name))
		}
	}
	if len(curves[0].x) == 0 {
		return nil, errNoRows
	}
	const title = "Processor time of a whole run, seconds"
	out := &Output{Tables: []Table{primalDualTable(title+", mean of three trials", "jobs", 2, false, curves)}}
	out.Figures = append(out.Figures, primalDualFigure(title, "jobs", "seconds", curves))
	most := 0.0
	for i, c := range curves {
		for _, v := range c.mean {
			most = max(most, v)
		}
		out.Orderings = append(out.Orderings, Ordering{c.name + ": below 120 s", slices.Max(c.mean), 120})
		out.Orderings = append(out.Orderings, primalDualRising(&curves[i], "jobs")...)
	}
	out.Notes = []string{fmt.Sprintf("at most %.1f s; the paper: less than 120 s", most)}
	return out, nil
}

// primalDualWeight makes Figure 8, a table per architecture.
func primalDualWeight(_ context.Context, in Input) (*Output, error) {
	out := &Output{}
	for _, a := range primalDualArchitectures() {
		var curves []primalDualCurve
		for _, p := range primalDualWeighers() {
			s := primalDualSelect{families: prefixed("weight-jobs-"), ring: a.ring, method: p.method, x: primalDualJobs, y: primalDualDone}
			curves = append(curves, s.curve(in.Runs[0], p.name))
		}
		if len(curves[0].x) == 0 {
			return nil, errNoRows
		}
		title := "Weight done in 100 slots, thousands: " + a.name
		out.Tables = append(out.Tables, primalDualTable(title+", mean of three trials, and the best proven bound over it", "jobs", 1, true, curves))
		out.Figures = append(out.Figures, primalDualFigure(title, "jobs", "10^3 weight", curves))
		for _, note := range primalDualAgainst(&curves[0], curves[1:]) {
			out.Notes = append(out.Notes, a.name+": "+note)
		}
		for i, x := range curves[0].x {
			if greedy, ok := curves[len(curves)-1].at(x); ok {
				out.Orderings = append(out.Orderings, Ordering{fmt.Sprintf("%s, jobs %g: more weight by A_maxweight than by density", a.name, x), greedy, curves[0].mean[i]})
			}
		}
	}
	return out, nil
}

// primalDualWeightByServers makes Figure 12.
func primalDualWeightByServers(_ context.Context, in Input) (*Output, error) {
	var curves []primalDualCurve
	for _, a := range primalDualArchitectures() {
		for _, j := range []struct {
			jobs     string
			families func(string) bool
		}{
			{"50 jobs", prefixed("weight-half-")},
			{"100 jobs", func(f string) bool { return f == "weight-jobs-100" || strings.HasPrefix(f, "weight-servers-") }},
		} {
			s := primalDualSelect{families: j.families, ring: a.ring, method: "a-maxweight", x: primalDualServers, y: primalDualDone}
			curves = append(curves, s.curve(in.Runs[0], a.name+", "+j.jobs))
		}
	}
	if len(curves[0].x) == 0 {
		return nil, errNoRows
	}
	const title = "Weight done in 100 slots, thousands"
	out := &Output{Tables: []Table{primalDualTable(title+", mean of three trials, and the best proven bound over it", "servers", 1, true, curves)}}
	out.Figures = append(out.Figures, primalDualFigure(title, "servers", "10^3 weight", curves))
	for i := range curves {
		out.Notes = append(out.Notes, primalDualTrend(&curves[i], "servers")...)
		out.Orderings = append(out.Orderings, primalDualFalling(&curves[i], "servers")...)
	}
	return out, nil
}
