package reproduce

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"yardstick/bench/record"
	"yardstick/bench/report/chart"
	"yardstick/sched"
)

// asrptRows returns the rows of one objective, by method name without
// parameters but a tau of 100.
func asrptRows(run *record.Run, objective sched.Objective) map[string][]record.Ratio {
	rows := map[string][]record.Ratio{}
	for _, r := range run.Ratios {
		if r.Objective == objective.String() && r.Cost.Valid {
			name, _, _ := strings.Cut(r.Method, "(")
			if strings.HasSuffix(r.Method, asrptPatience) {
				name += asrptPatience
			}
			rows[name] = append(rows[name], r)
		}
	}
	return rows
}

// asrptSweep lays out total completion time along a swept parameter: Figures 6,
// 7 and 8.
func asrptSweep(param, axis string) func(context.Context, Input) (*Output, error) {
	return func(_ context.Context, in Input) (*Output, error) {
		rows := asrptRows(in.Runs[0], sched.TotalCompletion)
		var values []string
		for _, r := range rows["a-srpt"] {
			if !slices.Contains(values, r.Params[param]) {
				values = append(values, r.Params[param])
			}
		}
		if len(values) == 0 {
			return nil, fmt.Errorf("no schedule of a-srpt is in the results")
		}
		cost := Table{Title: "Total completion time over the proven lower bound", Columns: append([]string{"method"}, values...)}
		less := Table{Title: "How much less A-SRPT's total completion time is", Columns: append([]string{"than"}, values...)}
		grown := Table{Title: "GPU time of all jobs over that of their best placements", Columns: append([]string{"method"}, values...)}
		growth := asrptGrowth(in.Runs[0])
		figure := chart.Figure{Title: "Total completion time by " + axis, X: axis, Y: "hours, all jobs together"}
		own := asrptCosts(rows["a-srpt"], param)
		for _, m := range append(asrptMethods(), asrptPatient()...) {
			if len(rows[m.method]) == 0 {
				continue
			}
			costs, ratios := asrptCosts(rows[m.method], param), asrptRatios(rows[m.method], param)
			line := chart.Line{Name: m.name}
			row, reduced, work := []string{m.name}, []string{m.name}, []string{m.name}
			for i, v := range values {
				work = append(work, number(asrptMean(rows[m.method], param, v, growth), 2))
				row = append(row, "≤ "+number(ratios[v], 3))
				reduced = append(reduced, percent(1-own[v]/costs[v]))
				line.X, line.Y = append(line.X, axisValue(v, i)), append(line.Y, costs[v]/3600)
			}
			cost.Rows, grown.Rows = append(cost.Rows, row), append(grown.Rows, work)
			if m.method != "a-srpt" {
				less.Rows = append(less.Rows, reduced)
			}
			figure.Lines = append(figure.Lines, line)
		}
		return &Output{Tables: []Table{cost, less, grown}, Figures: []chart.Figure{figure}, Notes: asrptPublished(param, less)}, nil
	}
}

