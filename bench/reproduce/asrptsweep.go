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
// fit, and total completion time, which Theorem 1 is about.
func asrptSweep(param, axis string) func(context.Context, Input) (*Output, error) {
	return func(_ context.Context, in Input) (*Output, error) {
		out := &Output{Notes: []string{asrptPublished(param)}}
		var growth Table
		for _, o := range []sched.Objective{sched.TotalJCT, sched.TotalCompletion} {
			s := &asrptSwept{param: param, objective: o, rows: asrptRows(in.Runs[0], o)}
			for _, r := range s.rows["a-srpt"] {
				if v := r.Params[param]; !slices.Contains(s.values, v) {
					s.values = append(s.values, v)
				}
			}
			if len(s.values) == 0 {
				return nil, errors.New("no schedule of a-srpt is in the results")
			}
			less := s.less()
			out.Tables = append(out.Tables, s.ratios(), less)
			out.Notes = append(out.Notes, asrptOurs(o, &less))
			if o == sched.TotalJCT {
				out.Figures = append(out.Figures, s.figure(axis))
				growth = s.growth(in.Runs[0]) // the same under both
			}
		}
		out.Tables = append(out.Tables, growth)
		return out, nil
	}
}

// asrptSwept is the rows of one objective along a parameter.
type asrptSwept struct {
	param     string
	objective sched.Objective
	rows      map[string][]record.Ratio
	values    []string
}

// methods are those that ran.
func (s *asrptSwept) methods() []asrptMethod {
	return slices.DeleteFunc(append(asrptMethods(), asrptPatient()...), func(m asrptMethod) bool { return len(s.rows[m.method]) == 0 })
}

func (s *asrptSwept) ratios() Table {
	t := Table{Title: s.objective.String() + " over the proven lower bound", Columns: append([]string{"method"}, s.values...)}
	for _, m := range s.methods() {
		row, ratios := []string{m.name}, asrptRatios(s.rows[m.method], s.param)
		for _, v := range s.values {
			row = append(row, "≤ "+number(ratios[v], 3))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (s *asrptSwept) less() Table {
	t := Table{Title: "How much less A-SRPT's " + s.objective.String() + " is", Columns: append([]string{"than"}, s.values...)}
	own := asrptCosts(s.rows["a-srpt"], s.param)
	for _, m := range s.methods() {
		if m.method == "a-srpt" {
			continue
		}
		row, costs := []string{m.name}, asrptCosts(s.rows[m.method], s.param)
		for _, v := range s.values {
			row = append(row, percent(1-own[v]/costs[v]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (s *asrptSwept) figure(axis string) chart.Figure {
	f := chart.Figure{Title: s.objective.String() + " by " + axis, X: axis, Y: "hours, all jobs together"}
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
	t := Table{Title: "GPU time of all jobs over that of their best placements", Columns: append([]string{"method"}, s.values...)}
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
func asrptPublished(param string) string {
	return map[string]string{
		"slice.jobs":    "Paper: A-SRPT reduces total job completion time by 31 % to 91 %, consistently.",
		"singleShare":   "Paper: as the share of single-GPU jobs falls from 80 % to 0 %, A-SRPT reduces total completion time by 16 % to 57 %.",
		"cluster.inter": "Paper: 12 % less than the best baseline, WCS-Duration, at 50 Gbps, and up to 92 % less at 1 Gbps.",
	}[param]
}

// asrptOurs is the same of our numbers.
func asrptOurs(o sched.Objective, less *Table) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, row := range less.Rows {
		if strings.HasPrefix(row[0], "A-SRPT") {
			continue
		}
		for _, cell := range row[1:] {
			v, err := strconv.ParseFloat(strings.TrimSuffix(cell, " %"), 64)
			if err == nil {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	return fmt.Sprintf("Ours, %v: between %s and %s less than the five baselines; below zero a baseline is better.", o, percent(low/100), percent(high/100))
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
