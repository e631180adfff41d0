package reproduce

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"yardstick/bench/record"
	"yardstick/bench/report/chart"
	"yardstick/sched"
)

// asrptSweep lays out Figures 6, 7 and 8, costs along a swept parameter: total JCT,
// which counts from the release of each job and is what the published numbers
// fit, and total completion time, which Theorem 1 is about. Every family has tables of
// its own.
func asrptSweep(param, axis string) func(context.Context, Input) (*Output, error) {
	return func(_ context.Context, in Input) (*Output, error) {
		out := &Output{Notes: asrptPublished(param)}
		families, of := asrptFamilies(in.Runs[0])
		for _, family := range families {
			for _, o := range []sched.Objective{sched.TotalJCT, sched.TotalCompletion} {
				s := &asrptSwept{family: family, param: param, objective: o, rows: asrptRows(of[family], o)}
				for _, r := range s.rows["a-srpt"] {
					if v := r.Params[param]; !slices.Contains(s.values, v) {
						s.values = append(s.values, v)
					}
				}
				if len(s.values) == 0 {
					return nil, errors.New("no schedule of a-srpt is in the results")
				}
				out.Tables = append(out.Tables, s.ratios())
				if o == sched.TotalJCT {
					less := s.less()
					out.Tables = append(out.Tables, less, s.told(), s.growth(in.Runs[0]))
					out.Figures = append(out.Figures, s.figure(axis))
					out.Notes = append(out.Notes, s.ours(&less))
					out.Orderings = append(out.Orderings, s.orderings()...)
					out.Numbers = append(out.Numbers, s.numbers()...)
				}
			}
		}
		return out, nil
	}
}

// asrptSwept is the rows of one family and objective along a parameter.
type asrptSwept struct {
	family, param string
	objective     sched.Objective
	rows          map[string][]record.Ratio
	values        []string
}

// methods are those that ran.
func (s *asrptSwept) methods() []asrptMethod {
	return s.ran(append(asrptVariants(), asrptBaselines()...))
}

func (s *asrptSwept) ran(list []asrptMethod) []asrptMethod {
	return slices.DeleteFunc(list, func(m asrptMethod) bool { return len(s.rows[m.method]) == 0 })
}

func (s *asrptSwept) table(title string) Table {
	return Table{Title: s.family + ": " + title, Columns: append([]string{"method"}, s.values...)}
}