// asrptPublished sets the paper's sentence about a figure beside ours.
func asrptPublished(param string, less Table) []string {
	published := map[string]string{
		"slice.jobs":    "Paper: A-SRPT reduces total job completion time by 31 % to 91 %, consistently.",
		"singleShare":   "Paper: as the share of single-GPU jobs falls from 80 % to 0 %, A-SRPT reduces total completion time by 16 % to 57 %.",
		"cluster.inter": "Paper: 12 % less than the best baseline, WCS-Duration, at 50 Gbps, and up to 92 % less at 1 Gbps.",
	}
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
	return []string{published[param], fmt.Sprintf("Ours: between %.1f %% and %.1f %% less than the five baselines; below zero a baseline is better.", low, high)}
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

// asrptCosts sums costs by the value of a parameter, in seconds.
func asrptCosts(rows []record.Ratio, param string) map[string]float64 {
	sums := map[string]float64{}
	for _, r := range rows {
		sums[r.Params[param]] += r.Cost.V
	}
	return sums
}

// asrptRatios are means of the ratios to the lower bound, by the value of a
// parameter.
func asrptRatios(rows []record.Ratio, param string) map[string]float64 {
	sums, counts := map[string]float64{}, map[string]float64{}
	for _, r := range rows {
		if r.RatioToLowerBound.Valid {
			sums[r.Params[param]] += r.RatioToLowerBound.V
			counts[r.Params[param]]++
		}
	}
	for v := range sums {
		sums[v] /= counts[v]
	}
	return sums
}

func number(v float64, digits int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) || v == 0 {
		return "–"
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

func percent(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*v)
}

// asrptErrors are the absolute errors of the predictions of every method, in
// iterations.
func asrptErrors(run *record.Run) map[string][]float64 {
	errors := map[string][]float64{}
	for i := range run.Predictions {
		p := &run.Predictions[i]
		errors[p.Method] = append(errors[p.Method], math.Abs(float64(p.Error)))
	}
	return errors
}

// asrptFig4 lays out a histogram of the errors of the forest's predictions.
func asrptFig4(_ context.Context, in Input) (*Output, error) {
	errors := asrptErrors(in.Runs[0])["a-srpt"]
	if len(errors) == 0 {
		return nil, fmt.Errorf("no prediction of a-srpt is in the results")
	}
	const width, last = 10, 300
	counts := make([]int, last/width+2) // 0, then (0, 10], … (290, 300], above
	for _, e := range errors {
		switch {
		case e == 0:
			counts[0]++
		case e > last:
			counts[len(counts)-1]++
		default:
			counts[int(math.Ceil(e/width))]++
		}
	}
	table := Table{Title: fmt.Sprintf("%d predictions; error in iterations", len(errors)), Columns: []string{"error", "jobs", "share", "and less"}}
	line, sum := chart.Line{Name: "forest", Style: chart.Steps}, 0
	for i, n := range counts {
		name := fmt.Sprintf("%d to %d", (i-1)*width+1, i*width)
		switch i {
		case 0:
			name = "0"
		case len(counts) - 1:
			name = fmt.Sprintf("above %d", last)
		}
		sum += n
		share := float64(n) / float64(len(errors))
		table.Rows = append(table.Rows, []string{name, strconv.Itoa(n), percent(share), percent(float64(sum) / float64(len(errors)))})
		line.X, line.Y = append(line.X, float64(i*width)), append(line.Y, 100*share)
	}
	exact := float64(counts[0]) / float64(len(errors))
	near := float64(counts[0]+counts[1]) / float64(len(errors))
	return &Output{Tables: []Table{table}, Figures: []chart.Figure{{Title: "Errors of the forest's predictions", X: "error, iterations", Y: "share of jobs, %", Lines: []chart.Line{line}}},
		Notes: []string{
			"Paper: about 60 % of the jobs are predicted correctly, and a small fraction is off by more than 300 iterations.",
			fmt.Sprintf("Ours: %s exactly, %s within 10 iterations, %s off by more than 300.", percent(exact), percent(near), percent(float64(counts[len(counts)-1])/float64(len(errors)))),
		}}, nil
}

// asrptFig5 lays out total JCT and makespan, means over the three sets of jobs.
func asrptFig5(_ context.Context, in Input) (*Output, error) {
	table := Table{Title: "Means over the sets of jobs", Columns: []string{"method", "total JCT, h", "over A-SRPT-Perfect", "over the lower bound", "makespan, h"}}
	rows := asrptRows(in.Runs[0], sched.TotalJCT)
	perfect := asrptCosts(rows["a-srpt-perfect"], "")[""]
	own := asrptCosts(rows["a-srpt"], "")[""]
	most := 0.0
	for _, m := range asrptMethods() {
		list := rows[m.method]
		if len(list) == 0 {
			return nil, fmt.Errorf("no schedule of %s is in the results", m.method)
		}
		total, makespan := asrptCosts(list, "")[""], 0.0
		for _, r := range list {
			makespan += r.Makespan.V
		}
		n := float64(len(list))
		most = max(most, 1-own/total)
		table.Rows = append(table.Rows, []string{m.name, number(total/n/3600, 2), number(total/perfect, 3), "≤ " + number(asrptRatios(list, "")[""], 3), number(makespan/n/3600, 2)})
	}
	return &Output{Tables: []Table{table}, Notes: []string{
		"Paper: A-SRPT is 7 % above A-SRPT-Perfect, and up to 44 % below the baselines; work-conserving baselines have the shorter makespans.",
		fmt.Sprintf("Ours: A-SRPT is %s above A-SRPT-Perfect, and up to %s below a baseline.", percent(own/perfect-1), percent(most)),
	}}, nil
}

// asrptFig9 lays out what the predictor does to A-SRPT.
func asrptFig9(_ context.Context, in Input) (*Output, error) {
	errors := asrptErrors(in.Runs[0])
	published := map[string]string{"forest": "369", "median": "563", "mean": "593", "perfect": "0"}
	table := Table{Title: "A-SRPT by predictor", Columns: []string{"predictor", "mean error, iterations", "published", "median error", "total completion over perfect", "over the lower bound"}}
	perfect := 0.0
	byName := map[string]record.Ratio{}
	for _, r := range in.Runs[0].Ratios {
		if r.Objective == sched.TotalCompletion.String() && r.Cost.Valid {
			byName[r.Method] = r
		}
	}
	perfect = byName["a-srpt-perfect"].Cost.V
	for _, p := range []struct{ name, method string }{{"perfect", "a-srpt-perfect"}, {"forest", "a-srpt"}, {"median", "a-srpt(predictor=median)"}, {"mean", "a-srpt(predictor=mean)"}} {
		r, ok := byName[p.method]
		if !ok {
			return nil, fmt.Errorf("no schedule of %s is in the results", p.method)
		}
		list := errors[p.method]
		slices.Sort(list)
		mean, median := 0.0, "0"
		for _, e := range list {
			mean += e / float64(len(list))
		}
		if len(list) > 0 {
			median = strconv.FormatFloat(list[len(list)/2], 'f', 0, 64)
		}
		table.Rows = append(table.Rows, []string{p.name, strconv.FormatFloat(mean, 'f', 0, 64), published[p.name], median, number(r.Cost.V/perfect, 3), "≤ " + number(r.RatioToLowerBound.V, 3)})
	}
	return &Output{Tables: []Table{table}, Notes: []string{"Paper: with the forest A-SRPT is 14 % less efficient than with perfect predictions, with the others significantly worse."}}, nil
}
