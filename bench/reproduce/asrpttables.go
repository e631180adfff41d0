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
	return fmt.Sprintf("%.1f %%", math.Round(1000*v)/10+0) // + 0: no minus zero
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
	table := Table{Title: "A-SRPT by predictor", Columns: []string{"predictor", "mean error, iterations", "published", "median error"}}
	objectives := []sched.Objective{sched.TotalJCT, sched.TotalCompletion}
	byName := map[sched.Objective]map[string]record.Ratio{}
	for _, o := range objectives {
		byName[o] = map[string]record.Ratio{}
		table.Columns = append(table.Columns, o.String()+" over perfect", "over the lower bound")
		for _, r := range in.Runs[0].Ratios {
			if r.Objective == o.String() && r.Cost.Valid {
				byName[o][r.Method] = r
			}
		}
	}
	for _, p := range []struct{ name, method string }{{"perfect", "a-srpt-perfect"}, {"forest", "a-srpt"}, {"median", "a-srpt(predictor=median)"}, {"mean", "a-srpt(predictor=mean)"}} {
		list := errors[p.method]
		slices.Sort(list)
		mean, median := 0.0, "0"
		for _, e := range list {
			mean += e / float64(len(list))
		}
		if len(list) > 0 {
			median = strconv.FormatFloat(list[len(list)/2], 'f', 0, 64)
		}
		row := []string{p.name, strconv.FormatFloat(mean, 'f', 0, 64), published[p.name], median}
		for _, o := range objectives {
			r, ok := byName[o][p.method]
			if !ok {
				return nil, fmt.Errorf("no schedule of %s is in the results", p.method)
			}
			row = append(row, number(r.Cost.V/byName[o]["a-srpt-perfect"].Cost.V, 3), "≤ "+number(r.RatioToLowerBound.V, 3))
		}
		table.Rows = append(table.Rows, row)
	}
	return &Output{Tables: []Table{table}, Notes: []string{"Paper: with the forest A-SRPT is 14 % less efficient than with perfect predictions, with the others significantly worse."}}, nil
}