func (s *asrptSwept) ratios() Table {
	t := s.table(s.objective.String() + " over the proven lower bound")
	for _, m := range s.methods() {
		row, ratios := []string{m.name}, asrptRatios(s.rows[m.method], s.param)
		for _, v := range s.values {
			row = append(row, "≤ "+number(ratios[v], 3))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// less is how much less the cost of A-SRPT is than those of the baselines.
func (s *asrptSwept) less() Table {
	t := s.table("how much less the " + s.objective.String() + " is than that of a baseline")
	for _, own := range s.ran(asrptVariants()) {
		costs := asrptCosts(s.rows[own.method], s.param)
		for _, m := range s.ran(asrptBaselines()) {
			row, theirs := []string{own.name + ", than " + m.name}, asrptCosts(s.rows[m.method], s.param)
			for _, v := range s.values {
				row = append(row, percent(1-costs[v]/theirs[v]))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// told is what the cluster is offered and what the policies are told.
func (s *asrptSwept) told() Table {
	t := s.table("offered load; jobs unlike any learnt from, and the mean error of predictions over the mean length")
	at := func(rows []record.Ratio, v string) []record.Ratio {
		return slices.DeleteFunc(slices.Clone(rows), func(r record.Ratio) bool { return r.Params[s.param] != v })
	}
	load := []string{"offered load"}
	for _, v := range s.values {
		rows := at(s.rows["a-srpt"], v)
		load = append(load, number(rows[0].OfferedLoad.V, 2))
	}
	t.Rows = append(t.Rows, load)
	shares, errors := []string{"unseen"}, []string{"error"}
	for _, v := range s.values {
		unseen, wrong := asrptTold(at(s.rows["a-srpt"], v))
		shares, errors = append(shares, unseen), append(errors, wrong)
	}
	t.Rows = append(t.Rows, shares, errors)
	return t
}

// orderings are, at every value, A-SRPT below the best of the baselines, the larger tau
// below the smaller, and SPJF, which the paper has last, above the other baselines.
func (s *asrptSwept) orderings() []Ordering {
	var list []Ordering
	add := func(claim, v string, lower, upper float64) {
		list = append(list, Ordering{fmt.Sprintf("%s, %s %s: %s", s.family, s.param, v, claim), lower, upper})
	}
	for _, v := range s.values {
		cost := func(method string) float64 { return asrptCosts(s.rows[method], s.param)[v] }
		best, second := math.Inf(1), 0.0
		for _, m := range s.ran(asrptBaselines()) {
			best = min(best, cost(m.method))
			if m.method != "spjf" {
				second = max(second, cost(m.method))
			}
		}
		for _, own := range s.ran(asrptVariants()) {
			add(own.name+", below the best baseline", v, cost(own.method), best)
		}
		add("A-SRPT, tau 1, below SPJF", v, cost("a-srpt"), cost("spjf"))
		add("A-SRPT, tau 100 below tau 1", v, cost("a-srpt "+asrptPatience), cost("a-srpt"))
		add("every other baseline below SPJF", v, second, cost("spjf"))
	}
	return list
}

// numbers are the reductions that the paper's text states, in percent, with either tau: of
// Figures 6 and 7 the least and the greatest against any baseline anywhere, of Figure 8 that
// against WCS-Duration at 50 Gbps, and the greatest at 1 Gbps.
func (s *asrptSwept) numbers() []Number {
	var list []Number
	for _, own := range s.ran(asrptVariants()[:2]) {
		costs, least, most := asrptCosts(s.rows[own.method], s.param), math.Inf(1), math.Inf(-1)
		add := func(claim, theirs string, less float64) {
			list = append(list, Number{fmt.Sprintf("%s: %s, %s, %%", s.family, own.name, claim), theirs, 100 * less})
		}
		for _, m := range s.ran(asrptBaselines()) {
			theirs := asrptCosts(s.rows[m.method], s.param)
			for _, v := range s.values {
				less := 1 - costs[v]/theirs[v]
				if s.param == "cluster.inter" && m.method == "wcs-duration" && v == "50Gbps" {
					add("below WCS-Duration at 50 Gbps", "12", less)
				}
				if s.param != "cluster.inter" || v == "1Gbps" {
					least, most = min(least, less), max(most, less)
				}
			}
		}
		switch s.param {
		case "slice.jobs":
			add("least below a baseline", "31", least)
			add("most below a baseline", "91", most)
		case "singleShare":
			add("least below a baseline", "16", least)
			add("most below a baseline", "57", most)
		case "cluster.inter":
			add("most below a baseline at 1 Gbps", "92", most)
		}
	}
	return list
}

func (s *asrptSwept) figure(axis string) chart.Figure {
	f := chart.Figure{Title: s.family + ": " + s.objective.String() + " by " + axis, X: axis, Y: "hours, all jobs together"}
	for _, m := range s.methods() {
		line, costs := chart.Line{Name: m.name}, asrptCosts(s.rows[m.method], s.param)
		for i, v := range s.values {
			line.X, line.Y = append(line.X, axisValue(v, i)), append(line.Y, costs[v]/3600)
		}
		f.Lines = append(f.Lines, line)
	}
	return f
}

// growth says by what placement multiplied the GPU time of all jobs.
func (s *asrptSwept) growth(run *record.Run) Table {
	t := s.table("GPU time of all jobs over that of their best placements")
	growth := asrptGrowth(run)
	for _, m := range s.methods() {
		row := []string{m.name}
		for _, v := range s.values {
			row = append(row, number(asrptMean(s.rows[m.method], s.param, v, growth), 2))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// asrptPublished is what the paper's text says of a figure.
func asrptPublished(param string) []string {
	return map[string][]string{
		"slice.jobs":    {"Paper: A-SRPT reduces total job completion time by 31 % to 91 %, consistently."},
		"singleShare":   {"Paper: as the share of single-GPU jobs falls from 80 % to 0 %, A-SRPT reduces total completion time by 16 % to 57 %."},
		"cluster.inter": {"Paper: 12 % less than the best baseline, WCS-Duration, at 50 Gbps, and up to 92 % less at 1 Gbps."},
	}[param]
}

// ours is the same of our numbers, by tau.
func (s *asrptSwept) ours(less *Table) string {
	var parts []string
	for _, own := range s.ran(asrptVariants()[:2]) {
		low, high := math.Inf(1), math.Inf(-1)
		for _, row := range less.Rows {
			if !strings.HasPrefix(row[0], own.name+", than") {
				continue
			}
			for _, cell := range row[1:] {
				v, err := strconv.ParseFloat(strings.TrimSuffix(cell, " %"), 64)
				if err == nil {
					low, high = min(low, v), max(high, v)
				}
			}
		}
		parts = append(parts, fmt.Sprintf("%s between %s and %s", own.name, percent(low/100), percent(high/100)))
	}
	return fmt.Sprintf("Ours, %s, %v less than the five baselines: %s; below zero a baseline is better.", s.family, s.objective, strings.Join(parts, ", "))
}

// asrptGrowth returns, by cell, by what placement multiplied the GPU time of its
// jobs: what they took over what they would have taken at the least iteration time
// of any placement.
func asrptGrowth(run *record.Run) map[string]float64 {
	type work struct{ done, least float64 }
	cells := map[string]work{}
	for i := range run.Jobs {
		j := &run.Jobs[i]
		if !j.IterationBest.Valid || !j.Train.Valid || j.Schedule != 0 {
			continue
		}
		w, gpus := cells[j.CellID], float64(j.GPUs.V)
		w.done += gpus * j.Train.V
		w.least += gpus * float64(j.Iters.V) * j.IterationBest.V
		cells[j.CellID] = w
	}
	growth := map[string]float64{}
	for id, w := range cells {
		growth[id] = w.done / w.least
	}
	return growth
}

// asrptMean is the mean of a value of the cells at one place of a sweep.
func asrptMean(rows []record.Ratio, param, at string, value map[string]float64) float64 {
	sum, n := 0.0, 0.0
	for i := range rows {
		if v, ok := value[rows[i].CellID]; ok && rows[i].Params[param] == at {
			sum, n = sum+v, n+1
		}
	}
	return sum / n
}

// axisValue is the number that a swept value begins with, or its place in the
// sweep.
func axisValue(v string, place int) float64 {
	end := strings.IndexFunc(v, func(c rune) bool { return (c < '0' || c > '9') && c != '.' })
	if end < 0 {
		end = len(v)
	}
	if x, err := strconv.ParseFloat(v[:end], 64); err == nil {
		return x
	}
	return float64(place)
}
